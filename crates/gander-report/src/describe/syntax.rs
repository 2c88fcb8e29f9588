//! Formulas in the syntax of the model's language.
//!
//! What a language cannot express (a quantifier in Lustre, a power in SMV) has no text here; such a
//! formula is shown in gander's text form instead. Parentheses are written where precedence could
//! be misread, so the text means the same under every common reading of the language.

use gander_term::{IBig, Op, Pool, RBig, Sort, TermId, Value};
use rustc_hash::FxHashMap;

/// The language of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Syntax {
    /// gander's own language, which is also the text form of terms.
    #[default]
    Sts,
    /// Lustre.
    Lustre,
    /// Scripts of guarded rules.
    Script,
    /// SMV.
    Smv,
}

/// Longer texts are not made, in bytes.
const TOO_LONG: usize = 20_000;
/// Digits after the point of a decimal; with more, a real is written as a quotient.
const MAX_DIGITS: usize = 20;

/// How tightly a text binds.
mod level {
    pub(super) const OPEN: u8 = 0;
    pub(super) const IFF: u8 = 1;
    pub(super) const IMPLIES: u8 = 2;
    pub(super) const OR: u8 = 3;
    pub(super) const AND: u8 = 4;
    pub(super) const COMPARE: u8 = 5;
    pub(super) const SUM: u8 = 6;
    pub(super) const PRODUCT: u8 = 7;
    pub(super) const UNARY: u8 = 8;
    pub(super) const ATOM: u8 = 9;
}

/// A formula in a language; none if the language cannot express it, or if the text is too long.
pub fn formula_text(pool: &Pool, formula: TermId, syntax: Syntax) -> Option<String> {
    let mut texts: FxHashMap<TermId, (String, u8)> = FxHashMap::default();
    for t in pool.postorder(&[formula]) {
        let args: Option<Vec<&(String, u8)>> = pool.args(t).iter().map(|a| texts.get(a)).collect();
        let written = Writer { pool, syntax, args: args? }.write(t)?;
        if written.0.len() > TOO_LONG {
            return None;
        }
        texts.insert(t, written);
    }
    texts.remove(&formula).map(|(text, _)| text)
}

/// A real as a decimal if it has one with few digits, for example `0.1`.
fn decimal(r: &RBig) -> Option<String> {
    let (top, bottom) = (r.numerator().clone(), IBig::from(r.denominator().clone()));
    let (sign, mut top) = if top < IBig::ZERO { ("-", -top) } else { ("", top) };
    for digits in 0..=MAX_DIGITS {
        if &top % &bottom == IBig::ZERO {
            let all = format!("{:0>width$}", (top / bottom).to_string(), width = digits + 1);
            let (whole, rest) = all.split_at(all.len() - digits);
            let rest = if rest.is_empty() { "0" } else { rest };
            return Some(format!("{sign}{whole}.{rest}"));
        }
        top *= IBig::from(10);
    }
    None
}

/// Longer names are truncated.
const LONGEST_NAME: usize = 10_000;

struct Writer<'a> {
    pool: &'a Pool,
    syntax: Syntax,
    args: Vec<&'a (String, u8)>,
}

impl Writer<'_> {
    /// A symbol or a value of an enumeration, as formulas of systems name them.
    fn name(&self, t: TermId) -> String {
        self.pool.display_bounded(t, LONGEST_NAME).to_string()
    }

    /// An argument, in parentheses if it binds less tightly.
    fn arg(&self, i: usize, at_least: u8) -> String {
        let (text, own) = self.args[i];
        if *own < at_least { format!("({text})") } else { text.clone() }
    }

    fn infix(&self, op: &str, own: u8, left: u8, right: u8) -> Option<(String, u8)> {
        Some((format!("{} {op} {}", self.arg(0, left), self.arg(1, right)), own))
    }

    fn chain(&self, op: &str, own: u8) -> Option<(String, u8)> {
        let parts: Vec<String> = (0..self.args.len()).map(|i| self.arg(i, own + 1)).collect();
        Some((parts.join(&format!(" {op} ")), own))
    }

    fn call(&self, name: &str) -> Option<(String, u8)> {
        let parts: Vec<String> = self.args.iter().map(|(text, _)| text.clone()).collect();
        Some((format!("{name}({})", parts.join(", ")), level::ATOM))
    }

    fn write(&self, t: TermId) -> Option<(String, u8)> {
        let own_form = self.syntax == Syntax::Sts;
        let words = matches!(self.syntax, Syntax::Sts | Syntax::Lustre);
        match self.pool.op(t) {
            Op::Symbol(s) if own_form => {
                Some((self.name(t), level::ATOM)).filter(|_| !self.pool.symbol(s).name.is_empty())
            }
            Op::Symbol(s) => Some((self.pool.symbol(s).name.to_string(), level::ATOM)),
            Op::Bool(b) => Some(match (self.syntax, b) {
                (Syntax::Smv, true) => ("TRUE".to_string(), level::ATOM),
                (Syntax::Smv, false) => ("FALSE".to_string(), level::ATOM),
                _ => (b.to_string(), level::ATOM),
            }),
            Op::Const(v) => self.constant(t, self.pool.value(v)),
            Op::Not => self.negation(t),
            Op::And => self.chain(if words { "and" } else { "&" }, level::AND),
            Op::Or => self.chain(if words { "or" } else { "|" }, level::OR),
            Op::Implies => match self.syntax {
                Syntax::Lustre => self.infix("=>", level::IMPLIES, level::OR, level::OR),
                Syntax::Script => {
                    let (left, right) = (self.arg(0, level::ATOM), self.arg(1, level::AND));
                    Some((format!("!{left} | {right}"), level::OR))
                }
                _ => self.infix("->", level::IMPLIES, level::OR, level::OR),
            },
            Op::Eq if self.is_bool_equality(t) && matches!(self.syntax, Syntax::Sts) => {
                self.infix("<->", level::IFF, level::IMPLIES, level::IMPLIES)
            }
            Op::Eq => {
                let sign = if own_form || self.syntax == Syntax::Script { "==" } else { "=" };
                self.infix(sign, level::COMPARE, level::SUM, level::SUM)
            }
            Op::Lt => self.infix("<", level::COMPARE, level::SUM, level::SUM),
            Op::Le => self.infix("<=", level::COMPARE, level::SUM, level::SUM),
            Op::Gt => self.infix(">", level::COMPARE, level::SUM, level::SUM),
            Op::Ge => self.infix(">=", level::COMPARE, level::SUM, level::SUM),
            Op::Add => self.chain("+", level::SUM),
            Op::Sub => self.infix("-", level::SUM, level::SUM, level::PRODUCT),
            Op::Mul => self.chain("*", level::PRODUCT),
            Op::Neg => Some((format!("-{}", self.arg(0, level::ATOM)), level::UNARY)),
            Op::Div if words => self.infix("/", level::PRODUCT, level::PRODUCT, level::UNARY),
            // The quotient of Lustre and SMV tools is not Euclidean everywhere.
            Op::IntDiv if own_form => {
                self.infix("div", level::PRODUCT, level::PRODUCT, level::UNARY)
            }
            Op::IntDiv if self.syntax == Syntax::Script => {
                self.infix("/", level::PRODUCT, level::PRODUCT, level::UNARY)
            }
            Op::Mod if own_form => self.infix("mod", level::PRODUCT, level::PRODUCT, level::UNARY),
            Op::Mod if self.syntax == Syntax::Script => {
                self.infix("%", level::PRODUCT, level::PRODUCT, level::UNARY)
            }
            Op::Ite => match self.syntax {
                Syntax::Sts | Syntax::Lustre => {
                    let [condition, yes, no] = [0, 1, 2].map(|i| self.arg(i, level::IFF));
                    Some((format!("if {condition} then {yes} else {no}"), level::OPEN))
                }
                Syntax::Smv => {
                    let [condition, yes, no] = [0, 1, 2].map(|i| self.arg(i, level::OR));
                    Some((format!("{condition} ? {yes} : {no}"), level::OPEN))
                }
                Syntax::Script => None,
            },
            Op::ToReal if own_form => self.call("to_real"),
            Op::ToReal if self.syntax == Syntax::Lustre => self.call("real"),
            Op::ToInt if own_form => self.call("to_int"),
            Op::ToInt if self.syntax == Syntax::Lustre => self.call("floor"),
            Op::Abs if own_form => self.call("abs"),
            Op::Min if own_form => self.call("min"),
            Op::Max if own_form => self.call("max"),
            Op::Select if words => {
                Some((format!("{}[{}]", self.arg(0, level::ATOM), self.args[1].0), level::ATOM))
            }
            _ => None,
        }
    }

    fn is_bool_equality(&self, t: TermId) -> bool {
        self.pool.sort(self.pool.args(t)[0]) == Sort::Bool
    }

    fn negation(&self, t: TermId) -> Option<(String, u8)> {
        let inner = self.pool.args(t)[0];
        let unequal = match self.syntax {
            Syntax::Sts => "!=",
            Syntax::Lustre => "<>",
            Syntax::Script | Syntax::Smv => "!=",
        };
        let is_equality = self.pool.op(inner) == Op::Eq
            && (self.syntax != Syntax::Sts || !self.is_bool_equality(inner));
        if is_equality {
            // The text of the equation has one sign of equality at its top level: write it again.
            let sign = match self.syntax {
                Syntax::Sts | Syntax::Script => " == ",
                Syntax::Lustre | Syntax::Smv => " = ",
            };
            let parts: Vec<&str> = self.args[0].0.splitn(3, sign).collect();
            if let [left, right] = parts[..] {
                return Some((format!("{left} {unequal} {right}"), level::COMPARE));
            }
        }
        let word = if matches!(self.syntax, Syntax::Sts | Syntax::Lustre) { "not " } else { "!" };
        Some((format!("{word}{}", self.arg(0, level::ATOM)), level::UNARY))
    }

    fn constant(&self, t: TermId, value: &Value) -> Option<(String, u8)> {
        let signed = |text: String| {
            let own = if text.starts_with('-') { level::UNARY } else { level::ATOM };
            Some((text, own))
        };
        match (value, self.syntax) {
            (Value::Int(i), _) => signed(i.to_string()),
            (Value::Real(r), Syntax::Sts) => match decimal(r) {
                Some(text) => signed(text),
                None => Some((format!("{}/{}", r.numerator(), r.denominator()), level::PRODUCT)),
            },
            (Value::Real(r), Syntax::Lustre) => match decimal(r) {
                Some(text) => signed(text),
                None => {
                    let text = format!("{}.0 / {}.0", r.numerator(), r.denominator());
                    Some((text, level::PRODUCT))
                }
            },
            (Value::Real(_), _) => None,
            (Value::Enum(..), Syntax::Sts) => Some((self.name(t), level::ATOM)),
            (Value::Str(_), Syntax::Sts) => Some((self.pool.display(t).to_string(), level::ATOM)),
            (Value::Enum(..), _) => Some((self.pool.show_value(value), level::ATOM)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use gander_term::{Pool, Sort, parse_term};

    use super::{Syntax, formula_text};

    fn texts(source: &str) -> Vec<Option<String>> {
        let mut pool = Pool::new();
        for (name, sort) in [
            ("a", Sort::Bool),
            ("b", Sort::Bool),
            ("i", Sort::Int),
            ("j", Sort::Int),
            ("r", Sort::Real),
        ] {
            pool.variable(name, sort);
        }
        let term = parse_term(&mut pool, source).expect("a term");
        [Syntax::Sts, Syntax::Lustre, Syntax::Script, Syntax::Smv]
            .map(|syntax| formula_text(&pool, term, syntax))
            .into()
    }

    #[test]
    fn operators_are_those_of_the_language() {
        let all = texts("a and i != 3 -> not (b or j <= -1)");
        let all: Vec<&str> = all.iter().map(|t| t.as_deref().unwrap_or("-")).collect();
        assert_eq!(
            all,
            [
                "a and i != 3 -> not (b or j <= -1)",
                "a and i <> 3 => not (b or j <= -1)",
                "!(a & i != 3) | !(b | j <= -1)",
                "a & i != 3 -> !(b | j <= -1)",
            ]
        );
    }

    #[test]
    fn equality_of_bools_is_not_mistaken_for_an_implication() {
        let all = texts("(a <-> b) or not (a <-> i == j)");
        let all: Vec<&str> = all.iter().map(|t| t.as_deref().unwrap_or("-")).collect();
        assert_eq!(
            all,
            [
                "(a <-> b) or not (a <-> i == j)",
                "a = b or not (a = (i = j))",
                "a == b | !(a == (i == j))",
                "a = b | !(a = (i = j))",
            ]
        );
    }

    #[test]
    fn reals_are_decimals_where_they_terminate() {
        assert_eq!(texts("r > 1/20")[..2], [Some("r > 0.05".into()), Some("r > 0.05".into())]);
        assert_eq!(texts("r > -7/2")[1], Some("r > -3.5".into()));
        assert_eq!(texts("r >= 12.0")[1], Some("r >= 12.0".into()));
        assert_eq!(texts("r > 1/3")[..2], [Some("r > 1/3".into()), Some("r > 1.0 / 3.0".into())]);
        assert_eq!(texts("r > 1/3")[2..], [None, None]);
    }

    #[test]
    fn what_a_language_cannot_express_has_no_text() {
        assert_eq!(texts("i mod 2 == 0")[1], None);
        assert_eq!(texts("i mod 2 == 0")[2], Some("i % 2 == 0".into()));
        assert_eq!(texts("i ^ 2 >= 0")[1], None);
    }
}

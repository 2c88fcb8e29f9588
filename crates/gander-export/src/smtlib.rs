//! Terms in SMT-LIB. A value of an enumeration is an int, its position.

use gander_term::{BvOp, IBig, Op, Pool, RBig, Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use crate::Refusal;
use crate::flat::Flat;
use crate::printing::Style;

/// The style; symbols by name.
pub(crate) struct SmtLib {
    pub names: FxHashMap<SymbolId, String>,
}

/// The sort's name.
pub(crate) fn sort_name(sort: Sort) -> Result<String, Refusal> {
    Ok(match sort {
        Sort::Bool => "Bool".to_string(),
        Sort::Int | Sort::Enum(_) => "Int".to_string(),
        Sort::Real => "Real".to_string(),
        Sort::BitVec(w) => format!("(_ BitVec {})", w.bits()),
        Sort::Array(a) if !sort.enumerations().is_empty() => {
            // An enumeration is a part of the ints here, and a function on a part of them would be equal to another that differs elsewhere.
            let part = if matches!(a.index(), Sort::Enum(_)) { "over" } else { "of" };
            return Err(Refusal(format!("an array {part} an enumeration cannot be written in this language")));
        }
        Sort::Array(a) => format!("(Array {} {})", sort_name(a.index())?, sort_name(a.element())?),
        Sort::String => return Err(Refusal("strings cannot be written in this language".to_string())),
    })
}

fn int(i: &IBig) -> String {
    if *i < IBig::ZERO { format!("(- {})", -i) } else { i.to_string() }
}

fn real(r: &RBig) -> String {
    let (numerator, denominator) = (r.numerator(), IBig::from(r.denominator().clone()));
    let whole = |i: &IBig| if *i < IBig::ZERO { format!("(- {}.0)", -i) } else { format!("{i}.0") };
    if denominator == IBig::ONE { whole(numerator) } else { format!("(/ {} {denominator}.0)", whole(numerator)) }
}

/// Recurses over nested arrays only, whose depth is limited.
fn constant(value: &Value) -> Result<String, Refusal> {
    match value {
        Value::Int(i) => Ok(int(i)),
        Value::Real(r) => Ok(real(r)),
        Value::Enum(_, k) => Ok(k.to_string()),
        Value::BitVec(b) => Ok(format!("(_ bv{} {})", b.unsigned(), b.width().bits())),
        Value::Bool(b) => Ok(b.to_string()),
        Value::Str(_) => Err(Refusal("a string cannot be written in this language".to_string())),
        Value::Array(a) => {
            let mut text = "(store ".repeat(a.exceptions().len());
            text += &format!("((as const {}) {})", sort_name(value.sort())?, constant(a.default())?);
            for (i, v) in a.exceptions() {
                text += &format!(" {} {})", constant(i)?, constant(v)?);
            }
            Ok(text)
        }
    }
}

impl SmtLib {
    /// The style for a flat system: current values by name, next ones with `.next` behind.
    pub(crate) fn of(flat: &Flat) -> SmtLib {
        let mut names = FxHashMap::default();
        for v in &flat.vars {
            names.insert(v.current, v.name.clone());
            names.insert(v.next, format!("{}.next", v.name));
        }
        for (name, _, symbol) in &flat.params {
            names.insert(*symbol, name.clone());
        }
        SmtLib { names }
    }

    /// What an enumeration's variable says of itself.
    pub(crate) fn domain(pool: &Pool, sort: Sort, name: &str) -> Option<String> {
        match sort {
            Sort::Enum(id) => Some(format!("(and (<= 0 {name}) (< {name} {}))", pool.enumeration(id).variants.len())),
            _ => None,
        }
    }
}

impl Style for SmtLib {
    fn write(&self, pool: &Pool, t: TermId, args: &[&str]) -> Result<String, Refusal> {
        let apply = |name: &str| Ok(format!("({name} {})", args.join(" ")));
        let refuse = |what: &str| Err(Refusal(format!("{what} cannot be written in this language")));
        match pool.op(t) {
            Op::Symbol(s) => match self.names.get(&s) {
                Some(name) => Ok(name.clone()),
                None => refuse(&format!("the symbol `{}`", pool.symbol(s).name)),
            },
            Op::Bool(b) => Ok(b.to_string()),
            Op::Const(v) => constant(pool.value(v)),
            Op::Not => apply("not"),
            Op::And => apply("and"),
            Op::Or => apply("or"),
            Op::Implies => apply("=>"),
            Op::Eq => apply("="),
            Op::Ite => apply("ite"),
            Op::Neg | Op::Sub => apply("-"),
            Op::Add => apply("+"),
            Op::Mul => apply("*"),
            Op::Div | Op::IntDiv | Op::Mod => {
                let name = match pool.op(t) {
                    Op::Div => "/",
                    Op::IntDiv => "div",
                    _ => "mod",
                };
                let divisor = pool.as_constant(pool.args(t)[1]);
                let zero = match &divisor {
                    Some(Value::Int(i)) => *i == IBig::ZERO,
                    Some(Value::Real(r)) => *r == RBig::ZERO,
                    _ => true,
                };
                if !zero {
                    return apply(name);
                }
                // A quotient by zero is 0 here and anything there; a remainder is what was divided.
                let instead = match name {
                    "/" => "0.0",
                    "div" => "0",
                    _ => args[0],
                };
                if divisor.is_some() {
                    return Ok(instead.to_string());
                }
                let nothing = if name == "/" { "0.0" } else { "0" };
                Ok(format!("(ite (= {1} {nothing}) {instead} ({name} {0} {1}))", args[0], args[1]))
            }
            Op::Abs if pool.sort(t) == Sort::Int => apply("abs"),
            Op::Abs => Ok(format!("(ite (< {0} 0.0) (- {0}) {0})", args[0])),
            Op::Min | Op::Max => {
                let sign = if pool.op(t) == Op::Min { "<=" } else { ">=" };
                let mut text = args[0].to_string();
                for b in &args[1..] {
                    text = format!("(ite ({sign} {text} {b}) {text} {b})");
                }
                Ok(text)
            }
            Op::Lt => apply("<"),
            Op::Le => apply("<="),
            Op::Gt => apply(">"),
            Op::Ge => apply(">="),
            Op::ToReal => apply("to_real"),
            Op::ToInt => apply("to_int"),
            Op::Bv(BvOp::Extract { high, low }) => Ok(format!("((_ extract {high} {low}) {})", args[0])),
            Op::Bv(BvOp::ZeroExtend(n)) => Ok(format!("((_ zero_extend {n}) {})", args[0])),
            Op::Bv(BvOp::SignExtend(n)) => Ok(format!("((_ sign_extend {n}) {})", args[0])),
            Op::Bv(BvOp::FromInt(w)) => Ok(format!("((_ int_to_bv {}) {})", w.bits(), args[0])),
            Op::Bv(op) => apply(op.name()),
            Op::Select => apply("select"),
            Op::Store => apply("store"),
            Op::ConstArray(_) => Ok(format!("((as const {}) {})", sort_name(pool.sort(t))?, args[0])),
            Op::Pow => refuse("a power"),
            Op::Concat => refuse("a string"),
            Op::Forall | Op::Exists => refuse("a quantifier"),
        }
    }

    fn define(&self, name: &str, _: &Pool, sort: Sort, body: &str) -> String {
        let sort = sort_name(sort).unwrap_or_default();
        format!("(define-fun {name} () {sort} {body})\n")
    }

    fn prefix(&self) -> String {
        ".d".to_string()
    }
}

//! SMV. Ints with a range that holds in every state have it as their type; others are `integer`,
//! which nuXmv supports and NuSMV does not. If every step is a guarded update, states without a
//! step repeat, so that the relation is total; only then temporal claims are written.

use std::fmt::Write as _;

use gander_term::{BvOp, IBig, Op, Pool, RBig, Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use crate::Refusal;
use crate::encode::flat::{Flat, Property};
use crate::text::printer::{Printer, Style};

struct Smv {
    symbols: FxHashMap<SymbolId, String>,
    /// The names of the values of enumerations.
    values: FxHashMap<(usize, u32), String>,
}

fn int(i: &IBig) -> String {
    if *i < IBig::ZERO { format!("(-{})", -i) } else { i.to_string() }
}

impl Smv {
    fn type_name(&self, pool: &Pool, sort: Sort) -> Result<String, Refusal> {
        Ok(match sort {
            Sort::Bool => "boolean".to_string(),
            Sort::Int => "integer".to_string(),
            Sort::Real => "real".to_string(),
            Sort::BitVec(w) => format!("unsigned word[{}]", w.bits()),
            Sort::Enum(id) => {
                let values = 0..pool.enumeration(id).variants.len() as u32;
                let names: Vec<&str> =
                    values.map(|k| self.values[&(id.index(), k)].as_str()).collect();
                format!("{{{}}}", names.join(", "))
            }
            Sort::String => return Err(Refusal("strings cannot be written in SMV".to_string())),
            Sort::Array(_) => return Err(Refusal("arrays cannot be written in SMV".to_string())),
        })
    }
}

fn bits(op: BvOp, pool: &Pool, t: TermId, args: &[&str]) -> Result<String, Refusal> {
    let infix = |sign: &str| Ok(format!("({} {sign} {})", args[0], args[1]));
    let signed = |sign: &str| Ok(format!("(signed({}) {sign} signed({}))", args[0], args[1]));
    let divides = || match pool.as_constant(pool.args(t)[1]) {
        Some(Value::BitVec(b)) if b.unsigned() != IBig::ZERO => Ok(()),
        _ => Err(Refusal(
            "a quotient of words by something else than a constant cannot be written in SMV"
                .to_string(),
        )),
    };
    match op {
        BvOp::Neg => Ok(format!("(-{})", args[0])),
        BvOp::Not => Ok(format!("(!{})", args[0])),
        BvOp::Add => infix("+"),
        BvOp::Sub => infix("-"),
        BvOp::Mul => infix("*"),
        BvOp::Udiv => divides().and_then(|()| infix("/")),
        BvOp::Urem => divides().and_then(|()| infix("mod")),
        BvOp::And => infix("&"),
        BvOp::Or => infix("|"),
        BvOp::Xor => infix("xor"),
        BvOp::Shl | BvOp::Lshr | BvOp::Ashr => shift(op, pool, t, args),
        BvOp::Concat => infix("::"),
        BvOp::Extract { high, low } => Ok(format!("{}[{high}:{low}]", args[0])),
        BvOp::ZeroExtend(n) => Ok(format!("extend({}, {n})", args[0])),
        BvOp::SignExtend(n) => Ok(format!("unsigned(extend(signed({}), {n}))", args[0])),
        BvOp::Ult => infix("<"),
        BvOp::Ule => infix("<="),
        BvOp::Ugt => infix(">"),
        BvOp::Uge => infix(">="),
        BvOp::Slt => signed("<"),
        BvOp::Sle => signed("<="),
        BvOp::Sgt => signed(">"),
        BvOp::Sge => signed(">="),
        BvOp::ToInt => Ok(format!("toint({})", args[0])),
        BvOp::ToSignedInt => Ok(format!("toint(signed({}))", args[0])),
        _ => Err(Refusal(format!("`{}` cannot be written in SMV", op.name()))),
    }
}

/// Limits the width of words shifted by a variable amount: every amount is a case.
const WIDEST_SHIFT: u32 = 128;

/// A shift. NuSMV accepts amounts up to the width only, so variable amounts are written as cases,
/// and larger constants as their result.
fn shift(op: BvOp, pool: &Pool, t: TermId, args: &[&str]) -> Result<String, Refusal> {
    let Sort::BitVec(width) = pool.sort(t) else {
        return Err(Refusal("a shift of no word".to_string()));
    };
    let bits = width.bits();
    let (word, amount) = (args[0], args[1]);
    let by = |n: u32| match op {
        _ if n == 0 => word.to_string(),
        BvOp::Shl => format!("({word} << {n})"),
        BvOp::Lshr => format!("({word} >> {n})"),
        _ => format!("unsigned(signed({word}) >> {n})"),
    };
    // The result when all bits are shifted out.
    let shifted_out = || if op == BvOp::Ashr { by(bits - 1) } else { format!("0ud{bits}_0") };
    if let Some(Value::BitVec(n)) = pool.as_constant(pool.args(t)[1]) {
        return Ok(match u32::try_from(n.unsigned()).ok().filter(|n| *n < bits) {
            Some(n) => by(n),
            None => shifted_out(),
        });
    }
    if bits > WIDEST_SHIFT {
        return Err(Refusal(format!(
            "a shift of a word of {bits} bits by something else than a constant cannot be written in SMV"
        )));
    }
    // Omit amounts that do not fit in the word.
    let fits = |n: &u32| bits > 31 || u64::from(*n) < 1u64 << bits;
    let cases: String =
        (0..bits).filter(fits).map(|n| format!("{amount} = 0ud{bits}_{n} : {}; ", by(n))).collect();
    Ok(format!("(case {cases}TRUE : {}; esac)", shifted_out()))
}

impl Style for Smv {
    fn write(&self, pool: &Pool, t: TermId, args: &[&str]) -> Result<String, Refusal> {
        let infix = |sign: &str| Ok(format!("({})", args.join(&format!(" {sign} "))));
        let refuse = |what: &str| Err(Refusal(format!("{what} cannot be written in SMV")));
        match pool.op(t) {
            Op::Symbol(s) => match self.symbols.get(&s) {
                Some(name) => Ok(name.clone()),
                None => refuse(&format!("the symbol `{}`", pool.symbol(s).name)),
            },
            Op::Bool(b) => Ok(if b { "TRUE" } else { "FALSE" }.to_string()),
            Op::Const(v) => match pool.value(v) {
                Value::Int(i) => Ok(int(i)),
                Value::Real(r) if *r.denominator() == 1u8.into() => Ok(int(r.numerator())),
                Value::Real(r) => {
                    let sign = if *r < RBig::ZERO { "-" } else { "" };
                    let top = if *r < RBig::ZERO { -r.numerator() } else { r.numerator().clone() };
                    Ok(format!("({sign}f'{top}/{})", r.denominator()))
                }
                Value::Enum(id, k) => match self.values.get(&(id.index(), *k)) {
                    Some(name) => Ok(name.clone()),
                    None => refuse("a value of an enumeration that no variable has"),
                },
                Value::BitVec(b) => Ok(format!("0ud{}_{}", b.width().bits(), b.unsigned())),
                Value::Bool(b) => Ok(if *b { "TRUE" } else { "FALSE" }.to_string()),
                Value::Str(_) => refuse("a string"),
                Value::Array(_) => refuse("an array"),
            },
            Op::Not => Ok(format!("(!{})", args[0])),
            Op::And => infix("&"),
            Op::Or => infix("|"),
            Op::Implies => infix("->"),
            Op::Eq if pool.sort(pool.args(t)[0]) == Sort::Bool => infix("<->"),
            Op::Eq => infix("="),
            Op::Ite => Ok(format!("({} ? {} : {})", args[0], args[1], args[2])),
            Op::Neg => Ok(format!("(-{})", args[0])),
            Op::Add => infix("+"),
            Op::Sub => infix("-"),
            Op::Mul => infix("*"),
            Op::Lt => infix("<"),
            Op::Le => infix("<="),
            Op::Gt => infix(">"),
            Op::Ge => infix(">="),
            Op::ToReal => Ok(args[0].to_string()),
            Op::ToInt => Ok(format!("floor({})", args[0])),
            Op::Abs => Ok(format!("({0} < 0 ? -{0} : {0})", args[0])),
            Op::Min | Op::Max => {
                let sign = if pool.op(t) == Op::Min { "<=" } else { ">=" };
                let mut text = args[0].to_string();
                for b in &args[1..] {
                    text = format!("({text} {sign} {b} ? {text} : {b})");
                }
                Ok(text)
            }
            Op::IntDiv | Op::Mod => match pool.as_constant(pool.args(t)[1]) {
                // SMV division truncates towards zero; the remainder in gander is never negative.
                Some(Value::Int(c)) if c > IBig::ZERO => {
                    let rest = format!("((({0} mod {c}) + {c}) mod {c})", args[0]);
                    Ok(if pool.op(t) == Op::Mod {
                        rest
                    } else {
                        format!("(({} - {rest}) / {c})", args[0])
                    })
                }
                _ => refuse("a quotient by something else than a positive constant"),
            },
            Op::Bv(op) => bits(op, pool, t, args),
            Op::Select | Op::Store | Op::ConstArray(_) => refuse("an array"),
            Op::Div => refuse("a quotient of reals"),
            Op::Pow => refuse("a power"),
            Op::Concat => refuse("a string"),
            Op::Forall | Op::Exists => refuse("a quantifier"),
        }
    }

    fn define(&self, name: &str, _: &Pool, _: Sort, body: &str) -> String {
        format!("DEFINE {name} := {body};\n")
    }

    fn prefix(&self) -> String {
        "d__".to_string()
    }
}

pub(crate) fn write(flat: &mut Flat) -> Result<String, Refusal> {
    let mut style = Smv { symbols: FxHashMap::default(), values: FxHashMap::default() };
    let mut values = Vec::new();
    let used: Vec<Sort> = flat
        .vars
        .iter()
        .map(|v| v.sort)
        .chain(flat.params.iter().map(|(_, sort, _)| *sort))
        .collect();
    for id in flat.pool.enumerations().filter(|id| used.contains(&Sort::Enum(*id))) {
        for (k, variant) in flat.pool.enumeration(id).variants.clone().into_iter().enumerate() {
            let name = flat.names.fit(&variant);
            style.values.insert((id.index(), k as u32), name.clone());
            flat.values.push((name.clone(), id, k as u32));
            values.push((name, variant));
        }
    }
    flat.renamed.extend(values);
    for v in &flat.vars {
        style.symbols.insert(v.current, v.name.clone());
        style.symbols.insert(v.next, format!("next({})", v.name));
    }
    for (name, _, symbol) in &flat.params {
        style.symbols.insert(*symbol, name.clone());
    }
    flat.repeats = flat.completable;
    let (first, relation) = (flat.first(), flat.relation());
    let mut body = String::from("MODULE main\n");
    for v in &flat.vars {
        let of = match &v.range {
            Some((low, high)) => format!("{low}..{high}"),
            None => style.type_name(&flat.pool, v.sort)?,
        };
        let _ = writeln!(body, "VAR {} : {of};", v.name);
    }
    for ((name, sort, _), range) in flat.params.iter().zip(&flat.param_ranges) {
        let of = match range {
            Some((low, high)) => format!("{low}..{high}"),
            None => style.type_name(&flat.pool, *sort)?,
        };
        let _ = writeln!(body, "IVAR {name} : {of};");
    }
    let mut printer = Printer::new(&style);
    let mut section =
        |body: &mut String, pool: &Pool, word: &str, t: TermId| -> Result<(), Refusal> {
            let text = printer.text(pool, t)?;
            body.push_str(&printer.take_definitions());
            let _ = writeln!(body, "{word} {text};");
            Ok(())
        };
    section(&mut body, &flat.pool, "INIT", first)?;
    section(&mut body, &flat.pool, "TRANS", relation)?;
    let mut left_out = Vec::new();
    for (name, original, property) in flat.claims.clone() {
        match property {
            Property::Always(p) => {
                section(&mut body, &flat.pool, &format!("INVARSPEC NAME {name} :="), p)?
            }
            Property::Reachable(p) => {
                let never = flat.pool.not(p);
                section(&mut body, &flat.pool, &format!("INVARSPEC NAME {name} :="), never)?;
            }
            Property::Eventually(_, under) if !under.is_empty() => left_out.push(original),
            _ if !flat.completable => left_out.push(original),
            Property::Eventually(p, _) | Property::InfiniteRun(p) => {
                section(&mut body, &flat.pool, &format!("LTLSPEC NAME {name} := F"), p)?
            }
            Property::AlwaysEventually(p) => {
                section(&mut body, &flat.pool, &format!("LTLSPEC NAME {name} := G F"), p)?;
            }
            Property::LeadsTo(p, q) => {
                let plain = Plain(&style);
                let mut printer = Printer::new(&plain);
                let (p, q) = (printer.text(&flat.pool, p)?, printer.text(&flat.pool, q)?);
                let _ = writeln!(body, "LTLSPEC NAME {name} := G ({p} -> F {q});");
            }
        }
    }
    flat.left_out.extend(left_out);
    let mut text = format!("{}{}", flat.header("--"), flat.opposites("--"));
    text.push_str(&body);
    Ok(text)
}

/// The SMV style without definitions.
struct Plain<'a>(&'a Smv);

impl Style for Plain<'_> {
    fn write(&self, pool: &Pool, t: TermId, args: &[&str]) -> Result<String, Refusal> {
        self.0.write(pool, t, args)
    }

    fn define(&self, _: &str, _: &Pool, _: Sort, _: &str) -> String {
        String::new()
    }

    fn prefix(&self) -> String {
        String::new()
    }

    fn defines(&self) -> bool {
        false
    }
}

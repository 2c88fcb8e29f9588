//! Lustre: one node, for Kind 2 and JKind.
//!
//! The state variables and the parameters of steps are inputs. An assertion requires the first
//! instant to be a first state, and each later instant to be a step from the previous one. `x__was`
//! is the previous value of `x`, arbitrary in the first instant. The node of the control graph has
//! an enumeration type.

use std::cell::RefCell;
use std::fmt::Write as _;

use gander_term::{IBig, Op, Pool, RBig, Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use crate::Refusal;
use crate::encode::flat::Flat;
use crate::text::printer::{Printer, Style};

/// Further reserved words of Lustre.
pub(crate) const WORDS: &[&str] = &[
    "node",
    "function",
    "returns",
    "var",
    "const",
    "type",
    "tel",
    "pre",
    "if",
    "then",
    "else",
    "int",
    "enum",
    "when",
    "merge",
    "current",
    "condact",
    "fby",
    "check",
    "contract",
    "subrange",
    "struct",
    "package",
    "initial",
    "restart",
    "every",
    "activate",
    "mode",
    "require",
    "ensure",
    "assume",
    "guarantee",
    "import",
    "last",
    "any",
    "choose",
    "reachable",
    "provided",
    "from",
    "within",
    "at",
    "automaton",
    "unless",
    "until",
    "resume",
    "do",
    "done",
    "match",
    "imported",
    "weakly",
    "open",
    "clock",
    "floor",
    "ok",
    "uint8",
    "int8",
    "uint16",
    "int16",
    "uint32",
    "int32",
    "uint64",
    "int64",
    "tuple",
    "is",
    "with",
    "property",
];

/// The suffix of the stream of previous values.
const WAS: &str = "__was";

struct Lustre {
    symbols: FxHashMap<SymbolId, String>,
    /// The names of the values of enumerations.
    values: FxHashMap<(usize, u32), String>,
    /// The names of the types of enumerations.
    types: FxHashMap<usize, String>,
    prefix: String,
    /// Streams that were defined, with their types.
    defined: RefCell<Vec<(String, String)>>,
}

fn refuse<T>(what: &str) -> Result<T, Refusal> {
    Err(Refusal(format!("{what} cannot be written in Lustre")))
}

fn int(i: &IBig) -> String {
    if *i < IBig::ZERO { format!("(-{})", -i) } else { i.to_string() }
}

fn real(r: &RBig) -> String {
    let (top, bottom) = (r.numerator(), r.denominator());
    let top = if *top < IBig::ZERO { format!("(-{}.0)", -top) } else { format!("{top}.0") };
    if *bottom == 1u8.into() { top } else { format!("({top} / {bottom}.0)") }
}

/// A quotient or remainder. JKind divides by positive constants only, and leaves division by zero
/// unspecified.
fn quotient(pool: &Pool, t: TermId, dividend: &str) -> Result<String, Refusal> {
    let refused = || refuse("a quotient by something else than a constant that is not zero");
    match (pool.op(t), pool.as_constant(pool.args(t)[1])) {
        (Op::Div, Some(Value::Real(c))) if c > RBig::ZERO => {
            Ok(format!("({dividend} / {})", real(&c)))
        }
        (Op::Div, Some(Value::Real(c))) if c < RBig::ZERO => {
            Ok(format!("(-({dividend} / {}))", real(&-c)))
        }
        (Op::IntDiv, Some(Value::Int(c))) if c > IBig::ZERO => Ok(format!("({dividend} div {c})")),
        // The remainder is never negative, so `a div (-c) = -(a div c)` and `a mod (-c) = a mod c`.
        (Op::IntDiv, Some(Value::Int(c))) if c < IBig::ZERO => {
            Ok(format!("(-({dividend} div {}))", -c))
        }
        (Op::Mod, Some(Value::Int(c))) if c > IBig::ZERO => Ok(format!("({dividend} mod {c})")),
        (Op::Mod, Some(Value::Int(c))) if c < IBig::ZERO => Ok(format!("({dividend} mod {})", -c)),
        _ => refused(),
    }
}

impl Lustre {
    fn type_name(&self, sort: Sort) -> Result<String, Refusal> {
        match sort {
            Sort::Bool => Ok("bool".to_string()),
            Sort::Int => Ok("int".to_string()),
            Sort::Real => Ok("real".to_string()),
            Sort::Enum(id) => match self.types.get(&id.index()) {
                Some(name) => Ok(name.clone()),
                None => refuse("an enumeration that no variable has"),
            },
            Sort::BitVec(_) => refuse("a bit-vector"),
            _ => refuse("a string or an array"),
        }
    }

    /// An arbitrary value, for the first instant.
    fn some_value(&self, sort: Sort) -> Result<String, Refusal> {
        match sort {
            Sort::Bool => Ok("false".to_string()),
            Sort::Int => Ok("0".to_string()),
            Sort::Real => Ok("0.0".to_string()),
            Sort::Enum(id) => match self.values.get(&(id.index(), 0)) {
                Some(name) => Ok(name.clone()),
                None => refuse("an enumeration without values"),
            },
            _ => self.type_name(sort),
        }
    }
}

impl Style for Lustre {
    fn write(&self, pool: &Pool, t: TermId, args: &[&str]) -> Result<String, Refusal> {
        let infix = |sign: &str| Ok(format!("({})", args.join(&format!(" {sign} "))));
        match pool.op(t) {
            Op::Symbol(s) => match self.symbols.get(&s) {
                Some(name) => Ok(name.clone()),
                None => refuse(&format!("the symbol `{}`", pool.symbol(s).name)),
            },
            Op::Bool(b) => Ok(b.to_string()),
            Op::Const(v) => match pool.value(v) {
                Value::Int(i) => Ok(int(i)),
                Value::Real(r) => Ok(real(r)),
                Value::Bool(b) => Ok(b.to_string()),
                Value::Enum(id, k) => match self.values.get(&(id.index(), *k)) {
                    Some(name) => Ok(name.clone()),
                    None => refuse("a value of an enumeration that no variable has"),
                },
                Value::BitVec(_) => refuse("a bit-vector"),
                _ => refuse("a string or an array"),
            },
            Op::Not => Ok(format!("(not {})", args[0])),
            Op::And => infix("and"),
            Op::Or => infix("or"),
            Op::Implies => infix("=>"),
            Op::Eq => infix("="),
            Op::Ite => Ok(format!("(if {} then {} else {})", args[0], args[1], args[2])),
            Op::Neg => Ok(format!("(-{})", args[0])),
            Op::Add => infix("+"),
            Op::Sub => infix("-"),
            Op::Mul => infix("*"),
            Op::Lt => infix("<"),
            Op::Le => infix("<="),
            Op::Gt => infix(">"),
            Op::Ge => infix(">="),
            Op::ToReal => Ok(format!("real({})", args[0])),
            Op::ToInt => refuse("the whole part of a real"),
            Op::Abs => {
                let zero = if pool.sort(t) == Sort::Int { "0" } else { "0.0" };
                Ok(format!("(if {0} < {zero} then -{0} else {0})", args[0]))
            }
            Op::Min | Op::Max => {
                let sign = if pool.op(t) == Op::Min { "<=" } else { ">=" };
                let mut text = args[0].to_string();
                for b in &args[1..] {
                    text = format!("(if {text} {sign} {b} then {text} else {b})");
                }
                Ok(text)
            }
            Op::Div | Op::IntDiv | Op::Mod => quotient(pool, t, args[0]),
            Op::Bv(_) => refuse("a bit-vector"),
            Op::Pow => refuse("a power"),
            Op::Forall | Op::Exists => refuse("a quantifier"),
            _ => refuse("a string or an array"),
        }
    }

    fn define(&self, name: &str, _: &Pool, sort: Sort, body: &str) -> String {
        let of = self.type_name(sort).unwrap_or_default();
        self.defined.borrow_mut().push((name.to_string(), of));
        format!("  {name} = {body};\n")
    }

    fn prefix(&self) -> String {
        self.prefix.clone()
    }
}

pub(crate) fn write(flat: &mut Flat) -> Result<String, Refusal> {
    let invariants = flat.invariants();
    let (mut values, mut types, mut declared) =
        (FxHashMap::default(), FxHashMap::default(), String::new());
    let used: Vec<Sort> = flat
        .vars
        .iter()
        .map(|v| v.sort)
        .chain(flat.params.iter().map(|(_, sort, _)| *sort))
        .collect();
    for id in flat.pool.enumerations().filter(|id| used.contains(&Sort::Enum(*id))) {
        let enumeration = flat.pool.enumeration(id).clone();
        let name = flat.names.fit(enumeration.name.trim_start_matches('@'));
        flat.renamed.push((name.clone(), enumeration.name.clone()));
        let mut variants = Vec::new();
        for (k, variant) in enumeration.variants.iter().enumerate() {
            let value = flat.names.fit(variant);
            flat.renamed.push((value.clone(), variant.clone()));
            flat.values.push((value.clone(), id, k as u32));
            values.insert((id.index(), k as u32), value.clone());
            variants.push(value);
        }
        let _ = writeln!(declared, "type {name} = enum {{ {} }};", variants.join(", "));
        types.insert(id.index(), name);
    }
    let style = |prefix: &str| Lustre {
        symbols: FxHashMap::default(),
        values: values.clone(),
        types: types.clone(),
        prefix: prefix.to_string(),
        defined: RefCell::default(),
    };
    // In claims a variable has its current value. In steps it has its previous value, and its next
    // value is the current one.
    let (mut states, mut steps) = (style("d__"), style("s__"));
    let mut inputs = Vec::new();
    let (mut locals, mut equations) = (String::new(), String::new());
    for v in &flat.vars {
        let of = states.type_name(v.sort)?;
        inputs.push(format!("{} : {of}", v.name));
        let was = format!("{}{WAS}", v.name);
        let _ = writeln!(locals, "  {was} : {of};");
        let _ = writeln!(equations, "  {was} = {} -> pre {};", states.some_value(v.sort)?, v.name);
        states.symbols.insert(v.current, v.name.clone());
        steps.symbols.insert(v.current, was);
        steps.symbols.insert(v.next, v.name.clone());
    }
    for (name, sort, symbol) in &flat.params {
        inputs.push(format!("{name} : {}", states.type_name(*sort)?));
        steps.symbols.insert(*symbol, name.clone());
    }
    let (first, relation) = (flat.first(), flat.relation());
    let mut of_states = Printer::new(&states);
    let first = of_states.text(&flat.pool, first)?;
    equations.push_str(&of_states.take_definitions());
    let mut of_steps = Printer::new(&steps);
    let relation = of_steps.text(&flat.pool, relation)?;
    equations.push_str(&of_steps.take_definitions());
    let _ = writeln!(equations, "  assert {first} -> {relation};\n  ok = true;");
    for (name, p) in invariants {
        let text = of_states.text(&flat.pool, p)?;
        equations.push_str(&of_states.take_definitions());
        let _ = writeln!(locals, "  {name} : bool;");
        let _ = writeln!(equations, "  {name} = {text};\n  --%PROPERTY {name};");
    }
    for (name, of) in states.defined.borrow().iter().chain(steps.defined.borrow().iter()) {
        let _ = writeln!(locals, "  {name} : {of};");
    }
    let mut text = format!("{}{}{declared}", flat.header("--"), flat.opposites("--"));
    let _ = writeln!(text, "node main ({}) returns (ok : bool);", inputs.join("; "));
    if !locals.is_empty() {
        let _ = write!(text, "var\n{locals}");
    }
    let _ = writeln!(text, "let\n{equations}  --%MAIN;\ntel;");
    Ok(text)
}

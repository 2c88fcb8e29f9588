//! Prints models with records, data and lists.

use std::fmt::Write;

use super::{Claim, Expr, Leaf, Part, Sts, Type, Value};

const RECORD: [&str; 2] = ["a", "b"];
const FIELDS: [&str; 3] = ["f", "g", "h"];
const COLOURS: [&str; 2] = ["Red", "Green"];

fn type_text(ty: &Type) -> String {
    match ty {
        Type::Leaf(Leaf::Bool) => "bool".into(),
        Type::Leaf(Leaf::Colour) => "Colour".into(),
        Type::Leaf(Leaf::Int) => "int".into(),
        Type::Record => "R".into(),
        Type::Data => "D".into(),
        Type::List(limit, element) => format!("list[{limit}] of {}", type_text(element)),
    }
}

/// The declaration of a field; ints have a range.
fn field_text(name: &str, ty: &Type) -> String {
    let range = if *ty == Type::Leaf(Leaf::Int) { " 0..1" } else { "" };
    format!("{name}: {}{range}", type_text(ty))
}

fn value_text(v: &Value) -> String {
    let all = |values: &[Value]| values.iter().map(value_text).collect::<Vec<_>>().join(", ");
    match v {
        Value::Bool(b) => b.to_string(),
        Value::Colour(c) => COLOURS[*c].into(),
        Value::Int(i) => i.to_string(),
        Value::Record(fields) => {
            let fields = fields.iter().zip(RECORD).map(|(v, f)| format!("{f}: {}", value_text(v)));
            format!("R{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Data(c, fields) if fields.is_empty() => format!("K{c}"),
        Value::Data(c, fields) => format!("K{c}({})", all(fields)),
        Value::List(list) => format!("[{}]", all(list)),
    }
}

struct Printer<'a> {
    sts: &'a Sts,
}

impl Printer<'_> {
    /// An expression; `bound` is the number of names bound around it.
    fn expr(&self, e: &Expr, bound: usize) -> String {
        let t = |e: &Expr| self.expr(e, bound);
        let all = |list: &[Expr]| list.iter().map(&t).collect::<Vec<_>>().join(", ");
        match e {
            Expr::Value(v) => value_text(v),
            Expr::Var(i) => format!("x{i}"),
            Expr::Next(i) => format!("x{i}'"),
            Expr::Parameter => "m".into(),
            Expr::Bound(i) => format!("b{i}"),
            Expr::Select(r, f) => format!("{}.{}", self.operand(r, bound), RECORD[*f]),
            Expr::SelectData(d, f) => format!("{}.{}", self.operand(d, bound), FIELDS[*f]),
            Expr::WithField(r, f, v) => {
                format!("{}[{} := {}]", self.operand(r, bound), RECORD[*f], t(v))
            }
            Expr::WithDataField(d, f, v) => {
                format!("{}[{} := {}]", self.operand(d, bound), FIELDS[*f], t(v))
            }
            Expr::Is(d, c) => format!("({} is K{c})", t(d)),
            Expr::Match(d, cases) => {
                let of = match t(d) {
                    // A value that begins with a parenthesis is in parentheses as a whole.
                    text if text.starts_with('(') => format!("({text})"),
                    text => text,
                };
                let cases = cases.iter().enumerate().map(|(c, case)| {
                    let own = self.sts.sorts.constructors[c].len();
                    let names: Vec<String> = (0..own).map(|k| format!("b{}", bound + k)).collect();
                    let names =
                        if own == 0 { String::new() } else { format!("({})", names.join(", ")) };
                    format!("K{c}{names} -> {}", self.expr(case, bound + own))
                });
                format!("(match {} {{ {} }})", of, cases.collect::<Vec<_>>().join(", "))
            }
            Expr::Make(fields) => {
                let fields = fields.iter().zip(RECORD).map(|(e, f)| format!("{f}: {}", t(e)));
                format!("R{{{}}}", fields.collect::<Vec<_>>().join(", "))
            }
            Expr::Construct(c, fields) if fields.is_empty() => format!("K{c}"),
            Expr::Construct(c, fields) => format!("K{c}({})", all(fields)),
            Expr::Equal(a, b) => format!("({} == {})", t(a), t(b)),
            Expr::Less(a, b) => format!("({} < {})", t(a), t(b)),
            Expr::Not(a) => format!("(not {})", t(a)),
            Expr::And(a, b) => format!("({} and {})", t(a), t(b)),
            Expr::Or(a, b) => format!("({} or {})", t(a), t(b)),
            Expr::If(c, a, b) => format!("(if {} then {} else {})", t(c), t(a), t(b)),
            Expr::Sum(a, b) => format!("(({} + {}) mod 2)", t(a), t(b)),
            Expr::Exists(ty, body) | Expr::Forall(ty, body) => {
                let word = if matches!(e, Expr::Exists(..)) { "exists" } else { "forall" };
                let body = self.expr(body, bound + 1);
                format!("({word} b{bound}: {}. {body})", type_text(ty))
            }
            Expr::At(q, i, _) => format!("{}[{}]", self.operand(q, bound), t(i)),
            Expr::Head(q, _) => format!("head({})", t(q)),
            Expr::Last(q, _) => format!("last({})", t(q)),
            Expr::Length(q) => format!("length({})", t(q)),
            Expr::Tail(q) => format!("tail({})", t(q)),
            Expr::Contains(q, v) => format!("contains({}, {})", t(q), t(v)),
            Expr::Append(q, v, _) => format!("append({}, {})", t(q), t(v)),
            Expr::Cons(v, q, _) => format!("cons({}, {})", t(v), t(q)),
            Expr::WithElement(q, i, v) => {
                format!("{}[{} := {}]", self.operand(q, bound), t(i), t(v))
            }
        }
    }

    /// Something before a dot or bracket.
    fn operand(&self, e: &Expr, bound: usize) -> String {
        match e {
            Expr::Var(_) | Expr::Next(_) | Expr::Parameter | Expr::Bound(_) => self.expr(e, bound),
            _ => format!("({})", self.expr(e, bound)),
        }
    }

    fn part(&self, part: &Part) -> String {
        let field = |i: usize, f: usize| match self.sts.variables[i].ty {
            Type::Record => format!("x{i}.{}", RECORD[f]),
            _ => format!("x{i}.{}", FIELDS[f]),
        };
        match part {
            Part::Assign(i, e) => format!("x{i} := {}", self.expr(e, 0)),
            Part::AssignField(i, f, e) => format!("{} := {}", field(*i, *f), self.expr(e, 0)),
            Part::Any(i) => format!("any x{i}"),
            Part::AnyField(i, f) => format!("any {}", field(*i, *f)),
            Part::Constraint(e) => self.expr(e, 0),
        }
    }
}

pub(super) fn text(sts: &Sts) -> String {
    let printer = Printer { sts };
    let e = |e: &Expr| printer.expr(e, 0);
    let mut out = String::from("spec Random\n\nenum Colour { Red, Green }\n");
    let record = sts.sorts.record.iter().zip(RECORD).map(|(ty, name)| field_text(name, ty));
    let _ = writeln!(out, "record R {{ {} }}", record.collect::<Vec<_>>().join(", "));
    let constructors = sts.sorts.constructors.iter().enumerate().map(|(c, own)| {
        let fields: Vec<String> =
            own.iter().map(|&f| field_text(FIELDS[f], &sts.sorts.fields[f])).collect();
        if fields.is_empty() { format!("K{c}") } else { format!("K{c}({})", fields.join(", ")) }
    });
    let _ = writeln!(out, "data D {{ {} }}", constructors.collect::<Vec<_>>().join(", "));
    for (i, v) in sts.variables.iter().enumerate() {
        let word = if v.is_input { "input" } else { "var" };
        let _ = writeln!(out, "{word} x{i}: {}", type_text(&v.ty));
    }
    let start: Vec<String> = sts.start.iter().map(e).collect();
    let _ = writeln!(out, "start {{ {} }}", start.join(", "));
    for (i, step) in sts.steps.iter().enumerate() {
        let _ = write!(out, "step t{i}");
        if let Some(ty) = &step.parameter {
            let _ = write!(out, "(m: {})", type_text(ty));
        }
        if let Some(guard) = &step.guard {
            let _ = write!(out, " when {}", e(guard));
        }
        let effect: Vec<String> = step.effect.iter().map(|p| printer.part(p)).collect();
        let _ = writeln!(out, " {{ {} }}", effect.join(", "));
    }
    for (i, claim) in sts.claims.iter().enumerate() {
        let _ = match claim {
            Claim::Always(p) => writeln!(out, "always p{i}: {}", e(p)),
            Claim::Reachable(p) => writeln!(out, "reachable p{i}: {}", e(p)),
            Claim::Eventually(p) => writeln!(out, "eventually p{i}: {}", e(p)),
            Claim::Recurs(p) => writeln!(out, "always eventually p{i}: {}", e(p)),
            Claim::LeadsTo(p, q) => writeln!(out, "always p{i}: {} leads to {}", e(p), e(q)),
            Claim::Possible(p) => writeln!(out, "possible p{i}: {}", e(p)),
            Claim::ExistsAlways(p) => writeln!(out, "exists always p{i}: {}", e(p)),
            Claim::NoDeadlock => writeln!(out, "no deadlock"),
            Claim::InfiniteRun => writeln!(out, "infinite run"),
        };
    }
    out
}

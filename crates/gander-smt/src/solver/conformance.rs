//! Checks that a solver agrees with the evaluator on every operator.
//!
//! Each operator is applied to concrete values, edge cases included, in two forms: with variables
//! that are fixed to values, and with the last argument as a literal. The solver's results must be
//! those of the evaluator, and it must confirm that no other result is possible.

mod bit_vectors;

use std::fmt;

use gander_term::{Features, IBig, Op, Pool, RBig, Sort, TermId, Value, evaluate};

use crate::session::answer::{Answer, Limits, Reason};
use crate::session::core_session::CoreSession;
use crate::session::{Session, SessionConfig, StepSymbol};
use crate::solver::dialect::Solver;

/// The result of a conformance run.
#[derive(Clone, Debug)]
pub struct Report {
    /// An entry for each operator or ability.
    pub entries: Vec<Entry>,
}

/// The result for one operator or ability.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The operator or ability, with the sort where that matters.
    pub name: String,
    /// The number of cases.
    pub cases: usize,
    /// The outcome.
    pub outcome: Outcome,
}

/// The outcome of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The solver agrees.
    Passed,
    /// The solver does not support it: the feature that it lacks.
    NotSupported(String),
    /// The solver disagrees: in this case.
    Failed(String),
    /// The solver had no answer.
    Unknown(Reason),
}

impl Report {
    /// True if nothing failed and every supported case was answered.
    pub fn passed(&self) -> bool {
        self.entries.iter().all(|e| matches!(e.outcome, Outcome::Passed | Outcome::NotSupported(_)))
    }

    /// The number of cases that passed.
    pub fn passed_cases(&self) -> usize {
        self.entries.iter().filter(|e| e.outcome == Outcome::Passed).map(|e| e.cases).sum()
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Outcome::Passed => write!(f, "{}: {} cases passed", self.name, self.cases),
            Outcome::NotSupported(what) => write!(f, "{}: not asked, it has no {what}", self.name),
            Outcome::Failed(where_) => write!(f, "{}: wrong: {where_}", self.name),
            Outcome::Unknown(reason) => write!(f, "{}: no answer: {reason}", self.name),
        }
    }
}

/// Tests every operator that is printed, and the abilities that sessions need.
pub fn conformance(solver: &Solver, limits: Limits) -> Report {
    let mut entries = Vec::new();
    let bits = Features { bit_vectors: true, ..Features::default() };
    let mut session = Session::start(&solver.for_features(bits), SessionConfig::default());
    for group in bit_vectors::groups() {
        for form in [Form::Pinned, Form::LiteralLast] {
            entries.extend(try_group(&mut session, &group, form, limits));
        }
    }
    let mut session = CoreSession::start(solver, SessionConfig::default());
    for group in groups() {
        for form in [Form::Pinned, Form::LiteralLast] {
            if let Some(entry) = try_group(&mut session, &group, form, limits) {
                entries.push(entry);
            }
        }
    }
    entries.push(try_quantifiers(&mut session, limits));
    entries.push(try_assumptions(&mut session, limits));
    entries.push(try_scopes(&mut session, limits));
    Report { entries }
}

/// How the arguments of a case are given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Pinned,
    LiteralLast,
}

/// An operator and the arguments to try.
struct Group {
    op: Op,
    cases: Vec<Vec<Value>>,
}

fn try_group(session: &mut Session, group: &Group, form: Form, limits: Limits) -> Option<Entry> {
    let mut pool = Pool::new();
    // The pools declare the same enumerations in the same order as `groups`, so ids are equal.
    declare_enumerations(&mut pool);
    let mut facts = Vec::new();
    let mut results = Vec::new();
    for (i, values) in group.cases.iter().enumerate() {
        let literal_from = if form == Form::LiteralLast { values.len() - 1 } else { values.len() };
        if form == Form::LiteralLast && values.len() < 2 {
            return None;
        }
        let mut args = Vec::new();
        for (j, value) in values.iter().enumerate() {
            let constant = pool.constant(value.clone());
            if j >= literal_from {
                args.push(constant);
                continue;
            }
            let variable = pool.variable(&format!("x{i}.{j}"), value.sort());
            let pinned = pool.mk(Op::Eq, &[variable, constant]).ok()?;
            facts.push(pinned);
            args.push(variable);
        }
        let term = pool.mk(group.op, &args).ok()?;
        results.push((term, values.clone()));
    }
    let sort = group.cases.first()?.last()?.sort().name(&pool).to_string();
    let form_name = if form == Form::LiteralLast { ", last argument constant" } else { "" };
    let name = format!("{} on {sort}{form_name}", group.op.name());
    let cases = results.len();
    let outcome = compare(session, &mut pool, &facts, &results, limits);
    Some(Entry { name, cases, outcome })
}

/// Asks for the values of terms whose variables are fixed.
fn compare(
    session: &mut Session,
    pool: &mut Pool,
    facts: &[TermId],
    terms: &[(TermId, Vec<Value>)],
    limits: Limits,
) -> Outcome {
    session.reset();
    let mut roots = facts.to_vec();
    let mut wanted = Vec::new();
    let mut differences = Vec::new();
    for (i, (term, values)) in terms.iter().enumerate() {
        let result = pool.variable(&format!("result{i}"), pool.sort(*term));
        let Ok(defined) = pool.mk(Op::Eq, &[result, *term]) else {
            return Outcome::Failed("our own term is ill-sorted".into());
        };
        roots.push(defined);
        let expected = match expected_value(pool, *term, values) {
            Ok(value) => value,
            Err(why) => return Outcome::Failed(why),
        };
        let constant = pool.constant(expected.clone());
        differences.push(pool.ne(result, constant));
        if let Some(symbol) = pool.as_symbol(result) {
            wanted.push((StepSymbol::rigid(symbol), expected));
        }
    }
    if let Some(what) = session.solver().lacks(pool.features(&roots)) {
        return Outcome::NotSupported(what.to_string());
    }
    for &root in &roots {
        session.assert(pool, root);
    }
    match session.check(&[], limits) {
        Answer::Sat => {}
        Answer::Unsat => return Outcome::Failed("it finds no model".into()),
        Answer::Unknown(reason) => return Outcome::Unknown(reason),
    }
    let symbols: Vec<StepSymbol> = wanted.iter().map(|w| w.0).collect();
    let values = match session.values(pool, &symbols, limits) {
        Ok(values) => values,
        Err(reason) => return Outcome::Unknown(reason),
    };
    for ((value, (_, expected)), (term, arguments)) in values.iter().zip(&wanted).zip(terms) {
        if value != expected {
            let arguments: Vec<String> = arguments.iter().map(|v| pool.show_value(v)).collect();
            return Outcome::Failed(format!(
                "{} of {} is {} for it, not {}",
                pool.op(*term).name(),
                arguments.join(", "),
                pool.show_value(value),
                pool.show_value(expected)
            ));
        }
    }
    let different = pool.or(differences);
    session.assert(pool, different);
    match session.check(&[], limits) {
        Answer::Unsat => Outcome::Passed,
        Answer::Sat => Outcome::Failed("it takes another result for possible".into()),
        Answer::Unknown(reason) => Outcome::Unknown(reason),
    }
}

/// The evaluator's value; the variables of a case are its arguments, in order.
fn expected_value(pool: &Pool, term: TermId, values: &[Value]) -> Result<Value, String> {
    let args = pool.args(term);
    let assignment = |symbol| {
        let position = args.iter().position(|&a| pool.as_symbol(a) == Some(symbol))?;
        values.get(position).cloned()
    };
    evaluate(pool, term, &assignment).map_err(|e| e.describe(pool))
}

fn try_quantifiers(session: &mut Session, limits: Limits) -> Entry {
    let mut pool = Pool::new();
    let ids = declare_enumerations(&mut pool);
    let (zero, five) = (pool.int(0), pool.int(5));
    let mut formulas = Vec::new();
    for limit in [4, 5] {
        let b = pool.declare_bound("b", Sort::Int);
        let bound = pool.var(b);
        let above = pool.le(zero, bound);
        let below = pool.lt(bound, five);
        let limit = pool.int(limit);
        let small = pool.lt(bound, limit);
        let range = pool.and([above, below]);
        let body = pool.implies(range, small);
        formulas.push(pool.forall(&[b], body));
        let not_small = pool.not(small);
        let body = pool.and([range, not_small]);
        formulas.push(pool.exists(&[b], body));
    }
    for variant in 0..2 {
        let b = pool.declare_bound("e", Sort::Enum(ids));
        let bound = pool.var(b);
        let constant = pool.constant(Value::Enum(ids, variant));
        let same = pool.eq(bound, constant);
        formulas.push(pool.exists(&[b], same));
        formulas.push(pool.forall(&[b], same));
    }
    let cases = formulas.len();
    let outcome = decide(session, &pool, &formulas, limits);
    Entry { name: "forall and exists".into(), cases, outcome }
}

/// Asks whether closed formulas are true. Asking for their values would not do: solvers may print
/// quantified formulas as values.
fn decide(session: &mut Session, pool: &Pool, formulas: &[TermId], limits: Limits) -> Outcome {
    if let Some(what) = session.solver().lacks(pool.features(formulas)) {
        return Outcome::NotSupported(what.to_string());
    }
    for &formula in formulas {
        session.reset();
        let literal = session.literal_for(pool, formula);
        let expected = match evaluate(pool, formula, &|_| None) {
            Ok(Value::Bool(true)) => literal,
            Ok(_) => !literal,
            Err(e) => return Outcome::Failed(e.describe(pool)),
        };
        match (session.check(&[expected], limits), session.check(&[!expected], limits)) {
            (Answer::Sat, Answer::Unsat) => {}
            (Answer::Unknown(reason), _) | (_, Answer::Unknown(reason)) => {
                return Outcome::Unknown(reason);
            }
            _ => return Outcome::Failed(pool.display(formula).to_string()),
        }
    }
    Outcome::Passed
}

fn try_assumptions(session: &mut CoreSession, limits: Limits) -> Entry {
    session.reset();
    let pool = &mut Pool::new();
    let p = pool.variable("p", Sort::Bool);
    let q = pool.variable("q", Sort::Bool);
    let not_p = pool.not(p);
    let (a, b, c) = (session.literal(), session.literal(), session.literal());
    session.assert_if(pool, a, p);
    session.assert_if(pool, b, q);
    session.assert_if(pool, c, not_p);
    let outcome = match (session.check(&[a, b], limits), session.check(&[a, b, c], limits)) {
        (Answer::Sat, Answer::Unsat) => match session.core(limits) {
            Ok(core) if core.contains(&a) && core.contains(&c) => Outcome::Passed,
            Ok(core) => {
                Outcome::Failed(format!("a core of {} assumptions that is none", core.len()))
            }
            Err(reason) => Outcome::Unknown(reason),
        },
        (Answer::Unknown(reason), _) | (_, Answer::Unknown(reason)) => Outcome::Unknown(reason),
        _ => Outcome::Failed("assumptions are not taken as such".into()),
    };
    Entry { name: "assumptions and cores".into(), cases: 1, outcome }
}

fn try_scopes(session: &mut Session, limits: Limits) -> Entry {
    session.reset();
    let pool = &mut Pool::new();
    let p = pool.variable("p", Sort::Bool);
    let not_p = pool.not(p);
    session.assert(pool, p);
    session.push();
    session.assert(pool, not_p);
    let inside = session.check(&[], limits);
    session.pop();
    let outcome = match (inside, session.check(&[], limits)) {
        (Answer::Unsat, Answer::Sat) => Outcome::Passed,
        (Answer::Unknown(reason), _) | (_, Answer::Unknown(reason)) => Outcome::Unknown(reason),
        _ => Outcome::Failed("scopes are not kept apart".into()),
    };
    Entry { name: "scopes".into(), cases: 1, outcome }
}

fn declare_enumerations(pool: &mut Pool) -> gander_term::EnumId {
    pool.declare_enum("Colour", &["red", "dark green", "if"]).expect("the pool is new")
}

fn groups() -> Vec<Group> {
    let mut groups = Vec::new();
    let mut add = |ops: &[Op], cases: &[Vec<Value>]| {
        groups.extend(ops.iter().map(|&op| Group { op, cases: cases.to_vec() }));
    };
    let bools: Vec<Value> = [false, true].map(Value::Bool).into();
    let ints = int_values();
    let small_ints: Vec<Value> = [-7, -2, -1, 0, 1, 2, 3, 7].map(Value::int).into();
    let reals = real_values();
    let strings: Vec<Value> = STRINGS.map(Value::str).into();
    let colour = declare_enumerations(&mut Pool::new());
    let colours: Vec<Value> = [0, 1, 2].map(|i| Value::Enum(colour, i)).into();

    add(&[Op::Not], &tuples(&[&bools]));
    add(&[Op::And, Op::Or, Op::Implies, Op::Eq], &tuples(&[&bools, &bools]));
    add(&[Op::And, Op::Or, Op::Ite], &tuples(&[&bools, &bools, &bools]));
    for values in [&ints, &reals] {
        add(&[Op::Neg, Op::Abs], &tuples(&[values]));
        add(&[Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq], &tuples(&[values, values]));
        add(&[Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max], &tuples(&[values, values]));
        let few = &values[..4];
        add(&[Op::Add, Op::Mul, Op::Min, Op::Max], &tuples(&[few, few, few]));
        add(&[Op::Ite], &tuples(&[&bools, few, few]));
    }
    add(&[Op::IntDiv, Op::Mod], &tuples(&[&ints, &small_ints]));
    add(&[Op::IntDiv, Op::Mod], &tuples(&[&small_ints, &ints]));
    add(&[Op::Div], &tuples(&[&reals, &reals]));
    let exponents: Vec<Value> = [-1, 0, 1, 2, 5].map(Value::int).into();
    add(&[Op::Pow], &tuples(&[&small_ints, &exponents]));
    add(&[Op::Pow], &tuples(&[&reals[..4], &exponents]));
    add(&[Op::ToReal], &tuples(&[&ints]));
    add(&[Op::ToInt], &tuples(&[&reals]));
    add(&[Op::Concat, Op::Eq], &tuples(&[&strings, &strings]));
    add(&[Op::Concat], &tuples(&[&strings[..3], &strings[..3], &strings[..3]]));
    add(&[Op::Ite], &tuples(&[&bools, &strings[..3], &strings[..3]]));
    add(&[Op::Eq], &tuples(&[&colours, &colours]));
    add(&[Op::Ite], &tuples(&[&bools, &colours, &colours]));
    groups
}

const STRINGS: [&str; 9] = [
    "",
    "a",
    "\"",
    "\\",
    "\\u{41}",
    "\u{e4}\u{1f600}",
    "\0\n\t",
    "\u{2ffff}",
    "a longer text; with (signs)",
];

fn int_values() -> Vec<Value> {
    let big = IBig::from(10).pow(30);
    let mut values: Vec<Value> = [0, -1, 3, -7, 1, 8].map(Value::int).into();
    values.push(Value::Int(big.clone()));
    values.push(Value::Int(-big - IBig::from(1)));
    values
}

fn real_values() -> Vec<Value> {
    let big = IBig::from(10).pow(30);
    let mut values: Vec<Value> = [(0, 1), (1, 3), (-7, 2), (2, 1), (5, 2), (-3, 1), (-1, 1000)]
        .map(|(n, d)| Value::Real(RBig::from(IBig::from(n)) / RBig::from(IBig::from(d))))
        .into();
    values.push(Value::Real(RBig::from(big) / RBig::from(IBig::from(7))));
    values
}

/// Every choice of one value from each list.
fn tuples(lists: &[&[Value]]) -> Vec<Vec<Value>> {
    let mut tuples = vec![Vec::new()];
    for list in lists {
        tuples = tuples
            .into_iter()
            .flat_map(|t: Vec<Value>| {
                list.iter().map(move |v| {
                    let mut longer = t.clone();
                    longer.push(v.clone());
                    longer
                })
            })
            .collect();
    }
    tuples
}

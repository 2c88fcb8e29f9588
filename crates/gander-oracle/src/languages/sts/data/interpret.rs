//! Interprets models with records, data and lists by enumeration (docs/semantics.md, sections 1 to
//! 3).

use super::{Claim, Expr, Leaf, Part, Sorts, Step, Sts, Type, Value};
use crate::languages::graph::{Graph, GraphClaim};
use crate::languages::{Expected, LIMIT};

/// Effects with more candidates for the next state are not enumerated.
const MAX_NEXT: usize = 20_000;

/// The values that an expression mentions.
#[derive(Clone)]
struct Scope<'a> {
    sorts: &'a Sorts,
    now: &'a [Value],
    next: &'a [Value],
    parameter: Option<&'a Value>,
    bound: Vec<Value>,
}

impl Scope<'_> {
    fn holds(&self, e: &Expr) -> bool {
        self.value(e) == Value::Bool(true)
    }

    fn int(&self, e: &Expr) -> i64 {
        match self.value(e) {
            Value::Int(i) => i,
            _ => 0,
        }
    }

    fn list(&self, e: &Expr) -> Vec<Value> {
        match self.value(e) {
            Value::List(list) => list,
            _ => Vec::new(),
        }
    }

    fn bind(&self, values: &[Value]) -> Self {
        let mut inner = self.clone();
        inner.bound.extend_from_slice(values);
        inner
    }

    /// The position of a field among those of a constructor.
    fn position(&self, constructor: usize, field: usize) -> Option<usize> {
        self.sorts.constructors[constructor].iter().position(|f| *f == field)
    }

    fn with_data_field(&self, data: Value, field: usize, new: Value) -> Value {
        match data {
            Value::Data(c, mut fields) => {
                if let Some(at) = self.position(c, field) {
                    fields[at] = new;
                }
                Value::Data(c, fields)
            }
            other => other,
        }
    }

    fn value(&self, e: &Expr) -> Value {
        match e {
            Expr::Value(v) => v.clone(),
            Expr::Var(i) => self.now[*i].clone(),
            Expr::Next(i) => self.next[*i].clone(),
            Expr::Parameter => self.parameter.expect("the step has a parameter").clone(),
            Expr::Bound(i) => self.bound[*i].clone(),
            Expr::Select(r, f) => match self.value(r) {
                Value::Record(fields) => fields[*f].clone(),
                other => other,
            },
            Expr::SelectData(d, f) => match self.value(d) {
                Value::Data(c, fields) => match self.position(c, *f) {
                    Some(at) => fields[at].clone(),
                    None => self.sorts.default(&self.sorts.fields[*f]),
                },
                other => other,
            },
            Expr::WithField(r, f, v) => match self.value(r) {
                Value::Record(mut fields) => {
                    fields[*f] = self.value(v);
                    Value::Record(fields)
                }
                other => other,
            },
            Expr::WithDataField(d, f, v) => self.with_data_field(self.value(d), *f, self.value(v)),
            Expr::Is(d, c) => Value::Bool(matches!(self.value(d), Value::Data(k, _) if k == *c)),
            Expr::Match(d, cases) => match self.value(d) {
                Value::Data(c, fields) => self.bind(&fields).value(&cases[c]),
                other => other,
            },
            Expr::Make(fields) => Value::Record(fields.iter().map(|e| self.value(e)).collect()),
            Expr::Construct(c, fields) => {
                Value::Data(*c, fields.iter().map(|e| self.value(e)).collect())
            }
            Expr::Equal(a, b) => Value::Bool(self.value(a) == self.value(b)),
            Expr::Less(a, b) => Value::Bool(self.int(a) < self.int(b)),
            Expr::Not(a) => Value::Bool(!self.holds(a)),
            Expr::And(a, b) => Value::Bool(self.holds(a) && self.holds(b)),
            Expr::Or(a, b) => Value::Bool(self.holds(a) || self.holds(b)),
            Expr::If(c, a, b) => self.value(if self.holds(c) { a } else { b }),
            Expr::Sum(a, b) => Value::Int((self.int(a) + self.int(b)).rem_euclid(2)),
            Expr::Exists(ty, body) => {
                let mut all = self.sorts.domain(ty).into_iter();
                Value::Bool(all.any(|v| self.bind(&[v]).holds(body)))
            }
            Expr::Forall(ty, body) => {
                let mut all = self.sorts.domain(ty).into_iter();
                Value::Bool(all.all(|v| self.bind(&[v]).holds(body)))
            }
            Expr::At(q, i, ty) => self.element(&self.list(q), self.int(i), ty),
            Expr::Head(q, ty) => self.element(&self.list(q), 0, ty),
            Expr::Last(q, ty) => {
                let q = self.list(q);
                self.element(&q, q.len() as i64 - 1, ty)
            }
            Expr::Length(q) => Value::Int(self.list(q).len() as i64),
            Expr::Tail(q) => Value::List(self.list(q).into_iter().skip(1).collect()),
            Expr::Contains(q, v) => Value::Bool(self.list(q).contains(&self.value(v))),
            Expr::Append(q, v, limit) => {
                let mut q = self.list(q);
                if q.len() < *limit {
                    q.push(self.value(v));
                }
                Value::List(q)
            }
            Expr::Cons(v, q, limit) => {
                let mut q = self.list(q);
                if q.len() < *limit {
                    q.insert(0, self.value(v));
                }
                Value::List(q)
            }
            Expr::WithElement(q, i, v) => {
                let mut q = self.list(q);
                let at = usize::try_from(self.int(i)).ok();
                if let Some(element) = at.and_then(|at| q.get_mut(at)) {
                    *element = self.value(v);
                }
                Value::List(q)
            }
        }
    }

    fn element(&self, list: &[Value], at: i64, ty: &Type) -> Value {
        let found = usize::try_from(at).ok().and_then(|at| list.get(at));
        found.cloned().unwrap_or_else(|| self.sorts.default(ty))
    }
}

/// How an expression mentions the next value of a variable.
#[derive(Default)]
struct Primes {
    whole: bool,
    fields: Vec<usize>,
}

/// `x'.f` for a record `x` primes a field, any other mention the whole variable.
fn primes(e: &Expr, var: usize, found: &mut Primes) {
    match e {
        Expr::Next(i) if *i == var => found.whole = true,
        Expr::Select(r, f) if matches!(**r, Expr::Next(i) if i == var) => found.fields.push(*f),
        Expr::Value(_) | Expr::Var(_) | Expr::Next(_) | Expr::Parameter | Expr::Bound(_) => {}
        Expr::Select(a, _)
        | Expr::SelectData(a, _)
        | Expr::Is(a, _)
        | Expr::Not(a)
        | Expr::Exists(_, a)
        | Expr::Forall(_, a)
        | Expr::Head(a, _)
        | Expr::Last(a, _)
        | Expr::Length(a)
        | Expr::Tail(a) => primes(a, var, found),
        Expr::WithField(a, _, b)
        | Expr::WithDataField(a, _, b)
        | Expr::Equal(a, b)
        | Expr::Less(a, b)
        | Expr::And(a, b)
        | Expr::Or(a, b)
        | Expr::Sum(a, b)
        | Expr::At(a, b, _)
        | Expr::Contains(a, b)
        | Expr::Append(a, b, _)
        | Expr::Cons(a, b, _) => {
            primes(a, var, found);
            primes(b, var, found);
        }
        Expr::If(a, b, c) | Expr::WithElement(a, b, c) => {
            [a, b, c].into_iter().for_each(|e| primes(e, var, found));
        }
        Expr::Make(all) | Expr::Construct(_, all) => {
            all.iter().for_each(|e| primes(e, var, found));
        }
        Expr::Match(d, cases) => {
            primes(d, var, found);
            cases.iter().for_each(|e| primes(e, var, found));
        }
    }
}

fn product(domains: &[Vec<Value>]) -> Option<Vec<Vec<Value>>> {
    let size = domains.iter().map(Vec::len).try_fold(1usize, usize::checked_mul)?;
    if size > MAX_NEXT {
        return None;
    }
    let mut all = vec![Vec::new()];
    for domain in domains {
        let with = |known: Vec<Value>| {
            domain.iter().map(move |v| known.iter().chain([v]).cloned().collect())
        };
        all = all.into_iter().flat_map(with).collect();
    }
    Some(all)
}

/// The tables of values that an effect allows a variable.
fn choices(sts: &Sts, step: &Step, scope: &Scope<'_>, i: usize) -> Vec<Value> {
    let variable = &sts.variables[i];
    let mut found = Primes { whole: variable.is_input, fields: Vec::new() };
    let mut value = scope.now[i].clone();
    for part in &step.effect {
        match part {
            Part::Assign(k, e) if *k == i => value = scope.value(e),
            Part::AssignField(k, f, e) if *k == i => {
                let new = scope.value(e);
                value = match value {
                    Value::Record(mut fields) => {
                        fields[*f] = new;
                        Value::Record(fields)
                    }
                    data => scope.with_data_field(data, *f, new),
                };
            }
            Part::Any(k) if *k == i => found.whole = true,
            Part::AnyField(k, f) if *k == i => found.fields.push(*f),
            Part::Constraint(e) => primes(e, i, &mut found),
            _ => {}
        }
    }
    if found.whole {
        return sts.sorts.domain(&variable.ty);
    }
    let mut all = vec![value];
    for f in found.fields {
        let domain = sts.sorts.domain(&sts.sorts.record[f]);
        let vary = |value: Value| {
            let with = |v: &Value| match &value {
                Value::Record(fields) => {
                    let mut fields = fields.clone();
                    fields[f] = v.clone();
                    Value::Record(fields)
                }
                other => other.clone(),
            };
            domain.iter().map(with).collect::<Vec<Value>>()
        };
        all = all.into_iter().flat_map(vary).collect();
        all.sort_by_key(|v| format!("{v:?}"));
        all.dedup();
    }
    all
}

fn successors(sts: &Sts, now: &Vec<Value>) -> Option<Vec<(usize, Vec<Value>)>> {
    let mut found = Vec::new();
    for (number, step) in sts.steps.iter().enumerate() {
        let parameters: Vec<Option<Value>> = match &step.parameter {
            Some(ty) => sts.sorts.domain(ty).into_iter().map(Some).collect(),
            None => vec![None],
        };
        for parameter in &parameters {
            let parameter = parameter.as_ref();
            let sorts = &sts.sorts;
            let scope = Scope { sorts, now, next: now, parameter, bound: Vec::new() };
            if step.guard.as_ref().is_some_and(|g| !scope.holds(g)) {
                continue;
            }
            let domains: Vec<Vec<Value>> =
                (0..sts.variables.len()).map(|i| choices(sts, step, &scope, i)).collect();
            for next in product(&domains)? {
                let after = Scope { next: &next, ..scope.clone() };
                let allowed = step.effect.iter().all(|part| match part {
                    Part::Constraint(e) => after.holds(e),
                    _ => true,
                });
                if allowed {
                    found.push((number, next));
                }
            }
        }
    }
    Some(found)
}

/// The parts of a value that have a range, by name, and whether the value is in it; `None` for the
/// names of a type.
fn ranges(
    sts: &Sts,
    ty: &Type,
    name: &str,
    value: Option<&Value>,
    found: &mut Vec<(String, bool)>,
) {
    match ty {
        Type::Leaf(_) => {}
        Type::Record => {
            let given = match value {
                Some(Value::Record(fields)) => Some(fields),
                _ => None,
            };
            for (f, ty) in sts.sorts.record.iter().enumerate() {
                let name = format!("{name}.{}", ["a", "b"][f]);
                field(sts, ty, name, given.map(|fields| &fields[f]), found);
            }
        }
        Type::Data => {
            for (f, ty) in sts.sorts.fields.iter().enumerate() {
                if !sts.sorts.constructors.iter().any(|own| own.contains(&f)) {
                    continue;
                }
                let given = match value {
                    Some(Value::Data(c, fields)) => {
                        let at = sts.sorts.constructors[*c].iter().position(|k| *k == f);
                        at.map(|at| &fields[at])
                    }
                    _ => None,
                };
                field(sts, ty, format!("{name}.{}", ["f", "g", "h"][f]), given, found);
            }
        }
        Type::List(limit, element) => {
            for i in 0..*limit {
                let given = match value {
                    Some(Value::List(list)) => list.get(i),
                    _ => None,
                };
                ranges(sts, element, &format!("{name}[{i}]"), given, found);
            }
        }
    }
}

fn field(
    sts: &Sts,
    ty: &Type,
    name: String,
    value: Option<&Value>,
    found: &mut Vec<(String, bool)>,
) {
    match (ty, value) {
        (Type::Leaf(Leaf::Int), Some(Value::Int(i))) => found.push((name, (0..=1).contains(i))),
        (Type::Leaf(Leaf::Int), _) => found.push((name, true)),
        _ => ranges(sts, ty, &name, value, found),
    }
}

/// The expected verdict of each claim, including those of ranges; `None` if there are too many
/// states.
pub(super) fn decide(sts: &Sts) -> Option<Vec<(String, Expected)>> {
    fn scope<'a>(sts: &'a Sts, now: &'a [Value]) -> Scope<'a> {
        Scope { sorts: &sts.sorts, now, next: now, parameter: None, bound: Vec::new() }
    }
    let domains: Vec<Vec<Value>> = sts
        .variables
        .iter()
        .enumerate()
        .map(|(i, v)| {
            let fixed = sts.start.iter().find_map(|e| match e {
                Expr::Equal(x, value) if matches!(**x, Expr::Var(k) if k == i) => match &**value {
                    Expr::Value(value) => Some(value.clone()),
                    _ => None,
                },
                _ => None,
            });
            fixed.map_or_else(|| sts.sorts.domain(&v.ty), |value| vec![value])
        })
        .collect();
    let mut initial = product(&domains)?;
    initial.retain(|s| sts.start.iter().all(|e| scope(sts, s).holds(e)));
    let too_many = std::cell::Cell::new(false);
    let next = |s: &Vec<Value>| {
        successors(sts, s).unwrap_or_else(|| {
            too_many.set(true);
            Vec::new()
        })
    };
    let (graph, states) = Graph::explore(initial, next, LIMIT)?;
    if too_many.get() {
        return None;
    }
    let set = |e: &Expr| states.iter().map(|s| scope(sts, s).holds(e)).collect::<Vec<bool>>();
    let mut answers = Vec::new();
    let as_expected =
        |holds| if graph.initial == 0 { Expected::NoRun } else { Expected::of(holds) };
    for (i, claim) in sts.claims.iter().enumerate() {
        let decide = |claim: GraphClaim| graph.decide(&claim, true, &[]);
        let holds = match claim {
            Claim::Always(p) => decide(GraphClaim::Always(set(p))),
            Claim::Reachable(p) => set(p).contains(&true),
            Claim::Eventually(p) => decide(GraphClaim::Eventually(set(p))),
            Claim::Recurs(p) => decide(GraphClaim::Recurs(set(p))),
            Claim::LeadsTo(p, q) => decide(GraphClaim::LeadsTo(set(p), set(q))),
            Claim::Possible(p) => decide(GraphClaim::AlwaysPossible(set(p))),
            Claim::ExistsAlways(p) => decide(GraphClaim::ExistsAlways(set(p))),
            Claim::NoDeadlock => (0..graph.len()).all(|s| !graph.next[s].is_empty()),
            Claim::InfiniteRun => {
                graph.some_initial(&graph.stays(&vec![true; graph.len()], false, &[]))
            }
        };
        answers.push((sts.claim_name(i), as_expected(holds)));
    }
    for (i, variable) in sts.variables.iter().enumerate().filter(|(_, v)| !v.is_input) {
        let mut all: Vec<(String, bool)> = Vec::new();
        ranges(sts, &variable.ty, &format!("x{i}"), None, &mut all);
        for state in &states {
            let mut here = Vec::new();
            ranges(sts, &variable.ty, &format!("x{i}"), Some(&state[i]), &mut here);
            for ((_, holds), (_, now)) in all.iter_mut().zip(&here) {
                *holds &= now;
            }
        }
        let named = |(name, holds)| (format!("range of {name}"), as_expected(holds));
        answers.extend(all.into_iter().map(named));
    }
    Some(answers)
}

//! The system for all sizes has, for each size, the runs of the composition of that size.
//!
//! For random small texts and for sizes of 1 to 4 both systems are explored side by side. In every
//! pair of corresponding states they must have corresponding steps, and every claim must have the
//! same truth value. The composition of known size is compared with an independent interpreter
//! elsewhere (`gander-oracle`).

use std::collections::{HashMap, HashSet, VecDeque};

use gander_lang::sts::load_with;
use gander_oracle::compositions::any_size_text;
use gander_system::{ClaimKind, Effect, Param, Role, StartId, System, Transition};
use gander_term::{ArrayValue, IBig, Op, Pool, Sort, SymbolId, TermId, Value, evaluate};

/// Pairs of states that are explored for one text and size.
const MAX_STATES: usize = 120;

/// The values of the variables of a state.
type State = Vec<Value>;

fn term_value(
    system: &System,
    pool: &Pool,
    t: TermId,
    state: &State,
    more: &[(SymbolId, Value)],
) -> Value {
    let look = |s: SymbolId| {
        let at = system.vars().iter().position(|v| v.current == s);
        at.map(|at| state[at].clone())
            .or_else(|| more.iter().find(|(m, _)| *m == s).map(|(_, v)| v.clone()))
    };
    evaluate(pool, t, &look).unwrap_or_else(|e| panic!("{}: {e:?}", pool.display(t)))
}

fn is_true(
    system: &System,
    pool: &Pool,
    t: TermId,
    state: &State,
    more: &[(SymbolId, Value)],
) -> bool {
    term_value(system, pool, t, state, more) == Value::Bool(true)
}

fn choices(params: &[Param], n: i64) -> Vec<Vec<(SymbolId, Value)>> {
    let mut all = vec![Vec::new()];
    for p in params {
        let values: Vec<Value> = match (p.sort, &p.range) {
            (Sort::Int, Some(range)) => {
                let (low, high) =
                    (i64::try_from(&range.low).unwrap(), i64::try_from(&range.high).unwrap());
                (low..=high).map(Value::int).collect()
            }
            // An index, with values outside of the family.
            (Sort::Int, None) => (-1..=n).map(Value::int).collect(),
            other => panic!("a parameter {other:?}"),
        };
        all = all
            .into_iter()
            .flat_map(|c: Vec<(SymbolId, Value)>| {
                values.iter().map(move |v| {
                    let mut c = c.clone();
                    c.push((p.symbol, v.clone()));
                    c
                })
            })
            .collect();
    }
    all
}

/// The state after a step; `None` if it is not enabled.
fn after(
    system: &System,
    pool: &mut Pool,
    t: &Transition,
    state: &State,
    params: &[(SymbolId, Value)],
    n: i64,
) -> Option<State> {
    if !t.guard.iter().all(|g| is_true(system, pool, g.term.term(), state, params)) {
        return None;
    }
    let mut next = state.clone();
    for e in &t.effect {
        match *e {
            Effect::Assign { var, value, .. } => {
                next[var.index()] = term_value(system, pool, value.term(), state, params);
            }
            Effect::Keep { .. } => {}
            Effect::Constrain { relation, .. } => {
                let (var, bound, element) = pointwise(system, pool, relation.term());
                let mut array = state[var].clone();
                for k in 0..n {
                    let index = pool.int(k);
                    let here = replace(pool, element, bound, index);
                    let value = term_value(system, pool, here, state, params);
                    array = with(&array, k, value);
                }
                next[var] = array;
            }
        }
    }
    Some(next)
}

/// `forall k. ... -> x'[k] == element`
fn pointwise(system: &System, pool: &Pool, relation: TermId) -> (usize, TermId, TermId) {
    let &[bound, body] = pool.args(relation) else { panic!("{}", pool.display(relation)) };
    assert_eq!((pool.op(relation), pool.op(body)), (Op::Forall, Op::Implies));
    let equation = pool.args(body)[1];
    for at in [0, 1] {
        let (next, element) = (pool.args(equation)[at], pool.args(equation)[1 - at]);
        if pool.op(next) == Op::Select
            && let Some(s) = pool.as_symbol(pool.args(next)[0])
            && let Some(var) = system.vars().iter().position(|v| v.next == s)
        {
            return (var, bound, element);
        }
    }
    panic!("{}", pool.display(relation))
}

fn replace(pool: &mut Pool, t: TermId, old: TermId, new: TermId) -> TermId {
    let mut done = HashMap::from([(old, new)]);
    for t in pool.postorder(&[t]) {
        if done.contains_key(&t) {
            continue;
        }
        let args: Vec<TermId> = pool.args(t).iter().map(|a| *done.get(a).unwrap_or(a)).collect();
        let rebuilt = pool.mk(pool.op(t), &args).unwrap_or(t);
        done.insert(t, rebuilt);
    }
    done[&t]
}

fn with(array: &Value, k: i64, value: Value) -> Value {
    let Value::Array(a) = array else { panic!("{array:?}") };
    let mut elements: Vec<(Value, Value)> = a.exceptions().to_vec();
    elements.retain(|(i, _)| *i != Value::int(k));
    elements.push((Value::int(k), value));
    Value::array(ArrayValue::new(a.sort(), a.default().clone(), elements).expect("an array"))
}

fn element(array: &Value, k: i64) -> Value {
    let Value::Array(a) = array else { panic!("{array:?}") };
    let found = a.exceptions().iter().find(|(i, _)| *i == Value::int(k));
    found.map_or(a.default().clone(), |(_, v)| v.clone())
}

/// The state of the composition of known size for a state of the system for all sizes.
fn projected(system: &System, concrete: &System, state: &State, n: i64) -> State {
    let mut named: HashMap<String, Value> = HashMap::new();
    for (v, value) in system.vars().iter().zip(state) {
        match v.sort {
            Sort::Array(_) => {
                let (family, rest) =
                    v.name.split_once('.').map_or((v.name.as_str(), ""), |(f, r)| (f, r));
                let dot = if rest.is_empty() { "" } else { "." };
                for k in 0..n {
                    named.insert(format!("{family}[{k}]{dot}{rest}"), element(value, k));
                }
            }
            _ => drop(named.insert(v.name.clone(), value.clone())),
        }
    }
    let value = |name: &String, sort: Sort| match (&named[name], sort) {
        // Enumerations have other ids in other pools.
        (Value::Enum(_, at), Sort::Enum(e)) => Value::Enum(e, *at),
        (other, _) => other.clone(),
    };
    concrete.vars().iter().map(|v| value(&v.name, v.sort)).collect()
}

/// Gives the sums over families the values that they have in the state.
fn with_sums(system: &System, pool: &mut Pool, state: &mut State, n: i64, all: bool) {
    let mut formulas: Vec<TermId> = system.assumptions().iter().map(|a| a.term.term()).collect();
    formulas.extend(system.starts()[0].constraint.iter().map(|c| c.term.term()));
    let mut work = formulas;
    let mut steps = Vec::new();
    while let Some(t) = work.pop() {
        match pool.op(t) {
            Op::And => work.extend_from_slice(pool.args(t)),
            Op::Forall => steps.push(t),
            _ => {}
        }
    }
    // Sums that the start gives directly.
    for c in system.starts()[0].constraint.iter().filter(|_| all) {
        let t = c.term.term();
        if pool.op(t) == Op::Eq {
            for at in [0, 1] {
                let (sum, value) = (pool.args(t)[at], pool.args(t)[1 - at]);
                let var = system.vars().iter().position(|v| Some(v.current) == pool.as_symbol(sum));
                if let Some(var) = var.filter(|&var| system.vars()[var].name.contains(' ')) {
                    state[var] = term_value(system, pool, value, state, &[]);
                }
            }
        }
    }
    for (at, v) in system.vars().iter().enumerate() {
        let Some(name) = v.name.strip_prefix("sums of ") else { continue };
        if v.role == Role::State && !all {
            continue;
        }
        let sum = system.vars().iter().position(|v| v.name == name).expect("the sum");
        state[at] = with(&state[at], 0, Value::int(0));
        // `forall i. ... -> sums[i + 1] == sums[i] + term`
        let step = steps.iter().copied().find(|&t| {
            let body = pool.args(t)[1];
            pool.op(body) == Op::Implies
                && pool.op(pool.args(body)[1]) == Op::Eq
                && pool.free_symbols(&[pool.args(body)[1]]).contains(&v.current)
        });
        let step = step.expect("the definition of the sums");
        let (bound, body) = (pool.args(step)[0], pool.args(step)[1]);
        let equation = pool.args(body)[1];
        let (a, b) = (pool.args(equation)[0], pool.args(equation)[1]);
        let whole = if pool.op(a) == Op::Select { b } else { a };
        for k in 0..n {
            let index = pool.int(k);
            let here = replace(pool, whole, bound, index);
            let value = term_value(system, pool, here, state, &[]);
            state[at] = with(&state[at], k + 1, value);
        }
        state[sum] = element(&state[at], n);
    }
}

/// The start states of a composition whose starts give every variable a value.
fn start(system: &System, pool: &mut Pool, n: i64, like: Option<(&System, &State)>) -> State {
    let mut state: State = system
        .vars()
        .iter()
        .map(|v| match v.sort {
            Sort::Bool => Value::Bool(false),
            Sort::Int => Value::int(0),
            Sort::Enum(e) => Value::Enum(e, 0),
            Sort::Array(array) => {
                let default = match array.element() {
                    Sort::Bool => Value::Bool(false),
                    Sort::Enum(e) => Value::Enum(e, 0),
                    _ => Value::int(0),
                };
                Value::array(ArrayValue::new(array, default, Vec::new()).expect("an array"))
            }
            other => panic!("{other:?}"),
        })
        .collect();
    let mut named: HashMap<String, Value> = HashMap::from([("N".to_string(), Value::int(n))]);
    if let Some((concrete, values)) = like {
        named.extend(concrete.vars().iter().map(|v| v.name.clone()).zip(values.iter().cloned()));
    }
    for (at, v) in system.vars().iter().enumerate() {
        let enumeration = |sort: Sort, value: &Value| match (sort, value) {
            (Sort::Enum(e), Value::Enum(_, at)) => Value::Enum(e, *at),
            (_, other) => other.clone(),
        };
        if let Sort::Array(array) = v.sort {
            let (family, rest) =
                v.name.split_once('.').map_or((v.name.as_str(), ""), |(f, r)| (f, r));
            let dot = if rest.is_empty() { "" } else { "." };
            for k in 0..n {
                if let Some(value) = named.get(&format!("{family}[{k}]{dot}{rest}")) {
                    state[at] = with(&state[at], k, enumeration(array.element(), value));
                }
            }
        } else if let Some(value) = named.get(&v.name) {
            state[at] = enumeration(v.sort, value);
        }
    }
    with_sums(system, pool, &mut state, n, true);
    state
}

/// The start state of the composition: every instance of `Proc` at `A`, the hub at `U`.
fn concrete_start(system: &System, pool: &Pool) -> State {
    let zero = |v: &gander_system::StateVar| match v.sort {
        Sort::Bool => vec![Value::Bool(false), Value::Bool(true)],
        Sort::Enum(e) => vec![Value::Enum(e, 0)],
        _ => vec![Value::int(0), Value::int(1)],
    };
    // One conjunct after the other: variables are independent.
    let mut state: State = system.vars().iter().map(|v| zero(v)[0].clone()).collect();
    for (at, v) in system.vars().iter().enumerate() {
        for value in zero(v) {
            state[at] = value;
            let about = system.starts()[0]
                .constraint
                .iter()
                .filter(|c| pool.free_symbols(&[c.term.term()]).contains(&v.current));
            if about.into_iter().all(|c| is_true(system, pool, c.term.term(), &state, &[])) {
                break;
            }
        }
    }
    state
}

fn compare(source: &str, n: i64) -> usize {
    let whole = load_with(source, "s.sts", &[]).system.expect("it loads");
    let concrete = load_with(source, "s.sts", &[("N".to_string(), IBig::from(n))]).system;
    let concrete = concrete.expect("it loads with a size");
    let (mut pool, mut other) = (Pool::fork(whole.pool()), Pool::fork(concrete.pool()));
    let first = concrete_start(&concrete, &other);
    let is_start = |pool: &mut Pool, system: &System, state: &State| {
        let t = system.start_term(pool, StartId::from(0));
        is_true(system, pool, t, state, &[])
    };
    assert!(is_start(&mut other, &concrete, &first), "{source}");
    let begin = start(&whole, &mut pool, n, Some((&concrete, &first)));
    assert!(is_start(&mut pool, &whole, &begin), "size {n}\n{source}");
    let claims: Vec<(String, TermId, TermId)> = whole
        .claims()
        .iter()
        .filter_map(|c| {
            let same = concrete.claims().iter().find(|d| d.name == c.name)?;
            match (&c.kind, &same.kind) {
                (ClaimKind::Always(p), ClaimKind::Always(q)) => {
                    Some((c.name.clone(), p.term(), q.term()))
                }
                _ => None,
            }
        })
        .collect();
    assert!(claims.len() >= 9, "{source}");
    let mut seen: HashSet<State> = HashSet::from([begin.clone()]);
    let mut queue = VecDeque::from([(begin, first)]);
    let mut steps = 0;
    while let Some((state, known)) = queue.pop_front() {
        for (name, p, q) in &claims {
            assert_eq!(
                is_true(&whole, &pool, *p, &state, &[]),
                is_true(&concrete, &other, *q, &known, &[]),
                "`{name}` with size {n} in {state:?}\n{source}"
            );
        }
        assert!(whole.assumptions().iter().all(|a| is_true(
            &whole,
            &pool,
            a.term.term(),
            &state,
            &[]
        )));
        let mut wanted: HashSet<State> = HashSet::new();
        for t in concrete.transitions() {
            for params in choices(&t.params, n) {
                wanted.extend(after(&concrete, &mut other, t, &known, &params, n));
            }
        }
        let mut found: HashSet<State> = HashSet::new();
        for t in whole.transitions() {
            for params in choices(&t.params, n) {
                let Some(mut next) = after(&whole, &mut pool, t, &state, &params, n) else {
                    continue;
                };
                with_sums(&whole, &mut pool, &mut next, n, false);
                let there = projected(&whole, &concrete, &next, n);
                assert!(
                    wanted.contains(&there),
                    "size {n}: `{}` {params:?} leads from {known:?} to {there:?}\n{source}",
                    t.name
                );
                steps += 1;
                found.insert(there.clone());
                if seen.len() < MAX_STATES && seen.insert(next.clone()) {
                    queue.push_back((next, there));
                }
            }
        }
        assert_eq!(found, wanted, "size {n}: steps from {known:?} are missing\n{source}");
    }
    steps
}

#[test]
fn the_system_for_all_sizes_has_the_steps_of_each_size() {
    let (mut compared, mut steps) = (0, 0);
    let most = std::env::var("ANY_SIZE_TEXTS").ok().and_then(|n| n.parse().ok()).unwrap_or(25);
    for seed in 0..most {
        let source = any_size_text(seed);
        let loaded = load_with(&source, "s.sts", &[]);
        if loaded.system.is_none() {
            // What cannot be said for all sizes, and gates that a random text does not have.
            let expected = ["E0510", "E0703"];
            assert!(
                loaded.diagnostics.iter().all(|d| {
                    let code = format!("{:?}", d.code);
                    expected.contains(&code.as_str()) || code.starts_with('W')
                }),
                "{:?}\n{source}",
                loaded.diagnostics
            );
            continue;
        }
        compared += 1;
        for n in 1..=4 {
            steps += compare(&source, n);
        }
    }
    assert!(compared * 3 >= most, "only {compared} of {most} texts were compared");
    assert!(steps > 1000, "{steps} steps");
}

//! Reachable states of small sizes, to drop candidates quickly. Soundness does not depend on them.

use std::collections::VecDeque;
use std::time::Instant;

use gander_runtime::Cancellation;
use gander_smt::{Answer, Limits, Session, StepSymbol};
use gander_system::{Effect, Role, StartId, System, Transition};
use gander_term::{IBig, Op, Pool, Sort, SymbolId, TermId, Value, evaluate};
use rustc_hash::{FxHashMap, FxHashSet};

use super::instances::Instances;
use super::limits::LIMITS;

/// The values of the variables of a state.
pub(super) type Sample = Vec<Value>;

/// States with the sizes `n`, by breadth-first search from a few start states.
pub(super) fn sample(
    system: &System,
    pool: &mut Pool,
    session: &mut Session,
    n: i64,
    cancel: &Cancellation,
) -> Vec<Sample> {
    let until = Instant::now() + LIMITS.sampling;
    let mut states: Vec<Sample> = starts(system, pool, session, n);
    let mut seen: FxHashSet<Sample> = states.iter().cloned().collect();
    let mut queue: VecDeque<Sample> = states.iter().cloned().collect();
    while let Some(state) = queue.pop_front() {
        if Instant::now() > until || states.len() >= LIMITS.states || cancel.is_cancelled() {
            break;
        }
        for t in system.transitions() {
            for next in successors(system, pool, t, &state, n) {
                if states.len() < LIMITS.states && seen.insert(next.clone()) {
                    states.push(next.clone());
                    queue.push_back(next);
                }
            }
        }
    }
    states
}

fn look_up<'a>(
    system: &'a System,
    state: &'a [Value],
    params: &'a [(SymbolId, Value)],
) -> impl Fn(SymbolId) -> Option<Value> + 'a {
    move |s| {
        let var = system.vars().iter().position(|v| v.current == s).map(|at| state[at].clone());
        var.or_else(|| params.iter().find(|(p, _)| *p == s).map(|(_, v)| v.clone()))
    }
}

fn starts(system: &System, pool: &mut Pool, session: &mut Session, n: i64) -> Vec<Sample> {
    let mut parts: Vec<TermId> = system.assumptions().iter().map(|a| a.term.term()).collect();
    if !system.starts().is_empty() {
        parts.push(system.start_term(pool, StartId::from(0)));
    }
    let whole = pool.and(parts);
    let size = pool.int(n);
    let map: FxHashMap<SymbolId, TermId> =
        system.sizes().iter().map(|s| (system.var(s.var).current, size)).collect();
    let formula = pool.substitute(whole, &map);
    // All indices: bounded quantifiers are expanded exactly.
    let terms: Vec<TermId> = (0..=n).map(|k| pool.int(k)).collect();
    let formula = Instances { pool, terms }.of(formula);
    session.push();
    session.assert(pool, formula);
    let limits = Limits::time(LIMITS.query);
    let mut found: Vec<Sample> = Vec::new();
    let symbols: Vec<StepSymbol> =
        system.vars().iter().map(|v| StepSymbol::rigid(v.current)).collect();
    while found.len() < LIMITS.starts && session.check(&[], limits) == Answer::Sat {
        let Ok(mut values) = session.values(pool, &symbols, limits) else { break };
        for s in system.sizes() {
            values[s.var.index()] = Value::Int(IBig::from(n));
        }
        let holds = evaluate(pool, whole, &look_up(system, &values, &[]));
        let mut same = Vec::new();
        for (v, value) in system.vars().iter().zip(&values) {
            let term = pool.var(v.current);
            let constant = pool.constant(value.clone());
            match v.sort {
                Sort::Array(array) if array.index() == Sort::Int => {
                    for k in 0..n {
                        let k = pool.int(k);
                        let (a, b) = (pool.select(term, k), pool.select(constant, k));
                        same.push(pool.eq(a, b));
                    }
                }
                _ => same.push(pool.eq(term, constant)),
            }
        }
        let same = pool.and(same);
        let other = pool.not(same);
        let other = pool.substitute(other, &map);
        let other = pool.simplify(other);
        session.assert(pool, other);
        if holds == Ok(Value::Bool(true)) {
            found.push(values);
        } else {
            break;
        }
    }
    session.pop();
    found
}

/// Some successors of a state by a transition.
fn successors(
    system: &System,
    pool: &mut Pool,
    t: &Transition,
    state: &[Value],
    n: i64,
) -> Vec<Sample> {
    let mut choices: Vec<Vec<(SymbolId, Value)>> = vec![Vec::new()];
    for p in &t.params {
        let values = values(pool, p.sort, p.range.as_ref(), n);
        choices = choices
            .into_iter()
            .flat_map(|c| {
                values.iter().map(move |v| {
                    let mut c = c.clone();
                    c.push((p.symbol, v.clone()));
                    c
                })
            })
            .take(LIMITS.choices)
            .collect();
    }
    choices.into_iter().filter_map(|params| successor(system, pool, t, state, &params, n)).collect()
}

fn values(pool: &Pool, sort: Sort, range: Option<&gander_system::Range>, n: i64) -> Vec<Value> {
    let ints = |low: IBig, high: IBig, most: usize| {
        let mut all = Vec::new();
        let mut at = low;
        while at <= high && all.len() < most {
            all.push(Value::Int(at.clone()));
            at += IBig::from(1);
        }
        all
    };
    match (sort, range) {
        (Sort::Bool, _) => vec![Value::Bool(false), Value::Bool(true)],
        (Sort::Enum(e), _) => {
            (0..pool.enumeration(e).variants.len() as u32).map(|at| Value::Enum(e, at)).collect()
        }
        (Sort::Int, Some(range)) => {
            let mut all = ints(range.low.clone(), range.high.clone(), LIMITS.values);
            all.push(Value::Int(range.high.clone()));
            all.dedup();
            all
        }
        (Sort::Int, None) => ints(IBig::from(0), IBig::from(n - 1), n as usize),
        (Sort::Real, _) => vec![Value::whole(IBig::from(1))],
        _ => Vec::new(),
    }
}

fn successor(
    system: &System,
    pool: &mut Pool,
    t: &Transition,
    state: &[Value],
    params: &[(SymbolId, Value)],
    n: i64,
) -> Option<Sample> {
    let look = look_up(system, state, params);
    for g in &t.guard {
        if evaluate(pool, g.term.term(), &look) != Ok(Value::Bool(true)) {
            return None;
        }
    }
    let mut next = state.to_vec();
    for e in &t.effect {
        match *e {
            Effect::Assign { var, value, .. } => {
                next[var.index()] = evaluate(pool, value.term(), &look).ok()?;
            }
            Effect::Keep { .. } => {}
            Effect::Constrain { relation, .. } => {
                let (var, bound, element) = pointwise(system, pool, relation.term())?;
                let mut array = pool.constant(state[var].clone());
                for k in 0..n {
                    let index = pool.int(k);
                    let map = FxHashMap::from_iter([(bound, index)]);
                    let here = super::instances::replace(pool, element, &map);
                    let value = evaluate(pool, here, &look).ok()?;
                    let value = pool.constant(value);
                    array = pool.store(array, index, value);
                }
                next[var] = evaluate(pool, array, &|_| None).ok()?;
            }
        }
    }
    // Inputs keep their values if the assumptions allow that.
    let inputs = system.vars().iter().any(|v| v.role == Role::Input);
    if inputs || !system.assumptions().is_empty() {
        let look = look_up(system, &next, &[]);
        let holds = |a: TermId| evaluate(pool, a, &look) == Ok(Value::Bool(true));
        if !system.assumptions().iter().all(|a| holds(a.term.term())) {
            return None;
        }
    }
    Some(next)
}

/// The variable, the bound symbol and the element of `forall k. ... -> x'[k] == element`.
fn pointwise(system: &System, pool: &Pool, relation: TermId) -> Option<(usize, TermId, TermId)> {
    let (Op::Forall, &[bound, body]) = (pool.op(relation), pool.args(relation)) else {
        return None;
    };
    let (Op::Implies, &[_, equation]) = (pool.op(body), pool.args(body)) else { return None };
    let (Op::Eq, &[a, b]) = (pool.op(equation), pool.args(equation)) else { return None };
    [(a, b), (b, a)].into_iter().find_map(|(next, element)| {
        let (Op::Select, &[array, index]) = (pool.op(next), pool.args(next)) else { return None };
        let symbol = pool.as_symbol(array)?;
        let var = system.vars().iter().position(|v| v.next == symbol)?;
        let all = pool.postorder(&[element]);
        let primed = all
            .iter()
            .filter_map(|&t| pool.as_symbol(t))
            .any(|s| system.vars().iter().any(|v| v.next == s));
        (index == bound && !primed).then_some((var, bound, element))
    })
}

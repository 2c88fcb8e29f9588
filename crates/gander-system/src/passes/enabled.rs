//! Formulas about a state: that a transition is enabled, or can be completed.

use gander_term::{Pool, SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::system::{Effect, System, Transition, TransitionId};

/// The formula that the guard holds for some parameters.
pub(crate) fn enabled(pool: &mut Pool, t: &Transition) -> TermId {
    let guard = pool.and(t.guard.iter().map(|g| g.term.term()));
    let (bound, map) = bind_params(pool, t);
    let guard = pool.substitute(guard, &map);
    pool.exists(&bound, guard)
}

fn bind_params(pool: &mut Pool, t: &Transition) -> (Vec<SymbolId>, FxHashMap<SymbolId, TermId>) {
    let mut bound = Vec::new();
    let mut map = FxHashMap::default();
    for p in &t.params {
        let b = pool.declare_bound(&p.name, p.sort);
        bound.push(b);
        map.insert(p.symbol, pool.var(b));
    }
    (bound, map)
}

/// The formula that some step by the transition leads to an admissible state.
pub(crate) fn can_step(pool: &mut Pool, system: &System, id: TransitionId) -> TermId {
    let t = system.transition(id);
    let (mut bound, mut map) = bind_params(pool, t);
    let mut parts: Vec<TermId> = t.guard.iter().map(|g| g.term.term()).collect();
    let mut next: Vec<Option<TermId>> = vec![None; system.vars.len()];
    for e in &t.effect {
        match *e {
            Effect::Assign { var, value, .. } => next[var.index()] = Some(value.term()),
            Effect::Keep { var, .. } => next[var.index()] = Some(pool.var(system.var(var).current)),
            Effect::Constrain { relation, .. } => parts.push(relation.term()),
        }
    }
    let mut renamed = FxHashMap::default();
    for (v, next) in system.vars.iter().zip(next) {
        let value = match next {
            Some(value) => pool.substitute(value, &map),
            None => {
                let b = pool.declare_bound(&v.name, v.sort);
                bound.push(b);
                pool.var(b)
            }
        };
        renamed.insert(v.current, value);
    }
    let admissible = system.assumption_term(pool, t.target);
    let admissible = pool.substitute(admissible, &renamed);
    map.extend(system.vars.iter().map(|v| (v.next, renamed[&v.current])));
    let step = pool.and(parts);
    let step = pool.substitute(step, &map);
    let step = pool.and([step, admissible]);
    pool.exists(&bound, step)
}

//! Formulas about a state: that a transition is enabled, or can be completed.

use gander_term::{Pool, SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::builder::{BuildError, SystemBuilder};
use crate::claim::ClaimKind;
use crate::system::{Effect, System, Transition, TransitionId};

/// The formula that the guard holds for some parameters.
pub(crate) fn enabled(pool: &mut Pool, t: &Transition) -> TermId {
    enabled_when(pool, t, None)
}

/// The formula that the guard and a condition over state and parameters hold for some parameters.
pub(crate) fn enabled_when(pool: &mut Pool, t: &Transition, condition: Option<TermId>) -> TermId {
    // Conjuncts without parameters are not quantified.
    let all = t.guard.iter().map(|g| g.term.term()).chain(condition);
    let is_param = |s: &SymbolId| t.params.iter().any(|p| p.symbol == *s);
    let (chosen, plain): (Vec<TermId>, Vec<TermId>) =
        all.partition(|&g| pool.free_symbols(&[g]).iter().any(is_param));
    let (bound, map) = bind_params(pool, t);
    let chosen = pool.and(chosen);
    let chosen = pool.substitute(chosen, &map);
    let chosen = pool.exists(&bound, chosen);
    pool.and(plain.into_iter().chain([chosen]))
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

/// The claim that a run can end only where the author lets it. With a final condition, or families
/// of any size, it is an *always* claim with quantifiers.
pub fn no_deadlock(builder: &mut SystemBuilder) -> Result<ClaimKind, BuildError> {
    let ends = match builder.so_far().final_condition() {
        Some(ends) => ends.term(),
        None if builder.so_far().sizes().is_empty() => return Ok(ClaimKind::NoDeadlock),
        None => builder.pool.ff(),
    };
    let mut pool = std::mem::take(&mut builder.pool);
    let system = builder.so_far();
    let mut all = Vec::new();
    for n in system.node_ids().filter(|&n| !system.node(n).is_final) {
        let leaving = system.transition_ids().filter(|&t| system.transition(t).source == n);
        let steps: Vec<TermId> = leaving.map(|t| can_step(&mut pool, system, t)).collect();
        let here = system.node_constant(&mut pool, n);
        let location = pool.var(system.location);
        let elsewhere = pool.ne(location, here);
        all.push(pool.or([elsewhere, ends].into_iter().chain(steps)));
    }
    let formula = pool.and(all);
    builder.pool = pool;
    Ok(ClaimKind::Always(builder.state_formula(formula, "no deadlock")?))
}

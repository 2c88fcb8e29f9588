//! Transition relations, with assigned and kept next values substituted.
//!
//! `exists x'. x' == e and B` is `B[x' := e]`, so assignments and frames become a substitution and
//! only constraints remain formulas. This keeps obligations small. If the effect consists of
//! assignments, they have no primed variables.

use std::sync::Arc;

use gander_system::{Effect, NodeId, StartId, State, TransitionId};
use gander_term::{SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::discharge::CheckContext;

/// The relation of a transition over current variables, parameters and those next values that are
/// not defined.
#[derive(Debug)]
pub(crate) struct Relation {
    /// Guard, constraints of the effect and assumptions at the target: a step exists iff this is
    /// satisfiable.
    pub formula: TermId,
    /// The constraints of the effect.
    pub effect: TermId,
    /// The guard.
    pub guard: TermId,
    /// The parameters.
    pub params: Vec<SymbolId>,
    /// The primed variables that the effect neither assigns nor keeps.
    pub open: Vec<SymbolId>,
    /// For every current symbol whose value may change, the term of its next value.
    changed: FxHashMap<SymbolId, TermId>,
}

/// Relations are cached if variables times transitions is at most this.
const MAX_KEPT: usize = 4_000_000;

impl Relation {
    /// The relation of a transition; cached if the system is not too large.
    pub(crate) fn new(cx: &mut CheckContext<'_>, id: TransitionId) -> Arc<Relation> {
        if let Some(relation) = cx.known.relations.get(&id) {
            return Arc::clone(relation);
        }
        let relation = Arc::new(Relation::make(cx, id));
        if cx.system.vars().len().saturating_mul(cx.system.transitions().len()) <= MAX_KEPT {
            cx.known.relations.insert(id, Arc::clone(&relation));
        }
        relation
    }

    fn make(cx: &mut CheckContext<'_>, id: TransitionId) -> Relation {
        let system = cx.system;
        let transition = system.transition(id);
        let mut defined: FxHashMap<SymbolId, TermId> = FxHashMap::default();
        let mut demands = Vec::new();
        for e in &transition.effect {
            let (var, value) = match *e {
                Effect::Assign { var, value, .. } => (var, value.term()),
                Effect::Keep { var, .. } => (var, cx.pool.var(system.var(var).current)),
                Effect::Constrain { relation, .. } => {
                    demands.push(relation.term());
                    continue;
                }
            };
            match defined.entry(system.var(var).next) {
                std::collections::hash_map::Entry::Vacant(slot) => {
                    slot.insert(value);
                }
                // The builder does not allow this. If it happens, both values must agree.
                std::collections::hash_map::Entry::Occupied(first) => {
                    let both = cx.pool.eq(*first.get(), value);
                    demands.push(both);
                }
            }
        }
        let effect = cx.pool.and(demands);
        let effect = cx.pool.substitute(effect, &defined);
        let mut changed = FxHashMap::default();
        let mut open = Vec::new();
        for v in system.vars() {
            let value = match defined.get(&v.next) {
                Some(&value) => value,
                None => {
                    open.push(v.next);
                    cx.pool.var(v.next)
                }
            };
            if value != cx.pool.var(v.current) {
                changed.insert(v.current, value);
            }
        }
        let guard = system.guard_term(&mut cx.pool, id);
        let assumptions = system.assumption_term(&mut cx.pool, transition.target);
        let assumptions = cx.pool.substitute(assumptions, &changed);
        let formula = cx.pool.and([guard, effect, assumptions]);
        let params = transition.params.iter().map(|p| p.symbol).collect();
        Relation { formula, effect, guard, params, open, changed }
    }

    /// A formula about the state after the step, as one over the state before it, the parameters
    /// and the open next values.
    pub(crate) fn after_step(&self, cx: &mut CheckContext<'_>, formula: TermId) -> TermId {
        cx.pool.substitute(formula, &self.changed)
    }

    /// The next value of the variable with this current symbol.
    pub(crate) fn next_value(&self, cx: &mut CheckContext<'_>, current: SymbolId) -> TermId {
        self.changed.get(&current).copied().unwrap_or_else(|| cx.pool.var(current))
    }

    /// The current symbols whose values may change.
    pub(crate) fn changed(&self) -> impl Iterator<Item = SymbolId> {
        self.changed.keys().copied()
    }

    /// Parameters and open next values.
    pub(crate) fn choices(&self) -> Vec<SymbolId> {
        self.params.iter().chain(&self.open).copied().collect()
    }
}

/// The substitution of the values of a state for its symbols.
pub(crate) fn state_values(
    cx: &mut CheckContext<'_>,
    state: &State,
) -> FxHashMap<SymbolId, TermId> {
    let system = cx.system;
    system
        .vars()
        .iter()
        .zip(&state.values)
        .map(|(v, value)| (v.current, cx.pool.constant(value.clone())))
        .collect()
}

/// True if some step of `t` leaves the state.
pub(crate) fn can_step(
    cx: &mut CheckContext<'_>,
    state: &State,
    t: TransitionId,
) -> Result<bool, crate::Rejection> {
    let relation = Relation::new(cx, t);
    let map = state_values(cx, state);
    let formula = cx.pool.substitute(relation.formula, &map);
    let name = &cx.system.transition(t).name;
    Ok(cx.find(formula, &format!("whether a step of `{name}` leaves the last state"))?.is_some())
}

/// True if some step leaves the state.
pub(crate) fn has_step(cx: &mut CheckContext<'_>, state: &State) -> Result<bool, crate::Rejection> {
    let leaving: Vec<TransitionId> = cx.system.leaving(state.node).to_vec();
    for t in leaving {
        if can_step(cx, state, t)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The assumptions at a node.
pub(crate) fn admissible(cx: &mut CheckContext<'_>, n: NodeId) -> TermId {
    cx.system.assumption_term(&mut cx.pool, n)
}

/// The formula of the start states: constraint and assumptions.
pub(crate) fn start_formula(cx: &mut CheckContext<'_>, s: StartId) -> TermId {
    let constraint = cx.system.start_term(&mut cx.pool, s);
    let assumptions = admissible(cx, cx.system.starts()[s.index()].target);
    cx.pool.and([constraint, assumptions])
}

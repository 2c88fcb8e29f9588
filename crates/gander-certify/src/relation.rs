//! What a transition relates, with next values that the effect defines already filled in.
//!
//! `exists x'. x' == e and B` is `B[x' := e]`, so assignments and frames become a substitution and only constraints
//! stay formulas. That keeps obligations small and, where effects are assignments, free of primed variables.

use std::sync::Arc;

use gander_system::{Effect, NodeId, State, TransitionId};
use gander_term::{SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::case::Case;

/// The relation of a transition over current variables, parameters and those next values that are not defined.
#[derive(Debug)]
pub(crate) struct Relation {
    /// Guard, assumptions at the target and what the effect demands: a step exists iff this is satisfiable.
    pub formula: TermId,
    /// The effect alone, without guard and assumptions.
    pub effect: TermId,
    /// The guard alone.
    pub guard: TermId,
    /// The parameters.
    pub params: Vec<SymbolId>,
    /// The primed variables that are still mentioned or free.
    pub open: Vec<SymbolId>,
    /// For every current symbol, the term of its next value.
    next: FxHashMap<SymbolId, TermId>,
}

/// Relations are kept for later if they have no more next values altogether.
const MOST_KEPT: usize = 4_000_000;

impl Relation {
    /// The relation of a transition; made once if the system is not too large.
    pub(crate) fn new(case: &mut Case<'_>, id: TransitionId) -> Arc<Relation> {
        if let Some(relation) = case.known.relations.get(&id) {
            return Arc::clone(relation);
        }
        let relation = Arc::new(Relation::make(case, id));
        if case.system.vars.len().saturating_mul(case.system.transitions.len()) <= MOST_KEPT {
            case.known.relations.insert(id, Arc::clone(&relation));
        }
        relation
    }

    fn make(case: &mut Case<'_>, id: TransitionId) -> Relation {
        let system = case.system;
        let transition = system.transition(id);
        let mut defined: FxHashMap<SymbolId, TermId> = FxHashMap::default();
        let mut demands = Vec::new();
        for e in &transition.effect {
            let (var, value) = match *e {
                Effect::Assign { var, value, .. } => (var, value.term()),
                Effect::Keep { var, .. } => (var, case.pool.var(system.var(var).current)),
                Effect::Constrain { relation, .. } => {
                    demands.push(relation.term());
                    continue;
                }
            };
            match defined.entry(system.var(var).next) {
                std::collections::hash_map::Entry::Vacant(slot) => {
                    slot.insert(value);
                }
                // No builder allows this; if it happens the two must agree.
                std::collections::hash_map::Entry::Occupied(first) => {
                    let both = case.pool.eq(*first.get(), value);
                    demands.push(both);
                }
            }
        }
        let effect = case.pool.and(demands);
        let effect = case.pool.substitute(effect, &defined);
        let mut next = FxHashMap::default();
        let mut open = Vec::new();
        for v in &system.vars {
            let value = match defined.get(&v.next) {
                Some(&value) => value,
                None => {
                    open.push(v.next);
                    case.pool.var(v.next)
                }
            };
            next.insert(v.current, value);
        }
        let guard = system.guard_term(&mut case.pool, id);
        let assumptions = system.assumption_term(&mut case.pool, transition.target);
        let assumptions = case.pool.substitute(assumptions, &next);
        let formula = case.pool.and([guard, effect, assumptions]);
        let params = transition.params.iter().map(|p| p.symbol).collect();
        Relation { formula, effect, guard, params, open, next }
    }

    /// A formula over the state behind the step, as one over the state before it, parameters and open next values.
    pub(crate) fn behind(&self, case: &mut Case<'_>, formula: TermId) -> TermId {
        case.pool.substitute(formula, &self.next)
    }

    /// The next value of the variable with this current symbol.
    pub(crate) fn next_value(&self, current: SymbolId) -> TermId {
        self.next[&current]
    }

    /// Parameters and open next values.
    pub(crate) fn choices(&self) -> Vec<SymbolId> {
        self.params.iter().chain(&self.open).copied().collect()
    }
}

/// The values of a state, to be filled in for its symbols.
pub(crate) fn filled(case: &mut Case<'_>, state: &State) -> FxHashMap<SymbolId, TermId> {
    let system = case.system;
    system.vars.iter().zip(&state.values).map(|(v, value)| (v.current, case.pool.constant(value.clone()))).collect()
}

/// Some step of `t` leaves the state.
pub(crate) fn can_step(case: &mut Case<'_>, state: &State, t: TransitionId) -> Result<bool, crate::Rejection> {
    let relation = Relation::new(case, t);
    let map = filled(case, state);
    let formula = case.pool.substitute(relation.formula, &map);
    let name = &case.system.transition(t).name;
    Ok(case.find(formula, &format!("whether a step of `{name}` leaves the last state"))?.is_some())
}

/// Some step leaves the state.
pub(crate) fn has_step(case: &mut Case<'_>, state: &State) -> Result<bool, crate::Rejection> {
    let leaving: Vec<TransitionId> = case.system.leaving(state.node).to_vec();
    for t in leaving {
        if can_step(case, state, t)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The assumptions at a node.
pub(crate) fn admissible(case: &mut Case<'_>, n: NodeId) -> TermId {
    case.system.assumption_term(&mut case.pool, n)
}

//! A transition as a relation, with assigned and kept values substituted.

use gander_system::{Effect, System, TransitionId};
use gander_term::{Pool, SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::arith::eliminate::eliminate;

/// The steps of a transition: formulas over state variables, parameters, and next variables that
/// the effect leaves open.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    /// Guard, effect, and the assumptions about the next state.
    pub formula: TermId,
    /// Parameters and open next variables.
    pub chosen: Vec<SymbolId>,
    /// For each current symbol, its value in the next state.
    next: FxHashMap<SymbolId, TermId>,
}

impl Steps {
    pub(super) fn of(system: &System, pool: &mut Pool, t: TransitionId) -> Steps {
        let transition = system.transition(t);
        let mut primed: FxHashMap<SymbolId, TermId> = FxHashMap::default();
        let mut parts = vec![system.guard_term(pool, t)];
        for effect in &transition.effect {
            match *effect {
                Effect::Assign { var, value, .. } => {
                    primed.insert(system.var(var).next, value.term());
                }
                Effect::Keep { var, .. } => {
                    let current = pool.var(system.var(var).current);
                    primed.insert(system.var(var).next, current);
                }
                Effect::Constrain { relation, .. } => parts.push(relation.term()),
            }
        }
        let mut chosen: Vec<SymbolId> = transition.params.iter().map(|p| p.symbol).collect();
        let mut next = FxHashMap::default();
        for v in system.vars() {
            let value = match primed.get(&v.next) {
                Some(&value) => value,
                None => {
                    chosen.push(v.next);
                    pool.var(v.next)
                }
            };
            next.insert(v.current, value);
        }
        let step = pool.and(parts);
        let step = pool.substitute(step, &primed);
        let admissible = system.assumption_term(pool, transition.target);
        let admissible = pool.substitute(admissible, &next);
        let formula = pool.and([step, admissible]);
        Steps { formula, chosen, next }
    }

    /// The term in the next state.
    pub(super) fn behind(&self, pool: &mut Pool, t: TermId) -> TermId {
        pool.substitute(t, &self.next)
    }

    /// The pre-image of `goal`, without quantifiers; `None` if elimination failed.
    pub(super) fn before(&self, pool: &mut Pool, goal: TermId) -> Option<TermId> {
        let goal = self.behind(pool, goal);
        let body = pool.and([self.formula, goal]);
        eliminate(pool, &self.chosen, body)
    }
}

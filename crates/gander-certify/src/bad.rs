//! What an invariant must exclude to show a claim.
//!
//! *Bad* is a set of states, given per node, or of steps, given per transition. Parameters that a formula mentions are
//! existential: the state is bad if some values of them make the formula true.

use gander_system::{ClaimKind, Goal, NodeId, StateTerm, TransitionId};
use gander_term::TermId;

use crate::case::Case;
use crate::eliminate;
use crate::rejection::Rejection;
use crate::relation::Relation;
use crate::{Direction, unfit};

/// The bad states and steps of a claim.
#[derive(Debug, Default)]
pub(crate) struct Bad {
    /// Formulas over state variables (and existential parameters) at nodes.
    pub states: Vec<(NodeId, TermId)>,
    /// Formulas over state variables and parameters: a completed step of the transition from such a state is bad.
    pub steps: Vec<(TransitionId, TermId)>,
}

impl Bad {
    /// What has to be unreachable for the claim to hold, or to fail.
    pub(crate) fn of(case: &mut Case<'_>, kind: &ClaimKind, direction: Direction) -> Result<Bad, Rejection> {
        let system = case.system;
        let mut bad = Bad::default();
        match (kind, direction) {
            (ClaimKind::Always(p), Direction::Holds) => {
                for n in system.node_ids() {
                    let p = at(case, *p, n);
                    bad.states.push((n, case.pool.not(p)));
                }
            }
            (ClaimKind::Reachable(goals), Direction::Fails) => match &goals[..] {
                [Goal::State(p)] => {
                    for n in system.node_ids() {
                        bad.states.push((n, at(case, *p, n)));
                    }
                }
                [Goal::Step { choices, .. }] => {
                    bad.steps.extend(choices.iter().map(|(t, formula)| (*t, formula.term())));
                }
                // Chains are shown by way of their chain system.
                _ => return Err(unfit("an invariant", kind, direction)),
            },
            (ClaimKind::CanEnable(t), Direction::Fails) => {
                let guard = system.guard_term(&mut case.pool, *t);
                bad.states.push((system.transition(*t).source, guard));
            }
            (ClaimKind::NoSinkhole(n), Direction::Holds) => {
                let mut ways = Vec::new();
                for &t in system.leaving(*n) {
                    let guard = system.guard_term(&mut case.pool, t);
                    let params: Vec<_> = system.transition(t).params.iter().map(|p| p.symbol).collect();
                    ways.push(eliminate::exists(&mut case.pool, &params, guard));
                }
                let some = case.pool.or(ways);
                bad.states.push((*n, case.pool.not(some)));
            }
            (ClaimKind::Completable(t), Direction::Holds) => {
                let relation = Relation::new(case, *t);
                let completed = eliminate::exists(&mut case.pool, &relation.open, relation.effect);
                let stuck = case.pool.not(completed);
                let formula = case.pool.and([relation.guard, stuck]);
                bad.states.push((system.transition(*t).source, formula));
            }
            (ClaimKind::NoDeadlock, Direction::Holds) => {
                for n in system.node_ids().filter(|&n| !system.node(n).is_final) {
                    let mut ways = Vec::new();
                    for &t in system.leaving(n) {
                        let relation = Relation::new(case, t);
                        let choices = relation.choices();
                        ways.push(eliminate::exists(&mut case.pool, &choices, relation.formula));
                    }
                    let some = case.pool.or(ways);
                    bad.states.push((n, case.pool.not(some)));
                }
            }
            _ => return Err(unfit("an invariant", kind, direction)),
        }
        Ok(bad)
    }
}

fn at(case: &mut Case<'_>, p: StateTerm, n: NodeId) -> TermId {
    case.system.at_node(&mut case.pool, p, n)
}

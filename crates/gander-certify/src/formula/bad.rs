//! The bad states and steps of a claim: what must be unreachable.
//!
//! Bad states are given per node, bad steps per transition. Parameters in a formula about states
//! are existential: the state is bad if some values of them make the formula true.

use gander_system::{ClaimKind, Goal, NodeId, StateTerm, TransitionId};
use gander_term::TermId;

use crate::discharge::CheckContext;
use crate::evidence::{Direction, unfit};
use crate::formula::eliminate;
use crate::formula::relation::Relation;
use crate::rejection::Rejection;

/// The bad states and steps of a claim.
#[derive(Debug, Default)]
pub(crate) struct Bad {
    /// Formulas over state variables (and existential parameters) at nodes.
    pub states: Vec<(NodeId, TermId)>,
    /// Formulas over state variables and parameters: a completed step of the transition from such
    /// values is bad.
    pub steps: Vec<(TransitionId, TermId)>,
}

impl Bad {
    /// What has to be unreachable for the claim to hold, or for it to fail.
    pub(crate) fn of(
        cx: &mut CheckContext<'_>,
        kind: &ClaimKind,
        direction: Direction,
    ) -> Result<Bad, Rejection> {
        let system = cx.system;
        let mut bad = Bad::default();
        match (kind, direction) {
            (ClaimKind::Always(p), Direction::Holds) => {
                for n in system.node_ids() {
                    let p = at(cx, *p, n);
                    bad.states.push((n, cx.pool.not(p)));
                }
            }
            (ClaimKind::Reachable(goals), Direction::Fails) => match &goals[..] {
                [Goal::State(p)] => {
                    for n in system.node_ids() {
                        bad.states.push((n, at(cx, *p, n)));
                    }
                }
                [Goal::Step { choices, .. }] => {
                    bad.steps.extend(choices.iter().map(|(t, formula)| (*t, formula.term())));
                }
                // For chains of goals the evidence is about the chain system.
                _ => return Err(unfit("an invariant", kind, direction)),
            },
            (ClaimKind::CanEnable(t), Direction::Fails) => {
                let guard = system.guard_term(&mut cx.pool, *t);
                bad.states.push((system.transition(*t).source, guard));
            }
            (ClaimKind::NoSinkhole(n), Direction::Holds) => {
                let mut ways = Vec::new();
                for &t in system.leaving(*n) {
                    let guard = system.guard_term(&mut cx.pool, t);
                    let params: Vec<_> =
                        system.transition(t).params.iter().map(|p| p.symbol).collect();
                    ways.push(eliminate::exists(&mut cx.pool, &params, guard));
                }
                let some = cx.pool.or(ways);
                bad.states.push((*n, cx.pool.not(some)));
            }
            (ClaimKind::Completable(t), Direction::Holds) => {
                let relation = Relation::new(cx, *t);
                let completed = eliminate::exists(&mut cx.pool, &relation.open, relation.effect);
                let stuck = cx.pool.not(completed);
                let formula = cx.pool.and([relation.guard, stuck]);
                bad.states.push((system.transition(*t).source, formula));
            }
            (ClaimKind::NoDeadlock, Direction::Holds) => {
                for n in system.node_ids().filter(|&n| !system.node(n).is_final) {
                    let mut ways = Vec::new();
                    for &t in system.leaving(n) {
                        let relation = Relation::new(cx, t);
                        let choices = relation.choices();
                        ways.push(eliminate::exists(&mut cx.pool, &choices, relation.formula));
                    }
                    let some = cx.pool.or(ways);
                    bad.states.push((n, cx.pool.not(some)));
                }
            }
            _ => return Err(unfit("an invariant", kind, direction)),
        }
        Ok(bad)
    }
}

fn at(cx: &mut CheckContext<'_>, p: StateTerm, n: NodeId) -> TermId {
    cx.system.at_node(&mut cx.pool, p, n)
}

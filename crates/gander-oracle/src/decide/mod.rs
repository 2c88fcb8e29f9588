//! Decides claims on the reachable states, by the table of docs/semantics.md, section 3.
//!
//! This module and its parts ([`arithmetic`], [`evaluate`], [`explore`], [`fair`]) are written from
//! docs/semantics.md and share no code with `gander-term`'s evaluator or with the engines, so that
//! a mistake in those is not repeated here.

mod arithmetic;
mod evaluate;
pub(crate) mod explore;
mod fair;

use std::collections::VecDeque;

use gander_system::{ClaimKind, FairnessId, FairnessKind, Goal, StateTerm, System};
use gander_term::Pool;

use crate::decide::evaluate::{Env, Evaluator, View};
use crate::decide::explore::{Choice, Reachable, enter};
use crate::decide::fair::{Fairness, can_reach, fair_forever};
use crate::{Limits, Refusal};

/// The answer to a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    /// Whether the claim holds.
    pub holds: bool,
    /// The length of a shortest run that shows the answer, if the evidence is a run (not a lasso):
    /// when *reachable*, *can enable* and *satisfiable start* hold, and when *always*, *no
    /// sinkhole*, *completable*, *no deadlock* and *always possible* fail.
    pub length: Option<u64>,
}

impl Answer {
    /// Holds by a run of this length, or fails.
    fn by_run(length: Option<u64>) -> Answer {
        Answer { holds: length.is_some(), length }
    }

    /// Fails by a run of this length, or holds.
    fn unless_run(length: Option<u64>) -> Answer {
        Answer { holds: length.is_none(), length }
    }

    fn plain(holds: bool) -> Answer {
        Answer { holds, length: None }
    }
}

/// Decides a claim about a system whose terms are in `pool` and whose reachable states are known.
pub fn decide_claim(
    system: &System,
    pool: &Pool,
    graph: &Reachable,
    claim: &ClaimKind,
    limits: Limits,
) -> Result<Answer, Refusal> {
    let evaluator = Evaluator::new(pool, system, limits.work);
    let decider = ClaimDecider { system, graph, evaluator: &evaluator };
    decider.decide(claim)
}

struct ClaimDecider<'a> {
    system: &'a System,
    graph: &'a Reachable,
    evaluator: &'a Evaluator<'a>,
}

impl ClaimDecider<'_> {
    fn decide(&self, claim: &ClaimKind) -> Result<Answer, Refusal> {
        let graph = self.graph;
        let all = vec![true; graph.states.len()];
        Ok(match claim {
            ClaimKind::Always(p) => {
                let p = self.states_with(*p)?;
                Answer::unless_run(self.nearest(|s| !p[s]))
            }
            ClaimKind::Reachable(goals) => Answer::by_run(self.shortest_through(goals)?),
            ClaimKind::CanEnable(t) => Answer::by_run(
                self.nearest(|s| graph.choices[s].iter().any(|c| c.transition == *t)),
            ),
            ClaimKind::NoSinkhole(n) => {
                // Every enabled transition has the node as its source.
                Answer::unless_run(
                    self.nearest(|s| graph.states[s].0 == *n && graph.choices[s].is_empty()),
                )
            }
            ClaimKind::StartSatisfiable(s) => {
                Answer::by_run(if graph.started[s.index()].is_empty() { None } else { Some(0) })
            }
            ClaimKind::Completable(t) => {
                let mut stuck = vec![false; graph.states.len()];
                for (s, choices) in graph.choices.iter().enumerate() {
                    for c in choices.iter().filter(|c| c.transition == *t) {
                        stuck[s] |= !c.completable.clone()?;
                    }
                }
                Answer::unless_run(self.nearest(|s| stuck[s]))
            }
            ClaimKind::NoDeadlock => Answer::unless_run(self.nearest(|s| {
                graph.is_stuck(s) && !self.system.nodes()[graph.states[s].0.index()].is_final
            })),
            ClaimKind::InfiniteRun => {
                Answer::plain(self.includes_start(&fair_forever(graph, &all, &[])))
            }
            ClaimKind::Eventually { goal, under } => {
                let without = complement(&self.states_with(*goal)?);
                let fairness = self.fairness(under)?;
                Answer::plain(!self.includes_start(&self.stays_within(&without, &fairness)))
            }
            ClaimKind::AlwaysEventually { goal, under } => {
                let without = complement(&self.states_with(*goal)?);
                let fairness = self.fairness(under)?;
                // A run that meets the goal finitely often has a last such position; after it, the
                // run stays outside the goal. Every state of the graph is reachable, and prefixes
                // do not affect fairness.
                Answer::plain(!self.stays_within(&without, &fairness).contains(&true))
            }
            ClaimKind::LeadsTo { from, to, under } => {
                let from = self.states_with(*from)?;
                let without = complement(&self.states_with(*to)?);
                let fairness = self.fairness(under)?;
                let never = self.stays_within(&without, &fairness);
                Answer::plain(!from.iter().zip(&never).any(|(&p, &never)| p && never))
            }
            ClaimKind::AlwaysPossible(p) => {
                let can = can_reach(graph, &all, &self.states_with(*p)?);
                Answer::unless_run(self.nearest(|s| !can[s]))
            }
            ClaimKind::ExistsAlways(p) => {
                let p = self.states_with(*p)?;
                Answer::plain(self.includes_start(&self.stays_within(&p, &[])))
            }
        })
    }

    /// The states within `set` from which a maximal run, finite or infinite and fair, stays within
    /// `set`.
    fn stays_within(&self, set: &[bool], fairness: &[Fairness]) -> Vec<bool> {
        let stuck: Vec<bool> = (0..set.len()).map(|s| self.graph.is_stuck(s)).collect();
        let finite = can_reach(self.graph, set, &stuck);
        let infinite = fair_forever(self.graph, set, fairness);
        finite.iter().zip(&infinite).map(|(&a, &b)| a || b).collect()
    }

    fn includes_start(&self, set: &[bool]) -> bool {
        self.graph.start_states().any(|s| set[s])
    }

    /// The least distance of a state with the property.
    fn nearest(&self, property: impl Fn(usize) -> bool) -> Option<u64> {
        (0..self.graph.states.len()).filter(|&s| property(s)).map(|s| self.graph.distance[s]).min()
    }

    fn at(&self, state: usize) -> Env {
        let mut env = self.evaluator.empty_env();
        let (node, values) = &self.graph.states[state];
        enter(self.system, self.evaluator.pool, &mut env, *node, values);
        env
    }

    fn states_with(&self, p: StateTerm) -> Result<Vec<bool>, Refusal> {
        (0..self.graph.states.len())
            .map(|s| self.evaluator.truth(&mut self.at(s), p.term(), View::Here))
            .collect()
    }

    fn fairness(&self, under: &[FairnessId]) -> Result<Vec<Fairness>, Refusal> {
        under
            .iter()
            .map(|f| {
                Ok(match &self.system.fairness()[f.index()].kind {
                    FairnessKind::Justice(p) => Fairness::Justice(self.states_with(*p)?),
                    FairnessKind::Weak(t) => Fairness::Weak(t.clone()),
                    FairnessKind::Strong(t) => Fairness::Strong(t.clone()),
                })
            })
            .collect()
    }

    fn meets(&self, state: usize, choice: &Choice, goal: &Goal) -> Result<bool, Refusal> {
        let Goal::Step { choices, .. } = goal else { return Ok(false) };
        for (t, formula) in choices {
            if *t != choice.transition {
                continue;
            }
            let mut env = self.at(state);
            for (p, value) in self.system.transitions()[t.index()].params.iter().zip(&choice.params)
            {
                env.0[p.symbol.index()] = Some(value.clone());
            }
            if self.evaluator.truth(&mut env, formula.term(), View::Here)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The length of a shortest run that meets the goals in order.
    ///
    /// The search is over pairs of a state and the number of goals met. Meeting a state goal takes
    /// no step; meeting a step goal takes the step. Skipping a goal that could be met is tried as
    /// well.
    fn shortest_through(&self, goals: &[Goal]) -> Result<Option<u64>, Refusal> {
        let mut here: Vec<Option<Vec<bool>>> = Vec::new();
        for g in goals {
            here.push(match g {
                Goal::State(p) => Some(self.states_with(*p)?),
                Goal::Step { .. } => None,
            });
        }
        let stages = goals.len() + 1;
        let mut length: Vec<Option<u64>> = vec![None; self.graph.states.len() * stages];
        // Moves without a step go to the front of the queue, so pairs leave it in order of length.
        let mut queue: VecDeque<(usize, usize, u64)> =
            self.graph.start_states().map(|s| (s, 0, 0)).collect();
        while let Some((s, met, n)) = queue.pop_front() {
            if length[s * stages + met].is_some() {
                continue;
            }
            length[s * stages + met] = Some(n);
            if met == goals.len() {
                return Ok(Some(n));
            }
            if here[met].as_ref().is_some_and(|p| p[s]) {
                queue.push_front((s, met + 1, n));
            }
            for c in &self.graph.choices[s] {
                let meets = self.meets(s, c, &goals[met])?;
                for &next in &c.successors {
                    queue.push_back((next, met, n + 1));
                    if meets {
                        queue.push_back((next, met + 1, n + 1));
                    }
                }
            }
        }
        Ok(None)
    }
}

fn complement(set: &[bool]) -> Vec<bool> {
    set.iter().map(|b| !b).collect()
}

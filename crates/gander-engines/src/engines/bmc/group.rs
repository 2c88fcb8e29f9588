//! A group of claims that share one unrolling.

use std::time::{Duration, Instant};

use gander_smt::{Limits, Reason};
use gander_system::{ClaimId, Evidence};
use gander_term::{Value, evaluate};

use super::limits::LIMITS;
use crate::core::{EngineContext, Purpose, steps};
use crate::encode::batch::Batch;
use crate::encode::forward_search::{Found, Search};
use crate::encode::question::{Place, Question, Target};
use crate::encode::unrolling::Path;
use crate::encode::view::View;

/// Why claims were not decided.
pub(super) type Obstacles = Vec<(ClaimId, String)>;

/// See the module's documentation.
pub(super) struct Group {
    view: View,
    search: Search,
    questions: Vec<Question>,
    /// By question: not decided yet.
    open: Vec<bool>,
    /// The targets of all questions, and for each the index of its question.
    targets: Vec<Target>,
    owners: Vec<usize>,
    depth: u32,
    time_limit: Duration,
    used: Duration,
}

impl Group {
    /// A search for the claims of a batch.
    pub(super) fn new(batch: Batch) -> Group {
        let Batch { view, questions, features } = batch;
        let (mut targets, mut owners) = (Vec::new(), Vec::new());
        for (i, q) in questions.iter().enumerate() {
            targets.extend_from_slice(&q.targets);
            owners.resize(targets.len(), i);
        }
        let purpose = Purpose { part: "runs", claims: questions.iter().map(|q| q.claim).collect() };
        Group {
            search: Search::new(features, purpose),
            open: vec![true; questions.len()],
            view,
            questions,
            targets,
            owners,
            depth: 0,
            time_limit: LIMITS.first_query,
            used: Duration::ZERO,
        }
    }

    /// The greatest number of steps that was searched.
    pub(super) fn searched(&self) -> Option<u32> {
        self.view.steps(self.depth.checked_sub(1)?)
    }

    /// True if runs of `max` steps were searched.
    pub(super) fn is_beyond(&self, max: u32) -> bool {
        self.depth > self.view.depth(max)
    }

    /// The time spent so far.
    pub(super) fn used(&self) -> Duration {
        self.used
    }

    /// The claims that are not decided yet.
    pub(super) fn claims(&self) -> impl Iterator<Item = ClaimId> + '_ {
        self.questions.iter().zip(&self.open).filter(|(_, open)| **open).map(|(q, _)| q.claim)
    }

    /// Drops claims that are settled.
    pub(super) fn forget_settled(&mut self, context: &EngineContext) {
        for (q, open) in self.questions.iter().zip(&mut self.open) {
            *open &= context.is_open(q.claim);
        }
    }

    /// Ends the search.
    pub(super) fn stop(&mut self) {
        self.open.fill(false);
    }

    /// True if no claim is left.
    pub(super) fn is_over(&self) -> bool {
        !self.open.contains(&true)
    }

    /// Searches one depth. Returns smaller groups that replace this one, and obstacles.
    pub(super) fn search(&mut self, context: &EngineContext) -> (Vec<Group>, Obstacles) {
        let begun = Instant::now();
        let result = self.search_depth(context);
        self.used += begun.elapsed();
        result
    }

    fn search_depth(&mut self, context: &EngineContext) -> (Vec<Group>, Obstacles) {
        let depth = self.depth;
        if self.search.is_beyond(&mut self.view.encoding, context, depth) {
            self.finish_with_proof(context);
            return (Vec::new(), Vec::new());
        }
        loop {
            self.forget_settled(context);
            if self.is_over() || context.is_cancelled() {
                return (Vec::new(), Vec::new());
            }
            let now: Vec<usize> =
                (0..self.targets.len()).filter(|&t| self.open[self.owners[t]]).collect();
            let limits = Limits::time(self.time_limit);
            match self.search.ask(
                &mut self.view.encoding,
                context,
                &self.targets,
                &now,
                depth,
                limits,
            ) {
                Found::Met(target, path) => {
                    let mut met = self.also_met(&path);
                    met.push(self.owners[target]);
                    let Some(run) = path.into_run() else {
                        self.stop();
                        continue;
                    };
                    for at in met {
                        self.open[at] = false;
                        let question = &self.questions[at];
                        if let Some(verdict) = self.view.met(question, run.clone()) {
                            context.propose(question.claim, verdict);
                        }
                    }
                }
                Found::Nothing => {
                    self.nothing_at(context, depth);
                    return (Vec::new(), Vec::new());
                }
                Found::Unknown(Reason::Interrupted) => return (Vec::new(), Vec::new()),
                Found::Unknown(reason) => return self.divide(context, reason),
            }
        }
    }

    /// Other open questions that the last state of a path decides by evaluation.
    fn also_met(&self, path: &Path) -> Vec<usize> {
        let Some(end) = path.states.last() else { return Vec::new() };
        let system = &self.view.encoding.system;
        let value =
            |s| system.vars().iter().position(|v| v.current == s).map(|i| end.values[i].clone());
        let mut met = Vec::new();
        for (target, &owner) in self.targets.iter().zip(&self.owners) {
            let here = target.place == Place::Anywhere || target.place == Place::At(end.node);
            if here && self.open[owner] && !met.contains(&owner) {
                // A formula with parameters has no value here; the solver decides it.
                let truth = evaluate(&self.view.encoding.pool, target.formula, &value);
                if truth == Ok(Value::Bool(true)) {
                    met.push(owner);
                }
            }
        }
        met
    }

    fn nothing_at(&mut self, context: &EngineContext, depth: u32) {
        for (q, open) in self.questions.iter().zip(&mut self.open) {
            if !*open {
                continue;
            }
            if q.targets.iter().all(|t| matches!(t.place, Place::Beginning(_)))
                && !q.targets.is_empty()
            {
                context.propose(q.claim, q.never_met(Evidence::Refutation));
                *open = false;
            } else {
                self.view.raise_bound(context.blackboard(), q.claim, depth);
            }
        }
        self.depth += 1;
        if let Some(searched) = self.view.steps(depth) {
            context.progress(Some(searched), format!("no more within {}", steps(searched)));
        }
    }

    /// Proposes proofs by diameter: the control graph has no path of the current depth.
    fn finish_with_proof(&mut self, context: &EngineContext) {
        if let Some(k) = self.depth.checked_sub(1) {
            for (q, _) in self.questions.iter().zip(&self.open).filter(|(_, open)| **open) {
                let proof = self.view.proof(Evidence::Diameter { k });
                context.propose(q.claim, q.never_met(proof));
            }
        }
        self.stop();
    }

    /// Handles a query that the solvers could not decide: splits the claims into smaller groups; a
    /// single claim gets more time, or is given up.
    fn divide(&mut self, context: &EngineContext, reason: Reason) -> (Vec<Group>, Obstacles) {
        let claims: Vec<ClaimId> = self.claims().collect();
        if claims.len() > 1 {
            let parts: Vec<Batch> = if claims.len() <= LIMITS.one_by_one {
                claims.iter().map(|&c| Batch::alone(View::plain(context), c)).collect()
            } else {
                claims
                    .chunks(claims.len().div_ceil(LIMITS.parts))
                    .flat_map(|part| Batch::of(context, part))
                    .collect()
            };
            let groups = parts.into_iter().map(|part| {
                let mut group = Group::new(part);
                group.depth = self.depth;
                group.used = self.used;
                group
            });
            let groups = groups.collect();
            self.stop();
            return (groups, Vec::new());
        }
        let obstacle =
            claims.first().map(|&c| (c, format!("stopped at depth {}: {reason}", self.depth)));
        if reason == Reason::Timeout {
            self.time_limit *= 4;
        } else {
            self.stop();
        }
        (Vec::new(), obstacle.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use gander_oracle::{Settings, generate_with};
    use gander_smt::Solvers;

    use crate::engines::tests::context;

    #[test]
    fn dividing_a_group_loses_no_claim() {
        let solvers = Arc::new(Solvers::from_environment());
        let (mut by_one, mut in_parts) = (0, 0);
        for seed in 0..40 {
            let made = generate_with(seed, Settings::few_states().linear());
            let (context, _cancel, _heard) = context(&solvers, &made, &super::super::INFO);
            let (all, _) = Batch::all(&context);
            for mut group in all.into_iter().map(Group::new) {
                let claims: Vec<ClaimId> = group.claims().collect();
                let (parts, obstacles) = group.divide(&context, Reason::Timeout);
                if claims.len() < 2 {
                    assert!(parts.is_empty() && obstacles.len() == claims.len());
                    continue;
                }
                assert!(group.is_over() && obstacles.is_empty());
                let expected =
                    if claims.len() <= LIMITS.one_by_one { claims.len() } else { LIMITS.parts };
                assert_eq!(parts.len(), expected, "{} claims", claims.len());
                *(if claims.len() <= LIMITS.one_by_one { &mut by_one } else { &mut in_parts }) += 1;
                let again: Vec<ClaimId> = parts.iter().flat_map(|p| p.claims()).collect();
                assert_eq!(again, claims);
            }
        }
        assert!(by_one > 0 && in_parts > 0, "{by_one} and {in_parts}");
    }
}

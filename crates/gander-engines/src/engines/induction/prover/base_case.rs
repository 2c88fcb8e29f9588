//! The base case: which candidates no run violates up to a depth. Also the forward check.

use gander_smt::Limits;
use gander_system::Evidence;

use crate::core::EngineContext;
use crate::encode::forward_search::Found;
use crate::encode::question::Place;

use super::super::candidate::{Candidate, Source};
use super::super::forward::Forward;
use super::super::limits::LIMITS;
use super::Prover;

impl Prover {
    /// The candidates of `set` that no run of fewer than `k` steps violates, nor a step from its
    /// end. Proposes runs that violate a claim.
    pub(super) fn clear_base(
        &mut self,
        context: &EngineContext,
        set: &[usize],
        k: u32,
    ) -> Vec<usize> {
        for &c in set {
            if let Some(bound) = self.candidates[c]
                .claim()
                .and_then(|claim| self.view.bound(context.blackboard(), claim))
            {
                let clear = &mut self.candidates[c].clear;
                *clear = (*clear).max(bound + 1);
            }
        }
        let mut set = set.to_vec();
        for depth in 0..k {
            set = self.clear_at(context, set, depth);
        }
        // A target transition adds one step to the run.
        let (steps, mut states): (Vec<usize>, Vec<usize>) = set.into_iter().partition(|&c| {
            self.candidates[c].targets.iter().any(|t| matches!(t.place, Place::Taking(_)))
        });
        states.extend(self.clear_at(context, steps, k));
        states.sort_unstable();
        states
    }

    /// The candidates of `set` that no run of `depth` steps violates, provided that no shorter one
    /// does.
    fn clear_at(&mut self, context: &EngineContext, mut set: Vec<usize>, depth: u32) -> Vec<usize> {
        let mut all = Vec::new();
        let mut owners = Vec::new();
        for (i, c) in self.candidates.iter().enumerate() {
            all.extend_from_slice(&c.targets);
            owners.resize(all.len(), i);
        }
        loop {
            let asked = |c: usize| self.candidates[c].clear <= depth && set.contains(&c);
            let now: Vec<usize> = (0..all.len()).filter(|&t| asked(owners[t])).collect();
            if now.is_empty() {
                return set;
            }
            let e = &mut self.view.encoding;
            match self.base.ask(e, context, &all, &now, depth, Limits::time(LIMITS.step_query)) {
                Found::Nothing => {
                    for c in
                        &mut self.candidates.iter_mut().enumerate().filter(|(i, _)| set.contains(i))
                    {
                        c.1.clear = c.1.clear.max(depth + 1);
                        if let Some(claim) = c.1.claim() {
                            self.view.raise_bound(context.blackboard(), claim, depth);
                        }
                    }
                    return set;
                }
                Found::Met(target, path) => {
                    let c = owners[target];
                    let candidate = &mut self.candidates[c];
                    candidate.open = false;
                    set.retain(|&s| s != c);
                    if let Source::Claim(q) = &candidate.source
                        && let Some(verdict) = path.into_run().and_then(|run| self.view.met(q, run))
                    {
                        context.propose(q.claim, verdict);
                    }
                }
                Found::Unknown(reason) => {
                    for &c in &set {
                        self.candidates[c].why =
                            Some(format!("the base case stopped at depth {depth}: {reason}"));
                    }
                    set.retain(|&c| self.candidates[c].clear > depth);
                    return set;
                }
            }
        }
    }

    /// Searches for runs if no other engine has done so up to about depth `k`, so that failing
    /// claims are found.
    pub(super) fn catch_up(&mut self, context: &EngineContext) {
        let behind = |c: &Candidate| {
            let bound = c.claim().and_then(|claim| self.view.bound(context.blackboard(), claim));
            c.open
                && c.claim().is_some()
                && bound.map_or(0, |b| b + 1).max(c.clear) + LIMITS.base_lag < self.k
        };
        let set: Vec<usize> =
            (0..self.candidates.len()).filter(|&c| behind(&self.candidates[c])).collect();
        if !set.is_empty() && !context.is_cancelled() {
            self.clear_base(context, &set, self.k);
        }
    }

    /// The forward check: without a loop-free run of `k` steps, targets that no shorter run meets
    /// are never met.
    pub(super) fn look_forward(&mut self, context: &EngineContext) {
        let e = &mut self.view.encoding;
        let solvers = self.solvers.as_deref().unwrap_or_default();
        let forward = self.forward.get_or_insert_with(|| Forward::new(solvers, &self.claims));
        if forward.has_run(e, context, self.k, Limits::time(LIMITS.step_query)) != Some(false) {
            return;
        }
        let k = self.k - 1;
        let claims = |c: &usize| self.candidates[*c].open && self.candidates[*c].claim().is_some();
        let mut set: Vec<usize> = (0..self.candidates.len()).filter(claims).collect();
        set = self.clear_base(context, &set, k + 1);
        for c in set {
            let candidate = &mut self.candidates[c];
            if let Source::Claim(q) = &candidate.source {
                let evidence = self.view.proof(Evidence::Diameter { k });
                context.propose(q.claim, q.never_met(evidence));
                candidate.open = false;
            }
        }
    }
}

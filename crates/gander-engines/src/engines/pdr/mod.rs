//! Property-directed reachability (PDR, also called IC3) modulo theories, with frames per node.
//!
//! The frame `F_i` over-approximates the states that are reachable in at most `i` steps; it is a
//! set of lemmas (negated cubes) per node. A proof obligation is a cube of states that lead to a
//! target, together with a level. The prover takes obligations from a queue, lowest level first:
//!
//! - blocking ([`prover`]): a query asks for a step from `F_(i-1)` into the cube. If there is one,
//!   a cube of predecessors becomes a new obligation at level `i - 1`, by model-based projection
//!   ([`project`]). An obligation that contains a start state yields a run.
//! - generalisation ([`generalise`]): if there is no such step, the cube is blocked. Literals are
//!   dropped while the rest stays inductive relative to `F_(i-1)`; the negation becomes a lemma,
//!   which is pushed to the highest level at which it is still inductive.
//! - propagation ([`prover`]): once no obligation is left, a new frame is added and every lemma
//!   that holds one step later moves up one level. If a level becomes empty ([`frames`]), the
//!   lemmas above it are an inductive invariant.
//!
//! Bradley, *SAT-based model checking without unrolling* (2011), has the algorithm and the
//! generalisation. Hoder and Bjorner, *Generalized property directed reachability* (2012), and
//! Komuravelli, Gurfinkel and Chaki, *SMT-based model checking for recursive programs* (2014), have
//! predecessors as cubes. Each claim has a prover with separate frames; proofs are shared over the
//! blackboard. If memory does not suffice for the terms of all claims, a prover that has used its
//! time is dropped in favour of a claim that has not been tried.

mod frames;
mod generalise;
mod implicant;
mod limits;
mod preimage;
mod project;
mod proof;
mod prover;
mod queries;

use gander_system::{ClaimId, ClaimKind};

use crate::core::memory::{TermBudget, set_aside};
use crate::core::{Advance, Engine, EngineContext, EngineInfo};
use crate::encode::batch::Batch;
use crate::encode::question::is_question;
use crate::encode::view::View;

use limits::LIMITS;
use prover::Prover;

/// The entry in the list of engines.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "pdr",
    about: "property-directed reachability: invariants lemma by lemma, and runs",
    decides,
    finds_shortest: false,
    begins_at_once: false,
    open: |context| Box::new(Pdr::new(context)),
};

fn decides(kind: &ClaimKind) -> bool {
    is_question(kind)
}

/// See the module's documentation.
struct Pdr {
    budget: TermBudget,
    provers: Vec<Prover>,
    /// Claims that have no prover yet.
    waiting: Vec<ClaimId>,
    obstacles: Vec<(ClaimId, String)>,
}

impl Pdr {
    fn new(context: &EngineContext) -> Pdr {
        let waiting = context.claims().iter().rev().copied().collect();
        let budget = TermBudget::part(context.config(), LIMITS.memory_share);
        Pdr { budget, provers: Vec::new(), waiting, obstacles: Vec::new() }
    }

    /// Whether there is memory for another prover; drops the longest-running one if need be.
    fn find_memory(&mut self) -> bool {
        if self.budget.fits_another(self.provers.iter().map(Prover::weight)) {
            return true;
        }
        let longest = (0..self.provers.len()).max_by_key(|&i| self.provers[i].used);
        let Some(at) = longest.filter(|&i| self.provers[i].used >= LIMITS.set_aside_after) else {
            return false;
        };
        let longest = self.provers.swap_remove(at);
        self.obstacles.push((longest.claim(), set_aside(&longest.obstacle())));
        true
    }

    /// Creates a prover for a claim.
    fn open(&mut self, context: &EngineContext, claim: ClaimId) -> Option<Prover> {
        let view =
            View::of_claim(context, claim).map_err(|why| self.obstacles.push((claim, why))).ok()?;
        Prover::new(context, Batch::alone(view, claim))
    }

    /// Drops provers that are finished and claims that are settled.
    fn drop_finished(&mut self, context: &EngineContext) {
        let over = |p: &Prover| p.is_over() || !context.is_open(p.claim());
        self.obstacles
            .extend(self.provers.iter().filter(|p| over(p)).map(|p| (p.claim(), p.obstacle())));
        self.provers.retain(|p| !over(p));
        self.waiting.retain(|&c| context.is_open(c));
    }
}

impl Engine for Pdr {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        self.drop_finished(context);
        let next =
            if !self.waiting.is_empty() && self.find_memory() { self.waiting.pop() } else { None };
        if let Some(claim) = next {
            let prover = self.open(context, claim);
            self.provers.extend(prover);
            let last = self.provers.len().saturating_sub(1);
            if let Some(p) = self.provers.get_mut(last).filter(|p| p.claim() == claim) {
                p.advance(context, LIMITS.slice);
            }
        } else if let Some(at) = (0..self.provers.len()).min_by_key(|&i| self.provers[i].used) {
            self.provers[at].advance(context, LIMITS.slice);
        }
        // Limit the open sessions: the provers that used most time release theirs first.
        while self.provers.iter().filter(|p| p.has_session()).count() > LIMITS.sessions {
            match self.provers.iter_mut().filter(|p| p.has_session()).max_by_key(|p| p.used) {
                Some(p) => p.release_solver(),
                None => break,
            }
        }
        self.drop_finished(context);
        if self.provers.is_empty() && self.waiting.is_empty() {
            Advance::Finished
        } else {
            Advance::Again
        }
    }

    fn obstacle(&self, claim: ClaimId) -> Option<String> {
        let running = self.provers.iter().find(|p| p.claim() == claim).map(Prover::obstacle);
        running.or_else(|| {
            self.obstacles.iter().rev().find(|(c, _)| *c == claim).map(|(_, why)| why.clone())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Duration;

    use gander_oracle::{Settings, generate_with};
    use gander_smt::Solvers;

    use crate::engines::tests::context;

    #[test]
    fn without_memory_the_longest_running_prover_is_dropped() {
        let solvers = Arc::new(Solvers::from_environment());
        let made = generate_with(1, Settings::few_states().linear());
        let (context, _cancel, _heard) = context(&solvers, &made, &INFO);
        let mut pdr = Pdr::new(&context);
        assert!(pdr.find_memory(), "the first needs none");
        let claim = pdr.waiting[0];
        let prover = pdr.open(&context, claim);
        pdr.provers.extend(prover);
        let weight = pdr.provers[0].weight();
        assert!(weight > 0);
        for (budget, used, makes) in [
            (2 * weight, LIMITS.set_aside_after, true),
            (2 * weight - 1, Duration::ZERO, false),
            (2 * weight - 1, LIMITS.set_aside_after, true),
        ] {
            assert!(
                pdr.provers.len() == 1
                    && pdr.obstacle(claim).is_some_and(|why| !why.contains("set aside"))
            );
            (pdr.budget, pdr.provers[0].used) = (TermBudget(budget), used);
            assert_eq!(pdr.find_memory(), makes, "{budget}, {used:?}");
        }
        assert!(
            pdr.provers.is_empty()
                && pdr.obstacle(claim).is_some_and(|why| why.contains("set aside"))
        );
    }
}

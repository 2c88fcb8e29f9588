//! k-induction over nodes: a property that holds in the first `k` states of every run, and in a
//! state whenever it held in the `k` states before, is invariant.
//!
//! After Sheeran, Singh and Stålmarck, *Checking safety properties using induction and a
//! SAT-solver* (2000). Their algorithms are options of one ([`crate::InductionOptions`]): the step
//! case may assume that paths are loop-free and do not return to a start state, and the first depth
//! is configurable. The forward check (is there a loop-free run of this length?) makes the method
//! complete on finite systems. Differences from the paper:
//!
//! - All claims are proved together: the step case assumes all of them, and claims that are not
//!   preserved are dropped until the rest is (Houdini: Flanagan and Leino, 2001). A claim that is
//!   not proved is never assumed outside such a set.
//! - Distinctness and "not a start state" are added lazily, where a model violates them.
//! - Unsatisfiable cores tell which lemmas the proof of a claim uses; its evidence contains only
//!   those.
//! - At first, the claims themselves are conjectured to be inductive ([`conjecture`]); the checker
//!   decides whether they are.
//! - Invariants from the blackboard are lemmas; hints of the user are candidates like claims.

mod candidate;
mod conjecture;
mod dependencies;
mod forward;
mod lemma;
mod limits;
mod prover;
mod ranges;
mod step_case;

use gander_system::{ClaimId, ClaimKind};

use crate::core::{Advance, Engine, EngineContext, EngineInfo};
use crate::encode::batch::Batch;
use crate::encode::question::is_question;

use prover::Prover;

/// The entry in the list of engines.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "induction",
    about: "k-induction: proofs, all claims at once, complete on finite systems",
    decides,
    finds_shortest: true,
    begins_at_once: true,
    open: |context| Box::new(Induction::new(context)),
};

fn decides(kind: &ClaimKind) -> bool {
    is_question(kind) && !matches!(kind, ClaimKind::StartSatisfiable(_))
}

/// See the module's documentation.
struct Induction {
    provers: Vec<Prover>,
    begun: bool,
    obstacles: Vec<(ClaimId, String)>,
}

impl Induction {
    fn new(context: &EngineContext) -> Induction {
        let (all, obstacles) = Batch::all(context);
        let provers = all.into_iter().map(|t| Prover::new(context, t)).collect();
        Induction { provers, begun: false, obstacles }
    }

    fn sweep(&mut self, context: &EngineContext) {
        for p in &mut self.provers {
            p.forget_settled(context);
            if p.is_over() {
                self.obstacles.extend(p.obstacles());
            }
        }
        self.provers.retain(|p| !p.is_over());
    }
}

impl Engine for Induction {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        self.sweep(context);
        if !self.begun {
            self.begun = true;
            self.provers.iter_mut().for_each(|p| p.conjecture(context));
            return Advance::Again;
        }
        let Some(at) = (0..self.provers.len()).min_by_key(|&i| self.provers[i].used()) else {
            return Advance::Finished;
        };
        self.provers[at].advance(context);
        self.sweep(context);
        if self.provers.is_empty() { Advance::Finished } else { Advance::Again }
    }

    fn obstacle(&self, claim: ClaimId) -> Option<String> {
        let running = self.provers.iter().find_map(|p| p.obstacle(claim));
        running.or_else(|| {
            self.obstacles.iter().find(|(c, _)| *c == claim).map(|(_, why)| why.clone())
        })
    }
}

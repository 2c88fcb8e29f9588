//! Backward reachability: the states from which a target can be reached, computed from the targets back until a start
//! state is among them or nothing is added any more.
//!
//! After C. Rütz, *Model Checking of Symbolic Transition Systems with SMT Solvers* (2013), definition 4.2, which follows
//! Ghilardi, Nicolini, Ranise and Zucchelli, *Towards SMT Model Checking of Array-Based Systems* (2008):
//!
//! `Pre^0 = P`, `Pre^(i+1)(s) = exists s'. S(s, s') and Pre^i(s')`, until `Pre^i` has a start state or lies within
//! `Pre^0 or ... or Pre^(i-1)`.
//!
//! There the sets are one formula that grows with every step. Here they are cubes per node without quantifiers, and a cube
//! that is contained in what the node has is dropped when it comes up: checks are about one cube at a time, however
//! long the path. Many questions are asked at once over the same cubes (`search.rs`).
//!
//! Evidence: runs, shortest but for a few that would cost too much to be shown so, and the complement of the sets, which is an inductive invariant. Invariants of other
//! engines cut the sets and then are part of the evidence.

mod bidirectional;
mod bounds;
mod cube;
mod forward;
mod labels;
mod preimage;
mod proofs;
mod search;

use gander_system::{ClaimId, ClaimKind};

use crate::core::{Advance, Engine, EngineContext, EngineInfo};
use crate::encode::batch::Batch;
use crate::encode::question::is_question;

use search::BackwardSearch;

/// The entry in the list of engines.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "backward",
    about: "backward reachability: pre-images of the targets to a fixpoint, shortest runs",
    decides,
    // Nearly all are, and then bounds say so.
    finds_shortest: false,
    begins_at_once: false,
    open: |context| Box::new(Backward::new(context)),
};

fn decides(kind: &ClaimKind) -> bool {
    is_question(kind)
}

/// See the module's documentation.
struct Backward {
    searches: Vec<BackwardSearch>,
    finished: Vec<BackwardSearch>,
    obstacles: Vec<(ClaimId, String)>,
}

impl Backward {
    fn new(context: &EngineContext) -> Backward {
        let (all, obstacles) = Batch::all(context);
        let searches = all.into_iter().map(|t| BackwardSearch::new(context, t)).collect();
        Backward { searches, finished: Vec::new(), obstacles }
    }
}

impl Engine for Backward {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        // The one that used least so far: a hard question must not stop the others.
        let Some(at) = (0..self.searches.len()).min_by_key(|&i| self.searches[i].used) else {
            return Advance::Finished;
        };
        self.searches[at].advance(context);
        if self.searches[at].is_over() {
            let over = self.searches.swap_remove(at);
            self.finished.push(over);
        }
        if self.searches.is_empty() { Advance::Finished } else { Advance::Again }
    }

    fn obstacle(&self, claim: ClaimId) -> Option<String> {
        let known = self.obstacles.iter().find(|(c, _)| *c == claim).map(|(_, why)| why.clone());
        known.or_else(|| self.searches.iter().chain(&self.finished).find_map(|h| h.obstacle(claim)))
    }
}

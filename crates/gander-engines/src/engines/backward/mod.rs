//! Backward reachability: computes pre-images of the targets until a start state is reached or a
//! fixpoint.
//!
//! `Pre^0 = P`, `Pre^(i+1)(s) = exists s'. S(s, s') and Pre^i(s')`, until `Pre^i` contains a start
//! state or is included in `Pre^0 or ... or Pre^(i-1)`. After C. Rütz, *Model Checking of Symbolic
//! Transition Systems with SMT Solvers* (2013), definition 4.2, which follows Ghilardi, Nicolini,
//! Ranise and Zucchelli, *Towards SMT Model Checking of Array-Based Systems* (2008). There the sets
//! are one growing formula; here they are quantifier-free cubes per node, and a cube that is
//! included in the node's cubes is dropped at once. So queries concern one cube at a time, however
//! long the path. Many questions share the same cubes ([`search`]).
//!
//! Evidence: runs, mostly shortest (a few would cost too much to prove so), and the complement of
//! the sets, which is an inductive invariant. Invariants of other engines restrict the sets and
//! then are part of the evidence.

mod bidirectional;
mod bounds;
mod cube;
mod forward;
mod labels;
mod limits;
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
    // Nearly all runs are shortest, and the published bounds show it.
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
        // The search with the least time used, so that a hard question does not block the others.
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

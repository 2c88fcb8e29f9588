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
//! long the path. Many questions are asked at once over the same cubes (`hunt.rs`).
//!
//! Evidence: runs, shortest but for a few that would cost too much to be shown so, and the complement of the sets, which is an inductive invariant. Invariants of other
//! engines cut the sets and then are part of the evidence.

mod bounds;
mod cube;
mod forward;
mod hunt;
mod labels;
mod meeting;
mod preimage;
mod proofs;

use gander_system::{ClaimId, ClaimKind};

use crate::engine::{Advance, Desk, Engine, EngineInfo};
use crate::question::is_question;
use crate::together::Together;

use hunt::Hunt;

/// The entry in the list of engines.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "backward",
    about: "backward reachability: pre-images of the targets to a fixpoint, shortest runs",
    decides,
    // Nearly all are, and then bounds say so.
    finds_shortest: false,
    begins_at_once: false,
    open: |desk| Box::new(Backward::new(desk)),
};

fn decides(kind: &ClaimKind) -> bool {
    is_question(kind)
}

/// See the module's documentation.
struct Backward {
    hunts: Vec<Hunt>,
    finished: Vec<Hunt>,
    obstacles: Vec<(ClaimId, String)>,
}

impl Backward {
    fn new(desk: &Desk) -> Backward {
        let (all, obstacles) = Together::all(desk);
        let hunts = all.into_iter().map(|t| Hunt::new(desk, t)).collect();
        Backward { hunts, finished: Vec::new(), obstacles }
    }
}

impl Engine for Backward {
    fn advance(&mut self, desk: &Desk) -> Advance {
        // The one that used least so far: a hard question must not stop the others.
        let Some(at) = (0..self.hunts.len()).min_by_key(|&i| self.hunts[i].used) else { return Advance::Finished };
        self.hunts[at].advance(desk);
        if self.hunts[at].is_over() {
            let over = self.hunts.swap_remove(at);
            self.finished.push(over);
        }
        if self.hunts.is_empty() { Advance::Finished } else { Advance::Again }
    }

    fn obstacle(&self, claim: ClaimId) -> Option<String> {
        let known = self.obstacles.iter().find(|(c, _)| *c == claim).map(|(_, why)| why.clone());
        known.or_else(|| self.hunts.iter().chain(&self.finished).find_map(|h| h.obstacle(claim)))
    }
}

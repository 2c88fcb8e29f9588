//! Symbolic execution along control paths: the search enumerates paths of the control graph, and a
//! solver sees only the conditions of one path.
//!
//! After King, *Symbolic Execution and Program Testing* (1976), and the outlook of C. Rütz, *Model
//! Checking of Symbolic Transition Systems with SMT Solvers* (2013): the algorithm directs the
//! creation of paths, breadth or depth first, and the solver decides the constraints that guards
//! and updates of a path impose. One exploration serves all claims, so it gives a witness for every
//! reachable gate and transition.
//!
//! A path ends at the step that makes it infeasible, at a node from which no open target is
//! reachable (invariants of other engines may exclude targets), or at a symbolic state that is
//! subsumed by a known one ([`symbolic`]). If no path is left, the symbolic states are an
//! invariant. Breadth first, runs are shortest, and complete depths are published as bounds.

mod explore;
mod goals;
mod limits;
mod symbolic;
mod tree;

use gander_system::{ClaimId, ClaimKind};

use crate::core::{Advance, Engine, EngineContext, EngineInfo};
use crate::encode::batch::Batch;
use crate::encode::question::is_question;

use explore::Explorer;

/// The entry in the list of engines.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "paths",
    about: "symbolic execution along control paths: a witness for every gate and transition",
    decides,
    // Breadth first they are shortest, and the published bounds show it.
    finds_shortest: false,
    begins_at_once: false,
    open: |context| Box::new(Paths::new(context)),
};

fn decides(kind: &ClaimKind) -> bool {
    is_question(kind)
}

/// See the module's documentation.
struct Paths {
    explorers: Vec<Explorer>,
    finished: Vec<Explorer>,
    obstacles: Vec<(ClaimId, String)>,
}

impl Paths {
    fn new(context: &EngineContext) -> Paths {
        let (all, obstacles) = Batch::all(context);
        let explorers = all.into_iter().map(|t| Explorer::new(context, t)).collect();
        Paths { explorers, finished: Vec::new(), obstacles }
    }
}

impl Engine for Paths {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        let all = 0..self.explorers.len();
        let Some(at) = all.min_by_key(|&i| self.explorers[i].used) else {
            return Advance::Finished;
        };
        self.explorers[at].advance(context);
        if self.explorers[at].is_over() {
            let over = self.explorers.swap_remove(at);
            self.finished.push(over);
        }
        if self.explorers.is_empty() { Advance::Finished } else { Advance::Again }
    }

    fn obstacle(&self, claim: ClaimId) -> Option<String> {
        let known = self.obstacles.iter().find(|(c, _)| *c == claim).map(|(_, why)| why.clone());
        known
            .or_else(|| self.explorers.iter().chain(&self.finished).find_map(|x| x.obstacle(claim)))
    }
}

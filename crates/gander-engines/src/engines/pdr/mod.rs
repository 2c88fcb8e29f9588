//! Property-directed reachability (IC3) modulo theories, with frames per node.
//!
//! A frame `F_i` says for each node what holds of all states there that at most `i` steps lead to. A state in the last
//! frame that leads to a target is an *obligation*: it is shown to be unreachable from the frame before, by a lemma that
//! excludes it and more, or states before it become obligations themselves. Two equal frames are an invariant; an
//! obligation with a start state is the beginning of a run.
//!
//! - Bradley, *SAT-based model checking without unrolling* (2011): the algorithm, generalisation by dropping literals;
//! - Hoder and Bjorner, *Generalized property directed reachability* (2012), Komuravelli, Gurfinkel and Chaki, *SMT-based
//!   model checking for recursive programs* (2014): predecessors as cubes, by model-based projection ([`project`]).
//!
//! One claim has its own frames; claims share what was proved, over the blackboard. On systems so large that there is no room for the terms of
//! all claims at the same time, one that had a while gives way to those that had none.

mod frames;
mod generalise;
mod implicant;
mod linear;
mod preimage;
mod project;
mod proof;
mod prover;
mod queries;

use std::time::Duration;

use gander_system::{ClaimId, ClaimKind};

use crate::core::limits::{Room, set_aside};
use crate::core::{Advance, Engine, EngineContext, EngineInfo};
use crate::encode::batch::Batch;
use crate::encode::question::is_question;
use crate::encode::view::View;

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

/// Time for one claim before another has its turn.
const SLICE: Duration = Duration::from_millis(50);

/// So many claims keep their solver while others have their turn.
const MOST_AWAKE: usize = 6;

/// The terms of its claims may take one part in so many of the engine's memory.
const PARTS_OF_MEMORY: u64 = 4;

/// Time for one claim before it gives way to another if there is no room for both.
const GIVES_WAY: Duration = Duration::from_secs(2);

/// See the module's documentation.
struct Pdr {
    room: Room,
    provers: Vec<Prover>,
    /// Claims that have not been looked at.
    waiting: Vec<ClaimId>,
    obstacles: Vec<(ClaimId, String)>,
}

impl Pdr {
    fn new(context: &EngineContext) -> Pdr {
        let waiting = context.claims().iter().rev().copied().collect();
        let room = Room::part(context.config(), PARTS_OF_MEMORY);
        Pdr { room, provers: Vec::new(), waiting, obstacles: Vec::new() }
    }

    /// Whether there is room for another claim, or one has given way to it.
    fn make_room(&mut self) -> bool {
        if self.room.has_for_another(self.provers.iter().map(Prover::weight)) {
            return true;
        }
        let longest = (0..self.provers.len()).max_by_key(|&i| self.provers[i].used);
        let Some(at) = longest.filter(|&i| self.provers[i].used >= GIVES_WAY) else { return false };
        let longest = self.provers.swap_remove(at);
        self.obstacles.push((longest.claim(), set_aside(&longest.obstacle())));
        true
    }

    /// A prover for a claim.
    fn open(&mut self, context: &EngineContext, claim: ClaimId) -> Option<Prover> {
        let view = View::of_claim(context, claim).map_err(|why| self.obstacles.push((claim, why))).ok()?;
        Prover::new(context, Batch::alone(view, claim))
    }

    fn sweep(&mut self, context: &EngineContext) {
        let over = |p: &Prover| p.is_over() || !context.is_open(p.claim());
        self.obstacles.extend(self.provers.iter().filter(|p| over(p)).map(|p| (p.claim(), p.obstacle())));
        self.provers.retain(|p| !over(p));
        self.waiting.retain(|&c| context.is_open(c));
    }
}

impl Engine for Pdr {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        self.sweep(context);
        let next = if !self.waiting.is_empty() && self.make_room() { self.waiting.pop() } else { None };
        if let Some(claim) = next {
            let prover = self.open(context, claim);
            self.provers.extend(prover);
            let last = self.provers.len().saturating_sub(1);
            if let Some(p) = self.provers.get_mut(last).filter(|p| p.claim() == claim) {
                p.advance(context, SLICE);
            }
        } else if let Some(at) = (0..self.provers.len()).min_by_key(|&i| self.provers[i].used) {
            self.provers[at].advance(context, SLICE);
        }
        // Those that had most go without a solver first.
        while self.provers.iter().filter(|p| p.is_awake()).count() > MOST_AWAKE {
            match self.provers.iter_mut().filter(|p| p.is_awake()).max_by_key(|p| p.used) {
                Some(p) => p.rest(),
                None => break,
            }
        }
        self.sweep(context);
        if self.provers.is_empty() && self.waiting.is_empty() { Advance::Finished } else { Advance::Again }
    }

    fn obstacle(&self, claim: ClaimId) -> Option<String> {
        let running = self.provers.iter().find(|p| p.claim() == claim).map(Prover::obstacle);
        running.or_else(|| self.obstacles.iter().rev().find(|(c, _)| *c == claim).map(|(_, why)| why.clone()))
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
    fn without_room_a_claim_that_had_a_while_gives_way() {
        let solvers = Arc::new(Solvers::from_environment());
        let made = generate_with(1, Settings::few_states().linear());
        let (context, _cancel, _heard) = context(&solvers, &made, &INFO);
        let mut pdr = Pdr::new(&context);
        assert!(pdr.make_room(), "the first needs none");
        let claim = pdr.waiting[0];
        let prover = pdr.open(&context, claim);
        pdr.provers.extend(prover);
        let weight = pdr.provers[0].weight();
        assert!(weight > 0);
        for (room, used, makes) in
            [(2 * weight, GIVES_WAY, true), (2 * weight - 1, Duration::ZERO, false), (2 * weight - 1, GIVES_WAY, true)]
        {
            assert!(pdr.provers.len() == 1 && pdr.obstacle(claim).is_some_and(|why| !why.contains("set aside")));
            (pdr.room, pdr.provers[0].used) = (Room(room), used);
            assert_eq!(pdr.make_room(), makes, "{room}, {used:?}");
        }
        assert!(pdr.provers.is_empty() && pdr.obstacle(claim).is_some_and(|why| why.contains("set aside")));
    }
}

//! Invariant discovery: candidates from templates, filtered first by sampled states and then by
//! k-induction (Houdini: Flanagan and Leino 2001).
//!
//! - Sampled states ([`samples`]) come from simulation, from the blackboard and from models of base
//!   cases.
//! - Candidates ([`mining`]) are built from the model's [`crate::candidates::candidate_terms`] and
//!   hold in all sampled states: implications and equivalences of Boolean terms ([`truths`];
//!   Kahsai, Ge and Tinelli, *Instantiation-based invariant discovery*, 2011); constants, bounds,
//!   orders, differences and sums, remainders and linear equalities of numeric terms, also under a
//!   condition ([`numbers`]); and clauses of three literals. Later rounds have wider templates and
//!   more candidate terms.
//! - If transitions copy variables, the first round tries equalities under conditions on control
//!   variables ([`copies`]), the second the same in phases of two counters ([`phases`]).
//! - One round computes an inductive element of the octagon domain
//!   ([`crate::candidates::octagon_analysis`], [`crate::arith::octagon`]; Miné 2006).
//! - [`crate::candidates::houdini`] drops the candidates that are not `k`-inductive together with
//!   the rest and the earlier lemmas.
//!
//! Only proved invariants are published, with the depth of induction that proves them. The
//! exclusions of claims are candidates too, so a claim that follows is decided here.

mod copies;
mod limits;
mod miner;
mod mining;
mod numbers;
mod phases;
mod samples;
mod truths;

use gander_system::{ClaimId, ClaimKind};

use crate::core::{Advance, Engine, EngineContext, EngineInfo};
use crate::encode::batch::Batch;
use crate::encode::question::is_question;
use crate::encode::view::View;

use miner::Miner;

/// The entry in the list of engines.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "invariants",
    about: "invariants from templates and samples, for the other engines; decides what they imply",
    decides,
    finds_shortest: false,
    begins_at_once: false,
    open: |context| Box::new(Invariants::new(context)),
};

fn decides(kind: &ClaimKind) -> bool {
    is_question(kind) && !matches!(kind, ClaimKind::StartSatisfiable(_))
}

/// See the module's documentation.
struct Invariants {
    miners: Vec<Miner>,
    over: Vec<Miner>,
}

impl Invariants {
    fn new(context: &EngineContext) -> Invariants {
        let system = context.system();
        let is_plain = |c: &&ClaimId| !View::needs_chain(&system.claims()[c.index()].kind);
        let plain: Vec<ClaimId> = context.claims().iter().filter(is_plain).copied().collect();
        let mut miners: Vec<Miner> =
            Batch::of(context, &plain).into_iter().map(Miner::new).collect();
        if miners.is_empty() {
            // All claims are chains of goals; the invariants of the system still help other
            // engines.
            miners.extend(
                context
                    .claims()
                    .first()
                    .map(|&c| Miner::new(Batch::alone(View::plain(context), c))),
            );
        }
        Invariants { miners, over: Vec::new() }
    }
}

impl Engine for Invariants {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        if !context.claims().iter().any(|&c| context.is_open(c)) {
            return Advance::Finished;
        }
        let Some(at) = (0..self.miners.len()).min_by_key(|&i| self.miners[i].used()) else {
            return Advance::Finished;
        };
        self.miners[at].advance(context);
        if self.miners[at].is_over() {
            self.over.push(self.miners.swap_remove(at));
        }
        if self.miners.is_empty() { Advance::Finished } else { Advance::Again }
    }

    fn obstacle(&self, claim: ClaimId) -> Option<String> {
        self.miners.iter().chain(&self.over).find_map(|m| m.obstacle(claim))
    }
}

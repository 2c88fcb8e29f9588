//! Invariants: candidates from templates, sifted with sampled states first and by induction after.
//!
//! - Sampled states ([`samples`]) come from simulation, from the blackboard and from models of base cases.
//! - Candidates ([`mining`]) are made of the [`crate::candidates::candidate_terms`] of the model so that they hold in all sampled states:
//!   implications and equivalences of truth values ([`truths`]; Kahsai, Ge and Tinelli, *Instantiation-based invariant
//!   discovery*, 2011), constants, bounds, orders, differences and sums, remainders, linear [`equalities`] (Gaussian
//!   elimination), also under a condition ([`numbers`]), and clauses of three literals. Templates and candidate terms get
//!   wider from round to round.
//! - Where rules copy variables, the first round is about equalities under conditions of control ([`copies`]).
//! - One round climbs to an inductive element of the domain of octagons instead ([`crate::candidates::octagon_analysis`], [`crate::arith::octagon`]; Miné 2006).
//! - [`crate::candidates::houdini`] drops all that is not `k`-inductive together with the rest and with what was proved before.
//!
//! Only what was proved is published, with the argument that proves it. What claims say is among the candidates, so a claim
//! that follows is decided here.

mod copies;
mod equalities;
mod miner;
mod mining;
mod numbers;
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
        let is_plain = |c: &&ClaimId| !View::needs_chain(&system.claims[c.index()].kind);
        let plain: Vec<ClaimId> = context.claims().iter().filter(is_plain).copied().collect();
        let mut miners: Vec<Miner> = Batch::of(context, &plain).into_iter().map(Miner::new).collect();
        if miners.is_empty() {
            // Chains of goals only: what is found out about the system serves others.
            miners.extend(context.claims().first().map(|&c| Miner::new(Batch::alone(View::plain(context), c))));
        }
        Invariants { miners, over: Vec::new() }
    }
}

impl Engine for Invariants {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        if !context.claims().iter().any(|&c| context.is_open(c)) {
            return Advance::Finished;
        }
        let Some(at) = (0..self.miners.len()).min_by_key(|&i| self.miners[i].used()) else { return Advance::Finished };
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

//! Liveness: claims about maximal runs, and `AG EF` claims.
//!
//! Claims about maximal runs are reduced to safety (`gander_system::passes::liveness_to_safety`),
//! and all safety engines work on the result ([`nested_check`]): a run that ends too early, a
//! repeated state (Biere, Artho and Schuppan 2002), a bound on the number of fair rounds
//! (k-liveness: Claessen and Sörensson 2012). For systems with infinitely many states there are
//! also ranking functions ([`ranking`]) and recurrent sets ([`recurrent_set`]). Small finite
//! systems are first decided on the graph of their states ([`fair_cycle`]); for systems that are
//! linear over ints, the greatest fixpoint of `EG` is computed on polyhedra ([`eg`]). `AG EF`
//! claims are decided by layers of states from which the goal is reachable ([`ag_ef`]).
//!
//! The engine works on the given system, before reduction: its evidence is about systems derived
//! from that one, which the checker derives again.

mod ag_ef;
mod candidates;
mod eg;
mod fair_cycle;
mod limits;
mod nested_check;
mod prover;
mod ranking;
mod recurrent_set;
mod step;
mod strategies;
mod support;

use std::time::{Duration, Instant};

use gander_system::passes::DecidingRuns;
use gander_system::{ClaimId, ClaimKind};

use crate::core::{Advance, Engine, EngineContext, EngineInfo};

use ag_ef::AgEf;
use strategies::ClaimStrategies;

/// The entry in the list of engines.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "liveness",
    about: "maximal runs: lassos, ranks, recurrent sets, bounds on fair rounds",
    decides,
    finds_shortest: false,
    begins_at_once: false,
    open: |context| Box::new(Liveness::new(context)),
};

fn decides(kind: &ClaimKind) -> bool {
    matches!(kind, ClaimKind::AlwaysPossible(_)) || DecidingRuns::of(kind).is_some()
}

/// The work on one claim.
enum Work {
    MaximalRuns(Box<ClaimStrategies>),
    AgEf(Box<AgEf>),
}

impl Work {
    fn claim(&self) -> ClaimId {
        match self {
            Work::MaximalRuns(strategies) => strategies.claim,
            Work::AgEf(ag_ef) => ag_ef.claim,
        }
    }

    fn is_over(&self) -> bool {
        match self {
            Work::MaximalRuns(strategies) => strategies.is_over(),
            Work::AgEf(ag_ef) => ag_ef.is_over(),
        }
    }

    fn used(&self) -> Duration {
        match self {
            Work::MaximalRuns(strategies) => strategies.used(),
            Work::AgEf(ag_ef) => ag_ef.used,
        }
    }

    fn stop(&mut self) {
        match self {
            Work::MaximalRuns(strategies) => strategies.stop(),
            Work::AgEf(ag_ef) => ag_ef.stop(),
        }
    }

    fn advance(&mut self, context: &EngineContext) {
        match self {
            Work::MaximalRuns(strategies) => strategies.advance(context),
            Work::AgEf(ag_ef) => {
                let begun = Instant::now();
                ag_ef.advance(context);
                ag_ef.used += begun.elapsed();
            }
        }
    }
}

/// See the module's documentation.
struct Liveness {
    work: Vec<Work>,
}

impl Liveness {
    fn new(context: &EngineContext) -> Liveness {
        let system = context.given();
        let work = context.claims().iter().filter_map(|&claim| {
            let strategies =
                || ClaimStrategies::new(context, claim).map(|h| Work::MaximalRuns(Box::new(h)));
            AgEf::new(system, claim).map(|p| Work::AgEf(Box::new(p))).or_else(strategies)
        });
        Liveness { work: work.collect() }
    }
}

impl Engine for Liveness {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        for work in &mut self.work {
            if !context.is_open(work.claim()) {
                work.stop();
            }
        }
        // The claim with the least time used.
        let open = (0..self.work.len()).filter(|&i| !self.work[i].is_over());
        let Some(at) = open.min_by_key(|&i| self.work[i].used()) else { return Advance::Finished };
        self.work[at].advance(context);
        if self.work.iter().all(Work::is_over) { Advance::Finished } else { Advance::Again }
    }

    fn obstacle(&self, claim: ClaimId) -> Option<String> {
        match self.work.iter().find(|w| w.claim() == claim)? {
            Work::MaximalRuns(strategies) => strategies.obstacle(),
            Work::AgEf(ag_ef) => ag_ef.obstacle(),
        }
    }
}

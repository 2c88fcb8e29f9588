//! Liveness: claims about maximal runs, and about what is always possible.
//!
//! Claims about maximal runs become questions about safety of liveness-to-safety systems (`gander_system::passes::liveness_to_safety`), which go to all
//! engines for safety ([`inner`]): a run that ends too early, a state that comes again (Biere, Artho and Schuppan 2002), a bound on the
//! number of fair rounds (Claessen and Sörensson 2012). Beside these, ranks are synthesised ([`ranking`]) and recurrent
//! sets guessed ([`recurrent`]), for systems with infinitely many states. Small finite systems are decided on the graph of
//! their states before anything else ([`fair_cycle`]); where all is linear over ints, how long runs can go on is computed on polyhedra
//! ([`eg`]). What is always possible is decided by layers of
//! states that have it within reach ([`possible`]).
//!
//! The engine works on the system as it was given: its evidence speaks of systems made of that one, which the checker
//! makes again.

mod ag_ef;
#[cfg(test)]
mod bugs;
mod candidates;
mod components;
mod eg;
mod fair_cycle;
mod linear;
mod nested_check;
mod prover;
mod ranking;
mod recurrent_set;
mod step;
mod strategies;
mod support;

use std::time::{Duration, Instant};

use gander_system::passes::Asked;
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
    matches!(kind, ClaimKind::AlwaysPossible(_)) || Asked::by(kind).is_some()
}

/// The work on one claim.
enum Work {
    ClaimStrategies(Box<ClaimStrategies>),
    AgEf(Box<AgEf>),
}

impl Work {
    fn claim(&self) -> ClaimId {
        match self {
            Work::ClaimStrategies(strategies) => strategies.claim,
            Work::AgEf(possible) => possible.claim,
        }
    }

    fn is_over(&self) -> bool {
        match self {
            Work::ClaimStrategies(strategies) => strategies.is_over(),
            Work::AgEf(possible) => possible.is_over(),
        }
    }

    fn used(&self) -> Duration {
        match self {
            Work::ClaimStrategies(strategies) => strategies.used(),
            Work::AgEf(possible) => possible.used,
        }
    }

    fn stop(&mut self) {
        match self {
            Work::ClaimStrategies(strategies) => strategies.stop(),
            Work::AgEf(possible) => possible.stop(),
        }
    }

    fn advance(&mut self, context: &EngineContext) {
        match self {
            Work::ClaimStrategies(strategies) => strategies.advance(context),
            Work::AgEf(possible) => {
                let begun = Instant::now();
                possible.advance(context);
                possible.used += begun.elapsed();
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
            let strategies = || ClaimStrategies::new(context, claim).map(|h| Work::ClaimStrategies(Box::new(h)));
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
        // The one that used least so far.
        let open = (0..self.work.len()).filter(|&i| !self.work[i].is_over());
        let Some(at) = open.min_by_key(|&i| self.work[i].used()) else { return Advance::Finished };
        self.work[at].advance(context);
        if self.work.iter().all(Work::is_over) { Advance::Finished } else { Advance::Again }
    }

    fn obstacle(&self, claim: ClaimId) -> Option<String> {
        match self.work.iter().find(|w| w.claim() == claim)? {
            Work::ClaimStrategies(strategies) => strategies.obstacle(),
            Work::AgEf(possible) => possible.obstacle(),
        }
    }
}

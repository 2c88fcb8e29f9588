//! Liveness: claims about maximal runs, and about what is always possible.
//!
//! Claims about maximal runs become questions about safety of pursuit systems (`gander_system::passes::pursuit`), which go to all
//! engines for safety ([`inner`]): a run that ends too early, a state that comes again (Biere, Artho and Schuppan 2002), a bound on the
//! number of fair rounds (Claessen and Sörensson 2012). Beside these, ranks are synthesised ([`ranking`]) and recurrent
//! sets guessed ([`recurrent`]), for systems with infinitely many states. Small finite systems are decided on the graph of
//! their states before anything else ([`survey`]); where all is linear over ints, how long runs can go on is computed on polyhedra
//! ([`endurance`]). What is always possible is decided by layers of
//! states that have it within reach ([`possible`]).
//!
//! The engine works on the system as it was given: its evidence speaks of systems made of that one, which the checker
//! makes again.

#[cfg(test)]
mod bugs;
mod candidates;
mod components;
mod endurance;
mod hunt;
mod inner;
mod linear;
mod possible;
mod prover;
mod ranking;
mod recurrent;
mod step;
mod support;
mod survey;

use std::time::{Duration, Instant};

use gander_system::passes::Asked;
use gander_system::{ClaimId, ClaimKind};

use crate::engine::{Advance, Desk, Engine, EngineInfo};

use hunt::Hunt;
use possible::Possible;

/// The entry in the list of engines.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "liveness",
    about: "maximal runs: lassos, ranks, recurrent sets, bounds on fair rounds",
    decides,
    finds_shortest: false,
    begins_at_once: false,
    open: |desk| Box::new(Liveness::new(desk)),
};

fn decides(kind: &ClaimKind) -> bool {
    matches!(kind, ClaimKind::AlwaysPossible(_)) || Asked::by(kind).is_some()
}

/// The work on one claim.
enum Work {
    Hunt(Box<Hunt>),
    Possible(Box<Possible>),
}

impl Work {
    fn claim(&self) -> ClaimId {
        match self {
            Work::Hunt(hunt) => hunt.claim,
            Work::Possible(possible) => possible.claim,
        }
    }

    fn is_over(&self) -> bool {
        match self {
            Work::Hunt(hunt) => hunt.is_over(),
            Work::Possible(possible) => possible.is_over(),
        }
    }

    fn used(&self) -> Duration {
        match self {
            Work::Hunt(hunt) => hunt.used(),
            Work::Possible(possible) => possible.used,
        }
    }

    fn stop(&mut self) {
        match self {
            Work::Hunt(hunt) => hunt.stop(),
            Work::Possible(possible) => possible.stop(),
        }
    }

    fn advance(&mut self, desk: &Desk) {
        match self {
            Work::Hunt(hunt) => hunt.advance(desk),
            Work::Possible(possible) => {
                let begun = Instant::now();
                possible.advance(desk);
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
    fn new(desk: &Desk) -> Liveness {
        let system = desk.given();
        let work = desk.claims().iter().filter_map(|&claim| {
            let hunt = || Hunt::new(desk, claim).map(|h| Work::Hunt(Box::new(h)));
            Possible::new(system, claim).map(|p| Work::Possible(Box::new(p))).or_else(hunt)
        });
        Liveness { work: work.collect() }
    }
}

impl Engine for Liveness {
    fn advance(&mut self, desk: &Desk) -> Advance {
        for work in &mut self.work {
            if !desk.is_open(work.claim()) {
                work.stop();
            }
        }
        // The one that used least so far.
        let open = (0..self.work.len()).filter(|&i| !self.work[i].is_over());
        let Some(at) = open.min_by_key(|&i| self.work[i].used()) else { return Advance::Finished };
        self.work[at].advance(desk);
        if self.work.iter().all(Work::is_over) { Advance::Finished } else { Advance::Again }
    }

    fn obstacle(&self, claim: ClaimId) -> Option<String> {
        match self.work.iter().find(|w| w.claim() == claim)? {
            Work::Hunt(hunt) => hunt.obstacle(),
            Work::Possible(possible) => possible.obstacle(),
        }
    }
}

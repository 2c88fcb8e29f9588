//! Bounded validity cores: sets of parts that exclude every violating run of at most k steps, or of
//! exactly k steps (algorithm 9 of E. Ghassabani, Inductive Validity Cores, 2020).
//!
//! Each query is about paths of a given length, so its answer is exact, and a minimised core is
//! minimal for its depth if the solver answers all queries. All minimal bounded cores are
//! enumerated like unbounded ones ([`Explainer::explain_bounded`]), with these queries in place of
//! proofs.
//!
//! Claims that are not about single states are decided on the system of
//! [`gander_system::passes::pinned`]. Its runs are longer than those of the model by a number of
//! steps that depends only on the claim ([`extra_steps`]). Depths in this module's interface count
//! steps of the model.

use gander_system::{ClaimKind, Goal};

use crate::cores::{CoreSelection, CoreSink, Explanation, Request};
use crate::explainer::{Adequacy, Explainer, Lengths, Stop};
use crate::parts::set::PartSet;
use crate::proof::Proof;
use crate::unrolling::path::{From, PathAnswer, PathQuery, WatchId};

/// The result for one claim and one depth.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bounded {
    /// A set of parts that excludes every violating run of the queried lengths.
    Core {
        /// The parts.
        parts: PartSet,
        /// True if none of them can be left out; false if a solver gave up on that question.
        minimal: bool,
    },
    /// The whole model has a violating run of this many steps.
    Broken(u32),
    /// The time limit was reached, or a solver gave up.
    Unknown,
}

/// A solver gave no answer.
struct NotKnown;

/// Whether some parts exclude all violating runs.
enum Grounds {
    /// These of them do.
    Enough(PartSet),
    /// Some run violates the claim.
    NotEnough,
    /// A solver gave no answer.
    NotKnown,
}

/// The number of steps by which runs of the pinned system are longer than those of the model: one
/// for each state goal, or one that tests whether a transition is enabled.
pub(crate) fn extra_steps(kind: &ClaimKind) -> u32 {
    match kind {
        ClaimKind::Reachable(goals) => {
            let states = goals.iter().filter(|g| matches!(g, Goal::State(_))).count();
            u32::try_from(states).unwrap_or(u32::MAX)
        }
        ClaimKind::CanEnable(_) | ClaimKind::Completable(_) => 1,
        _ => 0,
    }
}

impl Explainer<'_> {
    /// What the request asks for, about runs of at most `k` steps. A single core is always
    /// minimised. An error if the model itself has a violating run, or that is not known.
    pub fn explain_bounded(
        &mut self,
        k: u32,
        request: Request,
        found: CoreSink<'_>,
    ) -> Result<Explanation, Bounded> {
        let extra = self.extra_steps;
        let lengths = (extra, k.saturating_add(extra));
        match self.first_violation(lengths) {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(steps))) => return Err(Bounded::Broken(steps - extra)),
            Ok(Err(NotKnown)) | Err(Stop::OutOfTime) => return Err(Bounded::Unknown),
        }
        // A set that does not exclude a shorter run does not exclude all runs.
        if !self.lengths.is_some_and(|(least, most)| least == lengths.0 && most <= lengths.1) {
            self.inadequate.clear();
        }
        self.adequate.clear();
        self.undecided.clear();
        self.unread.clear();
        self.approximate = false;
        self.lengths = Some(lengths);
        let cores = if request.cores == CoreSelection::One {
            CoreSelection::Minimal
        } else {
            request.cores
        };
        Ok(self.explain(Request { cores, ..request }, found))
    }

    /// The least length of a violating path of the whole model.
    fn first_violation(
        &mut self,
        (least, most): Lengths,
    ) -> Result<Result<Option<u32>, NotKnown>, Stop> {
        let (all, violated): (_, Vec<WatchId>) = (self.all(), self.property.into_iter().collect());
        for steps in least..=most {
            let kept = &all;
            let query =
                PathQuery { kept, from: From::Start, steps, along: &[], violated: &violated };
            match self.query(&query)? {
                PathAnswer::Refuted(_) => {}
                PathAnswer::Exists => {
                    let values = self.path.values(steps).ok();
                    let witness = values.and_then(|v| self.checked_witness(&all, &v, steps));
                    return Ok(witness.map(|_| Some(steps)).ok_or(NotKnown));
                }
                PathAnswer::Unknown => return Ok(Err(NotKnown)),
            }
        }
        Ok(Ok(None))
    }

    /// Decides whether the parts exclude all violating paths of these lengths.
    pub(crate) fn bounded_adequacy(
        &mut self,
        kept: &PartSet,
        (least, most): Lengths,
    ) -> Result<Adequacy, Stop> {
        let violated: Vec<WatchId> = self.property.into_iter().collect();
        let mut used = PartSet::none(self.parts.len());
        let mut decided = true;
        for steps in least..=most {
            let query =
                PathQuery { kept, from: From::Start, steps, along: &[], violated: &violated };
            match self.query(&query)? {
                PathAnswer::Refuted(grounds) => used = used.union(&grounds.parts),
                PathAnswer::Exists => {
                    let values = self.path.values(steps).ok();
                    match values.and_then(|v| self.checked_witness(kept, &v, steps)) {
                        Some(witness) => return self.grow_inadequate(kept, witness, steps),
                        None => decided = false,
                    }
                }
                PathAnswer::Unknown => decided = false,
            }
        }
        if !decided {
            self.approximate = true;
            return Ok(Adequacy::Undecided);
        }
        Ok(Adequacy::Adequate(Proof {
            k: 0,
            formulas: Vec::new(),
            parts: used,
            constraints: None,
            given: None,
        }))
    }

    /// A bounded core of depth `k`, minimal unless a solver gives up: no run of at most `k` steps
    /// violates the claim (definition 5).
    pub fn bounded(&mut self, k: u32) -> Bounded {
        self.bounded_core(0, k).unwrap_or(Bounded::Unknown)
    }

    /// A set of parts that excludes violating runs of exactly `k` steps, minimal unless a solver
    /// gives up: what the query of depth `k` uses, as in figures 5.10 and 5.17. Shorter runs may
    /// need other parts.
    pub fn bounded_at(&mut self, k: u32) -> Bounded {
        self.bounded_core(k, k).unwrap_or(Bounded::Unknown)
    }

    fn bounded_core(&mut self, least: u32, k: u32) -> Result<Bounded, Stop> {
        let all = self.all();
        let extra = self.extra_steps;
        // Every violating run of the pinned system has at least this many extra steps.
        let (least, k) = (least.saturating_add(extra), k.saturating_add(extra));
        let Some(property) = self.property else { return Ok(Bounded::Unknown) };
        let violated = [property];
        let mut core = PartSet::none(self.parts.len());
        for steps in least..=k {
            // Try the parts that shorter runs need before the whole model.
            for kept in [&core.clone(), &all] {
                let query =
                    PathQuery { kept, from: From::Start, steps, along: &[], violated: &violated };
                match self.query(&query)? {
                    PathAnswer::Refuted(grounds) => {
                        core = core.union(&grounds.parts);
                        break;
                    }
                    PathAnswer::Exists if kept == &all => {
                        return Ok(Bounded::Broken(steps - extra));
                    }
                    PathAnswer::Unknown if kept == &all => return Ok(Bounded::Unknown),
                    PathAnswer::Exists | PathAnswer::Unknown => {}
                }
            }
        }
        let rough = core.clone();
        let mut minimal = true;
        self.within(&rough, |e| {
            for p in rough.iter() {
                if !core.has(p) {
                    continue;
                }
                match e.bounded_grounds(&core.without(p), least, k) {
                    Ok(Grounds::Enough(fewer)) => core = fewer,
                    Ok(Grounds::NotEnough) => {}
                    Ok(Grounds::NotKnown) => minimal = false,
                    // What is left is enough, and some of it was not tried.
                    Err(Stop::OutOfTime) => {
                        minimal = false;
                        break;
                    }
                }
            }
            Ok(Bounded::Core { parts: core, minimal })
        })
    }

    /// Whether the parts exclude violating runs of all these lengths.
    fn bounded_grounds(&mut self, kept: &PartSet, least: u32, k: u32) -> Result<Grounds, Stop> {
        let violated: Vec<WatchId> = self.property.into_iter().collect();
        let mut used = PartSet::none(self.parts.len());
        let mut decided = true;
        for steps in (least..=k).rev() {
            let query =
                PathQuery { kept, from: From::Start, steps, along: &[], violated: &violated };
            match self.query(&query)? {
                PathAnswer::Refuted(grounds) => used = used.union(&grounds.parts),
                PathAnswer::Exists => return Ok(Grounds::NotEnough),
                PathAnswer::Unknown => decided = false,
            }
        }
        Ok(if decided { Grounds::Enough(used) } else { Grounds::NotKnown })
    }
}

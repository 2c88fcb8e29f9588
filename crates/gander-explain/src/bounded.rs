//! Bounded validity cores: parts from which no run of at most k steps, or of exactly k, breaks the claim (algorithm 9).
//!
//! Every question is one about paths of known length, so the answers are exact, and a core that was minimised is minimal
//! for its depth.
//!
//! Claims that are not about single states are asked of a system made for them ([`gander_system::passes::pinned`]). A run there is longer than
//! the one that it stands for, by a number of steps that depends on the claim alone ([`further_steps`]); depths are those of
//! the runs of the model.

use gander_system::{ClaimKind, Goal};

use crate::explainer::{Explainer, Stop};
use crate::path::{Found, From, Wanted, WatchId};
use crate::set::PartSet;

/// What is known of a claim up to a depth.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bounded {
    /// A minimal set of parts from which no run of at most so many steps breaks it.
    Core(PartSet),
    /// The whole model has a run of at most so many steps that breaks it.
    Broken(u32),
    /// The time was over, or a solver gave up.
    Unknown,
}

/// By how many steps runs of the system that is made for a claim are longer: one where a state goal of several is met, and one
/// that asks whether a transition is enabled.
pub(crate) fn further_steps(kind: &ClaimKind) -> u32 {
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
    /// A minimal bounded core of depth `k`: no run of at most `k` steps breaks the claim (definition 5).
    pub fn bounded(&mut self, k: u32) -> Bounded {
        self.bounded_core(0, k).unwrap_or(Bounded::Unknown)
    }

    /// A minimal set of parts from which no run of exactly `k` steps breaks the claim: what the query of depth `k` rests on, as
    /// figures 5.10 and 5.17 show it. Shorter runs may need other parts.
    pub fn bounded_at(&mut self, k: u32) -> Bounded {
        self.bounded_core(k, k).unwrap_or(Bounded::Unknown)
    }

    fn bounded_core(&mut self, least: u32, k: u32) -> Result<Bounded, Stop> {
        let all = self.all();
        let further = self.longer;
        // No run that breaks the claim has fewer steps than that.
        let (least, k) = (least.saturating_add(further), k.saturating_add(further));
        let Some(property) = self.property else { return Ok(Bounded::Unknown) };
        let broken = [property];
        let mut core = PartSet::none(self.parts.len());
        for steps in least..=k {
            // What shorter runs need is preferred.
            for kept in [&core.clone(), &all] {
                let wanted = Wanted { kept, from: From::Start, steps, along: &[], broken: &broken };
                match self.ask(&wanted)? {
                    Found::None(grounds) => {
                        core = core.union(&grounds.parts);
                        break;
                    }
                    Found::Path if kept == &all => return Ok(Bounded::Broken(steps - further)),
                    Found::Unknown if kept == &all => return Ok(Bounded::Unknown),
                    Found::Path | Found::Unknown => {}
                }
            }
        }
        let rough = core.clone();
        self.within(&rough, |e| {
            for p in rough.iter() {
                if core.has(p)
                    && let Some(fewer) = e.bounded_grounds(&core.without(p), least, k)?
                {
                    core = fewer;
                }
            }
            Ok(Bounded::Core(core))
        })
    }

    /// The parts that refutations of all lengths use; none if some run breaks the claim.
    fn bounded_grounds(&mut self, kept: &PartSet, least: u32, k: u32) -> Result<Option<PartSet>, Stop> {
        let broken: Vec<WatchId> = self.property.into_iter().collect();
        let mut used = PartSet::none(self.parts.len());
        for steps in (least..=k).rev() {
            let wanted = Wanted { kept, from: From::Start, steps, along: &[], broken: &broken };
            let Found::None(grounds) = self.ask(&wanted)? else { return Ok(None) };
            used = used.union(&grounds.parts);
        }
        Ok(Some(used))
    }
}

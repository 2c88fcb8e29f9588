//! Events while a check runs, outcomes at its end.

use std::time::Duration;

use gander_certify::Basis;
use gander_system::{ClaimId, Evidence, Verdict};

use super::schedule::Schedule;

/// The certified answer to a claim, or what is known without one.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The claim.
    pub claim: ClaimId,
    /// The answer.
    pub verdict: Verdict,
    /// The engine that found it; empty if the claim is undecided.
    pub engine: String,
    /// Time from the beginning of the check.
    pub elapsed: Duration,
    /// Warnings for the reader of the verdict.
    pub warnings: Vec<String>,
    /// What the verdict rests on.
    pub basis: Basis,
    /// If the evidence is a finite run: true if no shorter run decides the claim, false if that is
    /// not known. The same for a lasso among lassos, by the steps to its loop and once around it.
    /// `None` for other evidence.
    pub shortest: Option<bool>,
}

/// [`Outcome::shortest`] of evidence from an unknown search: only a run without steps and a lasso
/// of one step are known to be shortest.
pub fn shortest_by_itself(verdict: &Verdict) -> Option<bool> {
    match verdict {
        Verdict::Holds(Evidence::Run(run) | Evidence::Recurrent { run, .. })
        | Verdict::Fails(
            Evidence::Run(run) | Evidence::Recurrent { run, .. } | Evidence::Impossible { run, .. },
        ) => Some(run.length() == 0),
        Verdict::Holds(Evidence::Lasso { run, .. })
        | Verdict::Fails(Evidence::Lasso { run, .. }) => Some(run.length() <= 1),
        _ => None,
    }
}

/// An engine's answer that failed certification, or an engine that panicked.
#[derive(Clone, Debug)]
pub struct InternalError {
    /// The claim; for a panic, the first claim that the engine was working on.
    pub claim: ClaimId,
    /// The engine.
    pub engine: String,
    /// The refused answer; `Unknown` for a panic.
    pub verdict: Verdict,
    /// What is wrong with it.
    pub problem: String,
}

/// An event of a running check.
#[derive(Clone, Debug)]
pub enum Event {
    /// The check was not settled on the calling thread; worker threads start. Sent at most once,
    /// before any progress.
    Working,
    /// A claim was settled with checked evidence.
    Settled(Outcome),
    /// An engine made progress.
    Progress {
        /// Which one.
        engine: String,
        /// The depth it has reached.
        depth: Option<u32>,
        /// In words, for example `depth 12`.
        text: String,
    },
    /// An engine published a fact.
    Fact {
        /// Which one.
        engine: String,
        /// The fact, in words.
        text: String,
    },
    /// An internal error.
    InternalError(InternalError),
}

/// Receives the events of a check, on the thread that runs it.
pub trait Observer: Sync {
    /// Receives an event.
    fn event(&self, e: &Event);
}

/// An observer that ignores all events.
#[derive(Clone, Copy, Debug)]
pub struct NullObserver;

impl Observer for NullObserver {
    fn event(&self, _: &Event) {}
}

/// The answers of a check.
#[derive(Clone, Debug, Default)]
pub struct CheckReport {
    /// One for each requested claim, in the order of the request.
    pub outcomes: Vec<Outcome>,
    /// Internal errors; empty in a correct run.
    pub internal_errors: Vec<InternalError>,
    /// Which engines ran, and why.
    pub schedule: Schedule,
    /// The time limit ended it before every claim was decided.
    pub out_of_time: bool,
}

impl CheckReport {
    /// Adds the answers of a later phase of the check, about claims that this one left open.
    pub(crate) fn add(&mut self, later: CheckReport) {
        for outcome in later.outcomes {
            if let Some(open) = self.outcomes.iter_mut().find(|o| o.claim == outcome.claim) {
                *open = outcome;
            }
        }
        self.internal_errors.extend(later.internal_errors);
        self.out_of_time |= later.out_of_time;
        self.schedule.add(later.schedule);
    }
}

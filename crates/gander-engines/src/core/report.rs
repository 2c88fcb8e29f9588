//! What a check says: events while it runs, outcomes at its end.

use std::time::Duration;

use gander_certify::Basis;
use gander_system::{ClaimId, Verdict};

use super::schedule::Schedule;

/// The certified answer to a claim, or what is known without one.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The claim.
    pub claim: ClaimId,
    /// The answer.
    pub verdict: Verdict,
    /// Who found it; empty if nobody did.
    pub engine: String,
    /// Time from the beginning of the check.
    pub elapsed: Duration,
    /// What the reader of the verdict should know.
    pub warnings: Vec<String>,
    /// What the verdict rests on.
    pub basis: Basis,
}

/// An engine's answer that did not pass its check, or an engine that broke.
#[derive(Clone, Debug)]
pub struct InternalError {
    /// The claim; for an engine that broke, the first that it was working on.
    pub claim: ClaimId,
    /// Whose answer it was.
    pub engine: String,
    /// The answer that was refused; `Unknown` for an engine that broke.
    pub verdict: Verdict,
    /// What is wrong with it.
    pub problem: String,
}

/// What a check tells while it runs.
#[derive(Clone, Debug)]
pub enum Event {
    /// The check was not settled at once: engines get threads of their own. Comes once at most, before any progress.
    Working,
    /// A claim was settled with checked evidence.
    Settled(Outcome),
    /// An engine got further.
    Progress {
        /// Which one.
        engine: String,
        /// How deep it is.
        depth: Option<u32>,
        /// In words, for example `depth 12`.
        text: String,
    },
    /// An engine found something that others can use.
    Fact {
        /// Who.
        engine: String,
        /// What, in words.
        text: String,
    },
    /// Something went wrong inside.
    InternalError(InternalError),
}

/// Who is told of events. It is called from the thread that runs the check.
pub trait Observer: Sync {
    /// Takes notice.
    fn event(&self, e: &Event);
}

/// An observer that does not look.
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
    /// What went wrong inside; empty if all is well.
    pub internal_errors: Vec<InternalError>,
    /// What ran, and why.
    pub schedule: Schedule,
}

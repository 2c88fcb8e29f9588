//! The numeric limits of loop acceleration.

use std::time::Duration;

/// See [`LIMITS`]. Values for which no reason is given were chosen by hand.
pub(super) struct Limits {
    /// Degree of a closed form as a polynomial in the number of rounds.
    pub degree: usize,

    /// Time for shortening a run that was found.
    pub shorten: Duration,

    /// Steps of a loop body.
    pub body_steps: usize,
    /// Loops that are learned.
    pub loops: usize,
    /// Steps that are remembered as seen.
    pub steps_seen: usize,
    /// Paths to a step unlike all before that are asked for at one depth.
    pub fresh_paths: u32,
    /// Time for one piece of work on a proof.
    pub proof_slice: Duration,
    /// Time for one query.
    pub query: Duration,
    /// Time for the question whether a loop can be taken twice.
    pub twice_query: Duration,

    /// Nesting of repetitions that is expanded.
    pub nesting: u32,
    /// Loops that are made of the same steps.
    pub alike: usize,

    /// Candidates for an invariant.
    pub candidates: usize,
    /// Variables that are compared with each other.
    pub compared: usize,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    degree: 3,
    shorten: Duration::from_millis(500),
    body_steps: 4,
    loops: 24,
    steps_seen: 200,
    fresh_paths: 6,
    proof_slice: Duration::from_millis(100),
    query: Duration::from_secs(5),
    twice_query: Duration::from_secs(1),
    nesting: 16,
    alike: 3,
    candidates: 600,
    compared: 12,
};

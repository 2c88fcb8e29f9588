//! The numeric limits of guided search.

use std::time::Duration;

/// See [`LIMITS`]. Values for which no reason is given were chosen by hand.
pub(super) struct Limits {
    /// Parts of a formula that the distance is summed over; larger formulas count as one part.
    pub formula_parts: usize,

    /// Time of one piece of work.
    pub slice: Duration,
    /// States of the shortest attempt.
    pub first_states: f64,
    /// Attempts of a round.
    pub attempts: u32,
    /// Factor by which each attempt of a round is longer than the one before.
    pub attempt_growth: f64,
    /// Rounds without success before the engine ends.
    pub rounds: u32,

    /// Start states of an attempt.
    pub starts: usize,
    /// Steps from one state that an attempt considers.
    pub steps: usize,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    formula_parts: 64,
    slice: Duration::from_millis(40),
    first_states: 500.0,
    attempts: 12,
    attempt_growth: 1.3,
    rounds: 12,
    starts: 64,
    steps: 2048,
};

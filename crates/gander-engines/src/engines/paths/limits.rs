//! The numeric limits of symbolic execution along paths.

use std::time::Duration;

/// See [`LIMITS`]. Values for which no reason is given were chosen by hand.
pub(super) struct Limits {
    /// Time for one question.
    pub query: Duration,
    /// Duration of one turn, approximately.
    pub turn: Duration,
    /// Paths that are kept.
    pub paths: usize,
    /// Symbolic states that an invariant is made of.
    pub invariant_states: usize,
    /// Depth to which depth-first search follows paths before others get a turn.
    pub first_depth: u32,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    query: Duration::from_secs(10),
    turn: Duration::from_millis(30),
    paths: 500_000,
    invariant_states: 1_000,
    first_depth: 64,
};

//! The numeric limits of bounds that solvers prove.

use std::time::Duration;

/// See [`LIMITS`]. Values for which no reason is given were chosen by hand.
pub(super) struct Limits {
    /// Time for the first attempt at a claim.
    pub first_attempt: Duration,
    /// Factor by which each further attempt is longer.
    pub attempt_growth: u32,
    /// Bounds on the length of runs that are conjectured.
    pub bounds: [u32; 8],
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    first_attempt: Duration::from_secs(1),
    attempt_growth: 4,
    bounds: [0, 1, 2, 4, 8, 16, 32, 64],
};

//! The numeric limits of Horn clauses.

use std::time::Duration;

/// See [`LIMITS`]. Values for which no reason is given were chosen by hand.
pub(super) struct Limits {
    /// Time for the first attempt at a claim.
    pub first_attempt: Duration,
    /// Factor by which each further attempt is longer.
    pub attempt_growth: u32,
    /// Time for one depth of the search for a run.
    pub run_query: Duration,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    first_attempt: Duration::from_secs(2),
    attempt_growth: 4,
    run_query: Duration::from_secs(10),
};

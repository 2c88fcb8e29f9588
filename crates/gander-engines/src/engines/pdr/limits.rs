//! The numeric limits of property-directed reachability.

use std::time::Duration;

/// See [`LIMITS`]. Values for which no reason is given were chosen by hand.
pub(super) struct Limits {
    /// Sums of literals that are tried for one lemma.
    pub sums: usize,

    /// Time for one claim before another one is worked on.
    pub slice: Duration,
    /// Claims that keep their solver session while another claim is worked on.
    pub sessions: usize,
    /// The terms of all claims take at most one part in this many of the memory of the engine.
    pub memory_share: u64,
    /// Time for one claim before it is set aside for another if there is no memory for both.
    pub set_aside_after: Duration,

    /// Constraints that are projected; more are fixed to the values of the model.
    pub constraints: usize,

    /// Time for one query.
    pub query: Duration,
    /// Formulas asserted in a session, besides 20 for each lemma, before the session is replaced.
    pub session_formulas: usize,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    sums: 30,
    slice: Duration::from_millis(50),
    sessions: 6,
    memory_share: 4,
    set_aside_after: Duration::from_secs(2),
    constraints: 2000,
    query: Duration::from_secs(10),
    session_formulas: 6000,
};

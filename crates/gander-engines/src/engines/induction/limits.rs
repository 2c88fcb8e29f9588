//! The numeric limits of k-induction.

use std::time::Duration;

/// See [`LIMITS`]. Values for which no reason is given were chosen by hand.
pub(super) struct Limits {
    /// Formulas to be checked of a system on which claims are conjectured to be inductive; larger
    /// systems go through the step case only.
    pub conjecture_obligations: usize,
    /// Variables of a system from which on ranges of ints are conjectured, however few claims there
    /// are. On smaller systems the step case is as fast.
    pub ranged_variables: usize,
    /// Open claims up to which the ranges that a claim needs are determined for each one. More
    /// claims share one invariant about all ranges, which is checked once.
    pub single_ranges: usize,
    /// Combinations of values that are tried to see that ranges exclude a formula.
    pub tried_values: usize,

    /// Time for one query of the step case. A candidate that takes longer is left for a deeper
    /// round.
    pub step_query: Duration,
    /// The same while several candidates are open and easy ones may be among them: so long does a
    /// hard candidate delay an easy one.
    pub brief_query: Duration,
    /// Depth from which loop-free runs are asked for.
    pub first_forward: u32,
    /// Depth up to which the step case is repeated with new lemmas.
    pub retried_depth: u32,
    /// Queries on which all solvers fail before deeper ones are not tried.
    pub failures: u32,
    /// Lemmas beyond which invariants of this engine are not read back from the blackboard.
    pub own_lemmas: usize,

    /// Depths by which other engines may lag behind before this engine searches for runs itself.
    pub base_lag: u32,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    conjecture_obligations: 5000,
    ranged_variables: 32,
    single_ranges: 64,
    tried_values: 64,
    step_query: Duration::from_secs(10),
    brief_query: Duration::from_millis(100),
    first_forward: 3,
    retried_depth: 3,
    failures: 12,
    own_lemmas: 64,
    base_lag: 2,
};

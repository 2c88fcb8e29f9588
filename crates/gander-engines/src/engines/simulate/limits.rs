//! The numeric limits of simulation.

use std::time::Duration;

/// See [`LIMITS`]. Values for which no reason is given were chosen by hand.
pub(super) struct Limits {
    /// Steps of the first piece of work.
    pub first_steps: u64,
    /// Steps of each further piece of work.
    pub steps: u64,
    /// Steps without a result before the engine ends.
    pub vain_steps: u64,
    /// Consecutive runs without a step before the engine ends.
    pub barren_runs: u32,
    /// Runs kept to be continued.
    pub runs: usize,
    /// States published on the blackboard.
    pub published: usize,

    /// Time for runs that cover transitions, for each open claim, and altogether.
    pub cover_time: (Duration, Duration),
    /// They go on beyond that time while the last answer is not older than this.
    pub cover_progress: Duration,
    /// Steps of these runs for each claim and transition.
    pub cover_steps: usize,
    /// A run ends after this many steps without progress: the first number, plus the second one
    /// for each transition that leaves the node.
    pub cover_steps_without_progress: (usize, usize),
    /// Runs without progress before the search ends.
    pub cover_runs: usize,
    /// Runs that are kept for later ones to branch off.
    pub cover_kept: usize,
    /// Values in the states of a run that is kept in memory.
    pub cover_values: usize,
    /// Values in the states of a proposed run.
    pub proposed_values: usize,
    /// A formula over more variables is evaluated only where a run ends.
    pub wide: usize,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    first_steps: 16,
    steps: 400,
    vain_steps: 300_000,
    barren_runs: 50,
    runs: 256,
    published: 64,
    cover_time: (Duration::from_millis(2), Duration::from_secs(3)),
    cover_progress: Duration::from_millis(200),
    cover_steps: 64,
    cover_steps_without_progress: (100, 8),
    cover_kept: 64,
    cover_runs: 400,
    cover_values: 4_000_000,
    proposed_values: 1_000_000,
    wide: 32,
};

//! The numeric limits of simulation.

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
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    first_steps: 16,
    steps: 400,
    vain_steps: 300_000,
    barren_runs: 50,
    runs: 256,
    published: 64,
};

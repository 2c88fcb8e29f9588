//! The numeric limits of concrete states.

/// See [`LIMITS`]. Values for which no reason is given were chosen by hand.
pub(in crate::concrete) struct Limits {
    /// First width of an int in a stored state. It grows when a value does not fit.
    pub int_first_bits: u32,

    /// Values of a finite sort that are enumerated for a choice.
    pub sort_values: u32,
    /// Values of an interval that are enumerated for a choice.
    pub interval_values: i64,
    /// Assumed number of values of an interval without constant ends, when choices are ordered.
    pub unknown_interval: u64,
    /// Choices made between two checks for cancellation.
    pub choices_between_checks: u64,

    /// States explored in one batch.
    pub batch_states: usize,
    /// Choices and steps of one batch, approximately.
    pub batch_work: u64,
    /// Disabled transitions that cost as much as one step in the estimate of a batch.
    pub disabled_per_step: u64,
    /// States of a batch that make a second thread worthwhile.
    pub states_per_thread: usize,
    /// Start states searched in the first piece of work.
    pub first_starts: usize,
    /// Factor by which the number of start states grows in each further piece of work. Start states
    /// cannot be found in pieces, so each search begins anew; with 4 that costs a third more in
    /// total.
    pub starts_growth: usize,

    /// Parts of a goal whose steps are counted.
    pub goal_parts: usize,

    /// Random choices of values for a start.
    pub start_tries: usize,
    /// Random choices of values for the parameters of a transition.
    pub param_tries: usize,
    /// Random choices of values for variables that an effect leaves open.
    pub next_tries: usize,

    /// Constants of the model, per sort, that random values are drawn from.
    pub sample_constants: usize,
    /// Int constants of the model that random reals are drawn from, too.
    pub sample_ints: usize,
    /// Literals that are searched for the values of a variable.
    pub sample_literals: usize,

    /// Terms of a system whose runs are made shorter. To compile more takes tenths of seconds.
    pub rerun_terms: usize,
    /// Steps of a run that is made shorter.
    pub rerun_steps: u64,
    /// Values in all states of such a run.
    pub rerun_values: u64,
    /// In a run of at most this many steps, every group of steps is tried; in a longer one, groups
    /// that do not overlap.
    pub rerun_every_place: usize,
    /// A whole number from this size on, or a fraction whose numerator times denominator is that
    /// large, is long to write.
    pub long_number: u64,
    /// Different long numbers of a run that are replaced.
    pub long_numbers: usize,
    /// Constants of the model near a number that are tried in its place.
    pub near_constants: usize,
    /// Digits behind the point of decimals that are tried.
    pub tried_decimals: usize,
    /// Convergents that are tried.
    pub tried_convergents: usize,
}

/// The limits in use.
pub(in crate::concrete) const LIMITS: Limits = Limits {
    int_first_bits: 8,
    sort_values: 1 << 16,
    interval_values: 1 << 24,
    unknown_interval: 1000,
    choices_between_checks: 1 << 12,
    batch_states: 1 << 14,
    batch_work: 1 << 17,
    disabled_per_step: 4,
    states_per_thread: 512,
    first_starts: 1 << 14,
    starts_growth: 4,
    goal_parts: 4096,
    start_tries: 200,
    param_tries: 12,
    next_tries: 24,
    sample_constants: 200,
    sample_ints: 6,
    sample_literals: 40,
    rerun_terms: 100_000,
    rerun_steps: 100_000,
    rerun_values: 2_000_000,
    rerun_every_place: 200,
    long_number: 100_000_000,
    long_numbers: 40,
    near_constants: 8,
    tried_decimals: 6,
    tried_convergents: 12,
};

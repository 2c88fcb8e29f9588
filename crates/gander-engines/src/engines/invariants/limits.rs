//! The numeric limits of the search for invariants.

use std::time::Duration;

/// See [`LIMITS`]. Values for which no reason is given were chosen by hand.
pub(super) struct Limits {
    /// Parts of a guard whose combinations are conditions; larger guards are taken whole and part
    /// by part.
    pub guard_parts: usize,
    /// Conditions of implications about copies.
    pub copy_conditions: usize,
    /// Constants of implications about copies.
    pub copy_constants: usize,
    /// Control variables of implications about copies.
    pub copy_control: usize,
    /// Implications about copies.
    pub copy_candidates: usize,
    /// Sampled states that meet a condition; with fewer the samples say little about it.
    pub rare_states: u32,
    /// Conditions for one conclusion that are taken although weaker ones are.
    pub chain: usize,
    /// Difference of two ints that is taken for a relation and not for an accident.
    pub copy_difference: i64,
    /// Difference of two counters that distinguishes phases: those of a sender and a receiver with
    /// channels of one package differ by 2 at most.
    pub phase_bound: i64,
    /// Pairs of counters whose differences are phases.
    pub phase_pairs: usize,

    /// Time of one piece of work.
    pub slice: Duration,
    /// Time for dropping candidates that follow from the others.
    pub redundancy_slice: Duration,
    /// Steps of simulation before the first round.
    pub first_steps: u64,
    /// Steps of simulation before each further round.
    pub more_steps: u64,
    /// Steps of one long run where rules copy variables.
    pub long_steps: u64,
    /// Time for the long run.
    pub long_slice: Duration,

    /// Values of an int term that counts as a mode.
    pub mode_values: usize,
    /// Literals that clauses of three are made of.
    pub clause_literals: usize,

    /// Coefficient of a linear equality; larger ones are accidents of the samples.
    pub coefficient: i32,
    /// Terms of a linear equality; larger ones are accidents of the samples.
    pub equality_terms: usize,
    /// Variables among which linear equalities are searched.
    pub equality_variables: usize,
    /// Sampled states from which linear equalities are computed.
    pub equality_states: usize,
    /// Bound of a difference or sum of two terms.
    pub difference: i32,

    /// Sampled states kept at a node.
    pub samples: usize,
    /// States at the beginning of a run that are all sampled; of the later ones every seventh is.
    pub dense_samples: u64,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    guard_parts: 4,
    copy_conditions: 800,
    copy_constants: 64,
    copy_control: 16,
    copy_candidates: 4000,
    rare_states: 8,
    chain: 2,
    copy_difference: 16,
    phase_bound: 2,
    phase_pairs: 6,
    slice: Duration::from_millis(100),
    redundancy_slice: Duration::from_millis(300),
    first_steps: 1500,
    more_steps: 1500,
    long_steps: 2500,
    long_slice: Duration::from_millis(400),
    mode_values: 8,
    clause_literals: 60,
    coefficient: 1000,
    equality_terms: 6,
    equality_variables: 24,
    equality_states: 300,
    difference: 100,
    samples: 1500,
    dense_samples: 40,
};

//! The numeric limits of backward search.

use std::time::Duration;

/// See [`LIMITS`]. Values for which no reason is given were chosen by hand.
pub(super) struct Limits {
    /// States that are searched at each node at the beginning.
    pub first_probes: usize,
    /// States that are searched at each node in total.
    pub probes: usize,
    /// Entries made after a run was found before the search for a shorter one ends.
    pub shorter_entries: usize,
    /// Time for the values of a step of a probe.
    pub probe_query: Duration,
    /// Time for the values of a start state or of a step of a run.
    pub run_query: Duration,

    /// Time for one question about inclusion. Without an answer the cube is kept.
    pub inclusion_query: Duration,
    /// Time for one question about inclusion with quantifiers.
    pub quantified_query: Duration,

    /// Cubes of a closure.
    pub closure_cubes: usize,
    /// Formulas that are tried as lemmas.
    pub lemma_trials: usize,
    /// Time for the question whether a closure has a start state.
    pub closure_query: Duration,

    /// Time for the question whether a cube has a start state.
    pub start_query: Duration,
    /// Duration of one turn, approximately.
    pub turn: Duration,
    /// Entries of the search.
    pub entries: usize,
    /// Groups of questions about unions of cubes for one arrival.
    pub unions: usize,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    first_probes: 2,
    probes: 32,
    shorter_entries: 2_000,
    probe_query: Duration::from_millis(100),
    run_query: Duration::from_secs(10),
    inclusion_query: Duration::from_secs(2),
    quantified_query: Duration::from_millis(300),
    closure_cubes: 6,
    lemma_trials: 400,
    closure_query: Duration::from_secs(2),
    start_query: Duration::from_secs(10),
    turn: Duration::from_millis(30),
    entries: 1_000_000,
    unions: 3,
};

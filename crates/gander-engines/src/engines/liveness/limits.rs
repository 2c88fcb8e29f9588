//! The numeric limits of liveness.

use std::time::Duration;

/// See [`LIMITS`]. Values for which no reason is given were chosen by hand.
pub(super) struct Limits {
    /// Layers of states from which the goal is reachable.
    pub layers: usize,
    /// Layers of an attempt with a ranking term, and of the first attempt without one.
    pub first_layers: usize,

    /// Candidate formulas.
    pub formulas: usize,
    /// Candidate ranks.
    pub ranks: usize,
    /// Candidate ranks whose sums and differences are candidates too.
    pub paired_ranks: usize,

    /// Variables of a system to which the fixpoint of `EG` is applied.
    pub eg_variables: usize,
    /// Moves of a system to which the fixpoint of `EG` is applied.
    pub eg_moves: usize,
    /// Polyhedra at a node.
    pub eg_polyhedra: usize,
    /// Iterations of the fixpoint of `EG`.
    pub eg_levels: usize,
    /// Rows of evidence.
    pub eg_rows: usize,
    /// Time during which the fixpoint of `EG` counts as new.
    pub eg_fresh: Duration,
    /// Pre-images during which it counts as new if one takes less than `eg_large_step`.
    pub eg_fresh_work: usize,
    /// Time of a pre-image that counts as large.
    pub eg_large_step: Duration,
    /// Polyhedra that another one is compared with before it becomes part of evidence.
    pub eg_compared: usize,
    /// Pre-images in a turn.
    pub eg_preimages: usize,

    /// Cases of a formula.
    pub eg_cases: usize,
    /// Nesting of a formula. Bounds the recursion.
    pub eg_depth: u32,

    /// Steps of the walk that looks for a lasso.
    pub eg_walk_steps: usize,

    /// States of the graph in which fair cycles are searched.
    pub cycle_states: usize,
    /// Variables of a system whose states are explored for fair cycles.
    pub cycle_variables: usize,
    /// Batches of the exploration in a turn.
    pub cycle_pieces: usize,

    /// Example steps from which coefficients of a rank are learned.
    pub rank_examples: usize,
    /// Absolute value of a coefficient of a rank.
    pub rank_coefficient: i64,
    /// Absolute value of the constant of a rank.
    pub rank_constant: i64,
    /// Unknown coefficients of all ranks together.
    pub rank_unknowns: usize,

    /// Time of the first nested check of a question.
    pub first_slice: Duration,
    /// Factor by which each further nested check is longer.
    pub slice_growth: u32,
    /// Steps of a run whose states are computed.
    pub run_steps: u64,

    /// Time for one question.
    pub query: Duration,

    /// Iterations of the fixpoint of a recurrent set.
    pub recurrent_rounds: usize,
    /// Terms of the formulas of a recurrent set.
    pub recurrent_terms: usize,
    /// First guesses of a recurrent set that are tried in one piece of work.
    pub recurrent_guesses: usize,

    /// Bounds on rounds that are tried.
    pub rounds: u32,
    /// Time during which the search for fair cycles runs alone.
    pub cycles_alone: Duration,
    /// The fixpoint of `EG` may use this many times as much time as the others.
    pub eg_share: u32,
    /// The search for lassos may use this many times as much time as the others.
    pub lasso_share: u32,

    /// Facts that are taken from the blackboard.
    pub support_facts: usize,
    /// Time for dropping candidates that are not inductive.
    pub support_query: Duration,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    layers: 2_000,
    first_layers: 8,
    formulas: 60,
    ranks: 80,
    paired_ranks: 16,
    eg_variables: 24,
    eg_moves: 500,
    eg_polyhedra: 300,
    eg_levels: 1_000,
    eg_rows: 100_000,
    eg_fresh: Duration::from_millis(100),
    eg_fresh_work: 8_000,
    eg_large_step: Duration::from_millis(1),
    eg_compared: 100,
    eg_preimages: 400,
    eg_cases: 100,
    eg_depth: 100,
    eg_walk_steps: 400,
    cycle_states: 200_000,
    cycle_variables: 100,
    cycle_pieces: 8,
    rank_examples: 80,
    rank_coefficient: 64,
    rank_constant: 100_000,
    rank_unknowns: 120,
    first_slice: Duration::from_millis(100),
    slice_growth: 3,
    run_steps: 1_000_000,
    query: Duration::from_secs(2),
    recurrent_rounds: 6,
    recurrent_terms: 2_000,
    recurrent_guesses: 4,
    rounds: 1 << 20,
    cycles_alone: Duration::from_millis(100),
    eg_share: 4,
    lasso_share: 3,
    support_facts: 40,
    support_query: Duration::from_secs(5),
};

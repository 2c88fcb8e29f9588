//! The numeric limits of the arithmetic modules.

/// See [`LIMITS`].
pub(super) struct Limits {
    /// Subterms visited to read one linear form. Bounds the unfolding of shared subterms. Chosen by
    /// hand, far above the sums of real models.
    pub linear_visits: usize,

    /// Disjuncts of a disjunctive form in elimination. Chosen by hand; a larger form costs a solver
    /// more than the quantifier.
    pub eliminate_disjuncts: usize,
    /// Nesting of formulas that elimination takes apart. Bounds the recursion.
    pub eliminate_depth: u32,
    /// Values of a finite sort that elimination expands. Chosen by hand.
    pub eliminate_values: u32,
    /// Terms that one elimination makes. The expansion of truth values can double a formula with
    /// each variable. Chosen by hand.
    pub eliminate_terms: usize,
    /// Subterms visited to take one formula apart. Shared subterms are visited repeatedly. Chosen
    /// by hand.
    pub eliminate_visits: usize,

    /// Intervals in a union. Larger unions become coarser. Chosen by hand.
    pub pieces: usize,
    /// Nesting of formulas that unions of intervals are read from. Bounds the recursion.
    pub pieces_depth: u32,

    /// Exact raises of an octagon's bound before it is raised to a threshold, and then given up.
    /// Chosen by hand.
    pub octagon_exact_raises: u8,

    /// Rows of a polyhedron. Fourier-Motzkin projection squares their number at worst. Chosen by
    /// hand.
    pub polyhedron_rows: usize,
    /// Points of a polyhedron that are kept to refute inclusions quickly. Chosen by hand.
    pub polyhedron_points: usize,

    /// Rounds of the range analysis before ends that move are widened. Chosen by hand.
    pub range_exact_rounds: usize,
    /// Rounds after which the range analysis gives up. Each widens at least one end, mostly all
    /// that move. Chosen by hand.
    pub range_rounds: usize,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    linear_visits: 10_000,
    eliminate_disjuncts: 64,
    eliminate_depth: 100,
    eliminate_values: 32,
    eliminate_terms: 20_000,
    eliminate_visits: 20_000,
    pieces: 64,
    pieces_depth: 60,
    octagon_exact_raises: 2,
    polyhedron_rows: 200,
    polyhedron_points: 12,
    range_exact_rounds: 4,
    range_rounds: 24,
};

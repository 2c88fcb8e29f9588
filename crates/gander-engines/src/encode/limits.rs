//! The numeric limits of the encoding.

/// See [`LIMITS`]. Values for which no reason is given were chosen by hand.
pub(super) struct Limits {
    /// Bytes of a term in a pool, tables included, for estimates of memory.
    pub bytes_of_term: u64,
    /// Bytes of a symbol in a pool, tables included, for estimates of memory.
    pub bytes_of_symbol: u64,

    /// Formulas that all quantifiers of a system together are instantiated to.
    pub instances: usize,

    /// Disjuncts that a formula is split into before its choices are eliminated.
    pub disjuncts: usize,
    /// Simplified terms that are cached.
    pub simplified_terms: usize,

    /// Printed formulas that are cached.
    pub templates: usize,

    /// Nodes and transitions of a control graph whose models are read with one request.
    pub small_graph: usize,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    bytes_of_term: 80,
    bytes_of_symbol: 250,
    instances: 20_000,
    disjuncts: 16,
    simplified_terms: 200_000,
    templates: 20_000,
    small_graph: 40,
};

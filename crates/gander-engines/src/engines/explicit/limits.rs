//! The numeric limits of explicit-state search.

/// See [`LIMITS`]. Values for which no reason is given were chosen by hand.
pub(super) struct Limits {
    /// Claims that are explored one by one because some states need not be explored for them; if
    /// there are more, all claims share one exploration.
    pub single_claims: usize,
    /// Independent parts of a system beyond which it can hardly be explored completely: 40 parts
    /// have 2^40 states or more, if no assumption couples them.
    pub parts: usize,
    /// One part in this many of the memory is used for such a system.
    pub memory_of_product: u64,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits { single_claims: 4, parts: 40, memory_of_product: 32 };

//! The numeric limits of explicit-state search.

/// See [`LIMITS`]. Values for which no reason is given were chosen by hand.
pub(super) struct Limits {
    /// Claims that are explored one by one because some states need not be explored for them; if
    /// there are more, all claims share one exploration.
    pub single_claims: usize,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits { single_claims: 4 };

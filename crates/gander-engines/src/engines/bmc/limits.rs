//! The numeric limits of bounded model checking.

use std::time::Duration;

/// See [`LIMITS`]. Values for which no reason is given were chosen by hand.
pub(super) struct Limits {
    /// Time for the first attempt at a query; each further attempt has four times as much.
    pub first_query: Duration,
    /// Claims too hard together that are tried one by one. More claims are divided into parts
    /// first, as each part has terms of its own.
    pub one_by_one: usize,
    /// Parts that claims are divided into.
    pub parts: usize,
}

/// The limits in use.
pub(super) const LIMITS: Limits =
    Limits { first_query: Duration::from_secs(10), one_by_one: 16, parts: 4 };

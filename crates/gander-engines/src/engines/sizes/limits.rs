//! The numeric limits of small sizes.

use std::time::Duration;

/// See [`LIMITS`]. Values for which no reason is given were chosen by hand.
pub(super) struct Limits {
    /// Sizes that are tried, in this order.
    pub sizes: [i64; 4],
    /// Time for one query.
    pub query: Duration,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits { sizes: [2, 3, 1, 4], query: Duration::from_secs(5) };

//! The numeric limits of indexed invariants.

use std::time::Duration;

/// See [`LIMITS`]. Values were chosen by hand.
pub(super) struct Limits {
    /// Sizes whose states are sampled, in this order.
    pub sizes: [i64; 4],
    /// Start states for each size.
    pub starts: usize,
    /// States sampled for each size.
    pub states: usize,
    /// Time for sampling one size.
    pub sampling: Duration,
    /// Values that are tried for a parameter that is no index.
    pub values: usize,
    /// Choices of parameters that are tried in one state.
    pub choices: usize,
    /// Enumerations with more values give no predicates.
    pub variants: usize,
    /// Predicates about no instance, and about one.
    pub predicates: usize,
    /// Predicates about two instances.
    pub pairs: usize,
    /// Candidates.
    pub candidates: usize,
    /// Ground terms at which quantifiers are instantiated.
    pub terms: usize,
    /// Instances of one quantifier.
    pub instances: usize,
    /// Time for one query.
    pub query: Duration,
    /// How often answers that were not accepted are conjectured again.
    pub rounds: u32,
    /// Time before the first of these rounds; each further one takes twice the time.
    pub again: Duration,
    /// Time between two looks at the clock.
    pub pause: Duration,
}

/// The limits in use.
pub(super) const LIMITS: Limits = Limits {
    sizes: [3, 2, 1, 4],
    starts: 4,
    states: 400,
    sampling: Duration::from_millis(400),
    values: 3,
    choices: 256,
    variants: 16,
    predicates: 40,
    pairs: 12,
    candidates: 600,
    terms: 7,
    instances: 150,
    query: Duration::from_secs(5),
    rounds: 5,
    again: Duration::from_millis(500),
    pause: Duration::from_millis(5),
};

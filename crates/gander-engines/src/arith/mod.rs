//! Linear integer arithmetic without solvers: elimination, intervals, octagons, ranges of variables.
//!
//! Invariant: nothing here imports another module of this crate.

pub(crate) mod eliminate;
pub(crate) mod intervals;
pub(crate) mod octagon;
pub(crate) mod ranges;

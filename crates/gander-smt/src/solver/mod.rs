//! Solver programs: what they support, where they are found, and whether they agree with the
//! evaluator.

pub(crate) mod conformance;
pub(crate) mod dialect;
pub(crate) mod registry;
mod version;

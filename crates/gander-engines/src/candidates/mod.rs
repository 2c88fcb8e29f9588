//! Candidates for invariants: their terms, octagon bounds, and the filter that keeps those that are
//! inductive together (Houdini).

pub(crate) mod candidate;
pub(crate) mod candidate_terms;
pub(crate) mod houdini;
mod limits;
pub(crate) mod octagon_analysis;

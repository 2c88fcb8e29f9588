//! Formulas that may be invariants: where they come from, and which of them are inductive together (Houdini).

pub(crate) mod candidate;
pub(crate) mod candidate_terms;
pub(crate) mod houdini;
pub(crate) mod octagon_analysis;

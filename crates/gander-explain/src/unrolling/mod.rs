//! Unrolled paths of a system and its relaxations, as solver queries.
//!
//! - [`constraints`]: what starts, states and steps of the system satisfy, one constraint for each
//!   element;
//! - [`cone`]: the constraints that a formula depends on;
//! - [`path`]: queries about paths of a given length, in one solver session;
//! - [`witness`]: paths that violate the claim, checked by evaluation.

pub(crate) mod cone;
pub(crate) mod constraints;
pub(crate) mod path;
pub(crate) mod witness;

//! What the languages that are written like SMT-LIB share: VMT, Horn clauses and MCMT.
//!
//! [`tree`] reads S-expressions, [`terms`] makes terms of them, [`relation`] takes a formula over two states apart into
//! guards, assignments and constraints. Nothing recurses over the input.

pub(crate) mod functions;
pub(crate) mod relation;
pub(crate) mod terms;
pub(crate) mod tree;

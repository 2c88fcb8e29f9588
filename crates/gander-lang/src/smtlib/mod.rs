//! What the languages that are written like SMT-LIB share: VMT, Horn clauses and MCMT.
//!
//! [`terms`] reads S-expressions and terms ([`gander_term::smtlib`]) and reports problems,
//! [`relation`] takes a formula over two states apart into guards, assignments and constraints.
//! Nothing recurses over the input.

mod datatypes;
pub(crate) mod relation;
pub(crate) mod terms;

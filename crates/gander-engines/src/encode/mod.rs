//! Systems and claims as formulas for solvers: encodings, unrollings, reachability questions,
//! targets, queries.
//!
//! Invariant: nothing here imports an engine or the director.

pub(crate) mod abstraction;
pub(crate) mod batch;
pub(crate) mod encoding;
pub(crate) mod forward_search;
pub(crate) mod horn_clauses;
mod limits;
pub(crate) mod narrowing;
pub(crate) mod projection;
pub(crate) mod query;
pub(crate) mod question;
pub(crate) mod targets;
pub(crate) mod unrolling;
pub(crate) mod view;

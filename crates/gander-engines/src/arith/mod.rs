//! Arithmetic without solvers. Each notion has one module:
//!
//! | module | what it has |
//! |---|---|
//! | [`number`] | values as rational numbers and back; divisors and remainders |
//! | [`linear`] | sums of terms and constraints on them, read from terms and written as terms |
//! | [`polyhedron`] | conjunctions of integer rows: simplex, inclusion, projection |
//! | [`echelon`] | Gaussian elimination |
//! | [`eliminate`] | elimination of existential quantifiers from formulas |
//! | [`interval`] | intervals of numbers |
//! | [`pieces`] | unions of intervals whose ends are terms |
//! | [`octagon`] | the octagon domain |
//! | [`ranges`] | ranges of the variables of a system |
//!
//! Invariant: nothing here imports another module of this crate, and nothing here is shared with
//! the checker, which has its own linear arithmetic (`gander-linear`, `gander-proof`).

pub(crate) mod echelon;
pub(crate) mod eliminate;
pub(crate) mod interval;
mod limits;
pub(crate) mod linear;
pub(crate) mod number;
pub(crate) mod octagon;
pub(crate) mod pieces;
pub(crate) mod polyhedron;
pub(crate) mod ranges;

//! Sorts, exact values and interned typed terms.
//!
//! A [`Pool`] owns terms; a [`TermId`] is a `Copy` handle into it. [`Pool::mk`] builds any term and checks its sorts;
//! the constructors of the `build` module are shorthands that simplify on the way. No solver owns a term.
//!
//! Bit-vectors: [`Sort::BitVec`] of a [`Width`], values [`BitVec`], operators [`BvOp`] as [`Op::Bv`], constants by
//! [`Pool::bits`], terms by [`Pool::bv`] or, from a user, by [`Pool::mk`].
//!
//! Arrays: [`Sort::Array`] made by [`Pool::array_sort`], values [`ArrayValue`], operators [`Op::Select`], [`Op::Store`] and
//! [`Op::ConstArray`].
//!
//! What can be done with terms: [`Pool::free_symbols`], [`Pool::features`], [`Pool::substitute`], [`Pool::import`],
//! [`Pool::simplify`], [`evaluate`] and [`Program`], [`Pool::display`] and [`parse_term`]. Where many terms are treated
//! alike, [`Substitution`], [`Importer`] and [`Simplifier`] remember what they have seen.
//!
//! Invariants of this crate:
//! - every term in a pool is well-sorted;
//! - equal terms of one pool have equal ids, and ids do not depend on anything but the order of construction;
//! - children have smaller ids than their parents;
//! - nothing recurses over terms, so depth is limited by memory only.

mod array;
mod bits;
mod build;
pub mod eval;
mod import;
mod inspect;
mod op;
mod pool;
#[doc(hidden)]
pub mod random;
mod simplify;
mod sort;
mod store;
mod substitute;
mod text;
mod value;

pub use array::{ArraySort, ArrayValue};
pub use bits::{BitVec, BvOp, Width};
pub use eval::{EvalError, Program, Scratch, evaluate};
pub use import::Importer;
pub use inspect::Features;
pub use op::{Op, SortError};
pub use pool::{NameClash, Pool, Symbol, SymbolId, TermId, ValueId};
pub use simplify::Simplifier;
pub use sort::{EnumId, Enumeration, Sort};
pub use substitute::Substitution;
pub use text::{ParseError, parse_term, parse_value};
pub use value::{IBig, RBig, Value};

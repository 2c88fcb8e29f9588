//! Sorts, exact values and interned typed terms.
//!
//! A [`Pool`] owns terms; a [`TermId`] is a `Copy` handle into it. [`Pool::mk`] builds any term and
//! checks its sorts. The constructors of the `build` module ([`Pool::and`], [`Pool::le`], ...)
//! simplify, and panic on ill-sorted arguments. No solver owns a term.
//!
//! ```
//! use gander_term::{Pool, Sort, Value, evaluate, parse_term};
//!
//! let mut pool = Pool::new();
//! let x = pool.declare("x", Sort::Int).unwrap();
//! let t = parse_term(&mut pool, "0 <= x and x + 1 <= 10").unwrap();
//! assert_eq!(pool.display(t).to_string(), "0 <= x and x + 1 <= 10");
//!
//! // Equal terms have equal ids.
//! assert_eq!(parse_term(&mut pool, "0 <= x and x + 1 <= 10").unwrap(), t);
//!
//! let simple = pool.simplify(t);
//! assert_eq!(pool.display(simple).to_string(), "x <= 9 and x >= 0");
//!
//! let value = evaluate(&pool, t, &|s| (s == x).then(|| Value::int(9))).unwrap();
//! assert_eq!(value, Value::Bool(true));
//! ```
//!
//! Operations on terms: [`Pool::free_symbols`], [`Pool::features`], [`Pool::substitute`],
//! [`Pool::import`], [`Pool::simplify`], [`evaluate`] and [`Program`], [`Pool::display`] and
//! [`parse_term`]. [`Substitution`], [`Importer`] and [`Simplifier`] process many terms and treat
//! shared subterms once.
//!
//! Bit-vectors: [`Sort::BitVec`] of a [`Width`], values [`BitVec`], operators [`BvOp`] in
//! [`Op::Bv`], constants by [`Pool::bits`], terms by [`Pool::bv`].
//!
//! Arrays: [`Sort::Array`] made by [`Pool::array_sort`], values [`ArrayValue`], operators
//! [`Op::Select`], [`Op::Store`] and [`Op::ConstArray`].
//!
//! Invariants of this crate:
//! - every term in a pool is well-sorted;
//! - equal terms of one pool have equal ids, and an id depends only on the order of construction;
//! - children have smaller ids than their parents;
//! - no function recurses over terms, so depth is limited by memory only;
//! - parsing a printed term gives the same term.
mod array;
mod bits;
pub mod eval;
mod op;
mod pool;
#[doc(hidden)]
pub mod random;
mod simplify;
pub mod smtlib;
mod sort;
mod text;
mod value;

pub use array::{ArraySort, ArrayValue};
pub use bits::{BitVec, BvOp, Width};
pub use eval::{EvalError, Program, Scratch, evaluate};
pub use op::{Op, SortError};
pub use pool::import::Importer;
pub use pool::inspect::Features;
pub use pool::substitute::Substitution;
pub use pool::{NameClash, Pool, Symbol, SymbolId, TermId, ValueId};
pub use simplify::Simplifier;
pub use sort::{EnumId, Enumeration, Sort};
pub use text::{ParseError, parse_term, parse_value};
pub use value::{IBig, RBig, Value};

//! Evaluation of terms under an assignment of values to free symbols.
//!
//! Two implementations that must agree: [`evaluate`] for single evaluations, and [`Program`] for
//! the inner loops of engines. All operators are total, and evaluation is strict: both branches of
//! `if` are evaluated. [`EvalError`] lists the ways in which evaluation can fail.
//!
//! Quantifiers are evaluated by enumeration when every bound symbol that occurs in the body has a
//! finite sort, or is an int with a lower and an upper bound in the body (see the `domain` module).

mod apply;
mod cell;
mod compile;
mod domain;
mod program;
mod simple;

use std::fmt;

use crate::pool::{Pool, SymbolId};

pub use apply::apply;
pub(crate) use apply::is_negative;
pub use program::{Program, Scratch};
pub use simple::evaluate;

/// The number of bits in a numerator or denominator; a larger result is an error.
pub const MAX_BITS: usize = 1_000_000;

/// The number of bytes in a string; a longer result is an error.
pub const MAX_STRING_BYTES: usize = 1 << 20;

/// The number of exceptions in an array; a result with more is an error, as is one above the size
/// limit of [`ArrayValue`].
///
/// [`ArrayValue`]: crate::ArrayValue
pub const MAX_ARRAY_EXCEPTIONS: usize = 1 << 16;

/// The number of evaluations of quantifier bodies in one evaluation.
pub const MAX_INSTANCES: u64 = 1 << 20;

/// The nesting depth of quantifiers that evaluation supports.
const MAX_QUANTIFIER_DEPTH: usize = 16;

/// Why the value of a term cannot be computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EvalError {
    /// A free symbol has no value.
    Unassigned(SymbolId),
    /// A symbol was given a value of another sort.
    WrongSort(SymbolId),
    /// A quantifier ranges over infinitely many values, or over too many.
    Unbounded,
    /// A number, string or array exceeds a limit of this module.
    TooLarge,
}

impl EvalError {
    /// The error in words, with the names of `pool`.
    pub fn describe(self, pool: &Pool) -> String {
        match self {
            EvalError::Unassigned(s) => format!("`{}` has no value", pool.symbol(s).name),
            EvalError::WrongSort(s) => {
                let symbol = pool.symbol(s);
                format!("the value of `{}` is not of sort {}", symbol.name, symbol.sort.name(pool))
            }
            other => other.to_string(),
        }
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::Unassigned(s) => write!(f, "symbol {} has no value", s.index()),
            EvalError::WrongSort(s) => {
                write!(f, "symbol {} was given a value of another sort", s.index())
            }
            EvalError::Unbounded => f.write_str("a quantifier ranges over too many values to try"),
            EvalError::TooLarge => f.write_str("a number, string or array is too large to compute"),
        }
    }
}

impl std::error::Error for EvalError {}

#[cfg(test)]
mod tests;

//! Evaluation of terms under an assignment of values to free symbols.
//!
//! Two forms that must agree: [`evaluate`] for one-off use, and [`Program`] for the inner loops of engines. All
//! operators are total, so evaluation is strict: both branches of `if` are evaluated. What can fail is named by
//! [`EvalError`].
//!
//! Quantifiers are enumerated when every bound symbol that occurs in the body has a finite sort, or is an int between
//! two bounds that the body itself states (see the `domain` module).

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

/// Numbers with more bits in numerator or denominator are not computed.
pub const MAX_BITS: usize = 1_000_000;

/// Strings with more bytes are not computed.
pub const MAX_STRING_BYTES: usize = 1 << 20;

/// Arrays with more exceptions from their default are not computed, nor those that are larger than an [`ArrayValue`] can be.
///
/// [`ArrayValue`]: crate::ArrayValue
pub const MAX_ARRAY_EXCEPTIONS: usize = 1 << 16;

/// The number of times that one evaluation evaluates the bodies of quantifiers.
pub const MAX_INSTANCES: u64 = 1 << 20;

/// Quantifiers inside quantifiers are followed this deep.
const MAX_QUANTIFIER_DEPTH: usize = 16;

/// Why a term has no value that we can compute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EvalError {
    /// A free symbol has no value.
    Unassigned(SymbolId),
    /// A symbol was given a value of another sort.
    WrongSort(SymbolId),
    /// A quantifier ranges over infinitely many values, or over too many.
    Unbounded,
    /// A number, string or array is larger than we compute.
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
            EvalError::WrongSort(s) => write!(f, "symbol {} was given a value of another sort", s.index()),
            EvalError::Unbounded => f.write_str("a quantifier ranges over too many values to try"),
            EvalError::TooLarge => f.write_str("a number, string or array is too large to compute"),
        }
    }
}

impl std::error::Error for EvalError {}

#[cfg(test)]
mod tests;

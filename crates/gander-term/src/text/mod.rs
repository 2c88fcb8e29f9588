//! The text form of terms and values: printed, and parsed back to the same term.
//!
//! Precedence, tightest first: `-x`; `^`; `* / div mod`; `+ - ++`; `not`; `< <= > >=`; `== !=`;
//! `and`; `or`; `->` (to the right); `<->`; then `if c then a else b` and `forall x: int. P`, which
//! reach as far right as they can. The parser also reads `! && || % = implies`.
//!
//! Distinct terms with the same meaning have distinct texts:
//! - `a and b and c` is one `and` of three; `(a and b) and c` is two of two. Likewise `or + * ++`.
//! - `-3` is a constant, `-(3)` is unary minus on a constant. `3` is an int, `3.0` the real.
//! - `1/3` without spaces is the constant, `1.0 / 3.0` is a division.
//! - `a <-> b` is `==` on bools; `a != b` is `not` over `==`.
//! - `5u8` is the bit-vector 5 of 8 bits; the sort is `bits8`. Operators on bit-vectors are
//!   functions with the names of SMT-LIB 2.7, parameters first: `bvadd(x, y)`, `extract(7, 0, x)`,
//!   `zero_extend(4, x)`, `int_to_bv(8, n)`.
//! - `a[i]` is the element of an array, `a[i := v]` the array with another element there,
//!   `array[int](v)` the array that is `v` everywhere. `array[int]{1: 5, else: 0}` is a constant;
//!   the sort is `array[int] of int`.
//! - `Status.Open` is a constant of an enumeration. A symbol whose name would be read as something
//!   else is put in backquotes.
//! - A symbol's name may contain dots and end in primes: `a.balance'`. Fresh names like `x~3` are
//!   plain, too.

mod lexer;
mod names;
mod parse;
mod print;
mod value;

use std::fmt;

pub use parse::parse_term;
pub use value::parse_value;

/// A text is not a term or value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// Where in the text, in bytes.
    pub offset: usize,
    /// What is wrong.
    pub message: String,
}

impl ParseError {
    fn new(offset: usize, message: impl Into<String>) -> ParseError {
        ParseError { offset, message: message.into() }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.message)
    }
}

impl std::error::Error for ParseError {}

#[cfg(test)]
mod tests;

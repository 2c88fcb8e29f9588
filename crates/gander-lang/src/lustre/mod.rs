//! Lustre, as JKind and Kind 2 users write it. docs/lustre.md has the meaning of every construct.
//!
//! The pipeline is text, tokens ([`lexer`]), abstract syntax ([`parser`] makes [`ast`]).

pub mod ast;
pub mod lexer;
pub mod parser;

pub use parser::{Parsed, parse};

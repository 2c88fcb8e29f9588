//! Lustre, as JKind and Kind 2 users write it. docs/lustre.md has the meaning of every construct.
//!
//! The pipeline is text, tokens ([`lexer`]), abstract syntax ([`parser`] makes [`ast`]), systems ([`load`]).

pub mod ast;
mod elaborate;
pub mod lexer;
pub mod parser;

pub use parser::{Parsed, parse};

/// Reads a Lustre text: the system of the first root node, and those of the others.
pub fn load(text: &str, _file_name: &str) -> crate::Loaded {
    let Parsed { file, diagnostics } = parse(text);
    elaborate::elaborate(&file, text, diagnostics)
}

//! Lustre, as JKind and Kind 2 users write it. docs/lustre.md has the meaning of every construct.
//!
//! The pipeline is text, tokens ([`lexer`]), abstract syntax ([`parser`] makes [`ast`]), systems ([`load`]).

pub mod ast;
mod elaborate;
mod include;
pub mod lexer;
mod modules;
pub mod parser;

pub use include::{IncludeReader, Included, Part, Program, with_included};
pub use modules::{ClaimRole, ClaimSource, Module, Modules};
pub use parser::{Parsed, parse};

/// Reads a Lustre text: the system of the first root node, and those of the others.
pub fn load(text: &str, _file_name: &str) -> crate::Loaded {
    let Parsed { file, diagnostics } = parse(text);
    let mut loaded = elaborate::elaborate(&file, text, diagnostics);
    if loaded.system.is_some() {
        loaded.modules = Some(Modules::new(file, text));
    }
    loaded
}

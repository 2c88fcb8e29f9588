//! Lustre as accepted by JKind and Kind 2. docs/lustre.md gives the meaning of every construct.
//!
//! The pipeline: text, tokens ([`lexer`]), abstract syntax ([`parser`] builds [`ast`]), systems
//! ([`load`]; the module `elaborate` documents where each construct gets its meaning).

pub mod ast;
mod elaborate;
mod include;
pub mod lexer;
mod modules;
pub mod parser;

pub use include::{IncludeReader, Included, Part, Program, with_included};
pub use modules::{CallGraphNode, ClaimRole, ClaimSource, Module, Modules};
pub use parser::{Parsed, parse};

/// Reads a Lustre text: the system of the first root node, and those of the other roots.
pub fn load(text: &str, _file_name: &str) -> crate::Loaded {
    load_with(text, Conditionals::Simplified)
}

/// How conditional expressions between truth values become terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Conditionals {
    /// With connectives where a branch is constant: `if c then true else d` as `c or d`.
    #[default]
    Simplified,
    /// As conditional expressions, so that their branches can be told apart.
    AsWritten,
}

/// [`load`] with a choice of terms for conditional expressions. The systems have the same runs.
pub fn load_with(text: &str, conditionals: Conditionals) -> crate::Loaded {
    let Parsed { file, diagnostics } = parse(text);
    let mut loaded = elaborate::elaborate(&file, text, diagnostics, conditionals);
    if loaded.system.is_some() {
        loaded.modules = Some(Modules::new(file, text));
    }
    loaded
}

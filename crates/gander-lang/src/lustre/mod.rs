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

use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;

pub use include::{IncludeReader, Included, Part, Program, with_included};
pub use modules::{CallGraphNode, ClaimRole, ClaimSource, Module, Modules};
pub use parser::{Parsed, parse};

/// Reads a Lustre text: the system of the first root node, and those of the other roots.
pub fn load(text: &str, _file_name: &str) -> crate::Loaded {
    load_with(text, &LoadOptions::default())
}

/// How a program is loaded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LoadOptions {
    /// How conditional expressions become terms.
    pub conditionals: Conditionals,
    /// The only root node, in place of those that the text marks or that no node calls.
    pub main: Option<String>,
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

/// [`load`] with options.
pub fn load_with(text: &str, options: &LoadOptions) -> crate::Loaded {
    let Parsed { mut file, mut diagnostics } = parse(text);
    if let Some(name) = &options.main {
        match main(&file, name) {
            Ok(word) => file.main = Some(word),
            Err(diagnostic) => diagnostics.push(*diagnostic),
        }
    }
    let mut loaded = elaborate::elaborate(&file, text, diagnostics, options.conditionals);
    if loaded.system.is_some() {
        loaded.modules = Some(Modules::new(file, text));
    }
    loaded
}

/// The node with this name, as a root.
fn main(file: &ast::File, name: &str) -> Result<ast::Word, Box<Diagnostic>> {
    let nodes = || {
        file.items.iter().filter_map(|item| match item {
            ast::Item::Node(node) => Some(node),
            _ => None,
        })
    };
    let Some(node) = nodes().find(|n| file.text(n.name.word) == name) else {
        let message = format!("there is no node `{name}` to be the root");
        let with_body = nodes().filter(|n| !n.imported).map(|n| file.text(n.name.word));
        let near = nearest(name, with_body);
        let diagnostic = Diagnostic::new(Code::E1304, Span::at(0), message);
        return Err(Box::new(diagnostic.did_you_mean(near)));
    };
    if node.imported {
        let message = format!("`{name}` has no body, so it cannot be the root");
        return Err(Box::new(Diagnostic::new(Code::E1304, node.name.span, message)));
    }
    Ok(node.name.word)
}

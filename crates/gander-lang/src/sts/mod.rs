//! The `.sts` language for specifications of symbolic transition systems.
//!
//! The pipeline: text, tokens ([`lexer`]), lossless tree ([`parser`]), checked and lowered system
//! (`check`). docs/language.md is the reference.

mod allow;
mod check;
mod format;
pub mod lexer;
pub mod parser;
pub mod syntax;
pub(crate) mod tree;

use allow::allowances;
pub use format::format;
pub use parser::{Parse, parse};

use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::language::Loaded;
use gander_term::IBig;

/// The size of a text in bytes; larger texts are refused.
pub const MAX_BYTES: usize = 32 << 20;

/// The reason to refuse a text without parsing it.
pub(crate) fn unreadable(source: &str) -> Option<Diagnostic> {
    if source.len() > MAX_BYTES {
        let size = source.len() >> 20;
        let message =
            format!("the file is too large: {size} MiB, and the limit is {} MiB", MAX_BYTES >> 20);
        return Some(Diagnostic::new(Code::E0102, Span::at(0), message));
    }
    let nul = source.find('\0')?;
    let diagnostic = Diagnostic::new(
        Code::E0101,
        Span::new(nul as u32, nul as u32 + 1),
        "this is not a text file: it contains a NUL byte",
    );
    Some(diagnostic)
}

/// Reads a specification.
pub fn load(source: &str, file_name: &str) -> Loaded {
    load_with(source, file_name, &[])
}

/// Reads a specification, with values for constants of its system that are declared without one.
pub fn load_with(source: &str, file_name: &str, given: &[(String, IBig)]) -> Loaded {
    if let Some(diagnostic) = unreadable(source) {
        return rejected(vec![diagnostic]);
    }
    let parsed = parse(source);
    if !parsed.diagnostics.is_empty() {
        return rejected(parsed.diagnostics);
    }
    let root = parsed.root();
    let (mut system, mut diagnostics) = check::check(&root, file_name, given);
    let (allowances, unknown) = allowances(&root);
    if !unknown.is_empty() {
        system = None;
    }
    diagnostics
        .retain(|diagnostic| !allowances.iter().any(|allowance| allowance.covers(diagnostic)));
    diagnostics.extend(unknown);
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span.start);
    Loaded { system, others: Vec::new(), diagnostics, allowances, modules: None }
}

fn rejected(diagnostics: Vec<Diagnostic>) -> Loaded {
    Loaded { system: None, others: Vec::new(), diagnostics, allowances: Vec::new(), modules: None }
}

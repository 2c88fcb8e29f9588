//! The `.sts` language: specifications of symbolic transition systems, for people.
//!
//! The pipeline is text, tokens ([`lexer`]), lossless tree ([`parser`]), checked and
//! lowered system; docs/language.md is the reference.

mod allow;
mod check;
mod format;
pub mod lexer;
pub mod parser;
pub mod syntax;
mod tree;

use allow::allowances;
pub use format::format;
pub use parser::{Parse, parse};

use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::language::Loaded;
use crate::span::Span;

/// Texts larger than this are not read.
pub const MAX_BYTES: usize = 32 << 20;

/// Why a text is not even looked at.
pub(crate) fn unreadable(source: &str) -> Option<Diagnostic> {
    if source.len() > MAX_BYTES {
        let size = source.len() >> 20;
        let message = format!("the file is too large: {size} MiB, and the limit is {} MiB", MAX_BYTES >> 20);
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
    if let Some(diagnostic) = unreadable(source) {
        return rejected(vec![diagnostic]);
    }
    let parsed = parse(source);
    if !parsed.diagnostics.is_empty() {
        return rejected(parsed.diagnostics);
    }
    let root = parsed.root();
    let (mut system, mut diagnostics) = check::check(&root, file_name);
    let (allowances, unknown) = allowances(&root);
    if !unknown.is_empty() {
        system = None;
    }
    diagnostics.retain(|diagnostic| !allowances.iter().any(|allowance| allowance.covers(diagnostic)));
    diagnostics.extend(unknown);
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span.start);
    Loaded { system, others: Vec::new(), diagnostics, allowances, modules: None }
}

fn rejected(diagnostics: Vec<Diagnostic>) -> Loaded {
    Loaded { system: None, others: Vec::new(), diagnostics, allowances: Vec::new(), modules: None }
}

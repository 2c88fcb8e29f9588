//! The diagnostics of a reader: what is said twice is dropped, and so is what nobody would read any more.

use rustc_hash::FxHashSet;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Severity};
use crate::language::Loaded;
use crate::span::Span;
use gander_system::System;

/// More errors are not kept.
pub(crate) const MAX_ERRORS: usize = 100;
/// More warnings of a parser are not kept.
const MAX_WARNINGS: usize = 1_000;

/// That errors were left out.
pub(crate) fn too_many_errors(span: Span) -> Diagnostic {
    Diagnostic::new(Code::E0117, span, format!("only the first {MAX_ERRORS} errors are shown"))
}

/// The diagnostics of a parser: the first [`MAX_ERRORS`] errors, and warnings. Warnings alone never make an error.
#[derive(Debug, Default)]
pub(crate) struct Limited {
    list: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
}

impl Limited {
    /// A list that begins with these.
    pub(crate) fn new(first: Vec<Diagnostic>) -> Limited {
        let mut limited = Limited::default();
        first.into_iter().for_each(|d| limited.push(d));
        limited
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        let (count, limit) = match diagnostic.severity() {
            Severity::Error => (&mut self.errors, MAX_ERRORS),
            Severity::Warning => (&mut self.warnings, MAX_WARNINGS),
        };
        // One error more than are shown is kept: the list says then that there are more.
        if *count <= limit {
            *count += 1;
            self.list.push(diagnostic);
        }
    }

    /// The diagnostics in the order of the text.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|d| d.primary.span.start);
        if self.errors > MAX_ERRORS {
            let mut errors = 0;
            let mut last = Span::at(0);
            self.list.retain(|d| {
                errors += usize::from(d.severity() == Severity::Error);
                if errors <= MAX_ERRORS {
                    last = d.primary.span;
                }
                errors <= MAX_ERRORS || d.severity() == Severity::Warning
            });
            self.list.push(too_many_errors(last));
        }
        self.list
    }
}

/// The diagnostics so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    list: Vec<Diagnostic>,
    seen: FxHashSet<(Code, Span)>,
    errors: usize,
}

impl Report {
    /// Adds a diagnostic, once for each code and place.
    pub(crate) fn add(&mut self, diagnostic: Diagnostic) {
        if !self.seen.insert((diagnostic.code, diagnostic.primary.span)) {
            return;
        }
        if diagnostic.severity() == Severity::Error {
            self.errors += 1;
            if self.errors == MAX_ERRORS + 1 {
                self.list.push(too_many_errors(diagnostic.primary.span));
            }
            if self.errors > MAX_ERRORS {
                return;
            }
        }
        self.list.push(diagnostic);
    }

    /// Adds an error without further words.
    pub(crate) fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.add(Diagnostic::new(code, span, message));
    }

    /// True if something stands against using the model.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// True if further errors are dropped.
    pub(crate) fn is_full(&self) -> bool {
        self.errors > MAX_ERRORS
    }

    /// The result of a reader: without errors the systems, in any case the diagnostics in the order of the text.
    pub(crate) fn loaded(mut self, systems: Vec<System>) -> Loaded {
        if systems.is_empty() && !self.has_errors() {
            self.error(Code::E0901, Span::at(0), "no system could be built");
        }
        self.list.sort_by_key(|d| (d.primary.span.start, d.code));
        let mut systems = if self.has_errors() { Vec::new() } else { systems }.into_iter();
        let system = systems.next();
        Loaded { system, others: systems.collect(), diagnostics: self.list, allowances: Vec::new(), modules: None }
    }
}

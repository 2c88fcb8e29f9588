//! Collects the diagnostics of a front-end: drops repeated ones and limits their number.

use rustc_hash::FxHashSet;

use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::{Diagnostic, Severity};
use crate::diagnostics::span::Span;
use crate::language::Loaded;
use gander_system::System;

/// The number of errors that are shown.
pub(crate) const MAX_ERRORS: usize = 100;
/// The number of warnings of a parser that are kept.
const MAX_WARNINGS: usize = 1_000;

/// Says that errors were omitted.
pub(crate) fn too_many_errors(span: Span) -> Diagnostic {
    Diagnostic::new(Code::E0117, span, format!("only the first {MAX_ERRORS} errors are shown"))
}

/// The diagnostics of a parser: the first [`MAX_ERRORS`] errors, and warnings. Too many warnings
/// are dropped without an error.
#[derive(Debug, Default)]
pub(crate) struct Limited {
    list: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
}

impl Limited {
    /// A list that starts with these diagnostics.
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
        // Keep one error more than is shown, to detect that there are more.
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

/// The diagnostics of a checker so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    list: Vec<Diagnostic>,
    seen: FxHashSet<(Code, Span)>,
    errors: usize,
}

impl Report {
    /// Adds a diagnostic, at most once per code and place.
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

    /// Adds an error with only a message.
    pub(crate) fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.add(Diagnostic::new(code, span, message));
    }

    /// True if there is an error, so that the model cannot be used.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// True if further errors are dropped.
    pub(crate) fn is_full(&self) -> bool {
        self.errors > MAX_ERRORS
    }

    /// The result of a front-end: the systems, if there are no errors, and the diagnostics in text
    /// order.
    pub(crate) fn loaded(mut self, systems: Vec<System>) -> Loaded {
        if systems.is_empty() && !self.has_errors() {
            self.error(Code::E0901, Span::at(0), "no system could be built");
        }
        self.list.sort_by_key(|d| (d.primary.span.start, d.code));
        let mut systems = if self.has_errors() { Vec::new() } else { systems }.into_iter();
        let system = systems.next();
        Loaded {
            system,
            others: systems.collect(),
            diagnostics: self.list,
            allowances: Vec::new(),
            modules: None,
        }
    }
}

//! Diagnostics of an elaboration. A node is elaborated once per instance, so repeated diagnostics
//! are dropped.

use rustc_hash::FxHashSet;

use crate::diagnostics::diagnostic::{Diagnostic, Severity};
use crate::{Code, Span};

/// The number of errors that are kept.
const MAX_ERRORS: usize = 50;

/// The diagnostics so far.
#[derive(Debug, Default)]
pub(in super::super) struct Report {
    list: Vec<Diagnostic>,
    seen: FxHashSet<(Code, Span, String)>,
    errors: usize,
}

impl Report {
    pub(super) fn add(&mut self, diagnostic: Diagnostic) {
        let key = (diagnostic.code, diagnostic.primary.span, diagnostic.message.clone());
        if !self.seen.insert(key) {
            return;
        }
        if diagnostic.severity() == Severity::Error {
            self.errors += 1;
            if self.errors > MAX_ERRORS {
                return;
            }
        }
        self.list.push(diagnostic);
    }

    pub(super) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|d| (d.primary.span.start, d.code));
        self.list
    }
}

//! Diagnostics of front-ends as views.

use std::sync::Arc;

use gander_lang::Diagnostic;

use crate::view::diagnostic::{Annotated, DiagnosticView, Place, SourceMap};

/// The views of diagnostics of a front-end.
pub fn diagnostic_views(
    diagnostics: &[Diagnostic],
    source: &Arc<SourceMap>,
) -> Vec<DiagnosticView> {
    if diagnostics.is_empty() {
        return Vec::new();
    }
    let file = source.file();
    let place = |d: &Diagnostic| {
        let (name, from) = file.place(d.primary.span.start);
        let (_, to) = file.place(d.primary.span.end);
        Place {
            file: (name != file.name).then(|| name.to_string()),
            line: from.line,
            column: from.column,
            end_line: to.line,
            end_column: to.column,
        }
    };
    diagnostics
        .iter()
        .map(|d| DiagnosticView {
            code: d.code.as_str().to_string(),
            severity: d.severity().into(),
            message: d.message.clone(),
            place: Some(place(d)),
            help: d.notes.iter().chain(&d.helps).cloned().collect(),
            annotated: Some(Annotated { diagnostic: d.clone(), source: Arc::clone(source) }),
        })
        .collect()
}

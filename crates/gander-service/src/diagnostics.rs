//! Diagnostics of documents, with structured edits and related places.

use gander_lang::{Diagnostic, Span};
use gander_report::{DiagnosticView, Severity, SourceMap};

use crate::results::{ClaimRecord, VerdictWord};

/// A remark at another place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Related {
    /// The place in the document.
    pub span: Span,
    /// The remark.
    pub text: String,
}

/// An edit that does what the help of a diagnostic says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DocumentFix {
    /// What it does, in words.
    pub title: String,
    /// What to replace, empty to insert, with the new text.
    pub edits: Vec<(Span, String)>,
}

/// A message about a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DocumentDiagnostic {
    /// A stable code. Verdicts have the code `verdict`.
    pub code: String,
    /// How serious it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// Where in the document; none if it is about the document as a whole.
    pub span: Option<Span>,
    /// The claim that it is about, if it is a verdict.
    pub claim: Option<String>,
    /// Other places that explain it: for a run, its steps.
    pub related: Vec<Related>,
    /// Background and what to do, one sentence each.
    pub help: Vec<String>,
    /// Edits that fix it.
    pub fixes: Vec<DocumentFix>,
}

impl DocumentDiagnostic {
    fn plain(code: &str, severity: Severity, message: &str) -> DocumentDiagnostic {
        DocumentDiagnostic {
            code: code.to_string(),
            severity,
            message: message.to_string(),
            span: None,
            claim: None,
            related: Vec::new(),
            help: Vec::new(),
            fixes: Vec::new(),
        }
    }

    /// An error of gander itself.
    pub(crate) fn internal(message: &str) -> DocumentDiagnostic {
        DocumentDiagnostic::plain("internal", Severity::Error, message)
    }
}

/// A diagnostic of a front-end about this text.
pub(crate) fn of_front_end(diagnostic: &Diagnostic, source: &SourceMap) -> DocumentDiagnostic {
    let own = |span: Span| (span.end as usize <= source.own_text().len()).then_some(span);
    let severity = diagnostic.severity().into();
    let mut out = DocumentDiagnostic::plain(diagnostic.code.as_str(), severity, "");
    out.message = diagnostic.message.clone();
    out.span = own(diagnostic.primary.span);
    if out.span.is_none() && source.included_at(diagnostic.primary.span.start as usize).is_some() {
        let file = source.file();
        let (name, at) = file.place(diagnostic.primary.span.start);
        out.message = format!("{name}:{}:{}: {}", at.line, at.column, diagnostic.message);
    }
    if !diagnostic.primary.text.is_empty() {
        out.message.push_str(&format!(": {}", diagnostic.primary.text));
    }
    let related = diagnostic
        .secondary
        .iter()
        .filter_map(|label| Some(Related { span: own(label.span)?, text: label.text.clone() }));
    out.related = related.collect();
    out.help = diagnostic.notes.iter().chain(&diagnostic.helps).cloned().collect();
    if let Some(fix) = &diagnostic.fix
        && let Some(span) = own(fix.span)
    {
        let title = match diagnostic.helps.first() {
            Some(help) => help.clone(),
            None => format!("replace by `{}`", fix.replacement),
        };
        let edits = vec![(span, fix.replacement.clone())];
        out.fixes.push(DocumentFix { title, edits });
    }
    out
}

/// A diagnostic of a check.
pub(crate) fn of_view(view: &DiagnosticView) -> DocumentDiagnostic {
    match &view.annotated {
        Some(annotated) => {
            let mut out = of_front_end(&annotated.diagnostic, &annotated.source);
            out.severity = view.severity;
            out
        }
        None => {
            let mut out = DocumentDiagnostic::plain(&view.code, view.severity, &view.message);
            out.help = view.help.clone();
            out
        }
    }
}

/// The diagnostic of a verdict; none if the claim holds.
pub(crate) fn of_verdict(record: &ClaimRecord) -> Option<DocumentDiagnostic> {
    let view = &record.view;
    let (severity, what) = match record.word() {
        VerdictWord::Holds => return None,
        VerdictWord::Fails => (Severity::Error, "fails"),
        VerdictWord::Vacuous => (Severity::Warning, "holds only because the model has no run"),
        VerdictWord::Unknown => (Severity::Note, "is not decided"),
    };
    let name = &view.name;
    let mut out = DocumentDiagnostic::plain("verdict", severity, &format!("`{name}` {what}"));
    if let Some(trace) = view.verdict.evidence().and_then(|e| e.shown.trace()) {
        let steps = if trace.length == 1 { "step" } else { "steps" };
        let loops = if trace.back_to.is_some() { ", then repeated for ever" } else { "" };
        out.message.push_str(&format!(": a run of {} {steps}{loops} shows it", trace.length));
        if let Some(ending) = &trace.ending {
            out.help.push(ending.clone());
        }
    }
    out.span = record.span;
    out.claim = Some(name.clone());
    out.related = record.steps.clone();
    Some(out)
}

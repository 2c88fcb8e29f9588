//! Events and states as JSON (docs/json.md, section "Answers of the service").

use gander_report::{DiagnosticView, Place};
use gander_report::{StreamLine, claim_json, diagnostic_json, explain_json, stream_json};
use serde_json::{Value, json};

use crate::checks::CheckEnding;
use crate::diagnostics::DocumentDiagnostic;
use crate::document::{Document, Uri};
use crate::events::Event;
use crate::position::Encoding;
use crate::results::{ClaimRecord, Explanation, Freshness};
use crate::service::Service;

/// The object for an event.
pub fn event_json(event: &Event) -> Value {
    let about = |name: &str, check: u64, document: &Document| {
        json!({
            "event": name,
            "uri": document.uri.as_str(),
            "version": document.version,
            "check": check,
        })
    };
    match event {
        Event::Diagnostics { document, diagnostics } => json!({
            "event": "diagnostics",
            "uri": document.uri.as_str(),
            "version": document.version,
            "diagnostics":
                diagnostics.iter().map(|d| document_diagnostic_json(d, document)).collect::<Vec<_>>(),
        }),
        Event::CheckStarted { check, document } => about("check-started", check.0, document),
        Event::Claims { check, document, system, claims } => {
            let line = StreamLine::System { name: system, claims };
            with_fields(about("claims", check.0, document), stream_json(&document.file_name, line))
        }
        Event::Verdict { check, document, record } => with_fields(
            about("verdict", check.0, document),
            record_json(record, Freshness::Current, document),
        ),
        Event::Progress { check, document, elapsed, settled, open, engines } => {
            let (seconds, settled, open) = (elapsed.as_secs_f64(), *settled, *open);
            let line = StreamLine::Progress { seconds, settled, open, engines };
            with_fields(
                about("progress", check.0, document),
                stream_json(&document.file_name, line),
            )
        }
        Event::Explained { check, document, explanation } => {
            with_fields(about("explained", check.0, document), explanation_json(explanation))
        }
        Event::CheckEnded { check, document, ending } => {
            with_fields(about("check-ended", check.0, document), ending_json(ending))
        }
        Event::Outdated { document } => json!({
            "event": "outdated", "uri": document.uri.as_str(), "version": document.version,
        }),
        Event::Closed(uri) => json!({ "event": "closed", "uri": uri.as_str() }),
        Event::Lagged => json!({ "event": "lagged" }),
    }
}

/// What is known of a document: `version`, `is_parsed`, `diagnostics`, `claims` (all claims of the
/// model with their results, if known) and `report` (the object of `gander check --json`, if the
/// last check of all claims was about the latest text). None if it is not open.
pub fn state_json(service: &Service, uri: &Uri) -> Option<Value> {
    let document = service.document(uri)?;
    let diagnostics = service.diagnostics(uri);
    let records = service.verdicts(uri);
    let analysis = service.analysis(uri);
    let claims = analysis.iter().flat_map(|a| &a.claims).map(|claim| {
        let known = records.iter().find(|(r, _)| r.view.name == claim.name);
        json!({
            "claim": claim.name,
            "kind": claim.kind,
            "text": claim.text,
            "system": claim.system,
            "range": span_json(claim.span, &document),
            "known": known.map(|(record, freshness)| record_json(record, *freshness, &document)),
        })
    });
    Some(json!({
        "uri": uri.as_str(),
        "version": document.version,
        "is_parsed": analysis.is_some(),
        "diagnostics": diagnostics
            .iter()
            .flat_map(|all| all.iter())
            .map(|d| document_diagnostic_json(d, &document))
            .collect::<Vec<_>>(),
        "claims": claims.collect::<Vec<_>>(),
        "report": service.report(uri).map(|view| gander_report::file_json(&view)),
    }))
}

/// `first` with the fields of `second` that it does not have.
fn with_fields(mut first: Value, second: Value) -> Value {
    if let (Some(map), Value::Object(fields)) = (first.as_object_mut(), second) {
        for (name, value) in fields {
            map.entry(name).or_insert(value);
        }
    }
    first
}

/// A result with the range of its claim, the steps of its run at their places, and whether it is
/// about the latest text.
fn record_json(record: &ClaimRecord, freshness: Freshness, document: &Document) -> Value {
    let step = |step: &crate::diagnostics::Related| json!({ "range": span_json(Some(step.span), document), "text": step.text });
    let is_current = freshness == Freshness::Current;
    json!({
        "result": claim_json(&record.view),
        "system": record.system,
        "of_version": record.version,
        "is_current": is_current,
        // Spans of an outdated result are about another text.
        "range": if is_current { span_json(record.span, document) } else { Value::Null },
        "steps": if is_current { record.steps.iter().map(step).collect() } else { Vec::new() },
    })
}

fn explanation_json(explanation: &Explanation) -> Value {
    json!({
        "explanation": explain_json(&explanation.views),
        "notices": explanation.notices,
    })
}

fn ending_json(ending: &CheckEnding) -> Value {
    match ending {
        CheckEnding::Finished { seconds, exit_code, stopped } => json!({
            "ending": "finished", "seconds": seconds, "exit_code": exit_code, "stopped": stopped,
        }),
        CheckEnding::Rejected => json!({ "ending": "rejected" }),
        CheckEnding::Superseded => json!({ "ending": "superseded" }),
        CheckEnding::Cancelled => json!({ "ending": "cancelled" }),
        CheckEnding::Broke(why) => json!({ "ending": "broke", "why": why }),
    }
}

/// The range of a span: bytes, and lines and columns from one, columns in characters.
pub(crate) fn span_json(span: Option<gander_system::Span>, document: &Document) -> Value {
    let Some(span) = span else { return Value::Null };
    let at =
        |offset| document.positions().position(&document.text, offset as usize, Encoding::Utf32);
    let (start, end) = (at(span.start), at(span.end));
    json!({
        "start": span.start, "end": span.end,
        "line": start.line + 1, "column": start.column + 1,
        "end_line": end.line + 1, "end_column": end.column + 1,
    })
}

/// A diagnostic in the form of docs/json.md, with its claim, related places and fixes.
fn document_diagnostic_json(d: &DocumentDiagnostic, document: &Document) -> Value {
    let place = d.span.map(|span| {
        let at = |offset| {
            document.positions().position(&document.text, offset as usize, Encoding::Utf32)
        };
        let (start, end) = (at(span.start), at(span.end));
        Place {
            file: None,
            line: start.line + 1,
            column: start.column + 1,
            end_line: end.line + 1,
            end_column: end.column + 1,
        }
    });
    let view = DiagnosticView {
        place,
        ..DiagnosticView::plain(&d.code, d.severity, d.message.clone(), d.help.iter().cloned())
    };
    let related = |r: &crate::diagnostics::Related| json!({ "range": span_json(Some(r.span), document), "text": r.text });
    let edit = |(span, text): &(gander_system::Span, String)| json!({ "range": span_json(Some(*span), document), "text": text });
    let fix = |f: &crate::diagnostics::DocumentFix| json!({ "title": f.title, "edits": f.edits.iter().map(edit).collect::<Vec<_>>() });
    with_fields(
        diagnostic_json(&view),
        json!({
            "range": span_json(d.span, document),
            "claim": d.claim,
            "related": d.related.iter().map(related).collect::<Vec<_>>(),
            "fixes": d.fixes.iter().map(fix).collect::<Vec<_>>(),
        }),
    )
}

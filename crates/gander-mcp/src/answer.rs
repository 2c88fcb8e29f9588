//! The answer of `check`: verdicts, what they rest on, what is assumed, and what changed.
//!
//! No part of the answer says more than the verdicts do: a claim counts as shown only if its
//! verdict is `holds`, and the conclusion is that of the worst claim.

use gander::Model;
use gander_io::programs::Sha256;
use gander_report::{
    CheckText, CheckView, ClaimView, DiagnosticView, Origin, Paint, VerdictView, check_text,
    claim_json, diagnostic_json, diagnostic_texts,
};
use gander_runtime::lock;
use gander_system::{FairnessKind, Span, System};
use serde_json::{Map, Value, json};

use crate::changes::Changes;
use crate::evidence::Evidence;
use crate::session::{CheckedText, RejectedText, Session, Text};

/// The format of answers.
pub const SCHEMA: &str = "gander-mcp/1";
/// Characters of an assumption that are shown.
const LONGEST_FORMULA: usize = 2_000;

/// What a call gives: the structured answer, and whether it is an error.
#[derive(Debug)]
pub struct Answer {
    /// The object; `text` in it is what a person would see.
    pub object: Map<String, Value>,
    /// The call could not be served.
    pub is_error: bool,
}

impl Answer {
    /// An answer with this text.
    pub fn new(text: String, mut fields: Value) -> Answer {
        let mut object = Map::new();
        object.insert("schema".to_string(), json!(SCHEMA));
        if let Some(fields) = fields.as_object_mut() {
            object.append(fields);
        }
        object.insert("text".to_string(), Value::String(text));
        Answer { object, is_error: false }
    }

    /// The answer to a call that is refused.
    pub fn refusal(why: &str) -> Answer {
        let text = format!("There is no answer: {}", gander_text::message(why));
        Answer { is_error: true, ..Answer::new(text, json!({ "error": why })) }
    }

    /// The text.
    pub fn text(&self) -> &str {
        self.object.get("text").and_then(Value::as_str).unwrap_or_default()
    }
}

/// The name and hash of the text that an answer is about.
pub fn text_identity(text: &Text) -> Value {
    json!({ "document": text.document, "model_sha256": text.sha256 })
}

/// The fields of `second` after those of `first`.
pub fn merged(first: Value, second: Value) -> Value {
    match (first, second) {
        (Value::Object(mut first), Value::Object(second)) => {
            first.extend(second);
            Value::Object(first)
        }
        (first, _) => first,
    }
}

/// The answer to a text with errors.
pub fn rejected(rejected: &RejectedText) -> Answer {
    let RejectedText { text, diagnostics } = rejected;
    let messages = diagnostic_texts(diagnostics, Paint::Plain).concat();
    let line = "The text has errors, so there is no model, and nothing was checked.\n\n";
    let fields = json!({
        "conclusion": "rejected",
        "diagnostics": diagnostics.iter().map(diagnostic_json).collect::<Vec<_>>(),
    });
    Answer::new(format!("{}{line}{messages}", header(text)), merged(text_identity(text), fields))
}

fn header(text: &Text) -> String {
    format!("Document {}, text with SHA-256 {}.\n", gander_text::shown(&text.document), text.sha256)
}

/// The answer to a text that was checked.
pub fn checked(session: &Session, checked: &CheckedText) -> Answer {
    let CheckedText { text, model, view, compared } = checked;
    let listed = session.config.limits.listed;
    let mut warnings = Vec::new();
    if let Some(changes) = &compared.first {
        warnings.extend(changes.warnings("the first text of this document"));
    }
    if let Some(changes) = &compared.previous {
        let same =
            compared.first.as_ref().is_some_and(|first| first.from_sources == changes.from_sources);
        if !same {
            warnings.extend(changes.warnings("the text before"));
        }
    }
    if !warnings.is_empty() {
        warnings.push(
            "The verdicts are about the new text; they say nothing about what was removed.".into(),
        );
    }
    let conclusion = conclusion(view);
    let summary = summary(view, conclusion, !warnings.is_empty());
    let assumptions = assumptions(model);
    let bounds = bounds(view, model);
    let changes = |c: &Option<Changes>| c.as_ref().map(|c| c.json(listed));
    let (claims, left_out) = claims(session, text, view);
    let count = |word: &str| view.claims.iter().filter(|c| c.verdict.word() == word).count();
    let mut shown = header(text);
    shown.push_str(&format!("{summary}\n"));
    for line in &warnings {
        shown.push_str(&format!("WARNING: {line}\n"));
    }
    list(&mut shown, "Assumed, not shown", &assumptions);
    list(&mut shown, "Bounds", &bounds);
    shown.push('\n');
    shown.push_str(&diagnostic_texts(&view.diagnostics, Paint::Plain).concat());
    shown.push_str(&check_text(view, CheckText::default()));
    let fields = json!({
        "conclusion": conclusion,
        "summary": summary,
        "counts": {
            "holds": count("holds"), "fails": count("fails"), "unknown": count("unknown"),
            "vacuous": count("vacuous"),
        },
        "claims": claims,
        "claims_left_out": left_out,
        "assumptions": assumptions.into_iter().take(listed).collect::<Vec<_>>(),
        "bounds": bounds,
        "warnings": warnings,
        "changes": {
            "since_previous": changes(&compared.previous),
            "since_first": changes(&compared.first),
        },
        "diagnostics": view.diagnostics.iter().take(listed).map(diagnostic_json).collect::<Vec<_>>(),
        "internal_errors": view.internal_errors,
        "stopped": view.stopped,
        "seconds": view.seconds,
        "sources_sha256": Sha256::of(model.source().text().as_bytes()).to_string(),
    });
    Answer::new(shown, merged(text_identity(text), fields))
}

fn list(out: &mut String, title: &str, items: &[String]) {
    const MOST: usize = 20;
    if items.is_empty() {
        return;
    }
    out.push_str(&format!("{title}:\n"));
    for item in items.iter().take(MOST) {
        out.push_str(&format!("  {}\n", gander_text::message(item)));
    }
    if items.len() > MOST {
        out.push_str(&format!("  and {} more\n", items.len() - MOST));
    }
}

/// The conclusion of a check: that of the worst claim, as a word.
pub fn conclusion(view: &CheckView) -> &'static str {
    let any = |word: &str| view.claims.iter().any(|c| c.verdict.word() == word);
    match view.exit_code() {
        0 => "all-claims-hold",
        1 if any("fails") => "some-claim-fails",
        1 => "vacuous",
        2 if view.nothing_claimed => "nothing-claimed",
        2 => "rejected",
        3 => "undecided",
        5 => "disagreement",
        _ => "internal-error",
    }
}

fn summary(view: &CheckView, conclusion: &str, weaker: bool) -> String {
    let names = |word: &str| {
        let named: Vec<&str> =
            view.claims.iter().filter(|c| c.verdict.word() == word).map(|c| &*c.name).collect();
        let shown: Vec<String> =
            named.iter().take(10).map(|n| format!("`{}`", gander_text::shown(n))).collect();
        let more = if named.len() > 10 {
            format!(" and {} more", named.len() - 10)
        } else {
            String::new()
        };
        format!("{}{more}", shown.join(", "))
    };
    let so_far = if weaker { ", but this text may claim less than an earlier one" } else { "" };
    match conclusion {
        "all-claims-hold" => {
            let n = view.claims.len();
            format!("All {n} claims of this text hold{so_far}.")
        }
        "some-claim-fails" => format!("Not everything holds. Fails: {}.", names("fails")),
        "vacuous" => {
            format!("The system has no run, so this shows nothing. Vacuous: {}.", names("vacuous"))
        }
        "undecided" => format!(
            "Not decided, which is neither a proof nor a counterexample: {}.",
            names("unknown")
        ),
        "nothing-claimed" => "The text claims nothing, so nothing is shown.".to_string(),
        "rejected" => "The text has errors, so nothing is shown.".to_string(),
        "disagreement" => "Answers contradict each other; do not rely on them.".to_string(),
        _ => "gander failed inside; claims without a verdict are not shown.".to_string(),
    }
}

/// What a verdict means, in a sentence.
pub fn means(claim: &ClaimView) -> String {
    let within = match &claim.within {
        Some(n) => format!(", for runs of at most {n} steps only"),
        None => String::new(),
    };
    match &claim.verdict {
        VerdictView::Holds(_) => format!("shown, by evidence that was checked{within}"),
        VerdictView::Fails(_) => format!("refuted, by evidence that was checked{within}"),
        VerdictView::Unknown { explored_through: Some(k), .. } => format!(
            "not decided: no run of at most {k} steps decides it, longer runs are not excluded"
        ),
        VerdictView::Unknown { explored_through: None, .. } => {
            "not decided: neither shown nor refuted".to_string()
        }
        VerdictView::Vacuous => {
            "true only because the system has no run, so it shows nothing".to_string()
        }
    }
}

/// A claim as in docs/json.md, with the handle of its evidence in place of the evidence.
pub fn claim_object(session: &Session, text: &Text, claim: &ClaimView) -> Value {
    let handle = Evidence::of(claim, &text.sha256)
        .map(|e| lock(&session.evidence).keep(e, &session.config.limits));
    let origin = match claim.origin {
        Origin::Written => "written",
        Origin::Range => "range",
        Origin::Structural => "structural",
    };
    let mut object = claim_json(claim);
    if let Some(object) = object.as_object_mut() {
        object.remove("evidence");
        object.insert("text".to_string(), json!(claim.text));
        object.insert("origin".to_string(), json!(origin));
        object.insert("means".to_string(), json!(means(claim)));
        object.insert("evidence_handle".to_string(), json!(handle));
    }
    object
}

/// Claims, those that do not hold first, and how many are left out.
fn claims(session: &Session, text: &Text, view: &CheckView) -> (Vec<Value>, usize) {
    let rank = |claim: &&ClaimView| match &claim.verdict {
        VerdictView::Fails(_) => 0,
        VerdictView::Vacuous => 1,
        VerdictView::Unknown { .. } => 2,
        VerdictView::Holds(_) if claim.origin != Origin::Structural => 3,
        VerdictView::Holds(_) => 4,
    };
    let mut ordered: Vec<&ClaimView> = view.claims.iter().collect();
    ordered.sort_by_key(rank);
    let shown = ordered.iter().take(session.config.limits.listed);
    let shown: Vec<Value> = shown.map(|c| claim_object(session, text, c)).collect();
    let left_out = ordered.len() - shown.len();
    (shown, left_out)
}

/// What verdicts take for granted: assumptions, ranges of inputs, fairness.
fn assumptions(model: &Model) -> Vec<String> {
    let mut found = Vec::new();
    for system in model.systems() {
        for assumption in system.assumptions() {
            let span = system.elements()[assumption.id.index()].span;
            found.push(formula(model, system, span, assumption.term.term()));
        }
        for fairness in system.fairness() {
            let what = match fairness.kind {
                FairnessKind::Justice(_) => "fair",
                FairnessKind::Weak(_) => "weakly fair",
                FairnessKind::Strong(_) => "strongly fair",
            };
            found.push(format!("{what} {} (claims under fairness)", fairness.name));
        }
        if let Some(ambiguity) = system.ambiguity() {
            found.push(format!("readings of the language: {}", ambiguity.text));
        }
    }
    found
}

/// A formula as it is written, if that is known.
fn formula(
    model: &Model,
    system: &System,
    span: Option<Span>,
    term: gander_term::TermId,
) -> String {
    let written = span.and_then(|s| model.source().text().get(s.range()));
    match written.filter(|t| t.len() <= LONGEST_FORMULA) {
        Some(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        None => system.pool().display_bounded(term, LONGEST_FORMULA).to_string(),
    }
}

/// What the check does not cover.
fn bounds(view: &CheckView, model: &Model) -> Vec<String> {
    let mut found = Vec::new();
    for limit in model.systems().iter().filter_map(|s| s.step_limit()) {
        let line = format!("the model bounds runs to {limit} steps (MAXSTEPS)");
        if !found.contains(&line) {
            found.push(line);
        }
    }
    if let Some(stopped) = &view.stopped {
        found.push(format!("the check ended early: {stopped}"));
    }
    found
}

/// Diagnostics as text.
pub fn messages(diagnostics: &[DiagnosticView]) -> String {
    diagnostic_texts(diagnostics, Paint::Plain).concat()
}

//! `counterexample`: the run that decides a claim, or that none is known.

use std::time::Duration;

use gander_report::{ClaimView, ShownEvidence, VerdictView};
use gander_runtime::Cancellation;
use gander_system::Span;
use serde_json::{Value, json};

use crate::answer::{Answer, claim_object, means, merged, rejected, text_identity};
use crate::session::{CheckedText, Failure, Reuse, Session, Text};

/// Answers `counterexample`.
pub fn counterexample(
    session: &Session,
    text: Text,
    claim: &str,
    timeout: Duration,
    cancel: &Cancellation,
) -> Result<Answer, Failure> {
    let checked = match session.check(text, Reuse::Last, timeout, cancel)? {
        Ok(checked) => checked,
        Err(text) => return Ok(rejected(&text)),
    };
    let found = find(&checked, claim)?;
    let run = found.verdict.evidence().filter(|e| matches!(e.shown, ShownEvidence::Trace(_)));
    let mut object = claim_object(session, &checked.text, found);
    let (role, line) = match (&found.verdict, run) {
        (VerdictView::Fails(_), Some(_)) => (
            "counterexample",
            "This run refutes the claim. It was replayed on the model.".to_string(),
        ),
        (VerdictView::Holds(_), Some(_)) => (
            "witness",
            "The claim holds, and this run shows it. It was replayed on the model.".to_string(),
        ),
        (VerdictView::Fails(_), None) => (
            "none",
            "The claim fails by a proof that nothing fulfils it, so no run can be shown."
                .to_string(),
        ),
        (VerdictView::Holds(_), None) => {
            ("none", "There is no counterexample: the claim was proved.".to_string())
        }
        (VerdictView::Unknown { .. }, _) => (
            "unknown",
            format!(
                "No counterexample was found, which does not mean that there is none: {}.",
                means(found)
            ),
        ),
        (VerdictView::Vacuous, _) => {
            ("none", "The system has no run at all, so the claim is vacuous.".to_string())
        }
    };
    let saved = run
        .map(|e| e.saved.clone())
        .filter(|saved| saved.to_string().len() <= session.config.limits.shown_bytes);
    if run.is_some() && saved.is_none() {
        let note = "the run is long; save it by its handle with `certify`";
        object = merged(object, json!({ "note": note }));
    }
    let shown = gander_report::check_text(&single_claim_view(&checked, found), Default::default());
    let text = format!(
        "Document {}, text with SHA-256 {}.\n{line}\n\n{shown}",
        gander_text::shown(&checked.text.document),
        checked.text.sha256
    );
    let fields = json!({
        "claim": object,
        "role": role,
        "run": saved,
        "steps": steps(&checked, found),
    });
    Ok(Answer::new(text, merged(text_identity(&checked.text), fields)))
}

/// The claim with this name.
pub fn find<'c>(checked: &'c CheckedText, name: &str) -> Result<&'c ClaimView, String> {
    checked.view.claims.iter().find(|c| c.name == name).ok_or_else(|| {
        let known: Vec<&str> = checked.view.claims.iter().take(30).map(|c| &*c.name).collect();
        format!("there is no claim `{}`; there are {}", gander_text::shown(name), known.join(", "))
    })
}

/// The view of one claim.
pub fn single_claim_view(checked: &CheckedText, claim: &ClaimView) -> gander_report::CheckView {
    let mut view = checked.view.clone();
    view.claims = vec![claim.clone()];
    view.nothing_claimed = false;
    view
}

/// The steps of the run, with the lines of the transitions that they take.
fn steps(checked: &CheckedText, claim: &ClaimView) -> Vec<Value> {
    const MOST: usize = 200;
    let Some(trace) = claim.verdict.evidence().and_then(|e| e.shown.trace()) else {
        return Vec::new();
    };
    let line = |span: Option<Span>| {
        let before = checked.model.source().own_text().get(..span?.start as usize)?;
        Some(before.bytes().filter(|&b| b == b'\n').count() + 1)
    };
    let place = |action: &str| {
        let name = action.split_once('(').map_or(action, |(name, _)| name);
        let systems = checked.model.systems().iter();
        let transition =
            systems.flat_map(|s| s.transitions()).find(|t| t.name == name || t.name == action);
        line(transition.and_then(|t| t.span))
    };
    let row = |row: &gander_report::TraceRow| {
        let changes = row.changes.iter().map(|(n, v)| (n.clone(), json!(v)));
        json!({
            "step": row.step,
            "action": row.action,
            "node": row.node,
            "changes": changes.collect::<serde_json::Map<_, _>>(),
            "line": place(&row.action),
        })
    };
    trace.rows.iter().take(MOST).map(row).collect()
}

//! `explain`: what a proof rests on, or how a run violates a claim.

use std::time::{Duration, Instant};

use gander_report::{Paint, RunText, TraceDetail, explain_json, explain_text, run_text};
use gander_runtime::Cancellation;
use serde_json::json;

use crate::answer::{Answer, merged, messages, text_identity};
use crate::session::{Failure, Session, Text};

/// How runs are shown.
const RUN_TEXT: RunText = RunText {
    detail: TraceDetail::Changes,
    width: gander_report::PLAIN_WIDTH,
    paint: Paint::Plain,
};

/// Answers `explain`.
pub fn explain(
    session: &Session,
    text: Text,
    claim: &str,
    timeout: Duration,
    cancel: &Cancellation,
) -> Result<Answer, Failure> {
    let started = Instant::now();
    let model = match session.model(&text, timeout, cancel)? {
        Ok(model) => model,
        Err(diagnostics) => {
            let rejected = crate::session::RejectedText { text, diagnostics };
            return Ok(crate::answer::rejected(&rejected));
        }
    };
    let mut names = model.systems().iter().flat_map(|s| s.claims()).map(|c| &c.name);
    if !names.any(|name| name == claim) {
        let why = format!("there is no claim `{}`", gander_text::shown(claim));
        return Err(Failure::Refused(why));
    }
    let left = timeout.saturating_sub(started.elapsed()).max(Duration::from_millis(1));
    let explanation = session.explain(&text, claim, left, cancel)?;
    let views = &explanation.views;
    let mut shown = String::new();
    for view in views {
        shown.push_str(&explain_text(view, Paint::Plain));
        for run in &view.runs {
            shown.push_str(&run_text(view, run, RUN_TEXT));
        }
    }
    for notice in &explanation.notices {
        shown.push_str(&format!("{}\n", gander_text::message(notice)));
    }
    if shown.trim().is_empty() {
        shown = "There is nothing to explain: the claim was not decided.\n".to_string();
    }
    let shown = format!(
        "Document {}, text with SHA-256 {}.\n\n{}{shown}",
        gander_text::shown(&text.document),
        text.sha256,
        messages(&model.diagnostics())
    );
    let mut explained = explain_json(views);
    if explained.to_string().len() > session.config.limits.shown_bytes {
        explained = json!(null);
    }
    let fields = json!({
        "claim": claim,
        "explanation": explained,
        "notices": explanation.notices,
    });
    Ok(Answer::new(shown, merged(text_identity(&text), fields)))
}

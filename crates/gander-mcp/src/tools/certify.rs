//! `certify`: checks evidence again, and saves it.

use std::time::{Duration, Instant};

use gander::certify::{CheckLimits, Checker, Rejection};
use gander::recheck_evidence;
use gander_runtime::{Cancellation, lock};
use gander_text::{message, shown};
use serde_json::{Value, json};

use crate::answer::{Answer, merged, rejected, text_identity};
use crate::arguments::Arguments;
use crate::files::save_evidence;
use crate::session::{Failure, RejectedText, Session, Text};

/// Evidence of a call: the content of its file, and its handle if it was found in this session.
struct GivenEvidence {
    file: String,
    handle: Option<String>,
    /// The SHA-256 of the text that it was made for, if it says so.
    made_for: Option<String>,
}

/// Answers `certify`.
pub fn certify(
    session: &Session,
    text: Text,
    arguments: &Arguments<'_>,
    timeout: Duration,
    cancel: &Cancellation,
) -> Result<Answer, Failure> {
    let started = Instant::now();
    let given = given_evidence(session, arguments)?;
    let model = match session.model(&text, timeout, cancel)? {
        Ok(model) => model,
        Err(diagnostics) => return Ok(rejected(&RejectedText { text, diagnostics })),
    };
    let total = timeout.saturating_sub(started.elapsed());
    let limits = CheckLimits {
        total: Some(total),
        memory: session.config.check.memory,
        trust: session.config.check.trust,
        ..CheckLimits::default()
    };
    let mut checker = Checker::new(&session.solvers, limits);
    checker.set_cancellation(cancel.clone());
    let checked = recheck_evidence(&model, &given.file, &session.solvers, &mut checker)?;
    let (claim, word) = (checked.claim, checked.verdict.word());
    let name = shown(&claim).into_owned();
    let (result, line, warnings) = match checked.outcome {
        Ok(certified) => {
            let how = match (certified.queries, certified.certificates) {
                (0, 0) => "by evaluation".to_string(),
                (0, _) => "by proofs that were verified".to_string(),
                _ => certified.basis.to_string(),
            };
            let line = format!("Accepted: `{name}` {word} ({how}).");
            ("accepted", line, certified.warnings)
        }
        Err(Rejection::Wrong(why)) => {
            let line =
                format!("Rejected: the evidence that `{name}` {word} is wrong: {}", message(&why));
            ("rejected", line, Vec::new())
        }
        Err(Rejection::Undecided(why)) => {
            let line =
                format!("Undecided: that `{name}` {word} could not be checked: {}", message(&why));
            ("undecided", line, Vec::new())
        }
    };
    let other_text = given.made_for.is_some_and(|sha256| sha256 != text.sha256);
    let saved = match arguments.text("save_as")? {
        None => None,
        Some(_) if result != "accepted" => None,
        Some(path) => {
            save_evidence(&session.config.folder, path, given.file.as_bytes())?;
            Some(path.to_string())
        }
    };
    let mut shown_text =
        format!("Document {}, text with SHA-256 {}.\n{line}\n", shown(&text.document), text.sha256);
    for warning in &warnings {
        shown_text.push_str(&format!("Warning: {}\n", message(warning)));
    }
    if other_text {
        shown_text
            .push_str("The evidence was made for another text; it was checked against this one.\n");
    }
    if let Some(path) = &saved {
        shown_text.push_str(&format!("Saved as {}.\n", shown(path)));
    }
    let fields = json!({
        "result": result,
        "claim": claim,
        "verdict": word,
        "why": line,
        "evidence_handle": given.handle,
        "made_for_this_text": !other_text,
        "warnings": warnings,
        "saved_as": saved,
    });
    Ok(Answer::new(shown_text, merged(text_identity(&text), fields)))
}

fn given_evidence(session: &Session, arguments: &Arguments<'_>) -> Result<GivenEvidence, String> {
    match (arguments.text("evidence_handle")?, arguments.object("evidence")?) {
        (Some(handle), None) => {
            let kept = lock(&session.evidence).get(handle);
            let kept = kept.ok_or_else(|| {
                format!(
                    "there is no evidence {} in this session; `check` finds it again",
                    shown(handle)
                )
            })?;
            Ok(GivenEvidence {
                file: kept.file.clone(),
                handle: Some(kept.handle.clone()),
                made_for: Some(kept.model_sha256.clone()),
            })
        }
        (None, Some(evidence)) => {
            let made_for = evidence["provenance"]["model_sha256"].as_str().map(str::to_string);
            Ok(GivenEvidence { file: Value::to_string(evidence), handle: None, made_for })
        }
        _ => Err("give either `evidence_handle` or `evidence`".to_string()),
    }
}

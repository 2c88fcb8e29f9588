//! `suggest_next_step`: the obstacles of an open claim, and what to try.
//!
//! `changes_claim` marks each suggestion that would change the claim or what is assumed.

use std::time::Duration;

use gander_report::{ClaimView, InductionView, SequenceEnd, VerdictView, check_text};
use gander_runtime::Cancellation;
use serde_json::{Value, json};

use super::counterexample::{find, single_claim_view};
use crate::answer::{Answer, claim_object, means, merged, rejected, text_identity};
use crate::session::{Failure, Reuse, Session, Text};

/// Answers `suggest_next_step`.
pub fn suggest(
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
    let suggestions = suggestions(found, timeout);
    let mut shown = format!(
        "Document {}, text with SHA-256 {}.\n`{}`: {}, which means {}.\n",
        gander_text::shown(&checked.text.document),
        checked.text.sha256,
        gander_text::shown(claim),
        found.verdict.word(),
        means(found)
    );
    shown.push_str(&format!(
        "\n{}",
        check_text(&single_claim_view(&checked, found), Default::default())
    ));
    shown.push_str("\nTo try:\n");
    for (at, suggestion) in suggestions.iter().enumerate() {
        shown.push_str(&format!("{}. {}\n", at + 1, suggestion.text));
    }
    let object = claim_object(session, &checked.text, found);
    let induction = object.get("induction").cloned().unwrap_or(Value::Null);
    let obstacles = object.get("why").cloned().unwrap_or(Value::Null);
    let fields = json!({
        "claim": object,
        "obstacles": obstacles,
        "induction_counterexample": induction,
        "suggestions": suggestions.iter().map(Suggestion::json).collect::<Vec<_>>(),
    });
    Ok(Answer::new(shown, merged(text_identity(&checked.text), fields)))
}

/// Something to try.
struct Suggestion {
    kind: &'static str,
    text: String,
    /// It changes the claim or what is assumed.
    changes_claim: bool,
}

impl Suggestion {
    fn json(&self) -> Value {
        json!({ "kind": self.kind, "text": self.text, "changes_claim": self.changes_claim })
    }
}

fn suggestions(claim: &ClaimView, timeout: Duration) -> Vec<Suggestion> {
    let mut found = Vec::new();
    let mut say = |kind, text: String| found.push(Suggestion { kind, text, changes_claim: false });
    match &claim.verdict {
        VerdictView::Holds(_) => say("nothing", "Nothing: the claim was shown.".to_string()),
        VerdictView::Fails(_) => {
            say("read-run", "Ask for `counterexample` and `explain`: they show the run, and which parts of the model force it.".to_string());
            say("fix-model", "If the run is possible in reality, the claim is wrong; if it is not, the model allows too much. Say which one you change, and why.".to_string());
        }
        VerdictView::Vacuous => {
            say("find-a-run", "Make a run possible: the start or the assumptions contradict each other. `explain` of `satisfiable start` names the constraints.".to_string());
        }
        VerdictView::Unknown { why, .. } => {
            if let Some(InductionView::Counterexample { ends, advice, known, .. }) =
                &claim.induction
            {
                for sentence in advice {
                    say("induction", sentence.clone());
                }
                if let SequenceEnd::Violation = ends {
                    say("lemma", "The states of the induction counterexample are not known to be reachable. If they are not, find a formula that is true in every reachable state and false in one of them, and add it as another claim `always`: what is proved is used for the other claims. If they are reachable, the claim fails.".to_string());
                }
                if !known.is_empty() {
                    say(
                        "known",
                        format!(
                            "These claims hold in all of these states, so they do not help: {}.",
                            known.join(", ")
                        ),
                    );
                }
            }
            let longer = timeout.as_secs_f64() * 4.0;
            say(
                "time",
                format!(
                    "Call again with a longer time limit, such as {longer:.0} s: engines deepen their search."
                ),
            );
            if !why.is_empty() {
                say(
                    "obstacles",
                    "Read the obstacles: each engine says what stopped it and what would help."
                        .to_string(),
                );
            }
            found.push(Suggestion {
                kind: "restrict",
                text: "Only with the agreement of whoever asked: restrict the model, for example by ranges of variables. This decides another, weaker question.".to_string(),
                changes_claim: true,
            });
        }
    }
    found
}

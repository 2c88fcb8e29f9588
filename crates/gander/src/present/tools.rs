//! Other tools beside our verdicts (docs/racing.md).

use gander_race::{Answered, Standing, ToolReport};
use gander_report::{CheckView, ClaimedView, ToolView, VerdictView};
use gander_system::System;

use crate::decide::Raced;

/// Adds what tools claim to the claims of the view from `first` on, what the tools did, and where
/// they contradict a verdict or each other.
pub(super) fn add_tools(system: &System, raced: &Raced, view: &mut CheckView, first: usize) {
    for shown in &mut view.claims[first..] {
        let about = |a: &Answered| system.claims()[a.claim.index()].name == shown.name;
        let all = raced
            .accounts
            .iter()
            .flat_map(|account| account.answers.iter().map(move |a| (account, a)));
        let answers: Vec<(&ToolReport, &Answered)> = all.filter(|(_, a)| about(a)).collect();
        let ours = match shown.verdict {
            // A tool that knows nothing of this rule is right to say that the claim holds.
            VerdictView::Holds(_) | VerdictView::Vacuous => Some("holds"),
            VerdictView::Fails(_) => Some("fails"),
            VerdictView::Unknown { .. } => None,
        };
        for (account, answer) in &answers {
            let says = answer.says.word();
            let others = answers.iter().any(|(_, other)| other.says != answer.says);
            let disagrees = ours.map_or(others, |ours| ours != says);
            let why = match &answer.standing {
                Standing::Claimed(why) => why.clone(),
                Standing::Checked(..) if ours == Some(says) => continue,
                Standing::Checked(..) => "its evidence was accepted".to_string(),
            };
            shown.claimed.push(ClaimedView {
                tool: account.tool.clone(),
                says: says.to_string(),
                seconds: answer.elapsed.as_secs_f64(),
                why: why.clone(),
                disagrees,
            });
            if disagrees {
                let contrary = match ours {
                    Some(ours) => format!("gander has checked evidence that it {ours}"),
                    None => "another tool says the contrary".to_string(),
                };
                let tool = &account.tool;
                let name = &shown.name;
                view.disagreements
                    .push(format!("{tool} claims that `{name}` {says} ({why}), but {contrary}"));
            }
        }
    }
    for account in &raced.accounts {
        let checked =
            account.answers.iter().filter(|a| matches!(a.standing, Standing::Checked(..))).count();
        let did = ToolView {
            tool: account.tool.clone(),
            answers: account.answers.len(),
            checked,
            seconds: account.elapsed.as_secs_f64(),
            ending: account.ending.clone(),
        };
        // A file may have several systems.
        match view.tools.iter_mut().find(|t| t.tool == did.tool) {
            None => view.tools.push(did),
            Some(before) => {
                before.answers += did.answers;
                before.checked += did.checked;
                before.seconds += did.seconds;
                if before.ending != did.ending {
                    before.ending = format!("{}; {}", before.ending, did.ending);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gander_race::Says;
    use gander_report::{EvidenceView, ShownEvidence};
    use gander_system::ClaimId;

    use super::*;
    use crate::LoadOptions;

    fn answered(says: Says) -> Raced {
        let answer = Answered {
            claim: ClaimId::from(0),
            says,
            elapsed: Duration::from_secs(1),
            standing: Standing::Claimed("it gives no evidence".to_string()),
        };
        let account = ToolReport {
            tool: "tool".to_string(),
            answers: vec![answer],
            ending: "finished".to_string(),
            elapsed: Duration::from_secs(1),
        };
        Raced { accounts: vec![account] }
    }

    /// What a check of one claim shows, with what tools said.
    fn shown(holds: bool, says: Says) -> CheckView {
        let text = "spec S var x: int start { x == 0 } step s { x := x } always p: x == 0";
        let model = crate::load(text, "s.sts", &LoadOptions::default());
        let system = &model.systems()[0];
        let mut view = crate::check_source(text, "s.sts", &crate::CheckOptions::default());
        view.claims.truncate(1);
        let shown = ShownEvidence::ClosedSet { states: 1 };
        let evidence = EvidenceView { shown, saved: serde_json::Value::Null };
        view.claims[0].verdict =
            if holds { VerdictView::Holds(evidence) } else { VerdictView::Fails(evidence) };
        add_tools(system, &answered(says), &mut view, 0);
        view
    }

    #[test]
    fn a_contradiction_of_a_verdict_is_a_disagreement() {
        for (holds, says) in [(true, Says::Fails), (false, Says::Holds)] {
            let view = shown(holds, says);
            assert_eq!(view.claims[0].verdict.word(), if holds { "holds" } else { "fails" });
            assert!(view.claims[0].claimed[0].disagrees);
            assert_eq!(view.disagreements.len(), 1);
            assert_eq!(view.exit_code(), 5);
        }
        for (holds, says, code) in [(true, Says::Holds, 0), (false, Says::Fails, 1)] {
            let view = shown(holds, says);
            assert!(view.disagreements.is_empty() && !view.claims[0].claimed[0].disagrees);
            assert_eq!(view.exit_code(), code);
        }
    }

    #[test]
    fn of_a_system_without_a_run_a_tool_may_say_that_claims_hold() {
        for (says, disagrees) in [(Says::Holds, false), (Says::Fails, true)] {
            let mut view = shown(true, Says::Holds);
            view.claims[0].verdict = VerdictView::Vacuous;
            view.claims[0].claimed.clear();
            let text = "spec S var x: int start { x == 0 } step s { x := x } always p: x == 0";
            let model = crate::load(text, "s.sts", &LoadOptions::default());
            add_tools(&model.systems()[0], &answered(says), &mut view, 0);
            assert_eq!(view.claims[0].claimed[0].disagrees, disagrees);
            assert_eq!(view.disagreements.is_empty(), !disagrees);
            assert_eq!(view.exit_code(), if disagrees { 5 } else { 1 });
        }
    }
}

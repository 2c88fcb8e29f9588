//! Other tools beside our engines (docs/racing.md).
//!
//! Engines and tools work on the claims of a system at the same time. A claim is settled by whoever has evidence first that
//! was checked; when all are settled, everybody is stopped. What a tool only claims is kept beside the verdicts: it
//! settles nothing, and if it is the contrary of a verdict, or of what another tool says, that is a disagreement.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use gander_engines::{Cancellation, CheckConfig, CheckReport, Event, Observer, Outcome};
use gander_race::{Account, Answered, Entrant, RaceConfig, Standing, enter};
use gander_report::{CheckView, ClaimedView, ToolView, VerdictView};
use gander_system::{ClaimId, System, Verdict};

/// What the tools did.
#[derive(Debug, Default)]
pub(crate) struct Raced {
    accounts: Vec<Account>,
}

/// Which claims are open, and whom to stop when none is.
struct Referee {
    open: Mutex<BTreeSet<ClaimId>>,
    engines: Cancellation,
    tools: Cancellation,
}

impl Referee {
    fn open(&self) -> MutexGuard<'_, BTreeSet<ClaimId>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn settle(&self, claim: ClaimId) {
        let mut open = self.open();
        open.remove(&claim);
        let all = open.is_empty();
        drop(open);
        if all {
            self.engines.cancel();
            self.tools.cancel();
        }
    }
}

/// Tells the referee what the engines settle.
struct Watching<'a> {
    referee: &'a Referee,
    observer: &'a dyn Observer,
}

impl Observer for Watching<'_> {
    fn event(&self, e: &Event) {
        if let Event::Settled(outcome) = e {
            self.referee.settle(outcome.claim);
        }
        self.observer.event(e);
    }
}

/// Runs the engines (`ours`) and the tools side by side, with the time of the configuration.
pub(crate) fn race(
    system: &Arc<System>,
    config: &CheckConfig,
    entrants: &[Entrant],
    cancel: &Cancellation,
    observer: &dyn Observer,
    ours: impl FnOnce(&CheckConfig, &Cancellation, &dyn Observer) -> CheckReport,
) -> (CheckReport, Raced) {
    if entrants.is_empty() {
        return (ours(config, cancel, observer), Raced::default());
    }
    let begin = Instant::now();
    let referee = Referee {
        open: Mutex::new(config.claims.iter().copied().collect()),
        engines: cancel.child(),
        tools: cancel.child(),
    };
    let rules = RaceConfig {
        claims: config.claims.clone(),
        solvers: Arc::clone(&config.solvers),
        deadline: config.timeout.and_then(|t| begin.checked_add(t)),
        memory: config.memory,
        second_opinion: config.second_opinion.clone(),
        trust: config.trust,
        log_smt: config.log_smt.clone(),
        cancellation: referee.tools.clone(),
    };
    let is_open = |claim: ClaimId| referee.open().contains(&claim);
    let tell = |answered: &Answered| {
        if matches!(answered.standing, Standing::Checked(..)) {
            referee.settle(answered.claim);
        }
    };
    let (mut report, accounts) = std::thread::scope(|scope| {
        let tools: Vec<_> =
            entrants.iter().map(|e| scope.spawn(|| enter(e, system, &rules, &is_open, &tell))).collect();
        let report = ours(config, &referee.engines, &Watching { referee: &referee, observer });
        for outcome in report.outcomes.iter().filter(|o| !matches!(o.verdict, Verdict::Unknown { .. })) {
            referee.settle(outcome.claim);
        }
        let broken = |entrant: &Entrant| Account {
            tool: entrant.tool.name().to_string(),
            answers: Vec::new(),
            ending: "its adapter broke".to_string(),
            elapsed: begin.elapsed(),
        };
        let accounts: Vec<Account> =
            tools.into_iter().zip(entrants).map(|(t, e)| t.join().unwrap_or_else(|_| broken(e))).collect();
        (report, accounts)
    });
    for outcome in report.outcomes.iter_mut().filter(|o| matches!(o.verdict, Verdict::Unknown { .. })) {
        let answers = accounts.iter().flat_map(|a| a.answers.iter().map(move |answer| (&a.tool, answer)));
        let checked = answers.filter(|(_, a)| a.claim == outcome.claim).filter_map(|(tool, a)| match &a.standing {
            Standing::Checked(verdict, certified) => Some((tool, a.elapsed, verdict, certified)),
            Standing::Claimed(_) => None,
        });
        if let Some((tool, elapsed, verdict, certified)) = checked.min_by_key(|(_, elapsed, _, _)| *elapsed) {
            *outcome = Outcome {
                claim: outcome.claim,
                verdict: (**verdict).clone(),
                engine: tool.clone(),
                elapsed,
                warnings: certified.warnings.clone(),
                basis: certified.basis.clone(),
            };
        }
    }
    (report, Raced { accounts })
}

/// Adds to the view, behind the claims that were there `before`, what tools claim, what they did, and where they
/// contradict a verdict or each other.
pub(crate) fn judge_tools(system: &System, raced: &Raced, view: &mut CheckView, before: usize) {
    for shown in &mut view.claims[before..] {
        let about = |a: &Answered| system.claims[a.claim.index()].name == shown.name;
        let all = raced.accounts.iter().flat_map(|account| account.answers.iter().map(move |a| (account, a)));
        let answers: Vec<(&Account, &Answered)> = all.filter(|(_, a)| about(a)).collect();
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
                view.disagreements.push(format!("{tool} claims that `{name}` {says} ({why}), but {contrary}"));
            }
        }
    }
    for account in &raced.accounts {
        let checked = account.answers.iter().filter(|a| matches!(a.standing, Standing::Checked(..))).count();
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

    use super::*;

    fn answered(says: Says) -> Raced {
        let answer = Answered {
            claim: ClaimId::from(0),
            says,
            elapsed: Duration::from_secs(1),
            standing: Standing::Claimed("it gives no evidence".to_string()),
        };
        let account = Account {
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
        let source = crate::load(text, "s.sts", gander_report::Paint::Plain).0;
        let system = source.system.expect("it loads");
        let mut view = crate::check_source(text, "s.sts", &crate::CheckOptions::default());
        view.claims.truncate(1);
        let shown = ShownEvidence::ClosedSet { states: 1 };
        let evidence = EvidenceView { shown, saved: serde_json::Value::Null };
        view.claims[0].verdict = if holds { VerdictView::Holds(evidence) } else { VerdictView::Fails(evidence) };
        judge_tools(&system, &answered(says), &mut view, 0);
        view
    }

    #[test]
    fn a_verdict_stands_against_a_claim_and_the_contradiction_is_told() {
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
            let system = crate::load(text, "s.sts", gander_report::Paint::Plain).0.system.expect("it loads");
            judge_tools(&system, &answered(says), &mut view, 0);
            assert_eq!(view.claims[0].claimed[0].disagrees, disagrees);
            assert_eq!(view.disagreements.is_empty(), !disagrees);
            assert_eq!(view.exit_code(), if disagrees { 5 } else { 1 });
        }
    }
}

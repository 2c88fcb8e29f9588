//! Other tools beside our engines (docs/racing.md).
//!
//! Engines and tools work on the claims of a system at the same time. The first checked evidence
//! settles a claim; when all claims are settled, engines and tools are cancelled. An answer of a
//! tool without checked evidence settles nothing. It is kept beside the verdicts, and is a
//! disagreement if it contradicts a verdict or the answer of another tool.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use gander_engines::{
    Cancellation, CheckConfig, CheckReport, Event, Observer, Outcome, shortest_by_itself,
};
use gander_race::{Answered, FoundTool, RaceConfig, Standing, ToolReport, run_tool};
use gander_system::{ClaimId, System, Verdict};

/// What the tools did.
#[derive(Debug, Default)]
pub(crate) struct Raced {
    pub(crate) accounts: Vec<ToolReport>,
}

/// The open claims, and what to cancel when none is left.
struct OpenClaims {
    open: Mutex<BTreeSet<ClaimId>>,
    engines: Cancellation,
    tools: Cancellation,
}

impl OpenClaims {
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

/// Closes the claims that the engines settle.
struct ClosingObserver<'a> {
    open_claims: &'a OpenClaims,
    observer: &'a dyn Observer,
}

impl Observer for ClosingObserver<'_> {
    fn event(&self, e: &Event) {
        if let Event::Settled(outcome) = e {
            self.open_claims.settle(outcome.claim);
        }
        self.observer.event(e);
    }
}

/// Runs the engines (`ours`) and the tools side by side, within the time limit of the
/// configuration.
pub(crate) fn race(
    system: &Arc<System>,
    config: &CheckConfig,
    entrants: &[FoundTool],
    cancel: &Cancellation,
    observer: &dyn Observer,
    ours: impl FnOnce(&CheckConfig, &Cancellation, &dyn Observer) -> CheckReport,
) -> (CheckReport, Raced) {
    if entrants.is_empty() {
        return (ours(config, cancel, observer), Raced::default());
    }
    let begin = Instant::now();
    let open_claims = OpenClaims {
        open: Mutex::new(config.claims.iter().copied().collect()),
        engines: cancel.child(),
        tools: cancel.child(),
    };
    let race_config = RaceConfig {
        claims: config.claims.clone(),
        solvers: Arc::clone(&config.solvers),
        deadline: config.timeout.and_then(|t| begin.checked_add(t)),
        memory: config.memory,
        second_opinion: config.second_opinion.clone(),
        trust: config.trust,
        log_smt: config.log_smt.clone(),
        cancellation: open_claims.tools.clone(),
    };
    let is_open = |claim: ClaimId| open_claims.open().contains(&claim);
    let on_answer = |answered: &Answered| {
        if matches!(answered.standing, Standing::Checked(..)) {
            open_claims.settle(answered.claim);
        }
    };
    let (mut report, accounts) = std::thread::scope(|scope| {
        let tools: Vec<_> = entrants
            .iter()
            .map(|e| scope.spawn(|| run_tool(e, system, &race_config, &is_open, &on_answer)))
            .collect();
        let report = ours(
            config,
            &open_claims.engines,
            &ClosingObserver { open_claims: &open_claims, observer },
        );
        for outcome in
            report.outcomes.iter().filter(|o| !matches!(o.verdict, Verdict::Unknown { .. }))
        {
            open_claims.settle(outcome.claim);
        }
        let broken = |entrant: &FoundTool| ToolReport {
            tool: entrant.tool.name().to_string(),
            answers: Vec::new(),
            ending: "its adapter broke".to_string(),
            elapsed: begin.elapsed(),
        };
        let accounts: Vec<ToolReport> = tools
            .into_iter()
            .zip(entrants)
            .map(|(t, e)| t.join().unwrap_or_else(|_| broken(e)))
            .collect();
        (report, accounts)
    });
    for outcome in
        report.outcomes.iter_mut().filter(|o| matches!(o.verdict, Verdict::Unknown { .. }))
    {
        let answers =
            accounts.iter().flat_map(|a| a.answers.iter().map(move |answer| (&a.tool, answer)));
        let checked = answers.filter(|(_, a)| a.claim == outcome.claim).filter_map(|(tool, a)| {
            match &a.standing {
                Standing::Checked(verdict, certified) => {
                    Some((tool, a.elapsed, verdict, certified))
                }
                Standing::Claimed(_) => None,
            }
        });
        if let Some((tool, elapsed, verdict, certified)) =
            checked.min_by_key(|(_, elapsed, _, _)| *elapsed)
        {
            *outcome = Outcome {
                claim: outcome.claim,
                verdict: (**verdict).clone(),
                shortest: shortest_by_itself(verdict),
                engine: tool.clone(),
                elapsed,
                warnings: certified.warnings.clone(),
                basis: certified.basis.clone(),
            };
        }
    }
    (report, Raced { accounts })
}

//! The judge: has answers checked by `gander-certify`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use gander_certify::{CheckLimits, Checker, LogSink, Rejection};
use gander_smt::Killer;
use gander_system::{ClaimId, System, Verdict};

use crate::cancel::CancelToken;
use crate::config::CheckConfig;
use crate::log_name::claims_in_file_name;

/// Checks of answers that were found in time may run over the time limit by this much, all together; or by a part of it.
const GRACE: Duration = Duration::from_millis(200);
const GRACE_PART: u32 = 20;

/// What the checks of conjectures may cost, all together and each query.
const BRIEF: Duration = Duration::from_millis(100);

/// What the check of an answer gave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Judgement {
    Right { warnings: Vec<String> },
    Wrong(String),
    Undecided(String),
}

/// See the module's documentation.
pub(super) struct Judge {
    system: Arc<System>,
    config: CheckConfig,
    /// Kept from answer to answer, as it keeps its solvers running.
    checker: Checker,
    /// Asks the solver of the second opinion only; none if it is wanted and was not found.
    second: Option<Option<Checker>>,
    /// When the last check has to be over.
    end: Option<Instant>,
    grace: Duration,
    logs: Arc<AtomicU32>,
}

impl Judge {
    pub(super) fn new(system: &Arc<System>, config: &CheckConfig, cancel: &CancelToken, started: Instant) -> Judge {
        let killer = Killer::new();
        cancel.kills(&killer);
        let grace = config.timeout.map_or(GRACE, |t| GRACE.max(t / GRACE_PART));
        let end = config.timeout.and_then(|t| started.checked_add(t)?.checked_add(grace));
        let logs = Arc::new(AtomicU32::new(0));
        let (solvers, limits) = (&config.solvers, CheckLimits { memory: config.memory, ..CheckLimits::default() });
        let mut checker = Checker::new(solvers, limits);
        let mut second = config.second_opinion.as_ref().map(|name| Checker::with_solver(solvers, limits, name));
        // Thousands of claims may come with one invariant.
        checker.remember(system);
        if let Some(Some(second)) = &mut second {
            second.remember(system);
        }
        let mut judge = Judge { system: Arc::clone(system), config: config.clone(), checker, second, end, grace, logs };
        judge.obey(&killer);
        judge
    }

    fn obey(&mut self, killer: &Killer) {
        self.checker.set_killer(killer.clone());
        if let Some(Some(second)) = &mut self.second {
            second.set_killer(killer.clone());
        }
    }

    /// Everything was cancelled: what was found already still gets a short check.
    pub(super) fn last_moment(&mut self) {
        self.obey(&Killer::new());
        let now = Instant::now() + self.grace;
        self.end = Some(self.end.map_or(now, |end| end.min(now)));
    }

    /// There is no time left.
    pub(super) fn is_late(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// Has an answer checked, for no longer than `most` if that is given.
    pub(super) fn judge(&mut self, claim: ClaimId, verdict: &Verdict, most: Option<Duration>) -> Judgement {
        let (mut limits, log) = (self.limits(), self.log(&[claim]));
        limits.total = [limits.total, most].into_iter().flatten().min();
        let warnings = match check(&self.system, &mut self.checker, limits, log.clone(), claim, verdict) {
            Ok(warnings) => warnings,
            Err(judgement) => return judgement,
        };
        let name = self.config.second_opinion.as_deref().unwrap_or_default();
        match &mut self.second {
            None => Judgement::Right { warnings },
            Some(None) => Judgement::Undecided(format!("the solver `{name}` for a second opinion was not found")),
            Some(Some(second)) => match check(&self.system, second, limits, log, claim, verdict) {
                Ok(_) => Judgement::Right { warnings },
                Err(Judgement::Undecided(why)) => Judgement::Undecided(format!("second opinion by {name}: {why}")),
                Err(Judgement::Wrong(why)) => Judgement::Wrong(format!("second opinion by {name}: {why}")),
                Err(right) => right,
            },
        }
    }

    /// Whether conjectures are right, each with the warnings if it is.
    pub(super) fn judge_conjectures(&mut self, verdicts: &[(ClaimId, &Verdict)]) -> Vec<Option<Vec<String>>> {
        self.judge_together(verdicts, BRIEF)
    }

    /// Which of several answers are right, each with the warnings if it is; of the others nothing is known.
    pub(super) fn judge_together(
        &mut self,
        verdicts: &[(ClaimId, &Verdict)],
        most: Duration,
    ) -> Vec<Option<Vec<String>>> {
        let mut limits = self.limits();
        limits.total = Some(limits.total.unwrap_or(most).min(most));
        let claims: Vec<ClaimId> = verdicts.iter().map(|(claim, _)| *claim).collect();
        let log = self.log(&claims);
        let mut right = certified(&self.system, &mut self.checker, limits, log.clone(), verdicts);
        if let Some(second) = &mut self.second {
            let agrees = match second {
                Some(second) => certified(&self.system, second, limits, log, verdicts),
                None => vec![None; verdicts.len()],
            };
            for (right, agrees) in right.iter_mut().zip(agrees) {
                *right = right.take().filter(|_| agrees.is_some());
            }
        }
        right
    }

    fn limits(&self) -> CheckLimits {
        let left = self.end.map(|end| end.saturating_duration_since(Instant::now()));
        CheckLimits { total: left, memory: self.config.memory, ..CheckLimits::default() }
    }

    /// Where conversations about claims are recorded, if they are.
    fn log(&self, claims: &[ClaimId]) -> Option<LogSink> {
        let folder = self.config.log_smt.clone()?;
        let (logs, name) = (Arc::clone(&self.logs), claims_in_file_name(&self.system, claims));
        Some(Arc::new(move |solver: &str| {
            let n = logs.fetch_add(1, Ordering::Relaxed);
            let file = File::create(folder.join(format!("certify-{name}-{solver}-{n}.smt2"))).ok()?;
            Some(Box::new(BufWriter::new(file)) as Box<dyn Write + Send>)
        }))
    }
}

fn check(
    system: &System,
    checker: &mut Checker,
    limits: CheckLimits,
    log: Option<LogSink>,
    claim: ClaimId,
    verdict: &Verdict,
) -> Result<Vec<String>, Judgement> {
    checker.set_limits(limits);
    if let Some(log) = log {
        checker.set_log(log);
    }
    match checker.check(system, claim, verdict) {
        Ok(certified) => Ok(certified.warnings),
        Err(Rejection::Wrong(why)) => Err(Judgement::Wrong(why)),
        Err(Rejection::Undecided(why)) => Err(Judgement::Undecided(why)),
    }
}

fn certified(
    system: &System,
    checker: &mut Checker,
    limits: CheckLimits,
    log: Option<LogSink>,
    verdicts: &[(ClaimId, &Verdict)],
) -> Vec<Option<Vec<String>>> {
    checker.set_limits(limits);
    if let Some(log) = log {
        checker.set_log(log);
    }
    checker.check_all(system, verdicts).into_iter().map(|o| o.ok().map(|c| c.warnings)).collect()
}

//! The certifier: checks answers with `gander-certify`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_certify::{Certified, CheckLimits, Panel, Rejection, Trust};
use gander_runtime::Cancellation;
use gander_smt::Records;
use gander_system::{ClaimId, System, Verdict};

use super::Ending;
use super::limits::LIMITS;
use crate::core::CheckConfig;

/// See the module's documentation.
pub(super) struct Certifier {
    system: Arc<System>,
    memory: Option<u64>,
    trust: Trust,
    /// Kept between answers, so that its solvers keep running.
    panel: Panel,
    /// When the last check has to be over.
    end: Option<Instant>,
    grace: Duration,
}

impl Certifier {
    pub(super) fn new(
        system: &Arc<System>,
        config: &CheckConfig,
        cancel: &Cancellation,
        started: Instant,
    ) -> Certifier {
        let grace =
            config.timeout.map_or(LIMITS.grace, |t| LIMITS.grace.max(t / LIMITS.grace_part));
        let end = config.timeout.and_then(|t| started.checked_add(t)?.checked_add(grace));
        let trust = config.trust;
        let limits = CheckLimits { memory: config.memory, trust, ..CheckLimits::default() };
        let mut panel = Panel::new(&config.solvers, limits, config.second_opinion.as_deref());
        if let Some(folder) = &config.log_smt {
            panel.record(Records::new(folder.clone()));
        }
        panel.set_cancellation(cancel);
        // Thousands of claims may come with one invariant.
        panel.remember(system);
        Certifier { system: Arc::clone(system), memory: config.memory, trust, panel, end, grace }
    }

    /// The check is over: answers that were found already get a short check, a shorter one after a
    /// cancellation.
    pub(super) fn begin_grace_period(&mut self, ending: Ending) {
        self.panel.set_cancellation(&Cancellation::new());
        let now = Instant::now()
            + if ending == Ending::Cancelled {
                self.grace.min(LIMITS.cancelled_checks)
            } else {
                self.grace
            };
        self.end = Some(self.end.map_or(now, |end| end.min(now)));
    }

    /// There is no time left.
    pub(super) fn is_late(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// Checks an answer, for at most `most`. Returns what it rests on if it is right.
    pub(super) fn certify(
        &mut self,
        claim: ClaimId,
        verdict: &Verdict,
        most: Option<Duration>,
    ) -> Result<Certified, Rejection> {
        let mut limits = self.limits();
        limits.total = [limits.total, most].into_iter().flatten().min();
        self.panel.check(&self.system, limits, None, claim, verdict)
    }

    /// Checks conjectures; for each right one, what it rests on.
    pub(super) fn certify_conjectures(
        &mut self,
        verdicts: &[(ClaimId, &Verdict)],
    ) -> Vec<Option<Certified>> {
        self.certify_all(verdicts, LIMITS.conjecture_checks)
    }

    /// Checks several answers at once; for each that is shown right, what it rests on. `None` does
    /// not mean that the answer is wrong.
    pub(super) fn certify_all(
        &mut self,
        verdicts: &[(ClaimId, &Verdict)],
        most: Duration,
    ) -> Vec<Option<Certified>> {
        let mut limits = self.limits();
        limits.total = Some(limits.total.unwrap_or(most).min(most));
        let outcomes = self.panel.check_all(&self.system, limits, None, verdicts);
        outcomes.into_iter().map(Result::ok).collect()
    }

    fn limits(&self) -> CheckLimits {
        let left = self.end.map(|end| end.saturating_duration_since(Instant::now()));
        CheckLimits {
            total: left,
            memory: self.memory,
            trust: self.trust,
            ..CheckLimits::default()
        }
    }
}

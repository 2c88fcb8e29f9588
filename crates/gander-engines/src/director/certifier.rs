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
        if let Some(refutations) = &config.refutations {
            panel.share_refutations(refutations);
        }
        if let Some(folder) = &config.log_smt {
            panel.record(Records::new(folder.clone()));
        }
        panel.set_cancellation(cancel);
        // Thousands of claims may come with one invariant.
        panel.remember(system);
        Certifier { system: Arc::clone(system), memory: config.memory, trust, panel, end, grace }
    }

    /// Limits the time for checking the remaining answers when the check has ended. After a
    /// cancellation the limit is shorter.
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

    /// True if there is no time left for checks.
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

    /// Checks conjectures; for each right one, what it rests on. `time` is for a few of them, and
    /// grows with their number; without it other claims wait meanwhile.
    pub(super) fn certify_conjectures(
        &mut self,
        verdicts: &[(ClaimId, &Verdict)],
        time: Option<Duration>,
    ) -> Vec<Option<Certified>> {
        // One obligation for each transition, and some for each claim.
        let obligations = verdicts.len() + self.system.transitions().len();
        let more = LIMITS.batch_time_each * u32::try_from(obligations).unwrap_or(u32::MAX);
        let long = time.map(|t| t + more.min(4 * LIMITS.batch_time));
        let most = long.unwrap_or(LIMITS.others_wait);
        self.certify_all(verdicts, most)
    }

    /// Checks several answers without solvers, which takes little time for each. Others that do not
    /// need a solver do not wait for those that do.
    pub(super) fn certify_easy(
        &mut self,
        verdicts: &[(ClaimId, &Verdict)],
    ) -> Vec<Option<Certified>> {
        let obligations = verdicts.len() + self.system.transitions().len();
        let more = LIMITS.batch_time_each * u32::try_from(obligations).unwrap_or(u32::MAX);
        let most = LIMITS.others_wait + more.min(LIMITS.batch_time);
        self.certify_within(verdicts, CheckLimits { solvers: false, ..self.limits() }, most)
    }

    /// Checks several answers at once; for each that is shown right, what it rests on. `None` does
    /// not mean that the answer is wrong.
    pub(super) fn certify_all(
        &mut self,
        verdicts: &[(ClaimId, &Verdict)],
        most: Duration,
    ) -> Vec<Option<Certified>> {
        self.certify_within(verdicts, self.limits(), most)
    }

    fn certify_within(
        &mut self,
        verdicts: &[(ClaimId, &Verdict)],
        mut limits: CheckLimits,
        most: Duration,
    ) -> Vec<Option<Certified>> {
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

//! The certifier: has answers checked by `gander-certify`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_certify::{Certified, CheckLimits, Panel, Rejection, Trust};
use gander_runtime::Cancellation;
use gander_smt::Records;
use gander_system::{ClaimId, System, Verdict};

use super::Ending;
use crate::core::CheckConfig;

/// Checks of answers that were found in time may run over the time limit by this much, all together; or by a part of it.
const GRACE: Duration = Duration::from_millis(200);
const GRACE_PART: u32 = 20;

/// Checks of answers that were found before somebody cancelled, all together.
const LAST_CHECKS: Duration = Duration::from_millis(20);

/// What the checks of conjectures may cost, all together and each query.
const BRIEF: Duration = Duration::from_millis(100);

/// See the module's documentation.
pub(super) struct Certifier {
    system: Arc<System>,
    memory: Option<u64>,
    trust: Trust,
    /// Kept from answer to answer, as it keeps its solvers running.
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
        let grace = config.timeout.map_or(GRACE, |t| GRACE.max(t / GRACE_PART));
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

    /// Everything is over: what was found already still gets a short check; a very short one if somebody waits for the end.
    pub(super) fn last_moment(&mut self, ending: Ending) {
        self.panel.set_cancellation(&Cancellation::new());
        let now = Instant::now() + if ending == Ending::Cancelled { self.grace.min(LAST_CHECKS) } else { self.grace };
        self.end = Some(self.end.map_or(now, |end| end.min(now)));
    }

    /// There is no time left.
    pub(super) fn is_late(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// Has an answer checked, for no longer than `most` if that is given; what it rests on if it is right.
    pub(super) fn certifier(
        &mut self,
        claim: ClaimId,
        verdict: &Verdict,
        most: Option<Duration>,
    ) -> Result<Certified, Rejection> {
        let mut limits = self.limits();
        limits.total = [limits.total, most].into_iter().flatten().min();
        self.panel.check(&self.system, limits, None, claim, verdict)
    }

    /// Whether conjectures are right, each with what it rests on if it is.
    pub(super) fn judge_conjectures(&mut self, verdicts: &[(ClaimId, &Verdict)]) -> Vec<Option<Certified>> {
        self.judge_together(verdicts, BRIEF)
    }

    /// Which of several answers are right, each with what it rests on if it is; of the others nothing is known.
    pub(super) fn judge_together(
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
        CheckLimits { total: left, memory: self.memory, trust: self.trust, ..CheckLimits::default() }
    }
}

//! The judge: has answers checked by `gander-certify`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use gander_certify::{CheckLimits, Checker, Rejection};
use gander_smt::Killer;
use gander_system::{ClaimId, System, Verdict};

use crate::cancel::CancelToken;
use crate::config::CheckConfig;

/// Checks of answers that were found in time may run over the time limit by this much.
const GRACE: Duration = Duration::from_millis(200);

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
    killer: Killer,
    deadline: Option<Instant>,
    logs: Arc<AtomicU32>,
}

impl Judge {
    pub(super) fn new(system: &Arc<System>, config: &CheckConfig, cancel: &CancelToken, started: Instant) -> Judge {
        let killer = Killer::new();
        cancel.kills(&killer);
        let deadline = config.timeout.and_then(|t| started.checked_add(t));
        let logs = Arc::new(AtomicU32::new(0));
        Judge { system: Arc::clone(system), config: config.clone(), killer, deadline, logs }
    }

    /// Everything was cancelled: what was found already still gets a short check.
    pub(super) fn last_moment(&mut self) {
        self.killer = Killer::new();
        self.deadline = Some(Instant::now());
    }

    pub(super) fn judge(&self, claim: ClaimId, verdict: &Verdict) -> Judgement {
        let mut checker = Checker::new(&self.config.solvers, self.limits());
        let certified = match self.check(&mut checker, claim, verdict) {
            Ok(warnings) => warnings,
            Err(judgement) => return judgement,
        };
        let Some(name) = &self.config.second_opinion else {
            return Judgement::Right { warnings: certified };
        };
        match Checker::with_solver(&self.config.solvers, self.limits(), name) {
            None => Judgement::Undecided(format!("the solver `{name}` for a second opinion was not found")),
            Some(mut second) => match self.check(&mut second, claim, verdict) {
                Ok(_) => Judgement::Right { warnings: certified },
                Err(Judgement::Undecided(why)) => Judgement::Undecided(format!("second opinion by {name}: {why}")),
                Err(Judgement::Wrong(why)) => Judgement::Wrong(format!("second opinion by {name}: {why}")),
                Err(right) => right,
            },
        }
    }

    fn limits(&self) -> CheckLimits {
        let left = self.deadline.map(|d| d.saturating_duration_since(Instant::now()) + GRACE);
        CheckLimits { total: left, query: left, memory: self.config.memory, ..CheckLimits::default() }
    }

    fn check(&self, checker: &mut Checker, claim: ClaimId, verdict: &Verdict) -> Result<Vec<String>, Judgement> {
        checker.set_killer(self.killer.clone());
        if let Some(folder) = self.config.log_smt.clone() {
            let (logs, name) = (Arc::clone(&self.logs), file_name(&self.system.claims[claim.index()].name));
            checker.set_log(Arc::new(move |solver: &str| {
                let n = logs.fetch_add(1, Ordering::Relaxed);
                let file = File::create(folder.join(format!("certify-{name}-{solver}-{n}.smt2"))).ok()?;
                Some(Box::new(BufWriter::new(file)) as Box<dyn Write + Send>)
            }));
        }
        match checker.check(&self.system, claim, verdict) {
            Ok(certified) => Ok(certified.warnings),
            Err(Rejection::Wrong(why)) => Err(Judgement::Wrong(why)),
            Err(Rejection::Undecided(why)) => Err(Judgement::Undecided(why)),
        }
    }
}

/// A claim's name as part of a file name.
fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).take(60).collect()
}

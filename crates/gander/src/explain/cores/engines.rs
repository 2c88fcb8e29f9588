//! The prover behind explanations: the engines, and the checker.

use std::sync::Arc;
use std::time::Duration;

use gander_certify::{CheckLimits, Checker};
use gander_engines::{Cancellation, CheckConfig, NullObserver, check};
use gander_explain::Prover;
use gander_explain::run_explanation::RunChecker;
use gander_smt::Solvers;
use gander_system::{ClaimId, Run, System, Verdict};
use gander_term::{Pool, SymbolId, TermId};

/// The time limit of one check of evidence.
const CHECK_TIME: Duration = Duration::from_secs(30);

/// Whether a prover may have a helper on a second thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Helper {
    /// It may.
    Allowed,
    /// Other provers use all threads already.
    Forbidden,
}

/// The engines and the checker, as the prover of explanations.
pub(crate) struct Engines {
    pub(crate) config: CheckConfig,
    pub(crate) checker: Checker,
    pub(crate) cancel: Cancellation,
    pub(crate) helper: Helper,
}

impl Engines {
    pub(crate) fn new(
        solvers: &Arc<Solvers>,
        config: CheckConfig,
        cancel: &Cancellation,
    ) -> Engines {
        let limits = CheckLimits { total: Some(CHECK_TIME), ..CheckLimits::default() };
        let helper = if config.jobs == 1 { Helper::Forbidden } else { Helper::Allowed };
        Engines { config, checker: Checker::new(solvers, limits), cancel: cancel.clone(), helper }
    }
}

impl Prover for Engines {
    fn helper(&self) -> Option<Box<dyn Prover + Send>> {
        if self.helper == Helper::Forbidden {
            return None;
        }
        // The two share the machine.
        let config = CheckConfig { jobs: 1, ..self.config.clone() };
        let solvers = Arc::clone(&self.config.solvers);
        Some(Box::new(Engines::new(&solvers, config, &self.cancel)))
    }

    fn prove(&mut self, system: &Arc<System>, claim: ClaimId, time: Duration) -> Verdict {
        let config =
            CheckConfig { claims: vec![claim], timeout: Some(time), ..self.config.clone() };
        let mut report = check(system, &config, &self.cancel, &NullObserver);
        match report.outcomes.pop() {
            Some(outcome) => outcome.verdict,
            None => Verdict::Unknown { explored_through: None, why: Vec::new() },
        }
    }

    fn certify(
        &mut self,
        system: &System,
        claim: ClaimId,
        verdict: &Verdict,
    ) -> Result<(), String> {
        self.checker.check(system, claim, verdict).map(drop).map_err(|e| e.to_string())
    }

    fn eliminate(&mut self, pool: &mut Pool, symbols: &[SymbolId], formula: TermId) -> TermId {
        gander_certify::eliminated(pool, symbols, formula)
    }
}

impl RunChecker for Engines {
    fn certify(
        &mut self,
        system: &System,
        claim: ClaimId,
        verdict: &Verdict,
    ) -> Result<(), String> {
        Prover::certify(self, system, claim, verdict)
    }

    fn replay(&mut self, system: &System, run: &Run) -> Result<(), String> {
        self.checker.replay(system, run).map_err(|e| e.to_string())
    }
}

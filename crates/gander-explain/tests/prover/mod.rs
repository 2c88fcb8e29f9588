//! The engines and the checker as the prover of explanations, and models to explain.

#![allow(dead_code)]

use std::sync::Arc;
use std::time::Duration;

use gander_certify::{CheckLimits, Checker};
use gander_engines::{Cancellation, CheckConfig, NullObserver, check};
use gander_explain::{ExplainConfig, Explainer, Explanation, Granularity, Parts, Prover, Request};
use gander_smt::Solvers;
use gander_system::{ClaimId, System, Verdict};
use gander_term::{Pool, SymbolId, TermId};

/// Proves with the default portfolio and checks with `gander-certify`.
pub struct Engines {
    pub solvers: Arc<Solvers>,
    pub checker: Checker,
}

impl Engines {
    pub fn new() -> Engines {
        let solvers = Arc::new(Solvers::from_environment());
        let checker = Checker::new(&solvers, CheckLimits::default());
        Engines { solvers, checker }
    }
}

impl Prover for Engines {
    fn prove(&mut self, system: &Arc<System>, claim: ClaimId, time: Duration) -> Verdict {
        let config = CheckConfig {
            timeout: Some(time),
            jobs: 1,
            ..CheckConfig::new(Arc::clone(&self.solvers), vec![claim])
        };
        let mut report = check(system, &config, &Cancellation::new(), &NullObserver);
        report.outcomes.pop().unwrap().verdict
    }

    fn certify(
        &mut self,
        system: &System,
        claim: ClaimId,
        verdict: &Verdict,
    ) -> Result<(), String> {
        self.checker.check(system, claim, verdict).map(|_| ()).map_err(|e| e.to_string())
    }

    fn eliminate(&mut self, pool: &mut Pool, symbols: &[SymbolId], formula: TermId) -> TermId {
        gander_certify::eliminated(pool, symbols, formula)
    }
}

/// The parts and the explanation of a claim that holds.
pub fn explained(
    system: System,
    source: &str,
    claim: &str,
    request: Request,
) -> (Parts, Explanation) {
    let system = Arc::new(system);
    let claim = ClaimId::from(system.claims().iter().position(|c| c.name == claim).unwrap());
    let mut engines = Engines::new();
    let verdict = engines.prove(&system, claim, Duration::from_secs(20));
    let parts = Parts::of(&system, source, Granularity::Written);
    let config = ExplainConfig::new(&engines.solvers);
    let mut explainer =
        Explainer::new(&system, parts, claim, &verdict, config, &mut engines).unwrap();
    let explanation = explainer.explain(request, &mut |_, _| {});
    (explainer.parts().clone(), explanation)
}

/// The names of the cores, sorted.
pub fn core_names(parts: &Parts, explanation: &Explanation) -> Vec<Vec<String>> {
    let mut cores: Vec<Vec<String>> =
        explanation.cores.iter().map(|c| parts.names(&c.parts)).collect();
    cores.iter_mut().for_each(|c| c.sort());
    cores.sort();
    cores
}

//! A run with repetitions is explained step by step only if the checker accepts it step by step.

use std::sync::Arc;

use gander_certify::{CheckLimits, Checker};
use gander_explain::run_explanation::{RunChecker, RunRequest, explain_run};
use gander_explain::{ExplainConfig, Granularity, Parts};
use gander_smt::Solvers;
use gander_system::{
    ClaimId, Evidence, Leg, Run, StartId, State, Step, System, TransitionId, Verdict,
};
use gander_term::Value;

/// Calls the checker, or refuses every run except the original one.
struct LimitedChecker<'r> {
    checker: Checker,
    only: Option<&'r Run>,
}

/// The run of a failing verdict.
fn failing(verdict: &Verdict) -> &Run {
    let Verdict::Fails(Evidence::Run(run)) = verdict else { panic!("it fails by a run") };
    run
}

impl RunChecker for LimitedChecker<'_> {
    fn certify(
        &mut self,
        system: &System,
        claim: ClaimId,
        verdict: &Verdict,
    ) -> Result<(), String> {
        if self.only.is_some_and(|only| only != failing(verdict)) {
            return Err("it is another one".to_string());
        }
        self.checker.check(system, claim, verdict).map(drop).map_err(|e| e.to_string())
    }

    fn replay(&mut self, system: &System, run: &Run) -> Result<(), String> {
        self.checker.replay(system, run).map_err(|e| e.to_string())
    }
}

#[test]
fn a_run_with_repetitions_is_checked_step_by_step() {
    let text =
        "var x: int\nstart -> A { x == 0 }\nnode A { up { x := x + 1 } }\nalways few: x < 12\n";
    let parsed = gander_lang::sts::load(text, "few.sts");
    let system = Arc::new(parsed.system.expect("the model is right"));
    let claim = ClaimId::from(system.claims().len() - 1);
    let up = Step { transition: TransitionId::from(0), params: Vec::new(), next: None };
    let run = Run {
        start: StartId::from(0),
        first: State { node: system.starts()[0].target, values: vec![Value::int(0)] },
        legs: vec![Leg::Repeat { times: 12, body: vec![Leg::Step(up)] }].into(),
    };
    let verdict = Verdict::Fails(Evidence::Run(run.clone()));
    let solvers = Arc::new(Solvers::from_environment());
    let parts = Parts::of(&system, text, Granularity::Written);
    let config = ExplainConfig::new(&solvers);
    let explain = |only| {
        let checker = Checker::new(&solvers, CheckLimits::default());
        let mut limited = LimitedChecker { checker, only };
        let request = RunRequest::default();
        explain_run(&system, &parts, (claim, &verdict), request, &config, &mut limited).unwrap()
    };

    let as_found = explain(Some(&run));
    assert_eq!(as_found.run, run);
    assert_eq!(*failing(&as_found.verdict), run);
    assert!(as_found.forced.is_none());
    assert!(
        as_found.notes.iter().any(|n| n.contains("did not pass its check")),
        "{:?}",
        as_found.notes
    );

    let explained = explain(None);
    assert_eq!(*failing(&explained.verdict), explained.run);
    assert_eq!(explained.run.length(), 12);
    assert!(explained.forced.is_some());
}

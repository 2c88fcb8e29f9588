//! Verdicts that do not depend on how the language is read.
//!
//! Where tools read a language differently ([`gander_system::Ambiguity`]), a system has the runs of
//! the wide reading. A proof about it holds in both readings. A run counts only if it is also a run
//! of the narrow reading. If only the wide reading has such a run, the claim is unknown, and the
//! obstacle names the readings.

use std::sync::Arc;
use std::time::Instant;

use gander_certify::{Basis, CheckLimits, Checker};
use gander_engines::{Cancellation, CheckConfig, CheckReport, NullObserver, Outcome};
use gander_system::{Evidence, Leg, Obstacle, Role, Run, System, Verdict};
use gander_term::{SymbolId, Value, evaluate};

/// Replaces verdicts that rest on runs of the wide reading only.
pub(crate) fn reconcile(
    system: &Arc<System>,
    config: &CheckConfig,
    cancel: &Cancellation,
    started: Instant,
    report: &mut CheckReport,
) {
    let Some(ambiguity) = system.ambiguity() else { return };
    let stands = |o: &Outcome| ambiguity_of(system, &o.verdict).is_none();
    let open: Vec<usize> =
        (0..report.outcomes.len()).filter(|&i| !stands(&report.outcomes[i])).collect();
    if open.is_empty() {
        return;
    }
    let mut config = config.clone();
    config.claims = open.iter().map(|&i| report.outcomes[i].claim).collect();
    config.timeout = config.timeout.map(|t| t.saturating_sub(started.elapsed()));
    let Some(narrow) = system.narrow_reading() else { return };
    let found = gander_engines::check(&Arc::new(narrow), &config, cancel, &NullObserver);
    let limits = CheckLimits {
        total: config.timeout,
        memory: config.memory,
        trust: config.trust,
        ..CheckLimits::default()
    };
    let mut checker = Checker::new(&config.solvers, limits);
    for (i, mut other) in open.into_iter().zip(found.outcomes) {
        let wide = &mut report.outcomes[i];
        let agrees = matches!(
            (&wide.verdict, &other.verdict),
            (Verdict::Holds(_), Verdict::Holds(Evidence::Run(_)))
                | (Verdict::Fails(_), Verdict::Fails(Evidence::Run(_)))
        );
        // A run of the narrow reading is a run of the wide reading, which evidence is checked
        // against.
        if agrees && let Ok(certified) = checker.check(system, other.claim, &other.verdict) {
            (other.warnings, other.basis) = (certified.warnings, certified.basis);
            other.elapsed = started.elapsed();
            *wide = other;
            continue;
        }
        let (explored_through, mut why) = match other.verdict {
            Verdict::Unknown { explored_through, why } => (explored_through, why),
            _ => (None, Vec::new()),
        };
        why.insert(0, Obstacle { engine: "language".into(), reason: ambiguity.text.clone() });
        wide.verdict = Verdict::Unknown { explored_through, why };
        wide.engine = String::new();
        wide.warnings.clear();
        wide.basis = Basis::default();
    }
    report.internal_errors.extend(found.internal_errors);
}

/// Why a verdict does not hold in every reading of the language: its run exists in the wide reading
/// only.
pub fn ambiguity_of<'s>(system: &'s System, verdict: &Verdict) -> Option<&'s str> {
    let ambiguity = system.ambiguity()?;
    match verdict {
        Verdict::Holds(Evidence::Run(run)) | Verdict::Fails(Evidence::Run(run))
            if !is_narrow(system, run) =>
        {
            Some(&ambiguity.text)
        }
        _ => None,
    }
}

/// True if every state of the run satisfies the assumption of the narrow reading.
fn is_narrow(system: &System, run: &Run) -> bool {
    let Some(ambiguity) = system.ambiguity() else { return true };
    let satisfies = |values: &[Value]| {
        let look = |s| system.vars().iter().position(|v| v.current == s).map(|i| values[i].clone());
        evaluate(system.pool(), ambiguity.formula.term(), &look) == Ok(Value::Bool(true))
    };
    let free = system.pool().free_symbols(&[ambiguity.formula.term()]);
    let input =
        |s: &SymbolId| system.vars().iter().any(|v| v.current == *s && v.role == Role::Input);
    let about_inputs = free.iter().all(input);
    let mut legs: Vec<&Leg> = run.legs.iter().collect();
    let mut all = satisfies(&run.first.values);
    while let (true, Some(leg)) = (all, legs.pop()) {
        match leg {
            // Inputs are the same in all rounds of a repetition; of other variables the run has
            // only the last values.
            Leg::Repeat { body, .. } if about_inputs => legs.extend(body),
            Leg::Repeat { .. } => all = false,
            Leg::Step(step) => all = step.next.as_ref().is_some_and(|values| satisfies(values)),
        }
    }
    all
}

//! Systems without a run: what holds of them counts for nothing (docs/semantics.md, section 4).
//!
//! A contradiction in what a model says of its start makes every claim about all runs true. So wherever no evidence shows a
//! run, the checker is asked whether there is one. If there is none, that is a verdict of its own, that `a run exists`
//! fails, with evidence like any other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_certify::{CheckLimits, Checker, Rejection};
use gander_engines::{Cancellation, CheckConfig, CheckReport, InternalError, NullObserver, Outcome};
use gander_report::{ClaimView, DiagnosticView, Severity, VerdictView};
use gander_smt::Solvers;
use gander_system::{ClaimId, ClaimKind, Evidence, StartId, System, Verdict};

/// Time for the question whether a run exists, if there is no other limit: it is asked about one state.
const TIME: Duration = Duration::from_secs(10);
/// The part of the time limit that the question may take when the limit is reached.
const OVERTIME: u32 = 20;

/// Whether a system has runs.
#[derive(Debug)]
pub(crate) enum Runs {
    /// It has.
    Exist,
    /// It has none, and a claim of it that was decided says so.
    Lacking,
    /// It has none: the system with a claim that says so, and its verdict.
    Shown(Arc<System>, Box<Outcome>),
    /// Nobody knows.
    Undecided {
        /// The reason.
        why: String,
        /// Errors of our own on the way.
        internal_errors: Vec<InternalError>,
    },
}

/// Finds out whether the system has runs, by what a check has shown of it or by a question.
pub(crate) fn runs(
    system: &Arc<System>,
    report: &CheckReport,
    config: &CheckConfig,
    cancel: &Cancellation,
    left: Option<Duration>,
) -> Runs {
    if system.certainly_has_a_run() || report.outcomes.iter().any(|o| shows_a_run(system, &o.verdict)) {
        return Runs::Exist;
    }
    let fails = |s: StartId| {
        report.outcomes.iter().any(|o| {
            matches!(o.verdict, Verdict::Fails(_))
                && system.claims[o.claim.index()].kind == ClaimKind::StartSatisfiable(s)
        })
    };
    if !system.starts.is_empty() && (0..system.starts.len()).map(StartId::from).all(fails) {
        return Runs::Lacking;
    }
    let undecided = |why: String| Runs::Undecided { why, internal_errors: Vec::new() };
    if cancel.is_cancelled() {
        return undecided("the check was interrupted".to_string());
    }
    let least = config.timeout.map_or(TIME, |t| t / OVERTIME);
    let time = left.map_or(TIME, |t| t.max(least)).min(TIME);
    let begun = Instant::now();
    let limits = CheckLimits { total: Some(time), memory: config.memory, ..CheckLimits::default() };
    let mut checker = Checker::new(&config.solvers, limits);
    checker.set_cancellation(cancel.clone());
    match checker.check_no_run(system) {
        Err(Rejection::Wrong(_)) => return Runs::Exist,
        Err(Rejection::Undecided(why)) => return undecided(why),
        Ok(_) => {}
    }
    // The verdict has to pass the same checks as any other.
    let (asked, claim) = system.as_ref().clone().and_run_claim();
    let asked = Arc::new(asked);
    let mut config = config.clone();
    config.claims = vec![claim];
    config.engines = None;
    config.timeout = Some(time.saturating_sub(begun.elapsed()).max(least));
    let mut found = gander_engines::check(&asked, &config, cancel, &NullObserver);
    match found.outcomes.pop() {
        Some(outcome) if matches!(outcome.verdict, Verdict::Fails(_)) => Runs::Shown(asked, Box::new(outcome)),
        _ => Runs::Undecided {
            why: "that it has none could not be checked".to_string(),
            internal_errors: found.internal_errors,
        },
    }
}

/// True if the evidence has a run in it, or a reachable state. At the entry of a system no run has begun.
fn shows_a_run(system: &System, verdict: &Verdict) -> bool {
    let (Verdict::Holds(evidence) | Verdict::Fails(evidence)) = verdict else { return false };
    match evidence {
        Evidence::Run(run)
        | Evidence::Lasso { run, .. }
        | Evidence::Recurrent { run, .. }
        | Evidence::Impossible { run, .. } => system.entry != Some(run.first.node) || run.length() > 0,
        Evidence::ClosedSet { states } => *states > u64::from(system.entry.is_some()),
        _ => false,
    }
}

/// No claim that holds counts.
pub(crate) fn discount(claims: &mut [ClaimView]) {
    for claim in claims.iter_mut().filter(|c| matches!(c.verdict, VerdictView::Holds(_))) {
        claim.verdict = VerdictView::Vacuous;
        claim.engine = None;
        claim.within = None;
        claim.basis = None;
        claim.warnings.clear();
    }
}

/// The warning that what holds may hold for nothing.
pub(crate) fn undecided_warning(system: &System, why: &str) -> DiagnosticView {
    let message = format!(
        "it was not decided whether `{}` has a run ({why}); if it has none, what holds of it holds for nothing",
        system.name
    );
    DiagnosticView {
        code: "run-undecided".to_string(),
        severity: Severity::Warning,
        rendered: format!("warning: {message}\n"),
        message,
        place: None,
        help: Vec::new(),
    }
}

/// True if the system is known to have no run: evidence that a claim holds shows nothing then.
pub fn has_no_run(system: &System, solvers: &Arc<Solvers>) -> bool {
    let limits = CheckLimits { total: Some(TIME), ..CheckLimits::default() };
    !system.certainly_has_a_run() && Checker::new(solvers, limits).check_no_run(system).is_ok()
}

/// True if the verdict says that a claim holds and shows no run.
pub fn needs_a_run(system: &System, verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Holds(_)) && !shows_a_run(system, verdict)
}

/// Which claim of a system it is that says that a run exists, if it has one.
pub(crate) fn is_run_claim(system: &System, claim: ClaimId) -> bool {
    let claim = &system.claims[claim.index()];
    claim.name == "a run exists" && claim.origin == gander_system::ClaimOrigin::Structural
}

//! Whether a system has a run: claims that hold of a system without one are vacuous
//! (docs/semantics.md, section 4).
//!
//! If the start of a model is contradictory, every claim about all runs holds. So if no evidence
//! contains a run, the checker decides whether there is one. If there is none, the claim `a run
//! exists` fails, with evidence like any other verdict.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_certify::{CheckLimits, Checker, Rejection};
use gander_engines::{
    Cancellation, CheckConfig, CheckReport, InternalError, NullObserver, Outcome,
};
use gander_smt::Solvers;
use gander_system::{ClaimId, ClaimKind, Evidence, StartId, System, Verdict};

/// Time limit for deciding whether a run exists. The query is about one state.
const TIME: Duration = Duration::from_secs(10);
/// If the user's time is over, the query still gets the limit divided by this.
const OVERTIME: u32 = 20;

/// Whether a system has runs.
#[derive(Debug)]
pub(crate) enum Runs {
    /// It has.
    Exist,
    /// It has none, and a decided claim says so.
    Lacking,
    /// It has none: the system with a claim that says so, and its verdict.
    Shown(Arc<System>, Box<Outcome>),
    /// It was not decided.
    Undecided {
        /// The reason.
        why: String,
        /// Internal errors.
        internal_errors: Vec<InternalError>,
    },
}

/// Decides whether the system has runs: by the evidence of a report, or by a query.
pub(crate) fn runs(
    system: &Arc<System>,
    report: &CheckReport,
    config: &CheckConfig,
    cancel: &Cancellation,
    left: Option<Duration>,
) -> Runs {
    if system.certainly_has_a_run()
        || report.outcomes.iter().any(|o| shows_a_run(system, &o.verdict))
    {
        return Runs::Exist;
    }
    let fails = |s: StartId| {
        report.outcomes.iter().any(|o| {
            matches!(o.verdict, Verdict::Fails(_))
                && system.claims()[o.claim.index()].kind == ClaimKind::StartSatisfiable(s)
        })
    };
    if !system.starts().is_empty() && (0..system.starts().len()).map(StartId::from).all(fails) {
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
    // The verdict passes the same checks as any other.
    let (asked, claim) = system.as_ref().clone().and_run_claim();
    let asked = Arc::new(asked);
    let mut config = config.clone();
    config.claims = vec![claim];
    config.engines = None;
    config.timeout = Some(time.saturating_sub(begun.elapsed()).max(least));
    let mut found = gander_engines::check(&asked, &config, cancel, &NullObserver);
    match found.outcomes.pop() {
        Some(outcome) if matches!(outcome.verdict, Verdict::Fails(_)) => {
            Runs::Shown(asked, Box::new(outcome))
        }
        _ => Runs::Undecided {
            why: "that it has none could not be checked".to_string(),
            internal_errors: found.internal_errors,
        },
    }
}

/// True if the evidence contains a run or a reachable state. A run that stays at the entry of a
/// system does not count.
pub(crate) fn shows_a_run(system: &System, verdict: &Verdict) -> bool {
    let (Verdict::Holds(evidence) | Verdict::Fails(evidence)) = verdict else { return false };
    match evidence {
        Evidence::Run(run)
        | Evidence::Lasso { run, .. }
        | Evidence::Recurrent { run, .. }
        | Evidence::Impossible { run, .. } => {
            system.entry() != Some(run.first.node) || run.length() > 0
        }
        Evidence::ClosedSet { states } => *states > u64::from(system.entry().is_some()),
        _ => false,
    }
}

/// True if it can be shown within `time` that the system has a run.
pub(crate) fn has_a_run_within(
    system: &System,
    config: &CheckConfig,
    cancel: &Cancellation,
    time: Duration,
) -> bool {
    let limits = CheckLimits { total: Some(time), memory: config.memory, ..CheckLimits::default() };
    let mut checker = Checker::new(&config.solvers, limits);
    checker.set_cancellation(cancel.clone());
    matches!(checker.check_no_run(system), Err(Rejection::Wrong(_)))
}

/// True if the system is proved to have no run. Evidence that a claim holds is vacuous then.
pub fn has_no_run(system: &System, solvers: &Arc<Solvers>) -> bool {
    let limits = CheckLimits { total: Some(TIME), ..CheckLimits::default() };
    !system.certainly_has_a_run() && Checker::new(solvers, limits).check_no_run(system).is_ok()
}

/// True if the verdict says that a claim holds and shows no run.
pub fn needs_a_run(system: &System, verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Holds(_)) && !shows_a_run(system, verdict)
}

/// True for the structural claim that a run exists.
pub(crate) fn is_run_claim(system: &System, claim: ClaimId) -> bool {
    gander_system::is_run_claim(&system.claims()[claim.index()])
}

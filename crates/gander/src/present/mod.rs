//! Present: what the earlier stages found as a [`CheckView`].
//!
//! Pure functions: presentation asks no solver and reads no file. Diagnostics stay data until they
//! are printed.

mod claims;
mod messages;
mod schedule;
mod tools;

use std::time::Duration;

use gander_engines::InternalError;
use gander_report::{CheckView, ClaimView, VerdictView, diagnostic_views};
use gander_runtime::Cancellation;
use gander_system::{System, Verdict};
use rustc_hash::FxHashMap;

use crate::decide::{Decision, RunExistence, is_run_claim};
use crate::explain::Reason;
use crate::lint::{LintReport, Undecided};
use crate::model::Model;
use crate::options::{Analysis, CheckOptions};
use crate::settled::SettledVerdicts;

pub(crate) use claims::{Equations, name_lines_of_run, outcome_view};
pub(crate) use messages::{load_stopped_text, nothing_to_decide_diagnostic, refusal_diagnostic};

/// What was found out about a system.
#[derive(Debug)]
pub(crate) struct SystemFindings {
    pub(crate) decision: Decision,
    pub(crate) lints: LintReport,
    /// By outcome of the decision: why.
    pub(crate) reasons: Vec<Reason>,
}

/// The view of a check that has decided nothing: [`add_system`] adds what was found out about each
/// system, then [`finish`] what is about all of them, and [`set_ending`] sets the ending.
pub(crate) fn check_view(model: &Model, options: &CheckOptions) -> CheckView {
    let mut view = CheckView::rejected(model.source().name(), model.diagnostics());
    view.diagnostics.retain(|d| !options.allow.iter().any(|code| code.as_str() == d.code));
    view
}

/// Adds what was found out about all systems together.
pub(crate) fn finish(
    model: &Model,
    found: &[SystemFindings],
    options: &CheckOptions,
    view: &mut CheckView,
) {
    in_file_order(found, &mut view.claims);
    let mut undecided = Undecided::default();
    found.iter().for_each(|f| undecided.add(&f.lints.undecided));
    view.diagnostics.extend(messages::undecided_findings_note(&undecided));
    view.diagnostics.extend(messages::checks_without_subject_note(model, options));
    view.internal_errors.extend(found.iter().flat_map(|f| f.decision.modular_errors.clone()));
}

/// Puts the claims of a file that is read as two systems of one name in the order of the file.
fn in_file_order(found: &[SystemFindings], claims: &mut [ClaimView]) {
    let same_name =
        found.windows(2).all(|w| w[0].decision.system.name() == w[1].decision.system.name());
    if found.len() < 2 || !same_name {
        return;
    }
    let mut places: FxHashMap<&str, u32> = FxHashMap::default();
    for claim in found.iter().flat_map(|f| f.decision.system.claims()) {
        let place = claim.span.map_or(u32::MAX, |s| s.start);
        places.entry(&claim.name).or_insert(place);
    }
    claims.sort_by_key(|c| places.get(c.name.as_str()).copied().unwrap_or(u32::MAX));
}

/// Adds what was found out about one system, with the views of verdicts that were settled before.
pub(crate) fn add_system(
    model: &Model,
    found: &SystemFindings,
    settled: &mut SettledVerdicts,
    options: &CheckOptions,
    view: &mut CheckView,
) {
    let SystemFindings { decision, lints, reasons } = found;
    let Decision { system, report, .. } = decision;
    let diagnostics = &mut view.diagnostics;
    diagnostics.extend(decision.cache_problems.iter().map(|p| messages::cache_warning(p)));
    diagnostics.extend(diagnostic_views(&lints.found, model.source()));
    if let RunExistence::Undecided(why) = &decision.runs
        && report.outcomes.iter().any(|o| matches!(o.verdict, Verdict::Holds(_)))
    {
        diagnostics.push(messages::run_undecided_warning(system, why));
    }
    diagnostics.extend(decision.unused_contracts.iter().map(messages::unused_contract_warning));
    let errors = report.internal_errors.iter().map(|e| internal_error_text(system, e));
    view.internal_errors.extend(errors);
    let before = view.claims.len();
    view.claims.extend(claims::claim_views(model, decision, reasons, settled, options));
    // A file that is read as two systems is reported once as having no run.
    let missing = matches!(decision.runs, RunExistence::Missing);
    let has_failed = |d: &ClaimView| matches!(d.verdict, VerdictView::Fails(_));
    let reported =
        |c: &ClaimView| view.claims[..before].iter().any(|d| d.name == c.name && has_failed(d));
    if report.outcomes.last().is_some_and(|o| missing && is_run_claim(system, o.claim))
        && view.claims[before..].last().is_some_and(reported)
    {
        view.claims.pop();
    }
    if options.analysis == Analysis::Modular && model.modules.is_some() {
        let proved = decision.proved.iter().map(|p| claims::modular_view(system, p, options));
        view.claims.extend(proved);
        view.claims[before..]
            .sort_by_cached_key(|c| system.claims().iter().position(|d| d.name == c.name));
    }
    if missing {
        make_vacuous(&mut view.claims[before..]);
    }
    tools::add_tools(system, &decision.tools, view, before);
    if options.explain_schedule {
        view.schedules.push(schedule::schedule_view(&report.schedule));
    }
}

/// Sets the time that the check took, and why it ended before everything was decided.
pub(crate) fn set_ending(
    view: &mut CheckView,
    elapsed: Duration,
    found: &[SystemFindings],
    timeout: Option<Duration>,
    cancel: &Cancellation,
) {
    // The systems of a file share the limit, so one may be stopped before all time is over.
    let out_of_time = found.iter().any(|f| f.decision.report.out_of_time);
    view.seconds = elapsed.as_secs_f64();
    let open = view.claims.iter().any(|c| c.verdict.is_open());
    view.stopped = match timeout {
        _ if !open => None,
        _ if cancel.is_cancelled() => Some("stopped: this is what is known so far".to_string()),
        Some(limit) if out_of_time || elapsed >= limit => Some(messages::time_limit_text(limit)),
        _ => None,
    };
}

/// Makes the claims vacuous that hold of a system without a run.
fn make_vacuous(claims: &mut [ClaimView]) {
    for claim in claims.iter_mut().filter(|c| matches!(c.verdict, VerdictView::Holds(_))) {
        claim.verdict = VerdictView::Vacuous;
        claim.engine = None;
        claim.within = None;
        claim.basis = None;
        claim.invariant = None;
        claim.warnings.clear();
    }
}

fn internal_error_text(system: &System, e: &InternalError) -> String {
    let claim = &system.claims()[e.claim.index()].name;
    match e.verdict {
        Verdict::Unknown { .. } => {
            format!("{}: {} (while working on `{claim}`)", e.engine, e.problem)
        }
        _ => {
            format!("an answer of {} to `{claim}` did not pass its check: {}", e.engine, e.problem)
        }
    }
}

//! Verdicts as views of claims.

use gander_certify::Basis;
use gander_engines::{Outcome, shortest_by_itself};
use gander_lang::{LineIndex, language_of};
use gander_report::describe::{Answered, action_text, claim_view, shown_steps};
use gander_report::{
    BasisView, ClaimView, ConstraintView, EvidenceView, Place, ShownEvidence, TraceView,
    VerdictView,
};
use gander_system::{
    ClaimKind, Dataflow, ElementId, Evidence, Run, System, Verdict, write_evidence,
};

use crate::decide::{Decision, Proved};
use crate::explain::Reason;
use crate::model::Model;
use crate::options::{CheckOptions, FileForm};
use crate::settled::SettledVerdicts;

/// The views of the verdicts of a decision, in their order. Those that were `settled` before are
/// taken from there.
pub(super) fn claim_views(
    model: &Model,
    decision: &Decision,
    reasons: &[Reason],
    settled: &mut SettledVerdicts,
    options: &CheckOptions,
) -> Vec<ClaimView> {
    let (system, report) = (&*decision.system, &decision.report);
    let mut flow = Equations::default();
    let mut views = Vec::new();
    for (outcome, reason) in report.outcomes.iter().zip(reasons) {
        // A claim whose evidence did not pass its check has no verdict to show.
        let refused = report.internal_errors.iter().any(|e| e.claim == outcome.claim);
        if refused && matches!(outcome.verdict, Verdict::Unknown { .. }) {
            continue;
        }
        views.push(match settled.take(outcome.claim) {
            Some(view) => view,
            None => outcome_view(model, system, outcome, reason, &mut flow, options),
        });
    }
    views
}

/// The equations of a system, which are needed only to show runs.
#[derive(Default)]
pub(crate) struct Equations(Option<Option<Dataflow>>);

impl Equations {
    fn needed_for(&mut self, system: &System, verdict: &Verdict) -> Option<&Dataflow> {
        match verdict {
            Verdict::Holds(Evidence::Run(_)) | Verdict::Fails(Evidence::Run(_)) => {
                self.0.get_or_insert_with(|| Dataflow::of(system)).as_ref()
            }
            _ => None,
        }
    }
}

/// The view of a verdict.
pub(crate) fn outcome_view(
    model: &Model,
    system: &System,
    outcome: &Outcome,
    reason: &Reason,
    flow: &mut Equations,
    options: &CheckOptions,
) -> ClaimView {
    let saved = match outcome.verdict {
        Verdict::Unknown { .. } => serde_json::Value::Null,
        _ if options.file_form == FileForm::LeftOut => serde_json::Value::Null,
        _ => write_evidence(system, outcome.claim, &outcome.verdict).unwrap_or_default(),
    };
    let answered = Answered {
        claim: &system.claims()[outcome.claim.index()],
        verdict: &outcome.verdict,
        engine: &outcome.engine,
        seconds: outcome.elapsed.as_secs_f64(),
        warnings: &outcome.warnings,
        shortest: outcome.shortest,
        flow: flow.needed_for(system, &outcome.verdict),
    };
    let contradiction = reason
        .contradiction
        .iter()
        .map(|(id, text)| constraint_view(system, *id, text, model.source().own_text()));
    let mut view = ClaimView {
        because: reason.because.clone(),
        contradiction: contradiction.collect(),
        basis: basis_view(&outcome.verdict, &outcome.basis),
        invariant: reason.invariant.clone(),
        induction: reason.induction.clone(),
        ..claim_view(system, answered, saved)
    };
    if language_of(model.source().name()).is_some_and(|l| l.name == "script") {
        name_lines(system, &outcome.verdict, &mut view, model.source().own_text());
    }
    if let (ClaimKind::Completable(t), Some(params)) = (&answered.claim.kind, &reason.stuck)
        && let VerdictView::Fails(EvidenceView { shown: ShownEvidence::Trace(trace), .. }) =
            &mut view.verdict
    {
        let action = action_text(system, *t, params);
        trace.ending =
            Some(format!("here {action} is enabled, but no next state satisfies its effect"));
    }
    view
}

/// Adds its line to each step of a rule without a name, in the run of a verdict.
fn name_lines(system: &System, verdict: &Verdict, view: &mut ClaimView, source: &str) {
    let (Verdict::Holds(evidence) | Verdict::Fails(evidence)) = verdict else { return };
    let (Evidence::Run(run)
    | Evidence::Lasso { run, .. }
    | Evidence::Recurrent { run, .. }
    | Evidence::Impossible { run, .. }) = evidence
    else {
        return;
    };
    let (VerdictView::Holds(shown) | VerdictView::Fails(shown)) = &mut view.verdict else {
        return;
    };
    let ShownEvidence::Trace(trace) = &mut shown.shown else { return };
    name_lines_of_run(system, run, trace, source);
}

/// Adds its line to each step of a rule without a name.
pub(crate) fn name_lines_of_run(system: &System, run: &Run, trace: &mut TraceView, source: &str) {
    let steps = shown_steps(run);
    if trace.rows.len() != steps.len() + 1 {
        return;
    }
    let lines = LineIndex::new(source);
    for (row, step) in trace.rows.iter_mut().skip(1).zip(steps) {
        let transition = system.transition(step.transition);
        let last = transition.name.rsplit('.').next().unwrap_or_default();
        let is_number = |n: &str| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit());
        if let Some(span) = transition.span
            && last.strip_prefix("rule").is_some_and(is_number)
        {
            let line = lines.position(source, span.start).line;
            row.action = format!("{} (line {line})", row.action);
        }
    }
}

/// The view of a claim that holds by a contract tree. It shows the proof of the claim itself.
pub(super) fn modular_view(system: &System, proved: &Proved, options: &CheckOptions) -> ClaimView {
    let saved = match options.file_form {
        FileForm::LeftOut => serde_json::Value::Null,
        FileForm::Included => proved.file.clone(),
    };
    let answered = Answered {
        claim: &proved.system.claims()[proved.own_claim.index()],
        verdict: &proved.verdict,
        engine: &proved.engine,
        seconds: proved.elapsed.as_secs_f64(),
        warnings: &[],
        shortest: shortest_by_itself(&proved.verdict),
        flow: None,
    };
    let shown = claim_view(&proved.system, answered, saved);
    let name = system.claims()[proved.claim.index()].name.clone();
    let basis = basis_view(&proved.verdict, &proved.basis);
    ClaimView {
        name,
        abstracted: proved.abstracted.clone(),
        shown_in: proved.shown_in.clone(),
        basis,
        ..shown
    }
}

/// What a verdict rests on; none if it is unknown.
fn basis_view(verdict: &Verdict, basis: &Basis) -> Option<BasisView> {
    let Basis { ground, solvers, why_one } = basis;
    let view =
        BasisView { ground: ground.word(), solvers: solvers.clone(), why_one: why_one.clone() };
    (!matches!(verdict, Verdict::Unknown { .. })).then_some(view)
}

/// An element of the model with its place in the source, as written if it is one line.
fn constraint_view(system: &System, id: ElementId, text: &str, source: &str) -> ConstraintView {
    let span = system.elements()[id.index()].span;
    let written = span.and_then(|s| source.get(s.start as usize..s.end as usize)).map(str::trim);
    let text = written.filter(|w| !w.is_empty() && !w.contains('\n')).unwrap_or(text).to_string();
    let place = span.filter(|_| written.is_some()).map(|s| {
        let lines = LineIndex::new(source);
        let (from, to) = (lines.position(source, s.start), lines.position(source, s.end));
        Place {
            file: None,
            line: from.line,
            column: from.column,
            end_line: to.line,
            end_column: to.column,
        }
    });
    ConstraintView { text, place }
}

//! From source text to checked verdicts: load, decide, lint, explain, present.

use std::sync::Arc;
use std::time::Instant;

use gander_engines::{Cancellation, CheckConfig, CheckReport, NullObserver, Observer};
use gander_lang::language_of;
use gander_report::describe::Syntax;
use gander_report::{CheckView, DiagnosticView};
use gander_system::System;

use crate::decide::{self, CheckContext, Decision, RunExistence};
use crate::explain;
use crate::lint;
use crate::load::load_within;
use crate::model::Model;
use crate::options::CheckOptions;
use crate::present::{self, SystemFindings};
use crate::settled::{SettledVerdicts, SettledViews, VerdictObserver};

/// The part of the time for verdicts, if invariants or counterexamples to induction are shown.
const VERDICT_SHARE: f64 = 0.7;

/// What a check found, with the systems that its verdicts are about.
#[derive(Debug)]
pub struct Checked {
    /// For people and programs.
    pub view: CheckView,
    /// The systems of the source with their verdicts, in the order of the view: none if the source
    /// has errors, several for the root nodes of a Lustre file. Without the verdicts of `trees`.
    pub systems: Vec<(Arc<System>, CheckReport)>,
    /// By system: true if it was shown to have no run, so that what holds of it holds vacuously.
    pub without_run: Vec<bool>,
    /// Claims that hold by a contract tree, by name, with its file form.
    pub trees: Vec<(String, serde_json::Value)>,
}

impl Checked {
    fn rejected(file: &str, diagnostics: Vec<DiagnosticView>) -> Checked {
        let view = CheckView::rejected(file, diagnostics);
        Checked { view, systems: Vec::new(), without_run: Vec::new(), trees: Vec::new() }
    }
}

/// Loads a text and decides its claims. Blocks until all are decided, every engine has given up, or
/// the time is over.
pub fn check_source(text: &str, file_name: &str, options: &CheckOptions) -> CheckView {
    load_and_check(text, file_name, options, &Cancellation::new(), &NullObserver).view
}

/// [`check_source`] that can be cancelled and observed, and that returns the verdicts themselves as
/// well.
pub fn load_and_check(
    text: &str,
    file_name: &str,
    options: &CheckOptions,
    cancel: &Cancellation,
    observer: &dyn Observer,
) -> Checked {
    load_and_check_with(text, file_name, options, cancel, observer, None)
}

/// [`load_and_check`] that gives verdicts to `verdicts` as they are settled.
pub fn load_and_check_with(
    text: &str,
    file_name: &str,
    options: &CheckOptions,
    cancel: &Cancellation,
    observer: &dyn Observer,
    verdicts: Option<&dyn VerdictObserver>,
) -> Checked {
    let started = Instant::now();
    match load_within(text, file_name, &options.load, options.timeout, cancel) {
        Ok(model) => {
            let context =
                CheckContext { cancel, observer, announce: &|_, _| {}, verdicts, started };
            check_model(&model, options, &context)
        }
        Err(stopped) => {
            let mut checked = Checked::rejected(file_name, Vec::new());
            checked.view.stopped = Some(present::load_stopped_text(stopped));
            checked
        }
    }
}

/// The syntax of formulas in reports about models of a language.
pub(crate) fn syntax_of(language: &str) -> Syntax {
    match language {
        "lustre" => Syntax::Lustre,
        "script" => Syntax::Script,
        "smv" => Syntax::Smv,
        _ => Syntax::Sts,
    }
}

/// Checks a model: see [`Model::check_with`].
pub(crate) fn check_model(
    model: &Model,
    options: &CheckOptions,
    context: &CheckContext<'_>,
) -> Checked {
    let rejected = |view: CheckView| Checked {
        view,
        systems: Vec::new(),
        without_run: Vec::new(),
        trees: Vec::new(),
    };
    if model.systems.is_empty() {
        return rejected(present::check_view(model, options));
    }
    let configs = match decide::plan(model, options) {
        Ok(configs) => configs,
        Err(refusal) => {
            let mut view = present::check_view(model, options);
            view.diagnostics.push(present::refusal_diagnostic(model, refusal));
            return rejected(view);
        }
    };
    let mut found = Vec::new();
    let mut view = present::check_view(model, options);
    let shows_more = options.show_invariants || options.induction_counterexamples;
    let count = model.systems.len() as u32;
    for (i, (system, mut config)) in (0..).zip(model.systems.iter().zip(configs)) {
        // The systems that are left share the time that is left.
        let share = if shows_more { VERDICT_SHARE } else { 1.0 };
        config.timeout =
            context.left(options.timeout).map(|left| left.mul_f64(share) / (count - i));
        (context.announce)(system, &config.claims);
        let (decision, mut settled) =
            decide_with_observer(model, system, &config, options, context);
        let lints = lint::lint(model, &decision, &config, options, context);
        let mut reasons =
            explain::reasons(&decision, options.solvers.clone(), &|c| settled.reason(c));
        let language = language_of(model.source().name()).map_or("sts", |l| l.name);
        if options.show_invariants {
            let language =
                explain::Language { source: model.source().text(), syntax: syntax_of(language) };
            let left = context.left(options.timeout);
            let all = explain::invariants(&decision, language, &config, left, context.cancel);
            reasons.iter_mut().zip(all).for_each(|(reason, one)| reason.invariant = one);
        }
        if options.induction_counterexamples {
            let solvers = Some(Arc::clone(&config.solvers));
            let left = context.left(options.timeout);
            let cancel = context.cancel;
            let all =
                explain::induction_counterexamples(&decision, language, solvers, left, cancel);
            reasons.iter_mut().zip(all).for_each(|(reason, one)| reason.induction = one);
        }
        let (before, findings) = (view.claims.len(), SystemFindings { decision, lints, reasons });
        let is_settled = settled.names();
        present::add_system(model, &findings, &mut settled, options, &mut view);
        if let Some(verdicts) = context.verdicts {
            let rest = view.claims[before..].iter().filter(|c| !is_settled.contains(&c.name));
            rest.for_each(|claim| verdicts.settled(claim));
        }
        found.push(findings);
    }
    view.nothing_claimed = decide::nothing_claimed(&model.systems, options);
    present::finish(model, &found, options, &mut view);
    let elapsed = context.started.elapsed();
    present::set_ending(&mut view, elapsed, &found, options.timeout, context.cancel);
    let (mut systems, mut without_run, mut trees) = (Vec::new(), Vec::new(), Vec::new());
    for SystemFindings { decision, .. } in found {
        let name =
            |claim: gander_system::ClaimId| decision.system.claims()[claim.index()].name.clone();
        trees.extend(decision.proved.into_iter().map(|p| (name(p.claim), p.file)));
        without_run.push(matches!(decision.runs, RunExistence::Missing));
        systems.push((decision.system, decision.report));
    }
    Checked { view, systems, without_run, trees }
}

/// Decides the claims of a system, and gives verdicts to the observer of the context as they are
/// settled.
fn decide_with_observer(
    model: &Model,
    system: &Arc<System>,
    config: &CheckConfig,
    options: &CheckOptions,
    context: &CheckContext<'_>,
) -> (Decision, SettledVerdicts) {
    let Some(verdicts) = context.verdicts else {
        let decision = decide::decide(model, system, config, options, context);
        return (decision, SettledVerdicts::default());
    };
    verdicts.begin(system, &config.claims);
    let views = SettledViews::new(model, system, config, options, context, verdicts);
    let context = CheckContext { observer: &views, ..*context };
    let decision = decide::decide(model, system, config, options, &context);
    (decision, views.into_settled())
}

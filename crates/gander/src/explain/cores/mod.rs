//! Validity cores of what holds, and simplified runs of what fails.

mod ahead;
mod claims;
mod engines;
mod requested;
mod views;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_engines::{Cancellation, CheckConfig, Observer, Outcome};
use gander_explain::run_explanation::RunRequest;
use gander_explain::{Grain, Granularity, Parts, Request};
use gander_lang::language_of;
use gander_lang::lustre::Conditionals;
use gander_report::{DiagnosticView, ExplainView, NO_RUN, ONLY_ANNOTATED, VerdictView};
use gander_smt::Solvers;
use gander_system::{ClaimId, ClaimOrigin, System, Verdict};

use super::mutation::{MutationBudget, mutation};
use crate::check::{Checked, syntax_of};
use crate::load::load_within;
use crate::model::Model;
use crate::options::{CheckOptions, FileForm, Findings, StructuralChecks};
use crate::present::load_stopped_text;
use claims::{PartialExplanation, Task};
pub(super) use engines::Engines;
use requested::{annotated, earlier_cores, is_asked_for};
use views::empty_view;

/// What to explain, and how.
#[derive(Clone, Debug)]
pub struct ExplainOptions {
    /// How the properties are proved.
    pub check: CheckOptions,
    /// Which cores to compute.
    pub request: Request,
    /// Compute bounded cores of these depths instead.
    pub bounded: Option<RangeInclusive<u32>>,
    /// How finely the model is divided.
    pub granularity: Granularity,
    /// Time limit of the engines for one relaxation of the model.
    pub share: Duration,
    /// Also detect properties that hold vacuously.
    pub vacuity: bool,
    /// Whether conjuncts or branches of formulas are separate elements.
    pub grain: Option<Grain>,
    /// Decide mutants of the model, within this time each.
    pub mutation: Option<Duration>,
    /// The JSON of an earlier run, whose cores are tried first.
    pub earlier: Option<String>,
    /// How to explain properties that a run decides; they are not explained if not given.
    pub runs: Option<RunRequest>,
    /// Everything is an element, also what `--%IVC` does not name.
    pub ignore_annotations: bool,
}

impl Default for ExplainOptions {
    fn default() -> ExplainOptions {
        ExplainOptions {
            check: CheckOptions::default(),
            request: Request::default(),
            bounded: None,
            granularity: Granularity::default(),
            share: Duration::from_secs(2),
            vacuity: false,
            grain: None,
            mutation: None,
            earlier: None,
            runs: Some(RunRequest::default()),
            ignore_annotations: false,
        }
    }
}

/// The part of the time limit for verdicts and cores, if mutants are decided after them.
const CORE_SHARE: f64 = 0.7;

/// Why the properties of a source hold.
#[derive(Debug, Default)]
pub struct Explained {
    /// For people and programs: one for each system of the source.
    pub views: Vec<ExplainView>,
    /// Messages about the source.
    pub diagnostics: Vec<DiagnosticView>,
    /// Notices for the user.
    pub notices: Vec<String>,
    /// Answers that did not pass their check.
    pub internal_errors: Vec<String>,
    /// Some property fails.
    pub failed: bool,
    /// Some property was not decided.
    pub open: bool,
}

/// Called with the property and the names of each core as it is found.
pub type FoundCore<'f> = &'f mut dyn FnMut(&str, &[String]);

/// Proves the properties of a source text and explains why they hold.
pub fn explain_source(
    text: &str,
    file_name: &str,
    options: &ExplainOptions,
    cancel: &Cancellation,
    observer: &dyn Observer,
    found: FoundCore<'_>,
) -> Explained {
    let started = Instant::now();
    let mut load = options.check.load.clone();
    if options.grain.is_some_and(|g| g >= Grain::Branches) {
        load.conditionals = Conditionals::AsWritten;
    }
    match load_within(text, file_name, &load, options.check.timeout, cancel) {
        Ok(model) => explain_model(&model, options, cancel, observer, found, started),
        Err(stopped) => {
            let (_, mut notices) = earlier_results(options);
            notices.push(load_stopped_text(stopped));
            Explained { notices, open: true, ..Explained::default() }
        }
    }
}

/// Proves the properties of a model and explains why they hold; the time limit counts from
/// `started`.
pub(crate) fn explain_model(
    model: &Model,
    options: &ExplainOptions,
    cancel: &Cancellation,
    observer: &dyn Observer,
    found: FoundCore<'_>,
    started: Instant,
) -> Explained {
    explain_verdicts(model, options, None, cancel, observer, found, started)
}

/// [`explain_model`] for verdicts that are known already.
pub(crate) fn explain_verdicts(
    model: &Model,
    options: &ExplainOptions,
    known: Option<&Checked>,
    cancel: &Cancellation,
    observer: &dyn Observer,
    found: FoundCore<'_>,
    started: Instant,
) -> Explained {
    let mut options = options.clone();
    if options.check.properties.is_empty() {
        options.check.checks = StructuralChecks::None;
    }
    options.check.findings = Findings::LeftOut;
    // Explanations do not show evidence in its file form.
    options.check.file_form = FileForm::LeftOut;
    let solvers =
        options.check.solvers.get_or_insert_with(|| Arc::new(Solvers::from_environment())).clone();
    let mut config = CheckConfig::new(Arc::clone(&solvers), Vec::new());
    config.memory = options.check.memory;
    config.jobs = options.check.jobs.unwrap_or(0);
    let (earlier, notices) = earlier_results(&options);
    let context = ExplainContext {
        model,
        asked: annotated(model.source().own_text(), model.source().name())
            .filter(|_| !options.ignore_annotations),
        options: &options,
        earlier,
        solvers,
        config,
        cancel,
        started,
    };
    let (decided, mut ahead) = match known {
        Some(_) => (None, Vec::new()),
        None => {
            let (decided, ahead) = ahead::check(&context, observer);
            (Some(decided), ahead)
        }
    };
    let Some(checked) = known.or(decided.as_ref()) else { return Explained::default() };
    let mut explained = Explained {
        views: Vec::new(),
        diagnostics: checked.view.diagnostics.clone(),
        notices,
        internal_errors: checked.view.internal_errors.clone(),
        failed: false,
        open: false,
    };
    if checked.view.claims.iter().any(|c| c.verdict == VerdictView::Vacuous) {
        let systems = checked.systems.iter().zip(&checked.without_run);
        explained.notices.extend(systems_without_run(systems.map(|((s, _), &w)| (s.name(), w))));
        explained.failed = true;
    }
    if context.asked.is_some() {
        explained.notices.push(ONLY_ANNOTATED.to_string());
    }
    let mut engines = Engines::new(&context.solvers, context.config.clone(), cancel);
    let systems = checked.systems.iter().zip(&checked.without_run);
    for ((whole, report), &without_run) in systems {
        let partial = ahead
            .iter()
            .position(|b| Arc::ptr_eq(&b.divided.whole, whole))
            .map(|at| ahead.swap_remove(at));
        let partial =
            partial.unwrap_or_else(|| PartialExplanation::new(DividedSystem::of(whole, &context)));
        explained.notices.extend(partial.divided.notices.iter().cloned());
        let divided = Arc::clone(&partial.divided);
        let mut view = empty_view(model.source(), &divided.system, &divided.parts);
        view.selected = !options.check.properties.is_empty();
        view.annotated = context.asked.is_some();
        let outcomes: Vec<&Outcome> =
            report.outcomes.iter().filter(|o| context.is_asked(whole, o.claim)).collect();
        // Bounded cores need no proof.
        explained.open |= options.bounded.is_none()
            && outcomes.iter().any(|o| matches!(o.verdict, Verdict::Unknown { .. }));
        explained.failed |= outcomes.iter().any(|o| matches!(o.verdict, Verdict::Fails(_)));
        let task = Task { context: &context, divided: &divided, without_run };
        task.explain(&outcomes, partial, &mut engines, &mut view, found);
        if let Some(time) = options.mutation {
            let left = options.check.timeout.map(|t| t.saturating_sub(started.elapsed()));
            let budget = MutationBudget { each: time, all: left };
            view.mutation = {
                let language = language_of(model.source().name()).map_or("sts", |l| l.name);
                let (system, parts) = (&divided.system, &divided.parts);
                let syntax = syntax_of(language);
                mutation(system, syntax, parts, report, &view, &mut engines, budget)
            };
            explained.internal_errors.extend(view.mutation.disagreements.iter().cloned());
        }
        explained.views.push(view);
    }
    explained
}

/// Says which systems have no run; by name if others have one.
fn systems_without_run<'s>(systems: impl Iterator<Item = (&'s str, bool)>) -> Vec<String> {
    let all: Vec<(&str, bool)> = systems.collect();
    let text = |what: &str| format!("{what}, so nothing is proved of it");
    if all.iter().all(|(_, is_without)| *is_without) {
        return vec![text(NO_RUN)];
    }
    let mut names: Vec<&str> = all.iter().filter(|(_, w)| *w).map(|(name, _)| *name).collect();
    names.dedup();
    names.iter().map(|name| text(&format!("the system {name} has no run"))).collect()
}

/// The cores of an earlier run by property, and what to say if they cannot be read.
fn earlier_results(options: &ExplainOptions) -> (BTreeMap<String, Vec<String>>, Vec<String>) {
    match options.earlier.as_deref().map(earlier_cores) {
        None => Default::default(),
        Some(Some(cores)) => (cores, Vec::new()),
        Some(None) => {
            let notice = "the earlier result cannot be read; everything is looked for anew";
            (BTreeMap::new(), vec![notice.to_string()])
        }
    }
}

/// What the systems of a model have in common.
struct ExplainContext<'s> {
    model: &'s Model,
    /// The variables that `--%IVC` names, by node.
    asked: Option<Vec<(String, String)>>,
    options: &'s ExplainOptions,
    /// The cores of an earlier run, by property.
    earlier: BTreeMap<String, Vec<String>>,
    solvers: Arc<Solvers>,
    /// The configuration of the engines.
    config: CheckConfig,
    cancel: &'s Cancellation,
    started: Instant,
}

impl ExplainContext<'_> {
    /// The number of threads.
    fn jobs(&self) -> usize {
        match self.config.jobs {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            jobs => jobs,
        }
    }

    /// The time for the next one of several explanations; none without a time limit.
    fn share_of_time(&self, explanations: usize) -> Option<Duration> {
        let limit = self.options.check.timeout?;
        // Mutants are decided at the end.
        let limit = if self.options.mutation.is_some() { limit.mul_f64(CORE_SHARE) } else { limit };
        let parts = u32::try_from(explanations).unwrap_or(u32::MAX).max(1);
        Some(limit.saturating_sub(self.started.elapsed()) / parts)
    }

    /// Structural claims are explained if they are named.
    fn is_asked(&self, system: &System, claim: ClaimId) -> bool {
        let structural = system.claims()[claim.index()].origin == ClaimOrigin::Structural;
        !structural || !self.options.check.properties.is_empty()
    }
}

/// A system and its division into parts.
struct DividedSystem {
    whole: Arc<System>,
    /// The same system with its elements divided as the options say.
    system: Arc<System>,
    parts: Parts,
    /// The system whose runs are explained: its runs are runs in every reading of the language.
    /// Verdicts are about `whole`, not about its division.
    runs_of: Arc<System>,
    notices: Vec<String>,
}

impl DividedSystem {
    fn of(whole: &Arc<System>, context: &ExplainContext<'_>) -> DividedSystem {
        let (options, source) = (context.options, context.model.source().own_text());
        let mut notices = Vec::new();
        let (system, mut parts) = match options.grain {
            None => (Arc::clone(whole), Parts::of(whole, source, options.granularity)),
            Some(grain) => {
                let (divided, parts) = Parts::divided(whole, source, options.granularity, grain);
                for &e in &divided.cut_short {
                    let name = divided.system.element_name(e);
                    notices.push(format!(
                        "{name} has too many parts and is not divided into all of them"
                    ));
                }
                (Arc::new(divided.system), parts)
            }
        };
        if let Some(asked) = &context.asked {
            parts.restrict(|part| is_asked_for(part, asked));
        }
        let runs_of = whole.narrow_reading().map_or_else(|| Arc::clone(whole), Arc::new);
        DividedSystem { whole: Arc::clone(whole), system, parts, runs_of, notices }
    }
}

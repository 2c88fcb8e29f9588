//! From source text to explanations of verdicts: why properties hold.

mod ahead;
mod claims;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_certify::{CheckLimits, Checker};
use gander_engines::{Cancellation, CheckConfig, NullObserver, Observer, Outcome, check};
use gander_explain::failure::{RunChecker, RunRequest};
use gander_explain::{Explanation, Grain, Granularity, PartSet, Parts, Prover, Request, Vacuity, Wish};
use gander_lang::language_of;
use gander_lang::lustre::Program;
use gander_report::{
    DiagnosticView, ElementView, ExplainView, ExplainedView, IncludedText, NO_RUN, VacuityView, VerdictView,
};
use gander_smt::Solvers;
use gander_system::{ClaimId, ClaimOrigin, Run, System, Verdict};
use gander_term::{Pool, SymbolId, TermId};

use crate::check::{CheckOptions, FileForm, Findings, StructuralChecks, program_of};
use crate::mutation::{MutationBudget, mutation};
use claims::{Begun, Task};

/// What to explain, and how.
#[derive(Clone, Debug)]
pub struct ExplainOptions {
    /// How the properties are proved.
    pub check: CheckOptions,
    /// Which cores are looked for.
    pub request: Request,
    /// Bounded cores of this depth instead.
    pub bounded: Option<u32>,
    /// How finely the model is divided.
    pub granularity: Granularity,
    /// How long engines work on one relaxation of the model.
    pub share: Duration,
    /// Also look whether properties say less than they seem to.
    pub vacuity: bool,
    /// Conjuncts or branches of formulas are elements of their own.
    pub grain: Option<Grain>,
    /// Small mistakes are made in the model: how long engines have for each.
    pub mutation: Option<Duration>,
    /// What an earlier run said (its JSON): its cores are tried first.
    pub earlier: Option<String>,
    /// What to find out about properties that a run decides; nothing if not given.
    pub runs: Option<RunRequest>,
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
        }
    }
}

/// Why the properties of a source hold.
#[derive(Debug)]
pub struct Explained {
    /// For people and programs: one for each system of the source.
    pub views: Vec<ExplainView>,
    /// Messages about the source.
    pub diagnostics: Vec<DiagnosticView>,
    /// What a person should know about the work.
    pub notices: Vec<String>,
    /// Answers that did not pass their check.
    pub internal_errors: Vec<String>,
    /// Some property fails.
    pub failed: bool,
    /// Some property was not decided.
    pub open: bool,
}

/// Who else works on the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Company {
    /// No other: a second one can be asked at the same time.
    Alone,
    /// Others, on as many threads as there should be.
    Others,
}

/// The engines and the checker.
pub(crate) struct Engines {
    pub(crate) config: CheckConfig,
    pub(crate) checker: Checker,
    pub(crate) cancel: Cancellation,
    pub(crate) company: Company,
}

impl Engines {
    /// With these solvers and limits.
    pub(crate) fn new(solvers: &Arc<Solvers>, config: CheckConfig, cancel: &Cancellation) -> Engines {
        let limits = CheckLimits { total: Some(Duration::from_secs(30)), ..CheckLimits::default() };
        let company = if config.jobs == 1 { Company::Others } else { Company::Alone };
        Engines { config, checker: Checker::new(solvers, limits), cancel: cancel.clone(), company }
    }
}

impl Prover for Engines {
    fn helper(&self) -> Option<Box<dyn Prover + Send>> {
        if self.company == Company::Others {
            return None;
        }
        // The two share the machine.
        let config = CheckConfig { jobs: 1, ..self.config.clone() };
        let solvers = Arc::clone(&self.config.solvers);
        Some(Box::new(Engines::new(&solvers, config, &self.cancel)))
    }

    fn prove(&mut self, system: &Arc<System>, claim: ClaimId, time: Duration) -> Verdict {
        let config = CheckConfig { claims: vec![claim], timeout: Some(time), ..self.config.clone() };
        let mut report = check(system, &config, &self.cancel, &NullObserver);
        match report.outcomes.pop() {
            Some(outcome) => outcome.verdict,
            None => Verdict::Unknown { explored_through: None, why: Vec::new() },
        }
    }

    fn certify(&mut self, system: &System, claim: ClaimId, verdict: &Verdict) -> Result<(), String> {
        self.checker.check(system, claim, verdict).map(drop).map_err(|e| e.to_string())
    }

    fn eliminate(&mut self, pool: &mut Pool, symbols: &[SymbolId], formula: TermId) -> TermId {
        gander_certify::eliminated(pool, symbols, formula)
    }
}

impl RunChecker for Engines {
    fn certify(&mut self, system: &System, claim: ClaimId, verdict: &Verdict) -> Result<(), String> {
        Prover::certify(self, system, claim, verdict)
    }

    fn replay(&mut self, system: &System, run: &Run) -> Result<(), String> {
        self.checker.replay(system, run).map_err(|e| e.to_string())
    }
}

/// Called with the property and the names of each core as it is found.
pub type FoundCore<'f> = &'f mut dyn FnMut(&str, &[String]);

/// Proves the properties of a source text and explains why they hold.
pub fn explain_source(
    source: &str,
    file_name: &str,
    options: &ExplainOptions,
    cancel: &Cancellation,
    observer: &dyn Observer,
    found: FoundCore<'_>,
) -> Explained {
    let started = Instant::now();
    let mut options = options.clone();
    if options.check.properties.is_empty() {
        options.check.checks = StructuralChecks::None;
    }
    options.check.findings = Findings::LeftOut;
    // Verdicts are not shown with their evidence.
    options.check.file_form = FileForm::LeftOut;
    let solvers = options.check.solvers.get_or_insert_with(|| Arc::new(Solvers::from_environment())).clone();
    let mut config = CheckConfig::new(Arc::clone(&solvers), Vec::new());
    config.memory = options.check.memory;
    config.jobs = options.check.jobs.unwrap_or(0);
    let earlier = options.earlier.as_deref().map(earlier_cores);
    let mut notices = Vec::new();
    if earlier.as_ref().is_some_and(Option::is_none) {
        notices.push("the earlier result cannot be read; everything is looked for anew".into());
    }
    let setting = Setting {
        source,
        asked: annotated(source, file_name),
        options: &options,
        earlier: earlier.flatten().unwrap_or_default(),
        solvers,
        config,
        cancel,
        started,
    };
    let (checked, mut ahead) = ahead::check(&setting, file_name, observer);
    let mut explained = Explained {
        views: Vec::new(),
        diagnostics: checked.view.diagnostics.clone(),
        notices,
        internal_errors: checked.view.internal_errors.clone(),
        failed: false,
        open: false,
    };
    if let (None, Some(stopped)) = (&checked.system, &checked.view.stopped) {
        explained.notices.push(stopped.clone());
        explained.open = true;
    }
    if checked.view.claims.iter().any(|c| c.verdict == VerdictView::Vacuous) {
        explained.notices.push(format!("{NO_RUN}, so nothing is proved of it"));
        explained.failed = true;
    }
    let mut engines = Engines::new(&setting.solvers, setting.config.clone(), cancel);
    for (whole, report) in checked.systems() {
        let begun = ahead.iter().position(|b| Arc::ptr_eq(&b.model.whole, whole)).map(|at| ahead.swap_remove(at));
        let begun = begun.unwrap_or_else(|| Begun::new(Model::of(whole, &setting)));
        explained.notices.extend(begun.model.notices.iter().cloned());
        let model = Arc::clone(&begun.model);
        let mut view = empty_view(source, file_name, &model.parts);
        let outcomes: Vec<&Outcome> = report.outcomes.iter().filter(|o| setting.is_asked(whole, o.claim)).collect();
        explained.open |= outcomes.iter().any(|o| matches!(o.verdict, Verdict::Unknown { .. }));
        explained.failed |= outcomes.iter().any(|o| matches!(o.verdict, Verdict::Fails(_)));
        let task = Task { setting: &setting, model: &model };
        task.explain(&outcomes, begun, &mut engines, &mut view, found);
        if let Some(time) = options.mutation {
            let left = options.check.timeout.map(|t| t.saturating_sub(started.elapsed()));
            let budget = MutationBudget { each: time, all: left };
            view.mutation = mutation(&model.system, &model.parts, report, &view, &mut engines, budget);
            explained.internal_errors.extend(view.mutation.disagreements.iter().cloned());
        }
        explained.views.push(view);
    }
    explained
}

/// What all systems of a source have in common.
struct Setting<'s> {
    source: &'s str,
    /// What `--%IVC` names.
    asked: Option<Vec<(String, String)>>,
    options: &'s ExplainOptions,
    /// The cores of an earlier run, by property.
    earlier: BTreeMap<String, Vec<String>>,
    solvers: Arc<Solvers>,
    /// How engines are asked.
    config: CheckConfig,
    cancel: &'s Cancellation,
    started: Instant,
}

impl Setting<'_> {
    /// How many threads there may be.
    fn jobs(&self) -> usize {
        match self.config.jobs {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            jobs => jobs,
        }
    }

    /// Structural claims are explained if they are named.
    fn is_asked(&self, system: &System, claim: ClaimId) -> bool {
        let structural = system.claims[claim.index()].origin == ClaimOrigin::Structural;
        !structural || !self.options.check.properties.is_empty()
    }
}

/// A system and its division.
struct Model {
    whole: Arc<System>,
    /// The system, divided as finely as was asked for.
    system: Arc<System>,
    parts: Parts,
    /// The system whose runs count: those that are runs in every reading of the language. Verdicts are about the model as it is, not about
    /// its division; that has the elements of the model too.
    runs_of: Arc<System>,
    notices: Vec<String>,
}

impl Model {
    fn of(whole: &Arc<System>, setting: &Setting<'_>) -> Model {
        let options = setting.options;
        let mut notices = Vec::new();
        let (system, mut parts) = match options.grain {
            None => (Arc::clone(whole), Parts::of(whole, setting.source, options.granularity)),
            Some(grain) => {
                let (divided, parts) = Parts::divided(whole, setting.source, options.granularity, grain);
                for &e in &divided.cut_short {
                    let name = divided.system.element_name(e);
                    notices.push(format!("{name} has too many parts and is not divided into all of them"));
                }
                (Arc::new(divided.system), parts)
            }
        };
        if let Some(asked) = &setting.asked {
            parts.restrict(|part| is_asked_for(part, asked));
        }
        let runs_of = whole.narrow_reading().map_or_else(|| Arc::clone(whole), Arc::new);
        Model { whole: Arc::clone(whole), system, parts, runs_of, notices }
    }
}

/// The cores in the JSON of an earlier run, by property; none if it is not such a text.
fn earlier_cores(text: &str) -> Option<BTreeMap<String, Vec<String>>> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    if value.get("schema")?.as_str()? != gander_report::EXPLAIN_SCHEMA {
        return None;
    }
    let mut cores = BTreeMap::new();
    for result in value.get("results")?.as_array()? {
        let smallest = result.get("cores")?.as_array()?.iter().filter_map(|c| c.as_array()).min_by_key(|c| c.len());
        let names = |c: &Vec<serde_json::Value>| c.iter().filter_map(|n| n.as_str().map(str::to_string)).collect();
        if let Some(core) = smallest {
            cores.insert(result.get("property")?.as_str()?.to_string(), names(core));
        }
    }
    Some(cores)
}

/// Properties that say less than they seem to, each with its evidence in words.
fn vacuity_views(
    property: &str,
    explanation: &Explanation,
    found: &[Vacuity],
    parts: &Parts,
    views: &mut Vec<VacuityView>,
) {
    let mut add = |property: Option<&str>, message: String| {
        let view = VacuityView { property: property.map(str::to_string), message };
        if !views.contains(&view) {
            views.push(view);
        }
    };
    for vacuity in found {
        match vacuity {
            Vacuity::NoRun { steps, by } => {
                let names = parts.names(by).join(", ");
                let what = if *steps == 0 { "no state can be a start" } else { "no run has a step" };
                add(None, format!("{what}, so everything holds; this is because of: {names}"));
            }
            Vacuity::NeverTriggered { left, .. } => {
                add(
                    Some(property),
                    format!("the left side of the implication never holds: it is proved that `{left}` is always false"),
                );
            }
        }
    }
    if explanation.cores.iter().any(|c| c.parts.is_empty() && c.unchecked.is_none()) && !parts.is_empty() {
        add(Some(property), "it holds whatever the model does: its core is empty".to_string());
    }
}

/// The variables that `--%IVC` names in a Lustre text, by node; none if there is no such annotation.
fn annotated(source: &str, file_name: &str) -> Option<Vec<(String, String)>> {
    use gander_lang::lustre::ast::{Item, Statement};
    if language_of(file_name).is_none_or(|l| l.name != "lustre") || !source.contains("%IVC") {
        return None;
    }
    let file = gander_lang::lustre::parse(source).file;
    let mut named = Vec::new();
    for item in &file.items {
        let Item::Node(node) = item else { continue };
        let owner = source.get(node.name.span.range()).unwrap_or_default();
        for statement in &node.body {
            let Statement::Ivc(list) = statement else { continue };
            named.extend(list.iter().filter_map(|(_, span)| {
                let name: String = source.get(span.range())?.split_whitespace().collect();
                Some((owner.to_string(), name))
            }));
        }
    }
    (!named.is_empty()).then_some(named)
}

fn is_asked_for(part: &gander_explain::Part, asked: &[(String, String)]) -> bool {
    let stem = |name: &str| name.split(['[', '.']).next().unwrap_or_default().to_string();
    let prefix = format!("{}.", part.owner);
    part.name.split(", ").any(|name| {
        let name = name.strip_prefix(&prefix).unwrap_or(name);
        asked.iter().any(|(node, wanted)| *node == part.owner && (wanted == name || stem(wanted) == name))
    })
}

fn empty_view(source: &str, file_name: &str, parts: &Parts) -> ExplainView {
    let lines: Vec<usize> = source.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i).collect();
    let outside = |p: &gander_explain::Part| p.span.is_some_and(|s| s.end as usize > source.len());
    let program = parts.list.iter().any(outside).then(|| program_of(source, file_name)).flatten();
    let element = |p: &gander_explain::Part| {
        let written = p.span.map(|s| (s.start as usize, s.end as usize));
        // Behind the end of the text are the files that it includes.
        let span = written.filter(|(_, end)| *end <= source.len());
        let elsewhere = written.filter(|_| span.is_none()).zip(program.as_ref());
        let (included, line) = match elsewhere.and_then(|(at, program)| in_included(program, at)) {
            Some((included, line)) => (Some(included), Some(line)),
            None => (None, span.map(|(start, _)| 1 + lines.partition_point(|&at| at < start))),
        };
        ElementView { name: p.name.clone(), kind: p.kind.word(), owner: p.owner.clone(), span, line, included }
    };
    ExplainView {
        file: file_name.to_string(),
        source: source.to_string(),
        elements: parts.list.iter().map(element).collect(),
        ..ExplainView::default()
    }
}

/// What was written at a place in a file that the program includes, and the line there.
fn in_included(program: &Program, (start, end): (usize, usize)) -> Option<(IncludedText, usize)> {
    let part = program.parts.iter().rev().find(|p| p.start as usize <= start)?;
    let before = program.text.get(part.start as usize..start)?;
    let text = program.text.get(start..end)?.to_string();
    Some((IncludedText { file: part.name.clone(), text }, 1 + before.matches('\n').count()))
}

fn members(set: &PartSet) -> Vec<usize> {
    set.iter().collect()
}

fn explained_view(name: &str, span: Option<(usize, usize)>, request: Request, e: &Explanation) -> ExplainedView {
    let all = matches!(request.cores, Wish::All | Wish::AllOffline) || request.cut_sets;
    let mut notes = e.notes.clone();
    for core in e.cores.iter().filter_map(|c| c.unchecked.as_ref()) {
        notes.push(format!("a core did not pass its check: {core}"));
    }
    ExplainedView {
        property: name.to_string(),
        span,
        cores: e.cores.iter().map(|c| members(&c.parts)).collect(),
        must: members(&e.must),
        may: members(&e.may),
        complete: e.complete,
        found: all.then(|| e.cores.iter().filter(|c| c.minimal).count()),
        approximate: e.approximate,
        cut_sets: e.cut_sets.as_ref().map(|cuts| cuts.iter().map(members).collect()),
        bound: None,
        at_bound: None,
        notes,
    }
}

fn bounded_view(
    name: &str,
    span: Option<(usize, usize)>,
    core: &PartSet,
    k: u32,
    at_bound: Option<Vec<usize>>,
) -> ExplainedView {
    ExplainedView {
        property: name.to_string(),
        span,
        cores: vec![members(core)],
        must: Vec::new(),
        may: members(core),
        complete: false,
        found: None,
        approximate: false,
        cut_sets: None,
        bound: Some(k),
        at_bound,
        notes: Vec::new(),
    }
}

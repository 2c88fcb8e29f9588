//! From source text to checked verdicts.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_certify::{Basis, Trust};
use gander_engines::{
    Cancellation, CheckConfig, CheckReport, EngineAccount, EngineOptions, InternalError, NullObserver, Observer,
    Portfolio, Schedule, engines,
};
use gander_lang::lustre::{Program, with_included};
use gander_lang::{Code, LineIndex, Loaded, language_of, nearest};
use gander_race::Entrant;
use gander_report::describe::{Answered, action_text, claim_view};
use gander_report::{
    BasisView, CheckView, ClaimView, ConstraintView, DiagnosticView, EngineView, EvidenceView, Paint, Place,
    ScheduleView, Severity, ShownEvidence, VerdictView,
};
use gander_runtime::Stopped;
use gander_smt::Solvers;
use gander_system::write_evidence;
use gander_system::{ClaimId, ClaimKind, ClaimOrigin, Dataflow, ElementId, Evidence, System, Verdict};

use crate::cache::ProofCache;
use crate::findings::{Lint, findings};
use crate::input::{IncludeFolders, identity_of};
use crate::model::{Model, read, shown};
use crate::modular::{self, Proved};
use crate::no_run::{self, Runs};
use crate::nothing::nothing_to_decide;
use crate::race::{Raced, judge_tools, race};
use crate::readings::reconcile;
use crate::reasons::Reasons;

/// Which structural checks are made (docs/semantics.md, section 3).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum StructuralChecks {
    /// All of them.
    #[default]
    All,
    /// None.
    None,
    /// Those of these kinds, by [`ClaimKind::word`].
    Kinds(Vec<String>),
}

impl StructuralChecks {
    /// True of a structural claim that is not decided unless it is named.
    pub(crate) fn leave_out(&self, claim: &gander_system::Claim) -> bool {
        claim.origin == ClaimOrigin::Structural && !self.include(&claim.kind)
    }

    /// The words for the kinds.
    pub const KINDS: [&'static str; 4] = ["start-satisfiable", "can-enable", "completable", "no-sinkhole"];

    fn include(&self, kind: &ClaimKind) -> bool {
        // In a composed system a transition that can be enabled is one that some instance takes somewhere.
        let word = if matches!(kind, ClaimKind::Reachable(_)) { "can-enable" } else { kind.word() };
        match self {
            StructuralChecks::All => true,
            StructuralChecks::None => false,
            StructuralChecks::Kinds(words) => words.iter().any(|w| w == word),
        }
    }
}

/// How the claims of a program with several nodes are decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Analysis {
    /// Every call is replaced by the body of what it calls.
    #[default]
    Whole,
    /// Nodes with contracts are looked at alone, and their contracts stand for them where that is enough.
    Modular,
}

/// Whether answers come with their evidence in its file form (docs/evidence.md).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FileForm {
    /// They do.
    #[default]
    Included,
    /// They do not, for those who only show them.
    LeftOut,
}

/// Whether a model is looked at for what is probably not meant (docs/findings.md).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Findings {
    /// It is, unless only some claims are to be decided.
    #[default]
    Sought,
    /// It is not.
    LeftOut,
}

/// The word for no engine at all: only other tools are asked.
const NO_ENGINE: &str = "none";

/// What to check, and how.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// Names of the claims to decide; all if empty.
    pub properties: Vec<String>,
    /// Which structural checks to make.
    pub checks: StructuralChecks,
    /// Whether to look for what is probably not meant.
    pub findings: Findings,
    /// Warnings to leave out.
    pub allow: Vec<Code>,
    /// Names of the engines to use; those of the portfolio if empty.
    pub engines: Vec<String>,
    /// Which engines to use on which models; the portfolio that comes with the program if not given.
    pub portfolio: Option<Portfolio>,
    /// Whether the view says what ran and why.
    pub explain_schedule: bool,
    /// When to give up.
    pub timeout: Option<Duration>,
    /// How many engines work at the same time; as many as there are processors if not given.
    pub jobs: Option<usize>,
    /// Seed of everything that is random.
    pub seed: u64,
    /// Bytes of memory that this process and its solvers may use together. Only solvers and engines know this limit;
    /// [`gander_smt::memory::enforce`] sets one for everything.
    pub memory: Option<u64>,
    /// The solvers to ask; looked for where the environment says if not given.
    pub solvers: Option<Arc<Solvers>>,
    /// A folder to keep every solver conversation in; it must exist.
    pub log_smt: Option<PathBuf>,
    /// The name of a solver that must agree with each verdict.
    pub second_opinion: Option<String>,
    /// What verdicts have to rest on.
    pub trust: Trust,
    /// Settings of single engines.
    pub engine_options: EngineOptions,
    /// Whether messages are rendered with colour.
    pub paint: Paint,
    /// Whether the view holds evidence in its file form.
    pub file_form: FileForm,
    /// How calls of nodes with contracts are dealt with.
    pub analysis: Analysis,
    /// A folder that keeps evidence from run to run (docs/cache.md).
    pub cache: Option<PathBuf>,
    /// Other tools that take part (docs/racing.md).
    pub tools: Vec<Entrant>,
}

/// An option that does not make sense, for this model or at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UsageError {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Vec<String>,
}

impl UsageError {
    fn new(message: String, help: impl IntoIterator<Item = String>) -> UsageError {
        UsageError { message, help: help.into_iter().collect() }
    }

    /// As a message about a file.
    pub fn diagnostic(&self) -> DiagnosticView {
        let mut rendered = format!("error: {}\n", self.message);
        for h in &self.help {
            rendered.push_str(&format!("  = help: {h}\n"));
        }
        DiagnosticView {
            code: "usage".to_string(),
            severity: Severity::Error,
            message: self.message.clone(),
            place: None,
            help: self.help.clone(),
            rendered,
        }
    }
}

/// What a check found, with the system that its verdicts speak of.
#[derive(Debug)]
pub struct Checked {
    /// For people and programs.
    pub view: CheckView,
    /// The system with the claims that were asked; none if the source has errors.
    pub system: Option<Arc<System>>,
    /// The verdicts themselves; without those of `trees`.
    pub report: CheckReport,
    /// The other systems of the source, if it has several (the root nodes of a Lustre file), with their verdicts.
    pub others: Vec<(Arc<System>, CheckReport)>,
    /// Claims that hold by a contract tree, by name, with its file form.
    pub trees: Vec<(String, serde_json::Value)>,
}

impl Checked {
    fn rejected(file: &str, diagnostics: Vec<DiagnosticView>) -> Checked {
        let report = CheckReport::default();
        Checked {
            view: CheckView::rejected(file, diagnostics),
            system: None,
            report,
            others: Vec::new(),
            trees: Vec::new(),
        }
    }

    /// Every system of the source with its verdicts, in the order in which the view has them.
    pub fn systems(&self) -> impl Iterator<Item = (&Arc<System>, &CheckReport)> {
        let first = self.system.iter().map(|system| (system, &self.report));
        first.chain(self.others.iter().map(|(system, report)| (system, report)))
    }
}

/// Decides the claims of a source text. Blocks until all are decided, every engine has given up, or the time is over.
pub fn check_source(source: &str, file_name: &str, options: &CheckOptions) -> CheckView {
    check_loaded(source, file_name, options, &Cancellation::new(), &NullObserver).view
}

/// Reads a source text in the language that its name says; `.sts` if the name does not say. Files that it includes are
/// read from beside it.
pub fn load(source: &str, file_name: &str, paint: Paint) -> (Loaded, Vec<DiagnosticView>) {
    let (program, loaded) = read(source, file_name);
    let diagnostics = shown(&loaded.diagnostics, source, program.as_ref(), file_name, paint);
    (loaded, diagnostics)
}

/// The files of a Lustre program, if it includes any.
pub(crate) fn program_of(source: &str, file_name: &str) -> Option<Program> {
    language_of(file_name).filter(|l| l.name == "lustre")?;
    let folders = IncludeFolders::of(file_name);
    with_included(source, file_name, &identity_of(file_name), &mut |by, path| folders.read(by, path))
}

/// Texts with more bytes, and all under a time limit, are parsed on a separate thread, so that cancellation does not wait
/// for deallocation.
const LARGE: usize = 1 << 18;

/// [`check_source`] that can be cancelled and watched, and that gives the verdicts themselves as well.
pub fn check_loaded(
    source: &str,
    file_name: &str,
    options: &CheckOptions,
    cancel: &Cancellation,
    observer: &dyn Observer,
) -> Checked {
    check_announced(source, file_name, options, cancel, observer, &|_, _| {})
}

/// [`check_loaded`] that says which system's claims, in this order, are decided next.
pub(crate) fn check_announced(
    source: &str,
    file_name: &str,
    options: &CheckOptions,
    cancel: &Cancellation,
    observer: &dyn Observer,
    announce: &dyn Fn(&Arc<System>, &[ClaimId]),
) -> Checked {
    let started = Instant::now();
    let sign = cancel.with_deadline(options.timeout.and_then(|t| started.checked_add(t)));
    let read = if source.len() < LARGE && options.timeout.is_none() {
        sign.run_cancellable(|| Model::load(source, file_name))
    } else {
        let (source, file_name) = (source.to_string(), file_name.to_string());
        sign.run_cancellable_on_thread(move || Model::load(&source, &file_name))
    };
    match read {
        Ok(model) => decide_from(&model, options, cancel, observer, announce, started),
        Err(stopped) => {
            let mut checked = Checked::rejected(file_name, Vec::new());
            checked.view.stopped = Some(reading_stopped(stopped, options, cancel));
            checked
        }
    }
}

/// Decides the claims of a model; see [`Model::check_with`]. `announce` is told which system's claims are decided next.
pub(crate) fn decide(
    model: &Model,
    options: &CheckOptions,
    cancel: &Cancellation,
    observer: &dyn Observer,
    announce: &dyn Fn(&Arc<System>, &[ClaimId]),
) -> Checked {
    decide_from(model, options, cancel, observer, announce, Instant::now())
}

/// [`decide`] with a time limit that counts from `started`.
fn decide_from(
    model: &Model,
    options: &CheckOptions,
    cancel: &Cancellation,
    observer: &dyn Observer,
    announce: &dyn Fn(&Arc<System>, &[ClaimId]),
    started: Instant,
) -> Checked {
    let (loaded, systems) = (&model.loaded, model.systems.clone());
    let (file_name, source) = (model.file_name.as_str(), model.source.as_str());
    let sign = cancel.with_deadline(options.timeout.and_then(|t| started.checked_add(t)));
    let mut diagnostics = model.diagnostics(options.paint);
    diagnostics.retain(|d| !options.allow.iter().any(|code| code.as_str() == d.code));
    if systems.is_empty() {
        return Checked::rejected(file_name, diagnostics);
    }
    let configs = match configure_all(&systems, options) {
        Ok(configs) => configs,
        Err(error) => {
            diagnostics.push(error.diagnostic());
            return Checked::rejected(file_name, diagnostics);
        }
    };
    if let Some(nothing) = nothing_to_decide(file_name, &systems, &configs, options) {
        diagnostics.push(nothing);
        return Checked::rejected(file_name, diagnostics);
    }
    let modules = loaded.modules.as_ref().filter(|_| options.analysis == Analysis::Modular);
    let mut view = CheckView {
        file: file_name.to_string(),
        claims: Vec::new(),
        diagnostics,
        internal_errors: Vec::new(),
        stopped: None,
        seconds: 0.0,
        schedules: Vec::new(),
        tools: Vec::new(),
        disagreements: Vec::new(),
    };
    let (mut reports, mut trees, mut internal_errors) = (Vec::new(), Vec::new(), Vec::new());
    let count = systems.len() as u32;
    for (i, (system, mut config)) in systems.into_iter().zip(configs).enumerate() {
        let mut system = system;
        // What is left of the time is shared by the systems that are left.
        config.timeout = options.timeout.map(|t| t.saturating_sub(started.elapsed()) / (count - i as u32));
        announce(&system, &config.claims);
        let (mut modular, mut raced, mut runs) = (None, Raced::default(), Runs::Exist);
        let mut report = if config.claims.is_empty() {
            CheckReport::default()
        } else {
            let begun = Instant::now();
            let mut report = match modules {
                Some(modules) => {
                    let found = modular::analyse(modules, &system, &config, cancel, observer);
                    modular = Some((found.proved, found.internal_errors, found.notes));
                    found.report
                }
                None => {
                    let mut problems = Vec::new();
                    let ours = |config: &CheckConfig, cancel: &Cancellation, observer: &dyn Observer| {
                        let Some(folder) = &options.cache else {
                            return gander_engines::check(&system, config, cancel, observer);
                        };
                        let cache = ProofCache::new(folder, source, file_name);
                        let (report, found) = cache.check(&system, config, cancel, observer);
                        problems.extend(found);
                        report
                    };
                    let (report, found) = race(&system, &config, &options.tools, cancel, observer, ours);
                    raced = found;
                    view.diagnostics.extend(problems.iter().map(|p| cache_warning(p)));
                    report
                }
            };
            reconcile(&system, &config, cancel, begun, &mut report);
            let left = options.timeout.map(|t| t.saturating_sub(started.elapsed()));
            runs = no_run::runs(&system, &report, &config, cancel, left);
            if matches!(runs, Runs::Exist | Runs::Undecided { .. })
                && options.findings == Findings::Sought
                && options.properties.is_empty()
            {
                let lint = Lint {
                    system: &system,
                    report: &report,
                    config: &config,
                    allowances: &loaded.allowances,
                    allowed: &options.allow,
                    time: options.timeout.map(|t| t.saturating_sub(started.elapsed())),
                };
                let found = sign.run_cancellable(|| findings(&lint, cancel)).unwrap_or_default();
                view.diagnostics.extend(model.show(&found, options.paint));
            }
            report
        };
        let lacking = matches!(runs, Runs::Lacking | Runs::Shown(..));
        match runs {
            Runs::Exist | Runs::Lacking => {}
            Runs::Shown(with_claim, outcome) => {
                system = with_claim;
                report.outcomes.push(*outcome);
            }
            Runs::Undecided { why, internal_errors } => {
                if report.outcomes.iter().any(|o| matches!(o.verdict, Verdict::Holds(_))) {
                    view.diagnostics.push(no_run::undecided_warning(&system, &why));
                }
                report.internal_errors.extend(internal_errors);
            }
        }
        let before = view.claims.len();
        show(&system, &report, options, source, &mut view);
        // A file is told once that it has no run, also if it is read as two systems.
        let told = |c: &ClaimView| view.claims[..before].iter().any(|d| d.name == c.name);
        if report.outcomes.last().is_some_and(|o| lacking && no_run::is_run_claim(&system, o.claim))
            && view.claims[before..].last().is_some_and(told)
        {
            view.claims.pop();
        }
        if let Some((proved, errors, notes)) = modular {
            view.claims.extend(proved.iter().map(|p| modular_view(&system, p, options)));
            view.claims[before..].sort_by_cached_key(|c| system.claims.iter().position(|d| d.name == c.name));
            view.diagnostics.extend(notes);
            internal_errors.extend(errors);
            trees.extend(proved.into_iter().map(|p| (system.claims[p.claim.index()].name.clone(), p.file)));
        }
        if lacking {
            no_run::discount(&mut view.claims[before..]);
        }
        judge_tools(&system, &raced, &mut view, before);
        if options.explain_schedule {
            view.schedules.push(schedule_view(&report.schedule));
        }
        reports.push((system, report));
    }
    view.internal_errors.extend(internal_errors);
    let open = view.claims.iter().any(|c| c.verdict.is_open());
    let elapsed = started.elapsed();
    view.seconds = elapsed.as_secs_f64();
    view.stopped = match options.timeout {
        _ if !open => None,
        _ if cancel.is_cancelled() => Some("stopped: this is what is known so far".to_string()),
        Some(limit) if elapsed >= limit => Some(format!(
            "stopped by the time limit of {} s: a longer one (--timeout), or invariants in nodes as hints, may help",
            limit.as_secs_f64()
        )),
        _ => None,
    };
    let mut reports = reports.into_iter();
    let (system, report) = match reports.next() {
        Some((system, report)) => (Some(system), report),
        None => (None, CheckReport::default()),
    };
    Checked { view, system, report, others: reports.collect(), trees }
}

/// What is said if reading a model was broken off.
pub(crate) fn reading_stopped(stopped: Stopped, options: &CheckOptions, cancel: &Cancellation) -> String {
    match (stopped, options.timeout) {
        (Stopped::OutOfMemory, _) => format!(
            "stopped at the memory limit of {} MB while the model was being read: a larger one (--memory) may help",
            gander_runtime::memory::limit().unwrap_or(0) >> 20
        ),
        (Stopped::Cancelled, Some(limit)) if !cancel.is_cancelled() => {
            format!("stopped by the time limit of {} s while the model was being read", limit.as_secs_f64())
        }
        (Stopped::Cancelled, _) => "stopped while the model was being read".to_string(),
    }
}

fn cache_warning(message: &str) -> DiagnosticView {
    DiagnosticView {
        code: "cache".to_string(),
        severity: Severity::Warning,
        message: message.to_string(),
        place: None,
        help: Vec::new(),
        rendered: format!("warning: {message}\n"),
    }
}

fn schedule_view(schedule: &Schedule) -> ScheduleView {
    let engine = |a: &EngineAccount| EngineView {
        engine: a.engine.clone(),
        share: a.part.share,
        after: a.part.after,
        claims: a.claims,
        began: a.began.map(|d| d.as_secs_f64()),
        turns: a.turns,
        used: a.used.as_secs_f64(),
        settled: a.settled,
        facts: a.facts,
        ending: a.ending.words().to_string(),
    };
    ScheduleView {
        model: schedule.model.clone(),
        plan: (!schedule.plan.is_empty()).then(|| (schedule.plan.clone(), schedule.about.clone())),
        engines: schedule.engines.iter().map(engine).collect(),
    }
}

/// Adds the verdicts about a system to the view.
fn show(system: &System, report: &CheckReport, options: &CheckOptions, source: &str, view: &mut CheckView) {
    view.internal_errors.extend(report.internal_errors.iter().map(|e| internal_error_text(system, e)));
    // Only runs are shown with the help of the equations.
    let is_run = |v: &Verdict| matches!(v, Verdict::Holds(Evidence::Run(_)) | Verdict::Fails(Evidence::Run(_)));
    let flow = if report.outcomes.iter().any(|o| is_run(&o.verdict)) { Dataflow::of(system) } else { None };
    let mut reasons = Reasons::new(options.solvers.clone());
    for outcome in &report.outcomes {
        // A claim whose evidence did not pass its check has no verdict to show.
        let refused = report.internal_errors.iter().any(|e| e.claim == outcome.claim);
        if refused && matches!(outcome.verdict, Verdict::Unknown { .. }) {
            continue;
        }
        let saved = match outcome.verdict {
            Verdict::Unknown { .. } => serde_json::Value::Null,
            _ if options.file_form == FileForm::LeftOut => serde_json::Value::Null,
            _ => write_evidence(system, outcome.claim, &outcome.verdict).unwrap_or_default(),
        };
        let answered = Answered {
            claim: &system.claims[outcome.claim.index()],
            verdict: &outcome.verdict,
            engine: &outcome.engine,
            seconds: outcome.elapsed.as_secs_f64(),
            warnings: &outcome.warnings,
            flow: flow.as_ref(),
        };
        let because = reasons.because(system, answered.claim, answered.verdict);
        let contradiction = reasons.contradiction(system, answered.claim, answered.verdict);
        let contradiction =
            contradiction.into_iter().map(|(id, text)| constraint_view(system, id, text, source)).collect();
        let basis = basis_view(&outcome.verdict, &outcome.basis);
        let mut shown = ClaimView { because, contradiction, basis, ..claim_view(system, answered, saved) };
        if let (ClaimKind::Completable(t), Verdict::Fails(Evidence::Run(run))) =
            (&answered.claim.kind, answered.verdict)
            && let VerdictView::Fails(EvidenceView { shown: ShownEvidence::Trace(trace), .. }) = &mut shown.verdict
            && let Some(params) = reasons.stuck_with(system, *t, run)
        {
            let action = action_text(system, *t, &params);
            trace.ending = Some(format!("here {action} is enabled, but no next state satisfies its effect"));
        }
        view.claims.push(shown);
    }
}

/// An element of the model with its place in the source, in the words of the author if they fit on a line.
fn constraint_view(system: &System, id: ElementId, text: String, source: &str) -> ConstraintView {
    let span = system.elements[id.index()].span;
    let written = span.and_then(|s| source.get(s.start as usize..s.end as usize)).map(str::trim);
    let text = written.filter(|w| !w.is_empty() && !w.contains('\n')).map_or(text, str::to_string);
    let place = span.filter(|_| written.is_some()).map(|s| {
        let lines = LineIndex::new(source);
        let (from, to) = (lines.position(source, s.start), lines.position(source, s.end));
        Place { file: None, line: from.line, column: from.column, end_line: to.line, end_column: to.column }
    });
    ConstraintView { text, place }
}

/// The configurations for several systems. A claim that is named must be one of some system.
fn configure_all(systems: &[Arc<System>], options: &CheckOptions) -> Result<Vec<CheckConfig>, UsageError> {
    if let [system] = systems {
        return Ok(vec![configure(system, options)?]);
    }
    let known = |name: &String| systems.iter().any(|s| s.find_claim(name).is_some());
    if let Some(missing) = options.properties.iter().find(|name| !known(name)) {
        let names: Vec<&str> = systems.iter().flat_map(|s| &s.claims).map(|c| c.name.as_str()).collect();
        return Err(no_claim(missing, &names));
    }
    let mut configs = Vec::new();
    for system in systems {
        let mut here = options.clone();
        here.properties.retain(|name| system.find_claim(name).is_some());
        let mut config = configure(system, &here)?;
        if here.properties.is_empty() && !options.properties.is_empty() {
            config.claims.clear();
        }
        configs.push(config);
    }
    Ok(configs)
}

fn no_claim(name: &str, names: &[&str]) -> UsageError {
    let near = nearest(name, names.iter().copied()).map(|n| format!("did you mean `{n}`?"));
    let few: Vec<&str> = names.iter().copied().take(12).collect();
    let more = if names.len() > few.len() { ", ..." } else { "" };
    let list = format!("claims are {}{more}", few.join(", "));
    UsageError::new(format!("there is no claim `{name}`"), near.into_iter().chain([list]))
}

/// The view of a claim that holds by a contract tree: what is shown is the proof of the claim itself.
fn modular_view(system: &System, proved: &Proved, options: &CheckOptions) -> ClaimView {
    let saved = match options.file_form {
        FileForm::LeftOut => serde_json::Value::Null,
        FileForm::Included => proved.file.clone(),
    };
    let answered = Answered {
        claim: &proved.system.claims[proved.own_claim.index()],
        verdict: &proved.verdict,
        engine: &proved.engine,
        seconds: proved.elapsed.as_secs_f64(),
        warnings: &[],
        flow: None,
    };
    let shown = claim_view(&proved.system, answered, saved);
    let name = system.claims[proved.claim.index()].name.clone();
    let basis = basis_view(&proved.verdict, &proved.basis);
    ClaimView { name, abstracted: proved.abstracted.clone(), shown_in: proved.shown_in.clone(), basis, ..shown }
}

/// What a verdict rests on; none if it is unknown.
fn basis_view(verdict: &Verdict, basis: &Basis) -> Option<BasisView> {
    let Basis { ground, solvers, why_one } = basis;
    let view = BasisView { ground: ground.word(), solvers: solvers.clone(), why_one: why_one.clone() };
    (!matches!(verdict, Verdict::Unknown { .. })).then_some(view)
}

fn internal_error_text(system: &System, e: &InternalError) -> String {
    let claim = &system.claims[e.claim.index()].name;
    match e.verdict {
        Verdict::Unknown { .. } => format!("{}: {} (while working on `{claim}`)", e.engine, e.problem),
        _ => format!("an answer of {} to `{claim}` did not pass its check: {}", e.engine, e.problem),
    }
}

/// The configuration for the engines; checks that everything that is named exists.
fn configure(system: &System, options: &CheckOptions) -> Result<CheckConfig, UsageError> {
    let solvers = options.solvers.clone().unwrap_or_else(|| Arc::new(Solvers::from_environment()));
    let none = options.engines == [NO_ENGINE];
    if none && options.tools.is_empty() {
        let message = "`--engine none` leaves nobody to decide the claims".to_string();
        return Err(UsageError::new(message, ["name other tools with `--with`".to_string()]));
    }
    for name in options.engines.iter().filter(|_| !none) {
        if !engines().iter().any(|e| e.name == name) {
            let known: Vec<&str> = engines().iter().map(|e| e.name).collect();
            let message = format!("there is no engine `{name}`");
            let near = nearest(name, known.iter().copied()).map(|n| format!("did you mean `{n}`?"));
            return Err(UsageError::new(
                message,
                near.into_iter().chain([format!("engines are {}", known.join(", "))]),
            ));
        }
    }
    if let Some(name) = &options.second_opinion
        && solvers.by_name(name).is_none()
    {
        let found: Vec<String> = solvers.all().iter().map(|s| s.name.to_string()).collect();
        let message = format!("the solver `{name}` for the second opinion was not found");
        return Err(UsageError::new(message, [format!("solvers found: {}", found.join(", "))]));
    }
    let claims = selected(system, options)?;
    let mut config = CheckConfig::new(solvers, claims);
    config.engines = (!options.engines.is_empty()).then(|| options.engines.clone());
    if none {
        config.engines = Some(Vec::new());
    }
    config.portfolio = options.portfolio.clone();
    config.timeout = options.timeout;
    if let Some(jobs) = options.jobs {
        config.jobs = jobs;
    }
    config.seed = options.seed;
    config.memory = options.memory;
    config.log_smt = options.log_smt.clone();
    config.second_opinion = options.second_opinion.clone();
    config.trust = options.trust;
    config.options = options.engine_options.clone();
    Ok(config)
}

/// The claims to decide. A claim that is named is decided whatever its origin.
fn selected(system: &System, options: &CheckOptions) -> Result<Vec<ClaimId>, UsageError> {
    let all = || system.claims.iter().enumerate().map(|(i, c)| (ClaimId::from(i), c));
    if options.properties.is_empty() {
        let wanted = |c: &gander_system::Claim| c.origin != ClaimOrigin::Structural || options.checks.include(&c.kind);
        return Ok(all().filter(|(_, c)| wanted(c)).map(|(id, _)| id).collect());
    }
    let mut chosen = Vec::new();
    for name in &options.properties {
        match all().find(|(_, c)| c.name == *name) {
            Some((id, _)) if chosen.contains(&id) => {}
            Some((id, _)) => chosen.push(id),
            None => {
                let names: Vec<&str> = system.claims.iter().map(|c| c.name.as_str()).collect();
                return Err(no_claim(name, &names));
            }
        }
    }
    Ok(chosen)
}

//! Explains a run that decides a claim: makes it short and simple, and finds what its end depends
//! on.
//!
//! A run passes through these stages, each with its own time limit:
//!
//! 1. *shortened*: the fewest steps (`smooth`);
//! 2. *smoothed*: a run of that length with the fewest changes of its chosen values (`choices`),
//!    by MaxSAT (`maxsat`); among these, one with small values;
//! 3. *generalised*: which chosen values do not matter (`freedom`), and which computed values
//!    vary with them;
//! 4. *forced*: the parts of the model that force its end (`forced`);
//! 5. on request, *contrasted*: the nearest run with a different end (`contrast`).
//!
//! Lassos pass through the first two (`lasso`).
//!
//! Every run that a stage produces is checked by the [`RunChecker`]. If it is not accepted, the
//! previous run is kept. [`RunExplanation::notes`] lists what was not done, and why.

mod choices;
mod contrast;
mod ending;
mod fixed;
mod flat;
mod forced;
mod freedom;
mod lasso;
mod maxsat;
mod samples;
mod search;
mod smooth;

use std::sync::Arc;
use std::time::Instant;

use gander_system::{ClaimId, ClaimKind, Evidence, Run, System, VarId, Verdict};
use gander_term::Pool;

pub use choices::{Choice, changes};
pub use forced::Forced;
pub use freedom::{Bound, Freedom};

use crate::explainer::ExplainConfig;
use crate::parts::Parts;
use choices::DefinitionTable;
use contrast::ContrastResult;
use ending::{Ending, Place};
use fixed::Fixed;
use flat::FlatRun;
use lasso::{LassoGoal, Loop};
use search::Search;

/// Checks runs for this module.
pub trait RunChecker {
    /// Checks the evidence in a verdict; an error says why it is not accepted.
    fn certify(&mut self, system: &System, claim: ClaimId, verdict: &Verdict)
    -> Result<(), String>;

    /// Checks that a run is a run of the system; an error says why it is not.
    fn replay(&mut self, system: &System, run: &Run) -> Result<(), String>;
}

/// What to find out about a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RunRequest {
    /// Whether to find the nearest run with a different end.
    pub contrast: Contrasting,
}

/// Whether to find the nearest run with a different end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Contrasting {
    /// Do not search for it.
    #[default]
    LeftOut,
    /// Search for it.
    Sought,
}

/// How long a run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Length {
    /// Its number of steps.
    pub steps: u64,
    /// The number of steps of the run that an engine found.
    pub before: u64,
    /// True if no run that shows the same is shorter.
    pub least: bool,
}

/// The number of changes of chosen values along a run; see [`changes`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Changes {
    /// The number of changes.
    pub count: u64,
    /// The number before smoothing.
    pub before: u64,
    /// True if no run of this length that shows the same has fewer.
    pub least: bool,
}

/// A run with a different end.
#[derive(Clone, Debug)]
pub struct Contrast {
    /// The run; as long as the explained one.
    pub run: Run,
    /// True if it takes the same transitions.
    pub same_way: bool,
    /// The choices of the explained run whose values differ.
    pub differing: Vec<Choice>,
    /// The number of choices of the explained run.
    pub of: usize,
    /// True if no such run has fewer differences.
    pub least: bool,
}

/// A run and its explanation.
#[derive(Clone, Debug)]
pub struct RunExplanation {
    /// The checked verdict with the final run.
    pub verdict: Verdict,
    /// The run.
    pub run: Run,
    /// How long it is.
    pub length: Length,
    /// Its changes of chosen values; `None` if they were not counted.
    pub changes: Option<Changes>,
    /// The freedom of each chosen value; empty if it was not determined.
    pub freedoms: Vec<(Choice, Freedom)>,
    /// True if no single freedom can be widened.
    pub maximal: bool,
    /// Computed values that vary within the freedoms: states and variables.
    pub varying: Vec<(u32, VarId)>,
    /// The parts that force its end.
    pub forced: Option<Forced>,
    /// The nearest run with a different end, if it was requested and found.
    pub contrast: Option<Contrast>,
    /// What was not done, and other notes, as sentences.
    pub notes: Vec<String>,
}

/// The run in a verdict, and a note if it cannot be simplified.
fn run_of(verdict: &Verdict) -> Option<(&Run, &'static str)> {
    let (Verdict::Holds(evidence) | Verdict::Fails(evidence)) = verdict else { return None };
    match evidence {
        Evidence::Run(run) => Some((run, "")),
        Evidence::Lasso { run, .. } => Some((run, "")),
        Evidence::Recurrent { run, .. } => Some((
            run,
            "the run is shown as it was found, as what it can go on to do is a matter of its last state",
        )),
        Evidence::Impossible { run, .. } => {
            Some((run, "the run is shown as it was found, as the proof is about its last state"))
        }
        _ => None,
    }
}

/// Explains a verdict whose evidence is a run; `None` for other evidence.
pub fn explain_run(
    system: &Arc<System>,
    parts: &Parts,
    (claim, verdict): (ClaimId, &Verdict),
    request: RunRequest,
    config: &ExplainConfig,
    checker: &mut dyn RunChecker,
) -> Option<RunExplanation> {
    let (run, as_found) = run_of(verdict)?;
    let mut explanation = RunExplanation::of_run(run, verdict);
    if !as_found.is_empty() {
        explanation.notes.push(as_found.to_string());
        return Some(explanation);
    }
    let end = config.timeout.and_then(|t| Instant::now().checked_add(t));
    let task = Task { system, claim, config, checker, end };
    match verdict {
        Verdict::Holds(Evidence::Lasso { back_to, .. })
        | Verdict::Fails(Evidence::Lasso { back_to, .. }) => {
            explain_lasso(task, run, *back_to, &mut explanation);
        }
        _ => explain_finite_run(task, run, parts, request, &mut explanation),
    }
    Some(explanation)
}

/// Makes a lasso short and simple.
fn explain_lasso(task: Task<'_>, run: &Run, back_to: u64, explanation: &mut RunExplanation) {
    let system = task.system;
    let mut pool = Pool::fork(system.pool());
    let Some(shows) = LassoGoal::of(system, &mut pool, task.kind()) else {
        let why = "the loop is shown as it was found: one that is fair to transitions is not made simpler";
        return explanation.notes.push(why.into());
    };
    let table = DefinitionTable::of(system, &mut pool);
    let base = pool.freeze();
    let flat = FlatRun::of(system, &base, &table, run);
    let (Some(flat), Ok(back_to)) = (flat, u32::try_from(back_to)) else {
        let why = "the loop is shown as it was found: it is too long to be made simpler";
        return explanation.notes.push(why.into());
    };
    let goal = Goal::Loop { shows, back_to };
    let mut pipeline = task.pipeline(base, table, goal, Vec::new(), flat);
    if !pipeline.write_out(run, explanation) {
        return;
    }
    pipeline.simplify_loop(explanation);
    pipeline.store_run(explanation);
    explanation
        .notes
        .push("which values matter, and what forces it, is not looked into for a loop".into());
}

/// Makes a finite run short and simple, and finds what its end depends on.
fn explain_finite_run(
    task: Task<'_>,
    run: &Run,
    parts: &Parts,
    request: RunRequest,
    explanation: &mut RunExplanation,
) {
    let system = task.system;
    let mut pool = Pool::fork(system.pool());
    let Some(ending) = Ending::of(system, &mut pool, task.kind()) else {
        let why = "the run is shown as it was found: for such a claim it is not made simpler";
        return explanation.notes.push(why.into());
    };
    let stages = ending.stages(system, &mut pool);
    let table = DefinitionTable::of(system, &mut pool);
    let base = pool.freeze();
    let flat = FlatRun::of(system, &base, &table, run);
    let is_long = flat.is_none();
    let flat = flat.unwrap_or_else(|| FlatRun::first_of(run));
    let mut pipeline = task.pipeline(base, table, Goal::Ending, stages, flat);
    if is_long {
        if !pipeline.find_short(run.length(), explanation) {
            let why = "the run is shown as it was found: it is too long to be made simpler";
            return explanation.notes.push(why.into());
        }
    } else if pipeline.write_out(run, explanation) {
        pipeline.shorten(&ending, explanation);
    } else {
        return;
    }
    pipeline.smoothen(explanation);
    pipeline.store_run(explanation);
    if let Some(places) = ending.places(system, &pipeline.base, &pipeline.flat) {
        pipeline.generalise((&ending, &places), explanation);
        pipeline.force(parts, (&ending, &places), explanation);
    }
    if request.contrast == Contrasting::Sought {
        pipeline.contrast(&ending, explanation);
    }
}

impl RunExplanation {
    /// The run as it was found, before any stage.
    fn of_run(run: &Run, verdict: &Verdict) -> RunExplanation {
        RunExplanation {
            verdict: verdict.clone(),
            run: run.clone(),
            length: Length { steps: run.length(), before: run.length(), least: run.length() == 0 },
            changes: None,
            freedoms: Vec::new(),
            maximal: false,
            varying: Vec::new(),
            forced: None,
            contrast: None,
            notes: Vec::new(),
        }
    }
}

/// What to explain, with which limits, and the checker of its runs.
struct Task<'w> {
    system: &'w Arc<System>,
    claim: ClaimId,
    config: &'w ExplainConfig,
    checker: &'w mut dyn RunChecker,
    /// When all stages have to end.
    end: Option<Instant>,
}

impl<'w> Task<'w> {
    fn kind(&self) -> &'w ClaimKind {
        &self.system.claims()[self.claim.index()].kind
    }

    fn pipeline(
        self,
        base: Arc<Pool>,
        table: DefinitionTable,
        goal: Goal,
        stages: Vec<ending::Stage>,
        flat: FlatRun,
    ) -> Pipeline<'w> {
        let Task { system, claim, config, checker, end } = self;
        Pipeline { system, base, table, goal, stages, claim, config, checker, end, flat }
    }
}

/// What the run shows.
enum Goal {
    /// The end of the run.
    Ending,
    /// A lasso.
    Loop { shows: LassoGoal, back_to: u32 },
}

/// The stages; see the module's documentation.
struct Pipeline<'w> {
    system: &'w Arc<System>,
    base: Arc<Pool>,
    table: DefinitionTable,
    goal: Goal,
    stages: Vec<ending::Stage>,
    claim: ClaimId,
    config: &'w ExplainConfig,
    checker: &'w mut dyn RunChecker,
    end: Option<Instant>,
    /// The current run.
    flat: FlatRun,
}

impl Pipeline<'_> {
    /// The deadline of a stage that starts now.
    fn deadline(&self, shares: u32) -> Instant {
        let now = Instant::now();
        let own = now.checked_add(self.config.share * shares).unwrap_or(now);
        self.end.map_or(own, |e| e.min(own))
    }

    fn search(&self) -> Result<Search, String> {
        Search::new(
            self.system,
            &self.base,
            &self.stages,
            &self.config.solvers,
            self.config.cancellation.clone(),
        )
    }

    /// Replaces the current run by this one, if the checker accepts it.
    fn accept(&mut self, run: &FlatRun, explanation: &mut RunExplanation, what: &str) -> bool {
        let evidence = match self.goal {
            Goal::Ending => Evidence::Run(run.run()),
            Goal::Loop { back_to, .. } => {
                Evidence::Lasso { run: run.run(), back_to: back_to.into() }
            }
        };
        let verdict = match explanation.verdict {
            Verdict::Holds(_) => Verdict::Holds(evidence),
            _ => Verdict::Fails(evidence),
        };
        match self.checker.certify(self.system, self.claim, &verdict) {
            Ok(()) => {
                explanation.verdict = verdict;
                self.flat = run.clone();
                true
            }
            Err(why) => {
                explanation
                    .notes
                    .push(format!("a {what} run did not pass its check and was dropped: {why}"));
                false
            }
        }
    }

    /// Starts the stages with the run written out step by step. If the given run is compressed or
    /// omits values, the written-out run is checked. Returns false if it is not accepted; the run
    /// then stays as it was found.
    fn write_out(&mut self, found: &Run, explanation: &mut RunExplanation) -> bool {
        let flat = self.flat.clone();
        flat.run() == *found || self.accept(&flat, explanation, "written-out")
    }

    /// Makes the current run the one that is shown.
    fn store_run(&self, explanation: &mut RunExplanation) {
        explanation.run = self.flat.run();
        explanation.length.steps = self.flat.steps.len() as u64;
    }

    /// Searches for a run that is short enough to be explained; false if none was found in time.
    fn find_short(&mut self, than: u64, explanation: &mut RunExplanation) -> bool {
        let Ok(mut search) = self.search() else { return false };
        search.deadline = self.deadline(2);
        let than = u32::try_from(than.min(flat::MAX_STEPS)).unwrap_or(u32::MAX);
        let shorter = smooth::shorter(&mut search, than);
        let Some(run) = shorter.run else { return false };
        let found = self.accept(&run, explanation, "shorter");
        explanation.length.least = found && shorter.least;
        found
    }

    fn shorten(&mut self, ending: &Ending, explanation: &mut RunExplanation) {
        // The run may meet its goal before its last state.
        let places = ending.places(self.system, &self.base, &self.flat).unwrap_or_default();
        if let (Some(place), Some(stage)) = (places.last(), self.stages.last()) {
            let end = place.at as usize + usize::from(matches!(stage, ending::Stage::Step(_)));
            if end < self.flat.steps.len() {
                let mut cut = self.flat.clone();
                cut.steps.truncate(end);
                cut.states.truncate(end + 1);
                self.accept(&cut, explanation, "cut");
            }
        }
        if self.flat.steps.is_empty() {
            explanation.length.least = true;
            return;
        }
        let mut search = match self.search() {
            Ok(search) => search,
            Err(why) => {
                return explanation.notes.push(format!("a shorter run was not looked for: {why}"));
            }
        };
        search.deadline = self.deadline(2);
        let shorter = smooth::shorter(&mut search, self.flat.len());
        explanation.length.least = match shorter.run {
            Some(run) => self.accept(&run, explanation, "shorter") && shorter.least,
            None => shorter.least,
        };
    }

    fn simplify_loop(&mut self, explanation: &mut RunExplanation) {
        let Goal::Loop { shows, back_to } = &mut self.goal else { return };
        let (shows, before) = (shows.clone(), *back_to);
        let mut search = match self.search() {
            Ok(search) => search,
            Err(why) => {
                return explanation.notes.push(format!("a simpler loop was not looked for: {why}"));
            }
        };
        search.deadline = self.deadline(2);
        let (found, least) = lasso::shorter(&mut search, &shows, self.flat.len());
        explanation.length.least = least;
        let mut back_to = before;
        if let Some(lasso) = found {
            back_to = lasso.back_to;
            self.goal = Goal::Loop { shows: shows.clone(), back_to };
            if !self.accept(&lasso.run, explanation, "shorter") {
                back_to = before;
                self.goal = Goal::Loop { shows: shows.clone(), back_to };
                explanation.length.least = false;
            }
        }
        let count = self.table.changes(self.system, &self.flat);
        let mut changes = Changes { count, before: count, least: count == 0 };
        let Ok(mut search) = self.search() else { return };
        search.deadline = self.deadline(2);
        let lasso = Loop { run: self.flat.clone(), back_to };
        if let Some(smoother) = lasso::smoother(&mut search, &shows, &self.table, &lasso) {
            let fewer = self.table.changes(self.system, &smoother.run);
            if fewer <= count && self.accept(&smoother.run, explanation, "smoother") {
                changes.count = fewer;
                changes.least = smoother.least;
            }
        }
        explanation.changes = Some(changes);
    }

    fn smoothen(&mut self, explanation: &mut RunExplanation) {
        let before = self.table.changes(self.system, &self.flat);
        let mut changes = Changes { count: before, before, least: before == 0 };
        let choices = self.table.choices(self.system, &self.flat);
        if choices.is_empty() && self.system.transitions().len() <= 1 {
            changes.least = true;
            explanation.changes = Some(changes);
            return;
        }
        let found = self.search().map(|mut search| {
            search.deadline = self.deadline(2);
            smooth::smoother(&mut search, &self.table, self.flat.len())
        });
        match found {
            Ok(Some(smoother)) => {
                let count = self.table.changes(self.system, &smoother.run);
                if count <= before && self.accept(&smoother.run, explanation, "smoother") {
                    changes.count = count;
                    changes.least = smoother.least;
                }
            }
            Ok(None) => explanation
                .notes
                .push("the run was not smoothed: the solver gave no answer in time".into()),
            Err(why) => explanation.notes.push(format!("the run was not smoothed: {why}")),
        }
        explanation.changes = Some(changes);
    }

    fn generalise(&mut self, end: (&Ending, &[Place]), explanation: &mut RunExplanation) {
        let choices = self.table.choices(self.system, &self.flat);
        if choices.is_empty() {
            explanation.maximal = true;
            return;
        }
        let tools = (&*self.config.solvers, self.config.cancellation.clone());
        let mut fixed =
            match Fixed::new(self.system, &self.base, &self.table, &self.flat, end, tools) {
                Ok(fixed) => fixed,
                Err(why) => {
                    return explanation
                        .notes
                        .push(format!("which values matter was not found out: {why}"));
                }
            };
        fixed.deadline = self.deadline(2);
        let Some(found) = freedom::freedoms(&mut fixed, &choices, &self.flat) else {
            explanation.notes.push(
                "which values matter was not found out: the solver gave no answer in time".into(),
            );
            return;
        };
        let tried = samples::samples(&fixed, &self.table, &self.flat, &found.list);
        for sample in &tried {
            let broken = match sample {
                None => true,
                Some(run) => !fixed::meets(self.system, &fixed.pool, run, &fixed.conditions),
            };
            if broken {
                explanation.notes.push(
                    "which values matter is not shown: a sample did not pass its check".into(),
                );
                return;
            }
        }
        for run in tried.iter().flatten().take(samples::CERTIFIED_SAMPLES) {
            let evidence = Evidence::Run(run.run());
            let verdict = match explanation.verdict {
                Verdict::Holds(_) => Verdict::Holds(evidence),
                _ => Verdict::Fails(evidence),
            };
            if let Err(why) = self.checker.certify(self.system, self.claim, &verdict) {
                explanation
                    .notes
                    .push(format!("which values matter is not shown: a sample was refused: {why}"));
                return;
            }
        }
        explanation.varying = samples::varying(&mut fixed, &self.table, &self.flat, &found, &tried);
        explanation.maximal = found.maximal;
        explanation.freedoms = found.list;
    }

    fn force(&mut self, parts: &Parts, end: (&Ending, &[Place]), explanation: &mut RunExplanation) {
        let tools = (&*self.config.solvers, self.config.cancellation.clone(), self.deadline(1));
        let table = (&self.table, parts);
        explanation.forced = forced::forced(self.system, &self.base, table, &self.flat, end, tools);
        if explanation.forced.is_none() {
            explanation
                .notes
                .push("what forces the end of the run was not found out in time".into());
        }
    }

    fn contrast(&mut self, ending: &Ending, explanation: &mut RunExplanation) {
        if matches!(ending, Ending::Goals(stages) if stages.len() > 1) {
            explanation
                .notes
                .push("no run is shown beside it: that is done for a single goal only".into());
            return;
        }
        let mut search = match self.search() {
            Ok(search) => search,
            Err(why) => return explanation.notes.push(format!("no run is shown beside it: {why}")),
        };
        search.deadline = self.deadline(2);
        match contrast::nearest(&mut search, &self.table, &self.flat, ending) {
            ContrastResult::Run(nearest) => {
                let run = nearest.run.run();
                if let Err(why) = self.checker.replay(self.system, &run) {
                    explanation.notes.push(format!(
                        "a run beside it did not pass its check and was dropped: {why}"
                    ));
                    return;
                }
                explanation.contrast = Some(Contrast {
                    differing: contrast::differing(
                        &self.table,
                        self.system,
                        &self.flat,
                        &nearest.run,
                    ),
                    of: self.table.choices(self.system, &self.flat).len(),
                    run,
                    same_way: nearest.same_way,
                    least: nearest.least,
                });
            }
            ContrastResult::None => {
                let steps = self.flat.steps.len();
                let s = if steps == 1 { "" } else { "s" };
                let text = format!(
                    "there is no run of {steps} step{s} to compare it with: all of them show the same"
                );
                explanation.notes.push(text);
            }
            ContrastResult::Unknown => {
                explanation.notes.push("no run to compare it with was found in time".into());
            }
        }
    }
}

//! The queue of checks, and the threads that run them.
//!
//! The newest check goes first. Checks of one document run one after the other. A check of a text
//! that was changed or closed is dropped or cancelled. Before a check begins, the files that the
//! document includes are compared with those that were read. Each accepted check ends with one
//! [`Event::CheckEnded`].

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use gander::explanation::{CoreSelection, Request};
use gander::{
    EarlierVerdicts, Event as EngineEvent, ExplainOptions, Model, Observer, VerdictObserver,
};
use gander_report::{ClaimView, TraceView};
use gander_runtime::{Cancellation, lock};
use gander_system::{ClaimId, Span, System};

use crate::analysis::Analysis;
use crate::config::ServiceConfig;
use crate::diagnostics::{DocumentDiagnostic, Related, of_view};
use crate::document::{Document, Refusal, Revision, Uri};
use crate::events::Event;
use crate::results::{ClaimRecord, Explanation};
use crate::state::{Shared, State};

/// Time between two events of progress.
const PROGRESS_PERIOD: Duration = Duration::from_millis(100);
/// Documents whose verdicts are kept with their terms, to be checked again fast. The evidence of
/// others is in the folder of results.
const MAX_EARLIER: usize = 8;
/// Steps of a run that are kept as related places.
const MAX_STEPS: usize = 50;

/// Identifies a check of a service.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct CheckId(pub u64);

/// Which claims are decided.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Selection {
    /// All of them, and findings are sought.
    #[default]
    All,
    /// Those with these names.
    Claims(Vec<String>),
}

/// What a check does with the claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CheckWork {
    /// It decides them.
    #[default]
    Decide,
    /// It decides them and explains why they hold, or how they fail.
    Explain,
}

/// What to check.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CheckRequest {
    /// Which claims.
    pub selection: Selection,
    /// What to do with them.
    pub work: CheckWork,
    /// The time limit in place of that of the configuration.
    pub timeout: Option<Duration>,
    /// Begin only after this time. If the text changes before, the check is dropped.
    pub delay: Duration,
}

/// How a check ended.
#[derive(Clone, PartialEq, Debug)]
pub enum CheckEnding {
    /// It came to its end, perhaps with undecided claims.
    Finished {
        /// How long it took.
        seconds: f64,
        /// The exit code of the command for the same check (docs/semantics.md, section 4).
        exit_code: u8,
        /// Why it ended early, if it did: its time was over.
        stopped: Option<String>,
    },
    /// The text has errors, so there was nothing to check.
    Rejected,
    /// The text was changed or closed.
    Superseded,
    /// It was cancelled.
    Cancelled,
    /// It failed inside: an error of gander.
    Broke(String),
}

/// A check that waits.
#[derive(Debug)]
pub(crate) struct Job {
    id: CheckId,
    pub(crate) uri: Uri,
    document: Arc<Document>,
    request: CheckRequest,
    not_before: Instant,
    /// The comparison of included files that must have been made before it begins.
    comparison: Option<u64>,
    cancel: Cancellation,
    /// Why it is cancelled, while it runs.
    ending: Option<CheckEnding>,
}

/// The checks that wait or run.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: Vec<Job>,
    /// Their analysis was taken; only `id`, `uri`, `cancel` and `ending` matter here.
    running: Vec<Job>,
    last: u64,
}

impl Queue {
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.running.is_empty()
    }

    /// Checks that wait or run, with their documents; those that run first.
    pub(crate) fn list(&self) -> Vec<(CheckId, Uri, bool)> {
        let running = self.running.iter().map(|j| (j.id, j.uri.clone(), true));
        running.chain(self.waiting.iter().map(|j| (j.id, j.uri.clone(), false))).collect()
    }
}

/// What a check gave.
struct Done {
    ending: CheckEnding,
    /// The report of all claims.
    report: Option<(gander_report::CheckView, Vec<DocumentDiagnostic>)>,
}

impl Shared {
    /// Puts a check into the queue, unless an equal one waits already; returns that one then.
    pub(crate) fn enqueue(&self, uri: &Uri, request: CheckRequest) -> Result<CheckId, Refusal> {
        self.enqueue_in(&mut lock(&self.state), uri, request)
    }

    pub(crate) fn enqueue_in(
        &self,
        state: &mut State,
        uri: &Uri,
        request: CheckRequest,
    ) -> Result<CheckId, Refusal> {
        let limit = self.config().limits.checks;
        if state.is_stopping {
            return Err(Refusal::Stopped);
        }
        let Some(entry) = state.documents.get(uri) else { return Err(Refusal::NotOpen) };
        let document = Arc::clone(&entry.document);
        let not_before = Instant::now() + request.delay.min(Duration::from_secs(3600));
        let same = |job: &&mut Job| {
            job.document.revision == document.revision
                && CheckRequest { delay: request.delay, ..job.request.clone() } == request
        };
        if let Some(job) = state.queue.waiting.iter_mut().find(same) {
            job.not_before = job.not_before.min(not_before);
            // Files may have changed since it was put into the queue.
            job.comparison = None;
            let id = job.id;
            self.changed.notify_all();
            return Ok(id);
        }
        if state.queue.waiting.len() + state.queue.running.len() >= limit {
            return Err(Refusal::TooMany { what: "checks", limit });
        }
        state.queue.last += 1;
        let id = CheckId(state.queue.last);
        state.queue.waiting.push(Job {
            id,
            uri: uri.clone(),
            document,
            request,
            not_before,
            comparison: None,
            cancel: Cancellation::new(),
            ending: None,
        });
        self.changed.notify_all();
        Ok(id)
    }

    /// Removes the chosen checks that wait, and cancels those that run.
    pub(crate) fn drop_checks(
        &self,
        state: &mut State,
        chosen: impl Fn(&Job) -> bool,
        ending: CheckEnding,
    ) {
        let (dropped, kept) = state.queue.waiting.drain(..).partition(&chosen);
        state.queue.waiting = kept;
        let dropped: Vec<Job> = dropped;
        for job in dropped {
            let ending = ending.clone();
            self.send(Event::CheckEnded { check: job.id, document: job.document, ending });
        }
        for job in state.queue.running.iter_mut().filter(|job| chosen(job)) {
            job.ending.get_or_insert_with(|| ending.clone());
            job.cancel.cancel();
        }
    }

    pub(crate) fn cancel_check(&self, check: CheckId) {
        let mut state = lock(&self.state);
        self.drop_checks(&mut state, |job| job.id == check, CheckEnding::Cancelled);
        self.changed.notify_all();
    }

    pub(crate) fn cancel_checks_of(&self, uri: &Uri) {
        let mut state = lock(&self.state);
        self.drop_checks(&mut state, |job| job.uri == *uri, CheckEnding::Cancelled);
        self.changed.notify_all();
    }

    /// Runs checks until the service stops.
    pub(crate) fn run_checks(&self) {
        while let Some((job, analysis)) = self.next_check() {
            self.run_check(&job, &analysis);
            self.changed.notify_all();
        }
    }

    /// The document has a new revision: checks that run are cancelled, those that wait are about
    /// the new one.
    pub(crate) fn renew_checks(&self, state: &mut State, document: &Arc<Document>) {
        for job in state.queue.running.iter_mut().filter(|job| job.uri == document.uri) {
            job.ending.get_or_insert(CheckEnding::Superseded);
            job.cancel.cancel();
        }
        for job in state.queue.waiting.iter_mut().filter(|job| job.uri == document.uri) {
            job.document = Arc::clone(document);
        }
    }

    /// Waits for a check whose time has come and whose document is parsed: the newest.
    fn next_check(&self) -> Option<(Arc<Job>, Arc<Analysis>)> {
        let mut guard = lock(&self.state);
        loop {
            let state = &mut *guard;
            if state.is_stopping {
                return None;
            }
            let now = Instant::now();
            let State { documents, queue, .. } = state;
            let mut newest: Option<(usize, CheckId, Arc<Analysis>)> = None;
            for (at, job) in queue.waiting.iter_mut().enumerate() {
                let is_busy = queue.running.iter().any(|running| running.uri == job.uri);
                if job.not_before > now || is_busy {
                    continue;
                }
                let Some(entry) = documents.get_mut(&job.uri) else { continue };
                if job.comparison.is_none() {
                    job.comparison = Some(entry.ask_for_comparison());
                    self.changed.notify_all();
                }
                let is_compared = job.comparison.is_some_and(|n| entry.includes.has_compared(n));
                let analysis = entry.current_analysis().filter(|_| is_compared);
                if let Some(analysis) = analysis
                    && analysis.document.revision == job.document.revision
                    && newest.as_ref().is_none_or(|(_, id, _)| *id < job.id)
                {
                    newest = Some((at, job.id, Arc::clone(analysis)));
                }
            }
            if let Some((at, _, analysis)) = newest {
                let job = state.queue.waiting.remove(at);
                let shown = Job {
                    id: job.id,
                    uri: job.uri.clone(),
                    document: Arc::clone(&job.document),
                    request: job.request.clone(),
                    not_before: job.not_before,
                    comparison: job.comparison,
                    cancel: job.cancel.clone(),
                    ending: None,
                };
                state.queue.running.push(shown);
                return Some((Arc::new(job), analysis));
            }
            let delayed = state.queue.waiting.iter().map(|job| job.not_before);
            let wait = delayed.filter(|t| *t > now).min().map(|t| t - now);
            let wait = wait.unwrap_or(Duration::from_secs(3600));
            let waited = self.changed.wait_timeout(guard, wait);
            guard = waited.unwrap_or_else(|e| e.into_inner()).0;
        }
    }

    fn run_check(&self, job: &Job, analysis: &Analysis) {
        let (check, document) = (job.id, Arc::clone(&job.document));
        if let Some(entry) = self.entry_at(&mut lock(&self.state), &job.uri, document.revision) {
            entry.includes.is_checked(document.revision);
        }
        self.send(Event::CheckStarted { check, document: Arc::clone(&document) });
        let mut config = self.config();
        Arc::make_mut(&mut config).check.earlier = self.earlier(job);
        let work = || self.work(job, analysis, &config);
        let done = match &analysis.model {
            Some(model) if analysis.is_checkable() => {
                catch_unwind(AssertUnwindSafe(|| work()(model)))
            }
            _ => Ok(Done { ending: CheckEnding::Rejected, report: None }),
        };
        let done = done.unwrap_or_else(|payload| {
            let ending = CheckEnding::Broke(panic_text(&*payload));
            Done { ending, report: None }
        });
        let mut state = lock(&self.state);
        let at = state.queue.running.iter().position(|j| j.id == check);
        let shown = at.map(|at| state.queue.running.remove(at));
        let cancelled = shown.and_then(|job| job.ending);
        let is_whole = cancelled.is_none();
        if let Some(entry) = self.entry_at(&mut state, &job.uri, document.revision) {
            if let Some((report, findings)) = done.report.filter(|_| is_whole) {
                entry.findings = Some((document.revision, findings));
                entry.results.set_report(document.revision, report);
            }
            self.publish(entry);
        }
        let ending = cancelled.unwrap_or(done.ending);
        self.send(Event::CheckEnded { check, document, ending });
    }

    /// What earlier checks found out about the document of a check.
    fn earlier(&self, job: &Job) -> Option<Arc<EarlierVerdicts>> {
        let mut state = lock(&self.state);
        let entry = self.entry_at(&mut state, &job.uri, job.document.revision)?;
        let earlier = entry.earlier.take().map(|(_, earlier)| earlier).unwrap_or_default();
        entry.earlier = Some((job.id, Arc::clone(&earlier)));
        let mut checks: Vec<CheckId> =
            state.documents.values().filter_map(|e| Some(e.earlier.as_ref()?.0)).collect();
        checks.sort_unstable();
        if let Some(&oldest) = checks.iter().rev().nth(MAX_EARLIER - 1) {
            let is_old = |(check, _): &mut (CheckId, _)| *check < oldest;
            state.documents.values_mut().for_each(|e| drop(e.earlier.take_if(is_old)));
        }
        Some(earlier)
    }

    /// The entry of a document if it still has this text.
    fn entry_at<'s>(
        &self,
        state: &'s mut State,
        uri: &Uri,
        revision: Revision,
    ) -> Option<&'s mut crate::state::Entry> {
        state.documents.get_mut(uri).filter(|entry| entry.document.revision == revision)
    }

    fn work<'w>(
        &'w self,
        job: &'w Job,
        analysis: &'w Analysis,
        config: &'w ServiceConfig,
    ) -> impl FnOnce(&Arc<Model>) -> Done + 'w {
        move |model| {
            let mut options = config.check.clone();
            if job.request.timeout.is_some() {
                options.timeout = job.request.timeout;
            }
            let is_all = match &job.request.selection {
                Selection::All => true,
                Selection::Claims(names) => {
                    options.properties = names.clone();
                    false
                }
            };
            let observer = CheckObserver {
                shared: self,
                job,
                analysis,
                model,
                started: Instant::now(),
                progress: Mutex::default(),
                places: OnceLock::new(),
            };
            match job.request.work {
                CheckWork::Decide => {
                    let checked = model.check_settling(&options, &job.cancel, &observer, &observer);
                    let view = checked.view;
                    let ending = CheckEnding::Finished {
                        seconds: view.seconds,
                        exit_code: view.exit_code(),
                        stopped: view.stopped.clone(),
                    };
                    let mut found: Vec<DocumentDiagnostic> =
                        view.diagnostics.iter().map(of_view).collect();
                    let errors = view.internal_errors.iter();
                    found.extend(errors.map(|e| DocumentDiagnostic::internal(e)));
                    Done { ending, report: is_all.then_some((view, found)) }
                }
                CheckWork::Explain => {
                    // Of other cores it is not known which of their elements are needed.
                    let request = Request { cores: CoreSelection::Minimal, ..Request::default() };
                    let options =
                        ExplainOptions { check: options, request, ..ExplainOptions::default() };
                    let explained =
                        model.explain_with(&options, &job.cancel, &observer, &mut |_, _| {});
                    let ending = CheckEnding::Finished {
                        seconds: observer.started.elapsed().as_secs_f64(),
                        exit_code: match (explained.failed, explained.open) {
                            (true, _) => 1,
                            (_, true) => 3,
                            _ => 0,
                        },
                        stopped: None,
                    };
                    observer.explained(explained);
                    Done { ending, report: None }
                }
            }
        }
    }
}

fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|s| s.to_string());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_string())
}

/// What engines said last.
#[derive(Default)]
struct ProgressState {
    claims: usize,
    settled: usize,
    engines: Vec<(String, String)>,
    sent: Option<Instant>,
}

/// Follows a check, keeps its results and sends them.
struct CheckObserver<'f> {
    shared: &'f Shared,
    job: &'f Job,
    analysis: &'f Analysis,
    model: &'f Model,
    started: Instant,
    progress: Mutex<ProgressState>,
    /// Where transitions and starts are written, by system and name.
    places: OnceLock<HashMap<(String, String), Span>>,
}

impl CheckObserver<'_> {
    fn explained(&self, explained: gander::Explained) {
        let explanation = Arc::new(Explanation {
            version: self.job.document.version,
            revision: self.job.document.revision,
            views: explained.views,
            notices: explained.notices,
        });
        let document = Arc::clone(&self.job.document);
        let mut state = lock(&self.shared.state);
        let limits = self.shared.config().limits;
        if let Some(entry) = self.shared.entry_at(&mut state, &self.job.uri, document.revision) {
            entry.results.keep_explanation(&explanation, limits.results);
        }
        self.shared.send(Event::Explained { check: self.job.id, document, explanation });
    }

    /// The steps of a run, at the transitions that they take.
    fn steps(&self, trace: &TraceView, system: &str) -> Vec<Related> {
        let own = self.model.source().own_text().len() as u32;
        let places = self.places.get_or_init(|| {
            let mut places = HashMap::new();
            for s in self.model.systems() {
                let starts = s.starts().iter().map(|start| (&start.name, start.span));
                let transitions = s.transitions().iter().map(|t| (&t.name, t.span));
                for (name, span) in starts.chain(transitions) {
                    if let Some(span) = span.filter(|span| span.end <= own) {
                        places.insert((s.name().to_string(), name.to_string()), span);
                    }
                }
            }
            places
        });
        let place = |action: &str| {
            let of = |name: &str| places.get(&(system.to_string(), name.to_string())).copied();
            of(action).or_else(|| of(action.split_once('(')?.0))
        };
        let row = |row: &gander_report::TraceRow| {
            let changes: Vec<String> =
                row.changes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            let changes = changes.join(", ");
            let text = match row.step {
                0 => format!("start: {changes}"),
                n => format!("step {n}, {}: {changes}", row.action),
            };
            Some(Related { span: place(&row.action)?, text })
        };
        trace.rows.iter().take(MAX_STEPS).filter_map(row).collect()
    }
}

impl VerdictObserver for CheckObserver<'_> {
    fn begin(&self, system: &System, claims: &[ClaimId]) {
        lock(&self.progress).claims += claims.len();
        let named = |id: &ClaimId| {
            let claim = &system.claims()[id.index()];
            (claim.name.clone(), claim.kind.word())
        };
        self.shared.send(Event::Claims {
            check: self.job.id,
            document: Arc::clone(&self.job.document),
            system: system.name().to_string(),
            claims: claims.iter().map(named).collect(),
        });
    }

    fn settled(&self, view: &ClaimView) {
        let place = self.analysis.claims.iter().find(|claim| claim.name == view.name);
        let system = place.map_or(String::new(), |claim| claim.system.clone());
        let trace = view.verdict.evidence().and_then(|e| e.shown.trace());
        let record = ClaimRecord {
            version: self.job.document.version,
            revision: self.job.document.revision,
            span: place.and_then(|claim| claim.span),
            steps: trace.map_or(Vec::new(), |trace| self.steps(trace, &system)),
            system,
            view: Arc::new(view.clone()),
        };
        lock(&self.progress).settled += 1;
        // Claims that are open because the check was cancelled are no results.
        if self.job.cancel.is_cancelled() && view.verdict.is_open() {
            return;
        }
        let document = Arc::clone(&self.job.document);
        let limits = self.shared.config().limits;
        let mut state = lock(&self.shared.state);
        if let Some(entry) = self.shared.entry_at(&mut state, &self.job.uri, document.revision) {
            entry.results.keep(record.clone(), limits.results, limits.evidence_bytes);
        }
        let record = Arc::new(record);
        self.shared.send(Event::Verdict { check: self.job.id, document, record });
    }
}

impl Observer for CheckObserver<'_> {
    fn event(&self, event: &EngineEvent) {
        let EngineEvent::Progress { engine, text, .. } = event else { return };
        let mut progress = lock(&self.progress);
        match progress.engines.iter_mut().find(|(name, _)| name == engine) {
            Some((_, said)) => said.clone_from(text),
            None => progress.engines.push((engine.clone(), text.clone())),
        }
        let now = Instant::now();
        if progress.sent.is_some_and(|sent| now - sent < PROGRESS_PERIOD) {
            return;
        }
        progress.sent = Some(now);
        self.shared.send(Event::Progress {
            check: self.job.id,
            document: Arc::clone(&self.job.document),
            elapsed: self.started.elapsed(),
            settled: progress.settled,
            open: progress.claims.saturating_sub(progress.settled),
            engines: progress.engines.clone(),
        });
    }
}

//! The director: schedules engines, certifies their answers, and reports.
//!
//! Engines take turns on a few worker threads; a turn is one piece of work. A free worker takes the
//! engine that has used the least time relative to its share; on a tie, the first one in the order
//! of the portfolio. So cheap engines come first, and no engine starves. Engines that begin at once
//! have their first turn on the calling thread. If these turns settle the check, no worker is
//! spawned; otherwise the director selects a plan of the portfolio.
//!
//! Workers sleep on a condition variable, the director on its channel. With more engines than
//! workers it tests ten times a second for stalled turns. It tests memory use four times a second.
//!
//! When the check is over, the director waits briefly for turns to end. Engines stop within
//! milliseconds of cancellation. Deallocation may take longer; it happens on the worker threads, so
//! that the caller does not wait for it.
//!
//! While answers to all open claims are being checked, engines pause for a limited time: if the
//! answers are right, further work would only slow the check down.
//!
//! Only answers that `gander-certify` has checked are reported. A wrong answer becomes an internal
//! error, and its claim stays open. A claim whose evidence could not be checked for lack of
//! resources stays open, too.

mod answers;
mod certifier;
mod control;
mod final_report;
mod limits;
mod orbits;
mod short_runs;
mod worker_pool;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use gander_process::ChildSet;
use gander_process::memory::{in_use, usual_limit};
use gander_runtime::Cancellation;
use gander_smt::Records;
use gander_system::{ClaimId, Obstacle, System, Verdict};

use crate::core::{
    Blackboard, CheckConfig, CheckReport, EngineContext, EngineInfo, Event, InternalError, Message,
    Method, Observer, Outcome, Proposal, Reduction, Schedule,
};
use crate::engines::engines;
use crate::portfolio::{ModelProfile, Part};

use answers::{Waiting, is_shortest};
use certifier::Certifier;
use limits::LIMITS;
use orbits::Orbits;
use short_runs::{ShortRuns, ShorteningEffort};
use worker_pool::{ScheduledEngine, SpawnDecision, WorkerPool};

/// Decides claims with all engines that the configuration allows.
///
/// The report has one outcome for each requested claim, in their order. Events are given to the
/// observer by the calling thread.
pub fn check(
    system: &Arc<System>,
    config: &CheckConfig,
    cancel: &Cancellation,
    observer: &dyn Observer,
) -> CheckReport {
    run(
        system,
        config,
        cancel,
        observer,
        engines(),
        if config.engines.is_some() { Choice::Named } else { Choice::Planned },
        Orbits::of,
    )
}

/// [`check`] with the caller's engines, all with the same share.
pub fn check_with(
    system: &Arc<System>,
    config: &CheckConfig,
    cancel: &Cancellation,
    observer: &dyn Observer,
    engines: &[EngineInfo],
) -> CheckReport {
    run(system, config, cancel, observer, engines, Choice::Named, Orbits::of)
}

/// How the engines were chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// The caller.
    Named,
    /// The portfolio.
    Planned,
}

fn run(
    system: &Arc<System>,
    config: &CheckConfig,
    cancel: &Cancellation,
    observer: &dyn Observer,
    engines: &[EngineInfo],
    choice: Choice,
    orbits: impl Fn(&System, &CheckConfig, &Cancellation) -> Orbits,
) -> CheckReport {
    let started = Instant::now();
    let deadline = config.timeout.and_then(|t| started.checked_add(t));
    let limited = cancel.with_deadline(deadline);
    let check = Check {
        system,
        cancel,
        observer,
        engines,
        choice,
        started,
        deadline,
        limited: &limited,
        reduction: reduce(system, &limited),
        blackboard: Arc::new(Blackboard::new(system)),
        is_working: Cell::new(false),
    };
    let (mut report, open) = check.phase(config, orbits(system, config, &limited));
    if !open.is_empty() {
        let (rest, _) =
            check.phase(&CheckConfig { claims: open, ..config.clone() }, Orbits::default());
        report.add(rest);
    }
    report
}

/// A check: what its phases share.
struct Check<'a> {
    system: &'a Arc<System>,
    cancel: &'a Cancellation,
    observer: &'a dyn Observer,
    engines: &'a [EngineInfo],
    choice: Choice,
    started: Instant,
    deadline: Option<Instant>,
    /// Cancelled at the deadline.
    limited: &'a Cancellation,
    reduction: Reduction,
    blackboard: Arc<Blackboard>,
    /// The observer knows that worker threads start.
    is_working: Cell<bool>,
}

impl Check<'_> {
    /// Decides claims. Also returns the deferred claims that are left to the engines: those that
    /// are open although their representatives are settled or no engine has work left.
    fn phase(&self, config: &CheckConfig, orbits: Orbits) -> (CheckReport, Vec<ClaimId>) {
        let &Check { system, engines, choice, started, deadline, limited, .. } = self;
        let (sender, messages) = channel();
        let all = self.cancel.child();
        let wake = sender.clone();
        self.cancel.on_cancel(move || {
            let _ = wake.send(Message::Cancelled);
        });
        let config = Arc::new(config.clone());
        let settled = Arc::new(settled_flags(system, &config.claims));
        // The check is correct without these bounds, so cancellation is ignored here.
        let _ = limited
            .run_cancellable(|| control::raise_bounds(system, &config.claims, &self.blackboard));
        let setup = Setup {
            reduction: self.reduction.clone(),
            config: &config,
            blackboard: &self.blackboard,
            settled: &settled,
            deferred: Arc::new(orbits.all_deferred()),
            cancel: &all,
            messages: &sender,
        };
        // The user's portfolio may leave out engines that begin at once.
        let own_portfolio = choice == Choice::Planned && config.portfolio.is_some();
        let at_once =
            |info: &EngineInfo| choice == Choice::Named || (!own_portfolio && info.begins_at_once);
        let pool = Arc::new(WorkerPool::new(
            setup.scheduled(engines, at_once),
            sender.clone(),
            started,
            deadline,
            config.workers.clone(),
        ));
        let mut director = Director::new(self, &setup, &pool, messages, orbits);
        let begun = config.options.uses(Method::StartUp).then(|| director.begin()).flatten();
        let ending = begun.unwrap_or_else(|| {
            if !self.is_working.replace(true) {
                self.observer.event(&Event::Working);
            }
            if choice == Choice::Planned {
                director.schedule = limited
                    .run_cancellable(|| plan(&setup, &pool, engines, at_once))
                    .unwrap_or_default();
            }
            let ending = director.direct(|| pool.spawn_worker());
            stop_engines(&pool, &setup);
            ending
        });
        let report = director.report(ending);
        if config.log_smt.is_some() {
            pool.drop_engines();
        }
        let left = match ending {
            Ending::Settled | Ending::Exhausted => director.orbits.all_deferred(),
            Ending::OutOfTime | Ending::OutOfMemory | Ending::Cancelled => Vec::new(),
        };
        let Director { certifier, ready, deferred, unchecked, waiting, .. } = director;
        let reduction = setup.reduction;
        let blackboard = Arc::clone(&self.blackboard);
        deallocate(
            &config,
            started,
            (pool, blackboard, reduction, certifier, ready, deferred, unchecked, waiting),
        );
        (report, left)
    }
}

/// The system that engines work on. Without time for a reduction there is none for engines either.
fn reduce(system: &Arc<System>, cancellation: &Cancellation) -> Reduction {
    let reduced = if system.pool().len() < LIMITS.large_system {
        cancellation.run_cancellable(|| Reduction::of(system, cancellation))
    } else {
        let (given, own) = (Arc::clone(system), cancellation.clone());
        cancellation.run_cancellable_on_thread(move || Reduction::of(&given, &own))
    };
    reduced.unwrap_or_else(|_| Reduction::none(system))
}

/// By claim: false if it was requested, because it has no verdict yet.
fn settled_flags(system: &System, requested: &[ClaimId]) -> Vec<AtomicBool> {
    let settled: Vec<AtomicBool> = system.claims().iter().map(|_| AtomicBool::new(true)).collect();
    for claim in requested {
        settled[claim.index()].store(false, Ordering::SeqCst);
    }
    settled
}

/// Cancels all engines, and waits until their turns end, for a limited time.
fn stop_engines(pool: &WorkerPool, setup: &Setup) {
    pool.close();
    setup.cancel.cancel();
    match setup.config.log_smt {
        None => pool.wait_for_turns(LIMITS.last_turns),
        // Session logs must be complete.
        Some(_) => pool.wait_for_workers(),
    }
}

/// Deallocates the data of a check, on a separate thread if that may take long.
fn deallocate(config: &CheckConfig, started: Instant, rest: impl Send + 'static) {
    if started.elapsed() >= LIMITS.deallocation_thread_after && config.log_smt.is_none() {
        // If no thread can be spawned, deallocate here.
        let _ = std::thread::Builder::new().name("deallocation".into()).spawn(move || drop(rest));
    }
}

/// What engines need to be opened.
struct Setup<'a> {
    reduction: Reduction,
    config: &'a Arc<CheckConfig>,
    blackboard: &'a Arc<Blackboard>,
    settled: &'a Arc<Vec<AtomicBool>>,
    /// Claims that engines do not work on, because their representatives are open.
    deferred: Arc<Vec<ClaimId>>,
    cancel: &'a Cancellation,
    messages: &'a Sender<Message>,
}

impl Setup<'_> {
    /// An entry for every allowed and wanted engine that can decide some claim.
    fn scheduled(
        &self,
        engines: &[EngineInfo],
        wanted: impl Fn(&EngineInfo) -> bool,
    ) -> Vec<ScheduledEngine> {
        let named = |e: &EngineInfo| {
            self.config.engines.as_ref().is_none_or(|names| names.iter().any(|n| n == e.name))
        };
        let mut scheduled = Vec::new();
        for info in engines.iter().filter(|e| named(e) && wanted(e)) {
            let decides =
                |c: &ClaimId| (info.decides)(&self.reduction.system.claims()[c.index()].kind);
            let open = |c: &ClaimId| !self.settled[c.index()].load(Ordering::SeqCst);
            let deferred = |c: &ClaimId| self.deferred.binary_search(c).is_ok();
            let wanted = |c: &ClaimId| open(c) && !deferred(c) && decides(c);
            let claims: Vec<ClaimId> = self.config.claims.iter().copied().filter(wanted).collect();
            if claims.is_empty() {
                continue;
            }
            let context = EngineContext {
                engine: info.name,
                shortest: info.finds_shortest,
                reduction: self.reduction.clone(),
                config: Arc::clone(self.config),
                claims,
                deferred: Arc::clone(&self.deferred),
                blackboard: Arc::clone(self.blackboard),
                settled: Arc::clone(self.settled),
                cancellation: self.cancel.child(),
                processes: ChildSet::default(),
                records: self.config.log_smt.clone().map(Records::new),
                messages: self.messages.clone(),
                nested_check: check,
            };
            scheduled.push(ScheduledEngine::new(*info, context, Part::default()));
        }
        scheduled
    }
}

/// Selects the plan, and admits its engines that have not started.
fn plan(
    setup: &Setup,
    pool: &WorkerPool,
    engines: &[EngineInfo],
    there: impl Fn(&EngineInfo) -> bool,
) -> Schedule {
    let profile = ModelProfile::of(&setup.reduction.system, &setup.config.claims);
    let portfolio = setup.config.portfolio.clone().unwrap_or_default();
    let plan = portfolio.plan(&profile);
    let more = setup.scheduled(engines, |e| !there(e) && plan.engines.contains_key(e.name));
    pool.plan(|name| plan.engines.get(name).copied(), more, engines);
    Schedule {
        model: profile.to_string(),
        plan: plan.name.clone(),
        about: plan.about.clone(),
        engines: Vec::new(),
    }
}

/// Why the director stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    Settled,
    Exhausted,
    OutOfTime,
    OutOfMemory,
    Cancelled,
}

struct Director<'a> {
    system: &'a Arc<System>,
    config: &'a CheckConfig,
    observer: &'a dyn Observer,
    blackboard: &'a Blackboard,
    settled: &'a [AtomicBool],
    pool: &'a WorkerPool,
    messages: Receiver<Message>,
    certifier: Certifier,
    short_runs: ShortRuns,
    /// How much work is done to shorten a run before it is checked.
    effort: ShorteningEffort,
    started: Instant,
    /// When the time limit ends.
    deadline: Option<Instant>,
    /// The system has many variables.
    large: bool,
    /// By position in the request.
    outcomes: Vec<Option<Outcome>>,
    obstacles: Vec<Vec<Obstacle>>,
    /// By claim: its position in the request.
    places: Vec<Option<usize>>,
    /// Number of requested claims without an outcome, except those that are deferred.
    open: usize,
    orbits: Orbits,
    /// Engines work on a reduced system.
    is_reduced: bool,
    cancel: &'a Cancellation,
    /// True once the last answers are checked.
    is_ending: bool,
    /// Answers to be checked next, in one batch.
    ready: Vec<Proposal>,
    /// Answers whose check ran out of time, to be checked for longer when nothing else is left.
    deferred: Vec<(Duration, Proposal)>,
    /// Answers that were not checked for lack of time. They are kept until the end, because
    /// deallocation may take long.
    unchecked: Vec<Proposal>,
    /// Answers that wait for a shorter run.
    waiting: Vec<Waiting>,
    internal_errors: Vec<InternalError>,
    schedule: Schedule,
    /// How many facts each engine published.
    facts: BTreeMap<&'static str, u64>,
    /// Bytes of memory that may be in use.
    most_memory: Option<u64>,
    /// When an engine was last stopped for memory.
    last_memory_stop: Option<Instant>,
}

impl<'a> Director<'a> {
    fn new(
        check: &Check<'a>,
        setup: &Setup<'a>,
        pool: &'a WorkerPool,
        messages: Receiver<Message>,
        orbits: Orbits,
    ) -> Director<'a> {
        let &Check { system, observer, started, deadline, .. } = check;
        let config = setup.config;
        let mut places = vec![None; system.claims().len()];
        for (at, claim) in config.claims.iter().enumerate() {
            places[claim.index()] = Some(at);
        }
        Director {
            system,
            config,
            observer,
            blackboard: setup.blackboard,
            settled: setup.settled,
            pool,
            messages,
            certifier: Certifier::new(system, config, setup.cancel, started),
            short_runs: ShortRuns::new(system, started),
            effort: ShorteningEffort::Full,
            started,
            deadline,
            large: setup.reduction.system.vars().len() > LIMITS.variables_at_once,
            outcomes: config.claims.iter().map(|_| None).collect(),
            obstacles: config.claims.iter().map(|_| Vec::new()).collect(),
            places,
            open: config.claims.len() - orbits.waiting(),
            orbits,
            is_reduced: setup.reduction.changes(),
            cancel: check.cancel,
            is_ending: false,
            ready: Vec::new(),
            deferred: Vec::new(),
            unchecked: Vec::new(),
            waiting: Vec::new(),
            internal_errors: Vec::new(),
            schedule: Schedule::default(),
            facts: BTreeMap::new(),
            most_memory: config.memory.or_else(gander_runtime::memory::limit).or_else(usual_limit),
            last_memory_stop: None,
        }
    }
}

impl Director<'_> {
    /// Runs the first turns of engines that begin at once, on the calling thread. This settles most
    /// small checks. `None` if workers are needed.
    fn begin(&mut self) -> Option<Ending> {
        let deadline = self.deadline;
        loop {
            while let Ok(message) = self.messages.try_recv() {
                match message {
                    Message::Cancelled => return Some(Ending::Cancelled),
                    message => self.receive(message),
                }
            }
            self.settle_ready();
            while self.transfer_some() {}
            if self.open == 0 {
                return Some(Ending::Settled);
            }
            // On a large system the first piece of work may take long. It pays if many claims are
            // easy.
            let open = self.open + self.orbits.waiting();
            let skipped = self.large && open < self.config.options.many_claims;
            if skipped || deadline.is_some_and(|d| Instant::now() >= d) || !self.pool.begin() {
                return None;
            }
        }
    }

    fn direct(&mut self, mut spawn_worker: impl FnMut() -> bool) -> Ending {
        let deadline = self.deadline;
        let jobs = match self.config.jobs {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            jobs => jobs,
        };
        self.pool.set_jobs(jobs);
        // One worker must exist to report that all engines are idle.
        if !spawn_worker() {
            return Ending::Exhausted;
        }
        let mut may_spawn = true;
        let mut next_memory_check = self.most_memory.map(|_| self.started + LIMITS.memory_interval);
        let mut idle = false;
        loop {
            self.transfer_some();
            if self.open == 0 && !self.orbits.has_renamed() {
                return Ending::Settled;
            }
            let now = Instant::now();
            if deadline.is_some_and(|d| now >= d) {
                return Ending::OutOfTime;
            }
            if next_memory_check.is_some_and(|at| now >= at) {
                match self.check_memory(now) {
                    Ok(next) => next_memory_check = next,
                    Err(ending) => return ending,
                }
            }
            // An explicit `--jobs` is a hard limit.
            let spawn_decision = match self.pool.spawn_decision(
                now,
                LIMITS.second_worker_after,
                self.config.jobs == 0,
            ) {
                SpawnDecision::Now if may_spawn => {
                    may_spawn = spawn_worker();
                    continue;
                }
                SpawnDecision::At(at) if may_spawn => Some(at),
                SpawnDecision::Now | SpawnDecision::At(_) | SpawnDecision::No => None,
            };
            // Receive queued messages first: they may contain better answers than those that wait.
            let message = match self.messages.try_recv() {
                Ok(message) => message,
                Err(TryRecvError::Disconnected) => return Ending::Exhausted,
                Err(TryRecvError::Empty) => {
                    if !self.ready.is_empty() {
                        self.settle_ready();
                        continue;
                    }
                    if self.orbits.has_renamed() {
                        continue;
                    }
                    if self.release_waiting(|w| idle || now >= w.until) {
                        continue;
                    }
                    if self.settle_deferred() {
                        continue;
                    }
                    if idle {
                        return Ending::Exhausted;
                    }
                    let waiting_until = self.waiting.iter().map(|w| w.until).min();
                    match self.next_message(
                        [deadline, spawn_decision, waiting_until, next_memory_check]
                            .into_iter()
                            .flatten()
                            .min(),
                        now,
                    ) {
                        Ok(message) => message,
                        Err(RecvTimeoutError::Timeout) => continue,
                        Err(RecvTimeoutError::Disconnected) => return Ending::Exhausted,
                    }
                }
            };
            match message {
                Message::Cancelled => return Ending::Cancelled,
                // All messages of engines came before this one.
                Message::Idle => idle = true,
                message => self.receive(message),
            }
        }
    }

    /// Measures memory use, and stops the engine with the most memory if the use is too high.
    /// Returns the time of the next test, or an ending if the limit is reached or no engine is left
    /// to stop.
    fn check_memory(&mut self, now: Instant) -> Result<Option<Instant>, Ending> {
        // An operating system that does not report memory now will not do so later.
        let (Some(used), Some(most)) = (in_use(), self.most_memory) else { return Ok(None) };
        if used <= most / 2 {
            return Ok(Some(now + LIMITS.memory_interval));
        }
        if used > most {
            return Err(Ending::OutOfMemory);
        }
        let [little, least] = LIMITS.free_memory_parts.map(|part| most - most / part);
        let waiting =
            self.last_memory_stop.is_some_and(|at| now.duration_since(at) < LIMITS.memory_return);
        if used > least || (used > little && !waiting) {
            self.last_memory_stop = Some(now);
            if !self.pool.stop_largest() {
                return Err(Ending::OutOfMemory);
            }
        }
        Ok(Some(now + LIMITS.memory_interval_high))
    }

    /// The next message, or none by the given time.
    fn next_message(
        &self,
        until: Option<Instant>,
        now: Instant,
    ) -> Result<Message, RecvTimeoutError> {
        match until {
            Some(at) => self.messages.recv_timeout(at.saturating_duration_since(now)),
            None => self.messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    fn receive(&mut self, message: Message) {
        if !matches!(message, Message::Proposal(_)) || self.ready.len() >= LIMITS.batch_answers {
            self.settle_ready();
        }
        match message {
            Message::Proposal(proposal) => self.enqueue(*proposal),
            Message::Conjectures(conjectures, likelihood) => {
                self.try_conjectures(conjectures, likelihood)
            }
            Message::Progress { engine, depth, text } => {
                self.observer.event(&Event::Progress { engine: engine.to_string(), depth, text });
                let blackboard = self.blackboard;
                self.release_waiting(|w| is_shortest(blackboard, w.proposal.claim, w.length));
            }
            Message::Fact { engine, text } => {
                *self.facts.entry(engine).or_default() += 1;
                self.observer.event(&Event::Fact { engine: engine.to_string(), text });
            }
            Message::Lost { engine, claim } => {
                if let Some(at) = self.open_place(claim) {
                    let reason = "its answer could not be carried back to the model".to_string();
                    self.obstacles[at].push(Obstacle { engine: engine.to_string(), reason });
                }
            }
            Message::Broken { engine, problem } => {
                let open = self.config.claims.iter().zip(&self.outcomes).find(|(_, o)| o.is_none());
                let claim = open.map_or(ClaimId(0), |(c, _)| *c);
                let reason = format!("broke: {problem}");
                let why = vec![Obstacle { engine: engine.to_string(), reason: reason.clone() }];
                let verdict = Verdict::Unknown { explored_through: None, why };
                self.internal_error(InternalError {
                    claim,
                    engine: engine.to_string(),
                    verdict,
                    problem: reason,
                });
            }
            Message::Idle | Message::Cancelled => {}
        }
    }
}

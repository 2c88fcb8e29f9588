//! The director: schedules engines, certifies their answers, and reports.
//!
//! Engines take turns on a few worker threads. A free worker takes the engine that has used the
//! least time for its share so far, in the order of the portfolio on a tie, for one piece of work.
//! So cheap engines come first, no engine starves, and a check that the first pieces of work settle
//! starts at most one thread. The portfolio is consulted only for longer checks. Workers sleep on a
//! condition variable, the director on its channel; with more engines than workers it tests ten
//! times a second for stalled turns, and four times a second for memory use.
//!
//! When the check is over, the director waits briefly for turns to end. Engines stop within
//! milliseconds of cancellation. Deallocation may take longer; it happens on their threads, so the
//! caller does not wait for it.
//!
//! While answers to all open claims are being checked, engines pause for a limited time: if the
//! answers are right, further work would only slow the check down.
//!
//! Only answers that `gander-certify` has checked are reported. A wrong answer becomes an internal
//! error, and its claim stays open. A claim whose evidence could not be checked for lack of
//! resources stays open, too.

mod certifier;
mod control;
mod limits;
mod short_runs;
mod worker_pool;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use gander_certify::{Basis, Certified, Rejection};
use gander_process::ChildSet;
use gander_process::memory::{in_use, usual_limit};
use gander_runtime::Cancellation;
use gander_smt::Records;
use gander_system::{ClaimId, Evidence, Leg, NodeFormulas, Obstacle, System, Verdict};
use rustc_hash::FxHashSet;

use crate::core::{
    Blackboard, CheckConfig, CheckReport, EngineContext, EngineInfo, Event, Fact, InternalError,
    Message, Method, Observer, Outcome, Proposal, ProvedInvariant, Reduction, Schedule,
};
use crate::engines::engines;
use crate::portfolio::{ModelProfile, Part};

use certifier::Certifier;
use limits::LIMITS;
use short_runs::{Care, ShortRuns};
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
    run(system, config, cancel, observer, engines, Choice::Named)
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
) -> CheckReport {
    let started = Instant::now();
    let (sender, messages) = channel();
    let all = cancel.child();
    let wake = sender.clone();
    cancel.on_cancel(move || {
        let _ = wake.send(Message::Cancelled);
    });
    let config = Arc::new(config.clone());
    let deadline = config.timeout.and_then(|t| started.checked_add(t));
    let sign = cancel.with_deadline(deadline);
    // Without time for the reduction there is none for engines either.
    let reduced = if system.pool().len() < LIMITS.large_system {
        sign.run_cancellable(|| Reduction::of(system, &sign))
    } else {
        let (given, up) = (Arc::clone(system), sign.clone());
        sign.run_cancellable_on_thread(move || Reduction::of(&given, &up))
    };
    let reduction = reduced.unwrap_or_else(|_| Reduction::none(system));
    let blackboard = Arc::new(Blackboard::new(system));
    let settled =
        Arc::new(system.claims().iter().map(|_| AtomicBool::new(true)).collect::<Vec<_>>());
    for claim in &config.claims {
        settled[claim.index()].store(false, Ordering::SeqCst);
    }
    // The check is correct without these bounds, so cancellation is ignored here.
    let _ = sign.run_cancellable(|| control::raise_bounds(system, &config.claims, &blackboard));
    let setup = Setup {
        reduction,
        config: &config,
        blackboard: &blackboard,
        settled: &settled,
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
    let mut places = vec![None; system.claims().len()];
    for (at, claim) in config.claims.iter().enumerate() {
        places[claim.index()] = Some(at);
    }
    let mut director = Director {
        system,
        config: &config,
        observer,
        blackboard: &blackboard,
        settled: &settled,
        pool: &pool,
        messages,
        certifier: Certifier::new(system, &config, &all, started),
        short_runs: ShortRuns::new(system, started),
        care: Care::Full,
        started,
        deadline,
        large: setup.reduction.system.vars().len() > LIMITS.variables_at_once,
        outcomes: config.claims.iter().map(|_| None).collect(),
        obstacles: config.claims.iter().map(|_| Vec::new()).collect(),
        places,
        open: config.claims.len(),
        ready: Vec::new(),
        put_off: Vec::new(),
        too_late: Vec::new(),
        waiting: Vec::new(),
        internal_errors: Vec::new(),
        schedule: Schedule::default(),
        facts: BTreeMap::new(),
        most_memory: config.memory.or_else(gander_runtime::memory::limit).or_else(usual_limit),
        relieved: None,
    };
    let begun = config.options.uses(Method::StartUp).then(|| director.begin()).flatten();
    let ending = begun.unwrap_or_else(|| {
        observer.event(&Event::Working);
        if choice == Choice::Planned {
            director.schedule =
                sign.run_cancellable(|| plan(&setup, &pool, engines, at_once)).unwrap_or_default();
        }
        let ending = director.direct(|| pool.spawn_worker());
        pool.close();
        all.cancel();
        match config.log_smt {
            None => pool.wait_for_turns(LIMITS.last_turns),
            // Session logs must be complete.
            Some(_) => pool.wait_for_workers(),
        }
        ending
    });
    let report = director.report(ending);
    if config.log_smt.is_some() {
        pool.dismiss_all();
    }
    let Director { certifier, ready, put_off, too_late, waiting, .. } = director;
    let reduction = setup.reduction;
    take_apart(
        &config,
        started,
        (pool, blackboard, reduction, certifier, ready, put_off, too_late, waiting),
    );
    report
}

/// Deallocates the data of a check, on a separate thread if that may take long.
fn take_apart(config: &CheckConfig, started: Instant, rest: impl Send + 'static) {
    if started.elapsed() >= LIMITS.deallocation_thread_after && config.log_smt.is_none() {
        // If no thread can be spawned, deallocate here.
        let _ = std::thread::Builder::new().name("taking apart".into()).spawn(move || drop(rest));
    }
}

/// What engines need to be opened.
struct Setup<'a> {
    reduction: Reduction,
    config: &'a Arc<CheckConfig>,
    blackboard: &'a Arc<Blackboard>,
    settled: &'a Arc<Vec<AtomicBool>>,
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
            let claims: Vec<ClaimId> = self.config.claims.iter().copied().filter(decides).collect();
            if claims.is_empty() {
                continue;
            }
            let context = EngineContext {
                engine: info.name,
                shortest: info.finds_shortest,
                reduction: self.reduction.clone(),
                config: Arc::clone(self.config),
                claims,
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
    /// The work that a run is worth before its check.
    care: Care,
    started: Instant,
    /// When the time is over.
    deadline: Option<Instant>,
    /// The system has many variables.
    large: bool,
    /// By position in the request.
    outcomes: Vec<Option<Outcome>>,
    obstacles: Vec<Vec<Obstacle>>,
    /// By claim: its position in the request.
    places: Vec<Option<usize>>,
    /// Number of requested claims without an outcome.
    open: usize,
    /// Answers to be checked next, in one batch.
    ready: Vec<Proposal>,
    /// Answers whose check ran out of time, to be checked for longer when nothing else is left.
    put_off: Vec<(Duration, Proposal)>,
    /// Answers without time for a check; kept, because deallocation may take long.
    too_late: Vec<Proposal>,
    /// Answers that wait for a shorter run, with the time when patience ends.
    waiting: Vec<Waiting>,
    internal_errors: Vec<InternalError>,
    schedule: Schedule,
    /// How many facts each engine published.
    facts: BTreeMap<&'static str, u64>,
    /// Bytes of memory that may be in use.
    most_memory: Option<u64>,
    /// When an engine was last stopped for memory.
    relieved: Option<Instant>,
}

/// An answer that waits for a shorter run.
struct Waiting {
    until: Instant,
    /// The length of its run.
    length: Option<u64>,
    proposal: Proposal,
}

impl Director<'_> {
    /// Runs engines that begin on the calling thread; this settles most small checks.
    fn begin(&mut self) -> Option<Ending> {
        let deadline = self.deadline;
        loop {
            while let Ok(message) = self.messages.try_recv() {
                match message {
                    Message::Cancelled => return Some(Ending::Cancelled),
                    message => self.hear(message),
                }
            }
            self.settle_ready();
            if self.open == 0 {
                return Some(Ending::Settled);
            }
            if self.large || deadline.is_some_and(|d| Instant::now() >= d) || !self.pool.begin() {
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
        let mut look = self.most_memory.map(|_| self.started + LIMITS.memory_interval);
        let mut idle = false;
        loop {
            if self.open == 0 {
                return Ending::Settled;
            }
            let now = Instant::now();
            if deadline.is_some_and(|d| now >= d) {
                return Ending::OutOfTime;
            }
            if look.is_some_and(|at| now >= at) {
                match self.mind_memory(now) {
                    Ok(next) => look = next,
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
                    if self.take_up_waiting(|w| idle || now >= w.until) {
                        continue;
                    }
                    if let Some((time, proposal)) = self.put_off.pop() {
                        self.settle(proposal, time);
                        continue;
                    }
                    if idle {
                        return Ending::Exhausted;
                    }
                    let patience = self.waiting.iter().map(|w| w.until).min();
                    match self.next_message(
                        [deadline, spawn_decision, patience, look].into_iter().flatten().min(),
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
                message => self.hear(message),
            }
        }
    }

    /// Measures memory use, and stops the engine with the most memory if the use is too high.
    /// Returns the time of the next test, or an ending if the limit is reached or no engine is left
    /// to stop.
    fn mind_memory(&mut self, now: Instant) -> Result<Option<Instant>, Ending> {
        // An operating system that does not report memory now will not do so later.
        let (Some(used), Some(most)) = (in_use(), self.most_memory) else { return Ok(None) };
        if used <= most / 2 {
            return Ok(Some(now + LIMITS.memory_interval));
        }
        if used > most {
            return Err(Ending::OutOfMemory);
        }
        let [little, least] = LIMITS.free_memory_parts.map(|part| most - most / part);
        let waiting = self.relieved.is_some_and(|at| now.duration_since(at) < LIMITS.memory_return);
        if used > least || (used > little && !waiting) {
            self.relieved = Some(now);
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

    fn hear(&mut self, message: Message) {
        if !matches!(message, Message::Proposal(_)) || self.ready.len() >= LIMITS.batch_answers {
            self.settle_ready();
        }
        match message {
            Message::Proposal(proposal) => self.consider(*proposal),
            Message::Conjectures(conjectures) => self.try_conjectures(conjectures),
            Message::Progress { engine, depth, text } => {
                self.observer.event(&Event::Progress { engine: engine.to_string(), depth, text });
                let blackboard = self.blackboard;
                self.take_up_waiting(|w| is_shortest(blackboard, w.proposal.claim, w.length));
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

    /// Queues an answer for its check. Runs that may not be shortest wait first.
    fn consider(&mut self, mut proposal: Proposal) {
        let mut length = run_length(&proposal);
        if self.open_place(proposal.claim).is_some()
            && !proposal.shortest
            && !is_shortest(self.blackboard, proposal.claim, length)
        {
            self.short_runs.shorten(&mut proposal, Care::Little);
            length = run_length(&proposal);
        }
        if proposal.shortest || is_shortest(self.blackboard, proposal.claim, length) {
            return self.ready.push(proposal);
        }
        let now = Instant::now();
        let hope = self.pool.finds_shortest(proposal.claim) && !is_far(self.blackboard, &proposal);
        let (least, factor) = match self.system.step_limit() {
            Some(_) => (
                self.config.options.patience / LIMITS.patience_within_limit.0,
                LIMITS.patience_within_limit.1,
            ),
            None => (self.config.options.patience, LIMITS.patience_factor),
        };
        let patience = if hope { least.max((now - self.started) * factor) } else { Duration::ZERO };
        self.waiting.push(Waiting {
            until: now.checked_add(patience).unwrap_or(now),
            length,
            proposal,
        });
    }

    /// Queues answers whose wait is over; true if there were some.
    fn take_up_waiting(&mut self, ready: impl Fn(&Waiting) -> bool) -> bool {
        let (now, later): (Vec<_>, Vec<_>) = self.waiting.drain(..).partition(ready);
        self.waiting = later;
        let some = !now.is_empty();
        self.ready.extend(now.into_iter().map(|w| w.proposal));
        self.settle_ready();
        some
    }

    /// The position of a claim in the request, if it has no outcome.
    fn open_place(&self, claim: ClaimId) -> Option<usize> {
        self.places.get(claim.index()).copied().flatten().filter(|at| self.outcomes[*at].is_none())
    }

    /// Checks the queued answers in a batch, so that common parts are checked once.
    fn settle_ready(&mut self) {
        let mut ready = std::mem::take(&mut self.ready);
        ready.retain(|p| self.open_place(p.claim).is_some());
        for proposal in &mut ready {
            let length = run_length(proposal);
            if !proposal.shortest && !is_shortest(self.blackboard, proposal.claim, length) {
                self.short_runs.shorten(proposal, self.care);
            }
            self.short_runs.simplify(proposal, self.care);
        }
        // Pause engines: if these answers are right they have nothing to do, and they would slow
        // down the check.
        let answered: FxHashSet<ClaimId> = ready.iter().map(|p| p.claim).collect();
        let held = answered.len() == self.open;
        if held {
            self.pool.hold(Instant::now().checked_add(LIMITS.hold));
        }
        if ready.len() > 1 && !self.certifier.is_late() {
            let verdicts: Vec<(ClaimId, &Verdict)> =
                ready.iter().map(|p| (p.claim, &p.verdict)).collect();
            let certified = self.certifier.certify_all(
                &verdicts,
                LIMITS.batch_time + LIMITS.batch_time_each * verdicts.len() as u32,
            );
            let mut others = Vec::new();
            for (proposal, right) in ready.into_iter().zip(certified) {
                match (right, self.open_place(proposal.claim)) {
                    (Some(certified), Some(at)) => self.accept(at, proposal, certified),
                    (None, _) => others.push(proposal),
                    (_, None) => {}
                }
            }
            ready = others;
        }
        for proposal in ready {
            self.settle(proposal, LIMITS.first_check);
        }
        if self.waiting.iter().any(|w| self.open_place(w.proposal.claim).is_none()) {
            let waiting = std::mem::take(&mut self.waiting);
            self.waiting = waiting
                .into_iter()
                .filter(|w| self.open_place(w.proposal.claim).is_some())
                .collect();
        }
        self.pool.stop_idle_engines(self.settled);
        if held {
            self.pool.hold(None);
        }
    }

    /// Checks an answer within a time limit and, if it is right, makes it the outcome.
    fn settle(&mut self, mut proposal: Proposal, time: Duration) {
        let Some(at) = self.open_place(proposal.claim) else { return };
        let engine = proposal.engine.to_string();
        let begun = Instant::now();
        if self.certifier.is_late() {
            let reason = "its answer could not be checked: there was no time left".to_string();
            self.obstacles[at].push(Obstacle { engine, reason });
            return self.too_late.push(proposal);
        }
        match self.certifier.certify(proposal.claim, &proposal.verdict, Some(time)) {
            Ok(certified) => {
                self.accept(at, proposal, certified);
                self.pool.stop_idle_engines(self.settled);
            }
            // The run was changed, so its engine is not to blame.
            Err(_) if proposal.found.is_some() => {
                if let Some(found) = proposal.found.take() {
                    proposal.verdict = found;
                }
                self.settle(proposal, time);
            }
            Err(Rejection::Wrong(problem)) => {
                let error = InternalError {
                    claim: proposal.claim,
                    engine,
                    verdict: proposal.verdict,
                    problem,
                };
                self.internal_error(error);
            }
            // Receive other answers first, then retry with more time.
            Err(Rejection::Undecided(_))
                if begun.elapsed() >= time && !self.certifier.is_late() =>
            {
                self.put_off.insert(0, (time * LIMITS.check_growth, proposal));
            }
            Err(Rejection::Undecided(reason)) => {
                let reason = format!("its answer could not be checked: {reason}");
                self.obstacles[at].push(Obstacle { engine, reason });
            }
        }
    }

    /// Makes an answer that was found right the outcome of the claim at this position of the
    /// request.
    fn accept(&mut self, at: usize, proposal: Proposal, certified: Certified) {
        let length = run_length(&proposal);
        let shortest = length
            .map(|_| proposal.shortest || is_shortest(self.blackboard, proposal.claim, length));
        let Proposal { engine, claim, verdict, .. } = proposal;
        let Certified { warnings, basis, .. } = certified;
        let (engine, elapsed) = (engine.to_string(), self.started.elapsed());
        let outcome = Outcome { claim, verdict, engine, elapsed, warnings, basis, shortest };
        self.observer.event(&Event::Settled(outcome.clone()));
        self.outcomes[at] = Some(outcome);
        self.open -= 1;
        self.settled[claim.index()].store(true, Ordering::SeqCst);
    }

    /// Checks conjectures. Those that are right become outcomes and facts; the others are dropped.
    fn try_conjectures(&mut self, conjectures: Vec<Proposal>) {
        let conjectures: Vec<(usize, Proposal)> =
            conjectures.into_iter().filter_map(|p| Some((self.open_place(p.claim)?, p))).collect();
        let verdicts: Vec<(ClaimId, &Verdict)> =
            conjectures.iter().map(|(_, p)| (p.claim, &p.verdict)).collect();
        let certified = self.certifier.certify_conjectures(&verdicts);
        let mut published: Vec<NodeFormulas> = Vec::new();
        for ((at, proposal), right) in conjectures.into_iter().zip(certified) {
            let Some(certified) = right else { continue };
            // Two conjectures may be about one claim.
            if self.outcomes[at].is_some() {
                continue;
            }
            if let Some(f) = &proposal.invariant
                && !published
                    .iter()
                    .any(|p| Arc::ptr_eq(&p.pool, &f.pool) && p.by_node == f.by_node)
            {
                // The engine was not sure of it, so it has not published it.
                published.push(f.clone());
                self.blackboard.publish(Fact::Invariant(ProvedInvariant {
                    formulas: f.clone(),
                    k: 1,
                    loop_free: false,
                    no_restart: false,
                    engine: proposal.engine.to_string(),
                }));
            }
            self.accept(at, proposal, certified);
        }
        self.pool.stop_idle_engines(self.settled);
    }

    fn internal_error(&mut self, error: InternalError) {
        self.observer.event(&Event::InternalError(error.clone()));
        self.internal_errors.push(error);
    }

    /// Makes the report, with the obstacles of the engines for undecided claims.
    fn report(&mut self, ending: Ending) -> CheckReport {
        // Answers that still wait for shorter runs, and late messages.
        let late: Vec<Message> = self.messages.try_iter().collect();
        for message in late {
            if let Message::Proposal(p) = message {
                self.ready.push(*p);
            }
        }
        if ending != Ending::Settled {
            self.certifier.last_moment(ending);
            self.care = if ending == Ending::Cancelled { Care::None } else { Care::Little };
            self.ready.extend(std::mem::take(&mut self.put_off).into_iter().map(|(_, p)| p));
            self.take_up_waiting(|_| true);
        }
        let elapsed = self.started.elapsed();
        let [cancelled, limited, ended] = LIMITS.last_obstacles;
        let asked_until = Instant::now()
            + match ending {
                Ending::Cancelled => cancelled,
                Ending::OutOfTime | Ending::OutOfMemory => limited,
                Ending::Settled | Ending::Exhausted => ended,
            };
        let mut outcomes = Vec::with_capacity(self.outcomes.len());
        for (at, outcome) in self.outcomes.iter_mut().enumerate() {
            let claim = self.config.claims[at];
            outcomes.push(outcome.take().unwrap_or_else(|| {
                let mut why = std::mem::take(&mut self.obstacles[at]);
                if Instant::now() < asked_until {
                    why.extend(obstacles(self.system, self.config, self.pool, claim, ending));
                } else {
                    why.push(general_obstacle(self.config, ending));
                }
                let verdict =
                    Verdict::Unknown { explored_through: self.blackboard.bound(claim), why };
                Outcome {
                    claim,
                    verdict,
                    engine: String::new(),
                    elapsed,
                    warnings: Vec::new(),
                    basis: Basis::default(),
                    shortest: None,
                }
            }));
        }
        self.schedule.engines = self.pool.accounts();
        for account in &mut self.schedule.engines {
            account.settled = outcomes.iter().filter(|o| o.engine == account.engine).count();
            account.facts = self.facts.get(account.engine.as_str()).copied().unwrap_or(0);
        }
        let internal_errors = std::mem::take(&mut self.internal_errors);
        CheckReport { outcomes, internal_errors, schedule: std::mem::take(&mut self.schedule) }
    }
}

/// The obstacle of each engine for an undecided claim.
fn obstacles(
    system: &System,
    config: &CheckConfig,
    pool: &WorkerPool,
    claim: ClaimId,
    ending: Ending,
) -> Vec<Obstacle> {
    let (engines, broken) = pool.obstacles(claim, &out_of_memory(config));
    let mut why = broken;
    let nobody = engines.is_empty() && why.is_empty();
    why.extend(engines.into_iter().map(|(engine, reason)| {
        let reason = reason.unwrap_or_else(|| general_reason(config, ending));
        Obstacle { engine, reason }
    }));
    if nobody {
        let kind = system.claims()[claim.index()].kind.word();
        let reason = match &config.engines {
            Some(chosen) if chosen.is_empty() => "no engine takes part".to_string(),
            Some(_) => format!("none of the chosen engines decides `{kind}` claims"),
            None => format!("no engine of the portfolio decides `{kind}` claims"),
        };
        why.push(Obstacle { engine: "portfolio".into(), reason });
    }
    why
}

/// The obstacle of an engine that reports none.
fn general_reason(config: &CheckConfig, ending: Ending) -> String {
    match ending {
        // The limit of this check is what was left of the user's, so it is not named.
        Ending::OutOfTime => "stopped by the time limit".to_string(),
        Ending::Cancelled => "cancelled".to_string(),
        Ending::OutOfMemory => out_of_memory(config),
        _ => "found nothing".to_string(),
    }
}

/// The obstacle of an engine that was stopped for memory.
pub(crate) fn out_of_memory(config: &CheckConfig) -> String {
    match config.memory.or_else(gander_runtime::memory::limit).or_else(usual_limit) {
        Some(bytes) => format!("stopped at the memory limit of {} MB", bytes >> 20),
        None => "stopped at the memory limit".to_string(),
    }
}

/// One obstacle for all engines, if there is no time to collect theirs.
fn general_obstacle(config: &CheckConfig, ending: Ending) -> Obstacle {
    let engine = match config.engines.as_deref() {
        Some([one]) => one.clone(),
        _ => "portfolio".to_string(),
    };
    Obstacle { engine, reason: general_reason(config, ending) }
}

/// The length of the run that an answer consists of.
fn run_length(proposal: &Proposal) -> Option<u64> {
    match &proposal.verdict {
        Verdict::Holds(Evidence::Run(run)) | Verdict::Fails(Evidence::Run(run)) => {
            Some(run.length())
        }
        _ => None,
    }
}

/// True if the run is too long for a search through all shorter ones to end soon.
fn is_far(blackboard: &Blackboard, proposal: &Proposal) -> bool {
    let searched = blackboard.bound(proposal.claim).map_or(0, u64::from);
    let (Verdict::Holds(Evidence::Run(run)) | Verdict::Fails(Evidence::Run(run))) =
        &proposal.verdict
    else {
        return false;
    };
    let repeats = run.legs.iter().any(|leg| matches!(leg, Leg::Repeat { .. }));
    let (least, factor) = if repeats { LIMITS.far_with_repetitions } else { LIMITS.far };
    run.length() > least.max(searched.saturating_mul(factor))
}

/// True if it is known that nothing shorter than a run of this length decides the claim.
fn is_shortest(blackboard: &Blackboard, claim: ClaimId, length: Option<u64>) -> bool {
    match (length, blackboard.bound(claim)) {
        (Some(0) | None, _) => true,
        (Some(length), Some(bound)) => u64::from(bound) + 1 >= length,
        (Some(_), None) => false,
    }
}

//! The director: runs engines, has their answers checked, and reports.
//!
//! Engines take turns on a few worker threads. A free worker takes the engine that has used the least time for its share
//! so far, in the order of the portfolio on a tie, for one piece of work. So cheap engines come first, no engine starves,
//! and a check that the first pieces of work settle never starts more than one thread; which engines take part in a longer
//! one is looked up in the portfolio only then. Workers sleep on a condition variable, the
//! director on its channel; if there are more engines than workers it looks ten times a second whether turns last too long,
//! and four times a second whether too much memory is in use.
//!
//! When the check is over, the director waits up to [`LAST_TURNS`] for turns to end. Engines stop within milliseconds of being
//! cancelled, but deallocation may take longer; it is left to their threads, so the caller does not wait for it.
//!
//! While answers to all open claims are being checked, engines pause for up to [`MOST_HELD`]: if the answers are right, further
//! work would only slow down the check.
//!
//! Nothing an engine says is shown before `gander-certify` has checked it. A wrong answer becomes an internal error and
//! the claim stays open for others; so does a claim whose evidence could not be checked for lack of resources.

mod certifier;
mod control;
mod worker_pool;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use gander_certify::{Basis, Certified, Rejection};
use gander_runtime::Cancellation;
use gander_smt::memory::{in_use, usual_limit};
use gander_smt::{Records, SolverProcesses};
use gander_system::{ClaimId, Evidence, Leg, NodeFormulas, Obstacle, System, Verdict};
use rustc_hash::FxHashSet;

use crate::core::{
    Blackboard, CheckConfig, CheckReport, EngineContext, EngineInfo, Event, Fact, InternalError, Message, Observer,
    Outcome, Proposal, ProvedInvariant, Reduction, Schedule,
};
use crate::engines::engines;
use crate::portfolio::{ModelProfile, Part};

use certifier::Certifier;
use worker_pool::{ScheduledEngine, SpawnDecision, WorkerPool};

/// On systems with more variables no engine runs on the calling thread: its first piece of work may take long.
const MOST_AT_ONCE: usize = 100;

/// Systems with more terms are reduced on a separate thread, so that cancellation does not wait for deallocation.
const LARGE: usize = 100_000;

/// Spawn a second worker only for checks that take longer than this.
const ALONE: Duration = Duration::from_millis(4);

/// A run that may not be the shortest waits for one that is at least [`crate::EngineOptions::patience`], and this many
/// times as long as it took to find it.
const PATIENCE_FACTOR: u32 = 4;

/// Where steps are limited, a run within the limit is what was asked for: it waits as long as it took, and a tenth of the
/// patience.
const PATIENCE_WITHIN_LIMIT: (u32, u32) = (10, 1);

/// How long engines pause at most while answers to all open claims are being checked.
const MOST_HELD: Duration = Duration::from_secs(2);

/// How long engines are waited for when the check is over.
const LAST_TURNS: Duration = Duration::from_millis(10);

/// Time allowed for collecting obstacles when a check ends: when it is cancelled, when its time is over, and when all engines
/// have finished. There may be hundreds of thousands of claims.
const LAST_WORDS: [Duration; 3] = [Duration::from_millis(10), Duration::from_millis(100), Duration::from_secs(2)];

/// Deallocate the data of checks that took longer than this on a separate thread.
const WORTH_A_THREAD: Duration = Duration::from_millis(100);

/// Decides claims with all engines that the configuration allows.
///
/// The report has one outcome for each requested claim, in their order. Events are given to the observer by the calling
/// thread.
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

/// [`check`] with engines of the caller's, each with the same part.
pub fn check_with(
    system: &Arc<System>,
    config: &CheckConfig,
    cancel: &Cancellation,
    observer: &dyn Observer,
    engines: &[EngineInfo],
) -> CheckReport {
    run(system, config, cancel, observer, engines, Choice::Named)
}

/// Who says which engines take part.
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
    // If there is no time left for this, there is none for engines either.
    let reduced = if system.pool.len() < LARGE {
        sign.run_cancellable(|| Reduction::of(system, &sign))
    } else {
        let (given, up) = (Arc::clone(system), sign.clone());
        sign.run_cancellable_on_thread(move || Reduction::of(&given, &up))
    };
    let reduction = reduced.unwrap_or_else(|_| Reduction::none(system));
    let blackboard = Arc::new(Blackboard::new(system));
    let settled = Arc::new(system.claims.iter().map(|_| AtomicBool::new(true)).collect::<Vec<_>>());
    for claim in &config.claims {
        settled[claim.index()].store(false, Ordering::SeqCst);
    }
    // Bounds that are not known yet are no obstacle.
    let _ = sign.run_cancellable(|| control::raise_bounds(system, &config.claims, &blackboard));
    let setup = Setup {
        reduction,
        config: &config,
        blackboard: &blackboard,
        settled: &settled,
        cancel: &all,
        messages: &sender,
    };
    // A portfolio of the user's may leave out engines that begin at once.
    let own_portfolio = choice == Choice::Planned && config.portfolio.is_some();
    let at_once = |info: &EngineInfo| choice == Choice::Named || (!own_portfolio && info.begins_at_once);
    let pool = Arc::new(WorkerPool::new(setup.scheduled(engines, at_once), sender.clone(), started, deadline));
    let mut places = vec![None; system.claims.len()];
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
        started,
        deadline,
        large: setup.reduction.system.vars.len() > MOST_AT_ONCE,
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
    let ending = director.begin().unwrap_or_else(|| {
        observer.event(&Event::Working);
        if choice == Choice::Planned {
            director.schedule = sign.run_cancellable(|| plan(&setup, &pool, engines, at_once)).unwrap_or_default();
        }
        let ending = director.direct(|| pool.spawn_worker());
        pool.close();
        all.cancel();
        match config.log_smt {
            None => pool.wait_for_turns(LAST_TURNS),
            // Conversations that are kept have to be written to their end.
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
    take_apart(&config, started, (pool, blackboard, reduction, certifier, ready, put_off, too_late, waiting));
    report
}

/// Drops what is left of a check, without letting the caller wait if that may take long.
fn take_apart(config: &CheckConfig, started: Instant, rest: impl Send + 'static) {
    if started.elapsed() >= WORTH_A_THREAD && config.log_smt.is_none() {
        // If there is no thread for it, it is dropped here.
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
    /// A place for every engine that the configuration allows, that is wanted and that can decide something.
    fn scheduled(&self, engines: &[EngineInfo], wanted: impl Fn(&EngineInfo) -> bool) -> Vec<ScheduledEngine> {
        let named = |e: &EngineInfo| self.config.engines.as_ref().is_none_or(|names| names.iter().any(|n| n == e.name));
        let mut scheduled = Vec::new();
        for info in engines.iter().filter(|e| named(e) && wanted(e)) {
            let decides = |c: &ClaimId| (info.decides)(&self.reduction.system.claims[c.index()].kind);
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
                processes: SolverProcesses::default(),
                records: self.config.log_smt.clone().map(Records::new),
                messages: self.messages.clone(),
                nested_check: check,
            };
            scheduled.push(ScheduledEngine::new(*info, context, Part::default()));
        }
        scheduled
    }
}

/// Looks up who takes part, and lets those in who are not there yet.
fn plan(setup: &Setup, pool: &WorkerPool, engines: &[EngineInfo], there: impl Fn(&EngineInfo) -> bool) -> Schedule {
    let profile = ModelProfile::of(&setup.reduction.system, &setup.config.claims);
    let portfolio = setup.config.portfolio.clone().unwrap_or_default();
    let plan = portfolio.plan(&profile);
    let more = setup.scheduled(engines, |e| !there(e) && plan.engines.contains_key(e.name));
    pool.plan(|name| plan.engines.get(name).copied(), more, engines);
    Schedule { model: profile.to_string(), plan: plan.name.clone(), about: plan.about.clone(), engines: Vec::new() }
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

/// How often the memory in use is looked at: usually, and if more than half of the limit is in use.
const MEMORY_LOOK: Duration = Duration::from_millis(250);
const CLOSER_LOOK: Duration = Duration::from_millis(30);

/// One part in so many of the limit on memory is kept free, by stopping engines: first with [`GIVING_BACK`] between
/// them, then at every look.
const FREE_PARTS: [u64; 2] = [4, 8];

/// How long an engine that was stopped has to give its memory back, before the next one is stopped.
const GIVING_BACK: Duration = Duration::from_millis(500);

struct Director<'a> {
    system: &'a Arc<System>,
    config: &'a CheckConfig,
    observer: &'a dyn Observer,
    blackboard: &'a Blackboard,
    settled: &'a [AtomicBool],
    pool: &'a WorkerPool,
    messages: Receiver<Message>,
    certifier: Certifier,
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
    /// How many claims of the request have no outcome.
    open: usize,
    /// Answers to be checked next, together.
    ready: Vec<Proposal>,
    /// Answers whose check was broken off, to be checked for longer when there is nothing else to do.
    put_off: Vec<(Duration, Proposal)>,
    /// Answers for whose check there was no time; kept, as dropping them may take some.
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

/// Answers that are checked together, and the time for that: of the whole and of each.
const TOGETHER: usize = 8192;
const TIME_TOGETHER: Duration = Duration::from_millis(500);
const TIME_EACH: Duration = Duration::from_millis(1);

/// The time for the check of an answer before other answers are heard, and by how much it grows when it is taken up again.
const FIRST_CHECK: Duration = Duration::from_secs(5);
const CHECK_GROWTH: u32 = 4;

impl Director<'_> {
    /// Lets engines begin that need no thread for that; often nothing is left to do then.
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
        // Somebody must be there to say that there is nothing to do.
        if !spawn_worker() {
            return Ending::Exhausted;
        }
        let mut may_spawn = true;
        let mut look = self.most_memory.map(|_| self.started + MEMORY_LOOK);
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
            // Who says how many jobs there are means it.
            let spawn_decision = match self.pool.spawn_decision(now, ALONE, self.config.jobs == 0) {
                SpawnDecision::Now if may_spawn => {
                    may_spawn = spawn_worker();
                    continue;
                }
                SpawnDecision::At(at) if may_spawn => Some(at),
                SpawnDecision::Now | SpawnDecision::At(_) | SpawnDecision::No => None,
            };
            // What engines have said already may be better than what waits, so that comes first.
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
                    match self.next_message([deadline, spawn_decision, patience, look].into_iter().flatten().min(), now)
                    {
                        Ok(message) => message,
                        Err(RecvTimeoutError::Timeout) => continue,
                        Err(RecvTimeoutError::Disconnected) => return Ending::Exhausted,
                    }
                }
            };
            match message {
                Message::Cancelled => return Ending::Cancelled,
                // Everything that engines had to say came before this.
                Message::Idle => idle = true,
                message => self.hear(message),
            }
        }
    }

    /// Looks how much memory is in use, and stops the engine with the most if that is too much. Gives the time of the
    /// next look; an ending if the limit is reached, or there is no engine left to stop.
    fn mind_memory(&mut self, now: Instant) -> Result<Option<Instant>, Ending> {
        // A system that does not tell now will not tell later.
        let (Some(used), Some(most)) = (in_use(), self.most_memory) else { return Ok(None) };
        if used <= most / 2 {
            return Ok(Some(now + MEMORY_LOOK));
        }
        if used > most {
            return Err(Ending::OutOfMemory);
        }
        let [little, least] = FREE_PARTS.map(|part| most - most / part);
        let waiting = self.relieved.is_some_and(|at| now.duration_since(at) < GIVING_BACK);
        if used > least || (used > little && !waiting) {
            self.relieved = Some(now);
            if !self.pool.stop_largest() {
                return Err(Ending::OutOfMemory);
            }
        }
        Ok(Some(now + CLOSER_LOOK))
    }

    /// The next message, waited for until a time at most.
    fn next_message(&self, until: Option<Instant>, now: Instant) -> Result<Message, RecvTimeoutError> {
        match until {
            Some(at) => self.messages.recv_timeout(at.saturating_duration_since(now)),
            None => self.messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    fn hear(&mut self, message: Message) {
        if !matches!(message, Message::Proposal(_)) || self.ready.len() >= TOGETHER {
            self.settle_ready();
        }
        match message {
            Message::Proposal(proposal) => self.consider(proposal),
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
                self.internal_error(InternalError { claim, engine: engine.to_string(), verdict, problem: reason });
            }
            Message::Idle | Message::Cancelled => {}
        }
    }

    /// An answer is taken up at once, but for runs for which there may be shorter ones.
    fn consider(&mut self, proposal: Proposal) {
        let length = run_length(&proposal);
        if proposal.shortest || is_shortest(self.blackboard, proposal.claim, length) {
            return self.ready.push(proposal);
        }
        let now = Instant::now();
        let hope = self.pool.finds_shortest(proposal.claim) && !is_far(self.blackboard, &proposal);
        let (least, factor) = match self.system.step_limit {
            Some(_) => (self.config.options.patience / PATIENCE_WITHIN_LIMIT.0, PATIENCE_WITHIN_LIMIT.1),
            None => (self.config.options.patience, PATIENCE_FACTOR),
        };
        let patience = if hope { least.max((now - self.started) * factor) } else { Duration::ZERO };
        self.waiting.push(Waiting { until: now.checked_add(patience).unwrap_or(now), length, proposal });
    }

    /// Takes up answers that need not wait any longer; true if there were some.
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

    /// Has the answers checked that are ready, what they have in common once.
    fn settle_ready(&mut self) {
        let mut ready = std::mem::take(&mut self.ready);
        ready.retain(|p| self.open_place(p.claim).is_some());
        // There is nothing to do for engines if these answers are right, and they would be in the way of the check.
        let answered: FxHashSet<ClaimId> = ready.iter().map(|p| p.claim).collect();
        let held = answered.len() == self.open;
        if held {
            self.pool.hold(Instant::now().checked_add(MOST_HELD));
        }
        if ready.len() > 1 && !self.certifier.is_late() {
            let verdicts: Vec<(ClaimId, &Verdict)> = ready.iter().map(|p| (p.claim, &p.verdict)).collect();
            let judged = self.certifier.judge_together(&verdicts, TIME_TOGETHER + TIME_EACH * verdicts.len() as u32);
            let mut others = Vec::new();
            for (proposal, right) in ready.into_iter().zip(judged) {
                match (right, self.open_place(proposal.claim)) {
                    (Some(certified), Some(at)) => self.accept(at, proposal, certified),
                    (None, _) => others.push(proposal),
                    (_, None) => {}
                }
            }
            ready = others;
        }
        for proposal in ready {
            self.settle(proposal, FIRST_CHECK);
        }
        if self.waiting.iter().any(|w| self.open_place(w.proposal.claim).is_none()) {
            let waiting = std::mem::take(&mut self.waiting);
            self.waiting = waiting.into_iter().filter(|w| self.open_place(w.proposal.claim).is_some()).collect();
        }
        self.pool.stop_idle_engines(self.settled);
        if held {
            self.pool.hold(None);
        }
    }

    /// Has an answer checked, for so long at first, and if it is right makes it the outcome.
    fn settle(&mut self, proposal: Proposal, time: Duration) {
        let Some(at) = self.open_place(proposal.claim) else { return };
        let engine = proposal.engine.to_string();
        let begun = Instant::now();
        if self.certifier.is_late() {
            let reason = "its answer could not be checked: there was no time left".to_string();
            self.obstacles[at].push(Obstacle { engine, reason });
            return self.too_late.push(proposal);
        }
        match self.certifier.certifier(proposal.claim, &proposal.verdict, Some(time)) {
            Ok(certified) => {
                self.accept(at, proposal, certified);
                self.pool.stop_idle_engines(self.settled);
            }
            Err(Rejection::Wrong(problem)) => {
                let error = InternalError { claim: proposal.claim, engine, verdict: proposal.verdict, problem };
                self.internal_error(error);
            }
            // Others are heard first; then it has more time.
            Err(Rejection::Undecided(_)) if begun.elapsed() >= time && !self.certifier.is_late() => {
                self.put_off.insert(0, (time * CHECK_GROWTH, proposal));
            }
            Err(Rejection::Undecided(reason)) => {
                let reason = format!("its answer could not be checked: {reason}");
                self.obstacles[at].push(Obstacle { engine, reason });
            }
        }
    }

    /// Makes an answer that was found right the outcome of the claim at this position of the request.
    fn accept(&mut self, at: usize, proposal: Proposal, certified: Certified) {
        let Proposal { engine, claim, verdict, .. } = proposal;
        let Certified { warnings, basis, .. } = certified;
        let (engine, elapsed) = (engine.to_string(), self.started.elapsed());
        let outcome = Outcome { claim, verdict, engine, elapsed, warnings, basis };
        self.observer.event(&Event::Settled(outcome.clone()));
        self.outcomes[at] = Some(outcome);
        self.open -= 1;
        self.settled[claim.index()].store(true, Ordering::SeqCst);
    }

    /// Has answers checked that may be wrong. Those that are right become facts as well; the others are as if they had
    /// never been offered.
    fn try_conjectures(&mut self, conjectures: Vec<Proposal>) {
        let conjectures: Vec<(usize, Proposal)> =
            conjectures.into_iter().filter_map(|p| Some((self.open_place(p.claim)?, p))).collect();
        let verdicts: Vec<(ClaimId, &Verdict)> = conjectures.iter().map(|(_, p)| (p.claim, &p.verdict)).collect();
        let judged = self.certifier.judge_conjectures(&verdicts);
        let mut published: Vec<NodeFormulas> = Vec::new();
        for ((at, proposal), right) in conjectures.into_iter().zip(judged) {
            let Some(certified) = right else { continue };
            // Two of them may be about one claim.
            if self.outcomes[at].is_some() {
                continue;
            }
            if let Some(f) = &proposal.invariant
                && !published.iter().any(|p| Arc::ptr_eq(&p.pool, &f.pool) && p.by_node == f.by_node)
            {
                // The engine could not know, so it has told nobody yet.
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

    /// Closes the books. Engines are asked what was in their way.
    fn report(&mut self, ending: Ending) -> CheckReport {
        // What was found but waited for something better, and what came while we were closing.
        let late: Vec<Message> = self.messages.try_iter().collect();
        for message in late {
            if let Message::Proposal(p) = message {
                self.ready.push(p);
            }
        }
        if ending != Ending::Settled {
            self.certifier.last_moment(ending);
            self.ready.extend(std::mem::take(&mut self.put_off).into_iter().map(|(_, p)| p));
            self.take_up_waiting(|_| true);
        }
        let elapsed = self.started.elapsed();
        let [cancelled, limited, ended] = LAST_WORDS;
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
                let verdict = Verdict::Unknown { explored_through: self.blackboard.bound(claim), why };
                Outcome {
                    claim,
                    verdict,
                    engine: String::new(),
                    elapsed,
                    warnings: Vec::new(),
                    basis: Basis::default(),
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

/// What stopped each engine on a claim that nobody decided.
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
        let kind = system.claims[claim.index()].kind.word();
        let reason = match &config.engines {
            Some(chosen) if chosen.is_empty() => "no engine takes part".to_string(),
            Some(_) => format!("none of the chosen engines decides `{kind}` claims"),
            None => format!("no engine of the portfolio decides `{kind}` claims"),
        };
        why.push(Obstacle { engine: "portfolio".into(), reason });
    }
    why
}

/// What stopped an engine that does not say it itself.
fn general_reason(config: &CheckConfig, ending: Ending) -> String {
    match (ending, config.timeout) {
        (Ending::OutOfTime, Some(t)) => {
            format!("stopped by the time limit of {} s", (t.as_secs_f64() * 100.0).round() / 100.0)
        }
        (Ending::Cancelled, _) => "cancelled".to_string(),
        (Ending::OutOfMemory, _) => out_of_memory(config),
        _ => "found nothing".to_string(),
    }
}

/// What is said of an engine that was stopped for memory.
pub(crate) fn out_of_memory(config: &CheckConfig) -> String {
    match config.memory.or_else(gander_runtime::memory::limit).or_else(usual_limit) {
        Some(bytes) => format!("stopped at the memory limit of {} MB", bytes >> 20),
        None => "stopped at the memory limit".to_string(),
    }
}

/// What stopped all engines, if there is no time to ask each of them.
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
        Verdict::Holds(Evidence::Run(run)) | Verdict::Fails(Evidence::Run(run)) => Some(run.length()),
        _ => None,
    }
}

/// Runs up to this length are searched in no time, and a run is far away if it is so many times as long as what has been
/// searched so far.
const FAR: (u64, u64) = (1000, 20);

/// The same for runs with repetitions. Who finds such takes no more rounds than are needed, so they are rarely much too
/// long; and they are written in a few lines, for which nobody should wait as long as for hundreds of steps.
const FAR_WITH_REPETITIONS: (u64, u64) = (60, 3);

/// True if a run that decides the claim is so long that nobody will search all shorter ones soon.
fn is_far(blackboard: &Blackboard, proposal: &Proposal) -> bool {
    let searched = blackboard.bound(proposal.claim).map_or(0, u64::from);
    let (Verdict::Holds(Evidence::Run(run)) | Verdict::Fails(Evidence::Run(run))) = &proposal.verdict else {
        return false;
    };
    let repeats = run.legs.iter().any(|leg| matches!(leg, Leg::Repeat { .. }));
    let (least, factor) = if repeats { FAR_WITH_REPETITIONS } else { FAR };
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

//! The worker pool: the engines that wait for a worker, and the loop of the workers.
//!
//! There are as many workers as the check has jobs. A turn that takes long, usually because it
//! waits for a solver, counts as stalled. If all turns are stalled, another worker is spawned, so
//! that no engine waits for the hard query of another one: soon for up to twice as many workers,
//! then at growing intervals. The additional workers end when turns are short again.
//!
//! The director closes the pool and waits briefly for turns to end. A worker that is still
//! deallocating its engine finishes on its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use gander_process::ChildSet;
use gander_runtime::Stopped;
use gander_runtime::{Cancellation, lock};
use gander_system::{ClaimId, Obstacle};

use gander_runtime::memory;

use super::limits::LIMITS;
use crate::core::{
    Advance, Engine, EngineAccount, EngineContext, EngineEnding, EngineInfo, Message, WorkerBudget,
};
use crate::portfolio::Part;

/// The state of an engine in the pool.
enum EngineState {
    /// Waits for a worker; opened at its first turn.
    Waiting(Option<Box<dyn Engine>>),
    /// A worker has it.
    Working,
    /// Has nothing more to do.
    Finished(Box<dyn Engine>),
    /// Was stopped between turns.
    Ended(Box<dyn Engine>),
    /// Was stopped during a turn, and dropped.
    Stopped,
    /// Panicked.
    Broken(String),
}

/// An engine, its context, and the time it has used.
pub(super) struct ScheduledEngine {
    info: EngineInfo,
    /// `None` during a turn, when the worker has it.
    context: Option<EngineContext>,
    claims: Vec<ClaimId>,
    /// By claim: whether it is one of them.
    asked: Vec<bool>,
    /// All claims before this position are settled.
    open_from: usize,
    cancellation: Cancellation,
    processes: ChildSet,
    engine_state: EngineState,
    part: Part,
    used: Duration,
    turns: u64,
    /// When it had its first turn.
    first_turn: Option<Instant>,
    /// When its last turn began.
    begun: Instant,
    /// Its obstacles after one of its last turns.
    obstacles_found: Vec<(ClaimId, String)>,
    /// Its obstacles are collected again once it has used this much time.
    next_collection: Duration,
    /// By how much the memory in use grew during its turns. This is an estimate, because other
    /// engines work at the same time.
    grown: i64,
    /// It was stopped for memory.
    out_of_memory: bool,
}

impl ScheduledEngine {
    pub(super) fn new(info: EngineInfo, context: EngineContext, part: Part) -> ScheduledEngine {
        let mut asked = vec![false; context.system().claims().len()];
        for claim in &context.claims {
            asked[claim.index()] = true;
        }
        ScheduledEngine {
            info,
            claims: context.claims.clone(),
            asked,
            open_from: 0,
            cancellation: context.cancellation.clone(),
            processes: context.processes.clone(),
            context: Some(context),
            engine_state: EngineState::Waiting(None),
            part,
            used: Duration::ZERO,
            turns: 0,
            first_turn: None,
            begun: Instant::now(),
            obstacles_found: Vec::new(),
            next_collection: LIMITS.obstacles_after,
            grown: 0,
            out_of_memory: false,
        }
    }

    fn is_asked(&self, claim: ClaimId) -> bool {
        self.asked.get(claim.index()).is_some_and(|asked| *asked)
    }

    fn is_waiting(&self) -> bool {
        matches!(self.engine_state, EngineState::Waiting(_))
    }

    fn is_working(&self) -> bool {
        matches!(self.engine_state, EngineState::Working)
    }

    /// Its last obstacle for a claim.
    fn last_obstacle(&self, claim: ClaimId) -> Option<String> {
        self.obstacles_found.iter().find(|(c, _)| *c == claim).map(|(_, why)| why.clone())
    }

    /// Its used time divided by its share.
    fn weight(&self) -> Duration {
        self.used.div_f64(self.part.share)
    }
}

/// See the module's documentation.
pub(super) struct WorkerPool {
    state: Mutex<PoolState>,
    changed: Condvar,
    closed: AtomicBool,
    messages: Mutex<Sender<Message>>,
    opened: Instant,
    /// The deadline of all work.
    deadline: Option<Instant>,
    /// Counts the workers of this pool and of others.
    budget: WorkerBudget,
}

struct PoolState {
    scheduled: Vec<ScheduledEngine>,
    /// Workers that have not ended.
    workers: usize,
    /// Threads of workers, including those that are deallocating their last engine.
    threads: usize,
    /// Maximum number of workers at work, without stalled turns.
    jobs: usize,
    /// No turn begins before that.
    held_until: Option<Instant>,
}

/// Whether there should be another worker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SpawnDecision {
    Now,
    /// If nothing changes before that.
    At(Instant),
    No,
}

/// A turn: an engine that a worker has taken.
struct Turn {
    info: EngineInfo,
    engine: Option<Box<dyn Engine>>,
    context: EngineContext,
    /// If the turn takes this long, collect the engine's obstacles afterwards.
    asked_after: Duration,
}

/// The result of a turn.
struct Done {
    used: Duration,
    engine_state: EngineState,
    obstacles_found: Option<CollectedObstacles>,
    grown: i64,
    out_of_memory: bool,
}

/// The obstacles of an engine, and how long collecting them took.
struct CollectedObstacles {
    words: Vec<(ClaimId, String)>,
    took: Duration,
}

impl CollectedObstacles {
    fn by(engine: &dyn Engine, context: &EngineContext) -> CollectedObstacles {
        let begun = Instant::now();
        let open = context
            .claims
            .iter()
            .copied()
            .filter(|c| context.is_open(*c))
            .take(LIMITS.obstacle_claims);
        let words = open.filter_map(|c| Some((c, engine.obstacle(c)?))).collect();
        CollectedObstacles { words, took: begun.elapsed() }
    }
}

impl WorkerPool {
    /// A pool with these engines; no piece of work goes on after the deadline.
    pub(super) fn new(
        scheduled: Vec<ScheduledEngine>,
        messages: Sender<Message>,
        opened: Instant,
        deadline: Option<Instant>,
        budget: WorkerBudget,
    ) -> WorkerPool {
        WorkerPool {
            state: Mutex::new(PoolState {
                scheduled,
                workers: 0,
                threads: 0,
                jobs: 1,
                held_until: None,
            }),
            changed: Condvar::new(),
            closed: AtomicBool::new(false),
            messages: Mutex::new(messages),
            opened,
            deadline,
            budget,
        }
    }

    /// Sets the engines' parts, removes engines without one, and admits new ones, in the order of
    /// `order`.
    pub(super) fn plan(
        &self,
        part_of: impl Fn(&str) -> Option<Part>,
        more: Vec<ScheduledEngine>,
        order: &[EngineInfo],
    ) {
        let mut state = lock(&self.state);
        state.scheduled.extend(more);
        state.scheduled.sort_by_key(|s| order.iter().position(|e| e.name == s.info.name));
        state.scheduled.retain_mut(|scheduled_engine| match part_of(scheduled_engine.info.name) {
            Some(part) => {
                scheduled_engine.part = part;
                true
            }
            None => false,
        });
    }

    /// Sets the number of concurrent workers.
    pub(super) fn set_jobs(&self, jobs: usize) {
        let mut state = lock(&self.state);
        state.jobs = jobs.min(state.scheduled.len()).max(1);
    }

    /// Spawns a worker; false if no thread can be spawned.
    pub(super) fn spawn_worker(self: &Arc<WorkerPool>) -> bool {
        {
            let mut state = lock(&self.state);
            state.workers += 1;
            state.threads += 1;
        }
        let counted = self.budget.count_worker();
        let pool = Arc::clone(self);
        let run_worker = move || {
            pool.work();
            lock(&pool.state).threads -= 1;
            pool.changed.notify_all();
            drop(pool);
            drop(counted);
        };
        let spawned = thread::Builder::new().name("engines".into()).spawn(run_worker).is_ok();
        if !spawned {
            let mut state = lock(&self.state);
            state.workers -= 1;
            state.threads -= 1;
        }
        spawned
    }

    /// Waits until no engine has a turn, for at most this long unless there are too many workers.
    pub(super) fn wait_for_turns(&self, most: Duration) {
        let until = Instant::now() + most;
        let mut state = lock(&self.state);
        while state.scheduled.iter().any(ScheduledEngine::is_working) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() && self.budget.workers() <= LIMITS.workers {
                return;
            }
            let left = left.max(Duration::from_millis(1));
            state =
                self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until every worker has ended and deallocated its last engine.
    pub(super) fn wait_for_workers(&self) {
        let mut state = lock(&self.state);
        while state.threads > 0 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Drops all engines.
    pub(super) fn drop_engines(&self) {
        let scheduled = std::mem::take(&mut lock(&self.state).scheduled);
        drop(scheduled);
    }

    /// Whether to spawn another worker; none for checks that end within `alone`.
    pub(super) fn spawn_decision(
        &self,
        now: Instant,
        alone: Duration,
        beyond_jobs: bool,
    ) -> SpawnDecision {
        let state = lock(&self.state);
        let open = |s: &&ScheduledEngine| s.is_waiting() || s.is_working();
        if state.scheduled.iter().filter(open).count() <= state.workers {
            return SpawnDecision::No;
        }
        let at = if state.workers < state.jobs {
            self.opened + alone
        } else if beyond_jobs {
            let busy: Vec<Instant> =
                state.scheduled.iter().filter(|s| s.is_working()).map(|s| s.begun).collect();
            let beyond = state.workers - state.jobs;
            // If a worker is between two turns, test again later: the start of a turn is not
            // signalled.
            let all_busy = busy.len() >= state.workers;
            let youngest = busy.into_iter().max().filter(|_| all_busy).unwrap_or(now);
            if beyond < state.jobs {
                youngest + LIMITS.stalled
            } else {
                // One more at 2, 4, 8, 16 ... seconds.
                let doubled = Duration::from_secs(1 << (1 + beyond - state.jobs).min(40));
                (youngest + LIMITS.stalled).max(self.opened + doubled)
            }
        } else {
            return SpawnDecision::No;
        };
        if at <= now { SpawnDecision::Now } else { SpawnDecision::At(at) }
    }

    /// No turn begins before the given time. `None` removes the limit.
    pub(super) fn hold(&self, until: Option<Instant>) {
        lock(&self.state).held_until = until;
        self.changed.notify_all();
    }

    /// Closes the pool: no further turn begins.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        let _state = lock(&self.state);
        self.changed.notify_all();
    }

    /// The loop of a worker: takes turns until the pool closes.
    fn work(&self) {
        while let Some(turn) = self.next_turn() {
            self.run_turn(turn);
        }
    }

    /// Takes the first turn of an engine that begins at once; false if there is none left.
    pub(super) fn begin(&self) -> bool {
        let fresh = |s: &ScheduledEngine| {
            s.info.begins_at_once && matches!(s.engine_state, EngineState::Waiting(None))
        };
        let turn = turn_of(&mut lock(&self.state).scheduled, fresh);
        let some = turn.is_some();
        if let Some(turn) = turn {
            self.run_turn(turn);
        }
        some
    }

    fn run_turn(&self, mut turn: Turn) {
        let begun = Instant::now();
        let before = memory::in_use();
        let mut engine = turn.engine.take();
        let result = catch_unwind(AssertUnwindSafe(|| {
            turn.context.cancellation.with_deadline(self.deadline).run_cancellable(|| {
                let engine = engine.get_or_insert_with(|| (turn.info.open)(&turn.context));
                let advance = engine.advance(&turn.context);
                let is_asked = advance == Advance::Again && begun.elapsed() >= turn.asked_after;
                (advance, is_asked.then(|| CollectedObstacles::by(&**engine, &turn.context)))
            })
        }));
        let (mut obstacles_found, mut out_of_memory) = (None, false);
        let engine_state = match result {
            Ok(Ok((advance, words))) => {
                obstacles_found = words;
                let open = turn.context.claims.iter().any(|c| turn.context.is_open(*c));
                match engine {
                    engine if advance == Advance::Again && open && !turn.context.is_cancelled() => {
                        EngineState::Waiting(engine)
                    }
                    Some(engine) if turn.context.is_cancelled() => EngineState::Ended(engine),
                    Some(engine) => EngineState::Finished(engine),
                    None => EngineState::Broken("it was never made".into()),
                }
            }
            Ok(Err(stopped)) => {
                out_of_memory = stopped == Stopped::OutOfMemory;
                EngineState::Stopped
            }
            Err(panic) => {
                let problem = panic_text(panic);
                let message = Message::Broken { engine: turn.info.name, problem: problem.clone() };
                let _ = lock(&self.messages).send(message);
                EngineState::Broken(problem)
            }
        };
        let grown =
            before.zip(memory::in_use()).map_or(0, |(before, after)| after as i64 - before as i64);
        let done =
            Done { used: begun.elapsed(), engine_state, obstacles_found, grown, out_of_memory };
        let rest = self.put_back(turn, done);
        // Deallocate a stopped engine here, outside the lock.
        drop(rest);
    }

    fn next_turn(&self) -> Option<Turn> {
        let mut state = lock(&self.state);
        loop {
            if self.closed.load(Ordering::SeqCst) {
                return None;
            }
            let now = Instant::now();
            if let Some(left) = state.held_until.and_then(|until| until.checked_duration_since(now))
                && !left.is_zero()
            {
                state = self
                    .changed
                    .wait_timeout(state, left)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
                continue;
            }
            let not_stalled = |s: &&ScheduledEngine| {
                s.is_working() && now.saturating_duration_since(s.begun) < LIMITS.stalled
            };
            if state.workers > state.jobs
                && state.scheduled.iter().filter(not_stalled).count() >= state.jobs
            {
                state.workers -= 1;
                return None;
            }
            let elapsed = now.saturating_duration_since(self.opened);
            let due = |s: &ScheduledEngine| s.is_waiting() && s.part.waits() <= elapsed;
            if let Some(turn) = turn_of(&mut state.scheduled, due) {
                return Some(turn);
            }
            let soonest =
                state.scheduled.iter().filter(|s| s.is_waiting()).map(|s| s.part.waits()).min();
            if state.scheduled.iter().any(ScheduledEngine::is_working) {
                // Engines in their start-up delay occupy no worker.
                state = match soonest {
                    Some(at) => {
                        let waited = self.changed.wait_timeout(state, at.saturating_sub(elapsed));
                        waited.unwrap_or_else(PoisonError::into_inner).0
                    }
                    None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                };
                continue;
            }
            // Skip start-up delays when no other engine has work.
            if let Some(soonest) = soonest
                && let Some(turn) =
                    turn_of(&mut state.scheduled, |s| s.is_waiting() && s.part.waits() <= soonest)
            {
                return Some(turn);
            }
            // Ignore a closed channel: the director has finished.
            let _ = lock(&self.messages).send(Message::Idle);
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Puts an engine back after its turn. Returns an engine that was stopped for memory, to be
    /// deallocated by the caller.
    fn put_back(&self, turn: Turn, done: Done) -> Option<EngineState> {
        let mut state = lock(&self.state);
        let scheduled_engine =
            state.scheduled.iter_mut().find(|s| s.info.name == turn.info.name)?;
        scheduled_engine.used += done.used;
        scheduled_engine.grown += done.grown;
        scheduled_engine.out_of_memory |= done.out_of_memory;
        if let Some(CollectedObstacles { words, took }) = done.obstacles_found {
            scheduled_engine.obstacles_found = words;
            scheduled_engine.next_collection =
                scheduled_engine.used + LIMITS.obstacles_after.max(took * LIMITS.obstacles_part);
        }
        scheduled_engine.turns += 1;
        scheduled_engine.engine_state = done.engine_state;
        scheduled_engine.context = Some(turn.context);
        let rest = scheduled_engine
            .out_of_memory
            .then(|| std::mem::replace(&mut scheduled_engine.engine_state, EngineState::Stopped));
        self.changed.notify_all();
        rest
    }

    /// Stops the engine with the most memory, by estimate; false if there is none.
    pub(super) fn stop_largest(&self) -> bool {
        let mut state = lock(&self.state);
        let runs = |s: &&mut ScheduledEngine| {
            matches!(s.engine_state, EngineState::Waiting(Some(_)) | EngineState::Working)
                && !s.out_of_memory
                && !s.cancellation.is_cancelled()
        };
        let weight = |s: &&mut ScheduledEngine| s.grown.max(0) as u64 + s.processes.memory();
        let Some(scheduled_engine) = state.scheduled.iter_mut().filter(runs).max_by_key(weight)
        else {
            return false;
        };
        scheduled_engine.out_of_memory = true;
        scheduled_engine.cancellation.cancel();
        if scheduled_engine.is_waiting() {
            let rest = std::mem::replace(&mut scheduled_engine.engine_state, EngineState::Stopped);
            // Deallocate on a separate thread; if none can be spawned, here.
            let _ = thread::Builder::new().name("deallocation".into()).spawn(move || drop(rest));
        }
        self.changed.notify_all();
        true
    }

    /// True if an engine that finds shortest runs is still at work on the claim.
    pub(super) fn finds_shortest(&self, claim: ClaimId) -> bool {
        lock(&self.state).scheduled.iter().any(|s| {
            s.info.finds_shortest
                && s.is_asked(claim)
                && matches!(s.engine_state, EngineState::Waiting(_) | EngineState::Working)
        })
    }

    /// Stops engines whose claims are all settled.
    pub(super) fn stop_idle_engines(&self, settled: &[AtomicBool]) {
        for scheduled_engine in &mut lock(&self.state).scheduled {
            // A settled claim stays settled.
            let rest = &scheduled_engine.claims[scheduled_engine.open_from..];
            scheduled_engine.open_from +=
                rest.iter().take_while(|c| settled[c.index()].load(Ordering::SeqCst)).count();
            if scheduled_engine.open_from == scheduled_engine.claims.len() {
                scheduled_engine.cancellation.cancel();
            }
        }
    }

    /// The obstacle of each engine that could decide the claim; its last one if it has a turn now.
    pub(super) fn obstacles(
        &self,
        claim: ClaimId,
        out_of_memory: &str,
    ) -> (Vec<(String, Option<String>)>, Vec<Obstacle>) {
        let (mut engines, mut broken) = (Vec::new(), Vec::new());
        for scheduled_engine in lock(&self.state).scheduled.iter().filter(|s| s.is_asked(claim)) {
            let name = scheduled_engine.info.name.to_string();
            match &scheduled_engine.engine_state {
                EngineState::Working | EngineState::Stopped if scheduled_engine.out_of_memory => {
                    let words = scheduled_engine
                        .last_obstacle(claim)
                        .map_or(String::new(), |words| format!("{words}; "));
                    engines.push((name, Some(format!("{words}{out_of_memory}"))));
                }
                EngineState::Waiting(Some(e)) | EngineState::Ended(e) => {
                    engines.push((name, e.obstacle(claim)))
                }
                // An engine without an obstacle did not try the claim.
                EngineState::Finished(e) => {
                    engines.extend(e.obstacle(claim).map(|reason| (name, Some(reason))))
                }
                EngineState::Working | EngineState::Stopped => {
                    engines.push((name, scheduled_engine.last_obstacle(claim)))
                }
                EngineState::Waiting(None) => engines.push((name, None)),
                EngineState::Broken(problem) => {
                    broken.push(Obstacle { engine: name, reason: format!("broke: {problem}") })
                }
            }
        }
        (engines, broken)
    }

    /// What each engine did; a turn that has not ended counts.
    pub(super) fn accounts(&self) -> Vec<EngineAccount> {
        let state = lock(&self.state);
        let turn =
            |s: &ScheduledEngine| if s.is_working() { s.begun.elapsed() } else { Duration::ZERO };
        let account = |s: &ScheduledEngine| EngineAccount {
            engine: s.info.name.to_string(),
            part: s.part,
            claims: s.claims.len(),
            began: s.first_turn.map(|at| at.saturating_duration_since(self.opened)),
            turns: s.turns + u64::from(s.is_working()),
            used: s.used + turn(s),
            settled: 0,
            facts: 0,
            ending: match s.engine_state {
                EngineState::Waiting(None) => EngineEnding::NotNeeded,
                EngineState::Waiting(Some(_))
                | EngineState::Working
                | EngineState::Stopped
                | EngineState::Ended(_) => EngineEnding::Stopped,
                EngineState::Finished(_) => EngineEnding::Finished,
                EngineState::Broken(_) => EngineEnding::Broke,
            },
        };
        state.scheduled.iter().map(account).collect()
    }
}

/// Takes the wanted engine that has used the least time relative to its share; on a tie, the one
/// with the shortest start-up delay.
fn turn_of(
    scheduled: &mut [ScheduledEngine],
    wanted: impl Fn(&ScheduledEngine) -> bool,
) -> Option<Turn> {
    let next = scheduled
        .iter_mut()
        .enumerate()
        .filter(|(_, s)| wanted(s))
        .min_by_key(|(i, s)| (s.weight(), s.part.waits(), *i));
    let (_, scheduled_engine) = next?;
    scheduled_engine.begun = Instant::now();
    scheduled_engine.first_turn.get_or_insert(scheduled_engine.begun);
    let (engine_state, context) = (
        std::mem::replace(&mut scheduled_engine.engine_state, EngineState::Working),
        scheduled_engine.context.take(),
    );
    match (engine_state, context) {
        (EngineState::Waiting(engine), Some(context)) => Some(Turn {
            info: scheduled_engine.info,
            engine,
            context,
            asked_after: scheduled_engine.next_collection.saturating_sub(scheduled_engine.used),
        }),
        // A waiting engine has its context.
        (engine_state, context) => {
            (scheduled_engine.engine_state, scheduled_engine.context) = (engine_state, context);
            None
        }
    }
}

fn panic_text(payload: Box<dyn std::any::Any + Send>) -> String {
    match payload.downcast_ref::<&str>() {
        Some(text) => (*text).to_string(),
        None => payload
            .downcast_ref::<String>()
            .cloned()
            .unwrap_or_else(|| "a panic without a message".into()),
    }
}

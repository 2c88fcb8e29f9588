//! Breadth-first exploration in batches, on several threads.
//!
//! States are numbered in the order of discovery; the store is the queue. A batch is the next range
//! of numbers in the queue, split into consecutive parts, one per thread. A thread computes the
//! successors of its part and leaves out known states; then the rest are inserted in order.
//!
//! Invariant: the numbering is that of a sequential search, for any number of threads. Numbers
//! increase with the distance from the start, so the first state that meets a goal gives a shortest
//! run.

use std::sync::Arc;

use gander_runtime::Cancellation;
use gander_runtime::check_cancelled;
use gander_system::{Evidence, Leg, Run, State, Step, TransitionId};

use super::super::limits::LIMITS;
use super::store::{NONE, Store, hash};
use crate::concrete::compiled::code::{StepError, value};
use crate::concrete::compiled::layout::Layout;
use crate::concrete::compiled::machine::{Machine, Worker};

/// A goal that was met in a state, or by a step from it.
#[derive(Clone, Debug)]
pub(crate) struct Met {
    pub goal: usize,
    /// The number of the state.
    pub state: u32,
    pub step: Option<Taken>,
}

/// A step in numbers.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub transition: TransitionId,
    params: Vec<i64>,
    next: Vec<i64>,
}

/// Why an exploration stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    Cancelled,
    /// The memory limit is reached.
    Memory,
    StepError(StepError),
}

/// Gets the transition of a step, a function for its parameters, and the number of the next state;
/// returns true to stop.
type OnStep<'a> = dyn FnMut(TransitionId, &dyn Fn() -> Vec<i64>, Option<u32>) -> bool + 'a;

/// Whether the exploration is complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    More,
    /// All reachable states are known and expanded.
    Complete,
}

/// The resources of an exploration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resources {
    /// Bytes.
    pub memory: u64,
    pub threads: usize,
}

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Explorer {
    pub machine: Arc<Machine>,
    layout: Layout,
    store: Store,
    resources: Resources,
    workers: Vec<Worker>,
    begun: bool,
    /// The number of start states to find in the current attempt.
    most_starts: usize,
    /// The number found when the last attempt exceeded its limit.
    starts: usize,
    /// The number of states whose successors are known.
    expanded: usize,
    /// The number of states at a distance of at most `depth`.
    level_end: usize,
    depth: u32,
    /// Choices and steps so far.
    work: u64,
    /// Steps so far.
    edges: u64,
}

/// Why a part of a batch ended early.
#[derive(Clone, Copy, Debug)]
enum Halt {
    Stop(Stop),
    /// The value of this variable needs more bits.
    Widen(usize),
}

impl From<StepError> for Halt {
    fn from(t: StepError) -> Halt {
        Halt::Stop(if t == StepError::Cancelled { Stop::Cancelled } else { Stop::StepError(t) })
    }
}

/// The results of a thread.
#[derive(Debug, Default)]
struct Part {
    /// The words of new states.
    words: Vec<u64>,
    /// Their hashes and predecessors.
    of: Vec<(u64, u32)>,
    met: Vec<Met>,
    edges: u64,
    /// The number of transitions tried.
    tried: u64,
    halt: Option<Halt>,
}

impl Explorer {
    pub(crate) fn new(machine: Machine, resources: Resources) -> Explorer {
        let layout = Layout::new(&machine.system);
        let store = Store::new(layout.words());
        Explorer {
            workers: vec![machine.worker()],
            machine: Arc::new(machine),
            layout,
            store,
            resources,
            begun: false,
            most_starts: LIMITS.first_starts,
            starts: 0,
            expanded: 0,
            level_end: 0,
            depth: 0,
            work: 0,
            edges: 0,
        }
    }

    /// True if all start states are known.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun
    }

    /// The number of states found so far.
    pub(crate) fn states(&self) -> usize {
        if self.begun { self.store.len() } else { self.store.len().max(self.starts) }
    }

    /// The number of steps from expanded states.
    pub(crate) fn edges(&self) -> u64 {
        self.edges
    }

    /// All states at a smaller distance from the start have been expanded.
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// Does a unit of work. Only open goals are checked; each is reported once, with a shortest
    /// run.
    pub(crate) fn advance(
        &mut self,
        open: &[bool],
        cancellation: &Cancellation,
        met: &mut Vec<Met>,
    ) -> Result<Phase, Stop> {
        if !self.begun {
            self.begun = self.begin(cancellation)?;
            if !self.begun {
                self.starts = self.store.len();
                self.store = Store::new(self.layout.words());
                self.most_starts = self.most_starts.saturating_mul(LIMITS.starts_growth);
                return Ok(Phase::More);
            }
            self.level_end = self.store.len();
        } else if self.expanded < self.store.len() {
            self.batch(open, cancellation, met)?;
            if self.expanded == self.level_end {
                self.depth += 1;
                self.level_end = self.store.len();
            }
        }
        Ok(if self.expanded == self.store.len() { Phase::Complete } else { Phase::More })
    }

    /// Finds the start states; false if there are more than the current limit.
    fn begin(&mut self, cancellation: &Cancellation) -> Result<bool, Stop> {
        loop {
            let mut misfit = None;
            let (store, layout, memory) = (&mut self.store, &self.layout, self.resources.memory);
            let (most, mut words) = (self.most_starts, vec![0; layout.words()]);
            let (mut full, mut later) = (false, false);
            let machine = Arc::clone(&self.machine);
            let result = machine.starts(&mut self.workers[0], cancellation, &mut |b, slots| {
                let values = b.plan.unknowns.iter().map(|&s| slots.values[s as usize]);
                if let Err(var) = layout.pack(b.target, values, &mut words) {
                    misfit = Some(var);
                    return Ok(true);
                }
                full |= store.insert(&words, hash(&words), NONE).is_none();
                full |= store.len() % 4096 == 0 && store.bytes_after(4096) > memory;
                later |= store.len() > most;
                Ok(full || later)
            });
            match (result, misfit) {
                (Err(StepError::Cancelled), _) => return Err(Stop::Cancelled),
                (Err(t), _) => return Err(Stop::StepError(t)),
                (Ok(()), Some(var)) => self.widen(var),
                (Ok(()), None) if full => return Err(Stop::Memory),
                (Ok(()), None) => return Ok(!later),
            }
        }
    }

    /// Packs all states again, with more bits for a variable.
    fn widen(&mut self, var: usize) {
        let layout = self.layout.wider(var);
        let mut store = Store::new(layout.words());
        let mut words = vec![0; layout.words()];
        for i in 0..self.store.len() as u32 {
            let old = self.store.state(i);
            // Every old value fits.
            let _ = layout.pack(self.layout.node(old), self.layout.values(old), &mut words);
            store.insert(&words, hash(&words), self.store.parent(i));
        }
        self.store = store;
        self.layout = layout;
    }

    fn batch(
        &mut self,
        open: &[bool],
        cancellation: &Cancellation,
        met: &mut Vec<Met>,
    ) -> Result<(), Stop> {
        let each = self.work / (self.expanded as u64).max(1) + 1;
        let most =
            usize::try_from(LIMITS.batch_work / each).unwrap_or(1).clamp(1, LIMITS.batch_states);
        let (from, to) = (self.expanded, self.level_end.min(self.expanded + most));
        let parts = loop {
            let parts = self.parts(from, to, open, cancellation);
            match parts.iter().find_map(|p| p.halt) {
                Some(Halt::Widen(var)) => self.widen(var),
                _ => break parts,
            }
        };
        let mut known: Vec<bool> = open.to_vec();
        let more: usize = parts.iter().map(|p| p.of.len()).sum();
        let memory = self.store.bytes_after(more) <= self.resources.memory;
        for part in parts {
            for m in part.met {
                if std::mem::replace(&mut known[m.goal], false) {
                    met.push(m);
                }
            }
            if let Some(Halt::Stop(stop)) = part.halt {
                return Err(stop);
            }
            if !memory {
                continue;
            }
            self.edges += part.edges;
            self.work += part.edges + part.tried / LIMITS.disabled_per_step;
            for (words, (hash, parent)) in part.words.chunks_exact(self.layout.words()).zip(part.of)
            {
                check_cancelled();
                self.store.insert(words, hash, parent).ok_or(Stop::Memory)?;
            }
        }
        if !memory {
            return Err(Stop::Memory);
        }
        for w in &mut self.workers {
            self.work += std::mem::take(&mut w.progress.made);
        }
        self.expanded = to;
        Ok(())
    }

    /// The results of a batch, in order of its parts.
    fn parts(
        &mut self,
        from: usize,
        to: usize,
        open: &[bool],
        cancellation: &Cancellation,
    ) -> Vec<Part> {
        let threads = self.resources.threads.min((to - from) / LIMITS.states_per_thread).max(1);
        while self.workers.len() < threads {
            self.workers.push(self.machine.worker());
        }
        let mut workers = std::mem::take(&mut self.workers);
        let size = (to - from).div_ceil(threads);
        let part = |w: &mut Worker, i: usize| {
            let (from, to) = ((from + i * size).min(to), (from + (i + 1) * size).min(to));
            self.expand(w, from, to, open, cancellation)
        };
        let parts = if let [only] = &mut workers[..threads] {
            vec![part(only, 0)]
        } else {
            let part = &part;
            std::thread::scope(|scope| {
                let handles: Vec<_> = workers[..threads]
                    .iter_mut()
                    .enumerate()
                    .map(|(i, w)| scope.spawn(move || part(w, i)))
                    .collect();
                // Continue a panic in this thread, so that it ends only this engine.
                handles
                    .into_iter()
                    .map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                    .collect()
            })
        };
        self.workers = workers;
        parts
    }

    fn expand(
        &self,
        w: &mut Worker,
        from: usize,
        to: usize,
        open: &[bool],
        cancellation: &Cancellation,
    ) -> Part {
        let mut part = Part::default();
        let mut open: Vec<bool> = open.to_vec();
        let mut words = vec![0; self.layout.words()];
        for i in from..to {
            if cancellation.is_cancelled() {
                part.halt = Some(Halt::Stop(Stop::Cancelled));
                break;
            }
            if let Err(halt) =
                self.expand_one(i as u32, w, &mut open, cancellation, &mut words, &mut part)
            {
                part.halt = Some(halt);
                break;
            }
        }
        part
    }

    fn expand_one(
        &self,
        i: u32,
        w: &mut Worker,
        open: &mut [bool],
        cancellation: &Cancellation,
        words: &mut [u64],
        part: &mut Part,
    ) -> Result<(), Halt> {
        let machine = &*self.machine;
        let state = self.store.state(i);
        let node = self.layout.node(state);
        machine.enter(w, self.layout.values(state));
        let mut here: Vec<usize> = Vec::new();
        machine.met_goals(node, w, open, cancellation, &mut |goal| here.push(goal))?;
        let before = part.edges;
        part.tried += machine.system.leaving(node).len() as u64;
        let mut halt = None;
        let most = (self.resources.memory / 16) as usize;
        machine.steps(node, w, cancellation, &mut |m, slots| {
            part.edges += 1;
            let (mut meets, watched) = (Vec::new(), &mut *open);
            machine.look_at_step(m, slots, watched, &mut |goal| meets.push(goal))?;
            for goal in meets {
                open[goal] = false;
                let numbers = |of: &[u32]| of.iter().map(|&s| slots.values[s as usize]).collect();
                let step = Taken {
                    transition: m.transition,
                    params: numbers(&m.params),
                    next: numbers(&m.next),
                };
                part.met.push(Met { goal, state: i, step: Some(step) });
            }
            if let Err(var) =
                self.layout.pack(m.target, m.next.iter().map(|&s| slots.values[s as usize]), words)
            {
                halt = Some(Halt::Widen(var));
                return Ok(true);
            }
            let hash = hash(words);
            let again = part.words.len() >= words.len()
                && part.words[part.words.len() - words.len()..] == *words;
            if !again && self.store.find(words, hash).is_none() {
                part.words.extend_from_slice(words);
                part.of.push((hash, i));
                if part.words.len() > most {
                    halt = Some(Halt::Stop(Stop::Memory));
                    return Ok(true);
                }
            }
            Ok(false)
        })?;
        if let Some(halt) = halt {
            return Err(halt);
        }
        if part.edges == before && !machine.system.node(node).is_final {
            here.extend(machine.stuck.iter().filter(|&&goal| open[goal]));
        }
        for goal in here {
            if std::mem::replace(&mut open[goal], false) {
                part.met.push(Met { goal, state: i, step: None });
            }
        }
        Ok(())
    }

    /// The state with this number.
    pub(crate) fn state(&self, i: u32) -> State {
        let words = self.store.state(i);
        let sorts = self.machine.system.vars().iter().map(|v| v.sort);
        let values = sorts.zip(self.layout.values(words)).map(|(sort, n)| value(sort, n)).collect();
        State { node: self.layout.node(words), values }
    }

    #[allow(dead_code, reason = "for analyses of the whole graph by other engines")]
    pub(crate) fn node(&self, i: u32) -> gander_system::NodeId {
        self.layout.node(self.store.state(i))
    }

    /// Calls `found` with the transition, parameters and next state of every step from a state,
    /// until it returns true. The next state is `None` if it is not known yet.
    pub(crate) fn steps_from(
        &self,
        i: u32,
        w: &mut Worker,
        cancellation: &Cancellation,
        found: &mut OnStep<'_>,
    ) -> Result<(), StepError> {
        let state = self.store.state(i);
        self.machine.enter(w, self.layout.values(state));
        let mut words = vec![0; self.layout.words()];
        self.machine.steps(self.layout.node(state), w, cancellation, &mut |m, slots| {
            let fits = self
                .layout
                .pack(m.target, m.next.iter().map(|&s| slots.values[s as usize]), &mut words)
                .is_ok();
            let next = if fits { self.store.find(&words, hash(&words)) } else { None };
            let params = || m.params.iter().map(|&s| slots.values[s as usize]).collect();
            Ok(found(m.transition, &params, next))
        })
    }

    /// A step between two states, by this transition if one is given.
    pub(crate) fn step_between(
        &self,
        from: u32,
        by: Option<TransitionId>,
        to: u32,
    ) -> Option<Step> {
        let mut w = self.machine.worker();
        let mut step = None;
        let never = Cancellation::new();
        self.steps_from(from, &mut w, &never, &mut |t, params, next| {
            if next == Some(to) && by.is_none_or(|b| b == t) {
                step = Some(self.step(t, &params(), self.state(to).values));
            }
            step.is_some()
        })
        .ok()?;
        step
    }

    fn step(&self, t: TransitionId, params: &[i64], next: Vec<gander_term::Value>) -> Step {
        let sorts = self.machine.system.transition(t).params.iter().map(|p| p.sort);
        let params = sorts.zip(params).map(|(sort, &n)| value(sort, n)).collect();
        Step { transition: t, params, next: Some(next) }
    }

    /// A shortest run to a state.
    pub(crate) fn run_to(&self, i: u32) -> Option<Run> {
        let mut path = vec![i];
        while let Some(&last) = path.last() {
            let parent = self.store.parent(last);
            if parent == NONE {
                break;
            }
            path.push(parent);
        }
        path.reverse();
        let start = self.start_of(path[0])?;
        let legs = path.windows(2).map(|p| self.step_between(p[0], None, p[1]).map(Leg::Step));
        Some(Run { start, first: self.state(path[0]), legs: legs.collect::<Option<_>>()? })
    }

    /// The run for a goal that was met.
    pub(crate) fn run_that_met(&self, met: &Met) -> Option<Run> {
        let mut run = self.run_to(met.state)?;
        if let Some(taken) = &met.step {
            let sorts = self.machine.system.vars().iter().map(|v| v.sort);
            let next = sorts.zip(&taken.next).map(|(sort, &n)| value(sort, n)).collect();
            run.legs.push(Leg::Step(self.step(taken.transition, &taken.params, next)));
        }
        Some(run)
    }

    /// The first start that gives a start state.
    fn start_of(&self, i: u32) -> Option<gander_system::StartId> {
        let mut found = None;
        self.each_start(&mut |start, at| {
            if at == Some(i) {
                found = Some(start);
            }
            found.is_some()
        });
        found
    }

    /// Calls `found` with every start and start state, until it returns true.
    pub(crate) fn each_start(
        &self,
        found: &mut dyn FnMut(gander_system::StartId, Option<u32>) -> bool,
    ) {
        let mut words = vec![0; self.layout.words()];
        let mut w = self.machine.worker();
        let mut enough = false;
        let _ = self.machine.starts(&mut w, &Cancellation::new(), &mut |b, slots| {
            if enough {
                return Ok(true);
            }
            let values = b.plan.unknowns.iter().map(|&s| slots.values[s as usize]);
            let fits = self.layout.pack(b.target, values, &mut words).is_ok();
            enough =
                found(b.start, if fits { self.store.find(&words, hash(&words)) } else { None });
            Ok(enough)
        });
    }

    /// Whether the state meets a goal.
    pub(crate) fn meets(
        &self,
        i: u32,
        goal: usize,
        open: &[bool],
        w: &mut Worker,
    ) -> Result<bool, StepError> {
        let state = self.store.state(i);
        self.machine.enter(w, self.layout.values(state));
        let mut yes = false;
        self.machine.met_goals(
            self.layout.node(state),
            w,
            open,
            &Cancellation::new(),
            &mut |g| yes |= g == goal,
        )?;
        Ok(yes)
    }

    /// The evidence that all reachable states are known.
    pub(crate) fn closed(&self) -> Evidence {
        Evidence::ClosedSet { states: self.store.len() as u64 }
    }
}

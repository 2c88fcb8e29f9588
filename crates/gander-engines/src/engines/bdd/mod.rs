//! Symbolic reachability with binary decision diagrams (BDDs): sets of states instead of single
//! states.
//!
//! For finite systems with many Booleans or small ranges. Variables are encoded in bits, ordered so
//! that related variables are close ([`order`]). Transitions are partitioned relations
//! ([`relation`]). The reachable states are computed breadth first, so runs are shortest
//! ([`reach`]). Ints start with a few bits; when a reachable state has a step to a value that does
//! not fit, the computation restarts with more bits, so no value is ever truncated. A proof is the
//! set of reachable states: as formulas ([`formula`]), or, if it is not large, as an
//! [`Evidence::ClosedSet`]. Bryant, *Graph-based algorithms for Boolean function manipulation*
//! (1986); Burch, Clarke, McMillan, Dill and Hwang, *Symbolic model checking: 10^20 states and
//! beyond* (1990).
//!
//! A single BDD operation cannot be interrupted. So the work is done on a separate thread, which
//! checks between operations whether to pause or stop ([`pause`]); the engine does not wait for it.
//! The BDDs, with complement edges, are those of the crate `oxidd`.

mod encode;
mod formula;
mod limits;
mod manager;
mod order;
mod pause;
mod reach;
mod relation;
mod vector;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Instant;

use gander_system::{ClaimId, ClaimKind, Evidence, NodeFormulas, Verdict};

use crate::core::memory::own_memory;
use crate::core::{Advance, Blackboard, Engine, EngineContext, EngineInfo, portable};
use crate::encode::question::{Place, Question, is_question};
use crate::encode::targets::{Targets, question_targets, state_targets};
use crate::encode::view::View;

use limits::LIMITS;
use manager::{BddManager, Capacity, Halt};
use pause::PauseControl;
use reach::{Reach, first_widths};

/// The entry in the list of engines.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "bdd",
    about: "decision diagrams: the reachable states of a finite system as sets",
    decides: |kind: &ClaimKind| is_question(kind) || matches!(kind, ClaimKind::AlwaysPossible(_)),
    finds_shortest: true,
    begins_at_once: false,
    open: |context| Box::new(Diagrams::new(context)),
};

/// Messages of the worker thread.
enum WorkerMessage {
    Verdict(ClaimId, Verdict),
    Obstacle(ClaimId, String),
    Progress(usize, String),
}

/// See the module's documentation.
struct Diagrams {
    /// `None` before the first call of `advance`.
    messages: Option<Receiver<WorkerMessage>>,
    pause: Arc<PauseControl>,
    obstacles: Vec<(ClaimId, String)>,
    last: String,
}

impl Diagrams {
    fn new(_: &EngineContext) -> Diagrams {
        Diagrams {
            messages: None,
            pause: Arc::default(),
            obstacles: Vec::new(),
            last: "has not come far".into(),
        }
    }

    fn begin(&mut self, context: &EngineContext) -> Result<Receiver<WorkerMessage>, String> {
        let (sender, messages) = channel();
        let claims = context.system().claims();
        let chained = |c: &ClaimId| View::needs_chain(&claims[c.index()].kind);
        let mut jobs = Vec::new();
        let plain: Vec<ClaimId> =
            context.claims().iter().copied().filter(|c| !chained(c)).collect();
        if !plain.is_empty() {
            jobs.push(Job::new(context, &plain, &sender, &self.pause)?);
        }
        for claim in context.claims().iter().copied().filter(chained) {
            jobs.push(Job::new(context, &[claim], &sender, &self.pause)?);
        }
        let work = move || {
            for job in jobs {
                job.work();
            }
        };
        let thread = std::thread::Builder::new().name("bdd".into()).stack_size(LIMITS.stack);
        thread.spawn(work).map_err(|e| format!("no thread could be started: {e}"))?;
        Ok(messages)
    }
}

impl Drop for Diagrams {
    fn drop(&mut self) {
        self.pause.stop();
    }
}

impl Engine for Diagrams {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        if context.is_cancelled() {
            self.pause.stop();
            return Advance::Finished;
        }
        let Some(messages) = &self.messages else {
            return match self.begin(context) {
                Ok(messages) => {
                    self.messages = Some(messages);
                    Advance::Again
                }
                Err(why) => {
                    self.obstacles.extend(context.claims().iter().map(|&c| (c, why.clone())));
                    Advance::Finished
                }
            };
        };
        self.pause.go();
        let end = Instant::now() + LIMITS.wait;
        let advance = loop {
            let left = end.saturating_duration_since(Instant::now());
            match messages.recv_timeout(left) {
                Ok(WorkerMessage::Verdict(claim, verdict)) => context.propose(claim, verdict),
                Ok(WorkerMessage::Obstacle(claim, why)) => self.obstacles.push((claim, why)),
                Ok(WorkerMessage::Progress(depth, text)) => {
                    context.progress(u32::try_from(depth).ok(), text.clone());
                    self.last = text;
                }
                Err(RecvTimeoutError::Timeout) => break Advance::Again,
                Err(RecvTimeoutError::Disconnected) => break Advance::Finished,
            }
            if left.is_zero() || context.is_cancelled() {
                break Advance::Again;
            }
        };
        self.pause.wait();
        advance
    }

    fn obstacle(&self, claim: ClaimId) -> Option<String> {
        let own = self.obstacles.iter().find(|(c, _)| *c == claim).map(|(_, why)| why.clone());
        Some(own.unwrap_or_else(|| self.last.clone()))
    }
}

/// How a claim is decided.
enum ClaimQuery {
    Question(Question),
    Possible,
}

/// Claims that share one reachability analysis, on the worker thread.
struct Job {
    view: View,
    asked: Vec<(ClaimId, ClaimQuery)>,
    targets: Targets,
    settled: Arc<Vec<AtomicBool>>,
    blackboard: Arc<Blackboard>,
    memory: u64,
    /// Up to this many states, the evidence is the number of states.
    few_states: u64,
    messages: Sender<WorkerMessage>,
    pause: Arc<PauseControl>,
}

impl Job {
    fn new(
        context: &EngineContext,
        claims: &[ClaimId],
        messages: &Sender<WorkerMessage>,
        pause: &Arc<PauseControl>,
    ) -> Result<Job, String> {
        let kinds = context.system().claims();
        let mut view = match claims {
            [one] if View::needs_chain(&kinds[one.index()].kind) => View::chain(context, *one)?,
            _ => View::plain(context),
        };
        let (mut asked, mut targets) = (Vec::new(), Targets::default());
        for &claim in claims {
            let goal = asked.len();
            let query = match &kinds[claim.index()].kind {
                ClaimKind::AlwaysPossible(p) => {
                    state_targets(&mut view, *p, goal, &mut targets);
                    ClaimQuery::Possible
                }
                kind => {
                    let Some(question) = view.question(claim) else { continue };
                    question_targets(&mut view, kind, &question, goal, &mut targets);
                    ClaimQuery::Question(question)
                }
            };
            asked.push((claim, query));
        }
        Ok(Job {
            view,
            asked,
            targets,
            settled: Arc::clone(&context.settled),
            blackboard: Arc::clone(&context.blackboard),
            memory: own_memory(context.config()),
            few_states: context.config().options.bdd.few_states,
            messages: messages.clone(),
            pause: Arc::clone(pause),
        })
    }

    fn send(&self, messages: WorkerMessage) {
        // The engine may have been dropped.
        let _ = self.messages.send(messages);
    }

    /// Repeats the analysis with more bits or more nodes until it ends.
    fn work(mut self) {
        let mut open = vec![true; self.asked.len()];
        let system = Arc::clone(&self.view.encoding.system);
        let why = match first_widths(&system) {
            Err(why) => why,
            Ok(mut widths) => {
                let most = usize::try_from(self.memory / LIMITS.node_bytes)
                    .unwrap_or(usize::MAX)
                    .clamp(LIMITS.least_nodes, LIMITS.most_nodes);
                let mut nodes = LIMITS.first_nodes.min(most);
                loop {
                    let capacity = Capacity { nodes, cache: (nodes / 8).max(LIMITS.least_nodes) };
                    match self.attempt(capacity, &widths, &mut open) {
                        Ok(()) | Err(Halt::Cancelled) => return,
                        Err(Halt::Widen(v)) if widths[v] < LIMITS.int_bits => {
                            widths[v] = (widths[v] + 2).max(widths[v] * 3 / 2).min(LIMITS.int_bits);
                        }
                        Err(Halt::Widen(v)) => {
                            break format!(
                                "`{}` needs more than {} bits",
                                system.vars()[v].name,
                                LIMITS.int_bits
                            );
                        }
                        Err(Halt::Memory) if nodes < most => {
                            nodes = nodes.saturating_mul(8).min(most)
                        }
                        Err(Halt::Memory) => {
                            break format!(
                                "memory: the limit is reached with {nodes} nodes; a larger one may help"
                            );
                        }
                        Err(Halt::Obstacle(why)) => break why,
                    }
                }
            }
        };
        for (i, (claim, _)) in self.asked.iter().enumerate() {
            if open[i] {
                self.send(WorkerMessage::Obstacle(*claim, why.clone()));
            }
        }
    }

    /// Closes claims that are settled.
    fn refresh(&self, open: &mut [bool]) {
        for (o, (claim, _)) in open.iter_mut().zip(&self.asked) {
            *o &= !self.settled[claim.index()].load(Ordering::Relaxed);
        }
    }

    fn attempt(
        &mut self,
        capacity: Capacity,
        widths: &[usize],
        open: &mut [bool],
    ) -> Result<(), Halt> {
        let system = Arc::clone(&self.view.encoding.system);
        let manager = BddManager::new(capacity, &self.pause);
        let (mut reach, blind) =
            Reach::new(manager, &system, &mut self.view.encoding.pool, &self.targets, widths)?;
        for (goal, why) in blind {
            if std::mem::replace(&mut open[goal], false) {
                self.send(WorkerMessage::Obstacle(self.asked[goal].0, why));
            }
        }
        self.starts(&reach, open);
        loop {
            self.refresh(open);
            if open.iter().all(|o| !o) {
                return Ok(());
            }
            let ask: Vec<bool> = open
                .iter()
                .zip(&self.asked)
                .map(|(o, a)| *o && matches!(a.1, ClaimQuery::Question(_)))
                .collect();
            reach.check_room()?;
            for met in reach.met_goals(&ask)? {
                open[met.goal] = false;
                let (claim, query) = &self.asked[met.goal];
                let ClaimQuery::Question(q) = query else { continue };
                let run = reach.run(&met, &self.view.encoding.pool)?;
                if let Some(verdict) = run.and_then(|run| self.view.met(q, run)) {
                    self.send(WorkerMessage::Verdict(*claim, verdict));
                }
            }
            let depth = reach.depth();
            for (((claim, _), open), _) in
                self.asked.iter().zip(open.iter()).zip(&ask).filter(|(_, ask)| **ask)
            {
                if *open {
                    self.view.raise_bound(&self.blackboard, *claim, depth as u32);
                }
            }
            self.send(WorkerMessage::Progress(
                depth + 1,
                format!("depth {}, {} nodes", depth + 1, reach.manager.nodes()),
            ));
            if !reach.step()? {
                break;
            }
        }
        self.complete(&reach, open)
    }

    fn starts(&self, reach: &Reach, open: &mut [bool]) {
        for (goal, (claim, query)) in self.asked.iter().enumerate() {
            let ClaimQuery::Question(q) = query else { continue };
            let start = q.targets.iter().find_map(|t| match t.place {
                Place::Beginning(s) => Some(s),
                _ => None,
            });
            let Some(s) = start else { continue };
            if !std::mem::replace(&mut open[goal], false) {
                continue;
            }
            let verdict = match reach.start_run(s) {
                Some(run) => self.view.met(q, run),
                None => Some(q.never_met(Evidence::Refutation)),
            };
            if let Some(verdict) = verdict {
                self.send(WorkerMessage::Verdict(*claim, verdict));
            }
        }
    }

    /// Decides the open claims once all reachable states are known.
    fn complete(&mut self, reach: &Reach, open: &mut [bool]) -> Result<(), Halt> {
        let few = reach.states().filter(|&n| n <= self.few_states);
        let system = Arc::clone(&self.view.encoding.system);
        let invariant = || -> Option<NodeFormulas> {
            let mut pool = gander_term::Pool::fork(system.pool());
            let formulas = reach.formulas(&mut pool)?;
            portable(&system, &pool, &formulas).ok()
        };
        let evidence = match few {
            Some(states) => Some(Evidence::ClosedSet { states }),
            None => invariant().map(Evidence::Invariant),
        };
        for (goal, (claim, query)) in self.asked.iter().enumerate() {
            if !std::mem::replace(&mut open[goal], false) {
                continue;
            }
            match (query, &evidence, few) {
                (ClaimQuery::Question(q), Some(evidence), _) => {
                    self.send(WorkerMessage::Verdict(
                        *claim,
                        q.never_met(self.view.proof(evidence.clone())),
                    ));
                }
                (ClaimQuery::Possible, _, Some(states)) => {
                    let evidence = Evidence::ClosedSet { states };
                    let all = reach.always_possible(goal)?;
                    self.send(WorkerMessage::Verdict(
                        *claim,
                        if all { Verdict::Holds(evidence) } else { Verdict::Fails(evidence) },
                    ));
                }
                _ => {
                    let why = "the reachable states are known, but are too many for evidence that can be checked";
                    self.send(WorkerMessage::Obstacle(*claim, why.into()));
                }
            }
        }
        Ok(())
    }
}

//! A group of claims that share a search, and the loops learned in it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_smt::{Answer, Limits, Reason, Session};
use gander_system::{ClaimId, Evidence, Leg, Run};

use crate::core::{EngineContext, Purpose};
use crate::encode::batch::Batch;
use crate::encode::question::Place;
use crate::encode::unrolling::Path;
use crate::encode::view::View;

use super::front::{Front, Seen, Setting, Wanted};
use super::limits::LIMITS;
use super::loops::{Loop, LoopLibrary, Taken};
use super::proof::{Proof, ProofProgress};

/// What to do next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Search for targets at this depth.
    Ask(u32),
    /// Search for loops; the number of attempts so far.
    Explore(u32),
    /// Try to prove the open claims.
    Prove,
}

/// See the module's documentation.
pub(super) struct Group {
    pub(super) view: View,
    library: LoopLibrary,
    claims: Vec<ClaimId>,
    /// The claims' ids in the view's system.
    here: Vec<ClaimId>,
    open: Vec<bool>,
    front: Option<Front>,
    /// For queries about single loops.
    session: Option<Session>,
    seen: Vec<Seen>,
    depth: u32,
    phase: Phase,
    failed: usize,
    used: Duration,
    /// The current attempt to prove claims, and the number of candidates when the last one began.
    proof: Option<Proof>,
    tried_with: Option<usize>,
    /// No tidy path has as many steps as the depth, so the search is complete.
    exhausted: bool,
    /// Claims with a run that could not be converted; this indicates an internal error.
    pub(super) lost: Vec<ClaimId>,
}

impl Group {
    pub(super) fn new(batch: Batch) -> Group {
        let Batch { view, questions, .. } = batch;
        let claims: Vec<ClaimId> = questions.iter().map(|q| q.claim).collect();
        let here = if view.is_plain() { claims.clone() } else { vec![ClaimId(0); claims.len()] };
        let library = LoopLibrary::new(&view.encoding.system);
        Group {
            open: vec![true; claims.len()],
            view,
            library,
            claims,
            here,
            front: None,
            session: None,
            seen: Vec::new(),
            depth: 0,
            phase: Phase::Ask(0),
            failed: 0,
            used: Duration::ZERO,
            proof: None,
            tried_with: None,
            exhausted: false,
            lost: Vec::new(),
        }
    }

    pub(super) fn depth(&self) -> u32 {
        self.depth
    }

    pub(super) fn loops(&self) -> usize {
        self.library.learned.len()
    }

    pub(super) fn used(&self) -> Duration {
        self.used
    }

    /// The claims that are not decided yet.
    pub(super) fn claims(&self) -> impl Iterator<Item = ClaimId> + '_ {
        self.claims.iter().zip(&self.open).filter(|(_, open)| **open).map(|(c, _)| *c)
    }

    pub(super) fn forget_settled(&mut self, context: &EngineContext) {
        for (&c, open) in self.claims.iter().zip(&mut self.open) {
            *open &= context.is_open(c);
        }
    }

    pub(super) fn stop(&mut self) {
        self.open.fill(false);
        self.front = None;
        self.session = None;
    }

    pub(super) fn is_over(&self) -> bool {
        !self.open.contains(&true)
    }

    /// Does a unit of work. Returns why the group cannot continue, if so.
    pub(super) fn advance(&mut self, context: &EngineContext) -> Option<String> {
        let begun = Instant::now();
        let result = self.work(context);
        self.used += begun.elapsed();
        match result {
            Ok(()) if self.exhausted && self.phase != Phase::Prove => {
                Some("every loop it can do at once leads to nothing new".into())
            }
            Ok(()) => None,
            Err(Reason::Interrupted) => None,
            Err(reason) => {
                // Continue with a new session of the next solver, if there is one.
                self.front = None;
                self.failed += 1;
                let solvers = context.config().solvers.all().len();
                (self.failed >= solvers || context.is_cancelled())
                    .then(|| format!("at depth {}: {reason}", self.depth))
            }
        }
    }

    fn work(&mut self, context: &EngineContext) -> Result<(), Reason> {
        if self.front.is_none() {
            let setting = Setting { context, claims: &self.here, failed: self.failed };
            self.front = Some(Front::new(&mut self.library, &setting)?);
        }
        match self.phase {
            Phase::Ask(depth) => self.ask(context, depth),
            Phase::Explore(attempt) => self.explore(context, attempt),
            Phase::Prove => {
                self.prove(context);
                Ok(())
            }
        }
    }

    fn ask(&mut self, context: &EngineContext, depth: u32) -> Result<(), Reason> {
        let Some(front) = &mut self.front else { return Ok(()) };
        while self.open.contains(&true) && !context.is_cancelled() {
            let Some((at, path)) =
                front.ask(context, &self.open, depth, Limits::time(LIMITS.query))?
            else {
                break;
            };
            self.open[at] = false;
            let question = front.question(at).clone();
            let question = crate::encode::question::Question { claim: self.claims[at], ..question };
            let run = run_of(&mut self.library, path);
            match run.and_then(|run| self.view.met(&question, run)) {
                Some(verdict) => context.propose(question.claim, verdict),
                None => self.lost.push(question.claim),
            }
        }
        // If cancelled, some targets were not queried.
        if context.is_cancelled() {
            return Err(Reason::Interrupted);
        }
        // A target at a start can only be met at depth 0.
        if depth == 0 {
            for at in 0..self.claims.len() {
                let question = front.question(at);
                let begins =
                    |t: &crate::encode::question::Target| matches!(t.place, Place::Beginning(_));
                if self.open[at]
                    && !question.targets.is_empty()
                    && question.targets.iter().all(begins)
                {
                    self.open[at] = false;
                    context.propose(self.claims[at], question.never_met(Evidence::Refutation));
                }
            }
        }
        self.phase = if depth < self.depth { Phase::Ask(depth + 1) } else { Phase::Explore(0) };
        Ok(())
    }

    fn explore(&mut self, context: &EngineContext, attempt: u32) -> Result<(), Reason> {
        let Some(front) = &mut self.front else { return Ok(()) };
        let steps = self.depth + 1;
        if front.is_beyond(steps) {
            self.exhausted = true;
            self.phase = Phase::Prove;
            return Ok(());
        }
        let wanted = if attempt < LIMITS.fresh_paths { Wanted::Fresh } else { Wanted::Any };
        let limits = Limits::time(LIMITS.query);
        let path = match front.explore(&mut self.library, &self.seen, steps, wanted, limits) {
            Ok(path) => path,
            Err(Reason::Timeout) if wanted == Wanted::Fresh => None,
            Err(reason) => return Err(reason),
        };
        let Some(path) = path else {
            match wanted {
                Wanted::Fresh => self.phase = Phase::Explore(LIMITS.fresh_paths),
                Wanted::Any => {
                    self.exhausted = true;
                    self.phase = Phase::Prove;
                }
            }
            return Ok(());
        };
        let learned = self.learn(context, &path);
        if learned > 0 {
            // Start again at depth 1 with the new loops.
            let loops = self.library.learned.len();
            context.progress(Some(self.depth), format!("{loops} loops, depth {}", self.depth));
            self.front = None;
            self.phase = Phase::Ask(1);
        } else if wanted == Wanted::Any {
            self.depth += 1;
            context.progress(
                Some(self.depth),
                format!("{} loops, depth {}", self.library.learned.len(), self.depth),
            );
            self.phase = Phase::Prove;
        } else {
            self.phase = Phase::Explore(attempt + 1);
        }
        Ok(())
    }

    /// Tries to prove the open claims, if loops suggested new candidates.
    fn prove(&mut self, context: &EngineContext) {
        // Bugs of closed forms show in runs, which a proof may make needless.
        if self.proof.is_none() && self.tried_with != Some(self.library.suggested.len()) {
            self.tried_with = Some(self.library.suggested.len());
            let open: Vec<ClaimId> =
                self.claims().filter(|c| !context.blackboard().has_run(*c)).collect();
            let questions = open.into_iter().filter_map(|c| self.view.question(c)).collect();
            self.proof = Proof::begin(
                &mut self.view,
                questions,
                &self.library.pool,
                &self.library.suggested,
            );
        }
        let over = match &mut self.proof {
            Some(proof) => {
                match proof.advance(&mut self.view, context, Instant::now() + LIMITS.proof_slice) {
                    ProofProgress::More => false,
                    ProofProgress::Over => true,
                }
            }
            None => true,
        };
        if over {
            self.proof = None;
            self.phase = if self.exhausted { Phase::Explore(0) } else { Phase::Ask(self.depth) };
        }
    }

    /// Records the steps of a path and learns the loops in it. Returns the number of new loops.
    fn learn(&mut self, context: &EngineContext, path: &Path) -> usize {
        let steps = taken_steps(&mut self.library, path);
        let cubes: Vec<_> = steps.iter().map(|s| self.library.cube(s)).collect();
        if let (Some(step), Some(Some(cube))) = (steps.last(), cubes.last())
            && step.functional_step < self.library.transition_count()
            && self.seen.len() < LIMITS.steps_seen
            && let Some(formula) = self.library.formula(cube)
        {
            self.seen.push(Seen { transition: step.functional_step, formula });
        }
        let mut learned = 0;
        for end in (1..=steps.len()).rev() {
            for length in 1..=LIMITS.body_steps.min(end) {
                if self.library.learned.len() >= LIMITS.loops || context.is_cancelled() {
                    return learned;
                }
                let begin = end - length;
                let body = &steps[begin..end];
                let only_loop =
                    length == 1 && body[0].functional_step >= self.library.transition_count();
                if only_loop || body[0].from.node != body[length - 1].to.node {
                    continue;
                }
                let Some(cubes) = cubes[begin..end].iter().cloned().collect::<Option<Vec<_>>>()
                else {
                    continue;
                };
                let before = learned;
                for found in self.library.accelerate(body, &cubes) {
                    if self.can_repeat(context, &found) {
                        self.library.learn(found);
                        learned += 1;
                    }
                }
                if learned > before {
                    break;
                }
            }
        }
        learned
    }

    /// True unless the solver shows that the loop cannot be taken twice.
    fn can_repeat(&mut self, context: &EngineContext, found: &Loop) -> bool {
        let formula = found.twice(&mut self.library.pool);
        let features = self.library.pool.features(&[formula]);
        let Some(solver) = context.config().solvers.choose(features).cloned() else { return true };
        if self.session.as_ref().is_none_or(|s| *s.solver() != solver || s.failure().is_some()) {
            let purpose = Purpose { part: "loops", claims: self.claims.clone() };
            self.session = Some(context.session(&solver, &purpose));
        }
        let Some(session) = &mut self.session else { return true };
        session.push();
        session.assert(&self.library.pool, formula);
        let answer = session.check(&[], Limits::time(LIMITS.twice_query));
        session.pop();
        answer != Answer::Unsat
    }
}

fn taken_steps(library: &mut LoopLibrary, path: &Path) -> Vec<Taken> {
    let pairs = path.states.iter().zip(path.states.iter().skip(1));
    path.steps
        .iter()
        .zip(pairs)
        .map(|((t, params), (from, to))| library.taken_step(*t, params, from, to))
        .collect()
}

/// The run of a path of the system with shortcuts.
fn run_of(library: &mut LoopLibrary, path: Path) -> Option<Run> {
    let start = path.start?;
    let first = path.states.first()?.clone();
    let mut legs: Vec<Leg> = Vec::new();
    for step in taken_steps(library, &path) {
        legs.extend(library.legs(&step)?);
    }
    Some(Run { start, first, legs: legs.into() })
}

impl std::fmt::Debug for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Group")
            .field("system", &Arc::as_ptr(&self.library.system))
            .finish_non_exhaustive()
    }
}

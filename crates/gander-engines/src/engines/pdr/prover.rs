//! Proves or refutes one claim: the main loop of PDR.
//!
//! `begin` checks the start states. After that, each call of `work` does one of three things:
//!
//! - it takes the obligation of the lowest level, and blocks it or adds an obligation for its
//!   predecessors (`block`);
//! - if there is no obligation, it looks for a target in the last frame and adds an obligation for
//!   it (`add_obligation`);
//! - if there is no such target, it adds a frame and propagates lemmas (`next_frame`).
//!
//! Invariant: while `frontier` is `k`, no run with fewer than `k` steps meets a target. A lemma
//! enters the frames only after the solver showed that it is inductive relative to the frame below
//! and holds in the start states; invariants from the blackboard are inductive already.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use gander_smt::{Limits, Reason, Solver};
use gander_system::{ClaimId, Evidence, NodeId, TransitionId};
use gander_term::{Features, Op, Pool, TermId};
use rustc_hash::FxHashMap;

use crate::core::{Cursor, EngineContext, Fact, Purpose};
use crate::encode::batch::Batch;
use crate::encode::question::{Place, Question, Target};
use crate::encode::view::View;

use super::frames::{Frames, Lemma};
use super::implicant::NotProjectable;
use super::limits::LIMITS;
use super::preimage::Preimages;
use super::project::Projected;
use super::queries::{FOREVER, Queries, Relative};
use crate::arith::linear::Constraint;

/// States that lead to a target: a cube at a node, and the transition of the step that leaves it.
#[derive(Clone, Debug)]
pub(super) struct Obligation {
    pub node: NodeId,
    pub cube: Vec<TermId>,
    /// The obligation that the step enters; `None` if the step meets the target.
    pub parent: Option<usize>,
    pub transition: TransitionId,
    pub target: usize,
}

/// Why a query or a projection failed.
#[derive(Debug)]
pub(super) enum QueryFailure {
    Solver(Reason),
    Projection(NotProjectable),
}

impl From<Reason> for QueryFailure {
    fn from(reason: Reason) -> QueryFailure {
        QueryFailure::Solver(reason)
    }
}

impl From<NotProjectable> for QueryFailure {
    fn from(why: NotProjectable) -> QueryFailure {
        QueryFailure::Projection(why)
    }
}

/// Whether there is more work on the claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    More,
    Over,
}

/// See the module's documentation.
pub(super) struct Prover {
    pub view: View,
    pub question: Question,
    pub targets: Vec<Target>,
    /// By node: a formula whose states meet no target.
    pub exclusion: Option<Vec<(NodeId, TermId)>>,
    pub nodes: Vec<NodeId>,
    features: Features,
    solvers: Vec<Solver>,
    solver: usize,
    pub queries: Option<Queries>,
    pub preimages: Preimages,
    /// Linear literals, as constraints.
    pub constraints: FxHashMap<TermId, Constraint>,
    pub frames: Frames,
    /// No run with fewer steps meets a target.
    pub frontier: usize,
    pub obligations: Vec<Obligation>,
    /// Level and index of obligations; the lowest level comes first.
    queue: BinaryHeap<(Reverse<usize>, usize)>,
    cursor: Cursor,
    pub used: Duration,
    over: bool,
    why: Option<String>,
}

impl Prover {
    pub(super) fn new(context: &EngineContext, batch: Batch) -> Option<Prover> {
        let Batch { mut view, mut questions, features } = batch;
        let question = questions.pop()?;
        let exclusion = view.question_builder.exclusion(&mut view.encoding, &question);
        let solvers = context.config().solvers.candidates(features).into_iter().cloned().collect();
        Some(Prover {
            nodes: view.encoding.reachable_nodes(),
            preimages: Preimages::new(&view.encoding),
            targets: question.targets.clone(),
            view,
            question,
            exclusion,
            features,
            solvers,
            solver: 0,
            queries: None,
            constraints: FxHashMap::default(),
            frames: Frames::default(),
            frontier: 0,
            obligations: Vec::new(),
            queue: BinaryHeap::new(),
            cursor: Cursor::default(),
            used: Duration::ZERO,
            over: false,
            why: None,
        })
    }

    pub(super) fn claim(&self) -> ClaimId {
        self.question.claim
    }

    /// The approximate size of its terms in bytes.
    pub(super) fn weight(&self) -> u64 {
        self.view.encoding.weight()
    }

    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    pub(super) fn stop(&mut self) {
        self.over = true;
        self.release_solver();
    }

    /// Releases the solver until the next call of `advance`.
    pub(super) fn release_solver(&mut self) {
        self.queries = None;
    }

    /// True if it keeps a solver session.
    pub(super) fn has_session(&self) -> bool {
        self.queries.is_some()
    }

    /// Why the claim is not decided yet.
    pub(super) fn obstacle(&self) -> String {
        match &self.why {
            Some(why) => why.clone(),
            None => {
                let plural = |n: usize| if n == 1 { "" } else { "s" };
                let (lemmas, frames) = (self.frames.lemmas.len(), self.frontier);
                format!(
                    "no invariant among {lemmas} lemma{} in {frames} frame{}; an invariant as a \
                     hint in a node would help",
                    plural(lemmas),
                    plural(frames)
                )
            }
        }
    }

    /// Works for about the given time.
    pub(super) fn advance(&mut self, context: &EngineContext, slice: Duration) {
        let begun = Instant::now();
        self.read_facts(context);
        while begun.elapsed() < slice
            && !self.over
            && !context.is_cancelled()
            && context.is_open(self.claim())
        {
            match self.work(context) {
                Ok(Outcome::More) => {}
                Ok(Outcome::Over) => self.stop(),
                Err(QueryFailure::Solver(Reason::Interrupted)) => break,
                Err(QueryFailure::Solver(reason)) => {
                    // Continue with another solver and the same frames.
                    self.queries = None;
                    self.solver += 1;
                    self.why = Some(format!("stopped in frame {}: {reason}", self.frontier));
                }
                Err(QueryFailure::Projection(NotProjectable(what))) => {
                    self.why = Some(format!("{what} in a step or a claim is beyond projection"));
                    self.stop();
                }
            }
        }
        self.used += begun.elapsed();
        context.progress(
            Some(self.frontier as u32),
            format!("frame {}, {} lemmas", self.frontier, self.frames.lemmas.len()),
        );
    }

    /// Adds inductive invariants from the blackboard as lemmas of level [`FOREVER`].
    fn read_facts(&mut self, context: &EngineContext) {
        for fact in context.blackboard().facts_since(&mut self.cursor) {
            let Fact::Invariant(found) = &*fact else { continue };
            let inductive = found.k == 1 && !found.loop_free && !found.no_restart;
            if !inductive {
                continue;
            }
            let Some(by_node) = self.view.lemma(found) else { continue };
            let formulas: Vec<TermId> = by_node.iter().map(|l| l.1).collect();
            let features = self.view.encoding.pool.features(&formulas).join(self.features);
            let solvers = &context.config().solvers;
            if solvers.choose(features) != solvers.choose(self.features) {
                continue;
            }
            for (node, formula) in by_node {
                if self.view.encoding.pool.as_bool(formula) != Some(true)
                    && self.nodes.contains(&node)
                {
                    let not = self.view.encoding.pool.not(formula);
                    self.add_lemma(node, vec![not], FOREVER);
                }
            }
        }
    }

    /// Opens a session if there is none, or if the current one has too many obsolete clauses.
    fn ensure_session(&mut self, context: &EngineContext) -> Result<(), Reason> {
        if self
            .queries
            .as_ref()
            .is_some_and(|q| q.asserted < LIMITS.session_formulas + 20 * self.frames.lemmas.len())
        {
            return Ok(());
        }
        let Some(solver) = self.solvers.get(self.solver) else {
            self.over = true;
            self.why.get_or_insert_with(|| "no solver for this was found".into());
            return Err(Reason::Interrupted);
        };
        let purpose = Purpose { part: "frames", claims: vec![self.question.claim] };
        let session = context.session_with_cores(solver, &purpose);
        let e = &mut self.view.encoding;
        let mut queries = Queries::new(e, session, &self.nodes, Limits::time(LIMITS.query));
        for l in &self.frames.lemmas {
            queries.add(e, l.node, &l.cube, l.level);
        }
        queries.asserted = 0;
        self.queries = Some(queries);
        Ok(())
    }

    /// Handles one obligation, or searches the last frame for a target, or adds a frame.
    fn work(&mut self, context: &EngineContext) -> Result<Outcome, QueryFailure> {
        self.ensure_session(context)?;
        if let Some((Reverse(level), at)) = self.queue.pop() {
            return self.block(context, at, level);
        }
        if self.frontier == 0 {
            return self.begin(context);
        }
        for i in 0..self.targets.len() {
            let by_step = matches!(self.targets[i].place, Place::Taking(_));
            let level = if by_step { self.frontier } else { self.frontier - 1 };
            let target = self.targets[i];
            let Some(queries) = &mut self.queries else { return Ok(Outcome::More) };
            let e = &mut self.view.encoding;
            let met = if by_step {
                queries.meets(e, level, &target, &self.nodes)?
            } else {
                queries.steps_to(e, level, &target, &self.nodes)?
            };
            if met {
                let (transition, cube) = self.before_target(i)?;
                return self.add_obligation(context, transition, cube, None, i, level);
            }
        }
        self.next_frame(context)
    }

    /// Checks whether a target is met in a start state.
    fn begin(&mut self, context: &EngineContext) -> Result<Outcome, QueryFailure> {
        for i in 0..self.targets.len() {
            let target = self.targets[i];
            let Some(queries) = &mut self.queries else { return Ok(Outcome::More) };
            if queries.meets(&mut self.view.encoding, 0, &target, &self.nodes)? {
                let path = self.run_of_start(i)?;
                return Ok(self.propose_run(context, path));
            }
        }
        self.frontier = 1;
        if !self.targets.is_empty()
            && self.targets.iter().all(|t| matches!(t.place, Place::Beginning(_)))
        {
            context.propose(self.question.claim, self.question.never_met(Evidence::Refutation));
            return Ok(Outcome::Over);
        }
        self.view.raise_bound(context.blackboard(), self.question.claim, 0);
        Ok(Outcome::More)
    }

    /// Generalises the last model to a cube: states from which one step meets target `i`, or in
    /// which the target transition can be taken.
    fn before_target(&mut self, i: usize) -> Result<(TransitionId, Projected), QueryFailure> {
        let target = self.targets[i];
        let Some(queries) = &mut self.queries else {
            return Err(Reason::NotAvailable("model").into());
        };
        let e = &mut self.view.encoding;
        let (transition, also) = match target.place {
            Place::Taking(t) => (t, target.formula),
            place => {
                let node = match place {
                    Place::At(n) => n,
                    _ => queries.node(e, &self.nodes, 1)?,
                };
                let entering = e.entering(node, &self.nodes);
                (queries.taken_transition(e, &entering)?, self.preimages.next(e, target.formula))
            }
        };
        let params = e.params(transition);
        let model = queries.model(e, &params, self.preimages.later())?;
        let cube = self.preimages.cube(e, transition, &[also], &model)?;
        Ok((transition, cube))
    }

    /// Adds an obligation: the states of the cube must not be reachable in at most `level` steps.
    /// If a start state is among them, proposes the run instead.
    fn add_obligation(
        &mut self,
        context: &EngineContext,
        transition: TransitionId,
        projected: Projected,
        parent: Option<usize>,
        target: usize,
        level: usize,
    ) -> Result<Outcome, QueryFailure> {
        let node = self.view.encoding.system.transition(transition).source;
        self.constraints.extend(projected.constraints);
        let cube = projected.literals;
        let at = self.obligations.len();
        self.obligations.push(Obligation { node, cube: cube.clone(), parent, transition, target });
        let Some(queries) = &mut self.queries else { return Ok(Outcome::More) };
        if queries.starts_in(&mut self.view.encoding, node, &cube)?.is_none() {
            let path = self.run_from(at)?;
            return Ok(self.propose_run(context, path));
        }
        self.queue.push((Reverse(level), at));
        Ok(Outcome::More)
    }

    /// Blocks an obligation at `level`: learns a lemma if no step from the frame below enters the
    /// cube; otherwise adds an obligation for a cube of predecessors.
    fn block(
        &mut self,
        context: &EngineContext,
        at: usize,
        level: usize,
    ) -> Result<Outcome, QueryFailure> {
        let Obligation { node, cube, target, .. } = self.obligations[at].clone();
        if level == 0 {
            // `add_obligation` checked that no start state is in the cube.
            return Ok(Outcome::More);
        }
        if self.frames.excludes(node, &cube, level) {
            self.requeue_at(at, level + 1);
            return Ok(Outcome::More);
        }
        let Some(queries) = &mut self.queries else { return Ok(Outcome::More) };
        let e = &mut self.view.encoding;
        let from = Relative { level: level - 1, outside: Some((node, &cube)) };
        if let Some(core) = queries.step_into(e, from, node, &cube)? {
            let reached = self.learn(node, &cube, core, level)?;
            self.requeue_at(at, reached.saturating_add(1));
            return Ok(Outcome::More);
        }
        let (transition, before) = self.before_cube(node, &cube)?;
        self.queue.push((Reverse(level), at));
        self.add_obligation(context, transition, before, Some(at), target, level - 1)
    }

    /// Generalises the last model to a cube of predecessors of a cube.
    pub(super) fn before_cube(
        &mut self,
        node: NodeId,
        cube: &[TermId],
    ) -> Result<(TransitionId, Projected), QueryFailure> {
        let Some(queries) = &mut self.queries else {
            return Err(Reason::NotAvailable("model").into());
        };
        let e = &mut self.view.encoding;
        let entering = e.entering(node, &self.nodes);
        let transition = queries.taken_transition(e, &entering)?;
        let params = e.params(transition);
        let model = queries.model(e, &params, std::iter::empty())?;
        let also: Vec<TermId> = cube.iter().map(|&l| self.preimages.next(e, l)).collect();
        Ok((transition, self.preimages.cube(e, transition, &also, &model)?))
    }

    /// Enqueues an obligation again at a higher level, if there is such a frame.
    fn requeue_at(&mut self, at: usize, level: usize) {
        if level < self.frontier {
            self.queue.push((Reverse(level), at));
        }
    }

    pub(super) fn add_lemma(&mut self, node: NodeId, mut cube: Vec<TermId>, level: usize) {
        cube.sort_unstable();
        cube.dedup();
        let is_new = self.frames.add(Lemma { node, cube: cube.clone(), level });
        if let Some(queries) = self.queries.as_mut().filter(|_| is_new) {
            queries.add(&mut self.view.encoding, node, &cube, level);
        }
    }

    /// Adds a frame once no run of up to `frontier` steps meets a target. The negated targets are
    /// lemmas of the old last frame. Then lemmas are propagated: a lemma moves up one level if no
    /// step from its frame violates it.
    fn next_frame(&mut self, context: &EngineContext) -> Result<Outcome, QueryFailure> {
        let k = self.frontier;
        self.view.raise_bound(context.blackboard(), self.question.claim, k as u32);
        for (node, formula) in self.exclusion.clone().unwrap_or_default() {
            if self.nodes.contains(&node) {
                for cube in cubes_of(&mut self.view.encoding.pool, formula) {
                    self.add_lemma(node, cube, k);
                }
            }
        }
        self.frontier = k + 1;
        // The queue is empty, so no obligation is needed any more.
        self.obligations.clear();
        for level in 1..=k {
            let now: Vec<usize> = (0..self.frames.lemmas.len())
                .filter(|&l| self.frames.lemmas[l].level == level)
                .collect();
            for l in now {
                if context.is_cancelled() {
                    return Ok(Outcome::More);
                }
                let Some(queries) = &mut self.queries else { return Ok(Outcome::More) };
                let e = &mut self.view.encoding;
                let Lemma { node, cube, .. } = self.frames.lemmas[l].clone();
                let from = Relative { level, outside: None };
                if queries.step_into(e, from, node, &cube)?.is_some() {
                    self.frames.lemmas[l].level = level + 1;
                    queries.add(e, node, &cube, level + 1);
                }
            }
        }
        let Some(level) = self.frames.fixpoint(k) else { return Ok(Outcome::More) };
        self.frames.close(level);
        self.conclude(context)
    }

    /// Proposes the lemmas of level [`FOREVER`] as an invariant if they exclude all targets.
    fn conclude(&mut self, context: &EngineContext) -> Result<Outcome, QueryFailure> {
        // Open a new session, in which these lemmas are asserted under the literal of `FOREVER`.
        self.queries = None;
        self.ensure_session(context)?;
        for i in 0..self.targets.len() {
            let target = self.targets[i];
            let Some(queries) = &mut self.queries else { return Ok(Outcome::More) };
            if queries.meets(&mut self.view.encoding, FOREVER, &target, &self.nodes)? {
                return Ok(Outcome::More);
            }
        }
        let proof = self.invariant(context)?;
        if let Some(proof) = proof {
            let verdict = self.question.never_met(self.view.proof(Evidence::Invariant(proof)));
            context.propose(self.question.claim, verdict);
        }
        Ok(Outcome::Over)
    }
}

/// The negations of the conjuncts of a formula, as cubes.
fn cubes_of(pool: &mut Pool, formula: TermId) -> Vec<Vec<TermId>> {
    let conjuncts =
        if pool.op(formula) == Op::And { pool.args(formula).to_vec() } else { vec![formula] };
    let mut cubes = Vec::new();
    for c in conjuncts {
        let args = pool.args(c).to_vec();
        cubes.push(match pool.op(c) {
            Op::Or => args.into_iter().map(|a| pool.not(a)).collect(),
            Op::Implies => vec![args[0], pool.not(args[1])],
            _ => vec![pool.not(c)],
        });
    }
    cubes
}

//! The analysis: pieces for every node, component by component in topological order.
//!
//! Outside cycles, a node gets the images of all pieces of its predecessors. In a cyclic component,
//! images are computed breadth first until they add nothing; then the invariants are exact. A
//! component where this exceeds the budget stays open: its pieces are still reachable, but its
//! invariants are conjunctions that the triple rule verifies ([`super::strengthen`]).

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_system::{NodeFormulas, NodeId, StartId, TransitionId};
use gander_term::{SymbolId, TermId};
use rustc_hash::FxHashMap;

use super::components::{Component, Order, components};
use super::image::{Images, Projected};
use super::limits::LIMITS;
use super::literals::{Facts, join, tidy};
use super::pieces::{Derivation, Piece, Pieces};
use super::relevance::Relevance;
use super::visits::{Guide, Values, Visits};
use crate::core::{EngineContext, Purpose};
use crate::encode::query::{Query, Solved};
use crate::encode::question::Question;
use crate::encode::view::View;

/// The budget for closing a component.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Images per transition of the component.
    images: usize,
    /// Pieces at one node.
    pieces: usize,
    time: Duration,
    /// Time for octagons if the component stays open.
    pub octagons: Option<Duration>,
}

impl Budget {
    pub(super) fn of_round(round: u32) -> Budget {
        let factor = 4usize.saturating_pow(round);
        let time = LIMITS.first_round * factor as u32;
        // Easy systems are finished in round 0.
        let octagons = (round > 0).then_some(time / 2);
        Budget {
            images: LIMITS.first_images * factor,
            pieces: LIMITS.pieces * factor,
            time,
            octagons,
        }
    }
}

/// See the module's documentation.
pub(super) struct Analysis {
    pub view: View,
    pub questions: Vec<Question>,
    pub relevance: Relevance,
    pub images: Images,
    pub query: Query,
    pub pieces: Pieces,
    pub visits: Visits,
    components: Vec<Component>,
    order: Order,
    closing: Option<Closing>,
    /// Components whose branch could not be copied back.
    not_copied: Vec<usize>,
    /// By node: whether it is in the component that is being closed.
    inside: Vec<bool>,
    /// By node: whether it is in a component that stays open.
    pub open: Vec<bool>,
    starts: Vec<Vec<StartId>>,
    /// Why a solver could not answer, as text for the report.
    pub undecided: Option<String>,
    pub budget: Budget,
    /// By node: invariants of other engines.
    pub lemmas: Vec<Vec<TermId>>,
    /// The invariants of all nodes, once computed.
    pub written: Option<NodeFormulas>,
}

/// The state of closing a cyclic component.
struct Closing {
    component: usize,
    /// Images to compute at the current depth, as a piece and a transition: linear steps, which
    /// come first, and others.
    linear: VecDeque<(usize, TransitionId)>,
    nonlinear: VecDeque<(usize, TransitionId)>,
    /// Pieces whose images are not queued yet.
    pending: Vec<usize>,
    images: usize,
    most_images: usize,
    begun: Instant,
}

impl Analysis {
    pub(super) fn new(
        mut view: View,
        questions: Vec<Question>,
        budget: Budget,
        lemmas: Vec<Vec<TermId>>,
    ) -> Analysis {
        let purpose =
            Purpose { part: "nodes", claims: questions.iter().take(8).map(|q| q.claim).collect() };
        let relevance = Relevance::of(&mut view.encoding, &questions);
        let system = Arc::clone(&view.encoding.system);
        let common: Vec<SymbolId> = system.vars().iter().map(|v| v.current).collect();
        let mut starts = vec![Vec::new(); system.nodes().len()];
        for (i, s) in system.starts().iter().enumerate() {
            starts[s.target.index()].push(StartId::from(i));
        }
        let components = components(&system);
        Analysis {
            order: Order::new(&system, &components),
            components,
            pieces: Pieces::new(system.nodes().len()),
            open: vec![false; system.nodes().len()],
            images: Images::default(),
            query: Query::new(purpose, common),
            visits: Visits::default(),
            closing: None,
            not_copied: Vec::new(),
            inside: vec![false; system.nodes().len()],
            starts,
            undecided: None,
            budget,
            lemmas,
            written: None,
            relevance,
            view,
            questions,
        }
    }

    /// Discards the results; keeps terms, steps and solvers.
    pub(super) fn clear(&mut self) {
        self.pieces = Pieces::new(self.open.len());
        self.visits = Visits::default();
        self.open.fill(false);
        self.undecided = None;
    }

    /// True if all components are done.
    pub(super) fn is_complete(&self) -> bool {
        self.order.done() == self.components.len()
    }

    /// True if every component was closed.
    pub(super) fn is_closed(&self) -> bool {
        self.open.iter().all(|open| !open)
    }

    /// The number of finished components and of all.
    pub(super) fn progress(&self) -> (usize, usize) {
        (self.order.done(), self.components.len())
    }

    /// Does a small unit of work.
    pub(super) fn work(&mut self, context: &EngineContext) {
        if self.closing.is_some() {
            return self.close(context);
        }
        if let Some(c) = self.not_copied.pop() {
            return self.begin_closing(c);
        }
        let Some(c) = self.order.ready(|_| true) else { return };
        self.begin(context, c);
        if self.components[c].cyclic {
            self.begin_closing(c);
        } else {
            self.limit_pieces(self.components[c].nodes[0]);
            self.finish(c);
        }
    }

    /// Begins a component: computes the pieces that enter it.
    fn begin(&mut self, context: &EngineContext, c: usize) {
        self.order.begin(c);
        let nodes = self.components[c].nodes.clone();
        for &n in &nodes {
            self.add_entering_pieces(context, n, &nodes);
        }
    }

    fn finish(&mut self, c: usize) {
        let system = Arc::clone(&self.view.encoding.system);
        self.order.finish(&system, &self.components, c);
    }

    /// A cyclic component that a branch can close now, if the current component has taken longer
    /// than `longer_than`.
    pub(super) fn next_parallel_component(&mut self, longer_than: Duration) -> Option<usize> {
        let long = self.closing.as_ref().is_some_and(|c| c.begun.elapsed() >= longer_than);
        let (components, order) = (&self.components, &mut self.order);
        if long { order.ready(|c| components[c].cyclic) } else { None }
    }

    /// Begins a component that a branch will close: computes the pieces that enter it. Returns its
    /// nodes.
    pub(super) fn begin_in_branch(&mut self, context: &EngineContext, c: usize) -> &[NodeId] {
        self.begin(context, c);
        &self.components[c].nodes
    }

    /// Ends the branch of a component. If it is not done, this analysis closes the component.
    pub(super) fn end_branch(&mut self, c: usize, done: bool) {
        if done {
            self.finish(c);
        } else {
            self.not_copied.push(c);
        }
    }

    /// Makes this component the current one. Its entering pieces are known.
    pub(super) fn begin_closing(&mut self, c: usize) {
        self.closing = Some(self.new_closing(c));
    }

    /// True if there is work that does not depend on branches.
    pub(super) fn has_work(&mut self) -> bool {
        !self.is_idle() || !self.not_copied.is_empty() || self.order.ready(|_| true).is_some()
    }

    /// True if no component is being closed.
    pub(super) fn is_idle(&self) -> bool {
        self.closing.is_none()
    }

    /// Adds the pieces that starts and transitions from other components lead to.
    fn add_entering_pieces(&mut self, context: &EngineContext, n: NodeId, component: &[NodeId]) {
        let system = Arc::clone(&self.view.encoding.system);
        for s in self.starts[n.index()].clone() {
            let constraint = system.start_term(&mut self.view.encoding.pool, s);
            let found = self.images.states(&mut self.view.encoding, &self.relevance, n, constraint);
            for projected in found {
                self.add_projected(context, n, projected, Derivation::Start(s), 0, true, true);
            }
        }
        for &t in system.entering(n) {
            let source = system.transition(t).source;
            if context.is_cancelled() {
                return;
            }
            if component.binary_search(&source).is_err() {
                for p in self.pieces.at[source.index()].clone() {
                    self.add_image(context, p, t);
                }
                if self.pieces.at[n.index()].len() > 2 * LIMITS.pieces {
                    self.limit_pieces(n);
                }
            }
        }
    }

    /// Adds the image of a piece under a transition. Returns the indices of new pieces.
    fn add_image(&mut self, context: &EngineContext, from: usize, t: TransitionId) -> Vec<usize> {
        let piece = &self.pieces.all[from];
        let (exact, covers, depth) = (piece.exact, piece.covers, piece.depth + 1);
        let conjuncts = piece.conjuncts.clone();
        let images = self.images.image(&mut self.view.encoding, &self.relevance, &conjuncts, t);
        let target = self.view.encoding.system.transition(t).target;
        let mut new = Vec::new();
        for projected in images {
            new.extend(self.add_projected(
                context,
                target,
                projected,
                Derivation::Step(from, t),
                depth,
                exact,
                covers,
            ));
        }
        new
    }

    /// Adds a projected set of states at a node. Returns the indices of new pieces.
    #[allow(clippy::too_many_arguments)]
    fn add_projected(
        &mut self,
        context: &EngineContext,
        n: NodeId,
        projected: Projected,
        derivation: Derivation,
        depth: u32,
        exact: bool,
        covers: bool,
    ) -> Vec<usize> {
        let Projected { conjuncts, leftover } = projected;
        if !leftover {
            return self
                .add_piece(context, n, conjuncts, derivation, depth, exact, covers)
                .into_iter()
                .collect();
        }
        // With the leftover symbols the set is exact; without them it can be part of an invariant.
        let weakened = self.images.weakened(&self.view.encoding.pool, &conjuncts);
        let mut new = Vec::new();
        if exact {
            new.extend(self.add_piece(context, n, conjuncts, derivation, depth, true, false));
        }
        if covers {
            new.extend(self.add_piece(context, n, weakened, derivation, depth, false, true));
        }
        new
    }

    #[allow(clippy::too_many_arguments)]
    fn add_piece(
        &mut self,
        context: &EngineContext,
        n: NodeId,
        conjuncts: Vec<TermId>,
        derivation: Derivation,
        depth: u32,
        exact: bool,
        covers: bool,
    ) -> Option<usize> {
        let pool = &mut self.view.encoding.pool;
        let facts = Facts::of(pool, &conjuncts);
        let mut piece = Piece {
            node: n,
            conjuncts,
            facts,
            exact,
            covers,
            derivations: vec![derivation],
            depth,
            contained: false,
            followed: false,
            visited: None,
        };
        if let Some(old) = self.pieces.containing(pool, &piece) {
            let old = &mut self.pieces.all[old];
            old.depth = old.depth.min(depth);
            return None;
        }
        if exact {
            piece.visited = self.concrete_state(context, &piece);
        }
        if piece.visited.is_none() {
            match self.query.solve(
                context,
                &self.view.encoding.pool,
                &piece.conjuncts,
                &[],
                LIMITS.query,
            ) {
                Solved::Nothing => return None,
                Solved::Model(_) => {}
                Solved::Unknown(reason) => self.undecided = Some(reason.to_string()),
            }
        }
        // Join adjacent pieces.
        loop {
            let here = self.pieces.at[n.index()].clone();
            // While there are few pieces, those of different depths are not joined.
            let crowded = here.len() >= LIMITS.depth_pieces && !self.inside[n.index()];
            let alike = |old: &Piece| {
                old.exact == piece.exact
                    && old.covers == piece.covers
                    && !old.contained
                    && (crowded || old.depth == piece.depth)
            };
            let joined = here.into_iter().find_map(|p| {
                let old = &self.pieces.all[p];
                if !alike(old) {
                    return None;
                }
                let parts = join(&mut self.view.encoding.pool, &old.conjuncts, &piece.conjuncts)?;
                Some((p, parts))
            });
            let Some((p, parts)) = joined else { break };
            let pool = &mut self.view.encoding.pool;
            let parts: Vec<TermId> =
                parts.into_iter().map(|t| self.images.simplify(pool, t)).collect();
            let Some(parts) = tidy(pool, &parts) else { break };
            let old = &self.pieces.all[p];
            piece.depth = piece.depth.min(old.depth);
            piece.visited = piece.visited.or(old.visited);
            for derivation in old.derivations.iter().take(LIMITS.derivations) {
                if !piece.derivations.contains(derivation) {
                    piece.derivations.push(*derivation);
                }
            }
            piece.facts = Facts::of(pool, &parts);
            piece.conjuncts = parts;
            self.pieces.at[n.index()].retain(|&q| q != p);
        }
        Some(self.pieces.add(piece))
    }

    /// Visits a state of a new piece by one step from a visited state. `None` if the state that was
    /// found is not in the piece.
    fn concrete_state(&mut self, context: &EngineContext, piece: &Piece) -> Option<usize> {
        let derivation = piece.derivations[0];
        let mut guide = Guide {
            context,
            e: &mut self.view.encoding,
            images: &mut self.images,
            query: &mut self.query,
            relevance: &self.relevance,
            pieces: &self.pieces,
        };
        let new = match derivation {
            Derivation::Start(s) => self.visits.begin(&mut guide, s, &Values::default())?,
            Derivation::Step(from, t) => {
                let from = self.pieces.all[from].visited?;
                self.visits.step(&mut guide, from, t, &Values::default(), None)?
            }
        };
        // An image can have several disjuncts, and the state may be in another one.
        let values = self.visits.values(&self.view.encoding, new);
        let pool = &self.view.encoding.pool;
        let holds = |&c: &TermId| {
            gander_term::evaluate(pool, c, &|s| values.get(&s).cloned()).ok()
                == Some(gander_term::Value::Bool(true))
        };
        piece.conjuncts.iter().all(holds).then_some(new)
    }

    /// Replaces the covering pieces at a node, if there are too many, by a single one that is not
    /// exact: the conjuncts that hold in all of them.
    fn limit_pieces(&mut self, n: NodeId) {
        let (all, mut others) = (&self.pieces.all, 0);
        // Of the pieces that only serve to find runs, keep a limited number.
        self.pieces.at[n.index()].retain(|&p| {
            others += usize::from(!all[p].covers);
            all[p].covers || others <= LIMITS.pieces
        });
        let covering: Vec<usize> = self.pieces.covering(n).collect();
        if covering.len() <= LIMITS.pieces {
            return;
        }
        // The conjuncts that hold in all pieces.
        let first = &self.pieces.all[covering[0]];
        let rest = &covering[1..];
        let pool = &self.view.encoding.pool;
        let hull: Vec<TermId> = first
            .conjuncts
            .iter()
            .copied()
            .filter(|c| {
                rest.iter().all(|&p| {
                    let p = &self.pieces.all[p];
                    super::literals::implies(pool, &p.facts, &p.conjuncts, &[*c])
                })
            })
            .collect();
        let depth = covering.iter().map(|&p| self.pieces.all[p].depth).min().unwrap_or(0);
        for &p in &covering {
            self.pieces.all[p].covers = false;
        }
        let all = &self.pieces.all;
        self.pieces.at[n.index()].retain(|&p| all[p].exact);
        self.pieces.at[n.index()].truncate(LIMITS.pieces);
        let facts = Facts::of(pool, &hull);
        self.pieces.add(Piece {
            node: n,
            conjuncts: hull,
            facts,
            exact: false,
            covers: true,
            derivations: Vec::new(),
            depth,
            contained: false,
            followed: false,
            visited: None,
        });
    }

    fn new_closing(&mut self, component: usize) -> Closing {
        let nodes = self.components[component].nodes.clone();
        let system = Arc::clone(&self.view.encoding.system);
        nodes.iter().for_each(|n| self.inside[n.index()] = true);
        let transitions: usize = nodes.iter().map(|&n| system.leaving(n).len()).sum();
        let entry: Vec<usize> =
            nodes.iter().flat_map(|n| self.pieces.at[n.index()].clone()).collect();
        let mut closing = Closing {
            component,
            linear: VecDeque::new(),
            nonlinear: VecDeque::new(),
            pending: entry,
            images: 0,
            most_images: self.budget.images * transitions.max(1),
            begun: Instant::now(),
        };
        self.next_depth(&mut closing);
        closing
    }

    /// Queues the steps from the pending pieces of the least depth; false if there are none.
    fn next_depth(&mut self, closing: &mut Closing) -> bool {
        let system = Arc::clone(&self.view.encoding.system);
        let Some(depth) = closing.pending.iter().map(|&p| self.pieces.all[p].depth).min() else {
            return false;
        };
        let (now, deeper): (Vec<usize>, Vec<usize>) = std::mem::take(&mut closing.pending)
            .into_iter()
            .partition(|&p| self.pieces.all[p].depth == depth);
        closing.pending = deeper;
        for p in now {
            let node = self.pieces.all[p].node;
            // Skip pieces that another one contains, and those that were joined with another one.
            if self.pieces.all[p].contained || !self.pieces.at[node.index()].contains(&p) {
                continue;
            }
            self.pieces.all[p].followed = true;
            for &t in system.leaving(node) {
                if !self.inside[system.transition(t).target.index()] {
                    continue;
                }
                let step = self.images.step(&mut self.view.encoding, t);
                let mut all = step.next.clone();
                all.push(step.conditions);
                let linear = self.view.encoding.pool.features(&all).is_linear();
                if linear {
                    closing.linear.push_back((p, t))
                } else {
                    closing.nonlinear.push_back((p, t))
                }
            }
        }
        true
    }

    /// Computes one image in the component that is being closed.
    fn close(&mut self, context: &EngineContext) {
        let Some(mut closing) = self.closing.take() else { return };
        let Some((p, t)) = closing.linear.pop_front().or_else(|| closing.nonlinear.pop_front())
        else {
            if self.next_depth(&mut closing) {
                self.closing = Some(closing);
            } else {
                self.end_closing(closing.component);
            }
            return;
        };
        let target = self.view.encoding.system.transition(t).target;
        closing.images += 1;
        if !self.adds_nothing(context, p, t) {
            let new = self.add_image(context, p, t);
            for &p in &new {
                self.mark_contained(context, p);
            }
            closing.pending.extend(new);
        }
        let crowded = self.pieces.covering(target).count() > self.budget.pieces;
        let long =
            closing.images > closing.most_images || closing.begun.elapsed() > self.budget.time;
        if crowded || long {
            self.leave_open(context, closing.component);
        } else {
            self.closing = Some(closing);
        }
    }

    /// True if every step of `t` from the piece leads into known pieces.
    fn adds_nothing(&mut self, context: &EngineContext, p: usize, t: TransitionId) -> bool {
        let system = Arc::clone(&self.view.encoding.system);
        let target = system.transition(t).target;
        let piece = &self.pieces.all[p];
        let (exact, covers, depth) = (piece.exact, piece.covers, piece.depth);
        let good = |q: &Piece| {
            (q.exact || !exact)
                && (q.covers || !covers)
                && !q.contained
                && q.depth <= depth + 1
                && !self.mentions_leftover(q)
        };
        let known: Vec<usize> = self.pieces.at[target.index()]
            .iter()
            .copied()
            .filter(|&q| good(&self.pieces.all[q]))
            .collect();
        if known.is_empty() {
            return false;
        }
        let pool = &mut self.view.encoding.pool;
        let parts: Vec<TermId> =
            known.iter().map(|&q| pool.and(self.pieces.all[q].conjuncts.iter().copied())).collect();
        let union = pool.or(parts);
        let formulas = self.step_formulas(p, t, union);
        matches!(
            self.query.solve(context, &self.view.encoding.pool, &formulas, &[], LIMITS.query / 4),
            Solved::Nothing
        )
    }

    /// Formulas for a step of `t` from the piece to a state that violates `then`.
    fn step_formulas(&mut self, p: usize, t: TransitionId, then: TermId) -> Vec<TermId> {
        let e = &mut self.view.encoding;
        let system = Arc::clone(&e.system);
        let step = self.images.step(e, t);
        let assumption = self.images.assumption(e, system.transition(t).target);
        let behind: FxHashMap<SymbolId, TermId> =
            system.vars().iter().zip(&step.next).map(|(v, &n)| (v.current, n)).collect();
        let not = e.pool.not(then);
        let not = e.pool.substitute(not, &behind);
        let assumption = e.pool.substitute(assumption, &behind);
        let mut formulas = self.pieces.all[p].conjuncts.clone();
        formulas.extend([step.conditions, assumption, not]);
        formulas.iter().map(|&f| self.images.simplify(&mut e.pool, f)).collect()
    }

    /// True if the piece mentions leftover symbols of earlier states. Such a piece must not be the
    /// conclusion of an implication.
    pub(super) fn mentions_leftover(&self, piece: &Piece) -> bool {
        self.images.weakened(&self.view.encoding.pool, &piece.conjuncts).len()
            < piece.conjuncts.len()
    }

    /// Marks older pieces that a new piece contains; they need no further images.
    fn mark_contained(&mut self, context: &EngineContext, new: usize) {
        let n = self.pieces.all[new].node;
        let is_there = self.pieces.at[n.index()].contains(&new) && !self.pieces.all[new].contained;
        if !is_there || self.mentions_leftover(&self.pieces.all[new]) {
            return;
        }
        let pool = &mut self.view.encoding.pool;
        let formula = pool.and(self.pieces.all[new].conjuncts.iter().copied());
        let not = pool.not(formula);
        for old in self.pieces.at[n.index()].clone() {
            let (a, b) = (&self.pieces.all[new], &self.pieces.all[old]);
            // Take images of a less deep piece first, because they give lower bounds on runs.
            let later = !b.followed && b.depth < a.depth;
            if old == new
                || later
                || b.contained
                || (b.exact && !a.exact)
                || (b.covers && !a.covers)
            {
                continue;
            }
            let pool = &self.view.encoding.pool;
            let plain = super::literals::implies(pool, &b.facts, &b.conjuncts, &a.conjuncts);
            let mut formulas = b.conjuncts.clone();
            formulas.push(not);
            if plain
                || self.query.solve(context, pool, &formulas, &[], LIMITS.query / 8)
                    == Solved::Nothing
            {
                self.pieces.all[old].contained = true;
            }
        }
    }

    /// Gives up closing a component: its pieces are reachable, and its invariants come from
    /// [`Analysis::strengthen`].
    fn leave_open(&mut self, context: &EngineContext, component: usize) {
        let nodes = self.components[component].nodes.clone();
        self.strengthen(context, &nodes);
        self.end_closing(component);
    }

    fn end_closing(&mut self, component: usize) {
        for n in &self.components[component].nodes {
            self.inside[n.index()] = false;
        }
        self.finish(component);
    }
}

//! The analysis: pieces for every node, component by component in the order of the condensation.
//!
//! Outside cycles a node gets the images of all pieces of the nodes before it. In a cyclic component images are taken,
//! breadth first, until they add nothing; the invariants are exact then. A component in which that does not end soon stays
//! *open*: what was found is still reachable, but the invariants are conjunctions that the triple rule verifies
//! ([`super::strengthen`]).

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_system::{NodeFormulas, NodeId, StartId, TransitionId};
use gander_term::{SymbolId, TermId};
use rustc_hash::FxHashMap;

use super::components::{Component, Order, components};
use super::image::{Images, Projected};
use super::literals::{Facts, join, tidy};
use super::pieces::{Piece, Pieces, Way};
use super::relevance::Relevance;
use super::visits::{Guide, Values, Visits};
use crate::core::{EngineContext, Purpose};
use crate::encode::query::{Query, Solved};
use crate::encode::question::Question;
use crate::encode::view::View;
#[cfg(test)]
use crate::seeded_bugs::SeededBug;

/// Time for one question.
const PATIENCE: Duration = Duration::from_secs(2);

/// More pieces at a node are made one that is not exact.
const MOST_PIECES: usize = 16;

/// More ways to a piece are not remembered.
const MOST_WAYS: usize = 200;

/// Up to so many pieces of different depths are kept apart.
const FEW_PIECES: usize = 4;

/// What the closing of a component may cost before it is left open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// For each of its transitions.
    images: usize,
    /// At one node.
    pieces: usize,
    time: Duration,
    /// For octagons, if it stays open.
    pub octagons: Option<Duration>,
}

impl Budget {
    pub(super) fn of_round(round: u32) -> Budget {
        let factor = 4usize.saturating_pow(round);
        let time = Duration::from_millis(250) * factor as u32;
        // What is easy is over before.
        let octagons = (round > 0).then_some(time / 2);
        Budget { images: 12 * factor, pieces: MOST_PIECES * factor, time, octagons }
    }
}

/// See the module's documentation.
pub(super) struct Analysis {
    pub view: View,
    pub questions: Vec<Question>,
    pub relevance: Relevance,
    pub images: Images,
    pub consult: Query,
    pub pieces: Pieces,
    pub visits: Visits,
    components: Vec<Component>,
    order: Order,
    closing: Option<Closing>,
    /// Components that were handed over in vain.
    returned: Vec<usize>,
    /// By node: it is in the component that is being closed.
    inside: Vec<bool>,
    /// By node: it is in a component that stays open.
    pub open: Vec<bool>,
    starts: Vec<Vec<StartId>>,
    /// What a solver could not say, for people.
    pub ambiguity: Option<String>,
    pub budget: Budget,
    /// By node: invariants of other engines.
    pub lemmas: Vec<Vec<TermId>>,
    /// The invariants of all nodes, once they are written down.
    pub written: Option<NodeFormulas>,
}

/// A cyclic component that is being closed.
struct Closing {
    component: usize,
    /// Steps to be taken, by depth: linear ones before others.
    now: VecDeque<(usize, TransitionId)>,
    hard: VecDeque<(usize, TransitionId)>,
    later: Vec<usize>,
    images: usize,
    most_images: usize,
    begun: Instant,
}

impl Analysis {
    pub(super) fn new(mut view: View, questions: Vec<Question>, budget: Budget, lemmas: Vec<Vec<TermId>>) -> Analysis {
        let purpose = Purpose { part: "nodes", claims: questions.iter().take(8).map(|q| q.claim).collect() };
        let relevance = Relevance::of(&mut view.encoding, &questions);
        let system = Arc::clone(&view.encoding.system);
        let common: Vec<SymbolId> = system.vars.iter().map(|v| v.current).collect();
        let mut starts = vec![Vec::new(); system.nodes.len()];
        for (i, s) in system.starts.iter().enumerate() {
            starts[s.target.index()].push(StartId::from(i));
        }
        let components = components(&system);
        Analysis {
            order: Order::new(&system, &components),
            components,
            pieces: Pieces::new(system.nodes.len()),
            open: vec![false; system.nodes.len()],
            images: Images::default(),
            consult: Query::new(purpose, common),
            visits: Visits::default(),
            closing: None,
            returned: Vec::new(),
            inside: vec![false; system.nodes.len()],
            starts,
            ambiguity: None,
            budget,
            lemmas,
            written: None,
            relevance,
            view,
            questions,
        }
    }

    /// Forgets what was found; terms, steps and solvers stay.
    pub(super) fn clear(&mut self) {
        self.pieces = Pieces::new(self.open.len());
        self.visits = Visits::default();
        self.open.fill(false);
        self.ambiguity = None;
    }

    /// All components are done.
    pub(super) fn is_complete(&self) -> bool {
        self.order.done() == self.components.len()
    }

    /// Every component was closed.
    pub(super) fn is_closed(&self) -> bool {
        self.open.iter().all(|open| !open)
    }

    /// How many components are done, and of how many.
    pub(super) fn progress(&self) -> (usize, usize) {
        (self.order.done(), self.components.len())
    }

    /// Does a small piece of work.
    pub(super) fn work(&mut self, context: &EngineContext) {
        if self.closing.is_some() {
            return self.close(context);
        }
        if let Some(c) = self.returned.pop() {
            return self.close_later(c);
        }
        let Some(c) = self.order.ready(|_| true) else { return };
        self.begin(context, c);
        if self.components[c].cyclic {
            self.close_later(c);
        } else {
            self.limit(self.components[c].nodes[0]);
            self.finish(c);
        }
    }

    /// Begins a component: finds what comes into it.
    fn begin(&mut self, context: &EngineContext, c: usize) {
        self.order.begin(c);
        let nodes = self.components[c].nodes.clone();
        for &n in &nodes {
            self.enter(context, n, &nodes);
        }
    }

    fn finish(&mut self, c: usize) {
        let system = Arc::clone(&self.view.encoding.system);
        self.order.finish(&system, &self.components, c);
    }

    /// A cyclic component has been worked on for so long that another one, which can be begun, may be closed beside it.
    pub(super) fn closable_beside(&mut self, patience: Duration) -> Option<usize> {
        let long = self.closing.as_ref().is_some_and(|c| c.begun.elapsed() >= patience);
        let (components, order) = (&self.components, &mut self.order);
        if long { order.ready(|c| components[c].cyclic) } else { None }
    }

    /// Begins a component that is closed elsewhere: its nodes with what comes into it.
    pub(super) fn hand_over(&mut self, context: &EngineContext, c: usize) -> &[NodeId] {
        self.begin(context, c);
        &self.components[c].nodes
    }

    /// A component that was handed over is done, or has to be closed here.
    pub(super) fn take_back(&mut self, c: usize, done: bool) {
        if done {
            self.finish(c);
        } else {
            self.returned.push(c);
        }
    }

    /// From now on this component is worked on. What comes into it is known.
    pub(super) fn close_later(&mut self, c: usize) {
        self.closing = Some(self.begin_closing(c));
    }

    /// There is something to do here and now.
    pub(super) fn has_work(&mut self) -> bool {
        !self.is_idle() || !self.returned.is_empty() || self.order.ready(|_| true).is_some()
    }

    /// No component is being closed.
    pub(super) fn is_idle(&self) -> bool {
        self.closing.is_none()
    }

    /// The pieces that starts and transitions from other components give a node.
    fn enter(&mut self, context: &EngineContext, n: NodeId, component: &[NodeId]) {
        let system = Arc::clone(&self.view.encoding.system);
        for s in self.starts[n.index()].clone() {
            #[cfg(test)]
            if self.view.encoding.bug == Some(SeededBug::ForgottenStart) && s.index() > 0 {
                continue;
            }
            let constraint = system.start_term(&mut self.view.encoding.pool, s);
            let found = self.images.states(&mut self.view.encoding, &self.relevance, n, constraint);
            for projected in found {
                self.found(context, n, projected, Way::Start(s), 0, true, true);
            }
        }
        for &t in system.entering(n) {
            let source = system.transition(t).source;
            if context.is_cancelled() {
                return;
            }
            if component.binary_search(&source).is_err() {
                for p in self.pieces.at[source.index()].clone() {
                    self.follow(context, p, t);
                }
                if self.pieces.at[n.index()].len() > 2 * MOST_PIECES {
                    self.limit(n);
                }
            }
        }
    }

    /// Takes the image of a piece; the numbers of pieces that are new.
    fn follow(&mut self, context: &EngineContext, from: usize, t: TransitionId) -> Vec<usize> {
        let piece = &self.pieces.all[from];
        let (exact, covers, depth) = (piece.exact, piece.covers, piece.depth + 1);
        let conjuncts = piece.conjuncts.clone();
        let images = self.images.image(&mut self.view.encoding, &self.relevance, &conjuncts, t);
        let target = self.view.encoding.system.transition(t).target;
        let mut new = Vec::new();
        for projected in images {
            new.extend(self.found(context, target, projected, Way::Step(from, t), depth, exact, covers));
        }
        new
    }

    /// States at a node were found.
    #[allow(clippy::too_many_arguments)]
    fn found(
        &mut self,
        context: &EngineContext,
        n: NodeId,
        projected: Projected,
        way: Way,
        depth: u32,
        exact: bool,
        covers: bool,
    ) -> Vec<usize> {
        let Projected { conjuncts, leftover } = projected;
        #[cfg(test)]
        if self.view.encoding.bug == Some(SeededBug::TakenForExact) && conjuncts.len() > 1 {
            let fewer = conjuncts[1..].to_vec();
            return self.add(context, n, fewer, way, depth, exact, covers).into_iter().collect();
        }
        if !leftover {
            return self.add(context, n, conjuncts, way, depth, exact, covers).into_iter().collect();
        }
        // With what could not be eliminated it is exact, without it an invariant can say it.
        let weakened = self.images.weakened(&self.view.encoding.pool, &conjuncts);
        let mut new = Vec::new();
        if exact {
            new.extend(self.add(context, n, conjuncts, way, depth, true, false));
        }
        if covers {
            new.extend(self.add(context, n, weakened, way, depth, false, true));
        }
        new
    }

    #[allow(clippy::too_many_arguments)]
    fn add(
        &mut self,
        context: &EngineContext,
        n: NodeId,
        conjuncts: Vec<TermId>,
        way: Way,
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
            ways: vec![way],
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
            piece.visited = self.visit(context, &piece);
        }
        if piece.visited.is_none() {
            match self.consult.solve(context, &self.view.encoding.pool, &piece.conjuncts, &[], PATIENCE) {
                Solved::Nothing => return None,
                Solved::Model(_) => {}
                Solved::Unknown(reason) => self.ambiguity = Some(reason.to_string()),
            }
        }
        // Two neighbours are one piece.
        loop {
            let here = self.pieces.at[n.index()].clone();
            // Where there are few, they are kept apart by their depth.
            let crowded = here.len() >= FEW_PIECES && !self.inside[n.index()];
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
            let parts: Vec<TermId> = parts.into_iter().map(|t| self.images.simplify(pool, t)).collect();
            let Some(parts) = tidy(pool, &parts) else { break };
            let old = &self.pieces.all[p];
            piece.depth = piece.depth.min(old.depth);
            piece.visited = piece.visited.or(old.visited);
            for way in old.ways.iter().take(MOST_WAYS) {
                if !piece.ways.contains(way) {
                    piece.ways.push(*way);
                }
            }
            piece.facts = Facts::of(pool, &parts);
            piece.conjuncts = parts;
            self.pieces.at[n.index()].retain(|&q| q != p);
        }
        Some(self.pieces.add(piece))
    }

    /// A concrete state of a new piece, one step from a visited one.
    fn visit(&mut self, context: &EngineContext, piece: &Piece) -> Option<usize> {
        let way = piece.ways[0];
        let mut guide = Guide {
            context,
            e: &mut self.view.encoding,
            images: &mut self.images,
            consult: &mut self.consult,
            relevance: &self.relevance,
            pieces: &self.pieces,
        };
        let new = match way {
            Way::Start(s) => self.visits.begin(&mut guide, s, &Values::default())?,
            Way::Step(from, t) => {
                let from = self.pieces.all[from].visited?;
                self.visits.step(&mut guide, from, t, &Values::default(), None)?
            }
        };
        // An image can have several disjuncts: the state may lie in another one.
        let values = self.visits.values(&self.view.encoding, new);
        let pool = &self.view.encoding.pool;
        let holds = |&c: &TermId| {
            gander_term::evaluate(pool, c, &|s| values.get(&s).cloned()).ok() == Some(gander_term::Value::Bool(true))
        };
        piece.conjuncts.iter().all(holds).then_some(new)
    }

    /// Many pieces at a node become one that is not exact, beside them.
    fn limit(&mut self, n: NodeId) {
        let (all, mut others) = (&self.pieces.all, 0);
        // Of those that only serve to find runs some are enough.
        self.pieces.at[n.index()].retain(|&p| {
            others += usize::from(!all[p].covers);
            all[p].covers || others <= MOST_PIECES
        });
        let covering: Vec<usize> = self.pieces.covering(n).collect();
        if covering.len() <= MOST_PIECES {
            return;
        }
        // What all of them say.
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
        self.pieces.at[n.index()].truncate(MOST_PIECES);
        let facts = Facts::of(pool, &hull);
        self.pieces.add(Piece {
            node: n,
            conjuncts: hull,
            facts,
            exact: false,
            covers: true,
            ways: Vec::new(),
            depth,
            contained: false,
            followed: false,
            visited: None,
        });
    }

    fn begin_closing(&mut self, component: usize) -> Closing {
        let nodes = self.components[component].nodes.clone();
        let system = Arc::clone(&self.view.encoding.system);
        nodes.iter().for_each(|n| self.inside[n.index()] = true);
        let transitions: usize = nodes.iter().map(|&n| system.leaving(n).len()).sum();
        let entry: Vec<usize> = nodes.iter().flat_map(|n| self.pieces.at[n.index()].clone()).collect();
        let mut closing = Closing {
            component,
            now: VecDeque::new(),
            hard: VecDeque::new(),
            later: entry,
            images: 0,
            most_images: self.budget.images * transitions.max(1),
            begun: Instant::now(),
        };
        self.next_depth(&mut closing);
        closing
    }

    /// Lines up the steps from the pieces of the least depth that waits; false if none does.
    fn next_depth(&mut self, closing: &mut Closing) -> bool {
        let system = Arc::clone(&self.view.encoding.system);
        let Some(depth) = closing.later.iter().map(|&p| self.pieces.all[p].depth).min() else { return false };
        let (now, later): (Vec<usize>, Vec<usize>) =
            std::mem::take(&mut closing.later).into_iter().partition(|&p| self.pieces.all[p].depth == depth);
        closing.later = later;
        for p in now {
            let node = self.pieces.all[p].node;
            // What another one contains leads nowhere new, and what was joined with another one is that.
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
                if linear { closing.now.push_back((p, t)) } else { closing.hard.push_back((p, t)) }
            }
        }
        true
    }

    /// Takes one image in the component that is being closed.
    fn close(&mut self, context: &EngineContext) {
        let Some(mut closing) = self.closing.take() else { return };
        let Some((p, t)) = closing.now.pop_front().or_else(|| closing.hard.pop_front()) else {
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
            let new = self.follow(context, p, t);
            for &p in &new {
                self.mark_contained(context, p);
            }
            closing.later.extend(new);
        }
        let crowded = self.pieces.covering(target).count() > self.budget.pieces;
        let long = closing.images > closing.most_images || closing.begun.elapsed() > self.budget.time;
        if crowded || long {
            self.leave_open(context, closing.component);
        } else {
            self.closing = Some(closing);
        }
    }

    /// Every step of `t` from the piece leads into pieces that are known.
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
                && !self.mentions_past(q)
        };
        let known: Vec<usize> =
            self.pieces.at[target.index()].iter().copied().filter(|&q| good(&self.pieces.all[q])).collect();
        if known.is_empty() {
            return false;
        }
        let pool = &mut self.view.encoding.pool;
        let parts: Vec<TermId> =
            known.iter().map(|&q| pool.and(self.pieces.all[q].conjuncts.iter().copied())).collect();
        let union = pool.or(parts);
        let formulas = self.step_formulas(p, t, union);
        matches!(self.consult.solve(context, &self.view.encoding.pool, &formulas, &[], PATIENCE / 4), Solved::Nothing)
    }

    /// A step of `t` from the piece to a state that does not satisfy `then`.
    fn step_formulas(&mut self, p: usize, t: TransitionId, then: TermId) -> Vec<TermId> {
        let e = &mut self.view.encoding;
        let system = Arc::clone(&e.system);
        let step = self.images.step(e, t);
        let assumption = self.images.assumption(e, system.transition(t).target);
        let behind: FxHashMap<SymbolId, TermId> =
            system.vars.iter().zip(&step.next).map(|(v, &n)| (v.current, n)).collect();
        let not = e.pool.not(then);
        let not = e.pool.substitute(not, &behind);
        let assumption = e.pool.substitute(assumption, &behind);
        let mut formulas = self.pieces.all[p].conjuncts.clone();
        formulas.extend([step.conditions, assumption, not]);
        formulas.iter().map(|&f| self.images.simplify(&mut e.pool, f)).collect()
    }

    /// Pieces that mention what was before cannot be on the right of an implication.
    pub(super) fn mentions_past(&self, piece: &Piece) -> bool {
        self.images.weakened(&self.view.encoding.pool, &piece.conjuncts).len() < piece.conjuncts.len()
    }

    /// A new piece may contain older ones, which then need no further images.
    fn mark_contained(&mut self, context: &EngineContext, new: usize) {
        let n = self.pieces.all[new].node;
        let is_there = self.pieces.at[n.index()].contains(&new) && !self.pieces.all[new].contained;
        if !is_there || self.mentions_past(&self.pieces.all[new]) {
            return;
        }
        let pool = &mut self.view.encoding.pool;
        let formula = pool.and(self.pieces.all[new].conjuncts.iter().copied());
        let not = pool.not(formula);
        for old in self.pieces.at[n.index()].clone() {
            let (a, b) = (&self.pieces.all[new], &self.pieces.all[old]);
            // Images of one that is not as deep are to be taken first: they bound runs.
            let later = !b.followed && b.depth < a.depth;
            if old == new || later || b.contained || (b.exact && !a.exact) || (b.covers && !a.covers) {
                continue;
            }
            let pool = &self.view.encoding.pool;
            let plain = super::literals::implies(pool, &b.facts, &b.conjuncts, &a.conjuncts);
            let mut formulas = b.conjuncts.clone();
            formulas.push(not);
            if plain || self.consult.solve(context, pool, &formulas, &[], PATIENCE / 8) == Solved::Nothing {
                self.pieces.all[old].contained = true;
            }
        }
    }

    /// The component is not closed: its pieces are reachable, its invariants have to be found in another way.
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

//! The exploration: extends control paths from the starts while they are feasible and may reach a
//! target.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_system::{ClaimId, Evidence, NodeId, StartId, TransitionId};
use gander_term::{SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use super::goals::Goals;
use super::limits::LIMITS;
use super::symbolic::{Executor, Image, connected, key};
use super::tree::{Branch, Last, Model, run, value_of};
use crate::core::{Cursor, EngineContext, Fact, PathOrder, Purpose, portable, steps};
use crate::encode::batch::Batch;
use crate::encode::projection::{Projector, quantified};
use crate::encode::query::{Query, Solved};
use crate::encode::question::Question;
use crate::encode::view::View;

/// See the module's documentation.
pub(super) struct Explorer {
    view: View,
    questions: Vec<Question>,
    goals: Goals,
    executor: Executor,
    query: Query,
    order: PathOrder,
    tree: Vec<Branch>,
    /// Paths to extend: breadth first from the front, depth first from the back.
    waiting: VecDeque<usize>,
    /// Depth first: paths beyond the depth limit.
    later: Vec<usize>,
    depth_limit: u32,
    /// Symbolic states by node and values, with the conditions of each.
    seen: FxHashMap<(NodeId, Vec<TermId>), Vec<Vec<TermId>>>,
    /// The greatest depth that is complete.
    complete: Option<u32>,
    /// A path was dropped because its symbolic state is subsumed.
    merged: bool,
    /// Why some path was not followed.
    undecided: Option<String>,
    cursor: Cursor,
    lemmas: Vec<Vec<TermId>>,
    obstacles: Vec<(ClaimId, String)>,
    begun: bool,
    pub used: Duration,
}

impl Explorer {
    /// An exploration for the questions of a batch.
    pub(super) fn new(context: &EngineContext, batch: Batch) -> Explorer {
        let Batch { mut view, questions, .. } = batch;
        let purpose =
            Purpose { part: "paths", claims: questions.iter().map(|q| q.claim).collect() };
        let goals = Goals::new(&mut view.encoding, &questions);
        let nodes = view.encoding.system.nodes().len();
        Explorer {
            goals,
            executor: Executor::new(),
            query: Query::new(purpose, Vec::new()),
            order: context.config().options.paths.order,
            tree: Vec::new(),
            waiting: VecDeque::new(),
            later: Vec::new(),
            depth_limit: LIMITS.first_depth,
            seen: FxHashMap::default(),
            complete: None,
            merged: false,
            undecided: None,
            cursor: Cursor::default(),
            lemmas: vec![Vec::new(); nodes],
            obstacles: Vec::new(),
            begun: false,
            used: Duration::ZERO,
            view,
            questions,
        }
    }

    /// True if no question is open.
    pub(super) fn is_over(&self) -> bool {
        self.goals.is_over()
    }

    /// Why a claim is not decided.
    pub(super) fn obstacle(&self, claim: ClaimId) -> Option<String> {
        if let Some((_, why)) = self.obstacles.iter().rev().find(|(c, _)| *c == claim) {
            return Some(why.clone());
        }
        self.questions.iter().find(|q| q.claim == claim)?;
        let paths = self.tree.len();
        Some(match (&self.undecided, self.complete) {
            (Some(why), _) => format!("{paths} paths; one could not be followed: {why}"),
            (None, Some(depth)) => {
                format!("{paths} paths, all of {}, do not meet it", steps(depth))
            }
            (None, None) => format!("{paths} paths do not meet it"),
        })
    }

    /// Works for one turn.
    pub(super) fn advance(&mut self, context: &EngineContext) {
        let begun = Instant::now();
        for (label, q) in self.questions.iter().enumerate() {
            if !context.is_open(q.claim) {
                self.goals.close(label);
            }
        }
        self.read_facts(context);
        if !self.begun {
            self.begun = true;
            self.begin(context);
        }
        self.goals.measure(&self.view.encoding.system);
        while begun.elapsed() < LIMITS.turn && !self.is_over() && !context.is_cancelled() {
            self.work(context);
        }
        self.used += begun.elapsed();
    }

    fn give_up(&mut self, why: &str) {
        for label in self.goals.open() {
            self.obstacles.push((self.questions[label].claim, why.to_string()));
            self.goals.close(label);
        }
    }

    fn begin(&mut self, context: &EngineContext) {
        let system = Arc::clone(&self.view.encoding.system);
        for s in (0..system.starts().len()).map(StartId::from) {
            let mut next = 0;
            let image = self.executor.begin(&mut self.view.encoding, s, &mut next);
            let (node, none) = (system.starts()[s.index()].target, Arc::new(Vec::new()));
            let found = self.feasible(context, &image.conditions, &none, &Model::default());
            match found {
                Some(model) => {
                    let at = self.grow(image, Last::Start(s), node, 0, &none, model, next);
                    for label in self.goals.of_start(s) {
                        self.met(context, label, at, None);
                    }
                    self.process_path(context, at);
                }
                None if self.undecided.is_none() => {
                    for label in self.goals.of_start(s) {
                        self.goals.close(label);
                        let question = &self.questions[label];
                        context.propose(question.claim, question.never_met(Evidence::Refutation));
                    }
                }
                None => {}
            }
        }
    }

    /// Extends one path by all leaving transitions.
    fn work(&mut self, context: &EngineContext) {
        if self.tree.len() > LIMITS.paths {
            return self.give_up("its paths have become too many: memory");
        }
        let taken = match self.order {
            PathOrder::BreadthFirst => self.waiting.pop_front(),
            PathOrder::DepthFirst => self.waiting.pop_back(),
        };
        let Some(at) = taken else {
            if self.later.is_empty() {
                return self.exhausted(context);
            }
            self.depth_limit = self.depth_limit.saturating_mul(2);
            self.waiting.extend(self.later.drain(..).rev());
            return;
        };
        let depth = self.tree[at].depth;
        if self.order == PathOrder::BreadthFirst {
            self.level_complete(context, depth);
        } else if depth > self.depth_limit {
            self.later.push(at);
            return;
        }
        if let Some(max) =
            context.config().options.max_depth.filter(|&max| depth >= self.view.depth(max))
        {
            self.undecided = Some(format!("it is longer than {}, which is the limit", steps(max)));
            return;
        }
        let system = Arc::clone(&self.view.encoding.system);
        let mut steps: Vec<TransitionId> = system.leaving(self.tree[at].node).to_vec();
        if self.order == PathOrder::DepthFirst {
            // Put the nearest last, because it is extended first.
            steps.sort_by_key(|&t| {
                std::cmp::Reverse(self.goals.distance(system.transition(t).target))
            });
        }
        for t in steps {
            self.step(context, at, t);
            if context.is_cancelled() || self.is_over() {
                return;
            }
        }
    }

    fn step(&mut self, context: &EngineContext, at: usize, t: TransitionId) {
        let system = Arc::clone(&self.view.encoding.system);
        let target = system.transition(t).target;
        let wanted = self.goals.of_step(t);
        if wanted.is_empty() && self.goals.distance(target).is_none() {
            return;
        }
        let branch = &self.tree[at];
        let (mut next, depth, conditions, model) =
            (branch.next, branch.depth, Arc::clone(&branch.conditions), Arc::clone(&branch.model));
        let before = branch.values.clone();
        let image = self.executor.step(&mut self.view.encoding, t, &before, &mut next);
        let Some(model) = self.feasible(context, &image.conditions, &conditions, &model) else {
            return;
        };
        let params: FxHashMap<SymbolId, TermId> =
            self.view.encoding.params(t).into_iter().zip(image.params.iter().copied()).collect();
        let last = Last::Step(at, t, image.params.clone());
        let new = self.grow(image, last, target, depth + 1, &conditions, model, next);
        for (label, formula) in wanted {
            let formula = self.executor.at(&mut self.view.encoding, &before, formula, &params);
            self.check_target(context, label, new, formula);
        }
        self.process_path(context, new);
    }

    /// Adds a path.
    #[allow(clippy::too_many_arguments)]
    fn grow(
        &mut self,
        image: Image,
        last: Last,
        node: NodeId,
        depth: u32,
        conditions: &Arc<Vec<TermId>>,
        model: Model,
        next: u32,
    ) -> usize {
        let conditions = if image.conditions.is_empty() {
            Arc::clone(conditions)
        } else {
            Arc::new(conditions.iter().chain(&image.conditions).copied().collect())
        };
        let model = Arc::new(model);
        self.tree.push(Branch { last, node, depth, values: image.values, conditions, model, next });
        self.tree.len() - 1
    }

    /// Handles a path that reached a node: drops it if it is subsumed, checks the targets there,
    /// and queues it if a target is still reachable.
    fn process_path(&mut self, context: &EngineContext, at: usize) {
        let (node, values) = (self.tree[at].node, self.tree[at].values.clone());
        let conditions = Arc::clone(&self.tree[at].conditions);
        let e = &mut self.view.encoding;
        let (node, key_values, relevant) =
            key(&mut self.executor, &mut e.pool, node, &values, &conditions);
        let known = self.seen.entry((node, key_values)).or_default();
        if known.iter().any(|k| k.iter().all(|c| relevant.binary_search(c).is_ok())) {
            self.merged = true;
            return;
        }
        known.push(relevant);
        for (label, formula, choices) in self.goals.at(node) {
            let mut params = FxHashMap::default();
            for (i, &s) in choices.iter().enumerate() {
                let sort = self.view.encoding.pool.symbol(s).sort;
                let number = self.tree[at].next + i as u32;
                let choice = self.executor.choice(&mut self.view.encoding.pool, sort, number);
                params.insert(s, self.view.encoding.pool.var(choice));
            }
            let formula = self.executor.at(&mut self.view.encoding, &values, formula, &params);
            self.check_target(context, label, at, formula);
        }
        if self.goals.distance(node).is_some() {
            self.waiting.push_back(at);
        }
    }

    /// Checks whether the path can satisfy a formula over choices.
    fn check_target(&mut self, context: &EngineContext, label: usize, at: usize, formula: TermId) {
        let pool = &self.view.encoding.pool;
        if pool.as_bool(formula) == Some(false) || !self.goals.is_open(label) {
            return;
        }
        let (conditions, model) =
            (Arc::clone(&self.tree[at].conditions), Arc::clone(&self.tree[at].model));
        if let Some(model) = self.feasible(context, &[formula], &conditions, &model) {
            self.met(context, label, at, Some(model));
        }
    }

    fn met(&mut self, context: &EngineContext, label: usize, at: usize, model: Option<Model>) {
        self.goals.close(label);
        let question = &self.questions[label];
        let model = model.as_ref().unwrap_or(&self.tree[at].model);
        match run(&self.view.encoding.pool, &self.tree, at, model) {
            Ok(path) => {
                if let Some(verdict) = path.into_run().and_then(|run| self.view.met(question, run))
                {
                    context.propose(question.claim, verdict);
                }
            }
            Err(reason) => self.obstacles.push((question.claim, reason.to_string())),
        }
    }

    /// A model of the old and new conditions, if there is one. `model` satisfies the old ones.
    fn feasible(
        &mut self,
        context: &EngineContext,
        new: &[TermId],
        old: &[TermId],
        model: &Model,
    ) -> Option<Model> {
        let pool = &self.view.encoding.pool;
        if new.iter().any(|&c| pool.as_bool(c) == Some(false)) {
            return None;
        }
        if new.iter().all(|&c| value_of(pool, c, model) == Some(Value::Bool(true))) {
            let mut model = model.clone();
            for s in pool.free_symbols(new) {
                model
                    .entry(s)
                    .or_insert_with(|| crate::encode::query::first_value(pool.symbol(s).sort));
            }
            return Some(model);
        }
        let mut formulas = connected(pool, new, old);
        formulas.extend_from_slice(new);
        let symbols = pool.free_symbols(&formulas);
        match self.query.solve(context, pool, &formulas, &symbols, LIMITS.query) {
            Solved::Model(values) => {
                let mut model = model.clone();
                model.extend(symbols.into_iter().zip(values));
                Some(model)
            }
            Solved::Nothing => None,
            Solved::Unknown(reason) => {
                self.undecided = Some(reason.to_string());
                None
            }
        }
    }

    /// Publishes a bound when the first path of a depth is extended, breadth first: all runs of at
    /// most this many steps have been checked.
    fn level_complete(&mut self, context: &EngineContext, depth: u32) {
        if self.undecided.is_some() || self.complete.is_some_and(|c| c >= depth) {
            return;
        }
        self.complete = Some(depth);
        for label in self.goals.open() {
            self.view.raise_bound(context.blackboard(), self.questions[label].claim, depth);
        }
        context.progress(Some(depth), format!("{} paths", self.tree.len()));
        self.goals.measure(&self.view.encoding.system);
    }

    /// Proposes proofs once no path is left.
    fn exhausted(&mut self, context: &EngineContext) {
        if let Some(why) = self.undecided.clone() {
            return self.give_up(&format!("a path could not be followed: {why}"));
        }
        let open = self.goals.open();
        let Some(proof) = self.proof() else {
            return self.give_up("all paths were followed, but that cannot be put into evidence");
        };
        for label in open {
            self.goals.close(label);
            let question = &self.questions[label];
            context.propose(question.claim, question.never_met(self.view.proof(proof.clone())));
        }
    }

    /// The symbolic states as an invariant, or the length of the longest path.
    fn proof(&mut self) -> Option<Evidence> {
        let system = Arc::clone(&self.view.encoding.system);
        let cut = system.node_ids().any(|n| self.goals.distance(n).is_none());
        let longest = self.tree.iter().map(|b| b.depth).max().unwrap_or(0);
        let diameter = (!self.merged && !cut).then_some(Evidence::Diameter { k: longest });
        let states: usize = self.seen.values().map(Vec::len).sum();
        if states > LIMITS.invariant_states {
            return diameter;
        }
        let mut projector = Projector::default();
        let e = &mut self.view.encoding;
        let mut by_node: Vec<Vec<TermId>> = vec![Vec::new(); system.nodes().len()];
        let mut seen: Vec<_> = self.seen.iter().collect();
        seen.sort_unstable_by_key(|(k, _)| *k);
        for ((node, values), conditions) in seen {
            for conditions in conditions {
                let mut parts = conditions.clone();
                for (v, &value) in system.vars().iter().zip(values) {
                    let var = e.pool.var(v.current);
                    parts.push(e.pool.eq(var, value));
                }
                let body = e.pool.and(parts);
                let mut choices = e.pool.free_symbols(&[body]);
                choices.retain(|s| system.vars().iter().all(|v| v.current != *s));
                for d in projector.project(e, &choices, body) {
                    let leftover: Vec<SymbolId> = projector.leftover().collect();
                    by_node[node.index()].push(quantified(&mut e.pool, &leftover, d));
                }
            }
        }
        let mut formulas = Vec::with_capacity(by_node.len());
        for (n, states) in by_node.into_iter().enumerate() {
            // Nodes that cannot reach a target were not explored; only lemmas are known there.
            let away = self.goals.distance(NodeId::from(n)).is_none();
            let visited = if away { e.pool.tt() } else { e.pool.or(states) };
            formulas.push(e.pool.and(self.lemmas[n].iter().copied().chain([visited])));
        }
        let plain = !formulas.iter().any(|&f| e.pool.has_quantifier(f));
        match diameter {
            Some(diameter) if !plain => Some(diameter),
            _ => portable(&system, &e.pool, &formulas).ok().map(Evidence::Invariant),
        }
    }

    /// Adds invariants of other engines, and drops the targets that they exclude.
    fn read_facts(&mut self, context: &EngineContext) {
        let mut fresh = false;
        for fact in context.blackboard().facts_since(&mut self.cursor) {
            let Fact::Invariant(found) = &*fact else { continue };
            if found.k != 1 || found.loop_free || found.no_restart {
                continue;
            }
            let Some(lemma) = self.view.lemma(found) else { continue };
            for (n, term) in lemma {
                if self.view.encoding.pool.as_bool(term) != Some(true)
                    && !self.lemmas[n.index()].contains(&term)
                {
                    self.lemmas[n.index()].push(term);
                    fresh = true;
                }
            }
        }
        if !fresh {
            return;
        }
        let system = Arc::clone(&self.view.encoding.system);
        for n in system.node_ids().filter(|n| !self.lemmas[n.index()].is_empty()) {
            for (label, formula, _) in self.goals.at(n) {
                let mut formulas = self.lemmas[n.index()].clone();
                formulas.push(formula);
                let pool = &self.view.encoding.pool;
                if self.query.solve(context, pool, &formulas, &[], LIMITS.query) == Solved::Nothing
                {
                    self.goals.exclude(n, label);
                }
            }
        }
        for label in self.goals.without_targets() {
            self.goals.close(label);
            let pool = &mut self.view.encoding.pool;
            let formulas: Vec<TermId> =
                self.lemmas.iter().map(|l| pool.and(l.iter().copied())).collect();
            if let Ok(formulas) = portable(&system, pool, &formulas) {
                let question = &self.questions[label];
                let proof = self.view.proof(Evidence::Invariant(formulas));
                context.propose(question.claim, question.never_met(proof));
            }
        }
    }
}

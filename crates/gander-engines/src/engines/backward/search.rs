//! The search: backwards from the targets of many questions, level by level.
//!
//! Each node has entries, one per cube, with the questions (labels) whose targets are reachable
//! from its states. Level `i` adds the pre-images of the entries that level `i - 1` added: `Pre^i`
//! of definition 4.2. A cube that is included in a question's cubes at the node adds nothing for
//! that question. Only new cubes are compared with the start states (proposition 4.3) and with the
//! existing cubes (proposition 4.5). A question for which a level adds nothing has reached its
//! fixpoint. Equal cubes at a node are one entry for all questions, so their pre-images are
//! computed once.
//!
//! Runs are usually shortest. A cube with a start state at level `i` gives a run of `i` steps, and
//! all lower levels are complete. A cube with a state that is reachable in `j` steps gives a run of
//! `i + j` steps; the search then continues for a limited effort with the entries that can still
//! lead to a shorter run ([`super::bidirectional`]). Reachable states are known from a few steps
//! forward (probes) and from earlier runs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_smt::Reason;
use gander_system::{ClaimId, Evidence, NodeId, Run, StartId, State, TransitionId};
use gander_term::{SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::bidirectional::Bidirectional;
use super::cube::{CubeId, Cubes};
use super::forward::Forward;
use super::labels::Labels;
use super::limits::LIMITS;
use super::preimage::PreImages;
use crate::core::{Cursor, EngineContext, Purpose, steps};
use crate::encode::batch::Batch;
use crate::encode::query::{Query, Solved};
use crate::encode::question::{Place, Question};
use crate::encode::view::View;

/// The origin of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) enum EntryOrigin {
    /// Its states are targets.
    Target,
    /// The target is a step of this transition with this formula.
    Taking(TransitionId, TermId),
    /// A step of this transition leads into this entry.
    Step(TransitionId, usize),
}

/// Whether an entry contains a start state.
#[derive(Clone, Debug)]
enum Start {
    Nowhere,
    /// This visited state.
    Here(usize),
    Unknown(Reason),
}

/// A cube at a node; see the module's documentation.
pub(super) struct Entry {
    pub node: NodeId,
    pub cube: CubeId,
    pub labels: Labels,
    /// For each arrival: the labels, the origin and the level. Every label arrives once.
    pub events: Vec<(Labels, EntryOrigin, u32)>,
    /// Entries of the node that contain this one.
    pub above: Vec<usize>,
    start: Start,
}

/// A target cube of level 0 or 1.
pub(super) struct Root {
    pub node: NodeId,
    pub term: TermId,
    pub label: u32,
    pub via: EntryOrigin,
    parts: Option<Arc<[TermId]>>,
}

/// The position of the search.
enum Stage {
    /// Probing forward; visited states from this index on are not expanded yet.
    Probing(usize),
    /// Trying roots from this index on as lemmas.
    Lemmas(usize),
    /// Adding the roots of the current level from this index on.
    Roots(usize),
    /// Expanding the entries of the frontier from this index on.
    Frontier(usize),
}

/// See the module's documentation.
pub(super) struct BackwardSearch {
    pub(super) view: View,
    pub(super) questions: Vec<Question>,
    pub(super) open: Vec<bool>,
    pub(super) cubes: Cubes,
    pub(super) pre: PreImages,
    pub(super) query: Query,
    pub(super) forward: Forward,
    pub(super) entries: Vec<Entry>,
    pub(super) at_node: Vec<Vec<usize>>,
    by_cube: FxHashMap<(NodeId, CubeId), usize>,
    /// The roots of level 0 and level 1.
    pub(super) roots: [Vec<Root>; 2],
    /// The entries that the last level added.
    frontier: Vec<(usize, Labels)>,
    /// The entries that this level added.
    next: Vec<(usize, Labels)>,
    next_at: FxHashMap<usize, usize>,
    pub(super) level: u32,
    stage: Stage,
    pub(super) cursor: Cursor,
    /// By node: invariants of other engines, and lemmas found here.
    pub(super) lemmas: Vec<Vec<TermId>>,
    /// Cubes at nodes that lemmas exclude.
    excluded: FxHashSet<(NodeId, CubeId)>,
    /// Whether a cube was excluded by lemmas.
    pub(super) lemmas_used: bool,
    /// Formulas that were tried as lemmas.
    pub(super) tried: FxHashSet<TermId>,
    pub(super) bidirectional: Bidirectional,
    pub(super) obstacles: Vec<(ClaimId, String)>,
    pub(super) used: Duration,
}

impl BackwardSearch {
    /// A search for the questions of a batch.
    pub(super) fn new(context: &EngineContext, batch: Batch) -> BackwardSearch {
        let Batch { view, questions, .. } = batch;
        let system = Arc::clone(&view.encoding.system);
        let purpose = Purpose { part: "sets", claims: questions.iter().map(|q| q.claim).collect() };
        let common: Vec<SymbolId> = system.vars().iter().map(|v| v.current).collect();
        let cubes = Cubes::new(&view.encoding);
        let mut search = BackwardSearch {
            open: vec![true; questions.len()],
            query: Query::new(purpose, common),
            forward: Forward::new(&system),
            cubes,
            pre: PreImages::new(),
            entries: Vec::new(),
            at_node: vec![Vec::new(); system.nodes().len()],
            by_cube: FxHashMap::default(),
            roots: [Vec::new(), Vec::new()],
            frontier: Vec::new(),
            next: Vec::new(),
            next_at: FxHashMap::default(),
            level: 0,
            stage: Stage::Probing(0),
            bidirectional: Bidirectional::new(&system, questions.len()),
            cursor: Cursor::default(),
            lemmas: vec![Vec::new(); system.nodes().len()],
            excluded: FxHashSet::default(),
            lemmas_used: false,
            tried: FxHashSet::default(),
            obstacles: Vec::new(),
            used: Duration::ZERO,
            view,
            questions,
        };
        search.make_roots(context);
        search
    }

    /// The claims that are not decided yet.
    pub(super) fn claims(&self) -> impl Iterator<Item = ClaimId> + '_ {
        self.questions.iter().zip(&self.open).filter(|(_, open)| **open).map(|(q, _)| q.claim)
    }

    /// True if no question is open.
    pub(super) fn is_over(&self) -> bool {
        !self.open.contains(&true)
    }

    /// Why a claim is not decided.
    pub(super) fn obstacle(&self, claim: ClaimId) -> Option<String> {
        if let Some((_, why)) = self.obstacles.iter().rev().find(|(c, _)| *c == claim) {
            return Some(why.clone());
        }
        let at = self.questions.iter().position(|q| q.claim == claim)?;
        let level = self.level.checked_sub(1)?;
        let leftover = self
            .entries
            .iter()
            .any(|e| e.labels.contains(at as u32) && !self.cubes.get(e.cube).leftover.is_empty());
        let mut text = format!("no fixpoint within {} back", steps(level));
        if leftover {
            text.push_str(
                "; some parameters could not be eliminated, so it may never be found: a linear guard would help",
            );
        }
        Some(text)
    }

    fn make_roots(&mut self, context: &EngineContext) {
        let system = Arc::clone(&self.view.encoding.system);
        for label in 0..self.questions.len() {
            let targets = self.questions[label].targets.clone();
            let mut roots = 0;
            for target in targets {
                let e = &mut self.view.encoding;
                let mut at = |node: NodeId, term: TermId, level: usize, via: EntryOrigin| {
                    // Skip nodes that are unreachable in the control graph.
                    if self.bidirectional.add_target(label, node, level as u32) {
                        self.roots[level].push(Root {
                            node,
                            term,
                            label: label as u32,
                            via,
                            parts: None,
                        });
                        roots += 1;
                    }
                };
                match target.place {
                    Place::Anywhere => {
                        for n in system.node_ids() {
                            at(n, target.formula, 0, EntryOrigin::Target);
                        }
                    }
                    Place::At(n) => at(n, target.formula, 0, EntryOrigin::Target),
                    Place::Taking(t) => {
                        let own = own_params(e, t, target.formula);
                        at(system.transition(t).source, own, 1, EntryOrigin::Taking(t, own));
                    }
                    Place::Beginning(s) => {
                        self.ask_start(context, label, s);
                        roots += 1;
                    }
                }
            }
            if roots == 0 {
                self.never_met(context, &[label]);
            }
        }
    }

    /// Decides a claim about a start alone.
    fn ask_start(&mut self, context: &EngineContext, label: usize, s: StartId) {
        self.open[label] = false;
        let claim = self.questions[label].claim;
        let formula = self.start_formula(s);
        let system = Arc::clone(&self.view.encoding.system);
        let wanted: Vec<SymbolId> = system.vars().iter().map(|v| v.current).collect();
        match self.query.solve(
            context,
            &self.view.encoding.pool,
            &[formula],
            &wanted,
            LIMITS.start_query,
        ) {
            Solved::Model(values) => {
                // Another start may give the same state, so the run names this one.
                let first = State { node: system.starts()[s.index()].target, values };
                let run = Run { start: s, first, legs: gander_system::Legs::new() };
                if let Some(verdict) = self.view.met(&self.questions[label], run) {
                    context.propose(claim, verdict);
                }
            }
            Solved::Nothing => {
                context.propose(claim, self.questions[label].never_met(Evidence::Refutation))
            }
            Solved::Unknown(reason) => self.obstacles.push((claim, reason.to_string())),
        }
    }

    pub(super) fn start_formula(&mut self, s: StartId) -> TermId {
        let e = &mut self.view.encoding;
        let system = Arc::clone(&e.system);
        let constraint = system.start_term(&mut e.pool, s);
        let assumption = self.pre.assumption(e, system.starts()[s.index()].target);
        e.pool.and([constraint, assumption])
    }

    /// Works for one turn.
    pub(super) fn advance(&mut self, context: &EngineContext) {
        let begun = Instant::now();
        for (q, open) in self.questions.iter().zip(&mut self.open) {
            *open &= context.is_open(q.claim);
        }
        self.read_facts(context);
        while begun.elapsed() < LIMITS.turn && !self.is_over() && !context.is_cancelled() {
            if self.entries.len() > LIMITS.entries {
                self.give_up("its sets of states have become too many: memory");
                break;
            }
            self.work(context);
        }
        self.settle_old(context);
        self.used += begun.elapsed();
    }

    fn give_up(&mut self, why: &str) {
        let claims: Vec<ClaimId> = self.claims().collect();
        self.obstacles.extend(claims.into_iter().map(|c| (c, why.to_string())));
        self.open.fill(false);
    }

    /// Does a unit of work: a root, an entry, or the end of a level.
    fn work(&mut self, context: &EngineContext) {
        match self.stage {
            Stage::Probing(i) => {
                let more = self.probe(context, i);
                self.stage = match (more, self.level) {
                    (true, _) => Stage::Probing(i + 1),
                    (false, 0) => Stage::Lemmas(0),
                    (false, _) => Stage::Roots(0),
                };
            }
            Stage::Lemmas(i) => {
                let (first, second) = (self.roots[0].len(), self.roots[1].len());
                let (level, at) = if i < first { (0, i) } else { (1, i - first) };
                if at < second || level == 0 {
                    self.try_lemmas(context, level, at);
                    self.stage = Stage::Lemmas(i + 1);
                } else {
                    self.stage = Stage::Roots(0);
                }
            }
            Stage::Roots(i) => {
                let roots = self.roots.get(self.level as usize);
                let Some(root) = roots.and_then(|r| r.get(i)) else {
                    self.stage = Stage::Frontier(0);
                    return;
                };
                let (node, label, via) = (root.node, root.label, root.via);
                self.stage = Stage::Roots(i + 1);
                if self.open[label as usize] {
                    for &part in self.root_parts(self.level as usize, i).iter() {
                        self.add_cube(context, node, part, Labels::one(label), via);
                    }
                }
            }
            Stage::Frontier(i) => {
                let Some((at, labels)) = self.frontier.get_mut(i) else {
                    return self.end_level(context);
                };
                let (at, mut labels) = (*at, std::mem::take(labels));
                self.stage = Stage::Frontier(i + 1);
                let here = self.entries[at].node;
                labels.retain(|l| {
                    self.open[l as usize]
                        && self.bidirectional.could_improve(l, here, self.level - 1)
                });
                if labels.is_empty() {
                    return;
                }
                let system = Arc::clone(&self.view.encoding.system);
                let (node, term) =
                    (self.entries[at].node, self.cubes.get(self.entries[at].cube).term);
                for &t in system.entering(node) {
                    let parts = self.pre.pre(&mut self.view.encoding, t, term);
                    for &part in parts.iter() {
                        self.add_cube(
                            context,
                            system.transition(t).source,
                            part,
                            labels.clone(),
                            EntryOrigin::Step(t, at),
                        );
                    }
                    if context.is_cancelled() {
                        return;
                    }
                }
            }
        }
    }

    /// The disjuncts of a root.
    pub(super) fn root_parts(&mut self, level: usize, i: usize) -> Arc<[TermId]> {
        let root = &self.roots[level][i];
        if let Some(known) = &root.parts {
            return Arc::clone(known);
        }
        let (node, term) = (root.node, root.term);
        let e = &mut self.view.encoding;
        let parts = if let EntryOrigin::Taking(t, _) = root.via {
            let target = e.system.transition(t).target;
            let assumption = self.pre.assumption(e, target);
            self.pre.pre_with(e, t, assumption, term)
        } else {
            let assumption = self.pre.assumption(e, node);
            let body = e.pool.and([assumption, term]);
            let system = Arc::clone(&e.system);
            let mut bound = e.pool.free_symbols(&[body]);
            bound.retain(|s| system.vars().iter().all(|v| v.current != *s));
            self.pre.project(e, &bound, body)
        };
        let parts: Arc<[TermId]> = parts.into();
        self.roots[level][i].parts = Some(Arc::clone(&parts));
        parts
    }

    /// Adds a cube at a node from which the labels' targets are reachable in as many steps as the
    /// level.
    fn add_cube(
        &mut self,
        context: &EngineContext,
        node: NodeId,
        term: TermId,
        mut labels: Labels,
        via: EntryOrigin,
    ) {
        labels.retain(|l| {
            self.open[l as usize] && self.bidirectional.could_improve(l, node, self.level)
        });
        if labels.is_empty() {
            return;
        }
        let pool = &self.view.encoding.pool;
        let Some(cube) = self.cubes.cube(context, pool, &mut self.query, term) else { return };
        let at = match self.by_cube.get(&(node, cube)) {
            Some(&at) => at,
            None => match self.new_entry(context, node, cube) {
                Some(at) => at,
                None => return,
            },
        };
        let entry = &self.entries[at];
        labels.remove(&entry.labels);
        for &above in &entry.above {
            labels.remove(&self.entries[above].labels);
        }
        if !labels.is_empty() && matches!(entry.start, Start::Nowhere) {
            self.remove_covered(context, at, &mut labels);
        }
        if labels.is_empty() {
            return;
        }
        let entry = &mut self.entries[at];
        entry.labels.add(&labels);
        entry.events.push((labels.clone(), via, self.level));
        if let Start::Unknown(reason) = entry.start.clone() {
            for label in labels.iter() {
                self.open[label as usize] = false;
                let claim = self.questions[label as usize].claim;
                self.obstacles.push((claim, format!("whether a start state is reached: {reason}")));
            }
            return;
        }
        let known = match entry.start {
            Start::Here(state) => Some(state),
            _ => self.forward.nearest(&self.view.encoding.pool, &self.cubes, node, cube),
        };
        if let Some(state) = known {
            self.met(context, at, state, &labels, self.level);
            labels.retain(|l| {
                self.open[l as usize] && self.bidirectional.could_improve(l, node, self.level)
            });
        }
        match self.next_at.get(&at) {
            _ if labels.is_empty() => {}
            Some(&i) => self.next[i].1.add(&labels),
            None => {
                self.next_at.insert(at, self.next.len());
                self.next.push((at, labels));
            }
        }
    }

    /// Creates an entry; `None` if lemmas exclude its states.
    fn new_entry(&mut self, context: &EngineContext, node: NodeId, cube: CubeId) -> Option<usize> {
        let pool = &mut self.view.encoding.pool;
        let lemmas = &self.lemmas[node.index()];
        if self.excluded.contains(&(node, cube)) {
            return None;
        }
        if !lemmas.is_empty() {
            let mut formulas = vec![self.cubes.get(cube).term];
            formulas.extend_from_slice(lemmas);
            if self.query.solve(context, pool, &formulas, &[], LIMITS.start_query)
                == Solved::Nothing
            {
                self.lemmas_used = true;
                self.excluded.insert((node, cube));
                return None;
            }
        }
        let at = self.entries.len();
        let mut above = Vec::new();
        for i in 0..self.at_node[node.index()].len() {
            let other = self.at_node[node.index()][i];
            let theirs = self.entries[other].cube;
            if self.cubes.is_within(context, pool, &mut self.query, cube, theirs) {
                above.push(other);
            }
            if self.cubes.is_within(context, pool, &mut self.query, theirs, cube) {
                self.entries[other].above.push(at);
            }
        }
        let start = self.start_in(context, node, cube);
        self.by_cube.insert((node, cube), at);
        self.at_node[node.index()].push(at);
        let (labels, events) = (Labels::default(), Vec::new());
        self.entries.push(Entry { node, cube, labels, events, above, start });
        Some(at)
    }

    fn start_in(&mut self, context: &EngineContext, node: NodeId, cube: CubeId) -> Start {
        let system = Arc::clone(&self.view.encoding.system);
        let starts: Vec<usize> =
            (0..system.starts().len()).filter(|&s| system.starts()[s].target == node).collect();
        if starts.is_empty() {
            return Start::Nowhere;
        }
        let known = self.forward.nearest(&self.view.encoding.pool, &self.cubes, node, cube);
        if let Some(at) = known.filter(|&at| self.forward.depth(at) == 0) {
            return Start::Here(at);
        }
        let wanted: Vec<SymbolId> = system.vars().iter().map(|v| v.current).collect();
        let mut undecided = None;
        for s in starts {
            let s = StartId::from(s);
            let formulas = [self.start_formula(s), self.cubes.get(cube).term];
            match self.query.solve(
                context,
                &self.view.encoding.pool,
                &formulas,
                &wanted,
                LIMITS.start_query,
            ) {
                Solved::Model(values) => {
                    let at = self.forward.begin(s, values);
                    return Start::Here(at);
                }
                Solved::Nothing => {}
                Solved::Unknown(reason) => undecided = Some(reason),
            }
        }
        undecided.map_or(Start::Nowhere, Start::Unknown)
    }

    /// Removes the labels whose cubes at the node together contain the entry.
    fn remove_covered(&mut self, context: &EngineContext, at: usize, labels: &mut Labels) {
        let (node, cube) = (self.entries[at].node, self.entries[at].cube);
        if self.at_node[node.index()].len() < 3 {
            return;
        }
        let mut groups: Vec<(Vec<CubeId>, Labels)> = Vec::new();
        for label in labels.iter() {
            let others = self.at_node[node.index()]
                .iter()
                .filter(|&&o| self.entries[o].labels.contains(label));
            let others: Vec<CubeId> = others.map(|&o| self.entries[o].cube).collect();
            let known = groups.iter().position(|(cubes, _)| *cubes == others);
            match known {
                Some(i) => groups[i].1.add(&Labels::one(label)),
                None if groups.len() < LIMITS.unions => groups.push((others, Labels::one(label))),
                None => break,
            }
        }
        for (others, group) in groups {
            let pool = &mut self.view.encoding.pool;
            if self.cubes.is_within_union(context, pool, &mut self.query, cube, &others) {
                labels.remove(&group);
            }
        }
    }

    fn end_level(&mut self, context: &EngineContext) {
        let level = self.level;
        let mut alive = vec![false; self.questions.len()];
        for (at, labels) in &self.next {
            let node = self.entries[*at].node;
            let pursued =
                labels.iter().filter(|&l| self.bidirectional.could_improve(l, node, level));
            pursued.for_each(|l| alive[l as usize] = true);
        }
        if level == 0 {
            self.roots[1].iter().for_each(|r| alive[r.label as usize] = true);
        }
        let (mut fixed, mut found) = (Vec::new(), Vec::new());
        for (label, alive) in alive.into_iter().enumerate().filter(|(label, _)| self.open[*label]) {
            let known = self.bidirectional.best(label as u32).is_some();
            if !known {
                self.view.raise_bound(context.blackboard(), self.questions[label].claim, level);
            }
            match (alive, known) {
                (true, _) => {}
                (false, true) => found.push(label as u32),
                (false, false) => fixed.push(label),
            }
        }
        found.into_iter().for_each(|label| self.settle_shortest(context, label));
        self.never_met(context, &fixed);
        let size = self.next.len();
        context.progress(
            Some(level),
            format!("level {level}: {size} new sets, {} in all", self.entries.len()),
        );
        self.frontier = std::mem::take(&mut self.next);
        self.next_at.clear();
        self.level += 1;
        self.stage = if self.doubles_probes() { Stage::Probing(0) } else { Stage::Roots(0) };
        if let Some(max) =
            context.config().options.max_depth.filter(|&max| self.level > self.view.depth(max))
        {
            self.give_up(&format!("no fixpoint within {} back, which is the limit", steps(max)));
        }
    }
}

/// Replaces shared parameters in a formula by the parameters of `t`.
fn own_params(
    e: &mut crate::encode::encoding::Encoding,
    t: TransitionId,
    formula: TermId,
) -> TermId {
    let system = Arc::clone(&e.system);
    let shared = e.params(t);
    let mut map = FxHashMap::default();
    for (p, s) in system.transition(t).params.iter().zip(shared) {
        map.insert(s, e.pool.var(p.symbol));
    }
    e.pool.substitute(formula, &map)
}

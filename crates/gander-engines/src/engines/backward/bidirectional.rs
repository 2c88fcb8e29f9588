//! Bidirectional search: matches visited states with cubes. Keeps the shortest known run of each
//! question, and decides whether a shorter one is possible.

use std::collections::VecDeque;
use std::sync::Arc;

use gander_system::{NodeId, StartId, System, TransitionId};
use gander_term::SymbolId;

use super::forward::{Into, Tools};
use super::labels::Labels;
use super::limits::LIMITS;
use super::search::{BackwardSearch, EntryOrigin};
use crate::core::EngineContext;
use crate::encode::query::Solved;

/// The shortest known run of a question: a visited state in an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Best {
    pub length: u32,
    entry: usize,
    state: usize,
    /// The number of entries when the first run was found.
    since: usize,
}

/// See the module's documentation.
pub(super) struct Bidirectional {
    /// By node: its distance from a start in the control graph.
    distance: Vec<Option<u32>>,
    /// By label.
    best: Vec<Option<Best>>,
    /// By label: a lower bound on the length of its runs.
    least: Vec<u32>,
    /// The number of states to visit at each node.
    probes: usize,
}

impl Bidirectional {
    pub(super) fn new(system: &System, labels: usize) -> Bidirectional {
        let mut distance = vec![None; system.nodes().len()];
        let mut waiting = VecDeque::new();
        for start in system.starts() {
            if distance[start.target.index()].is_none() {
                distance[start.target.index()] = Some(0);
                waiting.push_back(start.target);
            }
        }
        while let Some(n) = waiting.pop_front() {
            let far = distance[n.index()].map(|d: u32| d + 1);
            for &t in system.leaving(n) {
                let target = system.transition(t).target;
                if distance[target.index()].is_none() {
                    distance[target.index()] = far;
                    waiting.push_back(target);
                }
            }
        }
        Bidirectional {
            distance,
            best: vec![None; labels],
            least: vec![u32::MAX; labels],
            probes: LIMITS.first_probes,
        }
    }

    /// True if the node is reachable in the control graph.
    pub(super) fn is_within_reach(&self, n: NodeId) -> bool {
        self.distance[n.index()].is_some()
    }

    /// Records a target of a question at a node and level; false if the node is unreachable.
    pub(super) fn add_target(&mut self, label: usize, n: NodeId, level: u32) -> bool {
        let Some(far) = self.distance[n.index()] else { return false };
        self.least[label] = self.least[label].min(far + level);
        true
    }

    pub(super) fn best(&self, label: u32) -> Option<Best> {
        self.best[label as usize]
    }

    /// True if a run through the node, with `level` more steps, can be shorter than the best one.
    pub(super) fn could_improve(&self, label: u32, n: NodeId, level: u32) -> bool {
        match (self.distance[n.index()], self.best[label as usize]) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(far), Some(best)) => far + level < best.length,
        }
    }
}

impl BackwardSearch {
    /// Records that a visited state is in an entry at which the labels arrived at `level`.
    pub(super) fn met(
        &mut self,
        context: &EngineContext,
        entry: usize,
        state: usize,
        labels: &Labels,
        level: u32,
    ) {
        let length = self.forward.depth(state) + level;
        for label in labels.iter().filter(|&l| self.open[l as usize]) {
            let at = label as usize;
            if self.bidirectional.best[at].is_none_or(|b| length < b.length) {
                let since = self.bidirectional.best[at].map_or(self.entries.len(), |b| b.since);
                self.bidirectional.best[at] = Some(Best { length, entry, state, since });
            }
        }
        for label in labels.iter() {
            let at = label as usize;
            let shortest = self.bidirectional.best[at]
                .is_some_and(|b| b.length <= self.bidirectional.least[at]);
            // A start state at the current level: all lower levels are complete.
            let first = self.forward.depth(state) == 0 && level == self.level;
            if self.open[at]
                && (shortest
                    || first && self.bidirectional.best[at].is_some_and(|b| b.length == level))
            {
                self.settle_shortest(context, label);
            }
        }
    }

    /// Proposes the best run of a question, which is shortest, and publishes the bound.
    pub(super) fn settle_shortest(&mut self, context: &EngineContext, label: u32) {
        let claim = self.questions[label as usize].claim;
        let shorter = self.bidirectional.best[label as usize].and_then(|b| b.length.checked_sub(1));
        if let Some(length) = shorter.filter(|_| self.open[label as usize]) {
            self.view.raise_bound(context.blackboard(), claim, length);
        }
        self.settle(context, label);
    }

    /// Proposes the best runs of questions whose effort for a shorter one is spent.
    pub(super) fn settle_old(&mut self, context: &EngineContext) {
        let made = self.entries.len();
        for label in 0..self.open.len() {
            if self.open[label]
                && self.bidirectional.best[label]
                    .is_some_and(|b| made - b.since > LIMITS.shorter_entries)
            {
                self.settle(context, label as u32);
            }
        }
    }

    /// True if more states should be visited, because an open question has no run. Doubles the
    /// limit.
    pub(super) fn doubles_probes(&mut self) -> bool {
        let lost =
            (0..self.open.len()).any(|l| self.open[l] && self.bidirectional.best[l].is_none());
        let wants = lost && self.level >= 3 && self.bidirectional.probes < LIMITS.probes;
        if wants {
            self.bidirectional.probes *= 2;
        }
        wants
    }

    /// Proposes the best run of a question and closes it.
    fn settle(&mut self, context: &EngineContext, label: u32) {
        let Some(best) = self.bidirectional.best[label as usize] else { return };
        if std::mem::replace(&mut self.open[label as usize], false) {
            let path = self.path(label, best.entry);
            let before = self.forward.len();
            self.propose_run(context, label as usize, best.state, &path);
            for state in before..self.forward.len() {
                self.match_entries(context, state);
            }
        }
    }

    /// Searches the existing entries for a newly visited state.
    fn match_entries(&mut self, context: &EngineContext, state: usize) {
        let node = self.forward.state(state).node;
        let depth = self.forward.depth(state);
        let mut found = Vec::new();
        for &at in &self.at_node[node.index()] {
            let entry = &self.entries[at];
            for (labels, _, level) in &entry.events {
                let mut labels = labels.clone();
                labels.retain(|l| {
                    let best = self.bidirectional.best[l as usize];
                    self.open[l as usize] && best.is_none_or(|b| depth + level < b.length)
                });
                if !labels.is_empty() {
                    found.push((at, labels, *level));
                }
            }
        }
        for (at, labels, level) in found {
            let (cube, values) = (self.entries[at].cube, &self.forward.state(state).values);
            if self.cubes.holds(&self.view.encoding.pool, cube, values) == Some(true) {
                self.met(context, at, state, &labels, level);
            }
        }
    }

    /// The path from an entry to the target of a label.
    fn path(&self, label: u32, mut at: usize) -> Vec<(TransitionId, Into)> {
        let mut path = Vec::new();
        loop {
            let event = self.entries[at].events.iter().find(|(labels, ..)| labels.contains(label));
            match event.map(|(_, via, _)| *via) {
                Some(EntryOrigin::Step(t, to)) => {
                    path.push((t, Into::Cube(self.entries[to].cube)));
                    at = to;
                }
                Some(EntryOrigin::Taking(t, formula)) => {
                    path.push((t, Into::Anything(formula)));
                    return path;
                }
                Some(EntryOrigin::Target) | None => return path,
            }
        }
    }

    pub(super) fn propose_run(
        &mut self,
        context: &EngineContext,
        label: usize,
        from: usize,
        path: &[(TransitionId, Into)],
    ) {
        let (e, query, cubes, pre) =
            (&mut self.view.encoding, &mut self.query, &self.cubes, &mut self.pre);
        let mut tools = Tools { context, e, query, cubes, pre, time_limit: LIMITS.run_query };
        let question = &self.questions[label];
        match self.forward.path(&mut tools, from, path) {
            Ok(path) => {
                if let Some(verdict) = path.into_run().and_then(|run| self.view.met(question, run))
                {
                    context.propose(question.claim, verdict);
                }
            }
            Err(reason) => {
                self.obstacles.push((question.claim, format!("the run that was found: {reason}")))
            }
        }
    }

    /// Takes steps from the visited state with this index; at first, adds start states. False if
    /// there is no such state.
    pub(super) fn probe(&mut self, context: &EngineContext, at: usize) -> bool {
        let system = Arc::clone(&self.view.encoding.system);
        if at == 0 && self.level == 0 {
            let wanted: Vec<SymbolId> = system.vars().iter().map(|v| v.current).collect();
            for s in (0..system.starts().len()).map(StartId::from) {
                let formula = self.start_formula(s);
                let pool = &self.view.encoding.pool;
                if let Solved::Model(values) =
                    self.query.solve(context, pool, &[formula], &wanted, LIMITS.run_query)
                {
                    self.forward.begin(s, values);
                }
            }
        }
        if at >= self.forward.len() {
            return false;
        }
        let before = self.forward.len();
        for &t in system.leaving(self.forward.state(at).node) {
            let enough = self.forward.at_node(system.transition(t).target).len()
                >= self.bidirectional.probes;
            if enough || self.forward.has_left(at, t) || context.is_cancelled() {
                continue;
            }
            let (e, query, cubes, pre) =
                (&mut self.view.encoding, &mut self.query, &self.cubes, &mut self.pre);
            let mut tools = Tools { context, e, query, cubes, pre, time_limit: LIMITS.probe_query };
            self.forward.probe(&mut tools, at, t);
        }
        for state in before..self.forward.len() {
            self.match_entries(context, state);
        }
        true
    }
}

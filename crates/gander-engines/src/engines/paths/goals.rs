//! Goals: the open targets by place, and their distances in the control graph.

use std::collections::VecDeque;

use gander_system::{NodeId, StartId, System, TransitionId};
use gander_term::{SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::encode::encoding::Encoding;
use crate::encode::question::{Place, Question};

/// A target at a node: its question, its formula, and the parameters in it.
pub(super) type NodeGoal = (usize, TermId, Vec<SymbolId>);

/// The targets of all open questions.
pub(super) struct Goals {
    open: Vec<bool>,
    at: Vec<Vec<NodeGoal>>,
    taking: FxHashMap<TransitionId, Vec<(usize, TermId)>>,
    starts: FxHashMap<StartId, Vec<usize>>,
    /// By node: the distance in the control graph to the nearest target.
    distance: Vec<Option<u32>>,
    stale: bool,
}

impl Goals {
    pub(super) fn new(e: &mut Encoding, questions: &[Question]) -> Goals {
        let nodes = e.system.nodes().len();
        let mut goals = Goals {
            open: vec![true; questions.len()],
            at: vec![Vec::new(); nodes],
            taking: FxHashMap::default(),
            starts: FxHashMap::default(),
            distance: vec![Some(0); nodes],
            stale: true,
        };
        for (label, question) in questions.iter().enumerate() {
            for target in &question.targets {
                let mut choices = e.pool.free_symbols(&[target.formula]);
                choices.retain(|s| e.system.vars().iter().all(|v| v.current != *s));
                match target.place {
                    Place::Anywhere => {
                        for at in &mut goals.at {
                            at.push((label, target.formula, choices.clone()));
                        }
                    }
                    Place::At(n) => goals.at[n.index()].push((label, target.formula, choices)),
                    Place::Taking(t) => {
                        goals.taking.entry(t).or_default().push((label, target.formula))
                    }
                    Place::Beginning(s) => goals.starts.entry(s).or_default().push(label),
                }
            }
        }
        goals
    }

    pub(super) fn is_open(&self, label: usize) -> bool {
        self.open[label]
    }

    /// The questions that are open.
    pub(super) fn open(&self) -> Vec<usize> {
        (0..self.open.len()).filter(|&l| self.open[l]).collect()
    }

    pub(super) fn is_over(&self) -> bool {
        !self.open.contains(&true)
    }

    /// Closes a question.
    pub(super) fn close(&mut self, label: usize) {
        self.stale |= std::mem::replace(&mut self.open[label], false);
    }

    /// The targets at a node.
    pub(super) fn at(&self, n: NodeId) -> Vec<NodeGoal> {
        self.at[n.index()].iter().filter(|(label, ..)| self.open[*label]).cloned().collect()
    }

    /// The targets that are steps of a transition.
    pub(super) fn of_step(&self, t: TransitionId) -> Vec<(usize, TermId)> {
        let all = self.taking.get(&t).into_iter().flatten();
        all.filter(|(label, _)| self.open[*label]).copied().collect()
    }

    /// The questions about a start.
    pub(super) fn of_start(&self, s: StartId) -> Vec<usize> {
        self.starts.get(&s).into_iter().flatten().copied().filter(|&l| self.open[l]).collect()
    }

    /// Removes the targets of a question at a node.
    pub(super) fn exclude(&mut self, n: NodeId, label: usize) {
        self.at[n.index()].retain(|(l, ..)| *l != label);
        self.stale = true;
    }

    /// Open questions without any target left.
    pub(super) fn without_targets(&self) -> Vec<usize> {
        let mut has = vec![false; self.open.len()];
        self.at.iter().flatten().for_each(|(l, ..)| has[*l] = true);
        self.taking.values().flatten().for_each(|(l, _)| has[*l] = true);
        self.starts.values().flatten().for_each(|l| has[*l] = true);
        (0..has.len()).filter(|&l| self.open[l] && !has[l]).collect()
    }

    /// The number of steps in the control graph to the nearest target.
    pub(super) fn distance(&self, n: NodeId) -> Option<u32> {
        self.distance[n.index()]
    }

    /// Recomputes the distances if goals changed.
    pub(super) fn measure(&mut self, system: &System) {
        if !std::mem::replace(&mut self.stale, false) {
            return;
        }
        for at in &mut self.at {
            at.retain(|(label, ..)| self.open[*label]);
        }
        self.distance.fill(None);
        let mut waiting = VecDeque::new();
        let taken =
            self.taking.iter().filter(|(_, goals)| goals.iter().any(|(l, _)| self.open[*l]));
        let sources = taken.map(|(&t, _)| system.transition(t).source);
        for n in system.node_ids().filter(|n| !self.at[n.index()].is_empty()).chain(sources) {
            if self.distance[n.index()].is_none() {
                self.distance[n.index()] = Some(0);
                waiting.push_back(n);
            }
        }
        while let Some(n) = waiting.pop_front() {
            let far = self.distance[n.index()].map(|d| d + 1);
            for &t in system.entering(n) {
                let source = system.transition(t).source;
                if self.distance[source.index()].is_none() {
                    self.distance[source.index()] = far;
                    waiting.push_back(source);
                }
            }
        }
    }
}

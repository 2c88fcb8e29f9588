//! The graph of all reachable states, once an exploration is complete.
//!
//! For analyses of the whole graph: strongly connected components, lassos, backward search. To use it from another engine:
//!
//! 1. make a [`Machine`] of the system with the formulas that matter as state targets, one goal each, and an
//!    [`Explorer`] of that;
//! 2. let it [`Explorer::advance`] with no goal open until it is [`super::explore::Phase::Complete`];
//! 3. [`Graph::new`]; states are `0 .. len()`, breadth first. [`Graph::edges`] lists the steps, [`Graph::label`] says
//!    which states meet a goal, [`Graph::step`] gives a step with parameters, [`Graph::run_to`] a shortest run.

use gander_system::{NodeId, Run, State, Step, TransitionId};

use super::code::Trouble;
use super::explore::{Explorer, Stop};

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Graph {
    explorer: Explorer,
}

/// The steps of a graph: those from state `i` are at `first[i] .. first[i + 1]`. Steps that differ in parameters only are
/// listed once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edges {
    pub first: Vec<usize>,
    pub to: Vec<u32>,
    pub by: Vec<TransitionId>,
}

#[allow(dead_code, reason = "for analyses of the whole graph by other engines")]
impl Edges {
    /// The steps from a state: where to, and by which transition.
    pub(crate) fn from(&self, i: u32) -> impl Iterator<Item = (u32, TransitionId)> + '_ {
        let range = self.first[i as usize]..self.first[i as usize + 1];
        range.map(|e| (self.to[e], self.by[e]))
    }

    /// The states from which one of the marked states can be reached, the marked ones included.
    pub(crate) fn can_reach(&self, marked: &[bool]) -> Vec<bool> {
        let states = self.first.len() - 1;
        let mut first = vec![0usize; states + 1];
        for &to in &self.to {
            first[to as usize + 1] += 1;
        }
        for i in 0..states {
            first[i + 1] += first[i];
        }
        let mut free = first.clone();
        let mut sources = vec![0u32; self.to.len()];
        for i in 0..states {
            for e in self.first[i]..self.first[i + 1] {
                let at = &mut free[self.to[e] as usize];
                sources[*at] = i as u32;
                *at += 1;
            }
        }
        let mut reach = marked.to_vec();
        let mut stack: Vec<usize> = (0..states).filter(|&i| marked[i]).collect();
        while let Some(i) = stack.pop() {
            for &source in &sources[first[i]..first[i + 1]] {
                if !std::mem::replace(&mut reach[source as usize], true) {
                    stack.push(source as usize);
                }
            }
        }
        reach
    }
}

#[allow(dead_code, reason = "for analyses of the whole graph by other engines")]
impl Graph {
    /// The graph that a complete exploration has found.
    pub(crate) fn new(explorer: Explorer) -> Graph {
        Graph { explorer }
    }

    pub(crate) fn explorer(&self) -> &Explorer {
        &self.explorer
    }

    /// The number of states.
    pub(crate) fn len(&self) -> usize {
        self.explorer.states()
    }

    pub(crate) fn state(&self, i: u32) -> State {
        self.explorer.state(i)
    }

    pub(crate) fn node(&self, i: u32) -> NodeId {
        self.explorer.node(i)
    }

    /// A shortest run to a state.
    pub(crate) fn run_to(&self, i: u32) -> Option<Run> {
        self.explorer.run_to(i)
    }

    /// The start states, each once.
    pub(crate) fn starts(&self) -> Vec<u32> {
        let mut found = Vec::new();
        self.explorer.each_start(&mut |_, at| {
            found.extend(at);
            false
        });
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The step by a transition between two states, with parameters.
    pub(crate) fn step(&self, from: u32, by: TransitionId, to: u32) -> Option<Step> {
        self.explorer.step_between(from, Some(by), to)
    }

    /// By state: whether it meets a state target of this goal.
    pub(crate) fn label(&self, goal: usize, goals: usize, cancelled: &dyn Fn() -> bool) -> Result<Vec<bool>, Stop> {
        let mut open = vec![false; goals];
        open[goal] = true;
        let mut w = self.explorer.machine.worker();
        let mut label = Vec::with_capacity(self.len());
        for i in 0..self.len() as u32 {
            if i % 1024 == 0 && cancelled() {
                return Err(Stop::Cancelled);
            }
            label.push(self.explorer.meets(i, goal, &open, &mut w).map_err(Stop::Trouble)?);
        }
        Ok(label)
    }

    /// All steps, in the order of the states that they leave; `memory` bounds their bytes.
    pub(crate) fn edges(&self, memory: u64, cancelled: &dyn Fn() -> bool) -> Result<Edges, Stop> {
        let mut edges = Edges::default();
        let mut w = self.explorer.machine.worker();
        edges.first.push(0);
        for i in 0..self.len() as u32 {
            if i % 256 == 0 && cancelled() {
                return Err(Stop::Cancelled);
            }
            let from = edges.to.len();
            let mut missing = false;
            let result = self.explorer.steps_from(i, &mut w, cancelled, &mut |t, _, next| {
                let Some(next) = next else {
                    missing = true;
                    return true;
                };
                if !(edges.to.last() == Some(&next) && edges.by.last() == Some(&t) && edges.to.len() > from) {
                    edges.to.push(next);
                    edges.by.push(t);
                }
                false
            });
            match result {
                Err(Trouble::Cancelled) => return Err(Stop::Cancelled),
                Err(t) => return Err(Stop::Trouble(t)),
                Ok(()) => {}
            }
            // An exploration that is complete misses no state.
            debug_assert!(!missing, "a state that was not met");
            edges.first.push(edges.to.len());
            if 16 * edges.to.len() as u64 > memory {
                return Err(Stop::Memory);
            }
        }
        Ok(edges)
    }
}

//! The graph of all reachable states, after a complete exploration.
//!
//! For analyses of the whole graph: strongly connected components, lassos, backward search. How to
//! use it:
//!
//! 1. Create a [`Machine`](crate::concrete::compiled::machine::Machine) of the system, with the
//!    relevant formulas as state targets, one goal each, and an [`Explorer`].
//! 2. Call [`Explorer::advance`] without open goals until it is
//!    [`super::explore::Phase::Complete`].
//! 3. Create a [`Graph`]. States are `0 .. len()`, breadth first. [`Graph::edges`] lists the steps,
//!    [`Graph::label`] tells which states meet a goal, [`Graph::step`] gives a step with
//!    parameters, [`Graph::run_to`] a shortest run.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use gander_runtime::Cancellation;
use gander_system::{NodeId, Run, Step, TransitionId, strongly_connected_components};
use rustc_hash::FxHashMap;

use super::explore::{Explorer, Stop};
use crate::concrete::compiled::code::StepError;

/// See the module's documentation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Graph<'a> {
    explorer: &'a Explorer,
}

/// The steps of a graph: those from state `i` are at `first[i] .. first[i + 1]`. Consecutive steps
/// that differ only in parameters are listed once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edges {
    pub first: Vec<usize>,
    pub to: Vec<u32>,
    pub by: Vec<TransitionId>,
}

impl Edges {
    /// The steps from a state: targets and transitions.
    pub(crate) fn from(&self, i: u32) -> impl Iterator<Item = (u32, TransitionId)> + '_ {
        let range = self.first[i as usize]..self.first[i as usize + 1];
        range.map(|e| (self.to[e], self.by[e]))
    }

    /// By state: its strongly connected component in the subgraph of `within`; `None` outside.
    /// Steps between components lead to smaller numbers.
    pub(crate) fn components(&self, within: &[bool]) -> Vec<Option<u32>> {
        let states = self.first.len() - 1;
        // A step that leaves the set is treated as a self-loop, which changes no component.
        let successor = |i: usize, k: usize| {
            let to = *self.to[self.first[i]..self.first[i + 1]].get(k)? as usize;
            Some(if within[to] { to } else { i })
        };
        strongly_connected_components(states, (0..states).filter(|&i| within[i]), successor)
    }

    /// By component: whether it has an inner step.
    pub(crate) fn cyclic(&self, parts: &[Option<u32>]) -> Vec<bool> {
        let mut cyclic =
            vec![false; parts.iter().flatten().max().map_or(0, |&last| last as usize + 1)];
        for i in 0..parts.len() {
            let Some(c) = parts[i] else { continue };
            cyclic[c as usize] |= self.from(i as u32).any(|(to, _)| parts[to as usize] == Some(c));
        }
        cyclic
    }

    /// A shortest cycle through a state within its component, as triples of source, transition and
    /// target.
    pub(crate) fn cycle(
        &self,
        parts: &[Option<u32>],
        home: u32,
    ) -> Option<Vec<(u32, TransitionId, u32)>> {
        let part = parts[home as usize]?;
        let mut came: FxHashMap<u32, (u32, TransitionId)> = FxHashMap::default();
        let mut queue = VecDeque::from([home]);
        while let Some(i) = queue.pop_front() {
            for (to, by) in self.from(i).filter(|&(to, _)| parts[to as usize] == Some(part)) {
                if let Entry::Vacant(place) = came.entry(to) {
                    place.insert((i, by));
                    queue.push_back(to);
                }
            }
            if came.contains_key(&home) {
                break;
            }
        }
        let (mut steps, mut at) = (Vec::new(), home);
        loop {
            let &(from, by) = came.get(&at)?;
            steps.push((from, by, at));
            at = from;
            if at == home {
                steps.reverse();
                return Some(steps);
            }
        }
    }

    /// The number of states that can be reached from a state, itself included.
    pub(crate) fn reached_from(&self, i: u32) -> u64 {
        let mut reached = vec![false; self.first.len() - 1];
        reached[i as usize] = true;
        let (mut stack, mut count) = (vec![i], 0);
        while let Some(i) = stack.pop() {
            count += 1;
            for (to, _) in self.from(i) {
                if !std::mem::replace(&mut reached[to as usize], true) {
                    stack.push(to);
                }
            }
        }
        count
    }

    /// The states that can reach a marked state, including the marked ones.
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

impl<'a> Graph<'a> {
    /// The graph of a complete exploration.
    pub(crate) fn of(explorer: &'a Explorer) -> Graph<'a> {
        Graph { explorer }
    }

    /// The number of states.
    pub(crate) fn len(&self) -> usize {
        self.explorer.states()
    }

    /// The numbers of all states.
    pub(crate) fn states(&self) -> impl Iterator<Item = u32> + use<> {
        0..self.len() as u32
    }

    pub(crate) fn node(&self, i: u32) -> NodeId {
        self.explorer.node(i)
    }

    /// A shortest run to a state.
    pub(crate) fn run_to(&self, i: u32) -> Option<Run> {
        self.explorer.run_to(i)
    }

    /// The step by a transition between two states, with parameters.
    pub(crate) fn step(&self, from: u32, by: TransitionId, to: u32) -> Option<Step> {
        self.explorer.step_between(from, Some(by), to)
    }

    /// By state: whether it meets a state target of this goal.
    pub(crate) fn label(
        &self,
        goal: usize,
        goals: usize,
        cancellation: &Cancellation,
    ) -> Result<Vec<bool>, Stop> {
        let mut open = vec![false; goals];
        open[goal] = true;
        let mut w = self.explorer.machine.worker();
        let mut label = Vec::with_capacity(self.len());
        for i in 0..self.len() as u32 {
            if i % 1024 == 0 && cancellation.is_cancelled() {
                return Err(Stop::Cancelled);
            }
            label.push(self.explorer.meets(i, goal, &open, &mut w).map_err(Stop::StepError)?);
        }
        Ok(label)
    }

    /// All steps, ordered by source state; `memory` limits their size in bytes.
    pub(crate) fn edges(&self, memory: u64, cancellation: &Cancellation) -> Result<Edges, Stop> {
        let mut edges = Edges::default();
        let mut w = self.explorer.machine.worker();
        edges.first.push(0);
        for i in 0..self.len() as u32 {
            if i % 256 == 0 && cancellation.is_cancelled() {
                return Err(Stop::Cancelled);
            }
            let from = edges.to.len();
            let mut missing = false;
            let result = self.explorer.steps_from(i, &mut w, cancellation, &mut |t, _, next| {
                let Some(next) = next else {
                    missing = true;
                    return true;
                };
                if !(edges.to.last() == Some(&next)
                    && edges.by.last() == Some(&t)
                    && edges.to.len() > from)
                {
                    edges.to.push(next);
                    edges.by.push(t);
                }
                false
            });
            match result {
                Err(StepError::Cancelled) => return Err(Stop::Cancelled),
                Err(t) => return Err(Stop::StepError(t)),
                Ok(()) => {}
            }
            // A complete exploration knows every successor.
            debug_assert!(!missing, "a state that was not met");
            edges.first.push(edges.to.len());
            if 16 * edges.to.len() as u64 > memory {
                return Err(Stop::Memory);
            }
        }
        Ok(edges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(states: usize, steps: &[(u32, u32)]) -> Edges {
        let mut edges = Edges { first: vec![0], ..Edges::default() };
        for i in 0..states as u32 {
            for (at, (_, to)) in steps.iter().enumerate().filter(|(_, (from, _))| *from == i) {
                edges.to.push(*to);
                edges.by.push(TransitionId::from(at));
            }
            edges.first.push(edges.to.len());
        }
        edges
    }

    /// Two states are in the same component iff each can reach the other.
    #[test]
    fn components_are_sets_of_mutually_reachable_states() {
        let mut random = gander_runtime::Random::new(7);
        for _ in 0..300 {
            let states = 1 + random.below(9);
            let steps: Vec<(u32, u32)> = (0..random.below(16))
                .map(|_| (random.below(states) as u32, random.below(states) as u32))
                .collect();
            let graph = edges(states, &steps);
            let within: Vec<bool> = (0..states).map(|_| !random.one_in(5)).collect();
            let mut reach = vec![vec![false; states]; states];
            for (a, b) in &steps {
                reach[*a as usize][*b as usize] |= within[*a as usize] && within[*b as usize];
            }
            for k in 0..states {
                for i in 0..states {
                    for j in 0..states {
                        reach[i][j] |= reach[i][k] && reach[k][j];
                    }
                }
            }
            let parts = graph.components(&within);
            let cyclic = graph.cyclic(&parts);
            for i in 0..states {
                assert_eq!(parts[i].is_some(), within[i]);
                let Some(part) = parts[i] else { continue };
                assert_eq!(cyclic[part as usize], reach[i][i], "{steps:?}");
                for j in (0..states).filter(|&j| within[j]) {
                    assert_eq!(
                        parts[i] == parts[j],
                        i == j || (reach[i][j] && reach[j][i]),
                        "{steps:?}"
                    );
                    assert!(
                        !reach[i][j] || parts[j] <= parts[i],
                        "numbers fall along steps: {steps:?}"
                    );
                }
                let cycle = graph.cycle(&parts, i as u32);
                assert_eq!(cycle.is_some(), reach[i][i]);
                for (from, by, to) in cycle.into_iter().flatten() {
                    assert_eq!(steps[by.index()], (from, to));
                    assert_eq!(parts[to as usize], Some(part));
                }
            }
        }
    }

    #[test]
    fn cycle_returns_a_shortest_cycle() {
        let graph = edges(5, &[(0, 1), (1, 2), (2, 0), (1, 3), (3, 4), (4, 0), (2, 2)]);
        let parts = graph.components(&[true; 5]);
        let lengths: Vec<usize> = (0..5).map(|i| graph.cycle(&parts, i).unwrap().len()).collect();
        assert_eq!(lengths, [3, 3, 1, 4, 4]);
    }
}

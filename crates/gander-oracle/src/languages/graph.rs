//! Explicit graphs of states, and claims decided by looking at all of them.
//!
//! A graph has all states that some run reaches, and the steps between them, each with a label. What an interpreter of a
//! language calls a state, a step and a run is its own matter.

use std::collections::HashMap;
use std::hash::Hash;

/// What an infinite run must do to count.
#[derive(Clone, Debug)]
pub(crate) enum Demand {
    /// Visit this set infinitely often.
    Justice(Vec<bool>),
    /// Take a step with one of these labels infinitely often, or infinitely often be where there is none.
    Weak(Vec<usize>),
    /// Take a step with one of these labels infinitely often, or only finitely often be where there is one.
    Strong(Vec<usize>),
}

/// The reachable part of a system.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    /// The first so many states are those in which runs begin.
    pub initial: usize,
    /// The steps from each state: label and target.
    pub next: Vec<Vec<(usize, usize)>>,
}

impl Graph {
    /// The states that can be reached, in the order of the graph; none if there are more than `limit`.
    pub fn explore<S: Clone + Eq + Hash>(
        initial: Vec<S>,
        successors: impl Fn(&S) -> Vec<(usize, S)>,
        limit: usize,
    ) -> Option<(Graph, Vec<S>)> {
        let mut states: Vec<S> = Vec::new();
        let mut index: HashMap<S, usize> = HashMap::new();
        for s in initial {
            if !index.contains_key(&s) {
                index.insert(s.clone(), states.len());
                states.push(s);
            }
        }
        let starts = states.len();
        let mut next: Vec<Vec<(usize, usize)>> = Vec::new();
        while next.len() < states.len() {
            if states.len() > limit {
                return None;
            }
            let mut row = Vec::new();
            for (label, s) in successors(&states[next.len()]) {
                let at = match index.get(&s) {
                    Some(&at) => at,
                    None => {
                        index.insert(s.clone(), states.len());
                        states.push(s);
                        states.len() - 1
                    }
                };
                if !row.contains(&(label, at)) {
                    row.push((label, at));
                }
            }
            next.push(row);
        }
        Some((Graph { initial: starts, next }, states))
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.next.len()
    }

    /// The states from which a run stays among `allowed` ones and is infinite and fair, or, if `may_end`, ends there in a
    /// state without a step.
    pub fn stays(&self, allowed: &[bool], may_end: bool, demands: &[Demand]) -> Vec<bool> {
        let mut good: Vec<bool> = (0..self.len()).map(|s| may_end && allowed[s] && self.next[s].is_empty()).collect();
        let mut open = self.components(allowed);
        while let Some(component) = open.pop() {
            let mut inside = vec![false; self.len()];
            component.iter().for_each(|&s| inside[s] = true);
            let takes = |labels: Option<&[usize]>| {
                component.iter().any(|&s| {
                    self.next[s].iter().any(|(l, t)| inside[*t] && labels.is_none_or(|labels| labels.contains(l)))
                })
            };
            let offers = |s: usize, labels: &[usize]| self.next[s].iter().any(|(l, _)| labels.contains(l));
            if !takes(None) {
                continue;
            }
            let impossible = demands.iter().any(|d| match d {
                Demand::Justice(p) => !component.iter().any(|&s| p[s]),
                Demand::Weak(labels) => !takes(Some(labels)) && component.iter().all(|&s| offers(s, labels)),
                Demand::Strong(_) => false,
            });
            if impossible {
                continue;
            }
            // Where a strongly fair step is offered but never taken within the component, a run must not come again.
            let mut rest = inside.clone();
            for d in demands {
                if let Demand::Strong(labels) = d
                    && !takes(Some(labels))
                {
                    component.iter().filter(|&&s| offers(s, labels)).for_each(|&s| rest[s] = false);
                }
            }
            if rest == inside {
                component.iter().for_each(|&s| good[s] = true);
            } else {
                open.extend(self.components(&rest));
            }
        }
        self.reaches(allowed, &good)
    }

    /// The states from which a path within `allowed` leads to `targets`.
    pub fn reaches(&self, allowed: &[bool], targets: &[bool]) -> Vec<bool> {
        let mut found: Vec<bool> = (0..self.len()).map(|s| allowed[s] && targets[s]).collect();
        loop {
            let mut changed = false;
            for s in (0..self.len()).rev() {
                if !found[s] && allowed[s] && self.next[s].iter().any(|(_, t)| found[*t]) {
                    found[s] = true;
                    changed = true;
                }
            }
            if !changed {
                return found;
            }
        }
    }

    /// Whether some state in which runs begin is in the set.
    pub fn some_initial(&self, set: &[bool]) -> bool {
        set[..self.initial].contains(&true)
    }

    /// The strongly connected components among `allowed` states: two are in one if each reaches the other.
    fn components(&self, allowed: &[bool]) -> Vec<Vec<usize>> {
        let n = self.len();
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); n];
        for s in (0..n).filter(|&s| allowed[s]) {
            for &(_, t) in self.next[s].iter().filter(|(_, t)| allowed[*t]) {
                before[t].push(s);
            }
        }
        let mut order = Vec::new();
        let mut seen = vec![false; n];
        for root in (0..n).filter(|&s| allowed[s]) {
            let mut stack = vec![(root, false)];
            while let Some((s, left)) = stack.pop() {
                if left {
                    order.push(s);
                } else if !seen[s] {
                    seen[s] = true;
                    stack.push((s, true));
                    stack.extend(
                        self.next[s].iter().filter(|(_, t)| allowed[*t] && !seen[*t]).map(|(_, t)| (*t, false)),
                    );
                }
            }
        }
        let mut placed = vec![false; n];
        let mut components = Vec::new();
        for &root in order.iter().rev() {
            if placed[root] {
                continue;
            }
            placed[root] = true;
            let (mut component, mut stack) = (Vec::new(), vec![root]);
            while let Some(s) = stack.pop() {
                component.push(s);
                for &b in &before[s] {
                    if !placed[b] {
                        placed[b] = true;
                        stack.push(b);
                    }
                }
            }
            components.push(component);
        }
        components
    }
}

/// A claim about the states of a graph, given as sets, with the demands on runs where it is about all of them.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    /// Every state is in the set.
    Always(Vec<bool>),
    /// Every run gets into the set.
    Eventually(Vec<bool>),
    /// Every run gets into the set again and again.
    Recurs(Vec<bool>),
    /// On every run, a state of the first set is followed by one of the second, at once or later.
    LeadsTo(Vec<bool>, Vec<bool>),
    /// Some run stays within the set.
    ExistsAlways(Vec<bool>),
    /// From every state the set can be reached.
    AlwaysPossible(Vec<bool>),
}

impl Graph {
    /// Decides a claim. Runs are the infinite ones and, if `may_end`, those that end in a state without a step.
    pub fn decide(&self, question: &Question, may_end: bool, demands: &[Demand]) -> bool {
        let not = |set: &[bool]| set.iter().map(|b| !b).collect::<Vec<bool>>();
        let all = vec![true; self.len()];
        match question {
            Question::Always(p) => !p.contains(&false),
            Question::Eventually(p) => !self.some_initial(&self.stays(&not(p), may_end, demands)),
            Question::Recurs(p) => !self.stays(&not(p), may_end, demands).contains(&true),
            Question::LeadsTo(p, q) => {
                let never = self.stays(&not(q), may_end, demands);
                !p.iter().zip(&never).any(|(p, n)| *p && *n)
            }
            Question::ExistsAlways(p) => self.some_initial(&self.stays(p, may_end, &[])),
            Question::AlwaysPossible(p) => !self.reaches(&all, p).contains(&false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 -> 1 -> 2 -> 1, 0 -> 3, all with the label of the target.
    fn graph() -> Graph {
        let (graph, states) = Graph::explore(
            vec![0usize],
            |s| match s {
                0 => vec![(1, 1), (3, 3)],
                1 => vec![(2, 2)],
                2 => vec![(1, 1), (2, 2)],
                _ => Vec::new(),
            },
            10,
        )
        .unwrap();
        assert_eq!(states, [0, 1, 3, 2]);
        graph
    }

    #[test]
    fn runs_that_end_count_only_if_asked() {
        let g = graph();
        let two = Question::Eventually(vec![false, false, false, true]);
        assert!(!g.decide(&two, true, &[]));
        assert!(g.decide(&two, false, &[]));
    }

    #[test]
    fn fairness_excludes_cycles() {
        let g = graph();
        let one = Question::Recurs(vec![false, true, false, false]);
        assert!(!g.decide(&one, false, &[]));
        assert!(g.decide(&one, false, &[Demand::Weak(vec![1])]));
        assert!(g.decide(&one, false, &[Demand::Strong(vec![1])]));
        assert!(g.decide(&one, false, &[Demand::Justice(vec![false, true, false, false])]));
    }
}

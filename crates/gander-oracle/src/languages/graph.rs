//! Explicit state graphs, and claims decided by enumeration.
//!
//! A graph has all reachable states and the labelled steps between them. Each interpreter defines
//! what a state, a step and a run of its language is.

use std::collections::HashMap;
use std::hash::Hash;

/// A fairness constraint on infinite runs.
#[derive(Clone, Debug)]
pub(crate) enum RunFairness {
    /// Visit this set infinitely often.
    Justice(Vec<bool>),
    /// Take a step with one of these labels infinitely often, or infinitely often visit a state
    /// without one.
    Weak(Vec<usize>),
    /// Take a step with one of these labels infinitely often, or visit only finitely often a state
    /// with one.
    Strong(Vec<usize>),
}

/// The reachable part of a system.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    /// The number of initial states; they come first.
    pub initial: usize,
    /// The steps from each state: label and target.
    pub next: Vec<Vec<(usize, usize)>>,
}

impl Graph {
    /// The reachable states, in the order of the graph; `None` if there are more than `limit`.
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

    /// The number of states.
    pub fn len(&self) -> usize {
        self.next.len()
    }

    /// The states from which some run stays within `allowed` and is infinite and fair or, if
    /// `may_end`, ends there in a state without a step.
    pub fn stays(&self, allowed: &[bool], may_end: bool, fairness: &[RunFairness]) -> Vec<bool> {
        let mut good: Vec<bool> =
            (0..self.len()).map(|s| may_end && allowed[s] && self.next[s].is_empty()).collect();
        let mut open = self.components(allowed);
        while let Some(component) = open.pop() {
            let mut inside = vec![false; self.len()];
            component.iter().for_each(|&s| inside[s] = true);
            let takes = |labels: Option<&[usize]>| {
                component.iter().any(|&s| {
                    self.next[s]
                        .iter()
                        .any(|(l, t)| inside[*t] && labels.is_none_or(|labels| labels.contains(l)))
                })
            };
            let offers =
                |s: usize, labels: &[usize]| self.next[s].iter().any(|(l, _)| labels.contains(l));
            if !takes(None) {
                continue;
            }
            let impossible = fairness.iter().any(|d| match d {
                RunFairness::Justice(p) => !component.iter().any(|&s| p[s]),
                RunFairness::Weak(labels) => {
                    !takes(Some(labels)) && component.iter().all(|&s| offers(s, labels))
                }
                RunFairness::Strong(_) => false,
            });
            if impossible {
                continue;
            }
            // A fair run leaves the states that offer a strongly fair step which is never taken
            // within the component.
            let mut rest = inside.clone();
            for d in fairness {
                if let RunFairness::Strong(labels) = d
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

    /// True if some initial state is in the set.
    pub fn some_initial(&self, set: &[bool]) -> bool {
        set[..self.initial].contains(&true)
    }

    /// The strongly connected components among `allowed` states: two are in one if each reaches the
    /// other.
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
                        self.next[s]
                            .iter()
                            .filter(|(_, t)| allowed[*t] && !seen[*t])
                            .map(|(_, t)| (*t, false)),
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

/// A claim about a graph, with formulas given as sets of states.
#[derive(Clone, Debug)]
pub(crate) enum GraphClaim {
    /// Every state is in the set.
    Always(Vec<bool>),
    /// Every run reaches the set.
    Eventually(Vec<bool>),
    /// Every run visits the set infinitely often.
    Recurs(Vec<bool>),
    /// On every run, a state of the first set is followed by one of the second, at once or later.
    LeadsTo(Vec<bool>, Vec<bool>),
    /// Some run stays within the set.
    ExistsAlways(Vec<bool>),
    /// From every state the set can be reached.
    AlwaysPossible(Vec<bool>),
}

impl Graph {
    /// Decides a claim. Runs are the infinite ones and, if `may_end`, those that end in a state
    /// without a step.
    pub fn decide(&self, claim: &GraphClaim, may_end: bool, fairness: &[RunFairness]) -> bool {
        let not = |set: &[bool]| set.iter().map(|b| !b).collect::<Vec<bool>>();
        let all = vec![true; self.len()];
        match claim {
            GraphClaim::Always(p) => !p.contains(&false),
            GraphClaim::Eventually(p) => {
                !self.some_initial(&self.stays(&not(p), may_end, fairness))
            }
            GraphClaim::Recurs(p) => !self.stays(&not(p), may_end, fairness).contains(&true),
            GraphClaim::LeadsTo(p, q) => {
                let never = self.stays(&not(q), may_end, fairness);
                !p.iter().zip(&never).any(|(p, n)| *p && *n)
            }
            GraphClaim::ExistsAlways(p) => self.some_initial(&self.stays(p, may_end, &[])),
            GraphClaim::AlwaysPossible(p) => !self.reaches(&all, p).contains(&false),
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
        let two = GraphClaim::Eventually(vec![false, false, false, true]);
        assert!(!g.decide(&two, true, &[]));
        assert!(g.decide(&two, false, &[]));
    }

    #[test]
    fn fairness_excludes_cycles() {
        let g = graph();
        let one = GraphClaim::Recurs(vec![false, true, false, false]);
        assert!(!g.decide(&one, false, &[]));
        assert!(g.decide(&one, false, &[RunFairness::Weak(vec![1])]));
        assert!(g.decide(&one, false, &[RunFairness::Strong(vec![1])]));
        assert!(g.decide(&one, false, &[RunFairness::Justice(vec![false, true, false, false])]));
    }
}

//! Finds fair cycles.
//!
//! An infinite run of a finite graph visits some set of states infinitely often; that set lies in
//! one strongly connected component and is strongly connected itself. Conversely a run can visit
//! everything in a strongly connected set, and take every step within it, infinitely often. So a
//! fair infinite run exists iff there is a strongly connected set with at least one step that
//! - for each *justice P* has a state with P;
//! - for each *weak T* has a step of T, or a state in which no step of T can be completed;
//! - for each *strong T* has a step of T, or no state in which a step of T can be completed.
//!
//! Justice and weak fairness are monotone: if a component does not satisfy them, no subset does.
//! For strong fairness, a component without a step of T loses all states in which T can be
//! completed, and the rest is decomposed again (Emerson and Lei, *Modalities for model checking*,
//! 1987).

use gander_system::TransitionId;

use crate::decide::explore::Reachable;

/// A fairness constraint, evaluated on the states of a graph.
#[derive(Clone, Debug)]
pub(crate) enum Fairness {
    /// Infinitely often a state of this set.
    Justice(Vec<bool>),
    /// Weak fairness to the transitions.
    Weak(Vec<TransitionId>),
    /// Strong fairness to the transitions.
    Strong(Vec<TransitionId>),
}

/// The states within `allowed` from which some fair infinite run stays within `allowed`.
pub(crate) fn fair_forever(
    graph: &Reachable,
    allowed: &[bool],
    fairness: &[Fairness],
) -> Vec<bool> {
    let mut fair = vec![false; allowed.len()];
    let mut open = components(graph, allowed);
    while let Some(component) = open.pop() {
        let inside = membership(allowed.len(), &component);
        let steps = |wanted: Option<&[TransitionId]>| {
            component.iter().any(|&s| {
                graph.steps(s).any(|(c, next)| {
                    inside[next] && wanted.is_none_or(|w| w.contains(&c.transition))
                })
            })
        };
        if !steps(None) {
            continue;
        }
        let mut unfair = false;
        let mut rest = inside.clone();
        let mut split = false;
        for d in fairness {
            match d {
                Fairness::Justice(p) => unfair |= !component.iter().any(|&s| p[s]),
                Fairness::Weak(t) => {
                    unfair |= !steps(Some(t)) && component.iter().all(|&s| graph.can_take(s, t));
                }
                Fairness::Strong(t) if !steps(Some(t)) => {
                    for &s in &component {
                        if graph.can_take(s, t) {
                            rest[s] = false;
                            split = true;
                        }
                    }
                }
                Fairness::Strong(_) => {}
            }
        }
        if unfair {
            continue;
        }
        if split {
            open.extend(components(graph, &rest));
        } else {
            component.iter().for_each(|&s| fair[s] = true);
        }
    }
    can_reach(graph, allowed, &fair)
}

/// The states within `allowed` from which steps within `allowed` lead to `targets`; targets
/// themselves included.
pub(crate) fn can_reach(graph: &Reachable, allowed: &[bool], targets: &[bool]) -> Vec<bool> {
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); allowed.len()];
    for s in 0..allowed.len() {
        for (_, next) in graph.steps(s) {
            before[next].push(s);
        }
    }
    let mut reaches: Vec<bool> = allowed.iter().zip(targets).map(|(&a, &t)| a && t).collect();
    let mut stack: Vec<usize> = (0..allowed.len()).filter(|&s| reaches[s]).collect();
    while let Some(s) = stack.pop() {
        for &b in &before[s] {
            if allowed[b] && !reaches[b] {
                reaches[b] = true;
                stack.push(b);
            }
        }
    }
    reaches
}

fn membership(n: usize, members: &[usize]) -> Vec<bool> {
    let mut inside = vec![false; n];
    members.iter().for_each(|&s| inside[s] = true);
    inside
}

/// The strongly connected components of the graph restricted to `allowed`, by two depth-first
/// searches (Kosaraju).
fn components(graph: &Reachable, allowed: &[bool]) -> Vec<Vec<usize>> {
    let n = allowed.len();
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); n];
    for s in (0..n).filter(|&s| allowed[s]) {
        for (_, next) in graph.steps(s).filter(|&(_, next)| allowed[next]) {
            after[s].push(next);
            before[next].push(s);
        }
    }
    let mut finished = Vec::new();
    let mut seen = vec![false; n];
    for root in (0..n).filter(|&s| allowed[s]) {
        let mut stack = vec![(root, false)];
        while let Some((s, done)) = stack.pop() {
            if done {
                finished.push(s);
            } else if !seen[s] {
                seen[s] = true;
                stack.push((s, true));
                stack.extend(
                    after[s].iter().filter(|&&next| !seen[next]).map(|&next| (next, false)),
                );
            }
        }
    }
    let mut result = Vec::new();
    let mut placed = vec![false; n];
    for &root in finished.iter().rev() {
        if placed[root] {
            continue;
        }
        let mut component = Vec::new();
        let mut stack = vec![root];
        placed[root] = true;
        while let Some(s) = stack.pop() {
            component.push(s);
            for &b in &before[s] {
                if !placed[b] {
                    placed[b] = true;
                    stack.push(b);
                }
            }
        }
        result.push(component);
    }
    result
}

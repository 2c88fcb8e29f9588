//! Interprets `.sts` models by enumeration (docs/semantics.md, sections 2 and 3).

use std::collections::HashSet;

use super::{Claim, Fairness, Goal, Part, Sts, Transition};
use crate::languages::expression::Expr;
use crate::languages::graph::{Graph, GraphClaim, RunFairness};
use crate::languages::{Expected, LIMIT};

/// All tuples of values.
fn product(domains: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for domain in domains {
        all = all
            .into_iter()
            .flat_map(|v: Vec<i64>| {
                domain.iter().map(move |x| v.iter().copied().chain([*x]).collect())
            })
            .collect();
    }
    all
}

/// A state: the values of the variables, then the node.
type State = Vec<i64>;

struct Interpreter<'a> {
    sts: &'a Sts,
}

impl Interpreter<'_> {
    /// True if a state exists: inputs are within their ranges, and assumptions hold.
    fn admissible(&self, s: &State) -> bool {
        let in_range = |(i, v): (usize, &super::Variable)| {
            !v.is_input || v.range.is_none_or(|(low, high)| low <= s[i] && s[i] <= high)
        };
        self.sts.variables.iter().enumerate().all(in_range)
            && self.sts.assumptions.iter().all(|e| e.holds(s, s))
    }

    fn starts(&self) -> Vec<State> {
        let domains: Vec<Vec<i64>> = self.sts.variables.iter().map(|v| v.domain.clone()).collect();
        let mut found = Vec::new();
        for start in &self.sts.starts {
            for mut s in product(&domains) {
                s.push(start.target as i64);
                if start.constraints.iter().all(|e| e.holds(&s, &s)) && self.admissible(&s) {
                    found.push(s);
                }
            }
        }
        found
    }

    /// The parameters for which a transition is enabled, each appended to the state.
    fn enabled(&self, t: &Transition, s: &State) -> Vec<Vec<i64>> {
        if s[self.sts.node()] != t.source as i64 {
            return Vec::new();
        }
        let domains: Vec<Vec<i64>> = t.parameters.iter().map(|p| p.domain.clone()).collect();
        let with = |p: Vec<i64>| s.iter().copied().chain(p).collect::<Vec<i64>>();
        let is_enabled = |all: &Vec<i64>| t.guard.as_ref().is_none_or(|g| g.holds(all, all));
        product(&domains).into_iter().map(with).filter(is_enabled).collect()
    }

    /// The next states that satisfy the effect, whether they exist or not.
    fn effect(&self, t: &Transition, now: &[i64]) -> Vec<State> {
        let mut domains = Vec::new();
        for (i, v) in self.sts.variables.iter().enumerate() {
            let mut free = v.is_input;
            let mut value = now[i];
            for part in &t.effect {
                match part {
                    Part::Assign(k, e) if *k == i => value = e.value(now, now),
                    Part::Any(k) if *k == i => free = true,
                    Part::Constraint(e) => {
                        free |= e.any(&|e| matches!(e, Expr::Next(_, k) if *k == i))
                    }
                    _ => {}
                }
            }
            domains.push(if free { v.domain.clone() } else { vec![value] });
        }
        let mut found = product(&domains);
        found.iter_mut().for_each(|s| s.push(t.target as i64));
        found.retain(|next| {
            t.effect.iter().all(|part| match part {
                Part::Constraint(e) => e.holds(now, next),
                _ => true,
            })
        });
        found
    }

    /// The steps from a state: the transition, the state with the parameters, the next state.
    fn steps(&self, s: &State) -> Vec<(usize, Vec<i64>, State)> {
        let mut found = Vec::new();
        for (number, t) in self.sts.transitions.iter().enumerate() {
            for now in self.enabled(t, s) {
                for next in self.effect(t, &now) {
                    if self.admissible(&next) {
                        found.push((number, now.clone(), next));
                    }
                }
            }
        }
        found
    }

    /// True if some run meets the goals in order.
    fn meets(&self, goals: &[Goal], initial: &[State]) -> bool {
        let advance = |s: &State, mut k: usize| {
            while let Some(Goal::State(p)) = goals.get(k) {
                if !p.holds(s, s) {
                    break;
                }
                k += 1;
            }
            k
        };
        let mut seen: HashSet<(State, usize)> = HashSet::new();
        let mut open: Vec<(State, usize)> =
            initial.iter().map(|s| (s.clone(), advance(s, 0))).collect();
        while let Some((s, k)) = open.pop() {
            if k == goals.len() {
                return true;
            }
            if !seen.insert((s.clone(), k)) {
                continue;
            }
            for (t, now, next) in self.steps(&s) {
                let met = match &goals[k] {
                    Goal::State(_) => false,
                    Goal::Step(gate, with) => {
                        self.sts.transitions[t].gate == *gate
                            && with.as_ref().is_none_or(|p| p.holds(&now, &now))
                    }
                };
                open.push((next.clone(), advance(&next, k)));
                if met {
                    open.push((next.clone(), advance(&next, k + 1)));
                }
            }
        }
        false
    }
}

/// The expected verdict of each claim, including those of ranges; `None` if there are too many
/// states.
pub(super) fn decide(sts: &Sts) -> Option<Vec<(String, Expected)>> {
    let interpreter = Interpreter { sts };
    let initial = interpreter.starts();
    let successors =
        |s: &State| interpreter.steps(s).into_iter().map(|(t, _, next)| (t, next)).collect();
    let (graph, states) = Graph::explore(initial.clone(), successors, LIMIT)?;
    let set = |e: &Expr| states.iter().map(|s| e.holds(s, s)).collect::<Vec<bool>>();
    let with_gate = |gate: usize| {
        (0..sts.transitions.len())
            .filter(|t| sts.transitions[*t].gate == gate)
            .collect::<Vec<usize>>()
    };
    let mut answers = Vec::new();
    for (i, (claim, under)) in sts.claims.iter().enumerate() {
        let fairness: Vec<RunFairness> = under
            .iter()
            .map(|f| match &sts.fairness[*f] {
                Fairness::Justice(p) => RunFairness::Justice(set(p)),
                Fairness::Weak(gate) => RunFairness::Weak(with_gate(*gate)),
                Fairness::Strong(gate) => RunFairness::Strong(with_gate(*gate)),
            })
            .collect();
        let decide = |claim: GraphClaim| graph.decide(&claim, true, &fairness);
        let holds = match claim {
            Claim::Always(p) => decide(GraphClaim::Always(set(p))),
            Claim::Reachable(goals) => interpreter.meets(goals, &initial),
            Claim::Eventually(p) => decide(GraphClaim::Eventually(set(p))),
            Claim::Recurs(p) => decide(GraphClaim::Recurs(set(p))),
            Claim::LeadsTo(p, q) => decide(GraphClaim::LeadsTo(set(p), set(q))),
            Claim::Possible(p) => decide(GraphClaim::AlwaysPossible(set(p))),
            Claim::ExistsAlways(p) => decide(GraphClaim::ExistsAlways(set(p))),
            Claim::NoDeadlock => (0..graph.len())
                .all(|s| !graph.next[s].is_empty() || sts.nodes[states[s][sts.node()] as usize]),
            Claim::InfiniteRun => {
                graph.some_initial(&graph.stays(&vec![true; graph.len()], false, &[]))
            }
            Claim::CanEnable(t) => {
                states.iter().any(|s| !interpreter.enabled(&sts.transitions[*t], s).is_empty())
            }
            Claim::Completable(t) => {
                let t = &sts.transitions[*t];
                let complete = |now: &Vec<i64>| !interpreter.effect(t, now).is_empty();
                states.iter().all(|s| interpreter.enabled(t, s).iter().all(complete))
            }
        };
        let expected = if graph.initial == 0 { Expected::NoRun } else { Expected::of(holds) };
        answers.push((sts.claim_name(i), expected));
    }
    for (i, v) in sts.variables.iter().enumerate() {
        if let Some((low, high)) = v.range.filter(|_| !v.is_input) {
            let holds = states.iter().all(|s| low <= s[i] && s[i] <= high);
            let expected = if graph.initial == 0 { Expected::NoRun } else { Expected::of(holds) };
            answers.push((format!("range of {}", v.name), expected));
        }
    }
    Some(answers)
}

//! The checker against the brute-force oracle, on random small systems.
//!
//! Evidence of every kind is built from the reachable graph of the oracle, and must be accepted
//! exactly where the oracle says that it is right. Then it is mutated at random: what is still
//! accepted must be right.

#[path = "support/random.rs"]
mod random;

use std::sync::Arc;
use std::time::Duration;

use gander_certify::{CheckLimits, Checker, Rejection};
use gander_oracle::{
    Choice, GeneratedSystem, Limits, Reachable, Settings, describe, generate_with,
};
use gander_runtime::Random;
use gander_smt::Solvers;
use gander_system::{
    ClaimId, ClaimKind, Evidence, Leg, NodeFormulas, NodeId, Run, StartId, State, Step, System,
    TransitionId, Verdict, passes,
};
use gander_term::{Pool, Value};
use random::{exactly, run_shows, seeds, suits_invariants, verdict};

struct Trial {
    made: GeneratedSystem,
    graph: Reachable,
    checker: Checker,
    random: Random,
    accepted: u32,
    wrong: u32,
    undecided: Vec<String>,
}

impl Trial {
    fn new(seed: u64) -> Trial {
        let made = generate_with(seed, Settings::few_states());
        let graph = Reachable::explore(&made.system, made.system.pool(), Limits::default())
            .expect("it is finite");
        let limits = CheckLimits { query: Some(Duration::from_secs(5)), ..CheckLimits::default() };
        let checker = Checker::new(&Arc::new(Solvers::from_environment()), limits);
        Trial {
            made,
            graph,
            checker,
            random: Random::new(seed),
            accepted: 0,
            wrong: 0,
            undecided: Vec::new(),
        }
    }

    fn system(&self) -> &System {
        &self.made.system
    }

    /// The claims that a set of states can decide, and whether it shows that they hold; empty if no
    /// state is reachable.
    fn claims_with_proofs(&self) -> Vec<(usize, ClaimKind, bool)> {
        let claims =
            self.system().claims().iter().enumerate().filter(|_| !self.graph.states.is_empty());
        claims.filter_map(|(i, c)| Some((i, c.kind.clone(), !run_shows(&c.kind)?))).collect()
    }

    /// Whether the verdict is accepted; `None` if undecided. Panics if a wrong verdict is accepted.
    fn try_verdict(&mut self, claim: usize, verdict: &Verdict) -> Option<bool> {
        let system = Arc::clone(&self.made.system);
        let right = match verdict {
            Verdict::Holds(_) => self.made.answers[claim].holds,
            _ => !self.made.answers[claim].holds,
        };
        match self.checker.check(&system, ClaimId::from(claim), verdict) {
            Ok(_) => {
                self.accepted += 1;
                assert!(right, "accepted a wrong verdict:\n{}", self.report(claim, verdict));
                if let Verdict::Holds(Evidence::Run(run)) | Verdict::Fails(Evidence::Run(run)) =
                    verdict
                {
                    assert!(
                        self.is_run(run),
                        "accepted what is no run:\n{}",
                        self.report(claim, verdict)
                    );
                }
                Some(true)
            }
            Err(Rejection::Wrong(_)) => {
                self.wrong += 1;
                Some(false)
            }
            Err(Rejection::Undecided(why)) => {
                self.undecided.push(why);
                None
            }
        }
    }

    fn report(&self, claim: usize, verdict: &Verdict) -> String {
        let evidence = match verdict {
            Verdict::Holds(e) => ("holds", e),
            Verdict::Fails(e) => ("fails", e),
            Verdict::Unknown { .. } => return String::new(),
        };
        let formulas = match evidence.1 {
            Evidence::Invariant(f) | Evidence::KInductive { invariant: f, .. } => {
                f.by_node.iter().map(|&t| f.pool.display(t).to_string()).collect()
            }
            _ => Vec::new(),
        };
        let kind = match evidence.1 {
            Evidence::Run(run) => format!("{run:?}"),
            Evidence::KInductive { k, loop_free, no_restart, .. } => {
                format!("k = {k}, {loop_free} {no_restart}")
            }
            Evidence::Diameter { k } => format!("diameter {k}"),
            Evidence::OfChain(_) => "of chain".to_string(),
            Evidence::Outside { proof, .. } => format!("outside of a set, {proof:?}"),
            _ => String::new(),
        };
        format!(
            "seed {}, claim {} {}: {kind}\n{formulas:#?}\n{}",
            self.made.seed,
            self.system().claims()[claim].name,
            evidence.0,
            describe(self.system())
        )
    }

    /// True if the run is one of the graph.
    fn is_run(&self, run: &Run) -> bool {
        let at =
            |s: &State| self.graph.states.iter().position(|(n, v)| *n == s.node && *v == s.values);
        let Some(mut here) = at(&run.first) else { return false };
        if !self.graph.started.get(run.start.index()).is_some_and(|s| s.contains(&here)) {
            return false;
        }
        for leg in &run.legs {
            let Leg::Step(step) = leg else { return false };
            let successors: Vec<usize> = self.graph.choices[here]
                .iter()
                .filter(|c| c.transition == step.transition && c.params == step.params)
                .flat_map(|c| c.successors.iter().copied())
                .collect();
            let next = match &step.next {
                Some(values) => successors.into_iter().find(|&s| self.graph.states[s].1 == *values),
                None if successors.len() == 1 => Some(successors[0]),
                None => None,
            };
            match next {
                Some(next) => here = next,
                None => return false,
            }
        }
        true
    }

    fn state(&self, s: usize) -> State {
        State { node: self.graph.states[s].0, values: self.graph.states[s].1.clone() }
    }

    fn step(&mut self, choice: &Choice, next: usize) -> Leg {
        let functional = self.system().transition(choice.transition).is_functional(self.system());
        let leave_out = functional && self.random.below(2) == 0;
        let next = (!leave_out).then(|| self.graph.states[next].1.clone());
        Leg::Step(Step { transition: choice.transition, params: choice.params.clone(), next })
    }

    /// A shortest run to every state, with and without one more step, and a run of length 0 for
    /// every start state.
    fn runs(&mut self) -> Vec<Run> {
        let graph = self.graph.clone();
        let mut to: Vec<Option<Run>> = vec![None; graph.states.len()];
        let mut runs = Vec::new();
        for (s, states) in graph.started.iter().enumerate() {
            for &first in states {
                let run = Run {
                    start: StartId::from(s),
                    first: self.state(first),
                    legs: gander_system::Legs::new(),
                };
                to[first].get_or_insert(run.clone());
                runs.push(run);
            }
        }
        let mut queue: Vec<usize> = graph.start_states().collect();
        let mut at = 0;
        while at < queue.len() {
            let here = queue[at];
            at += 1;
            let Some(run) = to[here].clone() else { continue };
            for (choice, next) in graph.steps(here) {
                let mut longer = run.clone();
                longer.legs.push(self.step(choice, next));
                if to[next].is_none() {
                    to[next] = Some(longer.clone());
                    queue.push(next);
                }
                runs.push(longer);
            }
        }
        runs.truncate(60);
        runs
    }

    fn damaged_run(&mut self, run: &Run) -> Run {
        let mut run = run.clone();
        let (states, legs) = (self.graph.states.len(), run.legs.len());
        let other = self.random.below(states);
        let other = self.state(other);
        let at = self.random.below(legs);
        match (self.random.below(7), run.legs.to_mut().get_mut(at)) {
            (0, _) => run.first.values = other.values,
            (1, _) => {
                run.first.node = NodeId::from(self.random.below(self.system().nodes().len() + 1))
            }
            (2, _) => {
                run.start = StartId::from(self.random.below(self.system().starts().len() + 1))
            }
            (3, Some(_)) => drop(run.legs.to_mut().remove(at)),
            (4, Some(Leg::Step(step))) => step.next = Some(other.values),
            (5, Some(Leg::Step(step))) => {
                step.transition =
                    TransitionId::from(self.random.below(self.made.system.transitions().len() + 1));
            }
            (6, Some(Leg::Step(step))) if !step.params.is_empty() => {
                let p = self.random.below(step.params.len());
                step.params[p] = match &step.params[p] {
                    Value::Bool(b) => Value::Bool(!b),
                    Value::Int(i) => Value::Int(i + 1),
                    Value::Real(r) => Value::Real(r + gander_term::RBig::from(1)),
                    Value::Str(s) => Value::str(&format!("{s}a")),
                    Value::BitVec(v) => Value::bits(v.width(), v.unsigned() + 1),
                    Value::Enum(e, i) => Value::Enum(*e, i + 1),
                    // A value of another sort.
                    Value::Array(_) => Value::Bool(true),
                };
            }
            _ => drop(run.legs.to_mut().pop()),
        }
        run
    }

    fn damaged_formulas(&mut self, claim: usize) -> NodeFormulas {
        let mut states = self.graph.states.clone();
        let other = self.random.below(states.len());
        let at = self.random.below(states.len());
        let kind = self.random.below(6);
        match kind {
            0 => drop(states.remove(at)),
            1 => states[at].1 = states[other].1.clone(),
            2 => states[at].0 = states[other].0,
            3 => states.push((states[at].0, states[other].1.clone())),
            _ => {}
        }
        let mut formulas = exactly(self.system(), &states);
        if kind == 4 {
            let mut pool = Pool::fork(&formulas.pool);
            let n = self.random.below(formulas.by_node.len());
            Arc::make_mut(&mut formulas.by_node)[n] = pool.tt();
            formulas.pool = Arc::new(pool);
        }
        if kind == 5
            && let ClaimKind::Always(p) = self.system().claims()[claim].kind
        {
            let mut pool = Pool::fork(self.system().pool());
            let by_node =
                self.system().node_ids().map(|n| self.system().at_node(&mut pool, p, n)).collect();
            formulas = NodeFormulas { pool: Arc::new(pool), by_node };
        }
        formulas
    }

    fn undecided_is_rare(&self) {
        let all = self.accepted as usize + self.wrong as usize + self.undecided.len();
        assert!(self.undecided.len() * 4 <= all, "seed {}: {:?}", self.made.seed, self.undecided);
    }
}

#[test]
fn runs_are_accepted_exactly_where_the_oracle_says_so() {
    for seed in seeds() {
        let mut t = Trial::new(seed);
        let runs = t.runs();
        for claim in 0..t.system().claims().len() {
            let kind = t.system().claims()[claim].kind.clone();
            let Some(shows) = run_shows(&kind) else {
                for run in runs.iter().take(3) {
                    assert_ne!(
                        t.try_verdict(claim, &verdict(true, Evidence::Run(run.clone()))),
                        Some(true)
                    );
                    assert_ne!(
                        t.try_verdict(claim, &verdict(false, Evidence::Run(run.clone()))),
                        Some(true)
                    );
                }
                continue;
            };
            let before = t.undecided.len();
            let mut some = false;
            for run in &runs {
                some |=
                    t.try_verdict(claim, &verdict(shows, Evidence::Run(run.clone()))) == Some(true);
                assert_ne!(
                    t.try_verdict(claim, &verdict(!shows, Evidence::Run(run.clone()))),
                    Some(true)
                );
                let damaged = t.damaged_run(run);
                t.try_verdict(claim, &verdict(shows, Evidence::Run(damaged)));
            }
            // Liveness and chains may need runs that are longer than one more step.
            let complete = match &kind {
                ClaimKind::Reachable(goals) => goals.len() == 1,
                k => t.made.answers[claim].length.is_some() || !matches!(run_shows(k), Some(false)),
            } && !matches!(kind, ClaimKind::ExistsAlways(_));
            if complete
                && runs.len() < 60
                && t.undecided.len() == before
                && t.made.answers[claim].holds == shows
            {
                assert!(
                    some,
                    "no run was accepted for seed {seed}, {}:\n{}",
                    kind.word(),
                    describe(t.system())
                );
            }
        }
        t.undecided_is_rare();
    }
}

#[test]
fn invariants_are_accepted_exactly_where_the_oracle_says_so() {
    for seed in seeds() {
        let mut t = Trial::new(seed);
        for (claim, kind, shows) in t.claims_with_proofs() {
            let suits = suits_invariants(&kind);
            let right = t.made.answers[claim].holds == shows;
            let exact = exactly(t.system(), &t.graph.states);
            let k = 1 + t.random.below(4) as u32;
            let (loop_free, no_restart) = (t.random.below(2) == 0, t.random.below(2) == 0);
            let bounded =
                Evidence::KInductive { k, invariant: exact.clone(), loop_free, no_restart };
            let deepest = Evidence::Diameter { k: t.graph.states.len() as u32 };
            for evidence in [Evidence::Invariant(exact), bounded, deepest] {
                let found = t.try_verdict(claim, &verdict(shows, evidence.clone()));
                let expected = suits && right;
                assert!(
                    found.is_none_or(|f| f == expected),
                    "{expected} was expected:\n{}",
                    t.report(claim, &verdict(shows, evidence))
                );
                assert_ne!(t.try_verdict(claim, &verdict(!shows, evidence)), Some(true));
            }
            for _ in 0..if suits { 6 } else { 0 } {
                let damaged = t.damaged_formulas(claim);
                t.try_verdict(claim, &verdict(shows, Evidence::Invariant(damaged.clone())));
                let k = 1 + t.random.below(4) as u32;
                let (loop_free, no_restart) = (t.random.below(2) == 0, t.random.below(2) == 0);
                let bounded = Evidence::KInductive { k, invariant: damaged, loop_free, no_restart };
                t.try_verdict(claim, &verdict(shows, bounded));
                let k = t.random.below(t.graph.states.len()) as u32;
                t.try_verdict(claim, &verdict(shows, Evidence::Diameter { k }));
            }
        }
        t.undecided_is_rare();
    }
}

#[test]
fn chains_and_starts_are_refuted_exactly_where_the_oracle_says_so() {
    for seed in seeds() {
        let mut t = Trial::new(seed);
        for claim in 0..t.system().claims().len() {
            let system = Arc::clone(&t.made.system);
            let fails = !t.made.answers[claim].holds;
            match &system.claims()[claim].kind {
                ClaimKind::StartSatisfiable(_) => {
                    let found = t.try_verdict(claim, &verdict(false, Evidence::Refutation));
                    assert!(found.is_none_or(|f| f == fails), "{}", describe(&system));
                }
                ClaimKind::Reachable(goals) if goals.len() < 4 => {
                    let chain = passes::chain(&system, ClaimId::from(claim)).unwrap().system;
                    let Ok(graph) = Reachable::explore(&chain, chain.pool(), Limits::default())
                    else {
                        continue;
                    };
                    let exact = Evidence::Invariant(exactly(&chain, &graph.states));
                    let found =
                        t.try_verdict(claim, &verdict(false, Evidence::OfChain(Box::new(exact))));
                    assert!(found.is_none_or(|f| f == fails), "seed {seed}: {}", describe(&system));
                    let k = t.random.below(2 * graph.states.len().max(1)) as u32;
                    t.try_verdict(
                        claim,
                        &verdict(false, Evidence::OfChain(Box::new(Evidence::Diameter { k }))),
                    );
                }
                _ => {}
            }
        }
    }
}

/// All states that are reachable from a state of the graph.
fn reachable_from(graph: &Reachable, state: usize) -> Vec<(NodeId, Vec<Value>)> {
    let (mut seen, mut stack) = (vec![false; graph.states.len()], vec![state]);
    while let Some(here) = stack.pop() {
        if !std::mem::replace(&mut seen[here], true) {
            stack.extend(graph.steps(here).map(|(_, next)| next));
        }
    }
    graph.states.iter().zip(seen).filter(|(_, seen)| *seen).map(|(s, _)| s.clone()).collect()
}

#[test]
fn runs_outside_of_a_set_show_what_the_oracle_says() {
    let (mut accepted, mut refused) = (0, 0);
    for seed in seeds() {
        let mut t = Trial::new(seed);
        for (claim, _, shows) in t.claims_with_proofs() {
            let from: Vec<usize> = (0..4).map(|_| t.random.below(t.graph.states.len())).collect();
            let closed =
                from.into_iter().map(|s| (true, exactly(t.system(), &reachable_from(&t.graph, s))));
            let traps: Vec<(bool, NodeFormulas)> = closed.collect();
            for (closed, trap) in traps.into_iter().chain([(false, t.damaged_formulas(claim))]) {
                let Some(without) = passes::outside(t.system(), &trap) else { continue };
                let Ok(graph) = Reachable::explore(&without, without.pool(), Limits::default())
                else {
                    continue;
                };
                let exact = Evidence::Invariant(exactly(&without, &graph.states));
                let all = Evidence::ClosedSet { states: graph.states.len() as u64 };
                for proof in [exact, all, Evidence::Refutation] {
                    let evidence = Evidence::Outside { trap: trap.clone(), proof: Box::new(proof) };
                    let found = t.try_verdict(claim, &verdict(shows, evidence.clone()));
                    accepted += u32::from(found == Some(true) && closed);
                    refused += u32::from(found == Some(false));
                    assert_ne!(t.try_verdict(claim, &verdict(!shows, evidence)), Some(true));
                }
            }
        }
    }
    assert!(accepted > 20 && refused > 20, "{accepted} accepted, {refused} refused");
}

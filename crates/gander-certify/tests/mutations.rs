//! Mutated evidence about random systems: the checker must accept exactly the right one.
//!
//! Sets of states are written as formulas. The oracle decides independently, by exploring from the
//! set, whether it is an inductive or k-inductive invariant that excludes the bad states. The same
//! evidence is then checked in batches with other evidence, in sessions that served other systems:
//! every outcome must be the same as alone.

#[path = "support/random.rs"]
mod random;

use std::sync::Arc;
use std::time::Duration;

use gander_certify::{Certified, CheckLimits, Checker, Rejection};
use gander_oracle::{
    GeneratedSystem, Limits, Reachable, Settings, decide_claim, describe, generate_with,
};
use gander_runtime::Random;
use gander_smt::Solvers;
use gander_system::{
    ClaimId, ClaimKind, Effect, Evidence, Goal, Leg, NodeId, Run, StartId, State, Step, System,
    Verdict, passes,
};
use gander_term::{Value, evaluate};
use random::{exactly, run_shows, seeds, suits_invariants, verdict};

type Place = (NodeId, Vec<Value>);

/// The number of paths that the oracle explores; with more, no outcome is expected.
const MAX_PATHS: u32 = 20_000;

/// Small systems: exploration also starts from unreachable states.
const LIMITS: Limits = Limits { states: 200, work: 500_000 };

/// A system, its reachable states, and evidence about it.
struct Trial {
    made: GeneratedSystem,
    graph: Reachable,
    random: Random,
}

/// Evidence for a claim, and whether it is right, if the oracle decided that.
struct Offer {
    claim: ClaimId,
    verdict: Verdict,
    right: Option<bool>,
    how: String,
}

/// The parameters of a k-induction.
#[derive(Clone, Copy, Debug)]
struct Induction {
    k: u32,
    loop_free: bool,
    no_restart: bool,
}

impl Trial {
    fn new(seed: u64) -> Trial {
        let made = generate_with(seed, Settings::few_states());
        let graph = Reachable::explore(&made.system, made.system.pool(), Limits::default())
            .expect("it is finite");
        Trial { made, graph, random: Random::new(seed ^ 0xdead) }
    }

    fn system(&self) -> &System {
        &self.made.system
    }

    /// Changes a variable in some state.
    fn nudge(&mut self, states: &mut [Place]) {
        let (at, var) =
            (self.random.below(states.len()), self.random.below(self.system().vars().len()));
        let Some(value) = states.get_mut(at).and_then(|s| s.1.get_mut(var)) else { return };
        *value = match &*value {
            Value::BitVec(v) => Value::bits(v.width(), v.unsigned() + 1),
            Value::Bool(b) => Value::Bool(!b),
            Value::Int(i) => Value::Int(if self.random.one_in(2) { i + 1 } else { i - 1 }),
            Value::Real(r) => Value::Real(r + gander_term::RBig::from(1)),
            Value::Str(s) => Value::str(&format!("{s}a")),
            Value::Enum(e, i) => {
                let variants = self.made.system.pool().enumeration(*e).variants.len() as u32;
                Value::Enum(*e, (i + 1) % variants)
            }
            // The systems of this test have none.
            Value::Array(_) => return,
        };
    }

    /// A mutation of the set of reachable states.
    fn mutated(&mut self) -> Vec<Place> {
        let mut states = self.graph.states.clone();
        for _ in 0..self.random.below(4) {
            if states.is_empty() {
                break;
            }
            let (at, other) = (self.random.below(states.len()), self.random.below(states.len()));
            match self.random.below(6) {
                0 => drop(states.remove(at)),
                1 => states[at].1 = states[other].1.clone(),
                2 => states[at].0 = states[other].0,
                3 => states.push((states[at].0, states[other].1.clone())),
                4 => self.nudge(&mut states),
                _ => {
                    let extra = states[at].clone();
                    states.push(extra);
                    let last = states.len() - 1;
                    self.nudge(&mut states[last..]);
                }
            }
        }
        // Often close the set under steps, except for the last few states.
        if self.random.one_in(2)
            && let Ok(graph) =
                Reachable::explore_from(self.system(), self.system().pool(), &states, LIMITS)
        {
            let all = graph.states.len();
            states = graph.states;
            states.truncate(all - self.random.below(2.min(all)));
        }
        states
    }

    /// True if the states agree in their node and in the variables that steps read.
    fn same_memory(&self, a: &Place, b: &Place) -> bool {
        let system = self.system();
        let is_read = |var: usize| {
            let symbol = system.vars()[var].current;
            let mentions = |t| system.pool().free_symbols(&[t]).contains(&symbol);
            system.transitions().iter().any(|t| {
                t.guard.iter().any(|g| mentions(g.term.term()))
                    || t.effect.iter().any(|e| match *e {
                        Effect::Assign { value, .. } => mentions(value.term()),
                        Effect::Constrain { relation, .. } => mentions(relation.term()),
                        Effect::Keep { var: kept, .. } => kept.index() == var,
                    })
            })
        };
        a.0 == b.0 && a.1.iter().zip(&b.1).enumerate().all(|(var, (x, y))| x == y || !is_read(var))
    }

    /// Whether the states are a k-inductive invariant that excludes the bad states and steps.
    fn is_invariant(&self, states: &[Place], kind: &ClaimKind, how: Induction) -> Option<bool> {
        let system = self.system();
        let near = Reachable::explore_from(system, system.pool(), states, LIMITS).ok()?;
        let inside = |s: usize| near.distance[s] == 0;
        let known = |p: &Place| near.states.iter().position(|s| s == p).is_some_and(inside);
        let reached = self.graph.states.iter().zip(&self.graph.distance);
        if reached.clone().any(|(s, d)| *d < u64::from(how.k) && !known(s)) {
            return Some(false);
        }
        // A run of length 0 from the set meets a bad state, one of length 1 a bad step.
        let length = decide_claim(system, system.pool(), &near, kind, LIMITS).ok()?.length;
        if length.is_some_and(|l| l <= steps_of(kind)) {
            return Some(false);
        }
        let first: Vec<&Place> = self.graph.start_states().map(|s| &self.graph.states[s]).collect();
        let start: Vec<bool> = near.states.iter().map(|s| first.contains(&s)).collect();
        let mut paths: Vec<Vec<usize>> =
            (0..near.states.len()).filter(|&s| inside(s)).map(|s| vec![s]).collect();
        let mut seen = 0;
        while let Some(path) = paths.pop() {
            seen += 1;
            if seen > MAX_PATHS {
                return None;
            }
            let Some(&end) = path.last() else { continue };
            let mut next: Vec<usize> = near.steps(end).map(|(_, next)| next).collect();
            next.sort_unstable();
            next.dedup();
            for next in next {
                let full = path.len() == how.k as usize;
                let repeats = if full {
                    path.contains(&next)
                } else {
                    path.iter().any(|&p| self.same_memory(&near.states[p], &near.states[next]))
                };
                if how.loop_free && repeats || how.no_restart && start[next] {
                    continue;
                }
                if full && !inside(next) {
                    return Some(false);
                }
                if !full && inside(next) {
                    let mut longer = path.clone();
                    longer.push(next);
                    paths.push(longer);
                }
            }
        }
        Some(true)
    }

    /// Whether no run of `k + 1` steps is loop-free, and no run of at most `k` steps is bad.
    fn is_diameter(&self, k: u32, kind: &ClaimKind, answer: Option<u64>) -> Option<bool> {
        if answer.is_some_and(|length| length <= u64::from(k) + steps_of(kind)) {
            return Some(false);
        }
        let mut paths: Vec<Vec<usize>> = self.graph.start_states().map(|s| vec![s]).collect();
        let mut seen = 0;
        while let Some(path) = paths.pop() {
            seen += 1;
            if seen > MAX_PATHS {
                return None;
            }
            if path.len() == k as usize + 2 {
                return Some(false);
            }
            let Some(&end) = path.last() else { continue };
            for (_, next) in self.graph.steps(end) {
                let repeats = if path.len() == k as usize + 1 {
                    path.contains(&next)
                } else {
                    path.iter()
                        .any(|&p| self.same_memory(&self.graph.states[p], &self.graph.states[next]))
                };
                if !repeats {
                    let mut longer = path.clone();
                    longer.push(next);
                    paths.push(longer);
                }
            }
        }
        Some(true)
    }

    /// Evidence for a claim: these states as an invariant of some kind.
    fn offer(&mut self, claim: usize, states: &[Place]) -> Option<Offer> {
        let kind = self.system().claims()[claim].kind.clone();
        let shows = !run_shows(&kind)?;
        let how = Induction {
            k: 1 + self.random.below(4) as u32,
            loop_free: self.random.one_in(2),
            no_restart: self.random.one_in(2),
        };
        let plain = Induction { k: 1, loop_free: false, no_restart: false };
        let invariant = exactly(self.system(), states);
        let fits = suits_invariants(&kind);
        let (evidence, right) = match self.random.below(4) {
            0 => {
                let k = self.random.below(self.graph.states.len() + 1) as u32;
                let length = self.made.answers[claim].length;
                (Evidence::Diameter { k }, self.is_diameter(k, &kind, length))
            }
            1 => {
                let Induction { k, loop_free, no_restart } = how;
                let right = if fits { self.is_invariant(states, &kind, how) } else { None };
                (Evidence::KInductive { k, invariant, loop_free, no_restart }, right)
            }
            _ => {
                let right = if fits { self.is_invariant(states, &kind, plain) } else { None };
                (Evidence::Invariant(invariant), right)
            }
        };
        let turned = self.random.below(12) == 0;
        let right = if turned || !fits { Some(false) } else { right };
        let how = format!("{how:?} {evidence:?} of {states:?} for claim {claim}, turned: {turned}");
        Some(Offer {
            claim: ClaimId::from(claim),
            verdict: verdict(shows != turned, evidence),
            right,
            how,
        })
    }

    /// Evidence of other kinds, to be checked in the same batch.
    fn others(&mut self, claim: usize) -> Vec<Offer> {
        let kind = self.system().claims()[claim].kind.clone();
        let mut evidence = vec![Evidence::Refutation];
        for _ in 0..2 {
            let length = self.random.below(3);
            evidence.extend(self.walk(length).map(Evidence::Run));
        }
        if matches!(&kind, ClaimKind::Reachable(goals) if goals.len() < 4)
            && let Ok(chain) = passes::chain(self.system(), ClaimId::from(claim))
            && let Ok(graph) = Reachable::explore(&chain.system, chain.system.pool(), LIMITS)
        {
            let mut states = graph.states;
            if self.random.one_in(2) && !states.is_empty() {
                states.remove(self.random.below(states.len()));
            }
            let invariant = Evidence::Invariant(exactly(&chain.system, &states));
            evidence.push(Evidence::OfChain(Box::new(invariant)));
        }
        let mut offers = Vec::new();
        for e in evidence {
            let how = format!("{e:?} for claim {claim}");
            let verdict = verdict(self.random.one_in(2), e);
            offers.push(Offer { claim: ClaimId::from(claim), verdict, right: None, how });
        }
        offers
    }

    /// A random run.
    fn walk(&mut self, length: usize) -> Option<Run> {
        let starts: Vec<(usize, usize)> = self
            .graph
            .started
            .iter()
            .enumerate()
            .flat_map(|(s, all)| all.iter().map(move |&f| (s, f)))
            .collect();
        let &(start, mut here) = starts.get(self.random.below(starts.len()))?;
        let state = |s: usize| State {
            node: self.graph.states[s].0,
            values: self.graph.states[s].1.clone(),
        };
        let mut run = Run {
            start: StartId::from(start),
            first: state(here),
            legs: gander_system::Legs::new(),
        };
        for _ in 0..length {
            let steps: Vec<_> = self.graph.steps(here).collect();
            let Some((choice, next)) = steps.get(self.random.below(steps.len())) else { break };
            let step = Step {
                transition: choice.transition,
                params: choice.params.clone(),
                next: Some(self.graph.states[*next].1.clone()),
            };
            run.legs.push(Leg::Step(step));
            here = *next;
        }
        Some(run)
    }

    /// Panics if wrong evidence was accepted, or right evidence rejected.
    fn assert_right(&self, offer: &Offer, outcome: &Result<Certified, Rejection>, where_: &str) {
        let report = || {
            let seed = self.made.seed;
            format!(
                "seed {seed}, {where_}: {outcome:?}\n{}\n{}",
                offer.how,
                describe(self.system())
            )
        };
        if let Some(right) = offer.right
            && !matches!(outcome, Err(Rejection::Undecided(_)))
        {
            assert_eq!(outcome.is_ok(), right, "{}", report());
        }
        if outcome.is_err() {
            return;
        }
        let holds = matches!(offer.verdict, Verdict::Holds(_));
        assert_eq!(self.made.answers[offer.claim.index()].holds, holds, "{}", report());
        let (Verdict::Holds(evidence) | Verdict::Fails(evidence)) = &offer.verdict else {
            panic!("accepted without evidence: {}", report())
        };
        let (Evidence::Invariant(formulas) | Evidence::KInductive { invariant: formulas, .. }) =
            evidence
        else {
            return;
        };
        for (node, values) in &self.graph.states {
            let value = |s| {
                let name = &formulas.pool.symbol(s).name;
                let var = self.system().vars().iter().position(|v| v.name == *name)?;
                values.get(var).cloned()
            };
            let truth = evaluate(&formulas.pool, formulas.by_node[node.index()], &value);
            assert_eq!(truth, Ok(Value::Bool(true)), "{}", report());
        }
    }
}

/// The number of steps from a bad state to the goal of the claim.
fn steps_of(kind: &ClaimKind) -> u64 {
    match kind {
        ClaimKind::Reachable(goals) => u64::from(matches!(&goals[..], [Goal::Step { .. }])),
        _ => 0,
    }
}

/// Accepted, rejected, or `None` for undecided.
fn short(outcome: &Result<Certified, Rejection>) -> Option<bool> {
    match outcome {
        Ok(_) => Some(true),
        Err(Rejection::Wrong(_)) => Some(false),
        Err(Rejection::Undecided(_)) => None,
    }
}

fn limits() -> CheckLimits {
    CheckLimits { query: Some(Duration::from_secs(5)), ..CheckLimits::default() }
}

#[test]
fn mutated_evidence_is_accepted_exactly_if_right_alone_and_in_batches() {
    let solvers = Arc::new(Solvers::from_environment());
    // One checker for all systems: the result for one must not affect the next.
    let mut in_company = Checker::new(&solvers, limits());
    let (mut right, mut wrong, mut undecided) = (0, 0, 0);
    for seed in seeds() {
        let mut t = Trial::new(seed);
        let system = Arc::clone(&t.made.system);
        let mut offers = Vec::new();
        for _ in 0..3 {
            let states = t.mutated();
            for claim in 0..system.claims().len() {
                offers.extend(t.offer(claim, &states));
            }
        }
        for claim in 0..system.claims().len() {
            let others = t.others(claim);
            offers.extend(others);
        }
        let mut alone = Vec::new();
        let mut checker = Checker::new(&solvers, limits());
        for offer in &offers {
            let outcome = checker.check(&system, offer.claim, &offer.verdict);
            t.assert_right(offer, &outcome, "alone");
            match short(&outcome) {
                Some(true) => right += 1,
                Some(false) => wrong += 1,
                None => undecided += 1,
            }
            alone.push(outcome);
        }
        for _ in 0..4 {
            let count = 2 + t.random.below(10);
            let chosen: Vec<usize> = (0..count).map(|_| t.random.below(offers.len())).collect();
            let verdicts: Vec<(ClaimId, &Verdict)> =
                chosen.iter().map(|&i| (offers[i].claim, &offers[i].verdict)).collect();
            let outcomes = in_company.check_all(&system, &verdicts);
            assert_eq!(outcomes.len(), chosen.len());
            for (&i, outcome) in chosen.iter().zip(&outcomes) {
                t.assert_right(&offers[i], outcome, "in company");
                if let (Some(here), Some(there)) = (short(outcome), short(&alone[i])) {
                    let how = &offers[i].how;
                    assert_eq!(
                        here, there,
                        "seed {seed}: {outcome:?}, alone {:?}\n{how}",
                        alone[i]
                    );
                }
            }
        }
    }
    assert!(right > 10 && wrong > 10, "{right} accepted, {wrong} refused");
    assert!(
        undecided * 4 <= right + wrong,
        "{undecided} undecided of {}",
        right + wrong + undecided
    );
}

//! On random systems, passes preserve the verdict of every claim, and runs that are mapped back are
//! runs of the old system.

use gander_oracle::{
    Answer, GeneratedSystem, Limits, Reachable, Refusal, Settings, decide, generate, generate_with,
};
use gander_system::passes::{ComposeLimits, Restore, chain, compose, flatten};
// All names at the root, where the shared helpers look for them.
use gander_system::*;
use gander_term::{Pool, Value, evaluate};

#[allow(dead_code)]
#[path = "../src/testing.rs"]
mod testing;

const SYSTEMS: u64 = 80;

fn limits() -> Limits {
    Limits { states: 20_000, work: 20_000_000 }
}

/// Counts over all systems.
#[derive(Default, Debug)]
struct Tally {
    same: usize,
    refused: usize,
    runs: usize,
    not_lifted: usize,
}

impl Tally {
    fn compare(
        &mut self,
        what: &str,
        seed: u64,
        claim: &Claim,
        old: Answer,
        new: &Result<Answer, Refusal>,
    ) {
        match new {
            Err(_) => self.refused += 1,
            Ok(new) => {
                assert_eq!(
                    new.holds, old.holds,
                    "{what}, seed {seed}, claim {} ({:?})",
                    claim.name, claim.kind
                );
                self.same += 1;
            }
        }
    }

    fn lift(&mut self, what: &str, seed: u64, old: &System, run: Option<Run>) {
        match run {
            None => self.not_lifted += 1,
            Some(run) => {
                if let Err(e) = testing::replay(old, &run) {
                    panic!("{what}, seed {seed}: the lifted run is no run: {e}");
                }
                self.runs += 1;
            }
        }
    }
}

/// Shortest runs to every third state of a system.
fn some_runs(system: &System) -> Vec<Run> {
    let Ok(graph) = Reachable::explore(system, system.pool(), limits()) else { return Vec::new() };
    let mut before: Vec<Option<(usize, Leg)>> = vec![None; graph.states.len()];
    for s in 0..graph.states.len() {
        for (choice, next) in graph.steps(s) {
            if before[next].is_none() && graph.distance[next] == graph.distance[s] + 1 {
                let step = Step {
                    transition: choice.transition,
                    params: choice.params.clone(),
                    next: Some(graph.states[next].1.clone()),
                };
                before[next] = Some((s, Leg::Step(step)));
            }
        }
    }
    let mut runs = Vec::new();
    for end in (0..graph.states.len()).step_by(3) {
        let (mut at, mut legs) = (end, Vec::new());
        while let Some((previous, leg)) = before[at].clone() {
            legs.push(leg);
            at = previous;
        }
        legs.reverse();
        let start = (0..graph.started.len())
            .find(|&s| graph.started[s].contains(&at))
            .expect("a start state");
        let (node, values) = graph.states[at].clone();
        runs.push(Run {
            start: StartId::from(start),
            first: State { node, values },
            legs: legs.into(),
        });
    }
    runs
}

/// Formulas that are true of exactly the reachable states.
fn reachable_states(system: &System, graph: &Reachable) -> NodeFormulas {
    let mut pool = Pool::fork(system.pool());
    let mut by_node = vec![Vec::new(); system.nodes().len()];
    for (node, values) in &graph.states {
        let equations: Vec<_> = (system.vars().iter().zip(values))
            .map(|(v, value)| {
                let (x, c) = (pool.var(v.current), pool.constant(value.clone()));
                pool.eq(x, c)
            })
            .collect();
        by_node[node.index()].push(pool.and(equations));
    }
    let by_node = by_node.into_iter().map(|states| pool.or(states)).collect();
    NodeFormulas { pool: pool.freeze(), by_node }
}

/// Checks that the formula of exactly the new reachable states, mapped back, holds in every old
/// reachable state.
fn lifts_invariant(what: &str, g: &GeneratedSystem, new: &System, back: &dyn Restore) -> bool {
    let Ok(graph) = Reachable::explore(new, new.pool(), limits()) else { return false };
    let old = Reachable::explore(&g.system, g.system.pool(), limits())
        .expect("it was explored when it was made");
    let lifted =
        back.invariant(&reachable_states(new, &graph)).expect("an invariant of the old system");
    for (node, values) in &old.states {
        let look =
            |s| g.system.vars().iter().position(|v| v.current == s).map(|i| values[i].clone());
        let value = evaluate(&lifted.pool, lifted.by_node[node.index()], &look);
        assert_eq!(value, Ok(Value::Bool(true)), "{what}, seed {}: {values:?}", g.seed);
    }
    true
}

#[test]
fn invariants_mapped_back_hold_in_reachable_states() {
    let mut lifted = 0;
    for g in systems().take(40) {
        let pass = flatten(&g.system).unwrap();
        lifted += usize::from(lifts_invariant("flatten", &g, &pass.system, &pass));
    }
    assert!(lifted > 25, "{lifted}");
}

fn systems() -> impl Iterator<Item = GeneratedSystem> {
    (0..SYSTEMS).map(generate)
}

#[test]
fn flattening_preserves_verdicts() {
    let mut tally = Tally::default();
    for g in systems() {
        let pass = flatten(&g.system).unwrap();
        let Ok(answers) = decide(&pass.system, limits()) else { continue };
        for ((claim, &old), new) in g.system.claims().iter().zip(&g.answers).zip(&answers) {
            tally.compare("flatten", g.seed, claim, old, new);
            if let Ok(new) = new {
                assert_eq!(new.length, old.length, "seed {}, claim {}", g.seed, claim.name);
            }
        }
        for run in some_runs(&pass.system) {
            let lifted = pass.run(&run);
            assert!(lifted.is_some());
            tally.lift("flatten", g.seed, &g.system, lifted);
        }
    }
    assert!(tally.same > 10 * tally.refused && tally.runs > 500, "{tally:?}");
}

#[test]
fn chains_preserve_verdicts_and_lengths() {
    let mut tally = Tally::default();
    let mut several = 0;
    for g in systems() {
        for (i, (claim, &old)) in g.system.claims().iter().zip(&g.answers).enumerate() {
            let ClaimKind::Reachable(goals) = &claim.kind else { continue };
            several += usize::from(goals.len() > 1);
            let pass = chain(&g.system, ClaimId::from(i)).unwrap();
            let Ok(answers) = decide(&pass.system, limits()) else { continue };
            tally.compare("chain", g.seed, claim, old, &answers[0]);
            if let Ok(new) = &answers[0] {
                let state_goals =
                    goals.iter().filter(|g| matches!(g, Goal::State(_))).count() as u64;
                assert_eq!(
                    new.length,
                    old.length.map(|n| n + state_goals),
                    "seed {}, {}",
                    g.seed,
                    claim.name
                );
            }
            for run in some_runs(&pass.system) {
                tally.lift("chain", g.seed, &g.system, pass.run(&run));
            }
        }
    }
    assert!(
        several > 20 && tally.same > 10 * tally.refused && tally.runs > 500,
        "{several} {tally:?}"
    );
    assert_eq!(tally.not_lifted, 0);
}

fn composition(instances: &[(&str, &System)]) -> System {
    let limits = ComposeLimits::default();
    let (mut builder, mut composed) = compose("Whole", instances, &[], &[], limits).unwrap();
    composed.add_claims(&mut builder).unwrap();
    builder.finish()
}

#[test]
fn a_composition_of_one_instance_has_the_same_verdicts() {
    let mut tally = Tally::default();
    for g in systems() {
        let whole = composition(&[("a", &g.system)]);
        let Ok(answers) = decide(&whole, limits()) else { continue };
        for (claim, &old) in g.system.claims().iter().zip(&g.answers) {
            let name = format!("a.{}", claim.name);
            if let Some(i) = whole.claims().iter().position(|c| c.name == name) {
                tally.compare("compose", g.seed, claim, old, &answers[i]);
            }
        }
    }
    assert!(tally.same > 10 * tally.refused, "{tally:?}");
}

/// Another instance can only remove runs.
#[test]
fn a_composition_has_no_more_runs_than_an_instance() {
    let mut tally = Tally::default();
    for seed in 0..60 {
        let (a, b) = (
            generate_with(seed, Settings::few_states()),
            generate_with(seed + 1000, Settings::few_states()),
        );
        let whole = composition(&[("a", &a.system), ("b", &b.system)]);
        let Ok(answers) = decide(&whole, limits()) else { continue };
        for (name, g) in [("a", &a), ("b", &b)] {
            for (claim, old) in g.system.claims().iter().zip(&g.answers) {
                let full = format!("{name}.{}", claim.name);
                let Some(i) = whole.claims().iter().position(|c| c.name == full) else { continue };
                let Ok(new) = &answers[i] else { continue };
                match claim.kind {
                    ClaimKind::Always(_) => assert!(new.holds || !old.holds, "seed {seed}, {full}"),
                    ClaimKind::Reachable(_) | ClaimKind::CanEnable(_) => {
                        assert!(old.holds || !new.holds, "seed {seed}, {full}");
                    }
                    _ => continue,
                }
                tally.same += usize::from(new.holds == old.holds);
            }
        }
    }
    assert!(tally.same > 50, "{tally:?}");
}

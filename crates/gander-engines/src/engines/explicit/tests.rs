//! Compares compiled steps with the evaluator, and explorations with known state counts.

use std::sync::Arc;

use gander_oracle::generate;
use gander_runtime::Cancellation;
use gander_system::{NodeId, Role, System, SystemBuilder};
use gander_term::random::{Shape, TermGenerator};
use gander_term::{Pool, Sort, Value, evaluate, parse_term};

use crate::concrete::compiled::code::{Compiler, Frame, StepError, execute, is_numbered, number};
use crate::concrete::compiled::machine::Machine;
use crate::concrete::states::explore::{Explorer, Phase, Resources, Stop};
use crate::concrete::states::graph::Graph;
use crate::encode::targets::{StateTarget, Targets};

const PLENTY: Resources = Resources { memory: 1 << 30, threads: 1 };

fn machine(system: &Arc<System>, targets: &Targets) -> Result<Machine, String> {
    let mut pool = Pool::fork(system.pool());
    Machine::new(system, &mut pool, targets, &Cancellation::new()).map(|(machine, _)| machine)
}

/// Explores all states.
fn explore(explorer: &mut Explorer) -> Result<(), Stop> {
    while explorer.advance(&[], &Cancellation::new(), &mut Vec::new())? == Phase::More {}
    Ok(())
}

#[test]
fn compiled_terms_agree_with_the_evaluator() {
    let mut compared = 0;
    for seed in 0..2250 {
        let mut pool = Pool::new();
        // Terms with arrays do not compile, and most random terms of this depth contain one.
        let shape = Shape { depth: 5, arrays: seed % 3 == 0, ..Shape::default() };
        let mut generator = TermGenerator::new(&mut pool, seed, shape);
        let t = generator.any_term(&mut pool);
        if !is_numbered(pool.sort(t)) {
            continue;
        }
        let assignment = generator.assignment(&pool);
        let mut frame = Frame::default();
        let mut places = Vec::new();
        for (s, v) in &assignment {
            // Other values have no slot; terms that need them do not compile.
            if let Some(n) = number(v) {
                places.push((frame.place(*s), n));
            }
        }
        let mut tape = Vec::new();
        let Ok(slot) = Compiler::new(&mut frame).compile(&pool, t, &mut tape) else { continue };
        let mut slots = frame.slots();
        for (place, n) in places {
            slots.values[place as usize] = n;
        }
        let expected =
            evaluate(&pool, t, &|s| assignment.iter().find(|a| a.0 == s).map(|a| a.1.clone()));
        match execute(&tape, &frame, &mut slots) {
            Ok(_) => {
                let expected = expected.unwrap();
                assert_eq!(
                    Some(slots.values[slot as usize]),
                    number(&expected),
                    "seed {seed}: {}",
                    pool.display(t)
                );
                compared += 1;
            }
            // A number too large for 64 bits, or an evaluator error: never a wrong number.
            Err(StepError::Overflow | StepError::Evaluator(_)) => {}
            Err(other) => panic!("seed {seed}: {other:?}"),
        }
    }
    assert!(compared > 500, "{compared}");
}

/// Evaluates guard and effect of every enumerated step.
#[test]
fn enumerated_steps_satisfy_guard_and_effect() {
    let (mut systems, mut steps) = (0, 0);
    for seed in 0..150 {
        let made = generate(seed);
        let system = made.system;
        let Ok(machine) = machine(&system, &Targets::default()) else { continue };
        let mut explorer = Explorer::new(machine, PLENTY);
        if explore(&mut explorer).is_err() {
            continue;
        }
        systems += 1;
        assert_eq!(explorer.states(), made.states, "seed {seed}");
        let graph = Graph::of(&explorer);
        let edges = graph.edges(1 << 30, &Cancellation::new()).unwrap();
        let mut pool = Pool::fork(system.pool());
        for i in 0..graph.len().min(40) as u32 {
            for (to, by) in edges.from(i) {
                let step = graph.step(i, by, to).unwrap();
                let (now, next) = (explorer.state(i), explorer.state(to));
                assert_eq!(step.next.as_ref(), Some(&next.values));
                assert_eq!(system.transition(by).source, now.node);
                assert_eq!(system.transition(by).target, next.node);
                let value = |s| {
                    let var = |of: fn(&gander_system::StateVar) -> gander_term::SymbolId| {
                        system.vars().iter().position(|v| of(v) == s)
                    };
                    let params = &system.transition(by).params;
                    var(|v| v.current)
                        .map(|v| now.values[v].clone())
                        .or_else(|| var(|v| v.next).map(|v| next.values[v].clone()))
                        .or_else(|| {
                            params
                                .iter()
                                .position(|p| p.symbol == s)
                                .map(|p| step.params[p].clone())
                        })
                };
                let parts = [system.guard_term(&mut pool, by), system.effect_term(&mut pool, by)];
                for part in parts {
                    assert_eq!(evaluate(&pool, part, &value), Ok(Value::Bool(true)), "seed {seed}");
                }
                steps += 1;
            }
        }
    }
    assert!(systems > 30 && steps > 300, "{systems} systems, {steps} steps");
}

/// `n` ints that independently count up to `top` and wrap to 0.
fn counters(n: usize, top: u32) -> Arc<System> {
    let mut b = SystemBuilder::new("counters", Pool::new(), &[("A", None)]).unwrap();
    let vars: Vec<_> = (0..n)
        .map(|i| b.var(&format!("x{i}"), Sort::Int, Role::State, None, None).unwrap())
        .collect();
    let zeros: Vec<_> =
        (0..n).map(|i| (parse_term(&mut b.pool, &format!("x{i} == 0")).unwrap(), None)).collect();
    b.start("go", NodeId(0), &zeros, None).unwrap();
    for (i, v) in vars.iter().enumerate() {
        let mut d = b.transition(&format!("t{i}"), None, NodeId(0), NodeId(0), None).unwrap();
        let next =
            parse_term(&mut b.pool, &format!("if x{i} == {top} then 0 else x{i} + 1")).unwrap();
        b.assign(&mut d, *v, next, None).unwrap();
        for other in vars.iter().filter(|o| *o != v) {
            b.keep(&mut d, *other);
        }
        b.add(d).unwrap();
    }
    Arc::new(b.finish())
}

#[test]
fn counters_have_the_expected_states_and_edges() {
    // More values than the first layout can hold.
    for (n, top, states) in [(1, 299, 300), (3, 19, 8000), (2, 150, 151 * 151)] {
        let system = counters(n, top);
        let mut explorer = Explorer::new(machine(&system, &Targets::default()).unwrap(), PLENTY);
        explore(&mut explorer).unwrap();
        assert_eq!(explorer.states(), states);
        assert_eq!(explorer.edges(), (states * n) as u64);
        let last = explorer.run_to(states as u32 - 1).unwrap();
        assert_eq!(
            last.length(),
            u64::from(top) * n as u64,
            "the farthest state has all counters at their top"
        );
    }
}

#[test]
fn state_numbers_do_not_depend_on_the_number_of_threads() {
    let system = counters(3, 30);
    let state = |threads| {
        let resources = Resources { threads, ..PLENTY };
        let mut explorer = Explorer::new(machine(&system, &Targets::default()).unwrap(), resources);
        explore(&mut explorer).unwrap();
        (0..explorer.states() as u32).step_by(97).map(|i| explorer.state(i)).collect::<Vec<_>>()
    };
    let one = state(1);
    assert!(one == state(2) && one == state(5));
}

#[test]
fn exploration_stops_at_the_memory_limit() {
    let system = counters(4, 200);
    let resources = Resources { memory: 4 << 20, threads: 2 };
    let mut explorer = Explorer::new(machine(&system, &Targets::default()).unwrap(), resources);
    assert_eq!(explore(&mut explorer), Err(Stop::Memory));
    assert!(explorer.states() > 10_000, "{}", explorer.states());
}

#[test]
fn can_reach_returns_the_states_that_reach_a_label() {
    let system = counters(1, 9);
    let mut pool = Pool::fork(system.pool());
    let formula = parse_term(&mut pool, "x0 == 4").unwrap();
    let target = StateTarget { goal: 0, node: None, formula, choices: Vec::new() };
    let targets = Targets { states: vec![target], ..Targets::default() };
    let (machine, blind) =
        Machine::new(&system, &mut pool, &targets, &Cancellation::new()).unwrap();
    assert!(blind.is_empty());
    let mut explorer = Explorer::new(machine, PLENTY);
    while explorer.advance(&[false], &Cancellation::new(), &mut Vec::new()).unwrap() == Phase::More
    {
    }
    let graph = Graph::of(&explorer);
    let label = graph.label(0, 1, &Cancellation::new()).unwrap();
    assert_eq!(label.iter().filter(|l| **l).count(), 1);
    let mut starts = Vec::new();
    explorer.each_start(&mut |_, at| {
        starts.push(at);
        false
    });
    assert_eq!(starts, [Some(0)]);
    assert_eq!(graph.node(3), NodeId(0));
    assert_eq!(graph.run_to(4).unwrap().length(), 4);
    let edges = graph.edges(1 << 20, &Cancellation::new()).unwrap();
    assert!(edges.can_reach(&label).into_iter().all(|r| r));
    assert!(edges.can_reach(&[false; 10]).into_iter().all(|r| !r));
}

/// Compilation checks for cancellation at every unknown, because systems can have hundreds.
#[test]
fn compilation_can_be_cancelled() {
    let system = counters(60, 9);
    let after = |checks: u64| {
        let cancellation = Cancellation::after_checks(checks);
        Machine::new(&system, &mut Pool::fork(system.pool()), &Targets::default(), &cancellation)
            .map(drop)
    };
    assert!(after(1_000_000).is_ok());
    for checks in [1, 10, 30, 60] {
        let stopped = after(checks).expect_err("it was stopped");
        assert!(stopped.ends_with("interrupted"), "after {checks} checks: {stopped}");
    }
}

#[test]
fn all_start_states_are_found_over_several_slices() {
    // Two counters with arbitrary start values: more start states than one call of `advance` finds.
    let mut b = SystemBuilder::new("anywhere", Pool::new(), &[("A", None)]).unwrap();
    let vars = ["x", "y"].map(|n| b.var(n, Sort::Int, Role::State, None, None).unwrap());
    let anywhere = parse_term(&mut b.pool, "0 <= x and x < 300 and 0 <= y and y < 300").unwrap();
    b.start("go", NodeId(0), &[(anywhere, None)], None).unwrap();
    let mut t = b.transition("t", None, NodeId(0), NodeId(0), None).unwrap();
    let next = parse_term(&mut b.pool, "if x == 300 then 300 else x + 1").unwrap();
    b.assign(&mut t, vars[0], next, None).unwrap();
    b.keep(&mut t, vars[1]);
    b.add(t).unwrap();
    let system = Arc::new(b.finish());
    let mut explorer = Explorer::new(machine(&system, &Targets::default()).unwrap(), PLENTY);
    assert_eq!(explorer.advance(&[], &Cancellation::new(), &mut Vec::new()), Ok(Phase::More));
    assert!(!explorer.has_begun() && explorer.states() > 1 << 14);
    explore(&mut explorer).unwrap();
    assert_eq!(explorer.states(), 301 * 300);
}

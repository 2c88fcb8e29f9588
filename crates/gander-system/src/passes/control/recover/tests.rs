use gander_runtime::Cancellation;
use gander_term::Sort;

use super::*;
use crate::Evidence;
use crate::system::Structure;
use crate::testing::{Model, replay};

/// `i = 0; while (i < n) { i = i + 1; } assert(i >= n)`, with a program counter of two bits.
fn counting() -> Model {
    let mut m = Model::new("Counting", &["state"]);
    m.builder.set_structure(Structure::Foreign);
    m.var("a", Sort::Bool);
    m.var("b", Sort::Bool);
    m.var("i", Sort::Int);
    m.var("n", Sort::Int);
    m.start("state", &["not a and not b", "n >= 0"]);
    let relation = [
        "not (not a and not b) or (not a' and b' and i' == 0 and n' == n)",
        "not (not a and b and i < n) or (not a' and b' and i - i' == -1 and n' == n)",
        "not (not a and b and not (i < n)) or (a' and not b' and i' == i and n' == n)",
        "not (a and not b) or (a' and (b' <-> i < n) and i' == i and n' == n)",
        "not (a and b) or (a' and b' and i' == i and n' == n)",
    ];
    m.step("state", "step", "state", &[], &[], &relation);
    m.always("not (a and b)");
    m
}

fn recovered(system: &System) -> Option<Recovered> {
    recover_control(system, &Cancellation::new()).unwrap()
}

#[test]
fn places_become_nodes_and_steps_assignments() {
    let old = counting().finish();
    let new = recovered(&old).unwrap();
    let s = &new.system;
    assert_eq!(s.nodes.len(), 4);
    let names: Vec<&str> = s.vars.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["i", "n"]);
    let mut shown = Vec::new();
    for t in &s.transitions {
        assert!(t.is_functional(s), "{t:?}");
        let guard: Vec<String> =
            t.guard.iter().map(|g| s.pool.display(g.term.term()).to_string()).collect();
        let set = |e: &Effect| match *e {
            Effect::Assign { var, value, .. } => {
                Some(format!("{} := {}", s.var(var).name, s.pool.display(value.term())))
            }
            _ => None,
        };
        let effect: Vec<String> = t.effect.iter().filter_map(set).collect();
        shown.push(format!(
            "{} -> {}: {} {{{}}}",
            t.source.0,
            t.target.0,
            guard.join(", "),
            effect.join(", ")
        ));
    }
    shown.sort();
    let expected = [
        "0 -> 1:  {i := 0}",
        "1 -> 1: n >= i + 1 {i := i + 1}",
        "1 -> 2: n <= i {}",
        "2 -> 2: n <= i {}",
        "2 -> 3: n >= i + 1 {}",
        "3 -> 3:  {}",
    ];
    assert_eq!(shown, expected);
    let ClaimKind::Always(p) = s.claims[0].kind else { panic!("always") };
    assert_eq!(s.pool.display(p.term()).to_string(), "`@node~2` != `@Node~2`.`state@3`");
}

#[test]
fn runs_and_invariants_are_mapped_back() {
    let old = counting().finish();
    let new = recovered(&old).unwrap();
    let ints = |i: i64, n: i64| vec![Value::int(i), Value::int(n)];
    let edge = |from: u32, to: u32| {
        let found = new
            .system
            .transitions
            .iter()
            .position(|t| (t.source.0, t.target.0) == (from, to))
            .unwrap();
        Leg::Step(Step { transition: TransitionId::from(found), params: Vec::new(), next: None })
    };
    let run = Run {
        start: StartId(0),
        first: State { node: NodeId(0), values: ints(7, 2) },
        legs: vec![
            edge(0, 1),
            Leg::Repeat { times: 2, body: vec![edge(1, 1)] },
            edge(1, 2),
            edge(2, 2),
        ]
        .into(),
    };
    replay(&new.system, &run).unwrap();
    let back = new.run(&run).unwrap();
    let states = replay(&old, &back).unwrap();
    let last: Vec<Value> =
        [Value::Bool(true), Value::Bool(false)].into_iter().chain(ints(2, 2)).collect();
    assert_eq!((states.len(), &states[5].values), (6, &last));
    // A run that is too long is not unfolded.
    let legs = vec![edge(0, 1), Leg::Repeat { times: 1 << 40, body: vec![edge(1, 1)] }].into();
    assert!(new.run(&Run { legs, ..run }).is_none());

    let mut pool = Pool::fork(&new.system.pool);
    let by_node: Vec<TermId> = ["true", "i >= 0", "n <= i", "false"]
        .map(|text| gander_term::parse_term(&mut pool, text).unwrap())
        .into();
    let new_evidence =
        Evidence::Invariant(NodeFormulas { pool: pool.freeze(), by_node: by_node.into() });
    let Some(Evidence::Invariant(lifted)) = new.evidence(&new_evidence) else {
        panic!("an invariant")
    };
    let shown = lifted.pool.display(lifted.by_node[0]).to_string();
    assert_eq!(shown, "not a and not b or not a and b and i >= 0 or a and not b and n <= i");
}

#[test]
fn a_number_with_constant_updates_is_control_and_data_is_not() {
    let mut m = Model::new("Numbers", &["state"]);
    m.builder.set_structure(Structure::Foreign);
    for name in ["pc", "x"] {
        m.var(name, Sort::Int);
    }
    for name in ["p", "q", "r", "s"] {
        m.var(name, Sort::Bool);
    }
    m.start("state", &["pc == 0", "x == 0"]);
    for (gate, here, next) in [("a", 0, 1), ("b", 1, 5), ("c", 5, 9), ("d", 9, 0), ("e", 9, 2)] {
        let (guard, effect) = (format!("pc == {here}"), format!("pc := {next}"));
        m.step(
            "state",
            gate,
            "state",
            &[],
            &[&guard],
            &[&effect, "x := x + 1", "any p", "any q", "any r", "any s"],
        );
    }
    m.always("x >= 0 or pc == 2");
    let old = m.finish();
    let new = recovered(&old).unwrap();
    assert_eq!(new.system.nodes.len(), 5);
    assert_eq!(new.system.vars.len(), 5, "only the place is gone");
}

#[test]
fn other_claims_and_drawn_systems_are_not_changed() {
    let mut m = counting();
    m.claim("ends", ClaimKind::NoDeadlock);
    assert!(recovered(&m.finish()).is_none());
    let mut m = counting();
    m.builder.set_structure(Structure::Undrawn);
    assert!(recovered(&m.finish()).is_none());
    let cancelled = Cancellation::new();
    cancelled.cancel();
    assert!(recover_control(&counting().finish(), &cancelled).unwrap().is_none());
}

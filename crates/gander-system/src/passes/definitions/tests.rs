use super::*;
use crate::testing::{Model, ints, replay, step};
use crate::{ClaimKind, NodeId, TransitionId};
use gander_term::{Sort, parse_term};

/// A counter `c` (the only memory) of the input `i`, with equations without memory in any order.
fn counter() -> System {
    let mut m = Model::new("Counter", &["N"]);
    m.var("far", Sort::Bool);
    m.var("sum", Sort::Int);
    m.var("c", Sort::Int);
    m.var("always", Sort::Bool);
    m.input("i", Sort::Int);
    m.start("N", &["far == (sum > 9)", "sum == c + i", "c == 0", "always"]);
    m.step(
        "N",
        "step",
        "N",
        &[],
        &[],
        &["far' == (sum' > 9)", "sum' == c' + i'", "c' == sum", "always'"],
    );
    m.always("far == (c + i > 9) and always");
    m.finish()
}

#[test]
fn only_memory_and_inputs_remain() {
    let s = counter();
    let d = definitions(&s).unwrap().unwrap();
    let vars: Vec<&str> = d.system.vars.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(vars, ["c", "i"]);
    let shown = |t| d.system.pool.display(t).to_string();
    let relations: Vec<String> = d.system.transitions[0]
        .effect
        .iter()
        .filter_map(|e| match e {
            Effect::Constrain { relation, .. } => Some(shown(relation.term())),
            _ => None,
        })
        .collect();
    assert_eq!(relations, ["c' == c + i"]);
    let starts: Vec<String> =
        d.system.starts[0].constraint.iter().map(|e| shown(e.term.term())).collect();
    assert_eq!(starts, ["c == 0"]);
    let ClaimKind::Always(p) = d.system.claims[0].kind else { panic!("always") };
    assert!(!shown(p.term()).contains("far"));
}

#[test]
fn runs_are_mapped_back_with_defined_values() {
    let s = counter();
    let d = definitions(&s).unwrap().unwrap();
    let t = TransitionId(0);
    let legs = vec![step(t, &[], &[5, 3]), step(t, &[], &[8, 4])];
    let run = Run {
        start: StartId(0),
        first: State { node: NodeId(0), values: ints(&[0, 5]) },
        legs: legs.into(),
    };
    replay(&d.system, &run).unwrap();
    let states = replay(&s, &d.run(&run).unwrap()).unwrap();
    let last = &states.last().unwrap().values;
    assert_eq!(last[..2], [Value::Bool(true), Value::int(12)]);
    let short = Run { first: State { node: NodeId(0), values: ints(&[0]) }, ..run };
    assert!(d.run(&short).is_none());
}

#[test]
fn invariants_are_mapped_back_with_definitions() {
    let s = counter();
    let d = definitions(&s).unwrap().unwrap();
    let mut pool = Pool::fork(&d.system.pool);
    let i = parse_term(&mut pool, "c >= 0").unwrap();
    let new = NodeFormulas { pool: pool.freeze(), by_node: vec![i].into() };
    let old = d.invariant(&new).unwrap();
    let text = old.pool.display(old.by_node[0]).to_string();
    for part in ["c >= 0", "always", "far", "sum"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn cyclic_and_inconsistent_equations_define_nothing() {
    let mut m = Model::new("Odd", &["N"]);
    for v in ["a", "b", "first", "kept", "memory", "twice"] {
        m.var(v, Sort::Int);
    }
    // a and b are cyclic; `first` has another start; `memory` depends on the previous state; the
    // second transition keeps `kept`.
    m.start("N", &["a == b", "b == a", "first == 1", "kept == a", "memory == a", "twice == a + a"]);
    let same = ["a' == b'", "b' == a'", "first' == a'", "twice' == a' + a'"];
    let effect =
        |more: &[&'static str]| -> Vec<&'static str> { same.iter().chain(more).copied().collect() };
    m.step("N", "go", "N", &[], &[], &effect(&["kept' == a'", "memory' == a"]));
    m.step("N", "stay", "N", &[], &[], &effect(&["kept' == kept", "memory' == a'"]));
    let s = m.finish();
    let d = definitions(&s).unwrap().unwrap();
    let left: Vec<&str> = d.system.vars.iter().map(|v| v.name.as_str()).collect();
    assert!(
        left.len() == 4 && ["first", "kept", "memory"].iter().all(|v| left.contains(v)),
        "{left:?}"
    );
    assert!(left.contains(&"a") != left.contains(&"b"), "{left:?}");
}

#[test]
fn a_system_of_assignments_has_no_definitions() {
    let mut m = Model::new("Plain", &["N"]);
    m.var("x", Sort::Int);
    m.start("N", &["x == 1"]);
    m.step("N", "go", "N", &[], &[], &["x := x + 1"]);
    assert!(definitions(&m.finish()).unwrap().is_none());
}

use super::*;
use crate::testing::{Model, ints, named, replay, step};
use crate::{Evidence, NodeId};

/// `x` counts to `limit`; `log` and `sum` follow along; `note` is free; `guarded` occurs in a guard only.
fn counter() -> System {
    let mut m = Model::new("Counter", &["Run"]);
    m.var("x", Sort::Int);
    m.var("log", Sort::Int);
    m.var("sum", Sort::Int);
    m.var("note", Sort::Int);
    m.var("limit", Sort::Int);
    m.var("guarded", Sort::Int);
    m.start("Run", &["x == 0", "log == 7", "sum == log + 1", "note > 100", "limit == 5", "guarded == 0"]);
    m.step(
        "Run",
        "count",
        "Run",
        &[("by", Sort::Int)],
        &["guarded == 0"],
        &["x := x + 1", "sum := sum + Run.count.by", "log := sum"],
    );
    m.step("Run", "write", "Run", &[], &[], &["any note"]);
    m.always("x <= limit");
    m.always("sum <= 9");
    m.claim("start", ClaimKind::StartSatisfiable(StartId(0)));
    m.finish()
}

fn kept(s: &Slice) -> Vec<&str> {
    s.system.vars.iter().map(|v| v.name.as_str()).collect()
}

#[test]
fn only_what_matters_is_kept() {
    let s = counter();
    assert_eq!(kept(&slice(&s, ClaimId(0)).unwrap()), ["x", "limit", "guarded"]);
    // `sum` is tied to `log` by the start.
    assert_eq!(kept(&slice(&s, ClaimId(1)).unwrap()), ["log", "sum", "guarded"]);
    assert_eq!(kept(&slice(&s, ClaimId(2)).unwrap()).len(), 6);
}

#[test]
fn constraints_and_assumptions_are_kept() {
    let mut m = Model::new("Blocked", &["A"]);
    for v in ["x", "y", "z", "w"] {
        m.var(v, Sort::Int);
    }
    m.start("A", &[]);
    m.step("A", "go", "A", &[], &[], &["y' > y", "w := y"]);
    m.assume("z < 10");
    m.always("x == x");
    let s = m.finish();
    assert_eq!(kept(&slice(&s, ClaimId(0)).unwrap()), ["x", "y", "z"]);
}

#[test]
fn runs_get_the_dropped_values_by_replay() {
    let s = counter();
    let sliced = slice(&s, ClaimId(0)).unwrap();
    let (count, write) = (named(&sliced.system, "Run.count"), named(&sliced.system, "Run.write"));
    let first = State { node: NodeId(0), values: ints(&[0, 5, 0]) };
    let legs = vec![
        step(count, &[10], &[1, 5, 0]),
        Leg::Repeat { times: 2, body: vec![step(write, &[], &[1, 5, 0])] },
        step(count, &[1], &[2, 5, 0]),
    ];
    let run = Run { start: StartId(0), first: first.clone(), legs: legs.into() };
    replay(&sliced.system, &run).unwrap();
    let states = replay(&s, &sliced.run(&run).unwrap()).unwrap();
    assert_eq!(states.len(), 5);
    assert_eq!(states[0].values, ints(&[0, 7, 8, 101, 5, 0]));
    assert_eq!(states[4].values[..3], ints(&[2, 18, 19])[..]);
    // Steps that are functions stay compressed, however often they are repeated.
    let long = Leg::Repeat { times: 1 << 40, body: vec![step(count, &[1], &[1, 5, 0])] };
    let lifted = sliced.run(&Run { legs: vec![long].into(), ..run.clone() }).unwrap();
    assert_eq!(lifted.length(), 1 << 40);
    let long = Leg::Repeat { times: 1 << 40, body: vec![step(write, &[], &[0, 5, 0])] };
    assert!(sliced.run(&Run { legs: vec![long].into(), ..run }).is_none());
}

#[test]
fn a_start_without_solution_gives_no_run() {
    let mut m = Model::new("Never", &["A"]);
    m.var("x", Sort::Int);
    m.var("y", Sort::Int);
    m.start("A", &["x == 0", "y > 3", "y < 2"]);
    m.always("x != 0");
    let s = m.finish();
    let sliced = slice(&s, ClaimId(0)).unwrap();
    assert_eq!(kept(&sliced), ["x"]);
    let run = Run { start: StartId(0), first: State { node: NodeId(0), values: ints(&[0]) }, legs: crate::Legs::new() };
    assert!(replay(&sliced.system, &run).is_ok());
    assert!(sliced.evidence(&Evidence::Run(run)).is_none());
}

#[test]
fn arguments_from_distinct_states_are_not_lifted() {
    let s = counter();
    let sliced = slice(&s, ClaimId(0)).unwrap();
    let mut pool = Pool::fork(&sliced.system.pool);
    let tt = pool.tt();
    let invariant = NodeFormulas { pool: pool.freeze(), by_node: vec![tt].into() };
    let k = |loop_free, no_restart| Evidence::KInductive { k: 2, invariant: invariant.clone(), loop_free, no_restart };
    assert!(sliced.evidence(&k(false, false)).is_some());
    assert!(sliced.evidence(&k(true, false)).is_none());
    assert!(sliced.evidence(&k(false, true)).is_none());
    assert!(sliced.evidence(&Evidence::Diameter { k: 3 }).is_none());
}

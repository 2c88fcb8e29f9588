//! Finite systems: what explicit search and diagrams are for.

mod models;

use std::sync::Arc;

use gander_engines::{CancelToken, CheckReport, Nobody, check};
use gander_system::{Evidence, System, Verdict};
use models::{Model, config};

fn decide(system: &Arc<System>, engine: &str) -> CheckReport {
    let mut config = config(system);
    config.engines = Some(vec![engine.to_string()]);
    let report = check(system, &config, &CancelToken::new(), &Nobody);
    assert!(report.internal_errors.is_empty(), "{:?}", report.internal_errors);
    report
}

/// A token goes round in a ring of `n` truth values beside as many that flip at will: 2^n * n states.
fn ring(n: usize) -> Arc<System> {
    let mut m = Model::new(&["A"]);
    for i in 0..n {
        m.bool(&format!("t{i}"));
        m.bool(&format!("f{i}"));
    }
    let first: Vec<String> = (0..n).map(|i| if i == 0 { "t0".into() } else { format!("not t{i}") }).collect();
    m.start("go", 0, &first.join(" and "));
    for i in 0..n {
        let next = (i + 1) % n;
        m.step(
            &format!("pass{i}"),
            0,
            0,
            &[],
            &format!("t{i}"),
            &[&format!("t{i} := false"), &format!("t{next} := true")],
        );
        m.step(&format!("flip{i}"), 0, 0, &[], &format!("not t{i}"), &[&format!("f{i} := not f{i}")]);
    }
    let pairs: Vec<String> = (1..n).map(|i| format!("not (t0 and t{i})")).collect();
    m.always("one token at most", &pairs.join(" and "));
    m.always("the last never has it", &format!("not t{}", n - 1));
    m.finish()
}

#[test]
fn diagrams_take_what_is_too_many_for_explicit_search() {
    let n = 20;
    let report = decide(&ring(n), "bdd");
    assert!(matches!(&report.outcomes[0].verdict, Verdict::Holds(Evidence::Invariant(_))), "{:?}", report.outcomes);
    let Verdict::Fails(Evidence::Run(run)) = &report.outcomes[1].verdict else { panic!("{:?}", report.outcomes) };
    assert_eq!(run.length(), n as u64 - 1);
}

#[test]
fn both_count_the_same_states() {
    let system = ring(5);
    for engine in ["explicit", "bdd"] {
        let report = decide(&system, engine);
        let Verdict::Holds(Evidence::ClosedSet { states }) = &report.outcomes[0].verdict else {
            panic!("{engine}: {:?}", report.outcomes)
        };
        assert_eq!(*states, 5 * 32, "{engine}");
        let Verdict::Fails(Evidence::Run(run)) = &report.outcomes[1].verdict else { panic!("{:?}", report.outcomes) };
        assert_eq!(run.length(), 4);
    }
}

/// Ints without a range whose reachable part is finite.
#[test]
fn ints_get_the_room_that_they_need() {
    let mut m = Model::new(&["A"]);
    m.int("x");
    m.int("y");
    m.start("go", 0, "x == 0 and y == 0");
    m.step("up", 0, 0, &["p"], "up.p >= 1 and up.p <= 3 and x < 300", &["x := x + up.p", "y' == y - up.p"]);
    m.step("down", 0, 0, &[], "x > 100", &["x := x - 100", "y' - 100 == y"]);
    m.always("balanced", "x + y == 0");
    m.always("small", "x <= 301");
    let system = m.finish();
    for engine in ["explicit", "bdd"] {
        let report = decide(&system, engine);
        let Verdict::Holds(Evidence::ClosedSet { states }) = &report.outcomes[0].verdict else {
            panic!("{engine}: {:?}", report.outcomes)
        };
        assert_eq!(*states, 303, "{engine}");
        let Verdict::Fails(Evidence::Run(run)) = &report.outcomes[1].verdict else { panic!("{:?}", report.outcomes) };
        assert_eq!(run.length(), 101, "{engine}");
    }
}

#[test]
fn what_is_not_finite_is_said_by_name() {
    let mut m = Model::new(&["A"]);
    m.int("x");
    m.start("go", 0, "x == 0");
    m.step("jump", 0, 0, &["far"], "jump.far > x", &["x := jump.far"]);
    m.always("positive", "x >= 0");
    let system = m.finish();
    for engine in ["explicit", "bdd"] {
        let report = decide(&system, engine);
        let Verdict::Unknown { why, .. } = &report.outcomes[0].verdict else { panic!("{:?}", report.outcomes) };
        assert!(why[0].reason.contains("far"), "{engine}: {why:?}");
    }
}

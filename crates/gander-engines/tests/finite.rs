//! Finite systems, for explicit search and BDDs.

mod models;

use std::sync::Arc;

use gander_engines::{Cancellation, CheckReport, NullObserver, check};
use gander_runtime::Random;
use gander_system::{Evidence, System, Verdict};
use models::{Model, config};

fn decide(system: &Arc<System>, engine: &str) -> CheckReport {
    let mut config = config(system);
    config.engines = Some(vec![engine.to_string()]);
    let report = check(system, &config, &Cancellation::new(), &NullObserver);
    assert!(report.internal_errors.is_empty(), "{:?}", report.internal_errors);
    report
}

/// A token in a ring of `n` Booleans, beside `n` Booleans that flip freely: 2^n * n states.
fn ring(n: usize) -> Arc<System> {
    let mut m = Model::new(&["A"]);
    for i in 0..n {
        m.bool(&format!("t{i}"));
        m.bool(&format!("f{i}"));
    }
    let first: Vec<String> =
        (0..n).map(|i| if i == 0 { "t0".into() } else { format!("not t{i}") }).collect();
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
        m.step(
            &format!("flip{i}"),
            0,
            0,
            &[],
            &format!("not t{i}"),
            &[&format!("f{i} := not f{i}")],
        );
    }
    let pairs: Vec<String> = (1..n).map(|i| format!("not (t0 and t{i})")).collect();
    m.always("one token at most", &pairs.join(" and "));
    m.always("the last never has it", &format!("not t{}", n - 1));
    m.finish()
}

#[test]
fn bdd_decides_systems_too_large_for_explicit_search() {
    let n = 20;
    let report = decide(&ring(n), "bdd");
    assert!(
        matches!(&report.outcomes[0].verdict, Verdict::Holds(Evidence::Invariant(_))),
        "{:?}",
        report.outcomes
    );
    let Verdict::Fails(Evidence::Run(run)) = &report.outcomes[1].verdict else {
        panic!("{:?}", report.outcomes)
    };
    assert_eq!(run.length(), n as u64 - 1);
}

#[test]
fn explicit_and_bdd_count_the_same_states() {
    let system = ring(5);
    for engine in ["explicit", "bdd"] {
        let report = decide(&system, engine);
        let Verdict::Holds(Evidence::ClosedSet { states }) = &report.outcomes[0].verdict else {
            panic!("{engine}: {:?}", report.outcomes)
        };
        assert_eq!(*states, 5 * 32, "{engine}");
        let Verdict::Fails(Evidence::Run(run)) = &report.outcomes[1].verdict else {
            panic!("{:?}", report.outcomes)
        };
        assert_eq!(run.length(), 4);
    }
}

/// Ints without a range, with finitely many reachable values.
#[test]
fn ints_get_as_many_bits_as_they_need() {
    let mut m = Model::new(&["A"]);
    m.int("x");
    m.int("y");
    m.start("go", 0, "x == 0 and y == 0");
    m.step(
        "up",
        0,
        0,
        &["p"],
        "up.p >= 1 and up.p <= 3 and x < 300",
        &["x := x + up.p", "y' == y - up.p"],
    );
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
        let Verdict::Fails(Evidence::Run(run)) = &report.outcomes[1].verdict else {
            panic!("{:?}", report.outcomes)
        };
        assert_eq!(run.length(), 101, "{engine}");
    }
}

#[test]
fn unbounded_variables_are_named_in_the_obstacle() {
    let mut m = Model::new(&["A"]);
    m.int("x");
    m.start("go", 0, "x == 0");
    m.step("jump", 0, 0, &["far"], "jump.far > x", &["x := jump.far"]);
    m.always("positive", "x >= 0");
    let system = m.finish();
    for engine in ["explicit", "bdd"] {
        let report = decide(&system, engine);
        let Verdict::Unknown { why, .. } = &report.outcomes[0].verdict else {
            panic!("{:?}", report.outcomes)
        };
        assert!(why[0].reason.contains("far"), "{engine}: {why:?}");
    }
}

/// Switches that steps turn on and off, one or two at a time, within a step limit, and a goal about
/// some of them.
fn switches(seed: u64) -> Arc<System> {
    let mut random = Random::new(seed);
    let mut below = move |n: u64| random.next_u64() % n;
    let (count, limit) = (3 + below(3), 2 + below(5));
    let mut m = Model::new(&["A"]);
    for i in 0..count {
        m.bool(&format!("s{i}"));
    }
    m.int("steps");
    m.b.set_step_limit(limit.into());
    let off: Vec<String> = (0..count).map(|i| format!("not s{i}")).collect();
    m.start("go", 0, &format!("{} and steps == 0", off.join(" and ")));
    for t in 0..count + below(4) {
        let mut turned = vec![t % count];
        if below(4) == 0 {
            turned.push((t + 1 + below(count - 1)) % count);
        }
        let how: Vec<String> = turned.iter().map(|i| format!("s{i} := {}", below(4) > 0)).collect();
        let mut effects: Vec<&str> = how.iter().map(String::as_str).collect();
        effects.push("steps := steps + 1");
        let guard = match below(3) {
            0 => format!("steps < {limit} and s{}", below(count)),
            _ => format!("steps < {limit}"),
        };
        m.step(&format!("t{t}"), 0, 0, &[], &guard, &effects);
    }
    let mut parts: Vec<String> =
        (0..count).filter(|_| below(4) > 0).map(|i| format!("s{i}")).collect();
    parts.push(format!("(not s{} or s{})", below(count), below(count)));
    m.reachable("all", &[&parts.join(" and ")]);
    m.always("never all", &format!("not ({})", parts.join(" and ")));
    m.finish()
}

#[test]
fn pruning_by_the_step_limit_keeps_verdicts() {
    let (mut met, mut never, mut outside) = (0, 0, 0);
    for seed in 0..400 {
        let system = switches(seed);
        let answers = gander_oracle::decide(&system, gander_oracle::Limits::default()).unwrap();
        let report = decide(&system, "explicit");
        for (outcome, answer) in report.outcomes.iter().zip(answers) {
            let answer = answer.unwrap();
            match (&outcome.verdict, answer.holds) {
                (Verdict::Holds(Evidence::Run(run)), true)
                | (Verdict::Fails(Evidence::Run(run)), false) => {
                    met += 1;
                    assert_eq!(Some(run.length()), answer.length, "seed {seed}");
                }
                (Verdict::Holds(e), true) | (Verdict::Fails(e), false) => {
                    never += 1;
                    outside += u32::from(matches!(e, Evidence::Outside { .. }));
                }
                other => panic!("seed {seed}: {other:?}\n{}", gander_oracle::describe(&system)),
            }
        }
    }
    assert!(
        met > 100 && never > 100 && outside > 100,
        "{met} met, {never} never, {outside} by the steps left"
    );
}

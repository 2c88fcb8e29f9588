//! Systems with known answers, decided by the whole portfolio and by single engines.

mod models;

use std::time::Duration;

use gander_system::{ClaimKind, Evidence, NodeId, Rounds, TransitionId, Verdict};
use models::{Model, config, run};

/// `holds N`, `fails N` with the length of the run, `holds`, `fails` by proof, or `unknown`.
fn word(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Holds(Evidence::Run(r)) => format!("holds {}", r.length()),
        Verdict::Fails(Evidence::Run(r)) => format!("fails {}", r.length()),
        Verdict::Holds(_) => "holds".into(),
        Verdict::Fails(_) => "fails".into(),
        Verdict::Unknown { .. } => "unknown".into(),
    }
}

fn counter() -> Model {
    let mut m = Model::new(&["A", "B"]);
    m.int("x");
    m.int("y");
    m.start("go", 0, "x == 0 and y == 0");
    m.step("inc", 0, 0, &[], "x < 10", &["x := x + 1"]);
    m.step("over", 0, 1, &[], "x == 3", &["y := x"]);
    m.step("back", 1, 0, &["p"], "`back.p` > y and `back.p` < y + 3", &["x := `back.p`"]);
    m
}

#[test]
fn runs_are_shortest() {
    let mut m = counter();
    m.always("small", "x < 5");
    m.reachable("three at B", &["in B and x == 3"]);
    m.reachable("chain", &["x == 5", "in B"]);
    m.reachable("back again", &["in B", "x == 5"]);
    m.claim("enable back", ClaimKind::CanEnable(TransitionId(2)));
    let system = m.finish();
    let mut config = config(&system);
    config.engines = Some(vec!["bmc".into()]);
    config.options.max_depth = Some(12);
    let report = run(&system, &config);
    let words: Vec<String> = report.outcomes.iter().map(|o| word(&o.verdict)).collect();
    assert_eq!(words, ["fails 5", "holds 4", "unknown", "holds 5", "holds 4"]);
}

#[test]
fn the_portfolio_decides_a_counter() {
    let mut m = counter();
    m.always("bounded", "x <= 10");
    m.always("y is 0 or 3", "y == 0 or y == 3");
    m.always("small", "x < 5");
    m.reachable("never", &["x == 11"]);
    m.reachable("chain", &["x == 7", "in B"]);
    m.reachable("chain back", &["in B", "x == 5"]);
    m.claim("no deadlock", ClaimKind::NoDeadlock);
    m.claim("enable inc", ClaimKind::CanEnable(TransitionId(0)));
    m.claim("no sinkhole B", ClaimKind::NoSinkhole(NodeId(1)));
    let system = m.finish();
    let report = run(&system, &config(&system));
    let words: Vec<String> = report.outcomes.iter().map(|o| word(&o.verdict)).collect();
    assert_eq!(
        words,
        ["holds", "holds", "fails 5", "fails", "fails", "holds 5", "fails 10", "holds 0", "holds"]
    );
}

fn words(m: Model, engine: &str) -> Vec<String> {
    let system = m.finish();
    let mut config = config(&system);
    config.engines = Some(vec![engine.into()]);
    let report = run(&system, &config);
    assert!(report.internal_errors.is_empty(), "{:?}", report.internal_errors);
    report.outcomes.iter().map(|o| word(&o.verdict)).collect()
}

/// The unbounded counter of figure 2c of the thesis that describes backward reachability, whose
/// tool cannot refute -1.
#[test]
fn backward_refutes_a_value_that_a_counter_never_has() {
    let mut m = Model::new(&["A"]);
    m.int("i");
    m.start("go", 0, "i == 0");
    m.step("count", 0, 0, &[], "true", &["i := i + 1"]);
    m.reachable("one", &["i == 1"]);
    m.reachable("minus one", &["i == 0 - 1"]);
    m.reachable("chain", &["i == 3", "i == 5"]);
    assert_eq!(words(m, "backward"), ["holds 1", "fails", "holds 5"]);
}

/// A loan that is paid back in equal parts: a cycle with a product, closed exactly.
#[test]
fn nodes_close_a_cycle_with_a_product() {
    let mut m = Model::new(&["Agreed", "Paid"]);
    m.int("debt");
    m.int("part");
    m.int("terms");
    m.start("go", 0, "terms > 0 and part > 0 and debt == terms * part");
    m.step("pay", 0, 0, &[], "terms > 1", &["debt := debt - part", "terms := terms - 1"]);
    m.step("last", 0, 1, &[], "terms == 1", &["debt := debt - part", "terms := terms - 1"]);
    m.reachable("in debt in the end", &["in Paid and debt != 0"]);
    m.reachable("paid at once", &["in Paid and part == 7 and debt == 0"]);
    m.claim("enable last", ClaimKind::CanEnable(TransitionId(1)));
    m.claim("no sinkhole", ClaimKind::NoSinkhole(gander_system::NodeId(0)));
    assert_eq!(words(m, "nodes"), ["fails", "holds 1", "holds 0", "holds"]);
}

/// Outside cycles, invariants are exact.
#[test]
fn nodes_are_exact_along_a_chain() {
    let names: Vec<String> = (0..40).map(|n| format!("N{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut m = Model::new(&names);
    m.int("i");
    m.start("go", 0, "i == 0");
    for n in 0..39 {
        let guard = format!("1 <= `s{n}.j` and `s{n}.j` <= 10");
        m.step(&format!("s{n}"), n, n + 1, &["j"], &guard, &[&format!("i := i + `s{n}.j`")]);
    }
    m.reachable("too much", &["i > 390"]);
    m.reachable("most", &["i == 390"]);
    m.reachable("much", &["i == 205"]);
    m.claim("enable the last", ClaimKind::CanEnable(TransitionId(38)));
    assert_eq!(words(m, "nodes"), ["fails", "holds 39", "holds 21", "holds 38"]);
}

/// A cycle that is never closed. The needed formula, a difference of two numbers, does not occur in
/// the model.
#[test]
fn nodes_bound_differences_in_a_cycle() {
    let mut m = Model::new(&["Left", "Right"]);
    m.int("a");
    m.int("b");
    m.start("go", 0, "a == 0 and b == 0");
    m.step("more", 0, 1, &[], "true", &["a := a + 2"]);
    m.step("follow", 1, 0, &[], "true", &["b := b + 2"]);
    m.reachable("apart", &["in Left and a == 4000 and b != 4000"]);
    m.reachable("together", &["in Left and a == 4 and b == 4"]);
    assert_eq!(words(m, "nodes"), ["fails", "holds 4"]);
}

/// Two independent cycles and one after them, closed in sequence and in parallel.
#[test]
fn nodes_close_independent_components_in_parallel() {
    let model = || {
        let mut m = Model::new(&["Begin", "Left", "Right", "Both"]);
        m.int("a");
        m.int("b");
        m.start("go", 0, "a == 0 and b == 0");
        m.step("to left", 0, 1, &["j"], "2 <= `to left.j`", &["a := `to left.j`"]);
        m.step("left", 1, 1, &[], "a < 9", &["a := a + 3"]);
        m.step("to right", 0, 2, &[], "true", &["b := 1"]);
        m.step("right", 2, 2, &[], "b < 40", &["b := b + 4"]);
        m.step("leave left", 1, 3, &[], "a >= 9", &[]);
        m.step("leave right", 2, 3, &[], "b > 30", &[]);
        m.step("both", 3, 3, &[], "a + b < 60", &["a := a + b"]);
        m.reachable("left ten", &["in Left and a == 10"]);
        m.reachable("left one", &["in Left and a == 1"]);
        m.reachable("right", &["in Right and b == 29"]);
        m.reachable("right two", &["in Right and b == 30"]);
        m.reachable("both", &["in Both and a == 33 and b == 33"]);
        m.reachable("mixed", &["in Both and b == 32"]);
        m.claim("enable both", ClaimKind::CanEnable(TransitionId(6)));
        m.claim("sinkhole", ClaimKind::NoSinkhole(gander_system::NodeId(3)));
        m.finish()
    };
    let answers = |jobs: usize| {
        let system = model();
        let mut config = config(&system);
        config.engines = Some(vec!["nodes".into()]);
        (config.jobs, config.options.nodes.alone) = (jobs, Duration::ZERO);
        let report = run(&system, &config);
        assert!(report.internal_errors.is_empty(), "{:?}", report.internal_errors);
        report.outcomes.iter().map(|o| word(&o.verdict)).collect::<Vec<String>>()
    };
    let alone = answers(1);
    assert_eq!(
        alone,
        ["holds 1", "fails", "holds 8", "fails", "holds 11", "fails", "holds 2", "fails 2"]
    );
    assert_eq!(answers(3), alone);
}

/// Every integer is the sum of a multiple of two and a multiple of three (figure 4): a path of two
/// steps, and no longer path.
#[test]
fn paths_of_an_acyclic_system_are_exhausted() {
    let mut m = Model::new(&["First", "Second", "Sum"]);
    m.int("s");
    m.start("go", 0, "s == 0");
    m.step("two", 0, 1, &["x"], "true", &["s := s + 2 * `two.x`"]);
    m.step("three", 1, 2, &["y"], "true", &["s := s + 3 * `three.y`"]);
    m.reachable("far", &["in Sum and s == 0 - 123457"]);
    m.reachable("odd in between", &["in Second and s == 7"]);
    m.claim("enable three", ClaimKind::CanEnable(TransitionId(1)));
    assert_eq!(words(m, "paths"), ["holds 2", "fails", "holds 1"]);
}

/// The three small systems of figure 2 of the same thesis, as one query over lists. It decides the
/// first two, and the third if a run exists. Otherwise the solver does not terminate, and the
/// obstacle says why.
#[test]
fn smt_only_decides_unless_the_solver_does_not_terminate() {
    let mut m = Model::new(&["S0", "S1", "S2"]);
    m.start("go", 0, "true");
    m.step("a", 0, 1, &[], "true", &[]);
    m.step("b", 2, 1, &[], "true", &[]);
    m.reachable("s1", &["in S1"]);
    m.reachable("s2", &["in S2"]);
    assert_eq!(words(m, "smt-only"), ["holds 1", "fails"]);

    let counter = |guard: &str| {
        let mut m = Model::new(&["A"]);
        m.int("i");
        m.start("go", 0, "i == 0");
        m.step("count", 0, 0, &["p"], guard, &["i := i + `count.p`"]);
        m
    };
    let mut m = counter("`count.p` == 1 and i < 1");
    m.reachable("one", &["i == 1"]);
    m.reachable("two", &["i == 2"]);
    m.reachable("chain", &["i == 0", "i == 1"]);
    m.claim("enable", ClaimKind::CanEnable(TransitionId(0)));
    m.claim("no deadlock", ClaimKind::NoDeadlock);
    assert_eq!(words(m, "smt-only"), ["holds 1", "fails", "holds 1", "holds 0", "fails 1"]);

    let mut m = counter("`count.p` == 1 or `count.p` == 2");
    m.reachable("seven", &["i == 7"]);
    m.reachable("minus one", &["i == 0 - 1"]);
    let system = m.finish();
    let mut config = config(&system);
    config.engines = Some(vec!["smt-only".into()]);
    config.timeout = Some(std::time::Duration::from_secs(4));
    let report = run(&system, &config);
    assert!(
        matches!(&report.outcomes[0].verdict, Verdict::Holds(Evidence::Run(r)) if (4..=7).contains(&r.length()))
    );
    let Verdict::Unknown { why, .. } = &report.outcomes[1].verdict else {
        panic!("{:?}", report.outcomes[1].verdict)
    };
    assert!(why.iter().any(|o| o.engine == "smt-only"), "{why:?}");
}

/// Liveness of finite systems, with its evidence: lassos, and bounds on rounds with closed sets as
/// proofs.
#[test]
fn fair_cycles_decide_liveness_of_finite_systems() {
    let mut m = Model::new(&["A", "B"]);
    m.int("x");
    m.start("go", 0, "x == 0");
    m.step("up", 0, 0, &[], "x < 5", &["x := x + 1"]);
    m.step("wait", 0, 0, &[], "x == 3", &[]);
    m.step("end", 0, 1, &[], "x == 5", &[]);
    m.step("round", 1, 1, &[], "true", &["x := 5 - x"]);
    let (five, b, three) = (m.state("x == 5"), m.state("in B"), m.state("x == 3"));
    m.claim("five", ClaimKind::Eventually { goal: five, under: vec![] });
    m.claim("often five", ClaimKind::AlwaysEventually { goal: five, under: vec![] });
    m.claim("b stays", ClaimKind::LeadsTo { from: b, to: five, under: vec![] });
    m.claim("infinite", ClaimKind::InfiniteRun);
    m.claim("not three", ClaimKind::ExistsAlways(three));
    m.claim("possible", ClaimKind::AlwaysPossible(b));
    let system = m.finish();
    let mut config = config(&system);
    config.engines = Some(vec!["liveness".into()]);
    let report = run(&system, &config);
    assert!(report.internal_errors.is_empty(), "{:?}", report.internal_errors);
    let verdicts: Vec<&Verdict> = report.outcomes.iter().map(|o| &o.verdict).collect();
    // A run may wait in A forever.
    assert!(
        matches!(verdicts[0], Verdict::Fails(Evidence::Lasso { back_to: 3, .. })),
        "{:?}",
        verdicts[0]
    );
    assert!(matches!(verdicts[1], Verdict::Fails(Evidence::Lasso { .. })));
    assert!(
        matches!(verdicts[2], Verdict::Holds(Evidence::NoSuchRun { rounds: Rounds::AtMost { k, .. }, .. }) if *k <= 1)
    );
    assert!(matches!(verdicts[3], Verdict::Holds(Evidence::Lasso { .. })));
    assert!(matches!(
        verdicts[4],
        Verdict::Fails(Evidence::NoSuchRun { rounds: Rounds::AtMost { k: 0, .. }, .. })
    ));
    assert!(matches!(verdicts[5], Verdict::Holds(Evidence::ClosedSet { .. })), "{:?}", verdicts[5]);
}

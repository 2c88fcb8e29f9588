//! What a checker caches between checks, and solvers that hang.

mod support;

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gander_certify::{Budget, CheckLimits, Checker, Rejection};
use gander_smt::{Search, Solvers};
use gander_system::{ClaimId, ClaimKind, Leg, Legs, NodeId, Run, System, TransitionId, Verdict};
use gander_term::Sort;
use support::*;

const NODES: [&str; 8] = ["A", "B", "C", "D", "E", "F", "G", "H"];

/// A line of nodes; each step increases x by a parameter from 1 to 10. The claims: every transition
/// can be enabled; no node is a sinkhole; at each node x is at most ten times its number.
fn line() -> System {
    let mut m = Model::new(&NODES).var("x", Sort::Int).start(0, "x == 0");
    for i in 0..7u32 {
        let (name, j) = (format!("t{i}"), format!("t{i}.j"));
        let guard = format!("1 <= {j} and {j} <= 10 and x < 1000");
        m = m.step_with(&name, i, i + 1, &[("j", Sort::Int)], &guard, &[&format!("x := x + {j}")]);
    }
    m = m.step("never", 7, 0, "x > 70", &[]);
    for t in 0..8 {
        m.add_claim(|_| ClaimKind::CanEnable(TransitionId(t)));
    }
    for n in 0..7 {
        m.add_claim(|_| ClaimKind::NoSinkhole(NodeId(n)));
    }
    for (i, n) in NODES.iter().enumerate() {
        m.add_claim(|m| {
            ClaimKind::Always(m.formula(&format!("`@node` == `@Node`.{n} -> x <= {}", 10 * i)))
        });
    }
    m.builder.finish()
}

fn bounds() -> Vec<String> {
    (0..8).map(|i| format!("{i} <= x and x <= {}", 10 * i)).collect()
}

#[test]
fn an_invariant_for_many_claims_is_shown_once() {
    let s = Arc::new(line());
    let texts = bounds();
    let verdict = holds(invariant(&s, &texts.iter().map(String::as_str).collect::<Vec<_>>()));
    let mut checker = solver_checker();
    checker.remember(&s);
    let mut questions = Vec::new();
    for claim in 8..23 {
        let certified = checker.check(&s, ClaimId(claim), &verdict).unwrap();
        assert!(!certified.basis.solvers.is_empty(), "{claim}");
        questions.push(certified.queries);
    }
    // The first check also refutes the obligations of the start and seven transitions, in one
    // query.
    assert!(questions.iter().skip(1).all(|&q| q <= 1), "{questions:?}");
    // Formulas that differ at one node: only the obligations that involve the node are asked again.
    for at in 0..8 {
        let mut other = texts.clone();
        other[at] = format!("{at} <= x and x <= {}", 10 * at - usize::from(at > 0));
        let other = holds(invariant(&s, &other.iter().map(String::as_str).collect::<Vec<_>>()));
        let outcome = checker.check(&s, ClaimId(15), &other);
        match at {
            0 => assert!(outcome.is_ok(), "{outcome:?}"),
            _ => assert!(
                matches!(&outcome, Err(Rejection::Wrong(why)) if why.contains(&format!("`t{}` does not keep", at - 1))),
                "{at}: {outcome:?}"
            ),
        }
    }
    // Claims that the invariant does not imply are rejected.
    let dead = checker.check(
        &s,
        ClaimId(3),
        &fails(invariant(&s, &texts.iter().map(String::as_str).collect::<Vec<_>>())),
    );
    assert!(matches!(dead, Err(Rejection::Wrong(_))), "{dead:?}");
    // All in one batch, by another checker.
    let verdicts: Vec<(ClaimId, &Verdict)> = (8..23).map(|c| (ClaimId(c), &verdict)).collect();
    for mut other in [support::checker(), solver_checker()] {
        let outcomes = other.check_all(&s, &verdicts);
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    }
}

#[test]
fn small_linear_obligations_need_no_solver() {
    let s = Arc::new(line());
    let texts = bounds();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let verdict = holds(invariant(&s, &texts));
    let no_solvers = Arc::new(Solvers::find(Search { named: Vec::new(), cache: None, path: None }));
    let mut checker = Checker::new(&no_solvers, CheckLimits::default());
    let certified = checker.check(&s, ClaimId(15), &verdict).unwrap();
    assert!(
        certified.certificates >= 8 && certified.queries == 0 && certified.basis.solvers.is_empty(),
        "{certified:?}"
    );
    // A wrong invariant is rejected.
    let wrong: Vec<String> =
        (0..8).map(|i| format!("{i} <= x and x <= {}", 10 * i - usize::from(i == 3))).collect();
    let wrong = holds(invariant(&s, &wrong.iter().map(String::as_str).collect::<Vec<_>>()));
    assert!(checker.check(&s, ClaimId(15), &wrong).is_err());
    // Without proofs a solver is needed.
    let mut checker =
        Checker::new(&no_solvers, CheckLimits { linear: Budget::NONE, ..CheckLimits::default() });
    assert!(matches!(checker.check(&s, ClaimId(15), &verdict), Err(Rejection::Undecided(_))));
    // A second opinion comes from its solver.
    let solvers = Arc::new(Solvers::from_environment());
    let mut second = Checker::with_solver(&solvers, CheckLimits::default(), "z3").expect("z3");
    let certified = second.check(&s, ClaimId(15), &verdict).unwrap();
    assert!(
        certified.certificates == 0 && certified.queries > 0 && certified.basis.solvers == ["z3"],
        "{certified:?}"
    );
}

#[test]
fn prefixes_of_a_run_are_replayed_once_and_wrong_steps_are_found() {
    let s = Arc::new(line());
    let mut checker = checker();
    checker.remember(&s);
    let step = |i: u32| go_with(i, &[3]);
    let whole: Legs = (0..7).map(step).collect();
    let part = |legs: &Legs, n: usize| Run { legs: legs.prefix(n), ..run(0, &[0], Vec::new()) };
    for n in [3, 0, 7, 5, 6, 1, 2, 4] {
        let outcome = checker.check(&s, ClaimId(n as u32), &holds_run(part(&whole, n)));
        // x never exceeds 70, so the last transition cannot be enabled.
        assert_eq!(outcome.is_ok(), n < 7, "{n}: {outcome:?}");
    }
    // The run of another claim is rejected.
    assert!(checker.check(&s, ClaimId(2), &holds_run(part(&whole, 3))).is_err());
    // The same steps from another first state are another run.
    let elsewhere = Run { first: run(0, &[5], Vec::new()).first, ..part(&whole, 3) };
    assert!(checker.check(&s, ClaimId(3), &holds_run(elsewhere)).is_err());
    // A wrong step is found in every order, whether or not its prefix was accepted before.
    let broken: Legs = (0..7).map(|i| if i == 4 { go_with(i, &[11]) } else { step(i) }).collect();
    for n in [6, 3, 5, 4, 6] {
        let outcome = checker.check(&s, ClaimId(n as u32), &holds_run(part(&broken, n)));
        assert_eq!(outcome.is_ok(), n <= 4, "{n}: {outcome:?}");
    }
    let mut changed = whole.clone();
    changed.to_mut()[0] = Leg::Step(gander_system::Step {
        transition: TransitionId(1),
        params: vec![int(3)],
        next: None,
    });
    assert!(checker.check(&s, ClaimId(3), &holds_run(part(&changed, 3))).is_err());
}

/// A solver that reads everything and never answers.
struct Silent(PathBuf);

impl Silent {
    fn new() -> Silent {
        let program = std::env::temp_dir().join(format!("gander-silent-{}", std::process::id()));
        let source = program.with_extension("text");
        std::fs::write(&source, "#!/bin/sh\nexec sleep 3600\n").unwrap();
        // Another process writes the program. A file that this process has open for writing while
        // another test starts a child could not be executed.
        let made = std::process::Command::new("cp").arg(&source).arg(&program).status();
        assert!(made.unwrap().success());
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::remove_file(source).unwrap();
        Silent(program)
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_solver_that_hangs_does_not_block_the_others() {
    let healthy = Solvers::from_environment();
    let z3 = healthy.z3().expect("z3").program.clone();
    let silent = Silent::new();
    // Linear queries go to Yices first.
    let named = vec![("yices".to_string(), silent.0.clone()), ("z3".to_string(), z3)];
    let solvers = Arc::new(Solvers::find(Search { named, cache: None, path: None }));
    let s = Arc::new(line());
    let texts = bounds();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let one = holds(invariant(&s, &texts));
    let inductive = holds(k_inductive(&s, 2, &texts));
    let limits = CheckLimits {
        total: Some(Duration::from_secs(300)),
        linear: Budget::NONE,
        ..CheckLimits::default()
    };
    let mut checker = Checker::new(&solvers, limits);
    checker.remember(&s);
    for verdict in [&inductive, &one] {
        let certified = checker.check(&s, ClaimId(15), verdict).unwrap();
        assert!(certified.basis.solvers.iter().any(|name| name == "z3"), "{certified:?}");
    }
    // The only solver gets all the time of the check, and no more.
    let named = vec![("yices".to_string(), silent.0.clone())];
    let alone = Arc::new(Solvers::find(Search { named, cache: None, path: None }));
    let limits = CheckLimits {
        total: Some(Duration::from_millis(300)),
        linear: Budget::NONE,
        ..CheckLimits::default()
    };
    let outcome = Checker::new(&alone, limits).check(&s, ClaimId(15), &one);
    assert!(matches!(outcome, Err(Rejection::Undecided(_))), "{outcome:?}");
}

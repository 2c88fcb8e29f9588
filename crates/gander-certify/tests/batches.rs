//! Batches of verdicts: each has the outcome that it has alone, whatever the others are and
//! whatever happens to the solver.

#[path = "support/random.rs"]
mod random;
mod support;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gander_certify::{Budget, CheckLimits, Checker, Rejection};
use gander_runtime::{Cancellation, Random};
use gander_smt::{Search, Solver, Solvers};
use gander_system::{
    ClaimId, ClaimKind, Evidence, NodeId, StartId, System, TransitionId, Verdict, passes,
};
use gander_term::Sort;
use support::*;

/// At `Even` x is even, at `Odd` it is odd, and never negative; `i` is never negative.
fn two_counters() -> System {
    let mut m = Model::new(&["Even", "Odd"])
        .var("x", Sort::Int)
        .input("i", Sort::Int)
        .assume("i >= 0")
        .start(0, "x == 0")
        .start(1, "x == 1")
        .start(1, "x > 3 and x < 3")
        .step("up", 0, 1, "true", &["x := x + 1"])
        .step("on", 1, 0, "true", &["x := x + 1"])
        .step("add", 0, 0, "true", &["x := x + 2 * i"])
        .step("skip", 0, 0, "x > 3", &["x := x - 2"])
        .step_with("never", 1, 1, &[("p", Sort::Int)], "2 * never.p == x", &[]);
    m.add_claim(|m| ClaimKind::Always(m.formula("x >= 0")));
    m.add_claim(|m| ClaimKind::Reachable(vec![m.goal("x == -1")]));
    m.add_claim(|m| ClaimKind::Reachable(vec![m.goal("3: x == 5")]));
    m.add_claim(|_| ClaimKind::CanEnable(TransitionId(4)));
    m.add_claim(|_| ClaimKind::NoSinkhole(NodeId(1)));
    m.add_claim(|_| ClaimKind::NoDeadlock);
    m.add_claim(|_| ClaimKind::StartSatisfiable(StartId(2)));
    m.add_claim(|m| ClaimKind::Reachable(vec![m.goal("x == 3"), m.goal("x == -1")]));
    // False claims.
    m.add_claim(|m| ClaimKind::Always(m.formula("x != 4")));
    m.add_claim(|m| ClaimKind::Reachable(vec![m.goal("x == 7")]));
    m.add_claim(|m| ClaimKind::Always(m.formula("`@node` == `@Node`.Odd -> x == 1")));
    m.builder.finish()
}

const PARITY: [&str; 2] = ["x >= 0 and x mod 2 == 0", "x >= 1 and x mod 2 == 1"];

/// A verdict about a claim, and a part of the message if it is wrong; `None` if it is right.
type Offer = (ClaimId, Verdict, Option<&'static str>);

fn offers(s: &System) -> Vec<Offer> {
    let inv = |texts: &[&str; 2]| invariant(s, texts);
    let k_ind = |k: u32, texts: &[&str; 2]| k_inductive(s, k, texts);
    let chain = passes::chain(s, ClaimId(7)).unwrap().system;
    let of_chain = |texts: &[&str]| Evidence::OfChain(Box::new(invariant(&chain, texts)));
    let (even, odd) = (PARITY[0], PARITY[1]);
    let right = [
        (0, holds(inv(&PARITY))),
        (0, holds(inv(&["x >= 0", "x >= 0"]))),
        // By the assumption in start states and after steps.
        (0, holds(inv(&["x >= 0 and i >= 0", "x >= 0 and i >= 0"]))),
        (0, holds(k_ind(1, &PARITY))),
        (0, holds(k_ind(3, &PARITY))),
        (1, fails(inv(&PARITY))),
        (2, fails(inv(&PARITY))),
        (3, fails(inv(&PARITY))),
        (4, holds(inv(&PARITY))),
        (5, holds(inv(&["true", "true"]))),
        (6, fails(Evidence::Refutation)),
        (7, fails(of_chain(&["x >= 0", "x >= 0", "x >= 0", "x >= 0", "false", "false"]))),
        (8, fails_run(run(0, &[0, 2], vec![to(2, &[], &[4, 0])]))),
        (9, holds_run(run(0, &[0, 3], vec![to(2, &[], &[6, 0]), to(0, &[], &[7, 0])]))),
    ];
    let keep = "does not keep";
    let wrong = [
        // One obligation is broken: that of one start, one transition, or one node.
        (0, holds(inv(&["x >= 2", "x >= 0"])), "after `start 0`"),
        (0, holds(inv(&["x >= 0", "x >= 2"])), "after `start 1`"),
        (0, holds(inv(&["x >= 0", "x >= 0 and x <= 9"])), "`up` does not keep"),
        (0, holds(inv(&["x >= 0 and (x <= 1 or x != 6)", "x >= 0"])), keep),
        (0, holds(inv(&["x >= 0 and x < 1000", "x >= 0 and x < 999"])), "`up` does not keep"),
        (0, holds(inv(&["x >= 0 and x != 8", odd])), keep),
        (0, holds(inv(&[even, "x >= -1 and x mod 2 == 1"])), "at node `Odd`"),
        (0, holds(inv(&["x >= 0", "true"])), "`on` does not keep"),
        (0, holds(inv(&["false", "false"])), "after `start 0`"),
        (0, holds(inv(&["true", "true"])), "exclude"),
        // True of the start states only.
        (0, holds(inv(&["x == 0", "x == 1"])), keep),
        // The assumption allows i == 0 in start states.
        (0, holds(inv(&["x >= 0 and i >= 1", "x >= 0"])), "after `start 0`"),
        (0, holds(k_ind(0, &PARITY)), "k = 1"),
        (0, holds(k_ind(2, &["x >= 0 and x < 4", "x >= 0"])), "a run of 1 steps"),
        (0, holds(k_ind(2, &["true", "true"])), "exclude"),
        (0, holds(k_ind(2, &["x >= 0", "x >= 0 and x != 100"])), "not 2-inductive"),
        (0, fails(inv(&PARITY)), "cannot show"),
        (0, holds(Evidence::Refutation), "cannot show"),
        (0, holds(Evidence::Diameter { k: 2 }), "loop-free run"),
        (0, fails_run(run(0, &[0, 0], vec![])), "satisfies what is claimed"),
        (0, fails_run(run(0, &[0, -1], vec![to(2, &[], &[-2, 0])])), "breaks an assumption"),
        (0, fails_run(run(0, &[0, 0], vec![to(3, &[], &[-2, 0])])), "guard does not hold"),
        (1, fails(inv(&["x >= -2", "x >= 0"])), keep),
        (1, fails(inv(&["x >= 0", "x != 1"])), "after `start 1`"),
        (2, fails(inv(&["x >= 0", "x >= 0"])), "exclude the steps of `skip`"),
        (3, fails(inv(&["x >= 0", "x >= 0"])), "exclude"),
        // Evidence that is right, but about another claim.
        (8, holds(inv(&PARITY)), "exclude"),
        (9, fails(inv(&PARITY)), "exclude"),
        (10, holds(inv(&PARITY)), "exclude"),
        (10, holds(inv(&[even, "x == 1"])), "`up` does not keep"),
        (10, holds(inv(&["x == 0", "x == 1"])), keep),
        (6, fails(inv(&PARITY)), "cannot show"),
        (7, fails(inv(&PARITY)), "cannot show"),
        (7, fails(of_chain(&["x >= 0", "x >= 0", "true", "x >= 0", "false", "false"])), "keep"),
        (7, fails(of_chain(&["true", "true", "true", "true", "true", "true"])), "exclude"),
        (7, fails(of_chain(&["x >= 0", "x >= 0"])), "formulas for"),
        (9, holds_run(run(0, &[0, 3], vec![to(2, &[], &[6, 0])])), "meeting"),
        (99, holds(inv(&PARITY)), "no such claim"),
    ];
    let mut all: Vec<Offer> = right.into_iter().map(|(c, v)| (ClaimId(c), v, None)).collect();
    all.extend(wrong.into_iter().map(|(c, v, why)| (ClaimId(c), v, Some(why))));
    all
}

/// Checks some of the offers in one batch; each must have its expected outcome.
#[track_caller]
fn check_batch(checker: &mut Checker, s: &System, offers: &[&Offer]) {
    let verdicts: Vec<(ClaimId, &Verdict)> = offers.iter().map(|o| (o.0, &o.1)).collect();
    let outcomes = checker.check_all(s, &verdicts);
    assert_eq!(outcomes.len(), offers.len());
    for (i, ((claim, _, why), outcome)) in offers.iter().zip(&outcomes).enumerate() {
        let fits = match (why, outcome) {
            (None, Ok(_)) => true,
            (Some(why), Err(Rejection::Wrong(message))) => message.contains(why),
            _ => false,
        };
        assert!(
            fits,
            "{outcome:?}, not {why:?}, for number {i} of {}, about {claim:?}",
            offers.len()
        );
    }
}

#[test]
fn each_verdict_has_its_outcome_alone() {
    let s = two_counters();
    let mut checker = checker();
    for offer in &offers(&s) {
        check_batch(&mut checker, &s, &[offer]);
    }
}

#[test]
fn outcomes_do_not_depend_on_the_batch() {
    let s = two_counters();
    let offers = offers(&s);
    let mut checker = checker();
    for a in &offers {
        for b in offers.iter().filter(|b| a.2.is_none() || b.2.is_none()) {
            check_batch(&mut checker, &s, &[a, b]);
        }
    }
    let all: Vec<&Offer> = offers.iter().collect();
    check_batch(&mut checker, &s, &all);
    let backwards: Vec<&Offer> = offers.iter().rev().collect();
    check_batch(&mut checker, &s, &backwards);
    let mut random = Random::new(7);
    for _ in 0..30 {
        let count = 2 + random.below(20);
        let batch: Vec<&Offer> = (0..count).map(|_| &offers[random.below(offers.len())]).collect();
        check_batch(&mut checker, &s, &batch);
    }
}

#[test]
fn cached_results_do_not_make_wrong_evidence_right() {
    let s = Arc::new(two_counters());
    let offers = offers(&s);
    let mut checker = checker();
    checker.remember(&s);
    for offer in offers.iter().chain(&offers).chain(offers.iter().rev()) {
        check_batch(&mut checker, &s, &[offer]);
    }
    let mut random = Random::new(11);
    for _ in 0..60 {
        let count = 1 + random.below(12);
        let batch: Vec<&Offer> = (0..count).map(|_| &offers[random.below(offers.len())]).collect();
        check_batch(&mut checker, &s, &batch);
        // The same claims and formulas, about another system.
        if random.below(10) == 0 {
            check_batch(&mut checker, &two_counters(), &batch);
        }
    }
}

#[test]
fn results_about_one_system_do_not_affect_another() {
    // The same names with other sorts, and other nodes.
    let t = Model::new(&["Odd", "Even", "End!"])
        .var("i", Sort::Bool)
        .var("x", Sort::Real)
        .start(1, "x == 1/2 and i")
        .step("up", 1, 1, "i", &["x := x + 1.0"])
        .step("on", 1, 0, "x < 0.0", &["i := false"])
        .always("x > 0.0");
    let others = [
        (ClaimId(0), holds(invariant(&t, &["false", "x > 0.0 and i", "false"])), None),
        (
            ClaimId(0),
            holds(invariant(&t, &["false", "x > 1.0 and i", "false"])),
            Some("after `start 0`"),
        ),
        (ClaimId(0), holds(invariant(&t, &["false", "i", "false"])), Some("`on` does not keep")),
        (
            ClaimId(0),
            holds(invariant(&t, &["x > 0.0", "i", "x > 0.0"])),
            Some("`on` does not keep"),
        ),
    ];
    let s = two_counters();
    let offers = offers(&s);
    for name in ["z3", "yices"] {
        let solvers = Arc::new(Solvers::from_environment());
        // Yices may be missing.
        let Some(mut checker) = Checker::with_solver(&solvers, CheckLimits::default(), name) else {
            continue;
        };
        for (i, offer) in offers.iter().enumerate() {
            check_batch(&mut checker, &s, &[offer, &offers[0]]);
            check_batch(&mut checker, &t, &[&others[i % 4], &others[(i / 4) % 4]]);
            check_batch(&mut checker, &t, &[&others[(i + 1) % 4]]);
        }
    }
}

/// A wrapper of a solver that replaces one of its queries.
struct FaultySolver {
    program: PathBuf,
    kind: &'static str,
}

impl FaultySolver {
    /// `instead` is the shell command that replaces query number `at` of each process.
    fn new(
        name: &str,
        solver: &Solver,
        kind: &'static str,
        at: u32,
        instead: &str,
    ) -> FaultySolver {
        let file = format!("gander-saboteur-{}-{name}-{kind}-{at}", std::process::id());
        let program = std::env::temp_dir().join(file);
        let text = format!(
            "#!/bin/sh\nn=0\nwhile IFS= read -r line; do\n  case \"$line\" in '(check-sat'*)\n    n=$((n + 1))\n    \
             if [ $n -eq {at} ]; then {instead}; continue; fi;;\n  esac\n  printf '%s\\n' \"$line\"\ndone | '{}' \"$@\"\n",
            solver.program.display()
        );
        // Another process writes the program. A file that this process has open for writing while
        // another test starts a child could not be executed ("text file busy").
        let source = program.with_extension("text");
        std::fs::write(&source, text).unwrap();
        let made = std::process::Command::new("install")
            .args(["-m", "755"])
            .arg(&source)
            .arg(&program)
            .status();
        assert!(made.unwrap().success());
        std::fs::remove_file(source).unwrap();
        FaultySolver { program, kind }
    }

    fn checker(&self, limits: CheckLimits) -> Checker {
        let named = vec![(self.kind.to_string(), self.program.clone())];
        let solvers = Solvers::find(Search { named, cache: None, path: None });
        assert!(solvers.all().iter().all(|s| s.program == Path::new(&self.program)));
        Checker::new(&Arc::new(solvers), limits)
    }
}

impl Drop for FaultySolver {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.program);
    }
}

/// Asserts that no outcome is wrong; some may be undecided. Returns the numbers of decided and
/// undecided ones.
fn assert_none_wrong(checker: &mut Checker, s: &System, batch: &[&Offer]) -> (usize, usize) {
    let verdicts: Vec<(ClaimId, &Verdict)> = batch.iter().map(|o| (o.0, &o.1)).collect();
    let (mut decided, mut undecided) = (0, 0);
    for ((claim, _, why), outcome) in batch.iter().zip(checker.check_all(s, &verdicts)) {
        match (why, outcome) {
            (_, Err(Rejection::Undecided(_))) => undecided += 1,
            (None, Ok(_)) | (Some(_), Err(Rejection::Wrong(_))) => decided += 1,
            (_, outcome) => panic!("{outcome:?}, not {why:?}, about {claim:?}"),
        }
    }
    (decided, undecided)
}

/// Checks all offers with solvers that have one of these queries replaced.
fn check_with_faults(name: &str, instead: &str, questions: &[u32], limits: CheckLimits) {
    // No proofs in the process: all obligations go to the solver.
    let limits = CheckLimits { linear: Budget::NONE, ..limits };
    let s = two_counters();
    let offers = offers(&s);
    let all: Vec<&Offer> = offers.iter().collect();
    let healthy = Solvers::from_environment();
    for (kind, solver) in [("z3", healthy.z3()), ("yices", healthy.yices())] {
        // Yices may be missing.
        let Some(solver) = solver else { continue };
        let (mut decided, mut undecided) = (0, 0);
        for &at in questions {
            let (first, last) = (at as usize, at as usize + 9);
            let saboteur = FaultySolver::new(name, solver, kind, at, instead);
            let mut checker = saboteur.checker(limits);
            for batch in [&all[..], &all[..14], &all[first..last], &all[9..12], &all[first..=first]]
            {
                let (some, others) = assert_none_wrong(&mut checker, &s, batch);
                decided += some;
                undecided += others;
            }
        }
        assert!(decided > 0 && undecided > 0, "{kind}: {decided} decided, {undecided} not");
    }
}

#[test]
fn a_solver_that_dies_makes_no_outcome_wrong() {
    check_with_faults("dies", "exit 1", &[1, 2, 5], CheckLimits::default());
}

#[test]
fn a_solver_that_answers_unknown_makes_no_outcome_wrong() {
    check_with_faults(
        "does-not-know",
        "echo '(echo \"unknown\")'",
        &[1, 2, 5],
        CheckLimits::default(),
    );
}

#[test]
fn a_solver_that_reports_errors_makes_no_outcome_wrong() {
    check_with_faults(
        "complains",
        "echo '(assert nothing-of-that-name)'",
        &[1, 2, 5],
        CheckLimits::default(),
    );
}

#[test]
fn a_solver_that_skips_an_answer_makes_no_outcome_wrong() {
    let limits = CheckLimits { query: Some(Duration::from_millis(100)), ..CheckLimits::default() };
    check_with_faults("forgets", ":", &[12], limits);
}

#[test]
fn a_cancelled_check_accepts_nothing_wrong() {
    let s = two_counters();
    let offers = offers(&s);
    let all: Vec<&Offer> = offers.iter().collect();
    for delay in [0, 1, 2, 4, 8, 16, 32] {
        let mut checker = checker();
        let cancellation = checker.cancellation();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(delay));
                cancellation.cancel();
            });
            assert_none_wrong(&mut checker, &s, &all);
        });
        checker.set_cancellation(Cancellation::new());
        check_batch(&mut checker, &s, &all);
    }
}

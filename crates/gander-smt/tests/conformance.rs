//! Real solvers agree with the evaluator on every operator.

mod support;

use std::time::Duration;

use gander_smt::{Limits, Outcome, SolverKind, conformance};

fn check(kind: SolverKind) {
    let Some(solver) = support::solver(kind, "conformance") else { return };
    let report = conformance(&solver, Limits::time(Duration::from_secs(60)));
    let wrong: Vec<String> = report
        .entries
        .iter()
        .filter(|e| !matches!(e.outcome, Outcome::Passed | Outcome::NotSupported(_)))
        .map(|e| e.to_string())
        .collect();
    assert!(report.passed() && wrong.is_empty(), "{}:\n{}", solver.name, wrong.join("\n"));
    assert!(report.passed_cases() > 800, "{} cases only", report.passed_cases());
    assert!(solver.version().unwrap().chars().any(|c| c.is_ascii_digit()));
}

#[test]
fn z3_conforms() {
    check(SolverKind::Z3);
}

#[test]
fn yices_conforms() {
    check(SolverKind::Yices);
}

#[test]
fn cvc5_conforms() {
    check(SolverKind::Cvc5);
}

#[test]
fn a_solver_with_wrong_answers_does_not_pass() {
    let liar = gander_smt::Solver::new(SolverKind::Other, env!("CARGO_BIN_EXE_gander-fake-solver"));
    assert!(!conformance(&liar, Limits::time(Duration::from_secs(5))).passed());
}

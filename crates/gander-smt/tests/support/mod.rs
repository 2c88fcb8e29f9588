//! Finding solvers for tests, and reporting skipped tests.
#![allow(dead_code, clippy::print_stderr)]

use std::io::Write;

use gander_smt::{CoreSession, SessionConfig, Solver, SolverKind, Solvers};

/// The solver of this kind; if there is none, the test is reported as skipped.
pub fn solver(kind: SolverKind, test: &str) -> Option<Solver> {
    let found = Solvers::from_environment().all().into_iter().find(|s| s.kind == kind).cloned();
    if found.is_none() {
        skip(kind, test, "not found in the cache or on PATH");
    }
    found
}

/// Reports that a test was skipped because a solver is missing.
pub fn skip(kind: SolverKind, test: &str, reason: &str) {
    let line = format!("{}: {test}: {reason}", kind.name());
    eprintln!("SKIPPED {line}");
    if let Some(path) = std::env::var_os("GANDER_SKIP_LOG")
        && let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path)
    {
        let _ = writeln!(file, "{line}");
    }
}

/// The solvers that tests use: those of the set-up and one other.
pub const TESTED: [SolverKind; 3] = [SolverKind::Z3, SolverKind::Yices, SolverKind::Cvc5];

/// Runs a test with every solver that tests use.
pub fn with_each(test: &str, run: impl Fn(&Solver, &mut CoreSession)) {
    for kind in TESTED {
        if let Some(solver) = solver(kind, test) {
            let mut session = CoreSession::start(&solver, SessionConfig::default());
            run(&solver, &mut session);
        }
    }
}

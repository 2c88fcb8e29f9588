//! All targets for a bounded number of rounds.

use std::io::Write;

use gander_fuzz::source::{self, Tongue};
use gander_fuzz::{Budget, Tally, linear, terms};

fn expect_clean(tally: &Tally, at_least: u64) {
    if let Some(f) = tally.findings.first() {
        panic!("{}\ninput:\n{}", f.problem, f.input);
    }
    assert!(tally.rounds >= at_least, "only {} rounds", tally.rounds);
}

#[test]
fn mutated_sources() {
    let seeds = source::seeds(Tongue::Sts);
    assert!(seeds.len() > 60, "the corpus was not found");
    let tally = source::run(Tongue::Sts, &seeds, 1, Budget::Rounds(4_000));
    expect_clean(&tally, 4_000);
    assert!(tally.deep > 100 && tally.kept > 10, "the mutations reach nothing: {tally:?}");
}

#[test]
fn mutated_lustre() {
    let seeds = source::seeds(Tongue::Lustre);
    assert!(!seeds.is_empty(), "the sample was not found");
    let tally = source::run(Tongue::Lustre, &seeds, 1, Budget::Rounds(4_000));
    expect_clean(&tally, 4_000);
    assert!(tally.deep > 20 && tally.kept > 10, "the mutations reach nothing: {tally:?}");
}

#[test]
fn random_terms_against_solvers() {
    let plan = terms::Plan::of_this_machine();
    let tally = terms::run(&plan, 1, Budget::Rounds(1_500));
    expect_clean(&tally, 1_500);
    if plan.solvers.is_empty() {
        skip("solvers: random_terms_against_solvers: none found");
    } else {
        assert!(tally.deep > 500, "hardly anything was compared: {tally:?}");
    }
}

#[test]
fn linear_formulas_against_solvers() {
    let plan = linear::Plan::of_this_machine();
    let (tally, counts) = linear::run(&plan, 1, Budget::Rounds(1_500));
    expect_clean(&tally, 1_500);
    // Both answers are common, and changed proofs mostly fail.
    assert!(counts.refuted > 200 && counts.models > 200, "hardly anything was decided: {counts:?}");
    assert!(counts.refused > counts.refuted, "changed proofs pass: {counts:?}");
    if plan.solvers.is_empty() {
        skip("solvers: linear_formulas_against_solvers: none found");
    } else {
        assert!(tally.deep > 500, "hardly anything was compared: {tally:?}");
    }
}

fn skip(line: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED {line}");
    if let Some(path) = std::env::var_os("GANDER_SKIP_LOG")
        && let Ok(mut log) = std::fs::OpenOptions::new().append(true).create(true).open(path)
    {
        let _ = writeln!(log, "{line}");
    }
}

//! Runs every target for a bounded number of rounds.

use std::io::Write;

use gander_fuzz::{Budget, Tally, linear, proofs, source, terms};
use gander_lang::LANGUAGES;

fn expect_clean(tally: &Tally, at_least: u64) {
    if let Some(f) = tally.findings.first() {
        panic!("{}\ninput:\n{}", f.problem, f.input);
    }
    assert!(tally.rounds >= at_least, "only {} rounds", tally.rounds);
}

/// Lower bounds on what mutations must reach: seeds, texts that load, and texts kept as seeds.
struct Reach {
    seeds: usize,
    deep: u64,
    kept: u64,
}

fn mutate(name: &str, rounds: u64, reach: Reach) {
    let language = LANGUAGES.iter().find(|language| language.name == name).expect("a language");
    let seeds = source::seeds(language);
    assert!(seeds.len() > reach.seeds, "the corpus was not found");
    let tally = source::run(language, &seeds, 1, Budget::Rounds(rounds));
    expect_clean(&tally, rounds);
    let reached = tally.deep > reach.deep && tally.kept > reach.kept;
    assert!(reached, "the mutations reach nothing: {} deep, {} kept", tally.deep, tally.kept);
}

#[test]
fn mutated_sts_texts_violate_no_property() {
    mutate("sts", 4_000, Reach { seeds: 60, deep: 100, kept: 10 });
}

#[test]
fn mutated_lustre_texts_violate_no_property() {
    mutate("lustre", 4_000, Reach { seeds: 10, deep: 20, kept: 10 });
}

#[test]
fn mutated_scripts_violate_no_property() {
    mutate("script", 4_000, Reach { seeds: 15, deep: 100, kept: 10 });
}

#[test]
fn mutated_files_of_other_tools_violate_no_property() {
    for name in ["vmt", "horn", "btor2", "mcmt", "smv"] {
        mutate(name, 2_000, Reach { seeds: 0, deep: 10, kept: 3 });
    }
}

#[test]
fn random_terms_agree_with_solvers() {
    let plan = terms::Plan::of_this_machine();
    let tally = terms::run(&plan, 1, Budget::Rounds(1_500));
    expect_clean(&tally, 1_500);
    if plan.solvers.is_empty() {
        skip("solvers: random_terms_agree_with_solvers: none found");
    } else {
        assert!(tally.deep > 500, "hardly anything was compared: {tally:?}");
    }
}

#[test]
fn linear_formulas_agree_with_solvers() {
    let plan = linear::Plan::of_this_machine();
    let (tally, counts) = linear::run(&plan, 1, Budget::Rounds(1_500));
    expect_clean(&tally, 1_500);
    // Both answers are common, and most changed proofs are rejected.
    assert!(counts.refuted > 200 && counts.models > 200, "hardly anything was decided: {counts:?}");
    assert!(counts.refused > counts.refuted, "changed proofs pass: {counts:?}");
    if plan.solvers.is_empty() {
        skip("solvers: linear_formulas_agree_with_solvers: none found");
    } else {
        assert!(tally.deep > 500, "hardly anything was compared: {tally:?}");
    }
}

#[test]
fn clausal_proofs_agree_with_solvers() {
    let solvers = gander_smt::Solvers::from_environment();
    let (tally, counts) = proofs::run(&solvers, 1, Budget::Rounds(800));
    expect_clean(&tally, 800);
    assert!(counts.refuted > 100 && counts.models > 100, "hardly anything was decided: {counts:?}");
    // The encoding of many of these formulas has the empty clause already: there is nothing to
    // change in their proofs.
    assert!(counts.refused > counts.refuted / 3, "changed proofs pass: {counts:?}");
    if solvers.all().is_empty() {
        skip("solvers: clausal_proofs_agree_with_solvers: none found");
    } else {
        assert!(tally.deep > 200, "hardly anything was compared: {tally:?}");
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

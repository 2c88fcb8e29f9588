//! Z3 agrees with gander about files of Horn clauses, and about exports for it: queries for
//! structural claims, and infinite runs in unrollings.

#![allow(clippy::print_stdout, reason = "prints the number of comparisons")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use gander_export::{Format, HornDialect, Options, Selection, write};
use gander_lang::language_of;
use gander_oracle::{Limits, Settings, Tier, decide, generate_with};
use gander_smt::Solvers;
use gander_system::{ClaimOrigin, System};

/// The program, or `None` after a line in the log of skipped tests.
fn z3(test: &str) -> Option<PathBuf> {
    let found = Solvers::from_environment().z3().map(|s| s.program.clone());
    if found.is_none() {
        let line = format!("SKIPPED {test}: z3 was not found: run `gander setup`\n");
        let _ = std::io::stderr().write_all(line.as_bytes());
        if let Some(log) = std::env::var_os("GANDER_SKIP_LOG") {
            let file = std::fs::OpenOptions::new().create(true).append(true).open(log);
            let _ = file.and_then(|mut f| f.write_all(line.as_bytes()));
        }
    }
    found
}

/// The answers of z3 to a text, and all that it says.
fn answers(program: &Path, text: &str) -> (Vec<String>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m.smt2");
    std::fs::write(&path, text).expect("a file");
    let output = Command::new(program).arg("-T:5").arg(&path).output().expect("z3 can be run");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_answer = |l: &&str| matches!(*l, "sat" | "unsat" | "unknown");
    (said.lines().map(str::trim).filter(is_answer).map(str::to_string).collect(), said)
}

#[test]
fn z3_agrees_about_the_horn_files_of_the_corpus() {
    let Some(program) = z3("z3_agrees_about_the_horn_files_of_the_corpus") else { return };
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/horn");
    let mut compared = 0;
    for folder in ["holds", "fails"] {
        for entry in std::fs::read_dir(corpus.join(folder)).expect("the corpus is there").flatten()
        {
            let text = std::fs::read_to_string(entry.path()).expect("a model can be read");
            let (answers, said) = answers(&program, &text);
            if said.contains("(error") {
                println!("{}: z3 does not read it: {said}", entry.path().display());
                continue;
            }
            // In the dialect of rules, `sat` says that the queried relation has a member.
            let violated = if text.contains("(query ") { "sat" } else { "unsat" };
            let holds = !answers.iter().any(|a| a == violated);
            assert!(!answers.contains(&"unknown".to_string()), "{}", entry.path().display());
            assert_eq!(holds, folder == "holds", "{}: {said}", entry.path().display());
            compared += 1;
        }
    }
    assert!(compared >= 8, "{compared}");
}

/// Compares the answers to the queries of a system with those of the oracle; returns the number of
/// structural claims that were compared, by kind.
fn compare(program: &Path, system: &System, what: &str, kinds: &mut Vec<&'static str>) {
    let Ok(oracle) = decide(system, Limits { states: 1_000, work: 1_000_000 }) else { return };
    let options = Options {
        horn: HornDialect::Queries,
        eliminate: Some(gander_engines::eliminate),
        ..Options::default()
    };
    let Ok(written) = write(system, Format::Horn, options, Selection::All) else { return };
    let claims = written.names.claims();
    if claims.is_empty() {
        return;
    }
    let (answers, said) = answers(program, &written.text);
    let runtime = said.contains("query failed") || said.contains("timeout");
    assert!(!said.contains("(error") || runtime, "{what}: {said}\n{}", written.text);
    if answers.len() != claims.len() {
        return;
    }
    for (answer, claim) in answers.iter().zip(claims) {
        let original = &system.claims()[claim.claim.index()];
        let Ok(known) = &oracle[claim.claim.index()] else { continue };
        let holds = match answer.as_str() {
            "sat" => claim.opposite,
            "unsat" => !claim.opposite,
            _ => continue,
        };
        assert_eq!(holds, known.holds, "{what}, {}: {said}\n{}", original.name, written.text);
        if original.origin == ClaimOrigin::Structural {
            kinds.push(original.kind.word());
        }
    }
}

#[test]
fn z3_answers_queries_about_structural_claims_as_the_oracle() {
    let Some(program) = z3("z3_answers_queries_about_structural_claims_as_the_oracle") else {
        return;
    };
    let mut kinds = Vec::new();
    for seed in 0..Tier::amount(25, 200) {
        let made = generate_with(seed, Settings::default());
        compare(&program, &made.system, &format!("seed {seed}"), &mut kinds);
    }
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/sts");
    for folder in ["holds", "fails"] {
        let entries = std::fs::read_dir(corpus.join(folder)).expect("the corpus is there");
        for path in entries.flatten().map(|entry| entry.path()) {
            let text = std::fs::read_to_string(&path).expect("a model can be read");
            let loaded = gander_lang::sts::load(&text, "m.sts");
            for system in loaded.system.into_iter().chain(loaded.others) {
                let system = system.and_structural_claims();
                compare(&program, &system, &path.to_string_lossy(), &mut kinds);
            }
        }
    }
    for kind in ["can-enable", "no-sinkhole", "start-satisfiable", "completable"] {
        let count = kinds.iter().filter(|k| **k == kind).count();
        println!("{kind}: {count}");
        assert!(count > 0, "{kind}");
    }
}

#[test]
fn an_unrolling_finds_an_infinite_run_as_a_lasso() {
    let Some(program) = z3("an_unrolling_finds_an_infinite_run_as_a_lasso") else { return };
    let language = language_of("m.script").expect("scripts are known");
    for (rules, depth, found) in [
        ("? x < 3 -> x = x + 1; ? x == 3 -> x = 1;", 4, "sat"),
        ("? x < 3 -> x = x + 1; ? x == 3 -> x = 1;", 3, "unsat"),
        ("? x < 3 -> x = x + 1;", 6, "unsat"),
        ("? x == 9 -> x = x;", 2, "unsat"),
    ] {
        let text = format!("VARS: int x : 0..9; INIT: x = 0; TRANS: {rules} INF:");
        let system = (language.load)(&text, "m.script").system.expect("it loads");
        let options = Options { depth, ..Options::default() };
        let written = write(&system, Format::Smt2, options, Selection::All).expect("it is written");
        assert_eq!(written.names.claims().len(), 1, "{}", written.text);
        assert_eq!(answers(&program, &written.text).0, [found], "{rules}\n{}", written.text);
    }
}

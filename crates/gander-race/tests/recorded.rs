//! Adapters against output in the documented forms of tools that cannot be had by package name.

mod support;

use std::time::Duration;

use gander_race::enter;
use gander_system::System;
use support::{COUNTER, Folder, alone, answers, config, entrant, load, recorded};

const TIME: Duration = Duration::from_secs(30);

/// What the adapter makes of a recorded output: about all claims, or about some.
fn told(tool: &str, file: &str, only: &[&str]) -> (Vec<String>, String) {
    told_about(COUNTER, "c.sts", tool, file, only)
}

fn told_about(text: &str, model: &str, tool: &str, file: &str, only: &[&str]) -> (Vec<String>, String) {
    let folder = Folder::new();
    let program = folder.program(&format!("cat '{}'", recorded(file).display()));
    let system = load(text, model);
    let entrant = entrant(tool, &program);
    let account = if only.is_empty() {
        alone(&entrant, &system, TIME)
    } else {
        let mut config = config(&system, TIME);
        let named = |s: &System, name: &str| s.claims.iter().position(|c| c.name == name).expect("a claim");
        config.claims = only.iter().map(|name| named(&system, name).into()).collect();
        enter(&entrant, &system, &config, &|_| true, &|_| {})
    };
    (answers(&system, &account), account.ending)
}

#[test]
fn golem_gives_invariants() {
    let (told, ending) = told("golem", "golem_safe.txt", &["small", "nine"]);
    assert_eq!(told, ["nine fails checked", "small holds checked"]);
    assert_eq!(ending, "finished");
}

#[test]
fn an_invariant_that_does_not_show_it_is_a_claim() {
    let (told, _) = told("golem", "golem_safe.txt", &["tiny"]);
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("tiny holds claimed: its evidence is wrong"), "{told:?}");
}

#[test]
fn golem_claims_violations() {
    let (told, _) = told("golem", "golem_unsafe.txt", &["tiny", "five"]);
    assert_eq!(told, ["five holds claimed: it gives no evidence", "tiny fails claimed: it gives no evidence"]);
}

#[test]
fn nuxmv_gives_traces_and_claims() {
    let (told, _) = told("nuxmv", "nuxmv.txt", &[]);
    // What it does not know, and what nobody understands, is no answer.
    assert_eq!(told, ["small holds claimed: it gives no evidence", "tiny fails checked"]);
}

#[test]
fn a_trace_that_does_not_replay_is_a_claim() {
    let (told, _) = told("nuxmv", "nuxmv_wrong_trace.txt", &[]);
    assert!(told.iter().any(|t| t.starts_with("tiny fails claimed: no step leads from state 1")), "{told:?}");
}

#[test]
fn kind2_gives_traces_and_depths_of_induction() {
    let (told, ending) = told("kind2", "kind2.json", &[]);
    assert_eq!(told, ["small holds checked", "tiny fails checked"], "{ending}");
}

#[test]
fn jkind_gives_traces_and_depths_of_induction() {
    let (told, ending) = told("jkind", "jkind.xml", &[]);
    // A value that it leaves out does not matter: some value does it.
    assert_eq!(told, ["small holds checked", "tiny fails checked"], "{ending}");
}

const FINITE: &str = "VARS: int x : 0..7; INIT: x = 0; TRANS: ? x < 5 -> x = x + 1; ? x == 5 -> x = 0; SAFE: x <= 2";

#[test]
fn pono_gives_witnesses() {
    let (told, ending) = told_about(FINITE, "f.script", "pono", "pono_unsafe.txt", &["SAFE"]);
    assert_eq!(told, ["SAFE fails checked"], "{ending}");
    let (told, _) = told_about(FINITE, "f.script", "pono", "pono_safe.txt", &["SAFE"]);
    assert_eq!(told, ["SAFE holds claimed: it gives no evidence"]);
}

#[test]
fn pono_needs_ranges() {
    let (told, ending) = told("pono", "pono_safe.txt", &["small"]);
    assert!(told.is_empty() && ending.contains("an int without a range"), "{ending}");
}

#[test]
fn uppaal_claims() {
    let text = FINITE.replace("SAFE: x <= 2", "SAFE: x <= 2 REACH: x == 4");
    let (told, ending) = told_about(&text, "f.script", "uppaal", "uppaal.txt", &["SAFE", "REACH"]);
    assert_eq!(told, ["SAFE fails claimed: it gives no evidence"], "{ending}");
}

#[test]
fn a_second_opinion_is_asked_and_conversations_are_recorded() {
    let folder = Folder::new();
    let program = folder.program(&format!("cat '{}'", recorded("golem_safe.txt").display()));
    let system = load(COUNTER, "c.sts");
    let small = system.claims.iter().position(|c| c.name == "small").expect("a claim");
    let mut config = config(&system, TIME);
    config.claims = vec![small.into()];
    let mut told = |second: Option<&str>, log: Option<&str>| {
        config.second_opinion = second.map(str::to_string);
        config.log_smt = log.map(|name| folder.0.join(name));
        config.log_smt.iter().for_each(|f| std::fs::create_dir_all(f).expect("a folder"));
        let account = enter(&entrant("golem", &program), &system, &config, &|_| true, &|_| {});
        let files = config.log_smt.iter().flat_map(|f| std::fs::read_dir(f).expect("a folder"));
        let names: Vec<String> = files.map(|f| f.expect("a file").file_name().to_string_lossy().into_owned()).collect();
        (answers(&system, &account), names)
    };
    let missing = "small holds claimed: its evidence could not be checked: the solver `nobody` for a second opinion was \
        not found";
    assert_eq!(told(Some("nobody"), None).0, [missing]);
    let (alone, names) = told(None, Some("one"));
    assert_eq!(alone, ["small holds checked"]);
    assert!(!names.is_empty() && names.iter().all(|n| n.starts_with("certify-golem-small-")), "{names:?}");
    let solvers = gander_smt::Solvers::from_environment();
    let Some(second) = ["z3", "cvc5"].into_iter().find(|s| solvers.by_name(s).is_some()) else {
        return support::skip("no solver for a second opinion");
    };
    let (both, more) = told(Some(second), Some("two"));
    assert_eq!(both, ["small holds checked"]);
    assert!(more.len() > names.len() && more.iter().any(|n| n.contains(second)), "{more:?}");
}

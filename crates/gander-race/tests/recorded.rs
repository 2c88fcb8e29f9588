//! Adapters on recorded or documented output, for tools that cannot be installed as a package.

mod support;

use std::time::Duration;

use gander_race::run_tool;
use gander_system::System;
use support::{COUNTER, Folder, alone, answers, config, found_tool, load, recorded};

const TIME: Duration = Duration::from_secs(30);

/// The adapter's answers on a recorded output, about all claims or only some, and how it ended.
fn recorded_answers(tool: &str, file: &str, only: &[&str]) -> (Vec<String>, String) {
    recorded_answers_about(COUNTER, "c.sts", tool, file, only)
}

fn recorded_answers_about(
    text: &str,
    model: &str,
    tool: &str,
    file: &str,
    only: &[&str],
) -> (Vec<String>, String) {
    let folder = Folder::new();
    let program = folder.program(&format!("cat '{}'", recorded(file).display()));
    let system = load(text, model);
    let found_tool = found_tool(tool, &program);
    let report = if only.is_empty() {
        alone(&found_tool, &system, TIME)
    } else {
        let mut config = config(&system, TIME);
        let named = |s: &System, name: &str| {
            s.claims().iter().position(|c| c.name == name).expect("a claim")
        };
        config.claims = only.iter().map(|name| named(&system, name).into()).collect();
        run_tool(&found_tool, &system, &config, &|_| true, &|_| {})
    };
    (answers(&system, &report), report.ending)
}

#[test]
fn golem_gives_invariants() {
    let (found, ending) = recorded_answers("golem", "golem_safe.txt", &["small", "nine"]);
    assert_eq!(found, ["nine fails checked", "small holds checked"]);
    assert_eq!(ending, "finished");
}

#[test]
fn an_answer_with_a_wrong_invariant_is_only_claimed() {
    let (found, _) = recorded_answers("golem", "golem_safe.txt", &["tiny"]);
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("tiny holds claimed: its evidence is wrong"), "{found:?}");
}

#[test]
fn golem_violations_are_only_claimed() {
    let (found, _) = recorded_answers("golem", "golem_unsafe.txt", &["tiny", "five"]);
    assert_eq!(
        found,
        ["five holds claimed: it gives no evidence", "tiny fails claimed: it gives no evidence"]
    );
}

#[test]
fn nuxmv_gives_traces_and_claims() {
    let (found, _) = recorded_answers("nuxmv", "nuxmv.txt", &[]);
    // Unknown results and unknown output are not answers.
    assert_eq!(found, ["small holds claimed: it gives no evidence", "tiny fails checked"]);
}

#[test]
fn an_answer_with_a_trace_that_does_not_replay_is_only_claimed() {
    let (found, _) = recorded_answers("nuxmv", "nuxmv_wrong_trace.txt", &[]);
    assert!(
        found.iter().any(|t| t.starts_with("tiny fails claimed: no step leads from state 1")),
        "{found:?}"
    );
}

#[test]
fn kind2_gives_traces_and_depths_of_induction() {
    let (found, ending) = recorded_answers("kind2", "kind2.json", &[]);
    assert_eq!(found, ["small holds checked", "tiny fails checked"], "{ending}");
}

#[test]
fn jkind_gives_traces_and_depths_of_induction() {
    let (found, ending) = recorded_answers("jkind", "jkind.xml", &[]);
    // A missing value of the trace is completed.
    assert_eq!(found, ["small holds checked", "tiny fails checked"], "{ending}");
}

const FINITE: &str =
    "VARS: int x : 0..7; INIT: x = 0; TRANS: ? x < 5 -> x = x + 1; ? x == 5 -> x = 0; SAFE: x <= 2";

#[test]
fn pono_gives_witnesses() {
    let (found, ending) =
        recorded_answers_about(FINITE, "f.script", "pono", "pono_unsafe.txt", &["SAFE"]);
    assert_eq!(found, ["SAFE fails checked"], "{ending}");
    let (found, _) = recorded_answers_about(FINITE, "f.script", "pono", "pono_safe.txt", &["SAFE"]);
    assert_eq!(found, ["SAFE holds claimed: it gives no evidence"]);
}

#[test]
fn pono_needs_ranges() {
    let (found, ending) = recorded_answers("pono", "pono_safe.txt", &["small"]);
    assert!(found.is_empty() && ending.contains("an int without a range"), "{ending}");
}

#[test]
fn uppaal_answers_are_only_claimed() {
    let text = FINITE.replace("SAFE: x <= 2", "SAFE: x <= 2 REACH: x == 4");
    let (found, ending) =
        recorded_answers_about(&text, "f.script", "uppaal", "uppaal.txt", &["SAFE", "REACH"]);
    assert_eq!(found, ["SAFE fails claimed: it gives no evidence"], "{ending}");
}

#[test]
fn a_second_opinion_is_asked_and_conversations_are_recorded() {
    let folder = Folder::new();
    let program = folder.program(&format!("cat '{}'", recorded("golem_safe.txt").display()));
    let system = load(COUNTER, "c.sts");
    let small = system.claims().iter().position(|c| c.name == "small").expect("a claim");
    let mut config = config(&system, TIME);
    config.claims = vec![small.into()];
    let mut check = |second: Option<&str>, log: Option<&str>| {
        config.second_opinion = second.map(str::to_string);
        config.log_smt = log.map(|name| folder.0.join(name));
        config.log_smt.iter().for_each(|f| std::fs::create_dir_all(f).expect("a folder"));
        let report = run_tool(&found_tool("golem", &program), &system, &config, &|_| true, &|_| {});
        let files = config.log_smt.iter().flat_map(|f| std::fs::read_dir(f).expect("a folder"));
        let names: Vec<String> =
            files.map(|f| f.expect("a file").file_name().to_string_lossy().into_owned()).collect();
        (answers(&system, &report), names)
    };
    let missing = "small holds claimed: its evidence could not be checked: the solver `missing` for a second opinion was \
        not found";
    assert_eq!(check(Some("missing"), None).0, [missing]);
    let (alone, names) = check(None, Some("one"));
    assert_eq!(alone, ["small holds checked"]);
    assert!(
        !names.is_empty() && names.iter().all(|n| n.starts_with("certify-golem-small-")),
        "{names:?}"
    );
    let solvers = gander_smt::Solvers::from_environment();
    let Some(second) = ["z3", "cvc5"].into_iter().find(|s| solvers.by_name(s).is_some()) else {
        return support::skip("no solver for a second opinion");
    };
    let (both, more) = check(Some(second), Some("two"));
    assert_eq!(both, ["small holds checked"]);
    assert!(more.len() > names.len() && more.iter().any(|n| n.contains(second)), "{more:?}");
}

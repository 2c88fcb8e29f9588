//! `check --with`: answers of tools, disagreements, and exit codes.

use serde_json::Value;

use crate::support::{COUNTER, Folder};

/// A folder with the counter and a program that prints the same answer for every input.
fn saying(golem: &str) -> Folder {
    let folder = Folder::with("counter.sts", COUNTER);
    folder.write_program("golem", format!("#!/bin/sh\ncat <<'END'\n{golem}\nEND\n"));
    folder
}

const ASK: [&str; 10] = [
    "check",
    "--checks",
    "none",
    "--property",
    "small",
    "--engine",
    "none",
    "--timeout",
    "60",
    "counter.sts",
];

#[test]
fn a_claim_without_evidence_is_unknown() {
    let folder = saying("sat");
    let args: Vec<&str> =
        ASK.into_iter().chain(["--with", "golem", "--tool", "golem=./golem"]).collect();
    let ran = folder.run(&args);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.out.contains("claimed by golem: holds (it gives no evidence)"), "{}", ran.out);
    assert!(ran.err.is_empty(), "{}", ran.err);
    let args: Vec<&str> = args.into_iter().chain(["--json"]).collect();
    let value: Value = serde_json::from_str(&folder.run(&args).out).unwrap();
    assert_eq!(value["results"][0]["verdict"], "unknown");
    assert_eq!(value["results"][0]["claimed"][0]["says"], "holds");
    assert_eq!(value["tools"][0]["answers"], 1);
    assert_eq!(value["tools"][0]["checked"], 0);
}

#[test]
fn tools_that_contradict_each_other_are_reported_as_disagreement() {
    let folder = saying("unsat");
    let smv = "gander-begin small\n-- invariant x <= 10  is true\ngander-end small";
    folder.write_program("nuxmv", format!("#!/bin/sh\ncat <<'END'\n{smv}\nEND\n"));
    let with = ["--with", "golem,nuxmv", "--tool", "golem=./golem", "--tool", "nuxmv=./nuxmv"];
    let args: Vec<&str> = ASK.into_iter().chain(with).collect();
    let ran = folder.run(&args);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.err.contains("DISAGREEMENT: golem claims that `small` fails"), "{}", ran.err);
    assert!(ran.err.contains("DISAGREEMENT: nuxmv claims that `small` holds"), "{}", ran.err);
    let args: Vec<&str> = args.into_iter().chain(["--json"]).collect();
    let ran = folder.run(&args);
    assert_eq!(ran.code, 5);
    let value: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(value["results"][0]["claimed"][0]["disagrees"], true);
    assert!(value["diagnostics"].as_array().unwrap().iter().any(|d| d["code"] == "disagreement"));
}

#[test]
fn unknown_tools_and_missing_programs_are_reported() {
    let folder = saying("sat");
    let ran = folder.run(&["check", "--with", "golum", "counter.sts"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("there is no tool `golum`; tools are nusmv"), "{}", ran.err);
    let ran = folder.run(&[
        "check",
        "--with",
        "nuxmv",
        "--tool",
        "nuxmv=./missing",
        "--property",
        "small",
        "counter.sts",
    ]);
    assert!(ran.err.contains("nuxmv does not take part: ./missing is no program"), "{}", ran.err);
}

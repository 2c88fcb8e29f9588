//! `gander bench`: contenders side by side, and contenders that misbehave.

use crate::support::{COUNTER, Folder};

fn with_golem(says: &str) -> Folder {
    let folder = Folder::with("counter.sts", COUNTER);
    folder.write_program("golem", format!("#!/bin/sh\n{says}\n"));
    folder
}

#[test]
fn engines_and_tools_are_measured_side_by_side() {
    needs_z3!();
    let folder = with_golem("echo unknown");
    let args =
        ["bench", "--engine", "bmc", "--with", "golem", "--tool", "golem=./golem", "--repeat", "2"];
    let more = [
        "--csv",
        "all.csv",
        "--svg",
        "plot.svg",
        "--out",
        "results",
        "--timeout",
        "3",
        "counter.sts",
    ];
    let args: Vec<&str> = args.into_iter().chain(more).collect();
    let ran = folder.run(&args);
    assert_eq!(ran.code, 0, "{ran:?}");
    let mut lines = ran.out.lines();
    let head: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    assert_eq!((head.len(), head[0], head[1], head[3]), (4, "seconds", "gander", "golem"));
    let row: Vec<&str> = lines.nth(1).unwrap().split_whitespace().collect();
    assert_eq!((row[0], row[3]), ("counter.sts", "none"));
    assert!(row[1].trim_end_matches('*').parse::<f64>().is_ok(), "{row:?}");
    assert!(ran.out.contains("medians of 2 rounds"), "{}", ran.out);
    let csv = folder.read("all.csv");
    assert!(csv.starts_with("file,contender,claim,verdict,claimed,by,"), "{csv}");
    assert!(csv.lines().any(|l| l.starts_with("counter.sts,gander,small,holds,")), "{csv}");
    let svg = folder.read("plot.svg");
    assert!(
        svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && svg.contains("counter.sts"),
        "{svg}"
    );
    assert!(
        folder.path.join("results/results.csv").exists()
            && folder.path.join("results/plot.svg").exists()
    );
    assert_eq!(
        std::fs::read_to_string(folder.path.join("results/results.jsonl")).unwrap().lines().count(),
        6
    );
    // All results exist already, so nothing is run.
    assert_eq!(folder.run(&args).code, 0);
    assert_eq!(
        std::fs::read_to_string(folder.path.join("results/results.jsonl")).unwrap().lines().count(),
        6
    );
}

#[test]
fn contradictions_are_reported() {
    needs_z3!();
    let folder = with_golem("echo unsat");
    let ran = folder.run(&[
        "bench",
        "--with",
        "golem",
        "--tool",
        "golem=./golem",
        "--timeout",
        "30",
        "counter.sts",
    ]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let shout =
        "DISAGREEMENT: counter.sts: `small` holds according to gander, fails according to golem";
    assert!(ran.out.contains(shout), "{}", ran.out);
}

#[test]
fn a_contender_that_hangs_is_ended() {
    let folder = with_golem("exec sleep 1000");
    let ran = folder.run(&[
        "bench",
        "--with",
        "golem",
        "--tool",
        "golem=./golem",
        "--timeout",
        "1",
        "counter.sts",
    ]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let row = ran.out.lines().find(|l| l.starts_with("counter.sts")).unwrap();
    assert!(row.ends_with("none") || row.ends_with("time"), "{row}");
}

#[test]
fn invalid_bench_arguments_are_rejected() {
    let folder = Folder::with("counter.sts", COUNTER);
    for (args, words) in [
        (&["bench", "missing.sts"][..], "missing.sts: No such file"),
        (&["bench", "--engine", "warp", "counter.sts"], "there is no engine `warp`"),
        (&["bench", "--with", "warp", "counter.sts"], "there is no tool `warp`"),
        (&["bench", "--repeat", "0", "counter.sts"], "--repeat"),
    ] {
        let ran = folder.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.err.contains(words), "{args:?}: {}", ran.err);
    }
    folder.write("wrong.sts", "spec");
    let ran = folder.run(&["bench", "--timeout", "20", "wrong.sts"]);
    assert!(
        ran.out.lines().any(|l| l.starts_with("wrong.sts") && l.ends_with("rejected")),
        "{ran:?}"
    );
}

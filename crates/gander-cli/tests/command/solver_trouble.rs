//! Solvers that crash, hang, talk nonsense or run out of memory while engines use them: claims stay
//! unknown with the reason, or another solver decides them.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;

use crate::support::{COUNTER, Folder, within};

/// The misbehaving solver of gander-smt's tests. It belongs to another package, so it has to be
/// asked for.
fn fake_solver() -> &'static PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        // Where this test was built, so that little is left to build.
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_path_buf();
        let built = Command::new(env!("CARGO"))
            .args([
                "build",
                "--quiet",
                "--offline",
                "-p",
                "gander-smt",
                "--bin",
                "gander-fake-solver",
                "--target-dir",
            ])
            .arg(&folder)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status();
        assert!(built.unwrap().success());
        folder.join("debug").join("gander-fake-solver")
    })
}

/// A folder with the counter and a solver that misbehaves in this way. It counts in reals: ints
/// could be enumerated without a solver.
fn trouble(way: &str) -> Folder {
    trouble_with(way, &COUNTER.replace("x: int", "x: real"))
}

fn trouble_with(way: &str, model: &str) -> Folder {
    let folder = Folder::with("counter.sts", model);
    folder.write_program(
        "solver",
        format!("#!/bin/sh\nexec '{}' '{way}'\n", fake_solver().display()),
    );
    folder
}

/// Claims, verdicts and reasons. The command must end soon after its time limit.
fn check(folder: &Folder, solvers: &[&str]) -> Vec<(String, String, String)> {
    let args = ["check", "--json", "--checks", "none", "--timeout", "2", "counter.sts"];
    let mut command = folder.command(&args);
    for solver in solvers {
        command.args(["--solver", solver]);
    }
    // No other solver of this machine takes part.
    command
        .env("PATH", "/usr/bin:/bin")
        .env("GANDER_CVC5", "none")
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let output = within(Duration::from_secs(30), command.spawn().unwrap());
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(matches!(output.status.code(), Some(1 | 3)), "{solvers:?}: {}: {said}", output.status);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_string);
    let results = value["results"].as_array().unwrap();
    results.iter().map(|r| (text(&r["claim"]), text(&r["verdict"]), text(&r["why"]))).collect()
}

const RIGHT: [(&str, &str); 5] = [
    ("small", "holds"),
    ("unseen", "fails"),
    ("high", "holds"),
    ("twice", "holds"),
    ("far", "fails"),
];

const TROUBLES: [(&str, &str); 10] = [
    ("dies at start", "the solver died: exit status: 7"),
    ("dies at check", "these are my last words"),
    ("dies in the middle", "the solver died"),
    ("floods", "the solver made no sense"),
    ("prints garbage", "the solver made no sense"),
    ("prints bytes", "the solver made no sense"),
    ("complains", "the solver reported an error: no such thing"),
    ("gives up", "the solver gave up: I am tired"),
    ("hangs", "time"),
    ("never reads", "time"),
];

#[test]
fn a_solver_in_trouble_never_gives_a_wrong_verdict_and_the_reason_is_told() {
    // The first claim is not linear: otherwise it could be proved without a solver.
    let model = COUNTER.replace("x: int", "x: real").replace("x <= 3", "x * x <= 9.0");
    for (way, reason) in TROUBLES {
        let folder = trouble_with(way, &model);
        let results = check(&folder, &["z3=./solver", "yices=none"]);
        assert_eq!(results.len(), RIGHT.len(), "{way}");
        for ((claim, verdict, why), (name, right)) in results.iter().zip(RIGHT) {
            assert_eq!(claim, name);
            assert!(verdict == "unknown" || verdict == right, "{way}: {claim} {verdict}");
            if verdict == "unknown" {
                assert!(why.contains(reason), "{way}: {claim}: {why}");
            }
        }
        // Only a solver can prove it.
        assert_eq!(results[0].1, "unknown", "{way}");
    }
}

#[test]
fn another_solver_answers_for_one_that_fails() {
    needs_z3!();
    for (way, _) in TROUBLES.iter().filter(|(way, _)| !["hangs", "never reads"].contains(way)) {
        let results = check(&trouble(way), &["yices=./solver"]);
        for ((claim, verdict, why), (_, right)) in results.iter().zip(RIGHT) {
            assert_eq!(verdict, right, "{way}: {claim}: {why}");
        }
    }
}

/// Sums over many variables: each step makes the solver's formulas larger.
fn large_sums() -> String {
    let n = 400;
    let each = |f: &dyn Fn(usize) -> String, between: &str| {
        (0..n).map(f).collect::<Vec<_>>().join(between)
    };
    format!(
        "spec Large\n{}\nstart {{ {} }}\nstep s {{ {} }}\nalways p: x0 != 0 - 5\n",
        each(&|i| format!("var x{i}: int"), "\n"),
        each(&|i| format!("x{i} >= {i}"), ", "),
        each(&|i| format!("x{i} := x{i} + x{}", (i + 1) % n), ", "),
    )
}

#[test]
fn a_solver_that_would_use_too_much_memory_is_stopped() {
    needs_z3!();
    let folder = Folder::with("large.sts", large_sums());
    let mut command =
        folder.command(&["check", "--checks", "none", "--engine", "bmc", "--memory", "64"]);
    command.args(["--timeout", "60", "--solver", "yices=none", "large.sts"]);
    command.env("PATH", "").env("GANDER_CVC5", "none").stdout(Stdio::piped());
    let output = within(Duration::from_secs(120), command.spawn().unwrap());
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{out}");
    // The limit is one for gander and the solver: whoever notices it first says so.
    let reasons = ["the solver ran out of memory", "stopped at the memory limit of 64 MB"];
    assert!(out.starts_with("unknown  p") && reasons.iter().any(|r| out.contains(r)), "{out}");
}

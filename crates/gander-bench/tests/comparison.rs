//! Comparisons of scripts with fixed answers.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use gander_bench::comparison::formats::{csv, svg, table};
use gander_bench::comparison::{Comparison, ComparisonResult, Contender, run};
use gander_bench::results::record::Ending;
use gander_runtime::Cancellation;

/// A `gander` that decides by the engine: `good` proves, `liar` says the contrary, `tool` claims,
/// `slow` hangs, `broken` dies.
const GANDER: &str = r#"#!/bin/sh
result() { echo "{\"results\":[{\"claim\":\"p\",\"verdict\":\"$1\",\"engine\":\"e\",\"seconds\":0.1,$2}],\"diagnostics\":[]}"; }
known='"explored_through":null,"why":null'
case "$*" in
  *liar*) result fails "$known"; exit 1 ;;
  *tool*) result unknown "$known,\"claimed\":[{\"tool\":\"t\",\"says\":\"holds\"}]"; exit 3 ;;
  *slow*) sleep 1000 ;;
  *broken*) kill -SEGV $$ ;;
  *) result holds "$known" ;;
esac
"#;

fn folder(name: &str) -> PathBuf {
    let path =
        std::env::temp_dir().join(format!("gander-comparison-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn comparison(folder: &Path, contenders: &[&str]) -> Comparison {
    // Another process writes the program: a file that is open for writing cannot be executed.
    std::fs::write(folder.join("text"), GANDER).unwrap();
    let made = Command::new("install")
        .args(["-m", "755"])
        .arg(folder.join("text"))
        .arg(folder.join("gander"))
        .status();
    assert!(made.unwrap().success());
    std::fs::write(folder.join("model.sts"), "spec S").unwrap();
    let contender =
        |label: &&str| Contender { label: label.to_string(), arguments: vec![label.to_string()] };
    Comparison {
        files: vec![folder.join("model.sts")],
        contenders: contenders.iter().map(contender).collect(),
        program: folder.join("gander"),
        version: "1".to_string(),
        time: Duration::from_secs(1),
        memory_mb: 1000,
        rounds: 2,
        workers: 1,
        folder: folder.join("results"),
    }
}

fn run_all(comparison: &Comparison) -> ComparisonResult {
    run(comparison, &Cancellation::new(), &|_, _| {}).unwrap()
}

#[test]
fn every_contender_is_measured_and_contradictions_are_reported() {
    let folder = folder("all");
    let mut comparison = comparison(&folder, &["good", "tool", "liar", "slow", "broken"]);
    comparison.time = Duration::from_secs(5);
    let result = run_all(&comparison);
    let row: Vec<_> = result.cells[0].iter().map(|c| c.as_ref().unwrap()).collect();
    assert_eq!(
        row.iter().map(|c| (c.decided(), c.answered())).collect::<Vec<_>>(),
        [(1, 1), (0, 1), (1, 1), (0, 0), (0, 0)]
    );
    let endings: Vec<Ending> = row.iter().map(|c| c.ending).collect();
    let finished = Ending::Finished;
    assert_eq!(endings, [finished, finished, finished, Ending::Timeout, Ending::Crashed]);
    let reported = result.disagreements();
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(
        reported[0].ends_with("`p` holds according to good, fails according to liar"),
        "{reported:?}"
    );
    let text = table(&result);
    assert!(text.contains("time") && text.contains("crash") && text.contains('?'), "{text}");
    assert_eq!(csv(&result).unwrap().lines().count(), 6);
    assert!(svg(&result).contains("broken"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn jobs_in_the_results_folder_are_not_run_again() {
    let folder = folder("again");
    let comparison = comparison(&folder, &["good"]);
    assert_eq!(run_all(&comparison), run_all(&comparison));
    let kept = std::fs::read_to_string(folder.join("results/results.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 2);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_missing_file_is_an_error() {
    let folder = folder("missing");
    let mut comparison = comparison(&folder, &["good"]);
    comparison.files.push(folder.join("missing.sts"));
    let problem = run(&comparison, &Cancellation::new(), &|_, _| {}).unwrap_err();
    assert!(problem.contains("missing.sts"), "{problem}");
    std::fs::remove_dir_all(folder).unwrap();
}

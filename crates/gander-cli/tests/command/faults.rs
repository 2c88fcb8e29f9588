//! Faults on purpose: one start of a solver, one write or read of a pipe, or one look at the memory
//! limit goes wrong. Every verdict is then the right one or unknown; nothing panics, hangs or is
//! left behind.
//!
//! `GANDER_FAULTS=all` tries every point of every run; otherwise some of them are tried.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Folder, have_z3, skip, within};

/// Far longer than any run takes.
const FAR: Duration = Duration::from_secs(120);

/// Which point of a run is hit, if not every one is tried.
const SAMPLE: [u64; 5] = [1, 2, 4, 9, 25];

/// One model for most languages, with claims that need solvers.
const MODELS: [&str; 4] = [
    "sts/fails/bank_account.sts",
    "lustre/fails/condact.lus",
    "vmt/holds/counter.vmt",
    "smv/fails/choice.smv",
];

fn model(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").join(name);
    path.is_file().then_some(path)
}

/// What a run said: its exit code, the verdict of each claim, standard error, and whether the fault
/// happened.
struct Said {
    code: Option<i32>,
    verdicts: Vec<(String, String)>,
    errors: String,
    happened: bool,
}

fn check(file: &Path, fault: Option<&str>) -> Said {
    let folder = Folder::new();
    let mut command = folder.command(&[
        "check",
        "--json",
        "-t",
        "60",
        "--save-evidence",
        "evidence",
        "--cache",
        "cache",
    ]);
    command.arg(file).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Not in a folder that the run itself looks at.
    let log = folder.path.join("fault.log");
    if let Some(fault) = fault {
        command.env("GANDER_FAULT", fault).env("GANDER_FAULT_LOG", &log);
    }
    let output = within(FAR, command.spawn().unwrap());
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let json: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{fault:?} {}: {e}: {errors}", file.display()));
    let text = |v: &Value| v.as_str().unwrap_or_default().to_string();
    let results = json["results"].as_array().cloned().unwrap_or_default();
    let verdicts = results.iter().map(|r| (text(&r["claim"]), text(&r["verdict"]))).collect();
    // Whatever was saved is whole.
    for place in ["evidence", "cache"] {
        let Ok(entries) = std::fs::read_dir(folder.path.join(place)) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let whole = serde_json::from_slice::<Value>(&std::fs::read(&path).unwrap()).is_ok();
            assert!(whole, "{fault:?} {}: {} is half written", file.display(), path.display());
        }
    }
    Said { code: output.status.code(), verdicts, errors, happened: log.exists() }
}

/// Lets one operation of this kind go wrong, at each point in turn.
fn inject(kind: &str) {
    if !cfg!(debug_assertions) {
        return skip(kind, "faults are injected into debug builds only");
    }
    if !have_z3(kind) {
        return;
    }
    let all = std::env::var("GANDER_FAULTS").is_ok_and(|v| v == "all");
    let mut happened = 0;
    for name in MODELS {
        let Some(file) = model(name) else { panic!("there is no {name}") };
        let right = check(&file, None);
        assert!(
            matches!(right.code, Some(0 | 1)) && !right.verdicts.is_empty(),
            "{name}: {}",
            right.errors
        );
        let points: Vec<u64> = if all { (1..2000).collect() } else { SAMPLE.to_vec() };
        for n in points {
            let fault = format!("{kind}:{n}");
            let said = check(&file, Some(&fault));
            let about = format!("{name} with {fault}: exit {:?}, {}", said.code, said.errors);
            assert!(matches!(said.code, Some(0..=3)), "{about}");
            assert!(!said.errors.contains("panicked"), "{about}");
            for (claim, verdict) in &said.verdicts {
                let expected =
                    right.verdicts.iter().find(|(c, _)| c == claim).map(|(_, v)| v.as_str());
                // A claim that was unknown may be decided by luck: then there is nothing to compare
                // with.
                let same =
                    verdict == "unknown" || expected.is_none_or(|e| e == "unknown" || e == verdict);
                assert!(same, "{about}: {claim} {verdict}, not {expected:?}");
            }
            happened += u32::from(said.happened);
            if !said.happened {
                break;
            }
        }
    }
    assert!(happened > 0, "no fault of the kind {kind} ever happened");
}

#[test]
fn a_solver_that_does_not_start_costs_no_wrong_verdict() {
    inject("spawn");
}

#[test]
fn a_pipe_that_breaks_while_it_is_written_costs_no_wrong_verdict() {
    inject("pipe-write");
}

#[test]
fn a_pipe_that_ends_early_costs_no_wrong_verdict() {
    inject("pipe-read");
}

#[test]
fn half_an_answer_costs_no_wrong_verdict() {
    inject("pipe-short");
}

#[test]
fn a_garbled_answer_costs_no_wrong_verdict() {
    inject("pipe-garble");
}

#[test]
fn a_memory_limit_that_is_reached_costs_no_wrong_verdict() {
    inject("memory");
}

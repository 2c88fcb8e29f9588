//! `gander-fuzz TARGET [--seconds N] [--seed S]`: runs a fuzz target and writes findings to
//! `fuzz-findings/`.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use gander_fuzz::{Budget, Tally, linear, proofs, source, terms};
use gander_lang::LANGUAGES;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str, default: u64| {
        args.iter()
            .position(|a| a == name)
            .and_then(|i| args.get(i + 1)?.parse().ok())
            .unwrap_or(default)
    };
    let budget = Budget::Time(Duration::from_secs(number("--seconds", 60)));
    let seed = number("--seed", 1);
    let tally = match args.first().map(String::as_str) {
        Some("terms") => terms::run(&terms::Plan::of_this_machine(), seed, budget),
        Some("linear") => {
            let (tally, counts) = linear::run(&linear::Plan::of_this_machine(), seed, budget);
            println!("{counts:?}");
            tally
        }
        Some("proofs") => {
            let (tally, counts) =
                proofs::run(&gander_smt::Solvers::from_environment(), seed, budget);
            println!("{counts:?}");
            tally
        }
        target => match LANGUAGES.iter().find(|language| Some(language.name) == target) {
            Some(language) => source::run(language, &source::seeds(language), seed, budget),
            None => {
                let languages: Vec<&str> = LANGUAGES.iter().map(|language| language.name).collect();
                eprintln!(
                    "usage: gander-fuzz terms|linear|proofs|{} [--seconds N] [--seed S]",
                    languages.join("|")
                );
                return ExitCode::from(2);
            }
        },
    };
    report(&args[0], seed, &tally)
}

fn report(target: &str, seed: u64, tally: &Tally) -> ExitCode {
    println!(
        "{target}, seed {seed}: {} rounds, {} deep, {} kept",
        tally.rounds, tally.deep, tally.kept
    );
    for s in &tally.skipped {
        println!("skipped: {s}");
    }
    let folder = Path::new("fuzz-findings");
    if let Some((time, input)) = &tally.slowest {
        let path = folder.join(format!("{target}-{seed}-slowest.txt"));
        let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, input));
        let place =
            if written.is_ok() { path.display().to_string() } else { "not written".to_string() };
        println!("slowest: {:.2} s, {} bytes ({place})", time.as_secs_f64(), input.len());
    }
    for (i, finding) in tally.findings.iter().enumerate() {
        println!("FOUND: {}", finding.problem);
        let path: PathBuf = folder.join(format!("{target}-{seed}-{i}.txt"));
        let written =
            std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, &finding.input));
        match written {
            Ok(()) => println!("  input: {}", path.display()),
            Err(e) => println!("  input could not be written ({e}):\n{}", finding.input),
        }
    }
    if tally.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

//! Random scripts: their meaning by brute force against the oracle's answers about the system that
//! the front-end builds.

pub mod generate;
pub mod model;
pub mod reference;

use gander_oracle::{Limits, decide};

/// Results of comparing some scripts.
#[derive(Default, Debug)]
pub struct Tally {
    pub scripts: usize,
    pub with_processes: usize,
    pub holds: usize,
    pub fails: usize,
    /// Number of scripts with too many states, and of claims that the oracle refuses.
    pub refused: usize,
}

/// Compares the script of a seed.
pub fn compare(seed: u64, tally: &mut Tally) -> Result<(), String> {
    let script = generate::generate(seed);
    if script.processes.iter().any(|p| p.rules.is_empty()) {
        return Ok(());
    }
    let text = script.text();
    let loaded = gander_lang::script::load(&text, "random.script");
    let errors: Vec<String> =
        loaded.errors().map(|d| format!("{:?} {}", d.code, d.message)).collect();
    if !errors.is_empty() {
        return Err(format!("seed {seed} does not load: {errors:?}\n{text}"));
    }
    let Some(expected) = reference::decide(&script) else {
        tally.refused += 1;
        return Ok(());
    };
    tally.scripts += 1;
    tally.with_processes += usize::from(script.with_processes);
    for system in loaded.system.iter().chain(&loaded.others) {
        let answers = match decide(system, Limits::default()) {
            Ok(answers) => answers,
            Err(_) => {
                tally.refused += 1;
                continue;
            }
        };
        for (claim, answer) in system.claims().iter().zip(answers) {
            let Some(goal) = claim.name.strip_prefix('g').and_then(|n| n.parse::<usize>().ok())
            else {
                continue;
            };
            match answer {
                Ok(answer) if answer.holds == expected[goal] => {
                    if answer.holds {
                        tally.holds += 1;
                    } else {
                        tally.fails += 1;
                    }
                }
                Ok(answer) => {
                    let (a, b) = (answer.holds, expected[goal]);
                    return Err(format!(
                        "seed {seed}, goal g{goal}: the system says {a}, the script {b}\n{text}"
                    ));
                }
                Err(_) => tally.refused += 1,
            }
        }
    }
    Ok(())
}

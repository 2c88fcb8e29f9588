//! Compares a program that decides claims with the oracle, on random systems.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use gander_system::System;

use crate::{Answer, Effort, Limits, Settings, decide, describe, generate_with, shrink};

/// The answer of a decider to a claim: whether it holds, and the length of the run given as
/// evidence.
pub type Decision = (bool, Option<u64>);

/// A program that decides claims.
pub trait Decider {
    /// Decides the claims of a system, in order; `None` for a claim that it leaves open.
    fn decide(&mut self, system: &Arc<System>) -> Vec<Option<Decision>>;
}

/// What a decider guarantees about its runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lengths {
    /// They are shortest.
    Shortest,
    /// They need not be shortest, but none is shorter than the oracle's.
    Any,
}

/// What to compare, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Comparison {
    /// Which systems.
    pub settings: Settings,
    /// What the decider guarantees about its runs.
    pub lengths: Lengths,
    /// The effort for shrinking a system with a disagreement.
    pub effort: Effort,
    /// The comparison ends after this many disagreements.
    pub most_disagreements: usize,
}

impl Default for Comparison {
    fn default() -> Comparison {
        Comparison {
            settings: Settings::default(),
            lengths: Lengths::Shortest,
            effort: Effort::default(),
            most_disagreements: 5,
        }
    }
}

/// Results for one kind of claim.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// The oracle and the decider say that it holds.
    pub holds: u64,
    /// Both say that it fails.
    pub fails: u64,
    /// The decider left it open; the oracle says that it holds.
    pub open_holds: u64,
    /// The decider left it open; the oracle says that it fails.
    pub open_fails: u64,
    /// They disagree.
    pub disagreements: u64,
}

/// A claim about which the oracle and the decider disagree.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// `generate_with(seed, settings)` makes the system.
    pub seed: u64,
    /// The name of the claim.
    pub claim: String,
    /// The oracle's answer.
    pub expected: Answer,
    /// The decider's answer; `None` if it gave no answer for this claim.
    pub found: Option<Decision>,
    /// A small system with this claim and the same disagreement.
    pub shrunk: Arc<System>,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "seed {}, {}: expected {}, found {}",
            self.seed,
            self.claim,
            show((self.expected.holds, self.expected.length)),
            self.found.map_or_else(|| "no answer".to_string(), show)
        )?;
        write!(f, "{}", describe(&self.shrunk))
    }
}

fn show((holds, length): Decision) -> String {
    let word = if holds { "holds" } else { "fails" };
    length.map_or_else(|| word.to_string(), |n| format!("{word} by {n} steps"))
}

/// The outcome of a comparison.
#[derive(Clone, Default, Debug)]
pub struct Report {
    /// Number of systems.
    pub systems: u64,
    /// Number of claims.
    pub claims: u64,
    /// By kind of claim.
    pub by_kind: BTreeMap<&'static str, Tally>,
    /// The disagreements, in the order found.
    pub disagreements: Vec<Disagreement>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} systems, {} claims", self.systems, self.claims)?;
        for (kind, t) in &self.by_kind {
            writeln!(
                f,
                "{kind}: agreed on {} that hold and {} that fail, left open {} and {}, disagreed on {}",
                t.holds, t.fails, t.open_holds, t.open_fails, t.disagreements
            )?;
        }
        self.disagreements.iter().try_for_each(|d| write!(f, "\n{d}"))
    }
}

/// True if a decision contradicts the oracle.
fn contradicts(expected: Answer, found: Decision, lengths: Lengths) -> bool {
    if expected.holds != found.0 {
        return true;
    }
    match (expected.length, found.1, lengths) {
        (Some(shortest), Some(length), Lengths::Shortest) => shortest != length,
        (Some(shortest), Some(length), Lengths::Any) => length < shortest,
        _ => false,
    }
}

/// Compares a decider with the oracle on the systems of some seeds.
pub fn compare(seeds: Range<u64>, decider: &mut dyn Decider, comparison: Comparison) -> Report {
    let mut report = Report::default();
    for seed in seeds {
        let made = generate_with(seed, comparison.settings);
        report.systems += 1;
        let mut found = decider.decide(&made.system).into_iter();
        for (claim, &expected) in made.system.claims().iter().zip(&made.answers) {
            report.claims += 1;
            let answer = found.next();
            let tally = report.by_kind.entry(claim.kind.word()).or_default();
            let wrong = match answer {
                // The decider must give an entry for each claim.
                None => true,
                Some(None) => {
                    if expected.holds {
                        tally.open_holds += 1;
                    } else {
                        tally.open_fails += 1;
                    }
                    false
                }
                Some(Some(decision)) => {
                    let wrong = contradicts(expected, decision, comparison.lengths);
                    match (wrong, expected.holds) {
                        (true, _) => {}
                        (false, true) => tally.holds += 1,
                        (false, false) => tally.fails += 1,
                    }
                    wrong
                }
            };
            if wrong {
                tally.disagreements += 1;
                let shrunk = shrink_disagreement(&made.system, &claim.name, decider, comparison);
                report.disagreements.push(Disagreement {
                    seed,
                    claim: claim.name.clone(),
                    expected,
                    found: answer.flatten(),
                    shrunk: Arc::new(shrunk),
                });
                if report.disagreements.len() >= comparison.most_disagreements {
                    return report;
                }
            }
        }
    }
    report
}

fn shrink_disagreement(
    system: &System,
    claim: &str,
    decider: &mut dyn Decider,
    comparison: Comparison,
) -> System {
    let limits = Limits { states: 2_000, work: 2_000_000 };
    shrink(system, comparison.effort, &mut |candidate| {
        let Some(c) = candidate.claims().iter().position(|c| c.name == claim) else { return false };
        let Ok(answers) = decide(candidate, limits) else { return false };
        let Ok(expected) = answers[c] else { return false };
        match decider.decide(&Arc::new(candidate.clone())).get(c) {
            None => true,
            Some(None) => false,
            Some(Some(found)) => contradicts(expected, *found, comparison.lengths),
        }
    })
}

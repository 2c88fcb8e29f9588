//! What is found on random systems is accepted by the checker, and is what the oracle says.

use std::sync::Arc;

use gander_certify::{CheckLimits, Checker};
use gander_oracle::{Settings, generate_with};
use gander_runtime::Cancellation;
use gander_smt::Solvers;
use gander_system::passes::{DecidingRuns, Finding};
use gander_system::{ClaimId, Evidence, Rounds, System, Verdict};

use super::super::strategies::Found;
use super::GreatestFixpoint;

/// Whether a run of the kind asked for exists, with what shows it.
fn followed(
    system: &Arc<System>,
    claim: ClaimId,
    asked: &DecidingRuns,
) -> Option<(bool, Evidence)> {
    let mut eg = GreatestFixpoint::new(system, claim, asked.clone())?;
    for _ in 0..20 {
        match eg.advance(&Cancellation::new()) {
            Found::More => {}
            Found::Run(evidence) => return Some((true, evidence)),
            Found::Finite(rounds) if !asked.finite => {
                return Some((false, Evidence::NoSuchRun { stuck: None, rounds }));
            }
            Found::Finite(_) | Found::NotStuck(_) | Found::Nothing(_) => return None,
        }
    }
    None
}

fn verdict(asked: &DecidingRuns, exists: bool, evidence: Evidence) -> Verdict {
    match (&asked.finding, exists) {
        (Finding::Shows, true) | (Finding::Breaks, false) => Verdict::Holds(evidence),
        (Finding::Shows, false) | (Finding::Breaks, true) => Verdict::Fails(evidence),
    }
}

#[test]
fn evidence_for_and_against_eg_is_certified() {
    let solvers = Arc::new(Solvers::from_environment());
    let mut checker = Checker::new(&solvers, CheckLimits::default());
    let (mut runs, mut bounds, mut rejected) = (0, 0, 0);
    for seed in 0..400 {
        let made = generate_with(seed, Settings::few_states().linear());
        let system = Arc::new(made.system);
        for (i, claim) in system.claims().iter().enumerate() {
            let Some(asked) = DecidingRuns::of(&claim.kind) else { continue };
            let Some((exists, evidence)) = followed(&system, ClaimId::from(i), &asked) else {
                continue;
            };
            let shorter = match &evidence {
                Evidence::NoSuchRun { rounds: Rounds::AtMost { k, proof }, .. } if *k > 0 => {
                    Some(Evidence::NoSuchRun {
                        stuck: None,
                        rounds: Rounds::AtMost { k: k - 1, proof: proof.clone() },
                    })
                }
                _ => None,
            };
            let verdict_found = verdict(&asked, exists, evidence);
            let holds = matches!(verdict_found, Verdict::Holds(_));
            assert_eq!(holds, made.answers[i].holds, "seed {seed}, {}", claim.name);
            checker
                .check(&system, ClaimId::from(i), &verdict_found)
                .unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
            if exists {
                runs += 1;
            } else {
                bounds += 1;
            }
            // A bound that is too small is no evidence.
            if let Some(shorter) = shorter {
                rejected += usize::from(
                    checker
                        .check(&system, ClaimId::from(i), &verdict(&asked, false, shorter))
                        .is_err(),
                );
            }
        }
    }
    assert!(
        runs > 20 && bounds > 3 && rejected > 1,
        "{runs} runs, {bounds} bounds, {rejected} rejected"
    );
}

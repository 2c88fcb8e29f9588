//! Passes keep the oracle's answers.

use std::collections::BTreeMap;

use gander_oracle::{Answer, GeneratedSystem, Limits, Settings, decide, describe, generate_with};
use gander_system::passes::{chain, flatten, recover_control};
use gander_system::{Claim, ClaimId, ClaimKind, Goal, Structure, System};

/// The oracle's answers to the claims of a system, by name; refused claims are omitted.
fn answers(system: &System) -> BTreeMap<String, Answer> {
    let Ok(all) = decide(system, Limits::default()) else { return BTreeMap::new() };
    system.claims().iter().zip(all).filter_map(|(c, a)| Some((c.name.clone(), a.ok()?))).collect()
}

/// Compares the answers on every claim that both systems have; returns their number.
fn same(pass: &str, made: &GeneratedSystem, new: &System) -> usize {
    let found = answers(new);
    let mut compared = 0;
    for (claim, expected) in made.system.claims().iter().zip(&made.answers) {
        if let Some(answer) = found.get(&claim.name) {
            compared += 1;
            if answer != expected {
                let (old, new) = (describe(&made.system), describe(new));
                panic!(
                    "{pass}, seed {}, {}: {expected:?} became {answer:?}\n{old}\nbecame\n{new}",
                    made.seed, claim.name
                );
            }
        }
    }
    compared
}

fn systems(settings: Settings, count: u64) -> impl Iterator<Item = GeneratedSystem> {
    (0..count).map(move |seed| generate_with(seed, settings))
}

#[test]
fn flattening_keeps_the_answers() {
    let mut compared = 0;
    for made in systems(Settings::few_states(), 400) {
        compared += same("flatten", &made, &flatten(&made.system).unwrap().system);
    }
    assert!(compared > 2_000, "{compared}");
}

/// A system whose node is a variable, as in files of other tools, gets its nodes back.
#[test]
fn recovering_control_keeps_the_answers() {
    let (mut compared, mut recovered) = (0, 0);
    for settings in [Settings::few_states(), Settings::few_states().composed()] {
        for made in systems(settings, 300) {
            let flat = flatten(&made.system).unwrap().system;
            let about_states = |c: &&Claim| match &c.kind {
                ClaimKind::Always(_) => true,
                ClaimKind::Reachable(goals) => matches!(goals[..], [Goal::State(_)]),
                _ => false,
            };
            let claims = flat.claims().iter().filter(about_states).cloned().collect();
            let flat =
                flat.with_structure(Structure::Foreign).with_claims(claims).without_fairness();
            if let Some(new) = recover_control(&flat, &gander_runtime::Cancellation::new()).unwrap()
            {
                recovered += 1;
                compared += same("recover", &made, &new.system);
            }
        }
    }
    assert!(recovered > 100 && compared > 500, "{recovered} systems, {compared} claims");
}

#[test]
fn chains_reduced_to_reachability_keep_the_answers() {
    let (mut hold, mut fail) = (0, 0);
    for made in systems(Settings::few_states(), 600) {
        for (i, (claim, expected)) in made.system.claims().iter().zip(&made.answers).enumerate() {
            let ClaimKind::Reachable(goals) = &claim.kind else { continue };
            let new = chain(&made.system, ClaimId::from(i)).unwrap().system;
            let found = answers(&new)[&claim.name];
            // The pass adds an internal step for each state goal.
            let states = goals.iter().filter(|g| matches!(g, Goal::State(_))).count() as u64;
            let lengths = (expected.length.map(|n| n + states), found.length);
            if found.holds != expected.holds || lengths.0 != lengths.1 {
                panic!(
                    "seed {}, {}: {expected:?} became {found:?}\n{}",
                    made.seed,
                    claim.name,
                    describe(&made.system)
                );
            }
            if expected.holds { hold += 1 } else { fail += 1 }
        }
    }
    assert!(hold > 100 && fail > 100, "{hold} hold, {fail} fail");
}

//! A whole check, with all engines, never contradicts brute force on random models of any language;
//! `examples/random_verdicts.rs` compares more.

mod verdicts;

use gander_oracle::languages::Language;
use verdicts::{Tally, compare};

fn verdicts_agree(language: Language) {
    let mut tally = Tally::default();
    for seed in 0..25 {
        if let Err(message) = compare(language, seed, 20, &mut tally) {
            panic!("{message}");
        }
    }
    assert!(tally.models >= 20, "{tally:?}");
    // Without a solver most claims may stay unknown; nothing may be wrong.
    assert!(tally.holds + tally.fails + tally.unknown > 20, "{tally:?}");
}

#[test]
fn verdicts_on_smv_agree_with_brute_force() {
    verdicts_agree(Language::Smv);
}

#[test]
fn verdicts_on_btor2_agree_with_brute_force() {
    verdicts_agree(Language::Btor2);
}

#[test]
fn verdicts_on_vmt_agree_with_brute_force() {
    verdicts_agree(Language::Vmt);
}

#[test]
fn verdicts_on_mcmt_agree_with_brute_force() {
    verdicts_agree(Language::Mcmt);
}

#[test]
fn verdicts_on_horn_clauses_agree_with_brute_force() {
    verdicts_agree(Language::Horn);
}

#[test]
fn verdicts_on_sts_agree_with_brute_force() {
    verdicts_agree(Language::Sts);
}

#[test]
fn verdicts_on_lustre_agree_with_brute_force() {
    verdicts_agree(Language::Lustre);
}

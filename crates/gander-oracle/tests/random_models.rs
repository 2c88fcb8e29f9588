//! Front-ends agree with the definitions of their languages, on random models;
//! `examples/random_models.rs` compares more of them.

mod languages;

use gander_oracle::languages::Language;
use languages::{Tally, compare};

fn systems_agree(language: Language) {
    let mut tally = Tally::default();
    for seed in 0..300 {
        if let Err(message) = compare(language, seed, &mut tally) {
            panic!("{message}");
        }
    }
    let decided = tally.holds + tally.fails;
    assert!(tally.models > 250 && tally.holds > 60 && tally.fails > 60, "{tally:?}");
    assert!(tally.refused * 3 < decided, "{tally:?}");
}

#[test]
fn systems_of_smv_models_have_the_answers_of_the_interpreter() {
    systems_agree(Language::Smv);
}

#[test]
fn systems_of_btor2_models_have_the_answers_of_the_interpreter() {
    systems_agree(Language::Btor2);
}

#[test]
fn systems_of_vmt_models_have_the_answers_of_the_interpreter() {
    systems_agree(Language::Vmt);
}

#[test]
fn systems_of_mcmt_models_have_the_answers_of_the_interpreter() {
    systems_agree(Language::Mcmt);
}

#[test]
fn systems_of_horn_clauses_have_the_answers_of_the_interpreter() {
    systems_agree(Language::Horn);
}

#[test]
fn systems_of_sts_models_have_the_answers_of_the_interpreter() {
    systems_agree(Language::Sts);
}

#[test]
fn systems_of_lustre_programs_have_the_answers_of_the_interpreter() {
    systems_agree(Language::Lustre);
}

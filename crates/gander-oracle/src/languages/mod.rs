//! Random models in each input language, with the expected answers to their claims.
//!
//! Every language has a generator of small models, a printer, and an interpreter that decides every
//! claim by enumerating all states. The interpreters are deliberately independent: they were
//! written from the definitions of the languages (the NuSMV manual, the BTOR2 paper, VMT-LIB,
//! docs/lustre.md, docs/language.md, docs/semantics.md) and share no code with the front-ends, the
//! evaluator or the engines. [`model`] makes the model of a seed. `examples/random_models.rs`
//! compares gander's verdicts with the answers.

mod btor2;
mod expression;
mod graph;
mod horn;
mod lustre;
mod mutate;
mod random_expression;
mod relations;
mod smt;
mod smv;
mod sts;

pub use mutate::mutate;

use crate::random::Random;

/// Limits the states that an interpreter enumerates.
const LIMIT: usize = 2_000;

/// An input language.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Language {
    /// SMV (NuSMV).
    Smv,
    /// BTOR2.
    Btor2,
    /// VMT-LIB.
    Vmt,
    /// MCMT (sally).
    Mcmt,
    /// Horn clauses.
    Horn,
    /// gander's own language.
    Sts,
    /// Lustre.
    Lustre,
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 7] = [
        Language::Smv,
        Language::Btor2,
        Language::Vmt,
        Language::Mcmt,
        Language::Horn,
        Language::Sts,
        Language::Lustre,
    ];

    /// The extension of its files, which is also its name.
    pub fn extension(self) -> &'static str {
        match self {
            Language::Smv => "smv",
            Language::Btor2 => "btor2",
            Language::Vmt => "vmt",
            Language::Mcmt => "mcmt",
            Language::Horn => "smt2",
            Language::Sts => "sts",
            Language::Lustre => "lus",
        }
    }
}

/// The expected verdict of a claim.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Expected {
    /// It holds.
    Holds,
    /// It fails.
    Fails,
    /// The system has no run at all: the claim must not count as proved.
    NoRun,
    /// Two readings of the language differ: the claim must be neither proved nor refuted.
    Ambiguous,
    /// The language does not say.
    Unspecified,
}

impl Expected {
    fn of(holds: bool) -> Expected {
        if holds { Expected::Holds } else { Expected::Fails }
    }

    /// True if a verdict (`holds`, `fails`, `unknown`) agrees; `unknown` always does.
    pub fn agrees(self, verdict: &str) -> bool {
        match (self, verdict) {
            (_, "unknown") | (Expected::Unspecified, _) => true,
            (Expected::Holds, v) => v == "holds",
            (Expected::Fails, v) => v == "fails",
            (Expected::NoRun, v) => v != "holds",
            (Expected::Ambiguous, _) => false,
        }
    }
}

/// A model with the answers to its claims.
#[derive(Clone, Debug)]
pub struct Model {
    /// The text.
    pub text: String,
    /// The claims by name, in the order of the text.
    pub claims: Vec<(String, Expected)>,
}

/// The model of a seed; `None` if it has too many states.
pub fn model(language: Language, seed: u64) -> Option<Model> {
    let mut random = Random::new(seed, language as u64 + 1);
    match language {
        Language::Smv => smv::model(&mut random),
        Language::Btor2 => btor2::model(&mut random),
        Language::Vmt | Language::Mcmt => relations::model(&mut random, language),
        Language::Horn => horn::model(&mut random),
        Language::Sts => sts::model(&mut random),
        Language::Lustre => lustre::model(&mut random),
    }
}

/// Reads a BTOR2 text strictly, by the rules of btor2tools. Returns an error, or the claims with
/// their answers ([`Expected::Unspecified`] if there are too many states).
pub fn read_btor2(text: &str) -> Result<Vec<(String, Expected)>, String> {
    btor2::read(text)
}

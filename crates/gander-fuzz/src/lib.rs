//! Fuzz targets.
//!
//! - [`source`]: mutated `.sts` texts through lexer, parser, formatter, checker and lowering. Nothing may panic; the
//!   tree's text is the source; formatting is idempotent and keeps the meaning; spans lie within the text. Mutated `.lus` texts through lexer, parser,
//!   elaboration and lowering; what loads is run for a few instants, by evaluation and as formulas.
//! - [`terms`]: random terms of every operator under random values: the evaluator, the simplifier, the text form and
//!   every solver found must agree.
//! - [`linear`]: random linear formulas: the refuter of `gander-linear` against every solver and the evaluator.
//! - [`proofs`]: random formulas of every sort: the clausal proofs of `gander-proof` against every solver and the evaluator.
//!
//! All are deterministic in their seed, run for a bounded number of rounds in the tests, and for as long as wanted with
//! `cargo run --release -p gander-fuzz -- TARGET --seconds N`.

pub mod linear;
pub mod proofs;
pub mod source;
mod streams;
pub mod terms;
mod words;

pub use gander_term::random::Random;

use std::time::{Duration, Instant};

/// How long a target runs.
#[derive(Clone, Copy, Debug)]
pub enum Budget {
    /// This many rounds.
    Rounds(u64),
    /// This long.
    Time(Duration),
}

impl Budget {
    /// Counts rounds until the budget is used up.
    pub fn rounds(self) -> impl Iterator<Item = u64> {
        let begin = Instant::now();
        (0u64..).take_while(move |&n| match self {
            Budget::Rounds(most) => n < most,
            Budget::Time(most) => begin.elapsed() < most,
        })
    }
}

/// Something that went wrong, with what reproduces it.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What was expected and did not happen.
    pub problem: String,
    /// The input.
    pub input: String,
}

/// What a run of a target did.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Inputs tried.
    pub rounds: u64,
    /// Inputs that got all the way through (a system was built; a value was compared with a solver).
    pub deep: u64,
    /// Inputs that showed something new and were kept.
    pub kept: u64,
    /// What went wrong; at most a few.
    pub findings: Vec<Finding>,
    /// The input that took longest; a run looked at by a person shows what is not linear.
    pub slowest: Option<(Duration, String)>,
    /// What could not be tried, and why.
    pub skipped: Vec<String>,
}

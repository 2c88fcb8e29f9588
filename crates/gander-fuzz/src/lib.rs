//! Fuzz targets: random inputs for the front-ends, the evaluator, the solvers' interface and the
//! proof-producing procedures.
//!
//! - [`source`]: mutated texts of every input language through the whole front-end. Nothing may
//!   panic; the text of the tree is the source; formatting is idempotent and keeps the meaning;
//!   spans lie within the text. Lustre programs that load are also run for a few instants, by
//!   evaluation and as formulas.
//! - [`terms`]: random terms of every operator with random values: the evaluator, the simplifier,
//!   the text form and every available solver must agree.
//! - [`linear`]: random linear formulas: the results of `gander-linear` against every solver and
//!   the evaluator.
//! - [`proofs`]: random formulas of every sort: the results of `gander-proof` against every solver
//!   and the evaluator.
//!
//! Every target is deterministic in its seed. Tests run a bounded number of rounds; `cargo run
//! --release -p gander-fuzz -- TARGET --seconds N` runs for a given time.
//!
//! A [`Budget`] bounds a run:
//!
//! ```
//! use gander_fuzz::{Budget, source};
//!
//! let sts = gander_lang::LANGUAGES.iter().find(|l| l.name == "sts").unwrap();
//! let seeds = ["spec S\nvar x: int\nstart { x == 0 }\n".to_string()];
//! let tally = source::run(sts, &seeds, 1, Budget::Rounds(20));
//! assert_eq!(tally.rounds, 20);
//! assert!(tally.findings.is_empty());
//! ```

pub mod linear;
pub mod proofs;
pub mod source;
mod streams;
pub mod terms;
mod words;

pub use gander_runtime::Random;

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

/// A violated property, with the input that reproduces it.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The property that was violated.
    pub problem: String,
    /// The input.
    pub input: String,
}

/// The results of a run of a target.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Number of inputs.
    pub rounds: u64,
    /// Number of inputs that reached the last stage (a system was built; a value was compared with
    /// a solver).
    pub deep: u64,
    /// Number of inputs with new features that were kept as seeds.
    pub kept: u64,
    /// The findings; at most a few.
    pub findings: Vec<Finding>,
    /// The slowest input, to find super-linear behaviour.
    pub slowest: Option<(Duration, String)>,
    /// What was skipped, and why.
    pub skipped: Vec<String>,
}

//! A decision procedure for small formulas over bool, int and real: a refutation with a
//! certificate, or a model; no solver is needed.
//!
//! *Definition.* A [`Proof`] that a formula has no solution is a tree. Inner nodes split cases: the
//! disjuncts of a fact, a condition that is true or false, an int that is at most `k` or at least
//! `k + 1`. A leaf shows that the facts of its case are contradictory: a formula holds and fails,
//! or a sum of linear rows with non-negative rational factors says that a negative constant is not
//! negative (Farkas' lemma). Rows over ints may be rounded (Chvátal and Gomory). Terms that are not
//! linear are treated as arbitrary values of their sort, so a refutation does not depend on their
//! meaning.
//!
//! *Invariant.* Search and check are separate. [`verify`] does not depend on the search: it builds
//! the cases and rows from the formula, in exact arithmetic (`facts.rs`, `rows.rs`, `verify.rs`).
//! [`decide`] returns a refutation only if [`verify`] accepts it, and a model only if the formula
//! evaluates to true in it. The search (`search.rs`) is a semantic tableau that gives the rows of a
//! case to the simplex algorithm of Dutertre and de Moura ("A fast linear-arithmetic solver for
//! DPLL(T)", CAV 2006; `simplex.rs`); numbers of more than 127 bits end it.
//!
//! The verifier has its own linear forms and exact arithmetic, although `gander-proof` and the
//! engines have some too. This duplication is deliberate: what `verify` accepts rests on this crate
//! alone.
//!
//! Work is counted, not timed ([`Budget`]), so answers do not depend on the machine.
//!
//! ```
//! use gander_linear::{Answer, Budget, decide, verify};
//! use gander_term::{Pool, Sort, parse_term};
//!
//! let mut pool = Pool::new();
//! pool.declare("x", Sort::Int)?;
//! // No int is both above 1 and, doubled, below 4.
//! let formula = parse_term(&mut pool, "x > 1 and 2 * x < 4")?;
//! let (answer, _work) = decide(&pool, formula, Budget::SMALL);
//! let Answer::Refuted(proof) = answer else { panic!("{answer:?}") };
//! assert!(verify(&pool, formula, &proof).is_ok());
//!
//! // The proof is about this formula only.
//! let other = parse_term(&mut pool, "x > 1 and 2 * x < 5")?;
//! assert!(verify(&pool, other, &proof).is_err());
//! assert!(matches!(decide(&pool, other, Budget::SMALL).0, Answer::Model(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod facts;
mod proof;
mod ratio;
mod rows;
mod search;
mod simplex;
mod verify;

use gander_term::{Pool, SymbolId, TermId, Value};

pub use proof::{Fact, Line, Proof};
pub use ratio::{DeltaRational, Ratio};
pub use verify::{Flaw, verify};

/// The limits of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// The number of terms of the formula; larger formulas are not tried.
    pub terms: usize,
    /// The number of operations on numbers, with a surcharge for every fact and case. A million
    /// take about 20 ms.
    pub work: u64,
}

impl Budget {
    /// No search.
    pub const NONE: Budget = Budget { terms: 0, work: 0 };

    /// For formulas that a solver decides in less than a millisecond.
    pub const SMALL: Budget = Budget { terms: 256, work: 20_000 };
}

/// The answer about a formula.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// It has no solution; [`verify`] accepts the proof.
    Refuted(Proof),
    /// It evaluates to true with these values of its free symbols.
    Model(Vec<(SymbolId, Value)>),
    /// Not decided within the budget.
    Unknown,
}

/// Decides a formula within a budget. Also returns the work that was done.
pub fn decide(pool: &Pool, formula: TermId, budget: Budget) -> (Answer, u64) {
    let (found, work) = search::search(pool, formula, budget);
    let answer = match found {
        Answer::Refuted(proof) if verify(pool, formula, &proof).is_err() => Answer::Unknown,
        found => found,
    };
    (answer, work)
}

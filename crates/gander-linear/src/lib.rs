//! Small formulas over bool, int and real are refuted here, with a certificate, or given a model; no solver is needed.
//!
//! *Definition.* A [`Proof`] that a formula has no solution is a tree. Inner nodes distinguish cases (the disjuncts of a
//! fact, a condition that holds or not, an int that is at most `k` or at least `k + 1`); a leaf shows that the facts of
//! its case exclude each other: one holds and fails, or a sum of linear rows with non-negative rational factors says that
//! a negative constant is not negative (Farkas' lemma). Rows about ints may be rounded on the way (Chvátal and Gomory).
//! Terms that are not linear stand for any value of their sort, so a refutation is one whatever they mean.
//!
//! *Invariant.* Finding and checking are apart. [`verify`] knows nothing of the search: it builds the cases and rows from
//! the formula itself, in exact arithmetic (`facts.rs`, `rows.rs`, `verify.rs`). [`decide`] gives out a refutation only if
//! [`verify`] accepts it, and a model only if the evaluator finds the formula true in it. The search (`search.rs`) splits cases as a
//! semantic tableau does and asks the simplex algorithm of Dutertre and de Moura ("A fast linear-arithmetic solver for
//! DPLL(T)", CAV 2006; `simplex.rs`) about the rows of a case; numbers of more than 127 bits end it.
//!
//! What it may cost is counted, not timed ([`Budget`]), so that answers do not depend on the machine.

mod facts;
mod proof;
mod ratio;
mod rows;
mod search;
mod simplex;
mod verify;

use gander_term::{Pool, SymbolId, TermId, Value};

pub use proof::{Fact, Line, Proof};
pub use ratio::{Near, Ratio};
pub use verify::{Flaw, verify};

/// What a search may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Terms of the formula; larger ones are not looked at.
    pub terms: usize,
    /// Operations on numbers, with a surcharge for every fact and case. A million take about 20 ms.
    pub work: u64,
}

impl Budget {
    /// Nothing is tried.
    pub const NONE: Budget = Budget { terms: 0, work: 0 };

    /// For formulas that a solver takes less than a millisecond for.
    pub const SMALL: Budget = Budget { terms: 256, work: 20_000 };
}

/// What is known of a formula.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// It has no solution; [`verify`] has accepted this.
    Refuted(Proof),
    /// It is true with these values of its free symbols, as the evaluator says.
    Model(Vec<(SymbolId, Value)>),
    /// Nothing.
    Unknown,
}

/// Decides a formula if that is easy. The second part is the work that was done.
pub fn decide(pool: &Pool, formula: TermId, budget: Budget) -> (Answer, u64) {
    let (found, work) = search::search(pool, formula, budget);
    let answer = match found {
        Answer::Refuted(proof) if verify(pool, formula, &proof).is_err() => Answer::Unknown,
        found => found,
    };
    (answer, work)
}

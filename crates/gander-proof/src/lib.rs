//! Refutation of formulas by conflict-driven clause learning modulo linear arithmetic, with a proof
//! that is verified.
//!
//! *Definition.* The [`Encoding`] of a formula is a set of clauses over propositional variables,
//! some of which are *atoms*: bounds `form <= c` or `form < c` of linear forms. Every solution of
//! the formula gives values of the variables that satisfy the clauses. Bit-vectors and enumerations
//! are encoded bit by bit; a term that is not propositional, linear or finite is treated as an
//! arbitrary value of its sort. A [`Proof`] is a list of clauses that ends with the empty one. Each
//! is either a *lemma*, which follows from the meaning of the atoms by a non-negative combination
//! of their bounds (Farkas' lemma), or follows from earlier clauses by unit propagation in the
//! order of its *hints* (as in the LRAT format; Cruz-Filipe, Heule, Hunt, Kaufmann and
//! Schneider-Kamp, CADE 2017).
//!
//! *Invariant.* Search and check are separate. [`verify`] encodes the formula again and checks
//! every step exactly; it does not depend on the search. `encode/`, `proof.rs` and `verify.rs` are
//! trusted, `search/` is not. [`decide`] returns a refutation only if [`verify`] accepts it, and a
//! model only if the formula evaluates to true in it. The search follows Eén and Sörensson
//! (MiniSat, SAT 2003) and Dutertre and de Moura (CAV 2006).
//!
//! The verifier and the encoding have their own exact arithmetic and linear forms, although
//! `gander-linear` and the engines have some too. This duplication is deliberate: what `verify`
//! accepts rests on this crate alone.
//!
//! Work is counted, not timed ([`Budget`]), so answers do not depend on the machine.
//!
//! ```
//! use gander_proof::{Answer, Budget, Proof, decide, verify};
//! use gander_term::{Pool, Sort, parse_term};
//!
//! let mut pool = Pool::new();
//! pool.declare("x", Sort::Int)?;
//! pool.declare("b", Sort::Bool)?;
//! let formula = parse_term(&mut pool, "(b -> x > 3) and (not b -> x > 5) and 2 * x < 7")?;
//! let budget = Budget { terms: 1_000, work: 1_000_000 };
//!
//! let (answer, _work) = decide(&pool, formula, budget);
//! let Answer::Refuted(proof) = answer else { panic!("{answer:?}") };
//! assert!(verify(&pool, formula, &proof).is_ok());
//! // A proof without its last step is rejected.
//! let mut shorter: Proof = proof.clone();
//! shorter.steps.pop();
//! assert!(verify(&pool, formula, &shorter).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod encode;
mod literal;
mod proof;
mod search;
mod verify;

use gander_term::{Pool, SymbolId, TermId, Value};

pub use gander_linear::Budget;

pub use encode::{Atom, Encoding};
pub use literal::Literal;
pub use proof::{Proof, Step};
pub use verify::{Flaw, verify};

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
    let Some(encoding) = Encoding::of(pool, formula, budget.terms) else {
        return (Answer::Unknown, 0);
    };
    let (found, work) = search::search(pool, formula, encoding, budget.work);
    let answer = match found {
        Answer::Refuted(proof) if verify(pool, formula, &proof).is_err() => Answer::Unknown,
        found => found,
    };
    (answer, work)
}

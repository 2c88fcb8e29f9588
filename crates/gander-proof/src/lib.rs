//! Formulas are refuted by conflict-driven clause learning modulo linear arithmetic, with a proof that is verified.
//!
//! *Definition.* The [`Encoding`] of a formula is a set of clauses over propositional variables, some of which are
//! *atoms*: bounds `form <= c` or `form < c` of linear forms. Every solution of the formula gives the variables values
//! that satisfy the clauses. Bit-vectors and enumerations are encoded bit by bit; terms that are neither that, linear
//! nor propositional stand for any value of their sort. A [`Proof`] is a list of clauses that ends with the empty one.
//! Each is a *lemma*, which the meaning of the atoms implies by a non-negative combination of their bounds (Farkas'
//! lemma), or follows from earlier clauses by unit propagation in the order that its *hints* give (as in the LRAT
//! format; Cruz-Filipe, Heule, Hunt, Kaufmann and Schneider-Kamp, CADE 2017).
//!
//! *Invariant.* Finding and checking are apart. [`verify`] encodes the formula again and checks every step exactly; it
//! knows nothing of the search. Trusted are `encode/`, `proof.rs` and `verify.rs`. [`decide`] gives out a refutation only
//! if [`verify`] accepts it, and a model only if the evaluator finds the formula true in it. The search (`search/`)
//! follows Eén and Sörensson (MiniSat, SAT 2003) and Dutertre and de Moura (CAV 2006).
//!
//! What it may cost is counted, not timed ([`Budget`]), so that answers do not depend on the machine.

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
    let Some(encoding) = Encoding::of(pool, formula, budget.terms) else { return (Answer::Unknown, 0) };
    let (found, work) = search::search(pool, formula, encoding, budget.work);
    let answer = match found {
        Answer::Refuted(proof) if verify(pool, formula, &proof).is_err() => Answer::Unknown,
        found => found,
    };
    (answer, work)
}

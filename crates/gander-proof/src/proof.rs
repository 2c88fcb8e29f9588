//! The form of a refutation; [`crate::verify`] defines its meaning.

use gander_term::RBig;

use crate::encode::Atom;
use crate::literal::Literal;

/// A clause that follows from the encoding and the clauses before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// The bounds of the negated literals, multiplied by these positive factors, add up to a
    /// contradiction.
    Lemma {
        /// The clause.
        clause: Vec<Literal>,
        /// A factor for each literal.
        factors: Vec<RBig>,
    },
    /// If all literals are false, each hint in turn is a unit clause, and the last one is violated.
    Learned {
        /// The clause.
        clause: Vec<Literal>,
        /// Numbers of clauses: those of the encoding come first, then those of the proof.
        hints: Vec<u32>,
    },
}

/// A refutation: its last clause is empty.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Proof {
    /// Variables beyond those of the encoding, each for a further bound.
    pub atoms: Vec<Atom>,
    /// The clauses.
    pub steps: Vec<Step>,
}

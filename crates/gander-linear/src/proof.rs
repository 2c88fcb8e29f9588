//! The form of a refutation; [`crate::verify`] defines its meaning.

use gander_term::{IBig, RBig, TermId};

/// A fact of a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fact {
    /// The formula is true.
    Holds(TermId),
    /// The formula is false.
    Fails(TermId),
    /// The left side of this equation between numbers is less than the right one.
    Less(TermId),
    /// The left side of this equation between numbers is greater than the right one.
    Greater(TermId),
    /// The int is at most this.
    AtMost(TermId, IBig),
    /// The int is at least this.
    AtLeast(TermId, IBig),
}

/// Why the facts of a case are contradictory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Proof {
    /// Some formula holds and fails.
    Clash,
    /// The last line is a false statement about a constant.
    Lines(Vec<Line>),
    /// The fact has alternatives, and each of them is refuted.
    Cases {
        /// One of the facts.
        of: Fact,
        /// One refutation for each alternative, in their order.
        proofs: Vec<Proof>,
    },
    /// The condition is true or false.
    Cut {
        /// Any formula.
        on: TermId,
        /// The refutation if it is true, and if it is false.
        proofs: Box<[Proof; 2]>,
    },
    /// The int is at most `at`, or at least `at + 1`.
    Branch {
        /// A term of sort int.
        on: TermId,
        /// The bound.
        at: IBig,
        /// The refutation of the first and of the second.
        proofs: Box<[Proof; 2]>,
    },
}

/// A row, that is, a linear form that is not negative, positive, or zero; lines are counted from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Line {
    /// The row of a fact that is a comparison.
    Of(Fact),
    /// An earlier line over ints, divided by the common divisor of its coefficients and rounded.
    Rounded(usize),
    /// The sum of earlier lines with factors; a negative factor is for equations only.
    Sum(Vec<(usize, RBig)>),
}

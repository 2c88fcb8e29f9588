//! Literals of cubes.

use gander_term::{Pool, RBig, Sort, TermId};

use crate::arith::linear::{LinearForm, Relation};

/// A literal of a cube.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(super) enum Literal {
    /// `form <= 0`, `form < 0` or `form == 0`; other relations do not occur.
    Number { form: LinearForm, relation: Relation },
    /// Anything else.
    Other(TermId),
}

impl Literal {
    /// `form (relation) 0`, not strict where that can be.
    pub(super) fn number(pool: &Pool, form: LinearForm, relation: Relation) -> Literal {
        let ints = form.terms.keys().all(|&t| pool.sort(t) == Sort::Int) && form.is_whole();
        if relation == Relation::Below && ints {
            let mut form = form;
            form.constant += RBig::ONE;
            return Literal::Number { form, relation: Relation::AtMost };
        }
        Literal::Number { form, relation }
    }

    /// The literal as a formula.
    pub(super) fn build(&self, pool: &mut Pool) -> Option<TermId> {
        match self {
            Literal::Other(t) => Some(*t),
            Literal::Number { form, relation } => {
                let ints = form.terms.keys().all(|&t| pool.sort(t) == Sort::Int) && form.is_whole();
                let sort = if ints { Sort::Int } else { Sort::Real };
                let mut left = form.clone();
                let bound = -std::mem::replace(&mut left.constant, RBig::ZERO);
                let (left, right) = (
                    left.mixed_term(pool, sort)?,
                    LinearForm::number(bound).mixed_term(pool, sort)?,
                );
                Some(match relation {
                    Relation::AtMost => pool.le(left, right),
                    Relation::Below => pool.lt(left, right),
                    Relation::Equal => pool.eq(left, right),
                    Relation::Multiple(_) => return None,
                })
            }
        }
    }
}

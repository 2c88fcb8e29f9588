//! Linear arithmetic over terms.
//!
//! A [`LinearForm`] is a sum `c1 * t1 + ... + cn * tn + c0` with rational coefficients over
//! *atoms*: terms that are variables, or that are not linear and are kept as they are. A
//! [`Constraint`] says how a form relates to 0. [`LinearForm::read`] and [`Comparison::of`] take
//! terms apart; [`LinearForm::term`] and [`Constraint::term`] build them again.

mod constraint;
mod form;

pub(crate) use constraint::{Comparison, Constraint, Relation};
pub(crate) use form::{LinearForm, Opaque};

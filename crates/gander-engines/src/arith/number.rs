//! Values as exact rational numbers and back, and what the other modules need of number theory.

use dashu_base::{Abs, Gcd, Signed};
use gander_term::{IBig, Pool, RBig, Sort, TermId, Value};

/// An int or real value as a rational number; none for other values.
pub(crate) fn rational(value: &Value) -> Option<RBig> {
    match value {
        Value::Int(i) => Some(RBig::from(i.clone())),
        Value::Real(r) => Some(r.clone()),
        _ => None,
    }
}

/// The rational number that a constant term is; none for other terms.
pub(crate) fn as_rational(pool: &Pool, t: TermId) -> Option<RBig> {
    pool.as_constant(t).as_ref().and_then(rational)
}

/// A number as a value of a numeric sort. On ints the number must be whole.
pub(crate) fn value(sort: Sort, r: RBig) -> Value {
    match sort {
        Sort::Int => Value::Int(r.numerator().clone()),
        _ => Value::Real(r),
    }
}

/// A number as a constant of a numeric sort. On ints the number must be whole.
pub(crate) fn constant(pool: &mut Pool, sort: Sort, r: RBig) -> TermId {
    pool.constant(value(sort, r))
}

/// The remainder that is not negative.
pub(crate) fn remainder(a: &IBig, m: &IBig) -> IBig {
    let m = m.clone().abs();
    let r = a.clone() % m.clone();
    if r.is_negative() { r + m } else { r }
}

/// The greatest common divisor, which is not negative; that of 0 and `b` is `|b|`.
pub(crate) fn gcd(a: &IBig, b: &IBig) -> IBig {
    match (*a == IBig::ZERO, *b == IBig::ZERO) {
        (true, _) => b.clone().abs(),
        (_, true) => a.clone().abs(),
        _ => IBig::from(a.gcd(b)),
    }
}

/// The least common multiple, which is not negative; not both numbers may be 0.
pub(crate) fn lcm(a: &IBig, b: &IBig) -> IBig {
    (a.clone() / gcd(a, b) * b.clone()).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_and_remainders_are_not_negative() {
        assert_eq!(remainder(&IBig::from(-3), &IBig::from(5)), IBig::from(2));
        assert_eq!(remainder(&IBig::from(-3), &IBig::from(-5)), IBig::from(2));
        assert_eq!(gcd(&IBig::from(-4), &IBig::from(6)), IBig::from(2));
        assert_eq!(gcd(&IBig::ZERO, &IBig::from(-6)), IBig::from(6));
        assert_eq!(lcm(&4.into(), &(-6).into()), IBig::from(12));
    }
}

//! Rational numbers of the search, in machine integers. `None` means overflow: more than 127 bits.

use gander_term::{IBig, RBig};

/// A fraction in lowest terms; the denominator is positive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ratio {
    numerator: i128,
    denominator: i128,
}

impl Ratio {
    /// 0.
    pub const ZERO: Ratio = Ratio { numerator: 0, denominator: 1 };
    /// 1.
    pub const ONE: Ratio = Ratio { numerator: 1, denominator: 1 };

    /// A fraction; `None` if the denominator is 0 or a part is too large.
    pub fn new(numerator: i128, denominator: i128) -> Option<Ratio> {
        // `i128::MIN` has no absolute value.
        if denominator == 0 || numerator == i128::MIN || denominator == i128::MIN {
            return None;
        }
        if denominator == 1 {
            return Some(Ratio { numerator, denominator });
        }
        let divisor = gcd(numerator.unsigned_abs(), denominator.unsigned_abs());
        let divisor = i128::try_from(divisor).ok()? * denominator.signum();
        Some(Ratio { numerator: numerator / divisor, denominator: denominator / divisor })
    }

    /// The same number; `None` if it is too large.
    pub fn of(exact: &RBig) -> Option<Ratio> {
        let numerator = i128::try_from(exact.numerator()).ok()?;
        let denominator = i128::try_from(exact.denominator()).ok()?;
        Ratio::new(numerator, denominator)
    }

    /// The same number, of any size.
    pub fn exact(self) -> RBig {
        RBig::from(IBig::from(self.numerator)) / RBig::from(IBig::from(self.denominator))
    }

    /// True for 0.
    pub fn is_zero(self) -> bool {
        self.numerator == 0
    }

    /// -1, 0 or 1.
    pub fn signum(self) -> i128 {
        self.numerator.signum()
    }

    /// True for integers.
    pub fn is_integral(self) -> bool {
        self.denominator == 1
    }

    /// The denominator in lowest terms, which is positive.
    pub fn denominator(self) -> i128 {
        self.denominator
    }

    /// The greatest integer that is not greater.
    pub fn floor(self) -> i128 {
        self.numerator.div_euclid(self.denominator)
    }

    /// The absolute value.
    pub fn abs(self) -> Ratio {
        Ratio { numerator: self.numerator.abs(), ..self }
    }

    /// Minus this.
    pub fn negated(self) -> Ratio {
        Ratio { numerator: -self.numerator, ..self }
    }

    /// The reciprocal; `None` for 0.
    pub fn inverse(self) -> Option<Ratio> {
        Ratio::new(self.denominator, self.numerator)
    }

    /// The sum.
    pub fn plus(self, other: Ratio) -> Option<Ratio> {
        if self.denominator == 1 && other.denominator == 1 {
            return Ratio::new(self.numerator.checked_add(other.numerator)?, 1);
        }
        let left = self.numerator.checked_mul(other.denominator)?;
        let right = other.numerator.checked_mul(self.denominator)?;
        Ratio::new(left.checked_add(right)?, self.denominator.checked_mul(other.denominator)?)
    }

    /// The product.
    pub fn times(self, other: Ratio) -> Option<Ratio> {
        Ratio::new(
            self.numerator.checked_mul(other.numerator)?,
            self.denominator.checked_mul(other.denominator)?,
        )
    }

    /// Whether it is less than another number.
    pub fn is_less(self, other: Ratio) -> Option<bool> {
        if self.denominator == other.denominator {
            return Some(self.numerator < other.numerator);
        }
        let left = self.numerator.checked_mul(other.denominator)?;
        Some(left < other.numerator.checked_mul(self.denominator)?)
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A number plus a multiple of a positive infinitesimal, for strict bounds of reals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeltaRational {
    /// The number.
    pub value: Ratio,
    /// The factor of the infinitesimal.
    pub beside: Ratio,
}

impl DeltaRational {
    /// 0.
    pub const ZERO: DeltaRational = DeltaRational { value: Ratio::ZERO, beside: Ratio::ZERO };

    /// The sum.
    pub fn plus(self, other: DeltaRational) -> Option<DeltaRational> {
        Some(DeltaRational {
            value: self.value.plus(other.value)?,
            beside: self.beside.plus(other.beside)?,
        })
    }

    /// The difference.
    pub fn minus(self, other: DeltaRational) -> Option<DeltaRational> {
        self.plus(DeltaRational { value: other.value.negated(), beside: other.beside.negated() })
    }

    /// A multiple.
    pub fn times(self, factor: Ratio) -> Option<DeltaRational> {
        Some(DeltaRational { value: self.value.times(factor)?, beside: self.beside.times(factor)? })
    }

    /// Whether it is less than another number.
    pub fn is_less(self, other: DeltaRational) -> Option<bool> {
        if self.value == other.value {
            self.beside.is_less(other.beside)
        } else {
            self.value.is_less(other.value)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn r(n: i128, d: i128) -> Ratio {
        Ratio::new(n, d).unwrap()
    }

    #[test]
    fn fractions_are_in_lowest_terms() {
        assert_eq!(r(4, -6), r(-2, 3));
        assert_eq!(r(1, 2).plus(r(1, 3)), Some(r(5, 6)));
        assert_eq!(r(2, 3).times(r(3, 4)), Some(r(1, 2)));
        assert_eq!(r(-7, 2).floor(), -4);
        assert_eq!(r(-2, 3).inverse(), Some(r(-3, 2)));
        assert_eq!(Ratio::ZERO.inverse(), None);
        assert_eq!(r(1, 3).is_less(r(1, 2)), Some(true));
        assert_eq!(Ratio::of(&r(-7, 3).exact()), Some(r(-7, 3)));
    }

    #[test]
    fn overflow_gives_none() {
        let large = r(i128::MAX, 1);
        assert_eq!(large.plus(Ratio::ONE), None);
        assert_eq!(large.times(r(2, 1)), None);
        assert_eq!(Ratio::new(i128::MIN, 1), None);
        assert_eq!(r(i128::MAX, 2).is_less(r(i128::MAX, 3)), None);
        assert_eq!(Ratio::of(&RBig::from(IBig::from(10).pow(40))), None);
    }
}

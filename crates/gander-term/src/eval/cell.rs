//! A compact value: the content of a slot of a running program.
//!
//! Truth values are 0 and 1; an enumeration variant is its position. The representation is
//! canonical, so equal cells are equal values: a number is boxed only if it does not fit.

use crate::bits::BitVec;
use crate::sort::Sort;
use crate::value::{IBig, RBig, Value};

/// The content of a slot. The sort of the term determines which variants are possible.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Cell {
    /// A truth value, a variant, an int of 64 bits, or a bit-vector of at most 64 bits as a word.
    Small(i64),
    /// A real in lowest terms with a positive denominator.
    Ratio(i64, i64),
    /// Any other value.
    Big(Box<Value>),
}

impl Cell {
    pub(crate) fn bool(b: bool) -> Cell {
        Cell::Small(i64::from(b))
    }

    /// The cell of a value.
    pub(crate) fn new(v: &Value) -> Cell {
        match v {
            Value::Bool(b) => Cell::bool(*b),
            Value::Enum(_, i) => Cell::Small(i64::from(*i)),
            Value::Int(i) => match i64::try_from(i) {
                Ok(n) => Cell::Small(n),
                Err(_) => Cell::Big(Box::new(v.clone())),
            },
            Value::Real(r) => {
                match (i64::try_from(r.numerator()), i64::try_from(r.denominator())) {
                    (Ok(n), Ok(d)) => Cell::Ratio(n, d),
                    _ => Cell::Big(Box::new(v.clone())),
                }
            }
            Value::BitVec(b) => match b.word() {
                Some(word) => Cell::Small(word as i64),
                None => Cell::Big(Box::new(v.clone())),
            },
            Value::Str(_) | Value::Array(_) => Cell::Big(Box::new(v.clone())),
        }
    }

    /// The value of a cell that belongs to a term of this sort.
    pub(crate) fn value(&self, sort: Sort) -> Value {
        match self {
            Cell::Small(n) => match sort {
                Sort::Bool => Value::Bool(*n != 0),
                Sort::Enum(e) => Value::Enum(e, *n as u32),
                Sort::BitVec(width) => Value::BitVec(BitVec::from_word(width, *n as u64)),
                _ => Value::Int(IBig::from(*n)),
            },
            Cell::Ratio(n, d) => {
                Value::Real(RBig::from_parts(IBig::from(*n), d.unsigned_abs().into()))
            }
            Cell::Big(v) => (**v).clone(),
        }
    }

    #[inline(always)]
    pub(crate) fn truth(&self) -> bool {
        matches!(self, Cell::Small(1))
    }

    /// `n / d` in lowest terms, if it fits; `d` is positive.
    #[inline]
    pub(crate) fn ratio(n: i128, d: i128) -> Option<Cell> {
        let g = gcd(n.unsigned_abs(), d.unsigned_abs());
        let (n, d) = if g == 1 { (n, d) } else { (n / g as i128, d / g as i128) };
        Some(Cell::Ratio(i64::try_from(n).ok()?, i64::try_from(d).ok()?))
    }
}

/// The greatest common divisor; `b` is not zero.
fn gcd(mut a: u128, mut b: u128) -> u128 {
    if b == 1 {
        return 1;
    }
    while a > u128::from(u64::MAX) || b > u128::from(u64::MAX) {
        if b == 0 {
            return a;
        }
        (a, b) = (b, a % b);
    }
    let (mut a, mut b) = (a as u64, b as u64);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    u128::from(a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_canonical_and_lossless() {
        let big: IBig = IBig::from(i64::MAX) + 1;
        for (v, boxed) in [
            (Value::int(7), false),
            (Value::int(i64::MIN), false),
            (Value::Int(big.clone()), true),
            (Value::Real(RBig::from_parts(IBig::from(-1), 3u8.into())), false),
            (Value::Real(RBig::from(big)), true),
            (Value::str("a"), true),
            (Value::Bool(true), false),
        ] {
            let cell = Cell::new(&v);
            assert_eq!(matches!(cell, Cell::Big(_)), boxed, "{v:?}");
            assert_eq!(cell.value(v.sort()), v);
        }
    }

    #[test]
    fn ratios_are_reduced() {
        assert_eq!(Cell::ratio(6, 4), Some(Cell::Ratio(3, 2)));
        assert_eq!(Cell::ratio(0, 4), Some(Cell::Ratio(0, 1)));
        assert_eq!(Cell::ratio(-(1 << 70), 1 << 69), Some(Cell::Ratio(-2, 1)));
        assert_eq!(Cell::ratio(1 << 70, 3), None);
    }
}

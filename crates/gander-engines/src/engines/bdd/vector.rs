//! Numbers as vectors of BDDs, lowest bit first.
//!
//! Ints are in two's complement, with the sign in the last bit. Sums and products get as many bits
//! as they need, so nothing overflows. Bit-vectors have the bits of their sort.

use gander_term::IBig;

use super::limits::LIMITS;
use super::manager::{Bdd, BddManager, Halt, Work};

pub(super) type Vector = Vec<Bdd>;

impl BddManager {
    /// A constant int in the minimal number of bits.
    pub(super) fn number(&self, i: &IBig) -> Work<Vector> {
        let Ok(n) = i64::try_from(i) else {
            return Err(Halt::Obstacle("a constant is too large for this".into()));
        };
        let mut bits = Vec::new();
        let mut rest = n;
        loop {
            bits.push(self.constant(rest & 1 == 1));
            let sign = rest & 1 == 1;
            rest >>= 1;
            if (rest == 0 && !sign) || (rest == -1 && sign) {
                return Ok(bits);
            }
        }
    }

    /// Extends an int to more bits.
    pub(super) fn extended(&self, a: &Vector, bits: usize) -> Vector {
        let mut longer = a.clone();
        while longer.len() < bits {
            longer.push(a[a.len() - 1].clone());
        }
        longer
    }

    /// Removes high bits that repeat the sign.
    fn trimmed(&self, mut a: Vector) -> Work<Vector> {
        while a.len() > 1 && a[a.len() - 1] == a[a.len() - 2] {
            a.pop();
        }
        if a.len() > LIMITS.vector_bits {
            return Err(Halt::Obstacle("an int needs too many bits".into()));
        }
        Ok(a)
    }

    /// The sum of two vectors of equal length, modulo 2 to that length.
    pub(super) fn sum(&self, a: &[Bdd], b: &[Bdd], carry: bool) -> Work<Vector> {
        let mut carry = self.constant(carry);
        let mut bits = Vec::with_capacity(a.len());
        for (x, y) in a.iter().zip(b) {
            let half = self.xor(x, y)?;
            bits.push(self.xor(&half, &carry)?);
            carry = self.ite(&half, &carry, x)?;
        }
        Ok(bits)
    }

    pub(super) fn complement(&self, a: &[Bdd]) -> Work<Vector> {
        a.iter().map(|x| self.not(x)).collect()
    }

    pub(super) fn add(&self, a: &Vector, b: &Vector) -> Work<Vector> {
        let n = a.len().max(b.len()) + 1;
        self.trimmed(self.sum(&self.extended(a, n), &self.extended(b, n), false)?)
    }

    pub(super) fn sub(&self, a: &Vector, b: &Vector) -> Work<Vector> {
        let n = a.len().max(b.len()) + 1;
        let minus = self.complement(&self.extended(b, n))?;
        self.trimmed(self.sum(&self.extended(a, n), &minus, true)?)
    }

    pub(super) fn mul(&self, a: &Vector, b: &Vector) -> Work<Vector> {
        let n = a.len() + b.len();
        if n > LIMITS.vector_bits {
            return Err(Halt::Obstacle("a product needs too many bits".into()));
        }
        let product = self.product(&self.extended(a, n), &self.extended(b, n))?;
        self.trimmed(product)
    }

    /// The product of two vectors of equal length, modulo 2 to that length.
    pub(super) fn product(&self, a: &[Bdd], b: &[Bdd]) -> Work<Vector> {
        let zero = self.constant(false);
        let mut total: Vector = vec![zero.clone(); a.len()];
        for (i, bit) in b.iter().enumerate() {
            let mut row = vec![zero.clone(); i];
            for x in &a[..a.len() - i] {
                row.push(self.and(x, bit)?);
            }
            total = self.sum(&total, &row, false)?;
        }
        Ok(total)
    }

    /// Euclidean quotient and remainder by a positive constant.
    pub(super) fn div_mod(&self, a: &Vector, divisor: u32) -> Work<(Vector, Vector)> {
        // `a + 2^(n-1) * divisor` is not negative and has the same remainder.
        let d = self.number(&IBig::from(divisor))?;
        let shift = self.number(&(IBig::ONE << (a.len() - 1)))?;
        let offset = self.mul(&shift, &d)?;
        let above = self.add(a, &offset)?;
        let mut rest = self.number(&IBig::ZERO)?;
        let mut quotient = Vec::new();
        for bit in above.iter().rev() {
            let mut double = vec![bit.clone()];
            double.extend(rest.iter().cloned());
            let fits = self.less(&double, &d, false)?;
            let taken = self.not(&fits)?;
            let less = self.sub(&double, &d)?;
            rest = self.choose(&taken, &less, &double)?;
            quotient.push(taken);
        }
        quotient.reverse();
        // The quotient is not negative.
        quotient.push(self.constant(false));
        let quotient = self.sub(&quotient, &shift)?;
        Ok((quotient, self.trimmed(rest)?))
    }

    pub(super) fn equal(&self, a: &Vector, b: &Vector) -> Work<Bdd> {
        let n = a.len().max(b.len());
        let mut all = self.constant(true);
        for (x, y) in self.extended(a, n).iter().zip(&self.extended(b, n)) {
            let same = self.same(x, y)?;
            all = self.and(&all, &same)?;
        }
        Ok(all)
    }

    /// `a < b` as ints, or `a <= b`.
    pub(super) fn less(&self, a: &Vector, b: &Vector, or_equal: bool) -> Work<Bdd> {
        let n = a.len().max(b.len());
        let (mut x, mut y) = (self.extended(a, n), self.extended(b, n));
        // With the sign bits flipped, signed order is unsigned order.
        x[n - 1] = self.not(&x[n - 1])?;
        y[n - 1] = self.not(&y[n - 1])?;
        self.below(&x, &y, or_equal)
    }

    /// `a < b` for unsigned numbers of equal length, or `a <= b`.
    pub(super) fn below(&self, a: &[Bdd], b: &[Bdd], or_equal: bool) -> Work<Bdd> {
        let mut result = self.constant(or_equal);
        for (x, y) in a.iter().zip(b) {
            let differ = self.xor(x, y)?;
            result = self.ite(&differ, y, &result)?;
        }
        Ok(result)
    }

    /// `if c then a else b` for ints.
    pub(super) fn choose(&self, c: &Bdd, a: &Vector, b: &Vector) -> Work<Vector> {
        let n = a.len().max(b.len());
        let (a, b) = (self.extended(a, n), self.extended(b, n));
        let bits = a.iter().zip(&b).map(|(x, y)| self.ite(c, x, y)).collect::<Work<Vector>>()?;
        self.trimmed(bits)
    }

    /// Whether the int fits in this many bits.
    pub(super) fn fits(&self, a: &Vector, bits: usize) -> Work<Bdd> {
        let mut all = self.constant(true);
        for x in a.iter().skip(bits) {
            let same = self.same(x, &a[bits - 1])?;
            all = self.and(&all, &same)?;
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::bdd::manager::Capacity;
    use oxidd::BooleanFunction;
    use std::sync::Arc;

    fn manager() -> BddManager {
        let pause = Arc::new(crate::engines::bdd::pause::PauseControl::default());
        pause.go();
        BddManager::new(Capacity { nodes: 1 << 12, cache: 1 << 10 }, &pause)
    }

    fn back(manager: &BddManager, v: &Vector) -> i64 {
        let _ = manager;
        let top = v.len() - 1;
        v.iter()
            .enumerate()
            .map(|(i, b)| if b.valid() { if i == top { -(1 << i) } else { 1 << i } } else { 0 })
            .sum()
    }

    #[test]
    fn vector_arithmetic_agrees_with_ints() {
        let manager = manager();
        let n = |i: i64| manager.number(&IBig::from(i)).unwrap();
        for a in -9..10 {
            assert_eq!(back(&manager, &n(a)), a);
            for b in -9..10 {
                assert_eq!(back(&manager, &manager.add(&n(a), &n(b)).unwrap()), a + b);
                assert_eq!(back(&manager, &manager.sub(&n(a), &n(b)).unwrap()), a - b);
                assert_eq!(back(&manager, &manager.mul(&n(a), &n(b)).unwrap()), a * b);
                assert_eq!(manager.less(&n(a), &n(b), false).unwrap().valid(), a < b, "{a} < {b}");
                assert_eq!(manager.less(&n(a), &n(b), true).unwrap().valid(), a <= b, "{a} <= {b}");
                assert_eq!(manager.equal(&n(a), &n(b)).unwrap().valid(), a == b);
                if b > 0 {
                    let (q, r) = manager.div_mod(&n(a), b as u32).unwrap();
                    assert_eq!(
                        (back(&manager, &q), back(&manager, &r)),
                        (a.div_euclid(b), a.rem_euclid(b)),
                        "{a} by {b}"
                    );
                }
            }
            for bits in 1..7 {
                let range = -(1i64 << (bits - 1))..1 << (bits - 1);
                assert_eq!(
                    manager.fits(&n(a), bits as usize).unwrap().valid(),
                    range.contains(&a),
                    "{a} in {bits}"
                );
            }
        }
    }
}

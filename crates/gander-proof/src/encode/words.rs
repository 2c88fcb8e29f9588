//! Bit-vectors as lists of literals, the lowest bit first. Trusted; the meaning is that of
//! docs/semantics.md, section 1.

use gander_term::BvOp;

use super::circuit::{Circuit, truth};
use crate::literal::Literal;

pub(crate) type Word = Vec<Literal>;

impl Circuit {
    pub(crate) fn fresh_word(&mut self, width: usize) -> Word {
        (0..width).map(|_| self.fresh()).collect()
    }

    pub(crate) fn mux_words(&mut self, condition: Literal, a: &[Literal], b: &[Literal]) -> Word {
        a.iter().zip(b).map(|(&a, &b)| self.mux(condition, a, b)).collect()
    }

    pub(crate) fn equal_words(&mut self, a: &[Literal], b: &[Literal]) -> Literal {
        let bits: Vec<Literal> = a.iter().zip(b).map(|(&a, &b)| self.iff(a, b)).collect();
        self.all(bits)
    }

    /// The sum and the carry out.
    fn add(&mut self, a: &[Literal], b: &[Literal], mut carry: Literal) -> (Word, Literal) {
        let mut sum = Word::with_capacity(a.len());
        for (&a, &b) in a.iter().zip(b) {
            let (bit, next) = self.full_adder(a, b, carry);
            sum.push(bit);
            carry = next;
        }
        (sum, carry)
    }

    /// The difference, and whether `a >= b` as unsigned numbers.
    fn subtract(&mut self, a: &[Literal], b: &[Literal]) -> (Word, Literal) {
        self.add(a, &inverted(b), truth(true))
    }

    fn negate(&mut self, a: &[Literal]) -> Word {
        let zero = vec![truth(false); a.len()];
        self.subtract(&zero, a).0
    }

    /// `a < b` as unsigned numbers.
    pub(crate) fn less(&mut self, a: &[Literal], b: &[Literal]) -> Literal {
        let mut less = truth(false);
        for (&a, &b) in a.iter().zip(b) {
            let differ = self.xor(a, b);
            less = self.mux(differ, b, less);
        }
        less
    }

    fn signed_less(&mut self, a: &[Literal], b: &[Literal]) -> Literal {
        self.less(&with_flipped_sign(a), &with_flipped_sign(b))
    }

    fn multiply(&mut self, a: &[Literal], b: &[Literal]) -> Word {
        let width = a.len();
        let mut sum = vec![truth(false); width];
        for (i, &bit) in b.iter().enumerate() {
            let row: Word = (0..width - i).map(|j| self.and(a[j], bit)).collect();
            let (high, _) = self.add(&sum[i..], &row, truth(false));
            sum.splice(i.., high);
        }
        sum
    }

    /// Quotient and remainder of unsigned numbers, by long division; for the divisor 0 the quotient
    /// is all ones and the remainder is the dividend.
    fn divide(&mut self, a: &[Literal], b: &[Literal]) -> (Word, Word) {
        let width = a.len();
        let mut wide_b = b.to_vec();
        wide_b.push(truth(false));
        let mut remainder = vec![truth(false); width + 1];
        let mut quotient = vec![truth(false); width];
        for i in (0..width).rev() {
            // The remainder is less than `b`, or `b` is 0 and it has at most `width` bits.
            remainder.insert(0, a[i]);
            remainder.truncate(width + 1);
            let (rest, fits) = self.subtract(&remainder, &wide_b);
            quotient[i] = fits;
            remainder = self.mux_words(fits, &rest, &remainder);
        }
        remainder.truncate(width);
        (quotient, remainder)
    }

    fn absolute(&mut self, a: &[Literal]) -> Word {
        let negated = self.negate(a);
        self.mux_words(sign(a), &negated, a)
    }

    fn negate_if(&mut self, condition: Literal, a: &[Literal]) -> Word {
        let negated = self.negate(a);
        self.mux_words(condition, &negated, a)
    }

    fn signed_division(&mut self, op: BvOp, a: &[Literal], b: &[Literal]) -> Word {
        let (size_a, size_b) = (self.absolute(a), self.absolute(b));
        let (quotient, remainder) = self.divide(&size_a, &size_b);
        match op {
            BvOp::Sdiv => {
                let differ = self.xor(sign(a), sign(b));
                self.negate_if(differ, &quotient)
            }
            BvOp::Srem => self.negate_if(sign(a), &remainder),
            _ => {
                // bvsmod: a remainder other than 0 gets the sign of `b`.
                let signed = self.negate_if(sign(a), &remainder);
                let (moved, _) = self.add(&signed, b, truth(false));
                let nonzero = self.any(remainder.iter().copied());
                let differ = self.xor(sign(a), sign(b));
                let moves = self.and(nonzero, differ);
                self.mux_words(moves, &moved, &signed)
            }
        }
    }

    /// The bits of `a` shifted by the number `by`; `fill` is shifted in.
    fn shift(
        &mut self,
        a: &[Literal],
        by: &[Literal],
        fill: Literal,
        direction: Direction,
    ) -> Word {
        let width = a.len();
        let mut out = a.to_vec();
        for (k, &bit) in by.iter().enumerate() {
            let distance = u32::try_from(k)
                .ok()
                .and_then(|k| 1usize.checked_shl(k))
                .unwrap_or(width)
                .min(width);
            let moved: Word = (0..width)
                .map(|i| match direction {
                    Direction::Up => i.checked_sub(distance).map_or(fill, |from| out[from]),
                    Direction::Down => i
                        .checked_add(distance)
                        .filter(|&from| from < width)
                        .map_or(fill, |from| out[from]),
                })
                .collect();
            out = self.mux_words(bit, &moved, &out);
        }
        out
    }

    /// The value of an operator with a bit-vector result that is no conversion; `None` for others.
    pub(crate) fn word(&mut self, op: BvOp, args: &[Word]) -> Option<Word> {
        Some(match (op, args) {
            (BvOp::Neg, [a]) => self.negate(a),
            (BvOp::Not, [a]) => inverted(a),
            (BvOp::Extract { high, low }, [a]) => {
                a.get(usize::from(low)..=usize::from(high))?.to_vec()
            }
            (BvOp::ZeroExtend(n), [a]) => extended(a, n, truth(false)),
            (BvOp::SignExtend(n), [a]) => extended(a, n, sign(a)),
            (BvOp::Concat, [a, b]) => b.iter().chain(a).copied().collect(),
            (BvOp::Add, [a, b]) => self.add(a, b, truth(false)).0,
            (BvOp::Sub, [a, b]) => self.subtract(a, b).0,
            (BvOp::Mul, [a, b]) => self.multiply(a, b),
            (BvOp::Udiv, [a, b]) => self.divide(a, b).0,
            (BvOp::Urem, [a, b]) => self.divide(a, b).1,
            (BvOp::Sdiv | BvOp::Srem | BvOp::Smod, [a, b]) => self.signed_division(op, a, b),
            (BvOp::And, [a, b]) => a.iter().zip(b).map(|(&a, &b)| self.and(a, b)).collect(),
            (BvOp::Or, [a, b]) => a.iter().zip(b).map(|(&a, &b)| self.or(a, b)).collect(),
            (BvOp::Xor, [a, b]) => a.iter().zip(b).map(|(&a, &b)| self.xor(a, b)).collect(),
            (BvOp::Shl, [a, b]) => self.shift(a, b, truth(false), Direction::Up),
            (BvOp::Lshr, [a, b]) => self.shift(a, b, truth(false), Direction::Down),
            (BvOp::Ashr, [a, b]) => self.shift(a, b, sign(a), Direction::Down),
            _ => return None,
        })
    }

    /// The truth value of a comparison; `None` for other operators.
    pub(crate) fn comparison(&mut self, op: BvOp, a: &[Literal], b: &[Literal]) -> Option<Literal> {
        Some(match op {
            BvOp::Ult => self.less(a, b),
            BvOp::Ugt => self.less(b, a),
            BvOp::Ule => !self.less(b, a),
            BvOp::Uge => !self.less(a, b),
            BvOp::Slt => self.signed_less(a, b),
            BvOp::Sgt => self.signed_less(b, a),
            BvOp::Sle => !self.signed_less(b, a),
            BvOp::Sge => !self.signed_less(a, b),
            _ => return None,
        })
    }
}

#[derive(Clone, Copy)]
enum Direction {
    Up,
    Down,
}

fn inverted(a: &[Literal]) -> Word {
    a.iter().map(|&l| !l).collect()
}

/// The highest bit; bit-vectors have at least one.
fn sign(a: &[Literal]) -> Literal {
    a.last().copied().unwrap_or(truth(false))
}

fn with_flipped_sign(a: &[Literal]) -> Word {
    let mut a = a.to_vec();
    if let Some(last) = a.last_mut() {
        *last = !*last;
    }
    a
}

fn extended(a: &[Literal], by: u32, with: Literal) -> Word {
    a.iter().copied().chain(std::iter::repeat_n(with, by as usize)).collect()
}

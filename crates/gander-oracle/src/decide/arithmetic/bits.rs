//! Operators on bit-vectors, by the table of docs/semantics.md. Bitwise operators work on lists of
//! bits, lowest first; arithmetic operators work on numbers.

use gander_term::{BitVec, BvOp, IBig, Value, Width};

use super::euclid;
use crate::Refusal;

pub(super) fn apply(op: BvOp, args: &[Value]) -> Result<Value, Refusal> {
    match args {
        [Value::Int(n)] => match op {
            BvOp::FromInt(width) => modulo(width.bits(), n.clone()),
            _ => Err(Refusal::IllSorted),
        },
        [Value::BitVec(a)] => on_one(op, a),
        [Value::BitVec(a), Value::BitVec(b)] => {
            if op == BvOp::Concat {
                let mut both = list(b);
                both.extend(list(a));
                return from_list(&both);
            }
            if a.width() != b.width() {
                return Err(Refusal::IllSorted);
            }
            on_two(op, a, b)
        }
        _ => Err(Refusal::IllSorted),
    }
}

/// The bits, lowest first.
fn list(a: &BitVec) -> Vec<bool> {
    let (two, mut left) = (IBig::from(2), a.unsigned());
    let mut bits = Vec::new();
    for _ in 0..a.width().bits() {
        let (half, bit) = euclid(&left, &two);
        bits.push(bit == IBig::ONE);
        left = half;
    }
    bits
}

fn number(bits: &[bool]) -> IBig {
    bits.iter().rev().fold(IBig::ZERO, |n, &bit| n * 2 + i32::from(bit))
}

fn from_list(bits: &[bool]) -> Result<Value, Refusal> {
    modulo(bits.len() as u32, number(bits))
}

fn power_of_two(n: u32) -> IBig {
    (0..n).fold(IBig::ONE, |p, _| p * 2)
}

/// The bit-vector of this width for a number modulo `2^w`.
fn modulo(width: u32, n: IBig) -> Result<Value, Refusal> {
    let rest = euclid(&n, &power_of_two(width)).1;
    let width = Width::new(width).ok_or(Refusal::IllSorted)?;
    BitVec::exact(width, rest).map(Value::BitVec).ok_or(Refusal::IllSorted)
}

/// `s(a)`
fn signed(a: &BitVec) -> IBig {
    let bits = list(a);
    let u = number(&bits);
    if bits[bits.len() - 1] { u - power_of_two(bits.len() as u32) } else { u }
}

fn on_one(op: BvOp, a: &BitVec) -> Result<Value, Refusal> {
    let bits = list(a);
    let width = bits.len();
    let sign = bits[width - 1];
    match op {
        BvOp::Neg => modulo(width as u32, -number(&bits)),
        BvOp::Not => from_list(&bits.iter().map(|b| !b).collect::<Vec<_>>()),
        BvOp::Extract { high, low } => match bits.get(usize::from(low)..=usize::from(high)) {
            Some(some) if !some.is_empty() => from_list(some),
            _ => Err(Refusal::IllSorted),
        },
        BvOp::ZeroExtend(n) => from_list(&[bits, vec![false; n as usize]].concat()),
        BvOp::SignExtend(n) => from_list(&[bits, vec![sign; n as usize]].concat()),
        BvOp::ToInt => Ok(Value::Int(number(&bits))),
        BvOp::ToSignedInt => Ok(Value::Int(signed(a))),
        _ => Err(Refusal::IllSorted),
    }
}

fn on_two(op: BvOp, a: &BitVec, b: &BitVec) -> Result<Value, Refusal> {
    let (x, y) = (list(a), list(b));
    let width = x.len() as u32;
    let (ua, ub) = (number(&x), number(&y));
    let (sa, sb) = (signed(a), signed(b));
    let pairs = || x.iter().copied().zip(y.iter().copied());
    let by_zero = ub == IBig::ZERO;
    let truth = |holds: bool| Ok(Value::Bool(holds));
    match op {
        BvOp::Add => modulo(width, ua + ub),
        BvOp::Sub => modulo(width, ua - ub),
        BvOp::Mul => modulo(width, ua * ub),
        BvOp::Udiv if by_zero => from_list(&vec![true; x.len()]),
        BvOp::Udiv => modulo(width, euclid(&ua, &ub).0),
        BvOp::Urem => modulo(width, euclid(&ua, &ub).1),
        BvOp::Sdiv if by_zero && sa < IBig::ZERO => modulo(width, IBig::ONE),
        BvOp::Sdiv if by_zero => from_list(&vec![true; x.len()]),
        BvOp::Sdiv => modulo(width, truncated_quotient(&sa, &sb)),
        BvOp::Srem | BvOp::Smod if by_zero => from_list(&x),
        BvOp::Srem => {
            let q = truncated_quotient(&sa, &sb);
            modulo(width, sa - sb * q)
        }
        BvOp::Smod => {
            // The Euclidean remainder is never negative; for a negative divisor `smod` subtracts
            // one divisor.
            let r = euclid(&sa, &sb).1;
            modulo(width, if sb < IBig::ZERO && r != IBig::ZERO { r + sb } else { r })
        }
        BvOp::And => from_list(&pairs().map(|(a, b)| a && b).collect::<Vec<_>>()),
        BvOp::Or => from_list(&pairs().map(|(a, b)| a || b).collect::<Vec<_>>()),
        BvOp::Xor => from_list(&pairs().map(|(a, b)| a != b).collect::<Vec<_>>()),
        BvOp::Shl => moved(&x, -ub, false),
        BvOp::Lshr => moved(&x, ub, false),
        BvOp::Ashr => moved(&x, ub, x[x.len() - 1]),
        BvOp::Ult => truth(ua < ub),
        BvOp::Ule => truth(ua <= ub),
        BvOp::Ugt => truth(ua > ub),
        BvOp::Uge => truth(ua >= ub),
        BvOp::Slt => truth(sa < sb),
        BvOp::Sle => truth(sa <= sb),
        BvOp::Sgt => truth(sa > sb),
        BvOp::Sge => truth(sa >= sb),
        _ => Err(Refusal::IllSorted),
    }
}

/// The quotient, truncated towards zero; the divisor is not zero.
fn truncated_quotient(a: &IBig, b: &IBig) -> IBig {
    let positive = |n: &IBig| if *n < IBig::ZERO { -n.clone() } else { n.clone() };
    let q = euclid(&positive(a), &positive(b)).0;
    if (*a < IBig::ZERO) == (*b < IBig::ZERO) { q } else { -q }
}

/// Every bit is the one `by` places above it, or `fill` if there is none.
fn moved(bits: &[bool], by: IBig, fill: bool) -> Result<Value, Refusal> {
    let come = |i: usize| {
        let from = IBig::from(i) + &by;
        usize::try_from(&from).ok().and_then(|i| bits.get(i)).copied().unwrap_or(fill)
    };
    from_list(&(0..bits.len()).map(come).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bv(width: u32, i: i64) -> Value {
        modulo(width, IBig::from(i)).unwrap()
    }

    fn two(op: BvOp, a: i64, b: i64) -> Value {
        apply(op, &[bv(4, a), bv(4, b)]).unwrap()
    }

    #[test]
    fn results_are_those_computed_by_hand_from_the_table() {
        assert_eq!(two(BvOp::Add, 9, 9), bv(4, 2));
        assert_eq!(two(BvOp::Sub, 1, 2), bv(4, 15));
        assert_eq!(two(BvOp::Mul, 5, 5), bv(4, 9));
        assert_eq!(two(BvOp::Udiv, 13, 3), bv(4, 4));
        assert_eq!(two(BvOp::Udiv, 13, 0), bv(4, 15));
        assert_eq!(two(BvOp::Urem, 13, 0), bv(4, 13));
        assert_eq!(two(BvOp::Sdiv, -7, 2), bv(4, -3));
        assert_eq!(two(BvOp::Sdiv, -8, -1), bv(4, -8));
        assert_eq!(two(BvOp::Sdiv, -7, 0), bv(4, 1));
        assert_eq!(two(BvOp::Sdiv, 7, 0), bv(4, 15));
        assert_eq!(two(BvOp::Srem, -7, 2), bv(4, -1));
        assert_eq!(two(BvOp::Smod, -7, 2), bv(4, 1));
        assert_eq!(two(BvOp::Smod, 7, -2), bv(4, -1));
        assert_eq!(two(BvOp::Smod, -6, -2), bv(4, 0));
        assert_eq!(two(BvOp::Shl, 5, 1), bv(4, 10));
        assert_eq!(two(BvOp::Shl, 5, 4), bv(4, 0));
        assert_eq!(two(BvOp::Lshr, 10, 1), bv(4, 5));
        assert_eq!(two(BvOp::Ashr, 10, 1), bv(4, 13));
        assert_eq!(two(BvOp::Ashr, 10, 9), bv(4, 15));
        assert_eq!(two(BvOp::Slt, -1, 0), Value::Bool(true));
        assert_eq!(two(BvOp::Ult, -1, 0), Value::Bool(false));
        assert_eq!(two(BvOp::Concat, 1, 2), bv(8, 18));
        let one = |op| apply(op, &[bv(4, 9)]).unwrap();
        assert_eq!(one(BvOp::Extract { high: 3, low: 2 }), bv(2, 2));
        assert_eq!(one(BvOp::SignExtend(2)), bv(6, -7));
        assert_eq!(one(BvOp::ZeroExtend(2)), bv(6, 9));
        assert_eq!(one(BvOp::ToInt), Value::int(9));
        assert_eq!(one(BvOp::ToSignedInt), Value::int(-7));
        assert_eq!(apply(BvOp::FromInt(Width::W8), &[Value::int(-1)]).unwrap(), bv(8, 255));
    }

    /// Compares two independent implementations of the same table.
    #[test]
    fn the_evaluator_agrees_on_all_small_values() {
        for width in 1..=4 {
            for a in 0..1 << width {
                for b in 0..1 << width {
                    let args = [bv(width, a), bv(width, b)];
                    for op in BvOp::plain() {
                        let args = if op.is_unary() { &args[..1] } else { &args[..] };
                        let expected = apply(op, args).unwrap();
                        assert_eq!(
                            gander_term::eval::apply(gander_term::Op::Bv(op), args),
                            Ok(expected),
                            "{op:?} {args:?}"
                        );
                    }
                }
            }
        }
    }
}

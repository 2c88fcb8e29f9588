//! Operators on bit-vectors of any width.

use dashu_base::{Abs, BitTest, Signed};
use dashu_int::UBig;

use crate::value::{IBig, Value};

use super::{BitVec, BvOp, Width};

/// `op` on values; `None` if `op` does not take values of these sorts.
pub(crate) fn apply(op: BvOp, args: &[Value]) -> Option<Value> {
    Some(match (op, args) {
        (BvOp::FromInt(width), [Value::Int(i)]) => Value::BitVec(BitVec::wrap(width, i.clone())),
        (BvOp::ToInt, [Value::BitVec(a)]) => Value::Int(a.unsigned()),
        (BvOp::ToSignedInt, [Value::BitVec(a)]) => Value::Int(a.signed()),
        (op, [Value::BitVec(a)]) if op.is_unary() => Value::BitVec(unary(op, a)?),
        (BvOp::Concat, [Value::BitVec(a), Value::BitVec(b)]) => {
            let width = Width::new(a.width.0 + b.width.0)?;
            Value::BitVec(BitVec { width, bits: (&a.bits << b.width.0 as usize) | &b.bits })
        }
        (op, [Value::BitVec(a), Value::BitVec(b)]) if op.is_comparison() => {
            Value::Bool(compare(op, a, b))
        }
        (op, [Value::BitVec(a), Value::BitVec(b)]) if a.width == b.width => {
            Value::BitVec(binary(op, a, b)?)
        }
        _ => return None,
    })
}

fn unary(op: BvOp, a: &BitVec) -> Option<BitVec> {
    Some(match op {
        BvOp::Neg => BitVec::wrap(a.width, -a.unsigned()),
        BvOp::Not => BitVec { width: a.width, bits: UBig::ones(a.width.0 as usize) ^ &a.bits },
        BvOp::Extract { high, low } => {
            let width = Width::new(u32::from(high.checked_sub(low)?) + 1)?;
            BitVec::low(width, &a.bits >> usize::from(low))
        }
        BvOp::ZeroExtend(n) => {
            BitVec { width: Width::new(a.width.0.checked_add(n)?)?, bits: a.bits.clone() }
        }
        BvOp::SignExtend(n) => BitVec::wrap(Width::new(a.width.0.checked_add(n)?)?, a.signed()),
        _ => return None,
    })
}

fn compare(op: BvOp, a: &BitVec, b: &BitVec) -> bool {
    match op {
        BvOp::Ult => a.bits < b.bits,
        BvOp::Ule => a.bits <= b.bits,
        BvOp::Ugt => a.bits > b.bits,
        BvOp::Uge => a.bits >= b.bits,
        BvOp::Slt => a.signed() < b.signed(),
        BvOp::Sle => a.signed() <= b.signed(),
        BvOp::Sgt => a.signed() > b.signed(),
        _ => a.signed() >= b.signed(),
    }
}

fn binary(op: BvOp, a: &BitVec, b: &BitVec) -> Option<BitVec> {
    let width = a.width;
    let by_zero = b.bits.is_zero();
    Some(match op {
        BvOp::Add => BitVec::low(width, &a.bits + &b.bits),
        BvOp::Sub => BitVec::wrap(width, a.unsigned() - b.unsigned()),
        BvOp::Mul => BitVec::low(width, &a.bits * &b.bits),
        BvOp::Udiv if by_zero => BitVec::ones(width),
        BvOp::Udiv => BitVec { width, bits: &a.bits / &b.bits },
        BvOp::Urem | BvOp::Srem | BvOp::Smod if by_zero => a.clone(),
        BvOp::Urem => BitVec { width, bits: &a.bits % &b.bits },
        BvOp::Sdiv if by_zero => {
            if a.sign_bit() {
                BitVec::wrap(width, 1)
            } else {
                BitVec::ones(width)
            }
        }
        BvOp::Sdiv => {
            let (x, y) = (a.signed(), b.signed());
            let quotient = x.clone().abs() / y.clone().abs();
            BitVec::wrap(
                width,
                if x.is_negative() == y.is_negative() { quotient } else { -quotient },
            )
        }
        BvOp::Srem => BitVec::wrap(width, remainder(&a.signed(), &b.signed())),
        BvOp::Smod => {
            let y = b.signed();
            let r = remainder(&a.signed(), &y);
            BitVec::wrap(
                width,
                if !r.is_zero() && r.is_negative() != y.is_negative() { r + y } else { r },
            )
        }
        BvOp::And => BitVec { width, bits: &a.bits & &b.bits },
        BvOp::Or => BitVec { width, bits: &a.bits | &b.bits },
        BvOp::Xor => BitVec { width, bits: &a.bits ^ &b.bits },
        BvOp::Shl => match amount(b) {
            Some(n) => BitVec::low(width, &a.bits << n),
            None => BitVec::zero(width),
        },
        BvOp::Lshr => match amount(b) {
            Some(n) => BitVec { width, bits: &a.bits >> n },
            None => BitVec::zero(width),
        },
        BvOp::Ashr => {
            let n = amount(b).unwrap_or(width.0 as usize);
            let kept = &a.bits >> n;
            let filled =
                if a.sign_bit() { UBig::ones(n) << (width.0 as usize - n) } else { UBig::ZERO };
            BitVec { width, bits: kept | filled }
        }
        _ => return None,
    })
}

/// The remainder of the truncated quotient: it has the sign of `x`.
fn remainder(x: &IBig, y: &IBig) -> IBig {
    let r = x.clone().abs() % y.clone().abs();
    if x.is_negative() { -r } else { r }
}

/// The amount of a shift, if it is below the width.
fn amount(b: &BitVec) -> Option<usize> {
    if b.bits.bit_len() > 32 {
        return None;
    }
    usize::try_from(&b.bits).ok().filter(|&n| n < b.width.0 as usize)
}

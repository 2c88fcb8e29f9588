//! Operators on bit-vectors of at most 64 bits, on machine words.

use super::BvOp;

/// `op` on words: `a` has `width` bits and `b` has `width_b`; the bits above are zero, in the
/// result too, which must fit into a word. Truth values are 0 and 1. Conversions from and to int
/// are not supported.
#[inline]
pub(crate) fn apply_word(op: BvOp, (a, width): (u64, u32), (b, width_b): (u64, u32)) -> u64 {
    let mask = mask(width);
    let (x, y) = (sign_extend(a, width), sign_extend(b, width_b));
    let result = match op {
        BvOp::Neg => a.wrapping_neg(),
        BvOp::Add => a.wrapping_add(b),
        BvOp::Sub => a.wrapping_sub(b),
        BvOp::Mul => a.wrapping_mul(b),
        BvOp::Udiv => a.checked_div(b).unwrap_or(mask),
        BvOp::Urem => a.checked_rem(b).unwrap_or(a),
        BvOp::Sdiv if b == 0 => {
            if x < 0 {
                1
            } else {
                mask
            }
        }
        BvOp::Sdiv => x.wrapping_div(y) as u64,
        BvOp::Srem | BvOp::Smod if b == 0 => a,
        BvOp::Srem => x.wrapping_rem(y) as u64,
        BvOp::Smod => {
            let r = x.wrapping_rem(y);
            (if r != 0 && (r < 0) != (y < 0) { r.wrapping_add(y) } else { r }) as u64
        }
        BvOp::Not => !a,
        BvOp::And => a & b,
        BvOp::Or => a | b,
        BvOp::Xor => a ^ b,
        BvOp::Shl if b >= u64::from(width) => 0,
        BvOp::Shl => a << b,
        BvOp::Lshr if b >= u64::from(width) => 0,
        BvOp::Lshr => a >> b,
        BvOp::Ashr => (x >> b.min(63)) as u64,
        // The results of these operators do not have the width of `a`.
        BvOp::Concat => return a << width_b | b,
        BvOp::Extract { high, low } => return (a >> low) & self::mask(u32::from(high - low) + 1),
        BvOp::ZeroExtend(_) => return a,
        BvOp::SignExtend(n) => return x as u64 & self::mask(width + n),
        BvOp::Ult => return u64::from(a < b),
        BvOp::Ule => return u64::from(a <= b),
        BvOp::Ugt => return u64::from(a > b),
        BvOp::Uge => return u64::from(a >= b),
        BvOp::Slt => return u64::from(x < y),
        BvOp::Sle => return u64::from(x <= y),
        BvOp::Sgt => return u64::from(x > y),
        BvOp::Sge => return u64::from(x >= y),
        BvOp::ToInt | BvOp::ToSignedInt | BvOp::FromInt(_) => {
            unreachable!("conversions have no word")
        }
    };
    result & mask
}

/// A word whose lowest `width` bits are one.
#[inline]
pub(crate) fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// The low `width` bits as a number in two's complement.
#[inline]
pub(crate) fn sign_extend(word: u64, width: u32) -> i64 {
    let unused = 64 - width.min(64);
    ((word << unused) as i64) >> unused
}

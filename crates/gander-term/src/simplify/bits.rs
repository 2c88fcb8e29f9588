//! Simplification of bit-vectors: neutral and absorbing constants, equal arguments, one form for
//! each comparison.

use crate::bits::BvOp;
use crate::op::Op;
use crate::pool::{Pool, TermId};
use crate::sort::Sort;
use crate::value::Value;

use super::boolean::negate;

/// `op` on arguments in normal form, not all of them constant.
pub(super) fn normal(pool: &mut Pool, op: BvOp, sort: Sort, args: &[TermId]) -> TermId {
    match (op, args) {
        (_, &[a]) => unary(pool, op, sort, a),
        (_, &[a, b]) if op.is_comparison() => compare(pool, op, a, b),
        (_, &[a, b]) => binary(pool, op, sort, a, b),
        _ => pool.intern(Op::Bv(op), sort, args),
    }
}

fn unary(pool: &mut Pool, op: BvOp, sort: Sort, a: TermId) -> TermId {
    let same_width = pool.sort(a) == sort;
    match op {
        BvOp::Neg | BvOp::Not if pool.op(a) == Op::Bv(op) => pool.args(a)[0],
        BvOp::Extract { .. } | BvOp::ZeroExtend(_) | BvOp::SignExtend(_) if same_width => a,
        BvOp::FromInt(_) if matches!(pool.op(a), Op::Bv(BvOp::ToInt | BvOp::ToSignedInt)) => {
            let inner = pool.args(a)[0];
            if pool.sort(inner) == sort { inner } else { pool.intern(Op::Bv(op), sort, &[a]) }
        }
        _ => pool.intern(Op::Bv(op), sort, &[a]),
    }
}

/// The constants for which operators have rules.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    Zero,
    One,
    Ones,
    Other,
}

fn special(pool: &Pool, t: TermId) -> Special {
    let Op::Const(v) = pool.op(t) else { return Special::Other };
    let Value::BitVec(v) = pool.value(v) else { return Special::Other };
    // For width 1, the constant 1 counts as all ones.
    if v.bits().is_zero() {
        Special::Zero
    } else if v.bits().is_one() && v.width().bits() > 1 {
        Special::One
    } else if v.is_ones() {
        Special::Ones
    } else {
        Special::Other
    }
}

fn is_constant(pool: &Pool, t: TermId) -> bool {
    matches!(pool.op(t), Op::Const(_))
}

fn binary(pool: &mut Pool, op: BvOp, sort: Sort, a: TermId, b: TermId) -> TermId {
    use Special::{One, Ones, Zero};
    let commutative = matches!(op, BvOp::Add | BvOp::Mul | BvOp::And | BvOp::Or | BvOp::Xor);
    let swap = commutative && (is_constant(pool, a), a) > (is_constant(pool, b), b);
    let (a, b) = if swap { (b, a) } else { (a, b) };
    let (left, right) = (special(pool, a), special(pool, b));
    match (op, left, right) {
        (
            BvOp::Add | BvOp::Sub | BvOp::Or | BvOp::Xor | BvOp::Shl | BvOp::Lshr | BvOp::Ashr,
            _,
            Zero,
        ) => return a,
        (BvOp::Mul | BvOp::And, _, Zero) => return b,
        (BvOp::Mul | BvOp::Udiv | BvOp::Sdiv, _, One) => return a,
        (BvOp::And, _, Ones) => return a,
        (BvOp::Or, _, Ones) => return b,
        (BvOp::Shl | BvOp::Lshr | BvOp::Ashr | BvOp::Urem | BvOp::Srem | BvOp::Smod, Zero, _) => {
            return a;
        }
        (BvOp::Urem | BvOp::Srem | BvOp::Smod, _, Zero) => return a,
        (BvOp::Sub, Zero, _) => return unary(pool, BvOp::Neg, sort, b),
        (BvOp::Xor, _, Ones) => return unary(pool, BvOp::Not, sort, a),
        _ => {}
    }
    if a == b {
        match op {
            BvOp::And | BvOp::Or => return a,
            // The remainder of x by x; if x is zero, the remainder is the dividend, which is zero.
            BvOp::Sub | BvOp::Xor | BvOp::Urem | BvOp::Srem | BvOp::Smod => {
                if let Sort::BitVec(width) = sort {
                    return pool.bits(width, 0);
                }
            }
            _ => {}
        }
    }
    pool.intern(Op::Bv(op), sort, &[a, b])
}

fn compare(pool: &mut Pool, op: BvOp, a: TermId, b: TermId) -> TermId {
    let (a, b, strict, negated) = match op {
        BvOp::Ult => (a, b, BvOp::Ult, false),
        BvOp::Ugt => (b, a, BvOp::Ult, false),
        BvOp::Ule => (b, a, BvOp::Ult, true),
        BvOp::Uge => (a, b, BvOp::Ult, true),
        BvOp::Slt => (a, b, BvOp::Slt, false),
        BvOp::Sgt => (b, a, BvOp::Slt, false),
        BvOp::Sle => (b, a, BvOp::Slt, true),
        _ => (a, b, BvOp::Slt, true),
    };
    let never = a == b || strict == BvOp::Ult && (is_zero(pool, b) || is_greatest(pool, a));
    let result = if never { pool.ff() } else { pool.intern(Op::Bv(strict), Sort::Bool, &[a, b]) };
    if negated { negate(pool, result) } else { result }
}

fn is_zero(pool: &Pool, t: TermId) -> bool {
    special(pool, t) == Special::Zero
}

fn is_greatest(pool: &Pool, t: TermId) -> bool {
    special(pool, t) == Special::Ones
}

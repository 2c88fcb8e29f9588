//! Operators on bit-vectors, and which widths they take.

use crate::op::{Op, SortError};
use crate::sort::Sort;

use super::Width;

/// An operator on bit-vectors, as [`Op::Bv`]. Names and meaning are those of SMT-LIB.
///
/// Arities: `Neg Not Extract ZeroExtend SignExtend ToInt ToSignedInt FromInt` take one argument,
/// all others two. Two bit-vector arguments have the same width, except for `Concat`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum BvOp {
    /// `bvneg`: minus, modulo `2^w`.
    Neg,
    /// `bvadd`
    Add,
    /// `bvsub`
    Sub,
    /// `bvmul`
    Mul,
    /// `bvudiv`: unsigned quotient; all ones for the divisor 0.
    Udiv,
    /// `bvurem`: unsigned remainder; the dividend for the divisor 0.
    Urem,
    /// `bvsdiv`: signed quotient, truncated; for the divisor 0 it is -1, or 1 if the dividend is
    /// negative.
    Sdiv,
    /// `bvsrem`: signed remainder with the sign of the dividend; the dividend for the divisor 0.
    Srem,
    /// `bvsmod`: signed remainder with the sign of the divisor; the dividend for the divisor 0.
    Smod,
    /// `bvnot`: bitwise.
    Not,
    /// `bvand`: bitwise.
    And,
    /// `bvor`: bitwise.
    Or,
    /// `bvxor`: bitwise.
    Xor,
    /// `bvshl`: shift left, filling with zeros. The amount is unsigned and may exceed the width.
    Shl,
    /// `bvlshr`: shift right, filling with zeros.
    Lshr,
    /// `bvashr`: shift right, filling with the sign bit.
    Ashr,
    /// `concat`: the first argument has the high bits.
    Concat,
    /// `extract`: the bits from `low` to `high`, both included.
    Extract {
        /// The highest bit that is taken.
        high: u16,
        /// The lowest bit that is taken.
        low: u16,
    },
    /// `zero_extend`: this many zeros in front.
    ZeroExtend(u32),
    /// `sign_extend`: this many copies of the sign bit in front.
    SignExtend(u32),
    /// `bvult`
    Ult,
    /// `bvule`
    Ule,
    /// `bvugt`
    Ugt,
    /// `bvuge`
    Uge,
    /// `bvslt`
    Slt,
    /// `bvsle`
    Sle,
    /// `bvsgt`
    Sgt,
    /// `bvsge`
    Sge,
    /// `ubv_to_int`: the number `0 .. 2^w`.
    ToInt,
    /// `sbv_to_int`: the number `-2^(w-1) .. 2^(w-1)`.
    ToSignedInt,
    /// `int_to_bv`: an int modulo `2^w`.
    FromInt(Width),
}

/// Operators without parameters.
const PLAIN: [BvOp; 27] = [
    BvOp::Neg,
    BvOp::Add,
    BvOp::Sub,
    BvOp::Mul,
    BvOp::Udiv,
    BvOp::Urem,
    BvOp::Sdiv,
    BvOp::Srem,
    BvOp::Smod,
    BvOp::Not,
    BvOp::And,
    BvOp::Or,
    BvOp::Xor,
    BvOp::Shl,
    BvOp::Lshr,
    BvOp::Ashr,
    BvOp::Concat,
    BvOp::Ult,
    BvOp::Ule,
    BvOp::Ugt,
    BvOp::Uge,
    BvOp::Slt,
    BvOp::Sle,
    BvOp::Sgt,
    BvOp::Sge,
    BvOp::ToInt,
    BvOp::ToSignedInt,
];

impl BvOp {
    /// Every operator without parameters.
    pub fn plain() -> impl Iterator<Item = BvOp> {
        PLAIN.into_iter()
    }

    /// The operator without parameters that has this name.
    pub fn from_name(name: &str) -> Option<BvOp> {
        PLAIN.into_iter().find(|op| op.name() == name)
    }

    /// The name in SMT-LIB 2.7, without parameters.
    pub fn name(self) -> &'static str {
        match self {
            BvOp::Extract { .. } => "extract",
            BvOp::ZeroExtend(_) => "zero_extend",
            BvOp::SignExtend(_) => "sign_extend",
            BvOp::FromInt(_) => "int_to_bv",
            BvOp::Neg => "bvneg",
            BvOp::Add => "bvadd",
            BvOp::Sub => "bvsub",
            BvOp::Mul => "bvmul",
            BvOp::Udiv => "bvudiv",
            BvOp::Urem => "bvurem",
            BvOp::Sdiv => "bvsdiv",
            BvOp::Srem => "bvsrem",
            BvOp::Smod => "bvsmod",
            BvOp::Not => "bvnot",
            BvOp::And => "bvand",
            BvOp::Or => "bvor",
            BvOp::Xor => "bvxor",
            BvOp::Shl => "bvshl",
            BvOp::Lshr => "bvlshr",
            BvOp::Ashr => "bvashr",
            BvOp::Concat => "concat",
            BvOp::Ult => "bvult",
            BvOp::Ule => "bvule",
            BvOp::Ugt => "bvugt",
            BvOp::Uge => "bvuge",
            BvOp::Slt => "bvslt",
            BvOp::Sle => "bvsle",
            BvOp::Sgt => "bvsgt",
            BvOp::Sge => "bvsge",
            BvOp::ToInt => "ubv_to_int",
            BvOp::ToSignedInt => "sbv_to_int",
        }
    }

    /// True for the conversions from and to int.
    pub fn is_conversion(self) -> bool {
        matches!(self, BvOp::ToInt | BvOp::ToSignedInt | BvOp::FromInt(_))
    }

    /// True if it compares two vectors.
    pub fn is_comparison(self) -> bool {
        use BvOp::*;
        matches!(self, Ult | Ule | Ugt | Uge | Slt | Sle | Sgt | Sge)
    }

    /// True if it takes one argument.
    pub fn is_unary(self) -> bool {
        use BvOp::*;
        matches!(
            self,
            Neg | Not
                | Extract { .. }
                | ZeroExtend(_)
                | SignExtend(_)
                | ToInt
                | ToSignedInt
                | FromInt(_)
        )
    }

    /// The operator on machine words: `a` has `width_a` bits and `b` has `width_b`; the bits above
    /// are zero, in the result too. Truth values are 0 and 1; operators with one argument take it
    /// as `a`. Arguments and result have at most 64 bits. Conversions from and to int are not
    /// supported and give 0.
    #[inline]
    pub fn on_words(self, (a, width_a): (u64, u32), (b, width_b): (u64, u32)) -> u64 {
        if self.is_conversion() { 0 } else { super::apply_word(self, (a, width_a), (b, width_b)) }
    }

    /// Two numbers that identify the operator, for hashing.
    pub(crate) fn code(self) -> (u32, u32) {
        match self {
            BvOp::Extract { high, low } => (100, u32::from(high) << 16 | u32::from(low)),
            BvOp::ZeroExtend(n) => (101, n),
            BvOp::SignExtend(n) => (102, n),
            BvOp::FromInt(width) => (103, width.bits()),
            BvOp::Neg => (0, 0),
            BvOp::Add => (1, 0),
            BvOp::Sub => (2, 0),
            BvOp::Mul => (3, 0),
            BvOp::Udiv => (4, 0),
            BvOp::Urem => (5, 0),
            BvOp::Sdiv => (6, 0),
            BvOp::Srem => (7, 0),
            BvOp::Smod => (8, 0),
            BvOp::Not => (9, 0),
            BvOp::And => (10, 0),
            BvOp::Or => (11, 0),
            BvOp::Xor => (12, 0),
            BvOp::Shl => (13, 0),
            BvOp::Lshr => (14, 0),
            BvOp::Ashr => (15, 0),
            BvOp::Concat => (16, 0),
            BvOp::Ult => (17, 0),
            BvOp::Ule => (18, 0),
            BvOp::Ugt => (19, 0),
            BvOp::Uge => (20, 0),
            BvOp::Slt => (21, 0),
            BvOp::Sle => (22, 0),
            BvOp::Sgt => (23, 0),
            BvOp::Sge => (24, 0),
            BvOp::ToInt => (25, 0),
            BvOp::ToSignedInt => (26, 0),
        }
    }

    pub(crate) fn result_sort(self, args: &[Sort]) -> Result<Sort, SortError> {
        let wrong = |expected: &'static str| {
            Err(SortError { op: Op::Bv(self), found: args.to_vec(), expected })
        };
        let sized = |bits: u32, expected| match Width::new(bits) {
            Some(width) => Ok(Sort::BitVec(width)),
            None => wrong(expected),
        };
        const TOO_WIDE: &str = "bit-vectors that make at most 65536 bits";
        match (self, args) {
            (BvOp::Neg | BvOp::Not, &[sort @ Sort::BitVec(_)]) => Ok(sort),
            (BvOp::Extract { high, low }, [Sort::BitVec(w)]) => {
                if low <= high && u32::from(high) < w.bits() {
                    sized(u32::from(high - low) + 1, TOO_WIDE)
                } else {
                    wrong("a bit-vector that has the bits that are taken")
                }
            }
            (BvOp::ZeroExtend(n) | BvOp::SignExtend(n), [Sort::BitVec(w)]) => {
                sized(w.bits().saturating_add(n), TOO_WIDE)
            }
            (BvOp::ToInt | BvOp::ToSignedInt, [Sort::BitVec(_)]) => Ok(Sort::Int),
            (BvOp::FromInt(width), [Sort::Int]) => Ok(Sort::BitVec(width)),
            (BvOp::FromInt(_), _) => wrong("one int"),
            (op, _) if op.is_unary() => wrong("one bit-vector"),
            (BvOp::Concat, [Sort::BitVec(a), Sort::BitVec(b)]) => {
                sized(a.bits() + b.bits(), TOO_WIDE)
            }
            (BvOp::Concat, _) => wrong("two bit-vectors"),
            (op, [Sort::BitVec(a), Sort::BitVec(b)]) if a == b => {
                Ok(if op.is_comparison() { Sort::Bool } else { Sort::BitVec(*a) })
            }
            _ => wrong("two bit-vectors of one width"),
        }
    }
}

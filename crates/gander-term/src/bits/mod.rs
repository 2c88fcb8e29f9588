//! Bit-vectors: widths, exact values, operators.
//!
//! A value of width `w` is a number in `0 .. 2^w`; signed operators interpret it in two's
//! complement. Every operator has its SMT-LIB meaning (theory FixedSizeBitVectors, and the
//! conversions of Ints): arithmetic is modulo `2^w`, division by zero is total, and a shift by the
//! width or more shifts out all bits. docs/semantics.md has the table.

mod op;
mod wide;
mod word;

use dashu_base::BitTest;
use dashu_int::UBig;

use crate::value::IBig;

pub use op::BvOp;
pub(crate) use wide::apply;
pub(crate) use word::{apply_word, mask, sign_extend};

/// The number of bits of a bit-vector: `1 ..= Width::MAX`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Width(u32);

impl Width {
    /// The largest number of bits.
    pub const MAX: u32 = 65_536;
    /// One bit.
    pub const W1: Width = Width(1);
    /// 8 bits.
    pub const W8: Width = Width(8);
    /// 16 bits.
    pub const W16: Width = Width(16);
    /// 32 bits.
    pub const W32: Width = Width(32);
    /// 64 bits.
    pub const W64: Width = Width(64);

    /// The width of `bits` bits; `None` for 0 and above [`Width::MAX`].
    pub const fn new(bits: u32) -> Option<Width> {
        if bits == 0 || bits > Width::MAX { None } else { Some(Width(bits)) }
    }

    /// The number of bits.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// `2^w`, the number of values.
    pub fn size(self) -> UBig {
        UBig::ONE << self.0 as usize
    }
}

/// A bit-vector, stored as the number in `0 .. 2^w` with these binary digits.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct BitVec {
    width: Width,
    bits: UBig,
}

impl BitVec {
    /// The number `i` modulo `2^w`; a negative `i` gives its two's complement.
    pub fn wrap(width: Width, i: impl Into<IBig>) -> BitVec {
        let (sign, mut bits) = i.into().into_parts();
        let n = width.0 as usize;
        bits.clear_high_bits(n);
        if sign == dashu_base::Sign::Negative && !bits.is_zero() {
            bits = width.size() - bits;
        }
        BitVec { width, bits }
    }

    /// The number `i`, if it is below `2^w` and not below `-2^(w-1)`.
    pub fn exact(width: Width, i: impl Into<IBig>) -> Option<BitVec> {
        let i = i.into();
        let v = BitVec::wrap(width, i.clone());
        (i == v.unsigned() || i == v.signed()).then_some(v)
    }

    fn zero(width: Width) -> BitVec {
        BitVec { width, bits: UBig::ZERO }
    }

    fn ones(width: Width) -> BitVec {
        BitVec { width, bits: UBig::ones(width.0 as usize) }
    }

    /// The low bits of `bits`.
    fn low(width: Width, mut bits: UBig) -> BitVec {
        bits.clear_high_bits(width.0 as usize);
        BitVec { width, bits }
    }

    /// The number of bits.
    pub fn width(&self) -> Width {
        self.width
    }

    /// The bits as a number `0 .. 2^w`.
    pub fn bits(&self) -> &UBig {
        &self.bits
    }

    /// The bits as a number `0 .. 2^w`.
    pub fn unsigned(&self) -> IBig {
        IBig::from(self.bits.clone())
    }

    /// The bits as a number `-2^(w-1) .. 2^(w-1)`, in two's complement.
    pub fn signed(&self) -> IBig {
        if self.sign_bit() {
            self.unsigned() - IBig::from(self.width.size())
        } else {
            self.unsigned()
        }
    }

    /// True if every bit is one.
    pub fn is_ones(&self) -> bool {
        self.bits.count_ones() == self.width.0 as usize
    }

    /// The highest bit.
    pub fn sign_bit(&self) -> bool {
        self.bit(self.width.0 - 1)
    }

    /// The bit at a position, the lowest at 0; false beyond the width.
    pub fn bit(&self, position: u32) -> bool {
        self.bits.bit(position as usize)
    }

    /// The bits as a machine word, if they fit into one.
    pub(crate) fn word(&self) -> Option<u64> {
        if self.width.0 <= 64 { u64::try_from(&self.bits).ok() } else { None }
    }

    /// A vector of at most 64 bits from a machine word, whose higher bits are zero.
    pub(crate) fn from_word(width: Width, word: u64) -> BitVec {
        BitVec { width, bits: UBig::from(word) }
    }
}

#[cfg(test)]
mod tests;

//! Sorts: the types of terms.

use std::borrow::Cow;

use crate::bits::Width;
use crate::pool::Pool;
use crate::value::Value;

/// An enumeration declared in a [`Pool`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct EnumId(pub(crate) u32);

impl EnumId {
    /// Position in the order of declaration.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The sort of a term.
///
/// Arrays will be a further variant with a small `Copy` payload (an id into the pool), like [`Sort::Enum`]: nothing
/// outside this crate may assume that the list is final.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Sort {
    /// Truth values.
    Bool,
    /// Unbounded integers.
    Int,
    /// Rational numbers.
    Real,
    /// Sequences of Unicode code points.
    String,
    /// A declared enumeration.
    Enum(EnumId),
    /// Bit-vectors of one width.
    BitVec(Width),
}

impl Sort {
    /// Int or real.
    pub fn is_numeric(self) -> bool {
        matches!(self, Sort::Int | Sort::Real)
    }

    /// True if the sort has finitely many values whatever their range.
    pub fn is_finite(self) -> bool {
        matches!(self, Sort::Bool | Sort::Enum(_) | Sort::BitVec(_))
    }

    /// The number of values of a finite sort, if it is at most `limit`.
    pub fn size_within(self, pool: &Pool, limit: u32) -> Option<u32> {
        let size = match self {
            Sort::Bool => 2,
            Sort::Enum(id) => u32::try_from(pool.enumeration(id).variants.len()).ok()?,
            Sort::BitVec(width) => 1u32.checked_shl(width.bits())?,
            Sort::Int | Sort::Real | Sort::String => return None,
        };
        (size <= limit).then_some(size)
    }

    /// All values of a finite sort, if there are at most `limit`.
    pub fn values_within(self, pool: &Pool, limit: u32) -> Option<Vec<Value>> {
        let size = self.size_within(pool, limit)?;
        let value = |i| match self {
            Sort::Enum(id) => Value::Enum(id, i),
            Sort::BitVec(width) => Value::bits(width, i),
            _ => Value::Bool(i == 1),
        };
        Some((0..size).map(value).collect())
    }

    /// The name that the text form uses for this sort.
    pub fn name(self, pool: &Pool) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            Sort::Bool => "bool",
            Sort::Int => "int",
            Sort::Real => "real",
            Sort::String => "string",
            Sort::Enum(id) => &pool.enumeration(id).name,
            Sort::BitVec(width) => return Cow::Owned(format!("bits{}", width.bits())),
        })
    }
}

/// A declared enumeration: a name and at least one variant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Enumeration {
    /// The name of the sort.
    pub name: String,
    /// The variants, in the order of declaration.
    pub variants: Vec<String>,
}

impl Enumeration {
    /// The position of the variant with this name.
    pub fn position(&self, variant: &str) -> Option<u32> {
        self.variants.iter().position(|v| v == variant).map(|i| i as u32)
    }
}

//! Sorts: the types of terms.

use std::borrow::Cow;

use crate::array::{ArraySort, ArrayValue};
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
    /// Arrays: total functions.
    Array(ArraySort),
}

impl Sort {
    /// Int or real.
    pub fn is_numeric(self) -> bool {
        matches!(self, Sort::Int | Sort::Real)
    }

    /// True for bool, enumerations and bit-vectors. Arrays over finite sorts do not count: they
    /// usually have too many values to enumerate.
    pub fn is_finite(self) -> bool {
        matches!(self, Sort::Bool | Sort::Enum(_) | Sort::BitVec(_))
    }

    /// The number of values of a finite sort, if it is at most `limit`.
    pub fn size_within(self, pool: &Pool, limit: u32) -> Option<u32> {
        let size = match self {
            Sort::Bool => 2,
            Sort::Enum(id) => u32::try_from(pool.enumeration(id).variants.len()).ok()?,
            Sort::BitVec(width) => 1u32.checked_shl(width.bits())?,
            Sort::Int | Sort::Real | Sort::String | Sort::Array(_) => return None,
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

    /// The enumerations in the sort: itself, or those of the index and element sorts.
    pub fn enumerations(self) -> Vec<EnumId> {
        let (mut found, mut sort) = (Vec::new(), self);
        while let Sort::Array(array) = sort {
            if let Sort::Enum(e) = array.index() {
                found.push(e);
            }
            sort = array.element();
        }
        if let Sort::Enum(e) = sort {
            found.push(e);
        }
        found
    }

    /// A fixed value of the sort: false, zero, the empty string, the first variant, or the constant
    /// array of such a value.
    pub fn first_value(self) -> Value {
        match self {
            Sort::Bool => Value::Bool(false),
            Sort::Int => Value::int(0),
            Sort::Real => Value::whole(0),
            Sort::String => Value::str(""),
            Sort::Enum(e) => Value::Enum(e, 0),
            Sort::BitVec(width) => Value::bits(width, 0),
            // Bounded by the nesting of arrays.
            Sort::Array(array) => Value::array(ArrayValue::of_first_value(array)),
        }
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
            Sort::Array(array) => {
                // Bounded by the nesting of arrays.
                return Cow::Owned(format!(
                    "array[{}] of {}",
                    array.index().name(pool),
                    array.element().name(pool)
                ));
            }
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
        let variant = gander_text::visible(variant);
        self.variants.iter().position(|v| *v == variant).map(|i| i as u32)
    }
}

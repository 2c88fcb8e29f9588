//! Sorts: the types of terms.

use crate::pool::Pool;

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
/// Bit-vectors and arrays will be further variants with a small `Copy` payload (a width, or an id into the pool),
/// like [`Sort::Enum`]: nothing outside this crate may assume that the list is final.
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
}

impl Sort {
    /// Int or real.
    pub fn is_numeric(self) -> bool {
        matches!(self, Sort::Int | Sort::Real)
    }

    /// True if the sort has finitely many values whatever their range.
    pub fn is_finite(self) -> bool {
        matches!(self, Sort::Bool | Sort::Enum(_))
    }

    /// The name that the text form uses for this sort.
    pub fn name(self, pool: &Pool) -> &str {
        match self {
            Sort::Bool => "bool",
            Sort::Int => "int",
            Sort::Real => "real",
            Sort::String => "string",
            Sort::Enum(id) => &pool.enumeration(id).name,
        }
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

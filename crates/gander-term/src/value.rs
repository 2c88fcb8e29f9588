//! Exact values of terms.

use std::sync::Arc;

use crate::array::ArrayValue;
use crate::bits::{BitVec, Width};
use crate::sort::{EnumId, Sort};

pub use dashu_int::IBig;
pub use dashu_ratio::RBig;

/// A value of some [`Sort`]. Numbers are exact and unbounded.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(IBig),
    /// A rational, in lowest terms.
    Real(RBig),
    /// A string.
    Str(Arc<str>),
    /// A variant of an enumeration, by position.
    Enum(EnumId, u32),
    /// A bit-vector.
    BitVec(BitVec),
    /// An array.
    Array(Arc<ArrayValue>),
}

impl Value {
    /// The sort of the value.
    pub fn sort(&self) -> Sort {
        match self {
            Value::Bool(_) => Sort::Bool,
            Value::Int(_) => Sort::Int,
            Value::Real(_) => Sort::Real,
            Value::Str(_) => Sort::String,
            Value::Enum(id, _) => Sort::Enum(*id),
            Value::BitVec(v) => Sort::BitVec(v.width()),
            Value::Array(a) => Sort::Array(a.sort()),
        }
    }

    /// An integer value.
    pub fn int(i: impl Into<IBig>) -> Value {
        Value::Int(i.into())
    }

    /// A string value.
    pub fn str(s: &str) -> Value {
        Value::Str(Arc::from(s))
    }

    /// A real value that is a whole number.
    pub fn whole(i: impl Into<IBig>) -> Value {
        Value::Real(RBig::from(i.into()))
    }

    /// The bit-vector of an integer modulo `2^w`.
    pub fn bits(width: Width, i: impl Into<IBig>) -> Value {
        Value::BitVec(BitVec::wrap(width, i))
    }

    /// An array value.
    pub fn array(a: ArrayValue) -> Value {
        Value::Array(Arc::new(a))
    }

    /// The truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(b) => Some(*b),
            _ => None,
        }
    }

    /// The integer, if it is one.
    pub fn as_int(&self) -> Option<&IBig> {
        match self {
            Value::Int(i) => Some(i),
            _ => None,
        }
    }

    /// The rational, if it is one.
    pub fn as_real(&self) -> Option<&RBig> {
        match self {
            Value::Real(r) => Some(r),
            _ => None,
        }
    }

    /// The bit-vector, if it is one.
    pub fn as_bits(&self) -> Option<&BitVec> {
        match self {
            Value::BitVec(v) => Some(v),
            _ => None,
        }
    }

    /// The array, if it is one.
    pub fn as_array(&self) -> Option<&ArrayValue> {
        match self {
            Value::Array(a) => Some(a),
            _ => None,
        }
    }
}

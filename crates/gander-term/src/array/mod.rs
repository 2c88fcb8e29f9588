//! Arrays: total functions from the values of one sort to those of another.
//!
//! An array sort is a small `Copy` handle, like every sort. The handle is an index into one table
//! of the process, so equal sorts have equal handles in all pools. A handle that mentions a pool's
//! enumeration belongs to that pool, like the enumeration itself. Index sorts are not arrays;
//! element sorts may be, up to [`ArraySort::MAX_NESTING`] levels. Recursion over sorts and values
//! is therefore bounded.
//!
//! [`ArrayValue`] represents a function with finitely many exceptions from a default. The
//! representation is canonical: equal functions are equal values.

mod value;

use std::cmp::Ordering;
use std::sync::{LazyLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;

use crate::pool::Pool;
use crate::sort::Sort;

pub use value::ArrayValue;

/// An array sort; made by [`Pool::array_sort`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ArraySort(u32);

/// The table entry of a handle.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Shape {
    index: Sort,
    element: Sort,
    /// The number of values of the index sort, if that is finite and below `2^63`.
    positions: Option<u64>,
}

#[derive(Default)]
struct Table {
    shapes: Vec<Shape>,
    handles: FxHashMap<Shape, u32>,
}

static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(RwLock::default);

impl ArraySort {
    /// The largest nesting depth of arrays of arrays.
    pub const MAX_NESTING: usize = 8;

    fn shape(self) -> Shape {
        TABLE.read().unwrap_or_else(PoisonError::into_inner).shapes[self.0 as usize]
    }

    fn intern(shape: Shape) -> ArraySort {
        if let Some(&known) =
            TABLE.read().unwrap_or_else(PoisonError::into_inner).handles.get(&shape)
        {
            return ArraySort(known);
        }
        let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
        let next = table.shapes.len() as u32;
        let handle = *table.handles.entry(shape).or_insert(next);
        if handle == next {
            table.shapes.push(shape);
        }
        ArraySort(handle)
    }

    /// The sort of indices.
    pub fn index(self) -> Sort {
        self.shape().index
    }

    /// The sort of elements.
    pub fn element(self) -> Sort {
        self.shape().element
    }

    /// The number of indices, if they are finitely many and fewer than `2^63`.
    pub fn positions(self) -> Option<u64> {
        self.shape().positions
    }

    /// The nesting depth: 1 if the elements are not arrays.
    pub fn nesting(self) -> usize {
        let (mut depth, mut sort) = (1, self.element());
        while let Sort::Array(inner) = sort {
            depth += 1;
            sort = inner.element();
        }
        depth
    }

    /// A number that identifies the sort, for tables.
    pub(crate) fn code(self) -> u32 {
        self.0
    }
}

/// Orders by index sort, then by element sort. Handle numbers depend on what else the process did,
/// so they are not compared.
impl Ord for ArraySort {
    fn cmp(&self, other: &ArraySort) -> Ordering {
        if self == other {
            return Ordering::Equal;
        }
        let key = |s: &ArraySort| {
            let shape = s.shape();
            (shape.index, shape.element, shape.positions)
        };
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for ArraySort {
    fn partial_cmp(&self, other: &ArraySort) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Pool {
    /// The sort of arrays from `index` to `element`; `None` if `index` is a sort of arrays, or
    /// arrays would be nested deeper than [`ArraySort::MAX_NESTING`].
    pub fn array_sort(&self, index: Sort, element: Sort) -> Option<Sort> {
        let positions = match index {
            Sort::Bool => Some(2),
            Sort::Enum(e) => Some(self.enumeration(e).variants.len() as u64),
            Sort::BitVec(width) if width.bits() < 63 => Some(1 << width.bits()),
            Sort::BitVec(_) | Sort::Int | Sort::Real | Sort::String => None,
            Sort::Array(_) => return None,
        };
        if let Sort::Array(inner) = element
            && inner.nesting() >= ArraySort::MAX_NESTING
        {
            return None;
        }
        Some(Sort::Array(ArraySort::intern(Shape { index, element, positions })))
    }
}

#[cfg(test)]
mod tests;

//! Arrays: total functions from the values of one sort to those of another.
//!
//! A sort of arrays is a small `Copy` handle, as every sort is. What it stands for lies in a table of the process, so that
//! equal sorts have equal handles whatever pool they were made for; a handle of a pool's enumeration belongs to
//! that pool as the enumeration itself does. Index sorts are no arrays, elements may be, up to [`ArraySort::MAX_NESTING`] deep.
//! Therefore recursion over sorts and over values is bounded.
//!
//! [`ArrayValue`] keeps a function that has finitely many exceptions from a default. Its form is canonical: equal functions
//! are equal values.

mod value;

use std::cmp::Ordering;
use std::sync::{LazyLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;

use crate::pool::Pool;
use crate::sort::Sort;

pub use value::ArrayValue;

/// A sort of arrays; made by [`Pool::array_sort`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ArraySort(u32);

/// What a handle stands for.
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
    /// Arrays of arrays go at most this deep.
    pub const MAX_NESTING: usize = 8;

    fn shape(self) -> Shape {
        TABLE.read().unwrap_or_else(PoisonError::into_inner).shapes[self.0 as usize]
    }

    fn intern(shape: Shape) -> ArraySort {
        if let Some(&known) = TABLE.read().unwrap_or_else(PoisonError::into_inner).handles.get(&shape) {
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

    /// How deep arrays are nested: 1 if the elements are no arrays.
    pub fn nesting(self) -> usize {
        let (mut depth, mut sort) = (1, self.element());
        while let Sort::Array(inner) = sort {
            depth += 1;
            sort = inner.element();
        }
        depth
    }

    /// A number that tells sorts apart, for tables.
    pub(crate) fn code(self) -> u32 {
        self.0
    }
}

/// By index sort, then by element sort: handles depend on what else the process did.
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
    /// The sort of arrays from `index` to `element`; `None` if `index` is a sort of arrays, or arrays would be nested deeper than
    /// [`ArraySort::MAX_NESTING`].
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

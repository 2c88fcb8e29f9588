//! Values of arrays.

use std::collections::BTreeMap;

use dashu_base::BitTest;

use crate::sort::Sort;
use crate::value::Value;

use super::ArraySort;

/// A function with finitely many exceptions from a default.
///
/// Invariants: exceptions are sorted by index and differ from the default. If the index sort is
/// finite, the default is the most frequent element, and the smallest of those with equal
/// frequency. So each function has exactly one representation. `size` is computed from the other
/// fields and is at most [`ArrayValue::MAX_SIZE`].
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ArrayValue {
    sort: ArraySort,
    default: Value,
    exceptions: Vec<(Value, Value)>,
    size: usize,
}

impl ArrayValue {
    /// The largest allowed [`ArrayValue::size`].
    pub const MAX_SIZE: usize = 1 << 20;

    /// The array with these elements at these indices (the last entry for an index wins) and
    /// `default` everywhere else; `None` if something has the wrong sort, or if the array is too
    /// large.
    pub fn new(
        sort: ArraySort,
        default: Value,
        elements: Vec<(Value, Value)>,
    ) -> Option<ArrayValue> {
        let (index, element) = (sort.index(), sort.element());
        let fits = |(i, v): &(Value, Value)| i.sort() == index && v.sort() == element;
        if default.sort() != element || !elements.iter().all(fits) {
            return None;
        }
        let map: BTreeMap<Value, Value> = elements.into_iter().collect();
        ArrayValue { sort, default, exceptions: map.into_iter().collect(), size: 0 }.canonical()
    }

    /// The array that is `element` everywhere; `None` if that has the wrong sort or is too large.
    pub fn constant(sort: ArraySort, element: Value) -> Option<ArrayValue> {
        ArrayValue::new(sort, element, Vec::new())
    }

    /// The array that has the first value of the element sort everywhere.
    pub(crate) fn of_first_value(sort: ArraySort) -> ArrayValue {
        let default = sort.element().first_value();
        let size = 1 + size_of_value(&default);
        ArrayValue { sort, default, exceptions: Vec::new(), size }
    }

    /// The cost of printing, comparing or hashing the array: about the number of values in it.
    /// Nested arrays count at each occurrence, although they may be stored once; long numbers and
    /// strings count as several values.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The sort.
    pub fn sort(&self) -> ArraySort {
        self.sort
    }

    /// The element at all indices without an exception. If every index has an exception, the
    /// default occurs nowhere.
    pub fn default(&self) -> &Value {
        &self.default
    }

    /// The indices where the element is not the default, in ascending order.
    pub fn exceptions(&self) -> &[(Value, Value)] {
        &self.exceptions
    }

    /// The element at `index`.
    pub fn get(&self, index: &Value) -> &Value {
        match self.exceptions.binary_search_by(|(i, _)| i.cmp(index)) {
            Ok(at) => &self.exceptions[at].1,
            Err(_) => &self.default,
        }
    }

    /// This array with `element` at `index`; `None` if something has the wrong sort, or if the
    /// array is too large.
    pub fn with(&self, index: Value, element: Value) -> Option<ArrayValue> {
        if index.sort() != self.sort.index() || element.sort() != self.sort.element() {
            return None;
        }
        let mut new = self.clone();
        match new.exceptions.binary_search_by(|(i, _)| i.cmp(&index)) {
            Ok(at) => new.exceptions[at].1 = element,
            Err(at) => new.exceptions.insert(at, (index, element)),
        }
        new.canonical()
    }

    /// Computes the size; `None` if it is too large.
    fn measured(mut self) -> Option<ArrayValue> {
        let parts = self.exceptions.iter().flat_map(|(i, v)| [i, v]).map(size_of_value);
        self.size =
            parts.fold(size_of_value(&self.default).saturating_add(1), usize::saturating_add);
        (self.size <= ArrayValue::MAX_SIZE).then_some(self)
    }

    /// The unique representation of the function; `None` if it is too large.
    fn canonical(self) -> Option<ArrayValue> {
        // Check the size first: the following steps compare elements.
        let mut new = self.measured()?;
        let default = new.default.clone();
        new.exceptions.retain(|(_, v)| *v != default);
        new.with_frequent_default().measured()
    }

    /// For a finite index sort, makes the most frequent element the default.
    fn with_frequent_default(self) -> ArrayValue {
        let Some(positions) = self.sort.positions() else { return self };
        let others = self.exceptions.len() as u64;
        if 2 * others < positions {
            return self;
        }
        // At least half of the indices have exceptions, so enumerating all indices is affordable.
        let mut counts: BTreeMap<&Value, u64> = BTreeMap::new();
        for (_, v) in &self.exceptions {
            *counts.entry(v).or_default() += 1;
        }
        if others < positions {
            counts.insert(&self.default, positions - others);
        }
        // Of equally frequent elements, take the smallest; the map is sorted.
        let mut best = (&self.default, 0);
        for (v, n) in counts {
            if n > best.1 {
                best = (v, n);
            }
        }
        if *best.0 == self.default {
            return self;
        }
        let default = best.0.clone();
        let all = (0..positions).map(|n| position(self.sort.index(), n)).map(|i| {
            let v = self.get(&i).clone();
            (i, v)
        });
        let mut exceptions: Vec<(Value, Value)> = all.filter(|(_, v)| *v != default).collect();
        exceptions.sort_unstable();
        ArrayValue { sort: self.sort, default, exceptions, size: self.size }
    }
}

/// The contribution of a value to the size of the array that contains it.
fn size_of_value(value: &Value) -> usize {
    match value {
        Value::Bool(_) | Value::Enum(..) => 1,
        Value::BitVec(b) => 1 + b.width().bits() as usize / 512,
        Value::Int(i) => 1 + i.bit_len() / 512,
        Value::Real(r) => 1 + (r.numerator().bit_len() + r.denominator().bit_len()) / 512,
        Value::Str(s) => 1 + s.len() / 64,
        Value::Array(a) => a.size,
    }
}

/// The value at position `n` of a finite sort.
fn position(sort: Sort, n: u64) -> Value {
    match sort {
        Sort::Bool => Value::Bool(n == 1),
        Sort::Enum(e) => Value::Enum(e, n as u32),
        Sort::BitVec(width) => Value::bits(width, n),
        Sort::Int | Sort::Real | Sort::String | Sort::Array(_) => {
            unreachable!("a sort with finitely many values")
        }
    }
}

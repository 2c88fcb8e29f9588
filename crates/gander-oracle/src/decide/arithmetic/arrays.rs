//! Arrays as docs/semantics.md defines them: total functions, equal if they are equal at every
//! index.

use gander_term::{ArraySort, ArrayValue, Value};

use crate::Refusal;

/// The array with these elements, of which later ones take precedence, and `default` elsewhere.
pub(super) fn made(
    sort: ArraySort,
    default: Value,
    elements: Vec<(Value, Value)>,
) -> Result<Value, Refusal> {
    let sorted = default.sort() == sort.element()
        && elements.iter().all(|(i, v)| (i.sort(), v.sort()) == (sort.index(), sort.element()));
    let refusal = if sorted { Refusal::TooMuchWork } else { Refusal::IllSorted };
    ArrayValue::new(sort, default, elements).map(Value::array).ok_or(refusal)
}

/// The element at an index.
pub(super) fn element<'a>(a: &'a ArrayValue, index: &Value) -> &'a Value {
    a.exceptions().iter().find(|(i, _)| i == index).map_or(a.default(), |(_, v)| v)
}

/// The array with another element at one index.
pub(super) fn written(a: &ArrayValue, index: &Value, element: &Value) -> Result<Value, Refusal> {
    let mut elements = a.exceptions().to_vec();
    elements.push((index.clone(), element.clone()));
    made(a.sort(), a.default().clone(), elements)
}

/// True if the arrays are equal at every index: at those that either mentions, and, if there are
/// others, in their defaults.
pub(super) fn same(a: &ArrayValue, b: &ArrayValue) -> bool {
    let mut mentioned: Vec<&Value> =
        a.exceptions().iter().chain(b.exceptions()).map(|(i, _)| i).collect();
    mentioned.sort();
    mentioned.dedup();
    let others = a.sort().positions().is_none_or(|n| n > mentioned.len() as u64);
    let equal = |x: &Value, y: &Value| match (x, y) {
        // Recurses over nested arrays only, whose depth is limited.
        (Value::Array(x), Value::Array(y)) => same(x, y),
        _ => x == y,
    };
    mentioned.iter().all(|i| equal(element(a, i), element(b, i)))
        && (!others || equal(a.default(), b.default()))
}

#[cfg(test)]
mod tests {
    use gander_term::{Op, Pool, Sort};

    use super::super::apply;
    use super::*;

    #[test]
    fn arrays_are_functions() {
        let Some(Sort::Array(sort)) = Pool::new().array_sort(Sort::Bool, Sort::Int) else {
            panic!("a sort")
        };
        let zero = apply(Op::ConstArray(sort), &[Value::int(0)]).unwrap();
        let truth = |b| Value::Bool(b);
        let one = apply(Op::Store, &[zero.clone(), truth(true), Value::int(1)]).unwrap();
        assert_eq!(apply(Op::Select, &[one.clone(), truth(true)]).unwrap(), Value::int(1));
        assert_eq!(apply(Op::Select, &[one.clone(), truth(false)]).unwrap(), Value::int(0));
        let both = apply(Op::Store, &[one, truth(false), Value::int(1)]).unwrap();
        let ones = apply(Op::ConstArray(sort), &[Value::int(1)]).unwrap();
        assert_eq!(apply(Op::Eq, &[both.clone(), ones]).unwrap(), truth(true));
        assert_eq!(apply(Op::Eq, &[both, zero]).unwrap(), truth(false));
    }
}

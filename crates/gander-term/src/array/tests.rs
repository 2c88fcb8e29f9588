//! Equal array sorts have equal handles; equal functions are equal values.

use super::*;
use crate::bits::Width;
use crate::eval::{EvalError, evaluate};
use crate::op::Op;
use crate::value::Value;

fn sort(index: Sort, element: Sort) -> ArraySort {
    match Pool::new().array_sort(index, element) {
        Some(Sort::Array(s)) => s,
        other => panic!("{other:?}"),
    }
}

#[test]
fn equal_sorts_have_equal_handles() {
    let a = sort(Sort::Int, Sort::Bool);
    assert_eq!(a, sort(Sort::Int, Sort::Bool));
    assert_ne!(a, sort(Sort::Bool, Sort::Int));
    assert_eq!((a.index(), a.element(), a.positions()), (Sort::Int, Sort::Bool, None));
    assert_eq!(sort(Sort::BitVec(Width::W8), Sort::Int).positions(), Some(256));
    assert_eq!(sort(Sort::BitVec(Width::W64), Sort::Int).positions(), None);
}

#[test]
fn index_sorts_are_not_arrays_and_nesting_is_limited() {
    let pool = Pool::new();
    let mut s = pool.array_sort(Sort::Int, Sort::Int).unwrap();
    assert_eq!(pool.array_sort(s, Sort::Int), None);
    for _ in 1..ArraySort::MAX_NESTING {
        s = pool.array_sort(Sort::Int, s).unwrap();
    }
    assert_eq!(pool.array_sort(Sort::Int, s), None);
}

#[test]
fn array_sorts_over_enumerations_of_different_size_differ() {
    let (mut a, mut b) = (Pool::new(), Pool::new());
    let one = a.declare_enum("A", &["X"]).unwrap();
    let two = b.declare_enum("B", &["Y", "Z"]).unwrap();
    assert_ne!(a.array_sort(Sort::Enum(one), Sort::Int), b.array_sort(Sort::Enum(two), Sort::Int));
}

#[test]
fn the_order_of_stores_to_different_indices_does_not_matter() {
    let s = sort(Sort::Int, Sort::Int);
    let zero = ArrayValue::constant(s, Value::int(0)).unwrap();
    let a = zero
        .with(Value::int(1), Value::int(5))
        .unwrap()
        .with(Value::int(2), Value::int(6))
        .unwrap();
    let b = zero
        .with(Value::int(2), Value::int(6))
        .unwrap()
        .with(Value::int(1), Value::int(5))
        .unwrap();
    assert_eq!(a, b);
    assert_eq!(a.get(&Value::int(2)), &Value::int(6));
    assert_eq!(a.get(&Value::int(3)), &Value::int(0));
    let back =
        a.with(Value::int(1), Value::int(0)).unwrap().with(Value::int(2), Value::int(0)).unwrap();
    assert_eq!(back, zero);
}

#[test]
fn values_of_other_sorts_are_refused() {
    let s = sort(Sort::Int, Sort::Int);
    assert!(ArrayValue::constant(s, Value::Bool(true)).is_none());
    let a = ArrayValue::constant(s, Value::int(0)).unwrap();
    assert!(a.with(Value::Bool(true), Value::int(0)).is_none());
    assert!(a.with(Value::int(0), Value::Bool(true)).is_none());
    assert!(ArrayValue::new(s, Value::int(0), vec![(Value::int(0), Value::whole(1))]).is_none());
}

/// Every function from two bits to four elements, built from every default, has one representation.
#[test]
fn functions_over_finite_indices_have_one_representation() {
    let width = Width::new(2).unwrap();
    let s = sort(Sort::BitVec(width), Sort::Int);
    for code in 0..256u32 {
        let element = |i: u32| Value::int(code >> (2 * i) & 3);
        let elements: Vec<_> = (0..4).map(|i| (Value::bits(width, i), element(i))).collect();
        let forms: Vec<ArrayValue> =
            (0..6).map(|d| ArrayValue::new(s, Value::int(d), elements.clone()).unwrap()).collect();
        assert!(forms.iter().all(|f| *f == forms[0]), "{code}: {forms:?}");
        for i in 0..4 {
            assert_eq!(forms[5].get(&Value::bits(width, i)), &element(i));
        }
        // Stores one element at a time, forwards and backwards.
        let mut there = ArrayValue::constant(s, Value::int(9)).unwrap();
        let mut back = there.clone();
        for (i, v) in &elements {
            there = there.with(i.clone(), v.clone()).unwrap();
        }
        for (i, v) in elements.iter().rev() {
            back = back.with(i.clone(), v.clone()).unwrap();
        }
        assert_eq!((&there, &back), (&forms[0], &forms[0]));
    }
}

/// The size counts shared parts at every occurrence: an array of 16^8 elements is refused early.
#[test]
fn large_nested_arrays_with_shared_parts_are_refused() {
    let mut pool = Pool::new();
    let mut term = pool.constant(Value::int(1));
    let mut largest = 0;
    for _ in 0..ArraySort::MAX_NESTING {
        let s = sort(Sort::Int, pool.sort(term));
        let first = pool.constant(pool.sort(term).first_value());
        let mut array = pool.mk(Op::ConstArray(s), &[first]).unwrap();
        for i in 0..16 {
            let i = pool.constant(Value::int(i));
            array = pool.store(array, i, term);
        }
        array = pool.simplify(array);
        if let Some(Value::Array(a)) = pool.as_constant(array) {
            largest = a.size();
            assert!(largest <= ArrayValue::MAX_SIZE);
        }
        term = array;
    }
    assert!(largest > 16usize.pow(4));
    assert_eq!(evaluate(&pool, term, &|_| None), Err(EvalError::TooLarge));
}

#[test]
fn long_strings_count_towards_the_size() {
    let s = sort(Sort::Int, Sort::String);
    let long = Value::str(&"x".repeat(1 << 20));
    let mut a = ArrayValue::constant(s, Value::str("")).unwrap();
    let mut n = 0;
    while let Some(next) = a.with(Value::int(n), long.clone()) {
        a = next;
        n += 1;
        assert!(n < 1000);
    }
    assert!(n > 10);
}

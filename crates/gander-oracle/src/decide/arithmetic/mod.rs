//! The operators of docs/semantics.md, section 1, on values. Every one is total.
//!
//! Shares only the number types with `gander-term`; the operators are implemented independently.

mod arrays;
mod bits;

use std::cmp::Ordering;

use gander_term::{IBig, Op, RBig, Value};

use crate::Refusal;

/// Limits exponents, as the oracle is for small systems.
const LARGEST_EXPONENT: i64 = 256;
/// Limits the length of strings: a run that doubles one would exhaust memory.
const LONGEST_TEXT: usize = 4096;

/// Applies `op` to evaluated arguments. The evaluator handles `Ite`, the connectives and the
/// quantifiers itself.
pub(crate) fn apply(op: Op, args: &[Value]) -> Result<Value, Refusal> {
    Ok(match (op, args) {
        (Op::Eq, [Value::Array(a), Value::Array(b)]) => Value::Bool(arrays::same(a, b)),
        (Op::Eq, [a, b]) => Value::Bool(a == b),
        (Op::Select, [Value::Array(a), i]) => arrays::element(a, i).clone(),
        (Op::Store, [Value::Array(a), i, v]) => arrays::written(a, i, v)?,
        (Op::ConstArray(sort), [v]) => arrays::made(sort, v.clone(), Vec::new())?,
        (Op::Lt, [a, b]) => Value::Bool(order(a, b)? == Ordering::Less),
        (Op::Le, [a, b]) => Value::Bool(order(a, b)? != Ordering::Greater),
        (Op::Gt, [a, b]) => Value::Bool(order(a, b)? == Ordering::Greater),
        (Op::Ge, [a, b]) => Value::Bool(order(a, b)? != Ordering::Less),
        (Op::Neg, [Value::Int(a)]) => Value::Int(-a.clone()),
        (Op::Neg, [Value::Real(a)]) => Value::Real(-a.clone()),
        (Op::Abs, [Value::Int(a)]) => {
            Value::Int(if *a < IBig::ZERO { -a.clone() } else { a.clone() })
        }
        (Op::Abs, [Value::Real(a)]) => {
            Value::Real(if *a < RBig::ZERO { -a.clone() } else { a.clone() })
        }
        (Op::Add, _) => fold(args, |a, b| a + b, |a, b| a + b)?,
        (Op::Sub, [_, _]) => fold(args, |a, b| a - b, |a, b| a - b)?,
        (Op::Mul, _) => fold(args, |a, b| a * b, |a, b| a * b)?,
        (Op::Min, _) => select(args, Ordering::Less)?,
        (Op::Max, _) => select(args, Ordering::Greater)?,
        (Op::Div, [Value::Real(_), Value::Real(b)]) if *b == RBig::ZERO => Value::Real(RBig::ZERO),
        (Op::Div, [Value::Real(a), Value::Real(b)]) => Value::Real(a / b),
        (Op::IntDiv, [Value::Int(a), Value::Int(b)]) => Value::Int(euclid(a, b).0),
        (Op::Mod, [Value::Int(a), Value::Int(b)]) => Value::Int(euclid(a, b).1),
        (Op::Pow, [base, Value::Int(n)]) => power(base, n)?,
        (Op::ToReal, [Value::Int(a)]) => Value::Real(RBig::from(a.clone())),
        (Op::ToInt, [Value::Real(a)]) => Value::Int(floor(a)),
        (Op::Concat, _) => {
            let mut whole = String::new();
            for a in args {
                let Value::Str(part) = a else { return Err(Refusal::IllSorted) };
                whole.push_str(part);
            }
            if whole.len() > LONGEST_TEXT {
                return Err(Refusal::TooMuchWork);
            }
            Value::str(&whole)
        }
        (Op::Bv(op), _) => return bits::apply(op, args),
        _ => return Err(Refusal::IllSorted),
    })
}

/// The order of two numbers of one sort.
pub(crate) fn order(a: &Value, b: &Value) -> Result<Ordering, Refusal> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Ok(a.cmp(b)),
        (Value::Real(a), Value::Real(b)) => Ok(a.cmp(b)),
        _ => Err(Refusal::IllSorted),
    }
}

fn fold(
    args: &[Value],
    int: impl Fn(IBig, &IBig) -> IBig,
    real: impl Fn(RBig, &RBig) -> RBig,
) -> Result<Value, Refusal> {
    let (first, rest) = args.split_first().ok_or(Refusal::IllSorted)?;
    rest.iter().try_fold(first.clone(), |acc, b| match (acc, b) {
        (Value::Int(a), Value::Int(b)) => Ok(Value::Int(int(a, b))),
        (Value::Real(a), Value::Real(b)) => Ok(Value::Real(real(a, b))),
        _ => Err(Refusal::IllSorted),
    })
}

fn select(args: &[Value], wanted: Ordering) -> Result<Value, Refusal> {
    let (first, rest) = args.split_first().ok_or(Refusal::IllSorted)?;
    let mut best = first;
    for a in rest {
        if order(a, best)? == wanted {
            best = a;
        }
    }
    Ok(best.clone())
}

/// Quotient and remainder with `a = b * q + r` and `0 <= r < |b|`; `(0, a)` for `b = 0`.
fn euclid(a: &IBig, b: &IBig) -> (IBig, IBig) {
    if *b == IBig::ZERO {
        return (IBig::ZERO, a.clone());
    }
    // Integer division truncates towards zero, so its remainder has the sign of `a`.
    let (q, r) = (a / b, a % b);
    if r >= IBig::ZERO {
        (q, r)
    } else if *b > IBig::ZERO {
        (q - IBig::ONE, r + b)
    } else {
        (q + IBig::ONE, r - b)
    }
}

/// The greatest integer not above `a`.
fn floor(a: &RBig) -> IBig {
    // The denominator is positive, and for a positive divisor the Euclidean quotient is the floor.
    euclid(a.numerator(), &IBig::from(a.denominator().clone())).0
}

fn power(base: &Value, n: &IBig) -> Result<Value, Refusal> {
    if *n > IBig::from(LARGEST_EXPONENT) {
        return Err(Refusal::TooMuchWork);
    }
    let mut result = match base {
        Value::Int(_) => Value::int(1),
        Value::Real(_) => Value::whole(1),
        _ => return Err(Refusal::IllSorted),
    };
    let mut left = n.clone();
    while left > IBig::ZERO {
        result = apply(Op::Mul, &[result, base.clone()])?;
        left -= IBig::ONE;
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(op: Op, a: i64, b: i64) -> Value {
        apply(op, &[Value::int(a), Value::int(b)]).unwrap()
    }

    fn half(n: i64) -> Value {
        Value::Real(RBig::from(IBig::from(n)) / RBig::from(IBig::from(2)))
    }

    #[test]
    fn division_is_euclidean_and_total() {
        for (a, b, q, r) in [
            (7, 2, 3, 1),
            (-7, 2, -4, 1),
            (7, -2, -3, 1),
            (-7, -2, 4, 1),
            (-6, 3, -2, 0),
            (5, 0, 0, 5),
        ] {
            assert_eq!(ints(Op::IntDiv, a, b), Value::int(q), "{a} div {b}");
            assert_eq!(ints(Op::Mod, a, b), Value::int(r), "{a} mod {b}");
        }
        assert_eq!(apply(Op::Div, &[half(3), Value::whole(0)]).unwrap(), Value::whole(0));
        assert_eq!(apply(Op::Div, &[half(3), half(1)]).unwrap(), Value::whole(3));
    }

    #[test]
    fn negative_exponents_count_as_zero() {
        assert_eq!(ints(Op::Pow, 0, 0), Value::int(1));
        assert_eq!(ints(Op::Pow, 5, -3), Value::int(1));
        assert_eq!(ints(Op::Pow, -2, 3), Value::int(-8));
        assert_eq!(
            apply(Op::Pow, &[half(3), Value::int(2)]).unwrap(),
            Value::Real(RBig::from(IBig::from(9)) / RBig::from(IBig::from(4)))
        );
    }

    #[test]
    fn to_int_rounds_down() {
        for (n, floor) in [(3, 1), (-3, -2), (4, 2), (-4, -2), (0, 0), (-1, -1)] {
            assert_eq!(apply(Op::ToInt, &[half(n)]).unwrap(), Value::int(floor), "{n}/2");
        }
    }

    #[test]
    fn min_max_abs_and_concat_are_exact() {
        let three = [Value::int(2), Value::int(-1), Value::int(5)];
        assert_eq!(apply(Op::Min, &three).unwrap(), Value::int(-1));
        assert_eq!(apply(Op::Max, &three).unwrap(), Value::int(5));
        assert_eq!(apply(Op::Abs, &[Value::int(-4)]).unwrap(), Value::int(4));
        assert_eq!(apply(Op::Sub, &[Value::int(2), Value::int(5)]).unwrap(), Value::int(-3));
        let parts = [Value::str("a"), Value::str(""), Value::str("bc")];
        assert_eq!(apply(Op::Concat, &parts).unwrap(), Value::str("abc"));
    }
}

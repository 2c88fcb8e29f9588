//! The meaning of every operator on values.

use std::sync::Arc;

use dashu_base::{Abs, BitTest, DivEuclid, RemEuclid, Signed};

use crate::array::ArrayValue;
use crate::bits;
use crate::op::Op;
use crate::value::{IBig, RBig, Value};

use super::{EvalError, MAX_ARRAY_EXCEPTIONS, MAX_BITS, MAX_STRING_BYTES};

/// `op` applied to the values of its arguments.
///
/// # Panics
/// If `op` is a leaf or a quantifier, or the values have sorts that `op` does not take.
pub fn apply(op: Op, args: &[Value]) -> Result<Value, EvalError> {
    use Value::{Array, Bool, Int, Real};
    let value = match (op, args) {
        (Op::Not, [Bool(a)]) => Bool(!a),
        (Op::And, _) => Bool(args.iter().all(truth)),
        (Op::Or, _) => Bool(args.iter().any(truth)),
        (Op::Implies, [Bool(a), Bool(b)]) => Bool(!a || *b),
        (Op::Eq, [a, b]) => Bool(a == b),
        (Op::Ite, [Bool(c), a, b]) => return Ok(if *c { a.clone() } else { b.clone() }),
        (Op::Neg, [Int(a)]) => Int(-a),
        (Op::Neg, [Real(a)]) => Real(-a),
        (Op::Abs, [Int(a)]) => Int(a.clone().abs()),
        (Op::Abs, [Real(a)]) => Real(a.clone().abs()),
        (Op::Sub, [Int(a), Int(b)]) => Int(a - b),
        (Op::Sub, [Real(a), Real(b)]) => Real(a - b),
        (Op::Add | Op::Mul | Op::Min | Op::Max, [first, rest @ ..]) => {
            let mut sum = first.clone();
            for x in rest {
                sum = check(combine(op, &sum, x))?;
            }
            sum
        }
        (Op::Div, [Real(a), Real(b)]) => Real(if b.is_zero() { RBig::ZERO } else { a / b }),
        (Op::IntDiv, [Int(a), Int(b)]) => {
            Int(if b.is_zero() { IBig::ZERO } else { a.div_euclid(b) })
        }
        (Op::Mod, [Int(a), Int(b)]) => {
            Int(if b.is_zero() { a.clone() } else { IBig::from(a.rem_euclid(b)) })
        }
        (Op::Pow, [base, Int(exponent)]) => power(base, exponent)?,
        (Op::Lt, [a, b]) => Bool(a < b),
        (Op::Le, [a, b]) => Bool(a <= b),
        (Op::Gt, [a, b]) => Bool(a > b),
        (Op::Ge, [a, b]) => Bool(a >= b),
        (Op::ToReal, [Int(a)]) => Real(RBig::from(a.clone())),
        (Op::ToInt, [Real(a)]) => Int(a.floor()),
        (Op::Concat, _) => concat(args)?,
        (Op::Select, [Array(a), i]) => return Ok(a.get(i).clone()),
        (Op::Store, [Array(a), i, v]) => return store(a, i, v),
        (Op::ConstArray(sort), [v]) => match ArrayValue::constant(sort, v.clone()) {
            Some(a) => return Ok(Value::array(a)),
            None if v.sort() == sort.element() => return Err(EvalError::TooLarge),
            None => panic!("`{}` cannot be applied to {args:?}", op.name()),
        },
        (Op::Bv(bv), _) => match bits::apply(bv, args) {
            Some(value) => return Ok(value),
            None => panic!("`{}` cannot be applied to {args:?}", op.name()),
        },
        _ => panic!("`{}` cannot be applied to {args:?}", op.name()),
    };
    check(value)
}

fn truth(v: &Value) -> bool {
    v.as_bool().unwrap_or(false)
}

fn combine(op: Op, a: &Value, b: &Value) -> Value {
    match (op, a, b) {
        (Op::Add, Value::Int(a), Value::Int(b)) => Value::Int(a + b),
        (Op::Add, Value::Real(a), Value::Real(b)) => Value::Real(a + b),
        (Op::Mul, Value::Int(a), Value::Int(b)) => Value::Int(a * b),
        (Op::Mul, Value::Real(a), Value::Real(b)) => Value::Real(a * b),
        (Op::Min, a, b) => a.min(b).clone(),
        (Op::Max, a, b) => a.max(b).clone(),
        _ => panic!("`{}` cannot be applied to {a:?} and {b:?}", op.name()),
    }
}

fn power(base: &Value, exponent: &IBig) -> Result<Value, EvalError> {
    let zero = IBig::ZERO;
    let exponent = exponent.max(&zero);
    // The bases 0, 1 and -1 stay small for every exponent; with any other base, the numerator or
    // the denominator at least doubles per step.
    let (bits, trivial) = match base {
        Value::Int(b) => (b.bit_len(), b.clone().abs() <= IBig::ONE),
        Value::Real(b) => (real_bits(b), b.is_int() && b.clone().abs() <= RBig::ONE),
        _ => panic!("`^` cannot be applied to {base:?}"),
    };
    let exponent = if trivial {
        // Only whether the exponent is zero, and its parity, matter.
        if exponent.is_zero() { 0 } else { 2 - usize::from(exponent.bit(0)) }
    } else {
        let n = usize::try_from(exponent).map_err(|_| EvalError::TooLarge)?;
        if n.checked_mul(bits.max(2) - 1).is_none_or(|b| b > MAX_BITS) {
            return Err(EvalError::TooLarge);
        }
        n
    };
    Ok(match base {
        Value::Int(b) => Value::Int(b.pow(exponent)),
        Value::Real(b) => {
            // A power of a fraction in lowest terms is in lowest terms.
            let (n, d) = (b.numerator().pow(exponent), b.denominator().pow(exponent));
            Value::Real(RBig::from_parts(n, d))
        }
        _ => unreachable!("only numbers have powers"),
    })
}

fn concat(args: &[Value]) -> Result<Value, EvalError> {
    let part = |v: &Value| match v {
        Value::Str(s) => Arc::clone(s),
        _ => panic!("`++` cannot be applied to {v:?}"),
    };
    let parts: Vec<Arc<str>> = args.iter().map(part).collect();
    if parts.iter().map(|p| p.len()).sum::<usize>() > MAX_STRING_BYTES {
        return Err(EvalError::TooLarge);
    }
    Ok(Value::str(&parts.concat()))
}

fn store(array: &ArrayValue, index: &Value, element: &Value) -> Result<Value, EvalError> {
    if array.exceptions().len() >= MAX_ARRAY_EXCEPTIONS {
        return Err(EvalError::TooLarge);
    }
    match array.with(index.clone(), element.clone()) {
        Some(a) => Ok(Value::array(a)),
        None if (index.sort(), element.sort())
            == (array.sort().index(), array.sort().element()) =>
        {
            Err(EvalError::TooLarge)
        }
        None => panic!(
            "`{}` cannot be applied to {array:?}, {index:?} and {element:?}",
            Op::Store.name()
        ),
    }
}

fn real_bits(r: &RBig) -> usize {
    r.numerator().bit_len().max(r.denominator().bit_len())
}

fn check(v: Value) -> Result<Value, EvalError> {
    let bits = match &v {
        Value::Int(i) => i.bit_len(),
        Value::Real(r) => real_bits(r),
        _ => 0,
    };
    if bits > MAX_BITS { Err(EvalError::TooLarge) } else { Ok(v) }
}

/// True for numbers below zero.
pub(crate) fn is_negative(v: &Value) -> bool {
    match v {
        Value::Int(i) => i.is_negative(),
        Value::Real(r) => r.is_negative(),
        _ => false,
    }
}

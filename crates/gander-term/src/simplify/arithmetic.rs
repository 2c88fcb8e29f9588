//! Simplification of arithmetic and strings: sums, products, division, powers, `abs`, `min`, `max`,
//! conversions, concatenation.

use dashu_base::{RemEuclid, Signed};

use crate::eval::apply;
use crate::op::Op;
use crate::pool::{Pool, TermId};
use crate::sort::Sort;
use crate::value::{IBig, RBig, Value};
use gander_runtime::check_cancelled;

use super::sum::{Sum, as_number, combination, is_moderate, number, plain_sum, scaled};
use super::{flat_limit, flatten};

/// The number of terms of a sum under `mod` up to which its coefficients are reduced.
const MAX_REDUCED_TERMS: usize = 1024;

/// `op` on arguments in normal form, not all of them constant.
pub(super) fn normal(pool: &mut Pool, op: Op, sort: Sort, args: &[TermId]) -> TermId {
    let one = || RBig::ONE;
    match (op, args) {
        (Op::Add, _) => {
            if let Some(t) = plain_sum(pool, sort, args) {
                return t;
            }
            let items: Vec<_> = args.iter().map(|&a| (one(), a)).collect();
            combination(pool, sort, &items)
        }
        (Op::Sub, &[a, b]) => combination(pool, sort, &[(one(), a), (-one(), b)]),
        (Op::Neg, &[a]) => combination(pool, sort, &[(-one(), a)]),
        (Op::Mul, _) => product(pool, sort, args),
        (Op::Div, &[a, b]) => divide(pool, a, b),
        (Op::IntDiv, &[a, b]) => int_divide(pool, a, b),
        (Op::Mod, &[a, b]) => modulo(pool, a, b),
        (Op::Pow, &[a, n]) => power(pool, sort, a, n),
        (Op::Abs, &[a]) => absolute(pool, sort, a),
        (Op::Min | Op::Max, _) => extremum(pool, op, sort, args),
        (Op::ToReal, &[a]) => to_real(pool, a),
        (Op::ToInt, &[a]) if pool.op(a) == Op::ToReal => pool.args(a)[0],
        (Op::Concat, _) => concat(pool, args),
        _ => pool.intern(op, sort, args),
    }
}

fn product(pool: &mut Pool, sort: Sort, args: &[TermId]) -> TermId {
    let mut coefficient = RBig::ONE;
    let mut factors = Vec::new();
    for &a in args {
        check_cancelled();
        let (c, base) = scaled(pool, a);
        coefficient *= c;
        factors.extend(base);
        if !is_moderate(&coefficient) {
            return pool.intern(Op::Mul, sort, args);
        }
    }
    if coefficient.is_zero() {
        return number(pool, sort, RBig::ZERO);
    }
    let mut factors = flatten(pool, Op::Mul, &factors, flat_limit(factors.len()));
    factors.sort_unstable();
    match factors[..] {
        [] => number(pool, sort, coefficient),
        [one] => combination(pool, sort, &[(coefficient, one)]),
        _ => {
            if !coefficient.is_one() {
                factors.insert(0, number(pool, sort, coefficient));
            }
            pool.intern(Op::Mul, sort, &factors)
        }
    }
}

fn divide(pool: &mut Pool, a: TermId, b: TermId) -> TermId {
    match (as_number(pool, a), as_number(pool, b)) {
        (_, Some(d)) if d.is_zero() => number(pool, Sort::Real, RBig::ZERO),
        (_, Some(d)) => combination(pool, Sort::Real, &[(RBig::ONE / d, a)]),
        (Some(n), _) if n.is_zero() => a,
        _ => pool.intern(Op::Div, Sort::Real, &[a, b]),
    }
}

fn int_divide(pool: &mut Pool, a: TermId, b: TermId) -> TermId {
    match (as_number(pool, a), as_number(pool, b)) {
        (_, Some(d)) if d.is_zero() => number(pool, Sort::Int, RBig::ZERO),
        (_, Some(d)) if d.is_one() => a,
        (_, Some(d)) if d.is_negative() => {
            // a div -d = -(a div d), as the remainder is the same.
            let d = number(pool, Sort::Int, -d);
            let quotient = int_divide(pool, a, d);
            combination(pool, Sort::Int, &[(-RBig::ONE, quotient)])
        }
        (Some(n), _) if n.is_zero() => a,
        _ => pool.intern(Op::IntDiv, Sort::Int, &[a, b]),
    }
}

fn modulo(pool: &mut Pool, mut a: TermId, b: TermId) -> TermId {
    let Some(d) = as_number(pool, b) else {
        let zero = as_number(pool, a).is_some_and(|n| n.is_zero());
        return if zero { a } else { pool.intern(Op::Mod, Sort::Int, &[a, b]) };
    };
    if d.is_zero() {
        return a;
    }
    if d.is_negative() {
        let d = number(pool, Sort::Int, -d);
        return modulo(pool, a, d);
    }
    // Coefficients matter only modulo d. Reducing them may expose an inner sum, so repeat until
    // nothing changes.
    let d = d.floor();
    let reduce = |r: &RBig| RBig::from(IBig::from(r.floor().rem_euclid(&d)));
    loop {
        let sum = Sum::collect(pool, Sort::Int, &[(RBig::ONE, a)]);
        let sum = if sum.has_inner_sum(pool) {
            sum.expand(pool, MAX_REDUCED_TERMS).unwrap_or(sum)
        } else {
            sum
        };
        let mut items: Vec<_> = sum.terms.iter().map(|(t, c)| (reduce(c), *t)).collect();
        items.push((reduce(&sum.constant), number(pool, Sort::Int, RBig::ONE)));
        let reduced = combination(pool, Sort::Int, &items);
        if reduced == a {
            break;
        }
        a = reduced;
    }
    match as_number(pool, a) {
        // A constant that is already below d.
        Some(_) => a,
        None => pool.intern(Op::Mod, Sort::Int, &[a, b]),
    }
}

fn power(pool: &mut Pool, sort: Sort, a: TermId, n: TermId) -> TermId {
    if let Some(n) = as_number(pool, n) {
        if n <= RBig::ZERO {
            return number(pool, sort, RBig::ONE);
        }
        if n.is_one() {
            return a;
        }
    }
    if as_number(pool, a).is_some_and(|a| a.is_one()) {
        return a;
    }
    pool.intern(Op::Pow, sort, &[a, n])
}

fn absolute(pool: &mut Pool, sort: Sort, a: TermId) -> TermId {
    // abs(-a) = abs(a): make the leading coefficient positive. A product of -1 and a long sum would
    // not be flattened.
    let leading = match pool.op(a) {
        Op::Add if pool.args(a).len() <= flat_limit(1) => pool.args(a)[0],
        _ => a,
    };
    let negative = scaled(pool, leading).0.is_negative();
    let a = if negative { combination(pool, sort, &[(-RBig::ONE, a)]) } else { a };
    if pool.op(a) == Op::Abs {
        return a;
    }
    pool.intern(Op::Abs, sort, &[a])
}

fn extremum(pool: &mut Pool, op: Op, sort: Sort, args: &[TermId]) -> TermId {
    let mut args = args.to_vec();
    args.sort_unstable();
    args.dedup();
    let args = flatten(pool, op, &args, flat_limit(args.len()));
    let (constants, mut rest): (Vec<TermId>, Vec<TermId>) =
        args.into_iter().partition(|&a| matches!(pool.op(a), Op::Const(_)));
    rest.sort_unstable();
    rest.dedup();
    let values: Vec<Value> = constants.iter().filter_map(|&c| pool.as_constant(c)).collect();
    if let Some(first) = values.first().cloned() {
        let best = values.iter().skip(1).fold(first, |best, v| match op {
            Op::Min => best.min(v.clone()),
            _ => best.max(v.clone()),
        });
        let best = pool.constant(best);
        rest.push(best);
    }
    match rest[..] {
        [one] => one,
        _ => pool.intern(op, sort, &rest),
    }
}

fn to_real(pool: &mut Pool, a: TermId) -> TermId {
    let sum = Sum::collect(pool, Sort::Int, &[(RBig::ONE, a)]);
    let sum = if pool.op(a) == Op::Add {
        sum.expand(pool, pool.args(a).len()).unwrap_or(sum)
    } else {
        sum
    };
    if sum.has_inner_sum(pool) {
        return pool.intern(Op::ToReal, Sort::Real, &[a]);
    }
    let constant = number(pool, Sort::Real, sum.constant);
    let mut items = vec![(RBig::ONE, constant)];
    for (t, c) in sum.terms {
        check_cancelled();
        items.push((c, pool.intern(Op::ToReal, Sort::Real, &[t])));
    }
    combination(pool, Sort::Real, &items)
}

fn concat(pool: &mut Pool, args: &[TermId]) -> TermId {
    let args = flatten(pool, Op::Concat, args, flat_limit(args.len()));
    let mut merged: Vec<TermId> = Vec::new();
    for a in args {
        check_cancelled();
        let text = pool.as_constant(a);
        if matches!(&text, Some(Value::Str(s)) if s.is_empty()) {
            continue;
        }
        let before = merged.last().and_then(|&l| pool.as_constant(l));
        if let (Some(before), Some(text)) = (before, text)
            && let Ok(joined) = apply(Op::Concat, &[before, text])
        {
            merged.pop();
            merged.push(pool.constant(joined));
        } else {
            merged.push(a);
        }
    }
    match merged[..] {
        [] => pool.constant(Value::str("")),
        [one] => one,
        _ => pool.intern(Op::Concat, Sort::String, &merged),
    }
}

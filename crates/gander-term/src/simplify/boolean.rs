//! Simplification of `not`, `and`, `or`, `->`, `<->`, `if` and quantifiers.

use crate::op::Op;
use crate::pool::{Pool, TermId};
use crate::sort::Sort;
use crate::value::Value;

use super::compare::compare;
use super::{flat_limit, flatten};

/// Arguments of `and` and `or` that have more arguments than this are not checked for absorption.
const MAX_ABSORBED: usize = 64;

/// Quantifier bodies with more terms than this are not searched for unused bound symbols.
const MAX_BODY: usize = 256;

/// The negation of a term in normal form.
pub(super) fn negate(pool: &mut Pool, t: TermId) -> TermId {
    let opposite = match pool.op(t) {
        Op::Bool(b) => return pool.constant(Value::Bool(!b)),
        Op::Not => return pool.args(t)[0],
        Op::Lt => Op::Ge,
        Op::Le => Op::Gt,
        Op::Gt => Op::Le,
        Op::Ge => Op::Lt,
        _ => return pool.intern(Op::Not, Sort::Bool, &[t]),
    };
    let (a, b) = (pool.args(t)[0], pool.args(t)[1]);
    compare(pool, opposite, a, b)
}

fn is_comparison(op: Op) -> bool {
    matches!(op, Op::Lt | Op::Le | Op::Gt | Op::Ge)
}

/// True if one is syntactically the negation of the other.
fn complementary(pool: &mut Pool, a: TermId, b: TermId) -> bool {
    let inner = |pool: &Pool, t: TermId| (pool.op(t) == Op::Not).then(|| pool.args(t)[0]);
    inner(pool, a) == Some(b)
        || inner(pool, b) == Some(a)
        || is_comparison(pool.op(a)) && is_comparison(pool.op(b)) && negate(pool, a) == b
}

/// `and` or `or`.
pub(super) fn junction(pool: &mut Pool, op: Op, args: &[TermId]) -> TermId {
    let neutral = op == Op::And;
    let mut args = args.to_vec();
    args.sort_unstable();
    args.dedup();
    args.retain(|&a| pool.as_bool(a) != Some(neutral));
    let mut args = flatten(pool, op, &args, flat_limit(args.len()));
    args.sort_unstable();
    args.dedup();
    if args.iter().any(|&a| pool.as_bool(a).is_some()) || contradicts(pool, &args) {
        return pool.constant(Value::Bool(!neutral));
    }
    let dual = if neutral { Op::Or } else { Op::And };
    let all = args.clone();
    args.retain(|&a| {
        let inner = pool.args(a);
        let absorbed = pool.op(a) == dual
            && inner.len() <= MAX_ABSORBED
            && inner.iter().any(|i| all.binary_search(i).is_ok());
        !absorbed
    });
    match args[..] {
        [] => pool.constant(Value::Bool(neutral)),
        [one] => one,
        _ => pool.intern(op, Sort::Bool, &args),
    }
}

/// True if two of the sorted `args` are complementary.
fn contradicts(pool: &mut Pool, args: &[TermId]) -> bool {
    let has = |t: &TermId| args.binary_search(t).is_ok();
    if args.iter().any(|&a| pool.op(a) == Op::Not && has(&pool.args(a)[0])) {
        return true;
    }
    // The complement of an upper bound is a lower bound.
    let lower = args.iter().any(|&a| matches!(pool.op(a), Op::Gt | Op::Ge));
    lower
        && args.iter().any(|&a| {
            matches!(pool.op(a), Op::Lt | Op::Le) && {
                let not_a = negate(pool, a);
                has(&not_a)
            }
        })
}

/// `a -> b`
pub(super) fn implies(pool: &mut Pool, a: TermId, b: TermId) -> TermId {
    match (pool.as_bool(a), pool.as_bool(b)) {
        (Some(true), _) => b,
        (Some(false), _) | (_, Some(true)) => pool.tt(),
        (_, Some(false)) => negate(pool, a),
        _ if a == b => pool.tt(),
        _ if complementary(pool, a, b) => b,
        _ => pool.intern(Op::Implies, Sort::Bool, &[a, b]),
    }
}

/// `a <-> b`
pub(super) fn iff(pool: &mut Pool, mut a: TermId, mut b: TermId) -> TermId {
    let mut negated = false;
    for side in [&mut a, &mut b] {
        if pool.op(*side) == Op::Not {
            *side = pool.args(*side)[0];
            negated = !negated;
        }
    }
    let result = match (pool.as_bool(a), pool.as_bool(b)) {
        (Some(true), _) => b,
        (_, Some(true)) => a,
        (Some(false), _) => negate(pool, b),
        (_, Some(false)) => negate(pool, a),
        _ if a == b => pool.tt(),
        _ if complementary(pool, a, b) => pool.ff(),
        _ => pool.intern(Op::Eq, Sort::Bool, &[a.min(b), a.max(b)]),
    };
    if negated { negate(pool, result) } else { result }
}

/// `if c then a else b`
pub(super) fn ite(pool: &mut Pool, mut c: TermId, mut a: TermId, mut b: TermId) -> TermId {
    if pool.op(c) == Op::Not {
        c = pool.args(c)[0];
        (a, b) = (b, a);
    }
    if let Some(known) = pool.as_bool(c) {
        return if known { a } else { b };
    }
    // A branch that tests the same condition again.
    while pool.op(a) == Op::Ite && pool.args(a)[0] == c {
        a = pool.args(a)[1];
    }
    while pool.op(b) == Op::Ite && pool.args(b)[0] == c {
        b = pool.args(b)[2];
    }
    if a == b {
        return a;
    }
    let sort = pool.sort(a);
    if sort == Sort::Bool {
        let truth =
            |pool: &Pool, t: TermId, same: bool| if t == c { Some(same) } else { pool.as_bool(t) };
        match (truth(pool, a, true), truth(pool, b, false)) {
            (Some(true), Some(false)) => return c,
            (Some(false), Some(true)) => return negate(pool, c),
            (Some(both), Some(_)) => return pool.constant(Value::Bool(both)),
            (Some(true), None) => return junction(pool, Op::Or, &[c, b]),
            (None, Some(false)) => return junction(pool, Op::And, &[c, a]),
            (Some(false), None) => {
                let not_c = negate(pool, c);
                return junction(pool, Op::And, &[not_c, b]);
            }
            (None, Some(true)) => {
                let not_c = negate(pool, c);
                return junction(pool, Op::Or, &[not_c, a]);
            }
            (None, None) => {}
        }
    }
    pool.intern(Op::Ite, sort, &[c, a, b])
}

/// A quantifier without the bound symbols that do not occur in its body.
pub(super) fn quantifier(pool: &mut Pool, op: Op, args: &[TermId]) -> TermId {
    let Some((&body, bound)) = args.split_last() else { return pool.tt() };
    if pool.as_bool(body).is_some() {
        return body;
    }
    let (mut size, mut present) = (0, vec![false; bound.len()]);
    pool.visit(&[body], |_, t| {
        size += 1;
        if let Some(i) = bound.iter().position(|&b| b == t) {
            present[i] = true;
        }
        size <= MAX_BODY
    });
    if size > MAX_BODY {
        return pool.intern(op, Sort::Bool, args);
    }
    let mut kept: Vec<TermId> =
        bound.iter().zip(&present).filter(|(_, p)| **p).map(|(&b, _)| b).collect();
    if kept.is_empty() {
        return body;
    }
    kept.push(body);
    pool.intern(op, Sort::Bool, &kept)
}

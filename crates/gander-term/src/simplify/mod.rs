//! Simplification: computes an equivalent term in normal form, in nearly linear time.
//!
//! Works bottom-up: a rule per operator takes arguments in normal form and returns a normal form,
//! so simplification is idempotent. Normal forms:
//! - no constant subterms that can be computed;
//! - sums are flat, with one coefficient per monomial and the constant last; products are flat,
//!   with the coefficient first; unary minus, differences and division by constants become
//!   coefficients;
//! - comparisons have coprime integer coefficients, the leading one positive and on the left; if
//!   there are terms on both sides, all coefficients are positive; comparisons are never negated;
//!   on ints only `<= >= ==` with the tightest constant;
//! - on bit-vectors, commutative operators have sorted arguments with a constant last, comparisons
//!   are `bvult` and `bvslt`, possibly negated, and neutral or absorbing constants are removed;
//! - on arrays, `select` looks through `store` where the indices are known to be equal or
//!   different, and of two consecutive `store`s to one index the last remains;
//! - `and` and `or` are flat and sorted, without repeated, complementary or absorbed arguments.
//!
//! A sum, product, `and` or `or` is not flattened into a parent that would become much larger than
//! it was: long chains keep their sharing, and the total work stays linear in the size of the
//! input.

mod arithmetic;
mod array;
mod bits;
mod boolean;
mod compare;
mod sum;

use rustc_hash::FxHashMap;

use crate::eval::apply;
use crate::op::Op;
use crate::pool::{Pool, TermId};
use crate::sort::Sort;
use crate::value::Value;
use gander_runtime::check_cancelled;

/// Simplifies many terms of one pool; shared subterms are simplified once.
#[derive(Clone, Debug, Default)]
pub struct Simplifier {
    memo: FxHashMap<TermId, TermId>,
}

impl Simplifier {
    /// An empty simplifier.
    pub fn new() -> Simplifier {
        Simplifier::default()
    }

    /// An equivalent term in normal form.
    pub fn simplify(&mut self, pool: &mut Pool, t: TermId) -> TermId {
        let mut stack = vec![t];
        let mut args = Vec::new();
        while let Some(&t) = stack.last() {
            check_cancelled();
            if self.memo.contains_key(&t) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            stack.extend(pool.args(t).iter().filter(|a| !self.memo.contains_key(a)));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            args.clear();
            args.extend(pool.args(t).iter().map(|a| self.memo[a]));
            let new = normal(pool, t, &args);
            self.memo.insert(t, new);
        }
        self.memo[&t]
    }
}

impl Pool {
    /// An equivalent term in normal form; for many terms use [`Simplifier`].
    pub fn simplify(&mut self, t: TermId) -> TermId {
        Simplifier::new().simplify(self, t)
    }
}

/// The number of arguments up to which an operator with `own` distinct arguments is flattened.
fn flat_limit(own: usize) -> usize {
    16 + 4 * own
}

/// The operator of `t` applied to arguments in normal form, in normal form.
fn normal(pool: &mut Pool, t: TermId, args: &[TermId]) -> TermId {
    let (op, sort) = (pool.op(t), pool.sort(t));
    if op.is_leaf() {
        return t;
    }
    if let Some(folded) = fold(pool, op, args) {
        return folded;
    }
    match (op, args) {
        (Op::Not, &[a]) => boolean::negate(pool, a),
        (Op::And | Op::Or, _) => boolean::junction(pool, op, args),
        (Op::Implies, &[a, b]) => boolean::implies(pool, a, b),
        (Op::Ite, &[c, a, b]) => boolean::ite(pool, c, a, b),
        (Op::Eq, &[a, b]) => match pool.sort(a) {
            Sort::Bool => boolean::iff(pool, a, b),
            Sort::Int | Sort::Real => compare::compare(pool, op, a, b),
            Sort::String | Sort::Enum(_) | Sort::BitVec(_) | Sort::Array(_) => {
                compare::equal(pool, a, b)
            }
        },
        (Op::Lt | Op::Le | Op::Gt | Op::Ge, &[a, b]) => compare::compare(pool, op, a, b),
        (Op::Select, &[a, i]) => array::select(pool, sort, a, i),
        (Op::Store, &[a, i, v]) => array::store(pool, sort, a, i, v),
        (Op::ConstArray(_), _) => pool.intern(op, sort, args),
        (Op::Bv(bv), _) => bits::normal(pool, bv, sort, args),
        (Op::Forall | Op::Exists, _) => boolean::quantifier(pool, op, args),
        _ => arithmetic::normal(pool, op, sort, args),
    }
}

/// The constant `op(args)`, if all arguments are constants and it can be computed.
fn fold(pool: &mut Pool, op: Op, args: &[TermId]) -> Option<TermId> {
    if matches!(op, Op::Forall | Op::Exists) {
        return None;
    }
    let values: Option<Vec<Value>> = args.iter().map(|&a| pool.as_constant(a)).collect();
    let value = apply(op, &values?).ok()?;
    Some(pool.constant(value))
}

/// `args` with nested applications of `op` replaced by their arguments, recursively; `args` itself
/// if the result would be longer than `limit`.
fn flatten(pool: &Pool, op: Op, args: &[TermId], limit: usize) -> Vec<TermId> {
    if args.iter().all(|&a| pool.op(a) != op) {
        return args.to_vec();
    }
    let mut flat = Vec::new();
    let mut stack: Vec<TermId> = args.iter().rev().copied().collect();
    while let Some(a) = stack.pop() {
        check_cancelled();
        if pool.op(a) != op {
            flat.push(a);
            continue;
        }
        if flat.len() + stack.len() + pool.args(a).len() > limit {
            return args.to_vec();
        }
        stack.extend(pool.args(a).iter().rev());
    }
    flat
}

#[cfg(test)]
mod tests;

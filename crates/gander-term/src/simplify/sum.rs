//! Linear combinations of terms: what sums and comparisons are brought into.

use dashu_base::BitTest;

use crate::op::Op;
use crate::pool::{Pool, TermId};
use crate::sort::Sort;
use crate::value::{RBig, Value};

use super::flat_limit;

/// Coefficients with more bits are not multiplied out.
const MAX_COEFFICIENT_BITS: usize = 4096;

/// `c1 * t1 + ... + cn * tn + constant`, sorted by term, no coefficient zero, no `ti` a constant or a multiple of one.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    pub sort: Sort,
    pub terms: Vec<(TermId, RBig)>,
    pub constant: RBig,
}

pub(super) fn number(pool: &mut Pool, sort: Sort, r: RBig) -> TermId {
    match sort {
        Sort::Int => pool.constant(Value::Int(r.floor())),
        _ => pool.constant(Value::Real(r)),
    }
}

pub(super) fn as_number(pool: &Pool, t: TermId) -> Option<RBig> {
    let Op::Const(v) = pool.op(t) else { return None };
    match pool.value(v) {
        Value::Int(i) => Some(RBig::from(i.clone())),
        Value::Real(r) => Some(r.clone()),
        _ => None,
    }
}

pub(super) fn is_moderate(r: &RBig) -> bool {
    r.numerator().bit_len().max(r.denominator().bit_len()) <= MAX_COEFFICIENT_BITS
}

/// A normal term as a coefficient and a term without one; a constant as itself and nothing.
pub(super) fn scaled(pool: &mut Pool, t: TermId) -> (RBig, Option<TermId>) {
    if let Some(r) = as_number(pool, t) {
        return (r, None);
    }
    if pool.op(t) != Op::Mul {
        return (RBig::ONE, Some(t));
    }
    let args = pool.args(t);
    match (as_number(pool, args[0]), &args[1..]) {
        (None, _) => (RBig::ONE, Some(t)),
        (Some(c), &[one]) => (c, Some(one)),
        (Some(c), rest) => {
            let (rest, sort) = (rest.to_vec(), pool.sort(t));
            (c, Some(pool.intern(Op::Mul, sort, &rest)))
        }
    }
}

/// `c * t`
fn scale(pool: &mut Pool, c: &RBig, t: TermId) -> TermId {
    if c.is_one() {
        return t;
    }
    let sort = pool.sort(t);
    let mut args = vec![number(pool, sort, c.clone())];
    match pool.op(t) {
        Op::Mul => args.extend_from_slice(pool.args(t)),
        _ => args.push(t),
    }
    pool.intern(Op::Mul, sort, &args)
}

impl Sum {
    /// The combination of normal terms with coefficients, like terms merged, sums inside not expanded.
    pub(super) fn collect(pool: &mut Pool, sort: Sort, items: &[(RBig, TermId)]) -> Sum {
        let mut sum = Sum { sort, terms: Vec::with_capacity(items.len()), constant: RBig::ZERO };
        for (c, t) in items {
            match scaled(pool, *t) {
                (k, None) => sum.constant += c * k,
                (k, Some(t)) => sum.terms.push((t, c * k)),
            }
        }
        sum.merge();
        sum
    }

    fn merge(&mut self) {
        self.terms.sort_by_key(|(t, _)| *t);
        self.terms.dedup_by(|b, a| {
            let same = a.0 == b.0;
            if same {
                a.1 += &b.1;
            }
            same
        });
        self.terms.retain(|(_, c)| !c.is_zero());
    }

    /// The combination with every sum inside multiplied out; `None` if that has more than `limit` terms or large
    /// coefficients.
    pub(super) fn expand(&self, pool: &mut Pool, limit: usize) -> Option<Sum> {
        let mut result = Sum { sort: self.sort, terms: Vec::new(), constant: self.constant.clone() };
        let mut stack = self.terms.clone();
        while let Some((t, c)) = stack.pop() {
            if pool.op(t) != Op::Add {
                result.terms.push((t, c));
            } else {
                if result.terms.len() + stack.len() + pool.args(t).len() > limit + 1 {
                    return None;
                }
                for a in pool.args(t).to_vec() {
                    let (k, base) = scaled(pool, a);
                    let k = &c * k;
                    if !is_moderate(&k) {
                        return None;
                    }
                    match base {
                        None => result.constant += k,
                        Some(t) => stack.push((t, k)),
                    }
                }
            }
            if result.terms.len() + stack.len() > limit {
                return None;
            }
        }
        result.merge();
        Some(result)
    }

    pub(super) fn has_inner_sum(&self, pool: &Pool) -> bool {
        self.terms.iter().any(|&(t, _)| pool.op(t) == Op::Add)
    }

    /// The combination as a term.
    pub(super) fn term(&self, pool: &mut Pool) -> TermId {
        let mut args: Vec<TermId> = self.terms.iter().map(|(t, c)| scale(pool, c, *t)).collect();
        if args.is_empty() || !self.constant.is_zero() {
            args.push(number(pool, self.sort, self.constant.clone()));
        }
        match args[..] {
            [one] => one,
            _ => pool.intern(Op::Add, self.sort, &args),
        }
    }
}

/// A linear combination of normal terms, in normal form.
pub(super) fn combination(pool: &mut Pool, sort: Sort, items: &[(RBig, TermId)]) -> TermId {
    let mut sum = Sum::collect(pool, sort, items);
    if sum.has_inner_sum(pool)
        && let Some(flat) = sum.expand(pool, flat_limit(sum.terms.len()))
    {
        sum = flat;
    }
    sum.term(pool)
}

//! Linear combinations of terms, the representation used for sums and comparisons.

use dashu_base::BitTest;

use crate::op::Op;
use crate::pool::{Pool, TermId};
use crate::sort::Sort;
use crate::value::{RBig, Value};
use gander_runtime::check_cancelled;

use super::flat_limit;

/// The number of bits of a coefficient above which sums are not multiplied out.
const MAX_COEFFICIENT_BITS: usize = 4096;

/// `c1 * t1 + ... + cn * tn + constant`, sorted by term, no coefficient zero, no `ti` a constant or
/// a multiple of one.
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

/// Splits a term in normal form into its coefficient and the rest; a constant has no rest.
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
    /// The combination of terms in normal form with coefficients. Like terms are merged; inner sums
    /// are not expanded.
    pub(super) fn collect(pool: &mut Pool, sort: Sort, items: &[(RBig, TermId)]) -> Sum {
        let mut sum = Sum { sort, terms: Vec::with_capacity(items.len()), constant: RBig::ZERO };
        for (c, t) in items {
            check_cancelled();
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
            check_cancelled();
            let same = a.0 == b.0;
            if same {
                a.1 += &b.1;
            }
            same
        });
        self.terms.retain(|(_, c)| !c.is_zero());
    }

    /// The combination with every inner sum multiplied out; `None` if the result has more than
    /// `limit` terms or large coefficients.
    pub(super) fn expand(&self, pool: &mut Pool, limit: usize) -> Option<Sum> {
        if !self.has_inner_sum(pool) {
            return (self.terms.len() <= limit).then(|| self.clone());
        }
        fits(pool, self.terms.iter().map(|(t, _)| *t), limit).then_some(())?;
        let mut result =
            Sum { sort: self.sort, terms: Vec::new(), constant: self.constant.clone() };
        let mut stack = self.terms.clone();
        while let Some((t, c)) = stack.pop() {
            check_cancelled();
            if pool.op(t) != Op::Add {
                result.terms.push((t, c));
            } else {
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

/// True if `terms`, with their inner sums multiplied out, have at most `limit` terms.
fn fits(pool: &Pool, terms: impl Iterator<Item = TermId>, limit: usize) -> bool {
    let mut stack: Vec<TermId> = terms.collect();
    // Terms found plus terms on the stack; the constant of a sum comes last and does not count.
    let mut count = stack.len();
    while let Some(t) = stack.pop() {
        check_cancelled();
        if count > limit {
            return false;
        }
        let inner = match pool.op(t) {
            Op::Add => t,
            // A multiple of a sum.
            Op::Mul if pool.args(t).len() == 2 && pool.op(pool.args(t)[1]) == Op::Add => {
                pool.args(t)[1]
            }
            _ => continue,
        };
        let args = match pool.args(inner).split_last() {
            Some((&last, rest)) if matches!(pool.op(last), Op::Const(_)) => rest,
            _ => pool.args(inner),
        };
        count += args.len() - 1;
        if count <= limit {
            stack.extend_from_slice(args);
        }
    }
    count <= limit
}

/// Fast path: the sum of terms in normal form, if most coefficients need no arithmetic. Long sums
/// that grow by one term are built quickly. `None` means that the general procedure is needed; both
/// give the same term.
pub(super) fn plain_sum(pool: &mut Pool, sort: Sort, args: &[TermId]) -> Option<TermId> {
    let mut constant = RBig::ZERO;
    // Each term with its base, the term without coefficient.
    let mut terms: Vec<(TermId, TermId)> = Vec::with_capacity(args.len());
    for &a in args {
        check_cancelled();
        match base(pool, a) {
            None => constant += as_number(pool, a)?,
            Some(b) => terms.push((b, a)),
        }
    }
    terms.sort_unstable();
    if terms.windows(2).any(|w| w[0].0 == w[1].0) {
        return None;
    }
    let inner = |pool: &Pool, b: TermId| pool.op(b) == Op::Add;
    if terms.iter().any(|&(b, t)| b != t && inner(pool, b)) {
        return None;
    }
    let nested = terms.iter().any(|&(b, _)| inner(pool, b));
    if nested && fits(pool, terms.iter().map(|t| t.0), flat_limit(terms.len())) {
        let mut stack = std::mem::take(&mut terms);
        while let Some((b, t)) = stack.pop() {
            if !inner(pool, b) {
                terms.push((b, t));
                continue;
            }
            if b != t {
                return None;
            }
            for i in 0..pool.args(b).len() {
                let a = pool.args(b)[i];
                match base(pool, a) {
                    None => constant += as_number(pool, a)?,
                    Some(b) => stack.push((b, a)),
                }
            }
        }
        terms.sort_unstable();
    }
    let mut result = Vec::with_capacity(terms.len() + 1);
    for group in terms.chunk_by(|a, b| a.0 == b.0) {
        if let &[(_, t)] = group {
            result.push(t);
            continue;
        }
        let mut total = RBig::ZERO;
        for &(_, t) in group {
            total += scaled(pool, t).0;
        }
        if !total.is_zero() {
            result.push(scale(pool, &total, group[0].0));
        }
    }
    if result.is_empty() || !constant.is_zero() {
        result.push(number(pool, sort, constant));
    }
    Some(match result[..] {
        [one] => one,
        _ => pool.intern(Op::Add, sort, &result),
    })
}

/// A term in normal form without its coefficient; `None` for a constant.
fn base(pool: &mut Pool, t: TermId) -> Option<TermId> {
    match pool.op(t) {
        Op::Const(_) => None,
        Op::Mul => scaled(pool, t).1,
        _ => Some(t),
    }
}

/// A linear combination of terms in normal form, in normal form.
pub(super) fn combination(pool: &mut Pool, sort: Sort, items: &[(RBig, TermId)]) -> TermId {
    let mut sum = Sum::collect(pool, sort, items);
    if sum.has_inner_sum(pool)
        && let Some(flat) = sum.expand(pool, flat_limit(sum.terms.len()))
    {
        sum = flat;
    }
    sum.term(pool)
}

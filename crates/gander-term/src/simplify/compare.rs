//! Simplification of comparisons to canonical linear atoms.

use dashu_base::{Abs, Gcd, Signed};

use crate::eval::apply;
use crate::op::Op;
use crate::pool::{Pool, TermId};
use crate::sort::Sort;
use crate::value::{IBig, RBig, Value};

use super::boolean::negate;
use super::sum::{Sum, number};

/// The number of terms up to which a comparison of sums is normalised.
const MAX_ATOM_TERMS: usize = 1024;

/// `a == b` on strings, enumerations, bit-vectors and arrays, not both constant.
pub(super) fn equal(pool: &mut Pool, a: TermId, b: TermId) -> TermId {
    let single = matches!(pool.sort(a), Sort::Enum(e) if pool.enumeration(e).variants.len() == 1);
    if a == b || single {
        return pool.tt();
    }
    // A constant comes last.
    let constant = |pool: &Pool, t| matches!(pool.op(t), Op::Const(_));
    let (a, b) = if (constant(pool, a), a) > (constant(pool, b), b) { (b, a) } else { (a, b) };
    branches(pool, Op::Eq, a, b).unwrap_or_else(|| pool.intern(Op::Eq, Sort::Bool, &[a, b]))
}

/// A comparison of numbers, `==` included.
pub(super) fn compare(pool: &mut Pool, op: Op, a: TermId, b: TermId) -> TermId {
    let sort = pool.sort(a);
    let difference = Sum::collect(pool, sort, &[(RBig::ONE, a), (-RBig::ONE, b)]);
    let Some(sum) = difference.expand(pool, MAX_ATOM_TERMS).and_then(|s| over_ints(pool, s)) else {
        if a == b {
            return pool.constant(Value::Bool(matches!(op, Op::Eq | Op::Le | Op::Ge)));
        }
        let (a, b) = if op == Op::Eq && a > b { (b, a) } else { (a, b) };
        return pool.intern(op, Sort::Bool, &[a, b]);
    };
    atom(pool, op, sum)
}

/// If all terms of a real combination are conversions from int, an equivalent multiple over those
/// ints; `None` if it becomes too large. The constant of the result may be a fraction.
fn over_ints(pool: &mut Pool, sum: Sum) -> Option<Sum> {
    if sum.sort == Sort::Int
        || sum.terms.is_empty()
        || sum.terms.iter().any(|&(t, _)| pool.op(t) != Op::ToReal)
    {
        return Some(sum);
    }
    let unit = content(&sum.terms);
    let items: Vec<(RBig, TermId)> =
        sum.terms.iter().map(|(t, c)| (c / &unit, pool.args(*t)[0])).collect();
    let mut ints = Sum::collect(pool, Sort::Int, &items).expand(pool, MAX_ATOM_TERMS)?;
    ints.constant += sum.constant / unit;
    Some(ints)
}

/// The positive rational that divides the coefficients to coprime integers.
fn content(terms: &[(TermId, RBig)]) -> RBig {
    let mut numerator = IBig::ZERO;
    let mut denominator = IBig::ONE;
    for (_, c) in terms {
        numerator = if numerator.is_zero() {
            c.numerator().clone().abs()
        } else {
            IBig::from((&numerator).gcd(c.numerator()))
        };
        let d = IBig::from(c.denominator().clone());
        let g = IBig::from((&denominator).gcd(&d));
        denominator = denominator / g * d;
    }
    if numerator.is_zero() { RBig::ONE } else { RBig::from(numerator) / RBig::from(denominator) }
}

/// `sum OP 0` in canonical form.
fn atom(pool: &mut Pool, op: Op, mut sum: Sum) -> TermId {
    let Some((_, leading)) = sum.terms.first() else {
        let verdict = apply(op, &[Value::Real(sum.constant), Value::whole(0)]);
        return pool.constant(verdict.unwrap_or(Value::Bool(false)));
    };
    let mut unit = content(&sum.terms);
    let mut op = op;
    if leading.is_negative() {
        unit = -unit;
        op = match op {
            Op::Lt => Op::Gt,
            Op::Le => Op::Ge,
            Op::Gt => Op::Lt,
            Op::Ge => Op::Le,
            other => other,
        };
    }
    for (_, c) in &mut sum.terms {
        *c /= &unit;
    }
    let mut bound = -sum.constant / unit;
    if sum.sort == Sort::Int {
        let one = RBig::ONE;
        (op, bound) = match op {
            Op::Lt => (Op::Le, RBig::from(bound.ceil()) - one),
            Op::Le => (Op::Le, bound.floor().into()),
            Op::Gt => (Op::Ge, RBig::from(bound.floor()) + one),
            Op::Ge => (Op::Ge, bound.ceil().into()),
            _ if !bound.is_int() => return pool.ff(),
            _ => (op, bound),
        };
    }
    let (left, right): (Vec<_>, Vec<_>) = sum.terms.into_iter().partition(|(_, c)| c.is_positive());
    let right: Vec<_> = right.into_iter().map(|(t, c)| (t, -c)).collect();
    let move_left = !right.is_empty() && bound.is_negative();
    let (at_left, at_right) = if move_left { (-bound, RBig::ZERO) } else { (RBig::ZERO, bound) };
    let left = Sum { sort: sum.sort, terms: left, constant: at_left }.term(pool);
    let right = if right.is_empty() {
        number(pool, sum.sort, at_right)
    } else {
        Sum { sort: sum.sort, terms: right, constant: at_right }.term(pool)
    };
    branches(pool, op, left, right).unwrap_or_else(|| pool.intern(op, Sort::Bool, &[left, right]))
}

/// `(if c then k1 else k2) OP k` on constants is `c`, `not c` or constant.
fn branches(pool: &mut Pool, op: Op, left: TermId, right: TermId) -> Option<TermId> {
    if pool.op(left) != Op::Ite {
        return None;
    }
    let right = pool.as_constant(right)?;
    let &[c, a, b] = pool.args(left) else { return None };
    let (a, b) = (pool.as_constant(a)?, pool.as_constant(b)?);
    let on_true = apply(op, &[a, right.clone()]).ok()?.as_bool()?;
    let on_false = apply(op, &[b, right]).ok()?.as_bool()?;
    Some(match (on_true, on_false) {
        (true, false) => c,
        (false, true) => negate(pool, c),
        (same, _) => pool.constant(Value::Bool(same)),
    })
}

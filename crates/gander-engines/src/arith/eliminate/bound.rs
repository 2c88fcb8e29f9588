//! Literals that are linear in one variable, whatever else is in them.
//!
//! Unlike a [`LinearForm`](crate::arith::linear::LinearForm) the rest of the sum is one term: it
//! may hold anything that does not mention the variable, and it keeps its shape.

use dashu_base::{Abs, Signed};
use gander_term::{IBig, Op, Pool, RBig, Sort, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::arith::linear::{Comparison, Relation};
use crate::arith::number::{as_rational, constant};

/// `coefficient * x + rest` relates to 0 in this way. The coefficient is not 0, and on ints no
/// relation is strict.
#[derive(Clone, Debug)]
pub(super) struct UnivariateBound {
    pub coefficient: RBig,
    pub rest: TermId,
    pub relation: Relation,
}

impl UnivariateBound {
    /// What a literal says about `x`; none if it is not linear in `x`, or if `x` cancels out.
    pub(super) fn of(pool: &mut Pool, x: SymbolId, literal: TermId) -> Option<UnivariateBound> {
        let Comparison { small, large, relation } = Comparison::of(pool, literal)?;
        let sort = pool.sort(small);
        let (ca, ra) = split(pool, x, small)?;
        let (cb, rb) = split(pool, x, large)?;
        let coefficient = ca - cb;
        let mut rest = pool.sub(ra, rb);
        if coefficient == RBig::ZERO {
            return None;
        }
        let relation = match (relation, sort) {
            (Relation::Below, Sort::Int) => {
                let one = pool.int(1);
                rest = pool.add(rest, one);
                Relation::AtMost
            }
            (other, _) => other,
        };
        Some(UnivariateBound { coefficient, rest, relation })
    }

    /// True if it bounds `x` from below.
    pub(super) fn is_lower(&self) -> bool {
        self.coefficient.is_negative()
    }

    /// True if `x` has coefficient 1 or -1.
    pub(super) fn is_unit(&self) -> bool {
        self.coefficient.clone().abs() == RBig::ONE
    }

    /// The value of `x` at which `coefficient * x + rest` is 0, rounded on ints.
    pub(super) fn zero(&self, pool: &mut Pool) -> TermId {
        let sort = pool.sort(self.rest);
        let zero = constant(pool, sort, RBig::ZERO);
        let minus = pool.sub(zero, self.rest);
        let term = if self.coefficient == RBig::ONE {
            minus
        } else if self.coefficient == -RBig::ONE {
            self.rest
        } else {
            let by = constant(pool, sort, self.coefficient.clone());
            let op = if sort == Sort::Int { Op::IntDiv } else { Op::Div };
            pool.mk(op, &[minus, by]).unwrap_or(minus)
        };
        super::fold(pool, term)
    }

    /// For ints: the end of `x` that `coefficient * x + rest <= 0` states. From above it is rounded
    /// down, from below rounded up.
    pub(super) fn end(&self, pool: &mut Pool) -> TermId {
        let zero = pool.int(0);
        let minus = pool.sub(zero, self.rest);
        let by: IBig = self.coefficient.numerator().clone().abs();
        if by == IBig::ONE {
            let term = if self.is_lower() { self.rest } else { minus };
            return super::fold(pool, term);
        }
        // The Euclidean quotient by a positive number is rounded down.
        let by = pool.int(by);
        let down = pool.mk(Op::IntDiv, &[minus, by]).unwrap_or(minus);
        let term = if self.is_lower() { pool.sub(zero, down) } else { down };
        super::fold(pool, term)
    }
}

/// `t` as `c * x + r`, if it is linear in `x`.
fn split(pool: &mut Pool, x: SymbolId, t: TermId) -> Option<(RBig, TermId)> {
    let mut parts: FxHashMap<TermId, Option<(RBig, TermId)>> = FxHashMap::default();
    // A term in which `x` cancels out still mentions it: what other operators make of it is not
    // free of `x`.
    let mut mention: FxHashSet<TermId> = FxHashSet::default();
    for u in pool.postorder(&[t]) {
        let sort = pool.sort(u);
        let args = pool.args(u).to_vec();
        let is_free = pool.as_symbol(u) != Some(x) && !args.iter().any(|a| mention.contains(a));
        if !is_free {
            mention.insert(u);
        }
        let part = if is_free {
            Some((RBig::ZERO, u))
        } else if pool.as_symbol(u) == Some(x) {
            Some((RBig::ONE, constant(pool, sort, RBig::ZERO)))
        } else {
            combination(pool, u, &args, &parts)
        };
        parts.insert(u, part);
    }
    parts.remove(&t)?
}

fn combination(
    pool: &mut Pool,
    u: TermId,
    args: &[TermId],
    parts: &FxHashMap<TermId, Option<(RBig, TermId)>>,
) -> Option<(RBig, TermId)> {
    let sides: Vec<(RBig, TermId)> =
        args.iter().map(|a| parts[a].clone()).collect::<Option<_>>()?;
    let rests: Vec<TermId> = sides.iter().map(|s| s.1).collect();
    match pool.op(u) {
        Op::Neg => Some((-sides[0].0.clone(), pool.mk(Op::Neg, &rests).ok()?)),
        Op::Add => {
            let sum = sides.iter().fold(RBig::ZERO, |acc, s| acc + s.0.clone());
            Some((sum, pool.mk(Op::Add, &rests).ok()?))
        }
        Op::Sub => Some((sides[0].0.clone() - sides[1].0.clone(), pool.mk(Op::Sub, &rests).ok()?)),
        Op::Mul => {
            // All factors but the one with `x` must be constants.
            let mut factor = RBig::ONE;
            let mut inner: Option<RBig> = None;
            for (side, &arg) in sides.iter().zip(args) {
                match as_rational(pool, arg) {
                    Some(c) => factor *= c,
                    None if inner.is_none() => inner = Some(side.0.clone()),
                    None => return None,
                }
            }
            Some((inner? * factor, pool.mk(Op::Mul, &rests).ok()?))
        }
        Op::Div => match as_rational(pool, args[1]) {
            Some(r) if r != RBig::ZERO => {
                Some((sides[0].0.clone() / r, pool.mk(Op::Div, &rests).ok()?))
            }
            _ => None,
        },
        _ => None,
    }
}

/// What remains of two literals with coefficients of opposite sign (or the first an equation) when
/// `x` is eliminated.
pub(super) fn combine(
    pool: &mut Pool,
    sort: Sort,
    a: &UnivariateBound,
    b: &UnivariateBound,
) -> TermId {
    // |cb| * a + |ca| * b with signs such that x cancels out; an equation may be multiplied by a
    // negative number.
    let opposite = a.coefficient.is_negative() != b.coefficient.is_negative();
    let (fa, fb) = (b.coefficient.clone().abs(), a.coefficient.clone().abs());
    let fa = if opposite { fa } else { -fa };
    let scaled = |pool: &mut Pool, f: RBig, t: TermId| {
        if f == RBig::ONE {
            return t;
        }
        let f = constant(pool, sort, f);
        pool.mul(f, t)
    };
    let (ta, tb) = (scaled(pool, fa, a.rest), scaled(pool, fb, b.rest));
    let sum = pool.add(ta, tb);
    let zero = constant(pool, sort, RBig::ZERO);
    let term = match (&a.relation, &b.relation) {
        (Relation::Equal, Relation::Equal) => pool.eq(sum, zero),
        (Relation::Below, _) | (_, Relation::Below) => pool.lt(sum, zero),
        _ => pool.le(sum, zero),
    };
    super::fold(pool, term)
}

/// For an equation over ints: the coefficient divides the rest.
pub(super) fn divides(pool: &mut Pool, equation: &UnivariateBound) -> TermId {
    let coefficient: IBig = equation.coefficient.numerator().clone().abs();
    if coefficient == IBig::ONE {
        return pool.tt();
    }
    let c = pool.int(coefficient);
    let remainder = pool.mk(Op::Mod, &[equation.rest, c]).unwrap_or(equation.rest);
    let zero = pool.int(0);
    let term = pool.eq(remainder, zero);
    super::fold(pool, term)
}

//! Literals that are linear in one variable.

use dashu_base::{Abs, Signed};
use gander_term::{IBig, Op, Pool, RBig, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// How `coefficient * x` relates to the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Relation {
    Equal,
    Less,
    LessOrEqual,
}

/// `coefficient * x + rest` is equal to, below, or not above 0.
#[derive(Clone, Debug)]
pub(super) struct Literal {
    pub coefficient: RBig,
    pub rest: TermId,
    pub relation: Relation,
}

impl Literal {
    /// True if it bounds `x` from below.
    pub(super) fn is_lower(&self) -> bool {
        self.coefficient.is_negative()
    }

    /// True if `x` has coefficient 1 or -1.
    pub(super) fn is_unit(&self) -> bool {
        self.coefficient.clone().abs() == RBig::ONE
    }
}

/// A literal that is linear in `x`, if it is. On ints nothing is strict.
pub(super) fn literal(pool: &mut Pool, x: SymbolId, l: TermId) -> Option<Literal> {
    let (atom, positive) = match pool.op(l) {
        Op::Not => (pool.args(l)[0], false),
        _ => (l, true),
    };
    let args = pool.args(atom).to_vec();
    let [a, b] = args[..] else { return None };
    // Everything becomes `small - large < 0` or `<= 0`, or `= 0`.
    let (small, large, relation) = match (pool.op(atom), positive) {
        (Op::Eq, true) => (a, b, Relation::Equal),
        (Op::Lt, true) | (Op::Ge, false) => (a, b, Relation::Less),
        (Op::Le, true) | (Op::Gt, false) => (a, b, Relation::LessOrEqual),
        (Op::Gt, true) | (Op::Le, false) => (b, a, Relation::Less),
        (Op::Ge, true) | (Op::Lt, false) => (b, a, Relation::LessOrEqual),
        _ => return None,
    };
    let sort = pool.sort(small);
    if !matches!(sort, Sort::Int | Sort::Real) {
        return None;
    }
    let (ca, ra) = split(pool, x, small)?;
    let (cb, rb) = split(pool, x, large)?;
    let coefficient = ca - cb;
    let mut rest = pool.sub(ra, rb);
    if coefficient == RBig::ZERO {
        // `x` cancels out, which the caller has no case for.
        return None;
    }
    let relation = match (relation, sort) {
        (Relation::Less, Sort::Int) => {
            let one = pool.int(1);
            rest = pool.add(rest, one);
            Relation::LessOrEqual
        }
        (other, _) => other,
    };
    Some(Literal { coefficient, rest, relation })
}

/// `t` as `c * x + r`, if it is linear in `x`.
fn split(pool: &mut Pool, x: SymbolId, t: TermId) -> Option<(RBig, TermId)> {
    let mut parts: FxHashMap<TermId, Option<(RBig, TermId)>> = FxHashMap::default();
    // A term in which `x` cancels out still mentions it: what is made of that by other operators is not constant.
    let mut mention: FxHashSet<TermId> = FxHashSet::default();
    for u in pool.postorder(&[t]) {
        let sort = pool.sort(u);
        let args = pool.args(u).to_vec();
        let constant = pool.as_symbol(u) != Some(x) && !args.iter().any(|a| mention.contains(a));
        if !constant {
            mention.insert(u);
        }
        let part = if constant {
            Some((RBig::ZERO, u))
        } else if pool.as_symbol(u) == Some(x) {
            Some((RBig::ONE, number(pool, sort, RBig::ZERO)))
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
    let sides: Vec<(RBig, TermId)> = args.iter().map(|a| parts[a].clone()).collect::<Option<_>>()?;
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
                match pool.as_constant(arg) {
                    Some(Value::Int(i)) => factor *= RBig::from(i),
                    Some(Value::Real(r)) => factor *= r,
                    _ if inner.is_none() => inner = Some(side.0.clone()),
                    _ => return None,
                }
            }
            Some((inner? * factor, pool.mk(Op::Mul, &rests).ok()?))
        }
        Op::Div => match pool.as_constant(args[1]) {
            Some(Value::Real(r)) if r != RBig::ZERO => Some((sides[0].0.clone() / r, pool.mk(Op::Div, &rests).ok()?)),
            _ => None,
        },
        _ => None,
    }
}

fn number(pool: &mut Pool, sort: Sort, r: RBig) -> TermId {
    match sort {
        Sort::Int => pool.constant(Value::Int(r.numerator().clone())),
        _ => pool.constant(Value::Real(r)),
    }
}

/// What remains of two literals with coefficients of opposite sign (or the first an equation) when `x` is eliminated.
pub(super) fn combine(pool: &mut Pool, sort: Sort, a: &Literal, b: &Literal) -> TermId {
    // |cb| * a + |ca| * b, signs such that x cancels; an equation may be multiplied by a negative number.
    let opposite = a.coefficient.is_negative() != b.coefficient.is_negative();
    let (fa, fb) = (b.coefficient.clone().abs(), a.coefficient.clone().abs());
    let fa = if opposite { fa } else { -fa };
    let scaled = |pool: &mut Pool, f: RBig, t: TermId| {
        if f == RBig::ONE {
            return t;
        }
        let f = number(pool, sort, f);
        pool.mul(f, t)
    };
    let (ta, tb) = (scaled(pool, fa, a.rest), scaled(pool, fb, b.rest));
    let sum = pool.add(ta, tb);
    let zero = number(pool, sort, RBig::ZERO);
    let term = match (a.relation, b.relation) {
        (Relation::Equal, Relation::Equal) => pool.eq(sum, zero),
        (Relation::Less, _) | (_, Relation::Less) => pool.lt(sum, zero),
        _ => pool.le(sum, zero),
    };
    super::fold(pool, term)
}

/// For an equation over ints: the coefficient divides the rest.
pub(super) fn divides(pool: &mut Pool, equation: &Literal) -> TermId {
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

/// The value of `x` at which `coefficient * x + rest` is 0, rounded on ints.
pub(super) fn zero(pool: &mut Pool, literal: &Literal) -> TermId {
    let sort = pool.sort(literal.rest);
    let zero = number(pool, sort, RBig::ZERO);
    let minus = pool.sub(zero, literal.rest);
    let term = if literal.coefficient == RBig::ONE {
        minus
    } else if literal.coefficient == -RBig::ONE {
        literal.rest
    } else {
        let by = number(pool, sort, literal.coefficient.clone());
        let op = if sort == Sort::Int { Op::IntDiv } else { Op::Div };
        pool.mk(op, &[minus, by]).unwrap_or(minus)
    };
    super::fold(pool, term)
}

/// For ints: the end of `x` that `coefficient * x + rest <= 0` states. From above it is rounded down, from below rounded up.
pub(super) fn end(pool: &mut Pool, literal: &Literal) -> TermId {
    let zero = pool.int(0);
    let minus = pool.sub(zero, literal.rest);
    let by: IBig = literal.coefficient.numerator().clone().abs();
    if by == IBig::ONE {
        let term = if literal.is_lower() { literal.rest } else { minus };
        return super::fold(pool, term);
    }
    // The Euclidean quotient by a positive number is rounded down.
    let by = pool.int(by);
    let down = pool.mk(Op::IntDiv, &[minus, by]).unwrap_or(minus);
    let term = if literal.is_lower() { pool.sub(zero, down) } else { down };
    super::fold(pool, term)
}

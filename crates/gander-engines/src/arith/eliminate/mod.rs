//! Elimination of existential quantifiers, where that is cheap and exact.
//!
//! `exists x. F` is brought into disjunctive form over the literals that mention `x`. Per disjunct:
//! an equation that can be solved for `x` is substituted; else, for numbers, every lower bound is
//! paired with every upper bound (Fourier and Motzkin; on ints exact if one of the two coefficients
//! is 1, Pugh's *real shadow = dark shadow*). Variables of finite sorts are expanded. What this
//! does not cover is left to a solver: the answer is then `None`.

mod bound;

use gander_term::{Op, Pool, Sort, SymbolId, TermId, Value, evaluate};
use rustc_hash::{FxHashMap, FxHashSet};

use bound::UnivariateBound;

use crate::arith::limits::LIMITS;
use crate::arith::linear::Relation;

/// True if an elimination that began with `before` terms in the pool has made too many.
pub(crate) fn is_too_much(pool: &Pool, before: usize) -> bool {
    pool.len() - before > LIMITS.eliminate_terms
}

/// A formula without `symbols` that is equivalent to `exists symbols. body`, if one is found.
pub fn eliminate(pool: &mut Pool, symbols: &[SymbolId], body: TermId) -> Option<TermId> {
    let mut rest: Vec<SymbolId> = symbols.to_vec();
    let mut body = fold(pool, body);
    let before = pool.len();
    while !rest.is_empty() {
        if is_too_much(pool, before) {
            return None;
        }
        let free = pool.free_symbols(&[body]);
        rest.retain(|s| free.contains(s));
        // Finite ones first: they often guard the others.
        let Some(at) = rest.iter().position(|&s| is_small(pool, s)).or(rest.len().checked_sub(1))
        else {
            break;
        };
        let x = rest.remove(at);
        body = eliminate_one(pool, x, body)?;
    }
    Some(body)
}

fn is_small(pool: &Pool, s: SymbolId) -> bool {
    pool.symbol(s).sort.size_within(pool, LIMITS.eliminate_values).is_some()
}

fn eliminate_one(pool: &mut Pool, x: SymbolId, body: TermId) -> Option<TermId> {
    if let Some(values) = pool.symbol(x).sort.values_within(pool, LIMITS.eliminate_values) {
        if pool.postorder(&[body]).len().saturating_mul(values.len()) > LIMITS.eliminate_terms {
            return None;
        }
        let cases: Vec<TermId> = values.into_iter().map(|v| replace(pool, body, x, v)).collect();
        return Some(pool.or(cases));
    }
    let mentioning = mentioning(pool, x, body);
    let cubes = Forms { pool: &mut *pool, mentioning, visits: 0 }.disjuncts(
        body,
        true,
        LIMITS.eliminate_depth,
    )?;
    let mut parts = Vec::with_capacity(cubes.len());
    for cube in cubes {
        parts.push(project(pool, x, &cube)?);
    }
    Some(pool.or(parts))
}

fn replace(pool: &mut Pool, t: TermId, x: SymbolId, v: Value) -> TermId {
    let v = pool.constant(v);
    let r = pool.substitute(t, &[(x, v)].into_iter().collect());
    fold(pool, r)
}

/// The terms within `t` that mention `x`.
fn mentioning(pool: &Pool, x: SymbolId, t: TermId) -> FxHashSet<TermId> {
    let mut found = FxHashSet::default();
    for u in pool.postorder(&[t]) {
        if pool.as_symbol(u) == Some(x) || pool.args(u).iter().any(|a| found.contains(a)) {
            found.insert(u);
        }
    }
    found
}

/// A formula taken apart around a symbol.
struct Forms<'p> {
    pool: &'p mut Pool,
    /// What mentions the symbol.
    mentioning: FxHashSet<TermId>,
    visits: usize,
}

impl Forms<'_> {
    /// `t` (or its negation) as a disjunction of conjunctions of literals; what does not mention
    /// the symbol is one literal. Recursion is bounded by `depth`.
    fn disjuncts(&mut self, t: TermId, positive: bool, depth: u32) -> Option<Vec<Vec<TermId>>> {
        let depth = depth.checked_sub(1)?;
        self.visits += 1;
        if self.visits > LIMITS.eliminate_visits {
            return None;
        }
        let pool = &mut *self.pool;
        let args = pool.args(t).to_vec();
        let op = pool.op(t);
        if !self.mentioning.contains(&t) {
            let literal = if positive { t } else { pool.not(t) };
            return Some(match pool.as_bool(literal) {
                Some(true) => vec![Vec::new()],
                Some(false) => Vec::new(),
                None => vec![vec![literal]],
            });
        }
        let bools = args.first().is_some_and(|&a| pool.sort(a) == Sort::Bool);
        match (op, positive) {
            (Op::Not, _) => self.disjuncts(args[0], !positive, depth),
            (Op::And, true) | (Op::Or, false) => {
                let mut all = vec![Vec::new()];
                for a in args {
                    let cubes = self.disjuncts(a, positive, depth)?;
                    all = product(&all, &cubes)?;
                }
                Some(all)
            }
            (Op::Or, true) | (Op::And, false) => {
                let mut all = Vec::new();
                for a in args {
                    all.extend(self.disjuncts(a, positive, depth)?);
                }
                (all.len() <= LIMITS.eliminate_disjuncts).then_some(all)
            }
            (Op::Implies, true) => {
                let mut all = self.disjuncts(args[0], false, depth)?;
                all.extend(self.disjuncts(args[1], true, depth)?);
                (all.len() <= LIMITS.eliminate_disjuncts).then_some(all)
            }
            (Op::Implies, false) => {
                let a = self.disjuncts(args[0], true, depth)?;
                let b = self.disjuncts(args[1], false, depth)?;
                product(&a, &b)
            }
            (Op::Eq, _) if bools => {
                let mut all = Vec::new();
                for first in [true, false] {
                    let a = self.disjuncts(args[0], first, depth)?;
                    let b = self.disjuncts(args[1], first == positive, depth)?;
                    all.extend(product(&a, &b)?);
                }
                (all.len() <= LIMITS.eliminate_disjuncts).then_some(all)
            }
            (Op::Ite, _) => {
                let mut all = Vec::new();
                for (test, branch) in [(true, args[1]), (false, args[2])] {
                    let c = self.disjuncts(args[0], test, depth)?;
                    let b = self.disjuncts(branch, positive, depth)?;
                    all.extend(product(&c, &b)?);
                }
                (all.len() <= LIMITS.eliminate_disjuncts).then_some(all)
            }
            (Op::Eq, false) if pool.sort(args[0]).is_numeric() => {
                let (less, more) = (pool.lt(args[0], args[1]), pool.lt(args[1], args[0]));
                Some(vec![vec![less], vec![more]])
            }
            (Op::Eq | Op::Lt | Op::Le | Op::Gt | Op::Ge, _) => {
                let literal = if positive { t } else { pool.not(t) };
                Some(vec![vec![literal]])
            }
            _ => None,
        }
    }
}

fn product(a: &[Vec<TermId>], b: &[Vec<TermId>]) -> Option<Vec<Vec<TermId>>> {
    if a.len() * b.len() > LIMITS.eliminate_disjuncts {
        return None;
    }
    Some(
        a.iter()
            .flat_map(|x| b.iter().map(move |y| x.iter().chain(y).copied().collect()))
            .collect(),
    )
}

/// `exists x` of a conjunction of literals.
fn project(pool: &mut Pool, x: SymbolId, cube: &[TermId]) -> Option<TermId> {
    let mut kept = Vec::new();
    let mut with_x = Vec::new();
    for &l in cube {
        if pool.free_symbols(&[l]).contains(&x) { with_x.push(l) } else { kept.push(l) }
    }
    if let Some((at, e)) = solved(pool, x, &with_x) {
        with_x.remove(at);
        let conj = pool.and(with_x);
        let replaced = pool.substitute(conj, &[(x, e)].into_iter().collect());
        kept.push(fold(pool, replaced));
        return Some(pool.and(kept));
    }
    let sort = pool.symbol(x).sort;
    if sort == Sort::String {
        // Infinitely many values and only "differs from" left.
        let xt = pool.var(x);
        let differs = |pool: &Pool, l: TermId| {
            pool.op(l) == Op::Not && {
                let e = pool.args(l)[0];
                pool.op(e) == Op::Eq
                    && pool.args(e).contains(&xt)
                    && pool
                        .args(e)
                        .iter()
                        .filter(|a| pool.free_symbols(&[**a]).contains(&x))
                        .count()
                        == 1
            }
        };
        return with_x.iter().all(|&l| differs(pool, l)).then(|| pool.and(kept));
    }
    if !sort.is_numeric() {
        return None;
    }
    let mut bounds = Vec::new();
    for l in with_x {
        bounds.push(UnivariateBound::of(pool, x, l)?);
    }
    if let Some(at) = bounds.iter().position(|b| b.relation == Relation::Equal) {
        let equation = bounds.remove(at);
        for b in bounds {
            kept.push(bound::combine(pool, sort, &equation, &b));
        }
        if sort == Sort::Int {
            kept.push(bound::divides(pool, &equation));
        }
        return Some(pool.and(kept));
    }
    let (lower, upper): (Vec<UnivariateBound>, Vec<UnivariateBound>) =
        bounds.into_iter().partition(UnivariateBound::is_lower);
    for l in &lower {
        for u in &upper {
            if sort == Sort::Int && !l.is_unit() && !u.is_unit() {
                return None;
            }
            kept.push(bound::combine(pool, sort, l, u));
        }
    }
    Some(pool.and(kept))
}

/// An equation `x == e` or `e == x` where `e` does not mention `x`.
fn solved(pool: &mut Pool, x: SymbolId, literals: &[TermId]) -> Option<(usize, TermId)> {
    let xt = pool.var(x);
    for (i, &l) in literals.iter().enumerate() {
        if pool.op(l) != Op::Eq {
            continue;
        }
        let (a, b) = (pool.args(l)[0], pool.args(l)[1]);
        for (side, other) in [(a, b), (b, a)] {
            if side == xt && !pool.free_symbols(&[other]).contains(&x) {
                return Some((i, other));
            }
        }
    }
    None
}

/// The term that a literal says `x` equals, if it says so.
pub(crate) fn solution_of(pool: &mut Pool, x: SymbolId, l: TermId) -> Option<TermId> {
    let literal = [l];
    solved(pool, x, &literal).map(|(_, e)| e)
}

/// The term that a literal says `x` equals, where it is linear in `x` too: `y == x + 3` says that
/// `x` is `y - 3`. On ints only if nothing is divided.
pub(crate) fn solve_equation(pool: &mut Pool, x: SymbolId, l: TermId) -> Option<TermId> {
    let (atom, positive) = match pool.op(l) {
        Op::Not => (pool.args(l)[0], false),
        _ => (l, true),
    };
    if pool.as_symbol(atom) == Some(x) {
        return Some(if positive { pool.tt() } else { pool.ff() });
    }
    if pool.op(l) != Op::Eq {
        return None;
    }
    if let Some(value) = solution_of(pool, x, l) {
        return Some(value);
    }
    let sort = pool.symbol(x).sort;
    // The other side may be of another sort.
    if !sort.is_numeric() || pool.sort(pool.args(l)[0]) != sort {
        return None;
    }
    let equation = UnivariateBound::of(pool, x, l)?;
    (sort == Sort::Real || equation.is_unit()).then(|| equation.zero(pool))
}

/// The value of `x` at which a literal that is linear in `x` changes its truth, as a term; for
/// guidance only.
pub(crate) fn bound_of(pool: &mut Pool, x: SymbolId, l: TermId) -> Option<TermId> {
    if !pool.free_symbols(&[l]).contains(&x) {
        return None;
    }
    let bound = UnivariateBound::of(pool, x, l)?;
    Some(bound.zero(pool))
}

/// What a literal says of an int: terms that it is not below and not above.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntBounds {
    pub lower: Option<TermId>,
    pub upper: Option<TermId>,
    /// The literal says no more: nothing was rounded.
    pub exact: bool,
}

/// The bounds of the int `x` that follow from a literal which is linear in it.
pub(crate) fn int_bounds(pool: &mut Pool, x: SymbolId, l: TermId) -> Option<IntBounds> {
    if pool.symbol(x).sort != Sort::Int || !pool.free_symbols(&[l]).contains(&x) {
        return None;
    }
    let bound = UnivariateBound::of(pool, x, l)?;
    let end = bound.end(pool);
    let exact = bound.is_unit();
    Some(match bound.relation {
        Relation::Equal => IntBounds { lower: Some(end), upper: Some(end), exact },
        _ if bound.is_lower() => IntBounds { lower: Some(end), upper: None, exact },
        _ => IntBounds { lower: None, upper: Some(end), exact },
    })
}

/// The same term with constants computed and connectives of constants simplified.
pub(crate) fn fold(pool: &mut Pool, t: TermId) -> TermId {
    let mut done: FxHashMap<TermId, TermId> = FxHashMap::default();
    for u in pool.postorder(&[t]) {
        let op = pool.op(u);
        let old = pool.args(u).to_vec();
        let args: Vec<TermId> = old.iter().map(|a| done[a]).collect();
        let new = match op {
            _ if op.is_leaf() => u,
            Op::Not => pool.not(args[0]),
            Op::And => pool.and(args),
            Op::Or => pool.or(args),
            Op::Implies => pool.implies(args[0], args[1]),
            Op::Eq => pool.eq(args[0], args[1]),
            Op::Ite => pool.ite(args[0], args[1], args[2]),
            Op::Forall | Op::Exists if pool.as_bool(args[args.len() - 1]).is_some() => {
                args[args.len() - 1]
            }
            _ => {
                // The arguments have the sorts that they had before.
                let same = if args == old { u } else { pool.mk(op, &args).unwrap_or(u) };
                let constant = args.iter().all(|&a| pool.as_constant(a).is_some());
                match constant.then(|| evaluate(pool, same, &|_| None)) {
                    Some(Ok(v)) => pool.constant(v),
                    _ => same,
                }
            }
        };
        done.insert(u, new);
    }
    done[&t]
}

#[cfg(test)]
mod tests;

//! Exact elimination of existentially quantified symbols, as far as cheap rules go.
//!
//! `exists y. C1 and ... and Cn` is rewritten to an equivalent formula without `y` when
//! - no conjunct mentions `y` (every sort has a value);
//! - some conjunct is `y == e`, `y` or `not y`, with `e` free of `y`: substitute (the one-point
//!   rule). An equation with a sum in which `y` occurs once, as `x + y == z`, is such a conjunct;
//! - every conjunct that mentions `y` compares it, or such a sum, with a term free of `y`: pair
//!   lower with upper bounds (Fourier and Motzkin; exact for ints, as `y` has no coefficient). If
//!   one side has no bound, infinitely many values remain, and disequalities can be dropped;
//! - `y` is an int and occurs in one conjunct, an equation that says `c * y == e` with a constant
//!   `c`: `e mod c == 0`;
//! - `y` has few values: the disjunction over them.
//!
//! The other symbols stay quantified. Every rule is an equivalence, so the result may be used under
//! any polarity. Validity cores use [`exists`] for the claims that `gander_system::passes::pinned`
//! makes.

use gander_term::{IBig, Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use crate::formula::conjuncts;

/// Finite sorts up to this size are tried value by value.
const MAX_VALUES: u32 = 8;

/// The number of pairs of bounds in one elimination.
const MAX_PAIRS: usize = 64;

/// Elimination stops after this many new terms, as expansion can double a formula each time.
const MAX_TERMS: usize = 20_000;

/// A formula equivalent to `exists symbols. body`.
pub fn exists(pool: &mut Pool, symbols: &[SymbolId], body: TermId) -> TermId {
    let mut parts = conjuncts(pool, body);
    let mut left: Vec<SymbolId> = symbols.to_vec();
    let rules = [one_point, pair_bounds, divisibility, try_values];
    let before = pool.len();
    'again: while pool.len() - before <= MAX_TERMS {
        let occurring = pool.free_symbols(&parts);
        left.retain(|s| occurring.contains(s));
        for rule in rules {
            for i in 0..left.len() {
                if let Some(rewritten) = rule(pool, left[i], &parts) {
                    let body = pool.and(rewritten);
                    parts = conjuncts(pool, body);
                    left.swap_remove(i);
                    continue 'again;
                }
            }
        }
        break;
    }
    quantify(pool, &left, &parts)
}

/// A cache: quantified formulas, each with its equivalent without quantifiers, or itself.
pub(crate) type Eliminated = FxHashMap<TermId, TermId>;

/// An equivalent formula without the quantifiers that [`exists`] eliminates completely.
pub(crate) fn without_quantifiers(
    pool: &mut Pool,
    formula: TermId,
    known: &mut Eliminated,
) -> TermId {
    if !pool.has_quantifier(formula) {
        return formula;
    }
    let mut done: FxHashMap<TermId, TermId> = FxHashMap::default();
    for t in pool.postorder(&[formula]) {
        let (op, args) = (pool.op(t), pool.args(t).to_vec());
        let new: Vec<TermId> = args.iter().map(|a| done.get(a).copied().unwrap_or(*a)).collect();
        // Every argument is replaced by one of its sort, so the term can be built.
        let rebuilt = if new == args { t } else { pool.mk(op, &new).unwrap_or(t) };
        let kept = match op {
            Op::Exists | Op::Forall => {
                let found = known.get(&rebuilt).copied();
                found.unwrap_or_else(|| {
                    let without = without_quantifier(pool, rebuilt).unwrap_or(rebuilt);
                    known.insert(rebuilt, without);
                    without
                })
            }
            _ => rebuilt,
        };
        done.insert(t, kept);
    }
    done.get(&formula).copied().unwrap_or(formula)
}

/// A quantified formula without its quantifier; `None` if that is not eliminated completely.
fn without_quantifier(pool: &mut Pool, quantified: TermId) -> Option<TermId> {
    let universal = pool.op(quantified) == Op::Forall;
    let args = pool.args(quantified).to_vec();
    let (&body, bound) = args.split_last()?;
    if pool.has_quantifier(body) {
        return None;
    }
    // The rules look for free symbols, so replace the bound symbols by free ones.
    let (mut map, mut symbols): (FxHashMap<TermId, TermId>, Vec<SymbolId>) = Default::default();
    for &b in bound {
        let symbol = pool.as_symbol(b)?;
        let (name, sort) = (pool.symbol(symbol).name.clone(), pool.symbol(symbol).sort);
        let fresh = pool.declare_fresh(&name, sort);
        map.insert(b, pool.var(fresh));
        symbols.push(fresh);
    }
    for t in pool.postorder(&[body]) {
        if !map.contains_key(&t) {
            let (op, args) = (pool.op(t), pool.args(t).to_vec());
            let new: Vec<TermId> = args.iter().map(|a| map.get(a).copied().unwrap_or(*a)).collect();
            let rebuilt = if new == args { t } else { pool.mk(op, &new).ok()? };
            map.insert(t, rebuilt);
        }
    }
    let mut body = map.get(&body).copied()?;
    if universal {
        body = pool.not(body);
    }
    let without = exists(pool, &symbols, body);
    let clean = !pool.has_quantifier(without) && !mentions_any(pool, without, &symbols);
    clean.then(|| if universal { pool.not(without) } else { without })
}

fn quantify(pool: &mut Pool, left: &[SymbolId], parts: &[TermId]) -> TermId {
    if left.is_empty() {
        return pool.and(parts.iter().copied());
    }
    let (inside, outside): (Vec<TermId>, Vec<TermId>) =
        parts.iter().partition(|&&p| mentions_any(pool, p, left));
    let mut map = FxHashMap::default();
    let mut bound = Vec::new();
    for &s in left {
        let (name, sort) = (pool.symbol(s).name.clone(), pool.symbol(s).sort);
        let b = pool.declare_bound(&name, sort);
        map.insert(s, pool.var(b));
        bound.push(b);
    }
    let inside = pool.and(inside);
    let inside = pool.substitute(inside, &map);
    let quantified = pool.exists(&bound, inside);
    pool.and(outside.into_iter().chain([quantified]))
}

fn mentions(pool: &Pool, t: TermId, s: SymbolId) -> bool {
    pool.free_symbols(&[t]).contains(&s)
}

fn mentions_any(pool: &Pool, t: TermId, symbols: &[SymbolId]) -> bool {
    pool.free_symbols(&[t]).iter().any(|s| symbols.contains(s))
}

fn replace(pool: &mut Pool, parts: &[TermId], s: SymbolId, by: TermId) -> Vec<TermId> {
    let map = FxHashMap::from_iter([(s, by)]);
    parts.iter().map(|&p| pool.substitute(p, &map)).collect()
}

/// `exists y. y == e and B` is `B[y := e]`.
fn one_point(pool: &mut Pool, y: SymbolId, parts: &[TermId]) -> Option<Vec<TermId>> {
    for (i, &part) in parts.iter().enumerate() {
        let Some(value) = point(pool, y, part) else { continue };
        let mut others = parts.to_vec();
        others.remove(i);
        return Some(replace(pool, &others, y, value));
    }
    None
}

/// The only value of `y` that satisfies `part`, if `part` is an equation for it.
fn point(pool: &mut Pool, y: SymbolId, part: TermId) -> Option<TermId> {
    let is_y = |pool: &Pool, t: TermId| pool.as_symbol(t) == Some(y);
    match (pool.op(part), pool.args(part)) {
        (Op::Symbol(s), _) if s == y => Some(pool.tt()),
        (Op::Not, &[a]) if is_y(pool, a) => Some(pool.ff()),
        (Op::Eq, &[a, b]) if is_y(pool, a) && !mentions(pool, b, y) => Some(b),
        (Op::Eq, &[a, b]) if is_y(pool, b) && !mentions(pool, a, y) => Some(a),
        (Op::Eq, &[a, b]) => isolate(pool, y, a, b).map(|(other, _)| other),
        _ => None,
    }
}

/// A term `t` without `y` such that comparing `a` with `b` is comparing `y` with `t`, or `t` with
/// `y` if the flag is true. Possible if `y` occurs once in sums and differences of numbers.
fn isolate(pool: &mut Pool, y: SymbolId, a: TermId, b: TermId) -> Option<(TermId, bool)> {
    let sort = pool.symbol(y).sort;
    if !sort.is_numeric() || pool.sort(a) != sort || pool.sort(b) != sort {
        return None;
    }
    // The summands of `a - b`; true for those that are subtracted.
    let mut stack = vec![(a, false), (b, true)];
    let mut found: Option<bool> = None;
    let mut others: Vec<(TermId, bool)> = Vec::new();
    while let Some((t, minus)) = stack.pop() {
        match (pool.op(t), pool.args(t)) {
            (Op::Symbol(s), _) if s == y => {
                if found.replace(minus).is_some() {
                    return None;
                }
            }
            (Op::Add, args) => stack.extend(args.iter().map(|&arg| (arg, minus))),
            (Op::Sub, &[l, r]) => stack.extend([(l, minus), (r, !minus)]),
            (Op::Neg, &[arg]) => stack.push((arg, !minus)),
            _ if mentions(pool, t, y) => return None,
            _ => others.push((t, minus)),
        }
    }
    let mirrored = found?;
    // `y + rest` against 0 is `y` against `-rest`; `-y + rest` against 0 is `rest` against `y`.
    let mut sum = match sort {
        Sort::Int => pool.int(0),
        _ => pool.real(0),
    };
    for (t, minus) in others {
        sum = if minus == mirrored { pool.sub(sum, t) } else { pool.add(sum, t) };
    }
    Some((sum, mirrored))
}

/// A bound on `y`, in terms without `y`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bound {
    Above { bound: TermId, strict: bool },
    Below { bound: TermId, strict: bool },
    Differs,
}

/// Fourier-Motzkin elimination of a symbol without coefficient.
fn pair_bounds(pool: &mut Pool, y: SymbolId, parts: &[TermId]) -> Option<Vec<TermId>> {
    let sort = pool.symbol(y).sort;
    if !sort.is_numeric() {
        return None;
    }
    let (mut rest, mut lower, mut upper, mut differs) = (Vec::new(), Vec::new(), Vec::new(), false);
    for &part in parts {
        if !mentions(pool, part, y) {
            rest.push(part);
            continue;
        }
        match bound_of(pool, y, part)? {
            Bound::Above { bound, strict } => lower.push((bound, strict)),
            Bound::Below { bound, strict } => upper.push((bound, strict)),
            Bound::Differs => differs = true,
        }
    }
    if lower.is_empty() || upper.is_empty() {
        return Some(rest);
    }
    if differs || lower.len() * upper.len() > MAX_PAIRS {
        return None;
    }
    for &(low, low_strict) in &lower {
        for &(high, high_strict) in &upper {
            rest.push(between(pool, sort, (low, low_strict), (high, high_strict)));
        }
    }
    Some(rest)
}

/// The formula that some value lies between the bounds.
fn between(pool: &mut Pool, sort: Sort, low: (TermId, bool), high: (TermId, bool)) -> TermId {
    match (sort, low.1, high.1) {
        // low < y < high for ints: low + 1 <= high - 1.
        (Sort::Int, true, true) => {
            let one = pool.int(1);
            let least = pool.add(low.0, one);
            pool.lt(least, high.0)
        }
        (_, false, false) => pool.le(low.0, high.0),
        _ => pool.lt(low.0, high.0),
    }
}

/// The bound that a conjunct is.
fn bound_of(pool: &mut Pool, y: SymbolId, part: TermId) -> Option<Bound> {
    let (atom, positive) = match (pool.op(part), pool.args(part)) {
        (Op::Not, &[a]) => (a, false),
        _ => (part, true),
    };
    let &[a, b] = pool.args(atom) else { return None };
    let (other, mirrored) = match (pool.as_symbol(a) == Some(y), pool.as_symbol(b) == Some(y)) {
        (true, false) => (b, false),
        (false, true) => (a, true),
        _ => isolate(pool, y, a, b)?,
    };
    if mentions(pool, other, y) {
        return None;
    }
    // The direction for `y OP other`, negation included; the reverse if `y` is on the right.
    let (below, strict) = match (pool.op(atom), positive) {
        (Op::Lt, true) | (Op::Ge, false) => (true, true),
        (Op::Le, true) | (Op::Gt, false) => (true, false),
        (Op::Gt, true) | (Op::Le, false) => (false, true),
        (Op::Ge, true) | (Op::Lt, false) => (false, false),
        (Op::Eq, false) => return Some(Bound::Differs),
        _ => return None,
    };
    Some(if below != mirrored {
        Bound::Below { bound: other, strict }
    } else {
        Bound::Above { bound: other, strict }
    })
}

/// `exists y. c * y == e`, for ints and a constant `c` other than 0, is `e mod c == 0`.
fn divisibility(pool: &mut Pool, y: SymbolId, parts: &[TermId]) -> Option<Vec<TermId>> {
    let (with, mut rest): (Vec<TermId>, Vec<TermId>) =
        parts.iter().partition(|&&p| mentions(pool, p, y));
    let [part] = with[..] else { return None };
    let &[a, b] = pool.args(part) else { return None };
    if pool.op(part) != Op::Eq || pool.sort(a) != Sort::Int {
        return None;
    }
    let (mut factor, mut sum) = (IBig::ZERO, pool.int(0));
    let mut stack = vec![(a, IBig::ONE), (b, -IBig::ONE)];
    while let Some((t, by)) = stack.pop() {
        match (pool.op(t), pool.args(t)) {
            (Op::Symbol(s), _) if s == y => factor += by,
            (Op::Add, args) => stack.extend(args.iter().map(|&arg| (arg, by.clone()))),
            (Op::Sub, &[l, r]) => stack.extend([(l, by.clone()), (r, -by)]),
            (Op::Neg, &[arg]) => stack.push((arg, -by)),
            (Op::Mul, &[l, r]) => match (whole(pool, l), whole(pool, r)) {
                (Some(c), _) => stack.push((r, by * c)),
                (_, Some(c)) => stack.push((l, by * c)),
                _ if mentions(pool, t, y) => return None,
                _ => sum = plus_multiple(pool, sum, t, by),
            },
            _ if mentions(pool, t, y) => return None,
            _ => sum = plus_multiple(pool, sum, t, by),
        }
    }
    if factor == IBig::ZERO {
        return None;
    }
    let (divisor, zero) = (pool.int(factor), pool.int(0));
    let remainder = pool.mk(Op::Mod, &[sum, divisor]).ok()?;
    rest.push(pool.eq(remainder, zero));
    Some(rest)
}

fn whole(pool: &Pool, t: TermId) -> Option<IBig> {
    match pool.as_constant(t)? {
        Value::Int(i) => Some(i),
        _ => None,
    }
}

fn plus_multiple(pool: &mut Pool, sum: TermId, t: TermId, by: IBig) -> TermId {
    let by = pool.int(by);
    let product = pool.mul(by, t);
    pool.add(sum, product)
}

/// `exists y. B` is the disjunction of `B[y := v]` over the values of `y`.
fn try_values(pool: &mut Pool, y: SymbolId, parts: &[TermId]) -> Option<Vec<TermId>> {
    let values = pool.symbol(y).sort.values_within(pool, MAX_VALUES)?;
    let (with, mut rest): (Vec<TermId>, Vec<TermId>) =
        parts.iter().partition(|&&p| mentions(pool, p, y));
    let with = pool.and(with);
    let mut cases = Vec::new();
    for value in values {
        let value = pool.constant(value);
        cases.extend(replace(pool, &[with], y, value));
    }
    rest.push(pool.or(cases));
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_term::{evaluate, parse_term};

    /// Eliminates `p` and `q` and compares with trying values, for small values of `x` and `y`.
    fn agrees(formula: &str, quantifier_left: bool) {
        let mut pool = Pool::new();
        for name in ["p", "q", "x", "y"] {
            pool.variable(name, Sort::Int);
        }
        let body = parse_term(&mut pool, formula).unwrap_or_else(|e| panic!("{formula}: {e}"));
        let symbol = |pool: &Pool, name: &str| pool.find_symbol(name).expect("declared");
        let (p, q) = (symbol(&pool, "p"), symbol(&pool, "q"));
        let (x, y) = (symbol(&pool, "x"), symbol(&pool, "y"));
        let done = exists(&mut pool, &[p, q], body);
        let free = pool.free_symbols(&[done]);
        assert!(!free.contains(&p) && !free.contains(&q), "{formula}");
        assert_eq!(pool.features(&[done]).quantifiers, quantifier_left, "{formula}");
        if quantifier_left {
            return;
        }
        for (xv, yv) in (-3i64..=3).flat_map(|a| (-3i64..=3).map(move |b| (a, b))) {
            let known = |s: SymbolId| match s {
                s if s == x => Some(Value::Int(xv.into())),
                s if s == y => Some(Value::Int(yv.into())),
                _ => None,
            };
            let found = evaluate(&pool, done, &known);
            let some =
                (-15i64..=15).flat_map(|a| (-15i64..=15).map(move |b| (a, b))).any(|(pv, qv)| {
                    let look = |s: SymbolId| match s {
                        s if s == p => Some(Value::Int(pv.into())),
                        s if s == q => Some(Value::Int(qv.into())),
                        s => known(s),
                    };
                    evaluate(&pool, body, &look) == Ok(Value::Bool(true))
                });
            assert_eq!(found, Ok(Value::Bool(some)), "{formula} at x = {xv}, y = {yv}");
        }
    }

    #[test]
    fn a_symbol_in_a_sum_is_eliminated() {
        agrees("p + q == x + y and q > y - 10", false);
        agrees("p - q == x and q - y < 2 and y - q < 2 and p > 0", false);
        agrees("x - p > y and p + y >= x", false);
        agrees("3 - (p - x) <= q and q + p < y and p == 2", false);
        agrees("-p < x and p - 1 < -y and q == p", false);
        agrees("x + p != y and p <= x", false);
        // Bounds with a coefficient: left to a solver.
        agrees("2 * p < x and x < 3 * p", true);
    }

    #[test]
    fn an_equation_with_a_coefficient_is_divisibility() {
        agrees("p + p == x", false);
        agrees("2 * p == x + y and q == y", false);
        agrees("x - 3 * p == 2 * y - 1", false);
        agrees("p * 2 - p - 3 * p == x * 2 + 1", false);
        // Bounded as well, or without a factor in the end.
        agrees("2 * p == x and p < y", true);
        agrees("p * x == y", true);
    }

    #[test]
    fn quantifiers_inside_of_formulas_are_eliminated() {
        let mut pool = Pool::new();
        pool.variable("x", Sort::Int);
        let mut done = |text: &str| {
            let formula = parse_term(&mut pool, text).unwrap_or_else(|e| panic!("{text}: {e}"));
            let done = without_quantifiers(&mut pool, formula, &mut Eliminated::default());
            (pool.has_quantifier(done), pool.display(done).to_string())
        };
        let (left, text) = done("x > 0 and not (exists k: int. x == 2 * k)");
        assert!(!left && text.contains("mod"), "{text}");
        assert!(!done("forall k: int. x != 2 * k").0);
        assert!(done("exists k: int. x == k * k").0);
    }
}

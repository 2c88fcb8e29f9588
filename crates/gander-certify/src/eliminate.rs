//! Exact elimination of existentially quantified symbols, as far as cheap rules go.
//!
//! `exists y. C1 and ... and Cn` is rewritten to an equivalent formula without `y` when
//! - no conjunct mentions `y` (every sort has a value);
//! - some conjunct is `y == e`, `y` or `not y`, with `e` free of `y`: replace (the one-point rule);
//! - every conjunct that mentions `y` compares it with a term free of `y`: pair lower with upper bounds
//!   (Fourier and Motzkin; exact for ints too, as `y` has no coefficient). If one side has no bound, infinitely many
//!   values remain, so disequalities do no harm either;
//! - `y` has few values: the disjunction over them.
//!
//! What remains keeps a quantifier. Every rule is an equivalence, so the result may be used under any polarity.

use gander_term::{Op, Pool, Sort, SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::formula::conjuncts;

/// Finite sorts up to this size are tried value by value.
const MOST_VALUES: u32 = 8;
/// Pairs of bounds that one elimination may make.
const MOST_PAIRS: usize = 64;

/// When so many terms have been made, the rest keeps its quantifier: expansion can double a formula each time.
const MOST_TERMS: usize = 20_000;

/// A formula equivalent to `exists symbols. body`.
pub(crate) fn exists(pool: &mut Pool, symbols: &[SymbolId], body: TermId) -> TermId {
    let mut parts = conjuncts(pool, body);
    let mut left: Vec<SymbolId> = symbols.to_vec();
    let rules = [one_point, pair_bounds, try_values];
    let before = pool.len();
    'again: while pool.len() - before <= MOST_TERMS {
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

fn quantify(pool: &mut Pool, left: &[SymbolId], parts: &[TermId]) -> TermId {
    if left.is_empty() {
        return pool.and(parts.iter().copied());
    }
    let (inside, outside): (Vec<TermId>, Vec<TermId>) = parts.iter().partition(|&&p| mentions_any(pool, p, left));
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

/// `y == e and B` is `B[y := e]`.
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
        _ => None,
    }
}

/// What a conjunct says of `y`, in terms without `y`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Says {
    Above { bound: TermId, strict: bool },
    Below { bound: TermId, strict: bool },
    Differs,
}

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
        match says(pool, y, part)? {
            Says::Above { bound, strict } => lower.push((bound, strict)),
            Says::Below { bound, strict } => upper.push((bound, strict)),
            Says::Differs => differs = true,
        }
    }
    if lower.is_empty() || upper.is_empty() {
        return Some(rest);
    }
    if differs || lower.len() * upper.len() > MOST_PAIRS {
        return None;
    }
    for &(low, low_strict) in &lower {
        for &(high, high_strict) in &upper {
            rest.push(between(pool, sort, (low, low_strict), (high, high_strict)));
        }
    }
    Some(rest)
}

/// Some value lies between the bounds.
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

fn says(pool: &Pool, y: SymbolId, part: TermId) -> Option<Says> {
    let (atom, positive) = match (pool.op(part), pool.args(part)) {
        (Op::Not, &[a]) => (a, false),
        _ => (part, true),
    };
    let &[a, b] = pool.args(atom) else { return None };
    let (other, mirrored) = match (pool.as_symbol(a) == Some(y), pool.as_symbol(b) == Some(y)) {
        (true, false) => (b, false),
        (false, true) => (a, true),
        _ => return None,
    };
    if mentions(pool, other, y) {
        return None;
    }
    // Reads `y OP other`, negation carried out; then the mirror image if `y` stands on the right.
    let (below, strict) = match (pool.op(atom), positive) {
        (Op::Lt, true) | (Op::Ge, false) => (true, true),
        (Op::Le, true) | (Op::Gt, false) => (true, false),
        (Op::Gt, true) | (Op::Le, false) => (false, true),
        (Op::Ge, true) | (Op::Lt, false) => (false, false),
        (Op::Eq, false) => return Some(Says::Differs),
        _ => return None,
    };
    Some(if below != mirrored { Says::Below { bound: other, strict } } else { Says::Above { bound: other, strict } })
}

/// `exists y. B` is the disjunction of `B[y := v]` over the values of `y`.
fn try_values(pool: &mut Pool, y: SymbolId, parts: &[TermId]) -> Option<Vec<TermId>> {
    let values = pool.symbol(y).sort.values_within(pool, MOST_VALUES)?;
    let (with, mut rest): (Vec<TermId>, Vec<TermId>) = parts.iter().partition(|&&p| mentions(pool, p, y));
    let with = pool.and(with);
    let mut cases = Vec::new();
    for value in values {
        let value = pool.constant(value);
        cases.extend(replace(pool, &[with], y, value));
    }
    rest.push(pool.or(cases));
    Some(rest)
}

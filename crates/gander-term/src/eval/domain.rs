//! The values that evaluation of a quantifier must try.
//!
//! `exists x. B` is decided by the values of `x` for which every conjunct of `B` can hold; `forall
//! x. B` by those for which every conjunct of `not B` can hold. Conjuncts such as `0 <= x` or `x +
//! 1 <= n`, where `n` does not depend on the bound symbols, give bounds of an int. Values outside
//! the bounds cannot change the result.

use rustc_hash::FxHashSet;

use crate::op::Op;
use crate::pool::{Pool, SymbolId, TermId};
use crate::sort::Sort;

/// The number of conjuncts that are examined.
const MAX_CONJUNCTS: usize = 10_000;
/// The size of one bound, in terms.
const MAX_BOUND_SIZE: usize = 64;
/// The number of lower bounds, and of upper bounds, that inequalities add for one symbol.
const MAX_BOUNDS: usize = 8;

/// The number of values of a finite sort that is enumerated; larger sorts are not.
const MAX_FINITE: u32 = 1 << 20;

/// A bound of an int: the sum of `plus` minus the sum of `minus`, adjusted by 1 if the comparison
/// is strict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Bound {
    pub plus: Vec<TermId>,
    pub minus: Vec<TermId>,
    pub strict: bool,
}

/// The values that one bound symbol takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Domain {
    /// The values of a finite sort, by position.
    Finite(u32),
    /// All ints that meet every bound; both lists are non-empty.
    Between { lower: Vec<Bound>, upper: Vec<Bound> },
}

/// The bound symbols that occur in the body of the quantifier `t`, with their values; `None` if one
/// of them has infinitely many. The second component is true if the search is for a true body
/// (`exists`) and false if it is for a false body (`forall`).
pub(crate) fn domains(pool: &Pool, t: TermId) -> (Option<Vec<(SymbolId, Domain)>>, bool) {
    let exists = pool.op(t) == Op::Exists;
    let (&body, bound) = pool.args(t).split_last().expect("a quantifier has a body");
    let occurring = pool.all_symbols(&[body]);
    let mut symbols: Vec<SymbolId> = bound.iter().filter_map(|&b| pool.as_symbol(b)).collect();
    symbols.sort_unstable();
    symbols.dedup();
    symbols.retain(|s| occurring.binary_search(s).is_ok());
    let mut conjuncts = None;
    let mut result = Vec::new();
    for &s in &symbols {
        let domain = match pool.symbol(s).sort {
            sort @ (Sort::Bool | Sort::Enum(_) | Sort::BitVec(_)) => {
                sort.size_within(pool, MAX_FINITE).map(Domain::Finite)
            }
            Sort::Int => {
                let conjuncts = conjuncts.get_or_insert_with(|| conjuncts_of(pool, body, exists));
                bounds(pool, s, &symbols, conjuncts)
            }
            Sort::Real | Sort::String | Sort::Array(_) => None,
        };
        match domain {
            Some(d) => result.push((s, d)),
            None => return (None, exists),
        }
    }
    (Some(result), exists)
}

/// Terms with their polarity that must all hold if `body` has the truth value `wanted`.
fn conjuncts_of(pool: &Pool, body: TermId, wanted: bool) -> Vec<(TermId, bool)> {
    let mut result = Vec::new();
    let mut seen = FxHashSet::default();
    let mut work = vec![(body, wanted)];
    while let Some((t, positive)) = work.pop() {
        if !seen.insert((t, positive)) || seen.len() > MAX_CONJUNCTS {
            continue;
        }
        let args = pool.args(t);
        match (pool.op(t), positive) {
            (Op::Not, _) => work.push((args[0], !positive)),
            (Op::And, true) | (Op::Or, false) => {
                work.extend(args.iter().rev().map(|&a| (a, positive)))
            }
            (Op::Implies, false) => work.extend([(args[1], false), (args[0], true)]),
            (Op::Eq | Op::Lt | Op::Le | Op::Gt | Op::Ge, _) => result.push((t, positive)),
            _ => {}
        }
    }
    result
}

fn bounds(
    pool: &Pool,
    s: SymbolId,
    symbols: &[SymbolId],
    conjuncts: &[(TermId, bool)],
) -> Option<Domain> {
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    for &(t, positive) in conjuncts {
        let [a, b] = pool.args(t) else { continue };
        if pool.sort(*a) != Sort::Int {
            continue;
        }
        // Bring the comparison into the form s OP plus - minus.
        let (left, right) = (summands(pool, a), summands(pool, b));
        let is_s = |t: &TermId| pool.as_symbol(*t) == Some(s);
        let (here, plus, mirrored) = match (left.iter().position(is_s), right.iter().position(is_s))
        {
            (Some(i), None) => ((left, i), right, false),
            (None, Some(i)) => ((right, i), left, true),
            _ => continue,
        };
        let mut minus = here.0.to_vec();
        minus.remove(here.1);
        if !independent(pool, plus, symbols) || !independent(pool, &minus, symbols) {
            continue;
        }
        let bound = |strict| Bound { plus: plus.to_vec(), minus: minus.clone(), strict };
        let (below, strict) = match (pool.op(t), positive) {
            (Op::Eq, true) => {
                lower.push(bound(false));
                upper.push(bound(false));
                continue;
            }
            (Op::Lt, true) | (Op::Ge, false) => (true, true),
            (Op::Le, true) | (Op::Gt, false) => (true, false),
            (Op::Gt, true) | (Op::Le, false) => (false, true),
            (Op::Ge, true) | (Op::Lt, false) => (false, false),
            _ => continue,
        };
        let side = if below != mirrored { &mut upper } else { &mut lower };
        if side.len() < MAX_BOUNDS {
            side.push(bound(strict));
        }
    }
    (!lower.is_empty() && !upper.is_empty()).then_some(Domain::Between { lower, upper })
}

/// The summands of a sum; the term itself if it is not a sum.
fn summands<'a>(pool: &'a Pool, t: &'a TermId) -> &'a [TermId] {
    if pool.op(*t) == Op::Add { pool.args(*t) } else { std::slice::from_ref(t) }
}

/// True if `terms` are small and contain none of `symbols` and no quantifier.
fn independent(pool: &Pool, terms: &[TermId], symbols: &[SymbolId]) -> bool {
    let (mut size, mut ok) = (0, true);
    pool.visit(terms, |pool, t| {
        size += 1;
        ok &= size <= MAX_BOUND_SIZE;
        match pool.op(t) {
            Op::Symbol(s) => ok &= symbols.binary_search(&s).is_err(),
            Op::Forall | Op::Exists => ok = false,
            _ => {}
        }
        ok
    });
    ok
}

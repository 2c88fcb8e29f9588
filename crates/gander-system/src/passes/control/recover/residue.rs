//! Partial evaluation of conjunctions: known values are substituted and propagated.

use gander_term::{Op, Pool, Simplifier, Sort, Substitution, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Reduces conjunctions of terms of one pool; caches simplified terms.
#[derive(Default)]
pub(super) struct Reducer {
    simplifier: Simplifier,
    /// The number of terms visited.
    pub work: usize,
}

/// A conjunction in normal form; `None` if it is false.
pub(super) type Residue = Option<Vec<TermId>>;

impl Reducer {
    /// The conjuncts of terms, simplified.
    pub fn conjuncts(
        &mut self,
        pool: &mut Pool,
        terms: impl IntoIterator<Item = TermId>,
    ) -> Residue {
        let mut stack: Vec<TermId> = terms.into_iter().collect();
        stack.reverse();
        let mut found = Vec::new();
        let mut seen = FxHashSet::default();
        while let Some(t) = stack.pop() {
            self.work += 1;
            let t = self.simplifier.simplify(pool, t);
            match (pool.op(t), pool.as_bool(t)) {
                (_, Some(true)) => {}
                (_, Some(false)) => return None,
                (Op::And, _) => stack.extend(pool.args(t).iter().rev()),
                _ => {
                    if seen.insert(t) {
                        found.push(t);
                    }
                }
            }
        }
        Some(found)
    }

    /// The conjuncts with terms substituted for symbols.
    pub fn with(
        &mut self,
        pool: &mut Pool,
        terms: &[TermId],
        map: &FxHashMap<SymbolId, TermId>,
    ) -> Residue {
        let mut substitution = Substitution::new(pool, map);
        let terms: Vec<TermId> = terms.iter().map(|&t| substitution.apply(pool, t)).collect();
        self.work += pool.postorder(&terms).len();
        self.conjuncts(pool, terms)
    }

    /// Unit propagation: replaces atoms that are conjuncts by true in the other conjuncts, up to a
    /// fixed point.
    pub fn propagated(&mut self, pool: &mut Pool, mut terms: Vec<TermId>) -> Residue {
        let mut done: FxHashSet<TermId> = FxHashSet::default();
        loop {
            let units: Vec<TermId> =
                terms.iter().copied().filter(|t| is_unit(pool, *t) && !done.contains(t)).collect();
            if units.is_empty() {
                return Some(terms);
            }
            let mut known = FxHashMap::default();
            for &unit in &units {
                let not = pool.not(unit);
                let not = self.simplifier.simplify(pool, not);
                known.insert(unit, pool.tt());
                known.insert(not, pool.ff());
            }
            // Contradictory conjuncts.
            if terms.iter().any(|t| known.get(t) == Some(&pool.ff())) {
                return None;
            }
            done.extend(units);
            let new: Vec<TermId> = terms
                .iter()
                .map(|&t| if known.contains_key(&t) { t } else { self.put(pool, t, &known) })
                .collect();
            terms = self.conjuncts(pool, new)?;
        }
    }

    /// A term with truth values for some of its subformulas.
    fn put(&mut self, pool: &mut Pool, t: TermId, known: &FxHashMap<TermId, TermId>) -> TermId {
        let mut new: FxHashMap<TermId, TermId> = FxHashMap::default();
        for part in pool.postorder(&[t]) {
            self.work += 1;
            if let Some(&value) = known.get(&part) {
                new.insert(part, value);
            } else if pool.args(part).iter().any(|a| new.contains_key(a)) {
                let args: Vec<TermId> =
                    pool.args(part).iter().map(|a| new.get(a).copied().unwrap_or(*a)).collect();
                let op = pool.op(part);
                new.insert(part, pool.mk(op, &args).expect("truth values are formulas"));
            }
        }
        new.get(&t).copied().unwrap_or(t)
    }

    /// Finds conjuncts `x == e` for symbols `x` where e mentions none of `avoided`, and substitutes
    /// e for x in the others. Returns the values and the remaining conjuncts.
    pub fn solved(
        &mut self,
        pool: &mut Pool,
        mut terms: Vec<TermId>,
        symbols: &FxHashSet<SymbolId>,
        avoided: &FxHashSet<SymbolId>,
    ) -> Option<(FxHashMap<SymbolId, TermId>, Vec<TermId>)> {
        let mut values = FxHashMap::default();
        loop {
            let mut found = FxHashMap::default();
            let mut rest = Vec::new();
            for &t in &terms {
                match self.equation(pool, t, symbols, avoided) {
                    Some((s, e)) if !found.contains_key(&s) => {
                        found.insert(s, e);
                    }
                    _ => rest.push(t),
                }
            }
            if found.is_empty() {
                return Some((values, terms));
            }
            terms = self.with(pool, &rest, &found)?;
            terms = self.propagated(pool, terms)?;
            values.extend(found);
        }
    }

    /// The two sides of `x == e`, where e mentions none of `avoided`.
    fn equation(
        &mut self,
        pool: &mut Pool,
        t: TermId,
        symbols: &FxHashSet<SymbolId>,
        avoided: &FxHashSet<SymbolId>,
    ) -> Option<(SymbolId, TermId)> {
        let wanted = |pool: &Pool, t: TermId| pool.as_symbol(t).filter(|s| symbols.contains(s));
        let (symbol, value) = match (pool.op(t), pool.args(t)) {
            (Op::Symbol(s), _) if symbols.contains(&s) => (s, pool.tt()),
            (Op::Not, &[a]) => (wanted(pool, a)?, pool.ff()),
            (Op::Eq, &[a, b]) => match (wanted(pool, a), wanted(pool, b)) {
                (Some(s), _) => (s, b),
                (None, Some(s)) => (s, a),
                (None, None) if matches!(pool.sort(a), Sort::Int | Sort::Real) => {
                    let left = summand(pool, a, &wanted).map(|s| (s, a, b));
                    let (s, side, other) =
                        left.or_else(|| summand(pool, b, &wanted).map(|s| (s, b, a)))?;
                    let rest: Vec<TermId> = pool
                        .args(side)
                        .iter()
                        .copied()
                        .filter(|&part| pool.as_symbol(part) != Some(s))
                        .collect();
                    let rest = match rest[..] {
                        [one] => one,
                        _ => pool.mk(Op::Add, &rest).expect("parts of a sum"),
                    };
                    (s, pool.sub(other, rest))
                }
                _ => return None,
            },
            _ => return None,
        };
        if pool.free_symbols(&[value]).iter().any(|s| avoided.contains(s)) {
            return None;
        }
        Some((symbol, self.simplifier.simplify(pool, value)))
    }
}

/// A wanted symbol that is a summand of a sum.
fn summand(
    pool: &Pool,
    t: TermId,
    wanted: &impl Fn(&Pool, TermId) -> Option<SymbolId>,
) -> Option<SymbolId> {
    if pool.op(t) != Op::Add {
        return None;
    }
    pool.args(t).iter().find_map(|&part| wanted(pool, part))
}

/// True for an atom or its negation.
fn is_unit(pool: &Pool, t: TermId) -> bool {
    !matches!(pool.op(t), Op::Or | Op::Implies | Op::Ite | Op::Forall | Op::Exists)
}

/// The symbol and the constant that a conjunct equates.
pub(super) fn forced(pool: &mut Pool, t: TermId) -> Option<(SymbolId, TermId)> {
    match (pool.op(t), pool.args(t)) {
        (Op::Symbol(s), _) => Some((s, pool.tt())),
        (Op::Not, &[a]) => Some((pool.as_symbol(a)?, pool.ff())),
        (Op::Eq, &[a, b]) => match (pool.as_symbol(a), pool.as_symbol(b)) {
            (Some(s), None) if pool.as_constant(b).is_some() => Some((s, b)),
            (None, Some(s)) if pool.as_constant(a).is_some() => Some((s, a)),
            _ => None,
        },
        _ => None,
    }
}

/// All values of a small sort.
pub(super) fn all_values(pool: &mut Pool, sort: Sort) -> Option<Vec<TermId>> {
    match sort {
        Sort::Bool => Some(vec![pool.tt(), pool.ff()]),
        Sort::Enum(e) => {
            let count = pool.enumeration(e).variants.len() as u32;
            (count <= 64).then(|| (0..count).map(|i| pool.constant(Value::Enum(e, i))).collect())
        }
        _ => None,
    }
}

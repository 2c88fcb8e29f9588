//! Simultaneous substitution of terms for free symbols.
//!
//! `t[x1 := s1, x2 := s2]` replaces all symbols at once: an `x2` inside `s1` stays. Bound symbols
//! are not replaced; every quantifier has its own bound symbols, so nothing is captured. The result
//! is not simplified.

use rustc_hash::FxHashMap;

use crate::pool::{Pool, SymbolId, TermId};
use gander_runtime::check_cancelled;

/// A substitution for many terms of one pool; shared subterms are rewritten once.
#[derive(Clone, Debug)]
pub struct Substitution {
    memo: FxHashMap<TermId, TermId>,
    /// No term with a smaller id contains a replaced symbol.
    lowest: TermId,
}

impl Substitution {
    /// Replaces each symbol of `map` by its term.
    ///
    /// # Panics
    /// If a symbol is bound, or its term has another sort; both are bugs of the caller.
    pub fn new(pool: &mut Pool, map: &FxHashMap<SymbolId, TermId>) -> Substitution {
        let mut memo = FxHashMap::default();
        let mut lowest = TermId(u32::MAX);
        let mut pairs: Vec<_> = map.iter().map(|(&s, &t)| (s, t)).collect();
        pairs.sort_unstable();
        for (s, t) in pairs {
            assert!(!pool.symbol(s).bound, "a bound symbol cannot be substituted");
            assert_eq!(pool.symbol(s).sort, pool.sort(t), "substitution keeps sorts");
            let from = pool.var(s);
            lowest = lowest.min(from);
            memo.insert(from, t);
        }
        Substitution { memo, lowest }
    }

    /// Adds a symbol to replace. No term that mentions it may have been rewritten before.
    ///
    /// # Panics
    /// If the symbol is bound, or its term has another sort; both are bugs of the caller.
    pub fn also(&mut self, pool: &mut Pool, symbol: SymbolId, term: TermId) {
        assert!(!pool.symbol(symbol).bound, "a bound symbol cannot be substituted");
        assert_eq!(pool.symbol(symbol).sort, pool.sort(term), "substitution keeps sorts");
        let from = pool.var(symbol);
        self.lowest = self.lowest.min(from);
        self.memo.insert(from, term);
    }

    /// The term after substitution.
    pub fn apply(&mut self, pool: &mut Pool, t: TermId) -> TermId {
        if let Some(r) = self.known(t) {
            return r;
        }
        let mut stack = vec![t];
        let mut args = Vec::new();
        while let Some(&t) = stack.last() {
            check_cancelled();
            if self.known(t).is_some() {
                stack.pop();
                continue;
            }
            let before = stack.len();
            stack.extend(pool.args(t).iter().filter(|&&a| self.known(a).is_none()));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            let old = pool.args(t);
            args.clear();
            args.extend(old.iter().map(|&a| self.known(a).unwrap_or(a)));
            let new = if args == old { t } else { pool.intern(pool.op(t), pool.sort(t), &args) };
            self.memo.insert(t, new);
        }
        self.known(t).unwrap_or(t)
    }

    fn known(&self, t: TermId) -> Option<TermId> {
        if t < self.lowest { Some(t) } else { self.memo.get(&t).copied() }
    }
}

impl Pool {
    /// `t` with each symbol of `map` replaced by its term, simultaneously; for many terms use
    /// [`Substitution`].
    pub fn substitute(&mut self, t: TermId, map: &FxHashMap<SymbolId, TermId>) -> TermId {
        Substitution::new(self, map).apply(self, t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort::Sort;

    #[test]
    fn substitution_is_simultaneous() {
        let mut p = Pool::new();
        let x = p.variable("x", Sort::Int);
        let y = p.variable("y", Sort::Int);
        let (sx, sy) = (p.as_symbol(x).unwrap(), p.as_symbol(y).unwrap());
        let t = p.sub(x, y);
        let swapped = p.substitute(t, &FxHashMap::from_iter([(sx, y), (sy, x)]));
        assert_eq!(swapped, p.sub(y, x));
    }

    #[test]
    fn bound_symbols_are_not_replaced() {
        let mut p = Pool::new();
        let x = p.variable("x", Sort::Int);
        let sx = p.as_symbol(x).unwrap();
        let b = p.declare_bound("x", Sort::Int);
        let bv = p.var(b);
        let le = p.le(bv, x);
        let q = p.forall(&[b], le);
        let five = p.int(5);
        let r = p.substitute(q, &FxHashMap::from_iter([(sx, five)]));
        let expected = p.le(bv, five);
        assert_eq!(r, p.forall(&[b], expected));
    }

    #[test]
    fn terms_without_replaced_symbols_keep_their_id_and_deep_terms_work() {
        let mut p = Pool::new();
        let x = p.variable("x", Sort::Int);
        let y = p.variable("y", Sort::Int);
        let sy = p.as_symbol(y).unwrap();
        let one = p.int(1);
        let mut t = x;
        for _ in 0..1_000_000 {
            t = p.add(t, one);
        }
        let mut s = Substitution::new(&mut p, &FxHashMap::from_iter([(sy, one)]));
        assert_eq!(s.apply(&mut p, t), t);
        let sx = p.as_symbol(x).unwrap();
        let r = p.substitute(t, &FxHashMap::from_iter([(sx, y)]));
        assert_eq!(p.free_symbols(&[r]), [sy]);
    }
}

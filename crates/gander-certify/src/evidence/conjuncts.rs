//! The conjuncts of a large invariant, by the symbols in them.
//!
//! A step of a system of many parts changes few variables. Of an invariant with many conjuncts, it
//! can break only those in which these occur, and what keeps them is mostly said by conjuncts about
//! the variables of the step. So most obligations are proved from a few conjuncts; the conjunction
//! of some of them is weaker than the invariant, so what follows from it follows from the
//! invariant.

use gander_term::{Op, Pool, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::discharge::CheckContext;
use crate::formula::relation::Relation;

/// Conjuncts of an invariant from which on a step is first tried with few of them.
const MANY_CONJUNCTS: usize = 32;

/// See the module's documentation.
pub(super) struct Conjuncts {
    list: Vec<TermId>,
    set: FxHashSet<TermId>,
    by_symbol: FxHashMap<SymbolId, Vec<usize>>,
}

impl Conjuncts {
    /// The conjuncts of a formula.
    pub(super) fn of(pool: &Pool, formula: TermId) -> Conjuncts {
        let list = match pool.op(formula) {
            Op::And => pool.args(formula).to_vec(),
            _ => vec![formula],
        };
        let mut by_symbol: FxHashMap<SymbolId, Vec<usize>> = FxHashMap::default();
        for (i, &t) in list.iter().enumerate() {
            for s in pool.free_symbols(&[t]) {
                by_symbol.entry(s).or_default().push(i);
            }
        }
        Conjuncts { set: list.iter().copied().collect(), list, by_symbol }
    }

    /// The positions of the conjuncts in which one of these symbols occurs.
    fn with(&self, symbols: impl IntoIterator<Item = SymbolId>) -> Vec<usize> {
        let found = symbols.into_iter().filter_map(|s| self.by_symbol.get(&s));
        let mut found: Vec<usize> = found.flatten().copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// That a step from states with the conjuncts `before` does not lead to a state with these
    /// conjuncts, over the symbols of `relation`. Leaves out what holds in the state before the
    /// step and is about variables that the step keeps.
    pub(super) fn broken_by(
        &self,
        cx: &mut CheckContext<'_>,
        relation: &Relation,
        before: &Conjuncts,
    ) -> TermId {
        let touched = self.with(relation.changed());
        let mut wanted: Vec<TermId> = Vec::new();
        if !std::ptr::eq(self, before) {
            let kept = |i: &usize| touched.binary_search(i).is_err();
            let kept = (0..self.list.len()).filter(kept).map(|i| self.list[i]);
            wanted.extend(kept.filter(|t| !before.set.contains(t)));
        }
        for i in touched {
            let after = relation.after_step(cx, self.list[i]);
            if !before.set.contains(&after) {
                wanted.push(after);
            }
        }
        let all = cx.pool.and(wanted);
        cx.pool.not(all)
    }

    /// True if a step of the relation to a state where `broken` holds is refuted in this process by
    /// few of these conjuncts: those with a symbol of the step.
    pub(super) fn exclude(
        &self,
        cx: &mut CheckContext<'_>,
        relation: &Relation,
        broken: TermId,
    ) -> bool {
        if self.list.len() < MANY_CONJUNCTS {
            return false;
        }
        let symbols = cx.pool.free_symbols(&[relation.formula, broken]);
        let some = self.with(symbols).into_iter().map(|i| self.list[i]);
        let part: Vec<TermId> = some.chain([relation.formula, broken]).collect();
        let part = cx.pool.and(part);
        cx.is_refuted_in_process(part)
    }
}

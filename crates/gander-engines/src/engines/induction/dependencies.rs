//! Which variables the next values of others depend on.

use gander_system::{Effect, System};
use gander_term::{Pool, SymbolId, TermId};
use rustc_hash::FxHashMap;

/// By variable: the variables that its next value, or whether it changes, may depend on. Sets of
/// variables are sorted lists of positions.
pub(super) struct Dependencies {
    /// By symbol, current or next: the position of the variable.
    positions: FxHashMap<SymbolId, usize>,
    of: Vec<Vec<usize>>,
}

impl Dependencies {
    pub(super) fn of(system: &System, pool: &mut Pool) -> Dependencies {
        let vars = system.vars().iter().enumerate();
        let positions = vars.flat_map(|(i, v)| [(v.current, i), (v.next, i)]).collect();
        let of = vec![Vec::new(); system.vars().len()];
        let mut dependencies = Dependencies { positions, of };
        for t in system.transition_ids() {
            let guard = system.guard_term(pool, t);
            for part in &system.transition(t).effect {
                match *part {
                    Effect::Assign { var, value, .. } => {
                        let sources = dependencies.variables_of(pool, &[guard, value.term()]);
                        dependencies.of[var.index()].extend(sources);
                    }
                    Effect::Constrain { relation, .. } => {
                        let sources = dependencies.variables_of(pool, &[guard, relation.term()]);
                        for v in dependencies.variables_of(pool, &[relation.term()]) {
                            dependencies.of[v].extend(&sources);
                        }
                    }
                    Effect::Keep { .. } => {}
                }
            }
        }
        for sources in &mut dependencies.of {
            sources.sort_unstable();
            sources.dedup();
        }
        dependencies
    }

    /// The position of the variable with this symbol, current or next.
    pub(super) fn position(&self, symbol: SymbolId) -> Option<usize> {
        self.positions.get(&symbol).copied()
    }

    /// The variables, current or next, that occur in some terms.
    pub(super) fn variables_of(&self, pool: &Pool, terms: &[TermId]) -> Vec<usize> {
        let symbols = pool.free_symbols(terms);
        let mut found: Vec<usize> = symbols.into_iter().filter_map(|s| self.position(s)).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The variables of the set and all that they transitively depend on.
    pub(super) fn closure(&self, set: &[usize]) -> Vec<usize> {
        let mut seen = vec![false; self.of.len()];
        let mut stack = set.to_vec();
        while let Some(v) = stack.pop() {
            if !std::mem::replace(&mut seen[v], true) {
                stack.extend(&self.of[v]);
            }
        }
        (0..seen.len()).filter(|&v| seen[v]).collect()
    }
}

/// True if all of the first set are in the second.
pub(super) fn is_subset(set: &[usize], of: &[usize]) -> bool {
    set.iter().all(|v| of.binary_search(v).is_ok())
}

//! Formulas decided in this process, by proofs that are verified.
//!
//! `gander-linear` tries first, then the clause learning of `gander-proof`. Each formula is tried
//! once. Where solvers may be asked too, the work of all attempts about one system is limited: a
//! solver is quicker on what needs more.

use gander_linear::Budget;
use gander_term::{Op, Pool, SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::basis::{Support, Trust};
use crate::discharge::{CheckContext, Line, Model};

/// The least work that an attempt counts for.
const LEAST_WORK: u64 = 50;

/// Conjuncts of a formula whose parts are tried.
const MANY_CONJUNCTS: usize = 32;

/// Parts of a formula that are tried.
const PARTS: usize = 3;

/// The budget of clause learning for one formula: about 10 ms.
const CLAUSES: Budget = Budget { terms: 6_000, work: 1_000_000 };

/// The same with [`Trust::Proof`], where no answer of a solver is accepted.
const CLAUSES_ALONE: Budget = Budget { terms: 1_000_000, work: 2_000_000_000 };

impl CheckContext<'_> {
    /// The answer of [`CheckContext::solve`], or `None` if the formula is too hard.
    pub(crate) fn decide_in_process(&mut self, formula: TermId) -> Option<Option<Model>> {
        // A second opinion has to come from its solver, and a log has to show all queries.
        if self.tools.only.is_some()
            || self.tools.log.is_some()
            || self.limits.linear == Budget::NONE
        {
            return None;
        }
        if let Some(found) = self.known.in_process.get(&formula) {
            return found.clone().map(Some);
        }
        let refuted_part = self.refutes_part(formula).then_some(None);
        let found = refuted_part
            .or_else(|| self.by_linear_proof(formula))
            .or_else(|| self.by_clausal_proof(formula));
        let Some(found) = found else {
            self.known.in_process.insert(formula, None);
            return None;
        };
        self.certificates += 1;
        match &found {
            None => {
                self.known.refuted.insert(formula, Support::default());
            }
            Some(model) => {
                self.known.in_process.insert(formula, Some(model.clone()));
            }
        }
        Some(found)
    }

    /// True if the formula is refuted in this process.
    pub(crate) fn is_refuted_in_process(&mut self, formula: TermId) -> bool {
        match self.pool.as_bool(formula) {
            Some(value) => !value,
            None => {
                self.known.refuted.get(&formula) == Some(&Support::default())
                    || matches!(self.decide_in_process(formula), Some(None))
            }
        }
    }

    /// True if some conjuncts of a large conjunction are refuted. Conjuncts that share no symbol
    /// are independent, so each part of connected ones is tried separately, the largest first.
    fn refutes_part(&mut self, formula: TermId) -> bool {
        let parts = connected_parts(&self.pool, formula);
        if parts.len() < 2 {
            return false;
        }
        parts.into_iter().take(PARTS).any(|part| {
            let part = self.pool.and(part);
            match self.pool.as_bool(part) {
                Some(value) => !value,
                None => matches!(self.by_linear_proof(part), Some(None)),
            }
        })
    }

    fn by_linear_proof(&mut self, formula: TermId) -> Option<Option<Model>> {
        let allowed = self.limits.linear;
        let budget = Budget { work: allowed.work.min(self.known.linear_work), ..allowed };
        if budget.work == 0 {
            return None;
        }
        let (answer, work) = gander_linear::decide(&self.pool, formula, budget);
        // Count successful work less, so that the budget lasts where proofs are found.
        let counted =
            if answer == gander_linear::Answer::Unknown { work.max(LEAST_WORK) } else { work / 4 };
        self.known.linear_work = self.known.linear_work.saturating_sub(counted);
        match answer {
            gander_linear::Answer::Refuted(_) => Some(None),
            gander_linear::Answer::Model(model) => Some(Some(model)),
            gander_linear::Answer::Unknown => None,
        }
    }

    fn by_clausal_proof(&mut self, formula: TermId) -> Option<Option<Model>> {
        let budget = match self.limits.trust {
            Trust::Proof => CLAUSES_ALONE,
            _ => Budget { work: CLAUSES.work.min(self.known.clausal_work), ..CLAUSES },
        };
        if budget.work == 0 {
            return None;
        }
        let (answer, work) = gander_proof::decide(&self.pool, formula, budget);
        // Count successful work less, so that the budget lasts where proofs are found.
        let counted =
            if answer == gander_proof::Answer::Unknown { work.max(LEAST_WORK) } else { work / 4 };
        self.known.clausal_work = self.known.clausal_work.saturating_sub(counted);
        match answer {
            gander_proof::Answer::Refuted(_) => Some(None),
            gander_proof::Answer::Model(model) => Some(Some(model)),
            gander_proof::Answer::Unknown => None,
        }
    }

    /// True if every query of a script was refuted in this process.
    pub(crate) fn refute_script_in_process(&mut self, script: &[Line]) -> bool {
        let mut asserted: Vec<TermId> = Vec::new();
        for line in script {
            match line {
                Line::Assert(t) => asserted.push(*t),
                Line::Refute(t, _) => {
                    let whole = self.pool.and(asserted.iter().copied().chain([*t]));
                    if !self.is_refuted_in_process(whole) {
                        return false;
                    }
                }
            }
        }
        true
    }
}

/// The conjuncts of a large conjunction, divided into parts that share no symbol, the largest
/// first. None of other formulas.
fn connected_parts(pool: &Pool, formula: TermId) -> Vec<Vec<TermId>> {
    let conjuncts = pool.args(formula);
    if pool.op(formula) != Op::And || conjuncts.len() < MANY_CONJUNCTS {
        return Vec::new();
    }
    // Disjoint sets: each conjunct leads to another one of its part, in the end to the root.
    let mut parents: Vec<usize> = (0..conjuncts.len()).collect();
    let root = |parents: &mut Vec<usize>, mut at: usize| {
        while parents[at] != at {
            parents[at] = parents[parents[at]];
            at = parents[at];
        }
        at
    };
    let mut user: FxHashMap<SymbolId, usize> = FxHashMap::default();
    for (i, &conjunct) in conjuncts.iter().enumerate() {
        for symbol in pool.free_symbols(&[conjunct]) {
            let first = *user.entry(symbol).or_insert(i);
            let (a, b) = (root(&mut parents, first), root(&mut parents, i));
            parents[b] = a;
        }
    }
    let mut parts: Vec<Vec<TermId>> = vec![Vec::new(); conjuncts.len()];
    for (i, &conjunct) in conjuncts.iter().enumerate() {
        parts[root(&mut parents, i)].push(conjunct);
    }
    parts.retain(|part| !part.is_empty());
    parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_term::Sort;

    #[test]
    fn parts_share_no_symbol() {
        let mut pool = Pool::new();
        let vars: Vec<TermId> =
            (0..40).map(|i| pool.variable(&format!("x{i}"), Sort::Int)).collect();
        let zero = pool.int(0);
        let mut conjuncts: Vec<TermId> = vars.iter().map(|&v| pool.le(zero, v)).collect();
        let linked = pool.le(vars[0], vars[1]);
        conjuncts.push(linked);
        let all = pool.and(conjuncts);
        let parts = connected_parts(&pool, all);
        assert_eq!(parts.len(), 39);
        assert_eq!(parts[0].len(), 3);
        assert!(parts[0].contains(&linked));
        assert_eq!(connected_parts(&pool, linked), Vec::<Vec<TermId>>::new());
    }
}

//! Formulas that were refuted by solvers, kept for checks of other systems in this process.
//!
//! After an edit of a model most obligations of a proof are those of the proof before. They are
//! derived again from the new system; where the formula is one that solvers refuted already, the
//! answer of the solvers is used again. A formula is known by its conjuncts: the operators, the
//! values, and the names and sorts of the symbols are the same.
//!
//! Invariants: only this crate adds formulas, after solvers refuted them for a check of this
//! process; nothing is read from files. The number of terms is limited.

use std::sync::{Mutex, MutexGuard, PoisonError};

use gander_term::{Importer, NameClash, Op, Pool, TermId};
use rustc_hash::FxHashMap;

use crate::basis::{Basis, Ground, Trust};
use crate::discharge::CheckContext;

/// Everything is dropped when there are this many terms: about 50 MB.
const MAX_TERMS: usize = 500_000;

/// See the module's documentation. Checkers share it ([`crate::Checker::share_refutations`]).
#[derive(Debug, Default)]
pub struct Refutations(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    pool: Pool,
    /// By the sorted conjuncts.
    refuted: FxHashMap<Box<[TermId]>, Basis>,
    /// How often everything was dropped.
    generation: u64,
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} formulas", self.refuted.len())
    }
}

/// Maps terms of a check to the shared pool.
#[derive(Debug, Default)]
pub(crate) struct SharedTerms {
    importer: Importer,
    generation: u64,
}

impl Refutations {
    /// The number of formulas.
    pub fn len(&self) -> usize {
        self.kept().refuted.len()
    }

    /// True if there is no formula.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn clear(&mut self) {
        *self = Kept { generation: self.generation + 1, ..Kept::default() };
    }

    /// The conjuncts of a formula as terms of this pool, sorted.
    fn key(
        &mut self,
        from: &Pool,
        formula: TermId,
        terms: &mut SharedTerms,
    ) -> Option<Box<[TermId]>> {
        if self.pool.len() > MAX_TERMS {
            self.clear();
        }
        let key = match self.import(from, formula, terms) {
            Ok(key) => key,
            // A symbol has another sort than in an earlier system: those formulas are outdated.
            Err(_) => {
                self.clear();
                self.import(from, formula, terms).ok()?
            }
        };
        Some(key)
    }

    fn import(
        &mut self,
        from: &Pool,
        formula: TermId,
        terms: &mut SharedTerms,
    ) -> Result<Box<[TermId]>, NameClash> {
        if terms.generation != self.generation {
            *terms = SharedTerms { importer: Importer::new(), generation: self.generation };
        }
        let conjuncts = match from.op(formula) {
            Op::And => from.args(formula),
            _ => &[formula],
        };
        let import = |&t: &TermId| terms.importer.import(&mut self.pool, from, t);
        let mut key = conjuncts.iter().map(import).collect::<Result<Vec<_>, _>>()?;
        key.sort_unstable();
        key.dedup();
        Ok(key.into())
    }
}

impl CheckContext<'_> {
    /// The shared refutations, if this check may use those of earlier checks. A second opinion has
    /// to come from its solver, and a log has to show all queries. Bound symbols of two formulas
    /// are never the same, so quantified formulas are not found again.
    fn shared_refutations(&self, formula: TermId) -> Option<std::sync::Arc<Refutations>> {
        let is_free = self.tools.only.is_none()
            && self.tools.log.is_none()
            && self.limits.solvers
            && self.limits.trust != Trust::Proof;
        let shared = self.tools.refutations.as_ref().filter(|_| is_free)?;
        (!self.pool.has_quantifier(formula)).then(|| std::sync::Arc::clone(shared))
    }

    /// True if solvers refuted the formula in an earlier check, as the trust level requires. Then
    /// it is recorded as refuted.
    pub(super) fn was_refuted(&mut self, formula: TermId) -> bool {
        let Some(shared) = self.shared_refutations(formula) else { return false };
        let basis = {
            let kept = &mut *shared.kept();
            let Some(key) = kept.key(&self.pool, formula, &mut self.known.shared_terms) else {
                return false;
            };
            let Some(basis) = kept.refuted.get(&key) else { return false };
            basis.clone()
        };
        // A second solver may agree now.
        if basis.ground == Ground::OneSolver && self.has_time_for_second() {
            return false;
        }
        if basis.ground == Ground::OneSolver && self.limits.trust == Trust::Agreement {
            let why = basis.why_one.clone();
            let why = why.unwrap_or_else(|| "no time was left for a second solver".to_string());
            self.known.why_one.get_or_insert(why);
        }
        let support = self.known.support_of(&basis);
        self.known.refuted.insert(formula, support);
        true
    }

    /// Keeps a formula that solvers refuted in this check for later ones.
    pub(super) fn keep_refutation(&mut self, formula: TermId) {
        let Some(&support) = self.known.refuted.get(&formula) else { return };
        let Some(shared) = self.shared_refutations(formula) else { return };
        if support.ground == Ground::Checked {
            return;
        }
        let basis = self.known.basis(support);
        let kept = &mut *shared.kept();
        if let Some(key) = kept.key(&self.pool, formula, &mut self.known.shared_terms) {
            kept.refuted.insert(key, basis);
        }
    }
}

#[cfg(test)]
mod tests {
    use gander_term::Sort;

    use super::*;

    /// The key of `x < y and y < x` in a pool with other terms before.
    fn key(kept: &mut Kept, before: &[&str], order: bool, sort: Sort) -> Box<[TermId]> {
        let mut pool = Pool::new();
        for name in before {
            pool.variable(name, Sort::Bool);
        }
        let (x, y) = (pool.variable("x", sort), pool.variable("y", sort));
        let (a, b) = (pool.lt(x, y), pool.lt(y, x));
        let formula = pool.and(if order { [a, b] } else { [b, a] });
        kept.key(&pool, formula, &mut SharedTerms::default()).unwrap()
    }

    #[test]
    fn a_formula_is_known_by_its_conjuncts_in_any_order() {
        let mut kept = Kept::default();
        let first = key(&mut kept, &[], true, Sort::Int);
        assert_eq!(first, key(&mut kept, &["p", "q"], false, Sort::Int));
        assert_eq!(kept.generation, 0);
    }

    #[test]
    fn formulas_over_a_symbol_of_another_sort_are_dropped() {
        let mut kept = Kept::default();
        let first = key(&mut kept, &[], true, Sort::Int);
        let basis = Basis { ground: Ground::TwoSolvers, ..Basis::default() };
        kept.refuted.insert(first, basis);
        let second = key(&mut kept, &[], true, Sort::Real);
        assert_eq!((kept.generation, kept.refuted.contains_key(&second)), (1, false));
    }
}

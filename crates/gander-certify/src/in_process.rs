//! Formulas that are decided without a solver, by proofs that are verified.
//!
//! Small linear formulas go to `gander-linear`, all others to the clause learning of `gander-proof`. A formula is tried
//! once. Where solvers may be asked as well, all attempts about one system have a limited amount of work: what needs
//! more than that is quicker with a solver.

use gander_linear::Budget;
use gander_term::TermId;

use crate::basis::{Support, Trust};
use crate::case::{Case, Line, Model};

/// The least that an attempt counts for.
const LEAST_WORK: u64 = 50;

/// What clause learning may cost for one formula: about 10 ms.
const CLAUSES: Budget = Budget { terms: 6_000, work: 1_000_000 };

/// The same where no solver's word is accepted ([`Trust::Proof`]).
const CLAUSES_ALONE: Budget = Budget { terms: 1_000_000, work: 2_000_000_000 };

impl Case<'_> {
    /// What [`Case::solve`] would find, if that is easy to prove.
    pub(crate) fn decide_alone(&mut self, formula: TermId) -> Option<Option<Model>> {
        // Who wants the opinion of one solver, or the words of all on record, wants solvers asked.
        if self.tools.only.is_some() || self.tools.log.is_some() || self.limits.linear == Budget::NONE {
            return None;
        }
        if let Some(found) = self.known.alone.get(&formula) {
            return found.clone().map(Some);
        }
        let found = self.by_linear_proof(formula).or_else(|| self.by_clausal_proof(formula));
        let Some(found) = found else {
            self.known.alone.insert(formula, None);
            return None;
        };
        self.certificates += 1;
        match &found {
            None => {
                self.known.refuted.insert(formula, Support::default());
            }
            Some(model) => {
                self.known.alone.insert(formula, Some(model.clone()));
            }
        }
        Some(found)
    }

    fn by_linear_proof(&mut self, formula: TermId) -> Option<Option<Model>> {
        let allowed = self.limits.linear;
        let budget = Budget { work: allowed.work.min(self.known.linear_work), ..allowed };
        if budget.work == 0 {
            return None;
        }
        let (answer, work) = gander_linear::decide(&self.pool, formula, budget);
        self.known.linear_work = self.known.linear_work.saturating_sub(work.max(LEAST_WORK));
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
        // Work that gave an answer was worth it.
        let counted = if answer == gander_proof::Answer::Unknown { work.max(LEAST_WORK) } else { work / 4 };
        self.known.clausal_work = self.known.clausal_work.saturating_sub(counted);
        match answer {
            gander_proof::Answer::Refuted(_) => Some(None),
            gander_proof::Answer::Model(model) => Some(Some(model)),
            gander_proof::Answer::Unknown => None,
        }
    }

    /// Shows that every question of a conversation has no solution, if that is easy.
    pub(crate) fn refute_script_alone(&mut self, script: &[Line]) -> bool {
        let mut said: Vec<TermId> = Vec::new();
        for line in script {
            match line {
                Line::Assert(t) => said.push(*t),
                Line::Refute(t, _) => {
                    let whole = self.pool.and(said.iter().copied().chain([*t]));
                    let refuted = match self.pool.as_bool(whole) {
                        Some(value) => !value,
                        None => matches!(self.decide_alone(whole), Some(None)),
                    };
                    if !refuted {
                        return false;
                    }
                }
            }
        }
        true
    }
}

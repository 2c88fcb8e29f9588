//! Small solver queries: is a formula satisfiable, and by which values?

use gander_smt::{Answer, Limits, Session, StepSymbol};
use gander_system::ClaimId;
use gander_term::{Pool, SymbolId, TermId, Value};

use super::limits::LIMITS;
use crate::core::{EngineContext, Purpose};

/// Solver sessions, opened on demand.
#[derive(Default)]
pub(super) struct Prover {
    sessions: Vec<Session>,
    claims: Vec<ClaimId>,
}

impl std::fmt::Debug for Prover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prover").finish_non_exhaustive()
    }
}

/// Values that satisfy a formula.
pub(super) type Model = Vec<(SymbolId, Value)>;

impl Prover {
    pub(super) fn for_claim(claim: ClaimId) -> Prover {
        Prover { sessions: Vec::new(), claims: vec![claim] }
    }

    /// True if the formula is known to be unsatisfiable.
    pub(super) fn is_empty(
        &mut self,
        context: &EngineContext,
        pool: &Pool,
        formula: TermId,
    ) -> bool {
        matches!(self.ask(context, pool, formula, &[]), Some(None))
    }

    /// True if `a` is known to imply `b`.
    pub(super) fn implies(
        &mut self,
        context: &EngineContext,
        pool: &mut Pool,
        a: TermId,
        b: TermId,
    ) -> bool {
        let not_b = pool.not(b);
        let both = pool.and([a, not_b]);
        self.is_empty(context, pool, both)
    }

    /// A model, or `Some(None)` if there is none; `None` if no solver knows.
    pub(super) fn solve(
        &mut self,
        context: &EngineContext,
        pool: &Pool,
        formula: TermId,
    ) -> Option<Option<Model>> {
        let symbols = pool.free_symbols(&[formula]);
        self.ask(context, pool, formula, &symbols)
    }

    fn ask(
        &mut self,
        context: &EngineContext,
        pool: &Pool,
        formula: TermId,
        symbols: &[SymbolId],
    ) -> Option<Option<Model>> {
        match pool.as_bool(formula) {
            Some(false) => return Some(None),
            Some(true) if symbols.is_empty() => return Some(Some(Vec::new())),
            _ => {}
        }
        if context.is_cancelled() {
            return None;
        }
        let solver = context.config().solvers.choose(pool.features(&[formula]))?.clone();
        let at = match self.sessions.iter().position(|s| *s.solver() == solver) {
            Some(at) => at,
            None => {
                let purpose = Purpose { part: "ranks", claims: self.claims.clone() };
                self.sessions.push(context.session(&solver, &purpose));
                self.sessions.len() - 1
            }
        };
        let session = &mut self.sessions[at];
        if session.failure().is_some() {
            session.restart();
        }
        let limits = Limits::time(LIMITS.query);
        session.push();
        session.assert(pool, formula);
        let reply = match session.check(&[], limits) {
            Answer::Unsat => Some(None),
            Answer::Unknown(_) => None,
            Answer::Sat => {
                let asked: Vec<StepSymbol> =
                    symbols.iter().map(|&s| StepSymbol::rigid(s)).collect();
                session
                    .values(pool, &asked, limits)
                    .ok()
                    .map(|values| Some(symbols.iter().copied().zip(values).collect()))
            }
        };
        session.pop();
        reply
    }
}

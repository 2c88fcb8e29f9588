//! Single solver queries: is a conjunction satisfiable, and by which values?
//!
//! Each query has its own push/pop scope, so a session does not get slower with the number of
//! queries. Formulas are printed once and cached. If a solver fails, the next one that supports the
//! query is tried.

use std::time::Duration;

use gander_smt::{Answer, Limits, Placement, Reason, Session, Solver, StepSymbol, Template};
use gander_term::{Features, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use crate::core::{EngineContext, Purpose};

/// The result of a query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Solved {
    /// Satisfiable, with the values of the requested symbols.
    Model(Vec<Value>),
    /// Unsatisfiable.
    Nothing,
    /// No solver could decide it.
    Unknown(Reason),
}

struct SolverSession {
    solver: Solver,
    session: Session,
    templates: FxHashMap<TermId, Template>,
}

/// See the module's documentation. All terms must belong to one pool.
pub(crate) struct Query {
    purpose: Purpose,
    /// Symbols that occur in nearly every query.
    common: Vec<SymbolId>,
    sessions: Vec<SolverSession>,
    features: FxHashMap<TermId, Features>,
    /// The number of queries so far.
    pub asked: u64,
}

impl Query {
    pub(crate) fn new(purpose: Purpose, common: Vec<SymbolId>) -> Query {
        Query { purpose, common, sessions: Vec::new(), features: FxHashMap::default(), asked: 0 }
    }

    /// Is the conjunction of the formulas satisfiable? If so, returns the values of `wanted`.
    pub(crate) fn solve(
        &mut self,
        context: &EngineContext,
        pool: &Pool,
        formulas: &[TermId],
        wanted: &[SymbolId],
        time: Duration,
    ) -> Solved {
        let mut features = Features::default();
        for &f in formulas {
            features =
                features.join(*self.features.entry(f).or_insert_with(|| pool.features(&[f])));
        }
        let candidates: Vec<Solver> =
            context.config().solvers.candidates(features).into_iter().cloned().collect();
        let mut last = Reason::NotStarted("no solver for this was found".into());
        for solver in candidates {
            if context.is_cancelled() {
                return Solved::Unknown(Reason::Interrupted);
            }
            match self.ask(context, pool, &solver, formulas, wanted, time) {
                Ok(solved) => return solved,
                Err(Reason::Interrupted) => return Solved::Unknown(Reason::Interrupted),
                Err(reason) => last = reason,
            }
        }
        Solved::Unknown(last)
    }

    fn session(&mut self, context: &EngineContext, pool: &Pool, solver: &Solver) -> usize {
        if let Some(at) = self.sessions.iter().position(|p| p.solver == *solver) {
            if self.sessions[at].session.failure().is_none() {
                return at;
            }
            self.sessions.remove(at);
        }
        let mut session = context.session(solver, &self.purpose);
        for &s in &self.common {
            session.declare(pool, StepSymbol::rigid(s));
        }
        self.sessions.push(SolverSession {
            solver: solver.clone(),
            session,
            templates: FxHashMap::default(),
        });
        self.sessions.len() - 1
    }

    fn ask(
        &mut self,
        context: &EngineContext,
        pool: &Pool,
        solver: &Solver,
        formulas: &[TermId],
        wanted: &[SymbolId],
        time: Duration,
    ) -> Result<Solved, Reason> {
        self.asked += 1;
        let at = self.session(context, pool, solver);
        let SolverSession { session, templates, .. } = &mut self.sessions[at];
        if templates.len() > LIMITS.templates {
            templates.clear();
        }
        session.push();
        for &f in formulas {
            let template = templates
                .entry(f)
                .or_insert_with(|| session.compile(pool, f, &|_: SymbolId| Placement::Rigid));
            session.assert_at(pool, template, 0);
        }
        let limits = Limits::time(time);
        let result = match session.check(&[], limits) {
            Answer::Unsat => Ok(Solved::Nothing),
            Answer::Unknown(reason) => Err(reason),
            Answer::Sat if wanted.is_empty() => Ok(Solved::Model(Vec::new())),
            Answer::Sat => {
                let symbols: Vec<StepSymbol> =
                    wanted.iter().map(|&s| StepSymbol::rigid(s)).collect();
                session.values(pool, &symbols, limits).map(Solved::Model)
            }
        };
        session.pop();
        result
    }
}

/// The default value for unconstrained symbols.
pub(crate) fn first_value(sort: Sort) -> Value {
    sort.first_value()
}

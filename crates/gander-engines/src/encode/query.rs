//! Single questions to solvers: is a conjunction satisfiable, and by which values?
//!
//! Each question is asked in a scope of its own, so a session that has answered a million of them is as fast as a new one.
//! Formulas are printed once and kept. A solver that fails costs the question: the next one that can take it is
//! asked.

use std::time::Duration;

use gander_smt::{Answer, Limits, Placement, Reason, Session, Solver, StepSymbol, Template};
use gander_term::{Features, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use crate::core::{EngineContext, Purpose};

/// Printed formulas that are kept.
const TEMPLATES_KEPT: usize = 20_000;

/// What a solver said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Solved {
    /// Satisfiable, with these values of the symbols that were asked for.
    Model(Vec<Value>),
    /// Unsatisfiable.
    Nothing,
    /// Nobody knows.
    Unknown(Reason),
}

struct Partner {
    solver: Solver,
    session: Session,
    templates: FxHashMap<TermId, Template>,
}

/// See the module's documentation. All terms must be of one pool.
pub(crate) struct Query {
    purpose: Purpose,
    /// Symbols that nearly every question mentions.
    common: Vec<SymbolId>,
    partners: Vec<Partner>,
    features: FxHashMap<TermId, Features>,
    /// Questions that were asked.
    pub asked: u64,
}

impl Query {
    pub(crate) fn new(purpose: Purpose, common: Vec<SymbolId>) -> Query {
        Query { purpose, common, partners: Vec::new(), features: FxHashMap::default(), asked: 0 }
    }

    /// Is the conjunction of the formulas satisfiable? If so, with which values of `wanted`?
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
            features = features.join(*self.features.entry(f).or_insert_with(|| pool.features(&[f])));
        }
        let candidates: Vec<Solver> = context.config().solvers.candidates(features).into_iter().cloned().collect();
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

    fn partner(&mut self, context: &EngineContext, pool: &Pool, solver: &Solver) -> usize {
        if let Some(at) = self.partners.iter().position(|p| p.solver == *solver) {
            if self.partners[at].session.failure().is_none() {
                return at;
            }
            self.partners.remove(at);
        }
        let mut session = context.session(solver, &self.purpose);
        for &s in &self.common {
            session.declare(pool, StepSymbol::rigid(s));
        }
        self.partners.push(Partner { solver: solver.clone(), session, templates: FxHashMap::default() });
        self.partners.len() - 1
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
        let at = self.partner(context, pool, solver);
        let Partner { session, templates, .. } = &mut self.partners[at];
        if templates.len() > TEMPLATES_KEPT {
            templates.clear();
        }
        session.push();
        for &f in formulas {
            let template =
                templates.entry(f).or_insert_with(|| session.compile(pool, f, &|_: SymbolId| Placement::Rigid));
            session.assert_at(pool, template, 0);
        }
        let limits = Limits::time(time);
        let result = match session.check(&[], limits) {
            Answer::Unsat => Ok(Solved::Nothing),
            Answer::Unknown(reason) => Err(reason),
            Answer::Sat if wanted.is_empty() => Ok(Solved::Model(Vec::new())),
            Answer::Sat => {
                let symbols: Vec<StepSymbol> = wanted.iter().map(|&s| StepSymbol::rigid(s)).collect();
                session.values(pool, &symbols, limits).map(Solved::Model)
            }
        };
        session.pop();
        result
    }
}

/// The value of what nobody speaks of.
pub(crate) fn first_value(sort: Sort) -> Value {
    sort.first_value()
}

//! Agreement: a second solver has to refute what the first one refuted.
//!
//! [`Trust`] says whether a second solver is asked. If the formula is expected to have no solution,
//! both solvers start at the same time. If the second one finds a model and the evaluator confirms
//! it, the first solver is wrong and the model counts.
//!
//! With [`Trust::Agreement`] the time of the second solver is limited: per query to a multiple of
//! the time of the first one, and in total to one second plus a tenth of the time since the checker
//! was made. A formula that it does not answer in time rests on one solver, and the result says so.

use std::time::{Duration, Instant};

use gander_smt::{Answer, Limits, Reason, Solver, StepSymbol};
use gander_term::{Features, TermId};

use crate::basis::{Ground, Support, Trust};
use crate::discharge::context::within;
use crate::discharge::query::NOT_EVALUATED;
use crate::discharge::{CheckContext, Line, Model};
use crate::rejection::{Rejection, undecided};

/// With [`Trust::Agreement`]: the total time of second solvers, beside a tenth of the time since
/// the checker was made.
const TOTAL_TIME: Duration = Duration::from_secs(1);

/// With [`Trust::Agreement`]: the time of a second solver per query, at least this and this many
/// times the time of the first one.
const QUERY_TIME: (Duration, u32) = (Duration::from_millis(300), 8);

/// A refutation by the first solver.
pub(crate) struct FirstAnswer<'a> {
    /// The solver that refuted the formula.
    pub first: &'a Solver,
    /// All solvers for the formula, in order.
    pub solvers: &'a [Solver],
    /// The features of the formula.
    pub features: Features,
    /// The time that the first solver took.
    pub time: Duration,
    /// The name of the query in messages.
    pub what: &'a str,
}

/// The answer of a second solver.
pub(crate) enum Second {
    /// The formula has no solution; this is its support.
    Agrees(Support),
    /// The formula has this solution.
    Disagrees(Model),
}

/// A query that a second solver works on: the position of its session.
pub(crate) type Started = usize;

/// True if the solvers share no code, as far as we know.
fn are_independent(a: &Solver, b: &Solver) -> bool {
    a.kind != b.kind || (a.kind == gander_smt::SolverKind::Other && a.program != b.program)
}

impl CheckContext<'_> {
    /// True if the trust level asks for a second solver.
    fn wants_second(&self) -> bool {
        matches!(self.limits.trust, Trust::Agreement | Trust::Two) && self.tools.only.is_none()
    }

    /// True if a second solver is wanted and there is time for it.
    pub(crate) fn has_time_for_second(&self) -> bool {
        self.wants_second() && self.second_time_left().is_none_or(|left| !left.is_zero())
    }

    /// The time left for second solvers; `None` if it is not limited.
    fn second_time_left(&self) -> Option<Duration> {
        let in_all = TOTAL_TIME + self.tools.began.elapsed() / 10;
        (self.limits.trust != Trust::Two).then(|| in_all.saturating_sub(self.known.second_time))
    }

    /// Starts a second solver on a formula that is expected to have no solution, if one is wanted.
    pub(crate) fn begin_second(&mut self, formula: TermId, solvers: &[Solver]) -> Option<Started> {
        let [first, others @ ..] = solvers else { return None };
        if !self.has_time_for_second() {
            return None;
        }
        let second = others.iter().find(|s| are_independent(first, s))?;
        let limits = self.second_limits(Duration::ZERO).ok()?;
        let at =
            self.second_sessions.iter().position(|s| s.solver() == second).unwrap_or_else(|| {
                let session = self.new_session(second);
                self.second_sessions.push(session);
                self.second_sessions.len() - 1
            });
        let session = &mut self.second_sessions[at];
        if session.failure().is_some() {
            session.restart();
        }
        session.push();
        session.assert(&self.pool, formula);
        session.begin_check(limits);
        Some(at)
    }

    /// Abandons a query that was started.
    pub(crate) fn drop_second(&mut self, begun: Option<Started>) {
        if let Some(at) = begun {
            let mut session = self.second_sessions.swap_remove(at);
            session.restart();
            self.idle_session(session);
        }
    }

    /// The limits of a second solver, given the time of the first one.
    fn second_limits(&self, first: Duration) -> Result<Limits, Rejection> {
        let (least, factor) = QUERY_TIME;
        let each = self.second_time_left().map(|left| left.min(least.max(first * factor)));
        Ok(within(self.query_limits()?, each))
    }

    /// Asks a solver that is independent of the first one about the same formula.
    pub(crate) fn second(
        &mut self,
        formula: TermId,
        asked: &FirstAnswer<'_>,
        begun: Option<Started>,
    ) -> Result<Second, Rejection> {
        let begun = match begun {
            // The solver that was to be second has answered first.
            Some(at) if !are_independent(asked.first, self.second_sessions[at].solver()) => {
                self.drop_second(Some(at));
                None
            }
            begun => begun,
        };
        let mut reasons = Vec::new();
        if let Some(at) = begun {
            let solver = self.second_sessions[at].solver().clone();
            match self.end_second(formula, at, asked)? {
                Ok(None) => return Ok(Second::Agrees(self.agreement(asked.first, &solver))),
                Ok(Some(_)) if self.pool.has_quantifier(formula) => {
                    reasons.push((solver, Reason::Incomplete(NOT_EVALUATED.to_string())));
                }
                Ok(Some(model)) => {
                    return Ok(Second::Disagrees(self.second_is_right(asked, &solver, model)));
                }
                Err(reason) => reasons.push((solver, reason)),
            }
        }
        let others = self.others_to_ask(asked, &reasons);
        for solver in others {
            let limits = self.second_limits(asked.time)?;
            let clock = Instant::now();
            let found = self.solve_with(&solver, formula, limits.time)?;
            self.known.second_time += clock.elapsed();
            match found {
                Ok(None) => return Ok(Second::Agrees(self.agreement(asked.first, &solver))),
                Ok(Some(_)) if self.pool.has_quantifier(formula) => {
                    reasons.push((solver, Reason::Incomplete(NOT_EVALUATED.to_string())));
                }
                Ok(Some(model)) => {
                    return Ok(Second::Disagrees(self.second_is_right(asked, &solver, model)));
                }
                Err(reason) => reasons.push((solver, reason)),
            }
        }
        self.one_solver(asked, &reasons).map(Second::Agrees)
    }

    /// [`CheckContext::second`] for a script.
    pub(crate) fn ask_second_script(
        &mut self,
        script: &[Line],
        asked: &FirstAnswer<'_>,
    ) -> Result<Support, Rejection> {
        let mut reasons = Vec::new();
        for solver in self.others_to_ask(asked, &reasons) {
            let limits = self.second_limits(asked.time)?;
            let clock = Instant::now();
            let outcome = self.run_script(&solver, script, limits.time)?;
            self.known.second_time += clock.elapsed();
            match outcome {
                Ok(()) => return Ok(self.agreement(asked.first, &solver)),
                Err(reason) => reasons.push((solver, reason)),
            }
        }
        self.one_solver(asked, &reasons)
    }

    /// Waits for the second solver and confirms its model if it has one.
    fn end_second(
        &mut self,
        formula: TermId,
        at: Started,
        asked: &FirstAnswer<'_>,
    ) -> Result<Result<Option<Model>, Reason>, Rejection> {
        let limits = self.second_limits(asked.time)?;
        let symbols = self.pool.free_symbols(&[formula]);
        let clock = Instant::now();
        self.queries += 1;
        let session = &mut self.second_sessions[at];
        let solver = session.solver().clone();
        let found = match session.end_check(limits) {
            Answer::Unsat => Ok(None),
            Answer::Sat => {
                let wanted: Vec<StepSymbol> =
                    symbols.iter().map(|&s| StepSymbol::rigid(s)).collect();
                let values = session.values(&self.pool, &wanted, limits);
                values.map(|values| Some(symbols.into_iter().zip(values).collect()))
            }
            Answer::Unknown(reason) => Err(reason),
        };
        session.pop();
        self.known.second_time += clock.elapsed();
        self.check_cancelled()?;
        Ok(match found {
            Ok(Some(model)) => self.confirm(&solver, formula, model),
            other => other,
        })
    }

    /// The solvers that are independent of the first one and have not answered yet.
    fn others_to_ask(&self, asked: &FirstAnswer<'_>, had: &[(Solver, Reason)]) -> Vec<Solver> {
        if !self.has_time_for_second() {
            return Vec::new();
        }
        let fresh = |s: &&Solver| {
            are_independent(asked.first, s) && !had.iter().any(|(h, _)| h.kind == s.kind)
        };
        let mut others: Vec<Solver> = asked.solvers.iter().filter(fresh).cloned().collect();
        if self.limits.trust == Trust::Agreement {
            others.truncate(1 - had.len().min(1));
        }
        others
    }

    fn agreement(&mut self, first: &Solver, second: &Solver) -> Support {
        self.known.support_by(Ground::TwoSolvers, &[first, second])
    }

    /// The support of a formula that only the first solver refutes; an error if the trust level
    /// forbids that.
    fn one_solver(
        &mut self,
        asked: &FirstAnswer<'_>,
        reasons: &[(Solver, Reason)],
    ) -> Result<Support, Rejection> {
        let first = asked.first;
        let is_alone = !asked.solvers.iter().any(|s| are_independent(first, s));
        let why = match reasons {
            [] if is_alone => self.why_alone(first, asked.features),
            [] => "no time was left for a second solver".to_string(),
            reasons => {
                let each: Vec<String> =
                    reasons.iter().map(|(s, reason)| format!("{}: {reason}", s.name)).collect();
                each.join("; ")
            }
        };
        match self.limits.trust {
            Trust::Two if self.tools.only.is_none() => Err(undecided(format!(
                "{}: only {} says so, and two solvers are asked for; {why}",
                asked.what, first.name
            ))),
            Trust::Proof => Err(undecided(format!(
                "{}: {} says so, but no proof was found",
                asked.what, first.name
            ))),
            Trust::Agreement if self.tools.only.is_none() => {
                self.known.why_one.get_or_insert(why);
                Ok(self.known.support_by(Ground::OneSolver, &[first]))
            }
            _ => Ok(self.known.support_by(Ground::OneSolver, &[first])),
        }
    }

    /// Why no other solver can be asked.
    fn why_alone(&self, first: &Solver, features: Features) -> String {
        let others = self.tools.solvers.all().into_iter().filter(|s| are_independent(first, s));
        let lacking = others.filter_map(|s| {
            Some(format!("{} does not handle {}", s.name, s.kind.lacks(features)?))
        });
        let lacking: Vec<String> = lacking.collect();
        if lacking.is_empty() {
            "no other solver was found".to_string()
        } else {
            lacking.join("; ")
        }
    }

    /// Warns that the first solver is wrong, as the second one has a model.
    fn second_is_right(&mut self, asked: &FirstAnswer<'_>, second: &Solver, model: Model) -> Model {
        self.warnings.push(format!(
            "the solver {} is wrong: it finds no solution where {} has one that was checked",
            asked.first.name, second.name
        ));
        model
    }
}

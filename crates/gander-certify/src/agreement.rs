//! A second solver: whether it agrees that a formula has no solution.
//!
//! Where a check has to rest on more than one solver ([`Trust`]), what one of them refutes is asked of another one. If
//! that is expected, the second solver begins at once and both work at the same time. A solution that the second one
//! gives counts if the evaluator finds the formula true: then the first solver is wrong.
//!
//! With [`Trust::Agreement`] the second solver has a limited time: for each question a multiple of what the first one
//! took, and in all a second and a tenth of the time since the checker was made. What it does not answer in that time
//! rests on one solver, and the result says so.

use std::time::{Duration, Instant};

use gander_smt::{Answer, Limits, Reason, Solver, StepSymbol};
use gander_term::{Features, TermId};

use crate::basis::{Ground, Support, Trust};
use crate::case::{Case, Line, Model, NOT_EVALUATED, within};
use crate::rejection::{Rejection, undecided};

/// With [`Trust::Agreement`]: what second solvers may take in all, beside a tenth of the time of the checker.
const TIME_IN_ALL: Duration = Duration::from_secs(1);

/// With [`Trust::Agreement`]: the least that a second solver has for a question, and how many times as long as the first.
const TIME_EACH: (Duration, u32) = (Duration::from_millis(300), 8);

/// What was asked of the first solver.
pub(crate) struct Asked<'a> {
    /// Who refuted the formula.
    pub first: &'a Solver,
    /// All that can be asked it, in order.
    pub solvers: &'a [Solver],
    /// What the question needs of a solver.
    pub features: Features,
    /// How long the first one took.
    pub time: Duration,
    /// What was asked, in words.
    pub what: &'a str,
}

/// What comes of a second question.
pub(crate) enum Second {
    /// The formula has no solution, and this is what shows it.
    Agrees(Support),
    /// It has one.
    Disagrees(Model),
}

/// A question that was sent to a second solver: the position of its session.
pub(crate) type Begun = usize;

/// Two programs that do not share their code, as far as we know.
fn are_independent(a: &Solver, b: &Solver) -> bool {
    a.kind != b.kind || (a.kind == gander_smt::SolverKind::Other && a.program != b.program)
}

impl Case<'_> {
    /// True if the trust level asks for a second solver.
    fn wants_second(&self) -> bool {
        matches!(self.limits.trust, Trust::Agreement | Trust::Two) && self.tools.only.is_none()
    }

    /// True if there is time to ask a second solver.
    pub(crate) fn has_time_for_second(&self) -> bool {
        self.wants_second() && self.second_time_left().is_none_or(|left| !left.is_zero())
    }

    /// The time that is left for second solvers; none if that is not limited.
    fn second_time_left(&self) -> Option<Duration> {
        let in_all = TIME_IN_ALL + self.tools.began.elapsed() / 10;
        (self.limits.trust != Trust::Two).then(|| in_all.saturating_sub(self.known.second_time))
    }

    /// Sends a formula that is expected to have no solution to the second solver, if one is wanted.
    pub(crate) fn begin_second(&mut self, formula: TermId, solvers: &[Solver]) -> Option<Begun> {
        let [first, others @ ..] = solvers else { return None };
        if !self.has_time_for_second() {
            return None;
        }
        let second = others.iter().find(|s| are_independent(first, s))?;
        let limits = self.second_limits(Duration::ZERO).ok()?;
        let at = self.seconds.iter().position(|s| s.solver() == second).unwrap_or_else(|| {
            let session = self.new_session(second);
            self.seconds.push(session);
            self.seconds.len() - 1
        });
        let session = &mut self.seconds[at];
        if session.failure().is_some() {
            session.restart();
        }
        session.push();
        session.assert(&self.pool, formula);
        session.begin_check(limits);
        Some(at)
    }

    /// The answer to a question that was begun is not wanted.
    pub(crate) fn drop_second(&mut self, begun: Option<Begun>) {
        if let Some(at) = begun {
            let mut session = self.seconds.swap_remove(at);
            session.restart();
            self.idle_session(session);
        }
    }

    /// What a second solver may take, after the first one took so long.
    fn second_limits(&self, first: Duration) -> Result<Limits, Rejection> {
        let (least, factor) = TIME_EACH;
        let each = self.second_time_left().map(|left| left.min(least.max(first * factor)));
        Ok(within(self.query_limits()?, each))
    }

    /// Asks another solver than the one that refuted the formula, and says what the refutation rests on.
    pub(crate) fn second(
        &mut self,
        formula: TermId,
        asked: &Asked<'_>,
        begun: Option<Begun>,
    ) -> Result<Second, Rejection> {
        let begun = match begun {
            // The first one did not know, and the second was asked twice.
            Some(at) if !are_independent(asked.first, self.seconds[at].solver()) => {
                self.drop_second(Some(at));
                None
            }
            begun => begun,
        };
        let mut reasons = Vec::new();
        if let Some(at) = begun {
            let solver = self.seconds[at].solver().clone();
            match self.end_second(formula, at, asked)? {
                Ok(None) => return Ok(Second::Agrees(self.agreement(asked.first, &solver))),
                Ok(Some(_)) if self.pool.has_quantifier(formula) => {
                    reasons.push((solver, Reason::Incomplete(NOT_EVALUATED.to_string())));
                }
                Ok(Some(model)) => return Ok(Second::Disagrees(self.blame(asked, &solver, model))),
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
                Ok(Some(model)) => return Ok(Second::Disagrees(self.blame(asked, &solver, model))),
                Err(reason) => reasons.push((solver, reason)),
            }
        }
        self.one_solver(asked, &reasons).map(Second::Agrees)
    }

    /// [`Case::second`] for a conversation.
    pub(crate) fn second_script(&mut self, script: &[Line], asked: &Asked<'_>) -> Result<Support, Rejection> {
        let mut reasons = Vec::new();
        for solver in self.others_to_ask(asked, &reasons) {
            let limits = self.second_limits(asked.time)?;
            let clock = Instant::now();
            let outcome = self.converse(&solver, script, limits.time)?;
            self.known.second_time += clock.elapsed();
            match outcome {
                Ok(()) => return Ok(self.agreement(asked.first, &solver)),
                Err(reason) => reasons.push((solver, reason)),
            }
        }
        self.one_solver(asked, &reasons)
    }

    /// Waits for the second solver.
    fn end_second(
        &mut self,
        formula: TermId,
        at: Begun,
        asked: &Asked<'_>,
    ) -> Result<Result<Option<Model>, Reason>, Rejection> {
        let limits = self.second_limits(asked.time)?;
        let symbols = self.pool.free_symbols(&[formula]);
        let clock = Instant::now();
        self.queries += 1;
        let session = &mut self.seconds[at];
        let solver = session.solver().clone();
        let found = match session.end_check(limits) {
            Answer::Unsat => Ok(None),
            Answer::Sat => {
                let wanted: Vec<StepSymbol> = symbols.iter().map(|&s| StepSymbol::rigid(s)).collect();
                let values = session.values(&self.pool, &wanted, limits);
                values.map(|values| Some(symbols.into_iter().zip(values).collect()))
            }
            Answer::Unknown(reason) => Err(reason),
        };
        session.pop();
        self.known.second_time += clock.elapsed();
        self.look_up()?;
        Ok(match found {
            Ok(Some(model)) => self.confirm(&solver, formula, model),
            other => other,
        })
    }

    /// The solvers to ask next that are independent of the first.
    fn others_to_ask(&self, asked: &Asked<'_>, had: &[(Solver, Reason)]) -> Vec<Solver> {
        if !self.has_time_for_second() {
            return Vec::new();
        }
        let fresh = |s: &&Solver| are_independent(asked.first, s) && !had.iter().any(|(h, _)| h.kind == s.kind);
        let mut others: Vec<Solver> = asked.solvers.iter().filter(fresh).cloned().collect();
        if self.limits.trust == Trust::Agreement {
            others.truncate(1 - had.len().min(1));
        }
        others
    }

    fn agreement(&mut self, first: &Solver, second: &Solver) -> Support {
        self.known.support_by(Ground::TwoSolvers, &[first, second])
    }

    /// The support of a formula that only the first solver refutes; an error if the trust level forbids that.
    fn one_solver(&mut self, asked: &Asked<'_>, reasons: &[(Solver, Reason)]) -> Result<Support, Rejection> {
        let first = asked.first;
        let is_alone = !asked.solvers.iter().any(|s| are_independent(first, s));
        let why = match reasons {
            [] if is_alone => self.why_alone(first, asked.features),
            [] => "no time was left for a second solver".to_string(),
            reasons => {
                let each: Vec<String> = reasons.iter().map(|(s, reason)| format!("{}: {reason}", s.name)).collect();
                each.join("; ")
            }
        };
        match self.limits.trust {
            Trust::Two if self.tools.only.is_none() => Err(undecided(format!(
                "{}: only {} says so, and two solvers are asked for; {why}",
                asked.what, first.name
            ))),
            Trust::Proof => Err(undecided(format!("{}: {} says so, but no proof was found", asked.what, first.name))),
            Trust::Agreement if self.tools.only.is_none() => {
                self.known.why_one.get_or_insert(why);
                Ok(self.known.support_by(Ground::OneSolver, &[first]))
            }
            _ => Ok(self.known.support_by(Ground::OneSolver, &[first])),
        }
    }

    /// Why no solver but this one can be asked.
    fn why_alone(&self, first: &Solver, features: Features) -> String {
        let others = self.tools.solvers.all().into_iter().filter(|s| are_independent(first, s));
        let lacking = others.filter_map(|s| Some(format!("{} does not handle {}", s.name, s.kind.lacks(features)?)));
        let lacking: Vec<String> = lacking.collect();
        if lacking.is_empty() { "no other solver was found".to_string() } else { lacking.join("; ") }
    }

    /// The second solver has a solution: the first one was wrong.
    fn blame(&mut self, asked: &Asked<'_>, second: &Solver, model: Model) -> Model {
        self.warnings.push(format!(
            "the solver {} is wrong: it finds no solution where {} has one that was checked",
            asked.first.name, second.name
        ));
        model
    }
}

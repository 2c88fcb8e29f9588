//! Scripts: assertions and queries in one incremental session.
//!
//! Bounded arguments (k-induction, diameter) assert one step after the other and ask a query in
//! between. If a solver does not answer, the next one gets the script from the beginning.

use std::time::{Duration, Instant};

use gander_smt::{Answer, Reason, Solver, StepSymbol};
use gander_term::TermId;

use super::CheckContext;
use super::agreement::FirstAnswer;
use super::context::within;
use crate::rejection::{Rejection, wrong};

/// A line of a script.
#[derive(Clone, Debug)]
pub(crate) enum Line {
    /// The formula is asserted for the rest of the script.
    Assert(TermId),
    /// The formula has no solution together with the assertions before it; the text is the message
    /// if it has one.
    Refute(TermId, String),
}

impl CheckContext<'_> {
    /// Shows that every query of the script has no solution.
    pub(crate) fn refute_script(&mut self, script: &[Line]) -> Result<(), Rejection> {
        let formulas: Vec<TermId> =
            script.iter().map(|(Line::Assert(t) | Line::Refute(t, _))| *t).collect();
        let what = "a bounded argument";
        let features = self.rational_features(&formulas, what)?;
        if self.refute_script_in_process(script) {
            return Ok(());
        }
        let solvers = self.solvers(features, what)?;
        let clock = Instant::now();
        let ((), first) = self.ask_in_rounds(solvers.clone(), what, |cx, solver, slice| {
            cx.run_script(solver, script, slice)
        })?;
        let asked =
            FirstAnswer { first: &first, solvers: &solvers, features, time: clock.elapsed(), what };
        let support = self.ask_second_script(script, &asked)?;
        self.rest_on(support);
        Ok(())
    }

    /// Runs a script with one solver. The outer error ends the check, the inner one only this
    /// attempt.
    pub(crate) fn run_script(
        &mut self,
        solver: &Solver,
        script: &[Line],
        slice: Option<Duration>,
    ) -> Result<Result<(), Reason>, Rejection> {
        let end = slice.and_then(|slice| Instant::now().checked_add(slice));
        let at = self.session(solver);
        self.sessions[at].push();
        let mut outcome = Ok(Ok(()));
        let mut asserted = Vec::new();
        for line in script {
            match line {
                Line::Assert(t) => {
                    asserted.push(*t);
                    self.sessions[at].assert(&self.pool, *t);
                }
                Line::Refute(t, what) => {
                    let limits = match self.query_limits() {
                        Ok(limits) => {
                            within(limits, end.map(|e| e.saturating_duration_since(Instant::now())))
                        }
                        Err(rejection) => {
                            outcome = Err(rejection);
                            break;
                        }
                    };
                    if self.pool.as_bool(*t) == Some(false) {
                        continue;
                    }
                    self.queries += 1;
                    let session = &mut self.sessions[at];
                    session.push();
                    session.assert(&self.pool, *t);
                    let answer = match session.check(&[], limits) {
                        Answer::Unsat => Ok(None),
                        Answer::Sat => {
                            let whole = self.pool.and(asserted.iter().copied().chain([*t]));
                            let symbols = self.pool.free_symbols(&[whole]);
                            let asked: Vec<StepSymbol> =
                                symbols.iter().map(|&s| StepSymbol::rigid(s)).collect();
                            let values = session.values(&self.pool, &asked, limits);
                            values.map(|values| {
                                Some((whole, symbols.into_iter().zip(values).collect()))
                            })
                        }
                        Answer::Unknown(reason) => Err(reason),
                    };
                    self.sessions[at].pop();
                    let confirmed = answer.and_then(|found| match found {
                        Some((whole, model)) => self.confirm(solver, whole, model),
                        None => Ok(None),
                    });
                    outcome = match confirmed {
                        Ok(None) => continue,
                        Ok(Some(_)) => Err(wrong(what.clone())),
                        Err(reason) => Ok(Err(reason)),
                    };
                    break;
                }
            }
        }
        self.sessions[at].pop();
        self.check_cancelled()?;
        outcome
    }
}

//! Queries about one formula.
//!
//! Solvers are asked in rounds, so that no solver blocks the others: each gets a time slice, and
//! those that time out get a longer one in the next round.

use std::time::{Duration, Instant};

use gander_smt::{Answer, Reason, Solver, StepSymbol};
use gander_term::{EvalError, Features, Op, Sort, SymbolId, TermId, Value};

use super::agreement::{FirstAnswer, Second};
use super::context::within;
use super::guess::guess_model;
use super::{CheckContext, Model};
use crate::basis::{Ground, Support, Trust};
use crate::formula::eliminate::without_quantifiers;
use crate::formula::instantiate::instances;
use crate::formula::{computed, fold_closed};
use crate::rejection::{Rejection, undecided, wrong};

/// How many values of a counterexample a message shows.
const VALUES_SHOWN: usize = 12;

/// The time slice of a solver in the first round, and its growth from round to round.
const FIRST_SLICE: Duration = Duration::from_secs(1);
const SLICE_GROWTH: u32 = 3;

/// Why a model of a solver was not confirmed.
pub(crate) const NOT_EVALUATED: &str = "a quantifier cannot be evaluated";

/// The expected answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expected {
    /// No solution: a second solver starts at the same time as the first.
    Refuted,
    Either,
}

impl CheckContext<'_> {
    /// A model of the formula, or `None` if it has no solution. `what` names the query in messages.
    pub(crate) fn solve(
        &mut self,
        formula: TermId,
        what: &str,
    ) -> Result<Option<Model>, Rejection> {
        self.decide(formula, what, Expected::Either)
    }

    /// [`CheckContext::solve`], but small values are tried first.
    pub(crate) fn find(&mut self, formula: TermId, what: &str) -> Result<Option<Model>, Rejection> {
        match guess_model(&self.pool, formula) {
            Some(model) => Ok(Some(model)),
            None => self.solve(formula, what),
        }
    }

    /// Shows that the formula has no solution; `what` is the message if it has one.
    pub(crate) fn refute(&mut self, formula: TermId, what: &str) -> Result<(), Rejection> {
        match self.decide(formula, what, Expected::Refuted)? {
            None => Ok(()),
            Some(model) => Err(wrong(format!("{what}{}", self.show(&model)))),
        }
    }

    fn decide(
        &mut self,
        formula: TermId,
        what: &str,
        expected: Expected,
    ) -> Result<Option<Model>, Rejection> {
        let formula = without_quantifiers(&mut self.pool, formula, &mut self.known.eliminated);
        let formula = fold_closed(&mut self.pool, formula);
        match self.pool.as_bool(formula) {
            Some(true) => return Ok(Some(Vec::new())),
            Some(false) => return Ok(None),
            None => {}
        }
        if let Some(&support) = self.known.refuted.get(&formula) {
            self.rest_on(support);
            return Ok(None);
        }
        if let Some(found) = self.decide_in_process(formula) {
            return Ok(found);
        }
        if self.was_refuted(formula) {
            if let Some(&support) = self.known.refuted.get(&formula) {
                self.rest_on(support);
            }
            return Ok(None);
        }
        if expected == Expected::Refuted && self.refute_instances(formula)? {
            return Ok(None);
        }
        let features = self.rational_features(&[formula], what)?;
        let solvers = self.solvers(features, what)?;
        let begun = match expected {
            Expected::Refuted => self.begin_second(formula, &solvers),
            Expected::Either => None,
        };
        let clock = Instant::now();
        let found = self.ask_in_rounds(solvers.clone(), what, |cx, solver, slice| {
            cx.solve_with(solver, formula, slice)
        });
        let (found, first) = match found {
            Ok(found) => found,
            Err(rejection) => {
                self.drop_second(begun);
                return Err(rejection);
            }
        };
        if found.is_some() {
            self.drop_second(begun);
            return Ok(found);
        }
        let asked =
            FirstAnswer { first: &first, solvers: &solvers, features, time: clock.elapsed(), what };
        match self.second(formula, &asked, begun)? {
            Second::Agrees(support) => {
                self.known.refuted.insert(formula, support);
                self.keep_refutation(formula);
                self.rest_on(support);
                Ok(None)
            }
            Second::Disagrees(model) => Ok(Some(model)),
        }
    }

    /// True if instances of the quantifiers of a formula have no solution; then the formula has
    /// none. Rests on what refutes the instances.
    fn refute_instances(&mut self, formula: TermId) -> Result<bool, Rejection> {
        if !self.pool.has_quantifier(formula) {
            return Ok(false);
        }
        let Some(instances) = instances(&mut self.pool, formula) else { return Ok(false) };
        let instances = fold_closed(&mut self.pool, instances);
        let what = "instances of a quantified formula";
        let support = match self.pool.as_bool(instances) {
            Some(true) => None,
            Some(false) => Some(Support::default()),
            // What has a solution, or is not decided, says nothing of the formula itself.
            None => match self.decide(instances, what, Expected::Refuted) {
                Ok(None) => self.known.refuted.get(&instances).copied(),
                Ok(Some(_)) => None,
                Err(_) => {
                    self.check_cancelled()?;
                    None
                }
            },
        };
        if let Some(support) = support {
            self.known.refuted.insert(formula, support);
        }
        Ok(support.is_some())
    }

    /// Asks the solvers in rounds until one answers; returns the answer and that solver. Those that
    /// time out are asked again in the next round, with a longer slice. A single solver gets all
    /// the time that is left.
    pub(super) fn ask_in_rounds<T>(
        &mut self,
        solvers: Vec<Solver>,
        what: &str,
        mut ask: impl FnMut(
            &mut Self,
            &Solver,
            Option<Duration>,
        ) -> Result<Result<T, Reason>, Rejection>,
    ) -> Result<(T, Solver), Rejection> {
        let mut why: Vec<(Solver, Reason)> = Vec::new();
        let (mut turn, mut slice) = (solvers, Some(FIRST_SLICE));
        while !turn.is_empty() {
            let mut again = Vec::new();
            if turn.len() == 1 {
                slice = None;
            }
            for solver in turn {
                let limits = self.query_limits()?;
                match ask(self, &solver, slice)? {
                    Ok(found) => {
                        // Solvers that timed out where another one answered are asked last from now
                        // on.
                        let late =
                            why.into_iter().filter(|(s, r)| *r == Reason::Timeout && *s != solver);
                        self.known.timed_out.extend(late.map(|(s, _)| s));
                        self.known.timed_out.retain(|s| *s != solver);
                        return Ok((found, solver));
                    }
                    Err(reason) => {
                        let cut = slice.is_some_and(|s| limits.time.is_none_or(|all| s < all));
                        if reason == Reason::Timeout && cut {
                            again.push(solver.clone());
                        }
                        why.retain(|(s, _)| *s != solver);
                        why.push((solver, reason));
                    }
                }
            }
            turn = again;
            slice = slice.and_then(|s| s.checked_mul(SLICE_GROWTH));
        }
        let why: Vec<String> =
            why.into_iter().map(|(solver, reason)| format!("{}: {reason}", solver.name)).collect();
        Err(undecided(format!("{what}: {}", why.join("; "))))
    }

    /// The solvers to ask, in order.
    pub(super) fn solvers(&self, features: Features, what: &str) -> Result<Vec<Solver>, Rejection> {
        self.check_cancelled()?;
        if !self.limits.solvers {
            return Err(undecided(format!("{what}: this needs a solver")));
        }
        if let Some(only) = &self.tools.only {
            return Ok(vec![only.for_features(features)]);
        }
        let mut found: Vec<Solver> =
            self.tools.solvers.candidates(features).into_iter().cloned().collect();
        found.sort_by_key(|s| self.known.timed_out.contains(s));
        if found.is_empty() {
            Err(undecided(format!("{what}: no solver can be asked this")))
        } else {
            Ok(found)
        }
    }

    /// Asks one solver. The outer error ends the check, the inner one only this attempt.
    pub(crate) fn solve_with(
        &mut self,
        solver: &Solver,
        formula: TermId,
        slice: Option<Duration>,
    ) -> Result<Result<Option<Model>, Reason>, Rejection> {
        let symbols = self.pool.free_symbols(&[formula]);
        let limits = within(self.query_limits()?, slice);
        let at = self.session(solver);
        self.queries += 1;
        let session = &mut self.sessions[at];
        session.push();
        session.assert(&self.pool, formula);
        let answer = session.check(&[], limits);
        let result = match answer {
            Answer::Sat => {
                let asked: Vec<StepSymbol> =
                    symbols.iter().map(|&s| StepSymbol::rigid(s)).collect();
                session
                    .values(&self.pool, &asked, limits)
                    .map(|values| Some(symbols.into_iter().zip(values).collect()))
            }
            Answer::Unsat => Ok(None),
            Answer::Unknown(reason) => Err(reason),
        };
        session.pop();
        self.check_cancelled()?;
        match result {
            Ok(Some(model)) => Ok(self.confirm(solver, formula, model)),
            other => Ok(other),
        }
    }

    /// Accepts a model only if the formula evaluates to true in it.
    pub(crate) fn confirm(
        &mut self,
        by: &Solver,
        formula: TermId,
        model: Model,
    ) -> Result<Option<Model>, Reason> {
        let look_up = |s: SymbolId| model.iter().find(|(t, _)| *t == s).map(|(_, v)| v.clone());
        match computed(&self.pool, formula, &look_up) {
            Ok(Value::Bool(true)) => Ok(Some(model)),
            Ok(_) => Err(Reason::Garbage("a model that is none".to_string())),
            Err(EvalError::Unbounded) if matches!(self.limits.trust, Trust::Two | Trust::Proof) => {
                Err(Reason::Incomplete(NOT_EVALUATED.to_string()))
            }
            // The trust level accepts the answer of one solver.
            Err(EvalError::Unbounded) => {
                if self.limits.trust == Trust::Agreement {
                    self.known.why_one.get_or_insert_with(|| NOT_EVALUATED.to_string());
                }
                let support = self.known.support_by(Ground::OneSolver, &[by]);
                self.rest_on(support);
                Ok(Some(model))
            }
            Err(e) => Err(Reason::Incomplete(e.describe(&self.pool))),
        }
    }

    /// The features of the formulas; an error if solvers interpret them differently.
    ///
    /// The sort real is the real numbers for solvers and the rational numbers for us. A formula
    /// without quantifiers that has no real solution has no rational one, and in linear arithmetic
    /// the two agree. With products and quantifiers over reals they can differ.
    pub(super) fn rational_features(
        &self,
        formulas: &[TermId],
        what: &str,
    ) -> Result<Features, Rejection> {
        let features = self.pool.features(formulas);
        if !(features.quantifiers && features.nonlinear) {
            return Ok(features);
        }
        let binds_real = |&t: &TermId| {
            matches!(self.pool.op(t), Op::Forall | Op::Exists)
                && self
                    .pool
                    .args(t)
                    .split_last()
                    .is_some_and(|(_, b)| b.iter().any(|&b| self.pool.sort(b) == Sort::Real))
        };
        if self.pool.postorder(formulas).iter().any(binds_real) {
            return Err(undecided(format!(
                "{what}: solvers decide quantified products over real, not rational numbers"
            )));
        }
        Ok(features)
    }

    fn show(&self, model: &Model) -> String {
        if model.is_empty() {
            return String::new();
        }
        let shown: Vec<String> = model
            .iter()
            .take(VALUES_SHOWN)
            .map(|(s, v)| format!("{} = {}", self.pool.symbol(*s).name, self.pool.show_value(v)))
            .collect();
        let more = if model.len() > VALUES_SHOWN { ", ..." } else { "" };
        format!(" (for example {}{more})", shown.join(", "))
    }
}

//! One check: the system, the terms that are built for it, and the solver sessions that are asked.
//!
//! Every check talks to solvers in sessions of its own, started when first needed and shared by its questions; the
//! process behind a session may have served an earlier check, in which case it was reset unless the terms are the same. A
//! question goes to the solver that its features call for; if that one does not know, the others are asked. No solver is
//! waited for while others have not been asked: each gets a slice of time, and a longer one when its turn comes again.
//!
//! Before any of that, formulas that are easy enough are decided in this process, with proofs that are verified
//! (`in_process.rs`), and no solver is asked. What one solver refutes may be asked of a second one (`agreement.rs`).

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_smt::{Answer, Limits, Reason, Session, SessionConfig, Solver, StepSymbol};
use gander_system::System;
use gander_term::{EvalError, Features, Op, Pool, Sort, SymbolId, TermId, Value};

use crate::agreement::{Asked, Second};
use crate::basis::{Basis, Ground, Support, Trust};
use crate::eliminate::without_quantifiers;
use crate::formula::{computed, fold_closed};
use crate::known::Known;
use crate::obvious::obvious_model;
use crate::rejection::{INTERRUPTED, OUT_OF_TIME, Rejection, undecided, wrong};
use crate::{CheckLimits, Tools};

/// How many values of a counterexample a message shows.
const VALUES_SHOWN: usize = 12;

/// Obligations that are asked together, at first and later if that goes well, and the time that is spent on such a
/// question.
const OBLIGATIONS_AT_ONCE: usize = 64;
const MOST_AT_ONCE: usize = 512;
const TIME_AT_ONCE: Duration = Duration::from_millis(200);

/// The time that a solver has for a question before the next one is asked, and by how much it grows from turn to turn.
const FIRST_SLICE: Duration = Duration::from_secs(1);
const SLICE_GROWTH: u32 = 3;

/// Why a solution that a solver gives is not known to be one.
pub(crate) const NOT_EVALUATED: &str = "a quantifier cannot be evaluated";

/// What must have no solution, and what a solution would mean.
pub(crate) type Obligation = (TermId, String);

/// What is expected of a formula.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expected {
    /// It has no solution: a second solver is asked at the same time.
    Refuted,
    Either,
}

/// Values of symbols that satisfy a formula.
pub(crate) type Model = Vec<(SymbolId, Value)>;

/// A line of a conversation in which later lines build on earlier ones.
#[derive(Clone, Debug)]
pub(crate) enum Line {
    /// From here on this holds.
    Assert(TermId),
    /// What was asserted and this exclude each other; the text says what it would mean if they did not.
    Refute(TermId, String),
}

/// A check in progress.
pub(crate) struct Case<'a> {
    pub system: &'a System,
    /// A fork of the system's pool.
    pub pool: Pool,
    pub limits: CheckLimits,
    pub warnings: Vec<String>,
    pub queries: u32,
    /// Formulas that were decided without a solver, by proofs that were checked or models that were evaluated.
    pub certificates: u32,
    pub(crate) tools: &'a Tools,
    deadline: Option<Instant>,
    sessions: Vec<Session>,
    /// Sessions of earlier checks, to be reset before use.
    idle: Vec<Session>,
    /// Sessions with second solvers, which may be asked while another one is at work.
    pub(crate) seconds: Vec<Session>,
    /// What the results of this check rest on.
    pub(crate) support: Support,
    /// What was enumerated for a closed set.
    pub explored: Option<crate::closed_set::Explored>,
    /// What was shown about the system, over the pool.
    pub known: Known,
}

impl<'a> Case<'a> {
    pub(crate) fn new(system: &'a System, tools: &'a Tools, deadline: Option<Instant>) -> Case<'a> {
        Case {
            system,
            pool: Pool::fork(&system.pool),
            limits: tools.limits,
            warnings: Vec::new(),
            queries: 0,
            certificates: 0,
            tools,
            deadline,
            sessions: Vec::new(),
            idle: Vec::new(),
            seconds: Vec::new(),
            support: Support::default(),
            explored: None,
            known: Known::of(system),
        }
    }

    /// [`Case::new`] with what earlier checks about the system have shown, and the pool of that.
    pub(crate) fn recall(
        system: &'a System,
        tools: &'a Tools,
        deadline: Option<Instant>,
        (pool, mut known): (Pool, Known),
    ) -> Case<'a> {
        let sessions = std::mem::take(&mut known.sessions);
        let seconds = std::mem::take(&mut known.seconds);
        Case { pool, known, sessions, seconds, ..Case::new(system, tools, deadline) }
    }

    /// What was shown about the system; the sessions are with it.
    pub(crate) fn into_known(mut self) -> (Pool, Known) {
        self.known.sessions = self.sessions;
        self.known.seconds = self.seconds;
        (self.pool, self.known)
    }

    /// Gives sessions of earlier checks to this one.
    pub(crate) fn reuse(&mut self, sessions: Vec<Session>) {
        self.idle = sessions;
    }

    /// Sessions of earlier checks that were not needed.
    pub(crate) fn take_idle(&mut self) -> Vec<Session> {
        std::mem::take(&mut self.idle)
    }

    /// Keeps a session for later use about whatever it may be.
    pub(crate) fn idle_session(&mut self, session: Session) {
        self.idle.push(session);
    }

    /// The sessions, for later checks.
    pub(crate) fn into_sessions(mut self) -> Vec<Session> {
        self.sessions.append(&mut self.seconds);
        self.sessions.append(&mut self.idle);
        self.sessions
    }

    /// What the results of this check rest on.
    pub(crate) fn basis(&self) -> Basis {
        self.known.basis(self.support)
    }

    /// The check rests on this, too.
    pub(crate) fn rest_on(&mut self, support: Support) {
        self.support = self.support.join(support);
    }

    /// The same check, about another system.
    pub(crate) fn about<'b>(&mut self, system: &'b System) -> Case<'b>
    where
        'a: 'b,
    {
        let mut case = Case::new(system, self.tools, self.deadline);
        case.reuse(std::mem::take(&mut self.idle));
        case
    }

    /// Counts what a check about another system has cost.
    pub(crate) fn absorb(&mut self, mut other: Case<'_>) {
        self.queries += other.queries;
        self.certificates += other.certificates;
        let basis = other.basis();
        let mut support = Support { ground: basis.ground, solvers: 0 };
        for name in basis.solvers {
            support.solvers |= 1 << self.known.position(&Arc::from(name)).min(15);
        }
        self.rest_on(support);
        self.known.second_time += other.known.second_time;
        self.known.why_one = self.known.why_one.take().or(basis.why_one);
        self.warnings.append(&mut other.warnings);
        self.idle.extend(other.into_sessions());
    }

    /// Fails if the check was interrupted or its time is over.
    pub(crate) fn look_up(&self) -> Result<(), Rejection> {
        if self.tools.cancellation.is_cancelled() {
            return Err(undecided(INTERRUPTED));
        }
        match self.deadline {
            Some(end) if Instant::now() >= end => Err(undecided(OUT_OF_TIME)),
            _ => Ok(()),
        }
    }

    /// Values that satisfy the formula, or nothing if it has no solution. `what` names the question in messages.
    pub(crate) fn solve(&mut self, formula: TermId, what: &str) -> Result<Option<Model>, Rejection> {
        self.decide(formula, what, Expected::Either)
    }

    fn decide(&mut self, formula: TermId, what: &str, expected: Expected) -> Result<Option<Model>, Rejection> {
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
        if let Some(found) = self.decide_alone(formula) {
            return Ok(found);
        }
        let features = self.rational_features(&[formula], what)?;
        let solvers = self.solvers(features, what)?;
        let begun = match expected {
            Expected::Refuted => self.begin_second(formula, &solvers),
            Expected::Either => None,
        };
        let clock = Instant::now();
        let found = self.in_turns(solvers.clone(), what, |case, solver, slice| case.solve_with(solver, formula, slice));
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
        let asked = Asked { first: &first, solvers: &solvers, features, time: clock.elapsed(), what };
        match self.second(formula, &asked, begun)? {
            Second::Agrees(support) => {
                self.known.refuted.insert(formula, support);
                self.rest_on(support);
                Ok(None)
            }
            Second::Disagrees(model) => Ok(Some(model)),
        }
    }

    /// Asks solvers one after the other, each for a slice of time, until one knows; those that ran out of time are asked
    /// again with a longer slice. One that is alone has all the time there is. Also tells which one knew.
    fn in_turns<T>(
        &mut self,
        solvers: Vec<Solver>,
        what: &str,
        mut ask: impl FnMut(&mut Self, &Solver, Option<Duration>) -> Result<Result<T, Reason>, Rejection>,
    ) -> Result<(T, Solver), Rejection> {
        let mut why: Vec<(Solver, Reason)> = Vec::new();
        let (mut turn, mut slice) = (solvers, Some(FIRST_SLICE));
        while !turn.is_empty() {
            let mut again = Vec::new();
            // Nobody else is there to be asked meanwhile.
            if turn.len() == 1 {
                slice = None;
            }
            for solver in turn {
                let limits = self.query_limits()?;
                match ask(self, &solver, slice)? {
                    Ok(found) => {
                        // Whoever had no answer in time when another one had comes last from now on.
                        let late = why.into_iter().filter(|(s, r)| *r == Reason::Timeout && *s != solver);
                        self.known.late.extend(late.map(|(s, _)| s));
                        self.known.late.retain(|s| *s != solver);
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
        let why: Vec<String> = why.into_iter().map(|(solver, reason)| format!("{}: {reason}", solver.name)).collect();
        Err(undecided(format!("{what}: {}", why.join("; "))))
    }

    /// [`Case::solve`] for a formula that likely has a solution, and an obvious one.
    pub(crate) fn find(&mut self, formula: TermId, what: &str) -> Result<Option<Model>, Rejection> {
        match obvious_model(&self.pool, formula) {
            Some(model) => Ok(Some(model)),
            None => self.solve(formula, what),
        }
    }

    /// None of the formulas has a solution.
    pub(crate) fn refute_all(&mut self, obligations: &[Obligation]) -> Result<(), Rejection> {
        let (mut left, mut size) = (obligations, OBLIGATIONS_AT_ONCE);
        while !left.is_empty() {
            let (some, rest) = left.split_at(size.min(left.len()));
            if some.len() > 1 {
                let done = self.refute_at_once(some)?;
                size = if done { (2 * size).min(MOST_AT_ONCE) } else { OBLIGATIONS_AT_ONCE };
            }
            for (formula, what) in some {
                self.refute(*formula, what)?;
            }
            left = rest;
        }
        Ok(())
    }

    /// Asks about many formulas, as many at once as goes well; what [`Case::refute`] knows then need not be asked again.
    /// Gives up when that does not go well.
    pub(crate) fn refute_what_can_be(&mut self, obligations: &[Obligation]) -> Result<(), Rejection> {
        let (mut left, mut size, mut failures) = (obligations, MOST_AT_ONCE, 0);
        while !left.is_empty() && failures < 4 {
            let (some, rest) = left.split_at(size.min(left.len()));
            if self.refute_at_once(some)? {
                size = (2 * size).min(MOST_AT_ONCE);
                left = rest;
            } else {
                failures += 1;
                if size > OBLIGATIONS_AT_ONCE && some.len() > OBLIGATIONS_AT_ONCE {
                    size = OBLIGATIONS_AT_ONCE;
                } else {
                    left = rest;
                }
            }
        }
        Ok(())
    }

    /// Asks whether any of the formulas has a solution. If none has, [`Case::refute`] knows of each from then on;
    /// otherwise nothing is known, and each has to be asked for itself, which tells the one that is to blame. True if that
    /// is not to be feared.
    pub(crate) fn refute_at_once(&mut self, obligations: &[Obligation]) -> Result<bool, Rejection> {
        let mut open = Vec::new();
        for (formula, _) in obligations {
            let formula = without_quantifiers(&mut self.pool, *formula, &mut self.known.eliminated);
            let formula = fold_closed(&mut self.pool, formula);
            if self.pool.as_bool(formula) != Some(false) && !self.known.refuted.contains_key(&formula) {
                open.push(formula);
            }
        }
        open.sort_unstable();
        open.dedup();
        // One that has a solution is to blame, and is found when each is asked for itself.
        open.retain(|&formula| self.decide_alone(formula).is_none());
        let features = self.pool.features(&open);
        if open.len() < 2 || features.quantifiers {
            return Ok(true);
        }
        let Ok(solvers) = self.solvers(features, "several obligations") else { return Ok(true) };
        let Some(solver) = solvers.first() else { return Ok(true) };
        let limits = self.query_limits()?;
        let limits = Limits::time(limits.time.unwrap_or(TIME_AT_ONCE).min(TIME_AT_ONCE));
        let some = self.pool.or(open.iter().copied());
        let begun = self.begin_second(some, &solvers);
        let clock = Instant::now();
        let at = self.session(solver);
        self.queries += 1;
        let session = &mut self.sessions[at];
        session.push();
        session.assert(&self.pool, some);
        let answer = session.check(&[], limits);
        session.pop();
        if answer != Answer::Unsat {
            self.drop_second(begun);
            return Ok(false);
        }
        let what = "several obligations";
        let asked = Asked { first: solver, solvers: &solvers, features, time: clock.elapsed(), what };
        match self.second(some, &asked, begun) {
            // It may agree about each of them.
            Ok(Second::Agrees(support)) if support.ground == Ground::OneSolver && self.has_time_for_second() => {
                Ok(false)
            }
            Ok(Second::Agrees(support)) => {
                self.known.refuted.extend(open.into_iter().map(|formula| (formula, support)));
                Ok(true)
            }
            Ok(Second::Disagrees(_)) => Ok(false),
            Err(rejection) => self.look_up().map(|()| false).map_err(|_| rejection),
        }
    }

    /// The formula has no solution; `what` says what a solution would mean.
    pub(crate) fn refute(&mut self, formula: TermId, what: &str) -> Result<(), Rejection> {
        match self.decide(formula, what, Expected::Refuted)? {
            None => Ok(()),
            Some(model) => Err(wrong(format!("{what}{}", self.show(&model)))),
        }
    }

    /// A conversation in one session. If a solver does not know, the next one hears it from the beginning.
    pub(crate) fn refute_in_turn(&mut self, script: &[Line]) -> Result<(), Rejection> {
        let formulas: Vec<TermId> = script.iter().map(|(Line::Assert(t) | Line::Refute(t, _))| *t).collect();
        let what = "a bounded argument";
        let features = self.rational_features(&formulas, what)?;
        if self.refute_script_alone(script) {
            return Ok(());
        }
        let solvers = self.solvers(features, what)?;
        let clock = Instant::now();
        let ((), first) =
            self.in_turns(solvers.clone(), what, |case, solver, slice| case.converse(solver, script, slice))?;
        let asked = Asked { first: &first, solvers: &solvers, features, time: clock.elapsed(), what };
        let support = self.second_script(script, &asked)?;
        self.rest_on(support);
        Ok(())
    }

    /// Some value of the symbol's sort.
    pub(crate) fn any_value(&self, s: SymbolId) -> Value {
        self.pool.symbol(s).sort.first_value()
    }

    /// Whom to ask, in order.
    fn solvers(&self, features: Features, what: &str) -> Result<Vec<Solver>, Rejection> {
        self.look_up()?;
        if let Some(only) = &self.tools.only {
            return Ok(vec![only.for_features(features)]);
        }
        let mut found: Vec<Solver> = self.tools.solvers.candidates(features).into_iter().cloned().collect();
        found.sort_by_key(|s| self.known.late.contains(s));
        if found.is_empty() { Err(undecided(format!("{what}: no solver can be asked this"))) } else { Ok(found) }
    }

    /// The outer failure ends the check, the inner one only this solver's attempt.
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
                let asked: Vec<StepSymbol> = symbols.iter().map(|&s| StepSymbol::rigid(s)).collect();
                session.values(&self.pool, &asked, limits).map(|values| Some(symbols.into_iter().zip(values).collect()))
            }
            Answer::Unsat => Ok(None),
            Answer::Unknown(reason) => Err(reason),
        };
        session.pop();
        self.look_up()?;
        match result {
            Ok(Some(model)) => Ok(self.confirm(solver, formula, model)),
            other => Ok(other),
        }
    }

    /// A model is believed only if the formula evaluates to true in it.
    pub(crate) fn confirm(&mut self, by: &Solver, formula: TermId, model: Model) -> Result<Option<Model>, Reason> {
        let look_up = |s: SymbolId| model.iter().find(|(t, _)| *t == s).map(|(_, v)| v.clone());
        match computed(&self.pool, formula, &look_up) {
            Ok(Value::Bool(true)) => Ok(Some(model)),
            Ok(_) => Err(Reason::Garbage("a model that is none".to_string())),
            Err(EvalError::Unbounded) if matches!(self.limits.trust, Trust::Two | Trust::Proof) => {
                Err(Reason::Incomplete(NOT_EVALUATED.to_string()))
            }
            // The solver's word has to do.
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

    /// The features of the formulas, if solvers take them as we do.
    ///
    /// Solvers take reals for real numbers, we take them for rational ones. A formula without quantifiers that has no
    /// real solution has no rational one, and linear arithmetic cannot tell the two apart; but "for all real x" says
    /// something else than "for all rational x" where products come in.
    fn rational_features(&self, formulas: &[TermId], what: &str) -> Result<Features, Rejection> {
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

    pub(crate) fn converse(
        &mut self,
        solver: &Solver,
        script: &[Line],
        slice: Option<Duration>,
    ) -> Result<Result<(), Reason>, Rejection> {
        let end = slice.and_then(|slice| Instant::now().checked_add(slice));
        let at = self.session(solver);
        self.sessions[at].push();
        let mut outcome = Ok(Ok(()));
        let mut said = Vec::new();
        for line in script {
            match line {
                Line::Assert(t) => {
                    said.push(*t);
                    self.sessions[at].assert(&self.pool, *t);
                }
                Line::Refute(t, what) => {
                    let limits = match self.query_limits() {
                        Ok(limits) => within(limits, end.map(|e| e.saturating_duration_since(Instant::now()))),
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
                            let whole = self.pool.and(said.iter().copied().chain([*t]));
                            let symbols = self.pool.free_symbols(&[whole]);
                            let asked: Vec<StepSymbol> = symbols.iter().map(|&s| StepSymbol::rigid(s)).collect();
                            let values = session.values(&self.pool, &asked, limits);
                            values.map(|values| Some((whole, symbols.into_iter().zip(values).collect())))
                        }
                        Answer::Unknown(reason) => Err(reason),
                    };
                    self.sessions[at].pop();
                    // A model counts only if it is one.
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
        self.look_up()?;
        outcome
    }

    pub(crate) fn query_limits(&self) -> Result<Limits, Rejection> {
        self.look_up()?;
        let left = self.deadline.map(|end| end.saturating_duration_since(Instant::now()));
        Ok(Limits { time: [left, self.limits.query].into_iter().flatten().min() })
    }

    /// The session with this solver, alive.
    fn session(&mut self, solver: &Solver) -> usize {
        if let Some(at) = self.sessions.iter().position(|s| s.solver() == solver) {
            if self.sessions[at].failure().is_some() {
                self.sessions[at].restart();
            }
            return at;
        }
        let session = self.new_session(solver);
        self.sessions.push(session);
        self.sessions.len() - 1
    }

    /// A session that knows nothing, with a process of an earlier check if there is one.
    pub(crate) fn new_session(&mut self, solver: &Solver) -> Session {
        if let Some(at) = self.idle.iter().position(|s| s.solver() == solver) {
            let mut session = self.idle.swap_remove(at);
            session.reset();
            return session;
        }
        let config = SessionConfig {
            memory: self.limits.memory,
            cancellation: self.tools.cancellation.clone(),
            ..SessionConfig::default()
        };
        let mut session = self.tools.solvers.session(solver, config);
        if let Some(log) = self.tools.log.as_ref().and_then(|log| log(&solver.name)) {
            session.set_log(log);
        }
        session
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

/// Limits with no more time than the slice.
pub(crate) fn within(limits: Limits, slice: Option<Duration>) -> Limits {
    Limits { time: [limits.time, slice].into_iter().flatten().min() }
}

//! One check: the system, the terms that are built for it, and the solver sessions that are asked.
//!
//! Every check talks to solvers in sessions of its own, started when first needed and shared by its questions; the
//! process behind a session may have served an earlier check, in which case it was reset. A question goes to the solver
//! that its features call for; if that one does not know, the others are asked.

use std::time::{Duration, Instant};

use gander_smt::{Answer, Limits, Reason, Session, SessionConfig, Solver, StepSymbol};
use gander_system::System;
use gander_term::{EvalError, Features, IBig, Op, Pool, Sort, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashSet;

use crate::formula::fold_closed;
use crate::obvious::obvious_model;
use crate::rejection::{Rejection, undecided, wrong};
use crate::{CheckLimits, Tools};

/// How many values of a counterexample a message shows.
const VALUES_SHOWN: usize = 12;

/// Obligations that are asked together, and the time that is spent on such a question.
const OBLIGATIONS_AT_ONCE: usize = 64;
const TIME_AT_ONCE: Duration = Duration::from_millis(200);

/// What must have no solution, and what a solution would mean.
pub(crate) type Obligation = (TermId, String);

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
    tools: &'a Tools,
    deadline: Option<Instant>,
    sessions: Vec<Session>,
    /// Sessions of earlier checks, to be reset before use.
    idle: Vec<Session>,
    asked_elsewhere: Vec<String>,
    /// What was enumerated for a closed set.
    pub explored: Option<crate::closed_set::Explored>,
    /// Formulas that were shown to have no solution.
    refuted: FxHashSet<TermId>,
}

impl<'a> Case<'a> {
    pub(crate) fn new(system: &'a System, tools: &'a Tools, deadline: Option<Instant>) -> Case<'a> {
        Case {
            system,
            pool: Pool::fork(&system.pool),
            limits: tools.limits,
            warnings: Vec::new(),
            queries: 0,
            tools,
            deadline,
            sessions: Vec::new(),
            idle: Vec::new(),
            asked_elsewhere: Vec::new(),
            explored: None,
            refuted: FxHashSet::default(),
        }
    }

    /// Gives sessions of earlier checks to this one.
    pub(crate) fn reuse(&mut self, sessions: Vec<Session>) {
        self.idle = sessions;
    }

    /// The sessions, for later checks.
    pub(crate) fn into_sessions(mut self) -> Vec<Session> {
        self.sessions.append(&mut self.idle);
        self.sessions
    }

    /// The solvers that were asked.
    pub(crate) fn asked(&self) -> Vec<String> {
        let mut names = self.asked_elsewhere.clone();
        names.extend(self.sessions.iter().map(|s| s.solver().name.to_string()));
        names.sort();
        names.dedup();
        names
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
        self.asked_elsewhere.extend(other.asked());
        self.warnings.append(&mut other.warnings);
        self.idle.extend(other.into_sessions());
    }

    /// Fails if the check was interrupted or its time is over.
    pub(crate) fn look_up(&self) -> Result<(), Rejection> {
        if self.tools.killer.is_tripped() {
            return Err(undecided("the check was interrupted"));
        }
        match self.deadline {
            Some(end) if Instant::now() >= end => Err(undecided("the check ran out of time")),
            _ => Ok(()),
        }
    }

    /// Values that satisfy the formula, or nothing if it has no solution. `what` names the question in messages.
    pub(crate) fn solve(&mut self, formula: TermId, what: &str) -> Result<Option<Model>, Rejection> {
        let formula = fold_closed(&mut self.pool, formula);
        match self.pool.as_bool(formula) {
            Some(true) => return Ok(Some(Vec::new())),
            Some(false) => return Ok(None),
            None => {}
        }
        if self.refuted.contains(&formula) {
            return Ok(None);
        }
        let features = self.rational_features(&[formula], what)?;
        let mut why = Vec::new();
        for solver in self.solvers(features, what)? {
            match self.solve_with(&solver, formula)? {
                Ok(found) => {
                    if found.is_none() {
                        self.refuted.insert(formula);
                    }
                    return Ok(found);
                }
                Err(reason) => why.push(format!("{}: {reason}", solver.name)),
            }
        }
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
        for some in obligations.chunks(OBLIGATIONS_AT_ONCE) {
            if some.len() > 1 {
                self.refute_at_once(some)?;
            }
            for (formula, what) in some {
                self.refute(*formula, what)?;
            }
        }
        Ok(())
    }

    /// Asks whether any of the formulas has a solution. If none has, [`Case::refute`] knows of each from then on;
    /// otherwise nothing is known, and each has to be asked for itself, which tells the one that is to blame.
    pub(crate) fn refute_at_once(&mut self, obligations: &[Obligation]) -> Result<(), Rejection> {
        let mut open = Vec::new();
        for (formula, _) in obligations {
            let formula = fold_closed(&mut self.pool, *formula);
            if self.pool.as_bool(formula) != Some(false) && !self.refuted.contains(&formula) {
                open.push(formula);
            }
        }
        open.sort_unstable();
        open.dedup();
        let features = self.pool.features(&open);
        if open.len() < 2 || features.quantifiers {
            return Ok(());
        }
        let solver = match &self.tools.only {
            Some(only) => Some(only.clone()),
            None => self.tools.solvers.choose(features).cloned(),
        };
        let Some(solver) = solver else { return Ok(()) };
        let limits = self.query_limits()?;
        let limits = Limits::time(limits.time.unwrap_or(TIME_AT_ONCE).min(TIME_AT_ONCE));
        let some = self.pool.or(open.iter().copied());
        let at = self.session(&solver);
        self.queries += 1;
        let session = &mut self.sessions[at];
        session.push();
        session.assert(&self.pool, some);
        let answer = session.check(&[], limits);
        session.pop();
        if answer == Answer::Unsat {
            self.refuted.extend(open);
        }
        Ok(())
    }

    /// The formula has no solution; `what` says what a solution would mean.
    pub(crate) fn refute(&mut self, formula: TermId, what: &str) -> Result<(), Rejection> {
        match self.solve(formula, what)? {
            None => Ok(()),
            Some(model) => Err(wrong(format!("{what}{}", self.show(&model)))),
        }
    }

    /// A conversation in one session. If a solver does not know, the next one hears it from the beginning.
    pub(crate) fn refute_in_turn(&mut self, script: &[Line]) -> Result<(), Rejection> {
        let formulas: Vec<TermId> = script.iter().map(|(Line::Assert(t) | Line::Refute(t, _))| *t).collect();
        let features = self.rational_features(&formulas, "a bounded argument")?;
        let mut why = Vec::new();
        for solver in self.solvers(features, "a bounded argument")? {
            match self.converse(&solver, script)? {
                Ok(()) => return Ok(()),
                Err(reason) => why.push(format!("{}: {reason}", solver.name)),
            }
        }
        Err(undecided(why.join("; ")))
    }

    /// Some value of the symbol's sort.
    pub(crate) fn any_value(&self, s: SymbolId) -> Value {
        match self.pool.symbol(s).sort {
            Sort::Bool => Value::Bool(false),
            Sort::Int => Value::Int(IBig::ZERO),
            Sort::Real => Value::whole(0),
            Sort::String => Value::str(""),
            Sort::Enum(id) => Value::Enum(id, 0),
            Sort::BitVec(width) => Value::bits(width, 0),
        }
    }

    /// Whom to ask, in order.
    fn solvers(&self, features: Features, what: &str) -> Result<Vec<Solver>, Rejection> {
        self.look_up()?;
        if let Some(only) = &self.tools.only {
            return Ok(vec![only.for_features(features)]);
        }
        let found: Vec<Solver> = self.tools.solvers.candidates(features).into_iter().cloned().collect();
        if found.is_empty() { Err(undecided(format!("{what}: no solver can be asked this"))) } else { Ok(found) }
    }

    /// The outer failure ends the check, the inner one only this solver's attempt.
    fn solve_with(&mut self, solver: &Solver, formula: TermId) -> Result<Result<Option<Model>, Reason>, Rejection> {
        let symbols = self.pool.free_symbols(&[formula]);
        let limits = self.query_limits()?;
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
            Ok(Some(model)) => Ok(self.confirm(formula, model)),
            other => Ok(other),
        }
    }

    /// A model is believed only if the formula evaluates to true in it.
    fn confirm(&self, formula: TermId, model: Model) -> Result<Option<Model>, Reason> {
        let look_up = |s: SymbolId| model.iter().find(|(t, _)| *t == s).map(|(_, v)| v.clone());
        match evaluate(&self.pool, formula, &look_up) {
            Ok(Value::Bool(true)) => Ok(Some(model)),
            Ok(_) => Err(Reason::Garbage("a model that is none".to_string())),
            Err(EvalError::Unbounded) => Ok(Some(model)),
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

    fn converse(&mut self, solver: &Solver, script: &[Line]) -> Result<Result<(), Reason>, Rejection> {
        let at = self.session(solver);
        self.sessions[at].push();
        let mut outcome = Ok(Ok(()));
        for line in script {
            match line {
                Line::Assert(t) => self.sessions[at].assert(&self.pool, *t),
                Line::Refute(t, what) => {
                    let limits = match self.query_limits() {
                        Ok(limits) => limits,
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
                    let answer = session.check(&[], limits);
                    session.pop();
                    let answered = match answer {
                        Answer::Unsat => Ok(()),
                        Answer::Sat => {
                            outcome = Err(wrong(what.clone()));
                            break;
                        }
                        Answer::Unknown(reason) => Err(reason),
                    };
                    if let Err(reason) = answered {
                        outcome = Ok(Err(reason));
                        break;
                    }
                }
            }
        }
        self.sessions[at].pop();
        self.look_up()?;
        outcome
    }

    fn query_limits(&self) -> Result<Limits, Rejection> {
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
        if let Some(at) = self.idle.iter().position(|s| s.solver() == solver) {
            let mut session = self.idle.swap_remove(at);
            session.reset();
            self.sessions.push(session);
            return self.sessions.len() - 1;
        }
        let config =
            SessionConfig { memory: self.limits.memory, killer: self.tools.killer.clone(), ..SessionConfig::default() };
        let mut session = self.tools.solvers.session(solver, config);
        if let Some(log) = self.tools.log.as_ref().and_then(|log| log(&solver.name)) {
            session.set_log(log);
        }
        self.sessions.push(session);
        self.sessions.len() - 1
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

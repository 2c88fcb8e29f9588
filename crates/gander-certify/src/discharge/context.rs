//! The state of one check: its system, its terms, its limits, its solver sessions.

use std::time::{Duration, Instant};

use gander_smt::{Limits, Session, SessionConfig, Solver};
use gander_system::System;
use gander_term::{Pool, SymbolId, Value};

use super::known::Known;
use crate::CheckLimits;
use crate::basis::{Basis, Support};
use crate::checker::Tools;
use crate::rejection::{INTERRUPTED, OUT_OF_TIME, Rejection, undecided};

/// A check in progress.
pub(crate) struct CheckContext<'a> {
    pub system: &'a System,
    /// A fork of the system's pool.
    pub pool: Pool,
    pub limits: CheckLimits,
    pub warnings: Vec<String>,
    pub queries: u32,
    /// Number of formulas decided without a solver, by a verified proof or an evaluated model.
    pub certificates: u32,
    pub(crate) tools: &'a Tools,
    deadline: Option<Instant>,
    pub(super) sessions: Vec<Session>,
    /// Sessions of earlier checks; reset before use.
    idle: Vec<Session>,
    /// Sessions with second solvers, which can work at the same time as the first one.
    pub(crate) second_sessions: Vec<Session>,
    /// What the results of this check rest on.
    pub(crate) support: Support,
    /// The reachable states, if they were enumerated.
    pub explored: Option<crate::evidence::closed_set::Explored>,
    /// What was shown about the system; its terms are in `pool`.
    pub known: Known,
}

impl<'a> CheckContext<'a> {
    pub(crate) fn new(
        system: &'a System,
        tools: &'a Tools,
        deadline: Option<Instant>,
    ) -> CheckContext<'a> {
        CheckContext {
            system,
            pool: Pool::fork(system.pool()),
            limits: tools.limits,
            warnings: Vec::new(),
            queries: 0,
            certificates: 0,
            tools,
            deadline,
            sessions: Vec::new(),
            idle: Vec::new(),
            second_sessions: Vec::new(),
            support: Support::default(),
            explored: None,
            known: Known::new(system),
        }
    }

    /// [`CheckContext::new`] with the results of earlier checks about the system and their pool.
    pub(crate) fn with_known(
        system: &'a System,
        tools: &'a Tools,
        deadline: Option<Instant>,
        (pool, mut known): (Pool, Known),
    ) -> CheckContext<'a> {
        let sessions = std::mem::take(&mut known.sessions);
        let second_sessions = std::mem::take(&mut known.second_sessions);
        CheckContext {
            pool,
            known,
            sessions,
            second_sessions,
            ..CheckContext::new(system, tools, deadline)
        }
    }

    /// What was shown about the system, with the sessions.
    pub(crate) fn into_known(mut self) -> (Pool, Known) {
        self.known.sessions = self.sessions;
        self.known.second_sessions = self.second_sessions;
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

    /// Keeps a session for later use; it is reset first.
    pub(crate) fn idle_session(&mut self, session: Session) {
        self.idle.push(session);
    }

    /// The sessions, for later checks.
    pub(crate) fn into_sessions(mut self) -> Vec<Session> {
        self.sessions.append(&mut self.second_sessions);
        self.sessions.append(&mut self.idle);
        self.sessions
    }

    /// What the results of this check rest on.
    pub(crate) fn basis(&self) -> Basis {
        self.known.basis(self.support)
    }

    /// Adds to what the check rests on.
    pub(crate) fn rest_on(&mut self, support: Support) {
        self.support = self.support.join(support);
    }

    /// A context for another system with the same tools, deadline and idle sessions.
    pub(crate) fn for_system<'b>(&mut self, system: &'b System) -> CheckContext<'b>
    where
        'a: 'b,
    {
        let mut cx = CheckContext::new(system, self.tools, self.deadline);
        cx.reuse(std::mem::take(&mut self.idle));
        cx
    }

    /// Adds the counts, the support, the warnings and the sessions of a check about another system.
    pub(crate) fn merge(&mut self, mut other: CheckContext<'_>) {
        self.queries += other.queries;
        self.certificates += other.certificates;
        let basis = other.basis();
        let support = self.known.support_of(&basis);
        self.rest_on(support);
        self.known.second_time += other.known.second_time;
        self.known.why_one = self.known.why_one.take().or(basis.why_one);
        self.warnings.append(&mut other.warnings);
        self.idle.extend(other.into_sessions());
    }

    /// An error if the check was cancelled or its time is over.
    pub(crate) fn check_cancelled(&self) -> Result<(), Rejection> {
        if self.tools.cancellation.is_cancelled() {
            return Err(undecided(INTERRUPTED));
        }
        match self.deadline {
            Some(end) if Instant::now() >= end => Err(undecided(OUT_OF_TIME)),
            _ => Ok(()),
        }
    }

    /// The limits of the next query: its own, and the time left for the check.
    pub(crate) fn query_limits(&self) -> Result<Limits, Rejection> {
        self.check_cancelled()?;
        let left = self.deadline.map(|end| end.saturating_duration_since(Instant::now()));
        Ok(Limits { time: [left, self.limits.query].into_iter().flatten().min() })
    }

    /// The position of the session with this solver; restarted if it failed.
    pub(super) fn session(&mut self, solver: &Solver) -> usize {
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

    /// An empty session, with the process of an earlier check if there is one.
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

    /// Some value of the symbol's sort.
    pub(crate) fn any_value(&self, s: SymbolId) -> Value {
        self.pool.symbol(s).sort.first_value()
    }
}

/// The limits, with at most the time of the slice.
pub(crate) fn within(limits: Limits, slice: Option<Duration>) -> Limits {
    Limits { time: [limits.time, slice].into_iter().flatten().min() }
}

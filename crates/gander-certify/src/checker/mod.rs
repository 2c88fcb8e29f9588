//! The checker of verdicts, and its limits.

mod gap;
mod no_run;
mod panel;

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_linear::Budget;
use gander_runtime::{Cancellation, Stopped};
use gander_smt::{Session, Solver, Solvers};
use gander_system::{ClaimId, Run, System, Verdict};
use gander_term::Pool;

use crate::basis::{Basis, Support, Trust};
use crate::discharge::CheckContext;
use crate::discharge::known::Known;
use crate::discharge::refutations::Refutations;
use crate::evidence::{
    Direction, NullObserver, check_evidence, check_shared, closed_set::Explored, replay,
};
use crate::rejection::{INTERRUPTED, OUT_OF_MEMORY, OUT_OF_TIME, Rejection, undecided};

pub use gap::Gap;
pub use panel::{Panel, claims_in_file_name};

/// The limits of a check, and what it has to rest on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CheckLimits {
    /// Time for one solver query.
    pub query: Option<Duration>,
    /// Time for one call of `check` or `check_all`.
    pub total: Option<Duration>,
    /// Memory of a solver, in bytes.
    pub memory: Option<u64>,
    /// The number of steps of a run that are replayed one by one.
    pub replay_steps: u64,
    /// Size of the formula of a bounded argument (k-induction, diameter), counted in conjuncts and
    /// comparisons.
    pub unrolled: u64,
    /// The number of states of a closed set that are enumerated.
    pub states: u64,
    /// The budget of linear arithmetic for one obligation; with [`Budget::NONE`] no obligation is
    /// decided without a solver. A checker for one solver only, or one with a log, ignores it and
    /// asks solvers for everything.
    pub linear: Budget,
    /// Whether solvers may be used. Otherwise, what this process does not decide is undecided.
    pub solvers: bool,
    /// What discharges an obligation.
    pub trust: Trust,
}

impl Default for CheckLimits {
    fn default() -> CheckLimits {
        CheckLimits {
            query: None,
            total: None,
            memory: None,
            replay_steps: 20_000_000,
            unrolled: 10_000_000,
            states: 20_000_000,
            linear: Budget::SMALL,
            solvers: true,
            trust: Trust::One,
        }
    }
}

/// Evidence that was accepted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Certified {
    /// The number of solver queries.
    pub queries: u32,
    /// The number of obligations decided without a solver, by a verified proof or an evaluated
    /// model.
    pub certificates: u32,
    /// What the verdict rests on.
    pub basis: Basis,
    /// Remarks for the user; the verdict stands.
    pub warnings: Vec<String>,
}

/// Opens the log of a session with the solver of this name; `None` for no log.
pub type LogSink = Arc<dyn Fn(&str) -> Option<Box<dyn Write + Send>> + Send + Sync>;

/// The configuration that all checks of a checker share.
pub(crate) struct Tools {
    pub(crate) solvers: Arc<Solvers>,
    pub(crate) only: Option<Solver>,
    pub(crate) limits: CheckLimits,
    pub(crate) cancellation: Cancellation,
    pub(crate) log: Option<LogSink>,
    pub(crate) refutations: Option<Arc<Refutations>>,
    /// When the checker was made.
    pub(crate) began: Instant,
}

/// Work between two queries is cancelled this long after the deadline of the check. Queries have
/// the deadline itself as their limit.
const SLACK: Duration = Duration::from_millis(20);

impl Tools {
    /// The cancellation of a check with this deadline.
    fn until(&self, deadline: Option<Instant>) -> Cancellation {
        self.cancellation.with_deadline(deadline.and_then(|end| end.checked_add(SLACK)))
    }

    /// The rejection of a check that was stopped.
    fn when_stopped(&self, stopped: Stopped) -> Rejection {
        if stopped == Stopped::OutOfMemory {
            return undecided(OUT_OF_MEMORY);
        }
        undecided(if self.cancellation.is_cancelled() { INTERRUPTED } else { OUT_OF_TIME })
    }
}

/// A system, and what was shown about it, with the pool of that.
type Subject = (Arc<System>, Option<(Pool, Known)>);

/// Checks evidence; see the crate's documentation. Use one for many checks: it keeps its solver
/// processes.
pub struct Checker {
    tools: Tools,
    /// Sessions for the next check.
    idle: Vec<Session>,
    /// The system of [`Checker::remember`], and what checks have shown about it.
    subject: Option<Subject>,
    /// The reachable states of the last system with evidence of kind closed set.
    explored: Option<Explored>,
}

impl std::fmt::Debug for Checker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let only = self.tools.only.as_ref().map(|s| &s.name);
        f.debug_struct("Checker")
            .field("only", &only)
            .field("limits", &self.tools.limits)
            .finish_non_exhaustive()
    }
}

impl Drop for Checker {
    fn drop(&mut self) {
        let known = self.subject.take().and_then(|(_, known)| known);
        let sessions = known
            .into_iter()
            .flat_map(|(_, known)| known.sessions.into_iter().chain(known.second_sessions));
        for session in self.idle.drain(..).chain(sessions) {
            self.tools.solvers.end(session);
        }
    }
}

impl Checker {
    /// A checker that asks the solvers that suit each query.
    pub fn new(solvers: &Arc<Solvers>, limits: CheckLimits) -> Checker {
        let (only, cancellation, log) = (None, Cancellation::new(), None);
        let tools = Tools {
            solvers: Arc::clone(solvers),
            only,
            limits,
            cancellation,
            log,
            refutations: None,
            began: Instant::now(),
        };
        Checker { tools, idle: Vec::new(), subject: None, explored: None }
    }

    /// A checker that asks only the solver with this name, for a second opinion; `None` if it was
    /// not found.
    pub fn with_solver(solvers: &Arc<Solvers>, limits: CheckLimits, name: &str) -> Option<Checker> {
        let only = solvers.by_name(name)?.clone();
        let mut checker = Checker::new(solvers, limits);
        checker.tools.only = Some(only);
        Some(checker)
    }

    /// Keeps what checks show about this system for later checks about it.
    pub fn remember(&mut self, system: &Arc<System>) {
        if !self.subject.as_ref().is_some_and(|(s, _)| Arc::ptr_eq(s, system)) {
            self.subject = Some((Arc::clone(system), None));
        }
    }

    /// Uses formulas that solvers refuted for checkers with the same `refutations`, and adds to
    /// them. What rests on one solver is asked again where a second one may agree now.
    pub fn share_refutations(&mut self, refutations: &Arc<Refutations>) {
        // What is remembered refers to the terms of the refutations that were shared before.
        self.subject = None;
        self.tools.refutations = Some(Arc::clone(refutations));
    }

    /// Drops the sessions, whose configuration is outdated.
    fn forget_sessions(&mut self) {
        self.idle.clear();
        if let Some((_, Some((_, known)))) = &mut self.subject {
            known.sessions.clear();
            known.second_sessions.clear();
        }
    }

    /// Changes the limits of later checks.
    pub fn set_limits(&mut self, limits: CheckLimits) {
        // A solver gets its memory limit when it is started.
        if limits.memory != self.tools.limits.memory {
            self.forget_sessions();
        }
        self.tools.limits = limits;
    }

    /// Sets the cancellation; checks become undecided once it is cancelled.
    pub fn set_cancellation(&mut self, cancellation: Cancellation) {
        self.forget_sessions();
        self.tools.cancellation = cancellation;
    }

    /// The cancellation, to end checks from another thread.
    pub fn cancellation(&self) -> Cancellation {
        self.tools.cancellation.clone()
    }

    /// Logs every solver session.
    pub fn set_log(&mut self, log: LogSink) {
        self.forget_sessions();
        self.tools.log = Some(log);
    }

    /// Checks that the evidence in `verdict` shows that the claim holds, or that it fails.
    pub fn check(
        &mut self,
        system: &System,
        claim: ClaimId,
        verdict: &Verdict,
    ) -> Result<Certified, Rejection> {
        let mut outcomes = self.check_all(system, &[(claim, verdict)]);
        outcomes.pop().unwrap_or_else(|| Err(undecided("nothing was checked")))
    }

    /// Checks that a run is one of the system: start, guards, effects and assumptions, step by
    /// step.
    pub fn replay(&mut self, system: &System, run: &Run) -> Result<(), Rejection> {
        let deadline = self.tools.limits.total.and_then(|t| Instant::now().checked_add(t));
        let replayed = self.tools.until(deadline).run_cancellable(|| {
            let mut cx = CheckContext::new(system, &self.tools, deadline);
            replay(&mut cx, run, &mut NullObserver).map(drop)
        });
        replayed.unwrap_or_else(|stopped| Err(self.tools.when_stopped(stopped)))
    }

    /// [`Checker::check`] for several verdicts about one system, each with its own outcome. Common
    /// obligations are checked once; the time limit is for all verdicts together.
    pub fn check_all(
        &mut self,
        system: &System,
        verdicts: &[(ClaimId, &Verdict)],
    ) -> Vec<Result<Certified, Rejection>> {
        let deadline = self.tools.limits.total.and_then(|t| Instant::now().checked_add(t));
        let mut outcomes = Vec::with_capacity(verdicts.len());
        let cancellation = self.tools.until(deadline);
        if let Err(stopped) = cancellation
            .run_cancellable(|| self.check_each(system, verdicts, deadline, &mut outcomes))
        {
            outcomes.resize_with(verdicts.len(), || Err(self.tools.when_stopped(stopped)));
        }
        outcomes
    }

    /// [`Checker::check_all`], verdict by verdict. If it is cancelled, the sessions and the cache
    /// of the check are dropped.
    fn check_each(
        &mut self,
        system: &System,
        verdicts: &[(ClaimId, &Verdict)],
        deadline: Option<Instant>,
        outcomes: &mut Vec<Result<Certified, Rejection>>,
    ) {
        let same = |s: &Arc<System>| std::ptr::eq(&**s, system);
        let known =
            self.subject.as_mut().filter(|(s, _)| same(s)).and_then(|(_, known)| known.take());
        let mut cx = match known {
            Some(known) => CheckContext::with_known(system, &self.tools, deadline, known),
            None => CheckContext::new(system, &self.tools, deadline),
        };
        cx.reuse(std::mem::take(&mut self.idle));
        cx.explored = self.explored.take();
        if verdicts.len() > 1 {
            check_shared(&mut cx, verdicts);
        }
        for &(claim, verdict) in verdicts {
            let (asked_before, proved_before) = (cx.queries, cx.certificates);
            cx.support = Support::default();
            let outcome = match verdict {
                Verdict::Holds(evidence) => {
                    check_evidence(&mut cx, claim, Direction::Holds, evidence)
                }
                Verdict::Fails(evidence) => {
                    check_evidence(&mut cx, claim, Direction::Fails, evidence)
                }
                Verdict::Unknown { .. } => Err(undecided("an unknown verdict has no evidence")),
            };
            let warnings = std::mem::take(&mut cx.warnings);
            let (queries, certificates) =
                (cx.queries - asked_before, cx.certificates - proved_before);
            let basis = cx.basis();
            outcomes.push(outcome.map(|()| Certified { queries, certificates, basis, warnings }));
        }
        self.explored = cx.explored.take();
        // Keep no solver that may be in trouble, nor one that logs to a file of this check.
        let undecided = |o: &Result<_, _>| matches!(o, Err(Rejection::Undecided(_)));
        let in_trouble = self.tools.limits.solvers && outcomes.iter().any(undecided);
        let keep_sessions = !in_trouble && self.tools.log.is_none();
        let idle = cx.take_idle();
        match &mut self.subject {
            Some((s, slot)) if same(s) && !Known::is_too_large(system, &cx.pool) => {
                let (pool, mut known) = cx.into_known();
                if keep_sessions {
                    self.idle = idle;
                } else {
                    known.sessions.clear();
                    known.second_sessions.clear();
                }
                *slot = Some((pool, known));
            }
            _ if keep_sessions => {
                self.idle = cx.into_sessions();
                self.idle.extend(idle);
            }
            _ => {}
        }
    }
}

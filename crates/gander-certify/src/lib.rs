//! The independent checker of evidence.
//!
//! [`Checker::check`] takes a system as the front-end produced it, a claim and a verdict, and decides whether the
//! evidence in the verdict shows what it says. The rules are those of docs/semantics.md, sections 3 and 5: runs are
//! replayed step by step, formulas become obligations. Those that are easy are shown by proofs that `gander-linear` and
//! `gander-proof` find and verify; the others go to solver sessions of the checker's own, and are asked of two solvers
//! where [`Trust`] wants that.
//!
//! Invariants of this crate:
//! - it knows no engine and shares no code with any;
//! - nothing in the evidence is trusted: ids, sorts, numbers of values and scopes of formulas are checked;
//! - evidence is accepted only if every obligation was discharged: what is not refuted and not discharged is
//!   [`Rejection::Undecided`];
//! - a solver's model is believed only if the evaluator agrees.

mod agreement;
mod bad;
mod basis;
mod case;
mod choices;
mod closed_set;
mod eliminate;
mod ends;
mod formula;
mod gap;
mod in_process;
mod invariant;
mod known;
mod lasso;
mod obvious;
mod outside;
mod panel;
mod rejection;
mod relation;
mod repetition;
mod replay;
mod rounds;
mod starts;
mod unroll;

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use gander_linear::Budget;
use gander_runtime::{Cancellation, Stopped};
use gander_smt::{Session, Solver, Solvers};
use gander_system::{ClaimId, ClaimKind, Evidence, Run, StartId, System, Verdict, passes};
use gander_term::{Pool, TermId};
use rustc_hash::FxHashSet;

pub use basis::{Basis, Ground, Trust};
pub use eliminate::exists as eliminated;
pub use gap::Gap;
pub use panel::{Panel, claims_in_file_name};
pub use rejection::Rejection;

use bad::Bad;
use basis::Support;
use case::Case;
use known::Known;
use rejection::{INTERRUPTED, OUT_OF_MEMORY, OUT_OF_TIME, undecided, wrong};
use unroll::Induction;

/// What a check may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CheckLimits {
    /// Time for one solver query.
    pub query: Option<Duration>,
    /// Time for the whole check of one verdict.
    pub total: Option<Duration>,
    /// Memory of a solver, in bytes.
    pub memory: Option<u64>,
    /// Steps of a run that are replayed.
    pub replay_steps: u64,
    /// Size of the formula of a bounded argument (k-induction, diameter), counted in conjuncts and comparisons.
    pub unrolled: u64,
    /// States of a closed set that are enumerated.
    pub states: u64,
    /// What an attempt to decide an obligation without a solver may cost; [`Budget::NONE`] for none. A checker that
    /// asks one solver only, or that keeps a log, makes none.
    pub linear: Budget,
    /// What obligations have to be discharged by.
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
            trust: Trust::One,
        }
    }
}

/// Evidence that was accepted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Certified {
    /// How many questions solvers were asked.
    pub queries: u32,
    /// How many obligations were decided without a solver, by a proof that was verified or a model that was evaluated.
    pub certificates: u32,
    /// What it rests on.
    pub basis: Basis,
    /// What a person should know although the verdict stands.
    pub warnings: Vec<String>,
}

/// Gives a place to record a conversation with the solver of this name, or none.
pub type LogSink = Arc<dyn Fn(&str) -> Option<Box<dyn Write + Send>> + Send + Sync>;

/// What checks are done with.
pub(crate) struct Tools {
    solvers: Arc<Solvers>,
    only: Option<Solver>,
    limits: CheckLimits,
    cancellation: Cancellation,
    log: Option<LogSink>,
    /// When the checker was made.
    began: Instant,
}

/// A check compares the time with its deadline between queries. Work that takes longer is cancelled this much later.
const SLACK: Duration = Duration::from_millis(20);

impl Tools {
    /// What stops a check with this deadline.
    fn until(&self, deadline: Option<Instant>) -> Cancellation {
        self.cancellation.with_deadline(deadline.and_then(|end| end.checked_add(SLACK)))
    }

    /// The result of a check that was stopped.
    fn when_stopped(&self, stopped: Stopped) -> Rejection {
        if stopped == Stopped::OutOfMemory {
            return undecided(OUT_OF_MEMORY);
        }
        undecided(if self.cancellation.is_cancelled() { INTERRUPTED } else { OUT_OF_TIME })
    }
}

/// A system, and what was shown of it so far, over this pool.
type Subject = (Arc<System>, Option<(Pool, Known)>);

/// Checks evidence; see the crate's documentation. Keep one for many checks: it keeps its solvers running.
pub struct Checker {
    tools: Tools,
    /// Solvers that are well and wait for the next check.
    idle: Vec<Session>,
    /// The system that checks are mostly about, and what they have shown of it.
    subject: Option<Subject>,
    /// The reachable states of the system that was last asked about in this way.
    explored: Option<closed_set::Explored>,
}

impl std::fmt::Debug for Checker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let only = self.tools.only.as_ref().map(|s| &s.name);
        f.debug_struct("Checker").field("only", &only).field("limits", &self.tools.limits).finish_non_exhaustive()
    }
}

impl Drop for Checker {
    fn drop(&mut self) {
        let known = self.subject.take().and_then(|(_, known)| known);
        let sessions = known.into_iter().flat_map(|(_, known)| known.sessions.into_iter().chain(known.seconds));
        for session in self.idle.drain(..).chain(sessions) {
            self.tools.solvers.end(session);
        }
    }
}

/// The direction of a verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    Holds,
    Fails,
}

/// Evidence of a kind that says nothing about the claim.
pub(crate) fn unfit(evidence: &str, kind: &ClaimKind, direction: Direction) -> Rejection {
    let verb = match direction {
        Direction::Holds => "holds",
        Direction::Fails => "fails",
    };
    wrong(format!("{evidence} cannot show that a claim of kind `{}` {verb}", kind.word()))
}

impl Checker {
    /// A checker that asks the solver which suits a question best.
    pub fn new(solvers: &Arc<Solvers>, limits: CheckLimits) -> Checker {
        let (only, cancellation, log) = (None, Cancellation::new(), None);
        let tools = Tools { solvers: Arc::clone(solvers), only, limits, cancellation, log, began: Instant::now() };
        Checker { tools, idle: Vec::new(), subject: None, explored: None }
    }

    /// A checker that asks nobody but the solver with this name, for a second opinion; `None` if it was not found.
    pub fn with_solver(solvers: &Arc<Solvers>, limits: CheckLimits, name: &str) -> Option<Checker> {
        let only = solvers.by_name(name)?.clone();
        let mut checker = Checker::new(solvers, limits);
        checker.tools.only = Some(only);
        Some(checker)
    }

    /// Says which system checks will be about: what one of them shows is not asked again by the next.
    pub fn remember(&mut self, system: &Arc<System>) {
        if !self.subject.as_ref().is_some_and(|(s, _)| Arc::ptr_eq(s, system)) {
            self.subject = Some((Arc::clone(system), None));
        }
    }

    /// Ends sessions that were begun otherwise than those to come.
    fn forget_sessions(&mut self) {
        self.idle.clear();
        if let Some((_, Some((_, known)))) = &mut self.subject {
            known.sessions.clear();
            known.seconds.clear();
        }
    }

    /// Changes what later checks may cost.
    pub fn set_limits(&mut self, limits: CheckLimits) {
        // Memory is a matter of the solver's start.
        if limits.memory != self.tools.limits.memory {
            self.forget_sessions();
        }
        self.tools.limits = limits;
    }

    /// Cancelling this makes checks undecided.
    pub fn set_cancellation(&mut self, cancellation: Cancellation) {
        self.forget_sessions();
        self.tools.cancellation = cancellation;
    }

    /// Ends checks from another thread.
    pub fn cancellation(&self) -> Cancellation {
        self.tools.cancellation.clone()
    }

    /// Records every conversation with a solver.
    pub fn set_log(&mut self, log: LogSink) {
        self.forget_sessions();
        self.tools.log = Some(log);
    }

    /// Checks that the evidence in `verdict` shows what it says of the claim.
    pub fn check(&mut self, system: &System, claim: ClaimId, verdict: &Verdict) -> Result<Certified, Rejection> {
        let mut outcomes = self.check_all(system, &[(claim, verdict)]);
        outcomes.pop().unwrap_or_else(|| Err(undecided("nothing was checked")))
    }

    /// Checks that a run is one of the system: start, guards, effects and assumptions, step by step.
    pub fn replay(&mut self, system: &System, run: &Run) -> Result<(), Rejection> {
        let deadline = self.tools.limits.total.and_then(|t| Instant::now().checked_add(t));
        let replayed = self.tools.until(deadline).run_cancellable(|| {
            let mut case = Case::new(system, &self.tools, deadline);
            replay::replay(&mut case, run, &mut replay::Blind).map(drop)
        });
        replayed.unwrap_or_else(|stopped| Err(self.tools.when_stopped(stopped)))
    }

    /// [`Checker::check`] for several verdicts about one system, each with its own outcome. What they have in common is
    /// checked once; the limit on the time of a check is one for all.
    pub fn check_all(
        &mut self,
        system: &System,
        verdicts: &[(ClaimId, &Verdict)],
    ) -> Vec<Result<Certified, Rejection>> {
        let deadline = self.tools.limits.total.and_then(|t| Instant::now().checked_add(t));
        let mut outcomes = Vec::with_capacity(verdicts.len());
        let sign = self.tools.until(deadline);
        if let Err(stopped) = sign.run_cancellable(|| self.check_each(system, verdicts, deadline, &mut outcomes)) {
            outcomes.resize_with(verdicts.len(), || Err(self.tools.when_stopped(stopped)));
        }
        outcomes
    }

    /// [`Checker::check_all`], as far as it comes. If it is broken off, sessions and what was known are dropped with it.
    fn check_each(
        &mut self,
        system: &System,
        verdicts: &[(ClaimId, &Verdict)],
        deadline: Option<Instant>,
        outcomes: &mut Vec<Result<Certified, Rejection>>,
    ) {
        let same = |s: &Arc<System>| std::ptr::eq(&**s, system);
        let known = self.subject.as_mut().filter(|(s, _)| same(s)).and_then(|(_, known)| known.take());
        let mut case = match known {
            Some(known) => Case::recall(system, &self.tools, deadline, known),
            None => Case::new(system, &self.tools, deadline),
        };
        case.reuse(std::mem::take(&mut self.idle));
        case.explored = self.explored.take();
        if verdicts.len() > 1 {
            check_shared(&mut case, verdicts);
        }
        for &(claim, verdict) in verdicts {
            let (asked_before, proved_before) = (case.queries, case.certificates);
            case.support = Support::default();
            let outcome = match verdict {
                Verdict::Holds(evidence) => check_evidence(&mut case, claim, Direction::Holds, evidence),
                Verdict::Fails(evidence) => check_evidence(&mut case, claim, Direction::Fails, evidence),
                Verdict::Unknown { .. } => Err(undecided("an unknown verdict has no evidence")),
            };
            let warnings = std::mem::take(&mut case.warnings);
            let (queries, certificates) = (case.queries - asked_before, case.certificates - proved_before);
            let basis = case.basis();
            outcomes.push(outcome.map(|()| Certified { queries, certificates, basis, warnings }));
        }
        self.explored = case.explored.take();
        // A solver that was in trouble serves no further check; nor does one whose words go to a file of this check.
        let well = !outcomes.iter().any(|o| matches!(o, Err(Rejection::Undecided(_)))) && self.tools.log.is_none();
        let idle = case.take_idle();
        match &mut self.subject {
            Some((s, slot)) if same(s) && !Known::is_too_much(system, &case.pool) => {
                let (pool, mut known) = case.into_known();
                if well {
                    self.idle = idle;
                } else {
                    known.sessions.clear();
                    known.seconds.clear();
                }
                *slot = Some((pool, known));
            }
            _ if well => {
                self.idle = case.into_sessions();
                self.idle.extend(idle);
            }
            _ => {}
        }
    }
}

/// Asks at once what the invariants of several verdicts have to fulfil. That is all to be refuted, so few questions
/// are mostly enough; if they are not, nothing is lost but those.
fn check_shared(case: &mut Case<'_>, verdicts: &[(ClaimId, &Verdict)]) {
    let mut obligations = Vec::new();
    let mut met: FxHashSet<Arc<[TermId]>> = FxHashSet::default();
    for &(claim, verdict) in verdicts {
        let (direction, formulas) = match verdict {
            Verdict::Holds(Evidence::Invariant(formulas)) => (Direction::Holds, formulas),
            Verdict::Fails(Evidence::Invariant(formulas)) => (Direction::Fails, formulas),
            _ => continue,
        };
        let Some(claim) = case.system.claims.get(claim.index()) else { continue };
        // Whatever is wrong comes up again when the verdict is checked for itself.
        let Ok(bad) = Bad::of(case, &claim.kind, direction) else { continue };
        let Ok(by_node) = invariant::bring(case, formulas) else { continue };
        if case.known.is_inductive(&by_node).is_none() && met.insert(Arc::clone(&by_node)) {
            obligations.extend(invariant::induction_obligations(case, &by_node).0);
        }
        invariant::exclusion_obligations(case, &by_node, &bad, &mut obligations);
    }
    // An interrupt comes up again as well.
    let _ = case.refute_what_can_be(&obligations);
}

fn check_evidence(
    case: &mut Case<'_>,
    claim: ClaimId,
    direction: Direction,
    evidence: &Evidence,
) -> Result<(), Rejection> {
    case.look_up()?;
    let system = case.system;
    let Some(kind) = system.claims.get(claim.index()).map(|c| &c.kind) else {
        return Err(wrong("the system has no such claim"));
    };
    match evidence {
        Evidence::Run(run) => ends::check_run(case, kind, direction, run),
        Evidence::Invariant(formulas) => {
            let bad = Bad::of(case, kind, direction)?;
            let by_node = invariant::bring(case, formulas)?;
            invariant::check_invariant(case, &by_node, &bad)
        }
        Evidence::KInductive { k, invariant: formulas, loop_free, no_restart } => {
            let bad = Bad::of(case, kind, direction)?;
            let by_node = invariant::bring(case, formulas)?;
            if *k == 1 && !loop_free && !no_restart {
                return invariant::check_invariant(case, &by_node, &bad);
            }
            let how = Induction { k: *k, loop_free: *loop_free, no_restart: *no_restart };
            unroll::check_k_induction(case, how, &by_node, &bad)
        }
        Evidence::Diameter { k } => {
            let bad = Bad::of(case, kind, direction)?;
            unroll::check_diameter(case, *k, &bad)
        }
        Evidence::ClosedSet { states } => closed_set::check_closed_set(case, kind, direction, *states),
        Evidence::Outside { trap, proof } => outside::check_outside(case, claim, direction, trap, proof),
        Evidence::Refutation => match (kind, direction) {
            (ClaimKind::StartSatisfiable(s), Direction::Fails) => check_refutation(case, *s),
            _ => Err(unfit("a refutation", kind, direction)),
        },
        Evidence::Lasso { run, back_to } => lasso::check_lasso(case, kind, direction, run, *back_to),
        Evidence::Recurrent { run, set, choices } => lasso::check_recurrent(case, kind, direction, run, set, choices),
        Evidence::NoSuchRun { stuck, rounds } => {
            rounds::check_no_such_run(case, claim, kind, direction, (stuck.as_deref(), rounds))
        }
        Evidence::Possible { set, proof, ranks, choices } => {
            let evidence = rounds::Possible { set, proof, ranks, choices };
            rounds::check_possible(case, kind, direction, &evidence)
        }
        Evidence::Impossible { run, proof } => rounds::check_impossible(case, kind, direction, run, proof),
        Evidence::OfChain(inner) => match (kind, direction, &**inner) {
            (_, _, Evidence::OfChain(_) | Evidence::Run(_) | Evidence::Refutation) => {
                Err(unfit("evidence about a chain of that kind", kind, direction))
            }
            (ClaimKind::Reachable(goals), Direction::Fails, _) if !goals.is_empty() => {
                let chain = passes::chain(system, claim).map_err(|e| undecided(e.to_string()))?;
                let name = &system.claims[claim.index()].name;
                let Some(of_chain) = chain.system.claims.iter().position(|c| c.name == *name) else {
                    return Err(undecided("the chain system has no such claim"));
                };
                let mut about = case.about(&chain.system);
                let result = check_evidence(&mut about, ClaimId::from(of_chain), direction, inner);
                case.absorb(about);
                result
            }
            _ => Err(unfit("evidence about a chain", kind, direction)),
        },
    }
}

/// The start has no start state.
fn check_refutation(case: &mut Case<'_>, s: StartId) -> Result<(), Rejection> {
    let Some(start) = case.system.starts.get(s.index()) else {
        return Err(wrong("the claim is about a start that the system has not got"));
    };
    let formula = starts::start_formula(case, s);
    case.refute(formula, &format!("`{}` has a start state", start.name))
}

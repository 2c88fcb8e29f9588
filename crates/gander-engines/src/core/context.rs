//! What an engine gets to work with: the system, the claims, the blackboard, solvers, and the
//! channel to the director.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

use gander_certify::claims_in_file_name;
use gander_process::ChildSet;
use gander_runtime::Cancellation;
use gander_smt::{CoreSession, Horn, PathQuery, Records, Session, SessionConfig, Solver};
use gander_system::{ClaimId, Evidence, NodeFormulas, System, Verdict};

use super::blackboard::{Blackboard, Fact};
use super::config::CheckConfig;
use super::reduction::Reduction;
use super::report::{CheckReport, NullObserver, Observer};

/// An answer that an engine proposes.
#[derive(Clone, Debug)]
pub(crate) struct Proposal {
    pub engine: &'static str,
    pub claim: ClaimId,
    pub verdict: Verdict,
    /// True if no shorter run shows the same.
    pub shortest: bool,
    /// The verdict as the engine found it, if its run was changed.
    pub found: Option<Verdict>,
    /// The proposed invariant over the reduced system, if the evidence is one.
    pub invariant: Option<NodeFormulas>,
}

/// How sure an engine is of a conjecture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Likelihood {
    /// It is a guess: the check is short.
    Guess,
    /// It is probably right, for example evidence of a symmetric claim: the check may take longer.
    Probable,
}

/// What engines tell the director.
#[derive(Debug)]
pub(crate) enum Message {
    Proposal(Box<Proposal>),
    /// Answers that may be wrong.
    Conjectures(Vec<Proposal>, Likelihood),
    Progress {
        engine: &'static str,
        depth: Option<u32>,
        text: String,
    },
    Fact {
        engine: &'static str,
        text: String,
    },
    /// An answer about the reduced system that could not be mapped back.
    Lost {
        engine: &'static str,
        claim: ClaimId,
    },
    /// An engine panicked.
    Broken {
        engine: &'static str,
        problem: String,
    },
    /// No engine has anything left to do.
    Idle,
    /// The check was cancelled.
    Cancelled,
}

/// The purpose of a solver session, which names its log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Purpose {
    /// The part of the engine's work, in one word.
    pub part: &'static str,
    /// The claims that it serves.
    pub claims: Vec<ClaimId>,
}

/// The environment of one engine: its claims, the solvers, the blackboard and the director's
/// channel.
#[derive(Debug)]
pub struct EngineContext {
    pub(crate) engine: &'static str,
    pub(crate) shortest: bool,
    pub(crate) reduction: Reduction,
    pub(crate) config: Arc<CheckConfig>,
    pub(crate) claims: Vec<ClaimId>,
    /// Open claims that are symmetric to some of these.
    pub(crate) deferred: Arc<Vec<ClaimId>>,
    pub(crate) blackboard: Arc<Blackboard>,
    /// By claim: true once it is decided.
    pub(crate) settled: Arc<Vec<AtomicBool>>,
    pub(crate) cancellation: Cancellation,
    pub(crate) processes: ChildSet,
    pub(crate) records: Option<Records>,
    pub(crate) messages: Sender<Message>,
    pub(crate) nested_check: NestedCheck,
}

/// Decides claims of another system with all engines: the director's `check`, for engines that
/// reduce one question to another.
pub(crate) type NestedCheck =
    fn(&Arc<System>, &CheckConfig, &Cancellation, &dyn Observer) -> CheckReport;

impl EngineContext {
    /// The system to work on. Answers about it are mapped back to the system that was given.
    pub fn system(&self) -> &Arc<System> {
        &self.reduction.system
    }

    /// The configuration of the check.
    pub fn config(&self) -> &CheckConfig {
        &self.config
    }

    /// The claims that this engine is asked to decide.
    pub fn claims(&self) -> &[ClaimId] {
        &self.claims
    }

    /// Claims that the engine need not decide, because they are symmetric to some of its claims:
    /// what decides those decides these, too. All of them together may be inductive where a single
    /// one is not.
    pub fn deferred(&self) -> &[ClaimId] {
        &self.deferred
    }

    /// The facts.
    pub fn blackboard(&self) -> &Blackboard {
        &self.blackboard
    }

    /// True while the claim is undecided.
    pub fn is_open(&self, claim: ClaimId) -> bool {
        !self.settled[claim.index()].load(Ordering::SeqCst)
    }

    /// True once the engine should stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
    }

    /// Cancels the engine.
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// The system before reduction, for engines that transform it.
    pub fn given(&self) -> &Arc<System> {
        &self.reduction.given
    }

    /// Proposes an answer about the system before reduction; the director has it certified.
    pub fn propose_given(&self, claim: ClaimId, verdict: Verdict) {
        if matches!(verdict, Verdict::Holds(Evidence::Run(_)) | Verdict::Fails(Evidence::Run(_))) {
            self.blackboard.found_run(claim);
        }
        let proposal = Proposal {
            engine: self.engine,
            claim,
            verdict,
            shortest: self.shortest,
            found: None,
            invariant: None,
        };
        self.tell(Message::Proposal(Box::new(proposal)));
    }

    /// Maps formulas over [`EngineContext::system`] back to the system before reduction.
    pub(crate) fn about_given(&self, formulas: NodeFormulas) -> Option<NodeFormulas> {
        match self.reduction.lift(Verdict::Holds(Evidence::Invariant(formulas)))? {
            Verdict::Holds(Evidence::Invariant(formulas)) => Some(formulas),
            _ => None,
        }
    }

    /// Checks another system with all engines, within the limits of `config`. The nested check is
    /// cancelled with this engine.
    pub(crate) fn check_nested(&self, system: &Arc<System>, config: &CheckConfig) -> CheckReport {
        (self.nested_check)(system, config, &self.cancellation.child(), &NullObserver)
    }

    /// True if runs are changed when they are mapped back to the system before reduction: then each
    /// step must have the state after it.
    pub(crate) fn changes_runs(&self) -> bool {
        self.reduction.changes()
    }

    /// Proposes an answer; the director has it certified.
    pub fn propose(&self, claim: ClaimId, verdict: Verdict) {
        if matches!(verdict, Verdict::Holds(Evidence::Run(_)) | Verdict::Fails(Evidence::Run(_))) {
            self.blackboard.found_run(claim);
        }
        self.tell(match self.proposal(claim, verdict) {
            Some(proposal) => Message::Proposal(Box::new(proposal)),
            None => Message::Lost { engine: self.engine, claim },
        });
    }

    fn proposal(&self, claim: ClaimId, verdict: Verdict) -> Option<Proposal> {
        let invariant = match &verdict {
            Verdict::Holds(Evidence::Invariant(f)) | Verdict::Fails(Evidence::Invariant(f)) => {
                Some(f.clone())
            }
            _ => None,
        };
        let verdict = self.reduction.lift(verdict)?;
        let (engine, shortest) = (self.engine, self.shortest);
        Some(Proposal { engine, claim, verdict, shortest, found: None, invariant })
    }

    /// Proposes answers that may be wrong. Those that pass a short check become verdicts; the
    /// others are dropped without an internal error, and the engine continues.
    pub fn conjecture(&self, answers: impl IntoIterator<Item = (ClaimId, Verdict)>) {
        let proposals =
            answers.into_iter().filter_map(|(claim, verdict)| self.proposal(claim, verdict));
        self.tell(Message::Conjectures(proposals.collect(), Likelihood::Guess));
    }

    /// [`EngineContext::conjecture`] about the system before reduction.
    pub fn conjecture_given(
        &self,
        answers: impl IntoIterator<Item = (ClaimId, Verdict)>,
        likelihood: Likelihood,
    ) {
        let proposal = |(claim, verdict)| Proposal {
            engine: self.engine,
            claim,
            verdict,
            shortest: self.shortest,
            found: None,
            invariant: None,
        };
        self.tell(Message::Conjectures(answers.into_iter().map(proposal).collect(), likelihood));
    }

    /// Reports progress.
    pub fn progress(&self, depth: Option<u32>, text: impl Into<String>) {
        self.tell(Message::Progress { engine: self.engine, depth, text: text.into() });
    }

    /// Publishes a fact; `text` describes it to the user.
    pub fn publish(&self, fact: Fact, text: impl Into<String>) {
        self.blackboard.publish(fact);
        self.tell(Message::Fact { engine: self.engine, text: text.into() });
    }

    fn tell(&self, message: Message) {
        // Ignore a closed channel: the director has finished.
        let _ = self.messages.send(message);
    }

    /// A solver session that ends when the engine is cancelled.
    pub fn session(&self, solver: &Solver, purpose: &Purpose) -> Session {
        let mut session = self.config.solvers.session(solver, self.session_config());
        if let Some(log) = self.log(purpose) {
            session.set_log(log);
        }
        session
    }

    /// [`EngineContext::session`] with unsat cores.
    pub fn session_with_cores(&self, solver: &Solver, purpose: &Purpose) -> CoreSession {
        let mut session = self.config.solvers.core_session(solver, self.session_config());
        if let Some(log) = self.log(purpose) {
            session.set_log(log);
        }
        session
    }

    /// A Horn clause query that ends when the engine is cancelled.
    pub fn horn(&self, solver: &Solver, purpose: &Purpose) -> Horn {
        let mut horn = self.config.solvers.horn(solver, &self.session_config());
        if let Some(log) = self.log(purpose) {
            horn.set_log(log);
        }
        horn
    }

    /// A query about one path that ends when the engine is cancelled.
    pub fn path_query(&self, solver: &Solver, purpose: &Purpose) -> PathQuery {
        let mut query = PathQuery::start(solver, &self.session_config());
        if let Some(log) = self.log(purpose) {
            query.set_log(log);
        }
        query
    }

    fn session_config(&self) -> SessionConfig {
        SessionConfig {
            memory: self.config.memory,
            cancellation: self.cancellation.clone(),
            processes: self.processes.clone(),
            ..SessionConfig::default()
        }
    }

    /// The log file of a session, if sessions are logged.
    fn log(&self, purpose: &Purpose) -> Option<Box<dyn Write + Send>> {
        let claims = claims_in_file_name(self.system(), &purpose.claims);
        Some(self.records.as_ref()?.begin(&format!("{}-{claims}-{}", self.engine, purpose.part)))
    }
}

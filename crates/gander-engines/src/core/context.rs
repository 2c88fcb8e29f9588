//! What an engine gets to work with: the system, the claims, the blackboard, solvers, and the channel to the director.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

use gander_certify::claims_in_file_name;
use gander_runtime::Cancellation;
use gander_smt::{CoreSession, Horn, PathQuery, Records, Session, SessionConfig, Solver, SolverProcesses};
use gander_system::{ClaimId, Evidence, NodeFormulas, System, Verdict};

use super::blackboard::{Blackboard, Fact};
use super::config::CheckConfig;
use super::reduction::Reduction;
use super::report::{CheckReport, NullObserver, Observer};

/// An answer that an engine offers.
#[derive(Clone, Debug)]
pub(crate) struct Proposal {
    pub engine: &'static str,
    pub claim: ClaimId,
    pub verdict: Verdict,
    /// No shorter run shows the same.
    pub shortest: bool,
    /// The invariant that the answer is, about the reduced system.
    pub invariant: Option<NodeFormulas>,
}

/// What engines tell the director.
#[derive(Debug)]
pub(crate) enum Message {
    Proposal(Proposal),
    /// Answers that may be wrong.
    Conjectures(Vec<Proposal>),
    Progress {
        engine: &'static str,
        depth: Option<u32>,
        text: String,
    },
    Fact {
        engine: &'static str,
        text: String,
    },
    /// An answer about the reduced system that stands for none about the given one.
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
    /// Somebody cancelled the check.
    Cancelled,
}

/// What a session is for; its log is named by this.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Purpose {
    /// The part of the engine's work, in a word.
    pub part: &'static str,
    /// The claims that it serves.
    pub claims: Vec<ClaimId>,
}

/// Where an engine works: what it is asked, whom it can ask, whom it tells.
#[derive(Debug)]
pub struct EngineContext {
    pub(crate) engine: &'static str,
    pub(crate) shortest: bool,
    pub(crate) reduction: Reduction,
    pub(crate) config: Arc<CheckConfig>,
    pub(crate) claims: Vec<ClaimId>,
    pub(crate) blackboard: Arc<Blackboard>,
    /// By claim: nothing more to do.
    pub(crate) settled: Arc<Vec<AtomicBool>>,
    pub(crate) cancellation: Cancellation,
    pub(crate) processes: SolverProcesses,
    pub(crate) records: Option<Records>,
    pub(crate) messages: Sender<Message>,
    pub(crate) nested_check: NestedCheck,
}

/// Decides claims of another system with all engines: the director's `check`, for engines that reduce one question to
/// another.
pub(crate) type NestedCheck = fn(&Arc<System>, &CheckConfig, &Cancellation, &dyn Observer) -> CheckReport;

impl EngineContext {
    /// The system to work on. Answers about it are carried back to the system that was given.
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

    /// The facts.
    pub fn blackboard(&self) -> &Blackboard {
        &self.blackboard
    }

    /// True as long as a claim is worth working on.
    pub fn is_open(&self, claim: ClaimId) -> bool {
        !self.settled[claim.index()].load(Ordering::SeqCst)
    }

    /// True once the engine should stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
    }

    /// What stops the engine.
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// The system as it was given, for engines that make other systems of it.
    pub fn given(&self) -> &Arc<System> {
        &self.reduction.given
    }

    /// Offers an answer about the system as it was given; it will be checked.
    pub fn propose_given(&self, claim: ClaimId, verdict: Verdict) {
        if matches!(verdict, Verdict::Holds(Evidence::Run(_)) | Verdict::Fails(Evidence::Run(_))) {
            self.blackboard.found_run(claim);
        }
        let proposal = Proposal { engine: self.engine, claim, verdict, shortest: self.shortest, invariant: None };
        self.tell(Message::Proposal(proposal));
    }

    /// What formulas about [`EngineContext::system`] say about the system as it was given.
    pub(crate) fn about_given(&self, formulas: NodeFormulas) -> Option<NodeFormulas> {
        match self.reduction.lift(Verdict::Holds(Evidence::Invariant(formulas)))? {
            Verdict::Holds(Evidence::Invariant(formulas)) => Some(formulas),
            _ => None,
        }
    }

    /// Checks another system with all engines, within the limits of `config`; it ends when this engine is cancelled.
    pub(crate) fn check_nested(&self, system: &Arc<System>, config: &CheckConfig) -> CheckReport {
        (self.nested_check)(system, config, &self.cancellation.child(), &NullObserver)
    }

    /// Offers an answer; it will be checked.
    pub fn propose(&self, claim: ClaimId, verdict: Verdict) {
        if matches!(verdict, Verdict::Holds(Evidence::Run(_)) | Verdict::Fails(Evidence::Run(_))) {
            self.blackboard.found_run(claim);
        }
        self.tell(match self.proposal(claim, verdict) {
            Some(proposal) => Message::Proposal(proposal),
            None => Message::Lost { engine: self.engine, claim },
        });
    }

    fn proposal(&self, claim: ClaimId, verdict: Verdict) -> Option<Proposal> {
        let invariant = match &verdict {
            Verdict::Holds(Evidence::Invariant(f)) | Verdict::Fails(Evidence::Invariant(f)) => Some(f.clone()),
            _ => None,
        };
        let verdict = self.reduction.lift(verdict)?;
        Some(Proposal { engine: self.engine, claim, verdict, shortest: self.shortest, invariant })
    }

    /// Offers answers that the engine is not sure of. Those that a short check finds right are as good as any; of the
    /// others nobody hears, and the engine is asked to go on.
    pub fn conjecture(&self, answers: impl IntoIterator<Item = (ClaimId, Verdict)>) {
        let proposals = answers.into_iter().filter_map(|(claim, verdict)| self.proposal(claim, verdict));
        self.tell(Message::Conjectures(proposals.collect()));
    }

    /// Tells how far the engine is.
    pub fn progress(&self, depth: Option<u32>, text: impl Into<String>) {
        self.tell(Message::Progress { engine: self.engine, depth, text: text.into() });
    }

    /// Publishes a fact; `text` is for people.
    pub fn publish(&self, fact: Fact, text: impl Into<String>) {
        self.blackboard.publish(fact);
        self.tell(Message::Fact { engine: self.engine, text: text.into() });
    }

    fn tell(&self, message: Message) {
        // The director may have stopped listening: then nobody wants to know.
        let _ = self.messages.send(message);
    }

    /// A session with a solver that ends when the engine is cancelled.
    pub fn session(&self, solver: &Solver, purpose: &Purpose) -> Session {
        let mut session = self.config.solvers.session(solver, self.session_config());
        if let Some(log) = self.log(purpose) {
            session.set_log(log);
        }
        session
    }

    /// [`EngineContext::session`] that can be asked for cores.
    pub fn session_with_cores(&self, solver: &Solver, purpose: &Purpose) -> CoreSession {
        let mut session = self.config.solvers.core_session(solver, self.session_config());
        if let Some(log) = self.log(purpose) {
            session.set_log(log);
        }
        session
    }

    /// A conversation about Horn clauses that ends when the engine is cancelled.
    pub fn horn(&self, solver: &Solver, purpose: &Purpose) -> Horn {
        let mut horn = self.config.solvers.horn(solver, &self.session_config());
        if let Some(log) = self.log(purpose) {
            horn.set_log(log);
        }
        horn
    }

    /// A conversation about one path that ends when the engine is cancelled.
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

    /// The file that a conversation is kept in, if conversations are.
    fn log(&self, purpose: &Purpose) -> Option<Box<dyn Write + Send>> {
        let claims = claims_in_file_name(self.system(), &purpose.claims);
        self.records.as_ref()?.begin(&format!("{}-{claims}-{}", self.engine, purpose.part))
    }
}

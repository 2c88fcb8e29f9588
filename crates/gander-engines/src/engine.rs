//! The engine trait: the contract for everything that decides claims.
//!
//! To add an engine, write a folder with a type that implements [`Engine`] and add one line to [`engines`]. The rest of
//! the program learns of it there.
//!
//! The contract:
//! - An engine is made by [`EngineInfo::open`] with a [`Desk`] that knows the system and the claims to decide, and is
//!   then asked to [`Engine::advance`] again and again, by one thread at a time but not always by the same one.
//!   One call does one bounded piece of work: a depth, a batch of runs. Engines share threads by this.
//! - It forks the system's pool for its terms and shares none with others. What others may use it publishes on the
//!   board ([`Desk::board`]); what it reads there it imports.
//! - Before work on a claim it asks [`Desk::is_open`]; it works on no claim that is settled.
//! - It answers with [`Desk::propose`]. Every answer carries evidence about the system as it was given, complete in
//!   itself: `gander-certify` knows no board. An answer that is wrong is an internal error, not a matter of taste: an
//!   engine that is not sure says nothing, or says that it is not sure ([`Desk::conjecture`]).
//! - It asks solvers only through sessions of [`Desk::session`], so that cancelling ends its queries. A query that gives
//!   `Unknown` costs that query: the engine goes on, with another solver or without the claim, and says why in
//!   [`Engine::obstacle`]. Between queries it looks at [`Desk::is_cancelled`] often enough to stop within 100 ms. Whatever
//!   makes, evaluates or prints terms looks by itself; a long loop of another kind calls [`gander_term::stop::look_out`]. An
//!   engine that is broken off there is dropped as it is, and what it last said stands for it.
//! - It never panics on input; if it does nevertheless, that costs this engine only.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

use gander_certify::claims_in_file_name;
use gander_smt::{CoreSession, Horn, Killer, PathQuery, Records, Session, SessionConfig, Solver};
use gander_system::{ClaimId, ClaimKind, Evidence, NodeFormulas, System, Verdict};

use crate::board::{Board, Fact};
use crate::cancel::CancelToken;
use crate::config::CheckConfig;
use crate::reduction::Reduction;

/// What an engine says after a piece of work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Advance {
    /// There is more to do.
    Again,
    /// It can do nothing more for any open claim.
    Finished,
}

/// Something that decides claims; see the module's documentation for the contract.
pub trait Engine: Send {
    /// Does a bounded piece of work.
    fn advance(&mut self, desk: &Desk) -> Advance;

    /// What keeps the engine from deciding a claim, and what would help; nothing if it has not come to it.
    fn obstacle(&self, claim: ClaimId) -> Option<String>;
}

/// An entry of the list of engines.
#[derive(Clone, Copy)]
pub struct EngineInfo {
    /// The name by which users ask for it.
    pub name: &'static str,
    /// What it is for, in one line.
    pub about: &'static str,
    /// Whether it can decide a kind of claim at all.
    pub decides: fn(&ClaimKind) -> bool,
    /// Its runs are as short as runs can be.
    pub finds_shortest: bool,
    /// Its first piece of work is a matter of microseconds on a small system and asks no solver: it is done before any
    /// thread is started.
    pub begins_at_once: bool,
    /// Makes one.
    pub open: fn(&Desk) -> Box<dyn Engine>,
}

impl std::fmt::Debug for EngineInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineInfo").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Every engine, in the order in which a check starts them: the cheap ones first.
pub fn engines() -> &'static [EngineInfo] {
    static ENGINES: &[EngineInfo] = &[
        crate::simulate::INFO,
        crate::bmc::INFO,
        crate::sizes::INFO,
        crate::induction::INFO,
        crate::nodes::INFO,
        crate::explicit::INFO,
        crate::guided::INFO,
        crate::bdd::INFO,
        crate::invariants::INFO,
        crate::pdr::INFO,
        crate::horn::INFO,
        crate::accelerate::INFO,
        crate::liveness::INFO,
        crate::backward::INFO,
        crate::paths::INFO,
        crate::smt_only::INFO,
    ];
    ENGINES
}

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
pub struct Desk {
    pub(crate) engine: &'static str,
    pub(crate) shortest: bool,
    pub(crate) reduction: Reduction,
    pub(crate) config: Arc<CheckConfig>,
    pub(crate) claims: Vec<ClaimId>,
    pub(crate) board: Arc<Board>,
    /// By claim: nothing more to do.
    pub(crate) settled: Arc<Vec<AtomicBool>>,
    pub(crate) cancel: CancelToken,
    pub(crate) killer: Killer,
    pub(crate) records: Option<Records>,
    pub(crate) messages: Sender<Message>,
}

impl Desk {
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
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// True as long as a claim is worth working on.
    pub fn is_open(&self, claim: ClaimId) -> bool {
        !self.settled[claim.index()].load(Ordering::SeqCst)
    }

    /// True once the engine should stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// The system as it was given, for engines that make other systems of it.
    pub fn given(&self) -> &Arc<System> {
        &self.reduction.given
    }

    /// Offers an answer about the system as it was given; it will be checked.
    pub fn propose_given(&self, claim: ClaimId, verdict: Verdict) {
        if matches!(verdict, Verdict::Holds(Evidence::Run(_)) | Verdict::Fails(Evidence::Run(_))) {
            self.board.found_run(claim);
        }
        let proposal = Proposal { engine: self.engine, claim, verdict, shortest: self.shortest, invariant: None };
        self.tell(Message::Proposal(proposal));
    }

    /// What formulas about [`Desk::system`] say about the system as it was given.
    pub(crate) fn about_given(&self, formulas: NodeFormulas) -> Option<NodeFormulas> {
        match self.reduction.lift(Verdict::Holds(Evidence::Invariant(formulas)))? {
            Verdict::Holds(Evidence::Invariant(formulas)) => Some(formulas),
            _ => None,
        }
    }

    /// A token that is cancelled with the engine's.
    pub(crate) fn cancel_token(&self) -> CancelToken {
        self.cancel.child()
    }

    /// Offers an answer; it will be checked.
    pub fn propose(&self, claim: ClaimId, verdict: Verdict) {
        if matches!(verdict, Verdict::Holds(Evidence::Run(_)) | Verdict::Fails(Evidence::Run(_))) {
            self.board.found_run(claim);
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
        self.board.publish(fact);
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

    /// [`Desk::session`] that can be asked for cores.
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
        SessionConfig { memory: self.config.memory, killer: self.killer.clone(), ..SessionConfig::default() }
    }

    /// The file that a conversation is kept in, if conversations are.
    fn log(&self, purpose: &Purpose) -> Option<Box<dyn Write + Send>> {
        let claims = claims_in_file_name(self.system(), &purpose.claims);
        self.records.as_ref()?.begin(&format!("{}-{claims}-{}", self.engine, purpose.part))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};

    use gander_oracle::{GeneratedSystem, Settings, generate_with};
    use gander_smt::Solvers;
    use gander_term::stop::{StopSign, Stopped};

    /// A desk for an engine, its token, and what it says.
    pub(crate) fn desk(
        solvers: &Arc<Solvers>,
        made: &GeneratedSystem,
        info: &EngineInfo,
    ) -> (Desk, CancelToken, Receiver<Message>) {
        let claims: Vec<ClaimId> = (0..made.system.claims.len()).map(ClaimId::from).collect();
        let decides = |c: &ClaimId| (info.decides)(&made.system.claims[c.index()].kind);
        let (messages, heard) = channel();
        let (cancel, killer) = (CancelToken::new(), Killer::new());
        cancel.kills(&killer);
        let desk = Desk {
            engine: info.name,
            shortest: info.finds_shortest,
            reduction: Reduction::of(&made.system, &|| false),
            config: Arc::new(CheckConfig::new(Arc::clone(solvers), claims.clone())),
            claims: claims.into_iter().filter(decides).collect(),
            board: Arc::new(Board::new(&made.system)),
            settled: Arc::new(made.system.claims.iter().map(|_| AtomicBool::new(false)).collect()),
            cancel: cancel.clone(),
            killer,
            records: None,
            messages,
        };
        (desk, cancel, heard)
    }

    /// Nothing that an engine has said is wrong.
    fn said_nothing_wrong(made: &GeneratedSystem, info: &EngineInfo, heard: Receiver<Message>) {
        for message in heard {
            let Message::Proposal(p) = message else { continue };
            let holds = matches!(p.verdict, Verdict::Holds(_));
            let name = &made.system.claims[p.claim.index()].name;
            assert_eq!(holds, made.answers[p.claim.index()].holds, "{}, seed {}: {name}", info.name, made.seed);
        }
    }

    fn few_turns(engine: &mut dyn Engine, desk: &Desk) {
        for _ in 0..4 {
            if engine.advance(desk) == Advance::Finished {
                break;
            }
        }
    }

    /// What was not asked is not known: an engine that is cancelled before it could ask concludes nothing that is wrong.
    #[test]
    fn cancelled_engines_propose_nothing_wrong() {
        let solvers = Arc::new(Solvers::from_environment());
        for seed in 0..12 {
            let made = generate_with(seed, Settings::few_states().linear());
            for info in engines() {
                let (desk, cancel, heard) = desk(&solvers, &made, info);
                let mut engine = (info.open)(&desk);
                cancel.cancel();
                few_turns(&mut *engine, &desk);
                drop((engine, desk));
                said_nothing_wrong(&made, info, heard);
            }
        }
    }

    /// Nor does one that is broken off somewhere in the middle; and it is, wherever it is at work.
    #[test]
    fn engines_that_are_broken_off_propose_nothing_wrong() {
        let solvers = Arc::new(Solvers::from_environment().kept_running());
        let mut broken_off = 0;
        for seed in 0..4 {
            let made = generate_with(seed, Settings::few_states().linear());
            for info in engines() {
                for looks in [1, 40, 400, 3000] {
                    let (desk, cancel, heard) = desk(&solvers, &made, info);
                    let work = || few_turns(&mut *(info.open)(&desk), &desk);
                    broken_off += u32::from(StopSign::after_looks(looks).heed(work) == Err(Stopped::Asked));
                    cancel.cancel();
                    drop(desk);
                    said_nothing_wrong(&made, info, heard);
                }
            }
        }
        assert!(broken_off > 60, "{broken_off}");
    }
}

//! The engine trait: the contract for everything that decides claims.
//!
//! To add an engine, write a folder below `engines/` with a type that implements [`Engine`], and
//! add it to the list in `engines/mod.rs`.
//!
//! The contract:
//! - [`EngineInfo::open`] creates the engine from an [`EngineContext`], which has the system and
//!   the claims to decide. [`Engine::advance`] is then called repeatedly, by one thread at a time
//!   but not always by the same one. One call does one bounded piece of work, such as a depth or a
//!   batch of runs, so that engines can share threads.
//! - It forks the system's pool for its terms and shares none with others. It publishes facts on
//!   the blackboard ([`EngineContext::blackboard`]) and imports the facts it reads there.
//! - Before it works on a claim it tests [`EngineContext::is_open`]; it does not work on settled
//!   claims.
//! - It answers with [`EngineContext::propose`]. The evidence is about [`EngineContext::system`],
//!   and the context maps it back. An engine that works on the system before reduction
//!   ([`EngineContext::given`]: `liveness` and `indexed` do) answers with
//!   [`EngineContext::propose_given`] instead. Evidence is self-contained, because `gander-certify`
//!   does not read the blackboard. A wrong answer is an internal error. An engine that is not sure
//!   of an answer proposes a conjecture ([`EngineContext::conjecture`],
//!   [`EngineContext::conjecture_given`]).
//! - It queries solvers only through sessions of the [`EngineContext`], so that cancellation ends
//!   its queries. After an `Unknown` the engine continues, with another solver or without the
//!   claim, and reports the reason in [`Engine::obstacle`]. Between queries it tests
//!   [`EngineContext::is_cancelled`] often enough to stop within 100 ms. Building, evaluating and
//!   printing terms test it already; other long loops call [`gander_runtime::check_cancelled`]. An
//!   engine that is unwound there is dropped; its last reported obstacles are used.
//! - It never panics on input. A panic ends only this engine.

use gander_system::{ClaimId, ClaimKind};

use super::context::EngineContext;

/// The result of a piece of work.
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
    fn advance(&mut self, context: &EngineContext) -> Advance;

    /// Why the engine has not decided a claim, and what would help; `None` if it has not tried.
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
    /// True if its runs are shortest runs.
    pub finds_shortest: bool,
    /// True if its first piece of work takes microseconds on a small system and needs no solver. It
    /// then runs on the calling thread before any worker starts.
    pub begins_at_once: bool,
    /// Creates the engine.
    pub open: fn(&EngineContext) -> Box<dyn Engine>,
}

impl std::fmt::Debug for EngineInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineInfo").field("name", &self.name).finish_non_exhaustive()
    }
}

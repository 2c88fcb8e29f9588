//! The engine trait: the contract for everything that decides claims.
//!
//! To add an engine, write a folder below `engines/` with a type that implements [`Engine`], and add one line to the
//! list in `engines/mod.rs`.
//!
//! The contract:
//! - An engine is made by [`EngineInfo::open`] with a [`EngineContext`] that knows the system and the claims to decide, and is
//!   then asked to [`Engine::advance`] again and again, by one thread at a time but not always by the same one.
//!   One call does one bounded piece of work: a depth, a batch of runs. Engines share threads by this.
//! - It forks the system's pool for its terms and shares none with others. What others may use it publishes on the
//!   blackboard ([`EngineContext::blackboard`]); what it reads there it imports.
//! - Before work on a claim it asks [`EngineContext::is_open`]; it works on no claim that is settled.
//! - It answers with [`EngineContext::propose`]. Every answer carries evidence about the system as it was given, complete in
//!   itself: `gander-certify` knows no blackboard. An answer that is wrong is an internal error, not a matter of taste: an
//!   engine that is not sure says nothing, or says that it is not sure ([`EngineContext::conjecture`]).
//! - It asks solvers only through sessions of [`EngineContext::session`], so that cancelling ends its queries. A query that gives
//!   `Unknown` costs that query: the engine goes on, with another solver or without the claim, and says why in
//!   [`Engine::obstacle`]. Between queries it looks at [`EngineContext::is_cancelled`] often enough to stop within 100 ms. Whatever
//!   makes, evaluates or prints terms looks by itself; a long loop of another kind calls [`gander_runtime::check_cancelled`]. An
//!   engine that is broken off there is dropped as it is, and what it last said stands for it.
//! - It never panics on input; if it does nevertheless, that costs this engine only.

use gander_system::{ClaimId, ClaimKind};

use super::context::EngineContext;

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
    fn advance(&mut self, context: &EngineContext) -> Advance;

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
    pub open: fn(&EngineContext) -> Box<dyn Engine>,
}

impl std::fmt::Debug for EngineInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineInfo").field("name", &self.name).finish_non_exhaustive()
    }
}

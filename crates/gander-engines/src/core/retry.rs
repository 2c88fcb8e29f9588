//! Retry: claims that are each given to a solver as a whole, first with a short time limit for all
//! of them, then with longer ones.

use std::time::Duration;

use gander_smt::Solver;
use gander_system::ClaimId;

use super::limits::LIMITS;
use crate::core::memory::{Room, set_aside};
use crate::core::{Advance, EngineContext};

/// The state of the work on one claim.
pub(crate) trait Attempt: Sized {
    /// Begins; nothing if there is nothing to ask, or why that cannot be done.
    fn open(context: &EngineContext, claim: ClaimId) -> Result<Option<Self>, String>;

    /// The claim.
    fn claim(&self) -> ClaimId;

    /// Makes a further attempt.
    fn advance(&mut self, context: &EngineContext, solver: &Solver);

    /// How long the next one may take.
    fn patience(&self) -> Duration;

    /// There is nothing more to try.
    fn is_over(&self) -> bool;

    /// Why it has no answer.
    fn why(&self) -> Option<String>;

    /// About how many bytes its terms take.
    fn weight(&self) -> u64;
}

/// See the module's documentation.
pub(crate) struct Attempts<A> {
    room: Room,
    waiting: Vec<ClaimId>,
    running: Vec<A>,
    obstacles: Vec<(ClaimId, String)>,
}

impl<A: Attempt> Attempts<A> {
    /// The claims of an engine.
    pub(crate) fn new(context: &EngineContext) -> Attempts<A> {
        let waiting = context.claims().iter().rev().copied().collect();
        let room = Room::part(context.config(), LIMITS.claims_memory_share);
        Attempts { room, waiting, running: Vec::new(), obstacles: Vec::new() }
    }

    /// If another claim does not fit into memory, drops the one with the longest attempts.
    fn make_room(&mut self) {
        if self.room.has_for_another(self.running.iter().map(A::weight)) {
            return;
        }
        if let Some(at) = (0..self.running.len()).max_by_key(|&i| self.running[i].patience()) {
            let longest = self.running.swap_remove(at);
            let why = longest.why().unwrap_or_else(|| "no answer yet".to_string());
            self.obstacles.push((longest.claim(), set_aside(&why)));
        }
    }

    /// Makes one attempt, with this solver; without one nothing can be done.
    pub(crate) fn advance(&mut self, context: &EngineContext, solver: Option<&Solver>) -> Advance {
        let Some(solver) = solver else {
            let why = "needs z3, which was not found";
            self.obstacles.extend(self.waiting.drain(..).map(|c| (c, why.to_string())));
            return Advance::Finished;
        };
        self.waiting.retain(|&c| context.is_open(c));
        if let Some(claim) = self.waiting.pop() {
            self.make_room();
            match A::open(context, claim) {
                Ok(attempt) => self.running.extend(attempt),
                Err(why) => self.obstacles.push((claim, why)),
            }
        }
        let settled = |a: &A| a.is_over() || !context.is_open(a.claim());
        // The newest first: each claim gets its short attempt before others get a long one.
        let at = (0..self.running.len()).rev().filter(|&i| !settled(&self.running[i]));
        if let Some(at) = at.min_by_key(|&i| self.running[i].patience()) {
            self.running[at].advance(context, solver);
        }
        for a in self.running.iter().filter(|a| settled(a)) {
            self.obstacles.extend(a.why().map(|why| (a.claim(), why)));
        }
        self.running.retain(|a| !settled(a));
        if self.running.is_empty() && self.waiting.is_empty() {
            Advance::Finished
        } else {
            Advance::Again
        }
    }

    /// Why a claim is undecided.
    pub(crate) fn obstacle(&self, claim: ClaimId) -> Option<String> {
        let running = self.running.iter().find(|a| a.claim() == claim).and_then(A::why);
        running.or_else(|| {
            self.obstacles.iter().rev().find(|(c, _)| *c == claim).map(|(_, why)| why.clone())
        })
    }
}

//! Retry: each claim is given to a solver as a whole, first with a short time limit for all claims,
//! then with longer ones.

use std::time::Duration;

use gander_smt::Solver;
use gander_system::ClaimId;

use super::limits::LIMITS;
use crate::core::memory::{TermBudget, set_aside};
use crate::core::{Advance, EngineContext};

/// A claim that is tried again and again, each time with a longer time limit.
pub(crate) trait RetriedClaim: Sized {
    /// Prepares the work on a claim. `None` if there is nothing to ask; an error says why the claim
    /// cannot be asked.
    fn open(context: &EngineContext, claim: ClaimId) -> Result<Option<Self>, String>;

    /// The claim.
    fn claim(&self) -> ClaimId;

    /// Tries once more.
    fn advance(&mut self, context: &EngineContext, solver: &Solver);

    /// The time limit of the next try.
    fn time_limit(&self) -> Duration;

    /// True if there is nothing more to try.
    fn is_over(&self) -> bool;

    /// Why it has no answer.
    fn obstacle(&self) -> Option<String>;

    /// The approximate size of its terms in bytes.
    fn weight(&self) -> u64;
}

/// The claims of an engine; see the module's documentation.
pub(crate) struct RetryQueue<C> {
    budget: TermBudget,
    waiting: Vec<ClaimId>,
    running: Vec<C>,
    obstacles: Vec<(ClaimId, String)>,
}

impl<C: RetriedClaim> RetryQueue<C> {
    /// The claims of an engine.
    pub(crate) fn new(context: &EngineContext) -> RetryQueue<C> {
        let waiting = context.claims().iter().rev().copied().collect();
        let budget = TermBudget::part(context.config(), LIMITS.claims_memory_share);
        RetryQueue { budget, waiting, running: Vec::new(), obstacles: Vec::new() }
    }

    /// If another claim does not fit into memory, drops the one with the longest time limit.
    fn drop_longest_if_full(&mut self) {
        if self.budget.fits_another(self.running.iter().map(C::weight)) {
            return;
        }
        if let Some(at) = (0..self.running.len()).max_by_key(|&i| self.running[i].time_limit()) {
            let longest = self.running.swap_remove(at);
            let why = longest.obstacle().unwrap_or_else(|| "no answer yet".to_string());
            self.obstacles.push((longest.claim(), set_aside(&why)));
        }
    }

    /// Tries one claim with this solver. Without a solver, no claim can be tried.
    pub(crate) fn advance(&mut self, context: &EngineContext, solver: Option<&Solver>) -> Advance {
        let Some(solver) = solver else {
            let why = "needs z3, which was not found";
            self.obstacles.extend(self.waiting.drain(..).map(|c| (c, why.to_string())));
            return Advance::Finished;
        };
        self.waiting.retain(|&c| context.is_open(c));
        if let Some(claim) = self.waiting.pop() {
            self.drop_longest_if_full();
            match C::open(context, claim) {
                Ok(opened) => self.running.extend(opened),
                Err(why) => self.obstacles.push((claim, why)),
            }
        }
        let settled = |c: &C| c.is_over() || !context.is_open(c.claim());
        // Prefer the newest: each claim gets its short try before others get a long one.
        let at = (0..self.running.len()).rev().filter(|&i| !settled(&self.running[i]));
        if let Some(at) = at.min_by_key(|&i| self.running[i].time_limit()) {
            self.running[at].advance(context, solver);
        }
        for c in self.running.iter().filter(|c| settled(c)) {
            self.obstacles.extend(c.obstacle().map(|why| (c.claim(), why)));
        }
        self.running.retain(|c| !settled(c));
        if self.running.is_empty() && self.waiting.is_empty() {
            Advance::Finished
        } else {
            Advance::Again
        }
    }

    /// Why a claim is undecided.
    pub(crate) fn obstacle(&self, claim: ClaimId) -> Option<String> {
        let running = self.running.iter().find(|c| c.claim() == claim).and_then(C::obstacle);
        running.or_else(|| {
            self.obstacles.iter().rev().find(|(c, _)| *c == claim).map(|(_, why)| why.clone())
        })
    }
}

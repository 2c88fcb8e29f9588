//! How an answer of an engine becomes a verdict: it is queued, shortened, certified and accepted.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use gander_certify::{Certified, Rejection};
use gander_system::{ClaimId, ClaimOrigin, Evidence, Leg, NodeFormulas, Obstacle, Verdict};
use rustc_hash::FxHashSet;

use super::Director;
use super::limits::LIMITS;
use super::short_runs::ShorteningEffort;
use crate::core::{
    Blackboard, Event, Fact, InternalError, Likelihood, Outcome, Proposal, ProvedInvariant,
    shortest_by_itself,
};

/// An answer that waits for a shorter run.
pub(super) struct Waiting {
    pub(super) until: Instant,
    /// The length of its run.
    pub(super) length: Option<u64>,
    pub(super) proposal: Proposal,
}

impl Director<'_> {
    /// Queues an answer for its check. Runs that may not be shortest wait first.
    pub(super) fn enqueue(&mut self, mut proposal: Proposal) {
        // A structural claim that holds is counted; its run is not shown. Where there are many, a
        // shorter run is not waited for.
        let claim = &self.system.claims()[proposal.claim.index()];
        let many = self.config.claims.len() >= self.config.options.many_claims;
        if many
            && claim.origin == ClaimOrigin::Structural
            && matches!(proposal.verdict, Verdict::Holds(_))
        {
            return self.ready.push(proposal);
        }
        let mut length = run_length(&proposal);
        if self.open_place(proposal.claim).is_some()
            && !proposal.shortest
            && !is_shortest(self.blackboard, proposal.claim, length)
        {
            self.short_runs.shorten(&mut proposal, ShorteningEffort::Quick);
            length = run_length(&proposal);
        }
        if proposal.shortest || is_shortest(self.blackboard, proposal.claim, length) {
            return self.ready.push(proposal);
        }
        let now = Instant::now();
        let shorter_run_expected =
            self.pool.finds_shortest(proposal.claim) && !is_long(self.blackboard, &proposal);
        let (least, factor) = match self.system.step_limit() {
            Some(_) => (
                self.config.options.shorter_run_wait / LIMITS.shorter_run_wait_within_limit.0,
                LIMITS.shorter_run_wait_within_limit.1,
            ),
            None => (self.config.options.shorter_run_wait, LIMITS.shorter_run_wait_factor),
        };
        let wait = if shorter_run_expected {
            least.max((now - self.started) * factor)
        } else {
            Duration::ZERO
        };
        self.waiting.push(Waiting {
            until: now.checked_add(wait).unwrap_or(now),
            length,
            proposal,
        });
    }

    /// Queues answers whose wait is over; true if there were some.
    pub(super) fn release_waiting(&mut self, ready: impl Fn(&Waiting) -> bool) -> bool {
        let (now, later): (Vec<_>, Vec<_>) = self.waiting.drain(..).partition(ready);
        self.waiting = later;
        let some = !now.is_empty();
        self.ready.extend(now.into_iter().map(|w| w.proposal));
        self.settle_ready();
        some
    }

    /// The position of a claim in the request, if it has no outcome.
    pub(super) fn open_place(&self, claim: ClaimId) -> Option<usize> {
        self.places.get(claim.index()).copied().flatten().filter(|at| self.outcomes[*at].is_none())
    }

    /// Checks the queued answers in a batch, so that common parts are checked once.
    pub(super) fn settle_ready(&mut self) {
        let mut ready = std::mem::take(&mut self.ready);
        ready.retain(|p| self.open_place(p.claim).is_some());
        for proposal in &mut ready {
            let length = run_length(proposal);
            if !proposal.shortest && !is_shortest(self.blackboard, proposal.claim, length) {
                self.short_runs.shorten(proposal, self.effort);
            }
            self.short_runs.shorten_infinite(proposal, self.effort);
            self.short_runs.simplify(proposal, self.effort);
        }
        // Pause engines: if these answers are right they have nothing to do, and they would slow
        // down the check.
        let answered: FxHashSet<ClaimId> = ready.iter().map(|p| p.claim).collect();
        let held = answered.len() == self.open;
        if held {
            self.pool.hold(Instant::now().checked_add(LIMITS.hold));
        }
        if ready.len() > 1 && !self.certifier.is_late() {
            let certified = self.certifier.certify_easy(&verdicts(&ready));
            ready = self.accept_right(ready, certified);
        }
        if ready.len() > 1 && !self.certifier.is_late() {
            let time = LIMITS.batch_time + LIMITS.batch_time_each * ready.len() as u32;
            let certified = self.certifier.certify_all(&verdicts(&ready), time);
            ready = self.accept_right(ready, certified);
        }
        // Where other claims are open, their answers do not wait for a long check.
        let others_wait = ready.len() < self.open && !self.is_ending;
        let time = if others_wait { LIMITS.others_wait } else { LIMITS.first_check };
        self.settle_each(ready, time);
        if self.waiting.iter().any(|w| self.open_place(w.proposal.claim).is_none()) {
            let waiting = std::mem::take(&mut self.waiting);
            self.waiting = waiting
                .into_iter()
                .filter(|w| self.open_place(w.proposal.claim).is_some())
                .collect();
        }
        self.pool.stop_idle_engines(self.settled);
        if held {
            self.pool.hold(None);
        }
    }

    /// Checks the deferred answers that come next with more time; false if there is none. Answers
    /// often share an invariant, whose obligations are checked once for all of them.
    pub(super) fn settle_deferred(&mut self) -> bool {
        let Some(&(time, _)) = self.deferred.last() else { return false };
        let first = self.deferred.iter().rposition(|(other, _)| *other != time);
        let group = self.deferred.split_off(first.map_or(0, |at| at + 1));
        let mut group: Vec<Proposal> = group.into_iter().rev().map(|(_, p)| p).collect();
        group.retain(|p| self.open_place(p.claim).is_some());
        // Engines that compute at the same time make the check slow, and answers are seldom wrong.
        self.pool.hold(Instant::now().checked_add(LIMITS.hold));
        if group.len() > 1 && !self.certifier.is_late() {
            let certified = self.certifier.certify_all(&verdicts(&group), time);
            group = self.accept_right(group, certified);
            self.pool.stop_idle_engines(self.settled);
        }
        self.settle_each(group, time);
        self.pool.hold(None);
        true
    }

    /// Checks answers one after the other. When the time was too short for some in a row, it is
    /// probably too short for the others.
    fn settle_each(&mut self, proposals: Vec<Proposal>, time: Duration) {
        let mut in_a_row = 0;
        for proposal in proposals {
            if in_a_row == LIMITS.short_checks {
                self.deferred.insert(0, (time * LIMITS.check_growth, proposal));
                continue;
            }
            let before = self.deferred.len();
            self.settle(proposal, time);
            in_a_row = if self.deferred.len() > before { in_a_row + 1 } else { 0 };
        }
    }

    /// Makes the right ones of these answers outcomes; returns the others.
    fn accept_right(
        &mut self,
        proposals: Vec<Proposal>,
        certified: Vec<Option<Certified>>,
    ) -> Vec<Proposal> {
        let mut others = Vec::new();
        for (proposal, right) in proposals.into_iter().zip(certified) {
            match (right, self.open_place(proposal.claim)) {
                (Some(certified), Some(at)) => self.accept(at, proposal, certified),
                (None, _) => others.push(proposal),
                (_, None) => {}
            }
        }
        others
    }

    /// Checks an answer within a time limit and, if it is right, makes it the outcome.
    pub(super) fn settle(&mut self, mut proposal: Proposal, time: Duration) {
        let Some(at) = self.open_place(proposal.claim) else { return };
        let engine = proposal.engine.to_string();
        let begun = Instant::now();
        if self.certifier.is_late() {
            let reason = "its answer could not be checked: there was no time left".to_string();
            self.obstacles[at].push(Obstacle { engine, reason });
            return self.unchecked.push(proposal);
        }
        match self.certifier.certify(proposal.claim, &proposal.verdict, Some(time)) {
            Ok(certified) => {
                self.accept(at, proposal, certified);
                self.pool.stop_idle_engines(self.settled);
            }
            // The changed run is not an error of the engine: check the run that it found.
            Err(_) if proposal.found.is_some() => {
                if let Some(found) = proposal.found.take() {
                    proposal.verdict = found;
                }
                self.settle(proposal, time);
            }
            Err(Rejection::Wrong(problem)) => {
                let error = InternalError {
                    claim: proposal.claim,
                    engine,
                    verdict: proposal.verdict,
                    problem,
                };
                self.internal_error(error);
            }
            // Receive other answers first, then retry with more time. A solver may give up a little
            // before its time is over.
            Err(Rejection::Undecided(_))
                if begun.elapsed() >= time - time / 4 && !self.certifier.is_late() =>
            {
                self.deferred.insert(0, (time * LIMITS.check_growth, proposal));
            }
            Err(Rejection::Undecided(reason)) => {
                let reason = format!("its answer could not be checked: {reason}");
                self.obstacles[at].push(Obstacle { engine, reason });
            }
        }
    }

    /// Makes an answer that was found right the outcome of the claim at this position of the
    /// request.
    pub(super) fn accept(&mut self, at: usize, proposal: Proposal, certified: Certified) {
        let length = run_length(&proposal);
        let shortest = match length {
            Some(_) => {
                Some(proposal.shortest || is_shortest(self.blackboard, proposal.claim, length))
            }
            // The search in all states finds the nearest one from which the goal is lost.
            None => match &proposal.verdict {
                Verdict::Fails(Evidence::Impossible { .. }) if proposal.shortest => Some(true),
                verdict => shortest_by_itself(verdict),
            },
        };
        let Proposal { engine, claim, verdict, .. } = proposal;
        let Certified { warnings, basis, .. } = certified;
        let (engine, elapsed) = (engine.to_string(), self.started.elapsed());
        let outcome = Outcome { claim, verdict, engine, elapsed, warnings, basis, shortest };
        self.observer.event(&Event::Settled(outcome.clone()));
        if self.orbits.settle(claim, at, &outcome.engine) {
            self.open -= 1;
        }
        self.outcomes[at] = Some(outcome);
        self.settled[claim.index()].store(true, Ordering::SeqCst);
    }

    /// Checks conjectures, first those that need no solver. Those that are right become outcomes
    /// and facts; the others are dropped.
    pub(super) fn try_conjectures(&mut self, conjectures: Vec<Proposal>, likelihood: Likelihood) {
        let open = |director: &Self, p: &Proposal| director.open_place(p.claim).is_some();
        let mut left: Vec<Proposal> = conjectures.into_iter().filter(|p| open(self, p)).collect();
        let others = self.open + self.orbits.waiting();
        let mut published: Vec<NodeFormulas> = Vec::new();
        if left.len() > 1 || left.len() < others {
            let certified = self.certifier.certify_easy(&verdicts(&left));
            left = self.accept_conjectures(left, certified, &mut published);
        }
        // With many claims one invariant may be conjectured for all, and the easy ones are settled.
        let many = self.config.claims.len() >= self.config.options.many_claims;
        let claims: FxHashSet<ClaimId> = left.iter().map(|p| p.claim).collect();
        let time = match likelihood {
            Likelihood::Probable => Some(LIMITS.transfer_checks),
            Likelihood::Guess if claims.len() == self.open || many => {
                Some(LIMITS.conjecture_checks)
            }
            Likelihood::Guess => None,
        };
        if !left.is_empty() {
            let certified = self.certifier.certify_conjectures(&verdicts(&left), time);
            self.accept_conjectures(left, certified, &mut published);
        }
        self.pool.stop_idle_engines(self.settled);
    }

    /// Makes the right ones of these conjectures outcomes and facts; returns the others that are
    /// still open.
    fn accept_conjectures(
        &mut self,
        conjectures: Vec<Proposal>,
        certified: Vec<Option<Certified>>,
        published: &mut Vec<NodeFormulas>,
    ) -> Vec<Proposal> {
        let mut left = Vec::new();
        for (proposal, right) in conjectures.into_iter().zip(certified) {
            // Two conjectures may be about one claim.
            let Some(at) = self.open_place(proposal.claim) else { continue };
            let Some(certified) = right else {
                left.push(proposal);
                continue;
            };
            if let Some(f) = &proposal.invariant
                && !published
                    .iter()
                    .any(|p| Arc::ptr_eq(&p.pool, &f.pool) && p.by_node == f.by_node)
            {
                // The engine did not publish the conjecture, so publish it now.
                published.push(f.clone());
                self.blackboard.publish(Fact::Invariant(ProvedInvariant {
                    formulas: f.clone(),
                    k: 1,
                    loop_free: false,
                    no_restart: false,
                    engine: proposal.engine.to_string(),
                }));
            }
            self.accept(at, proposal, certified);
        }
        left.retain(|p| self.open_place(p.claim).is_some());
        left
    }

    pub(super) fn internal_error(&mut self, error: InternalError) {
        self.observer.event(&Event::InternalError(error.clone()));
        self.internal_errors.push(error);
    }
}

fn verdicts(proposals: &[Proposal]) -> Vec<(ClaimId, &Verdict)> {
    proposals.iter().map(|p| (p.claim, &p.verdict)).collect()
}

/// The length of the run that an answer consists of.
fn run_length(proposal: &Proposal) -> Option<u64> {
    match &proposal.verdict {
        Verdict::Holds(Evidence::Run(run)) | Verdict::Fails(Evidence::Run(run)) => {
            Some(run.length())
        }
        _ => None,
    }
}

/// True if the run is too long for a search through all shorter ones to end soon.
fn is_long(blackboard: &Blackboard, proposal: &Proposal) -> bool {
    let searched = blackboard.bound(proposal.claim).map_or(0, u64::from);
    let (Verdict::Holds(Evidence::Run(run)) | Verdict::Fails(Evidence::Run(run))) =
        &proposal.verdict
    else {
        return false;
    };
    let repeats = run.legs.iter().any(|leg| matches!(leg, Leg::Repeat { .. }));
    let (least, factor) = if repeats { LIMITS.long_run_with_repetitions } else { LIMITS.long_run };
    run.length() > least.max(searched.saturating_mul(factor))
}

/// True if it is known that nothing shorter than a run of this length decides the claim.
pub(super) fn is_shortest(blackboard: &Blackboard, claim: ClaimId, length: Option<u64>) -> bool {
    match (length, blackboard.bound(claim)) {
        (Some(0) | None, _) => true,
        (Some(length), Some(bound)) => u64::from(bound) + 1 >= length,
        (Some(_), None) => false,
    }
}

//! Makes the runs of answers short and their numbers simple before they are checked.
//!
//! From a run that is not known to be shortest, cycles are removed, and steps without which it
//! still decides the claim ([`crate::concrete::run_reduction`]); from a lasso, before its loop and
//! in it. The checker replays the result. If it does not accept it, the run that the engine found
//! is checked instead.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_system::{ClaimKind, ClaimOrigin, Evidence, Run, System, Verdict};

use super::limits::LIMITS;
use crate::concrete::run_reduction::{Effort, RunReducer};
use crate::core::Proposal;

/// See the module's documentation.
pub(super) struct ShortRuns {
    system: Arc<System>,
    started: Instant,
    /// Made when a run needs it; `Some(None)` if the system is too large.
    reducer: Option<Option<RunReducer>>,
    /// Time spent so far.
    spent: Duration,
    /// Runs so far.
    runs: u32,
}

/// How much work a run is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ShorteningEffort {
    /// A better run may come soon.
    Quick,
    /// This run will be shown.
    Full,
    /// There is no time left.
    Skip,
}

impl ShortRuns {
    pub(super) fn new(system: &Arc<System>, started: Instant) -> ShortRuns {
        let system = Arc::clone(system);
        ShortRuns { system, started, reducer: None, spent: Duration::ZERO, runs: 0 }
    }

    /// Makes the run of an answer shorter.
    pub(super) fn shorten(&mut self, proposal: &mut Proposal, effort: ShorteningEffort) {
        self.change(proposal, effort, |reducer, kind, run, effort| {
            (run.length() > 1).then(|| shorter(reducer, kind, run, effort)).flatten()
        });
    }

    /// Makes the numbers of the run of an answer simpler.
    pub(super) fn simplify(&mut self, proposal: &mut Proposal, effort: ShorteningEffort) {
        self.change(proposal, effort, |reducer, kind, run, effort| {
            reducer.with_simple_values(kind, run, effort)
        });
    }

    /// Makes the infinite run of an answer shorter: a lasso, or the way to a recurrent set.
    pub(super) fn shorten_infinite(&mut self, proposal: &mut Proposal, effort: ShorteningEffort) {
        let system = Arc::clone(&self.system);
        let claim = &system.claims()[proposal.claim.index()];
        let (Verdict::Holds(evidence) | Verdict::Fails(evidence)) = &proposal.verdict else {
            return;
        };
        let shorter = match evidence {
            Evidence::Lasso { run, back_to } if run.length() > 1 => {
                self.within_effort(effort, |reducer, effort| {
                    let (run, back_to) =
                        reducer.shorter_lasso(&claim.kind, run, *back_to, effort)?;
                    Some(Evidence::Lasso { run, back_to })
                })
            }
            Evidence::Recurrent { run, set, choices } if run.length() > 0 => {
                self.within_effort(effort, |reducer, effort| {
                    let run = shorter(reducer, &claim.kind, run, effort)?;
                    let (set, choices) = (set.clone(), choices.clone());
                    Some(Evidence::Recurrent { run, set, choices })
                })
            }
            _ => None,
        };
        if let Some(evidence) = shorter {
            replace_evidence(proposal, evidence);
        }
    }

    fn change(
        &mut self,
        proposal: &mut Proposal,
        effort: ShorteningEffort,
        how: impl Fn(&mut RunReducer, &ClaimKind, &Run, Effort) -> Option<Run>,
    ) {
        let system = Arc::clone(&self.system);
        let claim = &system.claims()[proposal.claim.index()];
        let run = match &proposal.verdict {
            Verdict::Fails(Evidence::Run(run)) => run,
            // Structural claims that hold are counted, not shown.
            Verdict::Holds(Evidence::Run(run)) if claim.origin != ClaimOrigin::Structural => run,
            _ => return,
        };
        let changed =
            self.within_effort(effort, |reducer, effort| how(reducer, &claim.kind, run, effort));
        if let Some(run) = changed {
            replace_evidence(proposal, Evidence::Run(run));
        }
    }

    /// What `how` finds within the effort that is left; `None` if there is none, or if the system
    /// is too large.
    fn within_effort<T>(
        &mut self,
        effort: ShorteningEffort,
        how: impl FnOnce(&mut RunReducer, Effort) -> Option<T>,
    ) -> Option<T> {
        let now = Instant::now();
        let allowed = (now - self.started) / LIMITS.rerun_part;
        let left = allowed.saturating_sub(self.spent).min(LIMITS.rerun_time);
        let values = match effort {
            ShorteningEffort::Skip => return None,
            ShorteningEffort::Quick => LIMITS.rerun_values_at_first,
            ShorteningEffort::Full => LIMITS.rerun_values,
        };
        // With many runs, only the share of the time counts.
        let values = if self.runs < LIMITS.rerun_runs { values } else { 0 };
        if values == 0 && left.is_zero() {
            return None;
        }
        let until = if effort == ShorteningEffort::Full { now + left } else { now };
        let reducer = self.reducer.get_or_insert_with(|| RunReducer::new(&self.system));
        let changed = how(reducer.as_mut()?, Effort { values, until });
        self.runs += 1;
        self.spent += now.elapsed();
        changed
    }
}

/// The run without what lies between equal states, and without needless steps.
fn shorter(reducer: &mut RunReducer, kind: &ClaimKind, run: &Run, effort: Effort) -> Option<Run> {
    let cut = reducer.without_cycles(kind, run);
    let shorter = reducer.without_steps(kind, cut.as_ref().unwrap_or(run), effort);
    shorter.or(cut)
}

/// Replaces the evidence of an answer, and keeps what its engine found.
fn replace_evidence(proposal: &mut Proposal, evidence: Evidence) {
    let new = match &proposal.verdict {
        Verdict::Holds(_) => Verdict::Holds(evidence),
        _ => Verdict::Fails(evidence),
    };
    let old = std::mem::replace(&mut proposal.verdict, new);
    proposal.found.get_or_insert(old);
}

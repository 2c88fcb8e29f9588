//! Verdicts as they are settled: the views of claims while the others are still being decided.
//!
//! A verdict is given to the [`VerdictObserver`] as soon as nothing can change it any more: the
//! report has the same view. A claim that holds waits until it is known that the system has a run,
//! because it would be vacuous otherwise. These verdicts wait until their system is decided:
//! - those that show a run of only one reading of the language;
//! - all, if claims may hold by the contracts of nodes, if other tools take part, or if the view of
//!   each claim has more than its verdict ([`CheckOptions::show_invariants`],
//!   [`CheckOptions::induction_counterexamples`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gander_engines::{Cancellation, CheckConfig, Event, Observer, Outcome};
use gander_report::ClaimView;
use gander_runtime::lock;
use gander_system::{ClaimId, System};

use crate::decide::{CheckContext, ambiguity_of, has_a_run_within, needs_a_run, shows_a_run};
use crate::explain::{Reason, ReasonSearch};
use crate::model::Model;
use crate::options::{Analysis, CheckOptions};
use crate::present::{Equations, outcome_view};

/// Time limit for finding out, while engines work, whether the system has a run. The query is
/// mostly an evaluation.
const RUN_TIME: Duration = Duration::from_millis(20);

/// Receives verdicts while a check goes on, on the thread that runs it.
pub trait VerdictObserver: Sync {
    /// These claims of a system are about to be decided.
    fn begin(&self, system: &System, claims: &[ClaimId]);

    /// A claim as the report will have it. Called once for each claim of the report; for those that
    /// are undecided, when the check of their system is over.
    fn settled(&self, claim: &ClaimView);
}

/// The views that were given to the observer, with the reasons in them.
#[derive(Default)]
pub(crate) struct SettledVerdicts(BTreeMap<ClaimId, (Reason, ClaimView)>);

impl SettledVerdicts {
    /// The reason for a verdict.
    pub(crate) fn reason(&self, claim: ClaimId) -> Option<Reason> {
        self.0.get(&claim).map(|(reason, _)| reason.clone())
    }

    /// The view of a verdict; it is removed.
    pub(crate) fn take(&mut self, claim: ClaimId) -> Option<ClaimView> {
        self.0.remove(&claim).map(|(_, view)| view)
    }

    /// The names of the claims.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        self.0.values().map(|(_, view)| view.name.clone()).collect()
    }
}

/// Whether the system has a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunKnown {
    NotAsked,
    Yes,
    Open,
}

struct State {
    settled: SettledVerdicts,
    runs: RunKnown,
    /// Verdicts that are final if the system has a run.
    held: Vec<Outcome>,
    reasons: ReasonSearch,
    equations: Equations,
}

/// Observes the engines for a [`VerdictObserver`].
pub(crate) struct SettledViews<'a> {
    model: &'a Model,
    system: &'a Arc<System>,
    config: &'a CheckConfig,
    options: &'a CheckOptions,
    cancel: &'a Cancellation,
    observer: &'a dyn Observer,
    verdicts: &'a dyn VerdictObserver,
    /// No verdict is final before the system is decided.
    hold_all: bool,
    state: Mutex<State>,
}

impl<'a> SettledViews<'a> {
    pub(crate) fn new(
        model: &'a Model,
        system: &'a Arc<System>,
        config: &'a CheckConfig,
        options: &'a CheckOptions,
        context: &CheckContext<'a>,
        verdicts: &'a dyn VerdictObserver,
    ) -> SettledViews<'a> {
        let hold_all = (options.analysis == Analysis::Modular && model.modules.is_some())
            || !options.tools.is_empty()
            || options.show_invariants
            || options.induction_counterexamples;
        let runs = if system.certainly_has_a_run() { RunKnown::Yes } else { RunKnown::NotAsked };
        let state = State {
            settled: SettledVerdicts::default(),
            runs,
            held: Vec::new(),
            reasons: ReasonSearch::new(options.solvers.clone()),
            equations: Equations::default(),
        };
        SettledViews {
            model,
            system,
            config,
            options,
            cancel: context.cancel,
            observer: context.observer,
            verdicts,
            hold_all,
            state: Mutex::new(state),
        }
    }

    pub(crate) fn into_settled(self) -> SettledVerdicts {
        self.state.into_inner().unwrap_or_else(|e| e.into_inner()).settled
    }

    fn settle(&self, outcome: &Outcome) {
        if self.hold_all || ambiguity_of(self.system, &outcome.verdict).is_some() {
            return;
        }
        let state = &mut *lock(&self.state);
        if state.runs != RunKnown::Yes {
            if shows_a_run(self.system, &outcome.verdict) {
                state.runs = RunKnown::Yes;
            } else if needs_a_run(self.system, &outcome.verdict) {
                if state.runs == RunKnown::NotAsked {
                    let (config, cancel) = (self.config, self.cancel);
                    let found = has_a_run_within(self.system, config, cancel, RUN_TIME);
                    state.runs = if found { RunKnown::Yes } else { RunKnown::Open };
                }
                if state.runs == RunKnown::Open {
                    return state.held.push(outcome.clone());
                }
            }
        }
        if state.runs == RunKnown::Yes {
            for held in std::mem::take(&mut state.held) {
                self.give(state, &held);
            }
        }
        self.give(state, outcome);
    }

    fn give(&self, state: &mut State, outcome: &Outcome) {
        let reason = state.reasons.reason(self.system, outcome);
        let equations = &mut state.equations;
        let view = outcome_view(self.model, self.system, outcome, &reason, equations, self.options);
        self.verdicts.settled(&view);
        state.settled.0.insert(outcome.claim, (reason, view));
    }
}

impl Observer for SettledViews<'_> {
    fn event(&self, e: &Event) {
        self.observer.event(e);
        if let Event::Settled(outcome) = e {
            self.settle(outcome);
        }
    }
}

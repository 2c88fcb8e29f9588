//! Nested checks: questions about derived systems, answered by all safety engines.
//!
//! A liveness-to-safety system is checked by the director like any other system, so all safety
//! engines serve liveness. A question gets a time slice. If it is not answered, it is asked again
//! later from the beginning with a longer slice; since slices grow geometrically, the time lost is
//! bounded by the time used.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_system::{ClaimId, Effect, Evidence, Leg, Run, State, Step, System, Verdict};
use gander_term::{SymbolId, Value, evaluate};

use super::limits::LIMITS;
use crate::core::{CheckConfig, EngineContext};

/// The result of a question.
#[derive(Debug)]
pub(super) enum Reply {
    Holds(Evidence),
    Fails(Evidence),
    /// No answer within this slice.
    Undecided,
    /// No engine can answer it.
    Unsupported(String),
}

/// The engines that work on a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EngineSelection {
    /// All engines.
    All,
    /// Only bounded model checking: the absence of runs would prove nothing.
    RunFinders,
}

/// A question: the first claim of a system.
#[derive(Debug)]
pub(super) struct NestedQuestion {
    pub system: Arc<System>,
    selection: EngineSelection,
    slice: Duration,
}

impl NestedQuestion {
    pub(super) fn new(system: System, selection: EngineSelection) -> NestedQuestion {
        NestedQuestion { system: Arc::new(system), selection, slice: LIMITS.first_slice }
    }

    /// True if only runs are searched for.
    pub(super) fn finds_runs_only(&self) -> bool {
        self.selection == EngineSelection::RunFinders
    }

    /// True if it was not asked yet.
    pub(super) fn is_new(&self) -> bool {
        self.slice == LIMITS.first_slice
    }

    /// Runs a check for one time slice.
    pub(super) fn ask(&mut self, context: &EngineContext) -> Reply {
        let outer = context.config();
        let mut config = CheckConfig::new(Arc::clone(&outer.solvers), vec![ClaimId(0)]);
        config.engines = match self.selection {
            EngineSelection::All => None,
            EngineSelection::RunFinders => Some(vec!["bmc".into()]),
        };
        config.timeout = Some(self.slice);
        config.jobs = 1;
        config.seed = outer.seed;
        config.memory = outer.memory;
        config.workers = outer.workers.clone();
        config.options = outer.options.clone();
        // Any run suffices, so do not wait for a shorter one.
        config.options.shorter_run_wait = Duration::ZERO;
        let begun = Instant::now();
        let report = context.check_nested(&self.system, &config);
        let in_time = begun.elapsed() < self.slice;
        self.slice *= LIMITS.slice_growth;
        let broken =
            report.internal_errors.first().map(|e| format!("{} broke: {}", e.engine, e.problem));
        match report.outcomes.into_iter().next().map(|o| o.verdict) {
            Some(Verdict::Holds(evidence)) => Reply::Holds(evidence),
            Some(Verdict::Fails(evidence)) => Reply::Fails(evidence),
            Some(Verdict::Unknown { why, .. }) if in_time && !context.is_cancelled() => {
                let why =
                    why.into_iter().map(|o| format!("{}: {}", o.engine, o.reason)).chain(broken);
                Reply::Unsupported(why.collect::<Vec<_>>().join("; "))
            }
            _ => Reply::Undecided,
        }
    }
}

/// A run with all its states.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub states: Vec<State>,
    pub steps: Vec<Step>,
}

impl Path {
    /// The states of a run; `None` if it is too long or a state cannot be computed.
    pub(super) fn of(system: &System, run: &Run) -> Option<Path> {
        if run.length() > LIMITS.run_steps {
            return None;
        }
        let mut path = Path { states: vec![run.first.clone()], steps: Vec::new() };
        let mut open: Vec<(&[Leg], usize, u64)> = vec![(&run.legs, 0, 0)];
        while let Some((legs, at, again)) = open.last_mut() {
            match legs.get(*at) {
                Some(Leg::Step(step)) => {
                    *at += 1;
                    let next = next_state(system, path.states.last()?, step)?;
                    path.states.push(next);
                    path.steps.push(step.clone());
                }
                Some(Leg::Repeat { times, body }) => {
                    *at += 1;
                    open.push((body, 0, times.saturating_sub(1)));
                }
                None if *again > 0 => {
                    *again -= 1;
                    *at = 0;
                }
                None => {
                    open.pop();
                }
            }
        }
        Some(path)
    }
}

fn next_state(system: &System, from: &State, step: &Step) -> Option<State> {
    let transition = system.transitions().get(step.transition.index())?;
    let node = transition.target;
    if let Some(values) = &step.next {
        return Some(State { node, values: values.clone() });
    }
    let value = |s: SymbolId| -> Option<Value> {
        let var =
            system.vars().iter().position(|v| v.current == s).and_then(|i| from.values.get(i));
        let param = || {
            transition.params.iter().position(|p| p.symbol == s).and_then(|i| step.params.get(i))
        };
        var.or_else(param).cloned()
    };
    let mut values = from.values.clone();
    for effect in &transition.effect {
        if let Effect::Assign { var, value: term, .. } = effect {
            values[var.index()] = evaluate(system.pool(), term.term(), &value).ok()?;
        }
    }
    Some(State { node, values })
}

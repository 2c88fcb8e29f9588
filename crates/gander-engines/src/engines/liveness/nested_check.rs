//! Questions about other systems, asked of all engines for safety.
//!
//! A liveness-to-safety system is checked like any system: by the director, with whatever engines there are. So everything that
//! engines for safety learn serves liveness too. A question gets a slice of time; one that was not answered is asked again
//! later from the beginning with a longer slice, so that the time lost is bounded by the time used.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_system::{ClaimId, Effect, Evidence, Leg, Run, State, Step, System, Verdict};
use gander_term::{SymbolId, Value, evaluate};

use crate::core::{CheckConfig, EngineContext};

/// The first slice of a question, and how much longer each next one is.
const FIRST_SLICE: Duration = Duration::from_millis(100);
const GROWTH: u32 = 3;

/// Runs longer than this are not followed.
const LONGEST_RUN: u64 = 1_000_000;

/// What became of a question.
#[derive(Debug)]
pub(super) enum Reply {
    Holds(Evidence),
    Fails(Evidence),
    /// Not in this slice.
    Later,
    /// Engines have nothing left to do.
    Never(String),
}

/// Whom a question goes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Whom {
    /// All engines.
    All,
    /// Those that look for runs depth by depth: the absence of runs would say nothing.
    RunFinders,
}

/// The first claim of a system as a question.
#[derive(Debug)]
pub(super) struct Inquiry {
    pub system: Arc<System>,
    whom: Whom,
    slice: Duration,
}

impl Inquiry {
    pub(super) fn new(system: System, whom: Whom) -> Inquiry {
        Inquiry { system: Arc::new(system), whom, slice: FIRST_SLICE }
    }

    /// True if it will not get a proof.
    pub(super) fn finds_runs_only(&self) -> bool {
        self.whom == Whom::RunFinders
    }

    /// True if it was not asked yet.
    pub(super) fn is_new(&self) -> bool {
        self.slice == FIRST_SLICE
    }

    /// Asks for one slice of time.
    pub(super) fn ask(&mut self, context: &EngineContext) -> Reply {
        let outer = context.config();
        let mut config = CheckConfig::new(Arc::clone(&outer.solvers), vec![ClaimId(0)]);
        config.engines = match self.whom {
            Whom::All => None,
            Whom::RunFinders => Some(vec!["bmc".into()]),
        };
        config.timeout = Some(self.slice);
        config.jobs = 1;
        config.seed = outer.seed;
        config.memory = outer.memory;
        config.options = outer.options.clone();
        // Any run will do.
        config.options.patience = Duration::ZERO;
        let begun = Instant::now();
        let report = context.check_nested(&self.system, &config);
        let in_time = begun.elapsed() < self.slice;
        self.slice *= GROWTH;
        let broken = report.internal_errors.first().map(|e| format!("{} broke: {}", e.engine, e.problem));
        match report.outcomes.into_iter().next().map(|o| o.verdict) {
            Some(Verdict::Holds(evidence)) => Reply::Holds(evidence),
            Some(Verdict::Fails(evidence)) => Reply::Fails(evidence),
            Some(Verdict::Unknown { why, .. }) if in_time && !context.is_cancelled() => {
                let why = why.into_iter().map(|o| format!("{}: {}", o.engine, o.reason)).chain(broken);
                Reply::Never(why.collect::<Vec<_>>().join("; "))
            }
            _ => Reply::Later,
        }
    }
}

/// A run step by step, with all its states.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub states: Vec<State>,
    pub steps: Vec<Step>,
}

impl Path {
    /// The states of a run; none if it is too long or a state cannot be computed.
    pub(super) fn of(system: &System, run: &Run) -> Option<Path> {
        if run.length() > LONGEST_RUN {
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
    let transition = system.transitions.get(step.transition.index())?;
    let node = transition.target;
    if let Some(values) = &step.next {
        return Some(State { node, values: values.clone() });
    }
    let value = |s: SymbolId| -> Option<Value> {
        let var = system.vars.iter().position(|v| v.current == s).and_then(|i| from.values.get(i));
        let param = || transition.params.iter().position(|p| p.symbol == s).and_then(|i| step.params.get(i));
        var.or_else(param).cloned()
    };
    let mut values = from.values.clone();
    for effect in &transition.effect {
        if let Effect::Assign { var, value: term, .. } = effect {
            values[var.index()] = evaluate(&system.pool, term.term(), &value).ok()?;
        }
    }
    Some(State { node, values })
}

//! Runs with every state written out.

use gander_system::{Leg, NodeId, Run, StartId, State, Step, System, TransitionId};
use gander_term::{Pool, Value};

use super::choices::{Before, DefinitionTable};

/// Runs with more steps, or with more values in all states together, are not written out.
pub(crate) const MAX_STEPS: u64 = 1_000;
const MAX_VALUES: u64 = 500_000;

/// A run without repetitions, with all values of all states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FlatRun {
    pub start: StartId,
    pub first_node: NodeId,
    /// One more than `steps`.
    pub states: Vec<Vec<Value>>,
    pub steps: Vec<(TransitionId, Vec<Value>)>,
}

impl FlatRun {
    /// Writes a run out; `None` if it is too long, or if a value that it omits cannot be computed.
    /// Inside a repetition, the recorded values of a step are those of the last round
    /// (docs/semantics.md, section 5).
    pub(crate) fn of(
        system: &System,
        pool: &Pool,
        table: &DefinitionTable,
        run: &Run,
    ) -> Option<FlatRun> {
        let length = run.length();
        let values = length.saturating_add(1).saturating_mul(system.vars().len().max(1) as u64);
        if length > MAX_STEPS || values > MAX_VALUES {
            return None;
        }
        let mut flat = FlatRun {
            start: run.start,
            first_node: run.first.node,
            states: vec![run.first.values.clone()],
            steps: Vec::new(),
        };
        let mut open: Vec<(&[Leg], usize, u64)> = vec![(&run.legs, 0, 0)];
        while let Some((legs, at, again)) = open.last_mut() {
            match legs.get(*at) {
                Some(Leg::Step(step)) => {
                    *at += 1;
                    let last_round = open.iter().all(|o| o.2 == 0);
                    let before = flat.states.last()?;
                    let next = match &step.next {
                        Some(next) if last_round => next.clone(),
                        given => {
                            let definitions = &table.transitions[step.transition.index()];
                            let chosen = given.as_deref().unwrap_or(before);
                            if given.is_none() && definitions.chosen.contains(&true) {
                                return None;
                            }
                            let by = Before {
                                state: before,
                                transition: step.transition,
                                params: &step.params,
                            };
                            table.values(system, pool, definitions, Some(by), chosen)?
                        }
                    };
                    flat.states.push(next);
                    flat.steps.push((step.transition, step.params.clone()));
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
        flat.states.iter().all(|s| s.len() == system.vars().len()).then_some(flat)
    }

    /// A run of no steps with the first state of a run.
    pub(crate) fn first_of(run: &Run) -> FlatRun {
        let states = vec![run.first.values.clone()];
        FlatRun { start: run.start, first_node: run.first.node, states, steps: Vec::new() }
    }

    /// The run in the form of evidence.
    pub(crate) fn run(&self) -> Run {
        let legs: Vec<Leg> = self
            .steps
            .iter()
            .zip(&self.states[1..])
            .map(|((t, params), next)| {
                Leg::Step(Step { transition: *t, params: params.clone(), next: Some(next.clone()) })
            })
            .collect();
        let first = State { node: self.first_node, values: self.states[0].clone() };
        Run { start: self.start, first, legs: legs.into() }
    }

    /// The node of the state after this many steps.
    pub(crate) fn node(&self, system: &System, state: usize) -> NodeId {
        match state {
            0 => self.first_node,
            i => system.transition(self.steps[i - 1].0).target,
        }
    }

    pub(crate) fn len(&self) -> u32 {
        self.steps.len() as u32
    }
}

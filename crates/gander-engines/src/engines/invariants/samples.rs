//! Samples: reachable states that filter candidates before a solver does. They come from simulated
//! runs, from the blackboard, and from models of base cases.

use std::sync::Arc;

use gander_runtime::Cancellation;
use gander_system::{NodeId, StartId, State, System, TransitionId};
use rustc_hash::FxHashSet;

use super::limits::LIMITS;
use crate::concrete::stepping::formula::Scope;
use crate::concrete::stepping::machine::Machine;
use crate::concrete::stepping::random::Random;

/// See the module's documentation.
pub(super) struct Samples {
    machine: Machine,
    random: Random,
    seen: FxHashSet<State>,
    by_node: Vec<Vec<State>>,
    steps: u64,
}

impl Samples {
    pub(super) fn new(system: &Arc<System>, seed: u64) -> Samples {
        Samples {
            machine: Machine::new(system, &Scope::new(system)),
            random: Random::new(seed ^ 0x1a7e),
            seen: FxHashSet::default(),
            by_node: vec![Vec::new(); system.nodes().len()],
            steps: 0,
        }
    }

    /// The states at a node.
    pub(super) fn at(&self, n: NodeId) -> &[State] {
        &self.by_node[n.index()]
    }

    /// Adds a reachable state; true if it is new.
    pub(super) fn add(&mut self, state: State) -> bool {
        let kept = &mut self.by_node[state.node.index()];
        if kept.len() >= LIMITS.samples || !self.seen.insert(state.clone()) {
            return false;
        }
        kept.push(state);
        true
    }

    /// Simulates runs of `length` steps, about `steps` in total. Of long runs, all states of the
    /// first part are kept, and every seventh of the rest.
    pub(super) fn run(&mut self, steps: u64, length: u64, cancellation: &Cancellation) {
        let system = Arc::clone(&self.machine.system);
        if system.starts().is_empty() {
            return;
        }
        let until = self.steps + steps;
        while self.steps < until && !cancellation.is_cancelled() {
            self.steps += 1;
            let start = StartId::from(self.random.below(system.starts().len()));
            let Some(mut state) = self.machine.start(start, &mut self.random) else { continue };
            self.add(state.clone());
            for i in 0..length {
                if self.steps >= until || (i % 16 == 0 && cancellation.is_cancelled()) {
                    break;
                }
                self.steps += 1;
                let mut leaving: Vec<TransitionId> = system.leaving(state.node).to_vec();
                self.random.shuffle(&mut leaving);
                let taken = leaving
                    .into_iter()
                    .find_map(|t| self.machine.take(t, &state, &mut self.random));
                let Some(taken) = taken else { break };
                state = taken.state;
                if i < LIMITS.dense_samples || i % 7 == 0 {
                    self.add(state.clone());
                }
            }
        }
    }
}

//! One attempt: best-first search until a target is met or the limit on states is reached.
//!
//! Visited states are recorded as 64-bit hashes. A collision loses a state, which is sound because
//! the engine only finds runs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::{Hash, Hasher};

use gander_runtime::Cancellation;
use gander_system::{Leg, NodeId, Run, StartId, TransitionId};
use rustc_hash::{FxHashSet, FxHasher};

use super::distance::{Distance, Grading};
use super::limits::LIMITS;
use crate::concrete::compiled::code::StepError;
use crate::concrete::compiled::machine::{Machine, Worker};
use crate::concrete::stepping::random::Random;

/// The result of an attempt or of a slice of it.
#[derive(Debug)]
pub(super) enum End {
    /// The time slice is over.
    Later,
    /// The limit on states is reached, or the search was incomplete.
    Astray,
    /// All reachable states were visited, except for hash collisions.
    Everywhere,
    Met(Run),
}

/// The origin of a state.
#[derive(Debug)]
enum From {
    Start(StartId),
    Step(u32, TransitionId, Box<[i64]>),
}

/// See the module's documentation.
#[derive(Debug)]
pub(super) struct Search {
    most: usize,
    grading: Grading,
    /// By state: its node and its origin.
    states: Vec<(NodeId, From)>,
    /// The values of the states, concatenated.
    numbers: Vec<i64>,
    /// Distance, a random tie-breaker, and the state.
    next: BinaryHeap<(Reverse<u32>, u32, u32)>,
    seen: FxHashSet<u64>,
    workers: Option<(Worker, Worker)>,
    /// Some start states or steps were skipped.
    partial: bool,
}

/// Newly found states: node, origin, values.
type Fresh = Vec<(NodeId, From, Vec<i64>)>;

impl Search {
    /// An attempt that ends after `most` states.
    pub(super) fn new(most: usize, grading: Grading) -> Search {
        Search {
            most,
            grading,
            states: Vec::new(),
            numbers: Vec::new(),
            next: BinaryHeap::new(),
            seen: FxHashSet::default(),
            workers: None,
            partial: false,
        }
    }

    /// Continues the attempt until it ends or is cancelled.
    pub(super) fn resume(
        &mut self,
        machine: &Machine,
        distances: &mut [Distance],
        random: &mut Random,
        cancellation: &Cancellation,
    ) -> Result<End, StepError> {
        let (mut steps, mut look) = match self.workers.take() {
            Some(workers) => workers,
            None => (machine.worker(), machine.worker()),
        };
        let end = self.expand_all(machine, distances, random, cancellation, &mut steps, &mut look);
        self.workers = Some((steps, look));
        end
    }

    fn expand_all(
        &mut self,
        machine: &Machine,
        distances: &mut [Distance],
        random: &mut Random,
        cancellation: &Cancellation,
        steps: &mut Worker,
        look: &mut Worker,
    ) -> Result<End, StepError> {
        let mut fresh: Fresh = Vec::new();
        if self.states.is_empty() {
            let looked = machine.each_start(steps, cancellation, &mut |start, node, numbers| {
                fresh.push((node, From::Start(start), numbers.to_vec()));
                fresh.len() >= LIMITS.starts
            });
            self.partial |= is_cut(looked)? || fresh.len() >= LIMITS.starts;
            if let Some(run) = self.take(machine, distances, random, look, &mut fresh)? {
                return Ok(End::Met(run));
            }
        }
        for i in 0u32.. {
            if self.states.is_empty() && self.partial || self.states.len() >= self.most {
                return Ok(End::Astray);
            }
            if i.is_multiple_of(16) && cancellation.is_cancelled() {
                return Ok(End::Later);
            }
            let Some((_, _, at)) = self.next.pop() else {
                return Ok(if self.partial { End::Astray } else { End::Everywhere });
            };
            let node = self.states[at as usize].0;
            let here = self.numbers(machine, at).to_vec();
            let looked = machine.each_step(
                node,
                &here,
                steps,
                cancellation,
                &mut |t, node, params, next| {
                    fresh.push((node, From::Step(at, t, params.into()), next.to_vec()));
                    fresh.len() >= LIMITS.steps
                },
            );
            self.partial |= is_cut(looked)? || fresh.len() >= LIMITS.steps;
            if let Some(run) = self.take(machine, distances, random, look, &mut fresh)? {
                return Ok(End::Met(run));
            }
        }
        Ok(End::Later)
    }

    /// Adds new states. Returns a run if one of them meets a target.
    fn take(
        &mut self,
        machine: &Machine,
        distances: &mut [Distance],
        random: &mut Random,
        look: &mut Worker,
        fresh: &mut Fresh,
    ) -> Result<Option<Run>, StepError> {
        for (node, from, numbers) in fresh.drain(..) {
            let mut hasher = FxHasher::default();
            (node, &numbers).hash(&mut hasher);
            if !self.seen.insert(hasher.finish()) {
                continue;
            }
            let mut nearest = u32::MAX;
            for distance in &mut *distances {
                nearest =
                    nearest.min(distance.from(machine, node, &numbers, self.grading, look)?);
            }
            let at = self.states.len() as u32;
            self.states.push((node, from));
            self.numbers.extend_from_slice(&numbers);
            if nearest == 0 {
                return Ok(self.run_to(machine, at));
            }
            self.next.push((Reverse(nearest), random.below(1 << 31) as u32, at));
        }
        Ok(None)
    }

    fn numbers(&self, machine: &Machine, at: u32) -> &[i64] {
        let size = machine.system.vars().len();
        &self.numbers[at as usize * size..][..size]
    }

    fn run_to(&self, machine: &Machine, end: u32) -> Option<Run> {
        let (mut at, mut steps) = (end, Vec::new());
        let start = loop {
            match &self.states[at as usize].1 {
                From::Start(start) => break *start,
                From::Step(before, transition, params) => {
                    steps.push(Leg::Step(machine.step(
                        *transition,
                        params,
                        self.numbers(machine, at),
                    )));
                    at = *before;
                }
            }
        };
        steps.reverse();
        let first = machine.state(self.states[at as usize].0, self.numbers(machine, at));
        Some(Run { start, first, legs: steps.into_iter().collect() })
    }
}

/// True if the enumeration of starts or steps was cancelled. The search continues with those found,
/// and is incomplete.
fn is_cut(looked: Result<(), StepError>) -> Result<bool, StepError> {
    match looked {
        Err(StepError::Cancelled) => Ok(true),
        other => other.map(|()| false),
    }
}

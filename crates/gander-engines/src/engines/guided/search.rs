//! One attempt: best first, until a target is met or so many states were seen.
//!
//! States that were seen are known by a hash of 64 bits: a collision loses a state, which only a proof would mind.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::{Hash, Hasher};

use gander_runtime::Cancellation;
use gander_system::{Leg, NodeId, Run, StartId, TransitionId};
use rustc_hash::{FxHashSet, FxHasher};

use super::distance::{Distance, Grading};
use crate::concrete::compiled::code::Trouble;
use crate::concrete::compiled::machine::{Machine, Worker};
use crate::concrete::stepping::random::Random;

/// Start states that an attempt begins with, and steps from a state that it looks at.
const MOST_STARTS: usize = 64;
const MOST_STEPS: usize = 2048;

/// How an attempt, or a piece of it, ended.
#[derive(Debug)]
pub(super) enum End {
    /// There is more to do.
    Later,
    /// Enough states were seen.
    Astray,
    /// All states that can be reached were seen, but for collisions.
    Everywhere,
    Met(Run),
}

/// How a state was come to.
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
    /// By state: its node, and how it was come to.
    states: Vec<(NodeId, From)>,
    /// The numbers of the states, one after the other.
    numbers: Vec<i64>,
    /// Distance, a random number, and the state.
    next: BinaryHeap<(Reverse<u32>, u32, u32)>,
    seen: FxHashSet<u64>,
    workers: Option<(Worker, Worker)>,
    /// Something was left out.
    partial: bool,
}

/// States that were just found: node, origin, numbers.
type Fresh = Vec<(NodeId, From, Vec<i64>)>;

impl Search {
    /// An attempt that ends after so many states.
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

    /// Goes on until somebody wants it to stop.
    pub(super) fn go_on(
        &mut self,
        machine: &Machine,
        distances: &mut [Distance],
        random: &mut Random,
        cancellation: &Cancellation,
    ) -> Result<End, Trouble> {
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
    ) -> Result<End, Trouble> {
        let mut fresh: Fresh = Vec::new();
        if self.states.is_empty() {
            let looked = machine.each_start(steps, cancellation, &mut |start, node, numbers| {
                fresh.push((node, From::Start(start), numbers.to_vec()));
                fresh.len() >= MOST_STARTS
            });
            self.partial |= is_cut(looked)? || fresh.len() >= MOST_STARTS;
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
            let looked = machine.each_step(node, &here, steps, cancellation, &mut |t, node, params, next| {
                fresh.push((node, From::Step(at, t, params.into()), next.to_vec()));
                fresh.len() >= MOST_STEPS
            });
            self.partial |= is_cut(looked)? || fresh.len() >= MOST_STEPS;
            if let Some(run) = self.take(machine, distances, random, look, &mut fresh)? {
                return Ok(End::Met(run));
            }
        }
        Ok(End::Later)
    }

    /// Takes states that are new; a run if one of them meets a target.
    fn take(
        &mut self,
        machine: &Machine,
        distances: &mut [Distance],
        random: &mut Random,
        look: &mut Worker,
        fresh: &mut Fresh,
    ) -> Result<Option<Run>, Trouble> {
        for (node, from, numbers) in fresh.drain(..) {
            let mut hasher = FxHasher::default();
            (node, &numbers).hash(&mut hasher);
            if !self.seen.insert(hasher.finish()) {
                continue;
            }
            let mut nearest = u32::MAX;
            for distance in &mut *distances {
                nearest = nearest.min(distance.from(machine, node, &numbers, self.grading, look)?);
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
        let size = machine.system.vars.len();
        &self.numbers[at as usize * size..][..size]
    }

    fn run_to(&self, machine: &Machine, end: u32) -> Option<Run> {
        let (mut at, mut steps) = (end, Vec::new());
        let start = loop {
            match &self.states[at as usize].1 {
                From::Start(start) => break *start,
                From::Step(before, transition, params) => {
                    steps.push(Leg::Step(machine.step(*transition, params, self.numbers(machine, at))));
                    at = *before;
                }
            }
        };
        steps.reverse();
        let first = machine.state(self.states[at as usize].0, self.numbers(machine, at));
        Some(Run { start, first, legs: steps.into_iter().collect() })
    }
}

/// True if a look at starts or steps took too long: what it found is gone on with, and something was left out.
fn is_cut(looked: Result<(), Trouble>) -> Result<bool, Trouble> {
    match looked {
        Err(Trouble::Cancelled) => Ok(true),
        other => other.map(|()| false),
    }
}

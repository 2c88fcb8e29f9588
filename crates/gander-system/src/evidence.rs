//! Verdicts and the evidence they carry.
//!
//! Evidence speaks of the system as the front-end produced it. Which evidence shows which claim in which direction,
//! and how it is checked, is in docs/semantics.md; `gander-certify` does the checking.

use std::sync::Arc;

use gander_term::{Pool, TermId, Value};

use crate::system::{NodeId, StartId, TransitionId};

/// A state: a node and a value for every state variable, in the order of [`crate::System::vars`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// The node.
    pub node: NodeId,
    /// The values.
    pub values: Vec<Value>,
}

/// A step of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The transition that is taken.
    pub transition: TransitionId,
    /// The values of its parameters.
    pub params: Vec<Value>,
    /// The values of the variables afterwards; may be left out where the effect is only assignments and frames.
    pub next: Option<Vec<Value>>,
}

/// A part of a run: a step, or a body that is repeated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Leg {
    /// One step.
    Step(Step),
    /// The body, `times` times over.
    Repeat {
        /// How often, at least once.
        times: u64,
        /// What is repeated.
        body: Vec<Leg>,
    },
}

/// A run: it starts with a start transition and takes steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// The start transition.
    pub start: StartId,
    /// The first state.
    pub first: State,
    /// What follows.
    pub legs: Vec<Leg>,
}

impl Run {
    /// The number of steps, repetitions counted out; saturates.
    pub fn length(&self) -> u64 {
        fn count(legs: &[Leg]) -> u64 {
            legs.iter().fold(0, |n, leg| {
                n.saturating_add(match leg {
                    Leg::Step(_) => 1,
                    Leg::Repeat { times, body } => times.saturating_mul(count(body)),
                })
            })
        }
        count(&self.legs)
    }
}

/// A formula for each node, in the order of [`crate::System::nodes`], over state variables.
#[derive(Clone, Debug)]
pub struct NodeFormulas {
    /// A fork of the system's pool that holds the formulas.
    pub pool: Arc<Pool>,
    /// The formulas.
    pub by_node: Vec<TermId>,
}

/// What shows that a claim holds, or that it fails.
///
/// Further kinds of docs/semantics.md (closed set, accelerated, ranking, recurrent set) become variants with the engines
/// that produce them. A contract tree speaks of several systems of a source, so it is no evidence about one: the facade has it.
#[derive(Clone, Debug)]
pub enum Evidence {
    /// A run to the end that matters: the state or step that shows or breaks the claim is its last one.
    Run(Run),
    /// Formulas that starts satisfy, every transition keeps, and that imply what is to be shown.
    Invariant(NodeFormulas),
    /// Formulas `I` such that every run of fewer than `k` steps satisfies `I` throughout, `I` in `k` successive states
    /// implies `I` in the next, and `I` implies what is to be shown. `k >= 1`; 1 is an ordinary invariant.
    KInductive {
        /// The depth.
        k: u32,
        /// The formulas.
        invariant: NodeFormulas,
        /// The states of the step case may be taken pairwise distinct (node and all variables).
        loop_free: bool,
        /// The states of the step case but the first may be taken not to satisfy any start.
        no_restart: bool,
    },
    /// No loop-free run has more than `k` steps, and no run of at most `k` steps meets what must not be met.
    Diameter {
        /// The bound.
        k: u32,
    },
    /// For claims about a single formula (a start transition): it has no solution.
    Refutation,
    /// For a chain of goals that no run meets: evidence that the last stage of the system which `passes::chain` makes
    /// of the claim is not reachable. The checker makes that system again.
    OfChain(Box<Evidence>),
}

/// How an engine, or the portfolio, did not decide a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Obstacle {
    /// Who was stopped.
    pub engine: String,
    /// By what, and what would help.
    pub reason: String,
}

/// The answer to a claim.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The claim holds.
    Holds(Evidence),
    /// The claim fails.
    Fails(Evidence),
    /// It was not decided.
    Unknown {
        /// No run of at most this many steps decides it.
        explored_through: Option<u32>,
        /// What stopped each engine.
        why: Vec<Obstacle>,
    },
}

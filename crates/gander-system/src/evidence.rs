//! Verdicts and the evidence they carry.
//!
//! Evidence speaks of the system as the front-end produced it. Which evidence shows which claim in which direction,
//! and how it is checked, is in docs/semantics.md; `gander-certify` does the checking.

use std::sync::Arc;

use gander_term::{Pool, TermId, Value};

use crate::legs::Legs;
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
    pub legs: Legs,
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
        if self.legs.is_flat() { self.legs.len() as u64 } else { count(&self.legs) }
    }
}

/// A formula for each node, in the order of [`crate::System::nodes`], over state variables.
///
/// A copy shares pool and list, so one invariant can be the evidence for thousands of claims.
#[derive(Clone, Debug)]
pub struct NodeFormulas {
    /// A fork of the system's pool that holds the formulas.
    pub pool: Arc<Pool>,
    /// The formulas.
    pub by_node: Arc<[TermId]>,
}

impl NodeFormulas {
    /// True if both are copies of one: then they say the same, and that is known without looking.
    pub fn is_copy_of(&self, other: &NodeFormulas) -> bool {
        Arc::ptr_eq(&self.pool, &other.pool) && Arc::ptr_eq(&self.by_node, &other.by_node)
    }
}

/// Terms for each node, in the order of [`crate::System::nodes`], over state variables.
#[derive(Clone, Debug)]
pub struct NodeTerms {
    /// A fork of the system's pool that holds the terms.
    pub pool: Arc<Pool>,
    /// The terms.
    pub by_node: Vec<Vec<TermId>>,
}

/// How a step is chosen in states of a node.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The transition to take; it leaves the node that the choice is for.
    pub transition: TransitionId,
    /// Where to take it, over state variables.
    pub when: TermId,
    /// The values of its parameters, over state variables; where there is none, some value does it.
    pub params: Vec<Option<TermId>>,
    /// The next values of variables, over state variables, in the order of [`crate::System::vars`]; where there is none,
    /// the effect gives it, or some value does it.
    pub next: Vec<Option<TermId>>,
}

/// Choices, with the pool that holds their terms: a fork of the system's.
#[derive(Clone, Debug)]
pub struct Choices {
    /// The pool.
    pub pool: Arc<Pool>,
    /// The choices.
    pub list: Vec<Choice>,
}

/// Why no run of a liveness-to-safety system ([`crate::passes::liveness_to_safety`]) has infinitely many rounds.
#[derive(Clone, Debug)]
pub enum Rounds {
    /// No run has more than `k`: evidence that the claim of `Aspect::AtMost(k)` holds.
    AtMost {
        /// The bound.
        k: u32,
        /// What shows it.
        proof: Box<Evidence>,
    },
    /// No pending state comes again: evidence that the claim of `Aspect::Repetition(bounds)` holds.
    NoRepetition {
        /// By variable: the least and the greatest value of an int.
        bounds: Vec<Option<(gander_term::IBig, gander_term::IBig)>>,
        /// What shows it.
        proof: Box<Evidence>,
    },
    /// Each round makes a tuple of ranks smaller, in the system of `Aspect::Rounds`.
    Ranking {
        /// An inductive invariant that supports it.
        invariant: NodeFormulas,
        /// By node: a tuple of numbers; of the same length for all pending nodes.
        ranks: NodeTerms,
    },
}

/// What shows that a claim holds, or that it fails.
///
/// What docs/semantics.md calls accelerated becomes a variant with the engine that produces it. A contract tree speaks of
/// several systems of a source, so it is no evidence about one: the facade has it.
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
    /// The reachable states are finitely many and can be enumerated; the checker does so and decides the claim on what
    /// it finds.
    ClosedSet {
        /// The number of reachable states.
        states: u64,
    },
    /// For claims about the states of runs: no step leaves the trap, and no state of it is one that must not be met; and
    /// `proof` shows the claim of the runs that stay outside of it ([`crate::passes::outside`]).
    Outside {
        /// The states that need not be looked at.
        trap: NodeFormulas,
        /// Evidence about the system of the runs outside.
        proof: Box<Evidence>,
    },
    /// For claims about a single formula (a start transition): it has no solution.
    Refutation,
    /// For a chain of goals that no run meets: evidence that the last stage of the system which `passes::chain` makes
    /// of the claim is not reachable. The checker makes that system again.
    OfChain(Box<Evidence>),
    /// A run that goes on for ever: its last state is one that it visited before.
    Lasso {
        /// The run, once around the loop.
        run: Run,
        /// The number of steps behind which the last state was visited before.
        back_to: u64,
    },
    /// A run into a set of states in which another run can stay for ever.
    Recurrent {
        /// The run.
        run: Run,
        /// The set.
        set: NodeFormulas,
        /// In each state of the set, a step into the set.
        choices: Choices,
    },
    /// No run of the kind that the claim asks for exists ([`crate::passes::Asked`]).
    NoSuchRun {
        /// No pending state is stuck: evidence about the system of `Aspect::Stuck`; none if finite runs do not count.
        stuck: Option<Box<Evidence>>,
        /// No infinite run.
        rounds: Rounds,
    },
    /// For a claim that something is always possible: a set of states that is never left, in which some step makes a tuple of
    /// ranks smaller as long as it is not the case.
    Possible {
        /// The set.
        set: NodeFormulas,
        /// Every reachable state is in the set: evidence that the claim of [`crate::passes::within`] holds.
        proof: Box<Evidence>,
        /// By node: a tuple of numbers, of the same length everywhere.
        ranks: NodeTerms,
        /// In each state of the set where it is not the case, a step into the set that makes the ranks smaller.
        choices: Choices,
    },
    /// For a claim that something is always possible: a run to a state from which it is not.
    Impossible {
        /// The run.
        run: Run,
        /// Evidence that the claim of [`crate::passes::started_at`] holds.
        proof: Box<Evidence>,
    },
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

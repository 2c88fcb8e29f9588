//! Verdicts and the evidence they carry.
//!
//! Evidence is about the system as the front-end produced it. docs/semantics.md defines which
//! evidence shows which claim, and how it is checked; `gander-certify` checks it.

mod file;
mod legs;

use std::sync::Arc;

use gander_term::{Pool, TermId, Value};

use crate::system::{NodeId, StartId, TransitionId};

pub use file::{
    Decided, EVIDENCE_SCHEMA, EvidenceFile, EvidenceFileError, Provenance, evidence_json,
    read_evidence, read_evidence_text, write_evidence,
};
pub use legs::Legs;

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
    /// The values of the variables afterwards; optional if the effect has only assignments and
    /// frames.
    pub next: Option<Vec<Value>>,
}

/// A part of a run: a step, or a body that is repeated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Leg {
    /// One step.
    Step(Step),
    /// The body, repeated `times` times.
    Repeat {
        /// The number of rounds, at least 1.
        times: u64,
        /// The legs of one round.
        body: Vec<Leg>,
    },
}

impl Leg {
    /// The number of steps of these legs with repetitions unfolded; saturates.
    pub fn count_steps(legs: &[Leg]) -> u64 {
        let mut total: u64 = 0;
        let mut stack: Vec<(&Leg, u64)> = legs.iter().map(|leg| (leg, 1)).collect();
        while let Some((leg, times_around)) = stack.pop() {
            match leg {
                Leg::Step(_) => total = total.saturating_add(times_around),
                Leg::Repeat { times, body } => {
                    let times = times.saturating_mul(times_around);
                    stack.extend(body.iter().map(|leg| (leg, times)));
                }
            }
        }
        total
    }
}

/// A run: it starts with a start transition and takes steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// The start transition.
    pub start: StartId,
    /// The first state.
    pub first: State,
    /// The steps after it.
    pub legs: Legs,
}

impl Run {
    /// The number of steps with repetitions unfolded; saturates.
    pub fn length(&self) -> u64 {
        if self.legs.is_flat() { self.legs.len() as u64 } else { Leg::count_steps(&self.legs) }
    }
}

/// A formula for each node, in the order of [`crate::System::nodes`], over state variables.
///
/// A clone shares pool and list, so one invariant can be the evidence for thousands of claims.
#[derive(Clone, Debug)]
pub struct NodeFormulas {
    /// A fork of the system's pool that holds the formulas.
    pub pool: Arc<Pool>,
    /// The formulas.
    pub by_node: Arc<[TermId]>,
}

impl NodeFormulas {
    /// True if both are clones of one list. No formula is compared.
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

/// The choice of a step in states of a node.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The transition to take; it leaves the node that the choice is for.
    pub transition: TransitionId,
    /// The states where the choice applies, over state variables.
    pub when: TermId,
    /// The values of its parameters, over state variables; `None`: some value exists.
    pub params: Vec<Option<TermId>>,
    /// The next values of variables, over state variables, in the order of [`crate::System::vars`];
    /// `None`: the effect determines it, or some value exists.
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

/// Why no run of a liveness-to-safety system ([`crate::passes::liveness_to_safety`]) has infinitely
/// many rounds.
#[derive(Clone, Debug)]
pub enum Rounds {
    /// No run has more than `k` rounds: evidence that the claim of `Aspect::AtMost(k)` holds.
    AtMost {
        /// The bound.
        k: u32,
        /// What shows it.
        proof: Box<Evidence>,
    },
    /// No pending state is repeated: evidence that the claim of `Aspect::Repetition(bounds)` holds.
    NoRepetition {
        /// By variable: the least and the greatest value of an int.
        bounds: Vec<Option<(gander_term::IBig, gander_term::IBig)>>,
        /// What shows it.
        proof: Box<Evidence>,
    },
    /// Each round makes a tuple of ranks smaller, in the system of `Aspect::Rounds`.
    Ranking {
        /// An inductive invariant under which the ranks decrease.
        invariant: NodeFormulas,
        /// By node: a tuple of numbers, of the same length at all pending nodes.
        ranks: NodeTerms,
    },
}

/// Evidence that a claim holds, or that it fails.
///
/// A contract tree is about several systems of one source, so it is no evidence about one system:
/// the facade (crate `gander`) has it.
#[derive(Clone, Debug)]
pub enum Evidence {
    /// A run whose last state or step shows that the claim holds, or that it fails.
    Run(Run),
    /// An inductive invariant: starts satisfy it, transitions preserve it, and it excludes bad
    /// states and steps.
    Invariant(NodeFormulas),
    /// A k-inductive invariant `I`: every run of fewer than `k` steps satisfies `I` throughout, `I`
    /// in `k` successive states implies `I` in the next one, and `I` excludes bad states and steps.
    /// `k >= 1`; with `k = 1` it is an inductive invariant.
    KInductive {
        /// The depth.
        k: u32,
        /// The formulas.
        invariant: NodeFormulas,
        /// The step case assumes that states are pairwise distinct.
        loop_free: bool,
        /// The step case assumes that no state but the first is a start state.
        no_restart: bool,
    },
    /// No loop-free run has more than `k` steps, and no run of at most `k` steps reaches a bad
    /// state or takes a bad step.
    Diameter {
        /// The bound.
        k: u32,
    },
    /// There are finitely many reachable states; the checker enumerates them and decides the claim.
    ClosedSet {
        /// The number of reachable states.
        states: u64,
    },
    /// For claims about the states of runs: no step leaves the trap, and it has no bad state;
    /// `proof` shows the claim for the runs that stay outside of it ([`crate::passes::outside`]).
    Outside {
        /// The trap.
        trap: NodeFormulas,
        /// Evidence about the system of the runs outside.
        proof: Box<Evidence>,
    },
    /// For a claim about a single formula (a start): it has no solution.
    Refutation,
    /// For a chain of goals that no run meets: evidence that the last stage of the chain system
    /// ([`crate::passes::chain`]) is unreachable. The checker builds that system again.
    OfChain(Box<Evidence>),
    /// An infinite run: the last state of `run` is one that it visited before.
    Lasso {
        /// The run, once around the loop.
        run: Run,
        /// The number of steps after which the last state was visited first.
        back_to: u64,
    },
    /// A run into a set of states in which some run can stay forever.
    Recurrent {
        /// The run.
        run: Run,
        /// The set.
        set: NodeFormulas,
        /// In each state of the set, a step into the set.
        choices: Choices,
    },
    /// No run as described by [`crate::passes::DecidingRuns`] exists.
    NoSuchRun {
        /// No pending state is stuck: evidence about the system of `Aspect::Stuck`; `None` if
        /// finite runs do not count.
        stuck: Option<Box<Evidence>>,
        /// No infinite run.
        rounds: Rounds,
    },
    /// For an *always possible* claim: a set of states that is never left, in which some step makes
    /// a tuple of ranks smaller until the goal is reached.
    Possible {
        /// The set.
        set: NodeFormulas,
        /// Every reachable state is in the set: evidence that the claim of
        /// [`crate::passes::within`] holds.
        proof: Box<Evidence>,
        /// By node: a tuple of numbers, of the same length at all nodes.
        ranks: NodeTerms,
        /// In each state of the set outside of the goal, a step that makes the ranks smaller.
        choices: Choices,
    },
    /// For an *always possible* claim: a run to a state from which the goal is unreachable.
    Impossible {
        /// The run.
        run: Run,
        /// Evidence that the claim of [`crate::passes::started_at`] holds.
        proof: Box<Evidence>,
    },
}

/// Why an engine, or the portfolio, did not decide a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Obstacle {
    /// The engine.
    pub engine: String,
    /// What stopped it, and what would help.
    pub reason: String,
}

/// The verdict about a claim.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The claim holds.
    Holds(Evidence),
    /// The claim fails.
    Fails(Evidence),
    /// The claim was not decided.
    Unknown {
        /// No run of at most this many steps decides the claim.
        explored_through: Option<u32>,
        /// What stopped each engine.
        why: Vec<Obstacle>,
    },
}

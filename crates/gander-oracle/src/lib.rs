//! A brute-force oracle and generators of random small systems, to test gander against.
//!
//! # What the oracle decides
//!
//! [`decide`] enumerates the reachable states of a system and decides every claim on them. It is
//! deliberately independent: it was written from docs/semantics.md alone, and shares no code with
//! the evaluator of terms, the simplifier, the passes or any engine. A mistake in one of those is
//! therefore not repeated here. Only the data types of terms and systems, and the number types, are
//! shared.
//!
//! - A state is a node with a value for each variable. It exists only if all assumptions are true
//!   of it.
//! - A choice is a transition with parameters whose guard is true in a state at its source. A step
//!   is a choice with a next state that exists, at the target, for which every part of the effect
//!   is true. A choice without any step is still *enabled*; it is *completable* if next values
//!   satisfy the effect whether or not they break an assumption.
//! - The reachable states are those that steps lead to from start states; the distance of a state
//!   is the least number of steps. All claims are about reachable states and the steps between
//!   them:
//!
//! | claim | is decided as |
//! |---|---|
//! | always P | no state without P |
//! | reachable G1 then ... | a path in the product of the graph with the number of goals met |
//! | can enable t | a state with a choice of t |
//! | no sinkhole n | no state at n without a choice |
//! | satisfiable start s | s has a start state |
//! | completable t | no state with a choice of t that is not completable |
//! | no deadlock | no state without a step, but at final nodes |
//! | infinite run | a cycle |
//! | eventually P | no path from a start state, all in not P, to a state without a step or into a fair cycle in not P |
//! | always eventually P | no state without P and without a step; no fair cycle in not P |
//! | P leads to Q | no state with P from which a path in not Q leads to a state without a step or into a fair cycle in not Q |
//! | always possible P | no state from which no path leads to P |
//! | exists always P | a path from a start state, all in P, to a state without a step or into a cycle in P |
//!
//! A *fair cycle* is a strongly connected set of states with a step in it that satisfies every
//! fairness constraint in the limit; whether a transition "can be completed" in one of its states
//! is asked of the whole system, whether it "is taken" of steps within the set.
//!
//! The oracle guesses no domains: if it cannot read a finite set of candidates for a parameter, an
//! input or a next value off the formulas, it refuses ([`Refusal`]).
//!
//! # What else is here
//!
//! [`generate`] makes random systems with claims, [`compare`] compares a [`Decider`] with the
//! oracle on them, [`shrink`] reduces a system that shows a disagreement, [`describe`] prints it.
//! [`generate_open`] makes random systems with arrays of an open size, and [`compare_open`]
//! compares them with the systems of each size. [`compositions`] makes random compositions, with
//! their states by an interpreter of docs/semantics.md, section 6. [`languages`] generates random
//! models in every input language, with an independent interpreter for each language.
//!
//! ```
//! use gander_oracle::{Limits, decide};
//!
//! let source = "spec Counter
//!     var x: int
//!     start { x == 0 }
//!     step up when x < 3 { x := x + 1 }
//!     always small: x < 3
//! ";
//! let system = gander_lang::sts::load(source, "counter.sts").system.unwrap();
//! let small = system.claims().iter().position(|c| c.name == "small").unwrap();
//! let answer = decide(&system, Limits::default()).unwrap()[small].clone().unwrap();
//! // Three steps lead to a state that violates the claim.
//! assert_eq!((answer.holds, answer.length), (false, Some(3)));
//! ```

mod compare;
pub mod compositions;
mod decide;
mod describe;
mod generate;
pub mod languages;
mod open;
mod random;
mod shrink;
mod tier;

use std::fmt;

use gander_system::System;

pub use compare::{Comparison, Decider, Decision, Disagreement, Lengths, Report, Tally, compare};
pub use decide::explore::{Choice, Reachable};
pub use decide::{Answer, decide_claim};
pub use describe::describe;
pub use generate::{
    Emphasis, Flavour, GeneratedSystem, Settings, Shape, Size, generate, generate_with,
};
pub use open::{OpenRun, OpenRuns, OpenSystem, SIZES, compare_open, generate_open};
pub use shrink::{Effort, shrink};
pub use tier::Tier;

/// Limits of the oracle; beyond them it refuses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Limits the reachable states.
    pub states: usize,
    /// Limits the applications of operators, for the exploration and for each claim separately.
    pub work: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { states: 5_000, work: 20_000_000 }
    }
}

/// Why the oracle refuses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The formulas give no finite set of candidates for this variable.
    Unbounded(String),
    /// More reachable states than allowed.
    TooManyStates,
    /// More work than allowed, or numbers that are too large.
    TooMuchWork,
    /// A term is nested too deeply.
    TooDeep,
    /// A term is not well-sorted, or has a variable that is not part of the system. No builder
    /// makes such a system.
    IllSorted,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Unbounded(name) => {
                write!(f, "no finite set of values for `{name}` can be read off")
            }
            Refusal::TooManyStates => write!(f, "too many reachable states"),
            Refusal::TooMuchWork => write!(f, "too much work"),
            Refusal::TooDeep => write!(f, "a term is nested too deeply"),
            Refusal::IllSorted => write!(f, "a term is not well-sorted"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Decides every claim of a system, in the order of [`System::claims`].
pub fn decide(system: &System, limits: Limits) -> Result<Vec<Result<Answer, Refusal>>, Refusal> {
    let graph = Reachable::explore(system, system.pool(), limits)?;
    Ok(system
        .claims()
        .iter()
        .map(|c| decide_claim(system, system.pool(), &graph, &c.kind, limits))
        .collect())
}

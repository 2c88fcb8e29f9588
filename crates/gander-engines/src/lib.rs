//! The engines of the gander model checker, the facts blackboard and the director.
//!
//! [`check`] decides claims of a system: the director runs the engines of [`engines`], which share
//! facts over a [`Blackboard`], and has every answer checked by `gander-certify` before it is
//! reported.
//!
//! Invariants of this crate:
//! - no verdict leaves [`check`] without having been certified;
//! - engines do not import each other; they share facts on the blackboard;
//! - every engine stops within 100 ms of being cancelled, solver children included;
//! - a panicking engine or a crashed solver loses its own answers, never the check.

mod arith;
mod candidates;
mod concrete;
mod core;
mod director;
mod encode;
mod engines;
mod portfolio;
#[cfg(test)]
mod seeded_bugs;

pub use crate::arith::eliminate::eliminate;
pub use crate::core::{
    Advance, BddOptions, Blackboard, CheckConfig, CheckReport, Cursor, Engine, EngineAccount,
    EngineContext, EngineEnding, EngineInfo, EngineOptions, Event, Fact, InductionOptions,
    InternalError, InvariantOptions, Method, NodeOptions, NullObserver, Observer, Outcome,
    PathOptions, PathOrder, ProvedInvariant, Purpose, Schedule, SimulationOptions, WorkerBudget,
    portable, shortest_by_itself,
};
pub use director::{check, check_with};
pub use engines::engines;
pub use gander_runtime::Cancellation;
pub use portfolio::{Conditions, ModelProfile, Part, Plan, Portfolio, PortfolioError};

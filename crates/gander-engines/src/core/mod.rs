//! What engines build on: the engine trait, its context, the blackboard, configuration, limits and
//! reports.
//!
//! Invariant: nothing here imports an engine, the director or an encoding.

mod blackboard;
mod config;
mod context;
mod engine;
mod limits;
pub(crate) mod memory;
mod reduction;
mod report;
pub(crate) mod retry;
mod schedule;
mod worker_budget;

pub use blackboard::{Blackboard, Cursor, Fact, ProvedInvariant, portable};
pub use config::{
    BddOptions, CheckConfig, EngineOptions, InductionOptions, InvariantOptions, Method,
    NodeOptions, PathOptions, PathOrder, SimulationOptions,
};
pub use context::{EngineContext, Likelihood, Purpose};
pub(crate) use context::{Message, Proposal};
pub use engine::{Advance, Engine, EngineInfo};
pub(crate) use reduction::Reduction;
pub use report::{
    CheckReport, Event, InternalError, NullObserver, Observer, Outcome, shortest_by_itself,
};
pub use schedule::{EngineAccount, EngineEnding, Schedule};
pub use worker_budget::WorkerBudget;

/// A number of steps in words.
pub(crate) fn steps(n: u32) -> String {
    if n == 1 { "1 step".to_string() } else { format!("{n} steps") }
}

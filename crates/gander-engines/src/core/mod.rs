//! The frame that engines work in: the engine trait, its context, the blackboard, configuration, limits and reports.
//!
//! Invariant: nothing here imports an engine, the director or an encoding.

mod blackboard;
mod config;
mod context;
mod engine;
pub(crate) mod limits;
mod reduction;
mod report;
pub(crate) mod retry;
mod schedule;

pub use blackboard::{Blackboard, Cursor, Fact, ProvedInvariant, portable};
pub use config::{
    BddOptions, CheckConfig, EngineOptions, InductionOptions, InvariantOptions, NodeOptions, PathOptions, PathOrder,
    SimulationOptions,
};
pub use context::{EngineContext, Purpose};
pub(crate) use context::{Message, Proposal};
pub use engine::{Advance, Engine, EngineInfo};
pub(crate) use reduction::Reduction;
pub use report::{CheckReport, Event, InternalError, NullObserver, Observer, Outcome};
pub use schedule::{EngineAccount, EngineEnding, Schedule};

//! The engines of the gander model checker, the facts board and the director.
//!
//! [`check`] decides claims of a system: the director runs the engines of [`engines`], which share facts over a [`Board`],
//! and has every answer checked by `gander-certify` before it is reported.
//!
//! Invariants of this crate:
//! - no verdict leaves [`check`] without having been certified;
//! - engines do not know each other; they meet on the board;
//! - every engine stops within 100 ms of being cancelled, solver children included;
//! - an engine or a solver that breaks costs its own answers, never the check.

mod abstraction;
mod accelerate;
mod ascent;
mod attempts;
mod backward;
mod bdd;
mod bmc;
mod board;
mod cancel;
mod candidate;
mod clauses;
mod config;
mod consult;
mod director;
mod eliminate;
mod encoding;
mod engine;
mod explicit;
mod guided;
mod horn;
mod houdini;
mod induction;
mod intervals;
mod invariants;
mod liveness;
mod memory;
mod nodes;
mod octagon;
mod paths;
mod pdr;
mod portfolio;
mod project;
mod question;
mod ranges;
mod reduction;
mod schedule;
mod search;
#[cfg(test)]
mod seeded;
mod simulate;
mod sizes;
mod smt_only;
mod targets;
mod together;
mod too_late;
mod unrolling;
mod view;
mod vocabulary;

pub use board::{Board, Cursor, Fact, ProvedInvariant, portable};
pub use cancel::CancelToken;
pub use config::{
    BddOptions, CheckConfig, CheckReport, EngineOptions, Event, InductionOptions, InternalError, InvariantOptions,
    Nobody, NodeOptions, Observer, Outcome, PathOptions, PathOrder, SimulationOptions,
};
pub use director::{check, check_with};
pub use engine::{Advance, Desk, Engine, EngineInfo, Purpose, engines};
pub use portfolio::{Conditions, ModelProfile, Part, Plan, Portfolio, PortfolioError};
pub use schedule::{EngineAccount, EngineEnding, Schedule};

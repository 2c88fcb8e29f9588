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
//!
//! ```
//! use std::sync::Arc;
//!
//! use gander_engines::{Cancellation, CheckConfig, NullObserver, check};
//! use gander_smt::{Search, Solvers};
//! use gander_system::{ClaimId, Verdict};
//!
//! let text = "spec S\nvar x: int\nstart { x == 0 }\nstep up { x := x + 1 }\nalways low: x < 3\n";
//! let system = Arc::new(gander_lang::sts::load(text, "s.sts").system.expect("no errors"));
//! let low = system.claims().iter().position(|c| c.name == "low").expect("a claim");
//! // No solver is needed: simulation finds the run.
//! let solvers = Arc::new(Solvers::find(Search { named: Vec::new(), cache: None, path: None }));
//! let config = CheckConfig::new(solvers, vec![ClaimId::from(low)]);
//! let report = check(&system, &config, &Cancellation::new(), &NullObserver);
//! assert!(matches!(report.outcomes[0].verdict, Verdict::Fails(_)));
//! ```

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
    InternalError, InvariantOptions, Likelihood, Method, NodeOptions, NullObserver, Observer,
    Outcome, PathOptions, PathOrder, ProvedInvariant, Purpose, Schedule, SimulationOptions,
    WorkerBudget, portable, shortest_by_itself,
};
pub use director::{check, check_with};
pub use engines::engines;
pub use gander_runtime::Cancellation;
pub use portfolio::{Conditions, ModelProfile, Part, Plan, Portfolio, PortfolioError};

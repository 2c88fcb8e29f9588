//! Simulation: runs that grow step by step.

mod replay;
mod sampling;
mod simulator;
mod streams;

pub use replay::run_of_evidence;
pub(crate) use simulator::find_values_within;
pub use simulator::{Choice, SimulationError, Simulator};
pub use streams::StreamSimulator;

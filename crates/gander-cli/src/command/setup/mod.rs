//! What gander works with: solvers, other tools, engines.

pub mod doctor;
pub mod engines;

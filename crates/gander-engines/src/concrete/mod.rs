//! Concrete states and steps: compiled for enumeration ([`compiled`]), explored and stored
//! ([`states`]), and sampled at random ([`stepping`]); runs made shorter and simpler
//! ([`run_reduction`]).

pub(crate) mod compiled;
mod limits;
pub(crate) mod run_reduction;
pub(crate) mod states;
pub(crate) mod step_lower_bound;
pub(crate) mod stepping;

//! Concrete states and steps: compiled for enumeration ([`compiled`]), explored and stored ([`states`]), and sampled
//! at random ([`stepping`]).

pub(crate) mod compiled;
pub(crate) mod states;
pub(crate) mod step_lower_bound;
pub(crate) mod stepping;

//! Systems in the shape that an output language needs.
//!
//! - [`flat`]: a system without its control graph;
//! - [`temporal`]: temporal claims as one query about infinite runs;
//! - [`assumed_ranges`]: ranges of variables that assumptions imply;
//! - [`structural`]: claims about guards and effects as properties of states;
//! - [`processes`]: the control graph as a product of processes.

pub(crate) mod assumed_ranges;
pub(crate) mod flat;
pub(crate) mod processes;
pub(crate) mod structural;
pub(crate) mod temporal;

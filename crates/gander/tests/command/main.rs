//! The built command, end to end: what people read, what programs read, what happens to bad input.

mod bad_input;
mod bench;
mod cache;
mod certify;
mod check;
mod cores;
mod cycles;
mod explain;
mod faults;
mod findings;
mod fmt;
mod graph;
mod hints;
mod interrupt;
mod json;
mod limits;
mod racing;
mod simulate;
mod solver_trouble;
mod support;
mod traces;
mod usage;
mod vacuous;
mod why;

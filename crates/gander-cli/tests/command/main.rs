//! The built command, end to end: what people read, what programs read, what happens to bad input.

#[macro_use]
mod support;

mod bad_input;
mod bench;
mod cache;
mod certify;
mod check;
mod cores;
mod coverage;
mod cycles;
mod elements;
mod explain;
mod exports;
mod faults;
mod findings;
mod fmt;
mod graph;
mod hints;
mod hostile_files;
mod hostile_names;
mod hostile_setup;
mod impact;
mod interrupt;
mod json;
mod limits;
mod many_claims;
mod mcp;
mod proofs;
mod racing;
mod readings;
mod report;
mod runs;
mod simulate;
mod solver_trouble;
mod stream;
mod traces;
mod usage;
mod vacuous;
mod why;

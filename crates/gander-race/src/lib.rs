//! Other model checkers beside gander's engines.
//!
//! A [`Tool`] is an adapter: it writes the system in a language of its program (`gander-export`), runs the program as a
//! limited child process, and reads what it says. What it says is believed as far as it can be checked: runs are translated
//! back through the names of the export and become runs of the system, invariants become formulas of its nodes, and
//! `gander-certify` decides. An answer whose evidence was accepted is a verdict like one of an engine's; any other is
//! *claimed* and never more than that.
//!
//! Invariants of this crate:
//! - an answer counts only if its adapter recognised all of it: output that nobody understands is no claim;
//! - a program never outlives [`enter`], nor does anything that it started; its folder is removed;
//! - what a program can make us keep is bounded, and so is its time;
//! - a tool that is missing, hangs, crashes, floods or talks nonsense costs its own answers, never the check.
//!
//! To add a tool, write a file in `adapters/` and its line in [`tools`].

mod adapters;
mod child;
mod evidence;
mod find;
mod folder;
mod rebuild;
mod seat;
mod tool;
mod trace;

pub use adapters::tools;
pub use evidence::Candidate;
pub use find::{Entrant, HIDDEN, Missing, ToolSearch, find, find_all};
pub use seat::{Account, Answered, RaceConfig, Standing, enter};
pub use tool::{Call, Ending, Memory, Said, Says, Seat, Stop, Tool};
pub use trace::{Moment, Trace};

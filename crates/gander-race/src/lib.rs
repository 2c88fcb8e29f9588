//! Other model checkers beside gander's engines.
//!
//! A [`Tool`] is an adapter: it writes the system in a language of its program (`gander-export`),
//! runs the program as a limited child process (`gander-process`), and interprets its output
//! (`gander-tool-output`). Traces are mapped back through the names of the export to runs of the
//! system, invariants to formulas of its nodes, and `gander-certify` checks them. An answer whose
//! evidence was accepted is a verdict like that of an engine; any other answer is only *claimed*.
//!
//! Invariants of this crate:
//! - an answer counts only if its adapter recognised all of it; other output is not a claim;
//! - no program outlives [`run_tool`], nor do its descendants; its folder is removed;
//! - the output that is kept of a program is bounded, and so is its time;
//! - a tool that is missing, hangs, crashes, floods or prints nonsense gives no answers, and does
//!   not disturb the check.
//!
//! To add a tool, write a file in `adapters/` and its line in [`tools`].
//!
//! ```
//! use gander_race::{ToolSearch, find_all};
//! use gander_smt::{Search, Solvers};
//!
//! // Only programs that the user named: here a shell in place of NuSMV.
//! let named = vec![("nusmv".to_string(), "/bin/sh".into())];
//! let solvers = Solvers::find(Search { named: Vec::new(), cache: None, path: None });
//! let found = find_all(&ToolSearch { named, path: None }, &solvers);
//! let found: Vec<&str> = found.into_iter().flatten().map(|f| f.tool.name()).collect();
//! assert_eq!(found, ["nusmv"]);
//! ```

mod adapters;
mod context;
mod evidence;
mod find;
mod folder;
mod rebuild;
mod tool;
mod trace;

pub use adapters::tools;
pub use context::{Answered, RaceConfig, Standing, ToolReport, run_tool};
pub use evidence::Candidate;
pub use find::{FoundTool, HIDDEN, Missing, ToolSearch, find, find_all};
pub use tool::{Call, Memory, Says, Stop, Tool, ToolContext};
pub use trace::{Moment, Trace};

//! gander: a model checker for symbolic transition systems. Prove it, break it, see why.
//!
//! This is the facade: source text in, checked verdicts out. The parts behind it are crates of their own, re-exported
//! here as modules.
//!
//! ```
//! use gander::{CheckOptions, Language, Model};
//! use gander::system::Verdict;
//!
//! let text = "
//!     spec Counter
//!     var x: int
//!     start { x == 0 }
//!     step up    when x < 10  { x := x + 1 }
//!     step again when x == 10 { x := 0 }
//!     always    small: x <= 10
//!     reachable full:  x == 10
//! ";
//! let model = Model::parse(text, Language::Sts)?;
//! let report = model.check(&CheckOptions::default());
//! for claim in report.claims() {
//!     // Without a solver on this machine a verdict may be unknown, with the reason.
//!     assert!(!matches!(claim.verdict(), Verdict::Fails(_)));
//! }
//! if let Some(run) = report.claim("full").and_then(|c| c.run()) {
//!     assert_eq!(run.length(), 10);
//! }
//! # Ok::<(), gander::ParseError>(())
//! ```
//!
//! Nothing here prints, exits or panics on input: only the command does the first two.

mod cache;
mod check;
mod explain;
mod findings;
mod impact;
mod input;
mod model;
mod modular;
mod mutation;
mod no_run;
mod nothing;
mod race;
mod readings;
mod reasons;
mod saving;
mod simulator;
mod stream_simulator;
mod why;

pub use check::{
    Analysis, CheckOptions, Checked, FileForm, Findings, StructuralChecks, UsageError, check_loaded, check_source, load,
};
pub use explain::{ExplainOptions, Explained, FoundCore, explain_source};
pub use impact::{Fate, Impact, ImpactReport, impact};
pub use input::{InputError, allow_includes, read_input};
pub use model::{ClaimReport, Language, Model, ParseError, Report};
pub use modular::{CONTRACT_TREE, check_contract_tree, is_contract_tree};
pub use no_run::{has_no_run, needs_a_run};
pub use nothing::NOTHING_TO_DECIDE;
pub use readings::ambiguity_of;
pub use saving::{InternalErrorFile, evidence_file_name, trace_file_name};
pub use simulator::{Choice, Simulator, Trouble};
pub use stream_simulator::StreamSimulator;

pub use gander_certify as certify;
pub use gander_engines as engines;
pub use gander_explain as explanation;
pub use gander_lang as lang;
pub use gander_race as racing;
pub use gander_report as report;
pub use gander_smt as smt;
pub use gander_system as system;
pub use gander_term as term;

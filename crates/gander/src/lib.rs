//! gander: a model checker for symbolic transition systems. Prove it, break it, see why.
//!
//! This crate is the library: source text in, checked verdicts out. The crates below it are
//! re-exported here as modules.
//!
//! ```
//! use gander::system::Verdict;
//! use gander::{CheckOptions, Language, Model};
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
//! assert_eq!(report.to_json()["results"][0]["claim"], "small");
//! # Ok::<(), gander::ParseError>(())
//! ```
//!
//! A check can be cancelled from another thread, and reports progress to an observer. An
//! explanation has the elements that a proof needs (its core):
//!
//! ```
//! use gander::{Cancellation, CheckOptions, ExplainOptions, Language, Model, NullObserver};
//!
//! # let text = "spec S var x: int start { x == 0 } step up { x := x + 1 } always p: x >= 0";
//! let model = Model::parse(text, Language::Sts)?;
//! let cancellation = Cancellation::new();
//! let report = model.check_with(&CheckOptions::default(), &cancellation, &NullObserver);
//! assert!(report.claim("p").is_some());
//! let options = ExplainOptions::default();
//! let explained = model.explain_with(&options, &cancellation, &NullObserver, &mut |_, _| {});
//! for result in explained.views.iter().flat_map(|v| &v.results) {
//!     assert_eq!(result.property, "p");
//! }
//! # Ok::<(), gander::ParseError>(())
//! ```
//!
//! A check runs in stages, each a module with a plain data result: `load`, `decide`, `lint`,
//! `explain`, `present` (ARCHITECTURE.md). Nothing here prints, exits or panics on input.

mod check;
mod decide;
mod explain;
mod files;
mod lint;
mod load;
mod model;
mod options;
mod page;
mod present;
mod recheck;
mod settled;
mod simulate;

pub use check::{Checked, check_source, load_and_check, load_and_check_with};
pub use decide::{
    CONTRACT_TREE, EarlierVerdicts, NOTHING_TO_DECIDE, ambiguity_of, check_contract_tree,
    has_no_run, is_contract_tree, needs_a_run, with_proved_ranges,
};
pub use explain::{
    ExplainOptions, Explained, Fate, FoundCore, Impact, ImpactReport, RemovedProperty,
    explain_source, impact,
};
pub use files::{InternalErrorFile, evidence_file_name, trace_file_name};
pub use load::{
    InputError, LoadOptions, LoadStopped, StructuralClaims, includes_changed, load, load_within,
    may_include, read_input,
};
pub use model::{ClaimReport, Language, Model, ParseError, Report};
pub use options::{Analysis, CheckOptions, FileForm, Findings, StructuralChecks};
pub use page::{PageOptions, report_source};
pub use recheck::{Recheck, recheck_evidence};
pub use settled::VerdictObserver;
pub use simulate::{Choice, SimulationError, Simulator, StreamSimulator, run_of_evidence};

pub use gander_engines::{Cancellation, Event, NullObserver, Observer};

pub use gander_certify as certify;
pub use gander_engines as engines;
pub use gander_explain as explanation;
pub use gander_lang as lang;
pub use gander_process as process;
pub use gander_race as racing;
pub use gander_report as report;
pub use gander_smt as smt;
pub use gander_system as system;
pub use gander_term as term;

/// The example of docs/library.md compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct LibraryPage;

//! Explains verdicts: validity cores for claims that are proved, and simplified runs for claims
//! that a run decides ([`run_explanation`]).
//!
//! A *validity core* of a proved claim is a set of parts of the model that suffices for the proof:
//! all other parts can be removed ([`relaxed`]). It is *minimal* if no member can be removed. The
//! definitions and algorithms are those of E. Ghassabani, Inductive Validity Cores (2020), chapters
//! 3 and 6.
//!
//! Invariants:
//! - removing a part only weakens the model, so adequacy is monotone, and a proof about a core is a
//!   proof about the model;
//! - a set of parts counts as inadequate only with a violating run that evaluation confirmed or the
//!   prover checked;
//! - every core is checked by the [`Prover`], which checks the evidence on the relaxed system;
//! - a set that is not decided makes the result approximate, and the result says so.
//!
//! The crate knows no engine: the caller supplies a [`Prover`] and solvers, makes an [`Explainer`]
//! from a checked verdict, and calls [`Explainer::explain`]. The parts of a model, and the model
//! without some of them, need neither:
//!
//! ```
//! use gander_explain::{Granularity, PartSet, Parts, relaxed};
//!
//! let source = "spec Counter
//!     var x: int
//!     start { x == 0 }
//!     step up when x < 3 { x := x + 1 }
//!     always small: x <= 3
//! ";
//! let system = gander_lang::sts::load(source, "counter.sts").system.unwrap();
//! let parts = Parts::of(&system, source, Granularity::Written);
//! // The start, the guard and the effect of `up`.
//! assert_eq!(parts.len(), 3);
//! let guard = parts.list.iter().position(|p| p.kind.word() == "guard").unwrap();
//! let without_guard = relaxed(&system, &parts, &PartSet::all(3).without(guard));
//! assert!(without_guard.transitions()[0].guard.is_empty());
//! ```

mod cores;
mod explainer;
mod parts;
mod proof;
pub mod run_explanation;
mod subject;
mod unrolling;
mod vacuity;

pub use gander_system::passes::Grain;

pub use cores::bounded::Bounded;
pub use cores::hitting_sets::minimal_hitting_sets;
pub use cores::{Core, CoreSelection, CoreSink, Explanation, Request};
pub use explainer::{ExplainConfig, Explainer, NOT_BOUNDED, Prover, SharedSession};
pub use parts::relax::relaxed;
pub use parts::set::PartSet;
pub use parts::{Granularity, Part, PartKind, Parts};
pub use proof::reuse::reprove;
pub use subject::claim_parts;
pub use unrolling::witness::{is_proof, proof_shows_failure, rests_on_runs_alone, why_no_core};
pub use vacuity::Vacuity;

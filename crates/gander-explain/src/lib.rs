//! Why a claim holds: validity cores of transition systems, and what one does with them.
//!
//! A *validity core* of a claim that holds is a set of parts of the model from which it still follows: all other parts can
//! be removed ([`relaxed`]). It is *minimal* if no member can be left out. The definitions and algorithms are those of
//! E. Ghassabani, Inductive Validity Cores (2020), chapters 3 and 6.
//!
//! Invariants of this crate:
//! - removing a part only weakens, so adequacy is monotone, and what is proved of a core is proved of the model;
//! - that a set is not enough is believed only with a run that evaluation has looked at, or one that the prover has checked;
//! - cores are checked by the [`Prover`], which checks evidence about the relaxed system;
//! - what nobody could decide makes a result approximate, and the result says so.

mod bounded;
mod cone;
mod cores;
mod explainer;
pub mod failure;
mod first;
mod hitting;
mod laws;
mod map;
mod parts;
mod path;
mod pieces;
mod proof;
mod relax;
mod reuse;
mod set;
mod subject;
mod survey;
mod vacuity;
mod witness;

pub use gander_system::passes::Grain;

pub use bounded::Bounded;
pub use cores::{Core, CoreSink, Explanation, Request, Wish};
pub use explainer::{ExplainConfig, Explainer, Prover, Told};
pub use hitting::minimal_hitting_sets;
pub use parts::{Granularity, Part, PartKind, Parts};
pub use relax::relaxed;
pub use reuse::reprove;
pub use set::PartSet;
pub use vacuity::Vacuity;
pub use witness::{is_proof, rests_on_runs_alone, why_no_core};

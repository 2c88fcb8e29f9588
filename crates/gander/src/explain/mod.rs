//! Explain: why verdicts are as they are.
//!
//! A check gets short [`reasons`] and, on request, the [`invariants`] of its proofs and
//! counterexamples to [`induction`]. `gander explain` computes validity cores of what holds and
//! simplifies the runs of what fails ([`cores`]), and decides mutants of the model ([`mutation`]).
//! [`impact`] says which verdicts survive an edit. The results are plain data: [`Reason`],
//! [`gander_report::ExplainView`], [`ImpactReport`].

mod cores;
mod impact;
mod induction;
mod internal_streams;
mod invariants;
mod mutation;
mod reasons;
mod run_view;

pub use cores::{ExplainOptions, Explained, FoundCore, explain_source};
pub(crate) use cores::{explain_model, explain_verdicts};
pub use impact::{Fate, Impact, ImpactReport, RemovedProperty, impact};
pub(crate) use induction::induction_counterexamples;
pub(crate) use invariants::{Language, invariants};
pub(crate) use reasons::{Reason, ReasonSearch, reasons};

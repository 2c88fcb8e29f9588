//! Symbolic transition systems, claims about them, and the evidence that settles claims.
//!
//! Invariants of this crate:
//! - a [`System`] is well-formed (see [`SystemBuilder`]) and never changes; its pool is frozen;
//! - frames are resolved: what an effect does not mention is free;
//! - every pass that makes a system of a system returns the map back for runs and invariants.

mod builder;
mod claim;
mod dataflow;
mod evidence;
mod evidence_file;
mod formula;
mod legs;
mod lint;
mod location;
mod origin;
pub mod passes;
mod scc;
mod scope;
mod structural;
mod system;
#[cfg(test)]
mod testing;
mod text;

pub use builder::{BuildError, SystemBuilder, TransitionDraft};
pub use claim::{Claim, ClaimId, ClaimKind, ClaimOrigin, Fairness, FairnessId, FairnessKind, Goal};
pub use dataflow::{Dataflow, Instant, Uses};
pub use evidence::{
    Choice, Choices, Evidence, Leg, NodeFormulas, NodeTerms, Obstacle, Rounds, Run, State, Step, Verdict,
};
pub use evidence_file::{
    Decided, EVIDENCE_SCHEMA, EvidenceFile, EvidenceFileError, Provenance, evidence_json, read_evidence,
    read_evidence_text, write_evidence,
};
pub use formula::{ChoiceTerm, StateTerm, StepTerm};
pub use legs::Legs;
pub use lint::{Condition, LintCandidate, LintCandidates};
pub use origin::{Element, ElementId, ElementInfo, ElementKind, ElementName, Span};
pub use scc::{members, strongly_connected_components};
pub use system::{
    Ambiguity, ClaimCondition, Effect, GateId, Instance, InstanceNode, Node, NodeId, Numerals, Param, Range, Role,
    Start, StartId, StateVar, StreamKind, Structure, System, Transition, TransitionId, VarId,
};

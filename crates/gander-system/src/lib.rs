//! Symbolic transition systems, claims about them, verdicts with evidence, and passes.
//!
//! A [`System`] has a control graph, state variables, starts, transitions, assumptions and
//! [`Claim`]s. Front-ends make systems with a [`SystemBuilder`]. Engines decide claims: a
//! [`Verdict`] carries its [`Evidence`], which `gander-certify` checks. docs/semantics.md defines
//! the meaning of all of these.
//!
//! Invariants of this crate:
//! - a [`System`] is well-formed (see [`SystemBuilder`]) and immutable; its pool is frozen;
//! - frames are resolved: a variable that an effect neither assigns, keeps nor constrains is free;
//! - every pass that makes a system for engines returns the map back for runs and invariants
//!   ([`passes`]);
//! - the file form of evidence is read strictly ([`read_evidence`]).
//!
//! ```
//! use gander_system::{ClaimKind, ClaimOrigin, NodeId, Role, SystemBuilder};
//! use gander_term::{Pool, Sort, parse_term};
//!
//! // A door that can be opened while it is not locked, and a claim about it.
//! let nodes = [("Closed", None), ("Open", None)];
//! let mut builder = SystemBuilder::new("door", Pool::new(), &nodes)?;
//! let (closed, open) = (NodeId(0), NodeId(1));
//! let locked = builder.var("locked", Sort::Bool, Role::State, None, None)?;
//! builder.start("start", closed, &[], None)?;
//!
//! let mut unlock = builder.transition("unlock", None, closed, closed, None)?;
//! let unlocked = builder.pool.ff();
//! builder.assign(&mut unlock, locked, unlocked, None)?;
//! builder.add(unlock)?;
//!
//! // The effect of `enter` does not mention `locked`, so the builder adds that it is kept.
//! let mut enter = builder.transition("enter", None, closed, open, None)?;
//! let guard = parse_term(&mut builder.pool, "not locked")?;
//! builder.guard(&mut enter, guard, None)?;
//! builder.add(enter)?;
//!
//! let safe = parse_term(&mut builder.pool, "`@node` == `@Node`.Open -> not locked")?;
//! let safe = builder.state_formula(safe, "the claim")?;
//! builder.claim("safe", ClaimKind::Always(safe), ClaimOrigin::Written, "safe", None)?;
//! let system = builder.finish();
//!
//! assert!(system.to_text().contains("keep locked"));
//! // Structural claims are added: transitions can be enabled, nodes are no sinkholes, ...
//! assert!(system.with_structural_claims().find_claim("can enable enter").is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod aggregate;
mod analysis;
mod builder;
mod claim;
mod edit;
mod evidence;
mod formula;
mod location;
mod origin;
pub mod passes;
mod system;
#[cfg(test)]
mod testing;
mod text;

pub use aggregate::{Aggregate, Shape, ShownVar};
pub use analysis::{
    Automorphism, Condition, Dataflow, Instant, LintCandidate, LintCandidates, Reads, Symmetries,
    Uses, members, strongly_connected_components,
};
pub use builder::{BuildError, SystemBuilder, TransitionDraft};
pub use claim::{
    Claim, ClaimId, ClaimKind, ClaimOrigin, Fairness, FairnessId, FairnessKind, Goal, is_run_claim,
};
pub use evidence::{
    Choice, Choices, Decided, EVIDENCE_SCHEMA, Evidence, EvidenceFile, EvidenceFileError, Leg,
    Legs, NodeFormulas, NodeTerms, Obstacle, Provenance, Rounds, Run, State, Step, Verdict,
    evidence_json, read_evidence, read_evidence_text, write_evidence,
};
pub use formula::{ChoiceTerm, StateTerm, StepTerm};
pub use origin::{Element, ElementId, ElementInfo, ElementKind, ElementName, Span};
pub use system::{
    Ambiguity, ClaimCondition, Effect, Family, Function, GateId, IndexedArray, Instance,
    InstanceNode, InstancePart, InstanceStart, InstanceTransition, Move, Node, NodeId, Numerals,
    Param, Range, Role, Size, Start, StartId, StateVar, StreamKind, Structure, System, Transition,
    TransitionId, Undefined, UndefinedValue, VarId,
};

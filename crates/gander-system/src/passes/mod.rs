//! Passes: a system from a system, and the map back for what was found out about the new one.
//!
//! | pass | what it does |
//! |---|---|
//! | [`chain`] | a chain of goals as plain reachability of a node |
//! | [`definitions`] | variables that are functions of others are replaced by what they stand for |
//! | [`with_shortcuts`] | further transitions that stand for several steps |
//! | [`liveness_to_safety`] | liveness claims as claims about safety |
//! | [`within`], [`started_at`] | the same steps with another claim or start |
//! | [`flatten`] | one node; the old node is a variable |
//! | [`recover_control`] | nodes for what some variables say about the place of a program |
//! | [`pinned`] | claims about guards and effects that say the same while these are removed |
//! | [`granules`] | conjuncts and branches of formulas as elements of their own |
//! | [`mutants`] | a small mistake in one place |
//! | [`compose`] | several instances of specifications as one system |
//!
//! Evidence is always checked against the system as the front-end produced it, so every pass comes with a
//! [`Restore`]. A pass works in a fork of the old system's pool: terms, symbols and enumerations of the old system keep
//! their ids, so values and formulas need no translation.

mod chain;
mod compose;
mod copying;
mod definitions;
mod enabled;
mod flatten;
mod granules;
mod liveness_to_safety;
mod mutants;
mod pinned;
mod recover;
mod relocate;
mod restart;
mod shortcuts;

pub use chain::{Chain, ChainError, chain};
pub use compose::{
    ComposeError, ComposeLimits, Composed, LeftOut, Link, Sync, compose, compose_linked, compose_within,
};
pub use definitions::{Definitions, definitions};
pub use flatten::{Flat, flatten};
pub use granules::{Divided, Fork, Grain, Granule, granules};
pub use liveness_to_safety::{
    Asked, Aspect, Begin, Finding, LivenessToSafety, LivenessToSafetyError, Stage, liveness_to_safety,
};
pub use mutants::{Mutant, Mutants, mutants};
pub use pinned::{Eliminate, PinError, Pinned, pinned};
pub use recover::{Recovered, recover_control};
pub use restart::{outside, started_at, within};
pub use shortcuts::{Shortcut, with_shortcuts};

use crate::evidence::{Evidence, NodeFormulas, Run};
use crate::origin::ElementId;

/// The map back from the system that a pass made to the one it was made from.
pub trait Restore {
    /// The run of the old system that a run of the new one stands for; none if there is none or it was not found, in
    /// which case the new system's answer must not be used.
    fn run(&self, run: &Run) -> Option<Run>;

    /// The formulas of the old system's nodes that formulas of the new one's stand for. What is inductive in the new
    /// system is inductive in the old one.
    fn invariant(&self, invariant: &NodeFormulas) -> Option<NodeFormulas>;

    /// True if states of old and new runs correspond one to one, so that arguments from pairwise distinct states and
    /// from lengths of runs carry over.
    fn is_exact(&self) -> bool;

    /// The element of the old system that an element of the new one was made of.
    fn element(&self, element: ElementId) -> Option<ElementId>;

    /// The evidence about the old system that evidence about the new one stands for.
    fn evidence(&self, evidence: &Evidence) -> Option<Evidence> {
        match evidence {
            Evidence::Run(run) => self.run(run).map(Evidence::Run),
            Evidence::Invariant(i) => self.invariant(i).map(Evidence::Invariant),
            Evidence::KInductive { k, invariant, loop_free, no_restart } => {
                if (*loop_free || *no_restart) && !self.is_exact() {
                    return None;
                }
                let invariant = self.invariant(invariant)?;
                Some(Evidence::KInductive { k: *k, invariant, loop_free: *loop_free, no_restart: *no_restart })
            }
            Evidence::Diameter { k } => self.is_exact().then_some(Evidence::Diameter { k: *k }),
            // States correspond one to one: there are as many.
            Evidence::ClosedSet { states } => self.is_exact().then_some(Evidence::ClosedSet { states: *states }),
            Evidence::Outside { trap, proof } if self.is_exact() => {
                Some(Evidence::Outside { trap: self.invariant(trap)?, proof: Box::new(self.evidence(proof)?) })
            }
            Evidence::Refutation => Some(Evidence::Refutation),
            Evidence::Lasso { run, back_to } if self.is_exact() => {
                Some(Evidence::Lasso { run: self.run(run)?, back_to: *back_to })
            }
            // What speaks of systems made of this one is found for the system as it was given.
            Evidence::OfChain(_)
            | Evidence::Outside { .. }
            | Evidence::Lasso { .. }
            | Evidence::Recurrent { .. }
            | Evidence::NoSuchRun { .. }
            | Evidence::Possible { .. }
            | Evidence::Impossible { .. } => None,
        }
    }
}

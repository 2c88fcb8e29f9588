//! Passes: transformations of systems, with the map back for runs and invariants.
//!
//! | pass | what it does |
//! |---|---|
//! | [`chain`] | a chain of goals as plain reachability of a node |
//! | [`definitions`] | replaces variables that are functions of others by their terms |
//! | [`with_shortcuts`] | adds transitions that have the effect of several steps |
//! | [`liveness_to_safety`] | reduces liveness claims to safety claims |
//! | [`within`], [`outside`], [`started_at`] | the same steps with another claim, fewer states, another start |
//! | [`flatten`] | one node; the old node becomes a variable |
//! | [`recover_control`] | variables that hold a program counter become nodes |
//! | [`pinned`] | claims about guards and effects, with a meaning that does not change when these are removed |
//! | [`granules`] | makes conjuncts and branches of formulas separate elements |
//! | [`mutants`] | a small mistake in one place |
//! | [`compose`] | several instances of specifications as one system |
//! | [`Parametric`] | families of instances whose size has no value as one system |
//!
//! Evidence is always checked against the system as the front-end produced it, so the passes whose
//! results engines search have a [`Restore`]. A pass works in a fork of the old system's pool:
//! terms, symbols and enumerations of the old system keep their ids, so values and formulas need no
//! translation. The old system is the argument of a pass, the new system its result.

mod claims;
mod compose;
mod control;
mod copying;
mod definitions;
mod elements;
mod enabled;
mod relocate;

pub use claims::{
    Aspect, Begin, Chain, ChainError, DecidingRuns, Eliminate, Finding, LivenessToSafety,
    LivenessToSafetyError, PinError, Pinned, Stage, chain, liveness_to_safety, outside, pinned,
    started_at, within,
};
pub use compose::parametric::{
    IndexedLink, IndexedRead, IndexedSync, Member, Parametric, ParametricError, Participant,
    SyncIndex,
};
pub use compose::{ComposeError, ComposeLimits, Composed, LeftOut, Link, Read, Sync, compose};
pub use control::{Flat, Recovered, Shortcut, flatten, recover_control, with_shortcuts};
pub use definitions::{Definitions, definitions};
pub use elements::{
    Divided, Fork, Grain, Granule, Mistake, Moment, Mutant, Mutants, granules, is_part_symbol,
    mutants,
};
pub(crate) use enabled::enabled_when;
pub use enabled::no_deadlock;

use crate::evidence::{Evidence, NodeFormulas, Run};
use crate::origin::ElementId;

/// The map back from the new system of a pass to the old one.
pub trait Restore {
    /// The run of the old system that corresponds to a run of the new one. `None` if it was not
    /// found; then the new system's verdict must not be used.
    fn run(&self, run: &Run) -> Option<Run>;

    /// The formulas of old nodes that correspond to formulas of new nodes. If the new ones are
    /// inductive, so are the old ones.
    fn invariant(&self, invariant: &NodeFormulas) -> Option<NodeFormulas>;

    /// True if states of old and new runs correspond one to one, so that evidence about pairwise
    /// distinct states and lengths of runs carries over.
    fn is_exact(&self) -> bool;

    /// The old element that a new element comes from.
    fn element(&self, element: ElementId) -> Option<ElementId>;

    /// The evidence about the old system that corresponds to evidence about the new one.
    fn evidence(&self, evidence: &Evidence) -> Option<Evidence> {
        match evidence {
            Evidence::Run(run) => self.run(run).map(Evidence::Run),
            Evidence::Invariant(i) => self.invariant(i).map(Evidence::Invariant),
            Evidence::KInductive { k, invariant, loop_free, no_restart } => {
                if (*loop_free || *no_restart) && !self.is_exact() {
                    return None;
                }
                let invariant = self.invariant(invariant)?;
                Some(Evidence::KInductive {
                    k: *k,
                    invariant,
                    loop_free: *loop_free,
                    no_restart: *no_restart,
                })
            }
            Evidence::Diameter { k } => self.is_exact().then_some(Evidence::Diameter { k: *k }),
            // States correspond one to one, so their number is the same.
            Evidence::ClosedSet { states } => {
                self.is_exact().then_some(Evidence::ClosedSet { states: *states })
            }
            Evidence::Outside { trap, proof } if self.is_exact() => Some(Evidence::Outside {
                trap: self.invariant(trap)?,
                proof: Box::new(self.evidence(proof)?),
            }),
            Evidence::Refutation => Some(Evidence::Refutation),
            Evidence::Lasso { run, back_to } if self.is_exact() => {
                Some(Evidence::Lasso { run: self.run(run)?, back_to: *back_to })
            }
            // From corresponding states, equally many states are reachable.
            Evidence::Impossible { run, proof }
                if self.is_exact() && matches!(**proof, Evidence::ClosedSet { .. }) =>
            {
                Some(Evidence::Impossible { run: self.run(run)?, proof: proof.clone() })
            }
            // Engines find evidence about derived systems on the system of the front-end.
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

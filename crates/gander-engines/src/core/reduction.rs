//! The system that engines work on: the given one without variables that are functions of others
//! (`definitions`), and with nodes for the locations of a program that keeps its location in
//! variables (`recover_control`).
//!
//! Engines propose evidence about the reduced system; [`crate::core::EngineContext`] maps it back
//! before it is checked against the given system. Facts on the blackboard are about the reduced
//! system.

use std::fmt;
use std::sync::Arc;

use gander_runtime::Cancellation;
use gander_system::passes::{Restore, definitions, recover_control};
use gander_system::{System, Verdict};

/// See the module's documentation. Claims have the same ids in both systems; nodes, starts and
/// transitions need not.
#[derive(Clone)]
pub(crate) struct Reduction {
    /// The system that was given.
    pub given: Arc<System>,
    /// The reduced system.
    pub system: Arc<System>,
    /// The passes that map evidence back, in the order in which they were applied.
    back: Vec<Arc<dyn Restore + Send + Sync>>,
}

impl Reduction {
    /// The system as it is.
    pub(crate) fn none(system: &Arc<System>) -> Reduction {
        Reduction { given: Arc::clone(system), system: Arc::clone(system), back: Vec::new() }
    }

    /// The reduced system. If `cancellation` is cancelled, long passes end early and change
    /// nothing. A system that cannot be rebuilt is used unchanged.
    pub(crate) fn of(system: &Arc<System>, cancellation: &Cancellation) -> Reduction {
        let mut reduction = Reduction::none(system);
        if let Ok(Some(found)) = definitions(system) {
            reduction.system = Arc::new(found.system.clone());
            reduction.back.push(Arc::new(found));
        }
        if let Ok(Some(found)) = recover_control(&reduction.system, cancellation) {
            reduction.system = Arc::new(found.system.clone());
            reduction.back.push(Arc::new(found));
        }
        reduction
    }

    /// True if a pass has changed the system.
    pub(crate) fn changes(&self) -> bool {
        !self.back.is_empty()
    }

    /// Maps a verdict about the reduced system back to the given system.
    pub(crate) fn lift(&self, verdict: Verdict) -> Option<Verdict> {
        self.back.iter().rev().try_fold(verdict, |verdict, pass| match verdict {
            Verdict::Holds(evidence) => pass.evidence(&evidence).map(Verdict::Holds),
            Verdict::Fails(evidence) => pass.evidence(&evidence).map(Verdict::Fails),
            unknown @ Verdict::Unknown { .. } => Some(unknown),
        })
    }
}

impl fmt::Debug for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reduction")
            .field("system", &self.system)
            .field("passes", &self.back.len())
            .finish()
    }
}

//! The system that engines work on: the one that was given, without the variables that are functions of others.
//!
//! Engines propose evidence about the reduced system; the desk carries it back before anybody else sees it, as evidence is
//! checked against the system that was given. Facts on the board speak of the reduced system.

use std::sync::Arc;

use gander_system::passes::{Definitions, WayBack, definitions};
use gander_system::{System, Verdict};

/// See the module's documentation. Claims, nodes, starts and transitions have the same ids in both systems.
#[derive(Clone, Debug)]
pub(crate) struct Reduction {
    /// The system that was given.
    pub given: Arc<System>,
    /// The reduced system.
    pub system: Arc<System>,
    back: Option<Arc<Definitions>>,
}

impl Reduction {
    pub(crate) fn of(system: &Arc<System>) -> Reduction {
        match definitions(system) {
            Ok(Some(found)) => Reduction {
                given: Arc::clone(system),
                system: Arc::new(found.system.clone()),
                back: Some(Arc::new(found)),
            },
            // A system that cannot be rebuilt is taken as it is.
            Ok(None) | Err(_) => Reduction { given: Arc::clone(system), system: Arc::clone(system), back: None },
        }
    }

    /// The verdict about the given system that a verdict about the reduced one stands for.
    pub(crate) fn lift(&self, verdict: Verdict) -> Option<Verdict> {
        let Some(back) = &self.back else { return Some(verdict) };
        match verdict {
            Verdict::Holds(evidence) => back.evidence(&evidence).map(Verdict::Holds),
            Verdict::Fails(evidence) => back.evidence(&evidence).map(Verdict::Fails),
            unknown @ Verdict::Unknown { .. } => Some(unknown),
        }
    }
}

//! Relaxed systems: a system with only some of its parts.
//!
//! Removing a part only weakens (docs/semantics.md, validity cores): a guard, start or assumption
//! loses a conjunct; a variable without its equation or assignment may take any value and is not
//! framed. So the runs of a system are runs of all its relaxations, and a proof about a relaxation
//! is a proof about the system.

use gander_system::System;

use crate::parts::Parts;
use crate::parts::set::PartSet;

/// The system with only these parts, and the elements that are no part.
pub fn relaxed(system: &System, parts: &Parts, kept: &PartSet) -> System {
    system.relaxed(|e| parts.keeps(kept, e))
}

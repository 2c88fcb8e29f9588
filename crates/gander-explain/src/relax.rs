//! Relaxed systems: what is left of a system when only some of its parts are kept.
//!
//! Removing a part only weakens (docs/semantics.md, validity cores): a guard, a start or an assumption has a conjunct less,
//! a variable whose equation or assignment is gone may have any value afterwards and is never framed. So the runs of a
//! system are runs of all its relaxations, and what is proved of a relaxation is proved of the system.

use gander_system::{Effect, ElementId, ElementKind, ElementName, System};

use crate::parts::Parts;
use crate::set::PartSet;

/// The system with only these parts (and what is no part).
pub fn relaxed(system: &System, parts: &Parts, kept: &PartSet) -> System {
    relaxed_to(system, |e| parts.keeps(kept, e))
}

/// The system with only these elements.
pub(crate) fn relaxed_to(system: &System, keeps: impl Fn(ElementId) -> bool) -> System {
    let mut relaxed = system.clone();
    for start in &mut relaxed.starts {
        start.constraint.retain(|e| keeps(e.id));
    }
    for t in &mut relaxed.transitions {
        t.guard.retain(|e| keeps(e.id));
        t.effect.retain(|e| {
            let (Effect::Assign { id, .. } | Effect::Constrain { id, .. } | Effect::Keep { id, .. }) = e;
            keeps(*id)
        });
    }
    relaxed.assumptions.retain(|e| keeps(e.id));
    // A range that is an assumption is gone with it.
    for (i, info) in system.elements.iter().enumerate() {
        match (info.kind, &info.name) {
            (ElementKind::ParameterRange, ElementName::OfParam(t, p)) if !keeps(ElementId(i as u32)) => {
                relaxed.transitions[t.index()].params[*p as usize].range = None;
            }
            (ElementKind::Assumption, ElementName::Given(name)) if !keeps(ElementId(i as u32)) => {
                if let Some(var) = name.strip_prefix("range of ")
                    && let Some(v) = relaxed.vars.iter_mut().find(|v| v.name == var)
                {
                    v.range = None;
                }
            }
            _ => {}
        }
    }
    relaxed
}

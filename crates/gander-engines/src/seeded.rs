//! Bugs to be put in on purpose, for tests that show that each of them is caught.

use gander_system::{Effect, System, TransitionId};
use gander_term::{Pool, TermId};

/// A mistake that an engine can be told to make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SeededBug {
    /// The depth that was searched is taken for one more than it is.
    OffByOneDepth,
    /// Effects forget what they keep.
    DroppedFrame,
    /// Transitions lead to the node after the right one.
    WrongNode,
    /// Assumptions are not looked at.
    DroppedAssumption,
    /// States count as equal if they agree on the first variable.
    LoopFreeOverSlice,
    /// The step case assumes what it is to show.
    CircularStep,
}

impl SeededBug {
    /// All of them.
    pub(crate) const ALL: [SeededBug; 6] = [
        SeededBug::OffByOneDepth,
        SeededBug::DroppedFrame,
        SeededBug::WrongNode,
        SeededBug::DroppedAssumption,
        SeededBug::LoopFreeOverSlice,
        SeededBug::CircularStep,
    ];
}

pub(crate) fn effect_without_frames(system: &System, pool: &mut Pool, t: TransitionId) -> TermId {
    let effects = &system.transition(t).effect;
    let kept = effects.iter().filter(|e| !matches!(e, Effect::Keep { .. }));
    let parts: Vec<TermId> = kept.map(|e| system.effect_part(pool, e)).collect();
    pool.and(parts)
}

//! Reduces a system while a predicate stays true of it, so that a disagreement becomes readable.
//!
//! [`shrink`] tries one cut ([`cut::Cut`]) after the other and keeps those after which the
//! predicate holds, until none is left. A cut need not preserve the meaning of the system.

mod cut;
mod rebuild;

use gander_system::System;

use cut::Cut;

/// Limits of [`shrink`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Limits the calls of the predicate.
    pub trials: usize,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { trials: 600 }
    }
}

/// A smaller system for which `still` is true; it must be true for `system`.
///
/// Claims keep their names, so that the predicate can find the one it is about; their positions
/// change.
pub fn shrink(system: &System, effort: Effort, still: &mut dyn FnMut(&System) -> bool) -> System {
    let mut best = system.clone();
    let mut left = effort.trials;
    loop {
        let mut smaller = false;
        // After a successful cut, continue at the same position of the new list.
        let mut at = 0;
        loop {
            let cuts = Cut::all(&best);
            let Some(cut) = cuts.get(at) else { break };
            at += 1;
            if left == 0 {
                return best;
            }
            let Some(candidate) = rebuild::rebuild(&best, cut) else { continue };
            left -= 1;
            if still(&candidate) {
                best = candidate;
                smaller = true;
                at -= 1;
            }
        }
        if !smaller {
            return best;
        }
    }
}

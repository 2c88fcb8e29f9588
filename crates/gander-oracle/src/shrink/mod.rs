//! Making a system small while something stays true of it, so that people can read why two programs disagree.
//!
//! [`shrink`] tries one cut after the other ([`cut::Cut`]) and keeps each one after which the predicate still holds,
//! until none is left. A cut need not preserve any meaning: the predicate decides.

mod cut;
mod rebuild;

use gander_system::System;

use cut::Cut;

/// How long [`shrink`] tries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Most calls of the predicate.
    pub trials: usize,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { trials: 600 }
    }
}

/// A smaller system for which `still` is true, as it is for `system`.
///
/// Claims keep their names, so that the predicate can look for the one that it is about; their positions change.
pub fn shrink(system: &System, effort: Effort, still: &mut dyn FnMut(&System) -> bool) -> System {
    let mut best = system.clone();
    let mut left = effort.trials;
    loop {
        let mut smaller = false;
        // Later cuts are worth trying although an earlier one was made: go on at the same place in a new list.
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

//! The legs of a run, shared between runs with a common prefix.
//!
//! Runs to many targets are mostly prefixes of a few long ones. [`Legs::prefix`] makes a prefix
//! without copying, and [`Legs::is_of_same_run`] says that one list is a prefix of the other.

use std::ops::Deref;
use std::sync::Arc;

use crate::evidence::Leg;

/// A list of legs: a prefix of a list that may be shared.
#[derive(Clone, Debug, Default)]
pub struct Legs {
    all: Arc<Vec<Leg>>,
    /// The length of the prefix; may exceed that of the list.
    len: usize,
    /// True only if no leg of the list is a repetition; may be false for such a list.
    flat: bool,
}

impl Legs {
    /// No legs.
    pub fn new() -> Legs {
        Legs::default()
    }

    /// The first `len` legs, or all if there are fewer; nothing is copied.
    #[must_use]
    pub fn prefix(&self, len: usize) -> Legs {
        Legs { all: Arc::clone(&self.all), len: len.min(self.len), flat: self.flat }
    }

    /// True if every leg is known to be a step; no leg is visited.
    pub fn is_flat(&self) -> bool {
        self.flat
    }

    /// True if other values share the list.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.all) > 1
    }

    /// True if both are prefixes of one list in memory, so that the shorter one is a prefix of the
    /// longer one.
    pub fn is_of_same_run(&self, other: &Legs) -> bool {
        Arc::ptr_eq(&self.all, &other.all)
    }

    /// The legs for modification; copied if they are shared.
    pub fn to_mut(&mut self) -> &mut Vec<Leg> {
        if self.len < self.all.len() {
            *self = self.to_vec().into();
        }
        // The prefix is the whole list, whatever the caller adds.
        self.len = usize::MAX;
        self.flat = false;
        Arc::make_mut(&mut self.all)
    }

    /// Adds a leg.
    pub fn push(&mut self, leg: Leg) {
        self.to_mut().push(leg);
    }
}

impl Deref for Legs {
    type Target = [Leg];

    fn deref(&self) -> &[Leg] {
        &self.all[..self.len.min(self.all.len())]
    }
}

impl From<Vec<Leg>> for Legs {
    fn from(all: Vec<Leg>) -> Legs {
        let len = all.len();
        let flat = all.iter().all(|leg| matches!(leg, Leg::Step(_)));
        Legs { all: Arc::new(all), len, flat }
    }
}

impl FromIterator<Leg> for Legs {
    fn from_iter<I: IntoIterator<Item = Leg>>(legs: I) -> Legs {
        legs.into_iter().collect::<Vec<Leg>>().into()
    }
}

impl<'a> IntoIterator for &'a Legs {
    type Item = &'a Leg;
    type IntoIter = std::slice::Iter<'a, Leg>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl PartialEq for Legs {
    fn eq(&self, other: &Legs) -> bool {
        **self == **other
    }
}

impl Eq for Legs {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Step, TransitionId};

    fn step(t: u32) -> Leg {
        Leg::Step(Step { transition: TransitionId(t), params: Vec::new(), next: None })
    }

    #[test]
    fn a_prefix_is_shared_and_does_not_change_with_the_whole() {
        let mut whole: Legs = (0..5).map(step).collect();
        let two = whole.prefix(2);
        assert_eq!(*two, [step(0), step(1)]);
        assert!(two.is_of_same_run(&whole) && two != whole);
        assert_eq!(two.prefix(9), two);
        whole.to_mut()[0] = step(7);
        whole.push(step(8));
        assert_eq!((whole.len(), &whole[0]), (6, &step(7)));
        assert!(!two.is_of_same_run(&whole));
        let mut longer = two.clone();
        longer.push(step(9));
        assert_eq!(*longer, [step(0), step(1), step(9)]);
        assert_eq!(two.len(), 2);
        let list = longer.to_mut();
        list.clear();
        assert!(longer.is_empty() && longer.prefix(3).is_empty());
    }
}

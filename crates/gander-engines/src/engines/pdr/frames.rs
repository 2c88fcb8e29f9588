//! Frames: what holds of all states that can be reached within a number of steps, as lemmas by node and level.
//!
//! A lemma of level `i` holds in every state that at most `i` steps lead to; frame `i` is the conjunction of the lemmas of
//! levels `i` and up. Lemmas of level [`FOREVER`] are inductive together.

use gander_system::NodeId;
use gander_term::TermId;

use super::queries::FOREVER;

/// At the node, not all literals of the cube hold.
#[derive(Clone, Debug)]
pub(super) struct Lemma {
    pub node: NodeId,
    /// In order.
    pub cube: Vec<TermId>,
    pub level: usize,
}

/// See the module's documentation.
#[derive(Debug, Default)]
pub(super) struct Frames {
    pub lemmas: Vec<Lemma>,
}

/// True if every literal of `a` is one of `b`; both in order.
pub(super) fn is_part(a: &[TermId], b: &[TermId]) -> bool {
    let mut rest = b.iter();
    a.iter().all(|x| rest.by_ref().any(|y| y == x))
}

impl Frames {
    /// True if a lemma of this level or a higher one excludes the whole cube.
    pub(super) fn excludes(&self, node: NodeId, cube: &[TermId], level: usize) -> bool {
        self.lemmas.iter().any(|l| l.node == node && l.level >= level && is_part(&l.cube, cube))
    }

    /// Adds a lemma and forgets those that it makes superfluous; false if it is superfluous itself.
    pub(super) fn add(&mut self, lemma: Lemma) -> bool {
        if self.excludes(lemma.node, &lemma.cube, lemma.level) {
            return false;
        }
        self.lemmas.retain(|l| l.node != lemma.node || l.level > lemma.level || !is_part(&lemma.cube, &l.cube));
        self.lemmas.push(lemma);
        true
    }

    /// The least level from 1 to `last` that no lemma is of.
    pub(super) fn fixpoint(&self, last: usize) -> Option<usize> {
        (1..=last).find(|&i| self.lemmas.iter().all(|l| l.level != i))
    }

    /// Lemmas above a level become inductive.
    pub(super) fn close(&mut self, level: usize) {
        for l in self.lemmas.iter_mut().filter(|l| l.level > level) {
            l.level = FOREVER;
        }
    }
}

//! Frames: the lemmas of PDR, by node and level.
//!
//! A lemma of level `i` holds in every state that is reachable in at most `i` steps. Frame `F_i` is
//! the conjunction of all lemmas of levels `i` and above, so frames grow weaker with `i`. The
//! conjunction of the lemmas of level [`FOREVER`] is inductive. A fixpoint is an empty level `i`:
//! then `F_i` and `F_(i+1)` have the same lemmas.

use gander_system::NodeId;
use gander_term::TermId;

use super::queries::FOREVER;

/// A blocked cube: at this node, the conjunction of the literals of `cube` is false.
#[derive(Clone, Debug)]
pub(super) struct Lemma {
    pub node: NodeId,
    /// Sorted.
    pub cube: Vec<TermId>,
    pub level: usize,
}

/// See the module's documentation.
#[derive(Debug, Default)]
pub(super) struct Frames {
    pub lemmas: Vec<Lemma>,
}

/// True if every literal of `a` is in `b` (`a` subsumes `b`). Both are sorted.
pub(super) fn is_part(a: &[TermId], b: &[TermId]) -> bool {
    let mut rest = b.iter();
    a.iter().all(|x| rest.by_ref().any(|y| y == x))
}

impl Frames {
    /// True if a lemma of this level or above subsumes the cube.
    pub(super) fn excludes(&self, node: NodeId, cube: &[TermId], level: usize) -> bool {
        self.lemmas.iter().any(|l| l.node == node && l.level >= level && is_part(&l.cube, cube))
    }

    /// Adds a lemma and removes those that it subsumes. Returns false if it is subsumed itself.
    pub(super) fn add(&mut self, lemma: Lemma) -> bool {
        if self.excludes(lemma.node, &lemma.cube, lemma.level) {
            return false;
        }
        self.lemmas.retain(|l| {
            l.node != lemma.node || l.level > lemma.level || !is_part(&lemma.cube, &l.cube)
        });
        self.lemmas.push(lemma);
        true
    }

    /// The least level from 1 to `last` without a lemma of exactly this level.
    pub(super) fn fixpoint(&self, last: usize) -> Option<usize> {
        (1..=last).find(|&i| self.lemmas.iter().all(|l| l.level != i))
    }

    /// Moves all lemmas above `level` to [`FOREVER`]; called with a fixpoint.
    pub(super) fn close(&mut self, level: usize) {
        for l in self.lemmas.iter_mut().filter(|l| l.level > level) {
            l.level = FOREVER;
        }
    }
}

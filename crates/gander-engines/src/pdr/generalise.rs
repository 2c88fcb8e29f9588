//! Generalisation: from a cube that cannot be reached to a larger one that cannot be reached either.
//!
//! After Bradley (2011): literals that an unsatisfiable core does not need are dropped, then one after the other as far
//! as the rest stays inductive relative to the frame. What is left has no start states.

use gander_system::NodeId;
use gander_term::TermId;

use super::prover::{Prover, Trouble};
use super::queries::Relative;

impl Prover {
    /// Learns a lemma that excludes the cube at this level, which the core of its literals is enough for; gives the highest
    /// level that the lemma is known to hold at.
    pub(super) fn learn(
        &mut self,
        node: NodeId,
        cube: &[TermId],
        core: Vec<TermId>,
        level: usize,
    ) -> Result<usize, Trouble> {
        let mut small = self.without_starts(node, cube, core)?;
        let mut at = 0;
        while at < small.len() && small.len() > 1 {
            let mut less = small.clone();
            less.remove(at);
            match self.inductive(node, &less, level)? {
                Some(core) => {
                    small = self.without_starts(node, &less, core)?;
                    // The core keeps the order: what was tried before `at` is still in front, but may be less.
                    at = at.min(small.len());
                }
                None => at += 1,
            }
        }
        let mut reached = level;
        while reached + 1 < self.frontier && self.inductive(node, &small, reached + 1)?.is_some() {
            reached += 1;
        }
        self.add_lemma(node, small, reached);
        Ok(reached)
    }

    /// If no step leads from the frame below `level`, outside of the cube, into the cube, and no start state is in it: literals
    /// that are enough for the first.
    pub(super) fn inductive(
        &mut self,
        node: NodeId,
        cube: &[TermId],
        level: usize,
    ) -> Result<Option<Vec<TermId>>, Trouble> {
        let Some(queries) = &mut self.queries else { return Ok(None) };
        let e = &mut self.view.encoding;
        if queries.starts_in(e, node, cube)?.is_none() {
            return Ok(None);
        }
        let from = Relative { level: level - 1, outside: Some((node, cube)) };
        Ok(queries.step_into(e, from, node, cube)?)
    }

    /// The core with as many literals of the cube as it takes to have no start states.
    fn without_starts(&mut self, node: NodeId, cube: &[TermId], core: Vec<TermId>) -> Result<Vec<TermId>, Trouble> {
        let Some(queries) = &mut self.queries else { return Ok(cube.to_vec()) };
        let e = &mut self.view.encoding;
        if queries.starts_in(e, node, &core)?.is_some() {
            return Ok(core);
        }
        let Some(needed) = queries.starts_in(e, node, cube)? else { return Ok(cube.to_vec()) };
        Ok(cube.iter().copied().filter(|l| core.contains(l) || needed.contains(l)).collect())
    }
}

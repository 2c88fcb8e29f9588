//! Generalisation: from a cube that cannot be reached to a larger one that cannot be reached either.
//!
//! After Bradley (2011): literals that an unsatisfiable core does not need are dropped, then one after the other as far
//! as the rest stays inductive relative to the frame. What is left has no start states.

use gander_system::NodeId;
use gander_term::{RBig, TermId};

use super::linear::{Constraint, Relation};
use super::prover::{Prover, Trouble};
use super::queries::Relative;

/// So many sums of literals are tried for one lemma.
const MOST_SUMS: usize = 30;

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
        let small = self.summed(node, small, level)?;
        let mut reached = level;
        while reached + 1 < self.frontier && self.inductive(node, &small, reached + 1)?.is_some() {
            reached += 1;
        }
        self.add_lemma(node, small, reached);
        Ok(reached)
    }

    /// The cube with two linear literals replaced by their sum, which is weaker, as long as it stays inductive: relations
    /// between variables instead of a bound for each.
    fn summed(&mut self, node: NodeId, mut cube: Vec<TermId>, level: usize) -> Result<Vec<TermId>, Trouble> {
        let mut tried = 0;
        let (mut i, mut j) = (0, 1);
        while i + 1 < cube.len() && tried < MOST_SUMS {
            if j >= cube.len() {
                i += 1;
                j = i + 1;
                continue;
            }
            if let Some(sum) = self.sum(cube[i], cube[j]) {
                tried += 1;
                let mut fewer: Vec<TermId> = cube.iter().copied().filter(|l| *l != cube[i] && *l != cube[j]).collect();
                fewer.push(sum);
                if self.inductive(node, &fewer, level)?.is_some() {
                    cube = fewer;
                    (i, j) = (0, 1);
                    continue;
                }
            }
            j += 1;
        }
        Ok(cube)
    }

    /// The sum of two linear literals; none if it says nothing.
    fn sum(&mut self, a: TermId, b: TermId) -> Option<TermId> {
        let (x, y) = (self.constraints.get(&a)?, self.constraints.get(&b)?);
        let bound = |c: &Constraint| matches!(c.relation, Relation::AtMost | Relation::Below);
        if x.sort != y.sort || !bound(x) || !bound(y) {
            return None;
        }
        let mut form = x.form.clone();
        form.add(&y.form, &RBig::ONE);
        let strict = x.relation == Relation::Below || y.relation == Relation::Below;
        let relation = if strict { Relation::Below } else { Relation::AtMost };
        self.literal_of(Constraint { form, relation, sort: x.sort })
    }

    /// A constraint as a literal.
    fn literal_of(&mut self, constraint: Constraint) -> Option<TermId> {
        let constraint = constraint.normal()?;
        let term = constraint.term(&mut self.view.encoding.pool);
        self.constraints.insert(term, constraint);
        Some(term)
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

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
        let small = self.simpler_in_frame(node, small, level)?;
        let mut reached = level;
        while reached + 1 < self.frontier && self.inductive(node, &small, reached + 1)?.is_some() {
            reached += 1;
        }
        #[cfg(test)]
        if self.view.encoding.bug == Some(crate::seeded_bugs::SeededBug::LemmaTooHigh) {
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

    /// The cube with linear literals replaced by their sums with bounds that the frame knows, where that cancels variables.
    /// Such a literal follows from the cube in the frame, so the lemma still excludes the cube there.
    fn simpler_in_frame(&mut self, node: NodeId, mut cube: Vec<TermId>, level: usize) -> Result<Vec<TermId>, Trouble> {
        let mut bounds: Vec<Constraint> = Vec::new();
        for l in self.frames.lemmas.iter().filter(|l| l.node == node && l.level >= level && l.cube.len() == 1) {
            let not = self.view.encoding.pool.not(l.cube[0]);
            bounds.extend(Constraint::of(&self.view.encoding.pool, not));
        }
        let mut tried = 0;
        for i in 0..cube.len() {
            for bound in &bounds {
                let Some(own) = self.constraints.get(&cube[i]).cloned() else { break };
                let Some(sum) = sum(&own, bound) else { continue };
                if sum.form.terms.len() >= own.form.terms.len() || tried >= MOST_SUMS {
                    continue;
                }
                tried += 1;
                let Some(literal) = self.literal_of(sum) else { continue };
                let mut simpler = cube.clone();
                simpler[i] = literal;
                if self.inductive(node, &simpler, level)?.is_some() {
                    cube = simpler;
                }
            }
        }
        Ok(cube)
    }

    /// The sum of two linear literals; none if it says nothing.
    fn sum(&mut self, a: TermId, b: TermId) -> Option<TermId> {
        let sum = sum(self.constraints.get(&a)?, self.constraints.get(&b)?)?;
        self.literal_of(sum)
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
        #[cfg(test)]
        let forgotten = e.bug == Some(crate::seeded_bugs::SeededBug::ForgottenStart);
        #[cfg(not(test))]
        let forgotten = false;
        if !forgotten && queries.starts_in(e, node, cube)?.is_none() {
            return Ok(None);
        }
        let from = Relative { level: level - 1, outside: Some((node, cube)) };
        Ok(queries.step_into(e, from, node, cube)?)
    }

    /// The core with as many literals of the cube as it takes to have no start states.
    fn without_starts(&mut self, node: NodeId, cube: &[TermId], core: Vec<TermId>) -> Result<Vec<TermId>, Trouble> {
        let Some(queries) = &mut self.queries else { return Ok(cube.to_vec()) };
        let e = &mut self.view.encoding;
        #[cfg(test)]
        if e.bug == Some(crate::seeded_bugs::SeededBug::ForgottenStart) {
            return Ok(core);
        }
        if queries.starts_in(e, node, &core)?.is_some() {
            return Ok(core);
        }
        let Some(needed) = queries.starts_in(e, node, cube)? else { return Ok(cube.to_vec()) };
        Ok(cube.iter().copied().filter(|l| core.contains(l) || needed.contains(l)).collect())
    }
}

/// What follows from two bounds by addition.
fn sum(a: &Constraint, b: &Constraint) -> Option<Constraint> {
    let bound = |c: &Constraint| matches!(c.relation, Relation::AtMost | Relation::Below);
    if a.sort != b.sort || !bound(a) || !bound(b) {
        return None;
    }
    let mut form = a.form.clone();
    form.add(&b.form, &RBig::ONE);
    let strict = a.relation == Relation::Below || b.relation == Relation::Below;
    let relation = if strict { Relation::Below } else { Relation::AtMost };
    Some(Constraint { form, relation, sort: a.sort })
}

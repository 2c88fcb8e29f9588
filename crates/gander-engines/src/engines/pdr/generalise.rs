//! Generalisation: weakens a blocked cube to one with more states that is blocked too.
//!
//! After Bradley (2011): the literals outside an unsatisfiable core are dropped, then single
//! literals, as long as the rest stays inductive relative to the frame below and contains no start
//! state. Then linear literals are replaced by sums of literals ([`Prover::learn`]). Finally the
//! lemma is pushed to the highest level at which it is inductive.

use gander_system::NodeId;
use gander_term::{RBig, TermId};

use super::limits::LIMITS;
use super::prover::{Prover, QueryFailure};
use super::queries::Relative;
use crate::arith::linear::{Constraint, Relation};

impl Prover {
    /// Generalises a blocked cube and adds the negation as a lemma. `core` are the literals of the
    /// cube that the refutation used. Returns the highest level at which the lemma is known to
    /// hold.
    pub(super) fn learn(
        &mut self,
        node: NodeId,
        cube: &[TermId],
        core: Vec<TermId>,
        level: usize,
    ) -> Result<usize, QueryFailure> {
        let mut small = self.without_starts(node, cube, core)?;
        let mut at = 0;
        while at < small.len() && small.len() > 1 {
            let mut less = small.clone();
            less.remove(at);
            match self.inductive(node, &less, level)? {
                Some(core) => {
                    small = self.without_starts(node, &less, core)?;
                    // The core preserves order: literals before `at` were tried and are still
                    // first, but there may be fewer of them.
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
        self.add_lemma(node, small, reached);
        Ok(reached)
    }

    /// Replaces two linear literals by their sum while the cube stays inductive. The sum is weaker,
    /// and gives relations between variables instead of a bound for each.
    fn summed(
        &mut self,
        node: NodeId,
        mut cube: Vec<TermId>,
        level: usize,
    ) -> Result<Vec<TermId>, QueryFailure> {
        let mut tried = 0;
        let (mut i, mut j) = (0, 1);
        while i + 1 < cube.len() && tried < LIMITS.sums {
            if j >= cube.len() {
                i += 1;
                j = i + 1;
                continue;
            }
            if let Some(sum) = self.sum(cube[i], cube[j]) {
                tried += 1;
                let mut fewer: Vec<TermId> =
                    cube.iter().copied().filter(|l| *l != cube[i] && *l != cube[j]).collect();
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

    /// Replaces a linear literal by its sum with a bound from the frame, where this cancels
    /// variables. In the frame the sum follows from the literal, so the lemma still excludes the
    /// original cube there.
    fn simpler_in_frame(
        &mut self,
        node: NodeId,
        mut cube: Vec<TermId>,
        level: usize,
    ) -> Result<Vec<TermId>, QueryFailure> {
        let mut bounds: Vec<Constraint> = Vec::new();
        for l in self
            .frames
            .lemmas
            .iter()
            .filter(|l| l.node == node && l.level >= level && l.cube.len() == 1)
        {
            let not = self.view.encoding.pool.not(l.cube[0]);
            bounds.extend(Constraint::of(&self.view.encoding.pool, not));
        }
        let mut tried = 0;
        for i in 0..cube.len() {
            for bound in &bounds {
                let Some(own) = self.constraints.get(&cube[i]).cloned() else { break };
                let Some(sum) = sum(&own, bound) else { continue };
                if sum.form.terms.len() >= own.form.terms.len() || tried >= LIMITS.sums {
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

    /// The sum of two linear literals; `None` if it is trivially true.
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

    /// Whether the negated cube is inductive relative to the frame below `level`: no start state is
    /// in the cube, and no step from the frame, outside the cube, enters it. Returns the literals
    /// that refute such a step.
    pub(super) fn inductive(
        &mut self,
        node: NodeId,
        cube: &[TermId],
        level: usize,
    ) -> Result<Option<Vec<TermId>>, QueryFailure> {
        let Some(queries) = &mut self.queries else { return Ok(None) };
        let e = &mut self.view.encoding;
        if queries.starts_in(e, node, cube)?.is_none() {
            return Ok(None);
        }
        let from = Relative { level: level - 1, outside: Some((node, cube)) };
        Ok(queries.step_into(e, from, node, cube)?)
    }

    /// The core, with literals of the cube added if it would contain a start state.
    fn without_starts(
        &mut self,
        node: NodeId,
        cube: &[TermId],
        core: Vec<TermId>,
    ) -> Result<Vec<TermId>, QueryFailure> {
        let Some(queries) = &mut self.queries else { return Ok(cube.to_vec()) };
        let e = &mut self.view.encoding;
        if queries.starts_in(e, node, &core)?.is_some() {
            return Ok(core);
        }
        let Some(needed) = queries.starts_in(e, node, cube)? else { return Ok(cube.to_vec()) };
        Ok(cube.iter().copied().filter(|l| core.contains(l) || needed.contains(l)).collect())
    }
}

/// The sum of two inequalities, which both imply.
fn sum(a: &Constraint, b: &Constraint) -> Option<Constraint> {
    let bound = |c: &Constraint| matches!(c.relation, Relation::AtMost | Relation::Below);
    if a.sort != b.sort || !bound(a) || !bound(b) {
        return None;
    }
    let mut form = a.form.clone();
    form.add(&RBig::ONE, &b.form);
    let strict = a.relation == Relation::Below || b.relation == Relation::Below;
    let relation = if strict { Relation::Below } else { Relation::AtMost };
    Some(Constraint { form, relation, sort: a.sort })
}

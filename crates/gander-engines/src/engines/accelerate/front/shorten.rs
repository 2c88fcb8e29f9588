//! Shortens runs with loops.
//!
//! A model that meets a target has an arbitrary number of rounds. The query is repeated with a
//! bound on the length of the run, and the bound is bisected. The result is the shortest run with
//! these loops, this depth of the unrolling, and the same choices in all rounds of a loop. Other
//! runs may be shorter.

use std::time::Instant;

use gander_smt::{Limits, Literal, Reason};
use gander_system::TransitionId;
use gander_term::{TermId, Value};

use crate::core::EngineContext;
use crate::encode::unrolling::Path;
use crate::engines::accelerate::cube::as_count;

use super::super::limits::LIMITS;
use super::Front;

/// A query for a run: its possible targets, the literal that says that one of them is met at the
/// depth, and its limits.
pub(super) struct Query {
    pub possible: Vec<usize>,
    pub query: Literal,
    pub depth: u32,
    pub limits: Limits,
}

impl Front {
    /// Replaces a run by the shortest that can be found within the time. Keeps the position of its
    /// claim.
    pub(super) fn shortened(
        &mut self,
        context: &EngineContext,
        wanted: Query,
        found: (usize, Path),
    ) -> Result<(usize, Path), Reason> {
        let mut best = found;
        if self.length(&best.1).is_none() {
            best = self.with_fewest_rounds(context, &wanted, best)?;
        }
        if self.length(&best.1).is_none() {
            return Ok(best);
        }
        let until = Instant::now() + LIMITS.shorten;
        best = self.with_fewest_steps(context, &wanted, best, until)?;
        // With one more step, a loop with larger strides may reach the target that it would
        // otherwise overshoot.
        let (limits, depth) = (wanted.limits, wanted.depth + 1);
        if self.length(&best.1).is_some_and(|length| length > u64::from(depth)) {
            let only: Vec<bool> = (0..self.questions.len()).map(|i| i == best.0).collect();
            if let Some((query, possible)) = self.query(&only, depth) {
                best = self.with_fewest_steps(
                    context,
                    &Query { possible, query, depth, limits },
                    best,
                    until,
                )?;
            }
        }
        Ok(best)
    }

    /// Minimises the greatest number of rounds of any loop.
    fn with_fewest_rounds(
        &mut self,
        context: &EngineContext,
        wanted: &Query,
        found: (usize, Path),
    ) -> Result<(usize, Path), Reason> {
        let &Query { ref possible, query, depth, limits } = wanted;
        let (mut best, mut low) = (found, 1u64);
        let mut high = self.most_rounds(&best.1);
        while low < high && !context.is_cancelled() {
            let middle = low + (high - low) / 2;
            let bound = self.unrolling.session.literal();
            for l in 0..self.counts.len() {
                let e = &mut self.encoding;
                let most = e.pool.int(middle);
                let take = e.take(TransitionId::from(self.first_loop + l));
                let parts: Vec<TermId> = self.counts[l].iter().map(|&s| e.pool.var(s)).collect();
                let parts: Vec<TermId> = parts.into_iter().map(|n| e.pool.le(n, most)).collect();
                let few = e.pool.and(parts);
                let few = e.pool.implies(take, few);
                for step in 0..depth {
                    self.unrolling.assert_if_at(&self.encoding, bound, few, step);
                }
            }
            match self.met(possible, &[query, bound], depth, limits) {
                Ok(Some(better)) => {
                    best = better;
                    high = self.most_rounds(&best.1).min(middle);
                }
                Ok(None) => low = middle + 1,
                // Keep the run found so far.
                Err(Reason::Interrupted) => return Err(Reason::Interrupted),
                Err(_) => break,
            }
        }
        Ok(best)
    }

    /// Minimises the number of steps, by bisection between the depth and the length of the known
    /// run, until a deadline. Loops that contain loops are excluded.
    fn with_fewest_steps(
        &mut self,
        context: &EngineContext,
        wanted: &Query,
        found: (usize, Path),
        until: Instant,
    ) -> Result<(usize, Path), Reason> {
        let &Query { ref possible, query, depth, .. } = wanted;
        let (mut best, mut low) = (found, u64::from(depth));
        let mut high = self.length(&best.1).unwrap_or(0);
        if low >= high {
            return Ok(best);
        }
        let total = self.total(depth);
        let flat = self.unrolling.session.literal();
        for l in (0..self.round.len()).filter(|&l| self.round[l].is_none()).collect::<Vec<_>>() {
            let take = self.encoding.take(TransitionId::from(self.first_loop + l));
            let not = self.encoding.pool.not(take);
            (0..depth)
                .for_each(|step| self.unrolling.assert_if_at(&self.encoding, flat, not, step));
        }
        // First query for any shorter run: often there is none.
        let mut middle = high - 1;
        while low < high && !context.is_cancelled() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let bound = self.unrolling.session.literal();
            let most = self.encoding.pool.int(middle);
            let few = self.encoding.pool.le(total, most);
            self.unrolling.assert_if_at(&self.encoding, bound, few, 0);
            match self.met(possible, &[query, flat, bound], depth, Limits::time(left)) {
                Ok(Some(better)) => {
                    high = self.length(&better.1).unwrap_or(middle).min(middle);
                    best = better;
                }
                Ok(None) => low = middle + 1,
                Err(Reason::Interrupted) => return Err(Reason::Interrupted),
                // Keep the run found so far.
                Err(_) => break,
            }
            middle = low + high.saturating_sub(low) / 2;
        }
        Ok(best)
    }

    /// An upper bound on the number of steps of the path, as a term: if several transitions are
    /// marked as taken in one step, all count. Loops that contain loops are excluded.
    fn total(&mut self, depth: u32) -> TermId {
        let e = &mut self.encoding;
        let (zero, one) = (e.pool.int(0), e.pool.int(1));
        let mut total = zero;
        for distance in 0..depth {
            let mut takes = Vec::new();
            for (l, round) in self.round.iter().enumerate() {
                let (&Some(round), Some(&count)) = (round, self.counts[l].first()) else {
                    continue;
                };
                let take = e.take_symbol(TransitionId::from(self.first_loop + l));
                let (take, count) = (e.later(take, distance), e.later(count, distance));
                let (take, count, round) = (e.pool.var(take), e.pool.var(count), e.pool.int(round));
                let many = e.pool.mul(round, count);
                let steps = e.pool.ite(take, many, zero);
                total = e.pool.add(total, steps);
                takes.push(take);
            }
            let some = e.pool.or(takes);
            let step = e.pool.ite(some, zero, one);
            total = e.pool.add(total, step);
        }
        total
    }

    /// The number of steps of a path; `None` if it takes a loop that contains loops.
    fn length(&self, path: &Path) -> Option<u64> {
        let mut sum = 0u64;
        for (t, params) in &path.steps {
            let steps = match t.index().checked_sub(self.first_loop) {
                None => 1,
                Some(l) => self.round[l]?.checked_mul(as_count(params.first()?)?)?,
            };
            sum = sum.checked_add(steps)?;
        }
        Some(sum)
    }

    /// The greatest number of rounds of a loop in a path.
    fn most_rounds(&self, path: &Path) -> u64 {
        let loops = path.steps.iter().filter(|(t, _)| t.index() >= self.first_loop);
        loops
            .filter_map(|(_, params)| params.first())
            .map(|v: &Value| as_count(v).unwrap_or(u64::MAX))
            .max()
            .unwrap_or(1)
    }
}

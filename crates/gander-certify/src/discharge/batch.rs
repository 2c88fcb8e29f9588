//! Many obligations, refuted with few queries.
//!
//! A batch asks a solver for a solution of the disjunction of its formulas. If there is none, all
//! of them are refuted; otherwise each is asked by itself, so that the failure names its
//! obligation.

use std::time::{Duration, Instant};

use gander_smt::{Answer, Limits};

use super::agreement::{FirstAnswer, Second};
use super::{CheckContext, Obligation};
use crate::basis::Ground;
use crate::formula::eliminate::without_quantifiers;
use crate::formula::fold_closed;
use crate::rejection::Rejection;

/// The number of obligations in the first batch.
const FIRST_BATCH: usize = 64;

/// The largest number of obligations in a batch; the size doubles after each success.
const LARGEST_BATCH: usize = 512;

/// [`CheckContext::refute_in_batches`] stops after this many failures.
const MAX_FAILURES: u32 = 4;

/// The time limit of the query of a batch.
const BATCH_TIME: Duration = Duration::from_millis(200);

impl CheckContext<'_> {
    /// Shows that none of the formulas has a solution.
    pub(crate) fn refute_all(&mut self, obligations: &[Obligation]) -> Result<(), Rejection> {
        let (mut left, mut size) = (obligations, FIRST_BATCH);
        while !left.is_empty() {
            let (some, rest) = left.split_at(size.min(left.len()));
            if some.len() > 1 {
                let done = self.refute_batch(some)?;
                size = if done { (2 * size).min(LARGEST_BATCH) } else { FIRST_BATCH };
            }
            for (formula, what) in some {
                self.refute(*formula, what)?;
            }
            left = rest;
        }
        Ok(())
    }

    /// Refutes as many of the formulas as batches can; [`CheckContext::refute`] finds these in the
    /// cache. Stops after [`MAX_FAILURES`] batches that were not refuted.
    pub(crate) fn refute_in_batches(
        &mut self,
        obligations: &[Obligation],
    ) -> Result<(), Rejection> {
        let (mut left, mut size, mut failures) = (obligations, LARGEST_BATCH, 0);
        while !left.is_empty() && failures < MAX_FAILURES {
            let (some, rest) = left.split_at(size.min(left.len()));
            if self.refute_batch(some)? {
                size = (2 * size).min(LARGEST_BATCH);
                left = rest;
            } else {
                failures += 1;
                if size > FIRST_BATCH && some.len() > FIRST_BATCH {
                    size = FIRST_BATCH;
                } else {
                    left = rest;
                }
            }
        }
        Ok(())
    }

    /// Refutes all of the formulas with one query and records them as refuted. Returns false if
    /// that failed: then each has to be asked by itself. Also returns true if a batch query makes
    /// no sense (fewer than two open formulas, quantifiers, no solver).
    pub(crate) fn refute_batch(&mut self, obligations: &[Obligation]) -> Result<bool, Rejection> {
        let mut open = Vec::new();
        for (formula, _) in obligations {
            let formula = without_quantifiers(&mut self.pool, *formula, &mut self.known.eliminated);
            let formula = fold_closed(&mut self.pool, formula);
            if self.pool.as_bool(formula) != Some(false)
                && !self.known.refuted.contains_key(&formula)
            {
                open.push(formula);
            }
        }
        open.sort_unstable();
        open.dedup();
        // A formula with a solution fails when it is asked by itself.
        open.retain(|&formula| self.decide_in_process(formula).is_none());
        open.retain(|&formula| !self.was_refuted(formula));
        let features = self.pool.features(&open);
        if open.len() < 2 || features.quantifiers {
            return Ok(true);
        }
        let Ok(solvers) = self.solvers(features, "several obligations") else { return Ok(true) };
        let Some(solver) = solvers.first() else { return Ok(true) };
        let limits = self.query_limits()?;
        let limits = Limits::time(limits.time.unwrap_or(BATCH_TIME).min(BATCH_TIME));
        let some = self.pool.or(open.iter().copied());
        let begun = self.begin_second(some, &solvers);
        let clock = Instant::now();
        let at = self.session(solver);
        self.queries += 1;
        let session = &mut self.sessions[at];
        session.push();
        session.assert(&self.pool, some);
        let answer = session.check(&[], limits);
        session.pop();
        if answer != Answer::Unsat {
            self.drop_second(begun);
            return Ok(false);
        }
        let what = "several obligations";
        let asked =
            FirstAnswer { first: solver, solvers: &solvers, features, time: clock.elapsed(), what };
        match self.second(some, &asked, begun) {
            // The second solver may agree about the formulas one by one.
            Ok(Second::Agrees(support))
                if support.ground == Ground::OneSolver && self.has_time_for_second() =>
            {
                Ok(false)
            }
            Ok(Second::Agrees(support)) => {
                self.known.refuted.extend(open.iter().map(|&formula| (formula, support)));
                open.into_iter().for_each(|formula| self.keep_refutation(formula));
                Ok(true)
            }
            Ok(Second::Disagrees(_)) => Ok(false),
            Err(rejection) => self.check_cancelled().map(|()| false).map_err(|_| rejection),
        }
    }
}

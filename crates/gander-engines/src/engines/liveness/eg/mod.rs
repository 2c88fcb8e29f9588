//! How long runs can go on: for systems that are linear over ints, the states from which k further
//! steps exist, for k = 0, 1, 2, ...
//!
//! `X0` are the states in which the run may stay, `X(k+1)` those of them from which a step leads to
//! `Xk`: the greatest fixpoint of `EG` (Emerson and Clarke 1980), on unions of polyhedra
//! (Halbwachs, Proy and Roumanoff 1997). A polyhedron within another one is dropped, so where more
//! of something is never worse, only what is needed at least remains, whatever the size of the
//! ranges. Inputs are projected away: what comes after does not depend on them.
//!
//! If no run begins in `Xk`, no run has k steps: with a counter, `count = j` excludes `X(k-j)`, and
//! that is an inductive invariant. If nothing changes any more, every state of the set has a step
//! that stays in it; a walk there that always chooses the same comes to a state again if there are
//! finitely many, and that is a lasso.
//!
//! Only without fairness.

use super::limits::LIMITS;

mod moves;
#[cfg(test)]
mod tests;
mod walk;

use std::time::Duration;

use gander_runtime::Cancellation;
use gander_system::passes::{Aspect, Begin, DecidingRuns, Stage, liveness_to_safety};
use gander_system::{ClaimId, Evidence, Rounds, StartId, System};
use gander_term::{Pool, TermId};
use rustc_hash::FxHashMap;

use super::strategies::Found;
use crate::arith::polyhedron::{Outcome, Point, Polyhedron, Row, Tableau, project};
use crate::core::portable;

use moves::{Move, Space, inputs, moves};

/// A polyhedron that was met.
type PolyId = usize;

/// Where a run may begin: a node, a start if it is one, and rows over the variables.
struct Beginning {
    node: usize,
    start: Option<StartId>,
    rows: Vec<Row>,
}

/// See the module's documentation.
pub(super) struct GreatestFixpoint {
    system: std::sync::Arc<System>,
    claim: ClaimId,
    asked: DecidingRuns,
    work: Option<Work>,
}

/// A polyhedron, the tableau of its rows, and some of its points.
struct Known {
    rows: Polyhedron,
    tableau: Tableau,
    points: Vec<Point>,
}

struct Work {
    pool: Pool,
    /// The number of variables.
    dimensions: usize,
    /// By node.
    moves: Vec<Vec<Move>>,
    beginnings: Vec<Beginning>,
    inputs: Vec<usize>,
    all: Vec<Known>,
    ids: FxHashMap<Polyhedron, PolyId>,
    within: FxHashMap<(PolyId, PolyId), bool>,
    /// By node, number of the move and polyhedron at its target: the states that come before.
    before: FxHashMap<(usize, usize, PolyId), Option<PolyId>>,
    /// By k and node.
    levels: Vec<Vec<Vec<PolyId>>>,
    /// The nodes of the next level that are done.
    next: Vec<Vec<PolyId>>,
    exact: bool,
    /// Pre-images that were computed, but for those that are obviously empty.
    done: usize,
}

/// It is too much, or cannot be said.
struct GivenUp;

impl GreatestFixpoint {
    /// None if the claim is not of the kind.
    pub(super) fn new(
        system: &std::sync::Arc<System>,
        claim: ClaimId,
        asked: DecidingRuns,
    ) -> Option<GreatestFixpoint> {
        let small = system.vars().len() <= LIMITS.eg_variables
            && system.transitions().len() <= LIMITS.eg_moves;
        (small && asked.under.is_empty()).then(|| GreatestFixpoint {
            system: system.clone(),
            claim,
            asked,
            work: None,
        })
    }

    /// One piece of work.
    pub(super) fn advance(&mut self, cancellation: &Cancellation) -> Found {
        match self.piece(cancellation) {
            Ok(found) => found,
            Err(GivenUp) => Found::Nothing(String::new()),
        }
    }

    /// True as long as it has not done much, by count: on a busy machine time says little.
    pub(super) fn is_fresh(&self, used: Duration) -> bool {
        let done = self.work.as_ref().map_or(0, |w| w.done);
        used < LIMITS.eg_fresh
            || (done < LIMITS.eg_fresh_work && used < LIMITS.eg_large_step * done as u32)
    }

    fn piece(&mut self, cancellation: &Cancellation) -> Result<Found, GivenUp> {
        let Some(work) = &mut self.work else {
            self.work = Some(Work::new(&self.system, &self.asked).ok_or(GivenUp)?);
            return Ok(Found::More);
        };
        let mut left = LIMITS.eg_preimages;
        while left > 0 && !cancellation.is_cancelled() {
            let k = work.levels.len() - 1;
            if !work.begins_in(k)? {
                return work.at_most(&self.system, self.claim, k).map(Found::Finite);
            }
            if k >= LIMITS.eg_levels {
                return Err(GivenUp);
            }
            let before = work.done;
            let level = work.level(cancellation)?;
            left = left.saturating_sub(1 + work.done - before);
            if level && work.is_stable()? {
                return match work.exact && self.asked.begin == Begin::AtStart {
                    true => work.lasso(cancellation, &self.system).map(Found::Run).ok_or(GivenUp),
                    false => Err(GivenUp),
                };
            }
        }
        Ok(Found::More)
    }
}

impl Work {
    fn new(system: &System, asked: &DecidingRuns) -> Option<Work> {
        let mut pool = Pool::fork(system.pool());
        let space = Space::of(&pool, system.vars().iter().map(|v| v.current))?;
        let (mut all_moves, mut bases, mut beginnings) = (Vec::new(), Vec::new(), Vec::new());
        for n in system.node_ids() {
            let (stay, admissible) =
                (asked.stay_at(system, &mut pool, n), system.assumption_term(&mut pool, n));
            let base = pool.and([stay, admissible]);
            bases.push(base);
            let mut here = Vec::new();
            for &t in system.leaving(n) {
                here.extend(moves(system, &mut pool, t, base)?);
            }
            all_moves.push(here);
            if asked.begin != Begin::AtStart {
                let begin = asked.begin_at(system, &mut pool, n);
                let formula = pool.and([base, begin]);
                let cases = space.cases(&pool, formula)?.into_iter();
                beginnings.extend(cases.map(|rows| Beginning {
                    node: n.index(),
                    start: None,
                    rows,
                }));
            }
        }
        if all_moves.iter().map(Vec::len).sum::<usize>() > LIMITS.eg_moves {
            return None;
        }
        if asked.begin == Begin::AtStart {
            for (i, s) in system.starts().iter().enumerate() {
                let start = system.start_term(&mut pool, StartId::from(i));
                let formula = pool.and([start, bases[s.target.index()]]);
                let (node, start) = (s.target.index(), Some(StartId::from(i)));
                beginnings.extend(space.cases(&pool, formula)?.into_iter().map(|rows| Beginning {
                    node,
                    start,
                    rows,
                }));
            }
        }
        let inputs = inputs(system, &pool);
        let mut work = Work {
            dimensions: space.dimensions(),
            moves: all_moves,
            beginnings,
            inputs,
            all: Vec::new(),
            ids: FxHashMap::default(),
            within: FxHashMap::default(),
            before: FxHashMap::default(),
            levels: Vec::new(),
            next: Vec::new(),
            exact: true,
            done: 0,
            pool,
        };
        let mut first = Vec::new();
        for base in bases {
            let mut here = Vec::new();
            for case in space.cases(&work.pool, base)? {
                let away = work.inputs.clone();
                if let Some(p) = work.projected(case, &away).ok()? {
                    work.admit(&mut here, p).ok()?;
                }
            }
            first.push(here);
        }
        work.levels.push(first);
        Some(work)
    }

    /// The polyhedron of rows without some dimensions; none if it is empty.
    fn projected(&mut self, rows: Vec<Row>, away: &[usize]) -> Result<Option<PolyId>, GivenUp> {
        let projected = match project(rows, away) {
            Outcome::Done(projected) => projected,
            Outcome::Empty => return Ok(None),
            Outcome::GivenUp => return Err(GivenUp),
        };
        self.done += 1;
        self.exact &= projected.exact;
        let keep = self.dimensions;
        let cut = |mut row: Row| {
            row.coefficients.truncate(keep);
            row
        };
        match Polyhedron::of(projected.rows.into_iter().map(cut)) {
            Outcome::Done(p) => self.id(p).map(Some),
            Outcome::Empty => Ok(None),
            Outcome::GivenUp => Err(GivenUp),
        }
    }

    fn id(&mut self, p: Polyhedron) -> Result<PolyId, GivenUp> {
        if let Some(&known) = self.ids.get(&p) {
            return Ok(known);
        }
        let tableau = p.tableau(self.dimensions).ok_or(GivenUp)?;
        self.ids.insert(p.clone(), self.all.len());
        let points = vec![tableau.point().ok_or(GivenUp)?];
        self.all.push(Known { rows: p, tableau, points });
        Ok(self.all.len() - 1)
    }

    fn is_within(&mut self, a: PolyId, b: PolyId) -> Result<bool, GivenUp> {
        if a == b {
            return Ok(true);
        }
        if let Some(&known) = self.within.get(&(a, b)) {
            return Ok(known);
        }
        let mut points = std::mem::take(&mut self.all[a].points);
        let (p, q) = (&self.all[a], &self.all[b]);
        let within = p.rows.is_within(&p.tableau, &mut points, &q.rows).ok_or(GivenUp)?;
        self.all[a].points = points;
        self.within.insert((a, b), within);
        Ok(within)
    }

    /// Adds a polyhedron to a union, in which none is within another.
    fn admit(&mut self, union: &mut Vec<PolyId>, p: PolyId) -> Result<(), GivenUp> {
        for &q in union.iter() {
            if self.is_within(p, q)? {
                return Ok(());
            }
        }
        let mut kept = Vec::new();
        for &q in union.iter() {
            if !self.is_within(q, p)? {
                kept.push(q);
            }
        }
        kept.push(p);
        *union = kept;
        if union.len() > LIMITS.eg_polyhedra { Err(GivenUp) } else { Ok(()) }
    }

    /// The states from which a move leads to a polyhedron.
    fn before(
        &mut self,
        node: usize,
        number: usize,
        goal: PolyId,
    ) -> Result<Option<PolyId>, GivenUp> {
        if let Some(&known) = self.before.get(&(node, number, goal)) {
            return Ok(known);
        }
        let this = &self.moves[node][number];
        let rows = this.rows_to(&self.all[goal].rows).ok_or(GivenUp)?;
        let away: Vec<usize> =
            (self.dimensions..this.dimensions).chain(self.inputs.iter().copied()).collect();
        let found = self.projected(rows, &away)?;
        self.before.insert((node, number, goal), found);
        Ok(found)
    }

    /// Works on the next level; true if it is complete.
    fn level(&mut self, cancellation: &Cancellation) -> Result<bool, GivenUp> {
        let node = self.next.len();
        if node < self.moves.len() {
            let Some(last) = self.levels.last().cloned() else { return Err(GivenUp) };
            let mut here = Vec::new();
            for number in 0..self.moves[node].len() {
                for &goal in &last[self.moves[node][number].target] {
                    if cancellation.is_cancelled() {
                        return Ok(false);
                    }
                    if let Some(p) = self.before(node, number, goal)? {
                        self.admit(&mut here, p)?;
                    }
                }
            }
            here.sort_unstable();
            self.next.push(here);
        }
        let complete = self.next.len() == self.moves.len();
        if complete {
            let next = std::mem::take(&mut self.next);
            self.levels.push(next);
        }
        Ok(complete)
    }

    /// True if the last level is not smaller than the one before.
    fn is_stable(&mut self) -> Result<bool, GivenUp> {
        let [.., old, new] = &self.levels[..] else { return Ok(false) };
        let (old, new) = (old.clone(), new.clone());
        for (old, new) in old.iter().zip(&new) {
            for &p in old {
                let mut covered = false;
                for &q in new {
                    covered = covered || self.is_within(p, q)?;
                }
                if !covered {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether a run may begin in the states of a level.
    fn begins_in(&self, level: usize) -> Result<bool, GivenUp> {
        for b in &self.beginnings {
            for &p in &self.levels[level][b.node] {
                let mut both = self.all[p].tableau.clone();
                for row in &b.rows {
                    both.add(row).ok_or(GivenUp)?;
                }
                if both.is_feasible().ok_or(GivenUp)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// By node, the polyhedra with the last level that each belongs to, as far as others do not say
    /// as much.
    fn last_levels(&mut self) -> Result<Vec<Vec<(PolyId, usize)>>, GivenUp> {
        let mut by_node = Vec::new();
        for node in 0..self.moves.len() {
            let mut last: FxHashMap<PolyId, usize> = FxHashMap::default();
            for (level, union) in self.levels.iter().enumerate() {
                last.extend(union[node].iter().map(|&p| (p, level)));
            }
            let mut all: Vec<(PolyId, usize)> = last.into_iter().collect();
            all.sort_unstable_by_key(|&(p, level)| (std::cmp::Reverse(level), p));
            let mut kept: Vec<(PolyId, usize)> = Vec::new();
            for (p, level) in all {
                let mut said = false;
                // Those of the levels behind it are most like it.
                for &(q, _) in kept.iter().rev().take(LIMITS.eg_compared) {
                    said = said || self.is_within(p, q)?;
                }
                if !said {
                    kept.push((p, level));
                }
            }
            by_node.push(kept);
        }
        Ok(by_node)
    }

    /// No run has `k` steps: a state of level `i` has made less than `k - i`.
    fn at_most(&mut self, system: &System, claim: ClaimId, k: usize) -> Result<Rounds, GivenUp> {
        let last = self.last_levels()?;
        let rows = last.iter().flatten().map(|&(p, _)| self.all[p].rows.rows.len()).sum::<usize>();
        let most = u32::try_from(k.saturating_sub(1)).map_err(|_| GivenUp)?;
        if rows > LIMITS.eg_rows {
            return Err(GivenUp);
        }
        let of = liveness_to_safety(system, claim, &Aspect::AtMost(most)).map_err(|_| GivenUp)?;
        let mut pool = Pool::fork(of.system.pool());
        let count = of.system.vars().get(of.old_vars()).ok_or(GivenUp)?.current;
        let count = pool.var(count);
        let (zero, top) = (pool.int(0), pool.int(most));
        let mut by_node = Vec::new();
        for n in of.system.node_ids() {
            let mut parts = vec![pool.le(zero, count), pool.le(count, top)];
            match of.stage(n) {
                Stage::Pending => {
                    let node = of.old_node(n).index();
                    // What every state there has need not be said.
                    let common = match self.levels[0][node][..] {
                        [p] => self.all[p].rows.rows.clone(),
                        _ => Vec::new(),
                    };
                    for &(p, level) in last[node].iter().filter(|(_, level)| *level > 0 || k == 0) {
                        let inside = formula(system, &mut pool, &self.all[p].rows, &common);
                        let less = pool.int((k - level.min(k)) as u64);
                        let early = pool.lt(count, less);
                        parts.push(pool.implies(inside, early));
                    }
                }
                Stage::Free | Stage::Answered => parts.push(pool.eq(count, zero)),
            }
            by_node.push(pool.and(parts));
        }
        let invariant = portable(&of.system, &pool, &by_node).map_err(|_| GivenUp)?;
        let proof = Box::new(Evidence::Invariant(invariant));
        Ok(Rounds::AtMost { k: most, proof })
    }
}

/// A polyhedron over state variables as a formula, where some rows hold anyway.
fn formula(system: &System, pool: &mut Pool, p: &Polyhedron, common: &[Row]) -> TermId {
    let zero = pool.int(0);
    let mut parts = Vec::new();
    for row in p.rows.iter().filter(|r| !common.contains(r)) {
        let mut sum = pool.int(row.constant);
        for (v, &c) in system.vars().iter().zip(&row.coefficients).filter(|(_, c)| **c != 0) {
            let x = pool.var(v.current);
            let x = number(pool, x);
            let c = pool.int(c);
            let product = pool.mul(c, x);
            sum = pool.add(sum, product);
        }
        parts.push(pool.le(zero, sum));
    }
    let all = pool.and(parts);
    pool.simplify(all)
}

/// A term of any sort as an int.
fn number(pool: &mut Pool, x: TermId) -> TermId {
    let (zero, one) = (pool.int(0), pool.int(1));
    match pool.sort(x) {
        gander_term::Sort::Bool => pool.ite(x, one, zero),
        gander_term::Sort::Enum(id) => {
            let mut value = zero;
            for i in 1..pool.enumeration(id).variants.len() {
                let variant = pool.constant(gander_term::Value::Enum(id, i as u32));
                let (is, i) = (pool.eq(x, variant), pool.int(i as u64));
                value = pool.ite(is, i, value);
            }
            value
        }
        _ => x,
    }
}

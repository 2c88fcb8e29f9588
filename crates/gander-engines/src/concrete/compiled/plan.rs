//! Plans: enumerate all values of some unknowns that satisfy some formulas.
//!
//! A plan alternates between computing and choosing. Formulas are checked as soon as their symbols
//! are known. An unknown that a formula equates with a known term is computed. Any other unknown is
//! chosen from a set that contains all its solutions: a finite sort, or the intervals that the
//! formulas allow ([`crate::arith::pieces`]). The set may be too large, because the formulas are
//! checked anyway, but never too small: a plan gives every solution exactly once.

use gander_runtime::Cancellation;
use gander_term::{Op, Pool, Sort, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::limits::LIMITS;
use super::code::{Compiler, Frame, Instruction, Slots, StepError, execute, is_numbered};
use crate::arith::eliminate::{int_bounds, solution_of};
use crate::arith::pieces::{Piece, flatten, meet, pieces};

/// The values of an unknown to try.
#[derive(Debug)]
enum Domain {
    /// `0 .. n`
    Count(i64),
    /// Intervals: from the maximum of the first slots to the minimum of the second.
    Intervals(Vec<(Vec<u32>, Vec<u32>)>),
}

#[derive(Debug)]
struct Choice {
    slot: u32,
    domain: Domain,
    then: Vec<Instruction>,
}

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Plan {
    first: Vec<Instruction>,
    choices: Vec<Choice>,
    /// The slots of the unknowns, in order.
    pub unknowns: Vec<u32>,
}

/// The state of an enumeration: for each choice, its intervals and the next value.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    levels: Vec<Level>,
    /// The total number of choices so far.
    pub made: u64,
}

#[derive(Debug, Default)]
struct Level {
    intervals: Vec<(i64, i64)>,
    at: usize,
    next: i64,
}

/// A formula and its unknowns.
struct Conjunct {
    term: TermId,
    unknown: Vec<SymbolId>,
    done: bool,
}

/// An equation `x == e` from a conjunct.
struct Equation {
    conjunct: usize,
    x: SymbolId,
    e: TermId,
    needs: Vec<SymbolId>,
}

impl Plan {
    /// The plan for values of `unknowns` that satisfy all formulas; all other symbols are known.
    /// The error names an unknown without a finite domain.
    pub(crate) fn new(
        c: &mut Compiler<'_>,
        pool: &mut Pool,
        unknowns: &[SymbolId],
        formulas: &[TermId],
        cancellation: &Cancellation,
    ) -> Result<Plan, String> {
        let mut open: FxHashSet<SymbolId> = unknowns.iter().copied().collect();
        let mut conjuncts: Vec<Conjunct> = flatten(pool, formulas)
            .into_iter()
            .map(|term| {
                let unknown =
                    pool.free_symbols(&[term]).into_iter().filter(|s| open.contains(s)).collect();
                Conjunct { term, unknown, done: false }
            })
            .collect();
        let equations = equations(pool, &conjuncts, &open, cancellation)?;
        let mut plan = Plan { first: Vec::new(), choices: Vec::new(), unknowns: Vec::new() };
        let mut slots: FxHashMap<SymbolId, u32> = FxHashMap::default();
        loop {
            check_cancelled(cancellation)?;
            plan.check_known_conjuncts(c, pool, &mut conjuncts, &open)?;
            if open.is_empty() {
                break;
            }
            let ready = equations
                .iter()
                .find(|q| open.contains(&q.x) && q.needs.iter().all(|s| !open.contains(s)));
            let (x, slot) = match ready {
                Some(q) => {
                    conjuncts[q.conjunct].done = true;
                    (q.x, c.compile(pool, q.e, plan.tape())?)
                }
                None => plan.choose(c, pool, unknowns, &conjuncts, &open, cancellation)?,
            };
            let term = pool.var(x);
            c.bind(term, slot);
            open.remove(&x);
            slots.insert(x, slot);
        }
        plan.unknowns = unknowns.iter().map(|s| slots[s]).collect();
        Ok(plan)
    }

    fn tape(&mut self) -> &mut Vec<Instruction> {
        match self.choices.last_mut() {
            Some(choice) => &mut choice.then,
            None => &mut self.first,
        }
    }

    fn check_known_conjuncts(
        &mut self,
        c: &mut Compiler<'_>,
        pool: &Pool,
        conjuncts: &mut [Conjunct],
        open: &FxHashSet<SymbolId>,
    ) -> Result<(), String> {
        for conjunct in conjuncts.iter_mut().filter(|c| !c.done) {
            if conjunct.unknown.iter().all(|s| !open.contains(s)) {
                c.require(pool, conjunct.term, self.tape())?;
                conjunct.done = true;
            }
        }
        Ok(())
    }

    /// Adds a choice for the unknown with the smallest domain.
    fn choose(
        &mut self,
        c: &mut Compiler<'_>,
        pool: &mut Pool,
        unknowns: &[SymbolId],
        conjuncts: &[Conjunct],
        open: &FxHashSet<SymbolId>,
        cancellation: &Cancellation,
    ) -> Result<(SymbolId, u32), String> {
        let mut best: Option<(u64, SymbolId, Option<Vec<Piece>>)> = None;
        let mut unbounded = None;
        for &x in unknowns.iter().filter(|s| open.contains(s)) {
            check_cancelled(cancellation)?;
            let sort = pool.symbol(x).sort;
            let all = sort.size_within(pool, LIMITS.sort_values).map(u64::from);
            let found = if sort == Sort::Bool { None } else { intervals(pool, x, conjuncts, open) };
            let size = match (&found, all) {
                (Some(pieces), all) => Some(size(pool, pieces).min(all.unwrap_or(u64::MAX))),
                (None, all) => all,
            };
            match size {
                Some(size) if best.as_ref().is_none_or(|b| size < b.0) => {
                    let found = found.filter(|p| all.is_none_or(|all| self::size(pool, p) < all));
                    best = Some((size, x, found));
                    if size <= 2 {
                        break;
                    }
                }
                Some(_) => {}
                None => unbounded = unbounded.or(Some(x)),
            }
        }
        let Some((size, x, found)) = best else {
            let name = unbounded.map_or_else(String::new, |x| pool.symbol(x).name.clone());
            return Err(format!(
                "`{name}` is chosen from infinitely many values, or from too many"
            ));
        };
        let slot = c.frame.slot();
        let domain = match found {
            None => Domain::Count(size as i64),
            Some(found) => {
                let mut list = Vec::new();
                for piece in found {
                    let mut ends = [Vec::new(), Vec::new()];
                    for (terms, slots) in [piece.lower, piece.upper].into_iter().zip(&mut ends) {
                        for t in terms {
                            let slot = c.compile(pool, t, self.tape())?;
                            slots.push(slot);
                        }
                    }
                    let [lower, upper] = ends;
                    list.push((lower, upper));
                }
                Domain::Intervals(list)
            }
        };
        self.choices.push(Choice { slot, domain, then: Vec::new() });
        Ok((x, slot))
    }

    /// Calls `found` for every solution, until it returns true. The slots of known symbols must be
    /// set. Checks for cancellation regularly.
    pub(crate) fn run(
        &self,
        frame: &Frame,
        slots: &mut Slots,
        progress: &mut Progress,
        cancellation: &Cancellation,
        found: &mut dyn FnMut(&mut Slots) -> Result<bool, StepError>,
    ) -> Result<(), StepError> {
        if !execute(&self.first, frame, slots)? {
            return Ok(());
        }
        if self.choices.is_empty() {
            return found(slots).map(drop);
        }
        if progress.levels.len() < self.choices.len() {
            progress.levels.resize_with(self.choices.len(), Level::default);
        }
        let mut depth = 0;
        progress.levels[0].begin(&self.choices[0].domain, slots)?;
        loop {
            let choice = &self.choices[depth];
            let Some(value) = progress.levels[depth].advance() else {
                if depth == 0 {
                    return Ok(());
                }
                depth -= 1;
                continue;
            };
            progress.made += 1;
            if progress.made.is_multiple_of(LIMITS.choices_between_checks)
                && cancellation.is_cancelled()
            {
                return Err(StepError::Cancelled);
            }
            slots.values[choice.slot as usize] = value;
            if !execute(&choice.then, frame, slots)? {
                continue;
            }
            if depth + 1 == self.choices.len() {
                if found(slots)? {
                    return Ok(());
                }
            } else {
                depth += 1;
                progress.levels[depth].begin(&self.choices[depth].domain, slots)?;
            }
        }
    }
}

impl Level {
    fn begin(&mut self, domain: &Domain, slots: &Slots) -> Result<(), StepError> {
        self.intervals.clear();
        match domain {
            Domain::Count(n) => self.intervals.push((0, n - 1)),
            Domain::Intervals(list) => {
                let value = |s: &u32| slots.values[*s as usize];
                for (lower, upper) in list {
                    let (low, high) =
                        (lower.iter().map(value).max(), upper.iter().map(value).min());
                    let (Some(low), Some(high)) = (low, high) else {
                        return Err(StepError::TooMany);
                    };
                    if low > high {
                        continue;
                    }
                    if high.checked_sub(low).is_none_or(|n| n >= LIMITS.interval_values) {
                        return Err(StepError::TooMany);
                    }
                    self.intervals.push((low, high));
                }
                self.intervals.sort_unstable();
            }
        }
        self.at = 0;
        self.next = self.intervals.first().map_or(0, |i| i.0);
        Ok(())
    }

    /// The next value. Each value occurs once, even if intervals overlap.
    fn advance(&mut self) -> Option<i64> {
        while let Some(&(_, high)) = self.intervals.get(self.at) {
            if self.next <= high {
                let value = self.next;
                // `i64::MAX` is the last value of its interval.
                match value.checked_add(1) {
                    Some(next) => self.next = next,
                    None => self.at = self.intervals.len(),
                }
                return Some(value);
            }
            self.at += 1;
            if let Some(&(low, _)) = self.intervals.get(self.at) {
                self.next = self.next.max(low);
            }
        }
        None
    }
}

/// Fails if cancelled: planning for hundreds of unknowns takes time.
pub(crate) fn check_cancelled(cancellation: &Cancellation) -> Result<(), String> {
    if cancellation.is_cancelled() { Err("interrupted".into()) } else { Ok(()) }
}

fn equations(
    pool: &mut Pool,
    conjuncts: &[Conjunct],
    open: &FxHashSet<SymbolId>,
    cancellation: &Cancellation,
) -> Result<Vec<Equation>, String> {
    let mut found = Vec::new();
    for (i, conjunct) in conjuncts.iter().enumerate() {
        check_cancelled(cancellation)?;
        for &x in &conjunct.unknown {
            if !is_numbered(pool.symbol(x).sort) {
                continue;
            }
            let e = match (pool.op(conjunct.term), pool.args(conjunct.term)) {
                (Op::Symbol(_), _) => Some(pool.tt()),
                (Op::Not, &[a]) if pool.as_symbol(a) == Some(x) => Some(pool.ff()),
                (Op::Eq, _) => match solution_of(pool, x, conjunct.term) {
                    Some(e) => Some(e),
                    None => match int_bounds(pool, x, conjunct.term) {
                        // Only for a coefficient of 1, because otherwise the bounds are rounded.
                        Some(b) if b.exact && b.lower.is_some() && b.lower == b.upper => b.lower,
                        _ => None,
                    },
                },
                _ => None,
            };
            let Some(e) = e else { continue };
            let needs = pool.free_symbols(&[e]).into_iter().filter(|s| open.contains(s)).collect();
            found.push(Equation { conjunct: i, x, e, needs });
        }
    }
    Ok(found)
}

/// Intervals with known ends that contain all solutions for `x`; `None` if they are unbounded.
fn intervals(
    pool: &mut Pool,
    x: SymbolId,
    conjuncts: &[Conjunct],
    open: &FxHashSet<SymbolId>,
) -> Option<Vec<Piece>> {
    let mut all = vec![Piece::default()];
    for conjunct in conjuncts.iter().filter(|c| !c.done && c.unknown.contains(&x)) {
        let found = pieces(pool, x, conjunct.term, open);
        all = meet(&all, &found);
    }
    all.iter().all(Piece::is_bounded).then_some(all)
}

/// The approximate number of values.
fn size(pool: &Pool, pieces: &[Piece]) -> u64 {
    let number = |t: &TermId| pool.as_constant(*t).as_ref().and_then(super::code::number);
    let mut total: u64 = 0;
    for piece in pieces {
        let one = piece.lower.iter().any(|t| piece.upper.contains(t));
        let low = piece.lower.iter().filter_map(number).max();
        let high = piece.upper.iter().filter_map(number).min();
        total = total.saturating_add(match (low, high) {
            _ if one => 1,
            (Some(low), Some(high)) => {
                u64::try_from(high.saturating_sub(low)).map_or(0, |n| n.saturating_add(1))
            }
            _ => LIMITS.unknown_interval,
        });
    }
    total
}

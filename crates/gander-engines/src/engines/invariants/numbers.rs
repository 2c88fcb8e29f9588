//! Numeric candidates from sampled states: constants, bounds, orders and differences of two terms,
//! remainders, linear equalities. Each can also be formed for the states that satisfy a condition.

use gander_term::{IBig, Op, Pool, RBig, Sort, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use crate::arith::echelon::Echelon;
use crate::arith::number::{constant, gcd, rational, remainder};
use crate::candidates::candidate_terms::CandidateTerms;

/// Terms of one sort, with their values in the sampled states of a node.
pub(super) struct Columns {
    pub sort: Sort,
    pub terms: Vec<TermId>,
    /// By term, then by state.
    values: Vec<Vec<RBig>>,
    /// The rank of each value among all values of the columns.
    ranks: Vec<Vec<u32>>,
}

/// The templates to use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Templates {
    /// The number of the model's constants beyond the observed values to try as bounds.
    pub thresholds: usize,
    /// Whether to try bounds of differences and sums.
    pub octagons: bool,
}

impl Columns {
    /// Terms of a sort with their values. Terms without a value in some state are left out.
    pub(super) fn new(sort: Sort, terms: &[(TermId, Vec<Option<Value>>)]) -> Columns {
        let mut columns =
            Columns { sort, terms: Vec::new(), values: Vec::new(), ranks: Vec::new() };
        for (term, values) in terms {
            let values: Option<Vec<RBig>> =
                values.iter().map(|v| v.as_ref().and_then(rational)).collect();
            if let Some(values) = values {
                columns.terms.push(*term);
                columns.values.push(values);
            }
        }
        let mut all: Vec<&RBig> = columns.values.iter().flatten().collect();
        all.sort_unstable();
        all.dedup();
        let rank: FxHashMap<&RBig, u32> = all.into_iter().zip(0..).collect();
        columns.ranks =
            columns.values.iter().map(|c| c.iter().map(|v| rank[v]).collect()).collect();
        columns
    }

    fn constant(&self, pool: &mut Pool, r: &RBig) -> TermId {
        constant(pool, self.sort, r.clone())
    }

    /// Formulas about single terms and pairs of terms that hold in the given states.
    pub(super) fn formulas(
        &self,
        pool: &mut Pool,
        candidate_terms: &CandidateTerms,
        states: &[usize],
        templates: Templates,
    ) -> Vec<TermId> {
        let mut found = Vec::new();
        let mut classes: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
        let mut representatives = Vec::new();
        for t in 0..self.terms.len() {
            let ranks: Vec<u32> = states.iter().map(|&s| self.ranks[t][s]).collect();
            let (Some(&low), Some(&high)) = (ranks.iter().min(), ranks.iter().max()) else {
                continue;
            };
            let value = |rank: u32| {
                let at = ranks.iter().position(|r| *r == rank).unwrap_or(0);
                self.values[t][states[at]].clone()
            };
            let (low, high) = (value(low), value(high));
            if low == high {
                let constant = self.constant(pool, &low);
                found.push(pool.eq(self.terms[t], constant));
                continue;
            }
            self.bounds(pool, candidate_terms, t, &low, &high, templates, &mut found);
            if let Some(&same) = classes.get(&ranks) {
                found.push(pool.eq(self.terms[same], self.terms[t]));
                continue;
            }
            classes.insert(ranks, t);
            representatives.push(t);
        }
        for (i, &a) in representatives.iter().enumerate() {
            for &b in &representatives[i + 1..] {
                self.pair(pool, states, a, b, templates, &mut found);
            }
        }
        found
    }

    /// Bounds of a term: the observed extremes, and constants of the model beyond them.
    #[allow(clippy::too_many_arguments)]
    fn bounds(
        &self,
        pool: &mut Pool,
        candidate_terms: &CandidateTerms,
        t: usize,
        low: &RBig,
        high: &RBig,
        templates: Templates,
        found: &mut Vec<TermId>,
    ) {
        let known: Vec<RBig> = match self.sort {
            Sort::Int => {
                let near = |i: &IBig| [i - IBig::ONE, i.clone(), i + IBig::ONE].map(RBig::from);
                let mut all: Vec<RBig> = candidate_terms.ints.iter().flat_map(near).collect();
                all.sort_unstable();
                all.dedup();
                all
            }
            _ => candidate_terms.reals.clone(),
        };
        let above = known.iter().filter(|c| *c > high).take(templates.thresholds);
        for c in std::iter::once(high).chain(above) {
            let c = self.constant(pool, c);
            found.push(pool.le(self.terms[t], c));
        }
        let below = known.iter().rev().filter(|c| *c < low).take(templates.thresholds);
        for c in std::iter::once(low).chain(below) {
            let c = self.constant(pool, c);
            found.push(pool.le(c, self.terms[t]));
        }
    }

    fn pair(
        &self,
        pool: &mut Pool,
        states: &[usize],
        a: usize,
        b: usize,
        templates: Templates,
        found: &mut Vec<TermId>,
    ) {
        let (ra, rb) = (&self.ranks[a], &self.ranks[b]);
        let (mut below, mut above) = (true, true);
        for &s in states {
            below &= ra[s] <= rb[s];
            above &= ra[s] >= rb[s];
            if !(below || above) {
                break;
            }
        }
        let (ta, tb) = (self.terms[a], self.terms[b]);
        if below {
            found.push(pool.le(ta, tb));
        }
        if above {
            found.push(pool.le(tb, ta));
        }
        if !templates.octagons {
            return;
        }
        let limit = RBig::from(LIMITS.difference);
        let (mut difference, mut sum) = (None::<(RBig, RBig)>, None::<(RBig, RBig)>);
        for &s in states {
            let (va, vb) = (&self.values[a][s], &self.values[b][s]);
            widen(&mut difference, va - vb);
            widen(&mut sum, va + vb);
        }
        for (range, minus) in [(difference, true), (sum, false)] {
            let Some((low, high)) = range else { continue };
            let term = if minus { pool.sub(ta, tb) } else { pool.add(ta, tb) };
            let small = |r: &RBig| *r <= limit && *r >= -limit.clone();
            if low == high {
                let c = self.constant(pool, &low);
                found.push(pool.eq(term, c));
                continue;
            }
            if small(&high) && !(minus && high == RBig::ZERO) {
                let c = self.constant(pool, &high);
                found.push(pool.le(term, c));
            }
            if small(&low) && !(minus && low == RBig::ZERO) {
                let c = self.constant(pool, &low);
                found.push(pool.le(c, term));
            }
        }
    }

    /// Linear equalities between variables, and remainders of int variables.
    pub(super) fn equalities(&self, pool: &mut Pool) -> Vec<TermId> {
        let mut found = Vec::new();
        let is_variable = |t: &usize| pool.as_symbol(self.terms[*t]).is_some();
        let varies = |t: &usize| self.ranks[*t].windows(2).any(|w| w[0] != w[1]);
        let variables: Vec<usize> = (0..self.terms.len())
            .filter(is_variable)
            .filter(varies)
            .take(LIMITS.equality_variables)
            .collect();
        let states = self.values.first().map_or(0, Vec::len);
        if self.sort == Sort::Int {
            for &t in &variables {
                found.extend(self.remainder(pool, t));
            }
        }
        if variables.len() < 2 {
            return found;
        }
        let mut echelon = Echelon::new(variables.len() + 1);
        let mut seen = FxHashSet::default();
        for s in 0..states {
            let key: Vec<u32> = variables.iter().map(|&t| self.ranks[t][s]).collect();
            if seen.len() >= LIMITS.equality_states || echelon.is_full() {
                break;
            }
            if seen.insert(key) {
                let values = variables.iter().map(|&t| self.values[t][s].clone());
                echelon.add(values.chain([RBig::ONE]).collect());
            }
        }
        let largest = IBig::from(LIMITS.coefficient);
        for equality in echelon.orthogonal() {
            let terms = equality[..variables.len()].iter().filter(|c| **c != IBig::ZERO).count();
            let small = |c: &IBig| *c <= largest && -c <= largest;
            if !(2..=LIMITS.equality_terms).contains(&terms)
                || !equality[..variables.len()].iter().all(small)
            {
                continue;
            }
            found.push(self.equality(pool, &variables, &equality));
        }
        found
    }

    /// `positive terms == negative terms`
    fn equality(&self, pool: &mut Pool, variables: &[usize], coefficients: &[IBig]) -> TermId {
        let (mut left, mut right) = (None, None);
        let one = RBig::ONE;
        for (i, c) in coefficients.iter().enumerate() {
            if *c == IBig::ZERO {
                continue;
            }
            let negative = *c < IBig::ZERO;
            let size = RBig::from(if negative { -c } else { c.clone() });
            let term = match variables.get(i) {
                Some(&t) if size == one => self.terms[t],
                Some(&t) => {
                    let factor = self.constant(pool, &size);
                    pool.mul(factor, self.terms[t])
                }
                None => self.constant(pool, &size),
            };
            let side = if negative { &mut right } else { &mut left };
            *side = Some(match *side {
                Some(sum) => pool.add(sum, term),
                None => term,
            });
        }
        let zero = self.constant(pool, &RBig::ZERO);
        pool.eq(left.unwrap_or(zero), right.unwrap_or(zero))
    }

    /// `x mod m == r` for the greatest possible `m`.
    fn remainder(&self, pool: &mut Pool, t: usize) -> Option<TermId> {
        let first = self.values[t].first()?.numerator().clone();
        let m =
            self.values[t].iter().fold(IBig::ZERO, |acc, v| gcd(&acc, &(v.numerator() - &first)));
        if m < IBig::from(2) || m > IBig::from(LIMITS.coefficient) {
            return None;
        }
        let r = remainder(&first, &m);
        let (modulus, r) = (pool.int(m), pool.int(r));
        let left = pool.mk(Op::Mod, &[self.terms[t], modulus]).ok()?;
        Some(pool.eq(left, r))
    }
}

fn widen(range: &mut Option<(RBig, RBig)>, value: RBig) {
    match range {
        None => *range = Some((value.clone(), value)),
        Some((low, high)) => {
            if value < *low {
                *low = value;
            } else if value > *high {
                *high = value;
            }
        }
    }
}

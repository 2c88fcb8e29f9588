//! Converts BDDs to formulas over state variables.
//!
//! The bits of a variable are adjacent, so a BDD can be read as a decision diagram over
//! multi-valued variables: all values that lead to the same node form one case. Formulas share the
//! subterms that BDDs share.

use gander_system::System;
use gander_term::{IBig, Op, Pool, Sort, TermId, Value};
use oxidd::BooleanFunction;
use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use super::manager::{Bdd, BddManager};
use super::relation::VarBits;

/// A successor, and the values of a variable that lead to it, as intervals.
type Case = (Bdd, Vec<(i64, i64)>);

/// Converts BDDs over the bits of a state to formulas.
pub(super) struct Writer<'a> {
    manager: &'a BddManager,
    system: &'a System,
    pool: &'a mut Pool,
    bits: &'a [VarBits],
    /// By bit: its variable.
    owner: FxHashMap<u32, usize>,
    known: FxHashMap<Bdd, TermId>,
    cases: usize,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        manager: &'a BddManager,
        system: &'a System,
        pool: &'a mut Pool,
        bits: &'a [VarBits],
    ) -> Writer<'a> {
        let owner =
            bits.iter().enumerate().flat_map(|(i, b)| b.now.iter().map(move |&v| (v, i))).collect();
        Writer { manager, system, pool, bits, owner, known: FxHashMap::default(), cases: 0 }
    }

    /// The formula of a set of states; `None` if it is too large.
    pub(super) fn formula(&mut self, root: &Bdd) -> Option<TermId> {
        let mut stack = vec![root.clone()];
        while let Some(f) = stack.last().cloned() {
            if self.known.contains_key(&f) {
                stack.pop();
                continue;
            }
            let Some(top) = self.manager.top(&f) else {
                let constant = if f.satisfiable() { self.pool.tt() } else { self.pool.ff() };
                self.known.insert(f, constant);
                stack.pop();
                continue;
            };
            let var = *self.owner.get(&top)?;
            let cases = self.cases_of(&f, var)?;
            let missing: Vec<Bdd> = cases
                .iter()
                .map(|c| &c.0)
                .filter(|c| !self.known.contains_key(c))
                .cloned()
                .collect();
            if !missing.is_empty() {
                stack.extend(missing);
                continue;
            }
            let term = self.join(var, &cases);
            self.known.insert(f, term);
            stack.pop();
        }
        self.known.get(root).copied()
    }

    /// The successors of a node by the values of a variable, as intervals.
    fn cases_of(&mut self, f: &Bdd, var: usize) -> Option<Vec<Case>> {
        let bits = &self.bits[var].now;
        let signed = self.system.vars()[var].sort == Sort::Int;
        // From the top bit down, in increasing order of intervals.
        let mut found: Vec<Case> = Vec::new();
        let mut stack = vec![(f.clone(), bits.len(), 0i64)];
        while let Some((g, left, base)) = stack.pop() {
            let here = self.manager.top(&g).filter(|v| bits[..left].contains(v));
            let Some(at) = here else {
                self.cases += 1;
                let all = ((1i128 << left) - 1) as i64;
                let interval = (base, base.wrapping_add(all));
                match found.iter_mut().find(|c| c.0 == g) {
                    Some((_, list)) => match list.last_mut() {
                        Some(last) if last.1.wrapping_add(1) == interval.0 => last.1 = interval.1,
                        _ => list.push(interval),
                    },
                    None => found.push((g, vec![interval])),
                }
                if self.cases > LIMITS.formula_cases {
                    return None;
                }
                continue;
            };
            let bit = left - 1;
            let (high, low) = if bits[bit] == at { g.cofactors()? } else { (g.clone(), g.clone()) };
            let worth = if signed && bit == bits.len() - 1 { -(1i64 << bit) } else { 1i64 << bit };
            // The stack is last-in first-out, and smaller values must come first.
            let (zero, one) = ((low, bit, base), (high, bit, base.wrapping_add(worth)));
            if worth < 0 { stack.extend([zero, one]) } else { stack.extend([one, zero]) }
        }
        Some(found)
    }

    fn join(&mut self, var: usize, cases: &[Case]) -> TermId {
        let v = &self.system.vars()[var];
        let x = self.pool.var(v.current);
        if v.sort == Sort::Bool {
            let of = |n: i64| {
                cases.iter().find(|c| c.1.iter().any(|&(a, b)| a <= n && n <= b)).map(|c| &c.0)
            };
            let term = |w: &Self, n| of(n).and_then(|f| w.known.get(f).copied());
            let (high, low) = (term(self, 1), term(self, 0));
            let ff = self.pool.ff();
            return match (high.unwrap_or(ff), low.unwrap_or(ff)) {
                (a, b) if self.pool.as_bool(a) == Some(true) => self.pool.or([x, b]),
                (a, b) if self.pool.as_bool(b) == Some(false) => self.pool.and([x, a]),
                (a, b) if self.pool.as_bool(a) == Some(false) => {
                    let not = self.pool.not(x);
                    self.pool.and([not, b])
                }
                (a, b) if self.pool.as_bool(b) == Some(true) => {
                    let not = self.pool.not(x);
                    self.pool.or([not, a])
                }
                (a, b) => self.choose(x, a, b),
            };
        }
        let mut parts = Vec::new();
        for (f, intervals) in cases {
            let then = self.known[f];
            if self.pool.as_bool(then) == Some(false) {
                continue;
            }
            let inside: Vec<TermId> =
                intervals.iter().filter_map(|&i| self.inside(x, v.sort, i)).collect();
            let inside = self.pool.or(inside);
            parts.push(self.pool.and([inside, then]));
        }
        self.pool.or(parts)
    }

    /// `if x then a else b`, with common conjuncts factored out: `x == y and r` for `y and r`, `not
    /// y and r`.
    fn choose(&mut self, x: TermId, a: TermId, b: TermId) -> TermId {
        let parts = |pool: &Pool, t: TermId| match pool.op(t) {
            Op::And => pool.args(t).to_vec(),
            _ => vec![t],
        };
        let (mut of_a, mut of_b) = (parts(self.pool, a), parts(self.pool, b));
        if of_a.len().max(of_b.len()) > LIMITS.common_parts {
            return self.pool.ite(x, a, b);
        }
        let mut common: Vec<TermId> = of_a.iter().copied().filter(|t| of_b.contains(t)).collect();
        of_a.retain(|t| !common.contains(t));
        of_b.retain(|t| !common.contains(t));
        let (a, b) = (self.pool.and(of_a), self.pool.and(of_b));
        common.push(if self.pool.not(a) == b {
            self.pool.eq(x, a)
        } else {
            self.pool.ite(x, a, b)
        });
        self.pool.and(common)
    }

    /// The variable is in an interval; `None` if no value of its sort is.
    fn inside(&mut self, x: TermId, sort: Sort, (low, high): (i64, i64)) -> Option<TermId> {
        match sort {
            Sort::Enum(id) => {
                let count = self.pool.enumeration(id).variants.len() as i64;
                let mut is = Vec::new();
                for i in low..=high.min(count - 1) {
                    let value = self.pool.constant(Value::Enum(id, i as u32));
                    is.push(self.pool.eq(x, value));
                }
                (!is.is_empty()).then(|| self.pool.or(is))
            }
            Sort::BitVec(width) => {
                // Unsigned values of the same bits.
                let (a, b) = (IBig::from(low as u64), IBig::from(high as u64));
                let (a, b) = (self.pool.bits(width, a), self.pool.bits(width, b));
                if a == b {
                    return Some(self.pool.eq(x, a));
                }
                let above = self.pool.bv(gander_term::BvOp::Ule, &[a, x]);
                let below = self.pool.bv(gander_term::BvOp::Ule, &[x, b]);
                Some(self.pool.and([above, below]))
            }
            _ => {
                let (a, b) = (self.pool.int(low), self.pool.int(high));
                if low == high {
                    return Some(self.pool.eq(x, a));
                }
                let (above, below) = (self.pool.le(a, x), self.pool.le(x, b));
                Some(self.pool.and([above, below]))
            }
        }
    }
}

//! Projection: `exists symbols. body` as a few disjuncts without the symbols.
//!
//! Equations for the symbols are solved, the body is split into disjuncts, and each is eliminated
//! separately ([`crate::arith::eliminate`]). A symbol that cannot be eliminated is renamed to a
//! leftover symbol. Leftover symbols are named by position, so that equal formulas are equal terms.
//! They never keep the original names, because the parameters of two steps of a transition differ.

use gander_term::{Op, Pool, Simplifier, Sort, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use crate::arith::eliminate::{eliminate, is_too_much};
use crate::encode::encoding::Encoding;

/// See the module's documentation.
#[derive(Default)]
pub(crate) struct Projector {
    simplifier: Simplifier,
    simplified: usize,
    leftover: FxHashMap<(Sort, usize), SymbolId>,
}

impl Projector {
    /// The normal form of a term.
    pub(crate) fn simplify(&mut self, pool: &mut Pool, t: TermId) -> TermId {
        self.simplified += 1;
        if self.simplified > LIMITS.simplified_terms {
            self.simplifier = Simplifier::new();
            self.simplified = 0;
        }
        self.simplifier.simplify(pool, t)
    }

    /// All leftover symbols.
    pub(crate) fn leftover(&self) -> impl Iterator<Item = SymbolId> + '_ {
        self.leftover.values().copied()
    }

    /// `exists bound. body` as disjuncts, with leftover symbols for what cannot be eliminated.
    pub(crate) fn project(
        &mut self,
        e: &mut Encoding,
        bound: &[SymbolId],
        body: TermId,
    ) -> Vec<TermId> {
        let body = self.simplify(&mut e.pool, body);
        let mut disjuncts = Vec::new();
        for part in self.solve(e, bound, body) {
            let mut rest: Vec<SymbolId> = e.pool.free_symbols(&[part]);
            rest.retain(|s| bound.contains(s));
            let part = match eliminate(&mut e.pool, &rest, part) {
                Some(without) => without,
                None => self.eliminate_some(e, &rest, part),
            };
            let part = self.simplify(&mut e.pool, part);
            for d in self.split(&mut e.pool, part) {
                disjuncts.push(self.rename(e, bound, d));
            }
        }
        disjuncts.retain(|&d| e.pool.as_bool(d) != Some(false));
        disjuncts.sort_unstable();
        disjuncts.dedup();
        disjuncts
    }

    /// Splits into disjuncts and substitutes the equations of bound symbols.
    fn solve(&mut self, e: &mut Encoding, bound: &[SymbolId], body: TermId) -> Vec<TermId> {
        let bound: FxHashSet<SymbolId> = bound.iter().copied().collect();
        let mut done = Vec::new();
        let body = self.solve_one(&mut e.pool, &bound, body);
        for part in self.split(&mut e.pool, body) {
            done.push(self.solve_one(&mut e.pool, &bound, part));
        }
        done
    }

    fn solve_one(
        &mut self,
        pool: &mut Pool,
        bound: &FxHashSet<SymbolId>,
        mut body: TermId,
    ) -> TermId {
        loop {
            let equation = conjuncts(pool, body)
                .into_iter()
                .find_map(|c| solution(pool, bound, c).map(|s| (c, s)));
            let Some((at, (symbol, value))) = equation else { return body };
            let rest: Vec<TermId> =
                conjuncts(pool, body).into_iter().filter(|&c| c != at).collect();
            let rest = pool.and(rest);
            let put = pool.substitute(rest, &FxHashMap::from_iter([(symbol, value)]));
            body = self.simplify(pool, put);
        }
    }

    /// Eliminates the symbols that can be eliminated.
    fn eliminate_some(
        &mut self,
        e: &mut Encoding,
        symbols: &[SymbolId],
        mut body: TermId,
    ) -> TermId {
        let before = e.pool.len();
        for &s in symbols {
            if is_too_much(&e.pool, before) {
                break;
            }
            if let Some(without) = eliminate(&mut e.pool, &[s], body) {
                body = self.simplify(&mut e.pool, without);
            }
        }
        body
    }

    /// The disjuncts, in normal form, of a formula in normal form; a limited number.
    fn split(&mut self, pool: &mut Pool, t: TermId) -> Vec<TermId> {
        let (mut done, mut open) = (Vec::new(), vec![t]);
        while let Some(t) = open.pop() {
            let parts = conjuncts(pool, t);
            let found =
                parts.iter().enumerate().find_map(|(i, &c)| alternatives(pool, c).map(|a| (i, a)));
            let Some((at, alternatives)) = found else {
                done.push(t);
                continue;
            };
            if done.len() + open.len() + alternatives.len() > LIMITS.disjuncts {
                done.push(t);
                continue;
            }
            for alternative in alternatives {
                let mut parts = parts.clone();
                parts[at] = alternative;
                let case = pool.and(parts);
                open.push(self.simplify(pool, case));
            }
        }
        done
    }

    /// Renames the remaining bound symbols to leftover symbols, by position.
    fn rename(&mut self, e: &mut Encoding, bound: &[SymbolId], t: TermId) -> TermId {
        let free = e.pool.free_symbols(&[t]);
        if !free.iter().any(|s| bound.contains(s)) {
            return t;
        }
        let mut used: FxHashMap<Sort, usize> = FxHashMap::default();
        let mut map = FxHashMap::default();
        for u in e.pool.postorder(&[t]) {
            let Some(s) = e.pool.as_symbol(u).filter(|s| bound.contains(s) && !map.contains_key(s))
            else {
                continue;
            };
            let sort = e.pool.symbol(s).sort;
            let place = used.entry(sort).or_insert(0);
            let symbol = match self.leftover.get(&(sort, *place)) {
                Some(&known) => known,
                None => {
                    let name = format!("left.{}.{place}", sort.name(&e.pool));
                    let symbol = e.pool.declare_fresh(&name, sort);
                    self.leftover.insert((sort, *place), symbol);
                    symbol
                }
            };
            *place += 1;
            map.insert(s, e.pool.var(symbol));
        }
        let renamed = e.pool.substitute(t, &map);
        self.simplify(&mut e.pool, renamed)
    }
}

/// The conjuncts of a formula.
pub(crate) fn conjuncts(pool: &Pool, t: TermId) -> Vec<TermId> {
    match pool.op(t) {
        Op::And => pool.args(t).to_vec(),
        Op::Bool(true) => Vec::new(),
        _ => vec![t],
    }
}

/// `exists symbols. body`, with a quantifier if one of them occurs.
pub(crate) fn quantified(pool: &mut Pool, symbols: &[SymbolId], body: TermId) -> TermId {
    let free = pool.free_symbols(&[body]);
    let mut map = FxHashMap::default();
    let mut bound = Vec::new();
    for &s in symbols.iter().filter(|s| free.contains(s)) {
        let (name, sort) = (pool.symbol(s).name.clone(), pool.symbol(s).sort);
        let b = pool.declare_bound(&name, sort);
        map.insert(s, pool.var(b));
        bound.push(b);
    }
    if bound.is_empty() {
        return body;
    }
    let body = pool.substitute(body, &map);
    pool.exists(&bound, body)
}

/// The bound symbol that a conjunct defines, and its value.
fn solution(
    pool: &mut Pool,
    bound: &FxHashSet<SymbolId>,
    literal: TermId,
) -> Option<(SymbolId, TermId)> {
    let (atom, positive) = match pool.op(literal) {
        Op::Not => (pool.args(literal)[0], false),
        _ => (literal, true),
    };
    if let Some(s) = pool.as_symbol(atom).filter(|s| bound.contains(s)) {
        let value = if positive { pool.tt() } else { pool.ff() };
        return Some((s, value));
    }
    if pool.op(atom) != Op::Eq || !positive {
        return None;
    }
    let (a, b) = (pool.args(atom)[0], pool.args(atom)[1]);
    for (side, other) in [(a, b), (b, a)] {
        if let Some(s) = pool.as_symbol(side).filter(|s| bound.contains(s))
            && !pool.free_symbols(&[other]).contains(&s)
        {
            return Some((s, other));
        }
    }
    None
}

/// The disjuncts of a formula, if splitting it brings it closer to literals.
fn alternatives(pool: &mut Pool, t: TermId) -> Option<Vec<TermId>> {
    let (inner, positive) = match pool.op(t) {
        Op::Not => (pool.args(t)[0], false),
        _ => (t, true),
    };
    let args = pool.args(inner).to_vec();
    let bools = args.first().is_some_and(|&a| pool.sort(a) == Sort::Bool);
    let both = |pool: &mut Pool, a: TermId, b: TermId| pool.and([a, b]);
    match (pool.op(inner), positive) {
        (Op::Or, true) => Some(args),
        (Op::And, false) => Some(args.into_iter().map(|a| pool.not(a)).collect()),
        (Op::Or, false) => {
            let none: Vec<TermId> = args.into_iter().map(|a| pool.not(a)).collect();
            Some(vec![pool.and(none)])
        }
        (Op::Implies, true) => Some(vec![pool.not(args[0]), args[1]]),
        (Op::Implies, false) => {
            let not = pool.not(args[1]);
            Some(vec![both(pool, args[0], not)])
        }
        (Op::Eq, _) if bools => {
            let (na, nb) = (pool.not(args[0]), pool.not(args[1]));
            let (same, other) = if positive { (args[1], nb) } else { (nb, args[1]) };
            Some(vec![both(pool, args[0], same), both(pool, na, other)])
        }
        (Op::Ite, _) if pool.sort(inner) == Sort::Bool => {
            let sign = |pool: &mut Pool, t: TermId| if positive { t } else { pool.not(t) };
            let (a, b) = (sign(pool, args[1]), sign(pool, args[2]));
            let not = pool.not(args[0]);
            Some(vec![both(pool, args[0], a), both(pool, not, b)])
        }
        (Op::Eq, false) if pool.sort(args[0]).is_numeric() => {
            Some(vec![pool.lt(args[0], args[1]), pool.lt(args[1], args[0])])
        }
        _ => None,
    }
}

//! Replaces quantifiers by instances and fresh symbols.

use gander_term::{Op, Pool, Sort, TermId};
use rustc_hash::FxHashMap;

use super::limits::LIMITS;

/// Replaces terms, symbols of quantifiers included.
pub(super) fn replace(pool: &mut Pool, t: TermId, map: &FxHashMap<TermId, TermId>) -> TermId {
    let mut done = map.clone();
    for t in pool.postorder(&[t]) {
        if done.contains_key(&t) {
            continue;
        }
        let args = pool.args(t).to_vec();
        let new: Vec<TermId> = args.iter().map(|a| done.get(a).copied().unwrap_or(*a)).collect();
        let rebuilt = if new == args { t } else { pool.mk(pool.op(t), &new).unwrap_or(t) };
        done.insert(t, rebuilt);
    }
    done.get(&t).copied().unwrap_or(t)
}

/// The int terms at which arrays are read or written, outside of quantifiers.
pub(super) fn index_terms(pool: &Pool, roots: &[TermId], found: &mut Vec<TermId>) {
    for t in pool.postorder(roots) {
        if !matches!(pool.op(t), Op::Select | Op::Store) {
            continue;
        }
        let index = pool.args(t)[1];
        let all = pool.postorder(&[index]);
        let mut symbols = all.iter().filter_map(|&t| pool.as_symbol(t));
        let ground = !symbols.any(|s| pool.symbol(s).bound);
        if ground && pool.sort(index) == Sort::Int && !found.contains(&index) {
            found.push(index);
        }
    }
}

/// Removes quantifiers: existential ones become fresh symbols, which are added to `terms`;
/// universal ones become instances with `terms`. The result has a model if the formula has one.
pub(super) struct Instances<'a> {
    pub pool: &'a mut Pool,
    pub terms: Vec<TermId>,
}

impl Instances<'_> {
    /// The formula without quantifiers. Existential quantifiers come first, so that their symbols
    /// are among the terms.
    pub(super) fn of(&mut self, formula: TermId) -> TermId {
        let opened = self.open(formula, true);
        index_terms(self.pool, &[opened], &mut self.terms);
        self.terms.truncate(LIMITS.terms);
        let result = self.close(opened, true);
        self.pool.simplify(result)
    }

    /// Replaces existential quantifiers that are not below universal ones.
    fn open(&mut self, t: TermId, positive: bool) -> TermId {
        if !self.pool.has_quantifier(t) {
            return t;
        }
        let args = self.pool.args(t).to_vec();
        match (self.pool.op(t), positive) {
            (Op::Not, _) => {
                let inner = self.open(args[0], !positive);
                self.pool.not(inner)
            }
            (Op::And, _) => {
                let parts: Vec<TermId> = args.iter().map(|&a| self.open(a, positive)).collect();
                self.pool.and(parts)
            }
            (Op::Or, _) => {
                let parts: Vec<TermId> = args.iter().map(|&a| self.open(a, positive)).collect();
                self.pool.or(parts)
            }
            (Op::Implies, _) => {
                let (a, b) = (self.open(args[0], !positive), self.open(args[1], positive));
                self.pool.implies(a, b)
            }
            (Op::Exists, true) | (Op::Forall, false) => {
                let body = self.fresh(&args);
                self.open(body, positive)
            }
            _ => t,
        }
    }

    /// The body of a quantifier with fresh symbols.
    fn fresh(&mut self, args: &[TermId]) -> TermId {
        let (&body, bound) = args.split_last().expect("a quantifier has a body");
        let mut map = FxHashMap::default();
        for &b in bound {
            let Some(symbol) = self.pool.as_symbol(b) else { continue };
            let (name, sort) =
                (self.pool.symbol(symbol).name.clone(), self.pool.symbol(symbol).sort);
            let new = self.pool.declare_fresh(&name, sort);
            let new = self.pool.var(new);
            if sort == Sort::Int {
                self.terms.insert(0, new);
            }
            map.insert(b, new);
        }
        replace(self.pool, body, &map)
    }

    /// Replaces all quantifiers.
    fn close(&mut self, t: TermId, positive: bool) -> TermId {
        if !self.pool.has_quantifier(t) {
            return t;
        }
        let args = self.pool.args(t).to_vec();
        let op = self.pool.op(t);
        match (op, positive) {
            (Op::Not, _) => {
                let inner = self.close(args[0], !positive);
                self.pool.not(inner)
            }
            (Op::And, _) => {
                let parts: Vec<TermId> = args.iter().map(|&a| self.close(a, positive)).collect();
                self.pool.and(parts)
            }
            (Op::Or, _) => {
                let parts: Vec<TermId> = args.iter().map(|&a| self.close(a, positive)).collect();
                self.pool.or(parts)
            }
            (Op::Implies, _) => {
                let (a, b) = (self.close(args[0], !positive), self.close(args[1], positive));
                self.pool.implies(a, b)
            }
            (Op::Exists, true) | (Op::Forall, false) => {
                let body = self.fresh(&args);
                self.close(body, positive)
            }
            (Op::Forall, true) | (Op::Exists, false) => {
                let (&body, bound) = args.split_last().expect("a quantifier has a body");
                let terms = self.terms.clone();
                let choices = choices(&terms, bound.len());
                if bound.iter().any(|&b| self.pool.sort(b) != Sort::Int) {
                    return if positive { self.pool.tt() } else { self.pool.ff() };
                }
                let mut parts = Vec::new();
                for choice in choices {
                    let map = bound.iter().copied().zip(choice).collect();
                    let instance = replace(self.pool, body, &map);
                    parts.push(self.close(instance, positive));
                }
                if op == Op::Forall { self.pool.and(parts) } else { self.pool.or(parts) }
            }
            _ if positive => self.pool.tt(),
            _ => self.pool.ff(),
        }
    }
}

/// Lists of terms of this length; none if there are too many.
pub(super) fn choices(terms: &[TermId], length: usize) -> Vec<Vec<TermId>> {
    let count = u32::try_from(length).ok().and_then(|n| terms.len().checked_pow(n));
    let Some(count) = count.filter(|&n| n <= LIMITS.instances) else { return Vec::new() };
    let mut all = Vec::with_capacity(count);
    for number in 0..count {
        let mut rest = number;
        let mut choice = Vec::with_capacity(length);
        for _ in 0..length {
            choice.push(terms[rest % terms.len()]);
            rest /= terms.len();
        }
        all.push(choice);
    }
    all
}

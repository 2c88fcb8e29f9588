//! The image of a set of states under a transition: the deduction rule `inv(target) = exists state,
//! parameters. inv(source) and guard and effect`, projected onto the variables that are relevant at
//! the target.
//!
//! Kept variables are renamed, equations are solved, and the remaining symbols are eliminated
//! ([`eliminate`]). Equations may define the old value of a variable that its own assignment reads,
//! even if it occurs in non-linear terms elsewhere. A symbol that cannot be eliminated stays as a
//! leftover: the image is still exact, but conjuncts that mention the leftover cannot be part of an
//! invariant.

use std::sync::Arc;

use gander_system::{Effect, NodeId, TransitionId};
use gander_term::{Op, Pool, Simplifier, Sort, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::literals::tidy;
use super::relevance::Relevance;
use crate::arith::eliminate::{eliminate, is_too_much, solve_equation};
use crate::encode::encoding::Encoding;
use crate::encode::projection::conjuncts;

/// A step as formulas over both states and the parameters' symbols.
#[derive(Clone, Debug)]
pub(super) struct StepFormulas {
    /// Guard and constraints, with assigned and kept values substituted for next variables.
    pub conditions: TermId,
    /// By variable: its next value, or its next symbol if only constraints determine it.
    pub next: Vec<TermId>,
    /// The parameters.
    pub params: Vec<SymbolId>,
}

/// Computes images, with caches.
#[derive(Default)]
pub(super) struct Images {
    simplifier: Simplifier,
    simplified: usize,
    steps: FxHashMap<TransitionId, Arc<StepFormulas>>,
    /// Leftover symbols by sort and number.
    leftover: FxHashMap<(Sort, usize), SymbolId>,
    leftovers: FxHashSet<SymbolId>,
}

/// A conjunction over the current state.
#[derive(Clone, Debug)]
pub(super) struct Projected {
    pub conjuncts: Vec<TermId>,
    /// It mentions leftover symbols, has quantifiers, or is too large.
    pub leftover: bool,
}

impl Images {
    pub(super) fn simplify(&mut self, pool: &mut Pool, t: TermId) -> TermId {
        self.simplified += 1;
        if self.simplified > LIMITS.simplified_terms {
            self.simplifier = Simplifier::new();
            self.simplified = 0;
        }
        self.simplifier.simplify(pool, t)
    }

    /// The formulas of a transition.
    pub(super) fn step(&mut self, e: &mut Encoding, t: TransitionId) -> Arc<StepFormulas> {
        if let Some(known) = self.steps.get(&t) {
            return Arc::clone(known);
        }
        let system = Arc::clone(&e.system);
        let transition = system.transition(t);
        let mut next: Vec<Option<TermId>> = vec![None; system.vars().len()];
        let mut relations = Vec::new();
        for part in &transition.effect {
            match *part {
                Effect::Assign { var, value, .. } => next[var.index()] = Some(value.term()),
                Effect::Keep { var, .. } => {
                    next[var.index()] = Some(e.pool.var(system.var(var).current))
                }
                Effect::Constrain { relation, .. } => relations.push(relation.term()),
            }
        }
        let known: FxHashMap<SymbolId, TermId> =
            system.vars().iter().zip(&next).filter_map(|(v, n)| Some((v.next, (*n)?))).collect();
        let relation = e.pool.and(relations);
        let relation = e.pool.substitute(relation, &known);
        let guard = system.guard_term(&mut e.pool, t);
        let conditions = e.pool.and([guard, relation]);
        let next = next
            .into_iter()
            .zip(system.vars())
            .map(|(n, v)| n.unwrap_or_else(|| e.pool.var(v.next)))
            .collect();
        let params = transition.params.iter().map(|p| p.symbol).collect();
        let step = Arc::new(StepFormulas { conditions, next, params });
        self.steps.insert(t, Arc::clone(&step));
        step
    }

    /// The targets of steps of `t` from states that satisfy all of `from`, as disjuncts. Irrelevant
    /// variables are eliminated where possible.
    pub(super) fn image(
        &mut self,
        e: &mut Encoding,
        relevance: &Relevance,
        from: &[TermId],
        t: TransitionId,
    ) -> Vec<Projected> {
        let target = e.system.transition(t).target;
        let matters: Vec<bool> =
            (0..e.system.vars().len()).map(|i| relevance.matters(target, i)).collect();
        let images = self.image_of(e, &matters, from, t);
        if images.iter().all(|p| !p.leftover) || matters.iter().all(|m| *m) {
            return images;
        }
        let all = self.image_of(e, &vec![true; matters.len()], from, t);
        if all.iter().any(|p| p.leftover) { images } else { all }
    }

    fn image_of(
        &mut self,
        e: &mut Encoding,
        matters: &[bool],
        from: &[TermId],
        t: TransitionId,
    ) -> Vec<Projected> {
        let system = Arc::clone(&e.system);
        let target = system.transition(t).target;
        let step = self.step(e, t);
        let mut parts = from.to_vec();
        parts.push(step.conditions);
        // A kept variable is only renamed.
        let mut rename = FxHashMap::default();
        for (i, v) in system.vars().iter().enumerate() {
            if e.pool.as_symbol(step.next[i]) == Some(v.current) && matters[i] {
                rename.insert(v.current, e.pool.var(v.next));
            }
        }
        let mut visible: FxHashSet<SymbolId> = FxHashSet::default();
        for (i, v) in system.vars().iter().enumerate() {
            if !matters[i] {
                continue;
            }
            visible.insert(v.next);
            if !rename.contains_key(&v.current) && e.pool.as_symbol(step.next[i]) != Some(v.next) {
                let next = e.pool.var(v.next);
                parts.push(e.pool.eq(next, step.next[i]));
            }
        }
        let body = e.pool.and(parts);
        let body = e.pool.substitute(body, &rename);
        let back: FxHashMap<SymbolId, TermId> =
            system.vars().iter().map(|v| (v.next, e.pool.var(v.current))).collect();
        let assumption = self.assumption(e, target);
        let mut images = Vec::new();
        for part in self.project(&mut e.pool, &visible, body) {
            let part = e.pool.substitute(part, &back);
            let part = e.pool.and([part, assumption]);
            images.extend(self.projected(&mut e.pool, part));
        }
        images
    }

    /// The states at a node that satisfy a formula, projected onto the relevant variables.
    pub(super) fn states(
        &mut self,
        e: &mut Encoding,
        relevance: &Relevance,
        n: NodeId,
        formula: TermId,
    ) -> Vec<Projected> {
        let system = Arc::clone(&e.system);
        let assumption = self.assumption(e, n);
        let body = e.pool.and([formula, assumption]);
        let matter = system.vars().iter().enumerate().filter(|(i, _)| relevance.matters(n, *i));
        let visible: FxHashSet<SymbolId> = matter.map(|(_, v)| v.current).collect();
        let parts = self.project(&mut e.pool, &visible, body);
        let states: Vec<Projected> =
            parts.into_iter().filter_map(|part| self.projected(&mut e.pool, part)).collect();
        if states.iter().all(|p| !p.leftover) {
            return states;
        }
        // Return the formula without projection.
        let body = self.simplify(&mut e.pool, body);
        self.projected(&mut e.pool, body).into_iter().collect()
    }

    /// The assumptions at a node.
    pub(super) fn assumption(&mut self, e: &mut Encoding, n: NodeId) -> TermId {
        let system = Arc::clone(&e.system);
        system.assumption_term(&mut e.pool, n)
    }

    fn projected(&mut self, pool: &mut Pool, part: TermId) -> Option<Projected> {
        let part = self.simplify(pool, part);
        if pool.as_bool(part) == Some(false) {
            return None;
        }
        let parts = flat(pool, part);
        let conjuncts = tidy(pool, &parts)?;
        let hidden = |s: &SymbolId| self.leftovers.contains(s);
        let leftover = pool.free_symbols(&conjuncts).iter().any(hidden)
            || conjuncts.iter().any(|&c| pool.has_quantifier(c))
            || conjuncts.len() > LIMITS.conjuncts;
        Some(Projected { conjuncts, leftover })
    }

    /// The conjuncts without leftovers and quantifiers: weaker, but usable in an invariant.
    pub(super) fn weakened(&self, pool: &Pool, conjuncts: &[TermId]) -> Vec<TermId> {
        let sayable = |c: &TermId| {
            !pool.has_quantifier(*c)
                && !pool.free_symbols(&[*c]).iter().any(|s| self.leftovers.contains(s))
        };
        conjuncts.iter().copied().filter(sayable).take(LIMITS.conjuncts).collect()
    }

    /// `exists hidden. body` as disjuncts; every symbol that is not visible is hidden.
    fn project(
        &mut self,
        pool: &mut Pool,
        visible: &FxHashSet<SymbolId>,
        body: TermId,
    ) -> Vec<TermId> {
        let mut done = Vec::new();
        let body = self.simplify(pool, body);
        let mut open = vec![body];
        while let Some(body) = open.pop() {
            if pool.as_bool(body) == Some(false) {
                continue;
            }
            if let Some((symbol, value, rest)) = equation_for_hidden(pool, visible, body) {
                let rest = pool.and(rest);
                let put = pool.substitute(rest, &FxHashMap::from_iter([(symbol, value)]));
                open.push(self.simplify(pool, put));
                continue;
            }
            let hidden: Vec<SymbolId> = hidden_symbols(pool, visible, body);
            if hidden.is_empty() {
                done.push(body);
                continue;
            }
            // Only conjuncts that mention hidden symbols take part.
            let (mentions, free): (Vec<TermId>, Vec<TermId>) = flat(pool, body)
                .into_iter()
                .partition(|&c| !hidden_symbols(pool, visible, c).is_empty());
            let mentioning = pool.and(mentions.iter().copied());
            let without = match eliminate(pool, &hidden, mentioning) {
                Some(without) => without,
                None => self.eliminate_some(pool, &hidden, mentioning),
            };
            let without = self.simplify(pool, without);
            let alternatives = match pool.op(without) {
                Op::Or
                    if pool.args(without).len() + done.len() + open.len() <= LIMITS.disjuncts =>
                {
                    pool.args(without).to_vec()
                }
                _ => vec![without],
            };
            for part in alternatives {
                let part = self.name_leftovers(pool, visible, part);
                let all = pool.and(free.iter().copied().chain([part]));
                done.push(self.simplify(pool, all));
            }
        }
        done
    }

    fn eliminate_some(&mut self, pool: &mut Pool, hidden: &[SymbolId], mut body: TermId) -> TermId {
        let before = pool.len();
        for &s in hidden {
            if is_too_much(pool, before) {
                break;
            }
            if let Some(without) = eliminate(pool, &[s], body) {
                body = self.simplify(pool, without);
            }
        }
        body
    }

    /// Renames hidden symbols that could not be eliminated, by position, so that those of two steps
    /// differ.
    fn name_leftovers(
        &mut self,
        pool: &mut Pool,
        visible: &FxHashSet<SymbolId>,
        t: TermId,
    ) -> TermId {
        let hidden = hidden_symbols(pool, visible, t);
        if hidden.is_empty() {
            return t;
        }
        let mut used: FxHashMap<Sort, usize> = FxHashMap::default();
        let mut map = FxHashMap::default();
        for s in hidden {
            let sort = pool.symbol(s).sort;
            let place = used.entry(sort).or_insert(0);
            let symbol = match self.leftover.get(&(sort, *place)) {
                Some(&known) => known,
                None => {
                    let symbol = pool.declare_fresh(&format!("past.{place}"), sort);
                    self.leftover.insert((sort, *place), symbol);
                    self.leftovers.insert(symbol);
                    symbol
                }
            };
            *place += 1;
            map.insert(s, pool.var(symbol));
        }
        pool.substitute(t, &map)
    }
}

/// All conjuncts, including those of nested conjunctions.
pub(super) fn flat(pool: &Pool, t: TermId) -> Vec<TermId> {
    let (mut all, mut stack) = (Vec::new(), vec![t]);
    while let Some(t) = stack.pop() {
        match pool.op(t) {
            Op::And => stack.extend(pool.args(t).iter().rev()),
            _ => all.extend(conjuncts(pool, t)),
        }
    }
    all
}

fn hidden_symbols(pool: &Pool, visible: &FxHashSet<SymbolId>, t: TermId) -> Vec<SymbolId> {
    let mut symbols = pool.free_symbols(&[t]);
    symbols.retain(|s| !visible.contains(s));
    symbols
}

/// A hidden symbol that a conjunct defines, its value, and the other conjuncts.
fn equation_for_hidden(
    pool: &mut Pool,
    visible: &FxHashSet<SymbolId>,
    body: TermId,
) -> Option<(SymbolId, TermId, Vec<TermId>)> {
    let all = flat(pool, body);
    for (at, &c) in all.iter().enumerate() {
        let is_equation = match pool.op(c) {
            Op::Eq | Op::Symbol(_) => true,
            Op::Not => pool.as_symbol(pool.args(c)[0]).is_some(),
            _ => false,
        };
        if !is_equation {
            continue;
        }
        for s in hidden_symbols(pool, visible, c) {
            if let Some(value) = solve_equation(pool, s, c) {
                let rest =
                    all.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, &c)| c).collect();
                return Some((s, value, rest));
            }
        }
    }
    None
}

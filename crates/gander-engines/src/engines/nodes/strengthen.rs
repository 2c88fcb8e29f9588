//! Invariants of a component that stays open: conjunctions that the triple rule verifies.
//!
//! Candidates are the conjuncts of its pieces (equations also as bounds), of claims, guards and
//! hints, signs of numbers, and octagons ([`super::octagons`]). Candidates that a start, a step
//! into the component or a step inside it violates are dropped until none is left to drop; the rest
//! is inductive (Houdini: Flanagan and Leino 2001).

use std::sync::Arc;
use std::time::Instant;

use gander_system::{NodeId, TransitionId};
use gander_term::{Op, Pool, SymbolId, TermId, Value, evaluate};
use rustc_hash::{FxHashMap, FxHashSet};

use super::analysis::Analysis;
use super::image::flat;
use super::limits::LIMITS;
use super::literals::{Facts, implies};
use super::pieces::Piece;
use crate::core::EngineContext;
use crate::encode::query::Solved;
use crate::encode::question::Place;

impl Analysis {
    /// Finds invariants for the nodes of an open component.
    pub(super) fn strengthen(&mut self, context: &EngineContext, nodes: &[NodeId]) {
        let begun = Instant::now();
        for &n in nodes {
            self.open[n.index()] = true;
        }
        let system = Arc::clone(&self.view.encoding.system);
        let inner: Vec<TransitionId> = nodes
            .iter()
            .flat_map(|&n| system.leaving(n).to_vec())
            .filter(|&t| nodes.binary_search(&system.transition(t).target).is_ok())
            .collect();
        let mut alive: FxHashMap<NodeId, Vec<TermId>> = FxHashMap::default();
        let octagons = self.octagons(context, nodes, &inner);
        for (n, candidates) in self.candidates(nodes) {
            let mut kept = Vec::new();
            let bounds = octagons.iter().filter(|c| c.node == n).map(|c| c.formula);
            for c in candidates.into_iter().chain(bounds) {
                if self.holds_of_pieces(context, n, c) {
                    kept.push(c);
                }
            }
            alive.insert(n, kept);
        }
        // Repeat until no step violates a candidate.
        let mut waiting: Vec<TransitionId> = inner.clone();
        while let Some(t) = waiting.pop() {
            let target = system.transition(t).target;
            let late = begun.elapsed() > LIMITS.strengthen || context.is_cancelled();
            if late {
                // Nothing was proved.
                alive.values_mut().for_each(Vec::clear);
                break;
            }
            if self.drop_violated(context, t, &mut alive) {
                let leaving = system.leaving(target).iter().filter(|t| inner.contains(t));
                for &again in leaving {
                    if !waiting.contains(&again) {
                        waiting.push(again);
                    }
                }
            }
        }
        // A run may reach a node by steps that were not followed, so use the least depth.
        let found = nodes.iter().flat_map(|n| &self.pieces.at[n.index()]);
        let depth = found.map(|&p| self.pieces.all[p].depth).min().unwrap_or(0);
        for &n in nodes {
            let here = self.pieces.at[n.index()].clone();
            for &p in &here {
                self.pieces.all[p].covers = false;
            }
            let all = &self.pieces.all;
            self.pieces.at[n.index()].retain(|&p| all[p].exact);
            let conjuncts = alive.remove(&n).unwrap_or_default();
            let pool = &mut self.view.encoding.pool;
            let conjuncts = super::literals::tidy(pool, &conjuncts).unwrap_or(conjuncts);
            let facts = Facts::of(pool, &conjuncts);
            let derivations = Vec::new();
            self.pieces.add(Piece {
                node: n,
                conjuncts,
                facts,
                exact: false,
                covers: true,
                derivations,
                depth,
                contained: false,
                followed: false,
                visited: None,
            });
        }
    }

    /// The candidates of each node.
    fn candidates(&mut self, nodes: &[NodeId]) -> Vec<(NodeId, Vec<TermId>)> {
        let system = Arc::clone(&self.view.encoding.system);
        let mut by_node: Vec<(NodeId, Vec<TermId>)> = Vec::new();
        let mut shared: Vec<TermId> = Vec::new();
        for &n in nodes {
            for hint in &system.node(n).hints {
                shared.push(system.at_node(&mut self.view.encoding.pool, hint.term, n));
            }
            for &p in &self.pieces.at[n.index()] {
                shared.extend(self.pieces.all[p].conjuncts.iter().copied());
            }
            for &t in system.leaving(n).iter().chain(system.entering(n)) {
                shared.extend(system.transition(t).guard.iter().map(|g| g.term.term()));
            }
        }
        let mut targets: Vec<(Place, TermId)> = Vec::new();
        for q in &self.questions {
            for t in &q.targets {
                let near = match t.place {
                    Place::Anywhere => true,
                    Place::At(n) => nodes.binary_search(&n).is_ok(),
                    Place::Taking(t) => nodes.binary_search(&system.transition(t).source).is_ok(),
                    Place::Beginning(_) => false,
                };
                if near && targets.len() < LIMITS.candidates {
                    targets.push((t.place, t.formula));
                }
            }
        }
        for (_, formula) in targets {
            let not = self.view.encoding.pool.not(formula);
            shared.push(not);
        }
        let pool = &mut self.view.encoding.pool;
        let mut pieces: Vec<TermId> = Vec::new();
        for t in shared {
            let t = self.images.simplify(pool, t);
            for c in flat(pool, t) {
                pieces.extend(relaxations(pool, c));
                pieces.push(c);
            }
        }
        for v in system.vars().iter().filter(|v| v.sort.is_numeric()) {
            let x = pool.var(v.current);
            let zero = pool.constant(crate::encode::query::first_value(v.sort));
            pieces.push(pool.le(zero, x));
        }
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        let mut all: Vec<TermId> = Vec::new();
        for c in pieces {
            let c = self.images.simplify(pool, c);
            if pool.as_bool(c).is_none() && seen.insert(c) && !pool.has_quantifier(c) {
                all.push(c);
            }
        }
        for &n in nodes {
            let matters: FxHashSet<SymbolId> = system
                .vars()
                .iter()
                .enumerate()
                .filter(|(i, _)| self.relevance.matters(n, *i))
                .map(|(_, v)| v.current)
                .collect();
            let pool = &self.view.encoding.pool;
            let says = |c: &TermId| pool.free_symbols(&[*c]).iter().all(|s| matters.contains(s));
            by_node.push((n, all.iter().copied().filter(says).take(LIMITS.candidates).collect()));
        }
        by_node
    }

    /// True if a candidate holds in all pieces at its node.
    fn holds_of_pieces(&mut self, context: &EngineContext, n: NodeId, c: TermId) -> bool {
        for p in self.pieces.at[n.index()].clone() {
            let piece = &self.pieces.all[p];
            let pool = &mut self.view.encoding.pool;
            if let Some(v) = piece.visited {
                let state = &self.visits.all[v].state;
                let vars = self.view.encoding.system.vars();
                let value = |s: SymbolId| {
                    vars.iter()
                        .position(|v| v.current == s)
                        .and_then(|i| state.values.get(i).cloned())
                };
                if evaluate(pool, c, &value).ok() == Some(Value::Bool(false)) {
                    return false;
                }
            }
            if implies(pool, &piece.facts, &piece.conjuncts, &[c]) {
                continue;
            }
            let mut formulas = piece.conjuncts.clone();
            formulas.push(pool.not(c));
            if self.query.solve(context, pool, &formulas, &[], LIMITS.strengthen_query)
                != Solved::Nothing
            {
                return false;
            }
        }
        true
    }

    /// Drops candidates at the target of a transition that it violates; true if there were any.
    fn drop_violated(
        &mut self,
        context: &EngineContext,
        t: TransitionId,
        alive: &mut FxHashMap<NodeId, Vec<TermId>>,
    ) -> bool {
        let system = Arc::clone(&self.view.encoding.system);
        let (source, target) = (system.transition(t).source, system.transition(t).target);
        let step = self.images.step(&mut self.view.encoding, t);
        let behind: FxHashMap<SymbolId, TermId> =
            system.vars().iter().zip(&step.next).map(|(v, &n)| (v.current, n)).collect();
        let assumption = self.images.assumption(&mut self.view.encoding, target);
        let assumption = self.view.encoding.pool.substitute(assumption, &behind);
        let mut changed = false;
        loop {
            let here = alive.get(&target).cloned().unwrap_or_default();
            if here.is_empty() {
                return changed;
            }
            let pool = &mut self.view.encoding.pool;
            let after: Vec<TermId> = here
                .iter()
                .map(|&c| {
                    let c = pool.substitute(c, &behind);
                    self.images.simplify(pool, c)
                })
                .collect();
            let mut formulas = alive.get(&source).cloned().unwrap_or_default();
            formulas.extend([step.conditions, assumption]);
            let all = pool.and(after.iter().copied());
            let broken = pool.not(all);
            formulas.push(broken);
            if pool.as_bool(broken) == Some(false) {
                return changed;
            }
            let symbols = pool.free_symbols(&formulas);
            match self.query.solve(context, pool, &formulas, &symbols, LIMITS.strengthen_query) {
                Solved::Nothing => return changed,
                Solved::Model(values) => {
                    let model: FxHashMap<SymbolId, Value> =
                        symbols.into_iter().zip(values).collect();
                    let value = |s: SymbolId| {
                        let any = || crate::encode::query::first_value(pool.symbol(s).sort);
                        Some(model.get(&s).cloned().unwrap_or_else(any))
                    };
                    let keeps =
                        |a: &TermId| evaluate(pool, *a, &value).ok() == Some(Value::Bool(true));
                    let kept: Vec<TermId> = here
                        .iter()
                        .zip(&after)
                        .filter(|(_, a)| keeps(a))
                        .map(|(c, _)| *c)
                        .collect();
                    // A model that violates none is wrong; drop all.
                    let kept = if kept.len() == here.len() { Vec::new() } else { kept };
                    alive.insert(target, kept);
                }
                Solved::Unknown(_) if here.len() == 1 => {
                    alive.insert(target, Vec::new());
                }
                Solved::Unknown(_) => {
                    // Check the candidates one by one.
                    let mut kept = Vec::new();
                    for (&c, &a) in here.iter().zip(&after) {
                        formulas.pop();
                        let pool = &mut self.view.encoding.pool;
                        formulas.push(pool.not(a));
                        if context.is_cancelled() {
                            break;
                        }
                        if self.query.solve(
                            context,
                            pool,
                            &formulas,
                            &[],
                            LIMITS.strengthen_query / 4,
                        ) == Solved::Nothing
                        {
                            kept.push(c);
                        }
                    }
                    let same = kept.len() == here.len();
                    alive.insert(target, kept);
                    if same {
                        return changed;
                    }
                }
            }
            changed = true;
        }
    }
}

/// Weaker literals: the bounds of an equation, and a non-strict bound.
fn relaxations(pool: &mut Pool, c: TermId) -> Vec<TermId> {
    let &[a, b] = pool.args(c) else { return Vec::new() };
    if !pool.sort(a).is_numeric() {
        return Vec::new();
    }
    match pool.op(c) {
        Op::Eq => vec![pool.le(a, b), pool.le(b, a)],
        Op::Lt => vec![pool.le(a, b)],
        Op::Gt => vec![pool.le(b, a)],
        _ => Vec::new(),
    }
}

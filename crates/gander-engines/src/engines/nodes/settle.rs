//! Decides claims by pieces: a target that the invariants of all nodes exclude is never met; a
//! target that intersects an exact piece is met by a run. A state that satisfies only an inexact
//! invariant decides nothing, because it may be unreachable.

use std::sync::Arc;

use gander_system::{Evidence, NodeFormulas, NodeId, Run, StartId};
use gander_term::{SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use super::analysis::Analysis;
use super::image::flat;
use super::limits::LIMITS;
use super::visits::{Guide, Values, solve};
use crate::core::{EngineContext, portable};
use crate::encode::query::Solved;
use crate::encode::question::{Place, Target, own_params};

/// The result for a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Decided {
    /// A verdict was proposed.
    Yes,
    /// Undecided, for this reason.
    No(String),
}

/// The relation of one piece to a target.
enum PieceAnswer {
    Excluded,
    Met(usize),
    Perhaps(Option<String>),
}

impl Analysis {
    /// Decides a question by the pieces and invariants, if possible.
    pub(super) fn decide(&mut self, context: &EngineContext, question: usize) -> Decided {
        let targets = self.questions[question].targets.clone();
        let mut nearest: Option<u32> = None;
        let mut why = None;
        for target in &targets {
            if let Place::Beginning(s) = target.place {
                return self.decide_start(context, question, s);
            }
        }
        let system = Arc::clone(&self.view.encoding.system);
        // Examine pieces in the order of their depth, so that no later one gives a shorter run.
        let mut places: Vec<(u32, usize, usize)> = Vec::new();
        for (i, target) in targets.iter().enumerate() {
            let mut place = |n: NodeId, step: u32| {
                let pieces = self.pieces.at[n.index()].iter();
                places.extend(pieces.map(|&p| (self.pieces.all[p].depth + step, p, i)));
            };
            match target.place {
                Place::Anywhere => system.node_ids().for_each(|n| place(n, 0)),
                Place::At(n) => place(n, 0),
                Place::Taking(t) => place(system.transition(t).source, 1),
                Place::Beginning(_) => {}
            }
        }
        places.sort_unstable();
        let formulas: Vec<Vec<TermId>> = targets.iter().map(|t| self.target_formulas(t)).collect();
        let mut excluded: FxHashMap<(NodeId, usize), bool> = FxHashMap::default();
        for (depth, p, i) in places {
            if context.is_cancelled() {
                return Decided::No("cancelled".into());
            }
            let (n, covers) = (self.pieces.all[p].node, self.pieces.all[p].covers);
            if !covers {
                // Skip targets that the invariant excludes.
                let known = excluded.get(&(n, i)).copied();
                let nothing = known
                    .unwrap_or_else(|| self.is_excluded(context, n, &targets[i], &formulas[i]));
                excluded.insert((n, i), nothing);
                if nothing {
                    continue;
                }
            }
            match self.check_piece(context, p, &targets[i], &formulas[i]) {
                PieceAnswer::Excluded => {}
                PieceAnswer::Met(visited) => {
                    let nearest = nearest.map_or(depth, |d: u32| d.min(depth));
                    return self.met(context, question, visited, Some(nearest));
                }
                PieceAnswer::Perhaps(reason) => {
                    if covers {
                        nearest = Some(nearest.map_or(depth, |d| d.min(depth)));
                    }
                    let name = &system.node(n).name;
                    let exactness =
                        if self.pieces.is_exact(n) { "" } else { ", which is not exact," };
                    let reason = reason.map(|r| format!(": {r}")).unwrap_or_default();
                    why = Some(format!(
                        "the invariant found for {name}{exactness} does not exclude it{reason}"
                    ));
                }
            }
        }
        if let Some(before) = nearest.and_then(|d| d.checked_sub(1)) {
            let claim = self.questions[question].claim;
            self.view.raise_bound(context.blackboard(), claim, before);
        }
        match (nearest, why) {
            (None, _) => self.never_met(context, question),
            (_, Some(why)) => Decided::No(why),
            (_, None) => Decided::No("a solver did not know".into()),
        }
    }

    /// True if the invariant of a node excludes a target.
    fn is_excluded(
        &mut self,
        context: &EngineContext,
        n: NodeId,
        target: &Target,
        formulas: &[TermId],
    ) -> bool {
        let covering: Vec<usize> = self.pieces.covering(n).collect();
        covering.into_iter().all(|p| {
            matches!(self.check_piece(context, p, target, formulas), PieceAnswer::Excluded)
        })
    }

    /// The formulas over a state and parameters that meet a target.
    fn target_formulas(&mut self, target: &Target) -> Vec<TermId> {
        let e = &mut self.view.encoding;
        let formula = self.images.simplify(&mut e.pool, target.formula);
        let Place::Taking(t) = target.place else { return flat(&e.pool, formula) };
        let system = Arc::clone(&e.system);
        let step = self.images.step(e, t);
        let assumption = self.images.assumption(e, system.transition(t).target);
        let behind: FxHashMap<SymbolId, TermId> =
            system.vars().iter().zip(&step.next).map(|(v, &n)| (v.current, n)).collect();
        let assumption = e.pool.substitute(assumption, &behind);
        let all = e.pool.and([step.conditions, assumption]);
        let all = e.with_shared(t, all);
        let all = e.pool.and([formula, all]);
        let all = self.images.simplify(&mut e.pool, all);
        flat(&e.pool, all)
    }

    fn check_piece(
        &mut self,
        context: &EngineContext,
        p: usize,
        target: &Target,
        formulas: &[TermId],
    ) -> PieceAnswer {
        let piece = &self.pieces.all[p];
        let pool = &self.view.encoding.pool;
        if piece.facts.excludes(pool, formulas) {
            return PieceAnswer::Excluded;
        }
        let exact = piece.exact;
        let mut guide = Guide {
            context,
            e: &mut self.view.encoding,
            images: &mut self.images,
            query: &mut self.query,
            relevance: &self.relevance,
            pieces: &self.pieces,
        };
        // The visited state of the piece may meet the target.
        if let (true, Some(v)) = (exact, piece.visited) {
            let values = self.visits.values(guide.e, v);
            let satisfied = formulas.iter().all(|&f| {
                evaluate(&guide.e.pool, f, &|s| values.get(&s).cloned()).ok()
                    == Some(Value::Bool(true))
            });
            if satisfied && !matches!(target.place, Place::Taking(_)) {
                return PieceAnswer::Met(v);
            }
            if let Place::Taking(t) = target.place {
                let own = own_params(guide.e, t, target.formula);
                if let Some(v) = self.visits.step(&mut guide, v, t, &Values::default(), Some(own)) {
                    return PieceAnswer::Met(v);
                }
            } else {
                // Parameters may be left to choose.
                let map: FxHashMap<SymbolId, TermId> =
                    values.iter().map(|(&s, x)| (s, guide.e.pool.constant(x.clone()))).collect();
                let here = guide.e.pool.and(formulas.iter().copied());
                let here = guide.e.pool.substitute(here, &map);
                let here = guide.images.simplify(&mut guide.e.pool, here);
                let choices = guide.e.pool.free_symbols(&[here]);
                if !choices.is_empty() && super::visits::can_choose(&mut guide, here) {
                    return PieceAnswer::Met(v);
                }
            }
        }
        let mut all = piece.conjuncts.clone();
        all.extend_from_slice(formulas);
        if !exact {
            all.extend(self.lemmas.get(piece.node.index()).into_iter().flatten().copied());
        }
        let symbols = if exact { guide.e.pool.free_symbols(&all) } else { Vec::new() };
        let values: Values =
            match guide.query.solve(context, &guide.e.pool, &all, &symbols, LIMITS.settle_query) {
                Solved::Nothing => return PieceAnswer::Excluded,
                Solved::Unknown(reason) => return PieceAnswer::Perhaps(Some(reason.to_string())),
                Solved::Model(_) if !exact => return PieceAnswer::Perhaps(None),
                Solved::Model(values) => symbols.into_iter().zip(values).collect(),
            };
        let here: Values = values
            .iter()
            .filter(|(s, _)| is_var(&guide, **s))
            .map(|(s, v)| (*s, v.clone()))
            .collect();
        let Some(mut visited) = self.visits.reach(&mut guide, p, here) else {
            return PieceAnswer::Perhaps(Some("a run to a state of it was not found".into()));
        };
        if let Place::Taking(t) = target.place {
            let own = own_params(guide.e, t, target.formula);
            match self.visits.step(&mut guide, visited, t, &Values::default(), Some(own)) {
                Some(behind) => visited = behind,
                None => {
                    return PieceAnswer::Perhaps(Some(
                        "a step from a state of it was not found".into(),
                    ));
                }
            }
        }
        PieceAnswer::Met(visited)
    }

    fn met(
        &mut self,
        context: &EngineContext,
        question: usize,
        visited: usize,
        nearest: Option<u32>,
    ) -> Decided {
        let q = &self.questions[question];
        if let Some(before) = nearest.and_then(|d| d.checked_sub(1)) {
            self.view.raise_bound(context.blackboard(), q.claim, before);
        }
        let run: Run = self.visits.run(visited);
        match self.view.met(q, run) {
            Some(verdict) => {
                context.propose(q.claim, verdict);
                Decided::Yes
            }
            None => Decided::No("its run could not be carried back to the model".into()),
        }
    }

    fn decide_start(&mut self, context: &EngineContext, question: usize, s: StartId) -> Decided {
        let system = Arc::clone(&self.view.encoding.system);
        let e = &mut self.view.encoding;
        let constraint = system.start_term(&mut e.pool, s);
        let assumption = self.images.assumption(e, system.starts()[s.index()].target);
        let both = e.pool.and([constraint, assumption]);
        let both = self.images.simplify(&mut e.pool, both);
        let mut guide = Guide {
            context,
            e: &mut self.view.encoding,
            images: &mut self.images,
            query: &mut self.query,
            relevance: &self.relevance,
            pieces: &self.pieces,
        };
        if let Some(values) = solve(&mut guide, &[both]) {
            let values = values.into_iter().filter(|(s, _)| is_var(&guide, *s)).collect();
            return match self.visits.begin(&mut guide, s, &values) {
                Some(v) => self.met(context, question, v, None),
                None => Decided::No("a solver did not know".into()),
            };
        }
        let nothing = guide.e.pool.as_bool(both) == Some(false)
            || guide.query.solve(context, &guide.e.pool, &[both], &[], LIMITS.settle_query)
                == Solved::Nothing;
        if nothing {
            let q = &self.questions[question];
            context.propose(q.claim, q.never_met(Evidence::Refutation));
            return Decided::Yes;
        }
        Decided::No("a solver did not know".into())
    }

    fn never_met(&mut self, context: &EngineContext, question: usize) -> Decided {
        let Some(formulas) = self.invariants() else {
            return Decided::No("its invariants could not be written down".into());
        };
        let q = &self.questions[question];
        context.propose(q.claim, q.never_met(self.view.proof(Evidence::Invariant(formulas))));
        Decided::Yes
    }

    /// The invariants of all nodes, computed once.
    pub(super) fn invariants(&mut self) -> Option<NodeFormulas> {
        if self.written.is_none() {
            let e = &mut self.view.encoding;
            let system = Arc::clone(&e.system);
            let mut by_node: Vec<TermId> = Vec::with_capacity(system.nodes().len());
            for n in system.node_ids() {
                let invariant = self.pieces.invariant(&mut e.pool, n);
                let lemmas = self.lemmas.get(n.index()).cloned().unwrap_or_default();
                by_node.push(e.pool.and(lemmas.into_iter().chain([invariant])));
            }
            self.written = portable(&system, &e.pool, &by_node).ok();
        }
        self.written.clone()
    }
}

fn is_var(guide: &Guide, s: SymbolId) -> bool {
    guide.e.system.vars().iter().any(|v| v.current == s)
}

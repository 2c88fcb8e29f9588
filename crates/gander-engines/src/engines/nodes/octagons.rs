//! Octagon candidates for a component that stays open ([`crate::candidates::octagon_analysis`]).
//!
//! The analysis starts with the visited states, adds states of pieces, and follows steps inside the
//! component until none leaves the current element. All elements on the way give candidates; the
//! triple rule decides which hold.

use std::sync::Arc;
use std::time::Instant;

use gander_system::{NodeId, State, TransitionId};
use gander_term::{SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use super::analysis::Analysis;
use super::limits::LIMITS;
use crate::candidates::candidate::Candidate;
use crate::candidates::candidate_terms::CandidateTerms;
use crate::candidates::octagon_analysis::OctagonAnalysis;
use crate::core::EngineContext;
use crate::encode::query::{Solved, first_value};

impl Analysis {
    /// Octagon bounds that may hold at the nodes of a component with these inner transitions.
    pub(super) fn octagons(
        &mut self,
        context: &EngineContext,
        nodes: &[NodeId],
        inner: &[TransitionId],
    ) -> Vec<Candidate> {
        let Some(time) = self.budget.octagons else { return Vec::new() };
        let until = Instant::now() + time;
        let claimed: Vec<TermId> = self
            .questions
            .iter()
            .flat_map(|q| &q.targets)
            .map(|t| t.formula)
            .take(LIMITS.octagon_claims)
            .collect();
        let (pieces, visits) = (&self.pieces, &self.visits);
        let samples = |n: NodeId| {
            let at = pieces.at[n.index()].iter().filter_map(|&p| pieces.all[p].visited);
            at.map(|v| visits.all[v].state.clone()).collect()
        };
        let e = &mut self.view.encoding;
        let candidate_terms = CandidateTerms::of(e, &claimed, LIMITS.octagon_terms);
        let Some(mut analysis) = OctagonAnalysis::new(e, nodes, &candidate_terms, &samples) else {
            return Vec::new();
        };
        while !context.is_cancelled() && Instant::now() < until {
            let mut element: FxHashMap<NodeId, Vec<TermId>> = FxHashMap::default();
            for c in analysis.element(&mut self.view.encoding) {
                element.entry(c.node).or_default().push(c.formula);
            }
            let Some(outside) = self.state_outside(context, nodes, inner, &element, until) else {
                break;
            };
            if !analysis.widen(&mut self.view.encoding, &outside) {
                break;
            }
        }
        let mut found = analysis.candidates(&mut self.view.encoding);
        found.retain(|c| self.mentions_relevant_only(c));
        found.truncate(LIMITS.octagon_candidates);
        found
    }

    /// True if a candidate mentions only variables that are relevant at its node.
    fn mentions_relevant_only(&self, c: &Candidate) -> bool {
        let e = &self.view.encoding;
        let position = |s: &SymbolId| e.system.vars().iter().position(|v| v.current == *s);
        let matters = |s: &SymbolId| position(s).is_some_and(|i| self.relevance.matters(c.node, i));
        e.pool.free_symbols(&[c.formula]).iter().all(matters)
    }

    /// A state of a piece, or the target of an inner step, outside the current element.
    fn state_outside(
        &mut self,
        context: &EngineContext,
        nodes: &[NodeId],
        inner: &[TransitionId],
        element: &FxHashMap<NodeId, Vec<TermId>>,
        until: Instant,
    ) -> Option<State> {
        let system = Arc::clone(&self.view.encoding.system);
        let at = |n: NodeId| element.get(&n).cloned().unwrap_or_default();
        for &n in nodes {
            for p in self.pieces.at[n.index()].clone() {
                let pool = &mut self.view.encoding.pool;
                let all = pool.and(at(n));
                let mut formulas = self.pieces.all[p].conjuncts.clone();
                formulas.push(pool.not(all));
                let here: Vec<TermId> = system.vars().iter().map(|v| pool.var(v.current)).collect();
                if let Some(state) = self.model(context, n, &formulas, &here, until) {
                    return Some(state);
                }
            }
        }
        for &t in inner {
            let (source, target) = (system.transition(t).source, system.transition(t).target);
            let step = self.images.step(&mut self.view.encoding, t);
            let assumption = self.images.assumption(&mut self.view.encoding, target);
            let pool = &mut self.view.encoding.pool;
            let all = pool.and(at(target));
            let behind: FxHashMap<SymbolId, TermId> =
                system.vars().iter().zip(&step.next).map(|(v, &n)| (v.current, n)).collect();
            let (all, assumption) =
                (pool.substitute(all, &behind), pool.substitute(assumption, &behind));
            let mut formulas = at(source);
            formulas.extend([step.conditions, assumption, pool.not(all)]);
            if let Some(state) = self.model(context, target, &formulas, &step.next, until) {
                return Some(state);
            }
        }
        None
    }

    /// A state at a node: the values of these terms in a model of the formulas.
    fn model(
        &mut self,
        context: &EngineContext,
        node: NodeId,
        formulas: &[TermId],
        values: &[TermId],
        until: Instant,
    ) -> Option<State> {
        let time = until.checked_duration_since(Instant::now())?;
        let pool = &self.view.encoding.pool;
        let wanted = pool.free_symbols(formulas);
        let Solved::Model(found) = self.query.solve(context, pool, formulas, &wanted, time) else {
            return None;
        };
        let model: FxHashMap<SymbolId, Value> = wanted.into_iter().zip(found).collect();
        let value = |s: SymbolId| {
            Some(model.get(&s).cloned().unwrap_or_else(|| first_value(pool.symbol(s).sort)))
        };
        let values: Result<Vec<Value>, _> =
            values.iter().map(|&t| evaluate(pool, t, &value)).collect();
        Some(State { node, values: values.ok()? })
    }
}

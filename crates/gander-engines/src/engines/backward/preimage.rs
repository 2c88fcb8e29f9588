//! Pre-images: the states from which a step of a transition leads into a set.
//!
//! `pre(t, P) = exists parameters, free next values. assumptions and guard and effect and P'`
//!
//! Assigned and kept values are substituted, and the remaining symbols are projected
//! ([`crate::encode::projection`]). A symbol that cannot be eliminated stays in the formula as a
//! leftover.

use std::sync::Arc;

use gander_system::{Effect, TransitionId};
use gander_term::{SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::encode::encoding::Encoding;
use crate::encode::projection::Projector;

/// A transition, prepared for pre-images and steps.
#[derive(Clone)]
pub(super) struct Back {
    /// The guard and the constraints of the effect, over state, parameters and free next values.
    pub condition: TermId,
    /// By variable: its next value.
    pub next: Vec<TermId>,
    /// The parameters, followed by the next values that the effect leaves free.
    pub chosen: Vec<SymbolId>,
}

/// See the module's documentation.
pub(super) struct PreImages {
    projector: Projector,
    backs: FxHashMap<TransitionId, Arc<Back>>,
    assumptions: FxHashMap<gander_system::NodeId, TermId>,
    known: FxHashMap<(TransitionId, TermId), Arc<[TermId]>>,
}

impl PreImages {
    pub(super) fn new() -> PreImages {
        PreImages {
            projector: Projector::default(),
            backs: FxHashMap::default(),
            assumptions: FxHashMap::default(),
            known: FxHashMap::default(),
        }
    }

    /// The assumptions at a node.
    pub(super) fn assumption(&mut self, e: &mut Encoding, n: gander_system::NodeId) -> TermId {
        if let Some(&known) = self.assumptions.get(&n) {
            return known;
        }
        let system = Arc::clone(&e.system);
        let term = system.assumption_term(&mut e.pool, n);
        let term = self.projector.simplify(&mut e.pool, term);
        self.assumptions.insert(n, term);
        term
    }

    /// The prepared form of a transition.
    pub(super) fn back(&mut self, e: &mut Encoding, t: TransitionId) -> Arc<Back> {
        if let Some(known) = self.backs.get(&t) {
            return Arc::clone(known);
        }
        let system = Arc::clone(&e.system);
        let transition = system.transition(t);
        let mut fixed: FxHashMap<SymbolId, TermId> = FxHashMap::default();
        let mut relations = Vec::new();
        for part in &transition.effect {
            match *part {
                Effect::Assign { var, value, .. } => {
                    fixed.insert(system.var(var).next, value.term());
                }
                Effect::Keep { var, .. } => {
                    fixed.insert(system.var(var).next, e.pool.var(system.var(var).current));
                }
                Effect::Constrain { relation, .. } => relations.push(relation.term()),
            }
        }
        let guard = system.guard_term(&mut e.pool, t);
        let relation = e.pool.and(relations);
        let relation = e.pool.substitute(relation, &fixed);
        let condition = e.pool.and([guard, relation]);
        let condition = self.projector.simplify(&mut e.pool, condition);
        let mut chosen: Vec<SymbolId> = transition.params.iter().map(|p| p.symbol).collect();
        let mut next = Vec::with_capacity(system.vars().len());
        for v in system.vars() {
            next.push(match fixed.get(&v.next) {
                Some(&term) => term,
                None => {
                    chosen.push(v.next);
                    e.pool.var(v.next)
                }
            });
        }
        let back = Arc::new(Back { condition, next, chosen });
        self.backs.insert(t, Arc::clone(&back));
        back
    }

    /// The weakest precondition of a formula: over the state before the step and its choices.
    pub(super) fn before(&mut self, e: &mut Encoding, t: TransitionId, post: TermId) -> TermId {
        let back = self.back(e, t);
        let system = Arc::clone(&e.system);
        let map = system.vars().iter().zip(&back.next).map(|(v, &n)| (v.current, n)).collect();
        e.pool.substitute(post, &map)
    }

    /// The disjuncts of the pre-image of `post`, over state variables and leftover symbols, with
    /// assumptions.
    pub(super) fn pre(&mut self, e: &mut Encoding, t: TransitionId, post: TermId) -> Arc<[TermId]> {
        if let Some(known) = self.known.get(&(t, post)) {
            return Arc::clone(known);
        }
        let tt = e.pool.tt();
        let found: Arc<[TermId]> = self.pre_with(e, t, post, tt).into();
        self.known.insert((t, post), Arc::clone(&found));
        found
    }

    /// [`PreImages::pre`], restricted to steps whose state and parameters satisfy `also`.
    pub(super) fn pre_with(
        &mut self,
        e: &mut Encoding,
        t: TransitionId,
        post: TermId,
        also: TermId,
    ) -> Vec<TermId> {
        let back = self.back(e, t);
        let source = e.system.transition(t).source;
        let assumption = self.assumption(e, source);
        let behind = self.before(e, t, post);
        let body = e.pool.and([assumption, back.condition, also, behind]);
        let mut bound = back.chosen.clone();
        bound.extend(self.projector.leftover());
        self.projector.project(e, &bound, body)
    }

    /// [`Projector::project`]
    pub(super) fn project(
        &mut self,
        e: &mut Encoding,
        bound: &[SymbolId],
        body: TermId,
    ) -> Vec<TermId> {
        self.projector.project(e, bound, body)
    }
}

//! Vacuity: properties that hold for a trivial reason.

use std::sync::Arc;

use gander_system::passes;
use gander_system::{Dataflow, Instant, NodeFormulas, VarId, Verdict};
use gander_term::{Importer, Op, Pool, TermId};
use rustc_hash::FxHashMap;

use crate::explainer::Explainer;
use crate::parts::set::PartSet;
use crate::unrolling::path::{From, PathAnswer, PathQuery};

/// Why a property may be vacuous.
#[derive(Clone, Debug)]
pub enum Vacuity {
    /// No run has this many steps (0: there is no start state); these parts exclude it.
    NoRun {
        /// The number of steps.
        steps: u32,
        /// The parts that exclude it.
        by: PartSet,
    },
    /// The left side of the property's implication holds in no reachable state.
    NeverTriggered {
        /// The left side.
        left: String,
        /// False if the property is written as a disjunction, as in `not left or right`.
        is_implication: bool,
        /// The proof that it never holds, about the system of [`passes::within`].
        verdict: Verdict,
    },
}

impl Explainer<'_> {
    /// Looks for reasons why the property may be vacuous. An empty result does not show that it is
    /// not vacuous.
    pub fn vacuity(&mut self) -> Vec<Vacuity> {
        let mut found = Vec::new();
        let all = self.all();
        for steps in 0..=1 {
            let query =
                PathQuery { kept: &all, from: From::Start, steps, along: &[], violated: &[] };
            // A model without transitions is not meant to move.
            if steps > 0 && self.path.system.transitions().is_empty() {
                break;
            }
            if let Ok(PathAnswer::Refuted(grounds)) = self.query(&query) {
                found.push(Vacuity::NoRun { steps, by: grounds.parts });
                return found;
            }
        }
        if let Some((pool, left, is_implication)) = self.left_side() {
            found.extend(self.never(pool, left, is_implication));
        }
        found
    }

    /// A proof that a formula holds in no reachable state.
    fn never(&mut self, mut pool: Pool, left: TermId, is_implication: bool) -> Option<Vacuity> {
        let system = Arc::clone(&self.path.system);
        let not = pool.not(left);
        let by_node: Vec<TermId> = system
            .node_ids()
            .map(|n| {
                let here = system.node_constant(&mut pool, n);
                let map = FxHashMap::from_iter([(system.location(), here)]);
                pool.substitute(not, &map)
            })
            .collect();
        let shown = pool.display_bounded(left, 200).to_string();
        let set = NodeFormulas { pool: pool.freeze(), by_node: by_node.into() };
        let asked = Arc::new(passes::within(&system, &set)?);
        let time = self.share();
        match self.prover.prove(&asked, gander_system::ClaimId(0), time) {
            verdict @ Verdict::Holds(_) => {
                Some(Vacuity::NeverTriggered { left: shown, is_implication, verdict })
            }
            _ => None,
        }
    }

    /// The left side of the implication in the claim, or in the equation of the stream that the
    /// claim names, and whether it is written as one.
    fn left_side(&self) -> Option<(Pool, TermId, bool)> {
        let system = &self.path.system;
        let claim = self.path.formula(self.property?);
        let mut pool = Pool::fork(system.pool());
        let claim = Importer::new().import(&mut pool, &self.path.pool, claim).ok()?;
        if let Some((left, is_implication)) = implied(&pool, claim) {
            let left = pool.and(left);
            return Some((pool, left, is_implication));
        }
        let symbol = pool.as_symbol(claim)?;
        let var = VarId::from(system.vars().iter().position(|v| v.current == symbol)?);
        let flow = Dataflow::of(system)?;
        let (first, is_implication) = implied(flow.pool(), flow.equation(Instant::First, var)?)?;
        let (later, _) = implied(flow.pool(), flow.equation(Instant::Later, var)?)?;
        let (&[first], &[later]) = (&first[..], &later[..]) else { return None };
        let mut pool = Pool::fork(flow.pool());
        // The left side must be the same at every instant, and must not refer to the previous
        // state.
        let back: FxHashMap<_, _> =
            system.vars().iter().map(|v| (v.next, pool.var(v.current))).collect();
        let before = flow.mentioned(Instant::Later, later).before;
        (before.is_empty() && pool.substitute(later, &back) == first).then_some((
            pool,
            first,
            is_implication,
        ))
    }
}

/// The conjuncts of the left side of an implication `a -> b`, or of `not a or b`, the form of
/// languages without implications; and whether it is the first.
fn implied(pool: &Pool, t: TermId) -> Option<(Vec<TermId>, bool)> {
    match (pool.op(t), pool.args(t)) {
        (Op::Implies, &[a, _]) => Some((vec![a], true)),
        (Op::Or, parts) => {
            let negated = parts.iter().filter(|&&p| pool.op(p) == Op::Not);
            let left: Vec<TermId> = negated.map(|&p| pool.args(p)[0]).collect();
            // A disjunction of negations, such as mutual exclusion, is no implication.
            (!left.is_empty() && left.len() < parts.len()).then_some((left, false))
        }
        _ => None,
    }
}

//! Proofs from loops: closed forms suggest candidates for invariants.
//!
//! A variable that grows by d per round is never below its initial value and keeps its remainder
//! modulo d. Two variables that grow together preserve a linear combination. A bound that is tested
//! in every round is exceeded by at most the growth of one round. These candidates, at every node
//! of the loop, are filtered by induction ([`crate::candidates::houdini`]) together with the
//! exclusions of the claims; the rest is an invariant. This weakens the transitive relations of
//! Frohn and Giesl (*Infinite state model checking by learning transitive relations*, 2025) to
//! inductive formulas.

use std::time::Instant;

use gander_system::{Evidence, NodeFormulas, NodeId, State};
use gander_term::{IBig, Importer, Op, Pool, RBig, TermId, Value};
use rustc_hash::FxHashSet;

use crate::candidates::candidate::Candidate;
use crate::candidates::houdini::{FilterResult, Houdini};
use crate::core::{EngineContext, Fact, ProvedInvariant, portable};
use crate::encode::question::Question;
use crate::encode::view::View;

use super::limits::LIMITS;
use super::literal::Literal;
use crate::arith::linear::{LinearForm, Relation};
use crate::arith::number::rational;

/// Suggestions from a closed form.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Hints {
    /// Variables and their growth per round; zero if the growth is not constant.
    pub growth: Vec<(usize, RBig)>,
    /// Formulas over variables that may hold at the head.
    pub bounds: Vec<TermId>,
}

/// The candidates that a loop suggests for the nodes of its states, in the library's pool.
pub(super) fn suggested(
    pool: &mut Pool,
    vars: &[TermId],
    hints: &Hints,
    states: &[&State],
) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut add = |node: NodeId, formula: Option<TermId>| {
        found.extend(formula.map(|formula| Candidate { node, formula }))
    };
    for &state in states {
        let value = |v: usize| rational(&state.values[v]);
        for (i, (v, d)) in hints.growth.iter().enumerate() {
            let Some(now) = value(*v) else { continue };
            let mut ahead = LinearForm::atom(vars[*v]);
            ahead.constant -= now.clone();
            for sign in [-RBig::ONE, RBig::ONE] {
                let literal = Literal::number(pool, ahead.scaled(&sign), Relation::AtMost);
                add(state.node, literal.build(pool));
            }
            add(state.node, remainder(pool, vars[*v], &state.values[*v], d));
            for (w, f) in hints.growth.iter().skip(i + 1).take(LIMITS.compared) {
                let Some(other) = value(*w) else { continue };
                if *d == RBig::ZERO || *f == RBig::ZERO {
                    continue;
                }
                let mut difference = ahead.scaled(f);
                let mut behind = LinearForm::atom(vars[*w]);
                behind.constant -= other;
                difference.add(&-d.clone(), &behind);
                // They grow in proportion, or one grows at most as fast.
                for (sign, relation) in [
                    (RBig::ONE, Relation::Equal),
                    (RBig::ONE, Relation::AtMost),
                    (-RBig::ONE, Relation::AtMost),
                ] {
                    let literal = Literal::number(pool, difference.scaled(&sign), relation);
                    add(state.node, literal.build(pool));
                }
            }
        }
        for &bound in &hints.bounds {
            add(state.node, Some(bound));
        }
    }
    found
}

/// `x mod d` equals its current value.
fn remainder(pool: &mut Pool, x: TermId, now: &Value, d: &RBig) -> Option<TermId> {
    let size: IBig = d.numerator().clone();
    let size = if size < IBig::ZERO { -size } else { size };
    let Value::Int(_) = now else { return None };
    if size <= IBig::ONE || d.denominator() != RBig::ONE.denominator() {
        return None;
    }
    let rest = gander_term::eval::apply(Op::Mod, &[now.clone(), Value::Int(size.clone())]).ok()?;
    let (size, rest) = (pool.int(size), pool.constant(rest));
    let remainder = pool.mk(Op::Mod, &[x, size]).ok()?;
    Some(pool.eq(remainder, rest))
}

/// A claim to prove: all candidates of its exclusion must be inductive.
struct Goal {
    question: Question,
    exclusion: Vec<Candidate>,
}

/// An attempt to prove claims from the candidates that loops suggest.
pub(super) struct Proof {
    houdini: Houdini,
    goals: Vec<Goal>,
}

/// The state of an attempt.
pub(super) enum ProofProgress {
    /// There is more to do.
    More,
    /// The attempt has ended.
    Over,
}

impl Proof {
    /// Begins with the suggested candidates, which are in the library's pool, and the open
    /// questions.
    pub(super) fn begin(
        view: &mut View,
        questions: Vec<Question>,
        pool: &Pool,
        suggested: &[Candidate],
    ) -> Option<Proof> {
        let mut goals = Vec::new();
        for question in questions {
            let View { encoding, question_builder, .. } = view;
            if let Some(parts) = question_builder.exclusion(encoding, &question) {
                let exclusion =
                    parts.into_iter().map(|(node, formula)| Candidate { node, formula }).collect();
                goals.push(Goal { question, exclusion });
            }
        }
        if goals.is_empty() {
            return None;
        }
        let e = &mut view.encoding;
        let mut importer = Importer::new();
        let mut candidates: Vec<Candidate> =
            goals.iter().flat_map(|g| g.exclusion.iter().copied()).collect();
        for c in suggested {
            let formula = importer.import(&mut e.pool, pool, c.formula).ok()?;
            candidates.push(Candidate { node: c.node, formula });
        }
        let mut seen = FxHashSet::default();
        candidates.retain(|c| seen.insert(*c));
        candidates.truncate(LIMITS.candidates);
        let formulas: Vec<TermId> = candidates.iter().map(|c| c.formula).collect();
        let features =
            crate::encode::forward_search::system_features(e).join(e.pool.features(&formulas));
        let claims = goals.iter().map(|g| g.question.claim).collect();
        let mut houdini = Houdini::new(features, claims);
        houdini.begin(e, candidates, 1);
        Some(Proof { houdini, goals })
    }

    /// Works until a deadline. At the end, proposes the claims that are proved.
    pub(super) fn advance(
        &mut self,
        view: &mut View,
        context: &EngineContext,
        until: Instant,
    ) -> ProofProgress {
        let proved = match self.houdini.advance(&mut view.encoding, context, until) {
            FilterResult::More => return ProofProgress::More,
            FilterResult::Failed(_) => return ProofProgress::Over,
            // There are no lemmas, so the implied candidates are always true.
            FilterResult::Done { proved, implied } => {
                proved.into_iter().chain(implied).collect::<Vec<_>>()
            }
        };
        let Some(invariant) = formulas(view, &proved) else { return ProofProgress::Over };
        let known: FxHashSet<Candidate> = proved.iter().copied().collect();
        for goal in self.goals.drain(..).filter(|g| g.exclusion.iter().all(|c| known.contains(c))) {
            let evidence = view.proof(Evidence::Invariant(invariant.clone()));
            context.propose(goal.question.claim, goal.question.never_met(evidence));
        }
        if view.is_plain() && !proved.is_empty() {
            let engine = context.engine.to_string();
            let fact = ProvedInvariant {
                formulas: invariant,
                k: 1,
                loop_free: false,
                no_restart: false,
                engine,
            };
            context.publish(Fact::Invariant(fact), format!("{} invariants of loops", proved.len()));
        }
        ProofProgress::Over
    }
}

/// The conjunction of the proved candidates, by node.
fn formulas(view: &mut View, proved: &[Candidate]) -> Option<NodeFormulas> {
    let e = &mut view.encoding;
    let reached = e.reachable_nodes();
    let mut by_node = Vec::new();
    for n in e.system.node_ids() {
        let parts: Vec<TermId> = proved.iter().filter(|c| c.node == n).map(|c| c.formula).collect();
        by_node.push(if reached.binary_search(&n).is_ok() {
            e.pool.and(parts)
        } else {
            e.pool.ff()
        });
    }
    portable(&e.system, &e.pool, &by_node).ok()
}

//! The invariants of proofs, for people: `gander check --show-invariants`.
//!
//! An engine's invariant often has conjuncts that the proof does not need. Conjuncts are simplified
//! and left out as long as `gander-certify` accepts the rest as evidence for the same verdict, with
//! the same demands on solvers. If it accepts no simplification, or time runs out, what was
//! accepted last is shown, at first the evidence itself. So every invariant that is shown was
//! checked.

use std::time::{Duration, Instant};

use gander_certify::{CheckLimits, Panel};
use gander_engines::{CheckConfig, Outcome};
use gander_report::describe::{Syntax, family_text, formula_text};
use gander_report::{Conjunct, InvariantView, NodeInvariant};
use gander_runtime::Cancellation;
use gander_system::{ClaimKind, ClaimOrigin, Evidence, NodeFormulas, NodeId, System, Verdict};
use gander_term::{Importer, Pool, Simplifier, TermId};
use rustc_hash::FxHashSet;

use super::internal_streams::without_internal_streams;
use super::reasons::conjuncts;
use crate::decide::Decision;

/// Time for simplifying the invariants of one system.
const TIME: Duration = Duration::from_secs(5);
/// Time for one check of a simplified invariant.
const CHECK: Duration = Duration::from_secs(1);
/// Formulas with more conjuncts, all nodes together, are shown as they are.
const MAX_CONJUNCTS: usize = 400;
/// Characters of a conjunct that has no text in the model's language.
const MAX_FORMULA: usize = 2000;

/// The model's own text, and its syntax.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Language<'a> {
    pub(crate) source: &'a str,
    pub(crate) syntax: Syntax,
}

/// The invariants that prove the verdicts of a decision, in their order.
pub(crate) fn invariants(
    decision: &Decision,
    language: Language<'_>,
    config: &CheckConfig,
    left: Option<Duration>,
    cancel: &Cancellation,
) -> Vec<Option<InvariantView>> {
    let limits = CheckLimits {
        query: Some(CHECK),
        total: Some(CHECK),
        trust: config.trust,
        ..CheckLimits::default()
    };
    let mut panel = Panel::new(&config.solvers, limits, config.second_opinion.as_deref());
    panel.set_cancellation(cancel);
    panel.remember(&decision.system);
    let until = Instant::now() + left.map_or(TIME, |left| left.min(TIME));
    let mut search = Search { system: &decision.system, language, panel, limits, until };
    decision.report.outcomes.iter().map(|outcome| search.view(outcome)).collect()
}

struct Search<'a> {
    system: &'a System,
    language: Language<'a>,
    panel: Panel,
    limits: CheckLimits,
    until: Instant,
}

/// Conjuncts by node.
type Parts = Vec<Vec<TermId>>;

impl Search<'_> {
    fn view(&mut self, outcome: &Outcome) -> Option<InvariantView> {
        let claim = &self.system.claims()[outcome.claim.index()];
        let evidence = match &outcome.verdict {
            // Structural checks that hold are counted, not shown.
            Verdict::Holds(_) if claim.origin == ClaimOrigin::Structural => return None,
            Verdict::Holds(evidence) | Verdict::Fails(evidence) => evidence,
            Verdict::Unknown { .. } => return None,
        };
        let (k, loop_free, no_restart, formulas) = match evidence {
            Evidence::Invariant(formulas) => (1, false, false, formulas),
            Evidence::KInductive { k, invariant, loop_free, no_restart } => {
                (*k, *loop_free, *no_restart, invariant)
            }
            other => return not_an_invariant(other).map(InvariantView::Other),
        };
        let mut pool = Pool::fork(self.system.pool());
        let mut parts: Parts = Vec::new();
        let mut importer = Importer::new();
        for &formula in formulas.by_node.iter() {
            let formula = importer.import(&mut pool, &formulas.pool, formula).ok()?;
            parts.push(conjuncts(&pool, formula));
        }
        let of_claim: Vec<FxHashSet<TermId>> = (0..parts.len())
            .map(|n| self.claimed(&mut pool, &claim.kind, NodeId::from(n)))
            .collect();
        let before: usize = parts.iter().map(Vec::len).sum();
        if before <= MAX_CONJUNCTS {
            self.simplify(&mut pool, &mut parts, outcome);
            self.leave_out(&mut pool, &mut parts, &of_claim, outcome);
        }
        let after: usize = parts.iter().map(Vec::len).sum();
        let several = self.system.nodes().len() > 1;
        let nodes =
            self.system.nodes().iter().zip(parts).zip(of_claim).map(|((node, parts), own)| {
                let shown =
                    without_internal_streams(self.system, self.language.source, &mut pool, &parts);
                let text = |t: TermId| {
                    let text = formula_text(&pool, t, self.language.syntax)
                        .unwrap_or_else(|| pool.display_bounded(t, MAX_FORMULA).to_string());
                    family_text(self.system, text)
                };
                let conjunct = |&(at, t): &(usize, TermId)| Conjunct {
                    text: text(t),
                    of_claim: own.contains(&parts[at]),
                };
                let unreachable = parts.iter().any(|&t| pool.as_bool(t) == Some(false));
                NodeInvariant {
                    node: if several { node.name.clone() } else { String::new() },
                    conjuncts: match unreachable {
                        true => Vec::new(),
                        false => shown
                            .iter()
                            .filter(|(_, t)| pool.as_bool(*t) != Some(true))
                            .map(conjunct)
                            .collect(),
                    },
                    unreachable,
                }
            });
        let nodes = nodes.collect();
        Some(InvariantView::Formulas {
            k,
            loop_free,
            no_restart,
            nodes,
            left_out: before.saturating_sub(after),
        })
    }

    /// The conjuncts of the claim at a node, also in normal form.
    fn claimed(&self, pool: &mut Pool, kind: &ClaimKind, node: NodeId) -> FxHashSet<TermId> {
        let ClaimKind::Always(formula) = kind else { return FxHashSet::default() };
        let formula = self.system.at_node(pool, *formula, node);
        let normal = Simplifier::new().simplify(pool, formula);
        conjuncts(pool, formula).into_iter().chain(conjuncts(pool, normal)).collect()
    }

    /// Replaces conjuncts by their normal forms where those are smaller.
    fn simplify(&mut self, pool: &mut Pool, parts: &mut Parts, outcome: &Outcome) {
        let mut simplifier = Simplifier::new();
        let mut simpler = parts.clone();
        for of_node in &mut simpler {
            for part in of_node.iter_mut() {
                let normal = simplifier.simplify(pool, *part);
                if pool.postorder(&[normal]).len() < pool.postorder(&[*part]).len() {
                    *part = normal;
                }
            }
            let mut seen = FxHashSet::default();
            of_node.retain(|&t| pool.as_bool(t) != Some(true) && seen.insert(t));
        }
        if simpler != *parts && self.is_proof(pool, &simpler, outcome) {
            *parts = simpler;
        }
    }

    /// Leaves out conjuncts, first many at once, then one by one; those of the claim stay.
    fn leave_out(
        &mut self,
        pool: &mut Pool,
        parts: &mut Parts,
        of_claim: &[FxHashSet<TermId>],
        outcome: &Outcome,
    ) {
        let mut order: Vec<(usize, TermId)> = Vec::new();
        for (n, of_node) in parts.iter().enumerate() {
            let lemma = |t: &&TermId| !of_claim[n].contains(*t) && pool.as_bool(**t).is_none();
            order.extend(of_node.iter().filter(lemma).map(|&t| (n, t)));
        }
        // Long formulas first.
        order.sort_by_key(|&(_, t)| std::cmp::Reverse(pool.postorder(&[t]).len()));
        let mut size = order.len();
        while size > 0 {
            let mut at = 0;
            while at < order.len() {
                if Instant::now() >= self.until {
                    return;
                }
                let chunk: FxHashSet<(usize, TermId)> =
                    order[at..order.len().min(at + size)].iter().copied().collect();
                let mut fewer = parts.clone();
                for (n, of_node) in fewer.iter_mut().enumerate() {
                    of_node.retain(|&t| !chunk.contains(&(n, t)));
                }
                if self.is_proof(pool, &fewer, outcome) {
                    *parts = fewer;
                    order.retain(|part| !chunk.contains(part));
                } else {
                    at += size;
                }
            }
            size /= 2;
        }
    }

    /// True if the checker accepts these conjuncts as evidence for the verdict.
    fn is_proof(&mut self, pool: &Pool, parts: &Parts, outcome: &Outcome) -> bool {
        if Instant::now() >= self.until {
            return false;
        }
        let mut own = Pool::fork(self.system.pool());
        let mut importer = Importer::new();
        let mut by_node = Vec::new();
        for of_node in parts {
            let imported: Result<Vec<TermId>, _> =
                of_node.iter().map(|&t| importer.import(&mut own, pool, t)).collect();
            let Ok(imported) = imported else { return false };
            by_node.push(own.and(imported));
        }
        let new = NodeFormulas { pool: own.freeze(), by_node: by_node.into() };
        let replaced = |evidence: &Evidence| match evidence {
            Evidence::Invariant(_) => Some(Evidence::Invariant(new)),
            Evidence::KInductive { k, loop_free, no_restart, .. } => Some(Evidence::KInductive {
                k: *k,
                invariant: new,
                loop_free: *loop_free,
                no_restart: *no_restart,
            }),
            _ => None,
        };
        let verdict = match &outcome.verdict {
            Verdict::Holds(evidence) => replaced(evidence).map(Verdict::Holds),
            Verdict::Fails(evidence) => replaced(evidence).map(Verdict::Fails),
            Verdict::Unknown { .. } => None,
        };
        let Some(verdict) = verdict else { return false };
        self.panel.check(self.system, self.limits, None, outcome.claim, &verdict).is_ok()
    }
}

/// What a proof is that is not an invariant; none for runs.
fn not_an_invariant(evidence: &Evidence) -> Option<String> {
    let text = match evidence {
        Evidence::Run(_) | Evidence::Lasso { .. } => return None,
        Evidence::Recurrent { .. } | Evidence::Impossible { .. } => return None,
        Evidence::Diameter { k } => {
            format!(
                "no invariant: every run without a repeated state was searched, and none has more \
                 than {k} {}",
                if *k == 1 { "step" } else { "steps" }
            )
        }
        Evidence::ClosedSet { states: 1 } => {
            "no invariant: the only reachable state was examined".to_string()
        }
        Evidence::ClosedSet { states } => {
            format!("no invariant: all {states} reachable states were enumerated")
        }
        Evidence::Refutation => "no invariant: a formula has no solution".to_string(),
        Evidence::OfChain(_) => {
            "the invariant is about the system that follows the chain of goals; --save-evidence \
             keeps it"
                .to_string()
        }
        Evidence::Outside { .. } => {
            "the proof is about the runs that can still reach the goal in time; --save-evidence \
             keeps it"
                .to_string()
        }
        Evidence::NoSuchRun { .. } | Evidence::Possible { .. } => {
            "the proof is about maximal runs and has several parts; --save-evidence keeps them"
                .to_string()
        }
        Evidence::Invariant(_) | Evidence::KInductive { .. } => return None,
    };
    Some(text)
}

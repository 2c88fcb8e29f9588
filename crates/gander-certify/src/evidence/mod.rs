//! Which evidence shows which claim: one module for each kind of evidence.
//!
//! [`check_evidence`] chooses the check by the kind of the evidence. Every check derives from the
//! claim and the direction what has to be shown (docs/semantics.md, section 5), and refuses
//! evidence of a kind that cannot show it.

mod choices;
pub(crate) mod closed_set;
mod conjuncts;
mod invariant;
mod k_induction;
mod lasso;
mod liveness;
mod outside;
mod repetition;
mod replay;
mod run;

use std::sync::Arc;

use gander_system::{ClaimId, ClaimKind, Evidence, StartId, Verdict, passes};
use gander_term::TermId;
use rustc_hash::FxHashSet;

use crate::discharge::CheckContext;
use crate::formula::bad::Bad;
use crate::formula::relation::start_formula;
use crate::rejection::{Rejection, undecided, wrong};

pub(crate) use invariant::import_formulas;
pub(crate) use replay::{NullObserver, replay};

use k_induction::Induction;

/// The direction of a verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    Holds,
    Fails,
}

/// The rejection of evidence whose kind cannot show the claim in this direction.
pub(crate) fn unfit(evidence: &str, kind: &ClaimKind, direction: Direction) -> Rejection {
    let verb = match direction {
        Direction::Holds => "holds",
        Direction::Fails => "fails",
    };
    wrong(format!("{evidence} cannot show that a claim of kind `{}` {verb}", kind.word()))
}

/// Refutes the obligations of all invariants of several verdicts in batches. The verdicts are
/// checked afterwards, so an obligation that is not refuted here is asked again.
pub(crate) fn check_shared(cx: &mut CheckContext<'_>, verdicts: &[(ClaimId, &Verdict)]) {
    let mut obligations = Vec::new();
    let mut met: FxHashSet<Arc<[TermId]>> = FxHashSet::default();
    for &(claim, verdict) in verdicts {
        let (direction, formulas) = match verdict {
            Verdict::Holds(Evidence::Invariant(formulas)) => (Direction::Holds, formulas),
            Verdict::Fails(Evidence::Invariant(formulas)) => (Direction::Fails, formulas),
            _ => continue,
        };
        let Some(claim) = cx.system.claims().get(claim.index()) else { continue };
        // Errors are reported when the verdict itself is checked.
        let Ok(bad) = Bad::of(cx, &claim.kind, direction) else { continue };
        let Ok(by_node) = invariant::import_formulas(cx, formulas) else { continue };
        if cx.known.is_inductive(&by_node).is_none() && met.insert(Arc::clone(&by_node)) {
            obligations.extend(invariant::induction_obligations(cx, &by_node).0);
        }
        invariant::exclusion_obligations(cx, &by_node, &bad, &mut obligations);
    }
    // So is a cancellation.
    let _ = cx.refute_in_batches(&obligations);
}

/// Checks that the evidence shows that the claim holds, or that it fails.
pub(crate) fn check_evidence(
    cx: &mut CheckContext<'_>,
    claim: ClaimId,
    direction: Direction,
    evidence: &Evidence,
) -> Result<(), Rejection> {
    cx.check_cancelled()?;
    let system = cx.system;
    let Some(kind) = system.claims().get(claim.index()).map(|c| &c.kind) else {
        return Err(wrong("the system has no such claim"));
    };
    match evidence {
        Evidence::Run(run) => run::check_run(cx, kind, direction, run),
        Evidence::Invariant(formulas) => {
            let bad = Bad::of(cx, kind, direction)?;
            let by_node = invariant::import_formulas(cx, formulas)?;
            invariant::check_invariant(cx, &by_node, &bad)
        }
        Evidence::KInductive { k, invariant: formulas, loop_free, no_restart } => {
            let bad = Bad::of(cx, kind, direction)?;
            let by_node = invariant::import_formulas(cx, formulas)?;
            if *k == 1 && !loop_free && !no_restart {
                return invariant::check_invariant(cx, &by_node, &bad);
            }
            let how = Induction { k: *k, loop_free: *loop_free, no_restart: *no_restart };
            k_induction::check_k_induction(cx, how, &by_node, &bad)
        }
        Evidence::Diameter { k } => {
            let bad = Bad::of(cx, kind, direction)?;
            k_induction::check_diameter(cx, *k, &bad)
        }
        Evidence::ClosedSet { states } => {
            closed_set::check_closed_set(cx, kind, direction, *states)
        }
        Evidence::Outside { trap, proof } => {
            outside::check_outside(cx, claim, direction, trap, proof)
        }
        Evidence::Refutation => match (kind, direction) {
            (ClaimKind::StartSatisfiable(s), Direction::Fails) => check_refutation(cx, *s),
            _ => Err(unfit("a refutation", kind, direction)),
        },
        Evidence::Lasso { run, back_to } => lasso::check_lasso(cx, kind, direction, run, *back_to),
        Evidence::Recurrent { run, set, choices } => {
            lasso::check_recurrent(cx, kind, direction, run, set, choices)
        }
        Evidence::NoSuchRun { stuck, rounds } => {
            liveness::check_no_such_run(cx, claim, kind, direction, (stuck.as_deref(), rounds))
        }
        Evidence::Possible { set, proof, ranks, choices } => {
            let evidence = liveness::Possible { set, proof, ranks, choices };
            liveness::check_possible(cx, kind, direction, &evidence)
        }
        Evidence::Impossible { run, proof } => {
            liveness::check_impossible(cx, kind, direction, run, proof)
        }
        Evidence::OfChain(inner) => match (kind, direction, &**inner) {
            (_, _, Evidence::OfChain(_) | Evidence::Run(_) | Evidence::Refutation) => {
                Err(unfit("evidence about a chain of that kind", kind, direction))
            }
            (ClaimKind::Reachable(goals), Direction::Fails, _) if !goals.is_empty() => {
                let chain = passes::chain(system, claim).map_err(|e| undecided(e.to_string()))?;
                let name = &system.claims()[claim.index()].name;
                let Some(of_chain) = chain.system.claims().iter().position(|c| c.name == *name)
                else {
                    return Err(undecided("the chain system has no such claim"));
                };
                let mut about = cx.for_system(&chain.system);
                let result = check_evidence(&mut about, ClaimId::from(of_chain), direction, inner);
                cx.merge(about);
                result
            }
            _ => Err(unfit("evidence about a chain", kind, direction)),
        },
    }
}

/// Checks that the start has no start state.
fn check_refutation(cx: &mut CheckContext<'_>, s: StartId) -> Result<(), Rejection> {
    let Some(start) = cx.system.starts().get(s.index()) else {
        return Err(wrong("the claim is about a start that the system has not got"));
    };
    let formula = start_formula(cx, s);
    cx.refute(formula, &format!("`{}` has a start state", start.name))
}

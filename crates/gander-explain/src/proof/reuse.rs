//! Reuses the proof of another version of a model: its formulas may still be inductive.

use std::sync::Arc;

use gander_system::{ClaimId, System, Verdict};
use gander_term::Pool;

use crate::explainer::{ExplainConfig, Explainer, Prover};
use crate::parts::Parts;
use crate::parts::set::PartSet;
use crate::proof::{Proof, Tried};
use crate::unrolling::witness::{invariant_of, is_proof};

/// Largest k tried with old formulas.
const MAX_K: u32 = 3;

/// A verdict about this system from the formulas of an old proof, checked by the prover; `None` if
/// they do not prove the claim. `old` must be parsed against this system, so that its formulas are
/// over its variables.
pub fn reprove(
    system: &Arc<System>,
    claim: ClaimId,
    old: &Verdict,
    config: ExplainConfig,
    prover: &mut dyn Prover,
) -> Option<Verdict> {
    let about_states = invariant_of(system, &mut Pool::fork(system.pool()), claim).is_some();
    if !about_states || !is_proof(&system.claims().get(claim.index())?.kind, old) {
        return None;
    }
    let mut explainer =
        Explainer::new(system, Parts::none(system), claim, old, config, prover).ok()?;
    let nothing = PartSet::none(0);
    let lemmas = explainer.lemmas().to_vec();
    for k in explainer.depth()..=MAX_K.max(explainer.depth()) {
        match explainer.try_candidates(&nothing, k, &lemmas).ok()? {
            Tried::Inductive(formulas) => {
                let proof = Proof { k, formulas, parts: nothing, constraints: None, given: None };
                let verdict = explainer.evidence(&proof);
                let checked = explainer.prover.certify(system, claim, &verdict);
                return checked.is_ok().then_some(verdict);
            }
            Tried::Violated(..) => return None,
            Tried::NotEnough => {}
        }
    }
    None
}

//! The claim that is explained, in a form whose meaning does not change when parts of its system
//! are removed (docs/semantics.md, validity cores).

use std::sync::Arc;

use gander_system::passes::pinned;
use gander_system::{ClaimId, Evidence, System};
use gander_term::Pool;

use crate::cores::bounded::extra_steps;
use crate::explainer::Prover;
use crate::parts::Parts;
use crate::unrolling::witness::invariant_of;

/// Evidence known before the explanation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    /// Evidence about the claim itself.
    pub exact: Option<Evidence>,
    /// Evidence whose formulas may help to prove the claim.
    pub hint: Option<Evidence>,
}

/// Whether later claims can use the same solver session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SessionReuse {
    /// Yes: other claims are about the same system.
    ManyClaims,
    /// No: the system was built for this claim, or the path for a worker.
    ThisClaim,
}

/// A claim that keeps its meaning when parts are removed, with its system.
pub(crate) struct Subject {
    pub system: Arc<System>,
    pub parts: Parts,
    pub claim: ClaimId,
    pub given: Given,
    /// A note on the claim for the user.
    pub note: Option<&'static str>,
    /// The number of steps by which runs of this system are longer than those of the model.
    pub extra_steps: u32,
    pub reuse: SessionReuse,
}

impl Subject {
    pub(crate) fn of(
        system: &Arc<System>,
        parts: Parts,
        claim: ClaimId,
        evidence: Option<&Evidence>,
        prover: &mut dyn Prover,
    ) -> Result<Subject, String> {
        if invariant_of(system, &mut Pool::fork(system.pool()), claim).is_some() {
            let given = Given { exact: evidence.cloned(), hint: None };
            let (system, reuse) = (Arc::clone(system), SessionReuse::ManyClaims);
            return Ok(Subject { system, parts, claim, given, note: None, extra_steps: 0, reuse });
        }
        let pinned =
            pinned(system, claim, &mut |pool, symbols, t| prover.eliminate(pool, symbols, t))
                .map_err(|e| e.to_string())?;
        Ok(Subject {
            given: Given {
                exact: evidence.and_then(|e| pinned.evidence(e)),
                hint: evidence.and_then(|e| pinned.hint(e)),
            },
            parts: parts.carried(&pinned.system, |e| pinned.element(e)),
            note: pinned.note,
            extra_steps: extra_steps(&system.claims()[claim.index()].kind),
            system: Arc::new(pinned.system),
            claim: ClaimId(0),
            reuse: SessionReuse::ThisClaim,
        })
    }
}

//! What is explained: a claim that says the same while parts of its system are removed (docs/semantics.md, validity cores).

use std::sync::Arc;

use gander_system::passes::pinned;
use gander_system::{ClaimId, Evidence, System};
use gander_term::Pool;

use crate::bounded::further_steps;
use crate::explainer::Prover;
use crate::parts::Parts;
use crate::witness::invariant_of;

/// What is known of the claim beforehand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    /// Evidence about it.
    pub exact: Option<Evidence>,
    /// What has formulas that may help.
    pub hint: Option<Evidence>,
}

/// For how long what is said of the system is of use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lasting {
    /// Other claims are about the same system.
    ManyClaims,
    /// The system was made for the claim, or its path for a worker.
    ThisClaim,
}

/// A claim that says the same while parts are removed, with its system.
pub(crate) struct Subject {
    pub system: Arc<System>,
    pub parts: Parts,
    pub claim: ClaimId,
    pub given: Given,
    /// What a person should know of it.
    pub note: Option<&'static str>,
    /// By how many steps runs of the system are longer than those of the model that they stand for.
    pub longer: u32,
    pub lasting: Lasting,
}

impl Subject {
    pub(crate) fn of(
        system: &Arc<System>,
        parts: Parts,
        claim: ClaimId,
        evidence: Option<&Evidence>,
        prover: &mut dyn Prover,
    ) -> Result<Subject, String> {
        if invariant_of(system, &mut Pool::fork(&system.pool), claim).is_some() {
            let given = Given { exact: evidence.cloned(), hint: None };
            let (system, lasting) = (Arc::clone(system), Lasting::ManyClaims);
            return Ok(Subject { system, parts, claim, given, note: None, longer: 0, lasting });
        }
        let pinned = pinned(system, claim, &mut |pool, symbols, t| prover.eliminate(pool, symbols, t))
            .map_err(|e| e.to_string())?;
        Ok(Subject {
            given: Given {
                exact: evidence.and_then(|e| pinned.evidence(e)),
                hint: evidence.and_then(|e| pinned.hint(e)),
            },
            parts: parts.carried(&pinned.system, |e| pinned.element(e)),
            note: pinned.note,
            longer: further_steps(&system.claims[claim.index()].kind),
            system: Arc::new(pinned.system),
            claim: ClaimId(0),
            lasting: Lasting::ThisClaim,
        })
    }
}

//! Evidence about the runs outside of a trap.
//!
//! A *trap* is a set of states that no step leaves and that has no bad state. A run to a bad state
//! never enters it, so it is a run of the system in which no state of the trap is admissible
//! ([`passes::outside`]). Evidence that this system has no such run shows the claim. This holds for
//! claims about the states of runs. It does not hold for claims about steps (the last step of a bad
//! run may lead into the trap) or about what is possible in a state (a step into the trap is).

use gander_system::{ClaimId, ClaimKind, Evidence, Goal, NodeFormulas, passes};

use crate::discharge::CheckContext;
use crate::evidence::{Direction, check_evidence, invariant, unfit};
use crate::formula::bad::Bad;
use crate::rejection::{Rejection, undecided};

/// Checks the trap, and the evidence about the system without it.
pub(crate) fn check_outside(
    cx: &mut CheckContext<'_>,
    claim: ClaimId,
    direction: Direction,
    trap: &NodeFormulas,
    proof: &Evidence,
) -> Result<(), Rejection> {
    let kind = &cx.system.claims()[claim.index()].kind;
    let about_states = match (kind, direction) {
        (ClaimKind::Always(_), Direction::Holds) => true,
        (ClaimKind::Reachable(goals), Direction::Fails) => matches!(goals[..], [Goal::State(_)]),
        _ => false,
    };
    let about_sets = matches!(
        proof,
        Evidence::Invariant(_)
            | Evidence::KInductive { .. }
            | Evidence::Diameter { .. }
            | Evidence::ClosedSet { .. }
    );
    if !about_states || !about_sets {
        return Err(unfit("evidence about the runs outside of a set", kind, direction));
    }
    let by_node = invariant::import_formulas(cx, trap)?;
    let mut obligations = invariant::preservation_obligations(cx, &by_node).0;
    let bad = Bad::of(cx, kind, direction)?;
    invariant::exclusion_obligations(cx, &by_node, &bad, &mut obligations);
    cx.refute_all(&obligations)?;
    let without = passes::outside(cx.system, trap)
        .ok_or_else(|| undecided("the runs outside cannot be told apart"))?;
    let mut about = cx.for_system(&without);
    let result = check_evidence(&mut about, claim, direction, proof);
    cx.merge(about);
    result
}

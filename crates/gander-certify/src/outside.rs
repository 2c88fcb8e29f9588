//! Evidence about the runs that stay outside of a set, and why nobody has to look into it.
//!
//! A *trap* is a set of states that no step leaves and that has no bad state. A run to a bad state was never in it, so
//! it is a run of the system in which no state of the trap is admissible ([`passes::outside`]); evidence that there is
//! none in that system shows the claim. This holds for claims about the states of runs. It does not for those about steps
//! (the last step of a bad run may lead into the trap) or about what is possible in a state (a step into the trap is).

use gander_system::{ClaimId, ClaimKind, Evidence, Goal, NodeFormulas, passes};

use crate::bad::Bad;
use crate::case::Case;
use crate::rejection::{Rejection, undecided};
use crate::{Direction, check_evidence, invariant, unfit};

/// Checks the trap, and the evidence about the system without it.
pub(crate) fn check_outside(
    case: &mut Case<'_>,
    claim: ClaimId,
    direction: Direction,
    trap: &NodeFormulas,
    proof: &Evidence,
) -> Result<(), Rejection> {
    let kind = &case.system.claims[claim.index()].kind;
    let about_states = match (kind, direction) {
        (ClaimKind::Always(_), Direction::Holds) => true,
        (ClaimKind::Reachable(goals), Direction::Fails) => matches!(goals[..], [Goal::State(_)]),
        _ => false,
    };
    let about_sets = matches!(
        proof,
        Evidence::Invariant(_) | Evidence::KInductive { .. } | Evidence::Diameter { .. } | Evidence::ClosedSet { .. }
    );
    if !about_states || !about_sets {
        return Err(unfit("evidence about the runs outside of a set", kind, direction));
    }
    let by_node = invariant::bring(case, trap)?;
    let mut obligations = invariant::keeping_obligations(case, &by_node).0;
    let bad = Bad::of(case, kind, direction)?;
    invariant::exclusion_obligations(case, &by_node, &bad, &mut obligations);
    case.refute_all(&obligations)?;
    let without =
        passes::outside(case.system, trap).ok_or_else(|| undecided("the runs outside cannot be told apart"))?;
    let mut about = case.about(&without);
    let result = check_evidence(&mut about, claim, direction, proof);
    case.absorb(about);
    result
}

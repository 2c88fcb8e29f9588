//! The claim that is explained, in a form whose meaning does not change when parts of its system
//! are removed (docs/semantics.md, validity cores).

use std::sync::Arc;

use gander_system::passes::pinned;
use gander_system::{ClaimId, ClaimKind, Effect, ElementId, Evidence, System, TransitionId};
use gander_term::{Pool, SymbolId, TermId};

use crate::cores::bounded::extra_steps;
use crate::explainer::Prover;
use crate::parts::Parts;
use crate::parts::set::PartSet;
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

/// The parts that the claim itself refers to: the guards of transitions that it calls enabled, and
/// what decides whether their effects have a solution. Cores need not contain them, because the
/// claim means them as they are in the model (docs/semantics.md, validity cores).
pub fn claim_parts(system: &System, claim: ClaimId, parts: &Parts) -> PartSet {
    let mut about = PartSet::none(parts.len());
    let mut add = |e: ElementId| {
        if let Some(part) = parts.part_of(e) {
            about.insert(part);
        }
    };
    let guards = |t: TransitionId| system.transition(t).guard.iter().map(|g| g.id);
    match system.claims().get(claim.index()).map(|c| &c.kind) {
        Some(ClaimKind::NoSinkhole(n)) => {
            system.leaving(*n).iter().flat_map(|&t| guards(t)).for_each(&mut add);
        }
        Some(ClaimKind::Completable(t)) => {
            guards(*t).chain(deciding_effects(system, *t, &[])).for_each(&mut add);
        }
        Some(ClaimKind::NoDeadlock) => {
            let assumptions: Vec<TermId> =
                system.assumptions().iter().map(|a| a.term.term()).collect();
            let assumed = system.pool().free_symbols(&assumptions);
            let mut has_step = false;
            for n in system.node_ids().filter(|&n| !system.node(n).is_final) {
                for &t in system.leaving(n) {
                    has_step = true;
                    guards(t).chain(deciding_effects(system, t, &assumed)).for_each(&mut add);
                }
            }
            if has_step {
                system.assumptions().iter().map(|a| a.id).for_each(&mut add);
            }
        }
        _ => {}
    }
    about
}

/// The elements of an effect that decide whether it has a solution: constraints, and assignments
/// to variables that a constraint, or an assumption about the next state, mentions.
fn deciding_effects(system: &System, t: TransitionId, assumed: &[SymbolId]) -> Vec<ElementId> {
    let effect = &system.transition(t).effect;
    let relations: Vec<TermId> = effect
        .iter()
        .filter_map(|e| match e {
            Effect::Constrain { relation, .. } => Some(relation.term()),
            Effect::Assign { .. } | Effect::Keep { .. } => None,
        })
        .collect();
    let related = system.pool().free_symbols(&relations);
    let decides = |e: &Effect| match e {
        Effect::Constrain { id, .. } => Some(*id),
        Effect::Assign { id, var, .. } => {
            let var = system.var(*var);
            (related.contains(&var.next) || assumed.contains(&var.current)).then_some(*id)
        }
        Effect::Keep { .. } => None,
    };
    effect.iter().filter_map(decides).collect()
}

//! Evidence for liveness claims by reduction to safety, and for claims about what is always
//! possible.
//!
//! The liveness-to-safety system is built again from the claim, with the pass that engines use;
//! `gander_system::passes::liveness_to_safety` says why evidence about it shows the claim.

use gander_system::passes::{self, Aspect, LivenessToSafety, Stage};
use gander_system::{
    Choices, ClaimId, ClaimKind, Evidence, NodeFormulas, NodeTerms, Rounds, Run, System,
};
use gander_term::TermId;

use crate::discharge::CheckContext;
use crate::evidence::choices::{StepRequirement, check_choices, import_ranks, no_greater, smaller};
use crate::evidence::invariant::{check_invariant, import_formulas};
use crate::evidence::replay::{NullObserver, replay};
use crate::evidence::{Direction, check_evidence, unfit};
use crate::formula::bad::Bad;
use crate::formula::relation::{Relation, admissible};
use crate::rejection::{Rejection, undecided, wrong};

/// Checks that the system has no run that violates the claim, or none that the claim says exists.
pub(crate) fn check_no_such_run(
    cx: &mut CheckContext<'_>,
    claim: ClaimId,
    kind: &ClaimKind,
    direction: Direction,
    (stuck, rounds): (Option<&Evidence>, &Rounds),
) -> Result<(), Rejection> {
    let finite_runs_count = match (kind, direction) {
        (ClaimKind::InfiniteRun, Direction::Fails) => false,
        (ClaimKind::ExistsAlways(_), Direction::Fails)
        | (
            ClaimKind::Eventually { .. }
            | ClaimKind::AlwaysEventually { .. }
            | ClaimKind::LeadsTo { .. },
            Direction::Holds,
        ) => true,
        _ => return Err(unfit("the absence of runs", kind, direction)),
    };
    match stuck {
        Some(evidence) if finite_runs_count => {
            check_about(cx, &transformed(cx, claim, &Aspect::Stuck)?.system, evidence)?
        }
        None if finite_runs_count => return Err(wrong("nothing is said about finite runs")),
        _ => {}
    }
    match rounds {
        Rounds::AtMost { k, proof } => {
            check_about(cx, &transformed(cx, claim, &Aspect::AtMost(*k))?.system, proof)
        }
        Rounds::NoRepetition { bounds, proof } => {
            if bounds.len() != cx.system.vars().len() {
                return Err(wrong("there must be bounds, or none, for each variable"));
            }
            let liveness_to_safety = transformed(cx, claim, &Aspect::Repetition(bounds.clone()))?;
            if !liveness_to_safety.finite {
                return Err(wrong("a variable without bounds has infinitely many values"));
            }
            check_about(cx, &liveness_to_safety.system, proof)
        }
        Rounds::Ranking { invariant, ranks } => {
            let liveness_to_safety = transformed(cx, claim, &Aspect::Rounds)?;
            let mut about = cx.for_system(&liveness_to_safety.system);
            let result = check_ranking(&mut about, &liveness_to_safety, invariant, ranks);
            cx.merge(about);
            result
        }
    }
}

fn transformed(
    cx: &CheckContext<'_>,
    claim: ClaimId,
    aspect: &Aspect,
) -> Result<LivenessToSafety, Rejection> {
    passes::liveness_to_safety(cx.system, claim, aspect).map_err(|e| undecided(e.to_string()))
}

/// Checks evidence that the first claim of another system holds.
fn check_about(
    cx: &mut CheckContext<'_>,
    system: &System,
    evidence: &Evidence,
) -> Result<(), Rejection> {
    let mut about = cx.for_system(system);
    let result = check_evidence(&mut about, ClaimId(0), Direction::Holds, evidence);
    cx.merge(about);
    result
}

/// Checks that no step from pending to pending increases the ranks, and that one that completes a
/// round makes them smaller.
fn check_ranking(
    cx: &mut CheckContext<'_>,
    liveness_to_safety: &LivenessToSafety,
    invariant: &NodeFormulas,
    ranks: &NodeTerms,
) -> Result<(), Rejection> {
    let by_node = import_formulas(cx, invariant)?;
    check_invariant(cx, &by_node, &Bad::default())?;
    let pending = |n: usize| liveness_to_safety.stage(n.into()) == Stage::Pending;
    let ranks = import_ranks(cx, ranks, &pending)?;
    let mut obligations = Vec::new();
    for t in cx.system.transition_ids().filter(|&t| liveness_to_safety.stays(t)) {
        let transition = cx.system.transition(t);
        let (source, target) = (transition.source.index(), transition.target.index());
        let relation = Relation::new(cx, t);
        let next: Vec<TermId> = ranks[target].iter().map(|&r| relation.after_step(cx, r)).collect();
        let smaller = smaller(cx, &ranks[source], &next);
        let good = match liveness_to_safety.round {
            None => smaller,
            Some(round) => {
                let round = cx.pool.var(round);
                let round = relation.after_step(cx, round);
                let between = cx.pool.not(round);
                let no_greater = no_greater(cx, &ranks[source], &next);
                let waits = cx.pool.and([between, no_greater]);
                cx.pool.or([smaller, waits])
            }
        };
        let bad = cx.pool.not(good);
        let assumptions = admissible(cx, transition.source);
        let formula = cx.pool.and([by_node[source], assumptions, relation.formula, bad]);
        obligations
            .push((formula, format!("`{}` does not make the ranks smaller", transition.name)));
    }
    cx.refute_all(&obligations)
}

/// Evidence that something is always possible.
pub(crate) struct Possible<'e> {
    pub set: &'e NodeFormulas,
    pub proof: &'e Evidence,
    pub ranks: &'e NodeTerms,
    pub choices: &'e Choices,
}

/// Checks that something is always possible.
pub(crate) fn check_possible(
    cx: &mut CheckContext<'_>,
    kind: &ClaimKind,
    direction: Direction,
    evidence: &Possible<'_>,
) -> Result<(), Rejection> {
    let (ClaimKind::AlwaysPossible(goal), Direction::Holds) = (kind, direction) else {
        return Err(unfit("a way to the goal", kind, direction));
    };
    let set = import_formulas(cx, evidence.set)?;
    let Some(within) = passes::within(cx.system, evidence.set) else {
        return Err(wrong("the set is not one of states of the system"));
    };
    check_about(cx, &within, evidence.proof)?;
    let ranks = import_ranks(cx, evidence.ranks, &|_| true)?;
    let done: Vec<TermId> =
        cx.system.node_ids().map(|n| cx.system.at_node(&mut cx.pool, *goal, n)).collect();
    check_choices(
        cx,
        evidence.choices,
        &StepRequirement::Descend { set: &set, done: &done, ranks: &ranks },
    )
}

/// Checks that a run leads to a state from which something is not possible.
pub(crate) fn check_impossible(
    cx: &mut CheckContext<'_>,
    kind: &ClaimKind,
    direction: Direction,
    run: &Run,
    proof: &Evidence,
) -> Result<(), Rejection> {
    let (ClaimKind::AlwaysPossible(goal), Direction::Fails) = (kind, direction) else {
        return Err(unfit("a run that loses the goal", kind, direction));
    };
    let end = replay(cx, run, &mut NullObserver)?;
    let Some(there) = passes::started_at(cx.system, &end, *goal) else {
        return Err(wrong("the run does not end in a state of the system"));
    };
    check_about(cx, &there, proof)
}

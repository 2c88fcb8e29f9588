//! That no run of the kind that a liveness claim asks for exists, and what is always possible.
//!
//! The liveness-to-safety systems are made again here, by the same pass as anywhere; see `gander_system::passes::liveness_to_safety` for why
//! what is checked about them shows the claim.

use gander_system::passes::{self, Aspect, LivenessToSafety, Stage};
use gander_system::{Choices, ClaimId, ClaimKind, Evidence, NodeFormulas, NodeTerms, Rounds, Run, System};
use gander_term::TermId;

use crate::bad::Bad;
use crate::case::Case;
use crate::choices::{Aim, bring_ranks, check_choices, no_greater, smaller};
use crate::invariant::{bring, check_invariant};
use crate::rejection::{Rejection, undecided, wrong};
use crate::relation::{Relation, admissible};
use crate::replay::{Blind, replay};
use crate::{Direction, check_evidence, unfit};

/// Checks that no run of the kind that the claim asks for exists.
pub(crate) fn check_no_such_run(
    case: &mut Case<'_>,
    claim: ClaimId,
    kind: &ClaimKind,
    direction: Direction,
    (stuck, rounds): (Option<&Evidence>, &Rounds),
) -> Result<(), Rejection> {
    let finite_runs_count = match (kind, direction) {
        (ClaimKind::InfiniteRun, Direction::Fails) => false,
        (ClaimKind::ExistsAlways(_), Direction::Fails)
        | (
            ClaimKind::Eventually { .. } | ClaimKind::AlwaysEventually { .. } | ClaimKind::LeadsTo { .. },
            Direction::Holds,
        ) => true,
        _ => return Err(unfit("the absence of runs", kind, direction)),
    };
    match stuck {
        Some(evidence) if finite_runs_count => check_about(case, &made(case, claim, &Aspect::Stuck)?.system, evidence)?,
        None if finite_runs_count => return Err(wrong("nothing is said about finite runs")),
        _ => {}
    }
    match rounds {
        Rounds::AtMost { k, proof } => check_about(case, &made(case, claim, &Aspect::AtMost(*k))?.system, proof),
        Rounds::NoRepetition { bounds, proof } => {
            if bounds.len() != case.system.vars.len() {
                return Err(wrong("there must be bounds, or none, for each variable"));
            }
            let liveness_to_safety = made(case, claim, &Aspect::Repetition(bounds.clone()))?;
            if !liveness_to_safety.finite {
                return Err(wrong("a variable without bounds has infinitely many values"));
            }
            check_about(case, &liveness_to_safety.system, proof)
        }
        Rounds::Ranking { invariant, ranks } => {
            let liveness_to_safety = made(case, claim, &Aspect::Rounds)?;
            let mut about = case.about(&liveness_to_safety.system);
            let result = check_ranking(&mut about, &liveness_to_safety, invariant, ranks);
            case.absorb(about);
            result
        }
    }
}

fn made(case: &Case<'_>, claim: ClaimId, aspect: &Aspect) -> Result<LivenessToSafety, Rejection> {
    passes::liveness_to_safety(case.system, claim, aspect).map_err(|e| undecided(e.to_string()))
}

/// Checks evidence that the first claim of a system that was made of the given one holds.
fn check_about(case: &mut Case<'_>, system: &System, evidence: &Evidence) -> Result<(), Rejection> {
    let mut about = case.about(system);
    let result = check_evidence(&mut about, ClaimId(0), Direction::Holds, evidence);
    case.absorb(about);
    result
}

/// Every step from pending to pending does not increase the ranks, and one that completes a round makes them smaller.
fn check_ranking(
    case: &mut Case<'_>,
    liveness_to_safety: &LivenessToSafety,
    invariant: &NodeFormulas,
    ranks: &NodeTerms,
) -> Result<(), Rejection> {
    let by_node = bring(case, invariant)?;
    check_invariant(case, &by_node, &Bad::default())?;
    let pending = |n: usize| liveness_to_safety.stage(n.into()) == Stage::Pending;
    let ranks = bring_ranks(case, ranks, &pending)?;
    let mut obligations = Vec::new();
    for t in case.system.transition_ids().filter(|&t| liveness_to_safety.stays(t)) {
        let transition = case.system.transition(t);
        let (source, target) = (transition.source.index(), transition.target.index());
        let relation = Relation::new(case, t);
        let next: Vec<TermId> = ranks[target].iter().map(|&r| relation.behind(case, r)).collect();
        let smaller = smaller(case, &ranks[source], &next);
        let good = match liveness_to_safety.round {
            None => smaller,
            Some(round) => {
                let round = case.pool.var(round);
                let round = relation.behind(case, round);
                let between = case.pool.not(round);
                let no_greater = no_greater(case, &ranks[source], &next);
                let waits = case.pool.and([between, no_greater]);
                case.pool.or([smaller, waits])
            }
        };
        let bad = case.pool.not(good);
        let assumptions = admissible(case, transition.source);
        let formula = case.pool.and([by_node[source], assumptions, relation.formula, bad]);
        obligations.push((formula, format!("`{}` does not make the ranks smaller", transition.name)));
    }
    case.refute_all(&obligations)
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
    case: &mut Case<'_>,
    kind: &ClaimKind,
    direction: Direction,
    evidence: &Possible<'_>,
) -> Result<(), Rejection> {
    let (ClaimKind::AlwaysPossible(goal), Direction::Holds) = (kind, direction) else {
        return Err(unfit("a way to the goal", kind, direction));
    };
    let set = bring(case, evidence.set)?;
    let Some(within) = passes::within(case.system, evidence.set) else {
        return Err(wrong("the set is not one of states of the system"));
    };
    check_about(case, &within, evidence.proof)?;
    let ranks = bring_ranks(case, evidence.ranks, &|_| true)?;
    let done: Vec<TermId> = case.system.node_ids().map(|n| case.system.at_node(&mut case.pool, *goal, n)).collect();
    check_choices(case, evidence.choices, &Aim::Descend { set: &set, done: &done, ranks: &ranks })
}

/// Checks that a run leads to a state from which something is not possible.
pub(crate) fn check_impossible(
    case: &mut Case<'_>,
    kind: &ClaimKind,
    direction: Direction,
    run: &Run,
    proof: &Evidence,
) -> Result<(), Rejection> {
    let (ClaimKind::AlwaysPossible(goal), Direction::Fails) = (kind, direction) else {
        return Err(unfit("a run that loses the goal", kind, direction));
    };
    let end = replay(case, run, &mut Blind)?;
    let Some(there) = passes::started_at(case.system, &end, *goal) else {
        return Err(wrong("the run does not end in a state of the system"));
    };
    check_about(case, &there, proof)
}

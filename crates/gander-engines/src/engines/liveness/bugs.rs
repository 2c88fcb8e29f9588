//! Mistakes of this engine on purpose, and the test that each of them is caught.

use std::sync::Arc;
use std::time::Duration;

use gander_oracle::{Settings, generate_with};
use gander_smt::Solvers;
use gander_system::passes::{Aspect, liveness_to_safety};
use gander_system::{ClaimId, ClaimKind, Evidence, Rounds, Run, System, Verdict};

use super::nested_check::Path;
use super::strategies::Found;
use crate::core::EngineContext;
use crate::seeded_bugs::SeededBug;
use crate::{Cancellation, CheckConfig, NullObserver, check};

pub(super) fn is_on(context: &EngineContext, bug: SeededBug) -> bool {
    context.config().options.bug == Some(bug)
}

/// Whether the graph of all states is looked at: not if a mistake is to be made elsewhere.
pub(super) fn is_surveyed(context: &EngineContext) -> bool {
    use SeededBug::{DroppedFairness, ForgottenEnds, LateLoop, OneRoundTooFew};
    let bug = context.config().options.bug;
    bug.is_none_or(|b| [DroppedFairness, ForgottenEnds, LateLoop, OneRoundTooFew].contains(&b))
}

/// The system with a claim without its fairness.
pub(super) fn without_fairness(context: &EngineContext, system: &System, claim: ClaimId) -> Option<System> {
    if !is_on(context, SeededBug::DroppedFairness) {
        return None;
    }
    let mut other = system.clone();
    match &mut other.claims[claim.index()].kind {
        ClaimKind::Eventually { under, .. }
        | ClaimKind::AlwaysEventually { under, .. }
        | ClaimKind::LeadsTo { under, .. } => under.clear(),
        _ => {}
    }
    Some(other)
}

/// Changes what was found.
pub(super) fn spoil(context: &EngineContext, found: Found) -> Found {
    match (context.config().options.bug, found) {
        (Some(SeededBug::LateLoop), Found::Run(Evidence::Lasso { run, back_to })) => {
            Found::Run(Evidence::Lasso { run, back_to: back_to + 1 })
        }
        (Some(SeededBug::OneRoundTooFew), Found::Finite(Rounds::AtMost { k, proof })) => {
            Found::Finite(Rounds::AtMost { k: k - 1, proof })
        }
        (_, found) => found,
    }
}

/// Nobody looked whether runs end.
pub(super) fn forget_ends(context: &EngineContext, not_stuck: &mut Option<Option<Box<Evidence>>>) {
    if is_on(context, SeededBug::ForgottenEnds) {
        *not_stuck = Some(None);
    }
}

/// A lasso where a node and the first variable come again.
pub(super) fn sliced_lasso(context: &EngineContext, claim: ClaimId, k: u32, run: &Run) -> Option<Evidence> {
    let of = liveness_to_safety(context.given(), claim, &Aspect::AtMost(k)).ok()?;
    let run = of.run(run)?;
    let states = Path::of(context.given(), &run)?.states;
    let end = states.last()?;
    let back_to = states[..states.len() - 1]
        .iter()
        .rposition(|s| s.node == end.node && s.values.first() == end.values.first())?;
    Some(Evidence::Lasso { run, back_to: back_to as u64 })
}

/// How a bug was noticed on a random system, if it was.
fn noticed(solvers: &Arc<Solvers>, seed: u64, bug: Option<SeededBug>) -> Option<String> {
    let made = generate_with(seed, Settings::few_states());
    let claims: Vec<ClaimId> = (0..made.system.claims.len()).map(ClaimId::from).collect();
    let live: Vec<ClaimId> =
        claims.into_iter().filter(|c| super::decides(&made.system.claims[c.index()].kind)).collect();
    if live.is_empty() {
        return None;
    }
    let mut config = CheckConfig::new(Arc::clone(solvers), live);
    config.engines = Some(vec!["liveness".into()]);
    config.jobs = 1;
    config.timeout = Some(Duration::from_secs(2));
    config.options.max_depth = Some(8);
    config.options.induction.max_k = Some(8);
    config.options.bug = bug;
    let report = check(&made.system, &config, &Cancellation::new(), &NullObserver);
    if let Some(e) = report.internal_errors.first() {
        return Some(format!("the checker: {}", e.problem));
    }
    let wrong = report.outcomes.iter().any(|o| {
        let expected = made.answers[o.claim.index()].holds;
        matches!((&o.verdict, expected), (Verdict::Holds(_), false) | (Verdict::Fails(_), true))
    });
    wrong.then(|| "the oracle: another answer".to_string())
}

#[test]
fn seeded_bugs_are_caught() {
    let solvers = Arc::new(Solvers::from_environment());
    for bug in [
        SeededBug::LassoOverSlice,
        SeededBug::LateLoop,
        SeededBug::DroppedFairness,
        SeededBug::UnboundedRank,
        SeededBug::OneRoundTooFew,
        SeededBug::ForgottenEnds,
        SeededBug::LostTooSoon,
    ] {
        let caught = (0..400).find_map(|seed| noticed(&solvers, seed, Some(bug)).map(|how| (seed, how)));
        let (seed, _) = caught.unwrap_or_else(|| panic!("{bug:?} is not caught"));
        assert_eq!(noticed(&solvers, seed, None), None, "without {bug:?} nothing is wrong");
    }
}

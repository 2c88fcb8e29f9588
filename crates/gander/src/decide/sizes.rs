//! Results for single sizes, where a claim about families of any size stays open.
//!
//! The file is loaded again with values for the sizes, and the claim is decided for each value like
//! any other claim, with checked evidence. If it fails for a size, the engine `sizes` searches the
//! system of any size for that run once more, with no other engine beside it. Otherwise the verdict
//! stays unknown; the first obstacle says for which sizes the claim holds, and for which one it
//! fails.

use std::sync::Arc;
use std::time::Duration;

use gander_engines::{CheckConfig, NullObserver, Outcome};
use gander_system::{ClaimId, ClaimKind, Obstacle, System, Verdict};
use gander_term::IBig;

use crate::load::{LoadOptions, load};
use crate::model::Model;

use super::{CheckContext, Decision};

/// The greatest size that is tried.
const LARGEST: i64 = 5;
/// The part of the time limit for the proof for all sizes.
pub(super) const SHARE: f64 = 0.6;
/// Time for one size if there is no time limit.
const EACH: Duration = Duration::from_secs(10);

/// What is known of an open claim.
#[derive(Default)]
struct Known {
    holds: Vec<i64>,
    fails: Option<i64>,
    /// Not decided for a size; larger sizes are not tried.
    stopped: bool,
}

/// Adds to the obstacles of open claims for which sizes they hold.
pub(super) fn show_sizes(
    model: &Model,
    config: &CheckConfig,
    left: Option<Duration>,
    context: &CheckContext<'_>,
    decision: &mut Decision,
) {
    let system = Arc::clone(&decision.system);
    if system.sizes().is_empty() {
        return;
    }
    // A claim that some run exists needs a run of one size, and the engines searched for that.
    let is_about_all = |kind: &ClaimKind| {
        !matches!(
            kind,
            ClaimKind::Reachable(_)
                | ClaimKind::CanEnable(_)
                | ClaimKind::StartSatisfiable(_)
                | ClaimKind::InfiniteRun
                | ClaimKind::ExistsAlways(_)
        )
    };
    let open: Vec<usize> = (0..decision.report.outcomes.len())
        .filter(|&at| {
            let outcome = &decision.report.outcomes[at];
            matches!(outcome.verdict, Verdict::Unknown { .. })
                && is_about_all(&system.claims()[outcome.claim.index()].kind)
        })
        .collect();
    let mut known: Vec<Known> = open.iter().map(|_| Known::default()).collect();
    let started = std::time::Instant::now();
    let for_sizes = left.map(|t| t / 2);
    for n in 1..=LARGEST {
        let in_range = |s: &gander_system::Size| {
            let n = IBig::from(n);
            s.low <= n && s.high.as_ref().is_none_or(|high| n <= *high)
        };
        if context.cancel.is_cancelled() || known.iter().all(|k| k.stopped) {
            break;
        }
        if !system.sizes().iter().all(in_range) {
            continue;
        }
        let time = for_sizes.map(|t| t.saturating_sub(started.elapsed()) / 2);
        if time.is_some_and(|t| t.is_zero()) {
            break;
        }
        let Some(instance) = instance(model, &system, n) else { break };
        let name =
            |at: usize| &system.claims()[decision.report.outcomes[open[at]].claim.index()].name;
        let asked: Vec<(usize, ClaimId)> = (0..open.len())
            .filter(|&at| !known[at].stopped)
            .filter_map(|at| {
                let claim = instance.claims().iter().position(|c| c.name == *name(at))?;
                Some((at, ClaimId::from(claim)))
            })
            .collect();
        for (at, k) in known.iter_mut().enumerate() {
            k.stopped |= !asked.iter().any(|(asked, _)| *asked == at);
        }
        if asked.is_empty() {
            break;
        }
        let config = CheckConfig {
            claims: asked.iter().map(|(_, claim)| *claim).collect(),
            timeout: Some(time.unwrap_or(EACH)),
            ..config.clone()
        };
        let report = gander_engines::check(&instance, &config, context.cancel, &NullObserver);
        for (at, claim) in asked {
            let verdict = report.outcomes.iter().find(|o| o.claim == claim).map(|o| &o.verdict);
            match verdict {
                Some(Verdict::Holds(_)) => known[at].holds.push(n),
                Some(Verdict::Fails(_)) => (known[at].fails, known[at].stopped) = (Some(n), true),
                _ => known[at].stopped = true,
            }
        }
        decision.report.internal_errors.extend(report.internal_errors);
    }
    let failing = open.iter().zip(&known).filter(|(_, k)| k.fails.is_some());
    let failing: Vec<usize> = failing.map(|(at, _)| *at).collect();
    let time = left.map_or(EACH, |t| t.saturating_sub(started.elapsed()));
    if !failing.is_empty() && !time.is_zero() {
        find_runs(config, time, context, &failing, decision);
    }
    let names: Vec<&str> = system.sizes().iter().map(|s| system.var(s.var).name.as_str()).collect();
    for (at, k) in open.into_iter().zip(known) {
        let outcome = &mut decision.report.outcomes[at];
        if let (Verdict::Unknown { why, .. }, Some(reason)) =
            (&mut outcome.verdict, described(&names, &k))
        {
            why.insert(0, Obstacle { engine: "any size".into(), reason });
        }
    }
}

/// Searches for runs that break claims which fail for a small size.
fn find_runs(
    config: &CheckConfig,
    time: Duration,
    context: &CheckContext<'_>,
    failing: &[usize],
    decision: &mut Decision,
) {
    let outcomes = &mut decision.report.outcomes;
    let config = CheckConfig {
        claims: failing.iter().map(|&at| outcomes[at].claim).collect(),
        engines: Some(vec!["sizes".to_string()]),
        timeout: Some(time),
        ..config.clone()
    };
    let report = gander_engines::check(&decision.system, &config, context.cancel, &NullObserver);
    for found in report.outcomes {
        let is_open = |o: &&mut Outcome| o.claim == found.claim;
        if matches!(found.verdict, Verdict::Fails(_))
            && let Some(outcome) = outcomes.iter_mut().find(is_open)
        {
            *outcome = found;
        }
    }
    decision.report.internal_errors.extend(report.internal_errors);
}

/// The system with this value of all sizes.
fn instance(model: &Model, system: &System, n: i64) -> Option<Arc<System>> {
    let mut options: LoadOptions = model.load.clone();
    for size in system.sizes() {
        options.constants.push((system.var(size.var).name.clone(), n));
    }
    let source = model.source();
    load(source.text(), source.name(), &options).systems.into_iter().next()
}

/// For which sizes the claim holds, in a sentence.
fn described(names: &[&str], known: &Known) -> Option<String> {
    let sizes = names.join(" = ");
    let every = names.join(", ");
    let holds: Vec<String> = known.holds.iter().map(i64::to_string).collect();
    let holds = holds.join(", ");
    match (known.fails, known.holds.is_empty()) {
        (Some(n), true) => Some(format!("fails for {sizes} = {n}; `--const` shows the run")),
        (Some(n), false) => Some(format!(
            "holds for {sizes} = {holds}; fails for {sizes} = {n}; `--const` shows the run"
        )),
        (None, false) => Some(format!("holds for {sizes} = {holds}; not proved for every {every}")),
        (None, true) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_are_named() {
        let known = Known { holds: vec![1, 2, 3], fails: None, stopped: true };
        let text = described(&["N"], &known).unwrap();
        assert_eq!(text, "holds for N = 1, 2, 3; not proved for every N");
        let known = Known { holds: vec![1], fails: Some(2), stopped: true };
        let text = described(&["N", "M"], &known).unwrap();
        assert_eq!(text, "holds for N = M = 1; fails for N = M = 2; `--const` shows the run");
        assert_eq!(described(&["N"], &Known::default()), None);
    }
}

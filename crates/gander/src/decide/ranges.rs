//! Declared ranges that are proved quickly, for exports and other tools.
//!
//! The declared range of a state variable is a claim. Other tools need it as a type, which is only
//! right if the claim holds.

use std::sync::Arc;
use std::time::Duration;

use gander_engines::{Cancellation, CheckConfig, NullObserver};
use gander_smt::Solvers;
use gander_system::{ClaimId, ClaimOrigin, System, VarId, Verdict};

/// The time for the proofs. Most ranges take milliseconds.
const TIME: Duration = Duration::from_secs(1);

/// The system in which those declared ranges are marked that engines prove within a second for
/// every reachable state.
pub fn with_proved_ranges(
    system: &Arc<System>,
    solvers: &Arc<Solvers>,
    cancel: &Cancellation,
) -> Arc<System> {
    proved_within(system, solvers, cancel, TIME)
}

/// The same within a part of a time limit.
pub(super) fn proved_in_part_of(
    system: &Arc<System>,
    config: &CheckConfig,
    cancel: &Cancellation,
) -> Arc<System> {
    let time = config.timeout.map_or(TIME, |limit| TIME.min(limit / 10));
    proved_within(system, &config.solvers, cancel, time)
}

fn proved_within(
    system: &Arc<System>,
    solvers: &Arc<Solvers>,
    cancel: &Cancellation,
    time: Duration,
) -> Arc<System> {
    let range_of = |claim: ClaimId| match system.claims()[claim.index()].origin {
        ClaimOrigin::Range(v) => Some(v),
        _ => None,
    };
    let all = (0..system.claims().len()).map(ClaimId::from);
    let claims: Vec<ClaimId> =
        all.filter(|c| range_of(*c).is_some_and(|v| !system.has_certain_range(v))).collect();
    if claims.is_empty() {
        return Arc::clone(system);
    }
    let config =
        CheckConfig { timeout: Some(time), ..CheckConfig::new(Arc::clone(solvers), claims) };
    let report = gander_engines::check(system, &config, cancel, &NullObserver);
    let proved = report.outcomes.iter().filter(|o| matches!(o.verdict, Verdict::Holds(_)));
    let vars: Vec<VarId> = proved.filter_map(|o| range_of(o.claim)).collect();
    if vars.is_empty() {
        return Arc::clone(system);
    }
    Arc::new(System::clone(system).with_certain_ranges(vars))
}

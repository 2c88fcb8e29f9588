//! Symmetric claims: engines work on one claim of each orbit, and its evidence, renamed, is
//! proposed for the others.
//!
//! A claim is *deferred* while another one of its orbit, its representative, is open. When a claim
//! is settled, the director renames its evidence for the open claims of its orbit
//! ([`gander_system::Symmetries`]) and has it checked like a conjecture: what is not right is
//! dropped. So a verdict never rests on a symmetry. Claims that stay open although their
//! representative is settled, or although no engine has work left, are given to the engines in a
//! second phase. If the representative stays open until the time limit, so do they.

use gander_runtime::Cancellation;
use gander_system::{ClaimId, ClaimKind, Evidence, Symmetries, System, Verdict};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Director;
use super::limits::LIMITS;
use crate::core::{CheckConfig, Likelihood, Method, Outcome, Proposal};

/// The engine that answers with renamed evidence are attributed to.
pub(super) const SYMMETRY: &str = "symmetry";

/// See the module's documentation.
#[derive(Default)]
pub(super) struct Orbits {
    symmetries: Symmetries,
    /// By claim: the claim of its orbit that stands for it; itself if it is not deferred.
    representative: Vec<ClaimId>,
    /// Open claims that are deferred.
    deferred: FxHashSet<ClaimId>,
    /// By representative of an orbit in the group: how often evidence was renamed.
    transfers: FxHashMap<ClaimId, u32>,
    orbit_of: Vec<ClaimId>,
    /// Positions of claims that were settled by engines and not considered yet.
    settled: Vec<usize>,
    /// Renamed evidence to be checked.
    renamed: Vec<Renamed>,
}

/// Renamed evidence of one claim, and how much of it is checked next.
struct Renamed {
    proposals: Vec<Proposal>,
    batch: usize,
}

impl Orbits {
    /// The orbits of the requested claims.
    pub(super) fn of(system: &System, config: &CheckConfig, cancel: &Cancellation) -> Orbits {
        if config.claims.len() < 2
            || system.instances().len() < 2
            || !config.options.uses(Method::Symmetry)
        {
            return Orbits::default();
        }
        // The check is correct without symmetries, so cancellation is ignored here.
        cancel
            .run_cancellable(|| Orbits::new(system, config, Symmetries::of(system)))
            .unwrap_or_default()
    }

    pub(super) fn new(system: &System, config: &CheckConfig, symmetries: Symmetries) -> Orbits {
        if symmetries.is_trivial() {
            return Orbits::default();
        }
        let orbit_of = symmetries.representatives(system.claims().len());
        let mut representative: Vec<ClaimId> =
            (0..system.claims().len()).map(ClaimId::from).collect();
        let mut first: FxHashMap<ClaimId, ClaimId> = FxHashMap::default();
        let mut deferred = FxHashSet::default();
        for &claim in &config.claims {
            let stands = *first.entry(orbit_of[claim.index()]).or_insert(claim);
            if stands != claim && is_deferrable(&system.claims()[claim.index()].kind) {
                representative[claim.index()] = stands;
                deferred.insert(claim);
            }
        }
        Orbits { symmetries, representative, deferred, orbit_of, ..Orbits::default() }
    }

    /// The number of open claims that wait.
    pub(super) fn waiting(&self) -> usize {
        self.deferred.len()
    }

    /// The deferred claims, in their order.
    pub(super) fn all_deferred(&self) -> Vec<ClaimId> {
        let mut all: Vec<ClaimId> = self.deferred.iter().copied().collect();
        all.sort_unstable();
        all
    }

    /// True if renamed evidence may be left to be checked.
    pub(super) fn has_renamed(&self) -> bool {
        !(self.renamed.is_empty() && self.settled.is_empty())
    }

    /// The claim that engines work on for this one.
    pub(super) fn worked_on(&self, claim: ClaimId) -> ClaimId {
        self.representative.get(claim.index()).copied().unwrap_or(claim)
    }

    /// Records a settled claim; false if it had been deferred.
    pub(super) fn settle(&mut self, claim: ClaimId, at: usize, engine: &str) -> bool {
        if engine != SYMMETRY && !self.symmetries.is_trivial() {
            self.settled.push(at);
        }
        !self.deferred.remove(&claim)
    }
}

/// True if the claim is mostly settled by evidence that can be renamed. Evidence about other claims
/// is often about a system that was made for the claim; engines work on all of them.
fn is_deferrable(kind: &ClaimKind) -> bool {
    match kind {
        ClaimKind::Always(_)
        | ClaimKind::CanEnable(_)
        | ClaimKind::StartSatisfiable(_)
        | ClaimKind::Completable(_) => true,
        ClaimKind::Reachable(goals) => goals.len() <= 1,
        _ => false,
    }
}

impl Director<'_> {
    /// Checks some renamed evidence of claims that engines have settled; false if there is none
    /// left. More is checked at once while it turns out right, so that a wrong automorphism costs
    /// little, and new answers do not wait long.
    pub(super) fn transfer_some(&mut self) -> bool {
        while self.orbits.renamed.is_empty() {
            let Some(at) = self.orbits.settled.pop() else { return false };
            self.rename(at);
        }
        let Renamed { mut proposals, batch } = self.orbits.renamed.swap_remove(0);
        proposals.retain(|p| self.open_place(p.claim).is_some());
        let rest = proposals.split_off(batch.min(proposals.len()));
        if proposals.is_empty() || self.certifier.is_late() {
            return true;
        }
        let open = |director: &Self| director.open + director.orbits.waiting();
        let before = open(self);
        self.try_conjectures(proposals, Likelihood::Probable);
        if open(self) < before && !rest.is_empty() {
            let batch = batch.saturating_mul(LIMITS.transfer_growth);
            self.orbits.renamed.push(Renamed { proposals: rest, batch });
        }
        true
    }

    /// Renames the evidence of a settled claim for the open claims of its orbit.
    fn rename(&mut self, at: usize) {
        let claim = self.config.claims[at];
        let Some(&orbit) = self.orbits.orbit_of.get(claim.index()) else { return };
        let transfers = self.orbits.transfers.entry(orbit).or_default();
        if *transfers >= LIMITS.transfers {
            return;
        }
        let Some(Outcome { verdict, shortest, .. }) = &self.outcomes[at] else { return };
        let renamed = self.cancel.run_cancellable(|| {
            let wanted = |c: ClaimId| self.open_place(c).is_some();
            self.orbits.symmetries.transfer(self.system, claim, verdict, wanted)
        });
        let shortest = *shortest == Some(true);
        let renamed = renamed.unwrap_or_default();
        let formulas = |verdict: &Verdict| match verdict {
            Verdict::Holds(Evidence::Invariant(f)) | Verdict::Fails(Evidence::Invariant(f)) => {
                Some(f.clone())
            }
            _ => None,
        };
        // One invariant for all is a fact for the engines, if it is about the system they work on.
        let joint = match &renamed[..] {
            [(_, one), (_, other), ..] if !self.is_reduced => {
                formulas(one).filter(|f| formulas(other).is_some_and(|o| f.is_copy_of(&o)))
            }
            _ => None,
        };
        let proposals: Vec<Proposal> = renamed
            .into_iter()
            .map(|(claim, verdict)| Proposal {
                engine: SYMMETRY,
                claim,
                verdict,
                shortest,
                found: None,
                invariant: joint.clone(),
            })
            .collect();
        if !proposals.is_empty() {
            *self.orbits.transfers.entry(orbit).or_default() += 1;
            self.orbits.renamed.push(Renamed { proposals, batch: 1 });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gander_smt::Solvers;
    use gander_system::passes::{ComposeLimits, compose};
    use gander_system::{ClaimOrigin, NodeId, Role, SystemBuilder};
    use gander_term::{Pool, Sort, parse_term};

    use super::*;
    use crate::core::{CheckReport, NullObserver};
    use crate::director::{Choice, run};
    use crate::engines::engines;

    /// A counter that stops at `most`, begins at `first`, and never exceeds 3.
    fn counter(first: i64, most: i64) -> System {
        let mut b =
            SystemBuilder::new("Counter", Pool::new(), &[("N", None), ("M", None)]).unwrap();
        let x = b.var("x", Sort::Int, Role::State, None, None).unwrap();
        let term = |b: &mut SystemBuilder, text: &str| parse_term(&mut b.pool, text).unwrap();
        let start = term(&mut b, &format!("x == {first}"));
        b.start("go", NodeId(0), &[(start, None)], None).unwrap();
        let mut up = b.transition("up", None, NodeId(0), NodeId(0), None).unwrap();
        let below = term(&mut b, &format!("x < {most}"));
        b.guard(&mut up, below, None).unwrap();
        let more = term(&mut b, "x + 1");
        b.assign(&mut up, x, more, None).unwrap();
        b.add(up).unwrap();
        let mut away = b.transition("away", None, NodeId(0), NodeId(1), None).unwrap();
        let at = term(&mut b, "x == 3");
        b.guard(&mut away, at, None).unwrap();
        b.add(away).unwrap();
        let small = term(&mut b, "x <= 3");
        let small = b.state_formula(small, "small").unwrap();
        b.claim("small", ClaimKind::Always(small), ClaimOrigin::Written, "small", None).unwrap();
        b.finish()
    }

    /// Three counters, of which the second may differ.
    fn counters(second: &System) -> Arc<System> {
        let usual = counter(0, 3);
        let parts = [("c[0]", &usual), ("c[1]", second), ("c[2]", &usual)];
        let (mut b, mut whole) =
            compose("Whole", &parts, &[], &[], ComposeLimits::default()).unwrap();
        whole.add_claims(&mut b).unwrap();
        Arc::new(b.finish().and_structural_claims())
    }

    fn check_with(system: &Arc<System>, symmetries: &Symmetries) -> CheckReport {
        let claims = (0..system.claims().len()).map(ClaimId::from).collect();
        let config = CheckConfig::new(Arc::new(Solvers::from_environment()), claims);
        let orbits = |system: &System, config: &CheckConfig, _: &Cancellation| {
            Orbits::new(system, config, symmetries.clone())
        };
        let cancel = Cancellation::new();
        run(system, &config, &cancel, &NullObserver, engines(), Choice::Planned, orbits)
    }

    #[test]
    fn engines_decide_one_claim_of_each_orbit() {
        let system = counters(&counter(0, 3));
        let report = check_with(&system, &Symmetries::of(&system));
        for o in &report.outcomes {
            let name = &system.claims()[o.claim.index()].name;
            let whole = !name.contains("c[");
            assert!(matches!(o.verdict, Verdict::Holds(_)), "{name}: {:?}", o.verdict);
            let first = name.contains("c[0]");
            assert_eq!(o.engine != SYMMETRY, whole || first, "{name} by {}", o.engine);
        }
        assert!(report.internal_errors.is_empty());
        assert!(report.schedule.engines.iter().all(|e| e.claims <= 5), "{:?}", report.schedule);
    }

    /// The automorphisms are those of another system, with equal instances. Every verdict must be
    /// right, and no internal error may occur: what a wrong automorphism suggests is refuted, and
    /// the claim goes to the engines.
    #[test]
    fn a_wrong_automorphism_changes_no_verdict() {
        let wrong = Symmetries::of(&counters(&counter(0, 3)));
        assert!(!wrong.is_trivial());
        for second in [counter(0, 5), counter(2, 3), counter(0, 2), counter(5, 3)] {
            let system = counters(&second);
            let plain = check_with(&system, &Symmetries::default());
            let report = check_with(&system, &wrong);
            assert!(report.internal_errors.is_empty(), "{:?}", report.internal_errors);
            for (one, other) in report.outcomes.iter().zip(&plain.outcomes) {
                let name = &system.claims()[one.claim.index()].name;
                let holds = |v: &Verdict| matches!(v, Verdict::Holds(_));
                assert!(!matches!(one.verdict, Verdict::Unknown { .. }), "{name}");
                assert_eq!(holds(&one.verdict), holds(&other.verdict), "{name}");
            }
            // The third counter is symmetric to the first one, the second one is not.
            let real = Symmetries::of(&system);
            assert_eq!(real.generators().len(), 1);
            let differs = system.claims().iter().position(|c| c.name == "c[1].small").unwrap();
            assert_eq!(real.orbit(&system, ClaimId::from(differs)).len(), 0);
        }
    }
}

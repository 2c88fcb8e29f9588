//! A session reused from an earlier claim gives the same cores as a fresh one.

mod prover;

use std::sync::Arc;
use std::time::Duration;

use gander_explain::{
    CoreSelection, ExplainConfig, Explainer, Granularity, Parts, Prover, Request,
};
use gander_system::ClaimId;
use prover::{Engines, core_names};

const SOURCE: &str = "
spec Several
var x: int
var y: int
var on: bool
start { x == 0  y == 0  on == false }
step up when x < 3 { x := x + 1  y := y + 2 }
step turn when x > 1 { on := true }
step never when y < 0 { on := false }
always small: x <= 3
always twice: y == 2 * x
always late: on implies x > 1
reachable order: on then turn with not on
always positive: y >= 0
";

#[test]
fn a_reused_session_gives_the_same_cores() {
    let system = Arc::new(gander_lang::sts::load(SOURCE, "several.sts").system.unwrap());
    let parts = Parts::of(&system, SOURCE, Granularity::Written);
    let mut engines = Engines::new();
    let request = Request { cores: CoreSelection::All, must: true, ..Request::default() };
    let mut shared = None;
    let mut taken = 0;
    for claim in (0..system.claims().len()).map(ClaimId::from) {
        let verdict = engines.prove(&system, claim, Duration::from_secs(20));
        let config = ExplainConfig::new(&engines.solvers);
        let mut fresh =
            Explainer::new(&system, parts.clone(), claim, &verdict, config.clone(), &mut engines)
                .unwrap();
        let expected = fresh.explain(request, &mut |_, _| {});
        let had = shared.is_some();
        let mut next = Explainer::continuing(
            &mut shared,
            &system,
            parts.clone(),
            claim,
            &verdict,
            config,
            &mut engines,
        )
        .unwrap();
        let found = next.explain(request, &mut |_, _| {});
        next.end(&mut shared);
        taken += u32::from(had);
        let name = &system.claims()[claim.index()].name;
        assert_eq!(core_names(&parts, &found), core_names(&parts, &expected), "{name}");
        assert!(
            found.complete && found.cores.iter().all(|c| c.minimal && c.unchecked.is_none()),
            "{name}"
        );
        assert_eq!(found.must, expected.must, "{name}");
    }
    assert!(taken >= 3, "sessions were not reused");
}

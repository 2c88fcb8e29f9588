//! One core of each of several claims. The first proof is searched for in the cone of the claim and
//! checked with only its constraints; the reported relaxation must be adequate too.

mod prover;

use std::sync::Arc;
use std::time::Duration;

use gander_explain::{
    ExplainConfig, Explainer, Granularity, Part, Parts, Prover, Request, relaxed,
};
use gander_system::{ClaimId, System, Verdict};
use prover::Engines;

/// The assertion restricts inputs through equations that are otherwise unrelated to the claims.
const CONTRACTS: &str = "
node top(a, b, c, d: int; stop: bool) returns (sum: int);
var g1, g2, g3, g4, all, more: bool; far, near, twice: int; ok1, ok2, ok3, ok4: bool;
let
  g1 = a >= 0;
  g2 = b >= 0 and b <= 10;
  g3 = c >= a;
  g4 = d = c + 1;
  more = g3 and g4;
  all = g1 and g2 and more;
  assert all;
  sum = if stop then a else a + b;
  far = 0 -> if pre far >= 100 then 0 else pre far + 1;
  near = 0 -> if stop then 0 else if pre near < 5 then pre near + 1 else pre near;
  twice = 0 -> if stop then 0 else if pre near < 5 then pre twice + 2 else pre twice;
  ok1 = sum >= 0;
  ok2 = d > 0;
  ok3 = twice = 2 * near;
  ok4 = twice <= 10;
  --%PROPERTY ok1;
  --%PROPERTY ok2;
  --%PROPERTY ok3;
  --%PROPERTY ok4;
tel;
";

/// The cores of all claims, each checked on its relaxation.
fn cores(system: System, source: &str, keep: impl Fn(&Part) -> bool) -> Vec<(String, Vec<String>)> {
    let system = Arc::new(system);
    let mut parts = Parts::of(&system, source, Granularity::Written);
    parts.restrict(keep);
    let (mut engines, mut shared, mut cores) = (Engines::new(), None, Vec::new());
    for claim in (0..system.claims().len()).map(ClaimId::from) {
        let name = system.claims()[claim.index()].name.clone();
        let verdict = engines.prove(&system, claim, Duration::from_secs(20));
        assert!(matches!(verdict, Verdict::Holds(_)), "{name}");
        let config = ExplainConfig::new(&engines.solvers);
        let mut explainer = Explainer::continuing(
            &mut shared,
            &system,
            parts.clone(),
            claim,
            &verdict,
            config,
            &mut engines,
        )
        .unwrap();
        let explanation = explainer.explain(Request::default(), &mut |_, _| {});
        explainer.end(&mut shared);
        let [core] = &explanation.cores[..] else { panic!("{name} has a core") };
        assert_eq!(core.unchecked, None, "{name}");
        let system = relaxed(&system, &parts, &core.parts);
        engines.certify(&system, claim, &core.verdict).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut names = parts.names(&core.parts);
        names.sort();
        cores.push((name, names));
    }
    cores
}

fn contracts() -> System {
    gander_lang::lustre::load(CONTRACTS, "contracts.lus").system.unwrap()
}

#[test]
fn restrictions_outside_the_cone_are_found() {
    let found = cores(contracts(), CONTRACTS, |_| true);
    let core =
        |claim: &str| found.iter().find(|(name, _)| name.contains(claim)).unwrap().1.join(" ");
    assert!(
        found
            .iter()
            .all(|(_, names)| !names.is_empty() && !names.iter().any(|n| n.contains("far"))),
        "{found:?}"
    );
    for (claim, parts) in [
        ("ok1", ["g1", "g2", "sum"]),
        ("ok2", ["g1", "g3", "g4"]),
        ("ok3", ["near", "ok3", "twice"]),
    ] {
        let core = core(claim);
        assert!(parts.iter().all(|p| core.split(' ').any(|n| n.ends_with(p))), "{claim}: {core}");
    }
    assert!(
        !core("ok1").contains("g3") && !core("ok2").contains("sum") && !core("ok3").contains("g1"),
        "{found:?}"
    );
}

#[test]
fn elements_that_are_no_parts_are_always_kept() {
    let found =
        cores(contracts(), CONTRACTS, |part| part.name.contains('g') || part.name.contains("far"));
    let core =
        |claim: &str| found.iter().find(|(name, _)| name.contains(claim)).unwrap().1.join(" ");
    assert!(
        core("ok1").contains("g1") && core("ok1").contains("g2") && !core("ok1").contains("g3"),
        "{found:?}"
    );
    assert!(core("ok3").is_empty() && core("ok4").is_empty(), "{found:?}");
}

//! Compares every request for cores with brute force, on one random system.

use std::sync::Arc;
use std::time::Duration;

use gander_explain::{
    Bounded, CoreSelection, ExplainConfig, Explainer, Explanation, Granularity, PartSet, Parts,
    Prover, Request, is_proof, minimal_hitting_sets,
};
use gander_system::{ClaimId, Verdict};

use crate::brute::{kinds, minimal_cores, random_system};
use crate::prover::Engines;

fn sorted(found: &Explanation) -> Vec<PartSet> {
    let mut cores: Vec<PartSet> = found.cores.iter().map(|c| c.parts.clone()).collect();
    cores.sort();
    cores
}

/// Compares on the system of a seed; false if its claim does not hold and there is nothing to
/// compare.
pub fn agrees(engines: &mut Engines, seed: u64) -> bool {
    let system = Arc::new(random_system(seed));
    let parts = Parts::of(&system, "", Granularity::Written);
    let Some(expected) = minimal_cores(&system, &parts) else { return false };
    let claim = ClaimId(0);
    let verdict = engines.prove(&system, claim, Duration::from_secs(20));
    assert!(matches!(verdict, Verdict::Holds(_)), "seed {seed}: {verdict:?}\n{}", system.to_text());
    let config = ExplainConfig::new(&engines.solvers);
    let mut ask = |request: Request| {
        let mut explainer =
            Explainer::new(&system, parts.clone(), claim, &verdict, config.clone(), engines)
                .unwrap();
        let found = explainer.explain(request, &mut |_, _| {});
        let context = format!("seed {seed}, {request:?}\n{}\n{:?}", system.to_text(), found.notes);
        assert!(!found.approximate, "{context}");
        assert!(found.cores.iter().all(|c| c.unchecked.is_none()), "{context}");
        (found, context)
    };
    let must = expected.iter().cloned().reduce(|a, b| a.intersection(&b)).unwrap();
    for cores in [CoreSelection::All, CoreSelection::AllOffline] {
        let (found, context) = ask(Request { cores, cut_sets: true, ..Request::default() });
        assert_eq!(sorted(&found), expected, "{context}");
        assert!(found.complete, "{context}");
        assert_eq!(found.must, must, "{context}");
        assert_eq!(
            found.cut_sets,
            minimal_hitting_sets(parts.len(), &expected, 10_000),
            "{context}"
        );
    }
    let (found, context) =
        ask(Request { cores: CoreSelection::Smallest, must: true, ..Request::default() });
    assert_eq!(
        found.cores[0].parts.len(),
        expected.iter().map(PartSet::len).min().unwrap(),
        "{context}"
    );
    assert_eq!(found.must, must, "{context}");
    assert!(expected.contains(&found.cores[0].parts), "{context}");
    let (found, context) = ask(Request { cores: CoreSelection::Minimal, ..Request::default() });
    assert!(expected.contains(&found.cores[0].parts), "{context}");
    let (found, context) = ask(Request::default());
    assert!(expected.iter().any(|m| m.is_subset(&found.cores[0].parts)), "{context}");
    true
}

/// The same for a claim of any kind that has cores. Returns the word for the kind, or `None` if
/// there is nothing to compare.
pub fn agrees_on_any(engines: &mut Engines, seed: u64) -> Option<&'static str> {
    let system = Arc::new(kinds::random_claim(seed));
    let parts = Parts::of(&system, "", Granularity::Written);
    let expected = kinds::minimal_cores_of_any(&system, &parts)?;
    let claim = ClaimId(0);
    let verdict = engines.prove(&system, claim, Duration::from_secs(20));
    let kind = &system.claims()[0].kind;
    assert!(is_proof(kind, &verdict), "seed {seed}: {verdict:?}\n{}", system.to_text());
    let config =
        ExplainConfig { share: Duration::from_secs(20), ..ExplainConfig::new(&engines.solvers) };
    for cores in [CoreSelection::All, CoreSelection::Minimal] {
        let mut explainer =
            Explainer::new(&system, parts.clone(), claim, &verdict, config.clone(), engines)
                .unwrap();
        let found = explainer.explain(Request { cores, ..Request::default() }, &mut |_, _| {});
        let context = format!("seed {seed}, {cores:?}\n{}\n{:?}", system.to_text(), found.notes);
        assert!(
            !found.approximate && found.cores.iter().all(|c| c.unchecked.is_none()),
            "{context}"
        );
        match cores {
            CoreSelection::All => assert_eq!(sorted(&found), expected, "{context}"),
            _ => assert!(expected.contains(&found.cores[0].parts), "{context}"),
        }
    }
    Some(kind.word())
}

/// The same for bounded cores of a claim that a run of finitely many steps decides.
pub fn bounded_agrees(engines: &mut Engines, seed: u64) -> Option<&'static str> {
    let system = Arc::new(kinds::random_claim(seed));
    let parts = Parts::of(&system, "", Granularity::Written);
    let mut compared = None;
    for depth in 0..4 {
        let config = ExplainConfig::new(&engines.solvers);
        let made = Explainer::for_bounded(&system, parts.clone(), ClaimId(0), config, engines);
        let expected = kinds::minimal_bounded_cores(&system, &parts, depth);
        let Ok(mut explainer) = made else {
            assert_eq!(expected, None, "seed {seed}\n{}", system.to_text());
            return None;
        };
        let found = explainer.bounded(depth as u32);
        let context = format!("seed {seed}, depth {depth}: {found:?}\n{}", system.to_text());
        match (expected, found) {
            (Some(expected), Bounded::Core { parts: core, .. }) => {
                assert!(expected.contains(&core), "{expected:?} {context}");
                compared = Some(system.claims()[0].kind.word());
            }
            // The reported run is a shortest one.
            (None, Bounded::Broken(steps)) => {
                assert!(steps as usize <= depth, "{context}");
                let shorter = (steps as usize).checked_sub(1);
                let before = shorter.map(|d| kinds::minimal_bounded_cores(&system, &parts, d));
                assert!(parts.len() > 9 || before != Some(None), "{context}");
            }
            // There are too many sets to enumerate.
            (None, Bounded::Core { .. }) => assert!(parts.len() > 9, "{context}"),
            (_, found) => panic!("{found:?} {context}"),
        }
    }
    compared
}

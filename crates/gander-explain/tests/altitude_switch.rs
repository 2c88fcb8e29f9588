//! The altitude switch of the source document has exactly two minimal cores.

mod prover;

use std::sync::Arc;
use std::time::Duration;

use gander_explain::{
    CoreSelection, ExplainConfig, Explainer, Granularity, Parts, Prover, Request,
};
use gander_system::ClaimId;
use prover::{Engines, core_names, explained};

const SOURCE: &str = include_str!("../../../examples/lustre/altitude_switch.lus");

fn explain_on_p(request: Request) -> (gander_explain::Parts, gander_explain::Explanation) {
    let loaded = gander_lang::lustre::load(SOURCE, "altitude_switch.lus");
    explained(loaded.system.unwrap(), SOURCE, "on_p", request)
}

#[test]
fn both_enumerations_find_exactly_two_minimal_cores() {
    for cores in [CoreSelection::All, CoreSelection::AllOffline] {
        let (parts, found) = explain_on_p(Request { cores, cut_sets: true, ..Request::default() });
        assert_eq!(
            core_names(&parts, &found),
            [["a1_below", "below", "doi_on", "on_p"], ["a2_below", "below", "doi_on", "on_p"]]
        );
        assert!(found.complete && !found.approximate);
        assert!(found.cores.iter().all(|c| c.minimal && c.unchecked.is_none()));
        assert_eq!(parts.names(&found.must), ["below", "doi_on", "on_p"]);
        assert_eq!(parts.names(&found.may), ["a1_below", "a2_below"]);
        let cuts: Vec<Vec<String>> =
            found.cut_sets.unwrap().iter().map(|c| parts.names(c)).collect();
        assert_eq!(
            cuts,
            [vec!["below"], vec!["doi_on"], vec!["on_p"], vec!["a1_below", "a2_below"]]
        );
    }
}

#[test]
fn each_single_core_is_one_of_the_two() {
    for cores in [CoreSelection::One, CoreSelection::Minimal, CoreSelection::Smallest] {
        let (parts, found) = explain_on_p(Request { cores, must: true, ..Request::default() });
        assert_eq!(found.cores.len(), 1);
        assert_eq!(found.cores[0].parts.len(), 4, "{:?}", core_names(&parts, &found));
        assert!(!found.approximate && !found.complete);
        assert_eq!(parts.names(&found.must), ["below", "doi_on", "on_p"]);
    }
}

#[test]
fn a_timeout_reports_the_number_of_cores_found() {
    let loaded = gander_lang::lustre::load(SOURCE, "altitude_switch.lus");
    let system = Arc::new(loaded.system.unwrap());
    let claim = ClaimId::from(system.claims().iter().position(|c| c.name == "on_p").unwrap());
    let mut engines = Engines::new();
    let verdict = engines.prove(&system, claim, Duration::from_secs(20));
    let parts = Parts::of(&system, SOURCE, Granularity::Written);
    let cancellation = gander_runtime::Cancellation::new();
    let config = ExplainConfig {
        cancellation: cancellation.clone(),
        ..ExplainConfig::new(&engines.solvers)
    };
    let mut explainer =
        Explainer::new(&system, parts, claim, &verdict, config, &mut engines).unwrap();
    let request = Request { cores: CoreSelection::All, ..Request::default() };
    // Cancel after the first core.
    let found = explainer.explain(request, &mut |_, _| cancellation.cancel());
    assert_eq!(found.cores.iter().filter(|c| c.minimal).count(), 1);
    assert!(found.approximate && !found.complete);
    assert_eq!(found.notes, ["the time was over: 1 minimal core found so far"]);
}

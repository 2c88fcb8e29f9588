//! Examples of the source document: E. Ghassabani, Inductive Validity Cores (2020), chapters 5
//! and 6.

mod prover;

use std::sync::Arc;

use gander_explain::{
    Bounded, CoreSelection, ExplainConfig, Explainer, Granularity, Parts, Request,
};
use gander_system::ClaimId;
use prover::{Engines, explained};

/// Two counters; the property holds if either has its bound (figures 5.9 and 5.16).
fn counters(second: u32) -> String {
    format!(
        "node top() returns (ok: bool);
var one, two: int;
let
  ok = one < 5 or two > 5;
  one = 0 -> pre one + 1;
  two = {second} -> pre two + 1;
  --%PROPERTY ok;
tel
"
    )
}

/// The runs that a bounded core excludes.
#[derive(Clone, Copy)]
enum Runs {
    UpTo,
    Exactly,
}

fn bounded(source: &str, depth: u32) -> Vec<String> {
    bounded_for(source, depth, Runs::UpTo)
}

fn bounded_for(source: &str, depth: u32, runs: Runs) -> Vec<String> {
    let system = Arc::new(gander_lang::lustre::load(source, "counters.lus").system.unwrap());
    let parts = Parts::of(&system, source, Granularity::Written);
    let mut engines = Engines::new();
    let config = ExplainConfig::new(&engines.solvers);
    let mut explainer =
        Explainer::for_bounded(&system, parts.clone(), ClaimId(0), config, &mut engines).unwrap();
    let found = match runs {
        Runs::UpTo => explainer.bounded(depth),
        Runs::Exactly => explainer.bounded_at(depth),
    };
    match found {
        Bounded::Core { parts: core, .. } => parts.names(&core),
        other => panic!("{other:?}"),
    }
}

#[test]
fn bounded_cores_of_counters_are_those_of_the_figures() {
    // Up to depth 4 either counter suffices; from then on only the second does (figure 5.9).
    for depth in [0, 3, 4] {
        let core = bounded(&counters(6), depth);
        assert!(core == ["ok", "one"] || core == ["ok", "two"], "{core:?} at {depth}");
    }
    assert_eq!(bounded(&counters(6), 5), ["ok", "two"]);
    // With a later start, the second does not suffice at first, and the first not later (figure
    // 5.16).
    assert_eq!(bounded(&counters(3), 0), ["ok", "one"]);
    assert_eq!(bounded(&counters(3), 4), ["ok", "one"]);
    assert_eq!(bounded(&counters(3), 5), ["ok", "one", "two"]);
    let system = gander_lang::lustre::load(&counters(3), "counters.lus").system.unwrap();
    let (parts, found) = explained(
        system,
        &counters(3),
        "ok",
        Request { cores: CoreSelection::All, ..Request::default() },
    );
    assert_eq!(prover::core_names(&parts, &found), [["ok", "one", "two"]]);
}

#[test]
fn cores_of_a_single_depth_are_those_of_the_figures() {
    // The figures list a core for each single depth: one counter suffices if it is right at that
    // depth, whatever it was before.
    let (one, two) = (["ok", "one"], ["ok", "two"]);
    for depth in 0..=7 {
        // Figure 5.9: the second counter is 6 and more, the first is below 5 up to depth 4.
        let core = bounded_for(&counters(6), depth, Runs::Exactly);
        assert!(core == two || (depth < 5 && core == one), "{core:?} at {depth}");
        // Figure 5.16: the second counter is above 5 from depth 3 on. The document shows the first
        // up to depth 4, then the second.
        let core = bounded_for(&counters(3), depth, Runs::Exactly);
        assert!((depth < 5 && core == one) || (depth > 2 && core == two), "{core:?} at {depth}");
    }
}

#[test]
fn bounded_cores_of_each_depth_are_minimal() {
    // By definition 5 a bounded core excludes all runs up to its depth: from depth 5 on, figure
    // 5.16 needs both counters, as its only minimal inductive core does.
    for depth in 0..=7 {
        let core = bounded(&counters(6), depth);
        assert!(
            core == ["ok", "two"] || (depth < 5 && core == ["ok", "one"]),
            "{core:?} at {depth}"
        );
        let expected: &[&str] = if depth < 5 { &["ok", "one"] } else { &["ok", "one", "two"] };
        assert_eq!(bounded(&counters(3), depth), expected, "depth {depth}");
    }
}

/// The altitude switch with some properties (section 6.3).
fn switch(properties: &str) -> String {
    let model = include_str!("../../../examples/lustre/altitude_switch.lus");
    let end = model.find("  on_p = ").unwrap();
    let head = model[..end].replace("on_p: bool", "on_p, off_p, hyst_p, all_p: bool");
    format!("{head}{properties}\n  --%PROPERTY all_p;\ntel\n")
}

/// The cores without the equations of the properties, the must elements, and the elements of any
/// core.
fn covered(properties: &str) -> (Vec<Vec<String>>, Vec<String>, Vec<String>) {
    let source = switch(properties);
    let loaded = gander_lang::lustre::load(&source, "switch.lus");
    let system = loaded.system.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let (parts, found) = explained(
        system,
        &source,
        "all_p",
        Request { cores: CoreSelection::All, ..Request::default() },
    );
    assert!(found.complete && !found.approximate);
    let model = |set: &gander_explain::PartSet| -> Vec<String> {
        let mut names = parts.names(set);
        names.retain(|n| !n.ends_with("_p"));
        names.sort();
        names
    };
    let mut cores: Vec<Vec<String>> = found.cores.iter().map(|c| model(&c.parts)).collect();
    cores.sort();
    (cores, model(&found.must), model(&found.must.union(&found.may)))
}

#[test]
fn coverage_of_the_altitude_switch_is_that_of_the_figures() {
    // With computed variables on the left of implications, little is covered, by all measures alike
    // (figure 6.3).
    let (cores, must, may) = covered(
        "  on_p = (a1_below and a2_below and not inhibit) => doi_on;
  off_p = (a1_above and a2_above and inhibit) => not doi_on;
  hyst_p = true;
  all_p = on_p and off_p;",
    );
    assert_eq!(cores, [["below", "d1", "doi_on"]]);
    assert_eq!((&must, &may), (&cores[0], &cores[0]));

    // With inputs there, there are two cores, and the measures differ.
    let low = "alt1 < Threshold and alt2 < Threshold";
    let high = "alt1 >= Threshold + Hysteresis and alt2 >= Threshold + Hysteresis";
    let (cores, must, may) = covered(&format!(
        "  on_p = ({low} and not inhibit) => doi_on;
  off_p = ({high} and inhibit) => not doi_on;
  hyst_p = true;
  all_p = on_p and off_p;"
    ));
    assert_eq!(
        cores,
        [["a1_below", "below", "d1", "doi_on"], ["a2_below", "below", "d1", "doi_on"]]
    );
    assert_eq!(must, ["below", "d1", "doi_on"]);
    assert_eq!(may, ["a1_below", "a2_below", "below", "d1", "doi_on"]);

    // With the mistake in off_p corrected, everything except d2 is needed.
    let (cores, must, _) = covered(&format!(
        "  on_p = ({low} and not inhibit) => doi_on;
  off_p = ({high} or inhibit) => not doi_on;
  hyst_p = true;
  all_p = on_p and off_p;"
    ));
    let but_d2 =
        ["a1_above", "a1_below", "a2_above", "a2_below", "above_hyst", "below", "d1", "doi_on"];
    assert_eq!(cores, [but_d2]);
    assert_eq!(must, but_d2);

    // With the hysteresis, everything is needed (figure 6.4).
    let (cores, _, _) = covered(&format!(
        "  on_p = ({low} and not inhibit) => doi_on;
  off_p = ({high} or inhibit) => not doi_on;
  hyst_p = (not (alt1 < Threshold or alt2 < Threshold) and not ({high}) and not inhibit)
           => (doi_on = (false -> pre doi_on));
  all_p = on_p and off_p and hyst_p;"
    ));
    assert_eq!(cores.len(), 1);
    assert_eq!(cores[0].len(), 9);
}

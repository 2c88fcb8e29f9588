//! The altitude switch of the source document has exactly two minimal cores.

mod prover;

use gander_explain::{Request, Wish};
use prover::{core_names, explained};

const SOURCE: &str = include_str!("../../../examples/lustre/altitude_switch.lus");

fn asked(request: Request) -> (gander_explain::Parts, gander_explain::Explanation) {
    let loaded = gander_lang::lustre::load(SOURCE, "altitude_switch.lus");
    explained(loaded.system.unwrap(), SOURCE, "on_p", request)
}

#[test]
fn all_minimal_cores() {
    for cores in [Wish::All, Wish::AllOffline] {
        let (parts, found) = asked(Request { cores, cut_sets: true, ..Request::default() });
        assert_eq!(
            core_names(&parts, &found),
            [["a1_below", "below", "doi_on", "on_p"], ["a2_below", "below", "doi_on", "on_p"]]
        );
        assert!(found.complete && !found.approximate);
        assert!(found.cores.iter().all(|c| c.minimal && c.unchecked.is_none()));
        assert_eq!(parts.names(&found.must), ["below", "doi_on", "on_p"]);
        assert_eq!(parts.names(&found.may), ["a1_below", "a2_below"]);
        let cuts: Vec<Vec<String>> = found.cut_sets.unwrap().iter().map(|c| parts.names(c)).collect();
        assert_eq!(cuts, [vec!["below"], vec!["doi_on"], vec!["on_p"], vec!["a1_below", "a2_below"]]);
    }
}

#[test]
fn one_core() {
    for cores in [Wish::One, Wish::Minimal, Wish::Smallest] {
        let (parts, found) = asked(Request { cores, must: true, ..Request::default() });
        assert_eq!(found.cores.len(), 1);
        assert_eq!(found.cores[0].parts.len(), 4, "{:?}", core_names(&parts, &found));
        assert!(!found.approximate && !found.complete);
        assert_eq!(parts.names(&found.must), ["below", "doi_on", "on_p"]);
    }
}

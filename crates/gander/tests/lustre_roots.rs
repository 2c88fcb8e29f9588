//! A Lustre file with several roots: every one is checked, and the claims of all are in one answer.

use gander::{CheckOptions, check_source};

const TWO: &str = "
node one(a: bool) returns (p: bool); let p = a or not a; --%PROPERTY p;
tel
node two(a: bool) returns (p: bool); let p = true -> pre p; check \"q\" a; --%PROPERTY p;
tel
";

fn verdicts(options: &CheckOptions) -> Vec<(String, &'static str)> {
    let view = check_source(TWO, "two.lus", options);
    assert!(view.internal_errors.is_empty());
    view.claims.iter().map(|c| (c.name.clone(), c.verdict.word())).collect()
}

#[test]
fn all_roots_are_checked() {
    let found = verdicts(&CheckOptions::default());
    for (name, word) in [("one.p", "holds"), ("two.p", "holds"), ("two.q", "fails")] {
        assert!(found.contains(&(name.to_string(), word)), "{name}: {found:?}");
    }
    let mut names: Vec<&String> = found.iter().map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), found.len(), "two claims have one name: {found:?}");
}

#[test]
fn a_claim_of_any_root_can_be_asked_for_alone() {
    let options = CheckOptions { properties: vec!["two.q".to_string()], ..CheckOptions::default() };
    assert_eq!(verdicts(&options), [("two.q".to_string(), "fails")]);
    let options = CheckOptions { properties: vec!["three.q".to_string()], ..CheckOptions::default() };
    let view = check_source(TWO, "two.lus", &options);
    assert!(view.claims.is_empty());
    assert!(view.diagnostics.iter().any(|d| d.message.contains("there is no claim `three.q`")));
}

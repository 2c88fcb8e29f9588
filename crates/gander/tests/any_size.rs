//! Families whose size has no value, through the library.

use std::time::Duration;

use gander::{CheckOptions, LoadOptions, load_and_check};
use gander_engines::{Cancellation, NullObserver};
use gander_system::{Evidence, Verdict};

const LOCK: &str = include_str!("../../../corpus/sts/holds/any_size_lock.sts");
const WITHOUT_LOCK: &str = include_str!("../../../corpus/sts/fails/any_size_lock.sts");

fn verdict(text: &str, claim: &str, constants: &[(&str, i64)]) -> Verdict {
    let constants = constants.iter().map(|(name, n)| (name.to_string(), *n)).collect();
    let options = CheckOptions {
        load: LoadOptions { constants, ..LoadOptions::default() },
        properties: vec![claim.to_string()],
        timeout: Some(Duration::from_secs(60)),
        ..CheckOptions::default()
    };
    let checked = load_and_check(text, "m.sts", &options, &Cancellation::new(), &NullObserver);
    let (system, report) = checked.systems.first().expect("a system");
    let outcome = report
        .outcomes
        .iter()
        .find(|o| system.claims()[o.claim.index()].name == claim)
        .expect("an outcome");
    outcome.verdict.clone()
}

#[test]
fn exclusion_by_a_lock_is_proved_for_every_size() {
    let found = verdict(LOCK, "exclusive", &[]);
    assert!(matches!(found, Verdict::Holds(Evidence::Invariant(_))), "{found:?}");
}

#[test]
fn a_run_of_some_size_breaks_a_claim_and_one_process_keeps_it() {
    let found = verdict(WITHOUT_LOCK, "exclusive", &[]);
    assert!(matches!(found, Verdict::Fails(Evidence::Run(_))), "{found:?}");
    assert!(matches!(verdict(WITHOUT_LOCK, "exclusive", &[("N", 1)]), Verdict::Holds(_)));
    assert!(matches!(verdict(WITHOUT_LOCK, "exclusive", &[("N", 2)]), Verdict::Fails(_)));
}

/// Every process has a number, and the numbers grow with the index: true of every size, but no
/// engine adds up the first numbers.
#[test]
fn the_sizes_for_which_an_open_claim_holds_are_named() {
    let text = "spec P(id: int)\nvar x: int\nstart { x == id }\nstep up when x < id { x := x + 1 }\n\
                system S = ps: P[i: N](i)\nconst N: int 1..\n\
                always odd: 2 * (sum i in ps. ps[i].x) == N * (N - 1)\n";
    match verdict(text, "odd", &[]) {
        Verdict::Unknown { why, .. } => {
            let first = &why.first().expect("an obstacle").reason;
            assert!(first.starts_with("holds for N = 1, 2, 3"), "{first}");
            assert!(first.ends_with("not proved for every N"), "{first}");
        }
        other => panic!("{other:?}"),
    }
}

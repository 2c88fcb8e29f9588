//! Families whose size has no value, through the library.

use std::time::Duration;

use gander::{CheckOptions, Findings, LoadOptions, StructuralChecks, load_and_check};
use gander_engines::{Cancellation, NullObserver, Outcome};
use gander_oracle::Tier;
use gander_oracle::compositions::any_size_text;
use gander_system::{Evidence, Run, Verdict};
use gander_term::Value;

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

/// It holds, or the size of the run that breaks it.
type Answer = Result<(), Option<i64>>;

/// By claim of a random composition: whether it holds, and the size of the run if it fails.
fn verdicts(
    text: &str,
    properties: &[String],
    engines: &[&str],
    size: Option<i64>,
    seconds: f64,
) -> Vec<(String, Option<Answer>)> {
    let constants = size.map(|n| ("N".to_string(), n)).into_iter().collect();
    let options = CheckOptions {
        load: LoadOptions { constants, ..LoadOptions::default() },
        properties: properties.to_vec(),
        checks: StructuralChecks::None,
        findings: Findings::LeftOut,
        engines: engines.iter().map(|n| n.to_string()).collect(),
        timeout: Some(Duration::from_secs_f64(seconds)),
        ..CheckOptions::default()
    };
    let checked = load_and_check(text, "m.sts", &options, &Cancellation::new(), &NullObserver);
    assert!(checked.view.internal_errors.is_empty(), "{:?}\n{text}", checked.view.internal_errors);
    let Some((system, report)) = checked.systems.first() else { return Vec::new() };
    let size_of = |run: &Run| {
        let size = system.sizes().first()?;
        match &run.first.values[size.var.index()] {
            Value::Int(n) => i64::try_from(n).ok(),
            _ => None,
        }
    };
    let answer = |o: &Outcome| match &o.verdict {
        Verdict::Holds(_) => Some(Ok(())),
        Verdict::Fails(Evidence::Run(run)) => Some(Err(size_of(run))),
        Verdict::Fails(_) => Some(Err(None)),
        Verdict::Unknown { .. } => None,
    };
    let name = |o: &Outcome| system.claims()[o.claim.index()].name.clone();
    report.outcomes.iter().map(|o| (name(o), answer(o))).collect()
}

/// What is decided for every size agrees with explicit search for the sizes 1 to 3, with all
/// engines and with indexed invariants alone.
#[test]
fn verdicts_for_every_size_agree_with_those_of_small_sizes() {
    let (mut proofs, mut runs) = (0, 0);
    for seed in 0..Tier::amount(6, 120) {
        let text = any_size_text(seed);
        let asked = [0, 4].map(|more| format!("c{}", (seed + more) % 9));
        let open = text.replace("const N: int\n", "const N: int 1..\n");
        let fixed: Vec<_> =
            (1..=3).map(|n| (n, verdicts(&text, &asked, &["explicit"], Some(n), 10.0))).collect();
        for engines in [&[][..], &["indexed"]] {
            for (claim, answer) in verdicts(&open, &asked, engines, None, 3.0) {
                let Some(answer) = answer else { continue };
                let of_size = |n: i64| {
                    let (_, all) = fixed.iter().find(|(m, _)| *m == n)?;
                    all.iter().find(|(name, _)| *name == claim).and_then(|(_, a)| *a)
                };
                match answer {
                    Ok(()) => {
                        let failing = (1..=3).find(|&n| matches!(of_size(n), Some(Err(_))));
                        assert_eq!(failing, None, "seed {seed}, {claim}, {engines:?}\n{open}");
                        proofs += 1;
                    }
                    Err(size) => {
                        let held = size.and_then(of_size) == Some(Ok(()));
                        assert!(!held, "seed {seed}, {claim}, {engines:?}, {size:?}\n{open}");
                        runs += 1;
                    }
                }
            }
        }
    }
    assert!(runs > 0, "{proofs} proofs, {runs} runs");
    assert!(proofs > 0 || Tier::current() != Tier::Full, "{proofs} proofs, {runs} runs");
}

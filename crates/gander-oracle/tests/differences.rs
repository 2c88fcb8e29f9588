//! The comparison finds faults and shows each on a small system.

use std::sync::Arc;

use gander_oracle::{
    Comparison, Decider, Decision, Effort, Lengths, Limits, Settings, compare, decide, describe,
    generate, shrink,
};
use gander_system::{ClaimKind, System};

/// The oracle with an injected fault.
struct Faulty(fn(&ClaimKind, Decision) -> Option<Decision>);

impl Decider for Faulty {
    fn decide(&mut self, system: &Arc<System>) -> Vec<Option<Decision>> {
        let answers = decide(system, Limits::default()).unwrap();
        let decide_one =
            |(claim, answer): (&gander_system::Claim, Result<gander_oracle::Answer, _>)| {
                let answer = answer.ok()?;
                (self.0)(&claim.kind, (answer.holds, answer.length))
            };
        system.claims().iter().zip(answers).map(decide_one).collect()
    }
}

fn small() -> Comparison {
    Comparison { settings: Settings::few_states(), ..Comparison::default() }
}

#[test]
fn the_oracle_agrees_with_itself() {
    let report = compare(0..100, &mut Faulty(|_, d| Some(d)), small());
    assert!(report.disagreements.is_empty(), "{report}");
    assert_eq!(report.systems, 100);
    assert!(report.by_kind.values().all(|t| t.open_holds + t.open_fails == 0));
    let decided: u64 = report.by_kind.values().map(|t| t.holds + t.fails).sum();
    assert_eq!(decided, report.claims);
}

#[test]
fn open_claims_are_counted() {
    let fault = |kind: &ClaimKind, d: Decision| {
        if matches!(kind, ClaimKind::Always(_)) { None } else { Some(d) }
    };
    let report = compare(0..50, &mut Faulty(fault), small());
    assert!(report.disagreements.is_empty());
    let always = report.by_kind["always"];
    assert!(always.open_holds > 0 && always.open_fails > 0 && always.holds + always.fails == 0);
}

#[test]
fn a_wrong_verdict_is_found_and_shrunk() {
    let fault = |kind: &ClaimKind, d: Decision| match kind {
        ClaimKind::NoDeadlock if d.1.is_some_and(|n| n >= 3) => Some((true, None)),
        _ => Some(d),
    };
    let report =
        compare(0..400, &mut Faulty(fault), Comparison { most_disagreements: 3, ..small() });
    assert_eq!(report.disagreements.len(), 3);
    for d in &report.disagreements {
        assert_eq!(d.found, Some((true, None)));
        assert!(!d.expected.holds);
        assert_eq!(d.shrunk.claims().len(), 1, "{d}");
        // Three steps to a deadlock need a counter or a few nodes, and only this claim.
        assert!(d.shrunk.vars().len() <= 1 && d.shrunk.transitions().len() <= 4, "{d}");
        assert!(d.shrunk.fairness().is_empty() && d.shrunk.assumptions().len() <= 1, "{d}");
        assert!(d.to_string().contains(&format!("seed {}", d.seed)));
        assert!(d.to_string().contains("no deadlock"));
    }
}

#[test]
fn run_lengths_are_checked_against_the_guarantee() {
    let longer = |_: &ClaimKind, (holds, n): Decision| Some((holds, n.map(|n| n + 1)));
    let shorter =
        |_: &ClaimKind, (holds, n): Decision| Some((holds, n.map(|n| n.saturating_sub(1))));
    let any = Comparison { lengths: Lengths::Any, effort: Effort { trials: 20 }, ..small() };
    let shortest = Comparison { lengths: Lengths::Shortest, ..any };
    assert!(compare(0..20, &mut Faulty(longer), any).disagreements.is_empty());
    assert!(!compare(0..20, &mut Faulty(longer), shortest).disagreements.is_empty());
    assert!(!compare(0..20, &mut Faulty(shorter), any).disagreements.is_empty());
}

#[test]
fn too_few_answers_are_a_disagreement() {
    struct Silent;
    impl Decider for Silent {
        fn decide(&mut self, _: &Arc<System>) -> Vec<Option<Decision>> {
            Vec::new()
        }
    }
    let report = compare(0..1, &mut Silent, Comparison { most_disagreements: 1, ..small() });
    assert_eq!(report.disagreements.len(), 1);
}

#[test]
fn a_rebuilt_system_has_the_same_answers() {
    // Removing all other claims does not change the answer to a claim.
    for seed in 0..60 {
        let made = generate(seed);
        for (claim, answer) in made.system.claims().iter().zip(&made.answers).take(3) {
            let mut seen = 0;
            shrink(&made.system, Effort { trials: made.system.claims().len() }, &mut |s| {
                if let [only] = s.claims()
                    && only.name == claim.name
                {
                    seen += 1;
                    let again = decide(s, Limits::default()).unwrap();
                    assert_eq!(
                        again,
                        [Ok(*answer)],
                        "seed {seed}, {}\n{}",
                        claim.name,
                        describe(s)
                    );
                }
                false
            });
            assert_eq!(seen, 1, "seed {seed}");
        }
    }
}

#[test]
fn descriptions_name_everything() {
    let made = generate(3);
    let text = describe(&made.system);
    for v in made.system.vars() {
        assert!(text.contains(&v.name), "{text}");
    }
    for t in made.system.transitions() {
        assert!(text.contains(&format!("transition {}", t.name)), "{text}");
    }
    for c in made.system.claims() {
        assert!(text.contains(&format!("claim {}:", c.name)), "{text}");
    }
}

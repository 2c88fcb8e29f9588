//! Statistics of the generated systems.

use std::collections::BTreeMap;

use gander_oracle::{Settings, generate, generate_with};
use gander_system::{ClaimKind, Effect, FairnessKind, Goal, Role, System};
use gander_term::{BvOp, Op, Sort, TermId};

/// Counts over many systems.
#[derive(Default, Debug)]
struct Mix {
    systems: usize,
    states: usize,
    claims: usize,
    hold: usize,
    fail: usize,
    failing_runs: usize,
    long_failing_runs: usize,
    holding_runs: usize,
    long_holding_runs: usize,
    by_kind: BTreeMap<&'static str, (usize, usize)>,
}

fn measure(count: u64, settings: Settings) -> Mix {
    let mut mix = Mix::default();
    for seed in 0..count {
        let made = generate_with(seed, settings);
        mix.systems += 1;
        mix.states += made.states;
        for (claim, answer) in made.system.claims().iter().zip(&made.answers) {
            mix.claims += 1;
            let entry = mix.by_kind.entry(claim.kind.word()).or_default();
            let long = usize::from(answer.length.is_some_and(|n| n >= 4));
            let run = usize::from(answer.length.is_some());
            if answer.holds {
                mix.hold += 1;
                entry.0 += 1;
                if matches!(claim.kind, ClaimKind::Reachable(_)) {
                    mix.holding_runs += run;
                    mix.long_holding_runs += long;
                }
            } else {
                mix.fail += 1;
                entry.1 += 1;
                mix.failing_runs += run;
                mix.long_failing_runs += long;
            }
        }
    }
    mix
}

fn check(mix: &Mix) {
    assert!(mix.hold * 4 >= mix.claims, "at least a quarter of the claims hold: {mix:#?}");
    assert!(mix.fail * 4 >= mix.claims, "at least a quarter of the claims fail: {mix:#?}");
    assert!(
        mix.long_failing_runs * 5 >= mix.failing_runs,
        "a fifth of the failures by a run are long: {mix:#?}"
    );
    let (long, all) =
        (mix.long_failing_runs + mix.long_holding_runs, mix.failing_runs + mix.holding_runs);
    assert!(long * 5 >= all, "a fifth of all runs, reachable claims included, are long: {mix:#?}");
}

#[test]
fn two_thousand_systems_have_the_required_mix() {
    let mix = measure(2_000, Settings::default());
    check(&mix);

    for (kind, (hold, fail)) in &mix.by_kind {
        assert!(*hold >= 50 && *fail >= 50, "{kind} in both directions: {mix:#?}");
    }
    assert_eq!(mix.by_kind.len(), 14, "every kind of claim occurs: {mix:#?}");
    assert!(mix.claims >= 10 * mix.systems);
}

#[test]
fn small_systems_have_the_required_mix_too() {
    check(&measure(300, Settings::few_states()));
    for seed in 0..200 {
        assert!(generate_with(seed, Settings::few_states()).states <= 12);
    }
}

#[test]
fn a_seed_always_gives_the_same_system() {
    for seed in [0, 1, 17, u64::MAX] {
        let (a, b) = (generate(seed), generate(seed));
        assert_eq!(format!("{:?}", a.system), format!("{:?}", b.system));
        assert_eq!(a.answers, b.answers);
    }
}

/// Every formula and value of a system.
fn roots(system: &System) -> Vec<TermId> {
    let mut roots: Vec<TermId> = Vec::new();
    for t in system.transitions() {
        roots.extend(t.guard.iter().map(|g| g.term.term()));
        for e in &t.effect {
            match e {
                Effect::Assign { value, .. } => roots.push(value.term()),
                Effect::Constrain { relation, .. } => roots.push(relation.term()),
                Effect::Keep { .. } => {}
            }
        }
    }
    roots.extend(system.assumptions().iter().map(|a| a.term.term()));
    for c in system.claims() {
        match &c.kind {
            ClaimKind::Always(p) | ClaimKind::AlwaysPossible(p) | ClaimKind::ExistsAlways(p) => {
                roots.push(p.term())
            }
            _ => {}
        }
    }
    roots
}

#[test]
fn every_feature_occurs() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..800 {
        let made = generate(seed);
        let system = &made.system;
        let mut see = |what: &str| *seen.entry(what.to_string()).or_default() += 1;
        for t in system.pool().postorder(&roots(system)) {
            see(&match (system.pool().op(t), system.pool().args(t).len()) {
                (Op::Symbol(_) | Op::Bool(_) | Op::Const(_), _) => "leaf".to_string(),
                (op, n) => format!("{} with {n}", op.name()),
            });
        }
        for v in system.vars() {
            see(match v.sort {
                Sort::Bool => "bool",
                Sort::Int => "int",
                Sort::Real => "real",
                Sort::String => "string",
                Sort::Enum(_) => "enum",
                Sort::BitVec(_) => "bits",
                Sort::Array(_) => "array",
            });
            if v.role == Role::Input {
                see("input");
            }
        }
        for t in system.transitions() {
            see(if t.gate.is_some() { "gate" } else { "internal" });
            if t.effect.len() < system.vars().iter().filter(|v| v.role == Role::State).count() {
                see("any");
            }
            for p in &t.params {
                see(if p.range.is_some() { "ranged parameter" } else { "other parameter" });
            }
        }
        for f in system.fairness() {
            see(match f.kind {
                FairnessKind::Justice(_) => "justice",
                FairnessKind::Weak(_) => "weak",
                FairnessKind::Strong(_) => "strong",
            });
        }
        for c in system.claims() {
            match &c.kind {
                ClaimKind::Reachable(goals)
                    if goals.iter().any(|g| matches!(g, Goal::Step { .. })) =>
                {
                    see("step goal")
                }
                ClaimKind::Eventually { under, .. } if !under.is_empty() => see("eventually, fair"),
                _ => {}
            }
        }
        if !system.assumptions().is_empty() {
            see("assumption");
        }
        if system.nodes().iter().any(|n| n.is_final) {
            see("final node");
        }
        if system.nodes().len() == 5 {
            see("five nodes");
        }
        if made.answers.len() < 5 {
            see("few claims");
        }
    }
    let expected = [
        "not with 1",
        "and with 2",
        "and with 3",
        "or with 2",
        "or with 3",
        "-> with 2",
        "== with 2",
        "if with 3",
        "- with 1",
        "- with 2",
        "+ with 2",
        "+ with 3",
        "* with 2",
        "* with 3",
        "/ with 2",
        "div with 2",
        "mod with 2",
        "^ with 2",
        "abs with 1",
        "min with 2",
        "max with 2",
        "< with 2",
        "<= with 2",
        "> with 2",
        ">= with 2",
        "to_real with 1",
        "to_int with 1",
        "++ with 2",
        "++ with 3",
        "forall with 2",
        "exists with 2",
        "int_to_bv with 1",
        "extract with 1",
        "zero_extend with 1",
        "sign_extend with 1",
        "bits",
        "bool",
        "int",
        "real",
        "string",
        "enum",
        "input",
        "gate",
        "internal",
        "any",
        "ranged parameter",
        "other parameter",
        "justice",
        "weak",
        "strong",
        "step goal",
        "eventually, fair",
        "assumption",
        "final node",
        "five nodes",
    ];
    let bits: Vec<String> = BvOp::plain()
        .map(|op| format!("{} with {}", op.name(), if op.is_unary() { 1 } else { 2 }))
        .collect();
    for what in expected.into_iter().chain(bits.iter().map(String::as_str)) {
        assert!(seen.get(what).is_some_and(|&n| n >= 3), "`{what}` occurs: {seen:#?}");
    }
}

#[test]
fn linear_systems_are_linear() {
    for seed in 0..200 {
        let made = generate_with(seed, Settings::few_states().linear());
        for t in roots(&made.system) {
            let shown = made.system.pool().display(t).to_string();
            assert!(made.system.pool().features(&[t]).is_linear(), "seed {seed}: {shown}");
        }
    }
}

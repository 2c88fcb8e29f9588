//! Random systems with every kind of claim and every feature, written in each language that is also
//! read, read back, and decided by brute force: each claim in the text has the answer of the
//! source, and each other claim is listed.

#![allow(clippy::print_stdout, reason = "prints what is compared")]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use gander_export::{Format, Options, Selection, write};
use gander_lang::language_of;
use gander_oracle::{Limits, Reachable, Settings, generate_with};
use gander_system::{ClaimOrigin, FairnessKind, NodeId, Range, Role, StateVar, Structure, System};
use gander_term::{BvOp, IBig, Op, Pool, Sort, TermId, Value};
use support::{FORMATS, answers};

const LIMITS: Limits = Limits { states: 1_000, work: 300_000 };

/// Number of systems of each setting; `GANDER_EXPORT_SEEDS` overrides it.
const SEEDS: u64 = 4;

/// From this number of systems on, every claim and feature must occur.
const ENOUGH: u64 = 40;

/// The features of a system.
fn features(system: &System) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    let mut note = |is: bool, name: &'static str| {
        if is {
            found.insert(name);
        }
    };
    note(system.nodes().len() == 1, "one node");
    note(system.nodes().len() == 1 && system.nodes()[0].is_final, "one final node");
    note(system.nodes().len() > 1 && system.nodes().iter().any(|n| n.is_final), "final nodes");
    note(system.starts().len() > 1, "several starts");
    note(system.transitions().is_empty(), "no transition");
    for f in system.fairness() {
        note(matches!(f.kind, FairnessKind::Justice(_)), "justice");
        note(matches!(f.kind, FairnessKind::Weak(_)), "weak fairness");
        note(matches!(f.kind, FairnessKind::Strong(_)), "strong fairness");
    }
    note(!system.assumptions().is_empty(), "assumptions");
    note(system.vars().iter().any(|v| v.role == Role::Input), "inputs");
    note(system.claims().iter().any(|c| matches!(c.origin, ClaimOrigin::Range(_))), "ranges");
    note(system.transitions().iter().any(|t| !t.params.is_empty()), "parameters");
    for v in system.vars() {
        note(matches!(v.sort, Sort::Array(_)), "arrays");
        note(matches!(v.sort, Sort::BitVec(_)), "bit-vectors");
        note(v.sort == Sort::String, "strings");
        note(v.sort == Sort::Real, "reals");
        note(matches!(v.sort, Sort::Enum(_)), "enumerations");
        note(!v.name.bytes().all(|b| b.is_ascii_alphanumeric()), "odd names");
    }
    let mut pool = Pool::fork(system.pool());
    let mut roots: Vec<TermId> = system.assumptions().iter().map(|a| a.term.term()).collect();
    roots.extend(system.starts().iter().flat_map(|s| s.constraint.iter().map(|c| c.term.term())));
    for t in system.transition_ids() {
        roots.push(system.guard_term(&mut pool, t));
        roots.push(system.effect_term(&mut pool, t));
    }
    for t in pool.postorder(&roots) {
        let divisor = || pool.as_constant(pool.args(t)[1]);
        match pool.op(t) {
            Op::Forall | Op::Exists => note(true, "quantifiers"),
            Op::IntDiv | Op::Mod | Op::Div => match divisor() {
                None => note(true, "variable divisors"),
                Some(Value::Int(i)) => {
                    note(i < IBig::ZERO, "negative divisors");
                    note(i == IBig::ZERO, "zero divisors");
                }
                Some(_) => {}
            },
            Op::Bv(BvOp::Shl | BvOp::Lshr | BvOp::Ashr) => {
                note(divisor().is_some(), "shifts by constants");
                note(divisor().is_none(), "shifts by variables");
            }
            _ => {}
        }
    }
    found
}

/// Names that are reserved words, or not valid names, in some language.
const ODD: &[&str] = &[
    "next", "a b", "x'", "\u{e9}", "1st", "state", "|q|", "node", "in\ntwo", "-- c", "true", "pre",
    "x.y", "main",
];

/// The system with other names.
fn oddly_named(system: &System) -> System {
    let mut names = ODD
        .iter()
        .cycle()
        .enumerate()
        .map(|(i, n)| if i < ODD.len() { n.to_string() } else { format!("{n}{i}") });
    system.clone().renamed(|_| names.next().unwrap_or_default())
}

/// The system with the ranges that its variables have in all runs, so that they are certain.
fn bounded(system: &System) -> Option<System> {
    let reached = Reachable::explore(system, system.pool(), LIMITS).ok()?;
    if reached.states.is_empty() {
        return None;
    }
    let range = |i: usize, v: &StateVar| {
        let ints = || reached.states.iter().filter_map(|(_, values)| values[i].as_int());
        let (low, high) = (ints().min()?.clone(), ints().max()?.clone());
        (v.sort == Sort::Int && v.role == Role::State).then_some(Range { low, high })
    };
    Some(system.clone().with_ranges(range).with_structure(Structure::Undrawn))
}

/// Numbers of comparisons, by language and by kind of claim or feature.
#[derive(Default)]
struct Tally {
    compared: BTreeMap<(&'static str, String), usize>,
    undecided: usize,
    refused: BTreeMap<(&'static str, String), usize>,
}

/// The answers to the claims of a text, by name; `None` if it uses syntax that only nuXmv accepts.
fn read(text: &str, file: &str, what: &str) -> Option<BTreeMap<String, Option<bool>>> {
    let loaded = (language_of(file).expect("a known language").load)(text, file);
    let errors: Vec<String> =
        loaded.errors().map(|e| format!("{:?} {}", e.code, e.message)).collect();
    if file.ends_with(".smv") && errors.iter().any(|e| e.contains("`floor`")) {
        return None;
    }
    assert!(errors.is_empty(), "{what} as {file}: {errors:?}\n{text}");
    let systems: Vec<&System> = loaded.system.iter().chain(&loaded.others).collect();
    let mut found: BTreeMap<String, Option<bool>> =
        systems.iter().flat_map(|s| s.claims().iter().map(|c| (c.name.clone(), None))).collect();
    found.extend(systems.iter().flat_map(|s| answers(s, LIMITS)));
    Some(found)
}

fn compare(system: &System, what: &str, tally: &mut Tally) {
    let before = answers(system, LIMITS);
    if before.is_empty() {
        return;
    }
    for (format, file) in FORMATS {
        let written = match write(system, *format, Options::default(), Selection::All) {
            Ok(written) => written,
            Err(refusal) => {
                let reason = refusal.0.split('`').step_by(2).collect::<Vec<_>>().join("…");
                *tally.refused.entry((file, reason)).or_default() += 1;
                continue;
            }
        };
        let text = &written.text;
        let claims = written.names.claims();
        for (i, claim) in system.claims().iter().enumerate() {
            let listed = format!("left out: the claim `{}`", claim.name.replace(['\n', '\r'], " "));
            let is_there = claims.iter().any(|c| c.claim.index() == i);
            let structural = claim.origin == ClaimOrigin::Structural;
            assert!(
                is_there || structural || text.contains(&listed),
                "{what} as {file}: {} is dropped\n{text}",
                claim.name
            );
        }
        let Some(all) = read(text, file, what) else {
            *tally.refused.entry((file, "it is written, and not read".to_string())).or_default() +=
                1;
            continue;
        };
        for c in claims {
            let claim = &system.claims()[c.claim.index()];
            // Queries of Horn clauses have no names, so each is exported alone.
            let alone = (*format == Format::Horn).then(|| {
                let one = write(system, *format, Options::default(), Selection::Only(&[c.claim]))
                    .expect("as before");
                let found = read(&one.text, file, what).expect("as before");
                // A claim that is trivially true gives no query.
                found.get("safe").copied().unwrap_or(Some(true))
            });
            let again = alone.or_else(|| all.get(&c.name).copied());
            assert!(again.is_some(), "{what} as {file}: the claim {} is not read\n{text}", c.name);
            match (before.get(&claim.name).copied().flatten(), again.flatten()) {
                (Some(old), Some(new)) => {
                    assert_eq!(
                        old,
                        new != c.opposite,
                        "{what} as {file}, claim {}\n{text}",
                        claim.name
                    );
                    *tally.compared.entry((file, claim.kind.word().to_string())).or_default() += 1;
                    for feature in features(system) {
                        *tally.compared.entry((file, feature.to_string())).or_default() += 1;
                    }
                }
                _ => tally.undecided += 1,
            }
        }
    }
}

#[test]
fn every_claim_and_feature_comes_back_or_is_listed() {
    let settings = [
        Settings::few_states(),
        Settings::few_states().linear(),
        Settings::few_states().bit_vectors(),
        Settings::few_states().arrays(),
        Settings::few_states().definitions(),
        Settings::few_states().five_checks(),
        Settings::default(),
    ];
    let seeds =
        std::env::var("GANDER_EXPORT_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(SEEDS);
    let mut tally = Tally::default();
    for (k, settings) in settings.into_iter().enumerate() {
        for seed in 0..seeds {
            let made = generate_with(seed, settings);
            let what = format!("setting {k}, seed {seed}");
            compare(&made.system, &what, &mut tally);
            if let Some(bounded) = bounded(&made.system) {
                compare(&bounded, &format!("{what}, bounded"), &mut tally);
                compare(&oddly_named(&bounded), &format!("{what}, bounded, odd names"), &mut tally);
            }
            compare(&oddly_named(&made.system), &format!("{what}, odd names"), &mut tally);
            if made.system.nodes().len() == 1 {
                let ending = System::clone(&made.system).with_final(NodeId(0));
                compare(&ending, &format!("{what}, its node is final"), &mut tally);
            }
        }
    }
    for ((file, what), n) in &tally.compared {
        println!("{file}: {what}: {n} compared");
    }
    for ((file, why), n) in &tally.refused {
        println!("{file}: {n} refused: {why}");
    }
    println!("{} claims without an answer on both sides", tally.undecided);
    assert!(tally.compared.values().sum::<usize>() > 50, "little was compared");
    if seeds < ENOUGH {
        return;
    }
    let everywhere = [
        "always",
        "reachable",
        "one node",
        "one final node",
        "several starts",
        "assumptions",
        "inputs",
        "odd names",
    ];
    for (_, file) in FORMATS.iter().filter(|(f, _)| *f != Format::Script) {
        for what in everywhere {
            assert!(
                tally.compared.contains_key(&(*file, what.to_string())),
                "{file}: {what} does not occur"
            );
        }
    }
    for (file, what) in [
        ("again.sts", "no-deadlock"),
        ("again.sts", "infinite-run"),
        ("again.sts", "eventually"),
        ("again.sts", "always-eventually"),
        ("again.sts", "leads-to"),
        ("again.sts", "always-possible"),
        ("again.sts", "exists-always"),
        ("again.sts", "arrays"),
        ("again.sts", "strings"),
        ("again.sts", "variable divisors"),
        ("again.sts", "shifts by variables"),
        ("again.script", "always"),
        ("again.script", "no-deadlock"),
        ("again.smv", "eventually"),
        ("again.smv", "leads-to"),
        ("again.smv", "shifts by constants"),
        ("again.smv", "shifts by variables"),
        ("again.smv", "enumerations"),
        ("again.smv", "parameters"),
        ("again.vmt", "eventually"),
        ("again.vmt", "variable divisors"),
        ("again.vmt", "arrays"),
        ("again.vmt", "reals"),
        ("again.smt2", "variable divisors"),
        ("again.btor2", "bit-vectors"),
        ("again.btor2", "enumerations"),
        ("again.lus", "reals"),
        ("again.lus", "parameters"),
    ] {
        assert!(
            tally.compared.contains_key(&(file, what.to_string())),
            "{file}: {what} does not occur"
        );
    }
}

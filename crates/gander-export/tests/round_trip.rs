//! Exported systems, read back, have the same answers from the oracle.

#![allow(clippy::print_stdout, reason = "lists what is left out")]

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use gander_export::{Format, Options, Refusal, Selection, export, write};
use gander_lang::language_of;
use gander_oracle::{Limits, Settings, decide, generate_with};
use gander_system::{ClaimId, System};
use support::FORMATS;

/// The oracle's answers to the claims of a system, by name.
fn answers(system: &System) -> BTreeMap<String, bool> {
    let limits = Limits { states: 1_000, work: 1_000_000 };
    let Ok(all) = decide(system, limits) else { return BTreeMap::new() };
    system
        .claims()
        .iter()
        .zip(all)
        .filter_map(|(c, a)| Some((c.name.clone(), a.ok()?.holds)))
        .collect()
}

/// A claim in a text: its name there, the claim, whether the text has the negation.
type Written = (String, ClaimId, bool);

/// The text of a system and its claims in it.
fn written(system: &System, format: Format) -> Result<(String, Vec<Written>), Refusal> {
    let found = write(system, format, Options::default(), Selection::All)?;
    let claims = found.names.claims().iter().map(|c| (c.name.clone(), c.claim, c.opposite));
    let claims: Vec<Written> = claims.collect();
    Ok((found.text, claims))
}

/// Results for one language.
#[derive(Default, Debug)]
struct Tally {
    /// Number of claims with the same answer.
    compared: usize,
    /// Number of written claims that the oracle does not decide on both sides.
    undecided: usize,
    /// Numbers of systems that cannot be written or read back, by reason.
    refused: BTreeMap<String, usize>,
}

/// Writes and reads a system and compares the answers.
fn compare(system: &System, format: Format, file: &str, what: &str, tally: &mut Tally) {
    let (text, claims) = match written(system, format) {
        Ok(written) => written,
        Err(refusal) => {
            // Remove names of variables, so that equal reasons are counted together.
            let reason = refusal.0.split('`').step_by(2).collect::<Vec<_>>().join("…");
            *tally.refused.entry(reason).or_default() += 1;
            return;
        }
    };
    let language = language_of(file).expect("a known language");
    let loaded = (language.load)(&text, file);
    let errors: Vec<String> =
        loaded.errors().map(|e| format!("{:?} {}", e.code, e.message)).collect();
    if errors.iter().all(|e| e.starts_with("E0510")) && !errors.is_empty() {
        *tally.refused.entry("it is written, and not read".to_string()).or_default() += 1;
        return;
    }
    assert!(errors.is_empty(), "{what} as {file}: {errors:?}\n{text}");
    let before = answers(system);
    let after: BTreeMap<String, bool> =
        loaded.system.iter().chain(&loaded.others).flat_map(|s| answers(s).into_iter()).collect();
    // A file of Horn clauses with a single query has a single claim, `safe`.
    let lone = |name: &str| match (&claims[..], format) {
        ([_], Format::Horn) => after.get("safe").copied(),
        _ => after.get(name).copied(),
    };
    for (name, claim, opposite) in &claims {
        let original = &system.claims()[claim.index()].name;
        match (before.get(original), lone(name)) {
            (Some(old), Some(new)) => {
                tally.compared += 1;
                assert_eq!(*old, new != *opposite, "{what} as {file}, claim {original}\n{text}");
            }
            _ => tally.undecided += 1,
        }
    }
}

fn tallies() -> Vec<Tally> {
    FORMATS.iter().map(|_| Tally::default()).collect()
}

/// Prints what was compared, and what was omitted and why.
fn show(tallies: &[Tally]) {
    for ((_, file), tally) in FORMATS.iter().zip(tallies) {
        println!(
            "{file}: {} claims compared, {} not decided by the oracle",
            tally.compared, tally.undecided
        );
        for (reason, systems) in &tally.refused {
            println!("    {systems} systems left out: {reason}");
        }
    }
}

#[test]
fn random_systems_keep_their_answers() {
    let mut counts = tallies();
    let seeds = gander_oracle::Tier::amount(30, 150);
    for seed in 0..seeds {
        let made = generate_with(seed, Settings::default());
        for ((format, file), tally) in FORMATS.iter().zip(&mut counts) {
            compare(&made.system, *format, file, &format!("seed {seed}"), tally);
        }
    }
    show(&counts);
    let least = [(0, 100), (2, 30), (3, 30)];
    let enough = least.iter().all(|&(k, n)| counts[k].compared as u64 > n * seeds / 150);
    // The few systems of the quick tier may have nothing to compare in some languages.
    assert!(enough || seeds < 30, "{counts:?}");
}

/// All systems of the corpus. Systems that the oracle does not decide are compared by the engines,
/// in the tests of the command.
#[test]
fn systems_of_the_corpus_keep_their_answers() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut counts = tallies();
    let mut systems = 0;
    for language in ["sts", "script", "lustre", "smv", "vmt", "horn", "btor2", "mcmt"] {
        for folder in ["holds", "fails"] {
            let entries =
                std::fs::read_dir(corpus.join(language).join(folder)).expect("the corpus is there");
            for path in entries.flatten().map(|entry| entry.path()) {
                let text = std::fs::read_to_string(&path).expect("a model can be read");
                let name = path.to_string_lossy().into_owned();
                let Some(language) = language_of(&name) else { continue };
                let loaded = (language.load)(&text, &name);
                for system in loaded.system.iter().chain(&loaded.others) {
                    systems += 1;
                    for ((format, file), tally) in FORMATS.iter().zip(&mut counts) {
                        compare(system, *format, file, &name, tally);
                    }
                }
            }
        }
    }
    println!("{systems} systems");
    show(&counts);
    let least = [(0, 100), (1, 40), (2, 60), (3, 60), (4, 15), (5, 2), (6, 5)];
    assert!(systems > 180 && least.iter().all(|&(k, n)| counts[k].compared > n), "{counts:?}");
}

#[test]
fn every_format_is_deterministic_and_says_where_it_comes_from() {
    let text = "VARS: int x : 0..3; proc P = p; INIT: x = 0; PROGRAM: P SAFE: x < 9 REACH: P.y == 2
        PROCESS p: VARS: int y : 0..2; state A, B; INIT: y = 0; state = A; TRANS: A -> B { y = y + 1 }; B -> A { x = x + 1 };";
    let system = gander_lang::script::load(text, "m.script").system.expect("it loads");
    for (word, format) in Format::ALL {
        let first = export(&system, *format, Options { depth: 2, ..Options::default() })
            .unwrap_or_else(|e| panic!("{word}: {e}"));
        assert_eq!(
            first,
            export(&system, *format, Options { depth: 2, ..Options::default() })
                .expect("as before"),
            "{word}"
        );
        assert!(first.contains("P_y") && first.contains("`P.y`"), "{word}:\n{first}");
    }
}

#[test]
fn arrays_with_more_elements_than_can_be_read_are_refused() {
    let language = language_of("a.sts").expect("our own language");
    let written = |from: usize, to: usize| {
        (from..to).map(|i| format!("[{i} := {}]", i + 1)).collect::<String>()
    };
    for (many, fits) in [(200, true), (230, true), (300, false), (390, false)] {
        for base in ["array[int](0)", "b"] {
            let (low, high) = (written(0, 200), written(200, many));
            let text = format!(
                "spec A\nvar a: array[int] of int\ninput b: array[int] of int\ndefine low = {base}{low}\n\
                 define all = low{high}\nstart {{ a == all }}\nalways p: a[7] == 8\n"
            );
            let loaded = (language.load)(&text, "a.sts");
            let errors: Vec<&str> = loaded.errors().map(|e| e.message.as_str()).collect();
            assert!(errors.is_empty(), "{errors:?}");
            let system = loaded.system.expect("a system");
            match export(&system, Format::Sts, Options::default()) {
                Ok(text) => {
                    assert!(fits, "{many} {base}");
                    assert_eq!(
                        (language.load)(&text, "b.sts").errors().count(),
                        0,
                        "{many} {base}\n{text}"
                    );
                }
                Err(refusal) => assert!(
                    !fits && refusal.to_string().contains("array"),
                    "{many} {base}: {refusal}"
                ),
            }
        }
    }
}

/// Step goals and gates are written and read back, with parameters that transitions share.
#[test]
fn step_goals_and_gates_are_read_back() {
    let text = "\
spec Account
var b: int
var open: bool
start -> Open { b == 0, open }
node Open {
  deposit(n: int 1..5) when b < 9 { b := b + n }
  twice: deposit(n: int 1..5, m: int 1..2) when b < 9 { b := b + n * m }
  close -> Closed { open := false }
}
node Closed {
  deposit(n: int 1..5) when b < 3 { b := b + n }
  reopen -> Open when b > 6 { open := true }
}
reachable some: deposit
reachable large: deposit with n > 4 and b == 2
reachable two: deposit with m == 2
reachable later: deposit in Closed with n == 5 then reopen then b == 12
reachable one: twice with n == 1 then close
reachable never: deposit in Closed with b > 3
always low: b <= 18
";
    let language = language_of("a.sts").expect("our own language");
    let load = |text: &str| {
        let loaded = (language.load)(text, "a.sts");
        let errors: Vec<&str> = loaded.errors().map(|e| e.message.as_str()).collect();
        assert!(errors.is_empty(), "{errors:?}\n{text}");
        loaded.system.expect("a system")
    };
    let system = load(text);
    let once = export(&system, Format::Sts, Options::default()).expect("it can be written");
    assert!(!once.contains("left out"), "{once}");
    let again = load(&once);
    let (before, after) = (answers(&system), answers(&again));
    for name in ["some", "large", "two", "later", "one", "never", "low"] {
        let same = before.contains_key(name) && before.get(name) == after.get(name);
        assert!(same, "{name}: {before:?} {after:?}\n{once}");
    }
    assert!(before["later"] && !before["never"], "{before:?}");
    // Gates and the transitions of step goals are the same.
    let gates = |s: &System| -> Vec<(Option<String>, String)> {
        let gate = |g: gander_system::GateId| s.gates()[g.index()].clone();
        let of = |t: &gander_system::Transition| (t.gate.map(gate), t.name.replace('.', "_"));
        s.transitions().iter().map(of).collect()
    };
    assert_eq!(gates(&system), gates(&again), "{once}");
    let choices = |s: &System| -> Vec<Vec<usize>> {
        let goals = s.claims().iter().filter_map(|c| match &c.kind {
            gander_system::ClaimKind::Reachable(goals) => Some(goals),
            _ => None,
        });
        let step = |g: &gander_system::Goal| match g {
            gander_system::Goal::Step { choices, .. } => {
                choices.iter().map(|c| c.0.index()).collect()
            }
            gander_system::Goal::State(_) => Vec::new(),
        };
        goals.flatten().map(step).collect()
    };
    assert_eq!(choices(&system), choices(&again), "{once}");
}

/// An int without a range that gets one by default behaves as one with this range.
#[test]
fn a_default_range_means_what_a_declared_one_means() {
    let script = |range: &str| {
        format!(
            "VARS: int x{range}; nondet int a{range}; int y : 0..9; INIT: y = 0; TRANS: x = x + a; \
             ? x > 0 -> y, x = y + x, x - 1; SAFE: y < 7 REACH: y == 9 & x == 2 DEADLOCK: INF: \
             CHECK: A<> y > 0"
        )
    };
    let load = |text: &str| gander_lang::script::load(text, "m.script").system.expect("it loads");
    let declared = answers(&load(&script(" : -2..2")));
    assert_eq!(declared.len(), 5, "{declared:?}");
    let options = Options {
        default_range: Some(gander_export::DefaultRange { low: -2, high: 2 }),
        ..Options::default()
    };
    // The oracle decides few BTOR2 texts: every next value is an input there.
    for (format, file, least) in [(Format::Smv, "again.smv", 3), (Format::Btor2, "again.btor2", 0)]
    {
        let plain = load(&script(""));
        let written = write(&plain, format, options, Selection::All).expect("written");
        assert_eq!(written.assumptions.len(), 2, "{:?}", written.assumptions);
        assert!(written.assumptions.iter().all(|line| written.text.contains(line)));
        let language = language_of(file).expect("a known language");
        let again = (language.load)(&written.text, file).system.expect("it can be read");
        let found = answers(&again);
        let mut compared = 0;
        for claim in written.names.claims() {
            let original = &plain.claims()[claim.claim.index()].name;
            if let (Some(old), Some(new)) = (declared.get(original), found.get(&claim.name)) {
                assert_eq!(*old, *new != claim.opposite, "{file} {original}\n{}", written.text);
                compared += 1;
            }
        }
        assert!(compared >= least, "{file}: {compared}\n{}", written.text);
    }
}

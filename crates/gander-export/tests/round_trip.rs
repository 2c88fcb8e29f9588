//! Written, read again, asked the oracle: the same answers.

use std::collections::BTreeMap;
use std::path::Path;

use gander_export::{Format, Options, export};
use gander_lang::language_of;
use gander_oracle::{Limits, Settings, decide, generate_with};
use gander_system::{ClaimKind, System};

/// What the oracle says about the claims of a system, by name.
fn answers(system: &System) -> BTreeMap<String, bool> {
    let limits = Limits { states: 1_000, work: 1_000_000 };
    let Ok(all) = decide(system, limits) else { return BTreeMap::new() };
    system.claims.iter().zip(all).filter_map(|(c, a)| Some((c.name.clone(), a.ok()?.holds))).collect()
}

fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect()
}

/// Writes and reads a system and compares the answers; how many were compared.
fn compare(system: &System, format: Format, file: &str, what: &str) -> usize {
    let text = match export(system, format, Options::default()) {
        Ok(text) => text,
        Err(_) => return 0,
    };
    let language = language_of(file).expect("a known language");
    let loaded = (language.load)(&text, file);
    let errors: Vec<String> = loaded.errors().map(|e| format!("{:?} {}", e.code, e.message)).collect();
    if errors.iter().all(|e| e.starts_with("E0510")) && !errors.is_empty() {
        return 0;
    }
    assert!(errors.is_empty(), "{what} as {file}: {errors:?}\n{text}");
    let (before, mut compared) = (answers(system), 0);
    let after: BTreeMap<String, bool> =
        loaded.system.iter().chain(&loaded.others).flat_map(|s| answers(s).into_iter()).collect();
    for claim in &system.claims {
        let opposite = matches!(claim.kind, ClaimKind::Reachable(_)) && !matches!(format, Format::Sts | Format::Script);
        if let (Some(old), Some(new)) = (before.get(&claim.name), after.get(&plain(&claim.name))) {
            compared += 1;
            assert_eq!(*old, *new != opposite, "{what} as {file}, claim {}\n{text}", claim.name);
        }
    }
    if format == Format::Horn
        && let Some(safe) = after.get("safe")
    {
        // A single query; its claim is the only one that could be written.
        compared += 1;
        let written = system.claims.iter().filter(|c| match &c.kind {
            ClaimKind::Always(_) => true,
            ClaimKind::Reachable(goals) => goals.len() == 1,
            _ => false,
        });
        let holds = written.filter_map(|c| {
            let answer = before.get(&c.name)?;
            Some(*answer != matches!(c.kind, ClaimKind::Reachable(_)))
        });
        let holds: Vec<bool> = holds.collect();
        if holds.len() == 1 {
            assert_eq!(holds[0], *safe, "{what} as {file}\n{text}");
        }
    }
    compared
}

const FORMATS: &[(Format, &str)] = &[
    (Format::Sts, "again.sts"),
    (Format::Script, "again.script"),
    (Format::Smv, "again.smv"),
    (Format::Vmt, "again.vmt"),
    (Format::Horn, "again.smt2"),
    (Format::Btor2, "again.btor2"),
    (Format::Lustre, "again.lus"),
];

#[test]
fn random_systems_come_back() {
    let mut counts = vec![0; FORMATS.len()];
    for seed in 0..150 {
        let made = generate_with(seed, Settings::default());
        for (k, (format, file)) in FORMATS.iter().enumerate() {
            counts[k] += compare(&made.system, *format, file, &format!("seed {seed}"));
        }
    }
    assert!(counts[0] > 100 && counts[2] > 30 && counts[3] > 30, "{counts:?}");
}

#[test]
fn the_corpus_comes_back() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut counts = vec![0; FORMATS.len()];
    for folder in ["sts/holds", "sts/fails", "script/holds", "script/fails"] {
        for entry in std::fs::read_dir(corpus.join(folder)).expect("the corpus is there").flatten() {
            let path = entry.path();
            let text = std::fs::read_to_string(&path).expect("a model can be read");
            let name = path.to_string_lossy().into_owned();
            let Some(language) = language_of(&name) else { continue };
            if text.len() > 4_000 {
                // Long ones add time and nothing else.
                continue;
            }
            let Some(system) = (language.load)(&text, &name).system else { continue };
            if system.vars.iter().any(|v| v.sort == gander_term::Sort::String) {
                // The oracle follows strings as long as they grow.
                continue;
            }
            for (k, (format, file)) in FORMATS.iter().enumerate() {
                counts[k] += compare(&system, *format, file, &name);
            }
        }
    }
    assert!(counts[0] > 20 && counts[1] > 10 && counts[3] > 10, "{counts:?}");
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
            export(&system, *format, Options { depth: 2, ..Options::default() }).expect("as before"),
            "{word}"
        );
        assert!(first.contains("P_y") && first.contains("`P.y`"), "{word}:\n{first}");
    }
}

#[test]
fn arrays_with_more_elements_than_can_be_read_are_refused() {
    let language = language_of("a.sts").expect("our own language");
    let written = |from: usize, to: usize| (from..to).map(|i| format!("[{i} := {}]", i + 1)).collect::<String>();
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
                    assert_eq!((language.load)(&text, "b.sts").errors().count(), 0, "{many} {base}\n{text}");
                }
                Err(refusal) => assert!(!fits && refusal.to_string().contains("array"), "{many} {base}: {refusal}"),
            }
        }
    }
}

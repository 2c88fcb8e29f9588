//! The corpus of other tools' languages against brute force: folders name the expected answers.

use std::path::Path;

use gander_lang::language_of;
use gander_oracle::{Limits, decide};

/// Numbers of claims of a folder that hold and that fail; models that the oracle refuses are not
/// counted.
fn folder(language: &str, name: &str) -> (usize, usize, usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").join(language).join(name);
    let (mut files, mut holds, mut fails) = (0, 0, 0);
    for entry in std::fs::read_dir(&path).expect("the folder is there").flatten() {
        let file = entry.path().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(entry.path()).expect("a model can be read");
        let loaded = (language_of(&file).expect("a known language").load)(&text, &file);
        files += 1;
        if name == "error" {
            assert!(loaded.system.is_none() && loaded.errors().count() > 0, "{file}");
            continue;
        }
        let errors: Vec<String> =
            loaded.errors().map(|e| format!("{:?} {}", e.code, e.message)).collect();
        assert!(errors.is_empty(), "{file}: {errors:?}");
        let system = loaded.system.expect("a system without errors");
        let Ok(answers) = decide(&system, Limits::default()) else { continue };
        for (claim, answer) in
            system.claims().iter().zip(answers).filter_map(|(c, a)| Some((c, a.ok()?)))
        {
            let expected = !text.contains(&format!("expect {}: fails", claim.name));
            assert_eq!(answer.holds, expected, "{file}: {}", claim.name);
            if answer.holds {
                holds += 1;
            } else {
                fails += 1;
            }
        }
    }
    (files, holds, fails)
}

#[test]
fn the_corpus_of_other_languages_has_the_expected_answers() {
    let mut decided = 0;
    for language in ["vmt", "horn", "btor2", "mcmt", "smv"] {
        for name in ["holds", "fails", "error"] {
            let (files, holds, fails) = folder(language, name);
            assert!(files > 0, "{language}/{name} is empty");
            decided += holds + fails;
        }
    }
    assert!(decided >= 8, "the oracle decided only {decided} claims");
}

/// Deep terms, garbage and truncated texts never cause a panic, and always an error.
#[test]
fn malformed_texts_give_errors_and_never_panic() {
    let deep = 20_000;
    let lets = "(let ((a (not x)))".repeat(deep) + "a" + &")".repeat(deep);
    let mut texts = vec![
        (
            "d.vmt",
            format!("(declare-fun x () Bool)(define-fun p () Bool (! {lets} :invar-property 0))"),
        ),
        ("d.vmt", "(".repeat(100_000)),
        ("d.smt2", format!("(set-logic HORN)(assert {}", "(and ".repeat(50_000))),
        ("d.smv", format!("MODULE main VAR x : boolean; INIT {}x;", "!".repeat(50_000))),
        ("d.smv", format!("MODULE main VAR x : boolean; INIT {}", "(".repeat(50_000))),
        ("d.btor2", "1 sort bitvec 0".to_string()),
        ("d.btor2", "1 sort bitvec 8\n2 slice 1 3 9 0\n".to_string()),
        ("d.mcmt", "(define-transition-system T a b c)".to_string()),
    ];
    for (language, name) in [
        ("vmt", "counter.vmt"),
        ("horn", "two_loops.smt2"),
        ("btor2", "counter.btor2"),
        ("smv", "modules.smv"),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../corpus")
            .join(language)
            .join("holds")
            .join(name);
        let text = std::fs::read_to_string(path).expect("a model can be read");
        texts.extend(
            (0..text.len()).step_by(5).filter_map(|end| Some((name, text.get(..end)?.to_string()))),
        );
    }
    for (name, text) in texts {
        let loaded = (language_of(name).expect("a known language").load)(&text, name);
        assert!(
            loaded.system.is_some() || loaded.errors().count() > 0,
            "{name}: {}",
            &text[..text.len().min(200)]
        );
    }
}

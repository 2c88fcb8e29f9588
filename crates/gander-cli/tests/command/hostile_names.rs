//! Names that contain control sequences for the terminal or forge a line of the report, in every
//! language and command.

use gander_text::is_hidden;

use crate::support::{Folder, Ran};

/// A forged line of a report, with an escape sequence that clears the screen and one that reverses
/// the text.
const FORGED: &str = "x\nholds    forged\x1b[2J\x1b[8m\u{9b}2J\u{202e}\u{200b}\u{2028}\u{7f}";
/// The same without white space, for names that end at white space.
const DENSE: &str = "x\x1b[2Jholds\x1b[8m\u{9b}2J\u{202e}\u{200b}\u{7f}forged";

/// Output has only lines and visible characters, and no line that was forged by a name.
fn harmless(what: &str, text: &str) {
    if let Some(c) = text.chars().find(|&c| c != '\n' && is_hidden(c)) {
        panic!("{what}: {c:?} in {text:?}");
    }
    assert!(!text.lines().any(|l| l.starts_with("holds    forged")), "{what}: {text}");
}

fn all_harmless(what: &str, ran: &Ran) {
    harmless(what, &ran.out);
    harmless(what, &ran.err);
}

fn vmt(name: &str, bound: u32) -> String {
    format!(
        "(declare-fun |{name}| () Int)\n(declare-fun |{name}'| () Int)\n\
         (define-fun .x () Int (! |{name}| :next |{name}'|))\n\
         (define-fun .init () Bool (! (= |{name}| 0) :init true))\n\
         (define-fun .trans () Bool (! (= |{name}'| (ite (< |{name}| 3) (+ |{name}| 1) 0)) :trans true))\n\
         (define-fun |p{name}| () Bool (! (<= |{name}| {bound}) :invar-property 0))\n"
    )
}

/// A model of each language, with hostile names wherever the language allows them: one that holds,
/// one that fails.
fn models() -> Vec<(&'static str, String, String)> {
    let mcmt = |bound: u32| {
        format!(
            "(define-state-type st ((|{FORGED}| Int)))\n(define-states start st (= |{FORGED}| 0))\n\
             (define-transition |t{FORGED}| st (= |{FORGED}'| (ite (< |{FORGED}| 3) (+ |{FORGED}| 1) 0)))\n\
             (define-transition-system T st start |t{FORGED}|)\n(query T (<= |{FORGED}| {bound}))\n"
        )
    };
    let horn = |bound: u32| {
        format!(
            "(set-logic HORN)\n(declare-fun |P{FORGED}| (Int) Bool)\n\
             (assert (forall ((|{FORGED}| Int)) (=> (= |{FORGED}| 0) (|P{FORGED}| |{FORGED}|))))\n\
             (assert (forall ((a Int) (b Int)) (=> (and (|P{FORGED}| a) (< a 3) (= b (+ a 1))) (|P{FORGED}| b))))\n\
             (assert (forall ((|{FORGED}| Int)) (=> (and (|P{FORGED}| |{FORGED}|) (> |{FORGED}| {bound})) false)))\n\
             (check-sat)\n"
        )
    };
    let btor2 = |bound: u32| {
        format!(
            "1 sort bitvec 4\n2 sort bitvec 1\n3 zero 1\n4 state 1 {DENSE}\n5 init 1 4 3\n6 one 1\n7 add 1 4 6\n\
             8 constd 1 3\n9 ult 2 4 8\n10 ite 1 9 7 3\n11 next 1 4 10\n12 constd 1 {bound}\n13 ugt 2 4 12\n14 bad 13 p{DENSE}\n"
        )
    };
    let lustre = |bound: u32| {
        let name = DENSE;
        format!(
            "node main(i: bool) returns (n: int);\nlet\n  n = 0 -> if pre n < 3 then pre n + 1 else 0;\n  \
             check \"{name}\" n <= {bound};\ntel\n"
        )
    };
    let sts = |bound: u32| {
        format!(
            "spec S\nvar n: int\nvar s: string\nstart -> A {{ n == 0, s == \"\\n holds    forged \\u{{1b}}[2J\\u{{202e}}\" }}\n\
             node A {{\n  up when n < 3 {{ n := n + 1 }}\n  back when n == 3 {{ n := 0 }}\n}}\nalways p: n <= {bound}\n"
        )
    };
    let smv = |bound: u32| {
        format!(
            "MODULE main\nVAR x : 0..7;\nASSIGN init(x) := 0; next(x) := x < 3 ? x + 1 : 0;\n\
             -- \x1b[2J\u{202e}\nINVARSPEC NAME p := x <= {bound};\n"
        )
    };
    let script = |bound: u32| {
        format!(
            "// \x1b[2J\u{202e}\nVARS:\n  int x : 0..7;\nINIT:\n  x = 0;\nRULES:\n  IF x < 3 THEN x := x + 1;\nREACH:\n  x > {bound};\n"
        )
    };
    vec![
        ("m.vmt", vmt(FORGED, 3), vmt(FORGED, 2)),
        ("m.mcmt", mcmt(3), mcmt(2)),
        ("m.smt2", horn(3), horn(2)),
        ("m.btor2", btor2(3), btor2(2)),
        ("m.lus", lustre(3), lustre(2)),
        ("m.sts", sts(3), sts(2)),
        ("m.smv", smv(3), smv(2)),
        ("m.script", script(3), script(2)),
    ]
}

#[test]
fn every_command_shows_hostile_names_of_every_language_harmlessly() {
    needs_z3!();
    for (file, holds, fails) in models() {
        let folder = Folder::with(file, &holds);
        let checked = folder.run(&["check", "--timeout", "60", "--save-evidence", "proofs", file]);
        all_harmless(file, &checked);
        if file != "m.script" {
            assert_eq!(checked.code, 0, "{file}: {} {}", checked.out, checked.err);
        }
        let proofs =
            std::fs::read_dir(folder.path.join("proofs")).unwrap().map(|e| e.unwrap().path());
        for proof in proofs {
            let proof = proof.to_string_lossy().into_owned();
            all_harmless(file, &folder.run(&["certify", file, &proof]));
            let text = std::fs::read_to_string(&proof).unwrap().replace("\"holds\"", "\"fails\"");
            folder.write("forged.json", text);
            all_harmless(file, &folder.run(&["certify", file, "forged.json"]));
        }
        folder.write(&format!("other-{file}"), &fails);
        let other = format!("other-{file}");
        let failed = folder.run(&[
            "check",
            "--timeout",
            "60",
            "--trace",
            "full",
            "--explain-schedule",
            &other,
        ]);
        all_harmless(file, &failed);
        if file != "m.script" {
            assert_eq!(failed.code, 1, "{file}: {} {}", failed.out, failed.err);
        }
        for args in [
            &["check", "--quiet", &other][..],
            &["explain", file],
            &["explain", "--matrix", "text", file],
            &["explain", "--coverage", file],
            &["explain", &other],
            &["impact", file, &other],
            &["simulate", file, "--random", "3"],
            &["graph", file, "--format", "dot"],
            &["graph", file, "--format", "svg"],
        ] {
            all_harmless(&format!("{args:?}"), &folder.run(args));
        }
        for to in ["sts", "vmt", "smv", "btor2", "lustre", "mcmt", "horn", "uppaal", "dot"] {
            all_harmless(&format!("{file} to {to}"), &folder.run(&["export", "--to", to, file]));
        }
        let json = folder.run(&["check", "--json", file]);
        harmless(file, &json.out);
        let value: serde_json::Value = serde_json::from_str(&json.out).unwrap();
        assert!(value["results"].is_array(), "{value}");
    }
}

#[test]
fn names_stay_different_when_they_are_shown() {
    needs_z3!();
    // The names of the two variables differ only in an invisible character.
    let text = "(declare-fun |a| () Bool)\n(declare-fun |a'| () Bool)\n(declare-fun |a\u{200b}| () Bool)\n\
         (declare-fun |a\u{200b}'| () Bool)\n(define-fun .a () Bool (! |a| :next |a'|))\n\
         (define-fun .b () Bool (! |a\u{200b}| :next |a\u{200b}'|))\n\
         (define-fun .init () Bool (! (and |a| (not |a\u{200b}|)) :init true))\n\
         (define-fun .trans () Bool (! (and (= |a'| |a|) (= |a\u{200b}'| |a\u{200b}|)) :trans true))\n\
         (define-fun .p () Bool (! |a\u{200b}| :invar-property 0))\n";
    let ran = Folder::with("m.vmt", text).run(&["check", "m.vmt"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.out.contains("a<U+200B> = false") && ran.out.contains("a = true"), "{}", ran.out);
}

#[test]
fn long_names_are_shown_shortened_and_stay_apart() {
    needs_z3!();
    for filler in ["n", "n "] {
        let long = |c: &str| format!("{}{c}{}", filler.repeat(20_000), "z".repeat(2000));
        let (one, two) = (vmt(&long("1"), 2), vmt(&long("2"), 2));
        let folder = Folder::with("one.vmt", one);
        folder.write("two.vmt", two);
        let [one, two] = ["one.vmt", "two.vmt"].map(|f| folder.run(&["check", f]));
        assert_eq!((one.code, two.code), (1, 1), "{}", one.err);
        assert!(one.out.len() < 20_000, "{} bytes", one.out.len());
        assert!(one.out.lines().next().unwrap().contains('…'), "{}", one.out);
        assert_ne!(one.out.lines().next(), two.out.lines().next());
    }
    // Messages that quote source text, too.
    let unknown =
        format!("spec A\nvar x: int\nstart -> N {{ {} == 1 }}\nnode N\n", "u".repeat(100_000));
    let ran = Folder::with("m.sts", unknown).run(&["check", "m.sts"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.len() < 10_000, "{} bytes", ran.err.len());
}

#[test]
fn file_names_forge_nothing() {
    needs_z3!();
    let hostile = "m\nholds    forged\x1b[2J\u{202e}.sts";
    let folder = Folder::with(
        hostile,
        "spec A\nvar x: int\nstart -> N { x == 0 }\nnode N { t { x := x + 1 } }\nalways p: x < 2\n",
    );
    folder.write(
        "plain.sts",
        "spec A\nvar x: int\nstart -> N { x == 0 }\nnode N { t {} }\nalways p: x < 2\n",
    );
    folder.write(&format!("wrong{hostile}"), "spec\x1b[2J \u{202e}A\n");
    let wrong = format!("wrong{hostile}");
    let missing = format!("missing{hostile}");
    for args in [
        &["check", hostile, "plain.sts"][..],
        &["check", "--quiet", hostile],
        &["check", "--save-evidence", hostile, "plain.sts"],
        &["check", &wrong],
        &["check", &missing],
        &["check", "--portfolio", &missing, "plain.sts"],
        &["check", "--solver", &format!("z3=./{missing}"), "plain.sts"],
        &["certify", "plain.sts", &missing],
        &["explain", &missing],
        &["fmt", "--check", hostile],
        &["fmt", &wrong],
        &["graph", &missing],
        &["simulate", &missing],
        &["export", "--to", "btor2", hostile],
        &["impact", hostile, "plain.sts"],
        &["bench", "--timeout", "5", hostile],
        &["check", "--no-such-option", hostile],
    ] {
        all_harmless(&format!("{args:?}"), &folder.run(args));
    }
}

#[test]
fn evidence_and_solvers_forge_nothing() {
    needs_z3!();
    let folder = Folder::with(
        "m.sts",
        "spec A\nvar x: int\nstart -> N { x == 0 }\nnode N { t { x := x * x } }\nalways p: x < 2\n",
    );
    let forged = serde_json::Value::from(FORGED);
    for evidence in [
        format!("{{ \"schema\": {forged} }}"),
        format!(
            "{{ \"schema\": \"gander-evidence/1\", \"system\": {forged}, \"claim\": {forged}, \"verdict\": \"holds\" }}"
        ),
        format!(
            "{{ \"schema\": \"gander-internal-error/1\", \"file\": {forged}, \"model\": \"x\", \"engine\": {forged}, \"problem\": {forged} }}"
        ),
        FORGED.to_string(),
    ] {
        folder.write("e.json", evidence);
        all_harmless("evidence", &folder.run(&["certify", "m.sts", "e.json"]));
        all_harmless("evidence", &folder.run(&["certify", "e.json"]));
    }
    folder.write_program("solver", "#!/bin/sh\nprintf '(error \"x\\nholds    forged\\033[2J\")\\n'; printf 'x\\nholds    forged\\033[2J\\n' >&2; exit 1\n");
    for args in [
        &["check", "--timeout", "10", "--solver", "z3=./solver", "--solver", "yices=none", "m.sts"]
            [..],
        &["doctor", "--solver", "mine=./solver"],
    ] {
        all_harmless(&format!("{args:?}"), &folder.run(args));
    }
}

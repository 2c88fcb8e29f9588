//! Input that asks nothing, and systems without a run: neither looks like success, in any language.

use super::support::Folder;

/// In each language: a system without a run, and the name of its property.
const WITHOUT_A_RUN: &[(&str, &str, &str)] = &[
    (
        "m.sts",
        "spec S var x: int start { x > 1, x < 0 } step s { x := x + 1 } always p: x == 7",
        "p",
    ),
    // No state of several starts, and an assumption that excludes every start.
    (
        "several.sts",
        "spec S var x: int start a -> N { x > 1, x < 0 } start b -> N { x == 5, x == 6 } node N { s { x := x + 1 } }\n\
         always p: x == 7",
        "p",
    ),
    (
        "assumed.sts",
        "spec S var x: int start { x == 0 } step s { x := x + 1 } assume big: x > 5 always p: x == 7",
        "p",
    ),
    (
        "m.lus",
        "node main (x : int) returns (y : int);\nlet\n  y = x;\n  assert x > 1;\n  assert x < 0;\n  --%PROPERTY y = 7;\n  --%MAIN;\ntel;\n",
        "y = 7",
    ),
    (
        "contract.lus",
        "node main (x : int) returns (y : int);\n(*@contract\n  assume x > 1;\n  assume x < 0;\n  guarantee \"seven\" y = 7;\n*)\n\
         let\n  y = x;\n  --%MAIN;\ntel;\n",
        "seven",
    ),
    (
        "m.smv",
        "MODULE main\nVAR x : 0..3;\nINIT x = 1;\nINIT x = 2;\nTRANS next(x) = x;\nINVARSPEC NAME p := x = 3;\n",
        "p",
    ),
    (
        "invar.smv",
        "MODULE main\nVAR x : boolean;\nINIT x;\nINVAR !x;\nINVARSPEC NAME p := !x;\nLTLSPEC NAME q := F x;\n",
        "p",
    ),
    (
        "m.vmt",
        "(declare-fun x () Int)\n(declare-fun x.next () Int)\n(define-fun .sv0 () Int (! x :next x.next))\n\
         (define-fun .init () Bool (! (and (> x 1) (< x 0)) :init true))\n\
         (define-fun .trans () Bool (! (= x.next x) :trans true))\n\
         (define-fun p () Bool (! (= x 7) :invar-property 0))\n",
        "p",
    ),
    (
        "m.btor2",
        "1 sort bitvec 4\n2 sort bitvec 1\n3 zero 1\n4 state 1 x\n5 init 1 4 3\n6 next 1 4 4\n7 redor 2 4\n8 constraint 7\n9 not 2 7\n10 bad 9 p\n",
        "p",
    ),
    (
        "justice.btor2",
        "1 sort bitvec 1\n2 zero 1\n3 state 1 x\n4 init 1 3 2\n5 next 1 3 3\n6 constraint 3\n7 bad 3 p\n8 justice 1 -3 q\n",
        "p",
    ),
    (
        "m.mcmt",
        "(define-state-type T ((x Int)))\n(define-transition-system S T (and (> x 1) (< x 0)) (= x' x))\n(query S (= x 7))\n",
        "query",
    ),
    (
        "m.smt2",
        "(set-logic HORN)\n(declare-fun P (Int) Bool)\n\
         (assert (forall ((x Int)) (=> (and (> x 1) (< x 0)) (P x))))\n\
         (assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))\n\
         (assert (forall ((x Int)) (=> (and (P x) (= x 7)) false)))\n(check-sat)\n",
        "safe",
    ),
    (
        "factless.smt2",
        "(set-logic HORN)\n(declare-fun P (Int) Bool)\n(assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))\n\
         (assert (forall ((x Int)) (=> (and (P x) (= x 7)) false)))\n(check-sat)\n",
        "safe",
    ),
    ("m.script", "VARS: int x;\nINIT: x > 1; x < 0;\nTRANS: x = x + 1;\nSAFE p: x == 7\n", "p"),
    (
        "bounded.script",
        "MAXSTEPS: 5\nVARS: int x;\nINIT: x > 1; x < 0;\nTRANS: x = x + 1;\nSAFE p: x == 7\nINF q:\n",
        "p",
    ),
];

#[test]
fn no_property_of_a_system_without_a_run_is_proved() {
    needs_z3!();
    for (file, text, claim) in WITHOUT_A_RUN {
        let folder = Folder::with(file, text);
        for options in [&[][..], &["--checks", "none"], &["--modular"]] {
            let ran = folder.run(&[&["check", file, "--timeout", "60"], options].concat());
            assert_eq!(ran.code, 1, "{file} {options:?}: {} {}", ran.out, ran.err);
            assert!(!ran.out.contains("holds"), "{file} {options:?}: {}", ran.out);
            assert!(ran.out.contains("has no run"), "{file} {options:?}: {}", ran.out);
        }
        let named = folder.run(&["check", file, "--property", claim]);
        assert_eq!(named.code, 1, "{file}: {} {}", named.out, named.err);
        assert!(named.out.contains(&format!("vacuous  {claim}")), "{file}: {}", named.out);
        let value = folder.run(&["check", "--json", file]).validated("gander.schema.json");
        let results = value["results"].as_array().unwrap();
        let verdict =
            |name: &str| results.iter().find(|r| r["claim"] == *name).map(|r| r["verdict"].clone());
        assert_eq!(verdict(claim), Some("vacuous".into()), "{file}: {value:#}");
        assert!(results.iter().all(|r| r["verdict"] != "holds"), "{file}: {value:#}");
        assert!(results.iter().any(|r| r["verdict"] == "fails"), "{file}: {value:#}");
        let names: Vec<&str> = results.iter().map(|r| r["claim"].as_str().unwrap()).collect();
        assert!(
            names.iter().all(|n| names.iter().filter(|m| *m == n).count() == 1),
            "{file}: {names:?}"
        );
    }
}

#[test]
fn a_system_without_a_run_is_reported_with_reason_and_evidence() {
    needs_z3!();
    let (file, text, _) = WITHOUT_A_RUN.iter().find(|(file, ..)| *file == "m.vmt").unwrap();
    let folder = Folder::with(file, text);
    let ran = folder.run(&["check", file, "--save-evidence", "out"]);
    let expected = "\
vacuous  p
         invar-property 0 `p`
         the system has no run, so this is not proved of anything
fails    a run exists  no solution
";
    assert!(ran.out.starts_with(expected), "{}", ran.out);
    let saved: Vec<String> = std::fs::read_dir(folder.path.join("out"))
        .unwrap()
        .map(|e| e.unwrap().path().to_string_lossy().into_owned())
        .collect();
    assert_eq!(saved.len(), 1, "evidence of a claim that does not count is not kept: {saved:?}");
    let ran = folder.run(&["certify", file, &saved[0]]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert!(ran.out.starts_with("accepted: a run exists fails"), "{}", ran.out);
}

#[test]
fn evidence_about_a_system_without_a_run_is_not_accepted() {
    needs_z3!();
    let with_a_run = "spec S var x: int start { x == 0 } step s { x := x + 1 } always p: x >= 0";
    let folder = Folder::with("m.sts", with_a_run);
    assert_eq!(
        folder.run(&["check", "m.sts", "--save-evidence", "out", "--property", "p"]).code,
        0
    );
    let saved = std::fs::read_dir(folder.path.join("out")).unwrap().next().unwrap().unwrap().path();
    let saved = saved.to_string_lossy().into_owned();
    assert_eq!(folder.run(&["certify", "m.sts", &saved]).code, 0);
    folder.write("m.sts", with_a_run.replace("x == 0 }", "x == 0, x == 1 }"));
    let ran = folder.run(&["certify", "m.sts", &saved]);
    assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("no run"), "{}", ran.out);
    // An edit that removes all runs keeps no proof.
    folder.write("old.sts", with_a_run);
    let ran = folder.run(&["impact", "old.sts", "m.sts"]);
    assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("to be decided") && ran.out.contains("no run"), "{}", ran.out);
    let ran = folder.run(&["explain", "m.sts"]);
    assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
    assert!(ran.err.contains("no run"), "{} {}", ran.out, ran.err);
    // The other way round nothing was proved before.
    let ran = folder.run(&["impact", "m.sts", "old.sts"]);
    assert!(ran.code == 1 && ran.out.contains("vacuous before"), "{} {}", ran.out, ran.err);
}

#[test]
fn systems_with_a_run_are_not_called_vacuous() {
    needs_z3!();
    // One start of two is enough, and a run may end at once.
    let folder = Folder::with(
        "m.sts",
        "spec S var x: int start a -> N { x > 1, x < 0 } start b -> N { x == 5 } node N { s when x > 9 { x := x + 1 } }\n\
         always p: x == 5",
    );
    let ran = folder.run(&["check", "m.sts", "--property", "p"]);
    assert_eq!((ran.code, ran.out.starts_with("holds    p")), (0, true), "{} {}", ran.out, ran.err);
    folder.write(
        "m.smv",
        "MODULE main\nVAR x : 0..3;\nINIT x = 1;\nTRANS next(x) = x;\nINVARSPEC NAME p := x < 3;\n",
    );
    let ran = folder.run(&["check", "m.smv"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert!(!ran.out.contains("a run exists"), "{}", ran.out);
}

/// Files without a property, each in its language.
const WITHOUT_A_CLAIM: &[(&str, &str)] = &[
    ("m.btor2", "1 sort bitvec 4\n2 zero 1\n3 state 1 x\n4 init 1 3 2\n5 next 1 3 3\n"),
    ("empty.btor2", ""),
    ("m.vmt", ""),
    (
        "misspelt.vmt",
        "(declare-fun x () Int)\n(declare-fun x.next () Int)\n(define-fun .sv0 () Int (! x :next x.next))\n\
         (define-fun p () Bool (! (= x 7) :invar-propety 0))\n",
    ),
    ("m.smv", "MODULE main\nVAR x : boolean;\n"),
    (
        "m.mcmt",
        "(define-state-type T ((x Int)))\n(define-transition-system S T (= x 0) (= x' x))\n",
    ),
    (
        "m.smt2",
        "(set-logic HORN)\n(declare-fun P (Int) Bool)\n(assert (forall ((x Int)) (=> (= x 0) (P x))))\n(check-sat)\n",
    ),
    ("m.script", "VARS: int x;\nINIT: x = 0;\nTRANS: x = x + 1;\n"),
    (
        "m.lus",
        "node main (x : int) returns (y : int);\nlet\n  y = x;\n  --%PROPRETY y = 7;\ntel;\n",
    ),
    (
        "asserted.lus",
        "node main (x : int) returns (y : int);\nlet\n  y = x;\n  assert x > 0;\n  --%PROPRETY y = 7;\ntel;\n",
    ),
];

#[test]
fn a_file_without_a_claim_has_nothing_to_decide() {
    for (file, text) in WITHOUT_A_CLAIM {
        let folder = Folder::with(file, text);
        let ran = folder.run(&["check", file]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{file}: {}", ran.err);
        assert!(ran.err.contains("there is nothing to decide"), "{file}: {}", ran.err);
        assert!(
            ran.err.contains("a property is") || ran.err.contains("a goal is"),
            "{file}: {}",
            ran.err
        );
        let value = folder.run(&["check", "--json", file]).validated("gander.schema.json");
        let codes: Vec<&str> = value["diagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .map(|d| d["code"].as_str().unwrap())
            .collect();
        assert!(codes.contains(&"nothing-to-decide"), "{file}: {codes:?}");
        for command in [&["explain", file][..], &["impact", file, file]] {
            let ran = folder.run(command);
            assert_eq!(ran.code, 2, "{command:?}: {} {}", ran.out, ran.err);
            assert!(ran.err.contains("there is nothing to decide"), "{command:?}: {}", ran.err);
        }
    }
}

#[test]
fn structural_checks_are_something_to_decide() {
    needs_z3!();
    let folder = Folder::with("m.sts", "spec A var x: int start { x == 0 } step s { x := x + 1 }");
    assert_eq!(folder.run(&["check", "--checks", "all", "m.sts"]).code, 0);
    assert_eq!(folder.run(&["check", "--checks", "dead", "m.sts"]).code, 0);
    let ran = folder.run(&["check", "--checks", "none", "m.sts"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("structural checks were not asked for"), "{}", ran.err);
    folder.write("m.script", "VARS: int x;\nINIT: x = 0;\nTRANS: x = x + 1;\n");
    assert_eq!(folder.run(&["check", "--checks", "start", "m.script"]).code, 0);
    assert_eq!(folder.run(&["check", "--checks", "all", "m.script"]).code, 0);
    // With another file beside it the worst outcome counts.
    folder.write(
        "ok.sts",
        "spec A var x: int start { x == 0 } step s { x := x + 1 } always p: x >= 0",
    );
    assert_eq!(folder.run(&["check", "ok.sts", "m.script"]).code, 2);
}

#[test]
fn structural_checks_that_nobody_asked_for_are_no_success() {
    needs_z3!();
    let text = "spec A var x: int start { x == 0 } step s { x := x + 1 }";
    let folder = Folder::with("m.sts", text);
    let ran = folder.run(&["check", "m.sts"]);
    assert_eq!(ran.code, 2, "{}", ran.out);
    expect_test::expect![[r#"
        holds    3 structural checks: 1 start is satisfiable, 1 transition can be enabled, 1 node has no sinkhole
        the file claims nothing, and structural checks alone are no success (exit code 2); `gander check --checks all` accepts them
    "#]]
    .assert_eq(&ran.out);
    let ran = folder.run(&["check", "--quiet", "m.sts"]);
    assert!(ran.code == 2 && ran.out.starts_with("m.sts: the file claims nothing"), "{}", ran.out);
    let ran = folder.run(&["check", "--json", "m.sts"]);
    assert_eq!(ran.code, 2);
    let value = ran.validated("gander.schema.json");
    assert_eq!(value["results"].as_array().unwrap().len(), 3);
    let diagnostics = value["diagnostics"].as_array().unwrap();
    let about = diagnostics.iter().find(|d| d["code"] == "nothing-claimed").unwrap();
    assert_eq!(about["severity"], "error");
    let ran = folder.run(&["report", "m.sts", "-o", "m.html"]);
    assert!(ran.code == 2 && ran.out.contains("the file claims nothing"), "{}", ran.out);
    assert!(folder.read("m.html").contains("the file claims nothing"));
    // Asked for, by name or by kind, they are enough.
    for asked in [&["--checks", "all"][..], &["--property", "can enable s"]] {
        let ran = folder.run(&[&["check", "m.sts"], asked].concat());
        assert_eq!(ran.code, 0, "{asked:?}: {}", ran.out);
        assert!(!ran.out.contains("claims nothing"), "{}", ran.out);
    }
    // One that fails counts for more.
    folder.write("dead.sts", "spec A var x: int start { x == 0 } step s when x > 0 { x := x }");
    let ran = folder.run(&["check", "dead.sts"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(!ran.out.contains("claims nothing"), "{}", ran.out);
    // A declared range is a claim.
    folder.write("range.sts", "spec A var x: int 0..1 start { x == 0 } step s { x := 1 - x }");
    assert_eq!(folder.run(&["check", "range.sts"]).code, 0);
}

#[test]
fn misspelt_annotations_are_reported_with_the_nearest_one() {
    let program = |annotation: &str| {
        format!(
            "node main (x : int) returns (y : int);\n{annotation}\nlet\n  y = x;\n  --%PROPERTY y = x;\ntel;\n"
        )
    };
    for (written, meant) in [
        ("--%PROPRETY y = 7;", "--%PROPERTY"),
        ("--%property y = 7;", "--%PROPERTY"),
        ("--!PROPERY y = 7;", "--!PROPERTY"),
        ("(*%PROPRETY y = 7; *)", "(*%PROPERTY"),
        ("/*!PROPETY y = 7; */", "/*!PROPERTY"),
        ("(*@contrct guarantee y = 7; *)", "(*@contract"),
        ("--@contract guarantee y = 7;", "(*@contract"),
        ("--@guarantee y = 7;", "(*@contract"),
    ] {
        let folder = Folder::with("m.lus", program(written));
        let ran = folder.run(&["check", "m.lus"]);
        assert!(ran.err.contains("W0820") && ran.err.contains(meant), "{written}: {}", ran.err);
    }
    for harmless in
        ["-- a comment", "--! a comment", "(* a comment *)", "--@ see there", "(*@ see there *)"]
    {
        let folder = Folder::with("m.lus", program(harmless));
        assert!(!folder.run(&["check", "m.lus"]).err.contains("W0820"), "{harmless}");
    }
}

/// Two roots, of which only one has a run.
const TWO_ROOTS: &str = "node good(x: int) returns (y: int);
let
  assert x > 3;
  y = x;
  --%PROPERTY y > 3;
tel
node bad(x: int) returns (y: int);
let
  assert x > 0;
  assert x < 0;
  y = x + 1;
  --%PROPERTY y > 100;
tel
";

#[test]
fn a_root_without_a_run_is_told_beside_one_that_has_some() {
    needs_z3!();
    let folder = Folder::with("two.lus", TWO_ROOTS);
    let ran = folder.run(&["check", "two.lus"]);
    assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
    ran.prints(&["fails    bad.a run exists  no solution", "assertion of line 9"]);
    let results = folder.run(&["check", "--json", "two.lus"]).validated("gander.schema.json");
    let verdict = |name: &str| {
        let all = results["results"].as_array().unwrap();
        all.iter().find(|r| r["claim"] == *name).map(|r| r["verdict"].clone())
    };
    assert_eq!(verdict("good.a run exists"), Some("holds".into()), "{results:#}");
    assert_eq!(verdict("bad.a run exists"), Some("fails".into()), "{results:#}");
    // What is said of one system is not said of the other.
    let explained = folder.run(&["explain", "--coverage", "two.lus"]);
    assert_eq!(explained.err, "warning: the system bad has no run, so nothing is proved of it\n");
    explained.prints(&["good.y > 3", "bad.y > 100: no core: the system has no run"]);
    // A bounded core would count as coverage.
    let bounded = folder.run(&["explain", "--bounded", "1", "--coverage", "two.lus"]);
    bounded.prints(&["bad.y > 100 (1 step): no core: the system has no run"]);
    let page = folder.run(&["report", "two.lus", "-o", "two.html"]);
    assert_eq!(page.code, 1, "{} {}", page.out, page.err);
    let page = std::fs::read_to_string(folder.path.join("two.html")).unwrap();
    assert!(
        page.contains("the system bad has no run") && page.contains("id=\"coverage\""),
        "{page}"
    );
}

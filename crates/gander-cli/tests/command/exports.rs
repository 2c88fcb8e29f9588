//! `gander export`: queries for z3, default and proved ranges, and scripts that are two systems;
//! and the root of a Lustre model.

use crate::support::Folder;

const LOAN: &str = "\
spec Loan
var part: int 0..5
var debt: int
start -> Open { part == 0 debt == 9 }
node Open {
  pay(sum: int) when part < 5 and sum > 0 and sum <= debt { part := part + 1 debt := debt - sum }
  never when part > 5 { part := 0 }
}
always owed: debt >= 0
";

#[test]
fn queries_are_written_for_structural_claims_too() {
    let folder = Folder::with("loan.sts", LOAN);
    let ran = folder.run(&["export", "--to", "horn", "--queries", "loan.sts"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.prints(&[
        "(query owed)",
        "(query can_enable_never)",
        "(query range_of_part)",
        "(query no_sinkhole_Open)",
        "(query satisfiable_start)",
        "can_enable_pay is `reachable`: it holds if the property here is violated",
    ]);
    // The parameter of `pay` is eliminated in the claim about the node.
    let rule = ran.out.split("\n;; ").find(|part| part.starts_with("no_sinkhole_Open")).unwrap();
    assert!(!rule.contains("sum"), "{rule}");
    let plain = folder.run(&["export", "--to", "horn", "loan.sts"]);
    assert!(!plain.out.contains("sinkhole"), "{}", plain.out);
    let other = folder.run(&["export", "--to", "smv", "--queries", "loan.sts"]);
    assert_eq!(other.code, 2);
    other.complains(&["`--queries` is for `--to horn`"]);
}

#[test]
fn proved_ranges_are_types_and_others_are_not() {
    let folder = Folder::with("loan.sts", LOAN);
    let ran = folder.run(&["export", "--to", "smv", "loan.sts"]);
    ran.prints(&["VAR part : 0..5;", "VAR debt : integer;"]);
    let wrong = LOAN.replace("part < 5 and", "");
    let folder = Folder::with("loan.sts", &wrong);
    let ran = folder.run(&["export", "--to", "smv", "loan.sts"]);
    ran.prints(&["VAR part : integer;"]);
}

#[test]
fn ints_of_scripts_get_the_default_range_where_a_tool_needs_one() {
    let text = "VARS:\n  int x;\n  int y : 0..3;\nINIT:\n  x = 0;\n  y = 0;\nTRANS:\n  x = x + y;\n  y = y + 1;\nSAFE: x < 9\nINF:\n";
    let folder = Folder::with("m.script", text);
    let note =
        "assumption: `x` has no range and gets -1023..1024; steps that would leave it are disabled";
    for (language, comment, typed) in
        [("uppaal", "// ", "int[-1023,1024] x = 0;"), ("btor2", "; ", "sort bitvec 12")]
    {
        let ran = folder.run(&["export", "--to", language, "m.script"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.prints(&[&format!("{comment}{note}"), typed]);
        ran.complains(&[note]);
    }
    let xml = folder.run(&["export", "--to", "uppaal", "m.script"]).out;
    assert!(xml.contains("<formula>E[] "), "{xml}");
    assert!(xml.contains("((-1023) &lt;= (x + y))"), "{xml}");
    // nuXmv has unbounded ints, so this is for the user to say.
    let ran = folder.run(&["export", "--to", "smv", "m.script"]);
    ran.prints(&["VAR x : integer;"]);
    let ran = folder.run(&["export", "--to", "smv", "--default-range", "-8..9", "m.script"]);
    ran.prints(&["VAR x : -8..9;", "-- assumption: `x` has no range and gets -8..9;"]);
    for wrong in ["9..-8", "1", "a..b"] {
        let ran = folder.run(&["export", "--to", "smv", "--default-range", wrong, "m.script"]);
        assert_eq!(ran.code, 2, "{wrong}");
    }
}

#[test]
fn a_script_that_is_two_systems_is_written_to_two_files() {
    let text = "MAXSTEPS: 4\nVARS:\n  int x : 0..9;\nINIT:\n  x = 0;\nTRANS:\n  x = x + 1;\nSAFE low: x < 6\nINF:\nDEADLOCK:\n";
    let folder = Folder::with("m.script", text);
    let ran = folder.run(&["export", "--to", "smv", "-o", "out.smv", "m.script"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.complains(&["m.script: `INF`, `DEADLOCK` of this file are written to out-2.smv"]);
    let read = |name: &str| std::fs::read_to_string(folder.path.join(name)).unwrap();
    let (first, second) = (read("out.smv"), read("out-2.smv"));
    assert!(first.contains("INVARSPEC NAME low") && !first.contains("LTLSPEC"), "{first}");
    assert!(second.contains("LTLSPEC NAME INF") && second.contains("INVARSPEC NAME DEADLOCK"));
    let ran = folder.run(&["export", "--to", "smv", "m.script"]);
    ran.complains(&["the first of 2 systems, is written; with `-o FILE` all are"]);
    ran.complains(&["these claims are not written: `INF`, `DEADLOCK`"]);
}

const NODES: &str = "\
node inner(a: int) returns (b: int);
let
  b = if a > 0 then a else 0;
  --%PROPERTY b >= 1;
tel
node outer(a: int) returns (b: int);
let
  b = inner(7);
  --%PROPERTY b = 7;
  --%MAIN;
tel
";

#[test]
fn main_chooses_the_root_of_a_lustre_model() {
    let folder = Folder::with("n.lus", NODES);
    let whole = folder.run(&["check", "n.lus"]);
    assert_eq!(whole.code, 0, "{}{}", whole.out, whole.err);
    let inner = folder.run(&["check", "--main", "inner", "n.lus"]);
    assert_eq!(inner.code, 1, "{}{}", inner.out, inner.err);
    let before = folder.run(&["--main", "inner", "explain", "n.lus"]);
    assert_eq!(before.code, 1, "{}{}", before.out, before.err);
    let unknown = folder.run(&["check", "--main", "iner", "n.lus"]);
    assert_eq!(unknown.code, 2);
    let said = unknown.out + &unknown.err;
    assert!(said.contains("there is no node `iner`") && said.contains("inner"), "{said}");
    let folder = Folder::with("loan.sts", LOAN);
    let other = folder.run(&["check", "--main", "Loan", "loan.sts"]);
    assert_eq!(other.code, 2);
    let said = other.out + &other.err;
    assert!(said.contains("only Lustre models have root nodes"), "{said}");
}

const TANK: &str = "\
node tank(pump: bool) returns (level: int);
var valve, spare: bool;
let
  valve = false -> not pre valve;
  spare = valve and pump;
  level = 0 -> if pre valve then pre level - 1 else pre level + 1;
  --%PROPERTY level >= 0 or spare;
tel
";

#[test]
fn cores_by_brute_force_are_minimal_and_need_one_engine_only() {
    let folder = Folder::with("tank.lus", TANK);
    let core = |more: &[&str]| -> Vec<String> {
        let ran = folder.run(&[&["explain", "--json"][..], more, &["tank.lus"]].concat());
        let value: serde_json::Value = serde_json::from_str(&ran.out)
            .unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err));
        let core = value["results"][0]["cores"][0].as_array();
        core.unwrap_or_else(|| panic!("{value:#}")).iter().map(ToString::to_string).collect()
    };
    let minimal = core(&["--minimal"]);
    assert_eq!(minimal, ["\"valve\"", "\"level\""]);
    for more in [
        &["--algorithm", "bf"][..],
        &["--algorithm", "ucbf"],
        &["--algorithm", "bf", "--engine", "induction"],
        &["--algorithm", "bf", "--engine", "pdr", "--engine", "bmc"],
    ] {
        assert_eq!(core(more), minimal, "{more:?}");
    }
    let ran = folder.run(&["explain", "--engine", "inducton", "tank.lus"]);
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    let ran = folder.run(&["explain", "--algorithm", "bf", "--minimal", "tank.lus"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
}

#[test]
fn signals_stuck_at_a_value_and_changed_constants_are_mutants() {
    let folder = Folder::with("tank.lus", TANK);
    let ran = folder.run(&["explain", "--mutation=csv", "tank.lus"]);
    ran.prints(&["is stuck at true", "is stuck at false", "1 becomes -1"]);
}

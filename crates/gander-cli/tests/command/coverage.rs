//! `gander explain --coverage`, `--matrix`, `--bounded` and `--granularity`: figures are exact or
//! marked as bounds, and every property is listed.

use serde_json::{Value, json};

use crate::support::Folder;

const SWITCH: &str = include_str!("../../../../examples/lustre/altitude_switch.lus");
const HYSTERESIS: &str = include_str!("../../../../corpus/lustre/holds/hysteresis.lus");

const MIXED: &str = "spec Mixed
var x: int
var y: int
start { x == 0  y == 0 }
step up when x < 3 { x := x + 1 }
step side { y := y + 2 }
always small: x <= 3
always wrong: y <= 3
always possible top: x == 3
reachable two: x == 2
";

#[test]
fn properties_without_a_core_are_listed() {
    needs_z3!();
    let folder = Folder::with("m.sts", MIXED);
    let text = folder.run(&["explain", "--coverage", "m.sts"]);
    assert_eq!((text.code, text.err.as_str()), (1, ""));
    text.prints(&[
        "small       60.0 %    60.0 %    60.0 %\nwrong: no core: it fails\n",
        "\ntop: no core: not for this kind",
        "\ntwo: no core: it is shown by a run",
        "MODEL: 3 of 5 elements, 60.0 %",
        "not covered by any requirement that has a core:",
    ]);
    let matrix = folder.run(&["explain", "--matrix", "text", "m.sts"]);
    assert_eq!(matrix.code, 1);
    matrix.prints(&["   1  small\n   -  wrong: no core: it fails\n"]);
    let csv = folder.run(&["explain", "--matrix", "csv", "m.sts"]).out;
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("element,kind,line,small,wrong,top,two"));
    assert_eq!(lines.next(), Some("start constraint 1,start,4,must,fails,no core,no core"));
    assert_eq!(lines.last(), Some("(all elements),cores found,,1 core,fails,no core,no core"));
    let page = folder.run(&["explain", "--matrix", "html", "m.sts"]).out;
    assert!(page.contains("wrong<small>no core: it fails</small>"), "{page}");
    let ran = folder.run(&["explain", "--json", "--coverage", "m.sts"]);
    let value = ran.validated("gander-explain.schema.json");
    assert_eq!(value["completeness"], "exact");
    assert_eq!(
        value["without_core"][0],
        json!({ "property": "wrong", "status": "fails", "why": "it fails" })
    );
    assert_eq!(value["coverage"][0]["model"], json!({ "least": 3, "most": 3, "of": 5 }));
    // Properties that were not asked for may cover the rest.
    let one = folder.run(&["explain", "--coverage", "-p", "small", "m.sts"]);
    one.prints(&["not covered by any of these properties:"]);
}

#[test]
fn all_bounded_cores_are_computed_for_each_depth() {
    needs_z3!();
    let folder = Folder::with("s.lus", SWITCH);
    let ran = folder.run(&["explain", "--bounded", "0..1", "--coverage", "s.lus"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    // Either altimeter will do, as for runs of any length.
    ran.prints(&[
        "on_p (0 steps)    40.0 %    50.0 %    30.0 %\n",
        "on_p (1 step)    40.0 %    50.0 %    30.0 %\n",
    ]);
    assert_eq!(ran.out.matches("MODEL: 5 of 10 elements, 50.0 %").count(), 2, "{}", ran.out);
    let args = ["explain", "--bounded", "2", "--must", "--cut-sets", "--json", "s.lus"];
    let value = folder.run(&args).validated("gander-explain.schema.json");
    let result = &value["results"][0];
    assert_eq!(result["bound"], 2);
    assert_eq!(result["must"], json!(["below", "doi_on", "on_p"]));
    assert_eq!(result["cut_sets"].as_array().map(Vec::len), Some(4), "{value}");
    assert_eq!((&result["complete"], &result["found"]), (&json!(true), &json!(2)));
    let csv = folder.run(&["explain", "--bounded", "1..2", "--matrix", "csv", "s.lus"]).out;
    assert!(csv.starts_with("element,kind,line,on_p (1 step),on_p (2 steps)\n"), "{csv}");
    assert!(csv.contains("a1_below,equation,16,may,may\n"), "{csv}");
}

#[test]
fn a_bounded_core_depends_on_the_depth() {
    needs_z3!();
    let folder = Folder::with("m.sts", MIXED);
    let args = ["explain", "--bounded", "0..4", "--json", "-p", "small", "-p", "wrong", "m.sts"];
    let ran = folder.run(&args);
    assert_eq!(ran.code, 1);
    let value = ran.validated("gander-explain.schema.json");
    let core = |property: &str, depth: u64| {
        let results = value["results"].as_array().unwrap();
        let found = results.iter().find(|r| r["property"] == property && r["bound"] == depth);
        found.map(|r| r["cores"][0].clone())
    };
    assert_eq!(core("small", 0), Some(json!(["start constraint 1"])));
    assert_eq!(core("small", 3), Some(json!(["start constraint 1", "up x :="])));
    let deeper = json!(["start constraint 1", "up guard 1", "up x :="]);
    assert_eq!(core("small", 4), Some(deeper));
    assert_eq!(core("wrong", 1), Some(json!(["start constraint 2", "side y :="])));
    assert_eq!(core("wrong", 2), None);
    let without = value["without_core"].as_array().unwrap();
    let depths: Vec<&Value> = without.iter().map(|u| &u["bound"]).collect();
    assert_eq!(depths, [2, 3, 4], "{without:?}");
    assert!(without.iter().all(|u| u["why"] == "a run of 2 steps breaks it"), "{without:?}");
}

#[test]
fn options_that_bounded_cores_do_not_have_are_refused() {
    for more in [&["--vacuity"][..], &["--contrast"], &["--html", "p.html"], &["--mutation"]] {
        let folder = Folder::with("m.sts", MIXED);
        let args = [&["explain", "--bounded", "2"], more, &["m.sts"]].concat();
        assert_eq!(folder.run(&args).code, 2, "{more:?}");
    }
    for wrong in ["", "-1", "3..1", "x", "0..", "0..5000"] {
        let folder = Folder::with("m.sts", MIXED);
        let ran = folder.run(&["explain", &format!("--bounded={wrong}"), "m.sts"]);
        assert_eq!(ran.code, 2, "{wrong}: {}", ran.err);
    }
}

#[test]
fn a_property_does_not_cover_branches_that_it_does_not_need() {
    needs_z3!();
    let folder = Folder::with("h.lus", HYSTERESIS);
    let whole = folder.run(&["explain", "--coverage", "h.lus"]);
    assert_eq!((whole.code, whole.err.as_str()), (0, ""));
    whole.prints(&["MODEL: 10 of 10 elements, 100.0 %"]);
    let split = folder.run(&["explain", "--coverage", "--granularity", "branches", "h.lus"]);
    assert_eq!((split.code, split.err.as_str()), (0, ""));
    let (_, uncovered) = split.out.split_once("not covered by any requirement:\n").unwrap();
    let names: Vec<&str> = uncovered.lines().map(|l| l.split("  ").nth(2).unwrap()).collect();
    assert_eq!(names, ["on: then", "rest: then"], "{}", split.out);
    // The two branches are quoted as they were written.
    assert!(uncovered.contains("line 21    true\n"), "{uncovered}");
}

#[test]
fn conditionals_inside_other_operations_are_divided() {
    needs_z3!();
    let model = "node top(c: bool; a: int) returns (ok: bool);
var x: int;
let
  x = 10 + (if c then 1 else a);
  ok = c => x > 10;
  --%PROPERTY ok;
tel
";
    let folder = Folder::with("m.lus", model);
    let cores = |grain: &str| -> Vec<String> {
        let args = ["explain", "--all", "--json", "--granularity", grain, "m.lus"];
        let ran = folder.run(&args);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        let value = ran.validated("gander-explain.schema.json");
        let core = value["results"][0]["cores"][0].as_array().unwrap().clone();
        core.iter().map(|n| n.as_str().unwrap().to_string()).collect()
    };
    let branches = cores("branches");
    assert!(branches.contains(&"x: operand 2, then".to_string()), "{branches:?}");
    assert!(!branches.iter().any(|n| n.ends_with("else")), "{branches:?}");
    let all = cores("operations");
    for name in ["x", "x: operand 1", "x: operand 2", "x: operand 2, condition"] {
        assert!(all.contains(&name.to_string()), "{name} in {all:?}");
    }
    assert!(!all.iter().any(|n| n.starts_with("x") && n.ends_with("else")), "{all:?}");
}

#[test]
fn annotated_elements_are_divided_and_none_is_lost() {
    needs_z3!();
    let marked = HYSTERESIS.replace("--%PROPERTY keeps;", "--%PROPERTY keeps;\n  --%IVC on, rest;");
    let folder = Folder::with("h.lus", marked);
    let args = ["explain", "--matrix", "csv", "--granularity", "branches", "h.lus"];
    let csv = folder.run(&args).out;
    let names: Vec<&str> = csv.lines().skip(1).filter_map(|l| l.split(',').next()).collect();
    // Names with a comma are quoted.
    assert_eq!(
        names,
        ["on", "on: then", "on: else", "rest", "rest: then", "rest: else", "(all elements)"],
        "{csv}"
    );
}

#[test]
fn a_rule_of_a_process_is_one_element() {
    needs_z3!();
    let script = "VARS:
  int c : 0..256;
  proc P = adder;
  proc Q = adder;
INIT:
  c = 1;
PROGRAM:
  P || Q
SAFE: c >= 0

PROCESS adder:
  VARS:
    int t : 0..256;
    int u;
    state Load, Add;
  INIT:
    t = 0;
    state = Load;
  TRANS:
    Load -> Add { t, u = c, t };
    Add -> Load { c = t };
";
    let folder = Folder::with("s.script", script);
    let csv = folder.run(&["explain", "--matrix", "csv", "s.script"]).out;
    let of_rule = |line: usize| csv.lines().filter(|l| l.contains(&format!(",{line},"))).count();
    // Two updates, and that the first stays within its range.
    assert_eq!((of_rule(20), of_rule(21)), (3, 2), "{csv}");
    // Both instances begin alike.
    assert_eq!(of_rule(17), 1, "{csv}");
    let each = folder.run(&["explain", "--instances", "--matrix", "csv", "s.script"]).out;
    assert_eq!(each.lines().filter(|l| l.contains(",21,")).count(), 4, "{each}");
    let text = folder.run(&["explain", "--coverage", "s.script"]).out;
    assert!(text.contains("line 20    t, u = c, t\n"), "{text}");
}

/// Guards that are never both false, and an effect that nothing is about.
const TURNS: &str = "spec Turns
var x: int
var _noise: int
start -> N { x == 0 }
node N { up when x < 5 { x := x + 1 } down when x >= 5 { x := 0, _noise := _noise + 1 } }
reachable far: x == 9
no deadlock
";

#[test]
fn a_claim_about_guards_covers_them_and_is_not_vacuous() {
    needs_z3!();
    let folder = Folder::with("turns.sts", TURNS);
    let explain = |args: &[&str]| {
        let ran = folder.run(&[&["explain", "turns.sts", "-p", "no deadlock"][..], args].concat());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
        ran
    };
    let said = explain(&["--vacuity"]).out;
    assert!(said.contains("0 of 6 elements are enough"), "{said}");
    assert!(said.contains("the claim itself is about: up guard 1, down guard 1\n"), "{said}");
    assert!(!said.contains("vacuous"), "{said}");
    let value = explain(&["--coverage", "--json"]).validated("gander-explain.schema.json");
    assert_eq!(value["results"][0]["about"], serde_json::json!(["up guard 1", "down guard 1"]));
    let uncovered = value["coverage"][0]["uncovered"].to_string();
    assert!(uncovered.contains("_noise") && !uncovered.contains("guard"), "{value}");
    let table = explain(&["--matrix", "csv"]).out;
    assert!(table.contains("\nup guard 1,guard,5,claim\n"), "{table}");
}

#[test]
fn a_claim_that_a_proof_refutes_is_said_to_fail() {
    needs_z3!();
    let folder = Folder::with("turns.sts", TURNS);
    let explain = |args: &[&str]| {
        let ran = folder.run(&[&["explain", "turns.sts", "-p", "far"][..], args].concat());
        assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{}", ran.out);
        ran
    };
    let said = explain(&[]).out;
    let head = "far: fails; 4 of 6 elements are enough to show that\n";
    assert!(said.starts_with(head), "{said}");
    let value = explain(&["--json"]).validated("gander-explain.schema.json");
    assert_eq!(value["results"][0]["verdict"], "fails", "{value}");
    let said = explain(&["--coverage"]).out;
    assert!(said.contains("far: fails; its cores are those of the proof of that\n"), "{said}");
    let table = explain(&["--matrix", "csv"]).out;
    assert!(table.ends_with("(all elements),cores found,,fails; 1 core\n"), "{table}");
    // A longer run might show it.
    let ran = folder.run(&["explain", "turns.sts", "-p", "far", "--bounded", "2"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    assert!(ran.out.starts_with("far: no run of at most 2 steps shows it; "), "{}", ran.out);
    assert!(!ran.out.contains("fails"), "{}", ran.out);
}

const COUNT: &str = "(declare-fun x () Int)
(declare-fun xn () Int)
(declare-fun y () Int)
(declare-fun yn () Int)
(define-fun .x () Int (! x :next xn))
(define-fun .y () Int (! y :next yn))
(define-fun .i () Bool (! (and (= x 0) (= y 0)) :init true))
(define-fun .t () Bool (! (or (and (< x 10) (= xn (+ x 1)) (= yn (+ y 2))) (and (= x 10) (= xn 0) (= yn 0))) :trans true))
(define-fun .p0 () Bool (! (= y (* 2 x)) :invar-property 0))
(define-fun .p2 () Bool (! (<= x 10) :invar-property 2))
(define-fun .p3 () Bool (! (= x 0) :live-property 3))
";

#[test]
fn a_file_that_is_read_as_two_systems_has_each_element_once() {
    needs_z3!();
    let folder = Folder::with("m.vmt", COUNT);
    let text = folder.run(&["explain", "--all", "--coverage", "m.vmt"]);
    text.prints(&[
        "MODEL: 7 of 8 elements, 87.5 %",
        "not covered by any requirement:\n    step 2 guard 1   x == 10\n",
    ]);
    let ran = folder.run(&["explain", "--all", "--coverage", "--json", "m.vmt"]);
    let value = ran.validated("gander-explain.schema.json");
    assert_eq!(value["coverage"][0]["model"], json!({ "least": 7, "most": 7, "of": 8 }));
    let matrix = folder.run(&["explain", "--matrix", "text", "m.vmt"]);
    assert_eq!(matrix.out.matches("start constraint 1").count(), 1, "{}", matrix.out);
    let page = folder.run(&["explain", "--matrix", "html", "m.vmt"]).out;
    assert_eq!(page.matches(">start constraint 1<").count(), 1, "{page}");
}

#[test]
fn a_system_without_a_run_has_no_coverage() {
    needs_z3!();
    let model = "spec V var x: int start -> A { x > 3, x < 2 }
node A { up when x < 10 { x := x + 1 } }
always p: x >= 0
";
    let folder = Folder::with("v.sts", model);
    let ran = folder.run(&["explain", "--coverage", "v.sts"]);
    assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
    ran.prints(&[
        "p: no core: the system has no run, so nothing is proved of it\n",
        "MODEL: 0 of ",
    ]);
    let why = folder.run(&["explain", "--coverage", "--vacuity", "v.sts"]);
    why.prints(&["vacuous? no state can be a start, so everything holds; this is because of: "]);
    let checked = folder.run(&["check", "v.sts"]);
    assert!(!checked.out.contains("reachable states seen"), "{}", checked.out);
    assert!(!checked.out.contains("none at A"), "{}", checked.out);
}

#[test]
fn a_property_without_a_defined_core_sets_the_exit_code() {
    needs_z3!();
    let folder = Folder::with("m.sts", MIXED);
    let code = |args: &[&str]| folder.run(&[&["explain"], args, &["m.sts"]].concat()).code;
    assert_eq!(code(&["-p", "small"]), 0);
    // A run is its explanation.
    assert_eq!(code(&["-p", "two"]), 0);
    assert_eq!(code(&["-p", "top"]), 3);
    assert_eq!(code(&["-p", "top", "--bounded", "2"]), 3);
}

#[test]
fn coverage_shows_cut_sets() {
    needs_z3!();
    let folder = Folder::with("m.sts", MIXED);
    let ran = folder.run(&["explain", "--coverage", "--cut-sets", "-p", "small", "m.sts"]);
    ran.prints(&[
        "small\n  minimal cut sets: what must break for it to fail\n    { start constraint 1 }\n",
    ]);
    for form in ["--matrix=text", "--mutation"] {
        assert_eq!(folder.run(&["explain", form, "--cut-sets", "m.sts"]).code, 2, "{form}");
        assert_eq!(folder.run(&["explain", form, "--vacuity", "m.sts"]).code, 2, "{form}");
    }
}

const CARD: &str = "spec CreditCard

const limit: int = 100
enum Flag { Good, Bad }
var debt: int
var late: int 0..3
var flag: Flag
var visits: int

start -> Applied { debt == 0, late == 0, flag == Good, visits == 0 }

node Applied {
  approve -> Active when debt == 0
  reject -> Closed
}
node Active {
  buy(n: int 1..60) when debt + n <= limit { debt := debt + n }
  repay(n: int 1..60) when n <= debt { debt := debt - n, late := 0 }
  miss when debt > 0 and late < 2 { late := late + 1 }
  block -> Blocked when late == 2 { flag := Bad }
  vip -> Gold when debt < 0
  close -> Closed when debt == 0
}
node Blocked {
  charge when debt >= 100 { debt := debt + 5 }
  recover(n: int 1..60) when n <= debt { debt := debt - n }
  forgive -> Closed when debt == 0 and flag == Bad
  reopen -> Active when debt == 0 and flag == Good
}
node Gold {
  spend { debt := debt + 1000 }
}
final node Closed

always non_negative: debt >= 0
always within: debt <= limit
always marked: in Blocked -> flag == Bad
always legal: late == 2 -> debt > 0 in Active
reachable gold: in Gold
reachable again: close then buy
possible repaid: debt == 0
eventually closes: in Closed
";

#[test]
fn a_slow_claim_leaves_time_for_the_others() {
    needs_z3!();
    let folder = Folder::with("m.sts", CARD);
    let ran = folder.run(&["explain", "--all", "--coverage", "--timeout", "8", "m.sts"]);
    // It takes long to decide `repaid`.
    for name in ["non_negative", "marked", "legal"] {
        assert!(!ran.out.contains(&format!("{name}: no core")), "{}", ran.out);
    }
    let mutants = folder.run(&["explain", "--mutation", "--timeout", "8", "m.sts"]);
    assert!(!mutants.out.contains(" 111 undecided"), "{}", mutants.out);
}

#[test]
fn a_goal_within_the_bound_is_shown_and_not_broken() {
    needs_z3!();
    let folder = Folder::with("m.sts", MIXED);
    let args = ["explain", "--bounded", "1..3", "--json", "-p", "two", "m.sts"];
    let ran = folder.run(&args);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let value = ran.validated("gander-explain.schema.json");
    let shown = |bound: u32| {
        json!({ "property": "two", "bound": bound, "status": "no core",
                "why": "a run of 2 steps shows it" })
    };
    assert_eq!(value["without_core"], json!([shown(2), shown(3)]));
}

#[test]
fn parts_of_formulas_without_a_place_are_quoted() {
    needs_z3!();
    let model = "MODULE main\nVAR t : 0..5;\nASSIGN init(t) := 0;\n\
                 next(t) := case t < 5 : t + 1; TRUE : 0; esac;\nINVARSPEC NAME p := t <= 5;\n";
    let folder = Folder::with("m.smv", model);
    let ran = folder.run(&["explain", "--granularity", "branches", "--coverage", "m.smv"]);
    assert!(!ran.out.contains("@part"), "{}", ran.out);
    ran.prints(&["constraint 1: conjunct 1   0 <= t\n"]);
    let bits = "1 sort bitvec 4\n2 zero 1\n3 state 1 x\n4 init 1 3 2\n5 one 1\n6 add 1 3 5\n\
                7 next 1 3 6\n8 sort bitvec 1\n9 constd 1 9\n10 eq 8 3 9\n11 bad 10 nine\n";
    let folder = Folder::with("m.btor2", bits);
    folder.run(&["explain", "m.btor2"]).prints(&["start constraint 1   x == 0u4\n"]);
}

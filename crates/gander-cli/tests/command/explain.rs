use serde_json::{Value, json};

use crate::support::{Folder, Ran};

const SWITCH: &str = include_str!("../../../../examples/lustre/altitude_switch.lus");
const ACCOUNT: &str = include_str!("../../../../examples/bank_account.sts");

fn validated(ran: &Ran) -> Value {
    ran.validated("gander-explain.schema.json")
}

#[test]
fn the_altitude_switch_has_two_cores() {
    needs_z3!();
    let folder = Folder::with("switch.lus", SWITCH);
    let ran = folder.run(&["explain", "--all", "--json", "switch.lus"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let mut value = validated(&ran);
    let cores = value["results"][0]["cores"].as_array_mut().unwrap();
    cores.sort_by_key(Value::to_string);
    assert_eq!(
        value,
        json!({
            "schema": "gander-explain/1",
            "completeness": "exact",
            "without_core": [],
            "results": [{
                "property": "on_p",
                "verdict": "holds",
                "core_status": ["minimal", "minimal"],
                "cores": [["a1_below", "below", "doi_on", "on_p"], ["a2_below", "below", "doi_on", "on_p"]],
                "must": ["below", "doi_on", "on_p"],
                "may": ["a1_below", "a2_below"],
                "complete": true,
                "completeness": "exact",
                "found": 2,
                "approximate": false,
            }],
        })
    );
    let bounded = validated(&folder.run(&["explain", "--bounded", "3", "--json", "switch.lus"]));
    assert_eq!(bounded["results"][0]["bound"], 3);
    assert_eq!(bounded["results"][0]["cores"][0].as_array().map(Vec::len), Some(4));
    let cuts = validated(&folder.run(&["explain", "--cut-sets", "--json", "switch.lus"]));
    assert_eq!(cuts["results"][0]["cut_sets"].as_array().map(Vec::len), Some(4));
}

#[test]
fn matrices_and_coverage_are_printed() {
    needs_z3!();
    let folder = Folder::with("switch.lus", SWITCH);
    let csv = folder.run(&["explain", "--matrix", "csv", "switch.lus"]).out;
    assert!(csv.starts_with("element,kind,line,on_p\na1_below,equation,16,may\n"), "{csv}");
    assert!(csv.contains("below,equation,20,must\n") && csv.contains("d2,equation,24,\n"), "{csv}");
    let text = folder.run(&["explain", "--coverage", "switch.lus"]).out;
    assert!(text.contains("MODEL: 5 of 10 elements, 50.0 %"), "{text}");
    assert!(text.contains("not covered by any requirement:\n    a1_above"), "{text}");
    let ran = folder.run(&["explain", "--matrix", "html", "-o", "switch.html", "switch.lus"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
    let page = folder.read("switch.html");
    assert!(
        page.contains("<button>on_p</button>") && page.contains("alt1 &lt; Threshold"),
        "{page}"
    );
    assert!(!page.contains("http"), "the page needs nothing else");
}

#[test]
fn guards_and_effects_are_elements() {
    needs_z3!();
    let folder = Folder::with("bank.sts", ACCOUNT);
    let ran = folder.run(&["explain", "--minimal", "-p", "solvent", "bank.sts"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for name in ["start constraint 1", "deposit guard 1", "withdraw guard 2", "withdraw balance :="]
    {
        assert!(ran.out.contains(name), "{}", ran.out);
    }
    assert!(!ran.out.contains("freeze"), "{}", ran.out);
    let ran = folder.run(&["explain", "nowhere.sts"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("there is no such file"), "{}", ran.err);
}

#[test]
fn only_what_is_annotated_is_an_element() {
    needs_z3!();
    let source =
        SWITCH.replace("--%PROPERTY on_p;", "--%PROPERTY on_p;\n  --%IVC a1_below, a2_below, d2;");
    let folder = Folder::with("switch.lus", source);
    let value = validated(&folder.run(&["explain", "--all", "--json", "switch.lus"]));
    let mut cores = value["results"][0]["cores"].as_array().unwrap().clone();
    cores.sort_by_key(Value::to_string);
    assert_eq!(cores, [json!(["a1_below"]), json!(["a2_below"])]);
}

#[test]
fn a_disjunction_with_a_negation_is_read_as_an_implication() {
    needs_z3!();
    let model = "VARS:
  int x : 0..9;
  bool a;
  bool b;
INIT:
  x = 0;
  a = false;
  b = false;
TRANS:
  x = x + 1;
  ? !b -> a = !a;
  ? !a -> b = !b;
SAFE v: !(x > 100) | x == 7
SAFE mutex: !a | !b
";
    let ran = Folder::with("v.script", model).run(&["explain", "--vacuity", "v.script"]);
    let text = "vacuous? v: it holds whatever its other part says: it is proved that `x > 100` is \
                always false";
    ran.prints(&[text]);
    assert!(!ran.out.contains("vacuous? mutex"), "{}", ran.out);
}

#[test]
fn vacuous_properties_are_named_with_the_reason() {
    needs_z3!();
    let source = "
spec Vacuous
var x: int
start { x == 0 }
step up when x < 3 { x := x + 1 }
always never: x > 5 implies x == 7
always sure: x == 0 or x != 0
always plain: x <= 3
";
    let ran = Folder::with("v.sts", source).run(&["explain", "--vacuity", "v.sts"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(
        ran.out.contains("vacuous? never: the left side of the implication never holds"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("vacuous? sure: it holds whatever the model does"), "{}", ran.out);
    assert!(!ran.out.contains("vacuous? plain"), "{}", ran.out);
    let source = "
spec Stuck
var x: int
start { x == 0 }
step up { x := x + 1 }
assume x > 0
always small: x < 3
";
    let ran = Folder::with("v.sts", source).run(&["explain", "--vacuity", "v.sts"]);
    assert!(
        ran.out.contains("no state can be a start, so everything holds; this is because of:"),
        "{}",
        ran.out
    );
}

#[test]
fn the_cache_is_never_trusted() {
    needs_z3!();
    let model = "
spec Counter
var x: int
var y: int
start { x == 0  y == 0 }
step up { x := x + 1  y := y + 1 }
always same: x >= y
";
    let folder = Folder::with("m.sts", model);
    let engine = |ran: &Ran| -> (i32, String, String) {
        let value: Value = serde_json::from_str(&ran.out).unwrap();
        let result = &value["results"]
            .as_array()
            .unwrap()
            .iter()
            .find(|r| r["claim"] == "same")
            .unwrap()
            .clone();
        (
            ran.code,
            result["verdict"].as_str().unwrap().into(),
            result["engine"].as_str().unwrap().into(),
        )
    };
    let check = ["check", "--json", "--checks", "none", "--cache", "cache", "m.sts"];
    let first = engine(&folder.run(&check));
    assert_eq!((first.0, first.1.as_str()), (0, "holds"));
    assert_ne!(first.2, "cache");
    assert_eq!(engine(&folder.run(&check)).2, "cache");
    // After a small edit the old invariant is still a proof.
    folder.write("m.sts", model.replace("x + 1 ", "x + 2 "));
    assert_eq!(engine(&folder.run(&check)), (0, "holds".into(), "cache".into()));
    // After an edit that makes the claim false, the old proof is rejected.
    folder.write("m.sts", model.replace("y + 1 ", "y + 2 "));
    let wrong = engine(&folder.run(&check));
    assert_eq!((wrong.0, wrong.1.as_str()), (1, "fails"));
    // Truncated, forged and exchanged entries are ignored.
    folder.write("m.sts", model.replace("y + 1 ", "y + 3 "));
    let names: Vec<String> = std::fs::read_dir(folder.path.join("cache"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.len() >= 3, "{names:?}");
    let good =
        folder.read(&format!("cache/{}", names.iter().find(|n| n.starts_with("proof")).unwrap()));
    for content in
        ["", "{", "null", &good[..good.len() / 2], &good.replace("\"fails\"", "\"holds\""), &good]
    {
        for name in &names {
            folder.write(&format!("cache/{name}"), content);
        }
        let wrong = engine(&folder.run(&check));
        assert_eq!((wrong.0, wrong.1.as_str()), (1, "fails"), "{content}");
        assert_eq!(engine(&folder.run(&check)).1, "fails");
    }
    // A folder that cannot be written causes a warning and does not change the verdict.
    folder.write("file", "");
    let ran = folder.run(&["check", "--checks", "none", "--cache", "file/cache", "m.sts"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("the proof cache cannot be written"), "{}", ran.err);
}

#[test]
fn impact_tells_which_proofs_survive_an_edit() {
    needs_z3!();
    let folder = Folder::with("old.lus", SWITCH);
    // The edit concerns no element that the proof needs.
    folder.write(
        "other.lus",
        SWITCH.replace("above_hyst = a1_above and a2_above", "above_hyst = a1_above or a2_above"),
    );
    let ran = folder.run(&["impact", "old.lus", "other.lus"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(
        ran.out.starts_with("survives       on_p  holds before; none of the 4 elements"),
        "{}",
        ran.out
    );
    assert!(ran.out.ends_with("elements changed: above_hyst\n"), "{}", ran.out);
    // The edit changes an element that the proof needs; the property does not hold any more.
    folder.write("wrong.lus", SWITCH.replace("below = a1_below or a2_below", "below = false"));
    let ran = folder.run(&["impact", "old.lus", "wrong.lus"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.out.starts_with(
            "to be decided  on_p  holds before; its proof rests on what changed: below"
        ),
        "{}",
        ran.out
    );
}

#[test]
fn elements_of_included_files_have_a_file_and_a_line() {
    needs_z3!();
    let folder = Folder::with(
        "main.lus",
        "include \"counter.lus\"\nnode main(r: bool) returns (n: int);\nlet\n  n = count(r);\n  check \"low\" n >= 0;\ntel\n",
    );
    folder.write(
        "counter.lus",
        "node count(r: bool) returns (n: int);\nlet\n  n = 0 -> if r then 0 else pre n + 1;\ntel\n",
    );
    let ran = folder.run(&["explain", "main.lus"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let lines: Vec<&str> = ran.out.lines().filter(|l| l.contains("n = ")).map(str::trim).collect();
    assert!(
        lines.iter().any(|l| l.contains("line 4") && l.ends_with("n = count(r);")),
        "{}",
        ran.out
    );
    let other = "counter.lus:3 n = 0 -> if r then 0 else pre n + 1";
    assert!(lines.iter().any(|l| l.contains(other)), "{}", ran.out);
    let matrix = folder.run(&["explain", "--matrix=csv", "main.lus"]);
    assert!(matrix.out.contains(",equation,counter.lus:3,"), "{}", matrix.out);
}

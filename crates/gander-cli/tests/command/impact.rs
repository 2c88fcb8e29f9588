//! `gander impact`: systems, properties and elements are matched; what is not known is marked.

use serde_json::json;

use crate::support::Folder;

const MODEL: &str = "node count(r: bool) returns (n: int);
var next: int;
let
  next = 0 -> pre n + 1;
  n = if r then 0 else next;
tel

node main(r: bool; a: int) returns (low, same: bool);
var n: int; b: int;
let
  n = count(r);
  low = n >= 0;
  b = a;
  same = b = a;
  --%PROPERTY low;
  --%PROPERTY same;
tel
";

fn changed(new: &str) -> (i32, serde_json::Value) {
    let folder = Folder::with("old.lus", MODEL);
    folder.write("new.lus", new);
    let ran = folder.run(&["impact", "--json", "old.lus", "new.lus"]);
    assert_eq!(ran.err, "");
    (ran.code, ran.validated("gander-impact.schema.json"))
}

#[test]
fn moved_lines_change_nothing() {
    needs_z3!();
    let (code, value) = changed(&format!("-- One more line.\n\n{MODEL}"));
    assert_eq!((code, &value["changed"]), (0, &json!([])), "{value}");
    assert!(value["properties"].as_array().unwrap().iter().all(|p| p["fate"] == "survives"));
}

#[test]
fn a_renamed_local_changes_nothing() {
    needs_z3!();
    let (code, value) = changed(&MODEL.replace("next", "later"));
    assert_eq!((code, &value["changed"]), (0, &json!([])), "{value}");
    assert!(value["properties"].as_array().unwrap().iter().all(|p| p["fate"] == "survives"));
    let renamed = value["renamed"].as_object().unwrap();
    assert!(
        renamed
            .iter()
            .any(|(o, n)| o.ends_with("next") && n.as_str() == Some(&o.replace("next", "later"))),
        "{value}"
    );
}

#[test]
fn only_what_was_edited_is_changed() {
    needs_z3!();
    let (code, value) = changed(&MODEL.replace("pre n + 1", "pre n - 1"));
    assert_eq!((code, &value["changed"]), (1, &json!(["count.next"])), "{value}");
    let fate = |name: &str| {
        let all = value["properties"].as_array().unwrap();
        all.iter().find(|p| p["property"] == name).map(|p| p["fate"].clone())
    };
    assert_eq!(fate("same"), Some(json!("survives")));
    assert_eq!(fate("low"), Some(json!("to be decided")));
}

/// `REACH` and `SAFE` are about a system with a bound, the other goals about one without.
const SCRIPT: &str = "MAXSTEPS: 6
VARS:
  int x : 0..20;
  int y : 0..3;
INIT:
  x = 1;
  y = 0;
TRANS:
  x = x + 1;
  ? x > 2 -> x, y = x - 2, 3 - y;
REACH five: x == 5
SAFE below: x < 9
INF goes_on:
LIVENESS again: y == 0
";

#[test]
fn a_script_with_both_sorts_of_goals_is_equal_to_itself() {
    needs_z3!();
    let folder = Folder::with("old.script", SCRIPT);
    // Systems without a name of their own are named after their file.
    folder.write("new.script", SCRIPT);
    for new in ["old.script", "new.script"] {
        let ran = folder.run(&["impact", "--json", "old.script", new]);
        let value = ran.validated("gander-impact.schema.json");
        assert_eq!((ran.code, &value["changed"]), (0, &json!([])), "{value}");
        let all = value["properties"].as_array().unwrap();
        assert!(all.len() == 4 && all.iter().all(|p| p["fate"] == "survives"), "{value}");
        assert_eq!(value["edited"], json!([]), "{value}");
    }
}

#[test]
fn systems_that_are_named_after_their_files_correspond() {
    needs_z3!();
    let text = "var x: int\nstart -> N { x == 1 }\nnode N { s when x > 0 { x := x + 1 } }\n\
                always p: x > 0\n";
    let folder = Folder::with("old.sts", text);
    folder.write("new.version.sts", text);
    let ran = folder.run(&["impact", "old.sts", "new.version.sts"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    assert!(ran.out.contains("survives") && ran.out.contains("changed: none"), "{}", ran.out);
}

#[test]
fn edited_added_and_removed_properties_are_named() {
    needs_z3!();
    let old = "spec S\nvar x: int\nstart -> N { x == 1 }\nnode N { s when x > 0 { x := x + 1 } }\n\
               always p: x > 0\nalways q: x >= 0\nalways old: x != 0\n";
    let folder = Folder::with("old.sts", old);
    let new = old.replace("x >= 0", "x >= 1").replace("old: x != 0", "new: x != -3");
    folder.write("new.sts", new);
    let ran = folder.run(&["impact", "old.sts", "new.sts"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(
        ran.out.ends_with(
            "elements changed: none\nproperties edited: q\nproperties added: new\n\
             properties removed: old (holds before)\n"
        ),
        "{}",
        ran.out
    );
    let value = folder
        .run(&["impact", "--json", "old.sts", "new.sts"])
        .validated("gander-impact.schema.json");
    assert_eq!(
        (&value["edited"], &value["added"], &value["removed"]),
        (&json!(["q"]), &json!(["new"]), &json!([{ "property": "old", "before": "holds" }])),
        "{value}"
    );
}

#[test]
fn a_comparison_that_a_time_limit_cut_short_says_so() {
    needs_z3!();
    let text = "var x: int\nvar y: int\nstart -> N { x == 1, y == 0 }\n\
                node N { s when x > 0 { x := x * x * 3 - y, y := y * x + 1 } }\n\
                always p: x * x * x + y * y * y * 5 != 1729 * x * y\n";
    let folder = Folder::with("old.sts", text);
    let ran = folder.run(&["impact", "-t", "0.05", "old.sts", "old.sts"]);
    assert_eq!(ran.code, 3, "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("incomplete: stopped by the time limit of 0.05 s"), "{}", ran.out);
    let ran = folder.run(&["impact", "-t", "0.05", "--json", "old.sts", "old.sts"]);
    let value = ran.validated("gander-impact.schema.json");
    assert_eq!((ran.code, &value["completeness"]), (3, &json!("unfinished")), "{value}");
    assert_eq!(value["properties"][0]["completeness"], "unfinished", "{value}");
    assert!(value["stopped"].is_string(), "{value}");
}

#[test]
fn evidence_of_chains_and_of_infinite_runs_is_renamed() {
    needs_z3!();
    let old = "spec M
var x: int
var visits: int
start -> A { x == 0, visits == 0 }
node A {
  up when x < 3 { x := x + 1 }
  close -> B when x == 3
}
final node B
reachable again: close then up
eventually closes: in B
";
    let folder = Folder::with("old.sts", old);
    folder.write("new.sts", old.replace("visits", "calls"));
    let ran = folder.run(&["impact", "old.sts", "new.sts"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    ran.prints(&["survives       again ", "survives       closes "]);
}

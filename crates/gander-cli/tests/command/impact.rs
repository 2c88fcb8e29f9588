//! `gander impact`: elements are matched by structure.

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

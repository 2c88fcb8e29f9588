//! What counts as an element: what the author wrote, once, and nothing else.

use serde_json::Value;

use crate::support::Folder;

fn names(value: &Value) -> Vec<String> {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(|n| n.as_str().map(str::to_string)).collect()
}

#[test]
fn a_start_of_a_family_is_one_element() {
    needs_z3!();
    let model = "\
spec Counter
var x: int
start { x == 0 }
step done when x < 3 { x := x + 1 }
system Two = c: Counter[2]
always total: c[0].x + c[1].x <= 6
";
    let text = Folder::with("two.sts", model).run(&["explain", "--coverage", "two.sts"]).out;
    assert!(text.contains("start: 1 of 1, 100.0 %"), "{text}");
    assert!(text.contains("MODEL: 3 of 3 elements"), "{text}");
}

#[test]
fn the_form_of_data_is_no_element() {
    needs_z3!();
    let model = "\
spec Order
data Drink { None, Tea(cups: int 1..4) }
var drink: Drink
start { drink == None }
step ask(wish: Drink) when drink is None { drink := wish }
step drop when drink is Tea { drink := None }
always few: drink is Tea -> drink.cups <= 4
";
    let folder = Folder::with("order.sts", model);
    let text = folder.run(&["explain", "--coverage", "--minimal", "order.sts"]).out;
    // A start, two guards, two assignments.
    assert!(text.contains("of 5 elements"), "{text}");
    assert!(!text.contains("range of wish"), "{text}");
    let graph = folder.run(&["graph", "order.sts", "--format", "dot"]).out;
    assert!(!graph.contains("start\\nstart"), "{graph}");
}

#[test]
fn a_count_over_a_family_of_any_size_is_no_element() {
    needs_z3!();
    let model = "\
spec Station(first: bool)
var token: bool
start -> Away { token == first }
node Away {
  give when token { token := false }
  take when not token { token := true }
}
system Ring = s: Station[i: N](i == 0)
    sync pass forall i (s[i].give, s[(i + 1) mod N].take)
const N: int 2..
always one: (count i in s. s[i].token) == 1
";
    let ran = Folder::with("ring.sts", model).run(&["explain", "--minimal", "ring.sts"]);
    assert!(!ran.out.contains(" are enough"), "{}", ran.out);
    assert!(ran.out.contains("not for a count over a family of any size"), "{}", ran.out);
}

#[test]
fn a_division_has_no_branches() {
    needs_z3!();
    let model = "\
node top(x: int) returns (q: int);
let
  q = 10 div (x - 3);
  check \"two\" x = 8 => q = 2;
tel
";
    let folder = Folder::with("division.lus", model);
    let text = folder
        .run(&["explain", "--coverage", "--minimal", "--granularity", "branches", "division.lus"])
        .out;
    assert!(text.contains("MODEL: 1 of 1 element, 100.0 %"), "{text}");
    let operations = ["explain", "--coverage", "--minimal", "--granularity", "operations"];
    let text = folder.run(&[&operations[..], &["division.lus"]].concat()).out;
    assert!(!text.contains("then") && !text.contains("condition"), "{text}");
}

#[test]
fn a_core_is_empty_only_of_what_annotations_name() {
    needs_z3!();
    let model = "\
node top(x: int) returns (y, n: int);
let
  y = x + 1;
  n = 0 -> pre n + 1;
  --%PROPERTY y > x;
  --%PROPERTY n >= 0;
  --%IVC n;
tel
";
    let folder = Folder::with("annotated.lus", model);
    let ran = folder.run(&["explain", "--vacuity", "annotated.lus"]);
    assert!(!ran.out.contains("whatever the model does"), "{}", ran.out);
    assert!(ran.out.contains("whatever the elements that `--%IVC` names do"), "{}", ran.out);
    assert!(ran.err.contains("only what `--%IVC` names is an element here"), "{}", ran.err);
}

#[test]
fn only_minimal_cores_count_as_some_core() {
    needs_z3!();
    let model = "\
spec Sum
var x: int
var y: int
start { x == 0, y == 0 }
step both { x := x + 1, y := y + 1 }
always same: x == y
";
    let ran = Folder::with("sum.sts", model).run(&["explain", "--json", "sum.sts"]);
    let value: Value = serde_json::from_str(&ran.out).expect("JSON");
    let result = &value["results"][0];
    let minimal = names(&result["core_status"]).iter().all(|s| s == "minimal");
    assert!(minimal || names(&result["may"]).is_empty(), "{result}");
}

#[test]
fn a_state_of_a_script_that_no_rule_enters_is_reported() {
    let model = "\
VARS:
  int x;
  state A, B, Lost;
INIT:
  state = A; x = 0;
TRANS:
  A -> B { x = x + 1 };
  Lost -> A { x = 0 };
REACH lost: state == Lost
";
    let ran = Folder::with("lost.script", model).run(&["check", "lost.script"]);
    assert!(ran.err.contains("no path of rules leads to the state `Lost`"), "{}", ran.err);
    assert!(ran.err.contains("W0802"), "{}", ran.err);
}

#[test]
fn a_constraint_on_the_next_value_reads_a_variable() {
    let model = "\
spec Ghost
var x: int
var ghost: int
start { x == 0 }
step go when x < 3 { x := x + 1 }
step bad { x := 0 - 1, 2 * ghost' == 3 }
always ok: x >= 0
";
    let ran = Folder::with("ghost.sts", model).run(&["check", "ghost.sts"]);
    assert!(!ran.err.contains("W0814"), "{}", ran.err);
}

#[test]
fn a_constraint_with_the_constant_of_an_instance_is_one_element() {
    needs_z3!();
    let model = "\
spec Station(id: int)
var token: bool
start { token == (id == 0) }
step give when token { token := false }
step get when not token { token := true }

system Ring = s: Station[i: 3](i)
    sync pass forall i (s[i].give, s[(i + 1) mod 3].get)
always one: (count i. s[i].token) == 1
";
    let folder = Folder::with("ring.sts", model);
    let text = folder.run(&["explain", "--coverage", "ring.sts"]).out;
    // A start, two guards, two assignments.
    assert!(text.contains("of 5 elements") && text.contains("  start: 1 of 1"), "{text}");
    let text = folder.run(&["explain", "--coverage", "--instances", "ring.sts"]).out;
    assert!(text.contains("  start: 3 of 3"), "{text}");
}

//! Lustre where JKind and Kind 2 differ, and contracts that cannot be kept: what is said of them.

use crate::support::{Folder, check};

/// In JKind an element outside of the array is the last one, in Kind 2 any value.
#[test]
fn a_read_outside_of_an_array_is_unknown_where_the_tools_differ() {
    needs_z3!();
    let model = "\
node top(i: int; a: int[3]) returns (y: int);
let
  y = a[i];
  --%PROPERTY y = a[0] or y = a[1] or y = a[2];
tel
";
    let ran = check("a.lus", model);
    assert!(ran.out.contains("unknown"), "{}", ran.out);
    assert!(ran.out.contains("in JKind `a[i]` is then the last element"), "{}", ran.out);
    ran.complains(&["W0818", "the index `i` can be outside of `", "a run: step 0: i = "]);
    assert_eq!(ran.code, 3);
}

#[test]
fn a_claim_about_an_array_that_both_tools_refute_fails() {
    needs_z3!();
    let model = "\
node top(i: int; a: int[2]) returns (y: int);
let
  y = if 0 <= i and i < 2 then a[i] else 0;
  --%PROPERTY y <= 7;
  --%PROPERTY not (0 <= i and i < 2) => y = 0;
tel
";
    let ran = check("a.lus", model);
    assert!(ran.out.contains("fails    y <= 7"), "{}", ran.out);
    assert!(ran.out.contains("holds    not (0 <= i and i < 2) => y = 0"), "{}", ran.out);
    assert!(!ran.err.contains("W0818"), "{}", ran.err);
    // Whatever the element outside is, this is wrong.
    let wrong = "\
node top(i: int; a: int[2]) returns (y: int);
let
  y = a[i];
  --%PROPERTY y <> 5;
tel
";
    let ran = check("b.lus", wrong);
    assert_eq!((ran.code, ran.out.contains("fails    y <> 5")), (1, true), "{}", ran.out);
}

/// The index and its guard may belong to different instants.
#[test]
fn an_index_of_the_instant_before_is_found() {
    needs_z3!();
    let model = |guard: &str| {
        format!(
            "\
node top(i: int; a: int[2]) returns (y: int);
let
  y = 0 -> if {guard} then a[pre i] else 0;
  --%PROPERTY y = y;
tel
"
        )
    };
    let ran = check("a.lus", &model("pre i >= 0"));
    ran.complains(&["W0818", "the index `pre i` can be outside of `", "step 1"]);
    let ran = check("a.lus", &model("pre i = 0 or pre i = 1"));
    assert!(!ran.err.contains("W0818"), "{}", ran.err);
}

#[test]
fn a_lazy_implication_guards_the_assumption_of_a_function() {
    needs_z3!();
    let model = |arrow: &str| {
        format!(
            "\
function inv(x: int) returns (y: int);
(*@contract assume x <> 0; *)
let
  y = 100 div x;
tel
node top(x: int) returns (ok: bool);
let
  ok = x > 0 {arrow} inv(x) >= 0;
  check ok;
tel
"
        )
    };
    let ran = check("a.lus", &model("==>"));
    assert_eq!((ran.code, ran.out.contains("fails")), (0, false), "{}{}", ran.out, ran.err);
    let ran = check("a.lus", &model("=>"));
    assert!(ran.out.contains("fails    top.inv#1.assume[1]"), "{}", ran.out);
}

#[test]
fn an_assertion_in_a_called_node_is_unknown_where_it_matters() {
    needs_z3!();
    let model = |contract: &str| {
        format!(
            "\
node sub(x: int) returns (y: int);
let
  assert x > 0;
  y = x;
tel
node top(x: int) returns (y: int);
{contract}let
  --%MAIN;
  y = sub(x);
  --%PROPERTY y > 0;
  --%PROPERTY y < 100;
  --%PROPERTY y = x;
tel
"
        )
    };
    let ran = check("a.lus", &model(""));
    assert!(ran.out.contains("unknown  y > 0"), "{}", ran.out);
    assert!(ran.out.contains("which JKind ignores and Kind 2 assumes"), "{}", ran.out);
    assert!(ran.out.contains("fails    y < 100"), "{}", ran.out);
    assert!(ran.out.contains("holds    y = x"), "{}", ran.out);
    ran.complains(&["W0821", "JKind ignores an `assert` in a called node, Kind 2 assumes it"]);
    // With a contract only Kind 2 reads the program.
    let ran = check("b.lus", &model("(*@contract guarantee true; *)\n"));
    assert!(ran.out.contains("holds    y > 0"), "{}", ran.out);
    assert!(!ran.err.contains("W0821"), "{}", ran.err);
}

#[test]
fn a_contract_that_cannot_be_kept_is_reported_with_inputs() {
    needs_z3!();
    let model = "\
node imported sensor(x: int) returns (y: int);
(*@contract
  assume x >= 0;
  guarantee y > 0;
  guarantee x > 5 => y < 0;
*)
node top(x: int) returns (y: int);
(*@contract assume x >= 6; *)
let
  y = sensor(x);
  check \"odd\" y = 17;
tel
";
    for arguments in [&["check", "m.lus"][..], &["check", "-p", "odd", "m.lus"]] {
        let ran = Folder::with("m.lus", model).run(arguments);
        ran.complains(&[
            "W0819",
            "no implementation of `sensor` can keep its contract",
            "for the inputs x = ",
            "no outputs satisfy it",
        ]);
    }
}

#[test]
fn a_contract_with_memory_that_cannot_be_kept_is_reported() {
    needs_z3!();
    let model = |second: &str| {
        format!(
            "\
node imported count(x: int) returns (y: int);
(*@contract
  guarantee true -> y > pre y;
  guarantee {second};
*)
node top(x: int) returns (y: int);
let
  y = count(x);
  check y = y;
tel
"
        )
    };
    let ran = check("m.lus", &model("y = x"));
    ran.complains(&["W0819", "after the first instant with "]);
    let ran = check("m.lus", &model("y > x"));
    assert!(!ran.err.contains("W0819"), "{}", ran.err);
}

#[test]
fn a_function_with_a_contract_can_be_simulated_with_any_inputs() {
    needs_z3!();
    let model = "\
function f(x: int) returns (y: int);
(*@contract guarantee y > 2 * x and y < 2 * x + 5; *)
function g(b: bool) returns (y: int);
(*@contract guarantee if b then y > 1000 else y < -1000; *)
node top(x: int; b: bool) returns (y, z: int);
let
  y = f(x);
  z = g(b);
  check y > 2 * x;
tel
";
    let folder = Folder::with("m.lus", model);
    let inputs = [5, 7, 5, 1000, -3, 0, 12, 99, -8, 4, 5];
    let rows: Vec<String> =
        inputs.iter().enumerate().map(|(i, x)| format!("{x},{}\n", i % 3 == 1)).collect();
    folder.write("in.csv", format!("x,b\n{}", rows.concat()));
    let ran = folder.run(&["simulate", "m.lus", "--inputs", "in.csv", "--color", "never"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    let row = |name: &str| -> Vec<i64> {
        let line =
            ran.out.lines().find(|l| l.trim_start().starts_with(&format!("{name} "))).unwrap();
        let words = line.split_whitespace().skip(1);
        words.map(|w| w.trim_end_matches('*').parse().unwrap()).collect()
    };
    let (y, z) = (row("y"), row("z"));
    for (i, &x) in inputs.iter().enumerate() {
        assert!(2 * x < y[i] && y[i] < 2 * x + 5, "{}", ran.out);
        assert!(if i % 3 == 1 { z[i] > 1000 } else { z[i] < -1000 }, "{}", ran.out);
    }
    // It is a function.
    assert_eq!((y[0], y[0]), (y[2], y[10]), "{}", ran.out);
}

#[test]
fn rows_of_empty_cells_are_steps_of_a_simulation() {
    let model = "\
node top(x, z: int; b: bool) returns (y: int);
let
  y = x;
  --%PROPERTY y = x;
tel
";
    let folder = Folder::with("m.lus", model);
    folder.write("in.csv", "x,z,b\n5,1,true\n,,\n,,\n");
    let ran = folder.run(&["simulate", "m.lus", "--inputs", "in.csv"]);
    let steps = ran.out.lines().next().unwrap_or_default();
    assert_eq!(
        steps.split_whitespace().collect::<Vec<_>>(),
        ["step", "0", "1", "2"],
        "{}",
        ran.out
    );
}

#[test]
fn a_property_with_a_blank_is_a_warning_with_the_right_form() {
    let model = "\
node top(x: int) returns (y: int);
let
  y = x;
  --% PROPERTY y > 0;
  --%PROPERTY y = x;
tel
";
    let ran = check("m.lus", model);
    ran.complains(&[
        "W0820",
        "`--% PROPERTY` is a comment, because of the blank",
        "write `--%PROPERTY`",
    ]);
}

//! Lustre programs whose equations go round in a circle: constraints, as in JKind.

use expect_test::expect;

use crate::support::Folder;

/// The second instant has one solution, the third none.
const ENDS: &str = "\
node main(a: int) returns (x: int);
var ok: bool;
let
  x = 0 -> if pre x = 0 then 3 - 2 * x else x + 1;
  ok = x <> 1;
  assert a = 5;
  --%PROPERTY ok;
tel
";

#[test]
fn the_cycle_is_shown_and_the_run_that_cannot_go_on() {
    needs_z3!();
    let folder = Folder::with("ends.lus", ENDS);
    let ran = folder.run(&["check", "ends.lus"]);
    assert_eq!(ran.code, 1);
    expect![[r#"
        warning[W1704]: `x` depends on itself at the same instant: x -> x
         --> ends.lus:4:3
          |
        4 |   x = 0 -> if pre x = 0 then 3 - 2 * x else x + 1;
          |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          = note: as in JKind the equations are constraints: streams have any values that satisfy them; Kind 2 refuses cycles
          = help: break the cycle with `pre`: the value of the instant before
    "#]]
    .assert_eq(&ran.err);
    expect![[r#"
        fails    ok  after 1 step
                 warning: the equations leave no step from the last state of the run
                 step    0      1
                 Inputs
                   a     5      5
                 Outputs
                   x     0      1*
                 Locals
                   ok true  false*
                 *: changed since the step before
        holds    1 structural check
    "#]]
    .assert_eq(&ran.out);
}

#[test]
fn a_simulation_solves_the_equations() {
    needs_z3!();
    let folder = Folder::with("ends.lus", ENDS);
    folder.write("two.csv", "a\n5\n5\n");
    folder.write("three.csv", "a\n5\n5\n5\n");
    let ran = folder.run(&["simulate", "ends.lus", "--inputs", "two.csv"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("x     0      1*"), "{}", ran.out);
    let ran = folder.run(&["simulate", "ends.lus", "--inputs", "three.csv"]);
    assert_eq!(ran.code, 2);
    let why = "three.csv, row 4: the equations and assumptions have no solution here with the values that are given";
    assert!(ran.err.contains(why), "{}", ran.err);
}

#[test]
fn what_excludes_every_run_is_named() {
    needs_z3!();
    let equations =
        "node main() returns (x, y: int); let x = y; y = x + 1; --%PROPERTY x > y;\ntel";
    // A program that only Kind 2 reads: JKind ignores assertions of called nodes.
    let assertions = "\
node sub(a: int) returns (b: int);
let
  b = a;
  assert a > 3;
tel
node main(a: int) returns (b: int);
let
  b = sub(a);
  assert true and then b < 3;
  --%PROPERTY b = 3;
tel
";
    let both =
        "node main(a: int) returns (x: int); let x = -x; assert x > 3; --%PROPERTY x = 0;\ntel";
    let start =
        "spec A var x: int assume low: x < 0 start { x > 0 } step s { x := x + 1 } always p: x > 0";
    let folder = Folder::new();
    for (name, text, why) in [
        ("equations.lus", equations, "no first instant satisfies the equations"),
        (
            "assertions.lus",
            assertions,
            "no first instant satisfies the assumptions: assertion of line 9, main.sub#1.assertion of line 4",
        ),
        (
            "both.lus",
            both,
            "no first instant satisfies the equations and the assumptions: assertion of line 1",
        ),
        ("start.sts", start, "no state satisfies its constraints and the assumptions: low"),
    ] {
        folder.write(name, text);
        let ran = folder.run(&["check", name]);
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert!(ran.out.lines().any(|l| l.trim() == why), "{why}\n{}", ran.out);
    }
}

//! Lustre programs whose equations go round in a circle: constraints, as in JKind.

use expect_test::expect;

use crate::support::{Folder, have_z3};

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
    if !have_z3("the_cycle_is_shown_and_the_run_that_cannot_go_on") {
        return;
    }
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
    if !have_z3("a_simulation_solves_the_equations") {
        return;
    }
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

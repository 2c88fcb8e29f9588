//! Runs: short, with simple numbers, and said to be shortest only where that is proved.

use expect_test::expect;

use crate::support::Folder;

/// Only `up` counts; the other steps are needless.
const NOISE: &str = "spec Noise
var x: int
var y: int
start -> N { x == 0  y == 0 }
node N {
  up   when x < 20 { x := x + 1 }
  down when x > 0  { x := x - 1 }
  spin             { y := 1 - y }
}
always small: x < 9
";

#[test]
fn random_runs_are_made_short() {
    let folder = Folder::with("noise.sts", NOISE);
    let args = ["check", "--engine", "simulate", "-p", "small", "noise.sts"];
    let ran = folder.run(&args);
    expect![[r#"
        fails    small  after 9 steps (a shorter run may exist)
                 always small: x < 9
                 0  start   x = 0, y = 0
                 9  up x 9  x = 9
    "#]]
    .assert_eq(&ran.out);
    let json = folder.run(&[&args[..], &["--json"]].concat()).validated("gander.schema.json");
    assert_eq!(json["results"][0]["length"], 9);
    assert_eq!(json["results"][0]["shortest"], false);
}

#[test]
fn a_run_is_called_shortest_where_the_shorter_ones_were_searched() {
    let folder = Folder::with("noise.sts", NOISE);
    let args = ["check", "--engine", "simulate,explicit", "-p", "small", "noise.sts"];
    let ran = folder.run(&args);
    ran.prints(&["fails    small  after 9 steps\n"]);
    let json = folder.run(&[&args[..], &["--json"]].concat()).validated("gander.schema.json");
    assert_eq!(json["results"][0]["shortest"], true);
}

const CHAIN: &str = "spec Chain
var x: int
start -> N { x == 0 }
node N {
  up   when x < 5 { x := x + 1 }
  down when x > 3 { x := x - 1 }
}
reachable two: x == 1 then x == 2
reachable wrong: x == 3 then x == 1
";

#[test]
fn the_depth_limit_counts_steps_of_the_model_for_chains() {
    needs_z3!();
    let folder = Folder::with("chain.sts", CHAIN);
    let args = ["check", "--engine", "bmc", "-p", "two", "chain.sts", "--max-depth"];
    let ran = folder.run(&[&args[..], &["3"]].concat());
    expect![[r#"
        holds    two  in 2 steps
                 0  start  x = 0
                 1  up     x = 1
                 2  up     x = 2
    "#]]
    .assert_eq(&ran.out);
    let ran = folder.run(&[&args[..], &["1"]].concat());
    expect![[r#"
        unknown  two
                 reachable two: x == 1 then x == 2
                 not decided by any run of up to 1 step
                 bmc: found nothing within 1 step, which is the limit
    "#]]
    .assert_eq(&ran.out);
}

#[test]
fn a_refuted_chain_says_why() {
    let folder = Folder::with("chain.sts", CHAIN);
    let ran = folder.run(&["check", "--engine", "explicit", "-p", "wrong", "chain.sts"]);
    expect![[r#"
        fails    wrong  all states seen, with the goals met before them
                 reachable wrong: x == 3 then x == 1
                 no run meets the goals in this order: every reachable state was looked at, with every number of goals met before it
    "#]]
    .assert_eq(&ran.out);
}

#[test]
fn a_chain_that_an_invariant_refutes_says_so() {
    needs_z3!();
    let folder = Folder::with("chain.sts", CHAIN);
    let ran = folder.run(&["check", "--engine", "pdr", "-p", "wrong", "chain.sts"]);
    ran.prints(&["no run meets the goals in this order: an invariant of the states"]);
    assert!(!ran.out.contains("every reachable state satisfies"), "{}", ran.out);
}

#[test]
fn decimals_are_written_as_such() {
    let model = "spec Clock
var t: real
var third: real
start -> N { t == 0  third == 0 }
node N { tick { t := t + 0.1  third := third + 1 / 3 } }
always early: t < 0.15
";
    let ran = Folder::with("clock.sts", model).run(&["check", "--engine", "simulate", "clock.sts"]);
    ran.prints(&["1  tick   t = 0.1, third = 1/3\n", "2  tick   t = 0.2, third = 2/3\n"]);
}

#[test]
fn an_infinite_run_has_its_conditions_and_parameters() {
    needs_z3!();
    let model = "spec Growing
var x: int
start -> N { x == 1 }
node N { up(by: int) when by > 0 and by < x + 1 { x := x + by } }
eventually ends: x <= 0
";
    let ran = Folder::with("growing.sts", model).run(&["check", "-p", "ends", "growing.sts"]);
    assert_eq!(ran.code, 1);
    assert!(!ran.out.contains("as long as"), "{}", ran.out);
    ran.prints(&["from here it can go on for ever", "in every state", "up(by = "]);
}

#[test]
fn every_language_has_trace_files() {
    let folder = Folder::with("noise.sts", NOISE.replace("x < 9", "x < 2"));
    let ran = folder.run(&["check", "--engine", "explicit", "--save-traces", "runs", "noise.sts"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    expect![[r#"
        step,@transition,x,y
        0,start,0,0
        1,up,1,0
        2,up,2,0
    "#]]
    .assert_eq(&folder.read("runs/noise.small.csv"));
    assert!(folder.read("runs/noise.small.vcd").contains("$enddefinitions"));
}

#[test]
fn a_short_time_limit_is_not_rounded() {
    let model = "spec Deep
var x: int
var y: int
start -> N { x == 0  y == 1 }
node N { up { x := x + y  y := y * 3 - x } }
always never: x != 123456789123456789
";
    let ran = Folder::with("deep.sts", model).run(&["check", "--timeout", "0.01", "deep.sts"]);
    assert!(!ran.out.contains("limit of 0 s"), "{}", ran.out);
}

#[test]
fn a_goal_that_is_lost_is_shown_with_a_shortest_run_to_a_state_without_it() {
    let model = "spec Path
var x: int 0..9
start { x == 0 }
step up when x < 9 { x := x + 1 }
step down when 0 < x and x < 4 { x := x - 1 }
possible home: x == 0
";
    let args = ["check", "--engine", "explicit", "-p", "home", "path.sts"];
    let ran = Folder::with("path.sts", model).run(&args);
    assert_eq!(ran.code, 1);
    ran.prints(&[
        "fails    home  after 4 steps",
        "4  up     x = 4\n",
        "from here it is not possible any more, whatever the run does\n",
    ]);
    assert!(!ran.out.contains("may exist"), "{}", ran.out);
    // Other engines enumerate states, too.
    let args = ["check", "--engine", "liveness", "-p", "home", "path.sts"];
    let ran = Folder::with("path.sts", model).run(&args);
    assert_eq!(ran.code, 1);
    ran.prints(&["fails    home  after 4 steps", "from here it is not possible any more"]);
}

#[test]
fn a_run_to_a_lost_goal_that_may_not_be_shortest_says_so() {
    needs_z3!();
    let model = "spec Path
var x: int
start { x == 0 }
step up { x := x + 1 }
step down when 0 < x and x < 4 { x := x - 1 }
possible home: x == 0
";
    let args = ["check", "--engine", "liveness", "-p", "home", "path.sts"];
    let ran = Folder::with("path.sts", model).run(&args);
    assert_eq!(ran.code, 1);
    ran.prints(&["(a shorter run may exist)", "from here it is not possible any more"]);
}

#[test]
fn steps_with_different_inputs_are_shown_one_by_one() {
    let model = "MODULE main
VAR n : 0..9;
IVAR up : boolean;
ASSIGN
  init(n) := 0;
  next(n) := case up & n mod 3 != 2 & n < 9 : n + 1; !up & n mod 3 = 2 : n + 1; TRUE : n; esac;
INVARSPEC NAME small := n < 8;
";
    let ran = Folder::with("n.smv", model).run(&["check", "--engine", "explicit", "n.smv"]);
    assert_eq!(ran.code, 1);
    ran.prints(&["8  step"]);
    assert!(!ran.out.contains("step x "), "{}", ran.out);
}

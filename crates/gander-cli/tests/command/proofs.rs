//! `--show-invariants` and `--induction-counterexamples`.

use expect_test::expect;

use crate::support::{COUNTER, Folder};

const BANK: &str = "\
spec Bank
var balance: real
start -> Open { balance == 0.0 }
node Open {
  deposit(amount: real) when amount >= 0.1 { balance := balance + amount }
  close -> Closed when balance > 0.25 { }
}
node Closed {
  wait { }
}
always solvent: balance >= 0.0
always paid:    in Closed -> balance > 0.25
";

#[test]
fn invariants_are_shown_by_node_with_decimals() {
    needs_z3!();
    let folder = Folder::with("bank.sts", BANK);
    let args = ["check", "--engine", "induction", "--checks", "none", "--show-invariants"];
    let ran = folder.run(&[&args[..], &["bank.sts"]].concat());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    expect![[r#"
        holds    solvent  inductive invariant
                 every reachable state satisfies this inductive invariant:
                   at Open    balance >= 0.0  (the claim)
                   at Closed  balance >= 0.0  (the claim)
                 left out: 1 conjunct that the proof does not need; the rest was checked again
        holds    paid     inductive invariant
                 every reachable state satisfies this inductive invariant:
                   at Open    any state
                   at Closed  balance > 0.25  (the claim)
                 left out: 2 conjuncts that the proof does not need; the rest was checked again
    "#]]
    .assert_eq(&ran.out);
}

#[test]
fn an_unreachable_goal_is_explained_by_the_invariant() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    let args = ["check", "--engine", "induction", "--show-invariants", "-p", "far", "counter.sts"];
    let ran = folder.run(&args);
    expect![[r#"
        fails    far  inductive invariant
                 reachable far: x > 3
                 every reachable state satisfies this inductive invariant:
                   at Low   x <= 3
                   at High  x <= 3
    "#]]
    .assert_eq(&ran.out);
}

#[test]
fn invariants_of_lustre_scripts_and_smv_have_their_syntax() {
    needs_z3!();
    let lustre = "\
node main(up: bool) returns (ok: bool);
var n: int; level: real; last: int;
let
  n = 0 -> if up then pre n + 1 else pre n;
  level = 0.1 -> pre level + 0.1;
  last = 0 -> pre n;
  ok = n >= 0 and level > 0.05 and not (last > n);
  --%PROPERTY ok;
  --%MAIN;
tel
";
    let script = "\
VARS:
  int x : 0..9;
  bool full;
INIT:
  x = 0;
  full = false;
TRANS:
  ? x < 5 -> x = x + 1;
  ? x == 5 -> full = true;
SAFE five: !full | x == 5
";
    let smv = "\
MODULE main
VAR
  x : 0..9;
  full : boolean;
ASSIGN
  init(x) := 0;
  init(full) := FALSE;
  next(x) := x < 5 ? x + 1 : x;
  next(full) := x = 5 | full;
INVARSPEC full -> x = 5
";
    let mut all = String::new();
    for (name, text) in [("main.lus", lustre), ("five.script", script), ("five.smv", smv)] {
        let folder = Folder::with(name, text);
        let args = ["check", "--engine", "induction", "--checks", "none", "--show-invariants"];
        let ran = folder.run(&[&args[..], &[name]].concat());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{name}");
        all += &ran.out;
    }
    expect![[r#"
        holds    ok  inductive invariant
                 every reachable state satisfies this inductive invariant:
                   ok = (n >= 0 and level > 0.05 and n >= last)
                   n >= 0
                   level > 0.05
                   n >= last
        holds    five  inductive invariant
                 every reachable state satisfies this inductive invariant:
                   x == 5 | !full  (the claim)
        holds    INVARSPEC  inductive invariant
                 every reachable state satisfies this inductive invariant:
                   full -> x = 5  (the claim)
    "#]]
    .assert_eq(&all);
}

/// `c` is true only if `a` was true two steps ago, which is never.
const SHIFT: &str = "\
spec Shift
var a, b, c: bool
start { not a, not b, not c }
step go { b := a, c := b }
always never: not c
allow W0805
";

#[test]
fn internal_streams_of_lustre_are_shown_as_expressions() {
    needs_z3!();
    let model = "\
node main(a, b: int) returns (y: int);
let
  assert a >= 0 and b >= 0;
  y = 0 -> pre y + (if a > pre (a + b) then 1 else 0);
  check \"g\" y + (0 -> pre (y + 1)) >= 0;
tel
";
    let folder = Folder::with("main.lus", model);
    let args = ["check", "--engine", "induction", "--checks", "none", "--show-invariants"];
    let ran = folder.run(&[&args[..], &["main.lus"]].concat());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    expect![[r#"
        holds    g  2-inductive invariant
                 every reachable state satisfies this 2-inductive invariant:
                   (y + (0 -> pre (y + 1)) >= 0)  (the claim)
                 2-inductive: it holds in runs of fewer than 2 steps, and if it holds in 2 successive states, it holds in the next one
                 left out: 1 conjunct that the proof does not need; the rest was checked again
    "#]]
    .assert_eq(&ran.out);
}

#[test]
fn a_k_inductive_proof_says_its_k() {
    needs_z3!();
    let folder = Folder::with("shift.sts", SHIFT);
    let args = ["check", "--engine", "induction", "--checks", "none", "--show-invariants"];
    let ran = folder.run(&[&args[..], &["shift.sts"]].concat());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    expect![[r#"
        holds    never  3-inductive invariant
                 every reachable state satisfies this 3-inductive invariant:
                   not c  (the claim)
                 3-inductive: it holds in runs of fewer than 3 steps, and if it holds in 3 successive states, it holds in the next one
    "#]]
    .assert_eq(&ran.out);
}

#[test]
fn an_enumeration_is_not_called_an_invariant() {
    let folder = Folder::with("counter.sts", COUNTER);
    let args = ["check", "--engine", "explicit", "--show-invariants", "-p", "small", "counter.sts"];
    let ran = folder.run(&args);
    expect![[r#"
        holds    small  all 9 reachable states seen
                 no invariant: all 9 reachable states were enumerated
    "#]]
    .assert_eq(&ran.out);
}

#[test]
fn json_has_the_invariant() {
    needs_z3!();
    let folder = Folder::with("bank.sts", BANK);
    let args = ["check", "--json", "--engine", "induction", "--checks", "none"];
    let ran = folder.run(&[&args[..], &["--show-invariants", "bank.sts"]].concat());
    let json = ran.validated("gander.schema.json");
    let invariant = &json["results"][1]["invariant"];
    assert_eq!((&invariant["k"], &invariant["left_out"]), (&1.into(), &2.into()));
    let nodes = &invariant["nodes"];
    assert_eq!(nodes[0]["conjuncts"].as_array().map(Vec::len), Some(0));
    assert_eq!((&nodes[1]["node"], &nodes[1]["unreachable"]), (&"Closed".into(), &false.into()));
    assert_eq!(nodes[1]["conjuncts"][0]["text"], "balance > 0.25");
    assert_eq!(nodes[1]["conjuncts"][0]["of_claim"], true);
}

/// 7 is odd and never reached, but only from states that are never reached either.
const EVEN: &str = "\
spec Even
var x: int
start { x == 0 }
step two { x := if x == 8 then 0 else x + 2 }
always    small: x <= 8
always    odd:   x != 7
reachable seven: x == 7
";

fn unknown(more: &[&str], properties: &[&str]) -> crate::support::Ran {
    let mut args =
        vec!["check", "--engine", "induction", "--induction", "none", "--max-depth", "1"];
    args.extend(["--checks", "none", "--allow", "all", "--induction-counterexamples"]);
    args.extend(properties.iter().flat_map(|p| ["-p", p]));
    args.extend(more);
    args.push("even.sts");
    Folder::with("even.sts", EVEN).run(&args)
}

#[test]
fn a_counterexample_to_induction_is_labelled_as_unreachable_perhaps() {
    needs_z3!();
    let ran = unknown(&[], &["odd", "seven"]);
    assert_eq!((ran.code, ran.err.as_str()), (3, ""));
    for line in [
        "-induction does not prove it: true in state",
        "-induction does not refute it: false in state",
        "these states may be unreachable: this is not a run from a start",
        "two          x = 7\n",
        "if no run reaches state 0, an invariant that is false in it may help: write it as an \
         `invariant` in its node, or another `always` claim\n",
        "if a run reaches state 0, the claim fails, and a longer time limit",
        "if a run reaches state 0, the claim holds, and a longer time limit",
    ] {
        assert!(ran.out.contains(line), "{line}\n{}", ran.out);
    }
}

#[test]
fn json_has_the_counterexample_to_induction() {
    needs_z3!();
    let ran = unknown(&["--json"], &["odd"]);
    assert_eq!((ran.code, ran.err.as_str()), (3, ""));
    let json = ran.validated("gander.schema.json");
    let found = &json["results"][0]["induction"];
    let states = found["states"].as_array().expect("states");
    assert_eq!(found["ends"], "violation");
    assert_eq!(found["known_reachable"], false);
    assert_eq!(found["k"], states.len() - 1);
    assert_eq!(states[states.len() - 1]["values"]["x"], "7");
    assert_eq!(states[states.len() - 2]["values"]["x"], "5");
}

#[test]
fn proved_claims_hold_in_counterexamples_to_induction() {
    needs_z3!();
    // `positive` is proved and excludes negative numbers, so the longest sequence is 1, 3, 5, 7.
    let model = EVEN.replace("always    small: x <= 8", "always    positive: x >= 0");
    let args = ["check", "--engine", "induction", "--induction", "none", "--max-depth", "1"];
    let more = ["--checks", "none", "--allow", "all", "--induction-counterexamples", "even.sts"];
    let folder = Folder::with("even.sts", model);
    let ran = folder.run(&[&args[..], &more[..]].concat());
    assert!(ran.out.contains("proved claims hold in all of them: positive\n"), "{}", ran.out);
    assert!(!ran.out.contains("x = -1"), "{}", ran.out);
}

#[test]
fn a_claim_about_maximal_runs_has_no_counterexample_to_induction() {
    let model = "spec Up\nvar x: int\nstart { x == 0 }\nstep up { x := x + 1 }\n\
                 eventually far: x > 5\n";
    let args = ["check", "--engine", "induction", "--checks", "none", "--allow", "all"];
    let folder = Folder::with("up.sts", model);
    let ran = folder.run(&[&args[..], &["--induction-counterexamples", "up.sts"]].concat());
    let line = "no counterexample to induction is shown: that is done for `always` claims and for a \
                goal about states\n";
    assert!(ran.out.contains(line), "{}", ran.out);
}

#[test]
fn verdicts_stay_when_the_search_for_counterexamples_uses_up_the_time() {
    needs_z3!();
    let hard = "spec Hard\nvar x, y: int\nstart { x == 1, y == 1 }\n\
                step f { x := x * x + y * y + 1, y := y * x + 3 }\n\
                always small: x * x * x + y * y * y != 1729\n";
    let folder = Folder::with("hard.sts", hard);
    let ran = folder.run(&["check", "-t", "3", "--induction-counterexamples", "hard.sts"]);
    assert!(ran.out.contains("unknown  small"), "{}", ran.out);
    assert!(ran.out.contains("1 start is satisfiable"), "{}", ran.out);
}

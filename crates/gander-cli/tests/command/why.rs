use expect_test::expect;
use serde_json::Value;

use crate::support::{COUNTER, Folder, Ran};

const TOGGLES: &str = include_str!("../../../../corpus/lustre/fails/toggles.lus");

const THERMOSTAT: &str = "\
node thermostat(outside: int; window: bool) returns (inside: int; heat: bool; warm: bool);
let
  assert -10 <= outside and outside <= 10;
  heat = false -> pre inside < 18;
  inside = 20 -> pre inside + (if heat then 2 else 0) - (if window then 3 else 1) + (if outside > 0 then 1 else 0);
  warm = inside > 14;
  --%PROPERTY warm;
tel
";

const BANK: &str = "\
spec Bank
var balance: int
var owner: string
start { balance == 50 }
step deposit(amount: int) when amount > 0 { balance := balance + amount }
step withdraw(amount: int) when amount > 0 and amount <= balance { balance := balance - amount - 1 }
always    solvent: balance >= 0
reachable rich:    balance >= 1000
reachable twice:   withdraw then deposit with amount > 7
";

fn validated(ran: &Ran) -> Value {
    ran.validated("gander-explain.schema.json")
}

#[test]
fn a_run_of_two_switches_is_explained() {
    needs_z3!();
    let ran = Folder::with("toggles.lus", TOGGLES).run(&["explain", "--contrast", "toggles.lus"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    expect![[r#"
        ok: fails after 1 step; no run is shorter
          step       0       1
          Inputs
            press true     any
          Outputs
            ok    true   false*
          toggle1#1
            on    true  false~*
          toggle2#1
            on    true   true~
          *: changed since the step before
          2 more streams (--trace full shows them)
          any: whatever it is, it ends alike; ~: follows from these
          with these choices it is forced by:
            toggle1.on           line 6     on = press -> if press then not pre on else pre on;
            toggle2.on           line 11    on = press -> press;
            ok                   line 16    ok = toggle1(press) = toggle2(press);
            call toggle1(press)  line 16    toggle1(press)
            call toggle2(press)  line 16    toggle2(press)
          the nearest run in which it holds: 1 of 2 choices differs
            step                 here  there
               0  press          true  false  chosen
               0  toggle1#1.on   true  false
               0  toggle2#1.on   true  false
               1  ok            false   true
               1  toggle1#1.on  false   true

    "#]]
    .assert_eq(&ran.out);
}

#[test]
fn a_run_of_a_thermostat_is_explained() {
    needs_z3!();
    let ran = Folder::with("thermostat.lus", THERMOSTAT).run(&[
        "explain",
        "--contrast",
        "thermostat.lus",
    ]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    let head = "warm: fails after 3 steps; no run is shorter; 1 change of what is chosen, the fewest possible\n";
    assert!(ran.out.starts_with(head), "{}", ran.out);
    assert!(ran.out.contains("    window      any   true"), "{}", ran.out);
    assert!(ran.out.contains("    outside -10..10"), "{}", ran.out);
    assert!(
        ran.out.contains("the nearest run in which it holds: 1 of 8 choices differs"),
        "{}",
        ran.out
    );
}

#[test]
fn a_run_of_an_account_is_explained() {
    needs_z3!();
    let folder = Folder::with("bank.sts", BANK);
    let ran = folder.run(&["explain", "--contrast", "bank.sts"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    expect![[r#"
        solvent: fails after 1 step; no run is shorter
          0  start                  balance = 50, owner = any
          1  withdraw(amount = 50)  balance = -1
          any: whatever it is, it ends alike
          with these choices it is forced by:
            start constraint 1   line 4     balance == 50
            withdraw balance :=  line 6     balance := balance - amount - 1
          the nearest run in which it holds: 1 of 2 choices differs
            step           here  there
               1  amount     50     49  chosen
               1  balance    -1      0

        rich: holds after 1 step; no run is shorter
          0  start                           balance = 50, owner = any
          1  deposit(amount = at least 950)  balance = 1000~
          any: whatever it is, it ends alike; ranges such as at least 950: with all of these it ends alike; ~: follows from these
          with these choices it is forced by:
            start constraint 1  line 4     balance == 50
            deposit balance :=  line 5     balance := balance + amount
          the nearest run that does not get there: 1 of 2 choices differs
            step           here  there
               1  amount    950    949  chosen
               1  balance  1000    999

        twice: holds after 2 steps; no run is shorter; 1 change of what is chosen, the fewest possible
          0  start                         balance = 50, owner = any
          1  withdraw(amount = 1..50)      balance = 48~
          2  deposit(amount = at least 8)  balance = 56~
          any: whatever it is, it ends alike; ranges such as 1..50: with all of these it ends alike; ~: follows from these
          with these choices it ends so whatever the model does
          no run is shown beside it: that is done for a single goal only

    "#]].assert_eq(&ran.out);
}

#[test]
fn structural_claims_are_explained_if_named() {
    needs_z3!();
    let source = "
spec Stuck
var x: int
start -> A { x == 0 }
node A {
  up(n: int) when n > 0 and n < 3 { x := x + n }
  over -> B when x > 3
}
node B {
  back(n: int) -> A when n > x and n < 5 { x := 0 }
}
";
    let folder = Folder::with("stuck.sts", source);
    let ran = folder.run(&["explain", "-p", "no sinkhole B", "stuck.sts"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    expect![[r#"
        no sinkhole B: fails after 3 steps; no run is shorter; 1 change of what is chosen, the fewest possible
          0  start      A     x = 0
          1  up(n = 2)  A     x = 2
          2  up(n = 2)  A     x = 4
          3  over       B
             here no transition of B is enabled, whatever its parameters
          with these choices it is forced by:
            start constraint 1  line 4     x == 0
            up x :=             line 6     x := x + n
            back guard 1        line 10    n > x
            back guard 2        line 10    n < 5

    "#]]
    .assert_eq(&ran.out);
}

#[test]
fn runs_of_a_divided_model_are_forced_by_conjuncts_and_branches() {
    needs_z3!();
    let branches = "\
spec Round
var x: int
start { x == 0 }
step go { x := if x < 5 then x + 1 else 0 }
always small: x < 3
";
    let starts = "\
spec Both
var x: int
var y: int
var b: bool
start { y == 0  x == (if y == 0 then 0 else 7)  b == (x < 9 and y < 9) }
assume b == (x < 20 and y < 20)
step go(n: int) when n == (if x < 5 then 2 else 1) { x := if x < 5 then x + n else 0 }
always small: x < 3
";
    let streams = "\
node n(up: bool) returns (x: int; both: bool; ok: bool);
let
  assert not (x > 9) and x > -9;
  x = 0 -> if up then pre x + 1 else pre x;
  both = (x >= 0 and x < 3) and (true -> pre x < 5);
  ok = both;
  --%PROPERTY ok;
tel
";
    for (name, model, steps, forcing) in [
        ("round.sts", branches, 3, "go x :="),
        ("both.sts", starts, 2, "go x :="),
        ("n.lus", streams, 3, "x"),
    ] {
        let folder = Folder::with(name, model);
        let plain = validated(&folder.run(&["explain", "--json", "--contrast", name]));
        for granularity in ["conjuncts", "branches"] {
            let ran = folder.run(&[
                "explain",
                "--json",
                "--contrast",
                "--granularity",
                granularity,
                name,
            ]);
            assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{name} {granularity}: {}", ran.out);
            let divided = validated(&ran);
            let run = |v: &Value, key: &str| v["runs"][0][key].clone();
            for key in ["length", "free", "follows", "contrast", "notes", "evidence"] {
                assert_eq!(run(&divided, key), run(&plain, key), "{name} {granularity} {key}");
            }
            // The number of changes of the first run depends on the engine that found it.
            for key in ["count", "least"] {
                let changes = |v: &Value| run(v, "changes")[key].clone();
                assert_eq!(
                    changes(&divided),
                    changes(&plain),
                    "{name} {granularity} changes {key}"
                );
            }
            assert_eq!(run(&divided, "length")["count"], steps, "{name} {granularity}");
            let forced = run(&divided, "forced_by");
            let names: Vec<&str> =
                forced.as_array().unwrap().iter().filter_map(Value::as_str).collect();
            assert!(
                names.iter().any(|n| n.starts_with(forcing)),
                "{name} {granularity}: {names:?}"
            );
            let text =
                folder.run(&["explain", "--trace", "full", "--granularity", granularity, name]);
            assert_eq!(
                (text.code, text.err.as_str()),
                (1, ""),
                "{name} {granularity}: {}",
                text.out
            );
            assert!(!text.out.contains("@part"), "{}", text.out);
        }
    }
}

#[test]
fn a_stuck_run_is_contrasted_with_one_that_may_end() {
    needs_z3!();
    let two_ways = "
spec Ways
var x: int
start -> A { x == 0 }
node A { astray -> B
  home -> F }
node B { on -> B when x > 0 }
final node F
no deadlock
";
    let one_way = two_ways.replace("  home -> F }", "}").replace("final node F", "");
    for claim in ["no sinkhole B", "no deadlock"] {
        let ran = Folder::with("ways.sts", two_ways).run(&[
            "explain",
            "--contrast",
            "-p",
            claim,
            "ways.sts",
        ]);
        assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{}", ran.out);
        assert!(!ran.out.contains("there is no run"), "{}", ran.out);
        let head =
            "the nearest run in which it holds: 1 of 1 choice differs, by other transitions\n";
        assert!(ran.out.contains(head), "{}", ran.out);
        assert!(ran.out.contains("transition  astray   home  chosen"), "{}", ran.out);
        let ran = Folder::with("way.sts", &one_way).run(&[
            "explain",
            "--contrast",
            "-p",
            claim,
            "way.sts",
        ]);
        assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{}", ran.out);
        let none = "there is no run of 1 step to compare it with: all of them show the same\n";
        assert!(ran.out.contains(none), "{}", ran.out);
    }
}

#[test]
fn a_run_of_a_script_is_explained() {
    needs_z3!();
    let source = "\
VARS:
  int x : 0..20;
  int y : 0..20;
INIT:
  x = 0;
  y = 0;
TRANS:
  x = x + 1;
  y = y + 2;
SAFE small: x + y < 5
";
    let folder = Folder::with("two.script", source);
    let ran = folder.run(&["explain", "two.script"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{}", ran.out);
    let run = "\
small: fails after 3 steps; no run is shorter; no change of what is chosen
  0  start           x = 0, y = 0
  1  rule2 (line 9)  y = 2
  2  rule2 (line 9)  y = 4
  3  rule2 (line 9)  y = 6
  with these choices it is forced by:
";
    assert!(
        ran.out.starts_with(run)
            && ran.out.contains("    rule2 y :=          line 9     y = y + 2"),
        "{}",
        ran.out
    );
}

#[test]
fn a_loop_is_described_by_the_fewest_steps() {
    needs_z3!();
    let source = "
spec Loop
var x: int
start { x == 0 }
step up when x < 3 { x := x + 1 }
step back when x == 3 { x := 1 }
always eventually done: x == 7
";
    let ran = Folder::with("loop.sts", source).run(&["explain", "loop.sts"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    // The run is infinite, so its end is not explained.
    let head = "done: fails on an infinite run: 1 step, then 3 steps repeated for ever; \
                none is described by fewer steps; 1 change of what is chosen in these steps, the fewest possible\n";
    assert!(ran.out.starts_with(head), "{}", ran.out);
    assert!(ran.out.contains("repeats from state 1"), "{}", ran.out);
}

#[test]
fn explained_runs_are_written_as_json_and_files() {
    needs_z3!();
    let folder = Folder::with("bank.sts", BANK);
    let args = [
        "explain",
        "--contrast",
        "--json",
        "--html",
        "bank.html",
        "--save-traces",
        "runs",
        "bank.sts",
    ];
    let ran = folder.run(&args);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    let value = validated(&ran);
    let runs = value["runs"].as_array().unwrap();
    let solvent = &runs[0];
    assert_eq!((&solvent["property"], &solvent["verdict"]), (&"solvent".into(), &"fails".into()));
    assert_eq!(solvent["length"]["least"], true);
    assert_eq!(solvent["contrast"]["differing"], 1);
    let owner = |f: &Value| f["name"] == "owner" && f["any"] == true;
    assert!(solvent["free"].as_array().unwrap().iter().any(owner), "{solvent:#}");
    // The run is evidence that the checker accepts.
    folder.write("evidence.json", solvent["evidence"].to_string());
    let certified = folder.run(&["certify", "bank.sts", "evidence.json"]);
    assert_eq!(certified.code, 0, "{} {}", certified.out, certified.err);
    let csv = folder.read("runs/bank.solvent.csv");
    assert!(csv.starts_with("step,@transition,"), "{csv}");
    assert_eq!(csv.lines().count(), 3);
    assert!(folder.read("runs/bank.solvent.vcd").contains("$enddefinitions"));
    let page = folder.read("bank.html");
    assert!(page.contains("<td data-at=\"1\"") && page.contains("data-forced=\"e"), "{page}");
    let none = folder.run(&["explain", "--html", "none/bank.html", "bank.sts"]);
    assert_eq!(none.code, 2, "{}", none.err);
    // Without a run the output has its old form.
    let model = COUNTER
        .replace("always    unseen:  not seen\nreachable high:    in High\nreachable twice:   rise then rise\n", "");
    let quiet = Folder::with("c.sts", model).run(&["explain", "--json", "-p", "small", "c.sts"]);
    assert!(validated(&quiet).get("runs").is_none(), "{}", quiet.out);
}

#[test]
fn only_changes_of_values_are_marked_as_changes() {
    needs_z3!();
    let model = "node acc(v: int) returns (s: int);
let
  s = (if v < 0 then 0 else if v > 6 then 6 else v) -> pre s + (if v < 0 then 0 else if v > 6 then 6 else v);
  check \"small\" s <= 17;
tel
";
    let ran = Folder::with("m.lus", model).run(&["explain", "m.lus"]);
    assert!(ran.out.contains("no change of what is chosen"), "{}", ran.out);
    let inputs: Vec<&str> = ran.out.lines().filter(|l| l.starts_with("    v ")).collect();
    assert!(!inputs.is_empty() && inputs.iter().all(|l| !l.contains('*')), "{}", ran.out);
}

#[test]
fn a_value_without_an_alternative_is_not_shown_as_free() {
    needs_z3!();
    let model = "spec T var sum: int start { sum == 0 }
step add(n: int 1..3) when sum + n <= 6 { sum := sum + n }
reachable one: sum == 1 then sum == 2 then sum == 3
";
    let folder = Folder::with("m.sts", model);
    let ran = folder.run(&["explain", "--html", "r.html", "m.sts"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let page = folder.read("r.html");
    assert!(!page.contains("1 do as well; 1 in this run"), "{page}");
    assert!(!ran.out.contains("with all of these"), "{}", ran.out);
}

#[test]
fn a_value_that_varies_after_a_fixed_one_is_shown() {
    needs_z3!();
    let model = "spec Shop
enum Drink { Tea, Cola }
var credit: int
var last: Drink
start { credit == 0, last == Tea }
step serve(d: Drink) { credit := credit - 1, last := d }
always paid: credit >= 0
";
    // The value after the step is that before it in this run, and another one in others.
    let ran = Folder::with("shop.sts", model).run(&["explain", "shop.sts"]);
    ran.prints(&["1  serve(d = any)  credit = -1, last = Tea~\n"]);
}

#[test]
fn explained_runs_of_scripts_give_the_lines_of_rules() {
    needs_z3!();
    let script = "VARS:\n  int x;\nINIT:\n  x = 0;\nTRANS:\n  x = x + 1;\nSAFE: x < 1\n";
    let ran = Folder::with("m.script", script).run(&["explain", "m.script"]);
    ran.prints(&["1  rule1 (line 6)  x = 1\n"]);
}

#[test]
fn runs_of_families_of_any_size_are_explained_by_instance() {
    needs_z3!();
    let model = "spec Cell
var full: bool
start { full == false }
step fill when not full { full := true }

system Cells = c: Cell[N]
const N: int 2..
always some_empty: exists i in c. not c[i].full
";
    let folder = Folder::with("cells.sts", model);
    let ran = folder.run(&["explain", "--contrast", "cells.sts"]);
    assert!(!ran.out.contains("else:"), "{}", ran.out);
    ran.prints(&["N = 2, c[0].full = false, c[1].full = false\n", "c[1].full = true\n"]);
    let page = folder.run(&["report", "cells.sts", "-o", "cells.html"]);
    assert_eq!(page.code, 1, "{} {}", page.out, page.err);
    let page = std::fs::read_to_string(folder.path.join("cells.html")).unwrap();
    assert!(page.contains("c[0].full") && !page.contains("else:"), "{page}");
}

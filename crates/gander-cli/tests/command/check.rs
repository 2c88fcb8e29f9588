use expect_test::expect;

use crate::support::{COUNTER, Folder};

#[test]
fn text_has_a_line_for_each_claim() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER.replace("reachable far:     x > 3\n", ""));
    // Select the engine, because another one might give a different proof.
    let ran = folder.run(&["check", "--engine", "simulate,bmc,induction", "counter.sts"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    expect![[r#"
        holds    small   inductive invariant
        fails    unseen  after 4 steps
                 always unseen: not seen
                 0  start  Low   x = 0, seen = false
                 1  up     Low   x = 1
                 2  up     Low   x = 2
                 3  up     Low   x = 3
                 4  rise   High  seen = true
        holds    high    in 4 steps
                    the first 3 steps as for `unseen` above
                 4  rise  High  seen = true
        holds    twice   in 9 steps
                    the first 4 steps as for `unseen` above
                 5  down  Low   x = 0
                 6  up    Low   x = 1
                 7  up    Low   x = 2
                 8  up    Low   x = 3
                 9  rise  High
        holds    6 structural checks: 1 start is satisfiable, 3 transitions can be enabled, 2 nodes have no sinkhole
        9 hold, 1 fails
    "#]]
    .assert_eq(&ran.out);
}

#[test]
fn what_cannot_happen_is_explained() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    let ran = folder.run(&["check", "--engine", "induction", "-p", "far", "counter.sts"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    expect![[r#"
        fails    far  inductive invariant
                 reachable far: x > 3
                 no run does it, because every reachable state satisfies
                   at Low   x <= 3
                   at High  x <= 3
    "#]]
    .assert_eq(&ran.out);
}

#[test]
fn full_runs_have_every_value() {
    needs_z3!();
    let args = ["check", "--trace", "full", "--property", "high", "-p", "unseen", "counter.sts"];
    let ran = Folder::with("counter.sts", COUNTER).run(&args);
    expect![[r#"
        holds    high    in 4 steps
                 0  start  Low   x = 0, seen = false
                 1  up     Low   x = 1, seen = false
                 2  up     Low   x = 2, seen = false
                 3  up     Low   x = 3, seen = false
                 4  rise   High  x = 3, seen = true
        fails    unseen  after 4 steps
                 always unseen: not seen
                 0  start  Low   x = 0, seen = false
                 1  up     Low   x = 1, seen = false
                 2  up     Low   x = 2, seen = false
                 3  up     Low   x = 3, seen = false
                 4  rise   High  x = 3, seen = true
        1 holds, 1 fails
    "#]]
    .assert_eq(&ran.out);
}

#[test]
fn structural_checks_are_listed_when_they_fail() {
    needs_z3!();
    let model = "\
spec Trap
var x: int
start -> A { x == 0 }
node A {
  go -> B { x := 5 }
  never when x > 100 { x := 0 }
}
node B { back -> A when x < 3 }
";
    let folder = Folder::with("trap.sts", model);
    let ran = folder.run(&["check", "--checks", "no-sinkhole", "trap.sts"]);
    assert_eq!(ran.code, 1);
    expect![[r#"
        fails    no sinkhole B  after 1 step
                 0  start  A     x = 0
                 1  go     B     x = 5
                    here no transition of B is enabled, whatever its parameters
        holds    1 structural check
    "#]]
    .assert_eq(&ran.out);
    expect![[r#"
        warning[W0803]: nothing is claimed, so there is nothing to prove
         --> trap.sts:1:6
          |
        1 | spec Trap
          |      ^^^^
          = help: add for example `always NAME: formula` or `reachable NAME: formula`
    "#]]
    .assert_eq(&ran.err);
    let ran = folder.run(&["check", "--checks", "none", "trap.sts"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("nothing to decide"), "{}", ran.err);
    let ran = folder.run(&["check", "--quiet", "--checks", "can-enable", "trap.sts"]);
    assert_eq!(ran.out, "trap.sts: fails can enable never\ntrap.sts: fails can enable back\n");
}

#[test]
fn unknown_says_why() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    folder.write(
        "live.sts",
        "spec L var x: int start { x == 0 } step up { x := x + 1 } eventually big: x > 9",
    );
    let ran = folder.run(&["check", "--checks", "none", "--engine", "bmc", "live.sts"]);
    assert_eq!(ran.code, 3);
    expect![[r#"
        unknown  big
                 eventually big: x > 9
                 portfolio: none of the chosen engines decides `eventually` claims
    "#]]
    .assert_eq(&ran.out);
    let ran =
        folder.run(&["check", "--checks", "none", "--engine", "none", "--with", "z3", "live.sts"]);
    assert!(ran.out.contains("portfolio: no engine takes part\n"), "{}", ran.out);
    let ran = folder.run(&["check", "--engine", "none", "live.sts"]);
    assert_eq!(ran.code, 2, "{} {}", ran.out, ran.err);
    assert!(ran.err.contains("name other tools with `--with`"), "{}", ran.err);
    let ran =
        folder.run(&["check", "--engine", "bmc", "-p", "small", "--timeout", "0.3", "counter.sts"]);
    assert_eq!(ran.code, 3, "{} {}", ran.out, ran.err);
    assert!(ran.out.starts_with("unknown  small"), "{}", ran.out);
    assert!(ran.out.contains("stopped by the time limit of 0.3 s"), "{}", ran.out);
    assert!(
        ran.out.contains("bmc: ") && ran.out.contains("not decided by any run of up to "),
        "{}",
        ran.out
    );
}

#[test]
fn a_loop_is_shown_as_one() {
    needs_z3!();
    let model =
        "spec L var on: bool start { on == false } step set when not on { on := true } step flip { on := not on }
        eventually rests: false  always eventually up: on";
    let ran = Folder::with("live.sts", model).run(&["check", "--checks", "none", "live.sts"]);
    assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("for ever around a loop of "), "{}", ran.out);
    assert!(ran.out.contains("the loop:"), "{}", ran.out);
    assert!(ran.out.contains("repeats from state "), "{}", ran.out);
    assert!(ran.out.contains("holds    up"), "{}", ran.out);
}

#[test]
fn quiet_prints_what_does_not_hold() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    let ran = folder.run(&["check", "--quiet", "counter.sts"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    assert_eq!(ran.out, "counter.sts: fails unseen\ncounter.sts: fails far\n");
    let ran = folder.run(&["check", "-q", "--property", "small", "counter.sts"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
}

#[test]
fn several_files_give_the_worst_code() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    folder.write(
        "good.sts",
        "spec G var x: int start { x == 0 } step s { x := 1 - x } always p: x <= 1",
    );
    folder.write("bad.sts", "spec");
    let ran = folder.run(&["check", "good.sts", "counter.sts"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.starts_with("good.sts\nholds    p"), "{}", ran.out);
    assert!(ran.out.contains("\ncounter.sts\n"), "{}", ran.out);
    assert_eq!(folder.run(&["check", "counter.sts", "bad.sts"]).code, 2);
    assert_eq!(folder.run(&["check", "good.sts", "./good.sts"]).code, 0);
}

#[test]
fn output_is_coloured_only_on_request() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    let ran = folder.run(&["check", "--color", "always", "-p", "small", "counter.sts"]);
    assert!(ran.out.starts_with("\x1b[32mholds\x1b[0m"), "{:?}", ran.out);
    let ran = folder.run(&["check", "-p", "small", "counter.sts"]);
    assert!(!ran.out.contains('\x1b'), "{:?}", ran.out);
}

#[test]
fn a_model_is_read_from_standard_input() {
    needs_z3!();
    let ran = Folder::new().run_with_input(&["check", "-p", "small", "-"], COUNTER.as_bytes());
    assert_eq!(ran.code, 0);
    assert!(ran.out.starts_with("holds    small"), "{}", ran.out);
}

#[test]
fn conversations_are_kept() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    let ran = folder.run(&["check", "--log-smt", "logs/smt", "-p", "small", "counter.sts"]);
    assert_eq!(ran.code, 0);
    let logs: Vec<_> = std::fs::read_dir(folder.path.join("logs/smt"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    assert!(!logs.is_empty());
    for log in logs {
        assert_eq!(log.extension().unwrap(), "smt2");
        assert!(std::fs::read_to_string(&log).unwrap().contains("(check-sat"), "{}", log.display());
    }
}

/// Engine, then claim; `all` where one session serves several claims.
#[test]
fn conversations_are_named_by_engine_and_claim() {
    needs_z3!();
    let folder = Folder::with("counter.sts", format!("{COUNTER}can enable rise\n"));
    let logs = |args: &[&str]| {
        let ran = folder.run(
            &[&["check", "--checks", "none", "--log-smt", "."], args, &["counter.sts"]].concat(),
        );
        assert!(ran.code <= 1, "{} {}", ran.out, ran.err);
        let logs: Vec<String> =
            folder.names().into_iter().filter(|n| n.ends_with(".smt2")).collect();
        logs.iter().for_each(|log| std::fs::remove_file(folder.path.join(log)).unwrap());
        logs
    };
    let one = logs(&["--engine", "bmc", "-p", "can enable rise"]);
    let named = |n: &String| n.starts_with("bmc-can_enable_rise-") && n.ends_with("-runs-0.smt2");
    assert!(one.iter().any(named), "{one:?}");
    let several = logs(&["--engine", "bmc", "-p", "unseen", "-p", "high", "-p", "twice"]);
    // A chain of goals is decided on a separate system, so its session serves one claim.
    for expected in ["bmc-all-runs-", "bmc-twice-runs-"] {
        assert!(several.iter().any(|n| n.starts_with(expected)), "{expected}: {several:?}");
    }
    let proof = logs(&["--engine", "induction", "-p", "far"]);
    assert!(proof.iter().any(|n| n.starts_with("certify-far-")), "{proof:?}");
    let step = logs(&["--engine", "induction", "-p", "unseen"]);
    assert!(step.iter().any(|n| n.starts_with("induction-unseen-step-")), "{step:?}");
    let together = logs(&["--engine", "induction", "-p", "unseen", "-p", "high"]);
    assert!(together.iter().any(|n| n.starts_with("induction-all-step-")), "{together:?}");
}

#[test]
fn conversations_of_several_files_are_kept_apart() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    std::fs::write(folder.path.join("again.sts"), COUNTER).unwrap();
    folder.run(&["check", "--log-smt", "logs", "-p", "small", "counter.sts", "again.sts"]);
    for own in ["1-counter", "2-again"] {
        assert!(
            std::fs::read_dir(folder.path.join("logs").join(own)).unwrap().count() > 0,
            "{own}"
        );
    }
}

/// With a solver that answers `unsat` to every query, engines propose wrong proofs. A second
/// opinion detects them.
#[test]
fn a_verdict_that_fails_its_check_is_an_internal_error() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    let liar = "#!/bin/sh\nwhile read -r line; do case \"$line\" in *check-sat*) echo unsat;; *exit*) exit;; \
                *get-unsat*) echo '()';; *echo*) echo \"$line\" | sed 's/.*\\(\".*\"\\).*/\\1/';; esac; done\n";
    folder.write_program("liar", liar);
    let args = [
        "check",
        "--solver",
        "yices=./liar",
        "--second-opinion",
        "z3",
        "-p",
        "unseen",
        "--engine",
        "induction",
        "--timeout",
        "3",
    ];
    let ran = folder.run(&[&args[..], &["counter.sts"]].concat());
    assert_eq!(ran.code, 4, "{} {}", ran.out, ran.err);
    assert!(!ran.out.contains("holds"), "{}", ran.out);
    assert!(
        ran.out.contains("internal error:") && ran.out.contains("did not pass its check"),
        "{}",
        ran.out
    );
    let file =
        folder.names().into_iter().find(|n| n.starts_with("gander-internal-error-")).unwrap();
    assert!(ran.out.contains(&format!("gander certify ./{file}")), "{}", ran.out);
    let again = folder.run(&["certify", &file]);
    assert_eq!(again.code, 1, "{} {}", again.out, again.err);
    assert!(again.out.starts_with("rejected:"), "{}", again.out);
    let json = folder.run(&[&args[..], &["--json", "counter.sts"]].concat());
    assert_eq!(json.code, 4);
    let value: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(value["results"], serde_json::json!([]));
    assert!(value["diagnostics"].as_array().unwrap().iter().any(|d| d["code"] == "internal"));
}

#[test]
fn a_missing_solver_is_reported_with_the_set_up_command() {
    // Ints could be enumerated, and linear claims proved, without a solver.
    let folder = Folder::with(
        "counter.sts",
        COUNTER.replace("x: int", "x: real").replace("x <= 3", "x * x <= 9.0"),
    );
    let mut command = folder.command(&["check", "--timeout", "0.3", "-p", "small", "counter.sts"]);
    command.env("GANDER_Z3", "none").env("GANDER_YICES", "none").env("PATH", "");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("no solver was found") && err.contains("gander setup"), "{err}");
}

/// In JKind all unguarded `pre x` have the same first value, in Kind 2 each may have its own. A
/// claim that depends on this is unknown.
#[test]
fn verdicts_do_not_depend_on_how_unguarded_pre_is_read() {
    let model = "\
node top(x: int) returns (ok: bool);
let
  ok = (pre x = pre x);
  --%PROPERTY ok;
  check \"either\" pre x > 0 or pre x <= 7 or x > 0;
  check \"neither\" true -> (pre x = pre x) and x < 5;
tel
";
    let folder = Folder::with("top.lus", model);
    let ran = folder.run(&["check", "--json", "top.lus"]);
    let view: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let verdict = |name: &str| {
        let all = view["results"].as_array().unwrap();
        let found = all
            .iter()
            .find(|r| r["claim"] == name)
            .unwrap_or_else(|| panic!("{name}: {}", ran.out));
        found["verdict"].as_str().unwrap().to_string()
    };
    assert_eq!(
        [verdict("ok"), verdict("either"), verdict("neither")],
        ["unknown", "unknown", "fails"]
    );
    assert!(ran.out.contains("in JKind every `pre x` has the same"), "{}", ran.out);
    assert_eq!(ran.code, 1);
}

/// In JKind an unguarded `pre` of an expression is the expression over the values before the first
/// instant; in Kind 2 it is any value. Under `condact`, and for expressions with `pre` or `->`, it
/// is any value in both.
#[test]
fn unguarded_pre_of_an_expression_is_read_in_two_ways() {
    let model = "\
node two(y: int) returns (same: bool);
let
  same = (pre y = pre y);
tel
node sub(y: bool) returns (z: bool);
let
  z = pre (y or not y);
tel
node top(x: bool; n: int) returns (ok: bool);
let
  --%MAIN;
  ok = pre (x or not x);
  --%PROPERTY ok;
  check \"constant\" pre true;
  check \"sum\" pre (n + 1) = pre n + 1;
  check \"element\" (pre [x, true])[1];
  check \"in a call\" sub(x);
  check \"of a variable\" pre (if x then n else n) = pre n;
  check reachable \"reached\" pre false;
  check \"wrong\" pre (n + 1) = pre n;
  check \"negated\" not pre true;
  check \"under arrow\" pre (0 -> n) = pre (0 -> n);
  check \"of outputs\" pre sub(x) = pre sub(x);
  check \"condact\" condact(x, sub(x), true);
  check \"late\" condact(false -> true, two(n), true);
  check reachable \"variable\" pre x;
  check \"guarded\" true -> pre true;
  check \"either\" pre (n > 0) or not pre (n > 0) or x or not x;
tel
";
    let expected = [
        (
            "unknown",
            &["ok", "constant", "sum", "element", "in a call", "of a variable", "reached"][..],
        ),
        ("fails", &["wrong", "negated", "under arrow", "of outputs", "condact", "late"]),
        ("holds", &["variable", "guarded", "either"]),
    ];
    let folder = Folder::with("top.lus", model);
    for modular in [&[][..], &["--modular"]] {
        let ran = folder.run(&[&["check", "--json", "top.lus"], modular].concat());
        let view: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        let all = view["results"].as_array().unwrap();
        for (verdict, names) in expected {
            for name in names {
                let found = all
                    .iter()
                    .find(|r| r["claim"] == *name)
                    .unwrap_or_else(|| panic!("{name}: {}", ran.out));
                assert_eq!(found["verdict"], verdict, "{name} {modular:?}");
            }
        }
    }
    let written = folder.run(&["export", "--to", "lustre", "top.lus"]);
    assert!(written.err.contains("readers of the language differ"), "{}", written.err);
}

/// A saved run that is a run in only one reading of the language is not accepted.
#[test]
fn certify_knows_both_readings_of_unguarded_pre() {
    let model = "node n(x: int) returns (ok: bool);\nlet\n  ok = not (pre x > 2 and pre x > 1);\n  --%PROPERTY ok;\ntel\n";
    let folder = Folder::with("n.lus", model);
    assert_eq!(folder.run(&["check", "--save-evidence", "proofs", "n.lus"]).code, 1);
    let file = "proofs/n+lus.ok.evidence.json";
    assert_eq!(folder.run(&["certify", "n.lus", file]).code, 0);
    let text = std::fs::read_to_string(folder.path.join(file)).unwrap();
    let mut saved: serde_json::Value = serde_json::from_str(&text).unwrap();
    // Still a run in which `ok` is false, but with two different values of x before the first
    // instant.
    saved["evidence"]["first"]["values"]["x@before"] = "1234".into();
    folder.write("other.json", saved.to_string());
    let ran = folder.run(&["certify", "n.lus", "other.json"]);
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("in JKind every `pre x` has the same"), "{}", ran.out);
}

/// Both orders find a run. Only breadth-first search shows that its run is shortest.
#[test]
fn paths_are_followed_in_the_order_that_is_asked_for() {
    needs_z3!();
    let folder = Folder::with("counter.sts", COUNTER);
    for order in ["breadth-first", "depth-first"] {
        let ran = folder.run(&[
            "check",
            "--engine",
            "paths",
            "--paths",
            order,
            "-p",
            "twice",
            "counter.sts",
        ]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
        assert!(ran.out.contains("holds    twice"), "{}", ran.out);
        assert!(order == "depth-first" || ran.out.contains("in 9 steps"), "{}", ran.out);
    }
    assert_eq!(folder.run(&["check", "--paths", "sideways", "counter.sts"]).code, 2);
}

#[test]
fn a_stopped_search_does_not_say_that_it_found_nothing() {
    needs_z3!();
    let model = "spec Card
var debt, late: int
start -> Active { debt == 0, late == 0 }
node Active {
  buy(n: int 1..60) when debt + n <= 100 { debt := debt + n }
  repay(n: int 1..60) when n <= debt { debt := debt - n, late := 0 }
  miss when debt > 0 and late < 2 { late := late + 1 }
  close -> Closed when debt * debt * debt == 17
}
final node Closed
eventually closes: in Closed
";
    let ran = Folder::with("m.sts", model).run(&["check", "--timeout", "0.02", "m.sts"]);
    assert!(!ran.out.contains("neither a lasso"), "{}", ran.out);
    if ran.out.contains("stopped before a lasso") {
        ran.prints(&["stopped by the time limit of 0.02 s"]);
    }
}

#[test]
fn a_search_that_meets_a_large_number_says_after_how_many_states() {
    needs_z3!();
    let model = "spec N
var x, y: int
start { x == 3, y == 2 }
step sq { x := x * x - y }
step mul { x := x * y + 1, y := y + 1 }
always p: x * x + y * y != 123457
";
    let folder = Folder::with("m.sts", model);
    let ran = folder.run(&["check", "--engine", "explicit", "--timeout", "20", "m.sts"]);
    ran.prints(&["a number needs more than 64 bits, after "]);
    assert!(!ran.out.contains("after 0 states"), "{}", ran.out);
}

#[test]
fn a_bound_under_fairness_counts_rounds() {
    needs_z3!();
    let model = "spec F
var n: int 0..3
start -> A { n == 0 }
node A {
  inc when n < 3 { n := n + 1 }
  rest
  go -> B when n == 3
}
node B { back -> A { n := 0 } }
weakly fair inc
strongly fair go
always eventually b: in B under inc, go
";
    let ran = Folder::with("m.sts", model).run(&["check", "-p", "b", "m.sts"]);
    assert!(!ran.out.contains("is met at most"), "{}", ran.out);
    ran.prints(&["before it, each with every fairness condition met"]);
}

#[test]
fn claims_of_a_file_that_is_read_as_two_systems_are_in_its_order() {
    needs_z3!();
    let model = "MODULE main\nVAR b : boolean;\nINVARSPEC NAME one := b | !b;\n\
                 LTLSPEC NAME two := F b;\nINVARSPEC NAME three := b | !b;\n";
    let out = Folder::with("m.smv", model).run(&["check", "m.smv"]).out;
    let at = |name: &str| out.find(&format!("  {name}")).unwrap_or(usize::MAX);
    assert!(at("one") < at("two") && at("two") < at("three"), "{out}");
}

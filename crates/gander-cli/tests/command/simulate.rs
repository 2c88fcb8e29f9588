use expect_test::expect;

use crate::support::{COUNTER, Folder};

const ACCOUNT: &str = "\
spec Account
var balance: real
var note: string
start -> Open { balance == 50, note == \"\" }
node Open {
  deposit(amount: real) when amount > 0 { balance := balance + amount }
  rename(text: string) { note := text }
  drift { balance' > balance, balance' < balance + 10 }
  close -> Closed when balance == 0
}
final node Closed
";

#[test]
fn a_script_gives_a_run() {
    needs_z3!();
    let folder = Folder::with("a.sts", ACCOUNT);
    folder.write("script", "# a comment\ndeposit amount=1/3\nrename(text = \"a \\\"b\\\"\")\ndrift balance'=55\nundo\ndrift balance' = 54.5\n");
    let ran = folder.run(&["simulate", "a.sts", "--script", "script"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    expect![[r#"
        0  start                     Open  balance = 50, note = ""
        1  deposit(amount = 1/3)     Open  balance = 151/3
        2  rename(text = "a \"b\"")  Open  note = "a \"b\""
        3  drift                     Open  balance = 54.5
    "#]]
    .assert_eq(&ran.out);
    assert_eq!(
        folder.run_with_input(&["simulate", "a.sts"], folder.read("script").as_bytes()).out,
        ran.out
    );
}

#[test]
fn a_saved_run_can_be_taken_again() {
    needs_z3!();
    let folder = Folder::with("a.sts", ACCOUNT);
    let first =
        folder.run_with_input(&["simulate", "a.sts", "--seed", "7"], b"random 12\nsave run.txt\n");
    assert_eq!((first.code, first.err.as_str()), (0, ""));
    let again = folder.run(&["simulate", "a.sts", "--script", "run.txt"]);
    assert_eq!(format!("saved run.txt\n{}", again.out), first.out);
    let random = folder.run(&["simulate", "a.sts", "--random", "12", "--seed", "7"]);
    assert_eq!(random.out, again.out);
}

#[test]
fn mistakes_name_the_line() {
    needs_z3!();
    let folder = Folder::with("a.sts", ACCOUNT);
    for (script, expected) in [
        ("deposit amount=-1", "line 1: `deposit` is not enabled"),
        ("deposit amount=1\nclose", "line 2: `close` is not enabled"),
        ("depsoit", "line 1: `depsoit` is not known here; did you mean `deposit`?"),
        ("deposit amount=x", "line 1: amount: a value of sort real was expected"),
        ("deposit amuont=1", "line 1: `amuont` cannot be chosen here"),
        ("deposit balance'=3", "line 1: `balance'` cannot be chosen here"),
        ("undo", "line 1: this is the beginning of the run"),
        ("9", "line 1: there is no transition 9 here"),
        ("rename text=\"", "line 1: a quote is not closed"),
        ("start balance=3", "line 1: `start` has no start state with these values"),
        ("save", "line 1: save takes the name of a file"),
    ] {
        let ran = folder.run_with_input(&["simulate", "a.sts"], script.as_bytes());
        assert_eq!(ran.code, 2, "{script}");
        assert!(ran.err.contains(expected), "{script}: {}", ran.err);
    }
}

#[test]
fn show_and_help_are_printed() {
    needs_z3!();
    let folder = Folder::with("c.sts", COUNTER);
    let ran = folder.run_with_input(
        &["simulate", "c.sts"],
        b"show\n1\nup\n1\nshow\nrise\nreset\nhelp\nquit\nnonsense\n",
    );
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    expect![[r#"
        0  Low  x = 0, seen = false
          1  up
          2  rise -> High  (not enabled)
        3  Low  x = 3, seen = false
          1  up  (not enabled)
          2  rise -> High
        NUMBER or NAME [x=5 ...]  take that transition; what you do not give is chosen
                                  (y'=3 asks for a next value)
        random [N]                take N random steps (1)
        undo [N]                  take N steps back (1)
        reset                     back to the first state
        start [NAME] [x=5 ...]    begin anew
        show                      show state and transitions again
        run                       print the run so far
        save FILE                 write the run as a script for --script
        quit                      end
        0  start  Low   x = 0, seen = false
    "#]]
    .assert_eq(&ran.out);
}

#[test]
fn simulation_stops_at_the_end_of_input_and_rejects_invalid_input() {
    needs_z3!();
    let folder = Folder::with("c.sts", COUNTER);
    let ran = folder.run(&["simulate", "c.sts"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "0  start  Low   x = 0, seen = false\n"));
    assert_eq!(folder.run_with_input(&["simulate", "c.sts"], b"\xff\xfe\n").code, 2);
    assert_eq!(folder.run(&["simulate", "c.sts", "--script", "none"]).code, 2);
    assert_eq!(folder.run_with_input(&["simulate", "-"], COUNTER.as_bytes()).code, 2);
    folder.write("dead.sts", "spec D var x: int start { x == 0, x == 1 } step s { x := x }");
    let ran = folder.run(&["simulate", "dead.sts"]);
    assert_eq!((ran.code, ran.err.as_str()), (2, "error: `start` has no start state\n"));
}

#[test]
fn random_runs_end_where_nothing_is_possible() {
    needs_z3!();
    let folder = Folder::with(
        "m.sts",
        "spec M var x: int start { x == 0 } step s when x < 2 { x := x + 1 }",
    );
    let ran = folder.run(&["simulate", "m.sts", "--random", "10"]);
    assert_eq!(ran.code, 0);
    assert_eq!(
        ran.out,
        "0  start  x = 0\n1  s      x = 1\n2  s      x = 2\nno further step after 2\n"
    );
}

#[test]
fn a_claim_that_a_step_breaks_is_named() {
    needs_z3!();
    let folder = Folder::with("c.sts", COUNTER);
    let script = b"up\nup\nup\nshow\nrise\nshow\ndown\n";
    let ran = folder.run_with_input(&["simulate", "c.sts"], script);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    expect![[r#"
        3  Low  x = 3, seen = false
          1  up  (not enabled)
          2  rise -> High
        4  High  x = 3, seen = true
           unseen is false
          1  down -> Low
        0  start  Low   x = 0, seen = false
        1  up     Low   x = 1
        2  up     Low   x = 2
        3  up     Low   x = 3
        4  rise   High  seen = true
        5  down   Low   x = 0
        unseen is false at step 4
    "#]]
    .assert_eq(&ran.out);
}

#[test]
fn the_run_of_evidence_is_replayed() {
    needs_z3!();
    let folder = Folder::with("c.sts", COUNTER);
    assert_eq!(folder.run(&["check", "c.sts", "--save-evidence", "."]).code, 1);
    let ran = folder.run(&["simulate", "c.sts", "--replay", "c.unseen.evidence.json"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    expect![[r#"
        replayed: unseen fails, 4 steps
        0  start  Low   x = 0, seen = false
        1  up     Low   x = 1
        2  up     Low   x = 2
        3  up     Low   x = 3
        4  rise   High  seen = true
        unseen is false at step 4
    "#]]
    .assert_eq(&ran.out);
    // The simulation continues after the run.
    let args = ["simulate", "c.sts", "--replay", "c.unseen.evidence.json"];
    let ran = folder.run_with_input(&args, b"undo 3\nup\n");
    assert!(ran.out.ends_with("2  up     Low   x = 2\n"), "{}", ran.out);
    // A proof, and a run of another model, are rejected.
    let ran = folder.run(&["simulate", "c.sts", "--replay", "c.small.evidence.json"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("is a proof, not a run"), "{}", ran.err);
    folder.write("d.sts", COUNTER.replace("x < 3", "x < 2"));
    let ran = folder.run(&["simulate", "d.sts", "--replay", "c.unseen.evidence.json"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("at step 3, `up` is not enabled"), "{}", ran.err);
    let ran = folder.run(&["simulate", "c.sts", "--replay", "none.json"]);
    assert_eq!(ran.code, 2);
}

#[test]
fn the_run_of_a_dataflow_program_is_replayed() {
    needs_z3!();
    let model = "node up(go: bool) returns (n: int; ok: bool);\nlet\n  n = (if go then 1 else 0) + (0 -> pre n);\n  ok = n < 3;\n  --%PROPERTY ok;\ntel\n";
    let folder = Folder::with("m.lus", model);
    assert_eq!(folder.run(&["check", "m.lus", "--save-evidence", "."]).code, 1);
    let names = folder.names();
    let evidence = names.iter().find(|n| n.ends_with("ok.evidence.json")).unwrap();
    let ran = folder.run(&["simulate", "m.lus", "--replay", evidence]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.starts_with("replayed: ok fails, 2 steps\n"), "{}", ran.out);
    assert!(ran.out.ends_with("ok is false at step 2\n"), "{}", ran.out);
}

#[test]
fn the_step_limit_of_a_script_is_no_deadlock() {
    let model =
        "MAXSTEPS: 2\nVARS:\n  int x : 0..9;\nINIT:\n  x = 0;\nTRANS:\n  x = x + 1;\nSAFE: x < 9\n";
    let folder = Folder::with("m.script", model);
    let limit = "the run has reached the step limit of the script, MAXSTEPS 2\n";
    let ran = folder.run(&["simulate", "m.script", "--random", "5"]);
    assert!(ran.out.ends_with(limit), "{}", ran.out);
    folder.write("steps", "rule1\nrule1\nshow\nrule1\n");
    let ran = folder.run(&["simulate", "m.script", "--script", "steps"]);
    assert!(ran.out.contains(limit), "{}", ran.out);
    ran.complains(&["`rule1` is not enabled: the run has reached the step limit of the script"]);
    // A run may end before the limit.
    let folder = Folder::with("m.script", model.replace("  x = x", "  ? x < 1 -> x = x"));
    let ran = folder.run(&["simulate", "m.script", "--random", "5"]);
    assert!(ran.out.ends_with("no further step after 1\n"), "{}", ran.out);
}

#[test]
fn random_runs_choose_inputs_and_open_values_by_the_seed() {
    needs_z3!();
    let models = [
        (
            "m.sts",
            "spec Rain var level: int input rain: int 0..9 start { level == 0 }\n\
             step fill { level := level + rain } always p: level < 1000",
        ),
        (
            "m.script",
            "VARS:\n  int pos : 0..90;\n  nondet int wind : 0..9;\nINIT:\n  pos = 0;\nTRANS:\n  pos = pos + wind;\nSAFE p: pos < 1000\n",
        ),
        (
            "m.smv",
            "MODULE main\nVAR b : 0..9; n : 0..9;\nASSIGN init(n) := 0; next(n) := b;\nINVARSPEC n < 5\n",
        ),
    ];
    for (name, text) in models {
        let folder = Folder::with(name, text);
        let run = |seed: &str| folder.run(&["simulate", "--random", "8", "--seed", seed, name]);
        let all: Vec<String> = ["1", "2", "3"].iter().map(|s| run(s).out).collect();
        assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2], "{name}: {}", all[0]);
        assert_eq!(all[0], run("1").out, "{name}");
    }
}

#[test]
fn a_step_that_is_not_enabled_is_reported_with_its_values() {
    needs_z3!();
    let model = "spec C var debt: int start { debt == 60 }\n\
                 step buy(n: int 1..60) when debt + n <= 100 { debt := debt + n }\n\
                 always p: debt >= 0";
    let folder = Folder::with("m.sts", model);
    let ran = folder.run_with_input(&["simulate", "m.sts"], b"buy n=41\nbuy n=40\n");
    ran.complains(&["`buy` is not enabled with n = 41"]);
}

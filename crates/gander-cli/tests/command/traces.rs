//! Runs of Lustre models: tables, files, simulation.

use expect_test::expect;

use crate::support::Folder;

/// Every input of the runs that break `small` is determined, so every solver gives the same.
const PUMP: &str = "\
type mode = enum { Idle, Run, Fault };
node counter(reset: bool; by: int) returns (n: int);
var before: int;
let
  before = 0 -> pre n;
  n = if reset then 0 else before + by;
tel
node pump(go, stop: bool) returns (m: mode; total: int; heat: real);
var small, quiet: bool; age: int;
let
  total = counter(stop, if go then 2 else 0);
  m = if stop then Fault else if go then Run else Idle;
  heat = 1.0 / 3.0 -> pre heat + 1.0 / 3.0;
  age = 0 -> pre age + 1;
  small = total < 7;
  quiet = age < 3;
  --%PROPERTY small;
tel
";

/// A node whose only failing property depends on the value before the first step.
const UNGUARDED: &str = "\
node n(x: int) returns (y: int);
var ok: bool; a, b, c, d: int;
let
  y = pre x;
  a = pre x; b = pre a; c = pre b; d = pre c;
  ok = y <> 41;
  --%PROPERTY ok;
tel
";

#[test]
fn a_counterexample_is_a_table_of_streams() {
    needs_z3!();
    let folder = Folder::with("pump.lus", PUMP);
    let ran = folder.run(&["check", "--engine", "bmc", "pump.lus"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    expect![[r#"
        fails    small  after 3 steps
                 step         0      1      2      3
                 Inputs
                   go      true   true   true   true
                   stop   false  false  false  false
                 Outputs
                   m        Run    Run    Run    Run
                   total      2      4*     6*     8*
                   heat     1/3    2/3*     1*   4/3*
                 Locals
                   small   true   true   true  false*
                 counter#1
                   by         2      2      2      2
                   n          2      4*     6*     8*
                   before     0      2*     4*     6*
                 *: changed since the step before
                 3 more streams (--all shows them)
    "#]]
    .assert_eq(&ran.out);
    let ran = folder.run(&["check", "--engine", "bmc", "--all", "pump.lus"]);
    expect![[r#"
        fails    small  after 3 steps
                 step         0      1      2      3
                 Inputs
                   go      true   true   true   true
                   stop   false  false  false  false
                 Outputs
                   m        Run    Run    Run    Run
                   total      2      4*     6*     8*
                   heat     1/3    2/3*     1*   4/3*
                 Locals
                   small   true   true   true  false*
                   quiet   true   true   true  false*
                   age        0      1*     2*     3*
                 counter#1
                   reset  false  false  false  false
                   by         2      2      2      2
                   n          2      4*     6*     8*
                   before     0      2*     4*     6*
                 *: changed since the step before
    "#]]
    .assert_eq(&ran.out);
}

#[test]
fn a_saved_counterexample_runs_again() {
    needs_z3!();
    let folder = Folder::with("pump.lus", PUMP);
    let ran = folder.run(&["check", "--save-traces", "runs", "pump.lus"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    expect![[r#"
        step,go,stop,m,total,heat,small,quiet,age,pump.counter#1.reset,pump.counter#1.by,pump.counter#1.n,pump.counter#1.before
        0,true,false,Run,2,1/3,true,true,0,false,2,2,0
        1,true,false,Run,4,2/3,true,true,1,false,2,4,2
        2,true,false,Run,6,1,true,true,2,false,2,6,4
        3,true,false,Run,8,4/3,false,false,3,false,2,8,6
    "#]].assert_eq(&folder.read("runs/pump+lus.small.csv"));
    let again = folder.run(&["simulate", "pump.lus", "--inputs", "runs/pump+lus.small.csv"]);
    assert_eq!((again.code, again.err.as_str()), (0, ""));
    expect![[r#"
        step        0      1      2      3
        Inputs
          go     true   true   true   true
          stop  false  false  false  false
        Outputs
          m       Run    Run    Run    Run
          total     2      4*     6*     8*
          heat    1/3    2/3*     1*   4/3*
        Locals
          small  true   true   true  false*
          quiet  true   true   true  false*
          age       0      1*     2*     3*
        *: changed since the step before
        4 more streams (--all shows them)
        small is false at step 3
    "#]]
    .assert_eq(&again.out);
    // Every stream is what the checker said, and the run can be saved and taken again.
    let script = b"go=true stop=false\ngo=1 stop=0\nstep go=TRUE, stop=false\ngo=true stop=false\nsave again.csv\n";
    assert_eq!(folder.run_with_input(&["simulate", "pump.lus"], script).code, 0);
    assert_eq!(folder.read("again.csv"), folder.read("runs/pump+lus.small.csv"));
}

#[test]
fn values_before_the_first_step_are_kept() {
    needs_z3!();
    let folder = Folder::with("u.lus", UNGUARDED);
    let ran = folder.run(&["check", "--save-traces", "runs", "u.lus"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    ran.prints(&["before step 0, as an unguarded `pre` found it: x = 41"]);
    let two = "node n(x: int) returns (ok: bool); let ok = not (pre x = 3 and pre x < 4); --%PROPERTY ok;\ntel\n";
    folder.write("two.lus", two);
    let both = folder.run(&["check", "two.lus"]);
    // A run counts only if both have the same value.
    both.prints(&["found it: x = 3"]);
    let again = folder.run(&["simulate", "u.lus", "--inputs", "runs/u+lus.ok.csv"]);
    assert_eq!((again.code, again.err.as_str()), (0, ""));
    again.prints(&["ok is false at step 0"]);
}

#[test]
fn machine_integers_are_numbers_of_their_type() {
    needs_z3!();
    let model = "\
node top(a: int8; b: uint8) returns (s: int8; u: uint8);
var ok: bool; old: int8;
let
  old = pre s;
  s = a - (int8 1);
  u = b + (uint8 255);
  ok = not (a = (int8 (-128)) and b = (uint8 0) and old = (int8 (-3)));
  --%PROPERTY ok;
tel
";
    let folder = Folder::with("m.lus", model);
    let ran = folder.run(&["check", "--save-traces", "runs", "m.lus"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    expect![[r#"
        fails    ok  at the start
                 step      0
                 Inputs
                   a    -128
                   b       0
                 Outputs
                   s     127
                   u     255
                 Locals
                   ok  false
                   old    -3
                 before step 0, as an unguarded `pre` found it: s = -3
    "#]]
    .assert_eq(&ran.out);
    let again = folder.run(&["simulate", "m.lus", "--inputs", "runs/m+lus.ok.csv"]);
    assert!(
        again.out.contains("-128") && again.out.contains("ok is false at step 0"),
        "{} {}",
        again.out,
        again.err
    );
}

#[test]
fn warnings_of_a_kind_are_counted() {
    needs_z3!();
    let folder = Folder::with("u.lus", UNGUARDED);
    let count = |text: &str| text.matches("warning[W1701]").count();
    let all = folder.run(&["check", "--all", "u.lus"]);
    let few = folder.run(&["check", "u.lus"]);
    assert!(count(&all.err) > 3, "{}", all.err);
    assert_eq!(count(&few.err), 2);
    let line = format!("... and {} more warnings W1701 (--all shows them)\n", count(&all.err) - 2);
    assert!(few.err.ends_with(&line), "{}", few.err);
    let json = folder.run(&["check", "--json", "u.lus"]);
    assert_eq!(json.out.matches("\"W1701\"").count(), count(&all.err));
    assert_eq!(folder.run(&["check", "--quiet", "u.lus"]).err, "");
}

#[test]
fn tables_of_inputs_are_checked() {
    let folder = Folder::with("pump.lus", PUMP);
    for (table, expected) in [
        ("", "the file is empty"),
        ("go\ntrue\n", "row 1: there is no column for the input `stop`"),
        ("go,stop,go\n", "row 1: the column `go` is there twice"),
        ("go,stpo\n", "row 1: there is no stream `stpo`; did you mean `stop`?"),
        (
            "go,stop\ntrue,false\ntrue,maybe\n",
            "row 3, column `stop`: a value of sort bool was expected (found `maybe`)",
        ),
        ("go,stop\ntrue\n", "row 2: 1 value where the header has 2 columns"),
        ("go,stop\ntrue,\"false\n", "row 2: a quote is not closed"),
    ] {
        folder.write("in.csv", table);
        let ran = folder.run(&["simulate", "pump.lus", "--inputs", "in.csv"]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{table}");
        assert!(ran.err.contains(expected) && ran.err.contains("in.csv"), "{table}: {}", ran.err);
    }
    assert_eq!(folder.run(&["simulate", "pump.lus", "--inputs", "none.csv"]).code, 2);
    folder.write("c.sts", crate::support::COUNTER);
    assert!(folder.run(&["simulate", "c.sts", "--inputs", "in.csv"]).err.contains("--script"));
}

#[test]
fn assumptions_are_kept() {
    needs_z3!();
    let model = "node n(x: int) returns (y: int); let y = x + (0 -> pre y); assert x > 100000 and x < 100003; tel";
    let folder = Folder::with("n.lus", model);
    let ran = folder.run(&["simulate", "n.lus", "--random", "3"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let inputs = ran.out.lines().find(|l| l.trim_start().starts_with("x ")).unwrap();
    let values: Vec<&str> =
        inputs.split_whitespace().skip(1).map(|v| v.trim_end_matches('*')).collect();
    assert!(
        values.len() == 4 && values.iter().all(|v| ["100001", "100002"].contains(v)),
        "{}",
        ran.out
    );
    folder.write("in.csv", "x\n100001\n7\n");
    let ran = folder.run(&["simulate", "n.lus", "--inputs", "in.csv"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("in.csv, row 3: with these values the assumption")
            && ran.out.contains("y  100001")
    );
}

#[test]
fn a_root_can_be_chosen() {
    let model = "node a(x: int) returns (y: int); let y = x; --%PROPERTY y = x;\ntel\n\
                 node b(x: int) returns (z: int); let z = x + 1; --%PROPERTY z > x;\ntel\n";
    let folder = Folder::with("ab.lus", model);
    folder.write("in.csv", "x\n3\n");
    let run =
        |root: &[&str]| folder.run(&[&["simulate", "ab.lus", "--inputs", "in.csv"], root].concat());
    assert!(run(&[]).out.contains("y  3"), "{}", run(&[]).out);
    assert!(run(&["--root", "b"]).out.contains("z  4"), "{}", run(&["--root", "b"]).out);
    let wrong = run(&["--root", "c"]);
    assert_eq!(
        (wrong.code, wrong.err.as_str()),
        (2, "error: there is no root `c`; there is `a`, `b`\n")
    );
}

#[test]
fn scripts_simulate_streams() {
    let folder = Folder::with("pump.lus", PUMP);
    for (script, expected) in [
        ("go=3", "line 1: go: a value of sort bool was expected"),
        ("total=3", "line 1: `total` cannot be chosen here: its equation gives its value"),
        ("gu=true", "line 1: there is no stream `gu`; did you mean `go`?"),
        ("go=true go=false", "line 1: `go` is given twice"),
        ("go=true\nundo 2", "line 2: this is the beginning of the run"),
        ("stpe", "line 1: `stpe` is not known here; did you mean `step`?"),
        ("save x.csv", "line 1: there is nothing to save yet"),
    ] {
        let ran = folder.run_with_input(&["simulate", "pump.lus"], script.as_bytes());
        assert_eq!(ran.code, 2, "{script}");
        assert!(ran.err.contains(expected), "{script}: {}", ran.err);
    }
    let ran = folder.run_with_input(
        &["simulate", "pump.lus"],
        b"random 5\nundo 4\nreset\ngo=true stop=true\nquit\nx",
    );
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    expect![[r#"
        step        0
        Inputs
          go     true
          stop   true
        Outputs
          m     Fault
          total     0
          heat    1/3
        Locals
          small  true
          quiet  true
          age       0
        4 more streams (--all shows them)
    "#]]
    .assert_eq(&ran.out);
    let one = folder.run(&["simulate", "pump.lus", "--random", "30", "--seed", "4"]);
    assert_eq!(one.out, folder.run(&["simulate", "pump.lus", "--random", "30", "--seed", "4"]).out);
    assert!(one.out.lines().all(|l| l.len() <= 80), "{}", one.out);
}

/// What a reader of value change dumps sees: signals by path, and the values of each in time.
struct Dump {
    /// Path, kind, width, code.
    signals: Vec<(String, String, usize, String)>,
    /// Time, code, value.
    changes: Vec<(u64, String, String)>,
    end: u64,
}

fn read_dump(text: &str) -> Dump {
    let mut dump = Dump { signals: Vec::new(), changes: Vec::new(), end: 0 };
    let mut words = text.split_whitespace();
    let mut scopes: Vec<String> = Vec::new();
    let section = |words: &mut std::str::SplitWhitespace<'_>| -> Vec<String> {
        words.by_ref().take_while(|w| *w != "$end").map(str::to_string).collect()
    };
    loop {
        match words.next().unwrap() {
            "$scope" => scopes.push(section(&mut words)[1].clone()),
            "$upscope" => {
                section(&mut words);
                scopes.pop().unwrap();
            }
            "$var" => {
                let [kind, width, code, name] = &section(&mut words)[..] else {
                    panic!("a $var of four words")
                };
                assert!(code.chars().all(|c| ('!'..='~').contains(&c)));
                assert!(["wire", "integer", "real", "string"].contains(&kind.as_str()), "{kind}");
                let path = format!("{}.{name}", scopes.join("/"));
                dump.signals.push((path, kind.clone(), width.parse().unwrap(), code.clone()));
            }
            "$enddefinitions" => {
                section(&mut words);
                break;
            }
            "$version" | "$timescale" => {
                section(&mut words);
            }
            other => panic!("{other}"),
        }
    }
    assert!(scopes.is_empty());
    let mut time = None;
    while let Some(word) = words.next() {
        let (first, rest) = word.split_at(1);
        match first {
            "#" => {
                let next: u64 = rest.parse().unwrap();
                assert!(time.is_none_or(|t| t < next));
                time = Some(next);
                dump.end = next;
            }
            "$" => assert!(["dumpvars", "end"].contains(&rest), "{rest}"),
            "0" | "1" => dump.changes.push((time.unwrap(), rest.to_string(), first.to_string())),
            "b" | "r" | "s" => {
                let code = words.next().unwrap().to_string();
                if first == "r" {
                    rest.parse::<f64>().unwrap();
                }
                if first == "b" {
                    let signal = dump.signals.iter().find(|s| s.3 == code).unwrap();
                    assert!(rest.chars().all(|c| "01".contains(c)) && rest.len() <= signal.2);
                }
                dump.changes.push((time.unwrap(), code, rest.to_string()));
            }
            other => panic!("{other}"),
        }
    }
    dump
}

#[test]
fn value_change_dumps_can_be_read() {
    needs_z3!();
    let folder = Folder::with("pump.lus", PUMP);
    assert_eq!(folder.run(&["check", "--save-traces", "runs", "pump.lus"]).code, 1);
    let dump = read_dump(&folder.read("runs/pump+lus.small.vcd"));
    let signal =
        |path: &str| dump.signals.iter().find(|s| s.0 == path).unwrap_or_else(|| panic!("{path}"));
    let history = |path: &str| -> Vec<(u64, &str)> {
        let code = &signal(path).3;
        dump.changes.iter().filter(|c| c.1 == *code).map(|c| (c.0, c.2.as_str())).collect()
    };
    assert_eq!(signal("pump.go").1, "wire");
    assert_eq!(history("pump.small"), [(0, "1"), (3, "0")]);
    assert_eq!(history("pump.m"), [(0, "Run")]);
    assert_eq!(history("pump/counter#1.n"), [(0, "10"), (1, "100"), (2, "110"), (3, "1000")]);
    assert_eq!(
        (signal("pump.heat").1.as_str(), history("pump.heat")[1]),
        ("real", (1, "0.6666666666666666"))
    );
    assert_eq!(dump.end, 4);
    let codes: std::collections::BTreeSet<&str> =
        dump.signals.iter().map(|s| s.3.as_str()).collect();
    assert_eq!(codes.len(), dump.signals.len());
    assert_eq!(dump.changes.iter().filter(|c| c.0 == 0).count(), dump.signals.len());
}

/// Steps that repeat are one column, in the text and on pages; files have all of them.
#[test]
fn repeated_steps_are_folded_in_tables_and_not_in_files() {
    needs_z3!();
    let model = "\
node tank (tick : bool) returns (n : int; full : bool);
let
  n = 0 -> if tick then pre n + 1 else pre n;
  full = n > 10;
  --%PROPERTY not full;
tel;
";
    let folder = Folder::with("tank.lus", model);
    let ran = folder.run(&["check", "--save-traces", "runs", "tank.lus"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let says = "steps 1 to 10: one step 10 times over, the last time shown; each time n grows by 1";
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&ran.out).contains(says), "{}", ran.out);
    assert!(ran.out.contains(" ..10 ") && !ran.out.contains("   5"), "{}", ran.out);
    let name = folder.names().into_iter().find(|n| n == "runs").unwrap();
    let csv = std::fs::read_dir(folder.path.join(name)).unwrap().flatten();
    let csv = csv.map(|f| f.path()).find(|p| p.extension().is_some_and(|e| e == "csv")).unwrap();
    assert_eq!(std::fs::read_to_string(csv).unwrap().lines().count(), 13);
    let full = folder.run(&["check", "--trace", "full", "tank.lus"]);
    assert!(!full.out.contains("times over"), "{}", full.out);
    folder.run(&["report", "tank.lus", "-o", "tank.html"]);
    let page = folder.read("tank.html");
    assert!(page.contains(says) && page.contains("<b>..10</b>"), "{page}");
}

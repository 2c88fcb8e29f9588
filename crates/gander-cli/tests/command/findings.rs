//! Findings that lint a model: proved, with a code, and allowed where the author says so.

use gander::lang::codes::CATALOGUE;

use crate::support::{Folder, check};

/// The codes of the warnings on standard error, in order.
fn codes(err: &str) -> Vec<&str> {
    err.lines().filter_map(|l| l.strip_prefix("warning[")?.split(']').next()).collect()
}

#[test]
fn every_code_that_takes_a_check_is_found_in_its_example() {
    needs_z3!();
    let mut seen = 0;
    for entry in CATALOGUE.iter().filter(|e| e.code.takes_a_check()) {
        seen += 1;
        if entry.language == "lustre" {
            let folder = Folder::with("m.lus", entry.example);
            let ran = folder.run(&["check", "m.lus"]);
            assert_eq!(codes(&ran.err), [entry.code.as_str()], "{}\n{}", entry.example, ran.err);
            assert_eq!(folder.run(&["check", "--allow", entry.code.as_str(), "m.lus"]).err, "");
            continue;
        }
        let folder = Folder::with("m.sts", entry.example);
        let ran = folder.run(&["check", "m.sts"]);
        assert_eq!(codes(&ran.err), [entry.code.as_str()], "{}\n{}", entry.example, ran.err);
        // An annotation of the author, an option of the user, or a selection of claims suppresses
        // it.
        let allowed =
            Folder::with("m.sts", format!("{} allow {}", entry.example, entry.code.as_str()));
        assert_eq!(
            codes(&allowed.run(&["check", "m.sts"]).err),
            [] as [&str; 0],
            "{}",
            entry.example
        );
        assert_eq!(folder.run(&["check", "--allow", entry.code.as_str(), "m.sts"]).err, "");
        assert_eq!(folder.run(&["check", "--allow", "all", "m.sts"]).err, "");
        assert_eq!(folder.run(&["check", "-p", "p", "m.sts"]).err, "");
    }
    assert_eq!(seen, 9);
}

#[test]
fn only_conditions_of_properties_that_never_hold_are_reported() {
    needs_z3!();
    let model = "\
node sub(x: int) returns (y: int);
let
  y = 0 -> pre y + (if x > 0 then 1 else 0);
  check \"low\" x > 0 provided y = 3;
tel

node N(x: int; c: bool) returns (y: int);
var s: int when c;
let
  y = sub(x);
  s = 1 when c;
  check \"late\" y >= 0 provided y = 4;
  check \"never\" x = 0 provided y < 0;
  check \"never sampled\" x = 0 provided x > y and y > x;
tel
";
    let folder = Folder::with("m.lus", model);
    let ran = folder.run(&["check", "m.lus"]);
    let warnings: Vec<&str> = ran.err.lines().filter(|l| l.starts_with("warning[W0817]")).collect();
    assert_eq!(
        warnings,
        [
            "warning[W0817]: `never` is provided that `y < 0`, which never holds",
            "warning[W0817]: `never sampled` is provided that `x > y and y > x`, which never holds",
        ],
        "{}",
        ran.err
    );
    assert_eq!(ran.code, 1, "{}", ran.out);
}

#[test]
fn warnings_leave_the_exit_code_alone_unless_denied() {
    needs_z3!();
    let model = "spec A var x: int start -> N { x == 0 } node N { up when x >= 0 { x := x + 1 } } always p: x >= 0";
    let folder = Folder::with("m.sts", model);
    assert_eq!(folder.run(&["check", "m.sts"]).code, 0);
    assert_eq!(folder.run(&["check", "--deny", "warnings", "m.sts"]).code, 1);
    assert_eq!(folder.run(&["check", "--deny", "warnings", "--allow", "W0812", "m.sts"]).code, 0);
    assert_eq!(folder.run(&["check", "--allow", "E0202", "m.sts"]).code, 2);
    let json = folder.run(&["check", "--json", "m.sts"]);
    assert!(json.out.contains("\"code\":\"W0812\""), "{}", json.out);
}

#[test]
fn correct_models_have_no_findings() {
    needs_z3!();
    // Guards, an `if` and a conjunction protect the divisors; no condition is always true; guards
    // exclude each other; the invariants are inductive.
    let model = "\
spec Fine
var x, y: int
var r: real
start -> N { x == 1, y == 0, r == 1 }
node N {
  invariant y >= 0
  halve(d: int) when d > 0 { x := x div d }
  guess(d: int) { x := if d != 0 then x mod d else 1 }
  test when y != 0 and 10 div y > 1 { x := 1 }
  share when y > 0 { r := r / y }
  small: up when y <= 3 { y := y + 1 }
  big: up when y > 3 { y := y + 2 }
  over -> M when y == 6
}
final node M
always p: y >= 0 and r >= 0 and x >= -100 or x < -100
";
    let ran = check("m.sts", model);
    assert_eq!((codes(&ran.err), ran.code), (vec![], 0), "{}\n{}", ran.err, ran.out);
}

#[test]
fn the_broken_account_has_its_mistakes_and_no_others() {
    needs_z3!();
    let model = include_str!("../../../../examples/banking/broken_account.sts");
    let ran = check("broken.sts", model);
    assert_eq!((codes(&ran.err), ran.code), (vec!["W0810"], 1), "{}", ran.err);
    let mut failing: Vec<&str> =
        ran.out.lines().filter_map(|l| l.strip_prefix("fails    ")).collect();
    failing.iter_mut().for_each(|l| *l = l.split("  ").next().unwrap_or_default());
    let expected =
        ["satisfiable start twice", "can enable bonus", "completable fee", "no sinkhole Disputed"];
    assert_eq!(failing, expected, "{}", ran.out);
    assert!(!ran.out.contains("unknown"), "{}", ran.out);
    ran.prints(&[
        "never, because at Open always balance >= 0.0, which contradicts its guard: balance < 0.0",
    ]);
}

#[test]
fn the_banking_examples_have_no_warnings() {
    needs_z3!();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/banking");
    for name in
        ["account_holder", "bank_account", "money_movement", "transfer", "triangle", "fibonacci"]
    {
        let model = std::fs::read_to_string(format!("{folder}/{name}.sts")).unwrap();
        let ran = check("m.sts", &model);
        assert_eq!(ran.err, "", "{name}");
    }
}

#[test]
fn an_instance_reads_another_and_is_named() {
    needs_z3!();
    let model = "\
spec Account
var balance: int
start -> Open { balance == 10 }
node Open {
  pay(n: int 1..10) when n <= balance { balance := balance - n }
  close -> Closed when balance == 0
}
final node Closed

spec Loan(account: Account)
var due: int
start -> Running { due == 3 }
node Running {
  collect when due > 0 and account.balance > 0 { due := due - 1 }
  seize when account.balance > 10
  end -> Ended when due == 0
}
final node Ended

system Bank = a: Account || b: Account || l: Loan(a)
    sync collected(a.pay, l.collect)

always never_negative: a.balance >= 0 and l.due >= 0
reachable paid: l in Ended and a.balance == 7 and b.balance == 10
reachable broke: l.due == 3 and a in Closed
";
    let ran = check("bank.sts", model);
    assert_eq!(ran.code, 1, "{}\n{}", ran.out, ran.err);
    let lines =
        |word: &str| ran.out.lines().filter(|l| l.starts_with(word)).collect::<Vec<_>>().join("\n");
    assert!(lines("fails").contains("can enable l.seize"), "{}", ran.out);
    assert!(lines("holds").contains("paid"), "{}", ran.out);
    // The loan is collected together with a payment, so the account cannot be emptied without it.
    assert!(lines("fails").contains("broke"), "{}", ran.out);
    assert_eq!(ran.out.matches("l.seize").count(), 1, "{}", ran.out);
}

#[test]
fn a_wrong_hint_is_a_warning_with_the_step_that_breaks_it() {
    needs_z3!();
    let model = "\
spec H
var x, y: int
start -> N { x == 0, y == 0 }
node N {
  invariant x >= 0
  invariant small: y <= 2
  up { x := x + y, y := y + 1 }
}
always p: x >= 0
";
    let ran = check("h.sts", model);
    assert_eq!((codes(&ran.err), ran.code), (vec!["W0816", "W0815"], 0), "{}", ran.err);
    ran.complains(&[
        "up leads from x = 0, y = -1 to x = -1, y = 0",
        "this step breaks it",
        "up gives x = 3, y = 3",
    ]);
}

/// A finding about a specification is reported once for a system of several instances.
#[test]
fn a_finding_about_several_instances_is_reported_once() {
    needs_z3!();
    let model = "\
spec Account
var balance: int
start -> Open { balance == 10 }
node Open {
  invariant few: balance <= 12
  invariant even: balance >= 0
  put(n: int 1..3) when n >= 1 { balance := balance + n }
  quick: take(n: int 1..3) when n <= balance { balance := balance - n }
  slow: take(n: int 1..3) when n < balance { balance := balance - n }
  lock -> Locked when balance < 0
}
final node Locked

system Two = a: Account || b: Account

always solvent: a.balance >= 0 and b.balance >= 0
";
    let ran = check("two.sts", model);
    let mut found = codes(&ran.err);
    found.sort_unstable();
    assert_eq!(found, ["W0811", "W0812", "W0813", "W0815"], "{}", ran.err);
    ran.complains(&[
        "no run reaches the node `Locked`",
        "this condition of `a.put` is always true, wherever other instances are",
        "this invariant is not true of the instance `a`",
    ]);
}

#[test]
fn ranges_that_participants_of_a_step_share_are_no_findings() {
    needs_z3!();
    // Both accounts declare the range of the amount; the condition on it is always true.
    let model = |condition: &str| {
        format!(
            "spec Account\nvar balance: int\nstart -> Open {{ balance == 100 }}\nnode Open {{\n\
             withdraw(n: int 1..50) when n <= balance {{ balance := balance - n }}\n\
             deposit(n: int 1..50) {condition} {{ balance := balance + n }}\n}}\n\
             system Bank = a: Account || b: Account\n\
             sync transfer(n) (a.withdraw, b.deposit)\n sync back(n) (b.withdraw, a.deposit)\n\
             always total: a.balance + b.balance == 200\n"
        )
    };
    assert_eq!(codes(&check("bank.sts", &model("")).err), Vec::<String>::new());
    assert_eq!(codes(&check("bank.sts", &model("when n > 0")).err), ["W0812"]);
}

#[test]
fn findings_include_conditions_on_parameters_and_nested_divisors() {
    needs_z3!();
    let model = |guard: &str, effect: &str| {
        format!(
            "spec P var x: int start -> N {{ x == 0 }} node N {{ up(n: int 1..5) when {guard} {{ {effect} }} }} reachable p: x > 3"
        )
    };
    let found = |guard: &str, effect: &str| {
        let ran = Folder::with("p.sts", model(guard, effect)).run(&["check", "p.sts"]);
        codes(&ran.err).join(" ") + if ran.out.contains("unknown") { "?" } else { "" }
    };
    assert_eq!(found("n > 0", "x := x + n"), "W0812");
    assert_eq!(found("n > 1", "x := x + n"), "");
    assert_eq!(found("n + x > 0", "x := x + n"), "W0812");
    // Divisors below a quantifier, and in the next state.
    assert_eq!(found("forall k: int 0..3. n div k < 3", "x := x + n"), "W0810");
    assert_eq!(found("forall k: int 1..3. n div k < 4", "x := x + n"), "");
    assert_eq!(found("n < 5", "x' >= x, x' <= x + n, 10 div x' >= 0"), "W0810");
    assert_eq!(found("n < 5", "x' > x, x' <= x + n, 10 div x' >= 0"), "");
}

#[test]
fn constraints_of_a_start_that_contradict_each_other_are_named() {
    needs_z3!();
    let model = "\
spec S
var x, y: int
var open: bool
start fine -> N { x == 0, y == 0, open }
start twice -> N {
  open
  x == 10
  y >= x
  x + y < 15
  y < 100
}
node N { up { x := x + 1 } }
always p: x >= 0
";
    let folder = Folder::with("s.sts", model);
    let ran = folder.run(&["check", "s.sts"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    let expected = "\
         no state satisfies its constraints
         these contradict each other:
           line 7  x == 10
           line 8  y >= x
           line 9  x + y < 15
";
    ran.prints(&[expected]);
    let json = folder.run(&["check", "--json", "s.sts"]).out;
    assert!(json.contains("\"contradiction\":[{") && json.contains("\"line\":9"), "{json}");
}

#[test]
fn a_sinkhole_of_a_system_says_where_its_instances_are() {
    needs_z3!();
    let model = "\
spec Door
var n: int
start -> Open { n == 0 }
node Open {
  push when n < 2 { n := n + 1 }
  shut -> Shut when n < 2
}
final node Shut

system Doors = left: Door || right: Door

always few: left.n + right.n <= 4
";
    let ran = check("doors.sts", model);
    assert_eq!(ran.code, 1, "{}", ran.out);
    ran.prints(&["some transition is enabled with left at Open"]);
}

/// Invariants of one node that are inductive relative to proved invariants of other nodes.
#[test]
fn a_hint_is_checked_relative_to_what_is_known_at_other_nodes() {
    needs_z3!();
    let triangle = "\
spec Triangle
var i: int
start -> One { i == 1 }
node One {
  invariant i == 1
  there -> Two { i := i + 1 }
  far -> Three { i := i + 2 }
}
node Two {
  on -> Three { i := i + 1 }
  home -> One { i := i - 1 }
}
node Three {
  back -> Two { i := i - 1 }
  round -> One { i := i - 2 }
}
always small: 0 <= i and i <= 3
";
    let ran = check("t.sts", triangle);
    assert_eq!((codes(&ran.err), ran.code), (vec![], 0), "{}", ran.err);
    let loan = "\
spec Loan
var outstanding, repayment: real
var terms: int
start -> Requested { terms > 0, repayment > 0, outstanding == terms * repayment }
node Requested {
  agree -> Agreement
  reject -> Rejected
}
node Agreement {
  invariant outstanding >= 0
  pay when terms > 1 { outstanding := outstanding - repayment, terms := terms - 1 }
  payLast -> Finished when terms == 1 { outstanding := outstanding - repayment, terms := terms - 1 }
}
final node Finished, Rejected
always paid: (outstanding == 0 <-> terms == 0) and outstanding >= 0 and terms >= 0
";
    let ran = check("l.sts", loan);
    assert_eq!((codes(&ran.err), ran.code), (vec!["W0816"], 0), "{}{}", ran.out, ran.err);
    ran.complains(&["this invariant of `Agreement` is true, but not inductive by itself"]);
}

/// Undecided findings are counted, so a model without a finding and without a count has none.
#[test]
fn undecided_findings_are_counted_in_text_json_and_report() {
    needs_z3!();
    let model = "spec A var x: int start -> N { x == 0 } node N { up when x >= 0 { x := x + 1 } } reachable p: x == 2";
    let folder = Folder::with("m.sts", model);
    // Bounded model checking proves no condition.
    let bounded = ["check", "--checks", "none", "--engine", "bmc", "--max-depth", "3"];
    let run = |more: &[&str]| folder.run(&[&bounded[..], more, &["m.sts"]].concat());
    let ran = run(&[]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    ran.complains(&["note: 1 possible finding was not decided: 1 W0812"]);
    let json: serde_json::Value = serde_json::from_str(&run(&["--json"]).out).unwrap();
    let note = &json["diagnostics"][0];
    assert_eq!((&note["code"], &note["severity"]), (&"findings-undecided".into(), &"note".into()));
    // The count is not a warning, and findings that are allowed are not counted.
    assert_eq!(run(&["--deny", "warnings"]).code, 0);
    assert_eq!(run(&["--quiet"]).err, "");
    assert_eq!(run(&["--allow", "W0812"]).err, "");
    // With other engines it is decided.
    let decided = folder.run(&["check", "--checks", "none", "m.sts"]);
    assert_eq!(codes(&decided.err), ["W0812"], "{}", decided.err);
    assert!(!decided.err.contains("not decided"), "{}", decided.err);
    // A claim that uses up the time leaves none for findings.
    let hard = "\
spec Hard
var x, y, z: int
start -> N { x == 3, y == 5, z == 1 }
node N {
  invariant x * y * z != 77
  a when x * x * x + y * y * y != z * z * z { x := x * y + z }
  d -> M when x * x == 2 * y * y + 3
}
final node M
always p: x * x * x + y * y * y != z * z * z
";
    let folder = Folder::with("hard.sts", hard);
    let page = folder.run(&["report", "--cores", "none", "--timeout", "1", "hard.sts"]);
    assert!(page.out.contains("possible findings were not decided:"), "{}", page.out);
    assert!(page.out.contains("1 W0815, 1 W0816"), "{}", page.out);
}

#[test]
fn an_index_out_of_range_names_the_array_its_size_and_the_index() {
    needs_z3!();
    let model = "\
const n = 4;
node N(i: int; a: int^n) returns (y: int);
let
  y = a[i + 1];
  check \"f\" y = y;
tel
";
    let ran = check("m.lus", model);
    ran.complains(&[
        "the index `i + 1` can be outside of `a`, which has 4 elements",
        "as in `if 0 <= i + 1 and i + 1 < 4 then a[i + 1] else ...`",
    ]);
}

#[test]
fn a_dead_transition_quotes_the_part_of_its_guard_that_never_holds() {
    needs_z3!();
    let model = "\
spec A
var x, y: int
start -> N { x == 0, y == 0 }
node N {
  up when x < 5 { x := x + 1 }
  take(n: int 1..3) when y == 0 and n + x < 0 { y := n }
}
always p: x >= 0
";
    let folder = Folder::with("m.sts", model);
    let ran = folder.run(&["check", "--engine", "induction", "-p", "can enable take", "m.sts"]);
    ran.prints(&[
        "never, because always ",
        ", which contradicts its guard: 1 <= n and y == 0 and n + x < 0\n",
    ]);
    let ran = folder.run(&["check", "--engine", "explicit", "-p", "can enable take", "m.sts"]);
    ran.prints(&[
        "never: every reachable state was looked at (6), and none satisfies its guard: ",
        "y == 0 and n + x < 0",
    ]);
}

#[test]
fn claims_that_an_export_leaves_out_are_named() {
    let model = "MAXSTEPS: 4\nVARS:\n  int x : 0..9;\nINIT:\n  x = 0;\nTRANS:\n  x = x + 1;\nSAFE low: x < 6\nINF:\n";
    let folder = Folder::with("m.script", model);
    let ran = folder.run(&["export", "--to", "sts", "m.script"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.complains(&["m.script: these claims are not written: `INF`"]);
    let gates = "\
spec A
var x: int
start -> N { x == 0 }
node N {
  slow: up { x := x + 1 }
  fast: up { x := x + 2 }
}
reachable h: up
always p: x >= 0
";
    let folder = Folder::with("m.sts", gates);
    let ran = folder.run(&["export", "--to", "sts", "m.sts"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    ran.prints(&["reachable h: up\n", "step slow: up {\n"]);
    let ran = folder.run(&["export", "--to", "smv", "m.sts"]);
    ran.complains(&["m.sts: these claims are not written: `h`"]);
    ran.prints(&["-- left out: the claim `h`\n"]);
}

/// A choice, or a wrong invariant, at the last of more nodes than one candidate has.
#[test]
fn all_nodes_of_a_composition_are_searched() {
    needs_z3!();
    let nodes: String = (0..300)
        .map(|i| format!("node N{i} {{ go -> N{0} {{ at := {0} }} }}\n", (i + 1) % 300))
        .collect();
    let text = format!(
        "spec Ring\nvar at: int\nstart -> N0 {{ at == 0 }}\n{nodes}\n\
         spec Door(ring: Ring)\nvar x: int\nstart -> M {{ x == 0 }}\nnode M {{\n\
         invariant ring.at < 299\n\
         push when ring.at == 299 {{ x := 1 }}\n\
         push when ring.at == 299 and x == 0 {{ x := 2 }}\n}}\n\
         system Both = r: Ring || d: Door(r)\nalways low: d.x <= 2\n"
    );
    let folder = Folder::with("m.sts", text);
    let others = "W0811,W0812,W0816";
    let ran = folder.run(&["check", "--all", "--checks", "none", "--allow", others, "m.sts"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    // On a slow machine they are counted as not decided.
    for code in ["W0813", "W0815"] {
        let found = ran.err.matches(&format!("warning[{code}]")).count();
        let undecided = ran.err.matches(&format!("1 {code}")).count();
        assert_eq!(found + undecided, 1, "{code}: {}", ran.err);
    }
}

#[test]
fn a_variable_that_only_a_start_mentions_is_found_in_every_form() {
    let model = |start: &str| {
        format!(
            "spec T var got: int var busy: bool start {{ got == 0, {start} }}\n\
             step ask when got < 6 {{ got := got + 1 }} always cap: got <= 9"
        )
    };
    for (start, expected) in [
        ("busy == false", "W0805"),
        ("not busy", "W0805"),
        ("busy", "W0805"),
        ("busy or not busy", "W0814"),
    ] {
        let ran = check("m.sts", &model(start));
        assert_eq!(codes(&ran.err), [expected], "{start}: {}", ran.err);
    }
    let ran = check("m.sts", &model("not busy"));
    ran.complains(&["make it a constant: `const busy: bool = false`"]);
    // The first value of another variable depends on it.
    let model = "spec T var x, seed: int start { seed > 0, x > seed }\n\
                 step up { x := x + 1 } always p: x > 0";
    assert_eq!(codes(&check("m.sts", model).err), [] as [&str; 0]);
}

#[test]
fn hints_of_a_front_end_are_no_invariants_of_the_author() {
    needs_z3!();
    let model = "node acc(x: int) returns (s: int);
(*@contract
  assume \"small\" x >= 0 and x <= 5;
  guarantee \"grows\" s >= 0;
  guarantee \"bounded\" s <= 20;
*)
let
  s = if x = 0 then 0 else (x -> (pre s + x));
tel

node top(v: int) returns (total: int);
let
  total = acc(if v < 0 then 0 else if v > 6 then 6 else v);
  check \"total_small\" total <= 30;
tel
";
    let ran = check("m.lus", model);
    assert!(!codes(&ran.err).contains(&"W0816"), "{}", ran.err);
}

#[test]
fn checks_that_a_script_does_not_have_are_reported() {
    needs_z3!();
    let model = "VARS:\n  int x;\nINIT:\n  x = 0;\nTRANS:\n  ? x < 3 -> x = x + 1;\n  ? x > 10 -> x = 0;\nSAFE p: x <= 3\n";
    let folder = Folder::with("m.script", model);
    let ran = folder.run(&["check", "--checks", "dead", "m.script"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    ran.complains(&["note: `--checks dead` checks nothing here"]);
    assert_eq!(folder.run(&["check", "m.script"]).err, "");
}

#[test]
fn variables_that_no_instance_reads_are_reported() {
    let model = "spec Part(other: Part)
var seen, log, shown, _kept: int
start -> P { seen == 0, log == 0, shown == 0, _kept == 0 }
node P {
  go when other.seen < 3 { seen := seen + 1, log := log + 1, shown := shown + 1, _kept := _kept + 1 }
}
system Two = a: Part(b) || b: Part(a)
always p: b.shown >= 0
";
    let ran = Folder::with("two.sts", model).run(&["check", "--allow", "W0812", "two.sts"]);
    assert_eq!(codes(&ran.err), ["W0814"], "{}", ran.err);
    assert!(ran.err.contains("the variable `log` is never read"), "{}", ran.err);
}

#[test]
fn a_guard_that_an_assumption_contradicts_is_explained_by_it() {
    let model = "spec Wind
var heat: real
input wind: int 0..9
assume gentle: wind <= 2
start -> Calm { heat == 0.5 }
node Calm {
  warm when heat < 9.1 { heat := heat + 0.7 }
  storm -> Gone when wind > 2
  boil -> Gone when heat > 9.85
}
final node Gone
always cool: heat <= 9.8
";
    let ran = Folder::with("wind.sts", model).run(&["check", "--allow", "all", "wind.sts"]);
    ran.prints(&["because at Calm always wind <= 2, which contradicts its guard: wind > 2\n"]);
    assert!(!ran.out.contains("/20"), "decimals are written as such: {}", ran.out);
}

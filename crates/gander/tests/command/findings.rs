//! Findings that lint a model: proved, with a code, and allowed where the author says so.

use gander::lang::codes::CATALOGUE;

use crate::support::{Folder, have_z3};

/// The codes of the warnings on standard error, in order.
fn codes(err: &str) -> Vec<&str> {
    err.lines().filter_map(|l| l.strip_prefix("warning[")?.split(']').next()).collect()
}

#[test]
fn every_code_that_takes_a_check_is_found_in_its_example() {
    if !have_z3("every_code_that_takes_a_check_is_found_in_its_example") {
        return;
    }
    let mut seen = 0;
    for entry in CATALOGUE.iter().filter(|e| e.code.takes_a_check()) {
        let folder = Folder::with("m.sts", entry.example);
        let ran = folder.run(&["check", "m.sts"]);
        assert_eq!(codes(&ran.err), [entry.code.as_str()], "{}\n{}", entry.example, ran.err);
        // The author, the user, and a limit to some claims keep it away.
        let allowed = Folder::with("m.sts", format!("{} allow {}", entry.example, entry.code.as_str()));
        assert_eq!(codes(&allowed.run(&["check", "m.sts"]).err), [] as [&str; 0], "{}", entry.example);
        assert_eq!(folder.run(&["check", "--allow", entry.code.as_str(), "m.sts"]).err, "");
        assert_eq!(folder.run(&["check", "--allow", "all", "m.sts"]).err, "");
        assert_eq!(folder.run(&["check", "-p", "p", "m.sts"]).err, "");
        seen += 1;
    }
    assert_eq!(seen, 6);
}

#[test]
fn warnings_leave_the_exit_code_alone_unless_denied() {
    if !have_z3("warnings_leave_the_exit_code_alone_unless_denied") {
        return;
    }
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
fn what_is_not_so_is_not_found() {
    if !have_z3("what_is_not_so_is_not_found") {
        return;
    }
    // A divisor that a guard, an `if` or a conjunction excludes; a condition that matters once; guards that exclude
    // each other; invariants that prove themselves.
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
    let ran = Folder::with("m.sts", model).run(&["check", "m.sts"]);
    assert_eq!((codes(&ran.err), ran.code), (vec![], 0), "{}\n{}", ran.err, ran.out);
}

#[test]
fn the_broken_account_has_its_mistakes_and_no_others() {
    if !have_z3("the_broken_account_has_its_mistakes_and_no_others") {
        return;
    }
    let model = include_str!("../../../../examples/banking/broken_account.sts");
    let ran = Folder::with("broken.sts", model).run(&["check", "broken.sts"]);
    assert_eq!((codes(&ran.err), ran.code), (vec!["W0810"], 1), "{}", ran.err);
    let mut failing: Vec<&str> = ran.out.lines().filter_map(|l| l.strip_prefix("fails    ")).collect();
    failing.iter_mut().for_each(|l| *l = l.split("  ").next().unwrap_or_default());
    let expected = ["satisfiable start twice", "can enable bonus", "completable fee", "no sinkhole Disputed"];
    assert_eq!(failing, expected, "{}", ran.out);
    assert!(!ran.out.contains("unknown"), "{}", ran.out);
    assert!(ran.out.contains("never, because at Open always balance >= 0"), "{}", ran.out);
}

#[test]
fn the_survey_is_free_of_warnings() {
    if !have_z3("the_survey_is_free_of_warnings") {
        return;
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/banking");
    for name in ["account_holder", "bank_account", "money_movement", "transfer", "triangle", "fibonacci"] {
        let model = std::fs::read_to_string(format!("{folder}/{name}.sts")).unwrap();
        let ran = Folder::with("m.sts", model).run(&["check", "m.sts"]);
        assert_eq!(ran.err, "", "{name}");
    }
}

#[test]
fn an_instance_reads_another_and_is_named() {
    if !have_z3("an_instance_reads_another_and_is_named") {
        return;
    }
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
    let ran = Folder::with("bank.sts", model).run(&["check", "bank.sts"]);
    assert_eq!(ran.code, 1, "{}\n{}", ran.out, ran.err);
    let lines = |word: &str| ran.out.lines().filter(|l| l.starts_with(word)).collect::<Vec<_>>().join("\n");
    assert!(lines("fails").contains("can enable l.seize"), "{}", ran.out);
    assert!(lines("holds").contains("paid"), "{}", ran.out);
    // The loan is collected together with a payment, so the account cannot be emptied without it.
    assert!(lines("fails").contains("broke"), "{}", ran.out);
    assert_eq!(ran.out.matches("l.seize").count(), 1, "{}", ran.out);
}

#[test]
fn a_wrong_hint_is_a_warning_with_the_step_that_breaks_it() {
    if !have_z3("a_wrong_hint_is_a_warning_with_the_step_that_breaks_it") {
        return;
    }
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
    let ran = Folder::with("h.sts", model).run(&["check", "h.sts"]);
    assert_eq!((codes(&ran.err), ran.code), (vec!["W0816", "W0815"], 0), "{}", ran.err);
    assert!(ran.err.contains("up leads from x = 0, y = -1 to x = -1, y = 0"), "{}", ran.err);
    assert!(ran.err.contains("this step breaks it"), "{}", ran.err);
    assert!(ran.err.contains("up gives x = 3, y = 3"), "{}", ran.err);
}

//! Invariants that the user writes in nodes: they help, and are never believed.

use crate::support::{Folder, Ran};

/// `x` is the sum of the numbers so far. With y below zero for long enough x gets negative after
/// any number of good steps, so `x >= 0` is not k-inductive for any k.
fn sums(hints: &str, claims: &str) -> Folder {
    let model = format!(
        "spec Sums\nvar x: int\nvar y: int\nstart -> A {{ x == 0, y == 0 }}\n\
         node A {{\n{hints}  grow {{ x := x + y, y := y + 1 }}\n}}\n{claims}\n"
    );
    Folder::with("sums.sts", model)
}

fn by_induction(folder: &Folder) -> Ran {
    folder.run(&[
        "check",
        "--checks",
        "none",
        "--engine",
        "induction",
        "--max-depth",
        "8",
        "sums.sts",
    ])
}

#[test]
fn a_hint_makes_a_proof_possible() {
    needs_z3!();
    let claim = "always sum: x >= 0";
    let ran = by_induction(&sums("", claim));
    assert_eq!(ran.code, 3, "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("induction: not inductive up to depth 8"), "{}", ran.out);
    let ran = by_induction(&sums("  invariant y >= 0\n", claim));
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "holds    sum  inductive invariant\n"),
        "{}",
        ran.err
    );
    // Two hints that need each other: the first is inductive only with the second.
    let ran = by_induction(&sums(
        "  invariant x >= y - 1\n  invariant y >= 0\n",
        "always sum: x + 1 >= 0",
    ));
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
}

/// A hint that would prove what is not so: true at first, or kept by every step, but never both.
#[test]
fn a_wrong_hint_proves_nothing() {
    needs_z3!();
    for (hint, claim, steps) in [
        ("y <= 3", "always wrong: y <= 4", 5),
        ("y >= 5", "always wrong: y != 3", 3),
        ("y >= 5 and y <= 4", "always wrong: y != 2", 2),
        ("false", "always wrong: x < 3", 3),
    ] {
        let folder = sums(&format!("  invariant {hint}\n"), claim);
        for args in
            [&["--engine", "induction"][..], &["--induction", "none", "--engine", "induction"], &[]]
        {
            let ran = folder.run(
                &[&["check", "--checks", "none", "--timeout", "20"], args, &["sums.sts"]].concat(),
            );
            assert_eq!(ran.code, 1, "{hint} {args:?}: {} {}", ran.out, ran.err);
            let expected = format!("fails    wrong  after {steps} steps\n");
            assert!(ran.out.starts_with(&expected), "{hint} {args:?}: {} {}", ran.out, ran.err);
        }
    }
}

#[test]
fn a_wrong_hint_does_not_spoil_a_right_one() {
    needs_z3!();
    let ran = by_induction(&sums(
        "  invariant y <= 3\n  invariant y >= 0\n  invariant x > y\n",
        "always sum: x >= 0",
    ));
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "holds    sum  inductive invariant\n"),
        "{}",
        ran.err
    );
}

//! What accepted evidence rests on: proofs, two solvers or one; and solvers with wrong answers.

mod support;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gander_certify::{Budget, Certified, CheckLimits, Checker, Ground, Rejection, Trust};
use gander_smt::{Search, Solvers};
use gander_system::{ClaimId, System, Verdict};
use gander_term::Sort;
use support::*;

/// Two installed solvers; `None`, with a record of the skipped test, if one is missing.
fn two_solvers(test: &str) -> Option<[(String, PathBuf); 2]> {
    let solvers = Solvers::from_environment();
    let (Some(z3), Some(yices)) = (solvers.z3(), solvers.yices()) else {
        skip(&format!("{test}: z3 or yices is missing"));
        return None;
    };
    Some([("z3".into(), z3.program.clone()), ("yices".into(), yices.program.clone())])
}

/// A wrapper of a solver that answers `unsat` instead of `sat`.
fn wrong_solver(folder: &Path, program: &Path) -> PathBuf {
    let path = folder.join("liar");
    let text = format!("#!/bin/sh\n'{}' \"$@\" | sed -u 's/^sat$/unsat/'\n", program.display());
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// These solvers and no others.
fn only(named: Vec<(String, PathBuf)>) -> Arc<Solvers> {
    let hidden = ["z3", "yices", "cvc5", "mathsat", "opensmt", "bitwuzla"];
    let hidden = hidden.iter().map(|n| (n.to_string(), PathBuf::from("none")));
    Arc::new(Solvers::find(Search { named: hidden.chain(named).collect(), ..Search::default() }))
}

/// In-process proofs are switched off, so that every obligation goes to solvers.
fn check(
    solvers: &Arc<Solvers>,
    trust: Trust,
    system: &System,
    verdict: &Verdict,
) -> Result<Certified, Rejection> {
    let limits = CheckLimits { trust, linear: Budget::NONE, ..CheckLimits::default() };
    Checker::new(solvers, limits).check(system, ClaimId(0), verdict)
}

fn up() -> System {
    Model::new(&["N"])
        .var("x", Sort::Int)
        .start(0, "x == 0")
        .step("up", 0, 0, "true", &["x := x + 1"])
        .always("x >= 0")
}

#[test]
fn evidence_says_what_it_rests_on() {
    let Some([z3, yices]) = two_solvers("evidence_says_what_it_rests_on") else { return };
    let s = up();
    let right = holds(invariant(&s, &["x >= 0"]));
    let both = only(vec![z3.clone(), yices]);
    let one = only(vec![z3]);
    let basis = |solvers: &Arc<Solvers>, trust| check(solvers, trust, &s, &right).unwrap().basis;
    for trust in [Trust::Agreement, Trust::Two] {
        let basis = basis(&both, trust);
        assert_eq!(
            (basis.ground, basis.to_string().as_str()),
            (Ground::TwoSolvers, "yices and z3 agree")
        );
    }
    let alone = basis(&both, Trust::One);
    assert_eq!((alone.ground, alone.solvers.len(), alone.why_one), (Ground::OneSolver, 1, None));
    let alone = basis(&one, Trust::Agreement);
    assert_eq!((alone.ground, alone.solvers), (Ground::OneSolver, vec!["z3".to_string()]));
    assert_eq!(alone.why_one.as_deref(), Some("no other solver was found"));
    assert!(matches!(check(&one, Trust::Two, &s, &right), Err(Rejection::Undecided(_))));
    assert!(matches!(check(&both, Trust::Proof, &s, &right), Err(Rejection::Undecided(_))));
    // With proofs, no solver is needed.
    let no_solver = only(Vec::new());
    let limits = CheckLimits { trust: Trust::Proof, ..CheckLimits::default() };
    let proved = Checker::new(&no_solver, limits).check(&s, ClaimId(0), &right).unwrap();
    assert_eq!(
        (proved.basis.ground, proved.basis.solvers.len(), proved.queries),
        (Ground::Checked, 0, 0)
    );
}

#[test]
fn a_wrong_answer_is_found_by_the_second_solver() {
    let Some([z3, yices]) = two_solvers("a_solver_that_lies_is_found_out_by_the_other_one") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let s = up();
    for (lying, honest) in [(&z3, &yices), (&yices, &z3)] {
        let lies = (lying.0.clone(), wrong_solver(folder.path(), &lying.1));
        let both = only(vec![lies.clone(), honest.clone()]);
        // None of these is inductive and implies the claim.
        for wrong in
            [invariant(&s, &["x <= 7"]), invariant(&s, &["x != 3"]), k_inductive(&s, 2, &["x < 2"])]
        {
            let wrong = holds(wrong);
            for trust in [Trust::Agreement, Trust::Two] {
                let outcome = check(&both, trust, &s, &wrong);
                assert!(outcome.is_err(), "{} lies, {trust:?}: {outcome:?}", lying.0);
            }
            // One solver is enough at this level.
            assert!(check(&only(vec![lies.clone()]), Trust::One, &s, &wrong).is_ok());
            assert!(check(&only(vec![lies.clone()]), Trust::Two, &s, &wrong).is_err());
        }
    }
}

#[test]
fn a_second_solver_that_hangs_costs_only_the_agreement() {
    let Some([z3, yices]) = two_solvers("a_second_solver_that_hangs_costs_its_agreement_only")
    else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let hangs = folder.path().join("hangs");
    std::fs::write(&hangs, "#!/bin/sh\nexec sleep 60\n").unwrap();
    std::fs::set_permissions(&hangs, std::fs::Permissions::from_mode(0o755)).unwrap();
    let _ = z3;
    let both = only(vec![("z3".into(), hangs), yices]);
    let s = up();
    let certified = check(&both, Trust::Agreement, &s, &holds(invariant(&s, &["x >= 0"]))).unwrap();
    assert_eq!(certified.basis.ground, Ground::OneSolver);
    assert!(
        certified.basis.why_one.as_deref().is_some_and(|why| why.starts_with("z3: ")),
        "{certified:?}"
    );
}

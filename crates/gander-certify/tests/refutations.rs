//! Formulas that solvers refuted are not given to them again, and nothing else is accepted.

mod support;

use std::sync::Arc;

use gander_certify::{CheckLimits, Checker, Ground, Refutations, Rejection, Trust};
use gander_linear::Budget;
use gander_smt::Solvers;
use gander_system::{
    ClaimId, ClaimKind, ClaimOrigin, Evidence, NodeFormulas, NodeId, Role, System, SystemBuilder,
    Verdict,
};
use gander_term::{Pool, Sort, parse_term};

/// Two counters; `m` grows by this term. With more symbols first, terms have other ids.
fn counters(growth: &str, padding: usize) -> System {
    let mut builder = SystemBuilder::new("counters", Pool::new(), &[("Loop", None)]).unwrap();
    for i in 0..padding {
        builder.pool.variable(&format!("unused{i}"), Sort::Int);
    }
    let node = NodeId(0);
    let n = builder.var("n", Sort::Int, Role::State, None, None).unwrap();
    let m = builder.var("m", Sort::Int, Role::State, None, None).unwrap();
    let zero = parse_term(&mut builder.pool, "n == 0 and m == 0").unwrap();
    builder.start("start", node, &[(zero, None)], None).unwrap();
    for (name, changed, kept, value) in [("up", n, m, "n + 1"), ("other", m, n, growth)] {
        let mut transition = builder.transition(name, None, node, node, None).unwrap();
        let value = parse_term(&mut builder.pool, value).unwrap();
        builder.assign(&mut transition, changed, value, None).unwrap();
        builder.keep(&mut transition, kept);
        builder.add(transition).unwrap();
    }
    let formula = parse_term(&mut builder.pool, "n >= 0").unwrap();
    let formula = builder.state_formula(formula, "n >= 0").unwrap();
    let kind = ClaimKind::Always(formula);
    builder.claim("p", kind, ClaimOrigin::Written, "n >= 0", None).unwrap();
    builder.finish()
}

/// That this is an inductive invariant.
fn holds(system: &System, invariant: &str) -> Verdict {
    let mut pool = Pool::fork(system.pool());
    let formula = parse_term(&mut pool, invariant).unwrap();
    let formulas = NodeFormulas { pool: pool.freeze(), by_node: [formula].into() };
    Verdict::Holds(Evidence::Invariant(formulas))
}

#[test]
fn a_formula_is_refuted_by_solvers_once() {
    let solvers = Arc::new(Solvers::from_environment());
    if solvers.z3().is_none() {
        return support::skip("a_formula_is_refuted_by_solvers_once: z3 was not found");
    }
    let shared = Arc::new(Refutations::default());
    // Solvers are asked for everything.
    let limits =
        CheckLimits { linear: Budget::NONE, trust: Trust::Agreement, ..CheckLimits::default() };
    let check = |system: &System, invariant: &str, limits: CheckLimits| {
        let mut checker = Checker::new(&solvers, limits);
        checker.share_refutations(&shared);
        checker.check(system, ClaimId(0), &holds(system, invariant))
    };
    let first = check(&counters("m + 1", 0), "n >= 0", limits).unwrap();
    assert!(first.queries > 0 && first.basis.ground != Ground::Checked, "{first:?}");
    let kept = shared.len();
    assert!(kept > 0);
    // Another system with the same obligations, in another pool.
    let again = check(&counters("m + 1", 3), "n >= 0", limits).unwrap();
    assert_eq!((again.queries, &again.basis), (0, &first.basis));
    // An edit of a step: its obligation is a new formula if the invariant speaks of its variable.
    let invariant = "n >= 0 and m >= 0";
    assert!(check(&counters("m + 1", 0), invariant, limits).unwrap().queries > 0);
    assert_eq!(check(&counters("m + 1", 1), invariant, limits).unwrap().queries, 0);
    assert!(check(&counters("m + 2", 0), invariant, limits).unwrap().queries > 0);
    // Wrong evidence stays wrong.
    let wrong = check(&counters("m - 1", 0), invariant, limits);
    assert!(matches!(wrong, Err(Rejection::Wrong(_))), "{wrong:?}");
    let wrong = check(&counters("m + 1", 0), "n >= 1", limits);
    assert!(matches!(wrong, Err(Rejection::Wrong(_))), "{wrong:?}");
    // Where only proofs count, answers of solvers do not.
    let proof = CheckLimits { trust: Trust::Proof, ..limits };
    assert!(check(&counters("m + 1", 0), "n >= 0", proof).is_err());
}

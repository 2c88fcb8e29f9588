//! Invariants, k-induction, diameters, refutations and chains are accepted if right and rejected if
//! wrong.

mod support;

use std::sync::Arc;

use gander_certify::Rejection;
use gander_runtime::Cancellation;
use gander_system::{
    ClaimId, ClaimKind, Evidence, NodeFormulas, NodeId, StartId, System, TransitionId, Verdict,
    passes,
};
use gander_term::{Pool, Sort};
use support::*;

/// x is even at node 0 and odd at node 1, and never negative.
fn parity() -> Model {
    Model::new(&["Even", "Odd"])
        .var("x", Sort::Int)
        .start(0, "x == 0")
        .step("up", 0, 1, "true", &["x := x + 1"])
        .step("on", 1, 0, "true", &["x := x + 1"])
        .step("skip", 0, 0, "x > 3", &["x := x - 2"])
}

const PARITY: [&str; 2] = ["x >= 0 and x mod 2 == 0", "x >= 1 and x mod 2 == 1"];

#[test]
fn only_inductive_invariants_are_accepted() {
    let s = parity().always("x >= 0");
    let c = solver_checker().check(&s, ClaimId(0), &holds(invariant(&s, &PARITY))).unwrap();
    assert!(c.queries > 0 && c.basis.solvers.len() == 1, "{c:?}");
    let c = accepts(&s, holds(invariant(&s, &PARITY)));
    assert!(c.queries == 0 && c.basis.solvers.is_empty(), "{c:?}");
    accepts(&s, holds(invariant(&s, &["x >= 0", "x >= 0"])));
    accepts(&s, holds(k_inductive(&s, 1, &["x >= 0", "x >= 0"])));
    refuses(&s, holds(invariant(&s, &["x >= 1", "x >= 0"])), "does not hold after `start 0`");
    refuses(&s, holds(invariant(&s, &["x >= 0", "x >= 2"])), "`up` does not keep");
    refuses(&s, holds(invariant(&s, &["x >= -1", "x >= -1"])), "does not exclude");
    refuses(&s, holds(invariant(&s, &["x >= 0 and x <= 8", "x >= 0"])), "does not keep");
    refuses(&s, holds(invariant(&s, &["true", "true"])), "does not exclude");
    refuses(&s, holds(invariant(&s, &["false", "false"])), "does not hold after");
    refuses(&s, fails(invariant(&s, &PARITY)), "cannot show");
    refuses(&s, holds(invariant(&s, &["true", "x >= 0"])), "`up` does not keep");
    refuses(&s, holds(invariant(&s, &["x >= 0", "true"])), "`on` does not keep");
    refuses(&s, holds(invariant(&s, &["x >= 0", "false"])), "`up` does not keep");
    let s = parity().always("`@node` == `@Node`.Even -> x mod 2 == 0");
    accepts(&s, holds(invariant(&s, &PARITY)));
    refuses(&s, holds(invariant(&s, &[PARITY[1], PARITY[0]])), "does not hold after");
    refuses(&s, holds(invariant(&s, &["x >= 0", "x >= 0"])), "does not exclude");
}

#[test]
fn verdicts_of_one_batch_have_independent_outcomes() {
    let s = parity().always("x >= 0");
    let (right, same) = (holds(invariant(&s, &PARITY)), holds(invariant(&s, &PARITY)));
    let claim = ClaimId(0);
    let outcomes = solver_checker().check_all(&s, &[(claim, &right), (claim, &same)]);
    // One query is enough for both.
    assert!(
        outcomes
            .iter()
            .all(|o| o.as_ref().is_ok_and(|c| c.queries == 0 && c.basis.solvers.len() == 1)),
        "{outcomes:?}"
    );
    let wrong = holds(invariant(&s, &["x >= 0", "x >= 2"]));
    let unfit = fails(invariant(&s, &PARITY));
    let outcomes = checker()
        .check_all(&s, &[(claim, &right), (claim, &wrong), (claim, &unfit), (claim, &same)]);
    assert!(outcomes[0].is_ok() && outcomes[3].is_ok(), "{outcomes:?}");
    let messages = [&outcomes[1], &outcomes[2]].map(|o| o.as_ref().unwrap_err().to_string());
    assert!(
        messages[0].contains("`up` does not keep") && messages[1].contains("cannot show"),
        "{messages:?}"
    );
}

#[test]
fn formulas_must_be_over_state_variables_of_the_system() {
    let s = parity().always("x >= 0");
    refuses(&s, holds(invariant(&s, &["x >= 0"])), "1 formulas for 2 nodes");
    refuses(&s, holds(invariant(&s, &["x >= 0", "x' >= 0"])), "no state variable");
    refuses(&s, holds(invariant(&s, &["x >= 0", "`@node` == `@Node`.Odd"])), "no state variable");
    refuses(&s, holds(invariant(&s, &["x >= 0", "x"])), "no formula");
    let mut pool = Pool::fork(s.pool());
    let y = pool.variable("y", Sort::Bool);
    let by_node = vec![y, y];
    let formulas = NodeFormulas { pool: Arc::new(pool), by_node: by_node.into() };
    refuses(&s, holds(Evidence::Invariant(formulas)), "`y`, no state variable");
    // A bound symbol outside of its quantifier.
    let mut pool = Pool::fork(s.pool());
    let b = pool.declare_bound("b", Sort::Bool);
    let b = pool.var(b);
    let formulas = NodeFormulas { pool: Arc::new(pool), by_node: vec![b, b].into() };
    refuses(&s, holds(Evidence::Invariant(formulas)), "loose bound symbol");
    // Another symbol named x.
    let mut pool = Pool::new();
    let x = pool.variable("x", Sort::Bool);
    let formulas = NodeFormulas { pool: Arc::new(pool), by_node: vec![x, x].into() };
    refuses(&s, holds(Evidence::Invariant(formulas)), "with another sort");
}

#[test]
fn quantified_invariants_are_checked() {
    let s = parity().always("x >= 0");
    accepts(&s, holds(invariant(&s, &["forall y: int. y < 0 -> y != x", "x >= 0"])));
    refuses(
        &s,
        holds(invariant(&s, &["forall y: int. y < 1 -> y != x", "x >= 0"])),
        "does not hold after",
    );
}

#[test]
fn assumptions_are_used_on_both_sides() {
    let m = || {
        Model::new(&["N"]).var("x", Sort::Int).input("i", Sort::Int).start(0, "x == 0").step(
            "t",
            0,
            0,
            "true",
            &["x := x + i"],
        )
    };
    let s = m().assume("i >= 0").always("x >= 0");
    accepts(&s, holds(invariant(&s, &["x >= 0"])));
    let s = m().always("x >= 0");
    refuses(&s, holds(invariant(&s, &["x >= 0"])), "does not keep");
    let s = m().assume("x < 5").always("x < 5");
    accepts(&s, holds(invariant(&s, &["true"])));
    let s = m().assume("i >= 1").always("i >= 1");
    accepts(&s, holds(invariant(&s, &["true"])));
}

#[test]
fn invariants_show_that_goals_are_unreachable() {
    let s = parity().reachable("x == -1");
    accepts(&s, fails(invariant(&s, &PARITY)));
    refuses(&s, holds(invariant(&s, &PARITY)), "cannot show");
    let s = parity().reachable("x == 7 and `@node` == `@Node`.Even");
    accepts(&s, fails(invariant(&s, &PARITY)));
    let s = parity().reachable("x == 8");
    refuses(&s, fails(invariant(&s, &PARITY)), "does not exclude");
    let s = parity().reachable("2: x == 5");
    accepts(&s, fails(invariant(&s, &PARITY)));
    let s = parity().reachable("2: x == 4");
    refuses(&s, fails(invariant(&s, &PARITY)), "steps of `skip`");
    // Steps to states that break an assumption do not count.
    let s = parity().assume("x != 2").reachable("2: x == 4");
    accepts(&s, fails(invariant(&s, &PARITY)));

    let s = parity()
        .step("never", 1, 1, "x mod 2 == 0", &[])
        .claim(|_| ClaimKind::CanEnable(TransitionId(3)));
    accepts(&s, fails(invariant(&s, &PARITY)));
    refuses(&s, fails(invariant(&s, &["x >= 0", "x >= 0"])), "does not exclude");
    let m = |guard: &str| {
        Model::new(&["N"])
            .var("x", Sort::Int)
            .start(0, "x == 0")
            .step_with("t", 0, 0, &[("p", Sort::Int)], guard, &["x := x + t.p"])
            .claim(|_| ClaimKind::CanEnable(TransitionId(0)))
    };
    let s = m("t.p > 0 and t.p < x");
    accepts(&s, fails(invariant(&s, &["x == 0"])));
    let s = m("t.p >= 0 and t.p <= x");
    refuses(&s, fails(invariant(&s, &["x == 0"])), "does not exclude");
}

/// x is between 0 and 9; `t` has these parameters, guard and effect.
fn ranged(params: &[(&str, Sort)], guard: &str, effect: &[&str], kind: ClaimKind) -> System {
    Model::new(&["N"])
        .var("x", Sort::Int)
        .var("r", Sort::Real)
        .start(0, "0 <= x and x <= 9 and r == 1/2")
        .step_with("t", 0, 0, params, guard, effect)
        .claim(|_| kind)
}

#[test]
fn no_sinkhole_needs_an_enabled_transition_in_every_state() {
    let case = |params: &[(&str, Sort)], guard: &str| {
        ranged(params, guard, &[], ClaimKind::NoSinkhole(NodeId(0)))
    };
    let inv = |s: &System| holds(invariant(s, &["0 <= x and x <= 9 and r == 1/2"]));
    let (p, r, b) = (("p", Sort::Int), ("q", Sort::Real), ("b", Sort::Bool));
    for (params, guard) in [
        (&[p][..], "0 <= t.p and t.p <= x"),
        (&[p], "t.p > x"),
        (&[p], "t.p > x and t.p != x + 1 and t.p != 100"),
        (&[p], "t.p > x and t.p < x + 2"),
        (&[p], "t.p == x + x"),
        (&[p], "t.p > x and t.p < 11 and not (t.p <= x - 3)"),
        (&[p], "2 * t.p > x and t.p <= 5"),
        (&[r], "t.q > r and t.q < 1.0"),
        (&[b], "t.b and x >= 0"),
        (&[b], "t.b or x < 0"),
        (&[p, r, b], "t.b and t.q < r and (t.p > x or t.b)"),
        (&[], "x < 10"),
    ] {
        let s = case(params, guard);
        accepts(&s, inv(&s));
    }
    for (params, guard) in [
        (&[p][..], "0 <= t.p and t.p < x"),
        (&[p], "t.p > x and t.p < x + 1"),
        (&[p], "t.p == x and t.p > 0"),
        (&[p], "t.p > x and t.p < 10 and not (t.p <= x)"),
        (&[p], "2 * t.p == x"),
        (&[p], "t.p >= x and t.p <= x and t.p != x"),
        (&[p], "t.p >= x and x + 1 >= t.p and t.p != 0 and t.p != 1"),
        (&[r], "t.q > r and t.q < 1/2"),
        (&[r], "t.q > r and t.q <= 1/2"),
        (&[b], "t.b and x >= 1"),
        (&[b], "t.b and not t.b"),
        (&[], "x < 9"),
    ] {
        let s = case(params, guard);
        refuses(&s, inv(&s), "does not exclude");
    }
    // Without the range some state is a sinkhole.
    let s = case(&[p], "0 <= t.p and t.p <= x");
    refuses(&s, holds(invariant(&s, &["true"])), "does not exclude");
    let s = Model::new(&["A", "B"]).start(0, "true").claim(|_| ClaimKind::NoSinkhole(NodeId(0)));
    refuses(&s, holds(invariant(&s, &["true", "true"])), "does not exclude");
    let s = Model::new(&["A", "B"]).start(0, "true").claim(|_| ClaimKind::NoSinkhole(NodeId(1)));
    accepts(&s, holds(invariant(&s, &["true", "false"])));
}

#[test]
fn parameters_are_rational_not_real() {
    let s = ranged(&[("q", Sort::Real)], "t.q * t.q == 2.0", &[], ClaimKind::NoSinkhole(NodeId(0)));
    let verdict = holds(invariant(&s, &["0 <= x and x <= 9 and r == 1/2"]));
    assert!(check(&s, &verdict).is_err());
}

#[test]
fn completable_needs_a_solution_of_the_effect_in_every_state() {
    let p = ("p", Sort::Int);
    let case = |guard: &str, effect: &[&str]| {
        ranged(&[p], guard, effect, ClaimKind::Completable(TransitionId(0)))
    };
    let inv = |s: &System| holds(invariant(s, &["0 <= x and x <= 9 and r == 1/2"]));
    let any = |s: &System| holds(invariant(s, &["x >= 0"]));
    let s = case("t.p > 1", &["x' > 0", "x' < t.p"]);
    accepts(&s, any(&s));
    let s = case("t.p > 0", &["x' > 0", "x' < t.p"]);
    refuses(&s, any(&s), "does not exclude");
    let s = case("x == t.p", &["x' == x + 1", "x' <= 10"]);
    refuses(&s, any(&s), "does not exclude");
    let s = case("x == t.p", &["x' == x", "x' <= 9"]);
    accepts(&s, inv(&s));
    let s = case("x == t.p", &["2 * x' == 2 * x", "x' <= 9"]);
    accepts(&s, inv(&s));
    let s = case("x == t.p", &["2 * x' == x or x' < 0", "x' >= 0 and x' < 4"]);
    refuses(&s, any(&s), "does not");
    // Assumptions about the next state are not part of the effect.
    let s = Model::new(&["N"])
        .var("x", Sort::Int)
        .start(0, "x == 0")
        .assume("x == 0")
        .step("t", 0, 0, "true", &["x' == x + 1"])
        .claim(|_| ClaimKind::Completable(TransitionId(0)));
    accepts(&s, holds(invariant(&s, &["true"])));
    refuses(&s, fails_run(run(0, &[0], vec![])), "has a solution");
}

#[test]
fn no_deadlock_needs_a_step_from_every_state() {
    let m = |last: &str, top: &str| {
        Model::new(&["N", last])
            .var("x", Sort::Int)
            .start(0, "x == 0")
            .step("up", 0, 0, "x < 5", &["x := x + 1"])
            .step("end", 0, 1, "x >= 5", &["any x"])
            .assume(top)
            .claim(|_| ClaimKind::NoDeadlock)
    };
    let s = m("End!", "true");
    accepts(&s, holds(invariant(&s, &["true", "true"])));
    let s = m("End", "true");
    refuses(&s, holds(invariant(&s, &["true", "true"])), "at node `End`");
    // The assumption stops `up` at 3.
    let s = m("End!", "x != 4");
    refuses(&s, holds(invariant(&s, &["x >= 0 and x <= 5", "true"])), "at node `N`");
    let s = m("End!", "x <= 5");
    accepts(&s, holds(invariant(&s, &["true", "true"])));
}

/// x runs through 0, 1, 2, 3, 4 and back to 0; other values, which are not reachable, go up.
fn ring() -> Model {
    Model::new(&["N"])
        .var("x", Sort::Int)
        .start(0, "x == 0")
        .step("up", 0, 0, "x != 4", &["x := x + 1"])
        .step("wrap", 0, 0, "x == 4", &["x := 0"])
}

fn k_ind(s: &System, k: u32, loop_free: bool, no_restart: bool, texts: &[&str]) -> Verdict {
    holds(Evidence::KInductive { k, invariant: formulas(s, texts), loop_free, no_restart })
}

#[test]
fn only_k_inductive_invariants_are_accepted() {
    // 5 goes to 6, but nothing goes to 5; 7 goes to 8, but only 6 goes to 7.
    let p = "x != 8 and x != 6";
    let s = ring().always(p);
    refuses(&s, k_ind(&s, 1, false, false, &[p]), "does not keep");
    accepts(&s, k_ind(&s, 2, false, false, &[p]));
    let s2 = ring().always("x >= 0 and x <= 4");
    accepts(&s2, k_ind(&s2, 1, false, false, &["x >= 0 and x <= 4"]));
    accepts(&s2, k_ind(&s2, 3, false, false, &["x >= 0 and x <= 4"]));
    refuses(&s2, k_ind(&s2, 3, false, false, &["x >= 0 and x <= 5"]), "does not exclude");
    refuses(&s2, k_ind(&s2, 5, false, false, &["x >= 0 and x <= 3"]), "a run of 4 steps");
    refuses(&s2, k_ind(&s2, 0, false, false, &["x >= 0 and x <= 4"]), "k = 1");

    // A delay: a becomes false two steps after b, and b is always true.
    let delay = || {
        Model::new(&["N"])
            .var("a", Sort::Bool)
            .var("b", Sort::Bool)
            .var("c", Sort::Bool)
            .start(0, "a and b and c")
            .step("t", 0, 0, "true", &["a := b", "b := c", "c := a and b"])
    };
    let s = delay().always("a");
    refuses(&s, k_ind(&s, 1, false, false, &["a"]), "does not keep");
    refuses(&s, k_ind(&s, 2, false, false, &["a"]), "not 2-inductive");
    accepts(&s, k_ind(&s, 3, false, false, &["a"]));
    refuses(&s, holds(Evidence::Invariant(formulas(&s, &["a"]))), "does not keep");
    accepts(&s, holds(Evidence::Invariant(formulas(&s, &["a and b and c"]))));
}

#[test]
fn the_base_case_of_k_induction_covers_k_states() {
    // x != 3 is 5-inductive in the step (never five in a row), but a run of 3 steps breaks it.
    let s = Model::new(&["N"])
        .var("x", Sort::Int)
        .start(0, "x == 0")
        .step("up", 0, 0, "x < 3", &["x := x + 1"])
        .always("x != 3");
    for k in 1..7 {
        assert!(check(&s, &k_ind(&s, k, true, true, &["x != 3"])).is_err());
    }
    refuses(&s, k_ind(&s, 4, false, false, &["x != 3"]), "a run of 3 steps");
}

#[test]
fn loop_free_k_induction_excludes_repeated_states() {
    // y keeps its value unless x is 9, which is not reachable; x toggles. The step case fails only
    // because of loops.
    let m = || {
        Model::new(&["N"])
            .var("x", Sort::Int)
            .start(0, "x == 0")
            .step("stay", 0, 0, "x == 5 or x == 0", &[])
            .step("out", 0, 0, "x == 5", &["x := 6"])
    };
    let s = m().always("x != 6");
    refuses(&s, k_ind(&s, 4, false, false, &["x != 6"]), "not 4-inductive");
    refuses(&s, k_ind(&s, 1, true, false, &["x != 6"]), "not 1-inductive");
    accepts(&s, k_ind(&s, 2, true, false, &["x != 6"]));
    // An input that no step reads does not make states distinct, except for the last state.
    let s = m().input("i", Sort::Int).always("x != 6");
    accepts(&s, k_ind(&s, 2, true, false, &["x != 6"]));
    refuses(&s, k_ind(&s, 1, true, false, &["x != 6"]), "not 1-inductive");
    // An input that a guard or a constraint reads does.
    let s = m().input("i", Sort::Int).step("look", 0, 0, "x == 5 and i > 3", &[]).always("x != 6");
    refuses(&s, k_ind(&s, 2, true, false, &["x != 6"]), "not 2-inductive");
    refuses(&s, k_ind(&s, 4, true, true, &["x != 6"]), "not 4-inductive");
    let s = m().input("i", Sort::Int).step("look", 0, 0, "x == 5", &["i' >= i"]).always("x != 6");
    refuses(&s, k_ind(&s, 3, true, false, &["x != 6"]), "not 3-inductive");
    // The node makes states distinct too.
    let s = Model::new(&["A", "B"])
        .var("x", Sort::Int)
        .start(0, "x == 0")
        .step("over", 0, 1, "x == 5", &[])
        .step("back", 1, 0, "x == 5", &[])
        .step("out", 0, 0, "x == 5", &["x := 6"])
        .always("x != 6");
    let p = ["x != 6", "x != 6"];
    refuses(&s, k_ind(&s, 2, true, false, &p), "not 2-inductive");
    accepts(&s, k_ind(&s, 3, true, false, &p));
}

#[test]
fn no_restart_excludes_start_states_from_the_step_case() {
    // The unreachable 5 leads to 6 only through the start state 0; and 1 leads to 6.
    let m = || {
        Model::new(&["N"])
            .var("x", Sort::Int)
            .start(0, "x == 0")
            .step("stay", 0, 0, "x == 0", &[])
            .step("down", 0, 0, "x == 5", &["x := 0"])
            .step("out", 0, 0, "x == 4", &["x := 6"])
            .step("to4", 0, 0, "x == 3", &["x := 4"])
    };
    let s = m().always("x != 6");
    // 3, 4, 6 is a path without start states.
    refuses(&s, k_ind(&s, 2, false, true, &["x != 6"]), "not 2-inductive");
    accepts(&s, k_ind(&s, 3, false, true, &["x != 6"]));
    // Two nodes, one of them with a start: start states are those at the target of the start.
    let s = Model::new(&["A", "B"])
        .var("x", Sort::Int)
        .start(0, "true")
        .step("go", 0, 1, "x < 6", &[])
        .step("up", 1, 1, "x > 6", &["x := x - 1"])
        .always("x != 6 or `@node` == `@Node`.A");
    refuses(&s, k_ind(&s, 2, false, true, &["true", "x != 6"]), "not 2-inductive");
    refuses(&s, k_ind(&s, 2, true, true, &["true", "x != 6"]), "not 2-inductive");
    accepts(&s, holds(invariant(&s, &["true", "x < 6"])));
}

#[test]
fn diameters_bound_loop_free_runs() {
    let s = ring().always("x <= 4");
    accepts(&s, holds(Evidence::Diameter { k: 4 }));
    accepts(&s, holds(Evidence::Diameter { k: 6 }));
    refuses(&s, holds(Evidence::Diameter { k: 3 }), "loop-free run of 4 steps");
    refuses(&s, holds(Evidence::Diameter { k: 0 }), "loop-free run of 1 steps");
    refuses(&s, fails(Evidence::Diameter { k: 4 }), "cannot show");
    let s = ring().always("x <= 3");
    refuses(&s, holds(Evidence::Diameter { k: 4 }), "a run of 4 steps meets");
    let s = ring().reachable("1: x != 4");
    accepts(&s, fails(Evidence::Diameter { k: 4 }));
    // The bad step leaves the last state of the longest run.
    let s = ring().reachable("1: x == 4");
    refuses(&s, fails(Evidence::Diameter { k: 4 }), "a run of 4 steps meets");
    let s = ring().claim(|_| ClaimKind::NoSinkhole(NodeId(0)));
    accepts(&s, holds(Evidence::Diameter { k: 4 }));
    let s = ring().claim(|_| ClaimKind::NoDeadlock);
    accepts(&s, holds(Evidence::Diameter { k: 4 }));
    let s = parity().always("x >= 0");
    refuses(&s, holds(Evidence::Diameter { k: 5 }), "loop-free run");
    // States that break an assumption do not count.
    let s = parity().assume("x <= 3").always("x <= 3");
    accepts(&s, holds(Evidence::Diameter { k: 3 }));
    refuses(&s, holds(Evidence::Diameter { k: 2 }), "loop-free run");
    let s = parity().assume("x <= 3").reachable("1: x == 3");
    accepts(&s, fails(Evidence::Diameter { k: 3 }));
    let p = ["x != 4", "x != 4"];
    accepts(
        &s,
        fails(Evidence::KInductive {
            k: 6,
            invariant: formulas(&s, &p),
            loop_free: false,
            no_restart: true,
        }),
    );
    let s = Model::new(&["N"]).var("x", Sort::Int).start(0, "x > x").always("false");
    accepts(&s, holds(Evidence::Diameter { k: 0 }));
    let s = ring().always("x <= 4");
    assert!(matches!(
        check(&s, &holds(Evidence::Diameter { k: u32::MAX })),
        Err(Rejection::Undecided(_))
    ));
    assert!(matches!(
        check(&s, &k_ind(&s, u32::MAX, false, false, &["true"])),
        Err(Rejection::Undecided(_))
    ));
}

#[test]
fn parameters_of_bad_states_are_existential_in_bounded_arguments() {
    let s = ring()
        .step_with("t", 0, 0, &[("p", Sort::Int)], "t.p > 4 and t.p < x", &["x := t.p"])
        .claim(|_| ClaimKind::CanEnable(TransitionId(2)));
    accepts(&s, fails(Evidence::Diameter { k: 4 }));
    let s = ring()
        .step_with("t", 0, 0, &[("p", Sort::Int)], "t.p > 2 and t.p < x", &["x := t.p"])
        .claim(|_| ClaimKind::CanEnable(TransitionId(2)));
    refuses(&s, fails(Evidence::Diameter { k: 4 }), "a run of 4 steps meets");
}

#[test]
fn refutations_need_a_start_without_states() {
    let m = || {
        Model::new(&["A", "B"]).var("x", Sort::Int).start(0, "x > 3").start(1, "x > 3 and x < 3")
    };
    let s = m().claim(|_| ClaimKind::StartSatisfiable(StartId(1)));
    accepts(&s, fails(Evidence::Refutation));
    refuses(&s, holds(Evidence::Refutation), "cannot show");
    let s = m().claim(|_| ClaimKind::StartSatisfiable(StartId(0)));
    refuses(&s, fails(Evidence::Refutation), "has a start state");
    let s = m()
        .assume("`@node` == `@Node`.A -> x < 3")
        .claim(|_| ClaimKind::StartSatisfiable(StartId(0)));
    accepts(&s, fails(Evidence::Refutation));
    let s = m()
        .assume("`@node` == `@Node`.B -> x < 3")
        .claim(|_| ClaimKind::StartSatisfiable(StartId(0)));
    refuses(&s, fails(Evidence::Refutation), "has a start state");
}

#[test]
fn evidence_about_a_chain_is_checked_on_the_rebuilt_chain_system() {
    // From 0 up to 4, never down: 3 and then 1 is impossible.
    let s = |goals: &[&str]| {
        Model::new(&["N"])
            .var("x", Sort::Int)
            .start(0, "x == 0")
            .step("up", 0, 0, "x < 4", &["x := x + 1"])
            .claim(|m| ClaimKind::Reachable(goals.iter().map(|g| m.goal(g)).collect()))
    };
    let of_chain = |s: &System, texts: &[&str]| {
        let chain = passes::chain(s, ClaimId(0)).unwrap();
        fails(Evidence::OfChain(Box::new(invariant(&chain.system, texts))))
    };
    let two = s(&["x == 3", "x == 1"]);
    accepts(&two, of_chain(&two, &["true", "x >= 3", "false"]));
    refuses(&two, of_chain(&two, &["true", "x >= 1", "false"]), "keep");
    refuses(&two, of_chain(&two, &["true", "true", "true"]), "does not exclude");
    accepts(&two, fails(Evidence::OfChain(Box::new(Evidence::Diameter { k: 6 }))));
    refuses(&two, fails(Evidence::OfChain(Box::new(Evidence::Diameter { k: 2 }))), "loop-free run");
    refuses(&two, holds(Evidence::OfChain(Box::new(Evidence::Diameter { k: 6 }))), "cannot show");
    refuses(&two, fails(Evidence::Diameter { k: 6 }), "cannot show");
    let possible = s(&["x == 1", "x == 3"]);
    refuses(&possible, of_chain(&possible, &["true", "x >= 1", "false"]), "keep");
    refuses(&possible, fails(Evidence::OfChain(Box::new(Evidence::Diameter { k: 6 }))), "meets");
    let nested =
        Evidence::OfChain(Box::new(Evidence::OfChain(Box::new(Evidence::Diameter { k: 6 }))));
    refuses(&two, fails(nested), "cannot show");
    refuses(
        &ring().always("x <= 4"),
        fails(Evidence::OfChain(Box::new(Evidence::Diameter { k: 6 }))),
        "cannot show",
    );
}

#[test]
fn a_second_opinion_asks_only_that_solver() {
    let solvers = Arc::new(gander_smt::Solvers::from_environment());
    let s = parity().always("x >= 0");
    let limits = gander_certify::CheckLimits::default();
    let mut by_z3 = gander_certify::Checker::with_solver(&solvers, limits, "z3")
        .expect("z3 is part of the set-up");
    let c = by_z3.check(&s, ClaimId(0), &holds(invariant(&s, &PARITY))).unwrap();
    assert_eq!(c.basis.solvers, ["z3"]);
    assert!(gander_certify::Checker::with_solver(&solvers, limits, "missing").is_none());
}

#[test]
fn one_checker_serves_many_systems() {
    // Solver processes are kept between checks; nothing of an earlier check may survive in them.
    let mut checker = checker();
    let a = parity().always("x >= 0");
    let b = Model::new(&["N"]).var("x", Sort::Bool).start(0, "x").step(
        "t",
        0,
        0,
        "true",
        &["x := not x"],
    );
    let b = b.always("x");
    let c = ring().always("x <= 4");
    for _ in 0..3 {
        assert!(checker.check(&a, ClaimId(0), &holds(invariant(&a, &PARITY))).is_ok());
        assert!(
            checker.check(&a, ClaimId(0), &holds(invariant(&a, &["x >= 1", "x >= 1"]))).is_err()
        );
        assert!(checker.check(&b, ClaimId(0), &holds(invariant(&b, &["x"]))).is_err());
        assert!(checker.check(&c, ClaimId(0), &holds(Evidence::Diameter { k: 4 })).is_ok());
        assert!(checker.check(&c, ClaimId(0), &holds(Evidence::Diameter { k: 3 })).is_err());
        checker.cancellation().cancel();
        assert!(checker.check(&c, ClaimId(0), &holds(Evidence::Diameter { k: 4 })).is_err());
        checker.set_cancellation(Cancellation::new());
    }
}

#[test]
fn steps_are_checked_against_large_invariants_by_the_conjuncts_they_touch() {
    // Forty counters from 0 to 2; at `Off` the first one is 0, and each is at most the next one
    // plus 2.
    let mut m = Model::new(&["On", "Off"]);
    let name = |i: usize| format!("x{i}");
    for i in 0..40 {
        m = m.var(&name(i), Sort::Int);
    }
    let zero: Vec<String> = (0..40).map(|i| format!("x{i} == 0")).collect();
    m = m.start(0, &zero.join(" and "));
    for i in 0..40 {
        let up = format!("x{i} := x{i} + 1");
        m = m.step(&format!("up{i}"), 0, 0, &format!("x{i} < 2"), &[&up]);
    }
    m = m.step("copy", 0, 0, "x3 > 0", &["x4 := x3"]);
    m = m.step("off", 0, 1, "x0 == 0", &[]);
    m = m.step("on", 1, 0, "true", &["x0 := x1"]);
    let s = m.always("x0 <= 2");
    let invariant_of = |changed: Option<(usize, &str)>, off: &str| {
        let mut parts: Vec<String> =
            (0..40).flat_map(|i| [format!("x{i} >= 0"), format!("x{i} <= 2")]).collect();
        parts.extend((0..39).map(|i| format!("x{i} <= x{} + 2", i + 1)));
        if let Some((at, text)) = changed {
            parts[at] = text.to_string();
        }
        let on = parts.join(" and ");
        holds(invariant(&s, &[&on, &format!("{on} and {off}")]))
    };
    let mut checker = checker();
    let mut check = |verdict| checker.check(&s, ClaimId(0), &verdict);
    assert!(check(invariant_of(None, "x0 == 0")).is_ok());
    assert!(check(invariant_of(None, "true")).is_ok());
    let refused = |outcome: Result<_, Rejection>, what: &str| match outcome {
        Err(Rejection::Wrong(why)) => assert!(why.contains(what), "{why}"),
        _ => panic!("{what} is not refused"),
    };
    // A bound that one step breaks, and bounds that a copied value needs.
    refused(check(invariant_of(Some((41, "x20 <= 1")), "true")), "`up20` does not keep");
    refused(check(invariant_of(Some((7, "true")), "true")), "`copy` does not keep");
    refused(check(invariant_of(Some((9, "x4 <= 1")), "true")), "does not keep");
    // At the other node more is said, which the step to it does not bring about.
    refused(check(invariant_of(None, "x1 == 0")), "`off` does not keep");
    refused(check(invariant_of(Some((79, "x39 < 0")), "true")), "after");
}

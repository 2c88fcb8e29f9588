//! Closed sets are accepted if the enumeration finds the given number of states and these decide
//! the claim, rejected if not, and undecided if the states cannot be enumerated.

mod support;

use gander_certify::Rejection;
use gander_system::{
    ClaimId, ClaimKind, Evidence, Goal, NodeId, System, TransitionId, Verdict, passes,
};
use gander_term::Sort;
use support::*;

fn closed(states: u64) -> Evidence {
    Evidence::ClosedSet { states }
}

#[track_caller]
fn undecided(system: &gander_system::System, verdict: Verdict) {
    let outcome = check(system, &verdict);
    assert!(matches!(&outcome, Err(Rejection::Undecided(_))), "{outcome:?}");
}

/// 0, 3, 6, ..., 27 at node 0; then a choice of 1 or 2 at node 1, which ends.
fn model() -> Model {
    Model::new(&["Up", "End!"])
        .var("x", Sort::Int)
        .start(0, "x == 0")
        .step("by", 0, 0, "x + 2 < 28", &["2 * x' - 1 == 2 * x + 5"])
        .step_with(
            "leave",
            0,
            1,
            &[("p", Sort::Int)],
            "(leave.p == 1 or leave.p == 2) and x > 20",
            &["x := leave.p"],
        )
}

#[test]
fn only_the_right_number_of_states_is_accepted() {
    let s = model().always("x < 28");
    let c = accepts(&s, holds(closed(12)));
    assert_eq!(c.queries, 0);
    refuses(&s, holds(closed(11)), "more than 11 reachable states");
    refuses(&s, holds(closed(13)), "12 reachable states, not 13");
    refuses(&s, fails(closed(12)), "cannot show");
    refuses(&model().always("x != 18"), holds(closed(12)), "meets what must not be met");
}

#[test]
fn closed_sets_decide_every_kind_of_safety_claim() {
    accepts(
        &model().claim(|m| ClaimKind::Reachable(vec![Goal::State(m.formula("x == 28"))])),
        fails(closed(12)),
    );
    refuses(
        &model().claim(|m| ClaimKind::Reachable(vec![Goal::State(m.formula("x == 27"))])),
        fails(closed(12)),
        "meets what must not be met",
    );
    accepts(&model().claim(|_| ClaimKind::NoDeadlock), holds(closed(12)));
    accepts(&model().claim(|_| ClaimKind::NoSinkhole(NodeId(0))), holds(closed(12)));
    accepts(&model().claim(|_| ClaimKind::Completable(TransitionId(0))), holds(closed(12)));
    refuses(
        &model().claim(|_| ClaimKind::CanEnable(TransitionId(1))),
        fails(closed(12)),
        "meets what must not",
    );
    let possible =
        |text: &'static str| model().claim(move |m| ClaimKind::AlwaysPossible(m.formula(text)));
    accepts(&possible("x == 1 or x == 2"), holds(closed(12)));
    refuses(&possible("x == 1 or x == 2"), fails(closed(12)), "possible from every");
    accepts(&possible("x == 1"), fails(closed(12)));
    refuses(&possible("x == 1"), holds(closed(12)), "not possible from some");
    refuses(&model().claim(|_| ClaimKind::InfiniteRun), fails(closed(12)), "cannot show");
    // A node that is not final and that no step leaves.
    let stuck =
        Model::new(&["A"]).var("x", Sort::Bool).start(0, "x").step("t", 0, 0, "x", &["x := false"]);
    refuses(&stuck.claim(|_| ClaimKind::NoDeadlock), holds(closed(2)), "no step leaves");
}

#[test]
fn closed_sets_decide_claims_about_steps() {
    let goal = |text: &'static str| {
        model().claim(move |m| {
            let t = m.term(text);
            ClaimKind::Reachable(vec![
                m.builder.step_goal(None, &[(TransitionId(1), t)], "goal").unwrap(),
            ])
        })
    };
    accepts(&goal("leave.p == 3"), fails(closed(12)));
    refuses(&goal("leave.p == 2 and x == 27"), fails(closed(12)), "a step of `leave`");
}

#[test]
fn infinite_enumerations_are_undecided() {
    let free = Model::new(&["A"]).var("x", Sort::Int).start(0, "x == 0").step(
        "t",
        0,
        0,
        "true",
        &["any x"],
    );
    undecided(&free.always("x == x"), holds(closed(1)));
    let open = Model::new(&["A"]).var("x", Sort::Real).start(0, "x >= 0.0 and x <= 1.0");
    undecided(&open.always("x >= 0.0"), holds(closed(1)));
    // Infinitely many states: the enumeration stops at the given number.
    let endless = Model::new(&["A"]).var("x", Sort::Int).start(0, "x == 0").step(
        "t",
        0,
        0,
        "true",
        &["x := x + 1"],
    );
    refuses(&endless.always("x >= 0"), holds(closed(100)), "more than 100");
}

#[test]
fn enumerated_states_are_reused_for_the_same_system_only() {
    let mut checker = checker();
    let verdict = Verdict::Holds(closed(12));
    let s = model().always("x < 28");
    assert!(checker.check(&s, ClaimId(0), &verdict).is_ok());
    assert!(checker.check(&s, ClaimId(0), &verdict).is_ok());
    // The same pool, another assumption.
    let formula = match &s.claims()[0].kind {
        ClaimKind::Always(p) => *p,
        _ => unreachable!("the claim is one of this kind"),
    };
    let ambiguity = gander_system::Ambiguity { formula, text: String::new() };
    let narrow = s.clone().with_ambiguity(ambiguity).narrow_reading().unwrap();
    assert!(checker.check(&narrow, ClaimId(0), &verdict).is_ok());
    let smaller = model().assume("x < 25").always("x < 28");
    let refused = checker.check(&smaller, ClaimId(0), &verdict);
    assert!(matches!(&refused, Err(Rejection::Wrong(_))), "{refused:?}");
}

#[test]
fn a_transition_that_can_never_complete_is_enumerated() {
    // Its next value is unbounded, but a constraint has no solution.
    let s = Model::new(&["A"])
        .var("x", Sort::Int)
        .start(0, "x == 0")
        .step("flip", 0, 0, "true", &["x := 1 - x"])
        .step_with("never", 0, 0, &[("p", Sort::Int)], "never.p > x", &["x' > never.p", "1 == 2"])
        .always("x <= 1");
    accepts(&s, holds(closed(2)));
    refuses(&s, holds(closed(3)), "2 reachable states, not 3");
}

/// At most ten steps of 1, and a switch that each step can turn on.
fn limited() -> Model {
    Model::new(&["A"])
        .var("x", Sort::Int)
        .var("on", Sort::Bool)
        .start(0, "x == 0 and not on")
        .step("up", 0, 0, "x < 10", &["x := x + 1", "on := on"])
        .step("turn", 0, 0, "x < 10", &["x := x + 1", "on := true"])
}

#[test]
fn evidence_about_runs_outside_of_a_trap_needs_a_real_trap() {
    let s = limited().reachable("x == 12 and on");
    let outside = |trap: &str, proof| {
        fails(Evidence::Outside { trap: formulas(&s, &[trap]), proof: Box::new(proof) })
    };
    // The switch stays on, so the states with it on are a trap.
    accepts(&s, outside("x > 5 and x <= 10", closed(11)));
    accepts(&s, outside("on and x <= 10", closed(11)));
    accepts(
        &s,
        outside(
            "on and x <= 10",
            invariant(
                &passes::outside(&s, &formulas(&s, &["on and x <= 10"])).unwrap(),
                &["not on"],
            ),
        ),
    );
    refuses(&s, outside("on and x <= 10", closed(10)), "more than 10 reachable states");
    refuses(&s, outside("x == 5", closed(9)), "does not keep");
    refuses(&s, outside("on", closed(11)), "does not exclude");
    refuses(&s, outside("x > 5 and x <= 10", Evidence::Refutation), "cannot show");
    let nested =
        Evidence::Outside { trap: formulas(&s, &["on and x <= 10"]), proof: Box::new(closed(11)) };
    refuses(&s, outside("on and x <= 10", nested), "cannot show");
    let met = limited().reachable("x == 10 and on");
    let hidden = Evidence::Outside {
        trap: formulas(&met, &["on and x <= 10"]),
        proof: Box::new(closed(11)),
    };
    refuses(&met, fails(hidden), "does not exclude");
    // Claims about steps, or about what is possible, cannot be shown in this way: the steps into
    // the trap are missing outside of it.
    let step = limited().claim(|m| {
        let t = m.term("x == 3");
        ClaimKind::Reachable(vec![
            m.builder.step_goal(None, &[(TransitionId(1), t)], "goal").unwrap(),
        ])
    });
    let hidden = |s: &System| Evidence::Outside {
        trap: formulas(s, &["on and x <= 10"]),
        proof: Box::new(closed(11)),
    };
    refuses(&step, fails(hidden(&step)), "cannot show");
    let deadlock = limited().claim(|_| ClaimKind::NoDeadlock);
    refuses(&deadlock, holds(hidden(&deadlock)), "cannot show");
}

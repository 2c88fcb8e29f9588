//! Runs are accepted if they replay and show the claim, and rejected otherwise.

mod support;

use gander_certify::{CheckLimits, Checker, Rejection};
use gander_runtime::Cancellation;
use gander_smt::Solvers;
use gander_system::{
    ClaimId, ClaimKind, Evidence, Goal, Leg, NodeId, StartId, State, Step, System, TransitionId,
    Verdict,
};
use gander_term::{Sort, Value};
use std::sync::Arc;
use support::*;

/// x is incremented by n, 1 <= n <= 3, at node 0; `leave` goes to node 1 once x > 5; `reset` goes
/// back.
fn counter() -> Model {
    Model::new(&["Count", "Done"])
        .var("x", Sort::Int)
        .start(0, "x == 0")
        .step_with(
            "add",
            0,
            0,
            &[("n", Sort::Int)],
            "1 <= add.n and add.n <= 3",
            &["x := x + add.n"],
        )
        .step("leave", 0, 1, "x > 5", &[])
        .step("reset", 1, 0, "true", &["x' >= 0", "x' < x"])
}

#[test]
fn a_run_to_a_bad_state_refutes_always() {
    let s = counter().always("x != 6");
    let legs = vec![go_with(0, &[3]), go_with(0, &[2]), to(0, &[1], &[6])];
    let c = accepts(&s, fails_run(run(0, &[0], legs)));
    assert_eq!((c.queries, c.basis.solvers.len()), (0, 0));
    accepts(&s, fails_run(run(0, &[0], vec![times(2, vec![go_with(0, &[3])])])));
    accepts(&s, fails_run(run(0, &[0], vec![times(3, vec![times(2, vec![go_with(0, &[1])])])])));
}

#[test]
fn wrong_runs_are_rejected() {
    let s = counter().always("x != 6");
    let right = || vec![go_with(0, &[3]), go_with(0, &[2]), to(0, &[1], &[6])];
    let refuse =
        |first: &[i64], legs: Vec<Leg>, why: &str| refuses(&s, fails_run(run(0, first, legs)), why);
    refuse(&[0], right()[..2].to_vec(), "satisfies what is claimed");
    refuse(&[0], right()[1..].to_vec(), "does not give");
    refuse(&[1], right(), "does not satisfy");
    refuse(&[0, 0], right(), "2 values for 1 variables");
    refuse(&[], right(), "0 values for 1 variables");
    refuse(&[0], vec![times(2, vec![go_with(0, &[4])])], "guard does not hold");
    refuse(&[0], vec![go_with(0, &[0])], "guard does not hold");
    refuse(&[0], vec![to(0, &[3], &[6])], "does not give");
    refuse(&[0], vec![go(0)], "wrong number or sort");
    refuse(&[0], vec![go_with(0, &[3, 3])], "wrong number or sort");
    refuse(&[0], vec![go(2)], "does not leave the node");
    refuse(&[0], vec![go(1)], "guard does not hold");
    refuse(&[0], vec![go(9)], "has not got");
    refuse(&[0], vec![times(0, vec![go_with(0, &[3])])], "repetition");
    refuse(&[0], vec![times(u64::MAX, vec![])], "repetition");
    refuse(
        &[0],
        vec![times(2, vec![go_with(0, &[3])]), go_with(0, &[3])],
        "satisfies what is claimed",
    );
    refuses(&s, holds_run(run(0, &[0], right())), "cannot show");
    refuses(&s, fails_run(run(1, &[0], right())), "another node");
    let mut other_start = run(0, &[0], right());
    other_start.start = StartId(1);
    refuses(&s, fails_run(other_start), "has not got");
    let mut sorts = run(0, &[0], right());
    sorts.first.values[0] = Value::whole(0);
    refuses(&s, fails_run(sorts), "another sort");
    let param = Leg::Step(Step {
        transition: TransitionId(0),
        params: vec![Value::Bool(true)],
        next: None,
    });
    refuse(&[0], vec![param], "wrong number or sort");
    let next = Leg::Step(Step {
        transition: TransitionId(0),
        params: vec![int(3)],
        next: Some(vec![Value::whole(3)]),
    });
    refuse(&[0], vec![next], "another sort");
}

#[test]
fn constraints_and_frames_are_checked() {
    let s = counter().always("x != 3");
    let there = || vec![times(3, vec![go_with(0, &[2])]), go(1)];
    let with = |last: Leg| [there(), vec![last]].concat();
    accepts(&s, fails_run(run(0, &[0], with(to(2, &[], &[3])))));
    refuses(&s, fails_run(run(0, &[0], with(to(2, &[], &[-1])))), "does not allow");
    refuses(&s, fails_run(run(0, &[0], with(go(2)))), "does not say what comes behind");
    let bad_frame = vec![times(3, vec![go_with(0, &[2])]), to(1, &[], &[3])];
    refuses(&s, fails_run(run(0, &[0], bad_frame)), "does not give");
}

#[test]
fn values_must_belong_to_their_enumeration_or_to_smt_lib_strings() {
    let mut pool = gander_term::Pool::new();
    let e = pool.declare_enum("E", &["A", "B"]).unwrap();
    let mut m = Model::new(&["N"]);
    let here = m.builder.pool.declare_enum("E", &["A", "B"]).unwrap();
    let _ = e;
    let s = m.var("e", Sort::Enum(here)).var("s", Sort::String).start(0, "true").always("e == E.A");
    let at = |v: Value, t: &str| {
        let first = State { node: NodeId(0), values: vec![v, Value::str(t)] };
        fails_run(gander_system::Run { start: StartId(0), first, legs: vec![].into() })
    };
    accepts(&s, at(Value::Enum(here, 1), "abc"));
    refuses(&s, at(Value::Enum(here, 0), "abc"), "satisfies what is claimed");
    refuses(&s, at(Value::Enum(here, 2), "abc"), "another sort");
    refuses(&s, at(Value::Enum(here, 1), "\u{30000}"), "another sort");
}

#[test]
fn assumptions_must_hold_in_every_state() {
    let s = counter().assume("x != 4").always("x != 6");
    accepts(&s, fails_run(run(0, &[0], vec![times(2, vec![go_with(0, &[3])])])));
    refuses(
        &s,
        fails_run(run(0, &[0], vec![times(3, vec![go_with(0, &[2])])])),
        "breaks an assumption",
    );
    let s = counter().assume("x > 0").always("x != 6");
    refuses(
        &s,
        fails_run(run(0, &[0], vec![times(2, vec![go_with(0, &[3])])])),
        "breaks an assumption",
    );
    let s = counter().assume("`@node` == `@Node`.Count").always("x != 6");
    let legs = vec![times(2, vec![go_with(0, &[3])]), go(1)];
    refuses(&s, fails_run(run(0, &[0], legs)), "breaks an assumption");
}

#[test]
fn a_run_that_assumptions_end_gives_a_warning() {
    let m = || {
        Model::new(&["N"]).var("x", Sort::Int).start(0, "x == 0").step(
            "up",
            0,
            0,
            "true",
            &["x := x + 1"],
        )
    };
    let s = m().assume("x <= 2").always("x < 2");
    let two = || run(0, &[0], vec![times(2, vec![go(0)])]);
    assert_eq!(accepts(&s, fails_run(two())).warnings.len(), 1);
    let s = m().assume("x <= 3").always("x < 2");
    assert!(accepts(&s, fails_run(two())).warnings.is_empty());
}

#[test]
fn long_repetitions_are_replayed_and_too_long_ones_are_undecided() {
    let s = Model::new(&["N"]).var("x", Sort::Int).start(0, "x == 0").step(
        "up",
        0,
        0,
        "true",
        &["x := x + 1"],
    );
    let s = s.always("x < 300000");
    accepts(&s, fails_run(run(0, &[0], vec![times(300, vec![times(1000, vec![go(0)])])])));
    // Uniform rounds are accelerated.
    accepts(&s, fails_run(run(0, &[0], vec![times(u64::MAX, vec![times(u64::MAX, vec![go(0)])])])));
    let s = Model::new(&["N"]).var("x", Sort::Int).start(0, "x == 0");
    let s = s.step("turn", 0, 0, "true", &["x := 1 - x"]).always("x < 1");
    let limits = CheckLimits { replay_steps: 1000, ..CheckLimits::default() };
    let mut checker = Checker::new(&Arc::new(Solvers::from_environment()), limits);
    let verdict =
        fails_run(run(0, &[0], vec![times(u64::MAX, vec![times(u64::MAX, vec![go(0)])])]));
    assert!(
        matches!(checker.check(&s, ClaimId(0), &verdict), Err(Rejection::Undecided(why)) if why.contains("limit"))
    );
    accepts(&s, fails_run(run(0, &[0], vec![times(7001, vec![go(0)])])));
    refuses(
        &s,
        fails_run(run(0, &[0], vec![times(7002, vec![go(0)])])),
        "satisfies what is claimed",
    );
}

/// A counter with a delayed copy, and a sum with a limit.
fn limited() -> Model {
    let m = Model::new(&["N"]).var("x", Sort::Int).var("old", Sort::Int).var("y", Sort::Int);
    let m = m.start(0, "x == 0 and old == 7 and y == 0");
    m.step("up", 0, 0, "x < 20000", &["x := x + 1", "old := x", "y := y - 2"])
}

#[test]
fn a_wrong_round_of_a_repetition_is_found() {
    let s = limited().always("x < 20000");
    let up = |n: u64, next: &[i64]| {
        fails_run(run(0, &[0, 7, 0], vec![times(n, vec![to(0, &[], next)])]))
    };
    accepts(&s, up(20_000, &[20_000, 19_999, -40_000]));
    // The guard does not hold in the last round.
    refuses(&s, up(20_001, &[20_001, 20_000, -40_002]), "guard does not hold");
    // Nor in many rounds before it.
    refuses(&s, up(60_000, &[60_000, 59_999, -120_000]), "guard does not hold");
    // The given next values of the last round are wrong.
    refuses(&s, up(20_000, &[20_000, 20_000, -40_000]), "does not give");
    refuses(&s, up(19_999, &[20_000, 19_999, -40_000]), "does not give");
    // An assumption breaks in the middle.
    let s = limited().assume("x != 12345").always("x < 20000");
    refuses(&s, up(20_000, &[20_000, 19_999, -40_000]), "breaks an assumption");
    // Nested, with a reset: the inner loop is left where the guard does not hold.
    let nested = |inner: u64| {
        let m = Model::new(&["N"])
            .var("i", Sort::Int)
            .var("j", Sort::Int)
            .start(0, "i == 0 and j == 0");
        let m = m.step("tick", 0, 0, "i < 100", &["i := i + 1"]);
        let s = m.step("carry", 0, 0, "i == 100", &["i := 0", "j := j + 1"]).always("j < 300");
        let body =
            vec![times(inner, vec![to(0, &[], &[inner as i64, 299])]), to(1, &[], &[0, 300])];
        (s, fails_run(run(0, &[0, 0], vec![times(300, body)])))
    };
    let (s, right) = nested(100);
    accepts(&s, right);
    let (s, early) = nested(99);
    refuses(&s, early, "guard does not hold");
}

#[test]
fn earlier_rounds_compute_next_values_from_equations() {
    let m = || {
        let m =
            Model::new(&["N"]).input("by", Sort::Int).var("n", Sort::Int).var("twice", Sort::Int);
        let m = m.start(0, "n == 0 and twice == 0");
        m.step("tick", 0, 0, "true", &["n' == n + by'", "twice' == 2 * n'", "any by"])
    };
    let s = m().always("twice < 60000");
    let ticks = |n: u64, next: &[i64]| {
        fails_run(run(0, &[0, 0, 0], vec![times(n, vec![to(0, &[], next)])]))
    };
    accepts(&s, ticks(10_000, &[3, 30_000, 60_000]));
    refuses(&s, ticks(10_000, &[2, 30_000, 60_000]), "does not allow");
    refuses(&s, ticks(10_000, &[3, 30_000, 60_001]), "does not allow");
    let s = m().assume("by <= 2").always("twice < 60000");
    refuses(&s, ticks(10_000, &[3, 30_000, 60_000]), "breaks an assumption");
}

#[test]
fn runs_show_reachable_states_and_steps() {
    let s = counter().reachable("x == 6 and `@node` == `@Node`.Done");
    let right = || vec![times(2, vec![go_with(0, &[3])]), go(1)];
    accepts(&s, holds_run(run(0, &[0], right())));
    refuses(&s, holds_run(run(0, &[0], right()[..1].to_vec())), "does not end by meeting");
    refuses(&s, fails_run(run(0, &[0], right())), "cannot show");

    let s = counter().reachable("0: add.n == 2 and x == 3");
    accepts(&s, holds_run(run(0, &[0], vec![go_with(0, &[3]), go_with(0, &[2])])));
    refuses(
        &s,
        holds_run(run(0, &[0], vec![go_with(0, &[3]), go_with(0, &[1])])),
        "does not end by meeting",
    );
    refuses(&s, holds_run(run(0, &[0], vec![go_with(0, &[3])])), "does not end by meeting");
    let beyond = vec![go_with(0, &[3]), go_with(0, &[2]), go_with(0, &[1])];
    refuses(&s, holds_run(run(0, &[0], beyond)), "does not end by meeting");
    refuses(&s, holds_run(run(0, &[0], vec![])), "does not end by meeting");
}

fn chain(goals: &[&str]) -> System {
    counter().claim(|m| ClaimKind::Reachable(goals.iter().map(|g| m.goal(g)).collect()))
}

#[test]
fn goals_must_be_met_in_order() {
    let up = |n: &[i64]| run(0, &[0], n.iter().map(|&n| go_with(0, &[n])).collect());
    let s = chain(&["x == 1", "x == 3"]);
    accepts(&s, holds_run(up(&[1, 2])));
    refuses(&s, holds_run(up(&[3])), "does not end by meeting");
    refuses(&s, holds_run(up(&[1])), "does not end by meeting");
    // Both goals in one state.
    accepts(&chain(&["x == 1", "x <= 1"]), holds_run(up(&[1])));
    // The state after a step goal may meet the next goal.
    let s = chain(&["0: add.n == 2", "x == 2"]);
    accepts(&s, holds_run(up(&[2])));
    let s = chain(&["0: add.n == 2", "x == 0"]);
    refuses(&s, holds_run(up(&[2])), "does not end by meeting");
    // One step cannot meet two step goals.
    let s = chain(&["0: add.n == 2", "0: x >= 0"]);
    refuses(&s, holds_run(up(&[2])), "does not end by meeting");
    accepts(&s, holds_run(up(&[2, 1])));
    refuses(&s, holds_run(up(&[1, 2])), "does not end by meeting");
}

#[test]
fn can_enable_needs_some_parameters() {
    let s = counter().claim(|_| ClaimKind::CanEnable(TransitionId(1)));
    accepts(&s, holds_run(run(0, &[0], vec![times(2, vec![go_with(0, &[3])])])));
    refuses(&s, holds_run(run(0, &[0], vec![go_with(0, &[3])])), "not enabled");
    refuses(
        &s,
        holds_run(run(0, &[0], vec![times(2, vec![go_with(0, &[3])]), go(1)])),
        "does not end at the node",
    );

    let s = Model::new(&["N"])
        .var("x", Sort::Int)
        .start(0, "x >= 0")
        .step_with("t", 0, 0, &[("p", Sort::Int)], "t.p * 2 == x and t.p > 1", &[])
        .claim(|_| ClaimKind::CanEnable(TransitionId(0)));
    // Parameters that are guessed, proved in the process, or found by a solver.
    assert_eq!(accepts(&s, holds_run(run(0, &[4], vec![]))).queries, 0);
    let c = accepts(&s, holds_run(run(0, &[4000], vec![])));
    assert_eq!((c.queries, c.certificates), (0, 1));
    let c = solver_checker().check(&s, ClaimId(0), &holds_run(run(0, &[4000], vec![]))).unwrap();
    assert_eq!((c.queries, c.certificates), (1, 0));
    refuses(&s, holds_run(run(0, &[5], vec![])), "not enabled");
    refuses(&s, holds_run(run(0, &[2], vec![])), "not enabled");
}

#[test]
fn sinkholes_have_no_enabled_transition() {
    let m = || {
        Model::new(&["N"]).var("x", Sort::Int).start(0, "x >= 0").step_with(
            "t",
            0,
            0,
            &[("p", Sort::Int)],
            "0 < t.p and t.p < x",
            &["x' == x - t.p"],
        )
    };
    let s = m().claim(|_| ClaimKind::NoSinkhole(NodeId(0)));
    accepts(&s, fails_run(run(0, &[1], vec![])));
    accepts(&s, fails_run(run(0, &[3], vec![to(0, &[2], &[1])])));
    refuses(&s, fails_run(run(0, &[2], vec![])), "is enabled");
    refuses(&s, holds_run(run(0, &[1], vec![])), "cannot show");
    let s = counter().claim(|_| ClaimKind::NoSinkhole(NodeId(1)));
    refuses(&s, fails_run(run(0, &[0], vec![])), "does not end at the node");
}

#[test]
fn a_start_state_shows_that_a_start_is_satisfiable() {
    let m = || {
        Model::new(&["N"]).var("x", Sort::Int).start(0, "x > 3").start(0, "x > 4").step(
            "t",
            0,
            0,
            "true",
            &[],
        )
    };
    let s = m().claim(|_| ClaimKind::StartSatisfiable(StartId(0)));
    accepts(&s, holds_run(run(0, &[4], vec![])));
    refuses(&s, holds_run(run(0, &[3], vec![])), "does not satisfy");
    refuses(&s, holds_run(run(0, &[4], vec![go(0)])), "length 0");
    let s = m().claim(|_| ClaimKind::StartSatisfiable(StartId(1)));
    refuses(&s, holds_run(run(0, &[5], vec![])), "length 0");
    let s = m().assume("x < 4").claim(|_| ClaimKind::StartSatisfiable(StartId(0)));
    refuses(&s, holds_run(run(0, &[4], vec![])), "assumption");
}

#[test]
fn completable_fails_where_the_effect_has_no_solution() {
    let m = |guard: &str, effect: &str| {
        Model::new(&["N"])
            .var("x", Sort::Int)
            .start(0, "x >= 0")
            .step_with("t", 0, 0, &[("p", Sort::Int)], guard, &[effect])
            .claim(|_| ClaimKind::Completable(TransitionId(0)))
    };
    let s = m("t.p > 0", "x' > x and x' < x + t.p");
    accepts(&s, fails_run(run(0, &[0], vec![])));
    let s = m("t.p > 1", "x' > x and x' < x + t.p");
    refuses(&s, fails_run(run(0, &[0], vec![])), "has a solution for all");
    // Only one of many parameters fails.
    let s = m("t.p >= 0 and t.p < 1000", "x' * 2 == x or t.p != 777");
    accepts(&s, fails_run(run(0, &[3], vec![])));
    refuses(&s, fails_run(run(0, &[4], vec![])), "has a solution for all");
    // Not enabled at all.
    let s = m("t.p > 0 and x > 0", "x' > x and x' < x + t.p");
    refuses(&s, fails_run(run(0, &[0], vec![])), "has a solution for all");
}

#[test]
fn a_deadlock_is_a_state_without_step_at_a_node_that_is_not_final() {
    let m = |node: &str| {
        Model::new(&[node])
            .var("x", Sort::Int)
            .start(0, "x >= 0")
            .step("t", 0, 0, "x > 0", &["x' < x", "x' > 0"])
            .assume("x != 2")
            .claim(|_| ClaimKind::NoDeadlock)
    };
    let s = m("N");
    accepts(&s, fails_run(run(0, &[0], vec![])));
    accepts(&s, fails_run(run(0, &[1], vec![])));
    accepts(&s, fails_run(run(0, &[3], vec![to(0, &[], &[1])])));
    refuses(&s, fails_run(run(0, &[3], vec![])), "a step leaves");
    refuses(&m("N!"), fails_run(run(0, &[0], vec![])), "final");
}

#[test]
fn finite_maximal_runs_decide_liveness() {
    // x is incremented up to 3; then no step is possible.
    let m = || {
        Model::new(&["N"]).var("x", Sort::Int).start(0, "x == 0").step(
            "up",
            0,
            0,
            "x < 3",
            &["x := x + 1"],
        )
    };
    let full = || run(0, &[0], vec![times(3, vec![go(0)])]);
    let short = || run(0, &[0], vec![times(2, vec![go(0)])]);
    let eventually =
        |p: &str| m().claim(|m| ClaimKind::Eventually { goal: m.formula(p), under: vec![] });
    accepts(&eventually("x == 4"), fails_run(full()));
    refuses(&eventually("x == 2"), fails_run(full()), "some state");
    refuses(&eventually("x == 3"), fails_run(short()), "a step leaves");
    let always_eventually =
        |p: &str| m().claim(|m| ClaimKind::AlwaysEventually { goal: m.formula(p), under: vec![] });
    accepts(&always_eventually("x == 2"), fails_run(full()));
    refuses(&always_eventually("x == 3"), fails_run(full()), "repeats forever");
    refuses(&always_eventually("x == 3"), fails_run(short()), "a step leaves");
    let leads = |p: &str, q: &str| {
        m().claim(|m| ClaimKind::LeadsTo { from: m.formula(p), to: m.formula(q), under: vec![] })
    };
    accepts(&leads("x == 2", "x == 1"), fails_run(full()));
    refuses(&leads("x == 1", "x == 2"), fails_run(full()), "nothing is left");
    refuses(&leads("x == 1", "x == 1"), fails_run(full()), "nothing is left");
    refuses(&leads("x == 2", "x == 1"), fails_run(short()), "a step leaves");
    let exists_always = |p: &str| m().claim(|m| ClaimKind::ExistsAlways(m.formula(p)));
    accepts(&exists_always("x <= 3"), holds_run(full()));
    refuses(&exists_always("x <= 2"), holds_run(full()), "some state");
    refuses(&exists_always("x <= 2"), holds_run(short()), "a step leaves");
    let infinite = m().claim(|_| ClaimKind::InfiniteRun);
    refuses(&infinite, fails_run(full()), "cannot show");
}

#[test]
fn quantified_guards_go_to_a_solver() {
    let s = Model::new(&["N"])
        .var("x", Sort::Int)
        .start(0, "x >= 0")
        .step("t", 0, 0, "forall y: int. y * y != x", &["x := x + 1"])
        .always("x != 4");
    assert!(accepts(&s, fails_run(run(0, &[3], vec![to(0, &[], &[4])]))).queries > 0);
    let s = Model::new(&["N"])
        .var("x", Sort::Int)
        .start(0, "x >= 0")
        .step("t", 0, 0, "exists y: int. y + y == x", &["x := x + 1"])
        .always("x != 4 and x != 5");
    refuses(&s, fails_run(run(0, &[3], vec![to(0, &[], &[4])])), "not a step");
    refuses(&s, fails_run(run(0, &[4], vec![to(0, &[], &[6])])), "not a step");
    accepts(&s, fails_run(run(0, &[4], vec![to(0, &[], &[5])])));
}

#[test]
fn an_interrupted_check_is_undecided() {
    let s = counter().always("x != 6");
    let mut checker = checker();
    checker.cancellation().cancel();
    let verdict = fails_run(run(0, &[0], vec![times(2, vec![go_with(0, &[3])])]));
    assert!(matches!(checker.check(&s, ClaimId(0), &verdict), Err(Rejection::Undecided(_))));
    checker.set_cancellation(Cancellation::new());
    assert!(checker.check(&s, ClaimId(0), &verdict).is_ok());
    assert!(matches!(checker.check(&s, ClaimId(7), &verdict), Err(Rejection::Wrong(_))));
    let unknown = Verdict::Unknown { explored_through: None, why: vec![] };
    assert!(matches!(checker.check(&s, ClaimId(0), &unknown), Err(Rejection::Undecided(_))));
    assert!(matches!(
        checker.check(&s, ClaimId(0), &fails(Evidence::Refutation)),
        Err(Rejection::Wrong(_))
    ));
}

/// A variable that occurs only under a quantifier that cannot be evaluated has its value of the
/// state. If it were free, a solver would find some value.
#[test]
fn variables_under_quantifiers_have_the_values_of_the_state() {
    let s = counter()
        .always("forall i: int. forall j: int. 0 <= i and i < x and 0 <= j and j < x -> i + j < 3");
    accepts(&s, fails_run(run(0, &[0], vec![go_with(0, &[3])])));
    refuses(&s, fails_run(run(0, &[0], vec![go_with(0, &[2])])), "satisfies what is claimed");
    let goal = "forall i: int. forall j: int. i < x or j < x or i + j > 5";
    let s = counter().claim(|m| ClaimKind::Reachable(vec![Goal::State(m.formula(goal))]));
    accepts(&s, holds_run(run(0, &[0], vec![go_with(0, &[3])])));
    refuses(&s, holds_run(run(0, &[0], vec![go_with(0, &[2])])), "goal");
}

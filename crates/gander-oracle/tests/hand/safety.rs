//! Claims about reachable states and steps.

use gander_system::{ClaimKind, Goal, NodeId, Role, StartId, TransitionId, VarId};
use gander_term::{Op, Sort};

use super::*;

const N: VarId = VarId(0);

#[test]
fn always_fails_by_a_shortest_run_to_a_violating_state() {
    let mut m = Model::counter(5);
    let (five, three) = (m.compare(Op::Le, N, 5), m.compare(Op::Le, N, 3));
    let (five, three) = (m.formula(five), m.formula(three));
    assert_eq!(
        m.answers(vec![ClaimKind::Always(five), ClaimKind::Always(three)]),
        [HOLDS, fails_by(4)]
    );
}

#[test]
fn reachable_holds_by_a_shortest_run() {
    let mut m = Model::counter(5);
    let (zero, five, six) = (m.is(N, 0), m.is(N, 5), m.is(N, 6));
    let goals = [zero, five, six].map(|t| ClaimKind::Reachable(vec![Goal::State(m.formula(t))]));
    assert_eq!(m.answers(goals.to_vec()), [holds_by(0), holds_by(5), FAILS]);
}

#[test]
fn a_state_may_meet_two_goals_at_once() {
    let mut m = Model::counter(5);
    let (low, high, three) = (m.compare(Op::Ge, N, 2), m.compare(Op::Le, N, 2), m.is(N, 3));
    let [low, high, three] = [low, high, three].map(|t| Goal::State(m.formula(t)));
    let claims = vec![
        ClaimKind::Reachable(vec![low.clone(), high.clone()]),
        ClaimKind::Reachable(vec![high.clone(), low.clone()]),
        ClaimKind::Reachable(vec![three.clone(), three.clone(), three.clone()]),
        // No state below two follows three.
        ClaimKind::Reachable(vec![three, high]),
    ];
    assert_eq!(m.answers(claims), [holds_by(2), holds_by(2), holds_by(3), FAILS]);
}

#[test]
fn step_goals_need_steps_of_their_own() {
    let mut m = Model::graph(3, &[(0, 1), (1, 2)]);
    let (first, second) = (m.taken(0), m.taken(1));
    let [at0, at1, at2] = [0, 1, 2].map(|n| Goal::State(m.at(n)));
    let chain =
        |goals: &[&Goal]| ClaimKind::Reachable(goals.iter().map(|g| (*g).clone()).collect());
    let claims = vec![
        chain(&[&first]),
        chain(&[&first, &first]),
        chain(&[&first, &second]),
        chain(&[&second, &first]),
        // A step goal ends at the next state, where a state goal may begin; it begins where a state
        // goal ends.
        chain(&[&first, &at1]),
        chain(&[&at1, &second]),
        chain(&[&at1, &second, &at2]),
        // After the step, its source state is no longer met.
        chain(&[&first, &at0]),
        chain(&[&second, &at1]),
    ];
    let expected = [
        holds_by(1),
        FAILS,
        holds_by(2),
        FAILS,
        holds_by(1),
        holds_by(2),
        holds_by(2),
        FAILS,
        FAILS,
    ];
    assert_eq!(m.answers(claims), expected);
}

#[test]
fn a_step_goal_of_several_transitions_may_be_met_twice() {
    let mut m = Model::graph(3, &[(0, 1), (1, 2)]);
    let any = m.truth(true);
    let either = m.step_goal(&[(TransitionId(0), any), (TransitionId(1), any)]);
    let claims = [1, 2, 3].map(|n| ClaimKind::Reachable(vec![either.clone(); n]));
    assert_eq!(m.answers(claims.to_vec()), [holds_by(1), holds_by(2), FAILS]);
}

#[test]
fn goals_need_not_be_met_at_their_first_occurrence() {
    // 0 -> 1 -> 0 -> ... -> 2: the chain 0, 2 has length 1, the chain 0, 1, 0, 2 has length 3.
    let mut m = Model::graph(3, &[(0, 1), (1, 0), (0, 2)]);
    let [at0, at1, at2] = [0, 1, 2].map(|n| Goal::State(m.at(n)));
    let claims = vec![
        ClaimKind::Reachable(vec![at0.clone(), at2.clone()]),
        ClaimKind::Reachable(vec![at0.clone(), at1, at0.clone(), at2.clone()]),
        ClaimKind::Reachable(vec![at2, at0]),
    ];
    assert_eq!(m.answers(claims), [holds_by(1), holds_by(3), FAILS]);
}

#[test]
fn step_goals_mention_source_state_and_parameters() {
    let mut m = Model::nodes(1);
    let n = m.int("n");
    let zero = m.is(n, 0);
    m.start(0, &[zero]);
    let mut p = None;
    let add = m.step(0, 0, |m, t| {
        let range = gander_system::Range { low: 1.into(), high: 2.into() };
        let symbol = m.builder.param(t, "p", Sort::Int, Some(range)).unwrap();
        let (x, by) = (m.now(n), m.builder.pool.var(symbol));
        let sum = m.mk(Op::Add, &[x, by]);
        let four = m.builder.pool.int(4);
        let guard = m.mk(Op::Le, &[sum, four]);
        m.builder.guard(t, guard, None).unwrap();
        m.builder.assign(t, n, sum, None).unwrap();
        p = Some(by);
    });
    let p = p.unwrap();
    let two = m.builder.pool.int(2);
    let by_two = m.mk(Op::Eq, &[p, two]);
    let (from_three, from_one) = (m.is(n, 3), m.is(n, 1));
    let two_from_one = m.mk(Op::And, &[from_one, by_two]);
    let two_from_three = m.mk(Op::And, &[from_three, by_two]);
    let claims = [by_two, two_from_one, two_from_three].map(|f| {
        ClaimKind::Reachable(vec![m.builder.step_goal(None, &[(add, f)], "test").unwrap()])
    });
    assert_eq!(m.answers(claims.to_vec()), [holds_by(1), holds_by(2), FAILS]);
}

/// `x` counts up under the assumption that it is at most 2: the step to 3 is enabled and its effect
/// has a solution, but its next state does not exist.
fn cut_by_assumption() -> Model {
    let mut m = Model::nodes(1);
    let x = m.int("x");
    let (zero, cut) = (m.is(x, 0), m.compare(Op::Le, x, 2));
    m.start(0, &[zero]);
    m.assume(cut);
    m.step(0, 0, |m, t| {
        let (next, up) = (m.next(x), m.plus(x, 1));
        let relation = m.mk(Op::Eq, &[next, up]);
        m.builder.constrain(t, relation, None).unwrap();
    });
    m
}

#[test]
fn enabled_completable_and_completed_differ() {
    let mut m = cut_by_assumption();
    let at_two = m.is(N, 2);
    let beyond = m.is(N, 3);
    let goal = m.step_goal(&[(TransitionId(0), at_two)]);
    let beyond = m.formula(beyond);
    let claims = vec![
        ClaimKind::Completable(TransitionId(0)),
        ClaimKind::NoSinkhole(NodeId(0)),
        ClaimKind::NoDeadlock,
        ClaimKind::Reachable(vec![goal]),
        ClaimKind::Reachable(vec![Goal::State(beyond)]),
        ClaimKind::InfiniteRun,
    ];
    assert_eq!(m.answers(claims), [HOLDS, HOLDS, fails_by(2), FAILS, FAILS, FAILS]);
}

#[test]
fn not_completable_where_the_domain_ends() {
    let mut m = Model::nodes(1);
    let x = m.int("x");
    let zero = m.is(x, 0);
    m.start(0, &[zero]);
    m.step(0, 0, |m, t| {
        let (next, old) = (m.next(x), m.now(x));
        let three = m.builder.pool.int(3);
        let (above, below) = (m.mk(Op::Gt, &[next, old]), m.mk(Op::Lt, &[next, three]));
        m.builder.constrain(t, above, None).unwrap();
        m.builder.constrain(t, below, None).unwrap();
    });
    let never = m.step(0, 0, |m, t| {
        let guard = m.compare(Op::Gt, x, 2);
        m.builder.guard(t, guard, None).unwrap();
        let no = m.truth(false);
        m.builder.constrain(t, no, None).unwrap();
    });
    let claims = vec![
        // One step suffices to reach 2.
        ClaimKind::Completable(TransitionId(0)),
        // Never enabled, so always completable.
        ClaimKind::Completable(never),
        ClaimKind::CanEnable(never),
        ClaimKind::CanEnable(TransitionId(0)),
        ClaimKind::NoSinkhole(NodeId(0)),
        ClaimKind::NoDeadlock,
    ];
    assert_eq!(m.answers(claims), [fails_by(1), HOLDS, FAILS, holds_by(0), HOLDS, fails_by(1)]);
}

#[test]
fn can_enable_needs_a_reachable_state_and_some_parameters() {
    let mut m = Model::counter(4);
    let mut with_parameter = |low: i64| {
        m.step(0, 0, |m, t| {
            let range = gander_system::Range { low: low.into(), high: 9.into() };
            let p = m.builder.param(t, "p", Sort::Int, Some(range)).unwrap();
            let (p, x) = (m.builder.pool.var(p), m.now(N));
            let same = m.mk(Op::Eq, &[p, x]);
            m.builder.guard(t, same, None).unwrap();
        })
    };
    let (three, five) = (with_parameter(3), with_parameter(5));
    assert_eq!(
        m.answers(vec![ClaimKind::CanEnable(three), ClaimKind::CanEnable(five)]),
        [holds_by(3), FAILS]
    );
}

#[test]
fn a_stuck_state_is_a_deadlock_unless_its_node_is_final() {
    let claims = || {
        vec![
            ClaimKind::NoSinkhole(NodeId(0)),
            ClaimKind::NoSinkhole(NodeId(1)),
            ClaimKind::NoDeadlock,
        ]
    };
    let stuck = |last: u32| {
        let mut m = Model::nodes(2);
        let n = m.int("n");
        let zero = m.is(n, 0);
        m.start(0, &[zero]);
        m.step(0, 0, |m, t| {
            let (up, guard) = (m.plus(n, 1), m.compare(Op::Lt, n, 2));
            m.builder.guard(t, guard, None).unwrap();
            m.builder.assign(t, n, up, None).unwrap();
        });
        m.step(0, 1, |m, t| {
            let guard = m.is(n, 1);
            m.builder.guard(t, guard, None).unwrap();
        });
        m.step(1, 1, |m, t| {
            let guard = m.is(n, i64::from(last));
            m.builder.guard(t, guard, None).unwrap();
        });
        m
    };
    // Nothing is enabled at node 0 with 2; node 1 is entered only with 1.
    assert_eq!(stuck(1).answers(claims()), [fails_by(2), HOLDS, fails_by(2)]);
    assert_eq!(stuck(7).answers(claims()), [fails_by(2), fails_by(2), fails_by(2)]);
    // A final node may be a dead end.
    let mut m = stuck(1);
    m.builder.set_final(NodeId(0));
    assert_eq!(m.answers(vec![ClaimKind::NoDeadlock]), [HOLDS]);
    let mut m = stuck(7);
    m.builder.set_final(NodeId(0));
    assert_eq!(m.answers(vec![ClaimKind::NoDeadlock]), [fails_by(2)]);
}

#[test]
fn a_start_without_admissible_states_is_unsatisfiable() {
    let mut m = Model::nodes(2);
    let n = m.int("n");
    let (one, two, three) = (m.is(n, 1), m.is(n, 2), m.is(n, 3));
    m.start(0, &[one]);
    m.start(1, &[one, two]);
    m.start(1, &[three]);
    // Three is not admissible, and two is not at node 0.
    let (below, elsewhere) = (m.compare(Op::Lt, n, 3), m.node_is(1));
    let cut = m.mk(Op::Implies, &[two, elsewhere]);
    m.assume(below);
    m.assume(cut);
    m.start(0, &[two]);
    m.start(1, &[two]);
    let claims = (0..5).map(|s| ClaimKind::StartSatisfiable(StartId(s))).collect();
    assert_eq!(m.answers(claims), [holds_by(0), FAILS, FAILS, FAILS, holds_by(0)]);
}

#[test]
fn without_a_run_claims_about_all_runs_hold() {
    let build = || {
        let mut m = Model::nodes(1);
        let no = m.truth(false);
        m.start(0, &[no]);
        m.step(0, 0, |_, _| {});
        m
    };
    let mut m = build();
    let no = m.truth(false);
    let no = m.formula(no);
    let (t, n) = (TransitionId(0), NodeId(0));
    let (from, under) = (m.at(0), Vec::new());
    let all = vec![
        ClaimKind::Always(no),
        ClaimKind::NoSinkhole(n),
        ClaimKind::Completable(t),
        ClaimKind::NoDeadlock,
        ClaimKind::Eventually { goal: no, under: under.clone() },
        ClaimKind::AlwaysEventually { goal: no, under: under.clone() },
        ClaimKind::LeadsTo { from, to: no, under },
        ClaimKind::AlwaysPossible(no),
    ];
    assert_eq!(m.answers(all), [HOLDS; 8]);
    let mut m = build();
    let yes = m.truth(true);
    let yes = m.formula(yes);
    let some = vec![
        ClaimKind::Reachable(vec![Goal::State(yes)]),
        ClaimKind::CanEnable(t),
        ClaimKind::InfiniteRun,
        ClaimKind::ExistsAlways(yes),
        ClaimKind::StartSatisfiable(StartId(0)),
    ];
    assert_eq!(m.answers(some), [FAILS; 5]);
}

#[test]
fn assumptions_exclude_states_from_runs() {
    // 0 -> 1 -> 2 and 0 -> 3 -> 4 -> 2, but an assumption excludes node 1.
    let mut m = Model::graph(5, &[(0, 1), (1, 2), (0, 3), (3, 4), (4, 2)]);
    let at1 = m.node_is(1);
    let cut = m.mk(Op::Not, &[at1]);
    m.assume(cut);
    let (goal1, goal2) = (m.at(1), m.at(2));
    let claims = vec![
        ClaimKind::Reachable(vec![Goal::State(goal1)]),
        ClaimKind::Reachable(vec![Goal::State(goal2)]),
        ClaimKind::CanEnable(TransitionId(0)),
        ClaimKind::CanEnable(TransitionId(1)),
        ClaimKind::Completable(TransitionId(0)),
    ];
    assert_eq!(m.answers(claims), [FAILS, holds_by(3), holds_by(0), FAILS, HOLDS]);
}

#[test]
fn inputs_are_chosen_anew_and_state_is_kept() {
    let mut m = Model::nodes(1);
    let (state, input) = (m.bool("b", Role::State), m.bool("i", Role::Input));
    let (b, i) = (m.now(state), m.now(input));
    m.start(0, &[b, i]);
    m.step(0, 0, |_, _| {});
    let b = m.formula(b);
    let i = m.formula(i);
    assert_eq!(m.answers(vec![ClaimKind::Always(b), ClaimKind::Always(i)]), [HOLDS, fails_by(1)]);
}

#[test]
fn a_freed_variable_may_have_any_value() {
    let mut m = Model::nodes(1);
    let (kept, freed) = (m.bool("kept", Role::State), m.bool("freed", Role::State));
    let (k, f) = (m.now(kept), m.now(freed));
    m.start(0, &[k, f]);
    m.step(0, 0, |m, t| m.builder.free(t, freed));
    let k = m.formula(k);
    let f = m.formula(f);
    assert_eq!(m.answers(vec![ClaimKind::Always(k), ClaimKind::Always(f)]), [HOLDS, fails_by(1)]);
}

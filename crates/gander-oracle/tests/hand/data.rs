//! Sorts, quantifiers, primed constraints, and refusals.

use gander_oracle::Refusal;
use gander_system::{ClaimKind, Goal, Role};
use gander_term::{Op, Sort, Value};

use super::*;

#[test]
fn strings_and_reals_are_exact() {
    let mut m = Model::nodes(1);
    let s = m.builder.var("s", Sort::String, Role::State, None, None).unwrap();
    let r = m.builder.var("r", Sort::Real, Role::State, None, None).unwrap();
    let (empty, zero) =
        (m.builder.pool.constant(Value::str("")), m.builder.pool.constant(Value::whole(0)));
    let (now_s, now_r) = (m.now(s), m.now(r));
    let (first_s, first_r) = (m.mk(Op::Eq, &[now_s, empty]), m.mk(Op::Eq, &[now_r, zero]));
    m.start(0, &[first_s, first_r]);
    let (one, three) =
        (m.builder.pool.constant(Value::whole(1)), m.builder.pool.constant(Value::whole(3)));
    m.step(0, 0, |m, t| {
        let third = m.mk(Op::Div, &[one, three]);
        let letter = m.builder.pool.constant(Value::str("ab"));
        let (longer, more) = (m.mk(Op::Concat, &[now_s, letter]), m.mk(Op::Add, &[now_r, third]));
        let guard = m.mk(Op::Lt, &[now_r, one]);
        m.builder.guard(t, guard, None).unwrap();
        m.builder.assign(t, s, longer, None).unwrap();
        m.builder.assign(t, r, more, None).unwrap();
    });
    let whole = m.builder.pool.constant(Value::str("ababab"));
    let (end_s, end_r) = (m.mk(Op::Eq, &[now_s, whole]), m.mk(Op::Eq, &[now_r, one]));
    let same = m.mk(Op::Eq, &[end_s, end_r]);
    let (end, same) = (m.formula(end_s), m.formula(same));
    assert_eq!(
        m.answers(vec![ClaimKind::Reachable(vec![Goal::State(end)]), ClaimKind::Always(same)]),
        [holds_by(3), HOLDS]
    );
}

#[test]
fn quantifiers_over_finite_sorts_and_bounded_ints_are_decided() {
    let mut m = Model::counter(3);
    let n = m.now(VarId(0));
    // exists i. 0 <= i and i <= 3 and n == 3 - i
    let i = m.builder.pool.declare_bound("i", Sort::Int);
    let i = m.builder.pool.var(i);
    let [zero, three] = [0, 3].map(|k| m.builder.pool.int(k));
    let (low, high) = (m.mk(Op::Le, &[zero, i]), m.mk(Op::Le, &[i, three]));
    let rest = m.mk(Op::Sub, &[three, i]);
    let equal = m.mk(Op::Eq, &[n, rest]);
    let body = m.mk(Op::And, &[low, high, equal]);
    let some = m.mk(Op::Exists, &[i, body]);
    // forall i. 0 <= i and i <= 3 -> n != 3 - i
    let within = m.mk(Op::And, &[low, high]);
    let differs = m.mk(Op::Not, &[equal]);
    let body = m.mk(Op::Implies, &[within, differs]);
    let none = m.mk(Op::Forall, &[i, body]);
    // forall b. b or n < 3
    let b = m.builder.pool.declare_bound("b", Sort::Bool);
    let b = m.builder.pool.var(b);
    let below = m.mk(Op::Lt, &[n, three]);
    let body = m.mk(Op::Or, &[b, below]);
    let every = m.mk(Op::Forall, &[b, body]);
    let claims = [some, none, every].map(|t| ClaimKind::Always(m.formula(t)));
    assert_eq!(m.answers(claims.to_vec()), [HOLDS, fails_by(0), fails_by(3)]);
}

#[test]
fn primed_variables_are_solved_together() {
    // x' + y' == 3 with 0 <= x' <= 2 and y' bounded by x' only.
    let mut m = Model::nodes(1);
    let (x, y) = (m.int("x"), m.int("y"));
    let (x0, y0) = (m.is(x, 0), m.is(y, 0));
    m.start(0, &[x0, y0]);
    m.step(0, 0, |m, t| {
        let (nx, ny) = (m.next(x), m.next(y));
        let [zero, two, three] = [0, 2, 3].map(|k| m.builder.pool.int(k));
        let rest = m.mk(Op::Sub, &[three, nx]);
        for (op, a, b) in [(Op::Eq, ny, rest), (Op::Le, zero, nx), (Op::Le, nx, two)] {
            let relation = m.mk(op, &[a, b]);
            m.builder.constrain(t, relation, None).unwrap();
        }
    });
    let (three, zero, two) = (m.is(y, 3), m.is(y, 0), m.compare(Op::Le, y, 2));
    let [three, zero, two] = [three, zero, two].map(|t| m.formula(t));
    let claims = vec![
        ClaimKind::Reachable(vec![Goal::State(three)]),
        ClaimKind::Always(two),
        // Zero is left at the first step and never reached again.
        ClaimKind::LeadsTo { from: three, to: zero, under: Vec::new() },
        ClaimKind::Completable(TransitionId(0)),
    ];
    assert_eq!(m.answers(claims), [holds_by(1), fails_by(1), FAILS, HOLDS]);
}

#[test]
fn infinite_domains_are_refused() {
    // An unbounded counter.
    let mut m = Model::nodes(1);
    let n = m.int("n");
    let zero = m.is(n, 0);
    m.start(0, &[zero]);
    m.step(0, 0, |m, t| {
        let up = m.plus(n, 1);
        m.builder.assign(t, n, up, None).unwrap();
    });
    assert_eq!(m.refusal(ClaimKind::NoDeadlock), Refusal::TooManyStates);
    // Any integer as next value.
    let mut m = Model::nodes(1);
    let n = m.int("n");
    let zero = m.is(n, 0);
    m.start(0, &[zero]);
    m.step(0, 0, |m, t| m.builder.free(t, n));
    assert_eq!(m.refusal(ClaimKind::NoDeadlock), Refusal::Unbounded("n'".to_string()));
    // Bounded on one side.
    let mut m = Model::nodes(1);
    let n = m.int("n");
    let positive = m.compare(Op::Gt, n, 0);
    m.start(0, &[positive]);
    assert_eq!(m.refusal(ClaimKind::NoDeadlock), Refusal::Unbounded("n".to_string()));
}

#[test]
fn completable_is_refused_where_only_an_assumption_bounds() {
    // n' != n: only the assumption bounds n', and completable does not consider it.
    let mut m = Model::nodes(1);
    let n = m.int("n");
    let (low, high) = (m.compare(Op::Ge, n, 0), m.compare(Op::Le, n, 1));
    m.assume(low);
    m.assume(high);
    m.start(0, &[]);
    m.step(0, 0, |m, t| {
        let (next, now) = (m.next(n), m.now(n));
        let same = m.mk(Op::Eq, &[next, now]);
        let other = m.mk(Op::Not, &[same]);
        m.builder.constrain(t, other, None).unwrap();
    });
    let zero = m.is(n, 0);
    let zero = m.formula(zero);
    m.builder
        .claim(
            "steps",
            ClaimKind::AlwaysEventually { goal: zero, under: Vec::new() },
            ClaimOrigin::Written,
            "",
            None,
        )
        .unwrap();
    m.builder
        .claim(
            "completable",
            ClaimKind::Completable(TransitionId(0)),
            ClaimOrigin::Written,
            "",
            None,
        )
        .unwrap();
    let answers = decide(&m.builder.finish(), Limits::default()).unwrap();
    // Steps are bounded by the assumption: 0 and 1 alternate.
    assert_eq!(answers[0], Ok(HOLDS));
    assert_eq!(answers[1], Err(Refusal::Unbounded("n'".to_string())));
}

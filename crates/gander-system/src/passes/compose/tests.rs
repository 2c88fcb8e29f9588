use super::*;
use crate::testing::{Model, named, replay};
use crate::{ClaimKind, ClaimOrigin, FairnessKind, Goal, Leg, Role, Run, StartId, State};
use gander_term::Sort;

/// Nodes Open, Closed (final). deposit(amount), withdraw(amount), close; an input.
fn account() -> System {
    let mut m = Model::new("Account", &["Open", "Closed"]);
    let closed = m.node("Closed");
    m.builder.set_final(closed);
    m.var("balance", Sort::Int);
    m.input("day", Sort::Int);
    m.start("Open", &["balance == 50"]);
    let amount = [("amount", Sort::Int)];
    m.step(
        "Open",
        "deposit",
        "Open",
        &amount,
        &["Open.deposit.amount > 0"],
        &["balance := balance + Open.deposit.amount"],
    );
    m.step(
        "Open",
        "withdraw",
        "Open",
        &amount,
        &["Open.withdraw.amount > 0"],
        &["balance' == balance - Open.withdraw.amount"],
    );
    m.step("Open", "close", "Closed", &[], &["balance == 0"], &[]);
    m.assume("@node == @Node.Closed -> day >= 0");
    m.always("balance >= 0");
    let t = TransitionId(1);
    let big = m.step_goal(t, "Open.withdraw.amount > 10");
    let closed = m.state_goal("@node == @Node.Closed");
    m.claim("spend", ClaimKind::Reachable(vec![big, closed]));
    m.claim("enable", ClaimKind::CanEnable(t));
    m.claim("sink", ClaimKind::NoSinkhole(NodeId(0)));
    m.claim("complete", ClaimKind::Completable(t));
    m.claim("start", ClaimKind::StartSatisfiable(StartId(0)));
    m.claim("dead", ClaimKind::NoDeadlock);
    m.builder.fairness("often", FairnessKind::Weak(vec![t]), None).unwrap();
    m.finish()
}

fn transfer() -> Sync {
    sync(&[(0, "withdraw"), (1, "deposit")])
}

fn sync(members: &[(usize, &str)]) -> Sync {
    let members = members.iter().map(|(i, g)| (*i, g.to_string())).collect();
    Sync { name: "transfer".into(), members, ..Sync::default() }
}

fn composed<'a>(
    instances: &[(&'a str, &'a System)],
    syncs: &[Sync],
    limits: ComposeLimits,
) -> Result<(SystemBuilder, Composed<'a>), ComposeError> {
    let (mut builder, mut composed) = compose("Bank", instances, syncs, &[], limits)?;
    composed.add_claims(&mut builder)?;
    Ok((builder, composed))
}

fn pair(s: &System, syncs: &[Sync]) -> System {
    composed(&[("a", s), ("b", s)], syncs, ComposeLimits::default()).unwrap().0.finish()
}

/// Values of two instances: the node of each, and its ints.
fn values(c: &System, parts: [(u32, &[i64]); 2]) -> Vec<Value> {
    let mut all = Vec::new();
    for (i, (node, numbers)) in parts.into_iter().enumerate() {
        if let Some(var) = c.instances[i].location {
            let Sort::Enum(sort) = c.var(var).sort else { panic!("nodes") };
            all.push(Value::Enum(sort, node));
        }
        all.extend(numbers.iter().map(|&n| Value::int(n)));
    }
    all
}

fn taken(t: TransitionId, params: &[i64], next: Vec<Value>) -> Leg {
    let params = params.iter().map(|&n| Value::int(n)).collect();
    Leg::Step(crate::Step { transition: t, params, next: Some(next) })
}

fn names(s: &System) -> Vec<&str> {
    s.transitions.iter().map(|t| t.name.as_str()).collect()
}

#[test]
fn interleaving_moves_one_instance_at_a_time() {
    let s = account();
    let c = pair(&s, &[]);
    assert_eq!(c.nodes.len(), 1);
    let vars: Vec<&str> = c.vars.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(vars, ["a", "a.balance", "a.day", "b", "b.balance", "b.day"]);
    assert_eq!(c.transitions.len(), 6);
    let ends = c.pool.display(c.final_condition.unwrap().term()).to_string();
    assert_eq!(ends, "a == Account.Node.Closed and b == Account.Node.Closed");
    let deposit = named(&c, "b.Open.deposit");
    let gate = c.transition(deposit).gate.unwrap();
    assert_eq!(c.gates[gate.index()], "b.deposit");
    let run = |before: u32, next: &[i64]| Run {
        start: StartId(0),
        first: State { node: NodeId(0), values: values(&c, [(0, &[50, 1]), (before, &[50, 1])]) },
        legs: vec![taken(deposit, &[7], values(&c, [(0, &next[..2]), (0, &next[2..])]))].into(),
    };
    // The other instance keeps its balance; inputs get new values.
    assert!(replay(&c, &run(0, &[50, 9, 57, 8])).is_ok());
    assert!(replay(&c, &run(0, &[51, 9, 57, 8])).is_err());
    assert!(replay(&c, &run(1, &[50, 9, 57, 8])).is_err());
}

#[test]
fn a_synchronised_gate_is_taken_in_joint_steps_only() {
    let s = account();
    let c = pair(&s, &[transfer()]);
    let joint = "transfer(a.Open.withdraw, b.Open.deposit)";
    let all = ["a.Open.deposit", "a.Open.close", "b.Open.withdraw", "b.Open.close", joint];
    assert_eq!(names(&c), all);
    let t = named(&c, joint);
    let params: Vec<&str> = c.transition(t).params.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(params, ["a.amount", "b.amount"]);
    assert_eq!(c.gates[c.transition(t).gate.unwrap().index()], "transfer");
    let run = |amounts: &[i64], node: u32, next: &[i64]| Run {
        start: StartId(0),
        first: State { node: NodeId(0), values: values(&c, [(0, &[50, 1]), (node, &[50, 1])]) },
        legs: vec![taken(t, amounts, values(&c, [(0, &next[..2]), (node, &next[2..])]))].into(),
    };
    assert!(replay(&c, &run(&[5, 6], 0, &[45, 0, 56, 0])).is_ok());
    assert!(replay(&c, &run(&[5, 0], 0, &[45, 0, 50, 0])).is_err());
    assert!(replay(&c, &run(&[5, 6], 1, &[45, 0, 56, 0])).is_err());
}

#[test]
fn shared_parameters_have_one_value() {
    let s = account();
    let shared = Sync { shared: vec!["amount".into()], ..transfer() };
    let c = pair(&s, &[shared]);
    let t = named(&c, "transfer(a.Open.withdraw, b.Open.deposit)");
    let params: Vec<&str> = c.transition(t).params.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(params, ["amount"]);
    let run = |next: &[i64]| Run {
        start: StartId(0),
        first: State { node: NodeId(0), values: values(&c, [(0, &[50, 1]), (0, &[50, 1])]) },
        legs: vec![taken(t, &[5], values(&c, [(0, &next[..2]), (0, &next[2..])]))].into(),
    };
    assert!(replay(&c, &run(&[45, 0, 55, 0])).is_ok());
    assert!(replay(&c, &run(&[45, 0, 56, 0])).is_err());
}

#[test]
fn a_receiver_takes_part_iff_it_can() {
    let s = account();
    let broadcast = Sync {
        name: "all".into(),
        members: vec![(0, "deposit".into())],
        receivers: vec![(1, "close".into())],
        ..Sync::default()
    };
    let c = pair(&s, &[broadcast]);
    let t = named(&c, "all(a.Open.deposit, b.close)");
    let run = |balance: i64, next: (u32, i64)| Run {
        start: StartId(0),
        first: State { node: NodeId(0), values: values(&c, [(0, &[50, 1]), (0, &[balance, 1])]) },
        legs: vec![taken(t, &[5], values(&c, [(0, &[55, 1]), (next.0, &[next.1, 1])]))].into(),
    };
    // The start demands 50; only the step matters here.
    let step =
        |balance: i64, next: (u32, i64)| replay(&c, &run(balance, next)).err().unwrap_or_default();
    assert_eq!(step(50, (0, 50)), "");
    assert_ne!(step(50, (1, 50)), "");
    let zero = pair_started_at(&s, 0);
    assert!(zero, "an account with nothing on it closes when the other one deposits");
}

/// True if, with an empty account as receiver, staying open is no step and closing is one.
fn pair_started_at(s: &System, balance: i64) -> bool {
    let mut m = Model::new("Account", &["Open", "Closed"]);
    m.var("balance", Sort::Int);
    m.start("Open", &[&format!("balance == {balance}")]);
    m.step("Open", "close", "Closed", &[], &["balance == 0"], &[]);
    let other = m.finish();
    let broadcast = Sync {
        name: "all".into(),
        members: vec![(0, "deposit".into())],
        receivers: vec![(1, "close".into())],
        ..Sync::default()
    };
    let mut other = other;
    other.name = "Other".into();
    let instances = [("a", s), ("b", &other)];
    let c = composed(&instances, &[broadcast], ComposeLimits::default()).unwrap().0.finish();
    let t = named(&c, "all(a.Open.deposit, b.close)");
    let run = |node: u32| Run {
        start: StartId(0),
        first: State { node: NodeId(0), values: values(&c, [(0, &[50, 1]), (0, &[balance])]) },
        legs: vec![taken(t, &[5], values(&c, [(0, &[55, 1]), (node, &[balance])]))].into(),
    };
    replay(&c, &run(1)).is_ok() && replay(&c, &run(0)).is_err()
}

#[test]
fn assumptions_about_a_node_are_about_the_instance() {
    let mut m = Model::new("Two", &["A", "B"]);
    m.var("x", Sort::Int);
    m.start("A", &[]);
    m.step("A", "go", "B", &[], &[], &["any x"]);
    m.assume("@node == @Node.B -> x == 3");
    let s = m.finish();
    let c = pair(&s, &[]);
    let go = named(&c, "b.A.go");
    let run = |next: i64| Run {
        start: StartId(0),
        first: State { node: NodeId(0), values: values(&c, [(0, &[8]), (0, &[9])]) },
        legs: vec![taken(go, &[], values(&c, [(0, &[8]), (1, &[next])]))].into(),
    };
    assert!(replay(&c, &run(3)).is_ok());
    assert!(replay(&c, &run(4)).is_err());
}

#[test]
fn a_node_outside_an_equality_is_translated_too() {
    let mut m = Model::new("Two", &["A", "B"]);
    m.var("x", Sort::Int);
    m.start("A", &[]);
    m.step("A", "go", "B", &[], &[], &["any x"]);
    m.assume("(if x > 0 then @node else @Node.A) == @Node.A");
    let s = m.finish();
    let c = pair(&s, &[]);
    let go = named(&c, "b.A.go");
    let run = |next: i64| Run {
        start: StartId(0),
        first: State { node: NodeId(0), values: values(&c, [(0, &[1]), (0, &[1])]) },
        legs: vec![taken(go, &[], values(&c, [(0, &[1]), (1, &[next])]))].into(),
    };
    assert!(replay(&c, &run(0)).is_ok());
    assert!(replay(&c, &run(1)).is_err());
}

#[test]
fn claims_are_carried_over() {
    let s = account();
    let two = [("a", &s), ("b", &s)];
    let (builder, composed) = composed(&two, &[transfer()], ComposeLimits::default()).unwrap();
    assert_eq!(composed.left_out.len(), 2);
    assert!(composed.left_out.iter().all(|l| l.claim == "dead"));
    let c = builder.finish();
    let show = |name: &str| match &c.find_claim(name).unwrap().kind {
        ClaimKind::Always(p) => c.pool.display(p.term()).to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(show("b.always balance >= 0"), "b.balance >= 0");
    let ClaimKind::Reachable(goals) = &c.find_claim("a.spend").unwrap().kind else { panic!() };
    let Goal::Step { choices, .. } = &goals[0] else { panic!("a step goal") };
    let [(t, formula)] = choices[..] else { panic!("one transition, {choices:?}") };
    assert_eq!(c.transition(t).name, "transfer(a.Open.withdraw, b.Open.deposit)");
    let symbol = c.transition(t).params[0].symbol;
    assert_eq!(c.pool.free_symbols(&[formula.term()]), [symbol]);
    let sink = show("a.sink");
    assert!(sink.contains("exists") && sink.contains("a == Account.Node.Open"), "{sink}");
    assert!(c.find_claim("a.complete").is_some());
    assert!(c.find_claim("b.complete").is_some());
    assert!(matches!(
        c.find_claim("a.start").unwrap().kind,
        ClaimKind::StartSatisfiable(StartId(0))
    ));
    let FairnessKind::Weak(t) = &c.fairness[1].kind else { panic!("weak") };
    assert_eq!(t.len(), 1);
}

#[test]
fn many_combinations_become_one_transition() {
    let mut m = Model::new("Two", &["A", "B"]);
    m.var("x", Sort::Int);
    m.start("A", &["x == 0"]);
    m.step("A", "go", "B", &[], &[], &["x := x + 1"]);
    m.step("B", "go", "A", &[], &[], &["x := x - 1"]);
    let s = m.finish();
    let limits = ComposeLimits { combinations: 3, ..ComposeLimits::default() };
    let two = [("a", &s), ("b", &s)];
    let both = sync(&[(0, "go"), (1, "go")]);
    let c = composed(&two, &[both], limits).unwrap().0.finish();
    assert_eq!(names(&c), ["transfer(a.go, b.go)"]);
    let t = TransitionId(0);
    let run = |last: (u32, i64)| Run {
        start: StartId(0),
        first: State { node: NodeId(0), values: values(&c, [(0, &[0]), (0, &[0])]) },
        legs: vec![
            taken(t, &[], values(&c, [(1, &[1]), (1, &[1])])),
            taken(t, &[], values(&c, [(0, &[0]), (last.0, &[last.1])])),
        ]
        .into(),
    };
    assert!(replay(&c, &run((0, 0))).is_ok());
    assert!(replay(&c, &run((1, 1))).is_err());
}

#[test]
fn range_claims_are_not_duplicated() {
    let mut m = Model::new("Ranged", &["N"]);
    let range = || Some(crate::Range { low: 0.into(), high: 9.into() });
    m.builder.var("x", Sort::Int, Role::State, range(), None).unwrap();
    m.builder.var("i", Sort::Int, Role::Input, range(), None).unwrap();
    m.start("N", &["x == 1"]);
    let s = m.finish();
    let c = pair(&s, &[]);
    let claims: Vec<_> = c.claims.iter().map(|c| (c.name.as_str(), c.origin)).collect();
    let expected = [
        ("range of a.x", ClaimOrigin::Range(VarId(0))),
        ("range of b.x", ClaimOrigin::Range(VarId(2))),
    ];
    assert_eq!(claims, expected);
    assert_eq!(c.assumptions.len(), 2);
    assert!(c.vars.iter().all(|v| v.range.is_some()));
}

#[test]
fn different_enumerations_with_one_name_are_distinct() {
    let spec = |name: &str, variants: &[&str]| {
        let mut m = Model::new(name, &["N"]);
        let e = m.builder.pool.declare_enum("Status", variants).unwrap();
        m.var("s", Sort::Enum(e));
        m.start("N", &[&format!("s == Status.{}", variants[0])]);
        m.finish()
    };
    let (x, y) = (spec("X", &["Open"]), spec("Y", &["On", "Off"]));
    let c = composed(&[("x", &x), ("y", &y)], &[], ComposeLimits::default()).unwrap().0.finish();
    assert_eq!(c.vars[0].sort.name(&c.pool), "Status");
    assert_eq!(c.vars[1].sort.name(&c.pool), "Y.Status");
}

#[test]
fn errors_name_the_synchronisation_or_instance() {
    let s = account();
    let two = [("a", &s), ("b", &s)];
    let error = |instances: &[(&'static str, &System)], sync: &[Sync]| {
        composed(instances, sync, ComposeLimits::default()).err().unwrap()
    };
    assert_eq!(error(&[], &[]), ComposeError::NoInstance);
    assert_eq!(error(&[("a", &s), ("a", &s)], &[]), ComposeError::SameInstance("a".into()));
    assert!(matches!(
        error(&two, &[sync(&[(2, "close")])]),
        ComposeError::UnknownInstance { instance: 2, .. }
    ));
    assert!(matches!(error(&two, &[sync(&[(1, "steal")])]), ComposeError::UnknownGate { .. }));
    let twice = sync(&[(1, "close"), (1, "deposit")]);
    assert!(matches!(error(&two, &[twice]), ComposeError::TwiceInSync { .. }));
    assert!(matches!(error(&two, &[sync(&[])]), ComposeError::EmptySync { .. }));
    assert!(matches!(error(&two, &[transfer(), transfer()]), ComposeError::SameSync { sync: 1 }));
    let unknown = Sync { shared: vec!["price".into()], ..transfer() };
    assert!(matches!(error(&two, &[unknown]), ComposeError::NotShared { sync: 0, .. }));
    let within = |limits: ComposeLimits| composed(&two, &[], limits).err().unwrap();
    let few = ComposeLimits { frames: 5, ..ComposeLimits::default() };
    assert_eq!(within(few), ComposeError::TooLarge { transitions: 6, vars: 6 });
}

#[test]
fn compositions_can_be_composed() {
    let s = account();
    let inner = pair(&s, &[transfer()]);
    let two = [("x", &inner), ("y", &s)];
    let c = composed(&two, &[], ComposeLimits::default()).unwrap().0.finish();
    assert!(c.vars.iter().any(|v| v.name == "x.b.balance"));
    assert!(c.find_claim("x.b.always balance >= 0").is_some());
}

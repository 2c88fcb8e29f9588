use super::*;
use crate::testing::{Model, ints, named, replay, step};
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
    Sync { name: "transfer".into(), parts: vec![(0, "withdraw".into()), (1, "deposit".into())] }
}

fn pair(s: &System, syncs: &[Sync]) -> System {
    compose("Bank", &[("a", s), ("b", s)], syncs).unwrap().builder.finish()
}

fn names(s: &System) -> Vec<&str> {
    s.transitions.iter().map(|t| t.name.as_str()).collect()
}

#[test]
fn interleaving_moves_one_instance_at_a_time() {
    let s = account();
    let c = pair(&s, &[]);
    let nodes: Vec<&str> = c.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(nodes, ["Open|Open", "Closed|Open", "Open|Closed", "Closed|Closed"]);
    assert_eq!(c.nodes.iter().filter(|n| n.is_final).count(), 1);
    let vars: Vec<&str> = c.vars.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(vars, ["a.balance", "a.day", "b.balance", "b.day"]);
    assert_eq!(c.transitions.len(), 6 + 3 + 3);
    let deposit = named(&c, "Open|Open: b.Open.deposit");
    let gate = c.transition(deposit).gate.unwrap();
    assert_eq!(c.gates[gate.index()], "b.deposit");
    let run = |values: &[i64]| Run {
        start: StartId(0),
        first: State { node: NodeId(0), values: ints(&[50, 1, 50, 1]) },
        legs: vec![step(deposit, &[7], values)].into(),
    };
    // The other instance keeps its balance; inputs get new values.
    assert!(replay(&c, &run(&[50, 9, 57, 8])).is_ok());
    assert!(replay(&c, &run(&[51, 9, 57, 8])).is_err());
}

#[test]
fn a_synchronised_gate_is_taken_in_joint_steps_only() {
    let s = account();
    let c = pair(&s, &[transfer()]);
    let all = names(&c);
    assert!(
        !all.contains(&"Open|Open: a.Open.withdraw") && !all.contains(&"Open|Open: b.Open.deposit")
    );
    assert!(
        all.contains(&"Open|Open: a.Open.deposit") && all.contains(&"Open|Open: b.Open.withdraw")
    );
    let t = named(&c, "Open|Open: transfer(a.Open.withdraw, b.Open.deposit)");
    let params: Vec<&str> = c.transition(t).params.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(params, ["a.amount", "b.amount"]);
    assert_eq!(c.gates[c.transition(t).gate.unwrap().index()], "transfer");
    // Not where one of them is closed.
    assert_eq!(all.iter().filter(|n| n.contains("transfer")).count(), 1);
    let run = |amounts: &[i64], values: &[i64]| Run {
        start: StartId(0),
        first: State { node: NodeId(0), values: ints(&[50, 1, 50, 1]) },
        legs: vec![step(t, amounts, values)].into(),
    };
    assert!(replay(&c, &run(&[5, 6], &[45, 0, 56, 0])).is_ok());
    assert!(replay(&c, &run(&[5, 0], &[45, 0, 50, 0])).is_err());
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
    let run = |first: &[i64], next: &[i64]| Run {
        start: StartId(0),
        first: State { node: NodeId(0), values: ints(first) },
        legs: vec![step(named(&c, "A|A: b.A.go"), &[], next)].into(),
    };
    assert!(replay(&c, &run(&[8, 9], &[8, 3])).is_ok());
    assert!(replay(&c, &run(&[8, 9], &[8, 4])).is_err());
}

#[test]
fn a_node_outside_an_equality_is_translated_too() {
    let mut m = Model::new("Two", &["A", "B"]);
    m.var("x", Sort::Bool);
    m.start("A", &[]);
    m.step("A", "go", "B", &[], &[], &["any x"]);
    m.assume("(if x then @node else @Node.A) == @Node.A");
    let s = m.finish();
    let c = pair(&s, &[]);
    let values = |bits: [bool; 2]| bits.map(gander_term::Value::Bool).to_vec();
    let run = |next| Run {
        start: StartId(0),
        first: State { node: NodeId(0), values: values([true, true]) },
        legs: vec![Leg::Step(crate::Step {
            transition: named(&c, "A|A: b.A.go"),
            params: Vec::new(),
            next: Some(values(next)),
        })]
        .into(),
    };
    assert!(replay(&c, &run([true, false])).is_ok());
    assert!(replay(&c, &run([true, true])).is_err());
}

#[test]
fn claims_are_carried_over() {
    let s = account();
    let composed = compose("Bank", &[("a", &s), ("b", &s)], &[transfer()]).unwrap();
    assert_eq!(composed.left_out.len(), 2);
    assert!(composed.left_out.iter().all(|l| l.claim == "dead"));
    let c = composed.builder.finish();
    let show = |name: &str| match &c.find_claim(name).unwrap().kind {
        ClaimKind::Always(p) => c.pool.display(p.term()).to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(show("b.always balance >= 0"), "b.balance >= 0");
    let ClaimKind::Reachable(goals) = &c.find_claim("a.spend").unwrap().kind else { panic!() };
    let Goal::Step { choices, .. } = &goals[0] else { panic!("a step goal") };
    let [(t, formula)] = choices[..] else { panic!("one transition, {choices:?}") };
    assert_eq!(c.transition(t).name, "Open|Open: transfer(a.Open.withdraw, b.Open.deposit)");
    let symbol = c.transition(t).params[0].symbol;
    assert_eq!(c.pool.free_symbols(&[formula.term()]), [symbol]);
    // b withdraws in single steps at two nodes.
    let ClaimKind::Reachable(goals) = &c.find_claim("b.spend").unwrap().kind else { panic!() };
    let Goal::Step { choices, .. } = &goals[0] else { panic!("a step goal") };
    assert_eq!(choices.len(), 2);
    let sink = show("a.sink");
    assert!(sink.contains("exists") && sink.contains("`Open|Closed`"), "{sink}");
    assert!(c.find_claim("a.complete").is_some());
    assert!(c.find_claim("b.complete of Closed|Open: b.Open.withdraw").is_some());
    assert!(matches!(
        c.find_claim("a.start").unwrap().kind,
        ClaimKind::StartSatisfiable(StartId(0))
    ));
    let FairnessKind::Weak(t) = &c.fairness[1].kind else { panic!("weak") };
    assert_eq!(t.len(), 2);
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
    let c = compose("Both", &[("x", &x), ("y", &y)], &[]).unwrap().builder.finish();
    assert_eq!(c.vars[0].sort.name(&c.pool), "Status");
    assert_eq!(c.vars[1].sort.name(&c.pool), "Y.Status");
}

#[test]
fn errors_name_the_synchronisation_or_instance() {
    let s = account();
    let two = [("a", &s), ("b", &s)];
    let error = |instances: &[(&'static str, &System)], sync: &[Sync]| {
        let instances: Vec<(&str, &System)> = instances.to_vec();
        compose("Bank", &instances, sync).err().unwrap()
    };
    let sync = |parts: &[(usize, &str)]| Sync {
        name: "t".into(),
        parts: parts.iter().map(|(i, g)| (*i, g.to_string())).collect(),
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
    let limits = ComposeLimits { nodes: 3, transitions: 1000 };
    assert_eq!(
        compose_within("B", &two, &[], &[], limits).err().unwrap(),
        ComposeError::TooManyNodes(3)
    );
    let limits = ComposeLimits { nodes: 30, transitions: 5 };
    assert_eq!(
        compose_within("B", &two, &[], &[], limits).err().unwrap(),
        ComposeError::TooManyTransitions(5)
    );
}

#[test]
fn compositions_can_be_composed() {
    let s = account();
    let inner = pair(&s, &[transfer()]);
    let c = compose("Chain", &[("x", &inner), ("y", &s)], &[]).unwrap().builder.finish();
    assert_eq!(c.nodes[0].name, "(Open|Open)|Open");
    assert!(c.vars.iter().any(|v| v.name == "x.b.balance"));
    assert!(c.find_claim("x.b.always balance >= 0").is_some());
}

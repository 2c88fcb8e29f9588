//! A small system to report on: a bank account.

use gander_system::{
    Claim, ClaimKind, ClaimOrigin, Leg, NodeId, Role, Run, StartId, State, Step, System,
    SystemBuilder, TransitionId,
};
use gander_term::{Op, Pool, Sort, Value};

/// Nodes Open, Frozen and Closed (final); `balance: real`, `note: string`.
pub fn account() -> System {
    let nodes = [("Open", None), ("Frozen", None), ("Closed", None)];
    let mut b = SystemBuilder::new("Account <&>", Pool::new(), &nodes).unwrap();
    let (open, frozen, closed) = (NodeId(0), NodeId(1), NodeId(2));
    b.set_final(closed);
    let balance = b.var("balance", Sort::Real, Role::State, None, None).unwrap();
    let note = b.var("note", Sort::String, Role::State, None, None).unwrap();
    let x = b.so_far().var(balance).current;
    let x = b.pool.var(x);
    let fifty = b.pool.constant(Value::whole(50));
    let zero = b.pool.constant(Value::whole(0));
    let at_fifty = b.pool.eq(x, fifty);
    b.start("start", open, &[(at_fifty, None)], None).unwrap();

    let gate = b.gate("deposit");
    let mut t = b.transition("Open.deposit", Some(gate), open, open, None).unwrap();
    let amount = b.param(&mut t, "amount", Sort::Real, None).unwrap();
    let amount = b.pool.var(amount);
    let positive = b.pool.lt(zero, amount);
    b.guard(&mut t, positive, None).unwrap();
    let sum = b.pool.add(x, amount);
    b.assign(&mut t, balance, sum, None).unwrap();
    b.add(t).unwrap();

    for (name, from, to) in
        [("freeze", open, frozen), ("unfreeze", frozen, open), ("close", open, closed)]
    {
        let gate = b.gate(name);
        let source = b.so_far().node(from).name.clone();
        let mut t = b.transition(&format!("{source}.{name}"), Some(gate), from, to, None).unwrap();
        if name == "close" {
            let empty = b.pool.eq(x, zero);
            b.guard(&mut t, empty, None).unwrap();
            let text = b.pool.constant(Value::str("<bye & \"thanks\">"));
            b.assign(&mut t, note, text, None).unwrap();
        }
        b.add(t).unwrap();
    }
    let gate = b.gate("close");
    let mut t = b.transition("Frozen.close", Some(gate), frozen, closed, None).unwrap();
    let next = b.so_far().var(balance).next;
    let next = b.pool.var(next);
    let less = b.pool.mk(Op::Le, &[next, x]).unwrap();
    b.constrain(&mut t, less, None).unwrap();
    b.add(t).unwrap();
    b.finish()
}

/// A claim that the run of [`two_deposits`] breaks.
pub fn modest(system: &System) -> Claim {
    let mut b = SystemBuilder::new(
        "other",
        Pool::fork(system.pool()),
        &[("Open", None), ("Frozen", None), ("Closed", None)],
    )
    .unwrap();
    let truth = b.pool.tt();
    let formula = b.state_formula(truth, "claim").unwrap();
    Claim {
        name: "modest".into(),
        kind: ClaimKind::Always(formula),
        origin: ClaimOrigin::Written,
        text: "always balance < 1000".into(),
        span: None,
    }
}

/// `deposit(1/3)`, then `deposit(475)` twice.
pub fn two_deposits() -> Run {
    let deposit = |amount: Value| {
        Leg::Step(Step { transition: TransitionId(0), params: vec![amount], next: None })
    };
    let third = Value::Real(gander_term::RBig::from_parts(1.into(), 3u8.into()));
    Run {
        start: StartId(0),
        first: State { node: NodeId(0), values: vec![Value::whole(50), Value::str("")] },
        legs: vec![
            deposit(third),
            Leg::Repeat { times: 2, body: vec![deposit(Value::whole(475))] },
        ]
        .into(),
    }
}

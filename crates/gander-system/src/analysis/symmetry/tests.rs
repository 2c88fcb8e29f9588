use super::*;
use crate::evidence::{Evidence, Leg, Run, State, Step};
use crate::passes::{ComposeLimits, Link, Read, Sync, compose};
use crate::testing::{Model, replay};
use crate::{ClaimKind, Goal, NodeFormulas, NodeId};
use gander_term::{Importer, Pool, Value, parse_term};

/// Nodes Open, Closed (final); give(amount), take(amount), close.
fn account(first: i64) -> System {
    let mut m = Model::new("Account", &["Open", "Closed"]);
    let closed = m.node("Closed");
    m.builder.set_final(closed);
    m.var("balance", Sort::Int);
    m.start("Open", &[&format!("balance == {first}")]);
    let amount = [("amount", Sort::Int)];
    m.step(
        "Open",
        "give",
        "Open",
        &amount,
        &["0 < Open.give.amount and Open.give.amount <= balance"],
        &["balance := balance - Open.give.amount"],
    );
    m.step(
        "Open",
        "take",
        "Open",
        &amount,
        &["Open.take.amount > 0"],
        &["balance := balance + Open.take.amount"],
    );
    m.step("Open", "close", "Closed", &[], &["balance == 0"], &[]);
    m.always("balance >= 0");
    let closed = m.state_goal("@node == @Node.Closed");
    m.claim("end", ClaimKind::Reachable(vec![closed]));
    m.finish()
}

fn sync(name: &str, members: &[(usize, &str)], shared: &[&str]) -> Sync {
    Sync {
        name: name.into(),
        shared: shared.iter().map(|s| s.to_string()).collect(),
        members: members.iter().map(|(i, g)| (*i, g.to_string())).collect(),
        ..Sync::default()
    }
}

fn family(parts: &[&System], syncs: &[Sync], links: &[Link], whole: &[&str]) -> System {
    let names: Vec<String> = (0..parts.len()).map(|i| format!("a[{i}]")).collect();
    let instances: Vec<(&str, &System)> =
        names.iter().map(String::as_str).zip(parts.iter().copied()).collect();
    let (mut b, mut c) =
        compose("Ring", &instances, syncs, links, ComposeLimits::default()).unwrap();
    c.add_claims(&mut b).unwrap();
    for text in whole {
        let t = parse_term(&mut b.pool, text).unwrap();
        let t = b.state_formula(t, text).unwrap();
        b.claim(text, ClaimKind::Always(t), crate::ClaimOrigin::Written, text, None).unwrap();
    }
    b.finish().and_structural_claims()
}

fn ring(size: usize) -> System {
    let account = account(100);
    let syncs: Vec<Sync> = (0..size)
        .map(|i| sync(&format!("t{i}"), &[(i, "give"), ((i + 1) % size, "take")], &["amount"]))
        .collect();
    let sum: Vec<String> = (0..size).map(|i| format!("`a[{i}].balance`")).collect();
    let total = format!("{} == {}", sum.join(" + "), 100 * size);
    family(&vec![&account; size], &syncs, &[], &[&total])
}

fn claim(s: &System, name: &str) -> ClaimId {
    let at = s.claims().iter().position(|c| c.name == name);
    ClaimId::from(at.unwrap_or_else(|| panic!("no claim {name}")))
}

fn orbit(s: &System, symmetries: &Symmetries, name: &str) -> Vec<String> {
    let orbit = symmetries.orbit(s, claim(s, name));
    let mut names: Vec<String> =
        orbit.into_iter().map(|(c, _)| s.claims()[c.index()].name.clone()).collect();
    names.sort();
    names
}

#[test]
fn a_ring_has_a_rotation() {
    let s = ring(4);
    let symmetries = Symmetries::of(&s);
    assert_eq!(symmetries.generators().len(), 1);
    let rotation = &symmetries.generators()[0];
    for v in s.var_ids() {
        let to = rotation.var(v);
        assert_eq!(s.var(v).sort, s.var(to).sort);
        assert_ne!(v, to);
    }
    let total = s.claims().iter().position(|c| c.name.contains("400")).unwrap();
    assert_eq!(rotation.claim(ClaimId::from(total)), Some(ClaimId::from(total)));
    assert_eq!(
        orbit(&s, &symmetries, "a[1].always balance >= 0"),
        ["a[0].always balance >= 0", "a[2].always balance >= 0", "a[3].always balance >= 0"]
    );
    assert_eq!(orbit(&s, &symmetries, "can enable a[3].Open.close").len(), 3);
    let counts = symmetries.representatives(s.claims().len());
    let representatives: FxHashSet<ClaimId> = counts.into_iter().collect();
    // always, end, total, start, three transitions, and a node that may be a sinkhole.
    assert_eq!(representatives.len(), 8);
}

#[test]
fn independent_instances_are_exchanged_in_all_ways() {
    let account = account(3);
    let s = family(&[&account; 5], &[], &[], &[]);
    let symmetries = Symmetries::of(&s);
    assert_eq!(symmetries.generators().len(), 4);
    assert_eq!(orbit(&s, &symmetries, "a[4].end").len(), 4);
}

#[test]
fn instances_that_only_look_alike_are_not_exchanged() {
    let (one, other) = (account(3), account(4));
    let s = family(&[&one, &other, &one], &[], &[], &[]);
    let symmetries = Symmetries::of(&s);
    assert_eq!(orbit(&s, &symmetries, "a[0].end"), ["a[2].end"]);
    assert!(orbit(&s, &symmetries, "a[1].end").is_empty());
    // A synchronisation in one direction only.
    let s = family(&[&one, &one], &[sync("t", &[(0, "give"), (1, "take")], &["amount"])], &[], &[]);
    assert!(Symmetries::of(&s).is_trivial());
    // A claim without a counterpart does not hide the symmetry of the others.
    let s = family(&[&one, &one], &[], &[], &["`a[0].balance` >= 1"]);
    let symmetries = Symmetries::of(&s);
    assert_eq!(orbit(&s, &symmetries, "a[0].end"), ["a[1].end"]);
    assert!(orbit(&s, &symmetries, "`a[0].balance` >= 1").is_empty());
}

/// What an instance reads of the next one makes a ring.
#[test]
fn instances_are_exchanged_only_together_with_what_they_read() {
    let mut m = Model::new("Reader", &["N"]);
    m.var("x", Sort::Int);
    let next = m.input("next", Sort::Int);
    m.start("N", &["x == 0"]);
    m.step("N", "up", "N", &[], &["x <= next"], &["x := x + 1"]);
    m.always("x >= 0");
    let reader = m.finish();
    let x = VarId(0);
    let link = |i, to| Link { reader: (i, next), read: Read::Variable(to, x) };
    let s = family(&[&reader; 3], &[], &[link(0, 1), link(1, 2), link(2, 0)], &[]);
    let symmetries = Symmetries::of(&s);
    assert_eq!(symmetries.generators().len(), 1);
    assert_eq!(symmetries.generators()[0].var(VarId(0)), VarId(1));
    // The first one reads the second one: that is no longer one of two alike.
    let s = family(&[&reader; 3], &[], &[link(0, 1), link(1, 2), link(2, 1)], &[]);
    assert!(Symmetries::of(&s).is_trivial());
    let s = family(&[&reader; 3], &[], &[link(0, 0), link(1, 2), link(2, 1)], &[]);
    assert_eq!(orbit(&s, &Symmetries::of(&s), "a[1].always x >= 0"), ["a[2].always x >= 0"]);
}

fn first_state(s: &System, balance: i64) -> State {
    let values = s
        .vars()
        .iter()
        .map(|v| match v.sort {
            Sort::Enum(e) => Value::Enum(e, 0),
            _ => Value::int(balance),
        })
        .collect();
    State { node: NodeId(0), values }
}

#[test]
fn renamed_runs_are_runs() {
    // Each pair can exchange amounts, and the parameters are not shared.
    let account = account(7);
    let pairs = [(0, 1), (0, 2), (1, 2)];
    let syncs: Vec<Sync> = pairs
        .iter()
        .map(|&(i, j)| sync(&format!("m{i}{j}"), &[(i, "take"), (j, "take")], &[]))
        .collect();
    let s = family(&[&account; 3], &syncs, &[], &[]);
    let symmetries = Symmetries::of(&s);
    assert_eq!(symmetries.generators().len(), 2);
    let t = s.transition_ids().find(|t| s.transition(*t).name.starts_with("m01(")).unwrap();
    let step = Step { transition: t, params: vec![Value::int(2), Value::int(5)], next: None };
    let run =
        Run { start: StartId(0), first: first_state(&s, 7), legs: vec![Leg::Step(step)].into() };
    assert_eq!(replay(&s, &run).unwrap()[1].values[1], Value::int(9));
    let id = claim(&s, "a[0].always balance >= 0");
    let mut ends = FxHashSet::default();
    for (_, g) in symmetries.orbit(&s, id) {
        let renamed = g.run(&run);
        let states = replay(&s, &renamed).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(states.last().unwrap(), &g.state(replay(&s, &run).unwrap().last().unwrap()));
        ends.insert(states.last().unwrap().clone());
    }
    assert_eq!(ends.len(), 2);
}

/// The invariants for the symmetric claims of one with this invariant, without the third one.
fn transferred(s: &System, text: &str) -> Vec<NodeFormulas> {
    let symmetries = Symmetries::of(s);
    let mut pool = Pool::fork(&s.pool);
    let t = parse_term(&mut pool, text).unwrap();
    let formulas = NodeFormulas { pool: pool.freeze(), by_node: [t].into() };
    let id = claim(s, "a[1].always balance >= 0");
    let verdict = Verdict::Holds(Evidence::Invariant(formulas));
    let wanted = |c: ClaimId| s.claims()[c.index()].name != "a[3].always balance >= 0";
    let all = symmetries.transfer(s, id, &verdict, wanted);
    assert_eq!(all.len(), 3);
    let formulas = |(_, verdict)| match verdict {
        Verdict::Holds(Evidence::Invariant(f)) => f,
        _ => panic!("an invariant"),
    };
    all.into_iter().map(formulas).collect()
}

fn conjuncts(s: &System, f: &NodeFormulas) -> Vec<String> {
    let mut own = Pool::fork(&s.pool);
    let t = Importer::new().import(&mut own, &f.pool, f.by_node[0]).unwrap();
    let parts = if own.op(t) == gander_term::Op::And { own.args(t).to_vec() } else { vec![t] };
    parts.into_iter().map(|t| own.display(t).to_string()).collect()
}

#[test]
fn invariants_that_are_nearly_symmetric_are_joined() {
    let s = ring(5);
    let sum = (0..5).map(|i| format!("`a[{i}].balance`")).collect::<Vec<_>>().join(" + ");
    let text = format!(
        "`a[1].balance` >= 0 and `a[2].balance` >= 0 and `a[3].balance` >= 0 and {sum} == 500"
    );
    let all = transferred(&s, &text);
    assert!(all.iter().all(|f| f.is_copy_of(&all[0])));
    // Five balances, and the sum only once.
    assert_eq!(conjuncts(&s, &all[0]).len(), 6);
}

#[test]
fn invariants_about_few_instances_stay_separate() {
    let s = ring(5);
    let all = transferred(&s, "`a[1].balance` >= 0");
    let mut texts: Vec<String> = all.iter().flat_map(|f| conjuncts(&s, f)).collect();
    texts.sort();
    assert_eq!(texts, ["`a[0].balance` >= 0", "`a[2].balance` >= 0", "`a[4].balance` >= 0"]);
}

#[test]
fn kinds_of_evidence_about_other_systems_are_not_renamed() {
    let s = ring(3);
    let symmetries = Symmetries::of(&s);
    let id = claim(&s, "a[1].end");
    let verdict = Verdict::Fails(Evidence::OfChain(Box::new(Evidence::Refutation)));
    assert!(symmetries.transfer(&s, id, &verdict, |_| true).is_empty());
    assert_eq!(
        symmetries.transfer(&s, id, &Verdict::Fails(Evidence::Refutation), |_| true).len(),
        2
    );
}

#[test]
fn other_systems_have_no_symmetries() {
    assert!(Symmetries::of(&account(1)).is_trivial());
    let goal = ring(2);
    assert!(
        matches!(goal.claims()[1].kind, ClaimKind::Reachable(ref g) if matches!(g[..], [Goal::State(_)]))
    );
}

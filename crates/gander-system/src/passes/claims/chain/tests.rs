use super::*;
use crate::testing::{account, ints, named, replay, step};

/// `balance > 60` in Open, then a deposit of more than 5 from Open, then Frozen.
fn three_goals() -> System {
    let mut m = account();
    m.assume("@node == @Node.Frozen -> balance < 1000");
    let rich = m.state_goal("balance > 60 and @node == @Node.Open");
    let deposit = named_in(&m, "Open.deposit");
    let more = m.step_goal(deposit, "Open.deposit.amount > 5");
    let frozen = m.state_goal("@node == @Node.Frozen");
    m.claim("trip", ClaimKind::Reachable(vec![rich, more, frozen]));
    m.finish()
}

fn named_in(m: &crate::testing::Model, name: &str) -> TransitionId {
    TransitionId::from(m.builder.so_far().transitions.iter().position(|t| t.name == name).unwrap())
}

#[test]
fn a_run_through_the_stages_maps_to_a_run_that_meets_the_goals() {
    let s = three_goals();
    let c = chain(&s, ClaimId(0)).unwrap();
    assert_eq!(c.system.nodes.len(), 12);
    assert_eq!(c.system.transitions.len(), 3 * 5 + 3 + 1 + 3);
    let t = |name: &str| named(&c.system, name);
    let run = Run {
        start: StartId(0),
        first: State { node: NodeId(0), values: ints(&[50, 1, 7]) },
        legs: vec![
            Leg::Repeat { times: 2, body: vec![step(t("Open.deposit/0"), &[10], &[60, 1, 7])] },
            step(t("@advance Open/0"), &[], &[70, 1, 7]),
            step(t("Open.deposit/1>2 choice 1"), &[6], &[76, 1, 8]),
            step(t("Open.freeze/2"), &[], &[76, 1, 9]),
            step(t("@advance Frozen/2"), &[], &[76, 1, 9]),
        ]
        .into(),
    };
    // The repeated body has wrong next values in its second round, so the steps are unfolded.
    assert!(replay(&c.system, &run).is_err());
    let mut legs = vec![
        step(t("Open.deposit/0"), &[10], &[60, 1, 7]),
        step(t("Open.deposit/0"), &[10], &[70, 1, 7]),
    ];
    legs.extend(run.legs[1..].iter().cloned());
    let run = Run { legs: legs.into(), ..run };
    let states = replay(&c.system, &run).unwrap();
    let last = states.last().unwrap().node;
    assert_eq!((c.stage(last), c.old_node(last)), (3, NodeId(1)));
    let back = c.run(&run).unwrap();
    assert_eq!(back.length(), run.length() - 2);
    assert_eq!(
        replay(&s, &back).unwrap().last().unwrap(),
        &State { node: NodeId(1), values: ints(&[76, 1, 9]) }
    );
}

#[test]
fn an_internal_step_changes_nothing_not_even_inputs() {
    let s = three_goals();
    let c = chain(&s, ClaimId(0)).unwrap();
    let run = |day: i64| Run {
        start: StartId(0),
        first: State { node: NodeId(0), values: ints(&[50, 1, 7]) },
        legs: vec![
            step(named(&c.system, "Open.deposit/0"), &[20], &[70, 1, 7]),
            step(named(&c.system, "@advance Open/0"), &[], &[70, 1, day]),
        ]
        .into(),
    };
    assert!(replay(&c.system, &run(7)).is_ok());
    assert!(replay(&c.system, &run(8)).is_err());
}

#[test]
fn goals_and_assumptions_hold_at_their_stage() {
    let s = three_goals();
    let c = chain(&s, ClaimId(0)).unwrap();
    let too_poor = Run {
        start: StartId(0),
        first: State { node: NodeId(0), values: ints(&[50, 1, 7]) },
        legs: vec![step(named(&c.system, "@advance Open/0"), &[], &[50, 1, 7])].into(),
    };
    assert!(replay(&c.system, &too_poor).is_err());
    // The assumption about Frozen applies to Frozen in every stage.
    let too_rich = Run {
        legs: vec![
            step(named(&c.system, "Open.deposit/0"), &[2000], &[2050, 1, 7]),
            step(named(&c.system, "@advance Open/0"), &[], &[2050, 1, 7]),
            step(named(&c.system, "Open.freeze/1"), &[], &[2050, 1, 7]),
        ]
        .into(),
        ..too_poor
    };
    assert!(replay(&c.system, &too_rich).unwrap_err().starts_with("assumption"));
}

#[test]
fn the_claim_is_about_the_last_stage_and_elements_have_origins() {
    let s = three_goals();
    let c = chain(&s, ClaimId(0)).unwrap();
    let ClaimKind::Reachable(goals) = &c.system.claims[0].kind else { panic!("reachable") };
    let [Goal::State(p)] = goals[..] else { panic!("one state goal") };
    let shown = c.system.pool.display(p.term()).to_string();
    assert_eq!(shown.matches("/3").count(), 3);
    assert_eq!(c.origins.len(), c.system.elements.len());
    let guard = c.system.transition(named(&c.system, "Open.close/2")).guard[0].id;
    let old = c.element(guard).unwrap();
    assert_eq!(s.element_name(old), "Open.close guard 1");
}

#[test]
fn other_claims_have_no_chain() {
    let mut m = account();
    m.always("balance >= 0");
    let s = m.finish();
    assert_eq!(chain(&s, ClaimId(0)).unwrap_err(), ChainError::NotAChain);
    assert_eq!(chain(&s, ClaimId(9)).unwrap_err(), ChainError::NotAChain);
}

use gander_term::Sort;

use super::*;
use crate::claim::{FairnessId, FairnessKind};
use crate::testing::{Model, named, replay};

/// A lamp that is switched on and off, with a counter of switches; it may flicker while it is on.
fn lamp(claim: impl FnOnce(&mut Model) -> ClaimKind) -> System {
    let mut m = Model::new("Lamp", &["Off", "On"]);
    m.var("n", Sort::Int);
    m.start("Off", &["n == 0"]);
    m.step("Off", "press", "On", &[], &[], &["n := n + 1"]);
    m.step("On", "flicker", "On", &[], &[], &[]);
    m.step("On", "press", "Off", &[], &["n < 3"], &[]);
    let kind = claim(&mut m);
    m.claim("it", kind);
    m.finish()
}

fn formula(m: &mut Model, text: &str) -> crate::formula::StateTerm {
    let t = m.term(text);
    m.builder.state_formula(t, text).unwrap()
}

fn fair(m: &mut Model, name: &str, kind: FairnessKind) -> FairnessId {
    m.builder.fairness(name, kind, None).unwrap()
}

fn made(system: &System, aspect: &Aspect) -> LivenessToSafety {
    liveness_to_safety(system, ClaimId(0), aspect).unwrap()
}

fn stages(of: &LivenessToSafety) -> Vec<Stage> {
    of.system.node_ids().map(|n| of.stage(n)).collect()
}

/// A step of the liveness-to-safety system, with the next values of all its variables.
fn step(of: &LivenessToSafety, name: &str, next: &[Value]) -> Leg {
    Leg::Step(Step {
        transition: named(&of.system, name),
        params: vec![],
        next: Some(next.to_vec()),
    })
}

fn begins(of: &LivenessToSafety, stage: Stage, values: &[Value]) -> Run {
    let node = of.system.node_ids().find(|&n| of.stage(n) == stage).unwrap();
    let start = of.system.starts.iter().position(|s| s.target == node).unwrap();
    Run {
        start: StartId::from(start),
        first: State { node, values: values.to_vec() },
        legs: vec![].into(),
    }
}

const T: Value = Value::Bool(true);
const F: Value = Value::Bool(false);

fn n(i: i64) -> Value {
    Value::int(i)
}

#[test]
fn stages_depend_on_the_claim() {
    use Stage::{Answered, Free, Pending};
    let eventually = lamp(|m| ClaimKind::Eventually { goal: formula(m, "n == 2"), under: vec![] });
    assert_eq!(stages(&made(&eventually, &Aspect::Rounds)), [Pending, Pending]);
    assert_eq!(stages(&made(&eventually, &Aspect::Stuck)), [Pending, Pending, Answered, Answered]);
    let often = lamp(|m| ClaimKind::AlwaysEventually { goal: formula(m, "n == 2"), under: vec![] });
    let of = made(&often, &Aspect::Rounds);
    assert_eq!(stages(&of), [Free, Free, Pending, Pending]);
    // Each transition from free to free, from free to pending, and from pending to pending.
    assert_eq!(of.system.transitions.len(), 9);
    assert_eq!(of.system.transition_ids().filter(|&t| of.stays(t)).count(), 3);
    let old: Vec<usize> =
        of.system.transition_ids().map(|t| of.old_transition(t).index()).collect();
    assert_eq!(old, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
    let not_final = |of: &LivenessToSafety| {
        of.system.node_ids().filter(|&n| !of.system.node(n).is_final).count()
    };
    assert_eq!(not_final(&made(&often, &Aspect::Stuck)), 2, "only pending states can be stuck");
}

#[test]
fn each_aspect_has_its_claim() {
    let s = lamp(|m| ClaimKind::Eventually { goal: formula(m, "n == 2"), under: vec![] });
    assert!(matches!(made(&s, &Aspect::Stuck).system.claims[0].kind, ClaimKind::NoDeadlock));
    assert!(matches!(made(&s, &Aspect::AtMost(3)).system.claims[0].kind, ClaimKind::Always(_)));
    assert!(made(&s, &Aspect::Rounds).system.claims.is_empty());
    let bounds = vec![Some((IBig::from(0), IBig::from(9)))];
    assert!(made(&s, &Aspect::Repetition(bounds)).finite);
    let without = made(&s, &Aspect::Repetition(vec![None]));
    assert!(!without.finite && without.saved.is_some());
    let safety = lamp(|m| ClaimKind::Always(formula(m, "n < 9")));
    assert_eq!(
        liveness_to_safety(&safety, ClaimId(0), &Aspect::Rounds).unwrap_err(),
        LivenessToSafetyError::NotAboutRuns
    );
    assert_eq!(
        liveness_to_safety(&safety, ClaimId(7), &Aspect::Rounds).unwrap_err(),
        LivenessToSafetyError::NotAboutRuns
    );
}

#[test]
fn pending_states_do_not_satisfy_the_goal() {
    let s = lamp(|m| ClaimKind::AlwaysEventually { goal: formula(m, "n == 2"), under: vec![] });
    let of = made(&s, &Aspect::Rounds);
    let free = begins(&of, Stage::Free, &[n(0)]);
    let on = |legs: Vec<Leg>| Run { legs: legs.into(), ..free.clone() };
    let good =
        on(vec![step(&of, "Off.press/Begin", &[n(1)]), step(&of, "On.flicker/Stay", &[n(1)])]);
    assert_eq!(replay(&of.system, &good).unwrap().len(), 3);
    let back = of.run(&good).unwrap();
    assert_eq!(
        replay(&s, &back).unwrap().last().unwrap(),
        &State { node: NodeId(1), values: vec![n(1)] }
    );
    // The second press meets the goal: only a run that is still free may take it.
    let press_twice = |kind: &str| {
        on(vec![
            step(
                &of,
                &format!("Off.press/{}", if kind == "Free" { "Free" } else { "Begin" }),
                &[n(1)],
            ),
            step(&of, &format!("On.press/{kind}"), &[n(1)]),
            step(&of, &format!("Off.press/{kind}"), &[n(2)]),
        ])
    };
    assert!(replay(&of.system, &press_twice("Free")).is_ok());
    assert!(replay(&of.system, &press_twice("Stay")).is_err());
}

#[test]
fn a_round_is_complete_when_every_constraint_was_hit() {
    let s = lamp(|m| {
        let low = formula(m, "n < 3");
        let press = [TransitionId(0), TransitionId(2)].to_vec();
        let under = vec![
            fair(m, "low", FairnessKind::Justice(low)),
            fair(m, "pressed", FairnessKind::Weak(press)),
        ];
        ClaimKind::Eventually { goal: formula(m, "n == 9"), under }
    });
    let of = made(&s, &Aspect::Rounds);
    assert!(of.round.is_some());
    assert_eq!(of.seen.len(), 2);
    // Values: n, seen by each constraint, round.
    let names: Vec<&str> = of.system.vars.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["n", "@seen1", "@seen2", "@round"]);
    let run =
        |legs: Vec<Leg>| Run { legs: legs.into(), ..begins(&of, Stage::Pending, &[n(0), F, F, F]) };
    // The first press is from a state with n < 3 and a press: both are hit, the round is complete
    // and the next one begins.
    let first = step(&of, "Off.press/Stay", &[n(1), F, F, T]);
    assert!(replay(&of.system, &run(vec![first.clone()])).is_ok());
    assert!(replay(&of.system, &run(vec![step(&of, "Off.press/Stay", &[n(1), T, T, F])])).is_err());
    // Flickering hits the first constraint only, as a press could be completed; the press completes
    // the round.
    let flicker = step(&of, "On.flicker/Stay", &[n(1), T, F, F]);
    let press = step(&of, "On.press/Stay", &[n(1), F, F, T]);
    assert!(
        replay(&of.system, &run(vec![first.clone(), flicker.clone(), flicker.clone(), press]))
            .is_ok()
    );
    let too_soon = step(&of, "On.flicker/Stay", &[n(1), F, F, T]);
    assert!(replay(&of.system, &run(vec![first, flicker, too_soon])).is_err());
}

#[test]
fn one_constraint_needs_no_seen_flags_and_none_needs_no_round_flag() {
    let one = lamp(|m| {
        let under = vec![fair(m, "pressed", FairnessKind::Weak(vec![TransitionId(0)]))];
        ClaimKind::Eventually { goal: formula(m, "n == 9"), under }
    });
    let of = made(&one, &Aspect::Rounds);
    assert!(of.round.is_some() && of.seen.is_empty());
    let none = lamp(|_| ClaimKind::InfiniteRun);
    let of = made(&none, &Aspect::Rounds);
    assert!(of.round.is_none() && of.seen.is_empty());
    assert_eq!(of.system.vars.len(), of.old_vars());
}

#[test]
fn rounds_are_counted_up_to_the_bound() {
    let s = lamp(|_| ClaimKind::InfiniteRun);
    let of = made(&s, &Aspect::AtMost(1));
    let ClaimKind::Always(p) = of.system.claims[0].kind else { panic!("an invariant") };
    let count = |run: &Run| replay(&of.system, run).unwrap().last().unwrap().values[1].clone();
    let run =
        |legs: Vec<Leg>| Run { legs: legs.into(), ..begins(&of, Stage::Pending, &[n(0), n(0)]) };
    let one = step(&of, "Off.press/Stay", &[n(1), n(1)]);
    let two = step(&of, "On.flicker/Stay", &[n(1), n(2)]);
    assert_eq!(count(&run(vec![one.clone()])), n(1));
    assert_eq!(count(&run(vec![one, two])), n(2));
    let mut pool = Pool::fork(&of.system.pool);
    for (rounds, holds) in [(0, T), (1, T), (2, F)] {
        let here = of.system.at_node(&mut pool, p, NodeId(1));
        let value = |s| (s == of.system.vars[1].current).then(|| n(rounds)).or(Some(n(1)));
        assert_eq!(gander_term::evaluate(&pool, here, &value), Ok(holds), "{rounds} rounds");
    }
}

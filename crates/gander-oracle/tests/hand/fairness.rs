//! Justice, weak and strong fairness.

use gander_system::{ClaimKind, FairnessKind};
use gander_term::Op;

use super::*;

const T: fn(u32) -> TransitionId = TransitionId;

/// The answers to `eventually @node == goal` under each of several lists of fairness constraints.
fn eventually(mut m: Model, goal: u32, under: &[&[FairnessId]]) -> Vec<bool> {
    let goal = m.at(goal);
    let claims = under.iter().map(|u| ClaimKind::Eventually { goal, under: u.to_vec() }).collect();
    m.answers(claims).into_iter().map(|a| a.holds).collect()
}

#[test]
fn weak_fairness_forces_a_step_that_stays_possible() {
    // A loop at 0, and a step out of it.
    let mut m = Model::graph(2, &[(0, 0), (0, 1)]);
    let out = m.fair(FairnessKind::Weak(vec![T(1)]));
    let around = m.fair(FairnessKind::Weak(vec![T(0)]));
    let either = m.fair(FairnessKind::Weak(vec![T(0), T(1)]));
    // Fairness to the set of both is satisfied by looping.
    assert_eq!(
        eventually(m, 1, &[&[], &[out], &[around], &[either], &[around, out]]),
        [false, true, false, false, true]
    );
}

#[test]
fn weak_fairness_does_not_force_a_step_that_is_possible_infinitely_often() {
    // 0 -> 1 -> 0 ..., with a step out at 0 only.
    let mut m = Model::graph(3, &[(0, 1), (1, 0), (0, 2)]);
    let weak = m.fair(FairnessKind::Weak(vec![T(2)]));
    let strong = m.fair(FairnessKind::Strong(vec![T(2)]));
    assert_eq!(eventually(m, 2, &[&[weak], &[strong], &[weak, strong]]), [false, true, true]);
}

#[test]
fn strong_fairness_allows_runs_that_avoid_the_step() {
    // 0 -> 1 -> 2 -> 0 and back 1 -> 0. Steps out to 3 at 2 (t5) and at 1 (t6).
    let mut m = Model::graph(4, &[(0, 1), (1, 2), (2, 0), (1, 0), (3, 3), (2, 3), (1, 3)]);
    let at2 = m.fair(FairnessKind::Strong(vec![T(5)]));
    let at1 = m.fair(FairnessKind::Strong(vec![T(6)]));
    // 0 -> 1 -> 0 ... avoids 2; every cycle visits 1.
    assert_eq!(eventually(m, 3, &[&[at2], &[at1], &[at2, at1]]), [false, true, true]);
}

#[test]
fn strong_constraints_can_exclude_each_other_part_by_part() {
    // Cycles 0-1 and 0-2. Taking t4 (from 1 to 1) satisfies the first constraint within the first
    // cycle, but the second one forbids staying at 1 forever without leaving by t5.
    let mut m = Model::graph(4, &[(0, 1), (1, 0), (0, 2), (2, 0), (1, 1), (1, 3), (3, 3)]);
    let first = m.fair(FairnessKind::Strong(vec![T(4)]));
    let second = m.fair(FairnessKind::Strong(vec![T(5)]));
    let need1 = m.at(1);
    let need1 = m.fair(FairnessKind::Justice(need1));
    // With both, 0 -> 2 -> 0 ... remains; with justice to 1, only 3 does.
    assert_eq!(
        eventually(
            m,
            3,
            &[&[first], &[second], &[first, second], &[first, need1], &[second, need1]]
        ),
        [false, false, false, false, true]
    );
}

#[test]
fn justice_excludes_runs_that_avoid_its_states() {
    let mut m = Model::graph(2, &[(0, 0), (0, 1), (1, 0)]);
    let at1 = m.at(1);
    let no = m.truth(false);
    let no = m.formula(no);
    let often = m.fair(FairnessKind::Justice(at1));
    let never = m.fair(FairnessKind::Justice(no));
    let asked =
        |under: &[FairnessId]| ClaimKind::AlwaysEventually { goal: at1, under: under.to_vec() };
    // No infinite run satisfies justice to false, and every run is infinite.
    assert_eq!(
        m.answers(vec![asked(&[]), asked(&[often]), asked(&[never])]),
        [FAILS, HOLDS, HOLDS]
    );
}

#[test]
fn finite_maximal_runs_are_fair_to_everything() {
    // 0 -> 1, where runs end, or 0 -> 0.
    let mut m = Model::graph(2, &[(0, 1), (0, 0)]);
    let no = m.truth(false);
    let no = m.formula(no);
    let never = m.fair(FairnessKind::Justice(no));
    let [at0, at1] = [0, 1].map(|n| m.at(n));
    let claims = vec![
        ClaimKind::AlwaysEventually { goal: at0, under: vec![never] },
        // The looping run is excluded, the ending one is not.
        ClaimKind::AlwaysEventually { goal: at1, under: vec![never] },
        ClaimKind::LeadsTo { from: at1, to: at0, under: vec![never] },
        ClaimKind::LeadsTo { from: at0, to: at1, under: vec![never] },
    ];
    assert_eq!(m.answers(claims), [FAILS, HOLDS, FAILS, HOLDS]);
}

#[test]
fn fairness_does_not_require_a_step_that_cannot_be_completed() {
    // The step out leads to node 1, which an assumption excludes: fairness to it requires nothing.
    let mut m = Model::graph(3, &[(0, 0), (0, 1), (0, 2)]);
    let gone = m.node_is(1);
    let cut = m.mk(Op::Not, &[gone]);
    m.assume(cut);
    let weak = m.fair(FairnessKind::Weak(vec![T(1)]));
    let strong = m.fair(FairnessKind::Strong(vec![T(1)]));
    let real = m.fair(FairnessKind::Strong(vec![T(2)]));
    assert_eq!(eventually(m, 2, &[&[weak], &[strong], &[real]]), [false, false, true]);
}

#[test]
fn taking_the_transition_is_enough_wherever_it_leads() {
    // t1 loops at 0 as well as t0: a run that takes it is fair to it.
    let mut m = Model::graph(2, &[(0, 0), (0, 0), (0, 1)]);
    let second = m.fair(FairnessKind::Strong(vec![T(1)]));
    let both = m.fair(FairnessKind::Strong(vec![T(1), T(2)]));
    assert_eq!(eventually(m, 1, &[&[second], &[both]]), [false, false]);
}

#[test]
fn leads_to_may_depend_on_fairness() {
    // 0 -> 1, a loop at 1, out to 2, back to 0.
    let mut m = Model::graph(3, &[(0, 1), (1, 1), (1, 2), (2, 0)]);
    let out = m.fair(FairnessKind::Weak(vec![T(2)]));
    let [at0, at1, at2] = [0, 1, 2].map(|n| m.at(n));
    let asked =
        |from, to, under: &[FairnessId]| ClaimKind::LeadsTo { from, to, under: under.to_vec() };
    let claims = vec![
        asked(at1, at2, &[]),
        asked(at1, at2, &[out]),
        asked(at2, at1, &[]),
        asked(at1, at0, &[out]),
    ];
    assert_eq!(m.answers(claims), [FAILS, HOLDS, HOLDS, HOLDS]);
}

#[test]
fn fairness_does_not_restrict_prefixes() {
    // Always eventually 1, from any reachable state: the unfair loop at 0 may be taken finitely
    // often, not forever.
    let mut m = Model::graph(2, &[(0, 0), (0, 1), (1, 1)]);
    let out = m.fair(FairnessKind::Weak(vec![T(1)]));
    let [at0, at1] = [0, 1].map(|n| m.at(n));
    let claims = vec![
        ClaimKind::AlwaysEventually { goal: at1, under: vec![out] },
        ClaimKind::AlwaysEventually { goal: at0, under: vec![out] },
        ClaimKind::Eventually { goal: at0, under: vec![out] },
    ];
    assert_eq!(m.answers(claims), [HOLDS, FAILS, HOLDS]);
}

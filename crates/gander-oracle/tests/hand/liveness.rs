//! Claims about maximal runs, without fairness.

use gander_system::ClaimKind;

use super::*;

fn eventually(goal: StateTerm) -> ClaimKind {
    ClaimKind::Eventually { goal, under: Vec::new() }
}

fn always_eventually(goal: StateTerm) -> ClaimKind {
    ClaimKind::AlwaysEventually { goal, under: Vec::new() }
}

fn leads_to(from: StateTerm, to: StateTerm) -> ClaimKind {
    ClaimKind::LeadsTo { from, to, under: Vec::new() }
}

#[test]
fn a_finite_maximal_run_stutters_in_its_last_state() {
    let mut m = Model::graph(3, &[(0, 1), (1, 2)]);
    let [at0, at1, at2] = [0, 1, 2].map(|n| m.at(n));
    let claims = vec![
        eventually(at0),
        eventually(at1),
        eventually(at2),
        // Only the last state occurs infinitely often, by stuttering.
        always_eventually(at2),
        always_eventually(at1),
        leads_to(at0, at2),
        leads_to(at1, at2),
        leads_to(at2, at2),
        leads_to(at2, at1),
        leads_to(at1, at0),
    ];
    assert_eq!(
        m.answers(claims),
        [HOLDS, HOLDS, HOLDS, HOLDS, FAILS, HOLDS, HOLDS, HOLDS, FAILS, FAILS]
    );
}

#[test]
fn a_run_that_can_go_on_is_not_maximal() {
    // Node 0 can be left, so a maximal run cannot end there; but it may loop there forever.
    let claims = |m: &mut Model| {
        let at1 = m.at(1);
        vec![eventually(at1), always_eventually(at1)]
    };
    let mut m = Model::graph(2, &[(0, 1)]);
    let asked = claims(&mut m);
    assert_eq!(m.answers(asked), [HOLDS, HOLDS]);
    let mut m = Model::graph(2, &[(0, 1), (0, 0)]);
    let asked = claims(&mut m);
    assert_eq!(m.answers(asked), [FAILS, FAILS]);
}

#[test]
fn a_final_node_is_no_end_of_a_run_if_a_step_leaves_it() {
    let mut m = Model::graph(2, &[(0, 1)]);
    m.builder.set_final(NodeId(0));
    let at1 = m.at(1);
    assert_eq!(m.answers(vec![eventually(at1)]), [HOLDS]);
}

#[test]
fn eventually_once_and_infinitely_often_differ() {
    // 0 -> 1 -> 2 -> 2: node 1 once, node 2 forever.
    let mut m = Model::graph(3, &[(0, 1), (1, 2), (2, 2)]);
    let [at1, at2] = [1, 2].map(|n| m.at(n));
    let claims =
        vec![eventually(at1), always_eventually(at1), eventually(at2), always_eventually(at2)];
    assert_eq!(m.answers(claims), [HOLDS, FAILS, HOLDS, HOLDS]);
}

#[test]
fn leads_to_requires_a_response_to_every_trigger() {
    // 0 -> 1 -> 2 -> 1 ...: each 1 is followed by 2; a run may also leave from 2 to 3, after which
    // there is no 2.
    let mut m = Model::graph(4, &[(0, 1), (1, 2), (2, 1), (2, 3)]);
    let [at0, at1, at2, at3] = [0, 1, 2, 3].map(|n| m.at(n));
    let claims = vec![
        leads_to(at1, at2),
        leads_to(at0, at2),
        leads_to(at2, at1),
        leads_to(at3, at2),
        leads_to(at0, at3),
    ];
    assert_eq!(m.answers(claims), [HOLDS, HOLDS, FAILS, FAILS, FAILS]);
}

#[test]
fn a_step_that_an_assumption_cuts_does_not_prolong_a_run() {
    // The only step from 1 leads to 2, which an assumption excludes: runs end at 1.
    let mut m = Model::graph(3, &[(0, 1), (1, 2)]);
    let at2 = m.node_is(2);
    let cut = m.mk(gander_term::Op::Not, &[at2]);
    m.assume(cut);
    let [at0, at1] = [0, 1].map(|n| m.at(n));
    assert_eq!(m.answers(vec![always_eventually(at1), always_eventually(at0)]), [HOLDS, FAILS]);
}

#[test]
fn an_infinite_run_needs_a_reachable_cycle() {
    assert_eq!(Model::graph(3, &[(0, 1), (1, 2)]).answers(vec![ClaimKind::InfiniteRun]), [FAILS]);
    assert_eq!(
        Model::graph(3, &[(0, 1), (1, 2), (2, 1)]).answers(vec![ClaimKind::InfiniteRun]),
        [HOLDS]
    );
    assert_eq!(Model::graph(1, &[(0, 0)]).answers(vec![ClaimKind::InfiniteRun]), [HOLDS]);
    // The cycle cannot be reached.
    assert_eq!(Model::graph(3, &[(0, 1), (2, 2)]).answers(vec![ClaimKind::InfiniteRun]), [FAILS]);
}

#[test]
fn always_possible_fails_where_no_path_leads_back() {
    // No path leads back from 3.
    let mut m = Model::graph(4, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 3)]);
    let [at0, at3] = [0, 3].map(|n| m.at(n));
    let claims = vec![ClaimKind::AlwaysPossible(at3), ClaimKind::AlwaysPossible(at0)];
    assert_eq!(m.answers(claims), [HOLDS, fails_by(3)]);
    let mut m = Model::graph(1, &[]);
    let at0 = m.at(0);
    assert_eq!(m.answers(vec![ClaimKind::AlwaysPossible(at0)]), [HOLDS]);
}

#[test]
fn exists_always_needs_a_maximal_run_within_the_set() {
    // Either 0 -> 1 -> 1 ... or 0 -> 2, where the run ends.
    let mut m = Model::graph(3, &[(0, 1), (1, 1), (0, 2)]);
    let [not0, not1, not2, at0] = [m.not_at(0), m.not_at(1), m.not_at(2), m.at(0)];
    let claims = vec![
        ClaimKind::ExistsAlways(not1),
        ClaimKind::ExistsAlways(not2),
        ClaimKind::ExistsAlways(not0),
        // A run that stays at 0 is not maximal.
        ClaimKind::ExistsAlways(at0),
    ];
    assert_eq!(m.answers(claims), [HOLDS, HOLDS, FAILS, FAILS]);
}

//! Lower bounds on the length of runs from the control graph: a run reaches a node no sooner than
//! the graph allows.

use std::collections::VecDeque;

use gander_system::{ClaimId, ClaimKind, Goal, NodeId, StateTerm, System};
use gander_term::Pool;

use super::limits::LIMITS;
use crate::core::Blackboard;

/// Raises the bounds of claims by the distance of the nodes at which a run could decide them.
pub(super) fn raise_bounds(system: &System, claims: &[ClaimId], blackboard: &Blackboard) {
    let distances = distances(system);
    let mut pool = None;
    for &claim in claims {
        let distance = match &system.claims()[claim.index()].kind {
            ClaimKind::CanEnable(t) | ClaimKind::Completable(t) => {
                distances[system.transition(*t).source.index()]
            }
            ClaimKind::NoSinkhole(n) => distances[n.index()],
            ClaimKind::Reachable(goals) => match &goals[..] {
                [Goal::State(p)] => nearest(system, &mut pool, *p, &distances),
                [Goal::Step { choices, .. }] => {
                    let sources = choices
                        .iter()
                        .map(|(t, _)| distances[system.transition(*t).source.index()]);
                    sources.flatten().min().map(|d| d + 1)
                }
                _ => None,
            },
            _ => None,
        };
        // Unreachable nodes are left to the engines, which give a proof.
        if let Some(before) = distance.and_then(|d| d.checked_sub(1)) {
            blackboard.raise_bound(claim, before);
        }
    }
}

/// By node: the number of steps that the control graph needs to get there.
fn distances(system: &System) -> Vec<Option<u32>> {
    let mut distances: Vec<Option<u32>> = vec![None; system.nodes().len()];
    let mut queue: VecDeque<(NodeId, u32)> =
        system.starts().iter().map(|s| (s.target, 0)).collect();
    while let Some((n, distance)) = queue.pop_front() {
        if distances[n.index()].is_none() {
            distances[n.index()] = Some(distance);
            queue.extend(
                system.leaving(n).iter().map(|&t| (system.transition(t).target, distance + 1)),
            );
        }
    }
    distances
}

/// The distance of the nearest node at which a formula is not syntactically false.
fn nearest(
    system: &System,
    pool: &mut Option<Pool>,
    p: StateTerm,
    distances: &[Option<u32>],
) -> Option<u32> {
    if system.nodes().len() > LIMITS.control_nodes {
        return None;
    }
    let pool = pool.get_or_insert_with(|| Pool::fork(system.pool()));
    let mut possible = Vec::new();
    for n in system.node_ids() {
        let here = system.at_node(pool, p, n);
        if pool.as_bool(here) != Some(false) {
            possible.extend(distances[n.index()]);
        }
    }
    possible.into_iter().min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_system::{ClaimOrigin, SystemBuilder, TransitionId};
    use gander_term::parse_term;

    #[test]
    fn a_node_is_not_reached_before_the_graph_lets_it_be() {
        let mut b =
            SystemBuilder::new("s", Pool::new(), &[("A", None), ("B", None), ("C", None)]).unwrap();
        b.start("go", NodeId(0), &[], None).unwrap();
        for (from, to) in [(0, 0), (0, 1), (1, 2), (2, 0)] {
            let step =
                b.transition(&format!("{from}{to}"), None, NodeId(from), NodeId(to), None).unwrap();
            b.add(step).unwrap();
        }
        let in_c = parse_term(&mut b.pool, "`@node` == `@Node`.`C`").unwrap();
        let in_c = b.state_formula(in_c, "test").unwrap();
        let anywhere = b.pool.tt();
        let anywhere = b.state_formula(anywhere, "test").unwrap();
        let kinds = [
            ClaimKind::CanEnable(TransitionId(1)),
            ClaimKind::CanEnable(TransitionId(3)),
            ClaimKind::NoSinkhole(NodeId(1)),
            ClaimKind::Reachable(vec![Goal::State(in_c)]),
            ClaimKind::Reachable(vec![Goal::State(anywhere)]),
            ClaimKind::Always(in_c),
        ];
        for (i, kind) in kinds.into_iter().enumerate() {
            b.claim(&i.to_string(), kind, ClaimOrigin::Written, "", None).unwrap();
        }
        let system = b.finish();
        let blackboard = Blackboard::new(&system);
        let claims: Vec<ClaimId> = (0..system.claims().len()).map(ClaimId::from).collect();
        raise_bounds(&system, &claims, &blackboard);
        let bounds: Vec<Option<u32>> = claims.iter().map(|&c| blackboard.bound(c)).collect();
        assert_eq!(bounds, [None, Some(1), Some(0), Some(1), None, None]);
    }

    #[test]
    fn no_run_of_a_random_system_is_shorter_than_its_bound() {
        let mut bounded = 0;
        for seed in 0..150 {
            let made = gander_oracle::generate(seed);
            let blackboard = Blackboard::new(&made.system);
            let claims: Vec<ClaimId> = (0..made.system.claims().len()).map(ClaimId::from).collect();
            raise_bounds(&made.system, &claims, &blackboard);
            for (&claim, answer) in claims.iter().zip(&made.answers) {
                if let (Some(bound), Some(length)) = (blackboard.bound(claim), answer.length) {
                    bounded += 1;
                    assert!(u64::from(bound) < length, "seed {seed}, {claim:?}: {bound}, {length}");
                }
            }
        }
        assert!(bounded > 20, "{bounded} claims with a bound");
    }
}

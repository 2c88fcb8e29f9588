//! Random evidence about random systems.
#![allow(dead_code)]

use std::sync::Arc;

use gander_system::{ClaimKind, Evidence, NodeFormulas, NodeId, System, Verdict};
use gander_term::{Pool, TermId, Value};

/// The number of systems per test, and the first seed.
pub fn seeds() -> std::ops::Range<u64> {
    let number =
        |name: &str, usual| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
    let first = number("GANDER_CERTIFY_FIRST", 0);
    first..first + number("GANDER_CERTIFY_SYSTEMS", 10)
}

/// The formula of each node that the state is one of these.
pub fn exactly(system: &System, states: &[(NodeId, Vec<Value>)]) -> NodeFormulas {
    let mut pool = Pool::fork(system.pool());
    let mut by_node: Vec<Vec<TermId>> = vec![Vec::new(); system.nodes().len()];
    for (node, values) in states {
        let mut parts = Vec::new();
        for (var, value) in system.vars().iter().zip(values) {
            let (x, c) = (pool.var(var.current), pool.constant(value.clone()));
            parts.push(pool.eq(x, c));
        }
        let here = pool.and(parts);
        by_node[node.index()].push(here);
    }
    let by_node = by_node.into_iter().map(|states| pool.or(states)).collect();
    NodeFormulas { pool: Arc::new(pool), by_node }
}

/// True if a run shows that the claim holds, false if it shows that it fails.
pub fn run_shows(kind: &ClaimKind) -> Option<bool> {
    match kind {
        ClaimKind::Reachable(_) | ClaimKind::CanEnable(_) | ClaimKind::StartSatisfiable(_) => {
            Some(true)
        }
        ClaimKind::ExistsAlways(_) => Some(true),
        ClaimKind::Always(_)
        | ClaimKind::NoSinkhole(_)
        | ClaimKind::Completable(_)
        | ClaimKind::NoDeadlock => Some(false),
        ClaimKind::Eventually { .. }
        | ClaimKind::AlwaysEventually { .. }
        | ClaimKind::LeadsTo { .. } => Some(false),
        _ => None,
    }
}

/// True if an invariant can decide the claim.
pub fn suits_invariants(kind: &ClaimKind) -> bool {
    match kind {
        ClaimKind::Reachable(goals) => goals.len() == 1,
        ClaimKind::Always(_) | ClaimKind::CanEnable(_) | ClaimKind::NoSinkhole(_) => true,
        ClaimKind::Completable(_) | ClaimKind::NoDeadlock => true,
        _ => false,
    }
}

pub fn verdict(holds: bool, evidence: Evidence) -> Verdict {
    if holds { Verdict::Holds(evidence) } else { Verdict::Fails(evidence) }
}

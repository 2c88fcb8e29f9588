//! Evidence by chance, about random systems.
#![allow(dead_code)]

use std::sync::Arc;

use gander_system::{ClaimKind, Evidence, NodeFormulas, NodeId, System, Verdict};
use gander_term::{Pool, TermId, Value};

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }

    pub fn coin(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// How many systems each test tries, and from which seed on.
pub fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str, usual| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
    let first = number("GANDER_CERTIFY_FIRST", 0);
    first..first + number("GANDER_CERTIFY_SYSTEMS", 10)
}

/// One of these states, as a formula for each node.
pub fn exactly(system: &System, states: &[(NodeId, Vec<Value>)]) -> NodeFormulas {
    let mut pool = Pool::fork(&system.pool);
    let mut by_node: Vec<Vec<TermId>> = vec![Vec::new(); system.nodes.len()];
    for (node, values) in states {
        let mut parts = Vec::new();
        for (var, value) in system.vars.iter().zip(values) {
            let (x, c) = (pool.var(var.current), pool.constant(value.clone()));
            parts.push(pool.eq(x, c));
        }
        let here = pool.and(parts);
        by_node[node.index()].push(here);
    }
    let by_node = by_node.into_iter().map(|states| pool.or(states)).collect();
    NodeFormulas { pool: Arc::new(pool), by_node }
}

/// Who shows what: whether a run shows that the claim holds, or that it fails.
pub fn run_shows(kind: &ClaimKind) -> Option<bool> {
    match kind {
        ClaimKind::Reachable(_) | ClaimKind::CanEnable(_) | ClaimKind::StartSatisfiable(_) => Some(true),
        ClaimKind::ExistsAlways(_) => Some(true),
        ClaimKind::Always(_) | ClaimKind::NoSinkhole(_) | ClaimKind::Completable(_) | ClaimKind::NoDeadlock => {
            Some(false)
        }
        ClaimKind::Eventually { .. } | ClaimKind::AlwaysEventually { .. } | ClaimKind::LeadsTo { .. } => Some(false),
        _ => None,
    }
}

/// True if an invariant can show something of the claim.
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

//! Conjectures that claims are inductive as they stand.
//!
//! Many are, and then checking the evidence is the only cost. The invariant proposed for a claim is
//! the conjunction of the `always` claims and hints over the variables that the claim depends on.
//! The checker decides whether it is inductive.
//!
//! On a system with many claims or variables, ranges of ints are proposed, too ([`super::ranges`]).

use std::collections::BTreeMap;

use gander_system::{NodeFormulas, NodeId};
use gander_term::TermId;

use super::dependencies::{Dependencies, is_subset};
use super::limits::LIMITS;
use crate::core::portable;
use crate::encode::encoding::Encoding;

/// A formula by node that may be invariant.
pub(super) struct Guess<'a> {
    pub by_node: &'a [(NodeId, TermId)],
    /// Whether it may be used in the invariants of other guesses.
    pub supports: bool,
    /// Whether an invariant is to be proposed for it.
    pub wanted: bool,
}

/// For each guess that wants one, the invariants to propose: formulas for all nodes that include
/// the guess, with the others that support it, and then alone. `nodes` are those that are reachable
/// in the control graph.
pub(super) fn invariants(
    e: &mut Encoding,
    nodes: &[NodeId],
    guesses: &[Guess<'_>],
) -> Vec<Vec<NodeFormulas>> {
    let system = e.system.clone();
    let wanted = guesses.iter().filter(|g| g.wanted).count();
    if wanted * (system.transitions().len() + system.nodes().len()) > LIMITS.conjecture_obligations
    {
        return vec![Vec::new(); guesses.len()];
    }
    let dependencies = Dependencies::of(&system, &mut e.pool);
    let variables: Vec<Vec<usize>> = guesses
        .iter()
        .map(|guess| {
            let formulas: Vec<TermId> = guess.by_node.iter().map(|g| g.1).collect();
            dependencies.variables_of(&e.pool, &formulas)
        })
        .collect();
    let mut known: BTreeMap<Vec<usize>, Option<NodeFormulas>> = BTreeMap::new();
    let mut invariants = Vec::new();
    for (at, mine) in variables.iter().enumerate() {
        if !guesses[at].wanted {
            invariants.push(Vec::new());
            continue;
        }
        let cone = dependencies.closure(mine);
        let helps = |i: usize| guesses[i].supports && is_subset(&variables[i], &cone);
        let members: Vec<usize> = (0..guesses.len()).filter(|&i| i == at || helps(i)).collect();
        // Among the others may be some that are not inductive.
        let sets = if members.len() > 1 { vec![members, vec![at]] } else { vec![members] };
        let formulas = sets.into_iter().map(|set| {
            known
                .entry(set)
                .or_insert_with_key(|members| {
                    let mut parts: Vec<Vec<TermId>> = vec![Vec::new(); system.nodes().len()];
                    for &(n, formula) in members.iter().flat_map(|&m| guesses[m].by_node) {
                        parts[n.index()].push(formula);
                    }
                    let mut by_node = Vec::new();
                    for (n, parts) in parts.into_iter().enumerate() {
                        let reached = nodes.binary_search(&NodeId::from(n)).is_ok();
                        by_node.push(if reached { e.pool.and(parts) } else { e.pool.ff() });
                    }
                    portable(&system, &e.pool, &by_node).ok()
                })
                .clone()
        });
        invariants.push(formulas.flatten().collect());
    }
    invariants
}

//! Conjectures that claims are inductive as they stand.
//!
//! Many are, and then checking the evidence is the only cost. The invariant proposed for a claim is
//! the conjunction of the `always` claims and hints over the variables that the claim depends on.
//! The checker decides whether it is inductive.
//!
//! On a system with many claims, one invariant is proposed for all of them: the ranges in which its
//! formulas keep the ints ([`crate::arith::ranges`]). The checker shows once that it is inductive.

use std::collections::BTreeMap;

use gander_system::{Effect, NodeFormulas, NodeId, System};
use gander_term::{Pool, SymbolId, TermId, Value};

use super::limits::LIMITS;
use crate::arith::ranges::ranges;
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
    let variables: Vec<Vec<bool>> = guesses
        .iter()
        .map(|guess| {
            let formulas: Vec<TermId> = guess.by_node.iter().map(|g| g.1).collect();
            dependencies.mask(&e.pool, &formulas)
        })
        .collect();
    let mut known: BTreeMap<Vec<usize>, Option<NodeFormulas>> = BTreeMap::new();
    let mut invariants = Vec::new();
    for (at, mine) in variables.iter().enumerate() {
        if !guesses[at].wanted {
            invariants.push(Vec::new());
            continue;
        }
        let cone = dependencies.closure(mine.clone());
        let within =
            |other: &Vec<bool>| other.iter().zip(&cone).all(|(other, cone)| !other || *cone);
        let helps = |i: usize| guesses[i].supports && within(&variables[i]);
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

/// The ranges of the ints, at all nodes that are reachable in the control graph; `None` if there
/// are none.
pub(super) fn ranges_invariant(e: &mut Encoding, nodes: &[NodeId]) -> Option<NodeFormulas> {
    let system = e.system.clone();
    let mut parts = Vec::new();
    for (var, range) in system.vars().iter().zip(ranges(&system)) {
        let Some((least, greatest)) = range else { continue };
        let current = e.pool.var(var.current);
        let least = e.pool.constant(Value::Int(least));
        let greatest = e.pool.constant(Value::Int(greatest));
        parts.push(e.pool.le(least, current));
        parts.push(e.pool.le(current, greatest));
    }
    if parts.is_empty() {
        return None;
    }
    let (inside, nowhere) = (e.pool.and(parts), e.pool.ff());
    let reached = |n: NodeId| nodes.binary_search(&n).is_ok();
    let by_node: Vec<TermId> =
        system.node_ids().map(|n| if reached(n) { inside } else { nowhere }).collect();
    portable(&system, &e.pool, &by_node).ok()
}

/// By variable: the variables that its next value, or whether it changes, may depend on.
struct Dependencies {
    variables: Vec<(SymbolId, SymbolId)>,
    of: Vec<Vec<bool>>,
}

impl Dependencies {
    fn of(system: &System, pool: &mut Pool) -> Dependencies {
        let count = system.vars().len();
        let variables = system.vars().iter().map(|v| (v.current, v.next)).collect();
        let mut dependencies = Dependencies { variables, of: vec![vec![false; count]; count] };
        for t in system.transition_ids() {
            let guard = system.guard_term(pool, t);
            for part in &system.transition(t).effect {
                match *part {
                    Effect::Assign { var, value, .. } => {
                        let sources = dependencies.mask(pool, &[guard, value.term()]);
                        join(&mut dependencies.of[var.index()], &sources);
                    }
                    Effect::Constrain { relation, .. } => {
                        let related = dependencies.mask(pool, &[relation.term()]);
                        let sources = dependencies.mask(pool, &[guard, relation.term()]);
                        for v in (0..count).filter(|&v| related[v]) {
                            join(&mut dependencies.of[v], &sources);
                        }
                    }
                    Effect::Keep { .. } => {}
                }
            }
        }
        dependencies
    }

    /// The variables, current or next, that occur in some terms.
    fn mask(&self, pool: &Pool, terms: &[TermId]) -> Vec<bool> {
        let free = pool.free_symbols(terms);
        let has = |s: &SymbolId| free.binary_search(s).is_ok();
        self.variables.iter().map(|(current, next)| has(current) || has(next)).collect()
    }

    /// The variables in the mask and all that they transitively depend on.
    fn closure(&self, mut mask: Vec<bool>) -> Vec<bool> {
        let mut stack: Vec<usize> = (0..mask.len()).filter(|&v| mask[v]).collect();
        while let Some(v) = stack.pop() {
            for (source, _) in self.of[v].iter().enumerate().filter(|(_, depends)| **depends) {
                if !std::mem::replace(&mut mask[source], true) {
                    stack.push(source);
                }
            }
        }
        mask
    }
}

fn join(into: &mut [bool], more: &[bool]) {
    for (into, more) in into.iter_mut().zip(more) {
        *into |= more;
    }
}

//! Proved lemmas, and the lemmas that each proof uses.

use gander_system::{NodeFormulas, NodeId};
use gander_term::{NameClash, Op, TermId};
use rustc_hash::FxHashSet;

use crate::core::portable;
use crate::encode::encoding::Encoding;

/// A formula for some nodes (true at the others) that holds in every reachable state.
#[derive(Clone, Debug)]
pub(super) struct Lemma {
    pub by_node: Vec<(NodeId, TermId)>,
    /// It is `k`-inductive together with the lemmas `rests_on`.
    pub k: u32,
    pub loop_free: bool,
    pub no_restart: bool,
    /// Positions of the lemmas that the proof uses. May include later ones that were proved
    /// together with this one.
    pub rests_on: Vec<usize>,
}

/// A set of lemmas that is inductive without others: a formula for each node, and its kind of
/// induction.
#[derive(Clone, Debug)]
pub(super) struct Closed {
    pub formulas: Vec<TermId>,
    pub k: u32,
    pub loop_free: bool,
    pub no_restart: bool,
}

/// The conjunction of the lemmas `roots` and of all that they depend on; false at nodes outside
/// `nodes`.
///
/// If every lemma is `k_i`-inductive relative to the lemmas that it depends on, the conjunction is
/// inductive for the greatest `k_i`.
pub(super) fn close(
    e: &mut Encoding,
    nodes: &[NodeId],
    lemmas: &[Lemma],
    roots: &[usize],
) -> Closed {
    let mut needed = vec![false; lemmas.len()];
    let mut stack = roots.to_vec();
    while let Some(at) = stack.pop() {
        if !std::mem::replace(&mut needed[at], true) {
            stack.extend_from_slice(&lemmas[at].rests_on);
        }
    }
    let mut parts: Vec<Vec<TermId>> = vec![Vec::new(); e.system.nodes().len()];
    let mut closed = Closed { formulas: Vec::new(), k: 1, loop_free: false, no_restart: false };
    for (lemma, _) in lemmas.iter().zip(&needed).filter(|(_, needed)| **needed) {
        closed.k = closed.k.max(lemma.k);
        closed.loop_free |= lemma.loop_free;
        closed.no_restart |= lemma.no_restart;
        for &(n, formula) in &lemma.by_node {
            parts[n.index()].push(formula);
        }
    }
    for (n, parts) in parts.into_iter().enumerate() {
        let reachable = nodes.binary_search(&NodeId::from(n)).is_ok();
        closed.formulas.push(if reachable { e.pool.and(parts) } else { e.pool.ff() });
    }
    closed
}

/// Removes the conjuncts of lemmas that `formulas` contain entirely. Returns the remaining formulas
/// and the positions of these lemmas.
pub(super) fn beyond(
    e: &mut Encoding,
    lemmas: &[Lemma],
    formulas: &[(NodeId, TermId)],
) -> (Vec<(NodeId, TermId)>, Vec<usize>) {
    let conjuncts = |e: &Encoding, t: TermId| match e.pool.op(t) {
        Op::And => e.pool.args(t).to_vec(),
        _ => vec![t],
    };
    let mut said: Vec<FxHashSet<TermId>> = vec![FxHashSet::default(); e.system.nodes().len()];
    for &(n, t) in formulas {
        said[n.index()].extend(conjuncts(e, t));
    }
    let includes = |lemma: &Lemma| {
        let says = |&(n, t): &(NodeId, TermId)| {
            conjuncts(e, t).iter().all(|c| said[n.index()].contains(c))
        };
        !lemma.by_node.is_empty() && lemma.by_node.iter().all(says)
    };
    let included: Vec<usize> = (0..lemmas.len()).filter(|&l| includes(&lemmas[l])).collect();
    let mut old: Vec<FxHashSet<TermId>> = vec![FxHashSet::default(); e.system.nodes().len()];
    for &(n, t) in included.iter().flat_map(|&l| &lemmas[l].by_node) {
        old[n.index()].extend(conjuncts(e, t));
    }
    let mut by_node = Vec::new();
    for &(n, t) in formulas {
        let new: Vec<TermId> =
            conjuncts(e, t).into_iter().filter(|c| !old[n.index()].contains(c)).collect();
        by_node.push((n, e.pool.and(new)));
    }
    (by_node, included)
}

impl Closed {
    /// The formulas in a separate pool.
    pub(super) fn portable(&self, e: &Encoding) -> Result<NodeFormulas, NameClash> {
        portable(&e.system, &e.pool, &self.formulas)
    }
}

//! Relevant variables: which variables are live at which node.
//!
//! A variable is relevant at a node if its value there can influence a guard, an assumption or a
//! target on some path from it. Invariants do not mention other variables. This is live-variable
//! analysis (Kildall 1973), backwards over the control graph; a variable that is only read to
//! compute irrelevant variables is irrelevant.

use std::sync::Arc;

use gander_system::{Effect, NodeId};
use gander_term::{SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::encode::encoding::Encoding;
use crate::encode::question::{Place, Question};

/// By node and variable: whether it is relevant.
#[derive(Clone, Debug)]
pub(super) struct Relevance {
    by_node: Vec<Vec<bool>>,
}

impl Relevance {
    /// The relevant variables of a system for these questions.
    pub(super) fn of(e: &mut Encoding, questions: &[Question]) -> Relevance {
        let system = Arc::clone(&e.system);
        let position: FxHashMap<SymbolId, usize> =
            system.vars().iter().enumerate().map(|(i, v)| (v.current, i)).collect();
        let next: FxHashMap<SymbolId, usize> =
            system.vars().iter().enumerate().map(|(i, v)| (v.next, i)).collect();
        let vars = system.vars().len();
        let mut by_node = vec![vec![false; vars]; system.nodes().len()];
        let mut reads: FxHashMap<TermId, Vec<usize>> = FxHashMap::default();
        let mut read = |e: &Encoding, t: TermId| -> Vec<usize> {
            let symbols = || e.pool.free_symbols(&[t]);
            reads
                .entry(t)
                .or_insert_with(|| {
                    symbols().iter().filter_map(|s| position.get(s).copied()).collect()
                })
                .clone()
        };
        for n in system.node_ids() {
            let assumption = system.assumption_term(&mut e.pool, n);
            for v in read(e, assumption) {
                by_node[n.index()][v] = true;
            }
        }
        let mut everywhere: FxHashSet<usize> = FxHashSet::default();
        for target in questions.iter().flat_map(|q| &q.targets) {
            let vars = read(e, target.formula);
            let node = match target.place {
                Place::Anywhere => {
                    everywhere.extend(vars);
                    continue;
                }
                Place::At(n) => n,
                Place::Taking(t) => system.transition(t).source,
                Place::Beginning(s) => system.starts()[s.index()].target,
            };
            for v in vars {
                by_node[node.index()][v] = true;
            }
        }
        for matters in &mut by_node {
            everywhere.iter().for_each(|&v| matters[v] = true);
        }
        // `always`: variables that a step reads in any case. `use_of`: by assigned variable, those
        // that it is computed from.
        let mut uses: Vec<Vec<(usize, Vec<usize>)>> =
            Vec::with_capacity(system.transitions().len());
        for t in system.transition_ids() {
            let transition = system.transition(t);
            let guard = system.guard_term(&mut e.pool, t);
            let mut always: FxHashSet<usize> = read(e, guard).into_iter().collect();
            let mut constrained: FxHashSet<usize> = FxHashSet::default();
            for part in &transition.effect {
                if let Effect::Constrain { relation, .. } = *part {
                    always.extend(read(e, relation.term()));
                    constrained.extend(
                        e.pool.free_symbols(&[relation.term()]).iter().filter_map(|s| next.get(s)),
                    );
                }
            }
            let mut use_of = Vec::new();
            for part in &transition.effect {
                let (var, values) = match *part {
                    Effect::Assign { var, value, .. } => (var.index(), read(e, value.term())),
                    Effect::Keep { var, .. } => (var.index(), vec![var.index()]),
                    Effect::Constrain { .. } => continue,
                };
                if constrained.contains(&var) {
                    always.extend(values);
                } else {
                    use_of.push((var, values));
                }
            }
            let matters = &mut by_node[transition.source.index()];
            always.into_iter().for_each(|v| matters[v] = true);
            uses.push(use_of);
        }
        let mut waiting: Vec<NodeId> = system.node_ids().collect();
        let mut queued = vec![true; system.nodes().len()];
        while let Some(n) = waiting.pop() {
            queued[n.index()] = false;
            for &t in system.entering(n) {
                let source = system.transition(t).source;
                let mut changed = false;
                for (var, values) in &uses[t.index()] {
                    if !by_node[n.index()][*var] {
                        continue;
                    }
                    for &v in values {
                        changed |= !std::mem::replace(&mut by_node[source.index()][v], true);
                    }
                }
                if changed && !std::mem::replace(&mut queued[source.index()], true) {
                    waiting.push(source);
                }
            }
        }
        Relevance { by_node }
    }

    /// True if the variable with this index is relevant at the node.
    pub(super) fn matters(&self, n: NodeId, var: usize) -> bool {
        self.by_node[n.index()][var]
    }
}

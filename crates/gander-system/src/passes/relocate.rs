//! Formulas about the node of a state, rewritten for a system with other nodes.

use gander_term::{Op, Pool, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use crate::system::{NodeId, System};

/// Rewrites terms of an old system for the nodes of a new one.
///
/// `inside(n)` is the formula of the new system for "the old node is `n`". `@node == N` becomes
/// that formula; any other occurrence of `@node` becomes a choice among the old node constants.
pub(crate) struct Relocation<F> {
    location: SymbolId,
    old_nodes: usize,
    inside: F,
    rewritten: FxHashMap<TermId, TermId>,
    choice: Option<TermId>,
}

impl<F: FnMut(&mut Pool, NodeId) -> TermId> Relocation<F> {
    /// For terms of `old`; the pools used later must be forks of its pool.
    pub(crate) fn new(old: &System, inside: F) -> Relocation<F> {
        Relocation {
            location: old.location,
            old_nodes: old.nodes.len(),
            inside,
            rewritten: FxHashMap::default(),
            choice: None,
        }
    }

    /// The formula for the new system.
    pub(crate) fn apply(&mut self, pool: &mut Pool, t: TermId) -> TermId {
        if let Some(&done) = self.rewritten.get(&t) {
            return done;
        }
        if !pool.free_symbols(&[t]).contains(&self.location) {
            return t;
        }
        for part in pool.postorder(&[t]) {
            if self.rewritten.contains_key(&part) {
                continue;
            }
            let new = if let Some(n) = self.compared_node(pool, part) {
                (self.inside)(pool, n)
            } else if pool.as_symbol(part) == Some(self.location) {
                // `rebuild` replaces it in the terms that contain it.
                part
            } else {
                self.rebuild(pool, part)
            };
            self.rewritten.insert(part, new);
        }
        self.rewritten[&t]
    }

    /// `n` if the term is `@node == n`.
    fn compared_node(&self, pool: &Pool, t: TermId) -> Option<NodeId> {
        let [a, b] = *pool.args(t) else { return None };
        if pool.op(t) != Op::Eq {
            return None;
        }
        let constant = match (pool.as_symbol(a), pool.as_symbol(b)) {
            (Some(s), _) if s == self.location => b,
            (_, Some(s)) if s == self.location => a,
            _ => return None,
        };
        match pool.as_constant(constant) {
            Some(Value::Enum(_, i)) => Some(NodeId(i)),
            _ => None,
        }
    }

    fn rebuild(&mut self, pool: &mut Pool, t: TermId) -> TermId {
        let old = pool.args(t).to_vec();
        let mut args = Vec::with_capacity(old.len());
        for &a in &old {
            let new = self.rewritten.get(&a).copied().unwrap_or(a);
            args.push(if pool.as_symbol(new) == Some(self.location) {
                self.old_node(pool, new)
            } else {
                new
            });
        }
        if args == old {
            t
        } else {
            pool.mk(pool.op(t), &args).expect("the rewritten arguments have the same sorts")
        }
    }

    /// The old node as a term: `if old node is N0 then N0 else if ...`.
    fn old_node(&mut self, pool: &mut Pool, location: TermId) -> TermId {
        if let Some(t) = self.choice {
            return t;
        }
        let gander_term::Sort::Enum(sort) = pool.sort(location) else { return location };
        let mut choice = pool.constant(Value::Enum(sort, self.old_nodes as u32 - 1));
        for i in (0..self.old_nodes as u32 - 1).rev() {
            let inside = (self.inside)(pool, NodeId(i));
            let constant = pool.constant(Value::Enum(sort, i));
            choice = pool.ite(inside, constant, choice);
        }
        self.choice = Some(choice);
        choice
    }
}

//! Transitions as functions: the next state as terms over the current state and choices.
//!
//! Choices are the parameters and the next values that no assignment and no equation defines (such
//! as inputs). The other constraints of the effect and the assumptions about the next state are
//! part of the guard.

use gander_system::{Effect, NodeId, System, TransitionId};
use gander_term::{Pool, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A step as a function; see the module's documentation.
#[derive(Clone, Debug)]
pub(super) struct FunctionalStep {
    pub target: NodeId,
    /// The choices: the parameters in order, then the free next values.
    pub params: Vec<SymbolId>,
    /// The variables of the free next values.
    pub free: Vec<usize>,
    pub guard: TermId,
    /// By variable.
    pub values: Vec<TermId>,
}

/// A transition of the system as a function.
pub(super) fn functional_step(system: &System, pool: &mut Pool, t: TransitionId) -> FunctionalStep {
    let transition = system.transition(t);
    let mut params: Vec<SymbolId> = transition.params.iter().map(|p| p.symbol).collect();
    let next: FxHashMap<SymbolId, usize> =
        system.vars().iter().enumerate().map(|(i, v)| (v.next, i)).collect();
    let mut values: Vec<Option<TermId>> = vec![None; system.vars().len()];
    let mut demands: Vec<TermId> = vec![system.guard_term(pool, t)];
    let mut relations = Vec::new();
    for part in &transition.effect {
        match *part {
            Effect::Assign { var, value, .. } => values[var.index()] = Some(value.term()),
            Effect::Keep { var, .. } => {
                values[var.index()] = Some(pool.var(system.var(var).current))
            }
            Effect::Constrain { relation, .. } => relations.push(relation.term()),
        }
    }
    let mut equations: Vec<Option<TermId>> = vec![None; system.vars().len()];
    let mut stated: FxHashMap<usize, TermId> = FxHashMap::default();
    for relation in relations {
        match pool.equation_for(relation, &next, None) {
            Some((v, value)) if values[v].is_none() && equations[v].is_none() => {
                equations[v] = Some(value);
                stated.insert(v, relation);
            }
            _ => demands.push(relation),
        }
    }
    let (order, circular) = in_order(pool, &next, &equations);
    for v in circular {
        equations[v] = None;
        demands.extend(stated.get(&v));
    }
    // Free next values become parameters; equations are unfolded in dependency order.
    let mut map: FxHashMap<SymbolId, TermId> = FxHashMap::default();
    let mut free = Vec::new();
    for (i, var) in system.vars().iter().enumerate() {
        if let Some(value) = values[i] {
            map.insert(var.next, value);
        } else if equations[i].is_none() {
            let symbol = pool.declare_fresh(&format!("@next.{}.{}", t.0, var.name), var.sort);
            let value = pool.var(symbol);
            values[i] = Some(value);
            map.insert(var.next, value);
            params.push(symbol);
            free.push(i);
        }
    }
    let mut unfold = gander_term::Substitution::new(pool, &map);
    for v in order {
        if let Some(value) = equations[v] {
            let value = unfold.apply(pool, value);
            values[v] = Some(value);
            unfold.also(pool, system.vars()[v].next, value);
        }
    }
    // Every variable has a value now: free, assigned, kept, or by an acyclic equation.
    let values: Vec<TermId> = values
        .iter()
        .zip(system.vars())
        .map(|(v, var)| v.unwrap_or_else(|| pool.var(var.current)))
        .collect();
    let demands: Vec<TermId> = demands.into_iter().map(|d| unfold.apply(pool, d)).collect();
    let assumption = system.assumption_term(pool, transition.target);
    let there = system.vars().iter().zip(&values).map(|(var, &v)| (var.current, v)).collect();
    let assumption = pool.substitute(assumption, &there);
    let guard = pool.and(demands.into_iter().chain([assumption]));
    FunctionalStep { target: transition.target, params, free, guard, values }
}

/// Variables with equations in dependency order, and those on a cycle.
fn in_order(
    pool: &Pool,
    next: &FxHashMap<SymbolId, usize>,
    equations: &[Option<TermId>],
) -> (Vec<usize>, FxHashSet<usize>) {
    let uses = |v: usize| -> Vec<usize> {
        let Some(t) = equations[v] else { return Vec::new() };
        pool.free_symbols(&[t]).iter().filter_map(|s| next.get(s).copied()).collect()
    };
    let (mut order, mut circular) = (Vec::new(), FxHashSet::default());
    let mut done = vec![false; equations.len()];
    let mut open = vec![false; equations.len()];
    for root in 0..equations.len() {
        if done[root] || equations[root].is_none() {
            continue;
        }
        open[root] = true;
        let mut stack = vec![(root, uses(root))];
        while let Some((v, rest)) = stack.last_mut() {
            match rest.pop() {
                Some(u) if open[u] => {
                    circular.insert(u);
                }
                Some(u) if !done[u] && equations[u].is_some() => {
                    open[u] = true;
                    stack.push((u, uses(u)));
                }
                Some(_) => {}
                None => {
                    let v = *v;
                    open[v] = false;
                    done[v] = true;
                    order.push(v);
                    stack.pop();
                }
            }
        }
    }
    (order, circular)
}

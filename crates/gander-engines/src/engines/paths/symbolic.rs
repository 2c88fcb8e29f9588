//! Symbolic states: the states of all runs along one control path.
//!
//! The symbolic state after a path has a term for each variable, over choices: symbols for start
//! values, for the parameters of each step, and for values that a step leaves free. The path is
//! feasible if its conditions (start, guards, effects, assumptions) are satisfiable together.
//! Conditions that share no choice, directly or indirectly, are independent, so the solver sees
//! only those connected to the new condition.

use std::sync::Arc;

use gander_system::{Effect, NodeId, StartId, TransitionId};
use gander_term::{Op, Pool, Simplifier, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::encode::encoding::Encoding;
use crate::encode::projection::conjuncts;

/// The effect of a step or a start on a symbolic state.
pub(super) struct Image {
    /// By variable.
    pub values: Vec<TermId>,
    /// New conditions, in normal form; none is `true`.
    pub conditions: Vec<TermId>,
    /// The values of the parameters.
    pub params: Vec<TermId>,
}

/// Computes symbolic states.
pub(super) struct Executor {
    simplifier: Simplifier,
    /// Choices by sort and number. All paths use the same numbers; within a path each number is
    /// used once.
    choices: FxHashMap<(Sort, u32), SymbolId>,
    numbers: FxHashMap<SymbolId, u32>,
}

impl Executor {
    pub(super) fn new() -> Executor {
        Executor {
            simplifier: Simplifier::new(),
            choices: FxHashMap::default(),
            numbers: FxHashMap::default(),
        }
    }

    /// The choice with this sort and number.
    pub(super) fn choice(&mut self, pool: &mut Pool, sort: Sort, number: u32) -> SymbolId {
        if let Some(&known) = self.choices.get(&(sort, number)) {
            return known;
        }
        let name = format!("choice.{}.{number}", sort.name(pool));
        let symbol = pool.declare_fresh(&name, sort);
        self.choices.insert((sort, number), symbol);
        self.numbers.insert(symbol, number);
        symbol
    }

    /// The symbolic state of a start; `next` is the number of the next unused choice.
    pub(super) fn begin(&mut self, e: &mut Encoding, s: StartId, next: &mut u32) -> Image {
        let system = Arc::clone(&e.system);
        let node = system.starts()[s.index()].target;
        let constraint = system.start_term(&mut e.pool, s);
        let assumption = system.assumption_term(&mut e.pool, node);
        let both = e.pool.and([constraint, assumption]);
        let mut values = Vec::with_capacity(system.vars().len());
        let mut map = FxHashMap::default();
        for v in system.vars() {
            let choice = self.choice(&mut e.pool, v.sort, *next);
            *next += 1;
            let term = e.pool.var(choice);
            map.insert(v.current, term);
            values.push(term);
        }
        let both = e.pool.substitute(both, &map);
        let mut image = Image { values, conditions: Vec::new(), params: Vec::new() };
        self.settle(&mut e.pool, &mut image, both, 0);
        image
    }

    /// A step of a transition from a symbolic state.
    pub(super) fn step(
        &mut self,
        e: &mut Encoding,
        t: TransitionId,
        from: &[TermId],
        next: &mut u32,
    ) -> Image {
        let system = Arc::clone(&e.system);
        let transition = system.transition(t);
        let first = *next;
        let mut map: FxHashMap<SymbolId, TermId> =
            system.vars().iter().zip(from).map(|(v, &value)| (v.current, value)).collect();
        let mut params = Vec::new();
        for p in &transition.params {
            let number = *next;
            *next += 1;
            let choice = self.choice(&mut e.pool, p.sort, number);
            let term = e.pool.var(choice);
            map.insert(p.symbol, term);
            params.push(term);
        }
        let mut values: Vec<Option<TermId>> = vec![None; system.vars().len()];
        let mut relations = Vec::new();
        for part in &transition.effect {
            match *part {
                Effect::Assign { var, value, .. } => {
                    values[var.index()] = Some(e.pool.substitute(value.term(), &map));
                }
                Effect::Keep { var, .. } => values[var.index()] = Some(from[var.index()]),
                Effect::Constrain { relation, .. } => relations.push(relation.term()),
            }
        }
        let mut complete = Vec::with_capacity(values.len());
        for (v, value) in system.vars().iter().zip(values) {
            complete.push(match value {
                Some(term) => self.simplifier.simplify(&mut e.pool, term),
                None => {
                    let choice = self.choice(&mut e.pool, v.sort, *next);
                    *next += 1;
                    e.pool.var(choice)
                }
            });
        }
        let guard = system.guard_term(&mut e.pool, t);
        let relation = e.pool.and(relations);
        for (v, &value) in system.vars().iter().zip(&complete) {
            map.insert(v.next, value);
        }
        let here = e.pool.and([guard, relation]);
        let here = e.pool.substitute(here, &map);
        let after = system.assumption_term(&mut e.pool, transition.target);
        let behind =
            system.vars().iter().zip(&complete).map(|(v, &value)| (v.current, value)).collect();
        let after = e.pool.substitute(after, &behind);
        let both = e.pool.and([here, after]);
        let mut image = Image { values: complete, conditions: Vec::new(), params };
        self.settle(&mut e.pool, &mut image, both, first);
        image
    }

    /// Adds conditions to an image. A condition that defines a new choice (numbered from `first`)
    /// is substituted instead.
    fn settle(&mut self, pool: &mut Pool, image: &mut Image, conditions: TermId, first: u32) {
        let numbers = &self.numbers;
        let is_new = |s: SymbolId| numbers.get(&s).is_some_and(|&n| n >= first);
        let mut body = self.simplifier.simplify(pool, conditions);
        loop {
            let parts = conjuncts(pool, body);
            let found = parts
                .iter()
                .enumerate()
                .find_map(|(i, &c)| solution(pool, c, &is_new).map(|s| (i, s)));
            let Some((at, (symbol, value))) = found else {
                image.conditions = parts;
                return;
            };
            let map = FxHashMap::from_iter([(symbol, value)]);
            let rest: Vec<TermId> =
                parts.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, &c)| c).collect();
            let rest = pool.and(rest);
            let rest = pool.substitute(rest, &map);
            body = self.simplifier.simplify(pool, rest);
            for v in image.values.iter_mut().chain(&mut image.params) {
                let put = pool.substitute(*v, &map);
                *v = self.simplifier.simplify(pool, put);
            }
        }
    }

    /// A formula over a state (and the shared parameters of a question), evaluated in a symbolic
    /// state.
    pub(super) fn at(
        &mut self,
        e: &mut Encoding,
        values: &[TermId],
        formula: TermId,
        params: &FxHashMap<SymbolId, TermId>,
    ) -> TermId {
        let system = Arc::clone(&e.system);
        let mut map: FxHashMap<SymbolId, TermId> =
            system.vars().iter().zip(values).map(|(v, &value)| (v.current, value)).collect();
        map.extend(params.iter().map(|(&s, &t)| (s, t)));
        let t = e.pool.substitute(formula, &map);
        self.simplifier.simplify(&mut e.pool, t)
    }
}

/// The canonical form of a symbolic state: conditions that do not concern its values are dropped,
/// and choices are numbered by occurrence. States with equal keys have equal futures.
pub(super) fn key(
    executor: &mut Executor,
    pool: &mut Pool,
    node: NodeId,
    values: &[TermId],
    conditions: &[TermId],
) -> (NodeId, Vec<TermId>, Vec<TermId>) {
    let relevant = connected(pool, values, conditions);
    let mut map = FxHashMap::default();
    let mut roots: Vec<TermId> = values.to_vec();
    roots.extend(&relevant);
    for t in pool.postorder(&roots) {
        // Bound symbols are not renamed.
        let is_new = |s: &SymbolId| !map.contains_key(s) && !pool.symbol(*s).bound;
        if let Some(s) = pool.as_symbol(t).filter(is_new) {
            let sort = pool.symbol(s).sort;
            let place = executor.choice(pool, sort, map.len() as u32);
            map.insert(s, pool.var(place));
        }
    }
    let mut put = |t: TermId| {
        let t = pool.substitute(t, &map);
        executor.simplifier.simplify(pool, t)
    };
    let values = values.iter().map(|&v| put(v)).collect();
    let mut conditions: Vec<TermId> = relevant.iter().map(|&c| put(c)).collect();
    conditions.sort_unstable();
    conditions.dedup();
    (node, values, conditions)
}

/// The conditions that share a choice with the roots, directly or transitively.
pub(super) fn connected(pool: &Pool, roots: &[TermId], conditions: &[TermId]) -> Vec<TermId> {
    let mut seen: FxHashSet<SymbolId> = pool.free_symbols(roots).into_iter().collect();
    let mut waiting: Vec<(TermId, Vec<SymbolId>)> =
        conditions.iter().map(|&c| (c, pool.free_symbols(&[c]))).collect();
    let mut found = Vec::new();
    loop {
        let (near, far): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|(_, symbols)| symbols.iter().any(|s| seen.contains(s)));
        if near.is_empty() {
            return found;
        }
        for (c, symbols) in near {
            found.push(c);
            seen.extend(symbols);
        }
        waiting = far;
    }
}

/// The new choice that a condition defines, and its value.
fn solution(
    pool: &mut Pool,
    c: TermId,
    is_new: &impl Fn(SymbolId) -> bool,
) -> Option<(SymbolId, TermId)> {
    let (atom, positive) = match pool.op(c) {
        Op::Not => (pool.args(c)[0], false),
        _ => (c, true),
    };
    if let Some(s) = pool.as_symbol(atom).filter(|&s| is_new(s)) {
        return Some((s, pool.constant(Value::Bool(positive))));
    }
    if pool.op(atom) != Op::Eq || !positive {
        return None;
    }
    let (a, b) = (pool.args(atom)[0], pool.args(atom)[1]);
    [(a, b), (b, a)].into_iter().find_map(|(side, other)| {
        let s = pool.as_symbol(side).filter(|&s| is_new(s))?;
        (!pool.free_symbols(&[other]).contains(&s)).then_some((s, other))
    })
}

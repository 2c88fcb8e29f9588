//! Cubes: sets of states at a node, each a conjunction over state variables.
//!
//! A cube may mention leftover symbols: parameters that could not be eliminated. They are
//! existentially quantified. Equal formulas are the same cube, at all nodes.

use std::sync::Arc;

use gander_system::System;
use gander_term::{Pool, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use super::bounds::Bounds;
use super::limits::LIMITS;
use crate::core::EngineContext;
use crate::encode::encoding::Encoding;
use crate::encode::projection::{conjuncts, quantified};
use crate::encode::query::{Query, Solved, first_value};

/// A cube, an index into [`Cubes`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct CubeId(u32);

impl CubeId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// See the module's documentation.
pub(super) struct Cube {
    pub term: TermId,
    /// Sorted.
    conjuncts: Vec<TermId>,
    bounds: Bounds,
    /// Symbols that are not state variables.
    pub leftover: Vec<SymbolId>,
    /// The values of one of its states.
    sample: Option<Vec<Value>>,
    empty: bool,
}

/// The cubes of a search.
pub(super) struct Cubes {
    system: Arc<System>,
    position: FxHashMap<SymbolId, usize>,
    all: Vec<Cube>,
    by_term: FxHashMap<TermId, CubeId>,
    within: FxHashMap<(CubeId, CubeId), bool>,
}

impl Cubes {
    pub(super) fn new(e: &Encoding) -> Cubes {
        let system = &e.system;
        let position = system.vars().iter().enumerate().map(|(i, v)| (v.current, i)).collect();
        Cubes {
            system: Arc::clone(system),
            position,
            all: Vec::new(),
            by_term: FxHashMap::default(),
            within: FxHashMap::default(),
        }
    }

    pub(super) fn get(&self, c: CubeId) -> &Cube {
        &self.all[c.index()]
    }

    /// The cube of a formula in normal form; `None` if it is empty.
    pub(super) fn cube(
        &mut self,
        context: &EngineContext,
        pool: &Pool,
        query: &mut Query,
        term: TermId,
    ) -> Option<CubeId> {
        if pool.as_bool(term) == Some(false) {
            return None;
        }
        if let Some(&known) = self.by_term.get(&term) {
            return (!self.get(known).empty).then_some(known);
        }
        let mut conjuncts = conjuncts(pool, term);
        conjuncts.sort_unstable();
        let bounds = Bounds::of(pool, &conjuncts);
        let free = pool.free_symbols(&[term]);
        let leftover: Vec<SymbolId> =
            free.into_iter().filter(|s| !self.position.contains_key(s)).collect();
        let mut cube = Cube { term, conjuncts, bounds, leftover, sample: None, empty: false };
        if cube.bounds.is_empty() {
            cube.empty = true;
        } else if cube.bounds.exact {
            let vars = self.system.vars().iter();
            let point = |v: &gander_system::StateVar| {
                cube.bounds.point(pool, v.current).unwrap_or_else(|| first_value(v.sort))
            };
            cube.sample = Some(vars.map(point).collect());
        } else {
            let wanted: Vec<SymbolId> = self.system.vars().iter().map(|v| v.current).collect();
            match query.solve(context, pool, &[term], &wanted, LIMITS.inclusion_query) {
                Solved::Model(values) => cube.sample = Some(values),
                Solved::Nothing => cube.empty = true,
                Solved::Unknown(_) => {}
            }
        }
        let id = CubeId(self.all.len() as u32);
        let empty = cube.empty;
        self.by_term.insert(term, id);
        self.all.push(cube);
        (!empty).then_some(id)
    }

    /// The truth value of a cube in a state, if it can be evaluated.
    pub(super) fn holds(&self, pool: &Pool, c: CubeId, values: &[Value]) -> Option<bool> {
        let value = |s: SymbolId| self.position.get(&s).map(|&i| values[i].clone());
        evaluate(pool, self.get(c).term, &value).ok().and_then(|v| v.as_bool())
    }

    /// True if `inner` is known to be included in `outer`.
    pub(super) fn is_within(
        &mut self,
        context: &EngineContext,
        pool: &mut Pool,
        query: &mut Query,
        inner: CubeId,
        outer: CubeId,
    ) -> bool {
        if inner == outer {
            return true;
        }
        let (i, o) = (self.get(inner), self.get(outer));
        if o.conjuncts.iter().all(|c| i.conjuncts.binary_search(c).is_ok()) {
            return true;
        }
        if o.bounds.exact && o.bounds.contains(&i.bounds) {
            return true;
        }
        if (o.bounds.exact && i.bounds.exact) || o.bounds.is_apart(&i.bounds) {
            return false;
        }
        if let Some(&known) = self.within.get(&(inner, outer)) {
            return known;
        }
        let outside = i.sample.as_ref().is_some_and(|s| self.holds(pool, outer, s) == Some(false));
        let known = !outside && {
            let (this, time_limit) = (
                i.term,
                if o.leftover.is_empty() {
                    LIMITS.inclusion_query
                } else {
                    LIMITS.quantified_query
                },
            );
            let other = self.closed(pool, outer);
            let other = pool.not(other);
            query.solve(context, pool, &[this, other], &[], time_limit) == Solved::Nothing
        };
        self.within.insert((inner, outer), known);
        known
    }

    /// True if `inner` is known to be included in the union of the others.
    pub(super) fn is_within_union(
        &mut self,
        context: &EngineContext,
        pool: &mut Pool,
        query: &mut Query,
        inner: CubeId,
        others: &[CubeId],
    ) -> bool {
        let i = self.get(inner);
        let apart = |c: &CubeId| self.get(*c).bounds.is_apart(&i.bounds);
        let near: Vec<CubeId> = others.iter().copied().filter(|c| !apart(c)).collect();
        if near.len() < 2 || near.iter().any(|&c| !self.get(c).leftover.is_empty()) {
            return false;
        }
        // The sample is a state of `inner` outside the union.
        if let Some(sample) = &i.sample
            && near.iter().all(|&c| self.holds(pool, c, sample) == Some(false))
        {
            return false;
        }
        let mut formulas = vec![i.term];
        for c in near {
            formulas.push(pool.not(self.get(c).term));
        }
        query.solve(context, pool, &formulas, &[], LIMITS.inclusion_query) == Solved::Nothing
    }

    /// The cube as a formula over state variables, with a quantifier if there are leftover symbols.
    pub(super) fn closed(&self, pool: &mut Pool, c: CubeId) -> TermId {
        let cube = self.get(c);
        quantified(pool, &cube.leftover, cube.term)
    }
}

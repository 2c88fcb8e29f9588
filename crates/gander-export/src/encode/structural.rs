//! Claims about guards and effects as properties of states (docs/semantics.md, section 3): *can
//! enable*, *no sinkhole*, *satisfiable start*, *completable* and *no deadlock*.
//!
//! A property may mention parameters of a step, which are then arbitrary values. Parameters and
//! next values that a claim quantifies in the other way are eliminated; if that is not possible,
//! there is no property.

use gander_system::{ClaimKind, NodeId, StartId, System, TransitionId};
use gander_term::{Pool, SymbolId, TermId};

use crate::Eliminate;
use crate::encode::flat::Property;

/// Makes properties of claims of a system.
pub(crate) struct Questions<'a> {
    pub system: &'a System,
    pub eliminate: Option<Eliminate>,
    /// True if every step whose guard holds can be completed.
    pub total: bool,
}

impl Questions<'_> {
    /// The property of a claim about guards or effects, over the variables of the flat system.
    pub(crate) fn property(&self, pool: &mut Pool, kind: &ClaimKind) -> Option<Property> {
        match *kind {
            ClaimKind::CanEnable(t) => {
                let guard = self.guard(pool, t);
                Some(Property::Reachable(guard))
            }
            ClaimKind::StartSatisfiable(s) => {
                let start = self.start(pool, s);
                Some(Property::Reachable(start))
            }
            ClaimKind::NoSinkhole(n) => {
                let some = self.enabled_at(pool, n)?;
                let here = self.at(pool, n);
                Some(Property::Always(pool.implies(here, some)))
            }
            ClaimKind::Completable(t) => {
                let effect = self.system.effect_term(pool, t);
                let next: Vec<SymbolId> = self.system.vars().iter().map(|v| v.next).collect();
                let solvable = self.exists(pool, &next, effect)?;
                let guard = self.guard(pool, t);
                Some(Property::Always(pool.implies(guard, solvable)))
            }
            ClaimKind::NoDeadlock if self.total => {
                let mut all = Vec::new();
                for n in self.system.node_ids().filter(|&n| !self.system.node(n).is_final) {
                    let some = self.enabled_at(pool, n)?;
                    let here = self.at(pool, n);
                    all.push(pool.implies(here, some));
                }
                Some(Property::Always(pool.and(all)))
            }
            _ => None,
        }
    }

    /// The formula that the system is at a node.
    fn at(&self, pool: &mut Pool, n: NodeId) -> TermId {
        if self.system.nodes().len() == 1 {
            return pool.tt();
        }
        let (here, place) = (self.system.node_constant(pool, n), pool.var(self.system.location()));
        pool.eq(place, here)
    }

    /// The guard of a transition, at its source.
    fn guard(&self, pool: &mut Pool, t: TransitionId) -> TermId {
        let here = self.at(pool, self.system.transition(t).source);
        let guard = self.system.guard_term(pool, t);
        pool.and([here, guard])
    }

    /// A start state satisfies the assumptions, and all reachable states do. So a start has a state
    /// iff some reachable state satisfies its constraint.
    fn start(&self, pool: &mut Pool, s: StartId) -> TermId {
        let here = self.at(pool, self.system.starts()[s.index()].target);
        let start = self.system.start_term(pool, s);
        pool.and([here, start])
    }

    /// The formula that some guard of a node holds for some parameters.
    fn enabled_at(&self, pool: &mut Pool, n: NodeId) -> Option<TermId> {
        let mut some = Vec::new();
        for &t in self.system.leaving(n) {
            let guard = self.system.guard_term(pool, t);
            let params: Vec<SymbolId> =
                self.system.transition(t).params.iter().map(|p| p.symbol).collect();
            some.push(self.exists(pool, &params, guard)?);
        }
        Some(pool.or(some))
    }

    fn exists(&self, pool: &mut Pool, symbols: &[SymbolId], body: TermId) -> Option<TermId> {
        let free = pool.free_symbols(&[body]);
        let bound: Vec<SymbolId> = symbols.iter().copied().filter(|s| free.contains(s)).collect();
        if bound.is_empty() {
            return Some(body);
        }
        let made = (self.eliminate?)(pool, &bound, body)?;
        (!pool.has_quantifier(made)).then_some(made)
    }
}

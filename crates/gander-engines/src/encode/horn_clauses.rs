//! A system and a question as constrained Horn clauses, with one predicate per node over the state
//! variables.

use std::sync::Arc;

use gander_smt::{Applied, HornClause};
use gander_system::{NodeId, StartId, TransitionId};
use gander_term::{Substitution, SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::encode::encoding::Encoding;
use crate::encode::question::{Place, Question};

/// The clauses of a question. Predicate `i` belongs to `nodes[i]`.
pub(crate) struct Clauses {
    pub nodes: Vec<NodeId>,
    pub predicates: Vec<Vec<SymbolId>>,
    pub clauses: Vec<HornClause>,
}

/// Bound variables for the current state, the next state and parameters.
struct Scope {
    now: Vec<SymbolId>,
    next: Vec<SymbolId>,
    map: FxHashMap<SymbolId, TermId>,
}

impl Scope {
    fn new(e: &mut Encoding) -> Scope {
        let system = Arc::clone(&e.system);
        let mut scope = Scope { now: Vec::new(), next: Vec::new(), map: FxHashMap::default() };
        for v in system.vars() {
            for (symbol, list) in [(v.current, &mut scope.now), (v.next, &mut scope.next)] {
                let bound = e.pool.declare_bound("s", v.sort);
                scope.map.insert(symbol, e.pool.var(bound));
                list.push(bound);
            }
        }
        scope
    }

    /// The formula over bound variables.
    fn bind(&mut self, e: &mut Encoding, formula: TermId) -> TermId {
        for s in e.pool.free_symbols(&[formula]) {
            self.map.entry(s).or_insert_with(|| {
                let bound = e.pool.declare_bound("y", e.pool.symbol(s).sort);
                e.pool.var(bound)
            });
        }
        Substitution::new(&mut e.pool, &self.map).apply(&mut e.pool, formula)
    }
}

/// `guard and effect and assumptions about the next state`, over shared parameters.
fn step(e: &mut Encoding, t: TransitionId) -> TermId {
    let system = Arc::clone(&e.system);
    let guard = system.guard_term(&mut e.pool, t);
    let effect = system.effect_term(&mut e.pool, t);
    let both = e.pool.and([guard, effect]);
    let both = e.with_shared(t, both);
    let assumption = system.assumption_term(&mut e.pool, system.transition(t).target);
    let map = system.vars().iter().map(|v| (v.current, e.pool.var(v.next))).collect();
    let assumption = e.pool.substitute(assumption, &map);
    e.pool.and([both, assumption])
}

/// The clauses of a question: starts, transitions, and the exclusion of targets.
pub(crate) fn clauses(e: &mut Encoding, question: &Question) -> Clauses {
    let system = Arc::clone(&e.system);
    let nodes = e.reachable_nodes();
    let predicate = |n: NodeId| nodes.binary_search(&n).ok();
    let mut clauses = Vec::new();
    for s in 0..system.starts().len() {
        let Some(at) = predicate(system.starts()[s].target) else { continue };
        let start = system.start_term(&mut e.pool, StartId::from(s));
        let assumption = system.assumption_term(&mut e.pool, system.starts()[s].target);
        let mut scope = Scope::new(e);
        let both = e.pool.and([start, assumption]);
        let constraint = scope.bind(e, both);
        clauses.push(HornClause {
            body: None,
            constraint,
            head: Some(Applied { predicate: at, arguments: scope.now }),
        });
    }
    for t in system.transition_ids() {
        let (source, target) = (system.transition(t).source, system.transition(t).target);
        let (Some(from), Some(to)) = (predicate(source), predicate(target)) else { continue };
        let step = step(e, t);
        let mut scope = Scope::new(e);
        let constraint = scope.bind(e, step);
        clauses.push(HornClause {
            body: Some(Applied { predicate: from, arguments: scope.now }),
            constraint,
            head: Some(Applied { predicate: to, arguments: scope.next }),
        });
    }
    for target in &question.targets {
        let (places, formula): (Vec<NodeId>, TermId) = match target.place {
            Place::Anywhere => (nodes.clone(), target.formula),
            Place::At(n) => (vec![n], target.formula),
            Place::Taking(t) => {
                let step = step(e, t);
                (vec![system.transition(t).source], e.pool.and([step, target.formula]))
            }
            Place::Beginning(_) => continue,
        };
        for at in places.into_iter().filter_map(predicate) {
            let mut scope = Scope::new(e);
            let constraint = scope.bind(e, formula);
            let body = Some(Applied { predicate: at, arguments: scope.now });
            clauses.push(HornClause { body, constraint, head: None });
        }
    }
    let predicates =
        nodes.iter().map(|_| system.vars().iter().map(|v| v.current).collect()).collect();
    Clauses { nodes, predicates, clauses }
}

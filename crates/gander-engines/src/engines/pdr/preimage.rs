//! Preimages: generalises a model of a step into a set of states to a cube of states that all have
//! a step into that set.

use std::sync::Arc;

use gander_system::{Effect, System, TransitionId};
use gander_term::{Op, Substitution, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::encode::encoding::Encoding;

use super::implicant::{CandidateTerms, Model, NotProjectable, implicant};
use super::project::{Projected, project};

/// The formulas that a step of a transition must satisfy, and the next values that it defines.
struct Step {
    candidate_terms: CandidateTerms,
    /// The guard, the constraints of the effect that are not definitions, and the assumptions about
    /// the next state.
    demands: Vec<TermId>,
}

/// See the module's documentation.
pub(super) struct Preimages {
    steps: Vec<Option<Step>>,
    kept: FxHashSet<SymbolId>,
    /// For each parameter, the symbol that represents it one step later.
    later: FxHashMap<SymbolId, SymbolId>,
}

impl Preimages {
    pub(super) fn new(e: &Encoding) -> Preimages {
        let steps = e.system.transitions().iter().map(|_| None).collect();
        let kept = e.system.vars().iter().map(|v| v.current).collect();
        Preimages { steps, kept, later: FxHashMap::default() }
    }

    /// The formula in the next state. Parameters are replaced by fresh symbols, see
    /// [`Preimages::later`].
    pub(super) fn next(&mut self, e: &mut Encoding, formula: TermId) -> TermId {
        let system = Arc::clone(&e.system);
        let mut map = FxHashMap::default();
        for s in e.pool.free_symbols(&[formula]) {
            if let Some(v) = system.vars().iter().find(|v| v.current == s) {
                map.insert(s, e.pool.var(v.next));
            } else {
                let later = *self.later.entry(s).or_insert_with(|| e.one_later(s));
                map.insert(s, e.pool.var(later));
            }
        }
        Substitution::new(&mut e.pool, &map).apply(&mut e.pool, formula)
    }

    /// Parameters with their symbols one step later.
    pub(super) fn later(&self) -> impl Iterator<Item = (SymbolId, SymbolId)> + '_ {
        self.later.iter().map(|(&now, &later)| (now, later))
    }

    /// A cube of states with a step of `t` in which all of `also` hold; these are formulas over
    /// both states and parameters. `model` is a model of such a step, and its state is in the cube.
    pub(super) fn cube(
        &mut self,
        e: &mut Encoding,
        t: TransitionId,
        also: &[TermId],
        model: &Model,
    ) -> Result<Projected, NotProjectable> {
        if self.steps[t.index()].is_none() {
            self.steps[t.index()] = Some(step(e, t, &self.kept));
        }
        let Some(step) = &mut self.steps[t.index()] else {
            return Err(NotProjectable("a transition"));
        };
        let mut roots = step.demands.clone();
        roots.extend_from_slice(also);
        let found = implicant(&mut e.pool, &mut step.candidate_terms, model, &roots)?;
        project(&mut e.pool, model, &self.kept, found)
    }
}

/// The definitions and demands of a transition.
fn step(e: &mut Encoding, t: TransitionId, kept: &FxHashSet<SymbolId>) -> Step {
    let system = Arc::clone(&e.system);
    let mut definitions: FxHashMap<SymbolId, TermId> = FxHashMap::default();
    let mut constraints: Vec<TermId> = Vec::new();
    for part in &system.transition(t).effect {
        match *part {
            Effect::Assign { var, value, .. } => {
                let value = e.with_shared(t, value.term());
                definitions.insert(system.var(var).next, value);
            }
            Effect::Keep { var, .. } => {
                let value = e.pool.var(system.var(var).current);
                definitions.insert(system.var(var).next, value);
            }
            Effect::Constrain { relation, .. } => {
                constraints.push(e.with_shared(t, relation.term()))
            }
        }
    }
    let mut demands: Vec<TermId> =
        system.transition(t).guard.iter().map(|g| g.term.term()).collect();
    demands = demands.into_iter().map(|g| e.with_shared(t, g)).collect();
    while let Some(c) = constraints.pop() {
        if e.pool.op(c) == Op::And {
            constraints.extend_from_slice(e.pool.args(c));
        } else if let Some((s, definition)) = defines(e, &system, &definitions, c) {
            definitions.insert(s, definition);
        } else {
            demands.push(c);
        }
    }
    let assumption = system.assumption_term(&mut e.pool, system.transition(t).target);
    let to_next = system.vars().iter().map(|v| (v.current, v.next)).collect::<Vec<_>>();
    let map = to_next.into_iter().map(|(now, next)| (now, e.pool.var(next))).collect();
    demands.push(e.pool.substitute(assumption, &map));
    Step { candidate_terms: CandidateTerms::new(kept.clone(), definitions), demands }
}

/// The definition in `x' = e`, if `x'` is not defined yet and `e` does not depend on it.
fn defines(
    e: &Encoding,
    system: &System,
    definitions: &FxHashMap<SymbolId, TermId>,
    constraint: TermId,
) -> Option<(SymbolId, TermId)> {
    if e.pool.op(constraint) != Op::Eq {
        return None;
    }
    let &[a, b] = e.pool.args(constraint) else { return None };
    for (side, other) in [(a, b), (b, a)] {
        let Some(s) = e.pool.as_symbol(side) else { continue };
        if system.vars().iter().any(|v| v.next == s) && !definitions.contains_key(&s) {
            let mut seen: FxHashSet<SymbolId> = FxHashSet::default();
            let mut stack = e.pool.free_symbols(&[other]);
            while let Some(x) = stack.pop() {
                if seen.insert(x) {
                    stack.extend(
                        definitions.get(&x).map(|&d| e.pool.free_symbols(&[d])).unwrap_or_default(),
                    );
                }
            }
            if !seen.contains(&s) {
                return Some((s, other));
            }
        }
    }
    None
}

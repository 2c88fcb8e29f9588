//! Values of operations that are not defined: when does a dataflow program read one?
//!
//! The front-end gives each such operation a variable with an arbitrary value
//! ([`UndefinedValue`](crate::UndefinedValue)), which the program reads only where the operation is
//! not defined. So a read is a subterm of an equation, assumption or claim whose value matters.

use gander_term::{Pool, Sort, SymbolId, TermId};
use rustc_hash::FxHashMap;

use super::divisors::matters;
use crate::formula::{StateTerm, StepTerm};
use crate::origin::{Element, ElementId, ElementInfo, ElementKind, ElementName};
use crate::system::{Effect, Numerals, Role, StateVar, System};

/// When an undefined value is read: a formula for the first instant, over its values, and one for
/// later instants, over the values of two instants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reads {
    /// At the first instant.
    pub first: TermId,
    /// At a later instant.
    pub later: TermId,
}

/// When the value of a variable is read; `None` if it never is, or the system is no dataflow
/// program.
pub(super) fn reads(system: &System, pool: &mut Pool, name: &str) -> Option<Reads> {
    let var = system.vars.iter().find(|v| v.name == name)?;
    let ([start], [step]) = (&system.starts[..], &system.transitions[..]) else { return None };
    let (current, next) = (var.current, var.next);
    let mut first: Vec<TermId> =
        start.constraint.iter().map(|e| matters(pool, e.term.term(), current)).collect();
    let mut later: Vec<TermId> = Vec::new();
    for effect in &step.effect {
        if let Effect::Constrain { relation, .. } = effect {
            later.push(matters(pool, relation.term(), next));
        }
    }
    let primed: FxHashMap<SymbolId, TermId> =
        system.vars.iter().map(|v| (v.current, pool.var(v.next))).collect();
    let mut everywhere: Vec<TermId> = system.assumptions.iter().map(|a| a.term.term()).collect();
    everywhere.extend(system.claims.iter().flat_map(|c| c.terms()));
    for term in everywhere {
        let here = matters(pool, term, current);
        first.push(here);
        later.push(pool.substitute(here, &primed));
    }
    let (first, later) = (pool.or(first), pool.or(later));
    let never = pool.as_bool(first) == Some(false) && pool.as_bool(later) == Some(false);
    (!never).then_some(Reads { first, later })
}

impl Reads {
    /// The formula about states that the value is read. Adds a variable to the system if that
    /// depends on two instants.
    pub(super) fn goal(self, system: &mut System, pool: &mut Pool) -> StateTerm {
        let is_current = |s: &SymbolId| system.vars.iter().any(|v| v.current == *s && v.next != *s);
        if !pool.free_symbols(&[self.later]).iter().any(is_current) {
            let names: FxHashMap<SymbolId, TermId> =
                system.vars.iter().map(|v| (v.next, pool.var(v.current))).collect();
            if pool.substitute(self.later, &names) == self.first {
                return StateTerm(self.first);
            }
        }
        let current = pool.declare_fresh("@undefined", Sort::Bool);
        let next = pool.declare_fresh(&format!("{}'", pool.symbol(current).name), Sort::Bool);
        let name = pool.symbol(current).name.clone();
        let (now, then) = (pool.var(current), pool.var(next));
        let (first, later) = (pool.eq(now, self.first), pool.eq(then, self.later));
        let mut element = |kind| {
            let id = ElementId(system.elements.len() as u32);
            let name = ElementName::Given(name.as_str().into());
            system.elements.push(ElementInfo { name, kind, span: None });
            id
        };
        let (at_first, at_step) = (element(ElementKind::Start), element(ElementKind::Constraint));
        system.vars.push(StateVar {
            name,
            sort: Sort::Bool,
            current,
            next,
            role: Role::State,
            range: None,
            stream: Some(crate::system::StreamKind::Internal),
            numerals: Numerals::default(),
            span: None,
        });
        for start in &mut system.starts {
            start.constraint.push(Element { id: at_first, term: StateTerm(first) });
        }
        for step in &mut system.transitions {
            step.effect.push(Effect::Constrain { id: at_step, relation: StepTerm(later) });
        }
        StateTerm(now)
    }
}

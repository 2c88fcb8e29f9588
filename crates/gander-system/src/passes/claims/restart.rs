//! Systems with the same steps but another claim, another start or fewer admissible states, for
//! evidence of the kinds possible, impossible and outside.

use gander_term::{Importer, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashSet;

use crate::claim::{Claim, ClaimKind, ClaimOrigin};
use crate::evidence::{NodeFormulas, State};
use crate::formula::StateTerm;
use crate::origin::{Element, ElementId, ElementInfo, ElementKind, ElementName};
use crate::system::{NodeId, Start, System};

/// The system with a single claim: every reachable state is in the set. `None` if the formulas are
/// not over this system.
pub fn within(system: &System, set: &NodeFormulas) -> Option<System> {
    let mut pool = Pool::fork(&system.pool);
    let inside = import(system, &mut pool, set)?;
    let formula = by_node(system, &mut pool, &inside);
    let mut new = system.clone();
    new.pool = pool.freeze();
    new.claims = vec![always(formula, "within")];
    Some(new)
}

/// The system whose runs stay outside of the set: no state of the set is admissible. `None` if the
/// formulas are not over this system.
pub fn outside(system: &System, set: &NodeFormulas) -> Option<System> {
    let mut pool = Pool::fork(&system.pool);
    let outside: Vec<TermId> =
        import(system, &mut pool, set)?.into_iter().map(|t| pool.not(t)).collect();
    let formula = by_node(system, &mut pool, &outside);
    let mut new = system.clone();
    new.pool = pool.freeze();
    let id = ElementId(new.elements.len() as u32);
    let name = ElementName::Given("outside".into());
    new.elements.push(ElementInfo { name, kind: ElementKind::Assumption, span: None });
    new.assumptions.push(Element { id, term: StateTerm(formula) });
    Some(new)
}

/// Imports the formulas of a set; `None` if they are not over this system.
fn import(system: &System, pool: &mut Pool, set: &NodeFormulas) -> Option<Vec<TermId>> {
    if set.by_node.len() != system.nodes.len()
        || set.by_node.iter().any(|t| t.index() >= set.pool.len())
    {
        return None;
    }
    let known: FxHashSet<SymbolId> = system.vars.iter().map(|v| v.current).collect();
    let mut importer = Importer::new();
    let mut here = Vec::with_capacity(set.by_node.len());
    for &t in set.by_node.iter() {
        let t = importer.import(pool, &set.pool, t).ok()?;
        if pool.sort(t) != Sort::Bool || !pool.free_symbols(&[t]).iter().all(|s| known.contains(s))
        {
            return None;
        }
        here.push(t);
    }
    Some(here)
}

/// The formula of a state that is the given one at each node.
fn by_node(system: &System, pool: &mut Pool, formulas: &[TermId]) -> TermId {
    if let [only] = formulas {
        return *only;
    }
    let mut parts = Vec::with_capacity(formulas.len());
    for (i, &t) in formulas.iter().enumerate() {
        let here = is_node(system, pool, NodeId::from(i));
        parts.push(pool.implies(here, t));
    }
    pool.and(parts)
}

/// The system with `state` as its only start state and a single claim: no reachable state satisfies
/// `never`. `None` if the values are not of this system.
pub fn started_at(system: &System, state: &State, never: StateTerm) -> Option<System> {
    if state.node.index() >= system.nodes.len() || state.values.len() != system.vars.len() {
        return None;
    }
    let mut pool = Pool::fork(&system.pool);
    let mut new = system.clone();
    let mut constraint = Vec::new();
    for (i, (v, value)) in system.vars.iter().zip(&state.values).enumerate() {
        if value.sort() != v.sort {
            return None;
        }
        let (x, value) = (pool.var(v.current), pool.constant(value.clone()));
        let id = ElementId(new.elements.len() as u32);
        let name = ElementName::OfStart(0.into(), i as u32 + 1);
        new.elements.push(ElementInfo { name, kind: ElementKind::Start, span: None });
        constraint.push(Element { id, term: StateTerm(pool.eq(x, value)) });
    }
    let formula = pool.not(never.term());
    new.pool = pool.freeze();
    new.starts = vec![Start { name: "there".into(), target: state.node, constraint, span: None }];
    new.claims = vec![always(formula, "never")];
    new.ambiguity = None;
    new.conditions.clear();
    Some(new)
}

fn always(formula: TermId, name: &str) -> Claim {
    Claim {
        name: name.into(),
        kind: ClaimKind::Always(StateTerm(formula)),
        origin: ClaimOrigin::Written,
        text: name.into(),
        span: None,
    }
}

fn is_node(system: &System, pool: &mut Pool, n: NodeId) -> TermId {
    let Sort::Enum(sort) = pool.symbol(system.location).sort else {
        unreachable!("a location is of an enumeration")
    };
    let (place, here) = (pool.var(system.location), pool.constant(Value::Enum(sort, n.0)));
    pool.eq(place, here)
}

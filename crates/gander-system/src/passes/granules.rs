//! A finer division of a model: conjuncts and branches of its formulas as elements of their own.
//!
//! `x = a and b` becomes `x = p and q`, `p = a` and `q = b`, with fresh symbols `p` and `q` that may have any value when their equations are
//! removed: the granular refinement of E. Ghassabani, Inductive Validity Cores (2020), section 6.3.1, for all formulas of a system. In starts
//! and assumptions the fresh symbol is an input, in transitions a parameter.
//!
//! Invariant: with all its elements the refined system has the runs of the system it was made of, with values for what is fresh. So
//! invariants of one are invariants of the other.

use gander_term::{Op, Pool, SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::formula::{ChoiceTerm, StateTerm, StepTerm};
use crate::origin::{Element, ElementId, ElementInfo, ElementName};
use crate::system::{Effect, Param, Role, StateVar, System};

/// How finely formulas are divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grain {
    /// Conjuncts.
    Conjuncts,
    /// Conjuncts, and the branches of conditional expressions.
    Branches,
}

/// Which part of a formula; parts are counted from one, with how many there are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Fork {
    /// One of its conjuncts.
    Conjunct(u32, u32),
    /// One of its branches: the value behind the n-th condition, or behind the last `else`.
    Branch(u32, u32),
}

/// An element of the refined system that is a part of an element of the system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Granule {
    /// The element of the refined system.
    pub element: ElementId,
    /// The element that it is a part of.
    pub of: ElementId,
    /// Which part.
    pub path: Vec<Fork>,
}

/// Parts of parts are divided to this depth.
const DEEPEST: usize = 8;
/// A formula is divided into so many places at most: written out, one that shares its parts can have more than anybody has memory for.
const MOST_PLACES: usize = 1_000;

/// A system that was divided.
#[derive(Clone, Debug)]
pub struct Divided {
    /// The system with elements for the parts of its formulas.
    pub system: System,
    /// Which elements these are.
    pub granules: Vec<Granule>,
    /// Elements that have more parts than were made: what was not divided is one part.
    pub cut_short: Vec<ElementId>,
}

/// A place in a formula that was divided.
struct Place {
    term: TermId,
    path: Vec<Fork>,
    /// What it is divided into; none for a part.
    parts: Vec<usize>,
}

/// The system with elements for the parts of its formulas.
pub fn granules(system: &System, grain: Grain) -> Divided {
    let mut refined = system.clone();
    let mut work =
        Work { pool: Pool::fork(&system.pool), grain, found: Vec::new(), elements: Vec::new(), cut_short: Vec::new() };
    let mut inputs: Vec<(SymbolId, TermId)> = Vec::new();
    work.elements.clone_from(&system.elements);
    for start in &mut refined.starts {
        let mut more = Vec::new();
        for e in &mut start.constraint {
            if let Some((spine, parts)) = work.divide(e.id, e.term.term()) {
                e.term = StateTerm(spine);
                more.extend(parts.iter().map(|p| Element { id: p.element, term: StateTerm(p.equation) }));
                inputs.extend(parts.iter().map(|p| (p.symbol, p.term)));
            }
        }
        start.constraint.extend(more);
    }
    let mut more = Vec::new();
    for e in &mut refined.assumptions {
        if let Some((spine, parts)) = work.divide(e.id, e.term.term()) {
            e.term = StateTerm(spine);
            more.extend(parts.iter().map(|p| Element { id: p.element, term: StateTerm(p.equation) }));
            inputs.extend(parts.iter().map(|p| (p.symbol, p.term)));
        }
    }
    refined.assumptions.extend(more);
    for t in &mut refined.transitions {
        let mut params = Vec::new();
        let mut guards = Vec::new();
        for e in &mut t.guard {
            if let Some((spine, parts)) = work.divide(e.id, e.term.term()) {
                e.term = ChoiceTerm(spine);
                guards.extend(parts.iter().map(|p| Element { id: p.element, term: ChoiceTerm(p.equation) }));
                params.extend(parts.iter().map(|p| (p.symbol, p.term)));
            }
        }
        t.guard.extend(guards);
        let mut effects = Vec::new();
        for e in &mut t.effect {
            let divided = match e {
                Effect::Keep { .. } => None,
                Effect::Assign { id, value, .. } => work.divide(*id, value.term()),
                Effect::Constrain { id, relation } => work.divide(*id, relation.term()),
            };
            let Some((spine, parts)) = divided else { continue };
            match e {
                Effect::Assign { value, .. } => *value = ChoiceTerm(spine),
                Effect::Constrain { relation, .. } => *relation = StepTerm(spine),
                Effect::Keep { .. } => {}
            }
            effects.extend(parts.iter().map(|p| Effect::Constrain { id: p.element, relation: StepTerm(p.equation) }));
            params.extend(parts.iter().map(|p| (p.symbol, p.term)));
        }
        t.effect.extend(effects);
        t.params.extend(params.into_iter().map(|(symbol, term)| Param {
            name: work.pool.symbol(symbol).name.clone(),
            sort: work.pool.sort(term),
            symbol,
            range: None,
        }));
    }
    for (current, term) in inputs {
        let name = work.pool.symbol(current).name.clone();
        let sort = work.pool.sort(term);
        let next = work.pool.declare_fresh(&format!("{name}'"), sort);
        refined.vars.push(StateVar {
            name,
            sort,
            current,
            next,
            role: Role::Input,
            range: None,
            stream: None,
            numerals: crate::system::Numerals::default(),
            span: None,
        });
    }
    refined.elements = work.elements;
    refined.pool = work.pool.freeze();
    Divided { system: refined, granules: work.found, cut_short: work.cut_short }
}

/// A part with its fresh symbol.
struct Part {
    element: ElementId,
    symbol: SymbolId,
    term: TermId,
    equation: TermId,
}

struct Work {
    pool: Pool,
    grain: Grain,
    found: Vec<Granule>,
    elements: Vec<ElementInfo>,
    cut_short: Vec<ElementId>,
}

impl Work {
    /// The formula with fresh symbols for its parts, and these; none if it has only one part.
    fn divide(&mut self, id: ElementId, formula: TermId) -> Option<(TermId, Vec<Part>)> {
        // An equation defines a variable: its other side is divided.
        let (root, rest) = match (self.pool.op(formula), self.pool.args(formula)) {
            (Op::Eq, &[left, right]) if self.pool.as_symbol(left).is_some() => (right, Some(left)),
            (Op::Eq, &[left, right]) if self.pool.as_symbol(right).is_some() => (left, Some(right)),
            _ => (formula, None),
        };
        let (places, all) = self.places(root);
        if !all {
            self.cut_short.push(id);
        }
        if places.len() < 3 {
            return None;
        }
        let mut parts = Vec::new();
        let mut new: FxHashMap<usize, TermId> = FxHashMap::default();
        for (i, place) in places.iter().enumerate().rev() {
            let term = if place.parts.is_empty() {
                let sort = self.pool.sort(place.term);
                let symbol = self.pool.declare_fresh(&format!("@part.{}.{i}", id.0), sort);
                let var = self.pool.var(symbol);
                let element = ElementId(self.elements.len() as u32);
                let info = &self.elements[id.index()];
                let name = ElementName::Given(format!("@part.{}.{i}", id.0).into());
                let info = ElementInfo { name, kind: info.kind, span: info.span };
                self.elements.push(info);
                self.found.push(Granule { element, of: id, path: place.path.clone() });
                parts.push(Part { element, symbol, term: place.term, equation: self.pool.eq(var, place.term) });
                var
            } else {
                self.rebuilt(place, &new)
            };
            new.insert(i, term);
        }
        let spine = new[&0];
        let spine = match rest {
            Some(left) => self.pool.eq(left, spine),
            None => spine,
        };
        Some((spine, parts))
    }

    /// The formula of a place, of those of its parts.
    fn rebuilt(&mut self, place: &Place, new: &FxHashMap<usize, TermId>) -> TermId {
        if self.pool.op(place.term) == Op::And {
            let args: Vec<TermId> = place.parts.iter().map(|p| new[p]).collect();
            return self.pool.and(args);
        }
        let mut conditions = Vec::new();
        let mut at = place.term;
        while conditions.len() + 1 < place.parts.len()
            && let (Op::Ite, &[c, _, otherwise]) = (self.pool.op(at), self.pool.args(at))
        {
            conditions.push(c);
            at = otherwise;
        }
        let mut values = place.parts.iter().map(|p| new[p]).rev();
        let last = values.next().unwrap_or(at);
        conditions.into_iter().rev().zip(values).fold(last, |rest, (c, value)| self.pool.ite(c, value, rest))
    }

    /// The places of a formula that is divided, what is divided before its parts; only the first if it is not. False beside them
    /// if there are more.
    fn places(&self, root: TermId) -> (Vec<Place>, bool) {
        let mut all = true;
        let mut places = vec![Place { term: root, path: Vec::new(), parts: Vec::new() }];
        let mut i = 0;
        while i < places.len() {
            let (term, path) = (places[i].term, places[i].path.clone());
            let room = MOST_PLACES.saturating_sub(places.len());
            let parts = if path.len() < DEEPEST { self.parts_of(term, room) } else { Some(Vec::new()) };
            all &= parts.is_some();
            let parts = parts.unwrap_or_default();
            if parts.len() > 1 {
                let fork = |n: usize| match self.pool.op(term) {
                    Op::And => Fork::Conjunct(n as u32 + 1, parts.len() as u32),
                    _ => Fork::Branch(n as u32 + 1, parts.len() as u32),
                };
                for (n, &term) in parts.iter().enumerate() {
                    let path = path.iter().copied().chain([fork(n)]).collect();
                    let at = places.len();
                    places[i].parts.push(at);
                    places.push(Place { term, path, parts: Vec::new() });
                }
            }
            i += 1;
        }
        (places, all)
    }

    /// The conjuncts or branches of a term; none if they are more than `most`.
    fn parts_of(&self, term: TermId, most: usize) -> Option<Vec<TermId>> {
        match self.pool.op(term) {
            Op::And => {
                let mut parts = Vec::new();
                let mut stack = vec![term];
                while let Some(t) = stack.pop() {
                    match self.pool.op(t) {
                        Op::And => stack.extend(self.pool.args(t).iter().rev()),
                        _ => parts.push(t),
                    }
                    if parts.len() + stack.len() > most {
                        return None;
                    }
                }
                Some(parts)
            }
            Op::Ite if self.grain == Grain::Branches => {
                let mut parts = Vec::new();
                let mut at = term;
                while let (Op::Ite, &[_, then, otherwise]) = (self.pool.op(at), self.pool.args(at)) {
                    parts.push(then);
                    at = otherwise;
                    if parts.len() >= most {
                        return None;
                    }
                }
                parts.push(at);
                Some(parts)
            }
            _ => Some(Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use gander_term::Sort;

    use super::*;
    use crate::builder::SystemBuilder;

    /// `x := d(depth)` with `d(0) = x` and `d(i + 1) = (d(i) and y) and (y and d(i))`: two to the power of `depth` conjuncts, few terms.
    fn shared(depth: u32) -> System {
        let mut b = SystemBuilder::new("shared", Pool::new(), &[("N", None)]).unwrap();
        let x = b.var("x", Sort::Bool, Role::State, None, None).unwrap();
        let y = b.var("y", Sort::Bool, Role::State, None, None).unwrap();
        let symbols = [x, y].map(|v| b.so_far().var(v).current);
        let [here, other] = symbols.map(|s| b.pool.var(s));
        let mut term = here;
        for _ in 0..depth {
            // Other operands each time, or else it is simplified.
            let left = b.pool.mk(Op::And, &[term, other]).unwrap();
            let right = b.pool.mk(Op::And, &[other, term]).unwrap();
            term = b.pool.mk(Op::And, &[left, right]).unwrap();
        }
        b.start("s", 0.into(), &[(here, None)], None).unwrap();
        let mut draft = b.transition("t", None, 0.into(), 0.into(), None).unwrap();
        b.assign(&mut draft, x, term, None).unwrap();
        b.add(draft).unwrap();
        b.finish()
    }

    #[test]
    fn a_formula_that_shares_its_parts_is_not_written_out() {
        for (depth, whole) in [(3, true), (60, false)] {
            let divided = granules(&shared(depth), Grain::Branches);
            assert!(divided.granules.len() <= MOST_PLACES, "{}", divided.granules.len());
            assert_eq!(divided.cut_short.is_empty(), whole);
            assert_eq!(divided.granules.is_empty(), !whole);
        }
    }
}

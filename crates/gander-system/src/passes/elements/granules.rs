//! Granular refinement: conjuncts, branches or all operations of formulas become separate elements.
//!
//! `x = a and b` becomes `x = p and q`, `p = a` and `q = b`, with fresh symbols `p` and `q` that
//! may have any value when their equations are removed: the granular refinement of E. Ghassabani,
//! Inductive Validity Cores (2020), section 6.3.1, for all formulas of a system. In starts and
//! assumptions the fresh symbol is an input, in transitions a parameter.
//!
//! Invariant: with all its elements, the refined system has the runs of the old one, extended with
//! values of the fresh symbols. So invariants of one are invariants of the other.

use gander_term::{Op, Pool, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::formula::{ChoiceTerm, StateTerm, StepTerm};
use crate::origin::{Element, ElementId, ElementInfo, ElementName, Span};
use crate::system::{Effect, Param, Role, StateVar, System};

/// How finely formulas are divided.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Grain {
    /// Conjuncts.
    Conjuncts,
    /// Conjuncts, and the branches of conditional expressions, also of those inside other
    /// operations.
    Branches,
    /// Every operation, every constant and every use of a variable: totally decomposed.
    Operations,
}

/// A part of a formula: its number, counted from one, and the number of parts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Fork {
    /// One of its conjuncts.
    Conjunct(u32, u32),
    /// One of its branches: the value of the n-th condition, or of the last `else`.
    Branch(u32, u32),
    /// The n-th condition of a conditional expression; the second number is that of its branches.
    Condition(u32, u32),
    /// One of the operands of another operation.
    Operand(u32, u32),
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

/// What the names of the symbols of parts begin with.
const PART: &str = "@part.";

/// True for the name of a symbol that [`granules`] made for a part of a formula.
pub fn is_part_symbol(name: &str) -> bool {
    name.starts_with(PART)
}

/// The depth to which parts are divided.
const DEEPEST: usize = 64;
/// The number of places of one formula. A formula with shared subterms can have exponentially many.
const MAX_PLACES: usize = 1_000;

/// A system that was divided.
#[derive(Clone, Debug)]
pub struct Divided {
    /// The system with elements for the parts of its formulas.
    pub system: System,
    /// Which elements these are.
    pub granules: Vec<Granule>,
    /// Elements with more parts than the limit; what is not divided is one part.
    pub cut_short: Vec<ElementId>,
}

/// A place in a formula that was divided.
struct Place {
    term: TermId,
    path: Vec<Fork>,
    /// The places of its parts, and which parts these are; empty if it is not divided.
    parts: Vec<(Fork, usize)>,
}

/// The system with elements for the parts of its formulas. `has_conditional`: whether a conditional
/// expression is written at a place. Others, such as that of a division by zero or of an index out
/// of range, belong to an operation and are not divided.
pub fn granules(system: &System, grain: Grain, has_conditional: impl Fn(Span) -> bool) -> Divided {
    let mut refined = system.clone();
    let mut work = Work {
        pool: Pool::fork(&system.pool),
        grain,
        is_conditional_written: true,
        undefined: undefined_symbols(system),
        has_conditional: &has_conditional,
        found: Vec::new(),
        elements: Vec::new(),
        cut_short: Vec::new(),
    };
    let mut inputs: Vec<(SymbolId, TermId)> = Vec::new();
    work.elements.clone_from(&system.elements);
    for start in &mut refined.starts {
        let mut more = Vec::new();
        for e in &mut start.constraint {
            if let Some((spine, parts)) = work.divide(e.id, e.term.term()) {
                e.term = StateTerm(spine);
                more.extend(
                    parts.iter().map(|p| Element { id: p.element, term: StateTerm(p.equation) }),
                );
                inputs.extend(parts.iter().map(|p| (p.symbol, p.term)));
            }
        }
        start.constraint.extend(more);
    }
    let mut more = Vec::new();
    for e in &mut refined.assumptions {
        if let Some((spine, parts)) = work.divide(e.id, e.term.term()) {
            e.term = StateTerm(spine);
            more.extend(
                parts.iter().map(|p| Element { id: p.element, term: StateTerm(p.equation) }),
            );
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
                guards.extend(
                    parts.iter().map(|p| Element { id: p.element, term: ChoiceTerm(p.equation) }),
                );
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
            effects.extend(
                parts
                    .iter()
                    .map(|p| Effect::Constrain { id: p.element, relation: StepTerm(p.equation) }),
            );
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

/// The symbols of undefined values, such as that of a division by zero.
fn undefined_symbols(system: &System) -> FxHashSet<SymbolId> {
    let names: FxHashSet<&str> = system.undefined_values().iter().map(|u| u.var.as_str()).collect();
    let undefined = system.vars().iter().filter(|v| names.contains(v.name.as_str()));
    undefined.map(|v| v.current).collect()
}

struct Work<'a> {
    pool: Pool,
    grain: Grain,
    /// Whether a conditional expression is written in the element at hand.
    is_conditional_written: bool,
    undefined: FxHashSet<SymbolId>,
    has_conditional: &'a dyn Fn(Span) -> bool,
    found: Vec<Granule>,
    elements: Vec<ElementInfo>,
    cut_short: Vec<ElementId>,
}

impl Work<'_> {
    /// The formula with fresh symbols for its parts, and the parts; `None` if it has only one part.
    fn divide(&mut self, id: ElementId, formula: TermId) -> Option<(TermId, Vec<Part>)> {
        let span = self.elements[id.index()].span;
        self.is_conditional_written = span.is_none_or(self.has_conditional);
        // In the equation of a variable the other side is divided.
        let (root, rest) = match (self.pool.op(formula), self.pool.args(formula)) {
            (Op::Eq, &[left, right]) if self.pool.as_symbol(left).is_some() => (right, Some(left)),
            (Op::Eq, &[left, right]) if self.pool.as_symbol(right).is_some() => (left, Some(right)),
            _ => (formula, None),
        };
        let (places, all) = self.places(root);
        if !all {
            self.cut_short.push(id);
        }
        if places.len() < 2 {
            return None;
        }
        let mut parts = Vec::new();
        let mut new: FxHashMap<usize, TermId> = FxHashMap::default();
        for (i, place) in places.iter().enumerate().rev() {
            let content =
                if place.parts.is_empty() { place.term } else { self.rebuilt(place, &new) };
            // Operators belong to the whole formula, unless each of them is a part.
            let is_part = place.parts.is_empty() || (self.grain == Grain::Operations && i > 0);
            let term = if is_part {
                let sort = self.pool.sort(place.term);
                let symbol = self.pool.declare_fresh(&format!("{PART}{}.{i}", id.0), sort);
                let var = self.pool.var(symbol);
                let element = ElementId(self.elements.len() as u32);
                let info = &self.elements[id.index()];
                let name = ElementName::Given(format!("{PART}{}.{i}", id.0).into());
                let info = ElementInfo { name, kind: info.kind, span: info.span };
                self.elements.push(info);
                self.found.push(Granule { element, of: id, path: place.path.clone() });
                parts.push(Part {
                    element,
                    symbol,
                    term: place.term,
                    equation: self.pool.eq(var, content),
                });
                var
            } else {
                content
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

    /// The formula of a place, rebuilt from those of its parts.
    fn rebuilt(&mut self, place: &Place, new: &FxHashMap<usize, TermId>) -> TermId {
        let part = |fork: Fork| place.parts.iter().find(|(f, _)| *f == fork).map(|(_, p)| new[p]);
        match self.pool.op(place.term) {
            Op::And => {
                let args: Vec<TermId> = place.parts.iter().map(|(_, p)| new[p]).collect();
                self.pool.and(args)
            }
            Op::Ite if let Some((quotient, divisor)) = self.division(place.term) => {
                let args = self.pool.args(quotient).to_vec();
                let n = args.len() as u32;
                let new_arg = |(i, old): (u32, &TermId)| part(Fork::Operand(i, n)).unwrap_or(*old);
                let new: Vec<TermId> = (1..).zip(&args).map(new_arg).collect();
                let [condition, undefined] = [0, 1].map(|i| self.pool.args(place.term)[i]);
                let sides = [0, 1].map(|i| self.pool.args(condition)[i]);
                let [a, b] = sides.map(|side| if side == divisor { new[1] } else { side });
                let condition = self.pool.eq(a, b);
                let op = self.pool.op(quotient);
                let value = self.pool.mk(op, &new).unwrap_or(quotient);
                self.pool.ite(condition, undefined, value)
            }
            Op::Ite => {
                let (conditions, values) = self.cases(place.term);
                let n = values.len() as u32;
                let new_or = |fork: Fork, old: TermId| part(fork).unwrap_or(old);
                let mut cases: Vec<(TermId, TermId)> = Vec::new();
                for (i, (&c, &v)) in (1..).zip(conditions.iter().zip(&values)) {
                    cases.push((new_or(Fork::Condition(i, n), c), new_or(Fork::Branch(i, n), v)));
                }
                let last = values.last().copied().unwrap_or(place.term);
                let last = new_or(Fork::Branch(n, n), last);
                cases.into_iter().rev().fold(last, |rest, (c, v)| self.pool.ite(c, v, rest))
            }
            op => {
                let mut args = self.pool.args(place.term).to_vec();
                let n = args.len() as u32;
                for (i, arg) in (1..).zip(&mut args) {
                    if let Some(new) = part(Fork::Operand(i, n)) {
                        *arg = new;
                    }
                }
                // The operands have the sorts of the old ones.
                self.pool.mk(op, &args).unwrap_or(place.term)
            }
        }
    }

    /// True if the author did not write this conditional expression.
    fn is_added(&self, term: TermId) -> bool {
        let is_undefined =
            |t: &TermId| self.pool.as_symbol(*t).is_some_and(|s| self.undefined.contains(&s));
        !self.is_conditional_written || self.cases(term).1.iter().any(is_undefined)
    }

    /// If the term is a division with an undefined value for the divisor zero: the quotient, and
    /// the divisor.
    fn division(&self, term: TermId) -> Option<(TermId, TermId)> {
        let (Op::Ite, &[condition, undefined, quotient]) =
            (self.pool.op(term), self.pool.args(term))
        else {
            return None;
        };
        let symbol = self.pool.as_symbol(undefined)?;
        let (Op::Div | Op::IntDiv | Op::Mod, &[_, divisor]) =
            (self.pool.op(quotient), self.pool.args(quotient))
        else {
            return None;
        };
        let of_divisor =
            self.pool.op(condition) == Op::Eq && self.pool.args(condition).contains(&divisor);
        (self.undefined.contains(&symbol) && of_divisor).then_some((quotient, divisor))
    }

    /// The conditions of a conditional expression, and its values, one more.
    fn cases(&self, term: TermId) -> (Vec<TermId>, Vec<TermId>) {
        let (mut conditions, mut values) = (Vec::new(), Vec::new());
        let mut at = term;
        while let (Op::Ite, &[c, then, otherwise]) = (self.pool.op(at), self.pool.args(at)) {
            conditions.push(c);
            values.push(then);
            at = otherwise;
        }
        values.push(at);
        (conditions, values)
    }

    /// The places of a formula, each before its parts; only the root if it is not divided. The flag
    /// is false if some place is not divided because of a limit.
    fn places(&self, root: TermId) -> (Vec<Place>, bool) {
        let mut all = true;
        let conditional = self.conditional(root);
        let mut places = vec![Place { term: root, path: Vec::new(), parts: Vec::new() }];
        let mut i = 0;
        while i < places.len() {
            let (term, path) = (places[i].term, places[i].path.clone());
            let room = MAX_PLACES.saturating_sub(places.len());
            let parts = self.parts_of(term, room, &conditional);
            let fits = parts.as_ref().is_some_and(|p| p.is_empty() || path.len() < DEEPEST);
            all &= fits;
            for (fork, term) in parts.filter(|_| fits).unwrap_or_default() {
                let path = path.iter().copied().chain([fork]).collect();
                let at = places.len();
                places[i].parts.push((fork, at));
                places.push(Place { term, path, parts: Vec::new() });
            }
            i += 1;
        }
        (places, all)
    }

    /// The subterms of a formula that contain a conditional expression, outside quantifiers.
    fn conditional(&self, root: TermId) -> FxHashSet<TermId> {
        let mut found = FxHashSet::default();
        if self.grain != Grain::Branches {
            return found;
        }
        for t in self.pool.postorder(&[root]) {
            let op = self.pool.op(t);
            let within = || self.pool.args(t).iter().any(|a| found.contains(a));
            let is_conditional = op == Op::Ite && !self.is_added(t);
            let may_contain = match op {
                Op::Forall | Op::Exists => false,
                Op::Ite => is_conditional || self.division(t).is_some(),
                _ => true,
            };
            if is_conditional || (may_contain && within()) {
                found.insert(t);
            }
        }
        found
    }

    /// The parts of a term; `None` if there are more than `most`.
    fn parts_of(
        &self,
        term: TermId,
        most: usize,
        conditional: &FxHashSet<TermId>,
    ) -> Option<Vec<(Fork, TermId)>> {
        let term = self.division(term).map_or(term, |(quotient, _)| quotient);
        let parts: Vec<(Fork, TermId)> = match self.pool.op(term) {
            Op::Ite if self.is_added(term) => Vec::new(),
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
                let n = parts.len() as u32;
                (1..).zip(parts).map(|(i, t)| (Fork::Conjunct(i, n), t)).collect()
            }
            Op::Ite if self.grain >= Grain::Branches => {
                let (conditions, values) = self.cases(term);
                let n = values.len() as u32;
                let divided =
                    |c: &TermId| self.grain == Grain::Operations || conditional.contains(c);
                let conditions = (1..).zip(conditions).filter(|(_, c)| divided(c));
                let conditions = conditions.map(|(i, c)| (Fork::Condition(i, n), c));
                let values = (1..).zip(values).map(|(i, v)| (Fork::Branch(i, n), v));
                conditions.chain(values).collect()
            }
            // A value of a quantified symbol cannot be moved out of its quantifier.
            Op::Forall | Op::Exists => Vec::new(),
            _ if self.grain >= Grain::Branches => {
                let args = self.pool.args(term);
                let n = args.len() as u32;
                // A constant factor stays: a product of two variables is harder to reason about.
                let factor = |t: &TermId| {
                    matches!(self.pool.op(*t), Op::Const(_))
                        && matches!(
                            self.pool.op(term),
                            Op::Mul | Op::Div | Op::IntDiv | Op::Mod | Op::Pow
                        )
                };
                let divided = |t: &TermId| match self.grain {
                    Grain::Operations => !factor(t),
                    Grain::Conjuncts | Grain::Branches => conditional.contains(t),
                };
                let args = (1..).zip(args.iter().copied()).filter(|(_, t)| divided(t));
                args.map(|(i, t)| (Fork::Operand(i, n), t)).collect()
            }
            _ => Vec::new(),
        };
        (parts.len() <= most).then_some(parts)
    }
}

#[cfg(test)]
mod tests {
    use gander_term::Sort;

    use super::*;
    use crate::builder::SystemBuilder;

    /// `x := d(depth)` with `d(0) = x` and `d(i + 1) = (d(i) and y) and (y and d(i))`: two to the
    /// power of `depth` conjuncts, few terms.
    fn shared(depth: u32) -> System {
        let mut b = SystemBuilder::new("shared", Pool::new(), &[("N", None)]).unwrap();
        let x = b.var("x", Sort::Bool, Role::State, None, None).unwrap();
        let y = b.var("y", Sort::Bool, Role::State, None, None).unwrap();
        let symbols = [x, y].map(|v| b.so_far().var(v).current);
        let [here, other] = symbols.map(|s| b.pool.var(s));
        let mut term = here;
        for _ in 0..depth {
            // Different operands, as equal ones would be simplified.
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
    fn a_formula_with_shared_subterms_is_divided_up_to_the_limit() {
        for (depth, whole) in [(3, true), (60, false)] {
            let divided = granules(&shared(depth), Grain::Branches, |_| true);
            assert!(divided.granules.len() <= MAX_PLACES, "{}", divided.granules.len());
            assert_eq!(divided.cut_short.is_empty(), whole);
            assert_eq!(divided.granules.is_empty(), !whole);
        }
    }
}

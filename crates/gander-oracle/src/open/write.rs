//! Writes a sketch as a system: for the open size with arrays, quantifiers and a constant without a
//! value; for a given size with a variable for each element and all quantifiers expanded. Nothing
//! is simplified.

use gander_system::{
    BuildError, ClaimKind, ClaimOrigin, Goal, NodeId, Role, System, SystemBuilder, TransitionDraft,
    VarId,
};
use gander_term::{Op, Pool, Sort, SymbolId, TermId};
use rustc_hash::FxHashMap;

use super::sketch::{
    Beginning, Change, Content, Domain, ELEMENTS, Elements, Formula, Index, Next, Number, Relation,
    SCALARS, Sketch, Step,
};

/// A variable with its symbols.
#[derive(Clone, Copy)]
struct Cell {
    id: VarId,
    current: SymbolId,
    next: SymbolId,
}

/// The state in which variables are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Now,
    Then,
}

struct Writer<'s> {
    sketch: &'s Sketch,
    /// The given size.
    size: Option<i64>,
    builder: SystemBuilder,
    /// The variables for the open sizes: the first one, and the second one.
    sizes: Vec<Cell>,
    scalars: Vec<Cell>,
    /// By array: its variable, or those of its elements.
    arrays: Vec<Vec<Cell>>,
    /// The bound variables in scope: a variable, or a value.
    bound: FxHashMap<usize, TermId>,
    values: FxHashMap<usize, i64>,
}

/// The system of a sketch, for the open size or a given one. The variables of the open sizes come
/// first.
pub(super) fn write(sketch: &Sketch, size: Option<i64>) -> Result<System, BuildError> {
    let names: Vec<String> = (0..sketch.nodes).map(|i| format!("N{i}")).collect();
    let names: Vec<(&str, _)> = names.iter().map(|n| (n.as_str(), None)).collect();
    let builder = SystemBuilder::new("open", Pool::new(), &names)?;
    let mut writer = Writer {
        sketch,
        size,
        builder,
        sizes: Vec::new(),
        scalars: Vec::new(),
        arrays: Vec::new(),
        bound: FxHashMap::default(),
        values: FxHashMap::default(),
    };
    writer.declare()?;
    writer.start()?;
    for (i, step) in sketch.steps.iter().enumerate() {
        writer.step(i, step)?;
    }
    for (i, (formula, always)) in sketch.claims.iter().enumerate() {
        let formula = writer.formula(formula);
        let formula = writer.builder.state_formula(formula, "claim")?;
        let kind = if *always {
            ClaimKind::Always(formula)
        } else {
            ClaimKind::Reachable(vec![Goal::State(formula)])
        };
        writer.builder.claim(&format!("claim{i}"), kind, ClaimOrigin::Written, "", None)?;
    }
    writer.builder.claim("no deadlock", ClaimKind::NoDeadlock, ClaimOrigin::Written, "", None)?;
    Ok(writer.builder.finish().with_structural_claims())
}

impl Writer<'_> {
    fn mk(&mut self, op: Op, args: &[TermId]) -> TermId {
        self.builder.pool.mk(op, args).expect("sketches are well-sorted")
    }

    fn int(&mut self, i: i64) -> TermId {
        self.builder.pool.int(i)
    }

    fn cell(&mut self, name: &str, sort: Sort, role: Role) -> Result<Cell, BuildError> {
        let id = self.builder.var(name, sort, role, None, None)?;
        let var = self.builder.so_far().var(id);
        Ok(Cell { id, current: var.current, next: var.next })
    }

    fn declare(&mut self) -> Result<(), BuildError> {
        if self.size.is_none() {
            let two = self.sketch.second.contains(&true);
            for name in ["n", "m"].into_iter().take(if two { 2 } else { 1 }) {
                let cell = self.cell(name, Sort::Int, Role::State)?;
                self.sizes.push(cell);
            }
        }
        for i in 0..self.sketch.scalars {
            let cell = self.cell(&format!("x{i}"), Sort::Int, Role::State)?;
            self.scalars.push(cell);
        }
        for (a, elements) in self.sketch.arrays.iter().enumerate() {
            let sort = if *elements == Elements::Numbers { Sort::Int } else { Sort::Bool };
            let role = if self.sketch.inputs[a] { Role::Input } else { Role::State };
            let cells = match self.size {
                Some(size) => (0..size)
                    .map(|i| self.cell(&format!("a{a}_{i}"), sort, role))
                    .collect::<Result<_, _>>()?,
                None => {
                    let sort =
                        self.builder.pool.array_sort(Sort::Int, sort).expect("a sort of arrays");
                    vec![self.cell(&format!("a{a}"), sort, role)?]
                }
            };
            self.arrays.push(cells);
        }
        // Inputs have small elements in every state.
        for (a, domain) in self.sketch.ranges.iter().enumerate() {
            if self.sketch.inputs[a] && self.sketch.arrays[a] == Elements::Numbers {
                let formula =
                    self.every_element(a, *domain, &mut |w, index| w.small(a, index, When::Now));
                let formula = self.builder.state_formula(formula, "elements")?;
                self.builder.assumption(&format!("elements of a{a}"), formula, None);
            }
        }
        Ok(())
    }

    /// `0 <= e and e < 3`
    fn small(&mut self, array: usize, index: Index, when: When) -> TermId {
        let element = self.element(array, index, when);
        let (zero, most) = (self.int(0), self.int(ELEMENTS));
        let (low, high) = (self.mk(Op::Le, &[zero, element]), self.mk(Op::Lt, &[element, most]));
        self.mk(Op::And, &[low, high])
    }

    fn start(&mut self) -> Result<(), BuildError> {
        let mut conjuncts = Vec::new();
        for size in self.sizes.clone() {
            let (one, n) = (self.int(1), self.builder.pool.var(size.current));
            conjuncts.push(self.mk(Op::Le, &[one, n]));
        }
        for scalar in self.scalars.clone() {
            let (zero, x) = (self.int(0), self.builder.pool.var(scalar.current));
            conjuncts.push(self.mk(Op::Eq, &[x, zero]));
        }
        for (a, (domain, how)) in self.sketch.first.iter().enumerate() {
            let formula = self.every_element(a, *domain, &mut |w, index| match how {
                Beginning::Is(content) => w.has(a, index, When::Now, content),
                Beginning::Open if w.sketch.arrays[a] == Elements::Numbers => {
                    w.small(a, index, When::Now)
                }
                Beginning::Open => {
                    let element = w.element(a, index, When::Now);
                    let not = w.mk(Op::Not, &[element]);
                    w.mk(Op::Or, &[element, not])
                }
            });
            conjuncts.push(formula);
        }
        let conjuncts: Vec<_> = conjuncts.into_iter().map(|c| (c, None)).collect();
        self.builder.start("begin", NodeId(0), &conjuncts, None)?;
        Ok(())
    }

    /// The formula that an element has a value.
    fn has(&mut self, array: usize, index: Index, when: When, content: &Content) -> TermId {
        let element = self.element(array, index, when);
        let value = self.content(content);
        self.mk(Op::Eq, &[element, value])
    }

    fn content(&mut self, content: &Content) -> TermId {
        match content {
            Content::Number(number) => self.number(number),
            Content::Flag(formula) => self.formula(formula),
        }
    }

    fn step(&mut self, i: usize, step: &Step) -> Result<(), BuildError> {
        let (source, target) = (NodeId(step.source), NodeId(step.target));
        let mut draft = self.builder.transition(&format!("t{i}"), None, source, target, None)?;
        if let Some(guard) = &step.guard {
            let guard = self.formula(guard);
            self.builder.guard(&mut draft, guard, None)?;
        }
        for (scalar, value) in self.scalars.clone().into_iter().zip(&step.scalars) {
            match value {
                None => {}
                Some(Next::Is(value)) => {
                    let value = self.number(value);
                    self.builder.assign(&mut draft, scalar.id, value, None)?;
                }
                Some(Next::Above(value)) => {
                    let value = self.number(value);
                    let (next, zero, most) =
                        (self.builder.pool.var(scalar.next), self.int(0), self.int(SCALARS));
                    for (op, a, b) in
                        [(Op::Le, zero, next), (Op::Lt, next, most), (Op::Lt, value, next)]
                    {
                        let relation = self.mk(op, &[a, b]);
                        self.builder.constrain(&mut draft, relation, None)?;
                    }
                }
            }
        }
        for (a, change) in step.arrays.iter().enumerate() {
            self.change(&mut draft, a, change)?;
        }
        self.builder.add(draft)?;
        Ok(())
    }

    fn change(
        &mut self,
        draft: &mut TransitionDraft,
        a: usize,
        change: &Change,
    ) -> Result<(), BuildError> {
        match change {
            Change::Keep => {}
            Change::Every(domain, content) => {
                let formula = self.every_element(a, *domain, &mut |w, index| {
                    w.has(a, index, When::Then, content)
                });
                self.builder.constrain(draft, formula, None)?;
            }
            Change::Perhaps(domain, content) => {
                let numbers = self.sketch.arrays[a] == Elements::Numbers;
                let formula = self.every_element(a, *domain, &mut |w, index| {
                    let (old, new) =
                        (w.element(a, index, When::Now), w.element(a, index, When::Then));
                    let (same, other) =
                        (w.mk(Op::Eq, &[new, old]), w.has(a, index, When::Then, content));
                    let either = w.mk(Op::Or, &[same, other]);
                    if !numbers {
                        return either;
                    }
                    let small = w.small(a, index, When::Then);
                    w.mk(Op::And, &[small, either])
                });
                self.builder.constrain(draft, formula, None)?;
            }
            Change::Store(index, content) => {
                let value = self.content(content);
                let (array, value) = if self.size.is_some() {
                    let at = self.value(*index).unwrap_or(0);
                    (self.arrays[a][at as usize], value)
                } else {
                    let array = self.arrays[a][0];
                    let (old, index) =
                        (self.builder.pool.var(array.current), self.index(a, *index));
                    (array, self.mk(Op::Store, &[old, index, value]))
                };
                self.builder.assign(draft, array.id, value, None)?;
            }
        }
        Ok(())
    }

    /// A formula about every element of an array.
    fn every_element(
        &mut self,
        array: usize,
        domain: Domain,
        about: &mut dyn FnMut(&mut Self, Index) -> TermId,
    ) -> TermId {
        let index = Index::Bound(domain.bound);
        self.quantified(Op::Forall, &[domain], Some(array), &mut |w| about(w, index))
    }

    /// A quantifier over the indices of an array, or of arrays with the first size.
    fn quantified(
        &mut self,
        op: Op,
        domains: &[Domain],
        array: Option<usize>,
        body: &mut dyn FnMut(&mut Self) -> TermId,
    ) -> TermId {
        let Some(size) = self.size else {
            let mut symbols = Vec::new();
            let mut guards = Vec::new();
            for domain in domains {
                let symbol =
                    self.builder.pool.declare_bound(&format!("i{}", domain.bound), Sort::Int);
                let term = self.builder.pool.var(symbol);
                symbols.push(term);
                self.bound.insert(domain.bound, term);
                guards.extend(self.guards(*domain, term, array));
            }
            let body = body(self);
            let whole = if op == Op::Forall {
                let guard = self.mk(Op::And, &guards);
                self.mk(Op::Implies, &[guard, body])
            } else {
                guards.push(body);
                self.mk(Op::And, &guards)
            };
            symbols.push(whole);
            return self.mk(op, &symbols);
        };
        let mut choices: Vec<Vec<i64>> = vec![Vec::new()];
        for domain in domains {
            let end = size - i64::from(domain.shorter);
            choices =
                choices.iter().flat_map(|c| (0..end).map(|i| [&c[..], &[i]].concat())).collect();
        }
        let mut parts = Vec::new();
        for choice in choices {
            self.values.extend(domains.iter().map(|d| d.bound).zip(choice));
            parts.push(body(self));
        }
        match &parts[..] {
            [] => self.builder.pool.constant(gander_term::Value::Bool(op == Op::Forall)),
            [only] => *only,
            _ => self.mk(if op == Op::Forall { Op::And } else { Op::Or }, &parts),
        }
    }

    /// The bounds of an index, in one of several equivalent forms.
    fn guards(&mut self, domain: Domain, i: TermId, array: Option<usize>) -> [TermId; 2] {
        let size = self.open_size(array);
        let (zero, one, minus) = (self.int(0), self.int(1), self.int(-1));
        // The index is below the size, or below the size minus one.
        let end = if domain.shorter { self.mk(Op::Sub, &[size, one]) } else { size };
        match domain.way {
            0 => [self.mk(Op::Le, &[zero, i]), self.mk(Op::Lt, &[i, end])],
            1 => [self.mk(Op::Ge, &[i, zero]), self.mk(Op::Gt, &[end, i])],
            2 => {
                let two = self.int(if domain.shorter { 2 } else { 1 });
                let last = self.mk(Op::Sub, &[size, two]);
                [self.mk(Op::Lt, &[minus, i]), self.mk(Op::Le, &[i, last])]
            }
            _ => {
                let after = self.mk(Op::Add, &[i, one]);
                [self.mk(Op::Gt, &[i, minus]), self.mk(Op::Le, &[after, end])]
            }
        }
    }

    /// The open size of an array.
    fn open_size(&mut self, array: Option<usize>) -> TermId {
        let second = array.is_some_and(|a| self.sketch.second[a]);
        let size = self.sizes[usize::from(second)];
        self.builder.pool.var(size.current)
    }

    /// The value of an index, for a given size.
    fn value(&self, index: Index) -> Option<i64> {
        match index {
            Index::First => Some(0),
            Index::Last => self.size.map(|s| s - 1),
            Index::Bound(b) => self.values.get(&b).copied(),
            Index::After(b) => self.values.get(&b).map(|i| i + 1),
            Index::Scalar(_) => None,
        }
    }

    /// The term of an index, for the open size.
    fn index(&mut self, array: usize, index: Index) -> TermId {
        let one = self.int(1);
        match index {
            Index::First => self.int(0),
            Index::Last => {
                let size = self.open_size(Some(array));
                self.mk(Op::Sub, &[size, one])
            }
            Index::Bound(b) => self.bound[&b],
            Index::After(b) => {
                let i = self.bound[&b];
                self.mk(Op::Add, &[i, one])
            }
            Index::Scalar(x) => self.builder.pool.var(self.scalars[x].current),
        }
    }

    fn element(&mut self, array: usize, index: Index, when: When) -> TermId {
        let symbol = |c: &Cell| if when == When::Now { c.current } else { c.next };
        if self.size.is_none() {
            let index = self.index(array, index);
            let array = self.builder.pool.var(symbol(&self.arrays[array][0]));
            return self.mk(Op::Select, &[array, index]);
        }
        if let Some(at) = self.value(index) {
            return self.builder.pool.var(symbol(&self.arrays[array][at as usize]));
        }
        // The context ensures that the variable is below the size.
        let Index::Scalar(x) = index else {
            unreachable!("an index has a value where the size is given")
        };
        let x = self.builder.pool.var(self.scalars[x].current);
        let cells: Vec<TermId> =
            self.arrays[array].iter().map(symbol).map(|s| self.builder.pool.var(s)).collect();
        let mut chosen = cells[cells.len() - 1];
        for (i, &cell) in cells.iter().enumerate().rev().skip(1) {
            let i = self.int(i as i64);
            let here = self.mk(Op::Eq, &[x, i]);
            chosen = self.mk(Op::Ite, &[here, cell, chosen]);
        }
        chosen
    }

    // Recursion is bounded, as sketches are only a few levels deep.
    fn number(&mut self, number: &Number) -> TermId {
        match number {
            Number::Constant(i) => self.int(*i),
            Number::Scalar(x) => self.builder.pool.var(self.scalars[*x].current),
            Number::Element(array, index) => self.element(*array, *index, When::Now),
            Number::Bound(b) => match self.values.get(b) {
                Some(&i) => self.int(i),
                None => self.bound[b],
            },
            Number::Size => match self.size {
                Some(size) => self.int(size),
                None => self.open_size(None),
            },
            Number::Sum(a, b) => {
                let (a, b) = (self.number(a), self.number(b));
                self.mk(Op::Add, &[a, b])
            }
            Number::Difference(a, b) => {
                let (a, b) = (self.number(a), self.number(b));
                self.mk(Op::Sub, &[a, b])
            }
            Number::Rest(a, by) => {
                let (a, by) = (self.number(a), self.int(*by));
                self.mk(Op::Mod, &[a, by])
            }
            Number::Choice(c, a, b) => {
                let (c, a, b) = (self.formula(c), self.number(a), self.number(b));
                self.mk(Op::Ite, &[c, a, b])
            }
        }
    }

    fn formula(&mut self, formula: &Formula) -> TermId {
        match formula {
            Formula::Compare(relation, a, b) => {
                let (a, b) = (self.number(a), self.number(b));
                let op = match relation {
                    Relation::Equal => Op::Eq,
                    Relation::Less => Op::Lt,
                    Relation::AtMost => Op::Le,
                };
                self.mk(op, &[a, b])
            }
            Formula::Flag(array, index) => self.element(*array, *index, When::Now),
            Formula::Not(a) => {
                let a = self.formula(a);
                self.mk(Op::Not, &[a])
            }
            Formula::Both(a, b) => {
                let (a, b) = (self.formula(a), self.formula(b));
                self.mk(Op::And, &[a, b])
            }
            Formula::Either(a, b) => {
                let (a, b) = (self.formula(a), self.formula(b));
                self.mk(Op::Or, &[a, b])
            }
            Formula::Every(domains, body) => {
                self.quantified(Op::Forall, domains, None, &mut |w| w.formula(body))
            }
            Formula::Some(domains, body) => {
                self.quantified(Op::Exists, domains, None, &mut |w| w.formula(body))
            }
        }
    }
}

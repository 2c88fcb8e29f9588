//! Arrays of unknown size: the size is a constant without a value.
//!
//! Each scalar of the element type becomes an array of the logic over all ints. The elements have
//! indices from 0 to the size, exclusive; reading `a[i]` outside gives an arbitrary value, chosen
//! separately by every occurrence and at every instant, as for other arrays. So an equation between
//! whole arrays is an equation of the logic. Only `A[i] = e` and the comparison of arrays need a
//! quantifier. It is bounded by the size, so it can be evaluated once the size has a value.
//!
//! In `A[i] = e`, and in the body of a quantifier over infinitely many values, the index is a bound
//! symbol of the logic ([`Binder`]). Streams created there (arbitrary values, the memory of `pre`)
//! become arrays of streams, one for every value of the index.

use gander_system::{IndexedArray, Role, StreamKind, Undefined, UndefinedValue};
use gander_term::{Op, Sort, SymbolId, TermId};

use crate::lustre::ast::*;
use crate::lustre::elaborate::expressions::aggregates::Selection;
use crate::lustre::elaborate::expressions::values::{BASE, Cell, ClockId, Val};
use crate::lustre::elaborate::system::model::Model;
use crate::lustre::elaborate::system::streams::{Definition, NewStream, StreamId};
use crate::lustre::elaborate::types::layout::{INT, Shape, Ty};
use crate::{Code, Span};

/// An index that is a bound symbol of the logic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::lustre::elaborate) struct Binder {
    pub(in crate::lustre::elaborate) symbol: SymbolId,
    pub(in crate::lustre::elaborate) term: TermId,
    /// The index ranges from 0 to this, exclusive; `None` if a quantifier of the program binds it.
    pub(in crate::lustre::elaborate) size: Option<TermId>,
}

/// An operation that is not defined for all values, as the author wrote it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::lustre::elaborate) struct UndefinedRead {
    pub(in crate::lustre::elaborate) operation: Undefined,
    /// The index or divisor.
    pub(in crate::lustre::elaborate) text: String,
    /// The array that is read.
    pub(in crate::lustre::elaborate) array: Option<IndexedArray>,
}

impl UndefinedRead {
    /// A division by this divisor.
    pub(in crate::lustre::elaborate) fn division(text: String) -> UndefinedRead {
        UndefinedRead { operation: Undefined::Division, text, array: None }
    }
}

impl Model<'_> {
    /// The type of arrays of this size. `None`, with a diagnostic, if they are nested too deeply.
    pub(in crate::lustre::elaborate) fn open_array(
        &mut self,
        element: Ty,
        size: TermId,
        text: &str,
        span: Span,
    ) -> Option<Ty> {
        self.types.name_size(size, text);
        for leaf in self.types.leaves(element) {
            let sort = self.sort(leaf, span)?;
            let Some(sort) = self.builder.pool.array_sort(Sort::Int, sort) else {
                let most = gander_term::ArraySort::MAX_NESTING;
                self.unsupported(
                    span,
                    &format!("arrays of unknown sizes nested more than {most} deep"),
                );
                return None;
            };
            self.types.open_scalar(leaf, size, sort);
        }
        Some(self.types.intern(Shape::Open(element, size)))
    }

    /// `0 <= index < size`.
    fn within(&mut self, index: Cell, size: TermId) -> Cell {
        let (zero, size) = (self.builder.pool.int(0), self.rigid(size));
        let zero = self.rigid(zero);
        let low = self.lift(Op::Le, &[zero, index]);
        let high = self.lift(Op::Lt, &[index, size]);
        self.lift(Op::And, &[low, high])
    }

    /// `a[i]`; arbitrary outside the bounds of the array.
    pub(in crate::lustre::elaborate) fn open_element(
        &mut self,
        array: &[Cell],
        index: Cell,
        size: TermId,
        path: &str,
        span: Span,
    ) -> Vec<Cell> {
        // A binder over an array of this size is always within its bounds.
        if self
            .binders
            .iter()
            .any(|b| b.term == index.first && index.is_rigid() && b.size == Some(size))
        {
            return array.iter().map(|&cell| self.lift(Op::Select, &[cell, index])).collect();
        }
        let inside = self.within(index, size);
        let mut cells = Vec::with_capacity(array.len());
        for &cell in array {
            let element = self.lift(Op::Select, &[cell, index]);
            let sort = self.builder.pool.sort(element.first);
            let outside = self.arbitrary_value(path, "outside", sort, span);
            cells.push(self.lift(Op::Ite, &[inside, element, outside]));
        }
        cells
    }

    /// `e^n`: every element is the same.
    pub(in crate::lustre::elaborate) fn open_repeat(
        &mut self,
        element: &Val,
        size: TermId,
        text: &str,
        span: Span,
    ) -> Val {
        let Some(ty) = self.open_array(element.ty, size, text, span) else { return Val::error() };
        let mut cells = Vec::new();
        for &cell in element.cells() {
            let sort = self.builder.pool.sort(cell.first);
            let Some(Sort::Array(array)) = self.builder.pool.array_sort(Sort::Int, sort) else {
                return Val::error();
            };
            cells.push(self.lift(Op::ConstArray(array), &[cell]));
        }
        Val::many(ty, element.clock, cells)
    }

    /// The scalars of a value with one part replaced, where the path to it goes through an array of
    /// unknown size. Recursion is bounded by the depth of types.
    pub(in crate::lustre::elaborate) fn open_update(
        &mut self,
        cells: &[Cell],
        path: &[Selection],
        value: &[Cell],
        span: Span,
    ) -> Vec<Cell> {
        let Some((selection, rest)) = path.split_first() else { return value.to_vec() };
        match selection {
            Selection::Fixed(offset, part) => {
                let end = offset + self.types.width(*part);
                let new = self.open_update(&cells[*offset..end], rest, value, span);
                let mut all = cells.to_vec();
                all[*offset..end].copy_from_slice(&new);
                all
            }
            Selection::Element { index, element, size } => {
                let width = self.types.width(*element);
                let mut all = Vec::with_capacity(cells.len());
                for i in 0..*size {
                    if !self.spend(width, span) {
                        return cells.to_vec();
                    }
                    let here = self.is_index(index, i);
                    let old = &cells[i as usize * width..(i as usize + 1) * width];
                    let new = self.open_update(old, rest, value, span);
                    all.extend(
                        old.iter()
                            .zip(new)
                            .map(|(&old, new)| self.lift(Op::Ite, &[here, new, old])),
                    );
                }
                all
            }
            // Elements outside the bounds may change: they are never read.
            Selection::Open { index, .. } => {
                let old: Vec<Cell> =
                    cells.iter().map(|&c| self.lift(Op::Select, &[c, *index])).collect();
                let new = self.open_update(&old, rest, value, span);
                cells
                    .iter()
                    .zip(new)
                    .map(|(&c, new)| self.lift(Op::Store, &[c, *index, new]))
                    .collect()
            }
        }
    }

    /// True where two arrays of unknown size have equal elements.
    pub(in crate::lustre::elaborate) fn open_equal(
        &mut self,
        element: Ty,
        size: TermId,
        a: &[Cell],
        b: &[Cell],
    ) -> Cell {
        let symbol = self.builder.pool.declare_bound("i", Sort::Int);
        let term = self.builder.pool.var(symbol);
        let index = self.rigid(term);
        let at = |m: &mut Self, array: &[Cell]| -> Vec<Cell> {
            array.iter().map(|&c| m.lift(Op::Select, &[c, index])).collect()
        };
        let (x, y) = (at(self, a), at(self, b));
        let same = self.equal_cells(element, &x, &y);
        self.for_all(&[Binder { symbol, term, size: Some(size) }], same)
    }

    /// `body` for all values of the binders within their sizes.
    pub(in crate::lustre::elaborate) fn for_all(&mut self, binders: &[Binder], body: Cell) -> Cell {
        let mut inside = Vec::new();
        for binder in binders {
            if let Some(size) = binder.size {
                let index = self.rigid(binder.term);
                inside.push(self.within(index, size));
            }
        }
        let inside = self.lift(Op::And, &inside);
        let body = self.lift(Op::Implies, &[inside, body]);
        let symbols: Vec<SymbolId> = binders.iter().map(|b| b.symbol).collect();
        let first = self.builder.pool.forall(&symbols, body.first);
        let later = if body.first == body.later {
            first
        } else {
            self.builder.pool.forall(&symbols, body.later)
        };
        Cell { first, later, instant: body.instant }
    }

    /// A new index as a bound symbol of the logic.
    pub(in crate::lustre::elaborate) fn binder(&mut self, name: &str, size: TermId) -> Binder {
        let symbol = self.builder.pool.declare_bound(name, Sort::Int);
        Binder { symbol, term: self.builder.pool.var(symbol), size: Some(size) }
    }

    /// An index as a value.
    pub(in crate::lustre::elaborate) fn bound_index(&mut self, binder: Binder) -> Val {
        let cell = self.rigid(binder.term);
        Val::one(INT, None, cell)
    }

    /// True if a value depends on the current binders.
    pub(in crate::lustre::elaborate) fn depends_on_index(&self, cells: &[Cell]) -> bool {
        if self.binders.is_empty() {
            return false;
        }
        let pool = &self.builder.pool;
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack: Vec<TermId> = cells.iter().flat_map(|c| [c.first, c.later]).collect();
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            if self.binders.iter().any(|b| b.term == t) {
                return true;
            }
            stack.extend_from_slice(pool.args(t));
        }
        false
    }

    /// The sort of a function from the values of the current binders to `sort`.
    fn for_every_index(&mut self, sort: Sort, span: Span) -> Sort {
        let mut all = sort;
        for k in (0..self.binders.len()).rev() {
            let index = self.builder.pool.symbol(self.binders[k].symbol).sort;
            match self.builder.pool.array_sort(index, all) {
                Some(sort) => all = sort,
                None => {
                    self.unsupported(
                        span,
                        "a separate value for each combination of this many indices",
                    );
                    self.stopped = true;
                    return sort;
                }
            }
        }
        all
    }

    /// The element of a nested array at the current binders.
    fn at_indices(&mut self, mut term: TermId, binders: &[Binder]) -> TermId {
        for binder in binders {
            term = self.mk(Op::Select, &[term, binder.term]);
        }
        term
    }

    /// An arbitrary value, chosen separately at every instant and for every value of the current
    /// binders.
    pub(in crate::lustre::elaborate) fn arbitrary_value(
        &mut self,
        path: &str,
        what: &str,
        sort: Sort,
        span: Span,
    ) -> Cell {
        let all = self.for_every_index(sort, span);
        let stream = self.arbitrary(path, what, all, span);
        let whole = self.read(stream);
        let binders = self.binders.clone();
        Cell {
            first: self.at_indices(whole.first, &binders),
            later: self.at_indices(whole.later, &binders),
            instant: true,
        }
    }

    /// An arbitrary value for an operation where it is not defined.
    pub(in crate::lustre::elaborate) fn undefined_value(
        &mut self,
        path: &str,
        what: &str,
        sort: Sort,
        read: UndefinedRead,
        span: Span,
    ) -> Cell {
        let before = self.streams.list.len();
        let cell = self.arbitrary_value(path, what, sort, span);
        // With an index of an array of unknown size around it, the values are an array.
        if let Some(stream) = self.streams.list.get(before).filter(|_| self.binders.is_empty()) {
            let (var, span) = (stream.name.clone(), Some(span));
            let UndefinedRead { operation, text, array } = read;
            self.undefined.push(UndefinedValue { var, operation, text, array, span });
        }
        cell
    }

    /// `pre` of an expression that depends on an index.
    pub(in crate::lustre::elaborate) fn previous_of_element(
        &mut self,
        cell: Cell,
        clock: ClockId,
        open: bool,
        path: &str,
        span: Span,
    ) -> Cell {
        let sort = self.builder.pool.sort(cell.first);
        let all = self.for_every_index(sort, span);
        if self.stopped {
            return cell;
        }
        let binders = self.binders.clone();
        let (current, (before, before_now)) = if cell.instant && self.clocks.on(clock).is_none() {
            let name = self.numbered(path, "pre");
            (cell.first, self.before_with(&name, all, None, span))
        } else {
            let Some(stream) = self.stream_of_elements(cell, clock, path, "pre", span) else {
                return cell;
            };
            (self.at_indices(self.streams.get(stream).current, &binders), self.before(stream))
        };
        let (before, before_now) =
            (self.at_indices(before, &binders), self.at_indices(before_now, &binders));
        let later = if open && clock != BASE {
            let fresh = self.fresh(clock);
            self.mk(Op::Ite, &[fresh.later, before_now, current])
        } else {
            current
        };
        Cell { first: before, later, instant: false }
    }

    /// `current` of an expression that depends on an index.
    pub(in crate::lustre::elaborate) fn held_elements(
        &mut self,
        cell: Cell,
        clock: ClockId,
        path: &str,
        span: Span,
    ) -> Cell {
        let Some(stream) = self.stream_of_elements(cell, clock, path, "current", span) else {
            return cell;
        };
        let whole = self.read(stream);
        let binders = self.binders.clone();
        Cell {
            first: self.at_indices(whole.first, &binders),
            later: self.at_indices(whole.later, &binders),
            instant: true,
        }
    }

    /// A stream of arrays that has the value of an expression at every value of the current
    /// binders.
    fn stream_of_elements(
        &mut self,
        cell: Cell,
        clock: ClockId,
        path: &str,
        what: &str,
        span: Span,
    ) -> Option<StreamId> {
        if self.binders.iter().any(|b| b.size.is_none()) {
            self.unsupported(
                span,
                "memory of more than the last instant in a quantifier over infinitely many values",
            );
            self.stopped = true;
            return None;
        }
        let key = (cell.first, cell.later, clock);
        if let Some(&known) = self.streams.memories.get(&key) {
            return Some(known);
        }
        let sort = self.builder.pool.sort(cell.first);
        let sort = self.for_every_index(sort, span);
        let name = self.numbered(path, what);
        let (kind, role) = (StreamKind::Internal, Role::State);
        let id = self.stream(NewStream {
            name,
            sort,
            kind,
            role,
            clock,
            range: None,
            span,
            free: false,
        });
        let over = self.range(self.binders.clone());
        self.streams.list[id.index()].definition = Some(Definition { cell, span, over });
        self.streams.memories.insert(key, id);
        Some(id)
    }

    /// Stores binders for a definition; returns their id.
    fn range(&mut self, binders: Vec<Binder>) -> Option<u32> {
        let id = self.ranges.len() as u32;
        self.ranges.push(binders);
        Some(id)
    }

    /// The binders of a stream's definition; empty for an ordinary equation.
    pub(in crate::lustre::elaborate) fn defined_over(&self, stream: StreamId) -> &[Binder] {
        let over = self.streams.get(stream).definition.and_then(|d| d.over);
        over.map(|k| self.ranges[k as usize].as_slice()).unwrap_or_default()
    }

    /// The element of `term` at the binders of the stream's definition; `term` itself for an
    /// ordinary equation.
    pub(in crate::lustre::elaborate) fn defined_part(
        &mut self,
        stream: StreamId,
        term: TermId,
    ) -> TermId {
        let binders = self.defined_over(stream).to_vec();
        self.at_indices(term, &binders)
    }

    /// Defines the elements of an array for all values of its binders.
    pub(in crate::lustre::elaborate) fn define_for_all(
        &mut self,
        stream: StreamId,
        cell: Cell,
        over: &[Binder],
        span: Span,
    ) {
        if !self.blocks.is_empty() || self.frame.is_some() {
            self.unsupported(
                span,
                "the definition of the elements of an array of unknown size in a block",
            );
            return;
        }
        let defined = self.streams.get(stream).definition.is_some();
        self.define(stream, cell, span);
        if !defined {
            let over = self.range(over.to_vec());
            if let Some(definition) = &mut self.streams.list[stream.index()].definition {
                definition.over = over;
            }
        }
    }

    /// An element of arrays of unknown sizes at new indices, which become the innermost binders.
    pub(in crate::lustre::elaborate) fn element_within(
        &mut self,
        mut part: Val,
        sizes: &[TermId],
    ) -> (Val, Vec<Binder>) {
        let mut binders = Vec::new();
        for &size in sizes {
            let binder = self.binder("i", size);
            let index = self.rigid(binder.term);
            let cells = part.cells().iter().map(|&c| self.lift(Op::Select, &[c, index])).collect();
            part = Val::many(part.ty, part.clock, cells);
            binders.push(binder);
        }
        self.binders.extend(&binders);
        (part, binders)
    }

    /// The size of an array as a term; reports a size that is not constant.
    pub(in crate::lustre::elaborate) fn open_size(
        &mut self,
        size: &Val,
        span: Span,
    ) -> Option<TermId> {
        let cell =
            size.cell().filter(|c| size.ty == INT && c.is_rigid() && !self.depends_on_index(&[*c]));
        match cell {
            Some(cell) => {
                let mut simplifier = gander_term::Simplifier::new();
                Some(simplifier.simplify(&mut self.builder.pool, cell.first))
            }
            None => {
                if !size.is_error() {
                    self.error(Code::E1404, span, "the size of an array must be a constant");
                }
                None
            }
        }
    }

    /// The selections of a path through a value of type `ty`, and the type of the part.
    pub(in crate::lustre::elaborate) fn selections(
        &mut self,
        mut ty: Ty,
        path: &[Selector],
        indices: &[Val],
        span: Span,
    ) -> Option<(Vec<Selection>, Ty)> {
        let mut indices = indices.iter();
        let mut result = Vec::new();
        for selector in path {
            let index = if matches!(selector, Selector::Index(_)) { indices.next() } else { None };
            let selection = self.selection(ty, selector, index, span)?;
            ty = match &selection {
                Selection::Fixed(_, ty) => *ty,
                Selection::Element { element, .. } | Selection::Open { element, .. } => *element,
            };
            result.push(selection);
        }
        Some((result, ty))
    }
}

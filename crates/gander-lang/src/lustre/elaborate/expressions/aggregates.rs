//! Lists, tuples, arrays and records.

use gander_system::{IndexedArray, Undefined};
use gander_term::{IBig, Op, TermId};

use crate::diagnostics::diagnostic::Diagnostic;
use crate::lustre::ast::*;
use crate::lustre::elaborate::arrays::open_arrays::UndefinedRead;
use crate::lustre::elaborate::expressions::values::{Cell, Val};
use crate::lustre::elaborate::system::model::{LIMITS, Model};
use crate::lustre::elaborate::types::layout::{INT, Shape, Ty};
use crate::lustre::elaborate::types::resolve::At;
use crate::{Code, Span, nearest};

/// The part of a value that one selector selects.
#[derive(Clone, Debug)]
pub(in crate::lustre::elaborate) enum Selection {
    /// The part at this offset, in scalars.
    Fixed(usize, Ty),
    /// An element of an array at an index that is not a known constant.
    Element { index: Val, element: Ty, size: u32 },
    /// An element of an array of unknown size.
    Open { index: Cell, element: Ty, size: TermId },
}

impl Model<'_> {
    /// Concatenates the scalars of `parts` to a value of type `ty`.
    pub(in crate::lustre::elaborate) fn concatenated(
        &mut self,
        ty: Ty,
        parts: &[Val],
        span: Span,
    ) -> Val {
        let mut clock = None;
        let mut cells = Vec::new();
        for part in parts {
            clock = self.join(clock, part.clock, span);
            cells.extend_from_slice(part.cells());
        }
        Val::many(ty, clock, cells)
    }

    /// `(a, b)`; nested lists are flattened.
    pub(in crate::lustre::elaborate) fn list(&mut self, parts: &[Val], span: Span) -> Val {
        if let [one] = parts {
            return one.clone();
        }
        if parts.iter().any(Val::is_error) {
            return Val::error();
        }
        if parts.is_empty() {
            return self.nothing();
        }
        let types = parts.iter().flat_map(|p| self.types.parts(p.ty)).collect();
        let ty = self.types.list(types);
        self.concatenated(ty, parts, span)
    }

    /// The empty list: the outputs of a call without outputs.
    pub(in crate::lustre::elaborate) fn nothing(&mut self) -> Val {
        let ty = self.types.intern(Shape::List(Vec::new()));
        Val::many(ty, None, Vec::new())
    }

    pub(in crate::lustre::elaborate) fn array(&mut self, parts: &[Val], span: Span) -> Val {
        let Some(first) = parts.first() else {
            self.error(Code::E1405, span, "an array has at least one element");
            return Val::error();
        };
        let element = first.ty;
        for part in parts {
            if part.ty != element {
                self.mismatch(
                    span,
                    "the elements of an array have one type, these have several",
                    element,
                    part.ty,
                );
                return Val::error();
            }
        }
        let ty = self.types.intern(Shape::Array(element, parts.len() as u32));
        self.concatenated(ty, parts, span)
    }

    /// `e^n`
    pub(in crate::lustre::elaborate) fn repeat(
        &mut self,
        element: &Val,
        size: &Val,
        span: Span,
    ) -> Val {
        if self.known_int(size).is_none() && size.ty == INT {
            let Some(term) = self.open_size(size, span) else { return Val::error() };
            let text = self.size_text(span);
            return self.open_repeat(element, term, &text, span);
        }
        let known = self.known_int(size).and_then(|n| u32::try_from(&n).ok());
        let Some(n) = known.filter(|&n| n > 0) else {
            self.error(Code::E1404, span, "the size of an array must be a known positive constant");
            return Val::error();
        };
        let width = element.cells().len().saturating_mul(n as usize);
        if width > LIMITS.width {
            self.error(Code::E1602, span, format!("a value of more than {} scalars", LIMITS.width));
            return Val::error();
        }
        let ty = self.types.intern(Shape::Array(element.ty, n));
        let cells = (0..n).flat_map(|_| element.cells().iter().copied()).collect();
        Val::many(ty, element.clock, cells)
    }

    /// `a | b`
    pub(in crate::lustre::elaborate) fn concat(&mut self, a: &Val, b: &Val, span: Span) -> Val {
        match (self.types.shape(a.ty).clone(), self.types.shape(b.ty).clone()) {
            (Shape::Array(x, m), Shape::Array(y, n)) if x == y => {
                let ty = self.types.intern(Shape::Array(x, m.saturating_add(n)));
                self.concatenated(ty, &[a.clone(), b.clone()], span)
            }
            _ => {
                self.mismatch(
                    span,
                    "`|` puts two arrays of one element type together, not these",
                    a.ty,
                    b.ty,
                );
                Val::error()
            }
        }
    }

    pub(in crate::lustre::elaborate) fn record(
        &mut self,
        at: At,
        name: Name,
        fields: &[(Name, ExprId)],
        parts: &[Val],
        span: Span,
    ) -> Val {
        let globals = self.globals;
        if !globals.types.contains_key(&name.word) {
            let text = self.word(name.word);
            let near = nearest(text, globals.types.keys().map(|&w| self.file.text(w)));
            self.report.add(
                Diagnostic::new(Code::E1302, name.span, format!("unknown type `{text}`"))
                    .did_you_mean(near),
            );
            return Val::error();
        }
        let ty = self.named_record(at, name);
        self.record_of(ty, fields, parts, span)
    }

    pub(in crate::lustre::elaborate) fn record_of(
        &mut self,
        ty: Ty,
        fields: &[(Name, ExprId)],
        parts: &[Val],
        span: Span,
    ) -> Val {
        let Shape::Record(declared) = self.types.shape(ty).clone() else {
            if ty != crate::lustre::elaborate::types::layout::ERROR {
                let name = self.type_name(ty);
                self.error(Code::E1401, span, format!("`{name}` is not a record"));
            }
            return Val::error();
        };
        let mut given: Vec<Option<Val>> = vec![None; declared.len()];
        for ((field, _), value) in fields.iter().zip(parts) {
            let text = self.word(field.word);
            let Some(i) = declared.iter().position(|&(f, _)| f == field.word) else {
                self.unknown_field(ty, &declared, *field);
                return Val::error();
            };
            if given[i].is_some() {
                self.error(Code::E1301, field.span, format!("the field `{text}` is given twice"));
                return Val::error();
            }
            if value.ty != declared[i].1 {
                self.mismatch(
                    field.span,
                    &format!("the field `{text}`, declared and given"),
                    declared[i].1,
                    value.ty,
                );
                return Val::error();
            }
            given[i] = Some(value.clone());
        }
        let missing: Vec<String> = declared
            .iter()
            .zip(&given)
            .filter(|(_, v)| v.is_none())
            .map(|(&(f, _), _)| format!("`{}`", self.word(f)))
            .collect();
        if !missing.is_empty() {
            self.error(Code::E1403, span, format!("without a value for {}", missing.join(", ")));
            return Val::error();
        }
        let values: Vec<Val> = given.into_iter().flatten().collect();
        self.concatenated(ty, &values, span)
    }

    fn unknown_field(&mut self, ty: Ty, declared: &[(Word, Ty)], field: Name) {
        let text = self.word(field.word);
        let near = nearest(text, declared.iter().map(|&(f, _)| self.file.text(f)));
        let name = self.type_name(ty);
        self.report.add(
            Diagnostic::new(Code::E1303, field.span, format!("`{name}` has no field `{text}`"))
                .did_you_mean(near),
        );
    }

    pub(in crate::lustre::elaborate) fn component(
        &mut self,
        value: &Val,
        i: u32,
        span: Span,
    ) -> Val {
        match self.select_component(value.ty, i, span) {
            Some((offset, ty)) => value.part(ty, offset, self.types.width(ty)),
            None => Val::error(),
        }
    }

    fn select_component(&mut self, ty: Ty, i: u32, span: Span) -> Option<(usize, Ty)> {
        let parts = match self.types.shape(ty) {
            Shape::Tuple(parts) | Shape::List(parts) => parts.clone(),
            _ => {
                let name = self.type_name(ty);
                self.error(
                    Code::E1401,
                    span,
                    format!("`.%{i}` of a `{name}`, which is not a tuple"),
                );
                return None;
            }
        };
        let Some(&part) = parts.get(i as usize) else {
            self.error(
                Code::E1405,
                span,
                format!("`.%{i}` of a tuple with {} parts, counted from 0", parts.len()),
            );
            return None;
        };
        Some((parts[..i as usize].iter().map(|&t| self.types.width(t)).sum(), part))
    }

    fn select_field(&mut self, ty: Ty, field: Name) -> Option<(usize, Ty)> {
        if let Shape::Data { .. } = self.types.shape(ty) {
            let diagnostic = Diagnostic::new(
                Code::E0510,
                field.span,
                "a field of a datatype outside of `match`: not supported",
            );
            self.report.add(
                diagnostic
                    .help("`match` gives names to the fields of the constructor that a value has"),
            );
            return None;
        }
        let Shape::Record(fields) = self.types.shape(ty).clone() else {
            if ty != crate::lustre::elaborate::types::layout::ERROR {
                let (name, text) = (self.type_name(ty), self.word(field.word));
                self.error(
                    Code::E1401,
                    field.span,
                    format!("`.{text}` of a `{name}`, which is not a record"),
                );
            }
            return None;
        };
        let Some(i) = fields.iter().position(|&(f, _)| f == field.word) else {
            self.unknown_field(ty, &fields, field);
            return None;
        };
        Some((fields[..i].iter().map(|&(_, t)| self.types.width(t)).sum(), fields[i].1))
    }

    pub(in crate::lustre::elaborate) fn field(&mut self, value: &Val, field: Name) -> Val {
        match self.select_field(value.ty, field) {
            Some((offset, ty)) => value.part(ty, offset, self.types.width(ty)),
            None => Val::error(),
        }
    }

    /// The part that a selector selects in a value of type `ty`.
    pub(in crate::lustre::elaborate) fn selection(
        &mut self,
        ty: Ty,
        selector: &Selector,
        index: Option<&Val>,
        span: Span,
    ) -> Option<Selection> {
        match selector {
            Selector::Field(field) => {
                self.select_field(ty, *field).map(|(o, t)| Selection::Fixed(o, t))
            }
            Selector::Component(i, at) => {
                self.select_component(ty, *i, *at).map(|(o, t)| Selection::Fixed(o, t))
            }
            Selector::Index(_) => {
                let index = index?;
                if let (Shape::Tuple(_), Some(i)) = (self.types.shape(ty), self.known_int(index)) {
                    let i = u32::try_from(&i).unwrap_or(u32::MAX);
                    return self.select_component(ty, i, span).map(|(o, t)| Selection::Fixed(o, t));
                }
                if let (Shape::Open(element, size), true) = (self.types.shape(ty), index.ty == INT)
                {
                    let (element, size) = (*element, *size);
                    return index.cell().map(|index| Selection::Open { index, element, size });
                }
                let (Shape::Array(element, _) | Shape::Open(element, _)) = *self.types.shape(ty)
                else {
                    if ty != crate::lustre::elaborate::types::layout::ERROR {
                        let name = self.type_name(ty);
                        self.error(
                            Code::E1401,
                            span,
                            format!("an index into a `{name}`, which is not an array"),
                        );
                    }
                    return None;
                };
                if index.ty != INT {
                    if !index.is_error() {
                        let name = self.type_name(index.ty);
                        self.error(
                            Code::E1401,
                            span,
                            format!("an index is an int, not a `{name}`"),
                        );
                    }
                    return None;
                }
                let Shape::Array(_, size) = *self.types.shape(ty) else { return None };
                let width = self.types.width(element);
                match self.known_int(index) {
                    Some(i) if i >= IBig::ZERO && i < IBig::from(size) => {
                        let i = usize::try_from(&i).unwrap_or_default();
                        Some(Selection::Fixed(i * width, element))
                    }
                    // In a definition of all elements, an index may be out of bounds where its
                    // value does not matter.
                    Some(i) if self.bindings.is_empty() => {
                        let message =
                            format!("index {i} of an array with {size} elements, counted from 0");
                        self.error(Code::E1405, span, message);
                        None
                    }
                    _ => Some(Selection::Element { index: index.clone(), element, size }),
                }
            }
        }
    }

    /// `a[i]`
    pub(in crate::lustre::elaborate) fn index(
        &mut self,
        at: At,
        id: ExprId,
        array: &Val,
        index: &Val,
    ) -> Val {
        let span = self.file.expr(id).span;
        let clock = self.join(array.clock, index.clock, span);
        let selector = Selector::Index(ExprId(0));
        match self.selection(array.ty, &selector, Some(index), span) {
            Some(Selection::Fixed(offset, ty)) => {
                array.part(ty, offset, self.types.width(ty)).on(clock)
            }
            Some(Selection::Element { index, element, size }) => {
                let width = self.types.width(element);
                if !self.spend(width.saturating_mul(size as usize), span) {
                    return Val::error();
                }
                let path = self.path_at(at);
                let known = self.known_int(&index).is_some();
                let read = self.indexed_read(id, size);
                let mut cells = Vec::with_capacity(width);
                for k in 0..width {
                    let last = array.cells()[(size as usize - 1) * width + k];
                    let mut result = self.outside(&path, last, known, read.clone(), span);
                    // A known index here is out of bounds, otherwise it would be a `Fixed` part.
                    for i in (0..size).rev().filter(|_| !known) {
                        let here = self.is_index(&index, i);
                        let cell = array.cells()[i as usize * width + k];
                        result = self.lift(Op::Ite, &[here, cell, result]);
                    }
                    cells.push(result);
                }
                Val::many(element, clock, cells)
            }
            Some(Selection::Open { index, element, size }) => {
                let path = self.path_at(at);
                let cells = self.open_element(array.cells(), index, size, &path, span);
                Val::many(element, clock, cells)
            }
            None => Val::error(),
        }
    }

    /// The value of `a[i]` where `i` is outside of the array: any value, or in JKind the last
    /// element. JKind refuses an index that is known to be outside.
    fn outside(
        &mut self,
        path: &str,
        last: Cell,
        known: bool,
        read: UndefinedRead,
        span: Span,
    ) -> Cell {
        let sort = self.builder.pool.sort(last.first);
        let any = self.undefined_value(path, "outside", sort, read, span);
        if known || !self.read_by_jkind {
            return any;
        }
        let reads_any = match self.reads_any_outside {
            Some(cell) => cell,
            None => self.fixed("outside@any", gander_term::Sort::Bool, span),
        };
        self.reads_any_outside = Some(reads_any);
        self.lift(Op::Ite, &[reads_any, any, last])
    }

    /// The read of `a[i]`.
    fn indexed_read(&self, id: ExprId, size: u32) -> UndefinedRead {
        let text = |e: ExprId| self.source(self.file.expr(e).span);
        let (text, array) = match self.file.expr(id).kind {
            ExprKind::Index(array, index) => {
                (text(index), Some(IndexedArray { text: text(array), size }))
            }
            _ => (String::new(), None),
        };
        UndefinedRead { operation: Undefined::Index, text, array }
    }

    pub(in crate::lustre::elaborate) fn is_index(&mut self, index: &Val, i: u32) -> Cell {
        let i = self.int(i);
        match (index.cell(), i.cell()) {
            (Some(index), Some(i)) => self.lift(Op::Eq, &[index, i]),
            _ => self.constant(gander_term::Value::Bool(false)),
        }
    }

    /// A value with one part replaced. `parts` contains the value, the indices of the path, and the
    /// new part.
    pub(in crate::lustre::elaborate) fn update(
        &mut self,
        at: At,
        path: &[Selector],
        parts: &[Val],
        span: Span,
    ) -> Val {
        let _ = at;
        let [base, indices @ .., value] = parts else { return Val::error() };
        let mut clock = self.join(base.clock, value.clock, span);
        if self.types.has_open(base.ty) {
            for index in indices {
                clock = self.join(clock, index.clock, span);
            }
            let Some((path, ty)) = self.selections(base.ty, path, indices, span) else {
                return Val::error();
            };
            if ty != value.ty {
                self.mismatch(span, "the part that is changed and its new value", ty, value.ty);
                return Val::error();
            }
            let cells = self.open_update(base.cells(), &path, value.cells(), span);
            return Val::many(base.ty, clock, cells);
        }
        // The parts that the path may denote: the offset of each, and its condition.
        let mut places: Vec<(usize, Option<Cell>)> = vec![(0, None)];
        let mut ty = base.ty;
        let mut indices = indices.iter();
        for selector in path {
            let index = if matches!(selector, Selector::Index(_)) { indices.next() } else { None };
            clock = self.join(clock, index.and_then(|i| i.clock), span);
            match self.selection(ty, selector, index, span) {
                Some(Selection::Fixed(offset, part)) => {
                    places.iter_mut().for_each(|(start, _)| *start += offset);
                    ty = part;
                }
                Some(Selection::Element { index, element, size }) => {
                    let width = self.types.width(element);
                    if !self.spend(places.len().saturating_mul(size as usize), span) {
                        return Val::error();
                    }
                    let mut more = Vec::new();
                    for (start, condition) in places {
                        for i in 0..size {
                            let here = self.is_index(&index, i);
                            let both = match condition {
                                Some(condition) => self.lift(Op::And, &[condition, here]),
                                None => here,
                            };
                            more.push((start + i as usize * width, Some(both)));
                        }
                    }
                    places = more;
                    ty = element;
                }
                Some(Selection::Open { .. }) | None => return Val::error(),
            }
        }
        if ty != value.ty {
            self.mismatch(span, "the part that is changed and its new value", ty, value.ty);
            return Val::error();
        }
        let mut cells = base.cells().to_vec();
        for (start, condition) in places {
            for (k, &new) in value.cells().iter().enumerate() {
                let old = cells[start + k];
                cells[start + k] = match condition {
                    Some(condition) => self.lift(Op::Ite, &[condition, new, old]),
                    None => new,
                };
            }
        }
        Val::many(base.ty, clock, cells)
    }

    fn named_record(&mut self, at: At, name: Name) -> Ty {
        self.resolve_name(at, name).ty
    }
}

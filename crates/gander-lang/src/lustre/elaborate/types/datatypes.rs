//! Non-recursive datatypes: constructors, `match`, testers, equality.
//!
//! A value is a tag followed by the fields of every constructor ([`Shape::Data`]). Only the fields
//! of the constructor in the tag are meaningful. The other fields may have any values: only `match`
//! reads fields, and equality compares only meaningful ones.

use gander_term::{Op, Sort, Value};

use crate::diagnostics::diagnostic::Diagnostic;
use crate::lustre::ast::*;
use crate::lustre::elaborate::expressions::values::{Cell, ClockId, Val};
use crate::lustre::elaborate::system::model::Model;
use crate::lustre::elaborate::types::layout::{BOOL, ERROR, Shape, Ty};
use crate::lustre::elaborate::types::resolve::{At, Resolved};
use crate::{Code, Span};

/// An arm of a `match`.
pub(in crate::lustre::elaborate) struct Arm {
    /// The condition under which its pattern matches.
    pub(in crate::lustre::elaborate) when: Cell,
    /// The values of the names in its pattern.
    pub(in crate::lustre::elaborate) bound: Vec<(Word, Val)>,
    pub(in crate::lustre::elaborate) body: ExprId,
}

/// The number of cases examined when checking that patterns are exhaustive.
const MAX_CASES: usize = 100_000;

impl Model<'_> {
    /// A value of a datatype.
    pub(in crate::lustre::elaborate) fn construct(
        &mut self,
        at: At,
        name: Name,
        types: &[TypeId],
        args: &[Val],
        span: Span,
    ) -> Val {
        let globals = self.globals;
        let file = self.file;
        if args.iter().any(Val::is_error) {
            return Val::error();
        }
        let args = self.flattened(args);
        let Some(&(datatype, position)) = self.types.constructors.get(&name.word) else {
            let text = self.word(name.word);
            self.error(
                Code::E1303,
                name.span,
                format!("`{text}` is not a constructor of a datatype"),
            );
            return Val::error();
        };
        let Some(decl) = globals.types.get(&datatype) else { return Val::error() };
        let Some(definition) = decl.definition else { return Val::error() };
        let TypeKind::Data(constructors) = &file.ty(definition).kind else { return Val::error() };
        let fields = &constructors[position as usize].1;
        let text = self.word(name.word);
        if fields.len() != args.len() {
            let message = format!("`{text}` takes {} arguments, not {}", fields.len(), args.len());
            self.report.add(
                Diagnostic::new(Code::E1402, span, message)
                    .label(file.ty(definition).span, "declared here"),
            );
            return Val::error();
        }
        let mut params: Vec<(Word, Resolved)> = Vec::new();
        if !types.is_empty() && types.len() != decl.params.len() {
            let message =
                format!("`{text}` takes {} type arguments, not {}", decl.params.len(), types.len());
            self.error(Code::E1402, name.span, message);
            return Val::error();
        }
        for (k, param) in decl.params.iter().enumerate() {
            let found = match types.get(k) {
                Some(&ty) => Some(self.resolve(at, ty).ty),
                None => fields
                    .iter()
                    .zip(&args)
                    .find_map(|((_, ty), arg)| self.infer(*ty, arg.ty, param.word)),
            };
            let Some(ty) = found else {
                let param = self.word(param.word);
                let message = format!(
                    "the type parameter `{param}` of `{text}` does not follow from the arguments"
                );
                self.report.add(
                    Diagnostic::new(Code::E1403, span, message)
                        .help(format!("give the types: `{text}@<…>`")),
                );
                return Val::error();
            };
            params.push((param.word, Resolved::plain(ty)));
        }
        let ty = self.instantiate(definition, &params);
        let Shape::Data { tag, constructors, .. } = self.types.shape(ty).clone() else {
            return Val::error();
        };
        let mut clock = None;
        let mut cells = vec![self.tag(tag, position)];
        for (k, parts) in constructors.iter().enumerate() {
            for (n, &(field, declared)) in parts.iter().enumerate() {
                if k != position as usize {
                    for leaf in self.types.leaves(declared) {
                        let Some(sort) = self.sort(leaf, span) else { return Val::error() };
                        cells.push(self.constant(Sort::first_value(sort)));
                    }
                    continue;
                }
                if args[n].ty != declared {
                    let what =
                        format!("the field `{}` of `{text}` and its value", self.word(field));
                    self.mismatch(span, &what, declared, args[n].ty);
                    return Val::error();
                }
                clock = self.join(clock, args[n].clock, span);
                cells.extend_from_slice(args[n].cells());
            }
        }
        Val::many(ty, clock, cells)
    }

    fn tag(&mut self, tag: Ty, position: u32) -> Cell {
        match self.types.shape(tag) {
            Shape::Enum(e) => {
                let sort = self.types.enums[*e as usize].sort;
                self.constant(Value::Enum(sort, position))
            }
            _ => self.constant(Value::Bool(false)),
        }
    }

    /// The position of a constructor in the type of a value; reports an unknown one.
    fn constructor_of(&mut self, ty: Ty, name: Name) -> Option<u32> {
        let tag = match self.types.shape(ty) {
            Shape::Data { tag, .. } => *tag,
            _ => ty,
        };
        let known = match self.types.shape(tag) {
            Shape::Enum(e) => self.types.enums[*e as usize]
                .variants
                .iter()
                .position(|&v| v == name.word)
                .map(|n| n as u32),
            _ => None,
        };
        if known.is_none() && ty != ERROR {
            let (text, ty) = (self.word(name.word), self.type_name(ty));
            self.error(Code::E1303, name.span, format!("`{text}` is not a constructor of `{ty}`"));
        }
        known
    }

    /// `C?(e)`
    pub(in crate::lustre::elaborate) fn tester(&mut self, name: Name, value: &Val) -> Val {
        let Some(position) = self.constructor_of(value.ty, name) else { return Val::error() };
        let tag = match self.types.shape(value.ty) {
            Shape::Data { tag, .. } => *tag,
            _ => value.ty,
        };
        let wanted = self.tag(tag, position);
        let Some(found) = value.cell() else { return Val::error() };
        let cell = self.lift(Op::Eq, &[found, wanted]);
        Val::one(BOOL, value.clock, cell)
    }

    /// True if a single name in a pattern is a constructor and not a variable.
    fn is_constructor(&self, word: Word) -> bool {
        self.types.constructors.contains_key(&word) || self.types.variants.contains_key(&word)
    }

    /// The arms of a `match` on a value.
    pub(in crate::lustre::elaborate) fn open_match(
        &mut self,
        id: ExprId,
        value: &Val,
    ) -> Option<Vec<Arm>> {
        let file = self.file;
        let span = file.expr(id).span;
        let ExprKind::Match(_, arms) = &file.expr(id).kind else { return None };
        if value.is_error() {
            return None;
        }
        if !matches!(self.types.shape(value.ty), Shape::Data { .. } | Shape::Enum(_)) {
            let name = self.type_name(value.ty);
            self.error(
                Code::E1401,
                span,
                format!("`match` takes a value of a datatype, not a `{name}`"),
            );
            return None;
        }
        let mut result = Vec::new();
        for (pattern, body) in arms {
            let (when, bound) = self.read_pattern(pattern, value)?;
            result.push(Arm { when, bound, body: *body });
        }
        let rows = arms.iter().map(|(pattern, _)| vec![Some(pattern)]).collect();
        match self.leaves_out(rows, value.ty) {
            Some(false) => Some(result),
            Some(true) => {
                let message = "the patterns of this `match` leave some values out";
                self.report
                    .add(Diagnostic::new(Code::E1401, span, message).help("`_` matches any value"));
                None
            }
            None => {
                self.unsupported(span, "a `match` with very many cases");
                None
            }
        }
    }

    /// The condition under which a pattern matches, and the values of its names.
    fn read_pattern(&mut self, pattern: &Pattern, value: &Val) -> Option<(Cell, Vec<(Word, Val)>)> {
        let mut conditions = Vec::new();
        let mut bound: Vec<(Word, Val)> = Vec::new();
        let mut stack = vec![(pattern, value.clone())];
        while let Some((pattern, value)) = stack.pop() {
            let (name, parts): (Name, &[Pattern]) = match &pattern.kind {
                PatternKind::Any => continue,
                PatternKind::Name(name) if !self.is_constructor(name.word) => {
                    if bound.iter().any(|(word, _)| *word == name.word) {
                        let text = self.word(name.word);
                        self.error(
                            Code::E1301,
                            name.span,
                            format!("`{text}` is twice in this pattern"),
                        );
                    }
                    bound.push((name.word, value));
                    continue;
                }
                PatternKind::Name(name) => (*name, &[]),
                PatternKind::Constructor(name, parts) => (*name, parts),
            };
            let position = self.constructor_of(value.ty, name)?;
            conditions.push(self.tester(name, &value).cell()?);
            let (fields, mut offset) = match self.types.shape(value.ty) {
                Shape::Data { constructors, .. } => (
                    constructors[position as usize].clone(),
                    self.types.fields_at(constructors, position as usize),
                ),
                _ => (Vec::new(), 1),
            };
            if fields.len() != parts.len() {
                let text = self.word(name.word);
                let message = format!("`{text}` has {} fields, not {}", fields.len(), parts.len());
                self.error(Code::E1402, pattern.span, message);
                return None;
            }
            for (part, (_, ty)) in parts.iter().zip(fields) {
                let width = self.types.width(ty);
                stack.push((part, value.part(ty, offset, width)));
                offset += width;
            }
        }
        Some((self.lift(Op::And, &conditions), bound))
    }

    /// True if rows of patterns do not cover all values; `None` if there are too many cases. A
    /// missing pattern matches everything.
    fn leaves_out(&self, rows: Vec<Vec<Option<&Pattern>>>, ty: Ty) -> Option<bool> {
        let mut cases = 0usize;
        let mut stack = vec![(rows, vec![ty])];
        while let Some((rows, mut types)) = stack.pop() {
            cases += rows.len() + 1;
            if cases > MAX_CASES {
                return None;
            }
            if rows.is_empty() {
                return Some(true);
            }
            let Some(ty) = types.pop() else { continue };
            let asked = |pattern: Option<&Pattern>| match pattern.map(|p| &p.kind) {
                Some(PatternKind::Constructor(name, _)) => Some(name.word),
                Some(PatternKind::Name(name)) if self.is_constructor(name.word) => Some(name.word),
                _ => None,
            };
            // The last pattern of a row belongs to the last type.
            if rows.iter().all(|row| asked(row.last().copied().flatten()).is_none()) {
                let rest = rows.into_iter().map(|mut row| {
                    row.pop();
                    row
                });
                stack.push((rest.collect(), types));
                continue;
            }
            let (tag, constructors) = match self.types.shape(ty) {
                Shape::Data { tag, constructors, .. } => (*tag, constructors.clone()),
                Shape::Enum(e) => {
                    (ty, vec![Vec::new(); self.types.enums[*e as usize].variants.len()])
                }
                _ => return Some(false),
            };
            let Shape::Enum(e) = self.types.shape(tag) else { return Some(false) };
            for (&constructor, fields) in
                self.types.enums[*e as usize].variants.iter().zip(&constructors)
            {
                let mut inner = types.clone();
                inner.extend(fields.iter().map(|&(_, t)| t));
                let mut kept = Vec::new();
                for row in &rows {
                    let pattern = row.last().copied().flatten();
                    if asked(pattern).is_some_and(|word| word != constructor) {
                        continue;
                    }
                    let mut row = row[..row.len().saturating_sub(1)].to_vec();
                    match pattern.map(|p| &p.kind) {
                        Some(PatternKind::Constructor(_, parts)) => {
                            row.extend(parts.iter().map(Some))
                        }
                        _ => row.extend(fields.iter().map(|_| None)),
                    }
                    kept.push(row);
                }
                stack.push((kept, inner));
            }
        }
        Some(false)
    }

    /// The value of a `match` from the values of its arms.
    pub(in crate::lustre::elaborate) fn close_match(
        &mut self,
        id: ExprId,
        when: &[Cell],
        clock: Option<ClockId>,
        arms: &[Val],
    ) -> Val {
        let span = self.file.expr(id).span;
        let Some(last) = arms.last() else { return Val::error() };
        if arms.iter().any(Val::is_error) {
            return Val::error();
        }
        let mut clock = clock;
        for arm in arms {
            if arm.ty != last.ty {
                self.mismatch(span, "the arms of a `match` have different types", arm.ty, last.ty);
                return Val::error();
            }
            clock = self.join(clock, arm.clock, span);
        }
        // The patterns are exhaustive: the last arm matches whatever the others do not.
        let mut cells = last.cells().to_vec();
        for (arm, &here) in arms.iter().zip(when).rev().skip(1) {
            cells = arm
                .cells()
                .iter()
                .zip(&cells)
                .map(|(&a, &b)| self.lift(Op::Ite, &[here, a, b]))
                .collect();
        }
        Val::many(last.ty, clock, cells)
    }

    /// True where two values of a type are equal. The nesting of types is limited.
    pub(in crate::lustre::elaborate) fn equal_cells(
        &mut self,
        ty: Ty,
        a: &[Cell],
        b: &[Cell],
    ) -> Cell {
        if !self.types.has_data(ty) {
            let parts: Vec<Cell> =
                a.iter().zip(b).map(|(&x, &y)| self.lift(Op::Eq, &[x, y])).collect();
            return self.lift(Op::And, &parts);
        }
        let mut equal = Vec::new();
        let parts: Vec<Ty> = match self.types.shape(ty).clone() {
            Shape::Data { tag, constructors, .. } => {
                let (Some(&x), Some(&y)) = (a.first(), b.first()) else {
                    return self.constant(Value::Bool(true));
                };
                equal.push(self.lift(Op::Eq, &[x, y]));
                let mut offset = 1;
                for (k, fields) in constructors.iter().enumerate() {
                    let wanted = self.tag(tag, k as u32);
                    let here = self.lift(Op::Eq, &[x, wanted]);
                    for &(_, t) in fields {
                        let end = offset + self.types.width(t);
                        let same = self.equal_cells(t, &a[offset..end], &b[offset..end]);
                        equal.push(self.lift(Op::Implies, &[here, same]));
                        offset = end;
                    }
                }
                return self.lift(Op::And, &equal);
            }
            Shape::Record(fields) => fields.into_iter().map(|(_, t)| t).collect(),
            Shape::Tuple(parts) | Shape::List(parts) => parts,
            Shape::Array(element, size) => vec![element; size as usize],
            Shape::Open(element, size) => return self.open_equal(element, size, a, b),
            _ => Vec::new(),
        };
        let mut offset = 0;
        for t in parts {
            let end = offset + self.types.width(t);
            equal.push(self.equal_cells(t, &a[offset..end], &b[offset..end]));
            offset = end;
        }
        self.lift(Op::And, &equal)
    }
}

//! Resolves type expressions to types and to the conditions that they add (subranges, subtypes).

use gander_term::{IBig, TermId, Value};

use crate::diagnostics::diagnostic::Diagnostic;
use crate::lustre::ast::*;
use crate::lustre::elaborate::system::model::{LIMITS, Model};
use crate::lustre::elaborate::types::layout::{BOOL, ERROR, INT, REAL, Shape, Ty};
use crate::{Code, Span, nearest};

/// The scope of names in an expression: an instance, or global names only.
pub(in crate::lustre::elaborate) type At = Option<usize>;

/// A condition that the values of a declared type satisfy.
#[derive(Clone, Debug)]
pub(in crate::lustre::elaborate) struct Refinement {
    /// The offset, in scalars, of the part that it constrains.
    pub(in crate::lustre::elaborate) offset: usize,
    pub(in crate::lustre::elaborate) ty: Ty,
    pub(in crate::lustre::elaborate) condition: TypeCondition,
    pub(in crate::lustre::elaborate) at: At,
    pub(in crate::lustre::elaborate) span: Span,
    /// The part is an element of arrays of these unknown sizes, the outermost first; the condition
    /// holds for each element.
    pub(in crate::lustre::elaborate) within: Vec<TermId>,
}

/// A condition that a type sets for its values: a subrange or the predicate of a subtype.
#[derive(Clone, Copy, Debug)]
pub(in crate::lustre::elaborate) enum TypeCondition {
    Bounds { low: Option<ExprId>, high: Option<ExprId> },
    Predicate { variable: Word, expr: ExprId },
}

/// A type with its conditions.
#[derive(Clone, Debug)]
pub(in crate::lustre::elaborate) struct Resolved {
    pub(in crate::lustre::elaborate) ty: Ty,
    pub(in crate::lustre::elaborate) refinements: Vec<Refinement>,
}

impl Resolved {
    pub(in crate::lustre::elaborate) fn plain(ty: Ty) -> Resolved {
        Resolved { ty, refinements: Vec::new() }
    }
}

/// The largest nesting depth of types.
const MAX_DEPTH: u32 = 100;

/// The type names in scope beside the declared ones.
#[derive(Clone, Copy)]
struct Names<'n> {
    at: At,
    params: &'n [(Word, Resolved)],
}

impl Model<'_> {
    /// The type that a type expression denotes.
    pub(in crate::lustre::elaborate) fn resolve(&mut self, at: At, ty: TypeId) -> Resolved {
        let params = at.map(|i| self.instances[i].type_args.clone()).unwrap_or_default();
        self.resolve_in(Names { at, params: &params }, ty, 0)
    }

    /// The type with this name.
    pub(in crate::lustre::elaborate) fn resolve_name(&mut self, at: At, name: Name) -> Resolved {
        let params = at.map(|i| self.instances[i].type_args.clone()).unwrap_or_default();
        self.named_type(Names { at, params: &params }, name, &[], 0)
    }

    fn resolve_in(&mut self, names: Names<'_>, id: TypeId, depth: u32) -> Resolved {
        let file = self.file;
        let expr = file.ty(id);
        let span = expr.span;
        if depth > MAX_DEPTH {
            self.error(Code::E1602, span, format!("types nested more than {MAX_DEPTH} deep"));
            return Resolved::plain(ERROR);
        }
        if !self.spend(1, span) {
            return Resolved::plain(ERROR);
        }
        match &expr.kind {
            TypeKind::Bool => Resolved::plain(BOOL),
            TypeKind::Int => Resolved::plain(INT),
            TypeKind::Real => Resolved::plain(REAL),
            TypeKind::Machine { signed, width } => Resolved::plain(
                self.types.intern(Shape::Machine { signed: *signed, width: *width }),
            ),
            TypeKind::Enum(_) => {
                let number = self.types.enum_of_type.get(&id.0).copied();
                Resolved::plain(number.map_or(ERROR, |e| self.types.intern(Shape::Enum(e))))
            }
            TypeKind::Subrange { low, high, base } => {
                let base = self.resolve_in(names, *base, depth + 1);
                if base.ty != INT && !self.types.is_machine(base.ty) && base.ty != ERROR {
                    let name = self.type_name(base.ty);
                    let message = format!("a subrange is of ints, not of `{name}`");
                    self.error(Code::E1401, span, message);
                }
                refined(base, TypeCondition::Bounds { low: *low, high: *high }, names.at, span)
            }
            TypeKind::Subtype { variable, base, predicate } => {
                let base = self.resolve_in(names, *base, depth + 1);
                let condition =
                    TypeCondition::Predicate { variable: variable.word, expr: *predicate };
                refined(base, condition, names.at, span)
            }
            TypeKind::Record(fields) => self.record_type(names, fields, span, depth),
            TypeKind::Tuple(types) => self.tuple_type(names, types, span, depth),
            TypeKind::Array { element, size } => {
                let element = self.resolve_in(names, *element, depth + 1);
                self.array_type(names.at, element, *size, span)
            }
            TypeKind::Data(constructors) => self.datatype(names, id, constructors, depth),
            TypeKind::Named(name, args) => self.named_type(names, *name, args, depth),
            TypeKind::Unsupported(what) => {
                self.unsupported(span, what);
                Resolved::plain(ERROR)
            }
            TypeKind::Error => Resolved::plain(ERROR),
        }
    }

    fn record_type(
        &mut self,
        names: Names<'_>,
        fields: &[(Name, TypeId)],
        span: Span,
        depth: u32,
    ) -> Resolved {
        let mut parts = Vec::new();
        let mut all = Resolved::plain(ERROR);
        for (field, ty) in fields {
            if parts.iter().any(|&(f, _)| f == field.word) {
                let text = self.word(field.word);
                let message = format!("the field `{text}` is declared twice");
                self.error(Code::E1301, field.span, message);
            }
            let part = self.resolve_in(names, *ty, depth + 1);
            let offset = parts.iter().map(|&(_, t)| self.types.width(t)).sum();
            all.refinements.extend(moved(part.refinements, offset));
            parts.push((field.word, part.ty));
        }
        let failed = parts.iter().any(|&(_, t)| t == ERROR);
        all.ty = if failed { ERROR } else { self.types.intern(Shape::Record(parts)) };
        self.sized(all, span)
    }

    fn tuple_type(
        &mut self,
        names: Names<'_>,
        types: &[TypeId],
        span: Span,
        depth: u32,
    ) -> Resolved {
        let mut parts = Vec::new();
        let mut all = Resolved::plain(ERROR);
        for ty in types {
            let part = self.resolve_in(names, *ty, depth + 1);
            let offset = parts.iter().map(|&t| self.types.width(t)).sum();
            all.refinements.extend(moved(part.refinements, offset));
            parts.push(part.ty);
        }
        let failed = parts.contains(&ERROR);
        all.ty = if failed { ERROR } else { self.types.intern(Shape::Tuple(parts)) };
        self.sized(all, span)
    }

    /// An array type; its size may be open.
    fn array_type(&mut self, at: At, element: Resolved, size: ExprId, span: Span) -> Resolved {
        let text = self.file.expr(size).span;
        let Some(size) = self.array_size(at, size) else {
            return Resolved::plain(ERROR);
        };
        if element.ty == ERROR {
            return element;
        }
        let size = match size {
            Size::Known(size) => size,
            Size::Open(size) => {
                let text = self.source(text);
                let Some(ty) = self.open_array(element.ty, size, &text, span) else {
                    return Resolved::plain(ERROR);
                };
                let refinements = element.refinements.into_iter().map(|mut r| {
                    r.within.insert(0, size);
                    r
                });
                return Resolved { ty, refinements: refinements.collect() };
            }
        };
        let ty = self.types.intern(Shape::Array(element.ty, size));
        let width = self.types.width(element.ty);
        let all = self.sized(Resolved::plain(ty), span);
        let mut refinements = Vec::new();
        if all.ty != ERROR {
            for i in 0..size as usize {
                refinements.extend(moved(element.refinements.clone(), i * width));
            }
        }
        Resolved { refinements, ..all }
    }

    fn named_type(
        &mut self,
        names: Names<'_>,
        name: Name,
        args: &[TypeId],
        depth: u32,
    ) -> Resolved {
        if let Some((_, bound)) = names.params.iter().find(|(word, _)| *word == name.word) {
            return bound.clone();
        }
        let globals = self.globals;
        let Some(decl) = globals.types.get(&name.word) else {
            let text = self.word(name.word);
            let known: Vec<&str> = globals
                .types
                .keys()
                .map(|&w| self.word(w))
                .chain(["bool", "int", "real"])
                .collect();
            self.report.add(
                Diagnostic::new(Code::E1302, name.span, format!("unknown type `{text}`"))
                    .did_you_mean(nearest(text, known)),
            );
            return Resolved::plain(ERROR);
        };
        if decl.params.len() != args.len() {
            let (text, n) = (self.word(name.word), decl.params.len());
            let message = format!("the type `{text}` takes {n} type arguments, not {}", args.len());
            self.error(Code::E1403, name.span, message);
            return Resolved::plain(ERROR);
        }
        let Some(definition) = decl.definition else {
            return Resolved::plain(self.types.intern(Shape::Abstract(name.word)));
        };
        if self.open_datatypes.contains(&definition) {
            self.unsupported(name.span, "a recursive datatype");
            return Resolved::plain(ERROR);
        }
        if args.is_empty() {
            match self.named_types.get(&name.word) {
                Some(Some(known)) => return known.clone(),
                Some(None) => {
                    let text = self.word(name.word);
                    self.error(
                        Code::E1306,
                        decl.name.span,
                        format!("the type `{text}` is defined by itself"),
                    );
                    return Resolved::plain(ERROR);
                }
                None => {}
            }
            self.named_types.insert(name.word, None);
        }
        let mut params = Vec::new();
        for (param, arg) in decl.params.iter().zip(args) {
            params.push((param.word, self.resolve_in(names, *arg, depth + 1)));
        }
        let resolved = self.resolve_in(Names { at: None, params: &params }, definition, depth + 1);
        if matches!(self.types.shape(resolved.ty), Shape::Record(_)) && args.is_empty() {
            self.types.set_name(resolved.ty, name.word);
        }
        if args.is_empty() {
            self.named_types.insert(name.word, Some(resolved.clone()));
        }
        resolved
    }

    /// The type of a datatype whose parameters are in `names`.
    fn datatype(
        &mut self,
        names: Names<'_>,
        id: TypeId,
        declared: &[(Name, Vec<(Name, TypeId)>)],
        depth: u32,
    ) -> Resolved {
        let span = self.file.ty(id).span;
        let known = self
            .types
            .datatype_of_type
            .get(&id.0)
            .copied()
            .zip(self.types.enum_of_type.get(&id.0).copied());
        let Some((name, number)) = known else { return Resolved::plain(ERROR) };
        self.open_datatypes.push(id);
        let mut constructors = Vec::new();
        let mut fine = true;
        for (_, fields) in declared {
            let mut parts: Vec<(Word, Ty)> = Vec::new();
            for (field, ty) in fields {
                if parts.iter().any(|&(f, _)| f == field.word) {
                    let text = self.word(field.word);
                    self.error(
                        Code::E1301,
                        field.span,
                        format!("the field `{text}` is declared twice"),
                    );
                }
                let part = self.resolve_in(names, *ty, depth + 1);
                if !part.refinements.is_empty() {
                    self.unsupported(self.file.ty(*ty).span, "a subrange or subtype in a datatype");
                    fine = false;
                }
                fine &= part.ty != ERROR;
                parts.push((field.word, part.ty));
            }
            constructors.push(parts);
        }
        self.open_datatypes.pop();
        if !fine {
            return Resolved::plain(ERROR);
        }
        let args = names.params.iter().map(|(_, r)| r.ty).collect();
        let tag = self.types.intern(Shape::Enum(number));
        let ty = self.types.intern(Shape::Data { name, args, tag, constructors });
        self.sized(Resolved::plain(ty), span)
    }

    /// A datatype with its type arguments.
    pub(in crate::lustre::elaborate) fn instantiate(
        &mut self,
        definition: TypeId,
        params: &[(Word, Resolved)],
    ) -> Ty {
        self.resolve_in(Names { at: None, params }, definition, 0).ty
    }

    /// Rejects types with more scalars than the limit.
    fn sized(&mut self, resolved: Resolved, span: Span) -> Resolved {
        if resolved.ty != ERROR && self.types.width(resolved.ty) > LIMITS.width {
            let message = format!("a value of this type has more than {} scalars", LIMITS.width);
            self.error(Code::E1602, span, message);
            return Resolved::plain(ERROR);
        }
        resolved
    }

    fn array_size(&mut self, at: At, size: ExprId) -> Option<Size> {
        let span = self.file.expr(size).span;
        let value = self.eval(at, size);
        if value.is_error() {
            return None;
        }
        if value.ty != INT {
            let name = self.type_name(value.ty);
            self.error(
                Code::E1401,
                span,
                format!("the size of an array is an int, not a `{name}`"),
            );
            return None;
        }
        match value.cell().and_then(|c| self.known(c)) {
            Some(Value::Int(size)) if size <= IBig::ZERO => {
                self.error(
                    Code::E1405,
                    span,
                    format!("an array of size {size}; a size is at least 1"),
                );
                None
            }
            Some(Value::Int(size)) => match u32::try_from(&size) {
                Ok(size) if size as usize <= LIMITS.width => Some(Size::Known(size)),
                _ => {
                    let message = format!("an array of more than {} elements", LIMITS.width);
                    self.error(Code::E1602, span, message);
                    None
                }
            },
            _ => self.open_size(&value, span).map(Size::Open),
        }
    }

    /// The source text of a size: the text after the last `^` of an expression.
    pub(in crate::lustre::elaborate) fn size_text(&self, span: Span) -> String {
        let text = self.source(span);
        text.rsplit('^').next().unwrap_or_default().trim().to_string()
    }
}

/// The size of an array.
enum Size {
    Known(u32),
    /// A constant without a known value.
    Open(TermId),
}

/// The type with another condition on its values.
fn refined(mut base: Resolved, condition: TypeCondition, at: At, span: Span) -> Resolved {
    let ty = base.ty;
    base.refinements.push(Refinement { offset: 0, ty, condition, at, span, within: Vec::new() });
    base
}

/// The refinements of a part, shifted by `offset`.
fn moved(refinements: Vec<Refinement>, offset: usize) -> impl Iterator<Item = Refinement> {
    refinements.into_iter().map(move |r| Refinement { offset: r.offset + offset, ..r })
}

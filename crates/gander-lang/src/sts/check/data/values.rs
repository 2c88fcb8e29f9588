//! Making and comparing values of several parts.

use gander_system::Shape;
use gander_term::{EnumId, Op, Sort, TermId, Value};

use super::{Ty, TypeDecl, Val, at_most, less, offset, owners, plus};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;
use crate::sts::check::Checker;
use crate::sts::check::names::NameKind;
use crate::sts::syntax::{SyntaxKind as K, SyntaxNode, SyntaxToken};
use crate::sts::tree;

/// Equality with an unbounded list of at most this many elements needs no quantifier.
const MAX_COMPARED: usize = 64;

impl Checker {
    /// The default value of a type: the first value of every part, so the first constructor, and
    /// no elements.
    pub(super) fn default_value(&mut self, ty: &Ty) -> Val {
        let parts: Vec<TermId> =
            ty.sorts().iter().map(|sort| self.pool().constant(sort.first_value())).collect();
        Val::of(&ty.shape(), &parts)
    }

    /// A value that must have a type; an int becomes a real.
    pub(in crate::sts::check) fn expect_type(
        &mut self,
        value: Val,
        ty: &Ty,
        node: &SyntaxNode,
    ) -> Option<Val> {
        if let (Val::Term(term), Ty::Sort(sort)) = (&value, ty) {
            return self.expect_sort(*term, *sort, node).map(Val::Term);
        }
        let found = self.ty(&value);
        if found == *ty {
            return Some(value);
        }
        let (wanted, got) = (self.a_type(ty), self.a_type(&found));
        let diagnostic = Diagnostic::new(
            Code::E0301,
            tree::span(node),
            format!("expected {wanted}, found {got}"),
        )
        .here(format!("this is {got}"));
        self.report(diagnostic);
        None
    }

    /// An operand of one part; reports others.
    pub(in crate::sts::check) fn one_part(
        &mut self,
        value: Val,
        node: &SyntaxNode,
    ) -> Option<TermId> {
        if let Val::Term(term) = value {
            return Some(term);
        }
        let ty = self.ty(&value);
        let found = self.a_type(&ty);
        let help = match ty.shape() {
            Shape::Record { fields, .. } => {
                let field = fields.first().map_or("x", |(field, _)| field.as_str());
                format!("name one of its fields, for example `.{field}`")
            }
            Shape::Data { .. } => {
                "ask for its constructor with `is`, or read its fields with `match`".to_owned()
            }
            Shape::Array(_) => "name one of its elements: `a[i]`".to_owned(),
            _ => "name one of its elements, `q[i]` or `head(q)`, or its `length(q)`".to_owned(),
        };
        let message = format!("a value of one part is needed here, but this is {found}");
        let diagnostic = Diagnostic::new(Code::E0302, tree::span(node), message).help(help);
        self.report(diagnostic);
        None
    }

    /// `Point{x: 1, y: 2}`
    pub(in crate::sts::check) fn record_value(&mut self, node: &SyntaxNode) -> Option<Val> {
        let token = tree::reference(node)?;
        let made = self.type_decl(&token)?;
        let Ty::Parts(Shape::Record { fields, .. }, _) = &made.ty else {
            let message = format!("`{}` is not a record", token.text());
            let diagnostic = Diagnostic::new(Code::E0208, tree::token_span(&token), message)
                .help("a value of a `data` sort is written with its constructor: `Circle(2.5)`");
            self.report(diagnostic);
            return None;
        };
        let mut given: Vec<Option<Val>> = vec![None; fields.len()];
        let mut good = true;
        for written in tree::children(node, K::FieldValue) {
            let Some(name) = tree::name(&written) else { continue };
            let Some(at) = fields.iter().position(|(field, _)| field == name.text()) else {
                self.unknown_field(&made.ty, &name);
                good = false;
                continue;
            };
            if given[at].is_some() {
                let message = format!("the field `{}` is given twice", name.text());
                self.report(Diagnostic::new(Code::E0201, tree::token_span(&name), message));
                good = false;
                continue;
            }
            let ty = field_type(&made.ty, at);
            let value = tree::expression(&written).and_then(|value| self.typed(&value, &ty));
            match value {
                Some(value) => given[at] = Some(value),
                None => good = false,
            }
        }
        let missing: Vec<String> = fields
            .iter()
            .zip(&given)
            .filter(|(_, given)| given.is_none())
            .map(|((field, _), _)| format!("`{field}`"))
            .collect();
        if good && !missing.is_empty() {
            let noun = if missing.len() == 1 { "the field" } else { "the fields" };
            let message = format!("{noun} {} of `{}` is missing", missing.join(", "), token.text());
            let message =
                if missing.len() == 1 { message } else { message.replace(" is ", " are ") };
            let diagnostic = Diagnostic::new(Code::E0310, tree::token_span(&token), message)
                .help("to change a field of a value that there is, write `p[x := 3]`");
            self.report(diagnostic);
            return None;
        }
        let mut parts = Vec::new();
        for value in given.into_iter().collect::<Option<Vec<Val>>>().filter(|_| good)? {
            parts.extend_from_slice(value.parts());
        }
        Some(Val::Parts(made.ty.shape(), parts))
    }

    /// The declaration of a record or data sort with this name.
    fn type_decl(&mut self, token: &SyntaxToken) -> Option<std::sync::Arc<TypeDecl>> {
        match self.names.use_of(token.text()).map(|found| found.kind.clone()) {
            Some(NameKind::Type(made)) => Some(made),
            Some(NameKind::Broken) => None,
            _ => {
                let names = self.names.sorted().into_iter();
                let types: Vec<&str> = names
                    .filter(|name| {
                        self.names.get(name).is_some_and(|n| matches!(n.kind, NameKind::Type(_)))
                    })
                    .collect();
                let near = nearest(token.text(), types).map(str::to_owned);
                let message = format!("there is no record `{}`", token.text());
                let diagnostic = Diagnostic::new(Code::E0204, tree::token_span(token), message)
                    .did_you_mean(near.as_deref());
                self.report(diagnostic);
                None
            }
        }
    }

    /// An expression of a known type.
    pub(in crate::sts::check) fn typed(&mut self, node: &SyntaxNode, ty: &Ty) -> Option<Val> {
        let value = self.value(node, Some(ty))?;
        self.expect_type(value, ty, node)
    }

    pub(super) fn unknown_field(&mut self, ty: &Ty, name: &SyntaxToken) {
        let fields: Vec<String> = match ty.shape() {
            Shape::Record { fields, .. } | Shape::Data { fields, .. } => {
                fields.iter().map(|(field, _)| field.clone()).collect()
            }
            _ => Vec::new(),
        };
        let near = nearest(name.text(), fields.iter().map(String::as_str));
        let message = format!("{} has no field `{}`", self.a_type(ty), name.text());
        let mut diagnostic = Diagnostic::new(Code::E0212, tree::token_span(name), message);
        diagnostic = match (&fields[..], near) {
            (_, Some(near)) => diagnostic.did_you_mean(Some(near)),
            ([], _) => diagnostic.help(match ty.shape() {
                Shape::Scalar => "only records and data have fields",
                _ => "its parts are read with `a[i]`, `head(q)` and `length(q)`",
            }),
            (fields, _) => diagnostic.help(format!("its fields are {}", fields.join(", "))),
        };
        self.report(diagnostic);
    }

    /// `Circle(2.5)`, or `Empty` without arguments.
    pub(in crate::sts::check) fn constructed(
        &mut self,
        made: &TypeDecl,
        position: usize,
        args: &[SyntaxNode],
        span: Span,
    ) -> Option<Val> {
        let Ty::Parts(Shape::Data { constructors, fields, .. }, _) = &made.ty else { return None };
        let (name, own) = &constructors[position];
        if args.len() != own.len() {
            let wanted: Vec<&str> = own.iter().map(|&field| fields[field].0.as_str()).collect();
            let message = match own.len() {
                0 => format!("`{name}` takes no arguments"),
                1 => format!("`{name}` takes one argument, and {} are given", args.len()),
                n => format!("`{name}` takes {n} arguments, and {} are given", args.len()),
            };
            let mut diagnostic = Diagnostic::new(Code::E0304, span, message);
            if !own.is_empty() {
                diagnostic = diagnostic.help(format!("write `{name}({})`", wanted.join(", ")));
            }
            self.report(diagnostic);
            return None;
        }
        let mut values = Vec::new();
        for (arg, &field) in args.iter().zip(own) {
            let ty = field_type(&made.ty, field);
            values.push(self.typed(arg, &ty));
        }
        let values: Vec<Val> = values.into_iter().collect::<Option<_>>()?;
        let Val::Parts(shape, mut parts) = self.default_value(&made.ty) else { return None };
        parts[0] = self.tag(made.tag?, position);
        for (value, &field) in values.iter().zip(own) {
            let from = 1 + offset(fields, field);
            parts[from..from + value.parts().len()].copy_from_slice(value.parts());
        }
        Some(Val::Parts(shape, parts))
    }

    pub(super) fn tag(&mut self, tag: EnumId, position: usize) -> TermId {
        self.pool().constant(Value::Enum(tag, position as u32))
    }

    /// That a constructor is one of these.
    pub(super) fn has_constructor(&mut self, tag: TermId, positions: &[usize]) -> TermId {
        let Sort::Enum(sort) = self.builder.pool.sort(tag) else { return self.pool().tt() };
        if positions.len() == self.builder.pool.enumeration(sort).variants.len() {
            return self.pool().tt();
        }
        let mut parts = Vec::new();
        for &position in positions {
            let constant = self.tag(sort, position);
            parts.push(self.pool().eq(tag, constant));
        }
        self.pool().or(parts)
    }

    /// `s is Circle`
    pub(in crate::sts::check) fn tester(&mut self, node: &SyntaxNode) -> Option<TermId> {
        let operand = tree::expression(node)?;
        let value = self.value(&operand, None)?;
        let token = tree::reference(node)?;
        let position = self.position_of(&value, &token, &operand)?;
        Some(self.has_constructor(value.parts()[0], &[position]))
    }

    /// The position of a constructor, or of a value of an enumeration.
    pub(super) fn position_of(
        &mut self,
        value: &Val,
        token: &SyntaxToken,
        operand: &SyntaxNode,
    ) -> Option<usize> {
        let ty = self.ty(value);
        let names: Vec<String> = match (&ty, ty.shape()) {
            (_, Shape::Data { constructors, .. }) => {
                constructors.iter().map(|(name, _)| name.clone()).collect()
            }
            (Ty::Sort(Sort::Enum(id)), _) => self.builder.pool.enumeration(*id).variants.clone(),
            _ => {
                let found = self.a_type(&ty);
                let message = format!("only `data` has constructors, but this is {found}");
                self.report(Diagnostic::new(Code::E0302, tree::span(operand), message));
                return None;
            }
        };
        self.names.use_of(token.text());
        let found = names.iter().position(|name| name == token.text());
        if found.is_none() {
            let message =
                format!("`{}` is not a constructor of `{}`", token.text(), self.type_name(&ty));
            let near = nearest(token.text(), names.iter().map(String::as_str));
            let mut diagnostic = Diagnostic::new(Code::E0212, tree::token_span(token), message);
            diagnostic = match near {
                Some(near) => diagnostic.did_you_mean(Some(near)),
                None => diagnostic.help(format!("its constructors are {}", names.join(", "))),
            };
            self.report(diagnostic);
        }
        found
    }

    /// `if c then a else b` for values of one type.
    pub(in crate::sts::check) fn either(&mut self, when: TermId, yes: &Val, no: &Val) -> Val {
        let pairs = yes.parts().iter().zip(no.parts());
        let parts: Vec<TermId> = pairs
            .map(|(&yes, &no)| if yes == no { yes } else { self.pool().ite(when, yes, no) })
            .collect();
        match yes {
            Val::Term(_) => Val::Term(parts[0]),
            Val::Parts(shape, _) => Val::Parts(shape.clone(), parts),
        }
    }

    /// That two values of one type are equal. `None` if their type has no equality.
    pub(in crate::sts::check) fn equal_values(&mut self, a: &Val, b: &Val) -> Option<TermId> {
        let (shape, xs, ys) = match (a, b) {
            (Val::Parts(shape, xs), Val::Parts(_, ys)) => (shape, xs, ys),
            _ => {
                return Some(self.pool().eq(a.parts()[0], b.parts()[0]));
            }
        };
        let mut all = Vec::new();
        match shape {
            Shape::Scalar => all.push(self.pool().eq(xs[0], ys[0])),
            Shape::Record { fields, .. } => {
                for (k, (_, inner)) in fields.iter().enumerate() {
                    let range = offset(fields, k)..offset(fields, k) + inner.width();
                    let (a, b) = (Val::of(inner, &xs[range.clone()]), Val::of(inner, &ys[range]));
                    all.push(self.equal_values(&a, &b)?);
                }
            }
            Shape::Data { fields, constructors, .. } => {
                all.push(self.pool().eq(xs[0], ys[0]));
                for (k, (_, inner)) in fields.iter().enumerate() {
                    let from = 1 + offset(fields, k);
                    let range = from..from + inner.width();
                    let (a, b) = (Val::of(inner, &xs[range.clone()]), Val::of(inner, &ys[range]));
                    let equal = self.equal_values(&a, &b)?;
                    // The constructors are equal. If that of one side is known, it decides.
                    let tag =
                        if self.builder.pool.as_constant(ys[0]).is_some() { ys[0] } else { xs[0] };
                    let has = self.has_constructor(tag, &owners(constructors, k));
                    all.push(self.pool().implies(has, equal));
                }
            }
            Shape::Array(element) => {
                if has_unread_parts(element) {
                    return None;
                }
                for (&x, &y) in xs.iter().zip(ys) {
                    all.push(self.pool().eq(x, y));
                }
            }
            Shape::Bounded { element, .. } => {
                all.push(self.pool().eq(xs[0], ys[0]));
                let width = element.width();
                let length =
                    if self.builder.pool.as_constant(ys[0]).is_some() { ys[0] } else { xs[0] };
                for (i, (x, y)) in xs[1..].chunks(width).zip(ys[1..].chunks(width)).enumerate() {
                    let equal = self.equal_values(&Val::of(element, x), &Val::of(element, y))?;
                    let i = self.pool().int(i as i64);
                    let has = less(self.pool(), i, length);
                    all.push(self.pool().implies(has, equal));
                }
            }
            Shape::Unbounded(element) => {
                all.push(self.pool().eq(xs[1], ys[1]));
                let known = self.known_length(xs).or_else(|| self.known_length(ys));
                match known {
                    Some(length) if length <= MAX_COMPARED => {
                        for i in 0..length {
                            let i = self.pool().int(i as i64);
                            let (x, y) = (self.element_at(xs, i), self.element_at(ys, i));
                            let equal =
                                self.equal_values(&Val::of(element, &x), &Val::of(element, &y))?;
                            all.push(equal);
                        }
                    }
                    _ => {
                        let bound = self.pool().declare_bound("i", Sort::Int);
                        let i = self.pool().var(bound);
                        let (x, y) = (self.element_at(xs, i), self.element_at(ys, i));
                        let equal =
                            self.equal_values(&Val::of(element, &x), &Val::of(element, &y))?;
                        let pool = self.pool();
                        let zero = pool.int(0);
                        let (low, high) = (at_most(pool, zero, i), less(pool, i, xs[1]));
                        let inside = pool.and([low, high]);
                        let body = pool.implies(inside, equal);
                        all.push(pool.forall(&[bound], body));
                    }
                }
            }
        }
        Some(self.pool().and(all))
    }

    /// The length of an unbounded list, if it is a constant.
    fn known_length(&self, parts: &[TermId]) -> Option<usize> {
        match self.builder.pool.as_constant(parts[1])? {
            Value::Int(length) => usize::try_from(&length).ok(),
            _ => None,
        }
    }

    /// The parts of the element `i` of an unbounded list, which has it.
    pub(super) fn element_at(&mut self, parts: &[TermId], i: TermId) -> Vec<TermId> {
        let pool = self.pool();
        let index = plus(pool, parts[0], i);
        parts[2..]
            .iter()
            .map(|&array| pool.mk(Op::Select, &[array, index]).unwrap_or(array))
            .collect()
    }
}

/// The type of a field.
pub(super) fn field_type(ty: &Ty, field: usize) -> Ty {
    match (ty.shape(), ty.sorts()) {
        (Shape::Record { fields, .. }, sorts) => {
            let from = offset(&fields, field);
            Ty::of(&fields[field].1, &sorts[from..from + fields[field].1.width()])
        }
        (Shape::Data { fields, .. }, sorts) => {
            let from = 1 + offset(&fields, field);
            Ty::of(&fields[field].1, &sorts[from..from + fields[field].1.width()])
        }
        _ => ty.clone(),
    }
}

/// True if equal values may differ in parts that they do not have.
fn has_unread_parts(shape: &Shape) -> bool {
    match shape {
        Shape::Scalar => false,
        Shape::Record { fields, .. } => fields.iter().any(|(_, shape)| has_unread_parts(shape)),
        Shape::Data { fields, constructors, .. } => {
            fields.iter().enumerate().any(|(k, (_, shape))| {
                owners(constructors, k).len() < constructors.len() || has_unread_parts(shape)
            })
        }
        Shape::Array(element) => has_unread_parts(element),
        Shape::Bounded { .. } | Shape::Unbounded(_) => true,
    }
}

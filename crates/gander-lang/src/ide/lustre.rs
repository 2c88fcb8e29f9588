//! Outlines of Lustre texts, from the abstract syntax: names have places there, and expressions
//! are in one list, so nothing recurses over them.

use super::build::{Builder, New, one_line};
use super::words::LUSTRE_WORDS;
use super::{Class, DefinitionKind as D, Outline, TokenRole, tokens};
use crate::Span;
use crate::lustre::ast::{
    Const, Contract, ContractClause, ContractItem, ExprKind, File, Item, Name, Node, Pattern,
    PatternKind, Selector, Statement, TypeId, TypeKind, VarDecl,
};
use crate::lustre::lexer::{Kind, lex};
use crate::lustre::parse;

const VALUES: &[Class] = &[Class::Value];

pub(super) fn outline(text: &str) -> Outline {
    let file = parse(text).file;
    let mut reader = Reader { builder: Builder::new(text), file: &file };
    file.items.iter().for_each(|item| reader.item(item));
    reader.types();
    reader.expressions();
    let (lexed, _) = lex(text);
    let place = |t: &crate::lustre::lexer::Token| Span::new(t.start, t.end);
    let mut all = tokens::comments(text, lexed.iter().map(place));
    for token in &lexed {
        let span = place(token);
        let role = match token.kind {
            Kind::Word => match text.get(span.range()) {
                Some("bool" | "int" | "real") => Some(TokenRole::Builtin),
                Some(word) if LUSTRE_WORDS.binary_search(&word).is_ok() => Some(TokenRole::Keyword),
                _ => None,
            },
            Kind::Int | Kind::Real => Some(TokenRole::Number),
            Kind::Text => Some(TokenRole::Text),
            Kind::Property
            | Kind::Main
            | Kind::Ivc
            | Kind::Realizable
            | Kind::OpenProperty
            | Kind::OpenMain
            | Kind::OpenContract => Some(TokenRole::Annotation),
            _ => continue,
        };
        all.push((span, role));
    }
    reader.builder.finish(all, LUSTRE_WORDS)
}

struct Reader<'t> {
    builder: Builder<'t>,
    file: &'t File,
}

/// Where a declaration is: what it belongs to, and where it is visible.
#[derive(Clone, Copy)]
struct Place {
    parent: Option<usize>,
    scope: Span,
}

impl Reader<'_> {
    fn define(&mut self, kind: D, name: Name, whole: Span, place: Place) -> usize {
        let Place { parent, scope } = place;
        self.builder.define(New { kind, name: name.span, whole, scope, parent })
    }

    fn type_span(&self, ty: TypeId) -> Span {
        self.file.ty(ty).span
    }

    fn item(&mut self, item: &Item) {
        let everywhere = Place { parent: None, scope: self.builder.file() };
        match item {
            Item::Type { name, type_params, definition } => {
                let whole = definition.map_or(name.span, |d| name.span.cover(self.type_span(d)));
                let parent = Some(self.define(D::Type, *name, whole, everywhere));
                let Some(ty) = definition else { return };
                self.builder.fold(whole);
                self.type_parameters(type_params, Place { parent, scope: whole });
                let inner = Place { parent, ..everywhere };
                match &self.file.ty(*ty).kind {
                    TypeKind::Enum(values) => {
                        for value in values {
                            self.define(D::EnumValue, *value, value.span, inner);
                        }
                    }
                    TypeKind::Record(fields) => self.fields(fields, inner),
                    TypeKind::Data(constructors) => {
                        for (constructor, fields) in constructors {
                            let at = constructor.span;
                            self.define(D::EnumValue, *constructor, at, inner);
                            self.fields(fields, inner);
                        }
                    }
                    _ => {}
                }
            }
            Item::Const(constant) => self.constant(constant, everywhere),
            Item::Node(node) => self.node(node, everywhere),
            Item::Contract(decl) => {
                let parent = Some(self.define(D::Module, decl.name, decl.span, everywhere));
                self.builder.fold(decl.span);
                let inner = Place { parent, scope: decl.span };
                self.variables(D::Input, &decl.inputs, inner);
                self.variables(D::Output, &decl.outputs, inner);
                self.contract(&decl.contract, inner);
                self.type_parameters(&decl.type_params, inner);
            }
        }
    }

    fn fields(&mut self, fields: &[(Name, TypeId)], place: Place) {
        for (field, ty) in fields {
            let whole = field.span.cover(self.type_span(*ty));
            let definition = self.define(D::Field, *field, whole, place);
            let sort = self.type_span(*ty);
            self.builder.set_sort(definition, sort);
        }
    }

    /// `a[i] = …`: a name that is not defined elsewhere is bound to every index.
    fn bound_indices(&mut self, path: &[Selector], scope: Span) {
        for selector in path {
            if let Selector::Index(index) = selector
                && let ExprKind::Name(name) = &self.file.expr(*index).kind
                && !self.builder.is_visible(self.builder.slice(name.span), name.span)
            {
                self.define(D::Parameter, *name, name.span, Place { parent: None, scope });
            }
        }
    }

    fn type_parameters(&mut self, names: &[Name], place: Place) {
        for name in names {
            self.define(D::Type, *name, name.span, place);
        }
    }

    fn constant(&mut self, constant: &Const, place: Place) {
        let definition = self.define(D::Constant, constant.name, constant.span, place);
        if let Some(ty) = constant.ty {
            let sort = self.type_span(ty);
            self.builder.set_sort(definition, sort);
        }
    }

    fn variables(&mut self, kind: D, all: &[VarDecl], place: Place) {
        for var in all {
            let sort = self.type_span(var.ty);
            let whole = var.name.span.cover(sort);
            let definition = self.define(kind, var.name, whole, place);
            self.builder.set_sort(definition, sort);
            if let Some(clock) = &var.clock {
                self.builder.refer(clock.variable.span, VALUES);
            }
        }
    }

    fn node(&mut self, node: &Node, everywhere: Place) {
        let function = self.define(D::Function, node.name, node.span, everywhere);
        let header = one_line(self.builder.slice(node.header));
        if !header.is_empty() {
            self.builder.definitions[function].detail = header;
        }
        let parameters = node.inputs.iter().map(|v| v.name.span.cover(self.type_span(v.ty)));
        let parameters = parameters.collect();
        self.builder.set_parameters(function, parameters);
        self.builder.fold(node.span);
        self.builder.region(node.header);
        let inner = Place { parent: Some(function), scope: node.span };
        self.type_parameters(&node.type_params, inner);
        self.variables(D::Input, &node.inputs, inner);
        self.variables(D::Output, &node.outputs, inner);
        self.variables(D::Variable, &node.locals, inner);
        node.consts.iter().for_each(|c| self.constant(c, inner));
        if let Some(contract) = &node.contract {
            self.contract(contract, inner);
        }
        self.body(&node.body, inner);
    }

    fn body(&mut self, body: &[Statement], place: Place) {
        let mut open: Vec<&Statement> = body.iter().rev().collect();
        while let Some(statement) = open.pop() {
            match statement {
                Statement::Equation(equation) => {
                    self.builder.region(equation.span);
                    for target in &equation.left {
                        self.builder.refer(target.name.span, VALUES);
                        self.path(&target.path);
                        self.bound_indices(&target.path, equation.span);
                    }
                }
                Statement::Assert { expr, span } => {
                    self.unnamed(D::Assumption, *span, self.file.expr(*expr).span, place);
                }
                Statement::Property(property) => {
                    self.builder.region(property.span);
                    let expr = self.file.expr(property.expr).span;
                    self.clause(D::Claim, property.name.as_ref(), property.span, expr, place);
                }
                Statement::Main(_) | Statement::Ivc(_) => {}
                Statement::Realizable(names, _) => {
                    for name in names {
                        self.builder.refer(name.span, VALUES);
                    }
                }
                Statement::If { arms, otherwise, span, .. } => {
                    self.builder.region(*span);
                    self.builder.fold(*span);
                    open.extend(arms.iter().flat_map(|(_, inner)| inner).chain(otherwise).rev());
                }
                Statement::Frame { vars, initial, body, span } => {
                    self.builder.region(*span);
                    self.builder.fold(*span);
                    for name in vars {
                        self.builder.refer(name.span, VALUES);
                    }
                    for target in initial.iter().flat_map(|e| &e.left) {
                        self.builder.refer(target.name.span, VALUES);
                    }
                    open.extend(body.iter().rev());
                }
            }
        }
    }

    fn path(&mut self, path: &[Selector]) {
        for selector in path {
            if let Selector::Field(field) = selector {
                self.builder.refer(field.span, &[Class::Field]);
            }
        }
    }

    fn unnamed(&mut self, kind: D, whole: Span, shown: Span, place: Place) {
        let text = one_line(self.builder.slice(shown));
        let Place { parent, scope } = place;
        let new = New { kind, name: shown, whole, scope, parent };
        self.builder.define_unnamed(new, text.chars().take(60).collect());
    }

    /// A formula with a name or without.
    fn clause(
        &mut self,
        kind: D,
        name: Option<&(String, Span)>,
        whole: Span,
        expr: Span,
        place: Place,
    ) {
        let Place { parent, scope } = place;
        match name {
            // A text in quotes is no name that could be used elsewhere.
            Some((name, span)) => {
                let new = New { kind, name: *span, whole, scope, parent };
                self.builder.define_unnamed(new, name.clone());
            }
            None => self.unnamed(kind, whole, expr, place),
        }
    }

    fn contract(&mut self, contract: &Contract, place: Place) {
        self.builder.fold(contract.span);
        self.builder.region(contract.span);
        let clause = |this: &mut Self, kind: D, clause: &ContractClause, place: Place| {
            this.builder.region(clause.span);
            let expr = this.file.expr(clause.expr).span;
            this.clause(kind, clause.name.as_ref(), clause.span, expr, place);
        };
        for item in &contract.items {
            match item {
                ContractItem::Const(constant) => self.constant(constant, place),
                ContractItem::Ghost { vars, .. } => self.variables(D::Variable, vars, place),
                ContractItem::Assume(assume) => clause(self, D::Assumption, assume, place),
                ContractItem::Guarantee(guarantee) => clause(self, D::Claim, guarantee, place),
                ContractItem::Mode { name, requires, ensures, span } => {
                    let parent = Some(self.define(D::Mode, *name, *span, place));
                    let inner = Place { parent, ..place };
                    requires.iter().for_each(|c| clause(self, D::Assumption, c, inner));
                    ensures.iter().for_each(|c| clause(self, D::Claim, c, inner));
                    self.builder.fold(*span);
                }
                ContractItem::Import { contract, .. } => {
                    self.builder.refer(contract.span, &[Class::Module]);
                }
                ContractItem::Decreases(..) => {}
            }
        }
    }

    fn types(&mut self) {
        let everywhere = Place { parent: None, scope: self.builder.file() };
        for ty in &self.file.types {
            match &ty.kind {
                TypeKind::Named(name, _) => {
                    self.builder.refer(name.span, &[Class::Type]);
                }
                TypeKind::Subtype { variable, base, .. } => {
                    let place = Place { parent: None, scope: ty.span };
                    let definition = self.define(D::Parameter, *variable, variable.span, place);
                    let sort = self.type_span(*base);
                    self.builder.set_sort(definition, sort);
                }
                // Those of declared types were defined with their type.
                TypeKind::Enum(values) => {
                    let defined = &self.builder.definitions;
                    let is_new = |v: &&Name| !defined.iter().any(|d| d.span == v.span);
                    let first = values.first().filter(is_new).is_some();
                    if first {
                        for value in values {
                            self.define(D::EnumValue, *value, value.span, everywhere);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn expressions(&mut self) {
        for expr in &self.file.exprs {
            self.builder.region(expr.span);
            match &expr.kind {
                ExprKind::Name(name) | ExprKind::Last(name) => {
                    self.builder.refer(name.span, VALUES);
                }
                ExprKind::Mode(path) => {
                    let mut of = None;
                    for name in path {
                        let classes: &[Class] = &[Class::Mode, Class::Module];
                        of = Some(match of {
                            None => self.builder.refer(name.span, classes),
                            Some(of) => {
                                self.builder.refer_member_or_visible(name.span, classes, of)
                            }
                        });
                    }
                }
                ExprKind::Call(call) => {
                    let name = call.callee.span;
                    self.builder.refer(name, &[Class::Function, Class::Value]);
                    let end = expr.span.end;
                    let open = self.builder.slice(Span::new(name.end, end)).find('(');
                    if let Some(open) = open {
                        let start = name.end + open as u32;
                        self.builder.call(name, Span::new(start, end));
                    }
                }
                ExprKind::When(_, clock) => {
                    self.builder.refer(clock.variable.span, VALUES);
                    if let crate::lustre::ast::ClockValue::Variant(variant) = clock.value {
                        self.builder.refer(variant.span, VALUES);
                    }
                }
                ExprKind::Merge { clock, arms } => {
                    self.builder.refer(clock.span, VALUES);
                    for (value, _) in arms {
                        if let crate::lustre::ast::ClockValue::Variant(variant) = value {
                            self.builder.refer(variant.span, VALUES);
                        }
                    }
                }
                ExprKind::Record(name, fields) => {
                    self.builder.refer(name.span, &[Class::Type]);
                    for (field, _) in fields {
                        self.builder.refer(field.span, &[Class::Field]);
                    }
                }
                ExprKind::RecordOf(_, fields) => {
                    for (field, _) in fields {
                        self.builder.refer(field.span, &[Class::Field]);
                    }
                }
                ExprKind::Field(_, field) => {
                    self.builder.refer(field.span, &[Class::Field]);
                }
                ExprKind::Update { path, .. } => self.path(path),
                ExprKind::Quantifier(_, variables, _) => {
                    let place = Place { parent: None, scope: expr.span };
                    for (name, ty) in variables {
                        let definition = self.define(D::Parameter, *name, name.span, place);
                        let sort = self.type_span(*ty);
                        self.builder.set_sort(definition, sort);
                    }
                }
                ExprKind::Any { ty, such_that: Some((name, _)), .. } => {
                    let place = Place { parent: None, scope: expr.span };
                    let definition = self.define(D::Parameter, *name, name.span, place);
                    let sort = self.type_span(*ty);
                    self.builder.set_sort(definition, sort);
                }
                ExprKind::Match(_, arms) => {
                    for (pattern, value) in arms {
                        let scope = pattern.span.cover(self.file.expr(*value).span);
                        self.pattern(pattern, scope);
                    }
                }
                ExprKind::Tester(name, _) | ExprKind::Constructor(name, _) => {
                    self.builder.refer(name.span, VALUES);
                }
                _ => {}
            }
        }
    }

    fn pattern(&mut self, pattern: &Pattern, scope: Span) {
        let mut open = vec![pattern];
        while let Some(pattern) = open.pop() {
            match &pattern.kind {
                PatternKind::Any => {}
                PatternKind::Name(name) => {
                    // A constructor if one has this name, otherwise a variable.
                    let text = self.builder.slice(name.span);
                    let is_value = self
                        .builder
                        .definitions
                        .iter()
                        .any(|d| d.kind == D::EnumValue && d.name == text);
                    if is_value {
                        self.builder.refer(name.span, VALUES);
                    } else {
                        let place = Place { parent: None, scope };
                        self.define(D::Parameter, *name, name.span, place);
                    }
                }
                PatternKind::Constructor(name, parts) => {
                    self.builder.refer(name.span, VALUES);
                    open.extend(parts);
                }
            }
        }
    }
}

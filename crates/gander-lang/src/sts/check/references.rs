//! References between specifications: `spec Loan(account: BankAccount)` reads `account.balance`.
//!
//! A specification alone treats the variables that it reads of others as inputs, named like
//! `account.balance`, and its constants (`id: int`) as variables that never change. In a system
//! each of them is linked to the variable of the instance passed as argument (`l: Loan(a)`), or to
//! a value, and has no value of its own.

use super::data::{Ty, Val};
use super::names::NameKind;
use super::{Checker, Spec, bits};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;
use crate::sts::syntax::{SyntaxKind as K, SyntaxNode, SyntaxToken};
use crate::sts::tree;
use gander_system::{Role, Shape, System};
use gander_term::{Sort, Value};
use rustc_hash::FxHashMap;

/// Another instance that a specification reads: its name there, and its specification.
pub(super) struct Reference {
    pub name: SyntaxToken,
    pub spec: SyntaxToken,
}

/// The references in the header of a specification.
pub(super) fn references(header: &SyntaxNode) -> Vec<Reference> {
    let listed = tree::children(header, K::Reference);
    listed
        .filter_map(|r| Some(Reference { name: tree::name(&r)?, spec: tree::reference(&r)? }))
        .collect()
}

/// What a specification reads of another instance.
pub(super) struct Referred {
    vars: FxHashMap<String, Val>,
    /// For each node, the formula that the instance is at it.
    nodes: FxHashMap<String, gander_term::TermId>,
}

/// True if a parameter of a specification is a constant, not another instance.
pub(super) fn is_constant(reference: &Reference, specs: &[Spec]) -> bool {
    let name = reference.spec.text();
    if specs.iter().any(|spec| spec.name == name) {
        return false;
    }
    let is_enum = |item: &SyntaxNode| {
        item.kind() == K::EnumDecl && tree::name(item).is_some_and(|n| n.text() == name)
    };
    matches!(name, "bool" | "int" | "real" | "string")
        || bits::sort_named(name).is_some()
        || specs.iter().any(|spec| spec.items.iter().any(is_enum))
}

/// References to specifications that do not exist.
pub(super) fn unknown(specs: &[Spec]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for reference in specs.iter().flat_map(|spec| &spec.references) {
        let name = reference.spec.text();
        if is_constant(reference, specs) || specs.iter().any(|other| other.name == name) {
            continue;
        }
        let near = nearest(name, specs.iter().map(|spec| spec.name.as_str()));
        let message = format!("there is no specification `{name}` in this file");
        let span = tree::token_span(&reference.spec);
        found.push(Diagnostic::new(Code::E0701, span, message).did_you_mean(near));
    }
    found
}

/// True if a variable belongs to the specification itself.
pub(super) fn is_own(name: &str) -> bool {
    !name.contains('.')
}

/// The input that stands for the node of another instance.
pub(super) fn location_name(reference: &str) -> String {
    format!("{reference}.@node")
}

impl Checker {
    /// Makes the variables and nodes of the referenced specifications readable, and declares the
    /// constants.
    pub(super) fn declare_references(
        &mut self,
        spec: &Spec,
        declared: &[(&str, Option<&System>)],
        specs: &[Spec],
    ) {
        for reference in &spec.references {
            let (name, span) =
                (reference.name.text().to_owned(), tree::token_span(&reference.name));
            if self.references.contains_key(&name) || self.names.get(&name).is_some() {
                self.report(
                    Diagnostic::new(Code::E0201, span, format!("`{name}` is declared twice"))
                        .help("rename one of them"),
                );
                continue;
            }
            if is_constant(reference, specs) {
                self.declare_constant(reference, &name, span);
                continue;
            }
            let other = declared.iter().find(|(known, _)| *known == reference.spec.text());
            let Some(other) = other.and_then(|(_, system)| *system) else { continue };
            if let Some(spec) = specs.iter().find(|s| s.name == reference.spec.text()) {
                self.foreign_types.extend(spec.items.iter().cloned());
            }
            let mut vars = FxHashMap::default();
            for var in other.shown_vars().filter(|var| is_own(var.name)) {
                let mut sorts = Vec::new();
                for part in var.parts() {
                    sorts.extend(self.foreign_sort(other, other.var(part).sort, span));
                }
                if sorts.len() != var.width {
                    continue;
                }
                let full = format!("{name}.{}", var.name);
                let value = match var.shape {
                    Shape::Scalar => {
                        match self.builder.var(&full, sorts[0], Role::Input, None, Some(span)) {
                            Ok(id) => {
                                let symbol = self.builder.so_far().var(id).current;
                                Some(Val::Term(self.pool().var(symbol)))
                            }
                            Err(error) => {
                                self.internal(error, span);
                                None
                            }
                        }
                    }
                    shape => {
                        let ty = Ty::Parts(shape.clone(), sorts.into());
                        let first = self.declare_parts(&full, &ty, Role::Input, span);
                        first.map(|first| self.current_value(shape, first))
                    }
                };
                vars.extend(value.map(|value| (var.name.to_owned(), value)));
            }
            let nodes = self.foreign_nodes(other, &name, span);
            self.references.insert(name, Referred { vars, nodes });
        }
    }

    /// A constant whose value the system gives: in the specification alone, a variable that never
    /// changes.
    fn declare_constant(&mut self, reference: &Reference, name: &str, span: Span) {
        let Some(sort) = self.sort_named(reference.spec.text(), tree::token_span(&reference.spec))
        else {
            return self.names.insert(name.to_owned(), NameKind::Broken, span);
        };
        match self.builder.var(name, sort, Role::State, None, Some(span)) {
            Ok(id) => {
                let symbol = self.builder.so_far().var(id).current;
                let term = self.pool().var(symbol);
                self.names.insert(name.to_owned(), NameKind::Const(Val::Term(term)), span);
            }
            Err(error) => self.internal(error, span),
        }
    }

    /// The formulas that another instance is at its nodes, by node.
    fn foreign_nodes(
        &mut self,
        other: &System,
        name: &str,
        span: Span,
    ) -> FxHashMap<String, gander_term::TermId> {
        let mut nodes = FxHashMap::default();
        let names: Vec<&str> = other.nodes().iter().map(|n| n.name.as_str()).collect();
        let Ok(sort) = self.pool().declare_enum(&format!("{}.Node", other.name()), &names) else {
            return nodes;
        };
        let input =
            self.builder.var(&location_name(name), Sort::Enum(sort), Role::Input, None, Some(span));
        let Ok(input) = input else { return nodes };
        let symbol = self.builder.so_far().var(input).current;
        for (at, node) in names.into_iter().enumerate() {
            let place = self.pool().var(symbol);
            let here = self.pool().constant(Value::Enum(sort, at as u32));
            nodes.insert(node.to_owned(), self.pool().eq(place, here));
        }
        nodes
    }

    /// The formula that another instance is at a node, if the name is one of a reference.
    pub(super) fn referred_at(
        &mut self,
        instance: &SyntaxToken,
        node: &SyntaxToken,
    ) -> Option<Option<gander_term::TermId>> {
        let known = &self.references.get(instance.text())?.nodes;
        if let Some(here) = known.get(node.text()) {
            return Some(Some(*here));
        }
        let mut names: Vec<&str> = known.keys().map(String::as_str).collect();
        names.sort_unstable();
        let near = nearest(node.text(), names.iter().copied());
        let message = format!("`{}` has no node `{}`", instance.text(), node.text());
        let diagnostic =
            Diagnostic::new(Code::E0203, tree::token_span(node), message).did_you_mean(near);
        self.report(diagnostic);
        Some(None)
    }

    /// The corresponding sort in this specification; an enumeration of the other one is declared
    /// here, with its values.
    fn foreign_sort(&mut self, other: &System, sort: Sort, span: Span) -> Option<Sort> {
        let Sort::Enum(id) = sort else { return Some(sort) };
        let enumeration = other.pool().enumeration(id).clone();
        let variants: Vec<&str> = enumeration.variants.iter().map(String::as_str).collect();
        let Ok(new) = self.pool().declare_enum(&enumeration.name, &variants) else {
            let message = format!(
                "both specifications have an enumeration `{}`, with different values",
                enumeration.name
            );
            self.report(Diagnostic::new(Code::E0201, span, message).help("rename one of them"));
            return None;
        };
        // The constructors of a data sort.
        if enumeration.name.contains('.') {
            return Some(Sort::Enum(new));
        }
        if self.names.get(&enumeration.name).is_none() {
            self.names.insert(enumeration.name.clone(), NameKind::Sort(new), span);
        }
        for (position, value) in enumeration.variants.iter().enumerate() {
            let mut values = match self.names.get(value).map(|found| found.kind.clone()) {
                Some(NameKind::Values(values)) => values,
                Some(_) => continue,
                None => Vec::new(),
            };
            if !values.contains(&(new, position as u32)) {
                values.push((new, position as u32));
                self.names.insert(value.clone(), NameKind::Values(values), span);
            }
        }
        Some(Sort::Enum(new))
    }

    /// `account.balance` in a specification that refers to `account`; `None` if it does not.
    pub(super) fn referred(
        &mut self,
        first: &SyntaxToken,
        second: &SyntaxToken,
    ) -> Option<Option<Val>> {
        let vars = &self.references.get(first.text())?.vars;
        if let Some(value) = vars.get(second.text()) {
            return Some(Some(value.clone()));
        }
        let mut known: Vec<&str> = vars.keys().map(String::as_str).collect();
        known.sort_unstable();
        let message = format!("`{}` has no variable `{}`", first.text(), second.text());
        let diagnostic = Diagnostic::new(Code::E0702, tree::token_span(second), message)
            .did_you_mean(nearest(second.text(), known.iter().copied()));
        self.report(diagnostic);
        Some(None)
    }
}

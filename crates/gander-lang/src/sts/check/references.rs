//! References between specifications: `spec Loan(account: BankAccount)` reads `account.balance`.
//!
//! A specification alone treats the variables that it reads of others as inputs, named like
//! `account.balance`. In a system each of them is linked to the variable of the instance passed as
//! argument (`l: Loan(a)`), and has no value of its own.

use super::names::NameKind;
use super::{Checker, Spec};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;
use crate::sts::syntax::{SyntaxKind as K, SyntaxNode, SyntaxToken};
use crate::sts::tree;
use gander_system::passes::Link;
use gander_system::{Role, System, VarId};
use gander_term::Sort;
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

/// The specifications in dependency order, without those on a cycle.
pub(super) fn in_order(specs: &[Spec]) -> (Vec<usize>, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let mut waits: Vec<Vec<usize>> = vec![Vec::new(); specs.len()];
    for (at, spec) in specs.iter().enumerate() {
        for reference in &spec.references {
            match specs.iter().position(|other| other.name == reference.spec.text()) {
                Some(other) => waits[at].push(other),
                None => {
                    let near =
                        nearest(reference.spec.text(), specs.iter().map(|spec| spec.name.as_str()));
                    let message = format!(
                        "there is no specification `{}` in this file",
                        reference.spec.text()
                    );
                    let span = tree::token_span(&reference.spec);
                    found.push(Diagnostic::new(Code::E0701, span, message).did_you_mean(near));
                }
            }
        }
    }
    let mut order: Vec<usize> = Vec::new();
    let mut done = vec![false; specs.len()];
    loop {
        let ready: Vec<usize> = (0..specs.len())
            .filter(|&at| !done[at] && waits[at].iter().all(|&other| done[other]))
            .collect();
        if ready.is_empty() {
            break;
        }
        for at in ready {
            done[at] = true;
            order.push(at);
        }
    }
    if let Some(first) = done.iter().position(|done| !done) {
        found.push(cycle(specs, &waits, &done, first));
    }
    (order, found)
}

/// Follows specifications that wait for each other until one repeats.
fn cycle(specs: &[Spec], waits: &[Vec<usize>], done: &[bool], first: usize) -> Diagnostic {
    let mut path: Vec<usize> = vec![first];
    let cycle = loop {
        let last = path[path.len() - 1];
        let Some(&next) = waits[last].iter().find(|&&other| !done[other]) else {
            break path.clone();
        };
        if let Some(at) = path.iter().position(|&seen| seen == next) {
            break path[at..].to_vec();
        }
        path.push(next);
    };
    let names: Vec<String> =
        cycle.iter().chain(cycle.first()).map(|&at| format!("`{}`", specs[at].name)).collect();
    let message = match &cycle[..] {
        [one] => format!("the specification `{}` refers to itself", specs[*one].name),
        _ => format!(
            "these specifications refer to each other in a circle: {}",
            names.join(" reads ")
        ),
    };
    let mut diagnostic = Diagnostic::new(Code::E0705, specs[cycle[0]].span, message).help(
        "let one of them do without the other, or put what both need into a third specification",
    );
    for &at in cycle.iter().skip(1) {
        diagnostic = diagnostic.label(specs[at].span, "and this one");
    }
    diagnostic
}

/// True if a variable belongs to the specification itself.
fn is_own(name: &str) -> bool {
    !name.contains('.')
}

impl Checker {
    /// Makes the variables of the referenced specifications readable.
    pub(super) fn declare_references(&mut self, spec: &Spec, built: &[(&str, Option<&System>)]) {
        for reference in &spec.references {
            let (name, span) =
                (reference.name.text().to_owned(), tree::token_span(&reference.name));
            if self.references.contains_key(&name) {
                self.report(
                    Diagnostic::new(Code::E0201, span, format!("`{name}` is declared twice"))
                        .help("rename one of them"),
                );
                continue;
            }
            let other = built
                .iter()
                .find(|(known, _)| *known == reference.spec.text())
                .and_then(|(_, s)| *s);
            let mut vars = FxHashMap::default();
            for var in other.iter().flat_map(|other| other.vars()).filter(|var| is_own(&var.name)) {
                let Some(sort) = other.and_then(|other| self.foreign_sort(other, var.sort, span))
                else {
                    continue;
                };
                match self.builder.var(
                    &format!("{name}.{}", var.name),
                    sort,
                    Role::Input,
                    None,
                    Some(span),
                ) {
                    Ok(id) => drop(vars.insert(var.name.clone(), id)),
                    Err(error) => self.internal(error, span),
                }
            }
            self.references.insert(name, vars);
        }
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
    ) -> Option<Option<gander_term::TermId>> {
        let vars = self.references.get(first.text())?;
        if let Some(&var) = vars.get(second.text()) {
            let symbol = self.builder.so_far().var(var).current;
            return Some(Some(self.pool().var(symbol)));
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

/// An instance of a system: its name, its specification, and its arguments.
pub(super) struct InstanceDecl {
    pub name: String,
    pub of: SyntaxToken,
    pub arguments: Vec<SyntaxToken>,
}

/// The instances that a system declares.
pub(super) fn instances(system: &SyntaxNode) -> Vec<InstanceDecl> {
    let read = |instance: SyntaxNode| {
        let (name, of) = (tree::name(&instance)?, tree::reference(&instance)?);
        let arguments =
            tree::children(&instance, K::Argument).filter_map(|a| tree::reference(&a)).collect();
        Some(InstanceDecl { name: name.text().to_owned(), of, arguments })
    };
    tree::children(system, K::Instance).filter_map(read).collect()
}

/// Checks that every instance gets the arguments that its specification refers to.
pub(super) fn check_arguments(instances: &[InstanceDecl], specs: &[Spec]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for instance in instances {
        let Some(spec) = specs.iter().find(|spec| spec.name == instance.of.text()) else {
            continue;
        };
        let (wanted, given) = (spec.references.len(), instance.arguments.len());
        if wanted != given {
            let noun = if wanted == 1 { "instance" } else { "instances" };
            let message =
                format!("`{}` refers to {wanted} other {noun}, and {given} are given", spec.name);
            let names: Vec<&str> = spec.references.iter().map(|r| r.spec.text()).collect();
            let mut diagnostic =
                Diagnostic::new(Code::E0706, tree::token_span(&instance.of), message);
            if !names.is_empty() {
                let like =
                    spec.references.iter().map(|r| r.name.text()).collect::<Vec<_>>().join(", ");
                diagnostic = diagnostic.help(format!(
                    "write `{}: {}({like})` with the names of instances of {}",
                    instance.name,
                    spec.name,
                    names.join(", ")
                ));
            }
            found.push(diagnostic);
            continue;
        }
        for (reference, argument) in spec.references.iter().zip(&instance.arguments) {
            let span = tree::token_span(argument);
            match instances.iter().find(|other| other.name == argument.text()) {
                Some(other) if other.of.text() == reference.spec.text() => {}
                Some(other) => {
                    let message = format!(
                        "`{}` is an instance of `{}`, and `{}` refers to one of `{}`",
                        other.name,
                        other.of.text(),
                        spec.name,
                        reference.spec.text()
                    );
                    found.push(Diagnostic::new(Code::E0706, span, message));
                }
                None => {
                    let near =
                        nearest(argument.text(), instances.iter().map(|other| other.name.as_str()));
                    let message =
                        format!("there is no instance `{}` in this system", argument.text());
                    found.push(Diagnostic::new(Code::E0702, span, message).did_you_mean(near));
                }
            }
        }
    }
    found
}

/// The links between the variables of instances, from their arguments.
pub(super) fn links(instances: &[InstanceDecl], specs: &[Spec], parts: &[&System]) -> Vec<Link> {
    let mut links = Vec::new();
    let find = |system: &System, name: &str| {
        system.vars().iter().position(|var| var.name == name).map(VarId::from)
    };
    for (at, instance) in instances.iter().enumerate() {
        let Some(spec) = specs.iter().find(|spec| spec.name == instance.of.text()) else {
            continue;
        };
        for (reference, argument) in spec.references.iter().zip(&instance.arguments) {
            let Some(owner) = instances.iter().position(|other| other.name == argument.text())
            else {
                continue;
            };
            let (Some(reader), Some(read)) = (parts.get(at), parts.get(owner)) else { continue };
            for var in read.vars().iter().filter(|var| is_own(&var.name)) {
                let input = find(reader, &format!("{}.{}", reference.name.text(), var.name));
                if let (Some(input), Some(own)) = (input, find(read, &var.name)) {
                    links.push(Link { reader: (at, input), read: (owner, own) });
                }
            }
        }
    }
    links
}

//! A file with one specification, or several composed to a system.

use super::{Checker, Spec, declarations, specs, text};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Severity};
use crate::span::Span;
use crate::sts::syntax::{SyntaxKind as K, SyntaxNode, SyntaxToken};
use crate::sts::tree;
use crate::suggest::nearest;
use gander_system::{NodeId, System};
use gander_term::TermId;
use rustc_hash::FxHashMap;

/// An instance of a specification in a system.
pub(super) struct Instance {}

pub(super) fn check_file(root: &SyntaxNode, file_name: &str) -> (Option<System>, Vec<Diagnostic>) {
    let (specs, systems) = specs(root, file_name);
    let mut diagnostics = Vec::new();
    if specs.is_empty() && systems.is_empty() {
        let diagnostic = Diagnostic::new(Code::E0505, Span::at(0), "this file declares nothing")
            .help("begin with `spec Name`, variables and a `start`");
        return (None, vec![diagnostic]);
    }
    let mut built = Vec::new();
    for spec in &specs {
        let (system, found) = check_spec(spec);
        diagnostics.extend(found);
        built.push(system);
    }
    let main = match (&systems[..], &specs[..]) {
        ([], [_]) => built.pop().flatten(),
        ([], _) => {
            let second = &specs[1];
            let diagnostic =
                Diagnostic::new(Code::E0504, second.span, "there are several specifications and no system")
                    .label(specs[0].span, "the first one")
                    .help(format!(
                        "say what is to be checked: `system Both = a: {} || b: {}`",
                        specs[0].name, second.name
                    ));
            diagnostics.push(diagnostic);
            None
        }
        ([system, ..], _) => {
            diagnostics.extend(check_parts(system, &specs));
            diagnostics.push(Diagnostic::new(
                Code::E0704,
                system.span,
                "systems of several specifications cannot be built yet",
            ));
            None
        }
    };
    if let Some(system) = &main
        && system.claims.is_empty()
    {
        let span = specs.first().map_or(Span::at(0), |spec| spec.span);
        let diagnostic = Diagnostic::new(Code::W0803, span, "nothing is claimed, so there is nothing to prove")
            .help("add for example `always NAME: formula` or `reachable NAME: formula`");
        diagnostics.push(diagnostic);
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span.start);
    let failed = diagnostics.iter().any(|diagnostic| diagnostic.severity() == Severity::Error);
    (main.filter(|_| !failed), diagnostics)
}

/// Checks that instances and synchronisations name what exists, and that nothing else is declared.
fn check_parts(system: &Spec, specs: &[Spec]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut instances: FxHashMap<String, Option<&Spec>> = FxHashMap::default();
    for item in &system.items {
        match item.kind() {
            K::SystemDecl => {
                for instance in tree::children(item, K::Instance) {
                    let (Some(name), Some(of)) = (tree::name(&instance), tree::reference(&instance)) else { continue };
                    let spec = specs.iter().find(|spec| spec.name == of.text());
                    if spec.is_none() {
                        let near = nearest(of.text(), specs.iter().map(|spec| spec.name.as_str()));
                        let message = format!("there is no specification `{}` in this file", of.text());
                        found.push(Diagnostic::new(Code::E0701, tree::token_span(&of), message).did_you_mean(near));
                    }
                    instances.insert(text(&name), spec);
                }
                for member in tree::children(item, K::Sync)
                    .flat_map(|sync| tree::children(&sync, K::SyncMember).collect::<Vec<_>>())
                {
                    found.extend(check_member(&member, &instances));
                }
            }
            K::Claim | K::FairDecl | K::DefineDecl | K::AssumeDecl => {}
            _ => {
                let word = tree::ident(item).map_or(tree::span(item), |word| tree::token_span(&word));
                let diagnostic = Diagnostic::new(
                    Code::E0506,
                    word,
                    "a system consists of its instances: it declares nothing of its own",
                )
                .label(system.span, "in this system")
                .help("move this into one of the specifications, above the system");
                found.push(diagnostic);
            }
        }
    }
    found
}

fn check_member(member: &SyntaxNode, instances: &FxHashMap<String, Option<&Spec>>) -> Option<Diagnostic> {
    let mut parts = tree::references(member).filter_map(|part| tree::ident(&part));
    let (instance, gate) = (parts.next()?, parts.next()?);
    let Some(spec) = instances.get(instance.text()) else {
        let mut known: Vec<&str> = instances.keys().map(String::as_str).collect();
        known.sort_unstable();
        let message = format!("there is no instance `{}` in this system", instance.text());
        let near = nearest(instance.text(), known.iter().copied());
        return Some(Diagnostic::new(Code::E0703, tree::token_span(&instance), message).did_you_mean(near));
    };
    let spec = (*spec)?;
    let gates: Vec<SyntaxToken> = spec
        .items
        .iter()
        .flat_map(|item| item.descendants().filter(|node| node.kind() == K::Transition))
        .filter_map(|transition| tree::name(&transition))
        .collect();
    if gates.iter().any(|known| known.text() == gate.text()) {
        return None;
    }
    let message = format!("`{}` has no gate `{}`", spec.name, gate.text());
    let near = nearest(gate.text(), gates.iter().map(|gate| gate.text())).map(str::to_owned);
    Some(Diagnostic::new(Code::E0703, tree::token_span(&gate), message).did_you_mean(near.as_deref()))
}

/// Checks one specification and builds its system.
fn check_spec(spec: &Spec) -> (Option<System>, Vec<Diagnostic>) {
    let Some(mut checker) = declarations::open(spec) else {
        let diagnostic = Diagnostic::new(Code::E0901, spec.span, "this specification cannot be built");
        return (None, vec![diagnostic]);
    };
    checker.declarations(spec);
    checker.shape(spec);
    let written = checker.collect_transitions(spec);
    checker.transitions(&written);
    checker.starts(spec);
    checker.invariants(spec);
    checker.assumptions(&spec.items);
    let fairness = checker.fairness(&spec.items);
    checker.claims(&spec.items, &fairness);
    checker.warnings(spec);
    let failed = checker.has_errors();
    (if failed { None } else { Some(checker.builder.finish()) }, checker.diagnostics)
}

impl Checker {
    /// `instance.variable`
    pub(super) fn instance_member(
        &mut self,
        _first: &SyntaxToken,
        _second: &SyntaxToken,
        _span: Span,
    ) -> Option<TermId> {
        None
    }

    /// The nodes of the composed system in which an instance is at a node.
    pub(super) fn instance_nodes(
        &mut self,
        _instance: Option<&SyntaxToken>,
        _reference: &SyntaxNode,
    ) -> Option<Vec<NodeId>> {
        None
    }

    /// The nodes that a reference stands for.
    pub(super) fn nodes_of(&mut self, reference: &SyntaxNode) -> Option<Vec<NodeId>> {
        if self.instances.is_empty() {
            let token = tree::ident(reference)?;
            return self.node_named(&token).map(|node| vec![node]);
        }
        self.instance_nodes(None, reference)
    }
}

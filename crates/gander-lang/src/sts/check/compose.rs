//! A file with one specification, or several composed to a system.

use super::names::{NameKind, Names};
use super::{Checker, Graph, Place, Spec, declarations, references, specs, text};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::{Diagnostic, Severity};
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;
use crate::sts::syntax::{SyntaxKind as K, SyntaxNode, SyntaxToken};
use crate::sts::tree;
use gander_system::passes::{ComposeError, Composed, LeftOut, Sync, compose_linked};
use gander_system::{NodeId, System, VarId};
use gander_term::{Sort, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

/// An instance of a specification in a system.
pub(super) struct Instance {
    vars: FxHashMap<String, VarId>,
    /// For each node of the specification, the nodes of the composed system in which the instance
    /// is at that node.
    nodes: FxHashMap<String, Vec<NodeId>>,
}

pub(super) fn check_file(root: &SyntaxNode, file_name: &str) -> (Option<System>, Vec<Diagnostic>) {
    let (specs, systems) = specs(root, file_name);
    let mut diagnostics = Vec::new();
    if specs.is_empty() && systems.is_empty() {
        let diagnostic = Diagnostic::new(Code::E0505, Span::at(0), "this file declares nothing")
            .help("begin with `spec Name`, variables and a `start`");
        return (None, vec![diagnostic]);
    }
    let mut built: Vec<Option<System>> = vec![None; specs.len()];
    let (order, found) = references::in_order(&specs);
    diagnostics.extend(found);
    for at in order {
        let known: Vec<(&str, Option<&System>)> = specs
            .iter()
            .zip(&built)
            .map(|(spec, built)| (spec.name.as_str(), built.as_ref()))
            .collect();
        // Skip a specification that reads one that could not be built.
        let missing = |r: &references::Reference| {
            !known.iter().any(|(n, s)| *n == r.spec.text() && s.is_some())
        };
        if specs[at].references.iter().any(missing) {
            continue;
        }
        let (system, found) = check_spec(&specs[at], systems.is_empty(), &known);
        diagnostics.extend(found);
        built[at] = system;
    }
    let main = match (&systems[..], &specs[..]) {
        ([], [_]) => built.pop().flatten(),
        ([], _) => {
            let second = &specs[1];
            let diagnostic = Diagnostic::new(
                Code::E0504,
                second.span,
                "there are several specifications and no system",
            )
            .label(specs[0].span, "the first one")
            .help(format!(
                "say what is to be checked: `system Both = a: {} || b: {}`",
                specs[0].name, second.name
            ));
            diagnostics.push(diagnostic);
            None
        }
        ([system], _) => {
            let found = check_parts(system, &specs);
            let good = found.is_empty();
            diagnostics.extend(found);
            let (whole, found) =
                if good { composed(system, &specs, &built) } else { (None, Vec::new()) };
            diagnostics.extend(found);
            whole
        }
        ([first, second, ..], _) => {
            let diagnostic = Diagnostic::new(
                Code::E0504,
                second.span,
                "a file has one system, and this is the second",
            )
            .label(first.span, "the first one")
            .help("put it into a file of its own");
            diagnostics.push(diagnostic);
            None
        }
    };
    if let Some(system) = &main
        && system.claims().is_empty()
    {
        let span = systems.first().or(specs.first()).map_or(Span::at(0), |spec| spec.span);
        let diagnostic =
            Diagnostic::new(Code::W0803, span, "nothing is claimed, so there is nothing to prove")
                .help("add for example `always NAME: formula` or `reachable NAME: formula`");
        diagnostics.push(diagnostic);
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span.start);
    let failed = diagnostics.iter().any(|diagnostic| diagnostic.severity() == Severity::Error);
    (main.filter(|_| !failed), diagnostics)
}

/// Checks that instances and synchronisations refer to existing names, and that a system declares
/// nothing else.
fn check_parts(system: &Spec, specs: &[Spec]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut instances: FxHashMap<String, Option<&Spec>> = FxHashMap::default();
    for item in &system.items {
        match item.kind() {
            K::SystemDecl => {
                for instance in tree::children(item, K::Instance) {
                    let (Some(name), Some(of)) =
                        (tree::name(&instance), tree::reference(&instance))
                    else {
                        continue;
                    };
                    let spec = specs.iter().find(|spec| spec.name == of.text());
                    if spec.is_none() {
                        let near = nearest(of.text(), specs.iter().map(|spec| spec.name.as_str()));
                        let message =
                            format!("there is no specification `{}` in this file", of.text());
                        found.push(
                            Diagnostic::new(Code::E0701, tree::token_span(&of), message)
                                .did_you_mean(near),
                        );
                    }
                    instances.insert(text(&name), spec);
                }
                found.extend(references::check_arguments(&references::instances(item), specs));
                for member in tree::children(item, K::Sync)
                    .flat_map(|sync| tree::children(&sync, K::SyncMember).collect::<Vec<_>>())
                {
                    found.extend(check_member(&member, &instances));
                }
            }
            K::Claim | K::FairDecl | K::DefineDecl | K::ConstDecl | K::AssumeDecl | K::Allow => {}
            _ => {
                let word =
                    tree::ident(item).map_or(tree::span(item), |word| tree::token_span(&word));
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

fn check_member(
    member: &SyntaxNode,
    instances: &FxHashMap<String, Option<&Spec>>,
) -> Option<Diagnostic> {
    let mut parts = tree::references(member).filter_map(|part| tree::ident(&part));
    let (instance, gate) = (parts.next()?, parts.next()?);
    let Some(spec) = instances.get(instance.text()) else {
        let mut known: Vec<&str> = instances.keys().map(String::as_str).collect();
        known.sort_unstable();
        let message = format!("there is no instance `{}` in this system", instance.text());
        let near = nearest(instance.text(), known.iter().copied());
        return Some(
            Diagnostic::new(Code::E0703, tree::token_span(&instance), message).did_you_mean(near),
        );
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
    Some(
        Diagnostic::new(Code::E0703, tree::token_span(&gate), message)
            .did_you_mean(near.as_deref()),
    )
}

/// Checks one specification and builds its system. With `alone` false the specification belongs to
/// a system, which may use what the specification itself does not.
fn check_spec(
    spec: &Spec,
    alone: bool,
    known: &[(&str, Option<&System>)],
) -> (Option<System>, Vec<Diagnostic>) {
    let Some(mut checker) = declarations::open(spec) else {
        let diagnostic =
            Diagnostic::new(Code::E0901, spec.span, "this specification cannot be built");
        return (None, vec![diagnostic]);
    };
    checker.declare_references(spec, known);
    checker.declarations(spec);
    checker.check_nodes_or_steps(spec);
    let written = checker.collect_transitions(spec);
    if checker.too_many_pairs(&written) {
        return (None, checker.diagnostics);
    }
    checker.transitions(&written);
    checker.starts(spec);
    checker.invariants(spec);
    checker.assumptions(&spec.items);
    let fairness = checker.fairness(&spec.items);
    checker.claims(&spec.items, &fairness);
    checker.warnings(spec);
    if !alone {
        checker
            .diagnostics
            .retain(|diagnostic| !matches!(diagnostic.code, Code::W0801 | Code::W0814));
    }
    let failed = checker.has_errors();
    (if failed { None } else { Some(checker.builder.finish()) }, checker.diagnostics)
}

/// The composition of the specifications, with the claims about the composed system.
fn composed(
    system: &Spec,
    specs: &[Spec],
    built: &[Option<System>],
) -> (Option<System>, Vec<Diagnostic>) {
    let Some(declaration) = system.items.first() else { return (None, Vec::new()) };
    let mut parts: Vec<(String, &System, SyntaxToken)> = Vec::new();
    for instance in tree::children(declaration, K::Instance) {
        let (Some(name), Some(of)) = (tree::name(&instance), tree::reference(&instance)) else {
            continue;
        };
        let part = specs
            .iter()
            .zip(built)
            .find(|(spec, _)| spec.name == of.text())
            .and_then(|(_, built)| built.as_ref());
        // If a part could not be built, its errors are already reported.
        let Some(part) = part else { return (None, Vec::new()) };
        parts.push((text(&name), part, name));
    }
    let mut syncs = Vec::new();
    let mut sync_spans = Vec::new();
    for sync in tree::children(declaration, K::Sync) {
        let Some(name) = tree::name(&sync) else { continue };
        let members = tree::children(&sync, K::SyncMember).filter_map(|member| {
            let mut names = tree::references(&member).filter_map(|part| tree::ident(&part));
            let (instance, gate) = (names.next()?, names.next()?);
            let at = parts.iter().position(|(name, _, _)| name == instance.text())?;
            Some((at, text(&gate)))
        });
        syncs.push(Sync { name: text(&name), parts: members.collect() });
        sync_spans.push(tree::token_span(&name));
    }
    let listed: Vec<(&str, &System)> =
        parts.iter().map(|(name, part, _)| (name.as_str(), *part)).collect();
    let systems: Vec<&System> = parts.iter().map(|(_, part, _)| *part).collect();
    let links = references::links(&references::instances(declaration), specs, &systems);
    let whole = match compose_linked(&system.name, &listed, &syncs, &links) {
        Ok(whole) => whole,
        Err(error) => return (None, vec![refused(&error, system.span, &sync_spans, &parts)]),
    };
    let left_out: Vec<Diagnostic> =
        whole.left_out.iter().map(|left| not_carried(left, &parts, system.span)).collect();
    let Some(mut checker) = composition_checker(whole, &parts, &syncs, specs) else {
        return (None, left_out);
    };
    left_out.into_iter().for_each(|diagnostic| checker.report(diagnostic));
    checker.declarations(system);
    checker.assumptions(&system.items);
    let fairness = checker.fairness(&system.items);
    checker.claims(&system.items, &fairness);
    let failed = checker.has_errors();
    (if failed { None } else { Some(checker.builder.finish()) }, checker.diagnostics)
}

fn not_carried(
    left: &LeftOut,
    parts: &[(String, &System, SyntaxToken)],
    system: Span,
) -> Diagnostic {
    let (instance, part, _) = &parts[left.instance];
    let span = part.find_claim(&left.claim).and_then(|claim| claim.span).unwrap_or(system);
    let message =
        format!("`{}` is not checked of the instance `{instance}`: {}", left.claim, left.reason);
    Diagnostic::new(Code::W0807, span, message).label(system, "in this system")
}

fn refused(
    error: &ComposeError,
    system: Span,
    syncs: &[Span],
    parts: &[(String, &System, SyntaxToken)],
) -> Diagnostic {
    let at_sync = |sync: &usize| syncs.get(*sync).copied().unwrap_or(system);
    let (code, span) = match error {
        ComposeError::SameInstance(name) => {
            let mut same = parts
                .iter()
                .filter(|(instance, _, _)| instance == name)
                .map(|(_, _, token)| tree::token_span(token));
            let (first, second) = (same.next().unwrap_or(system), same.next().unwrap_or(system));
            return Diagnostic::new(Code::E0201, second, error.to_string())
                .label(first, "the first one")
                .help("rename one of them");
        }
        ComposeError::UnknownInstance { sync, .. }
        | ComposeError::UnknownGate { sync, .. }
        | ComposeError::TwiceInSync { sync, .. }
        | ComposeError::EmptySync { sync }
        | ComposeError::SameSync { sync } => (Code::E0703, at_sync(sync)),
        ComposeError::TooManyNodes(_) | ComposeError::TooManyTransitions(_) => {
            (Code::E0704, system)
        }
        ComposeError::NoInstance
        | ComposeError::NoStart(_)
        | ComposeError::WrongLink { .. }
        | ComposeError::Build(_) => (Code::E0901, system),
    };
    Diagnostic::new(code, span, error.to_string())
}

/// A checker for claims about the composed system: it knows instances instead of variables and
/// nodes.
fn composition_checker(
    mut whole: Composed<'_>,
    parts: &[(String, &System, SyntaxToken)],
    syncs: &[Sync],
    specs: &[Spec],
) -> Option<Checker> {
    let mut names = Names::default();
    for (at, (_, part, _)) in parts.iter().enumerate() {
        for id in part.pool().enumerations() {
            let enumeration = part.pool().enumeration(id);
            if enumeration.name.starts_with('@') {
                continue;
            }
            let Ok(Sort::Enum(new)) = whole.sort(at, Sort::Enum(id)) else { continue };
            // Use the span of the specification.
            let span = specs
                .iter()
                .find(|spec| spec.name == part.name())
                .map_or(Span::at(0), |spec| spec.span);
            if names.get(&enumeration.name).is_none() {
                names.insert(enumeration.name.clone(), NameKind::Sort(new), span);
            }
            for (position, value) in enumeration.variants.iter().enumerate() {
                let mut values = match names.get(value).map(|found| found.kind.clone()) {
                    Some(NameKind::Values(values)) => values,
                    Some(_) => continue,
                    None => Vec::new(),
                };
                if !values.contains(&(new, position as u32)) {
                    values.push((new, position as u32));
                }
                names.insert(value.clone(), NameKind::Values(values), span);
            }
        }
    }
    let mut graph = Graph::default();
    for (at, (instance, part, _)) in parts.iter().enumerate() {
        for id in part.transition_ids() {
            let transition = part.transition(id);
            let moves = whole.moves(at, id);
            if let Some(gate) = transition.gate {
                let gate = format!("{instance}.{}", part.gates()[gate.index()]);
                graph.gates.entry(gate).or_default().extend(moves);
            }
            graph.gates.entry(format!("{instance}.{}", transition.name)).or_default().extend(moves);
        }
    }
    for (at, sync) in syncs.iter().enumerate() {
        graph.gates.entry(sync.name.clone()).or_default().extend(whole.synchronised(at));
    }
    for list in graph.gates.values_mut() {
        list.sort_unstable();
        list.dedup();
    }
    for (at, start) in whole.builder.so_far().starts().iter().enumerate() {
        graph.starts.insert(start.name.clone(), at.into());
    }
    let instances = parts
        .iter()
        .enumerate()
        .map(|(at, (name, part, _))| (name.clone(), Instance::of(&whole, at, part)))
        .collect();
    let leaders = whole
        .builder
        .so_far()
        .transition_ids()
        .map(|id| whole.parts(id)[0].0)
        .map(|at| parts[at].0.clone())
        .collect();
    let location = whole.builder.so_far().location();
    let Sort::Enum(node_sort) = whole.builder.pool.symbol(location).sort else { return None };
    Some(Checker {
        builder: whole.builder,
        errors: 0,
        diagnostics: Vec::new(),
        reported: FxHashSet::default(),
        names,
        graph,
        locals: Vec::new(),
        place: Place::Claim,
        primed: Vec::new(),
        mentions_node: false,
        changed: FxHashSet::default(),
        node_sort,
        instances,
        references: FxHashMap::default(),
        leaders,
    })
}

impl Instance {
    fn of(whole: &Composed<'_>, at: usize, part: &System) -> Instance {
        let vars =
            part.var_ids().map(|id| (part.var(id).name.clone(), whole.var(at, id))).collect();
        let mut nodes: FxHashMap<String, Vec<NodeId>> =
            part.nodes().iter().map(|node| (node.name.clone(), Vec::new())).collect();
        for node in whole.builder.so_far().node_ids() {
            let name = &part.node(whole.tuple(node)[at]).name;
            nodes.entry(name.clone()).or_default().push(node);
        }
        Instance { vars, nodes }
    }
}

impl Checker {
    /// `instance.variable`, or a parameter of a step of an instance
    pub(super) fn instance_member(
        &mut self,
        first: &SyntaxToken,
        second: &SyntaxToken,
        span: Span,
    ) -> Option<TermId> {
        let full = format!("{}.{}", first.text(), second.text());
        if let Some(local) = self.locals.iter().find(|local| local.name == full) {
            let symbol = local.symbol;
            return Some(self.pool().var(symbol));
        }
        let is_gate = self.graph.gates.contains_key(&full);
        let instance = self.instance_named(first)?;
        if let Some(var) = instance.vars.get(second.text()).copied() {
            let symbol = self.builder.so_far().var(var).current;
            return Some(self.pool().var(symbol));
        }
        let mut known: Vec<&str> = instance.vars.keys().map(String::as_str).collect();
        known.sort_unstable();
        let near = nearest(second.text(), known.iter().copied());
        let diagnostic = Diagnostic::new(
            Code::E0702,
            tree::token_span(second),
            format!("the instance `{}` has no variable `{}`", first.text(), second.text()),
        );
        let diagnostic = if instance.nodes.contains_key(second.text()) {
            diagnostic.help(format!(
                "write `{} in {}` to ask whether it is at that node",
                first.text(),
                second.text()
            ))
        } else if is_gate {
            diagnostic
                .help(format!("`{full}` is a gate: it stands alone in `reachable NAME: {full}`"))
        } else {
            diagnostic.did_you_mean(near)
        };
        let diagnostic =
            Diagnostic { primary: crate::Label { span, ..diagnostic.primary }, ..diagnostic };
        self.report(diagnostic);
        None
    }

    fn instance_named(&mut self, token: &SyntaxToken) -> Option<&Instance> {
        if !self.instances.contains_key(token.text()) {
            let mut known: Vec<&str> = self.instances.keys().map(String::as_str).collect();
            known.sort_unstable();
            let near = nearest(token.text(), known.iter().copied());
            let message = format!("there is no instance `{}` in this system", token.text());
            let diagnostic = Diagnostic::new(Code::E0702, tree::token_span(token), message)
                .note(format!("its instances are {}", known.join(", ")))
                .did_you_mean(near);
            self.report(diagnostic);
            return None;
        }
        self.instances.get(token.text())
    }

    /// The nodes of the composed system in which an instance is at a node: `a in Open` or `in
    /// a.Open`.
    pub(super) fn instance_nodes(
        &mut self,
        instance: Option<&SyntaxToken>,
        reference: &SyntaxNode,
    ) -> Option<Vec<NodeId>> {
        let (first, second) = tree::dotted(reference);
        let (owner, node) = match (instance, first, second) {
            (Some(owner), Some(node), None) => (owner.clone(), node),
            (None, Some(owner), Some(node)) => (owner, node),
            (_, node, _) => {
                let node = node.map(|token| text(&token)).unwrap_or_default();
                let diagnostic = Diagnostic::new(
                    Code::E0203,
                    tree::span(reference),
                    format!("`{node}` is a node of an instance: say of which"),
                )
                .help(format!("write `a in {node}`, where `a` is the instance"));
                self.report(diagnostic);
                return None;
            }
        };
        let known = self.instance_named(&owner)?;
        if let Some(nodes) = known.nodes.get(node.text()) {
            return Some(nodes.clone());
        }
        let mut names: Vec<&str> = known.nodes.keys().map(String::as_str).collect();
        names.sort_unstable();
        let near = nearest(node.text(), names.iter().copied());
        let message = format!("the instance `{}` has no node `{}`", owner.text(), node.text());
        let diagnostic =
            Diagnostic::new(Code::E0203, tree::token_span(&node), message).did_you_mean(near);
        self.report(diagnostic);
        None
    }

    /// The nodes that a reference denotes.
    pub(super) fn nodes_of(&mut self, reference: &SyntaxNode) -> Option<Vec<NodeId>> {
        if self.instances.is_empty() {
            let token = tree::ident(reference)?;
            return self.node_named(&token).map(|node| vec![node]);
        }
        self.instance_nodes(None, reference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_system::BuildError;

    /// The syntax does not allow these cases, but the passes reject them: they must be reported.
    #[test]
    fn compose_errors_are_reported() {
        let system = Span { start: 3, end: 9 };
        for error in [
            ComposeError::NoInstance,
            ComposeError::NoStart("a".to_string()),
            ComposeError::Build(BuildError::Duplicate("x".to_string())),
        ] {
            let found = refused(&error, system, &[], &[]);
            assert_eq!((found.code, found.primary.span), (Code::E0901, system));
            assert_eq!(found.message, error.to_string());
        }
        // Other errors have a specific code and place.
        let found = refused(
            &ComposeError::EmptySync { sync: 0 },
            system,
            &[Span { start: 4, end: 5 }],
            &[],
        );
        assert_eq!((found.code, found.primary.span), (Code::E0703, Span { start: 4, end: 5 }));
    }

    #[test]
    fn build_errors_are_reported() {
        let spec = Spec {
            name: "A".to_string(),
            span: Span { start: 0, end: 6 },
            references: Vec::new(),
            items: Vec::new(),
        };
        let mut checker = declarations::open(&spec).expect("an empty specification opens");
        assert!(!checker.has_errors());
        let span = Span { start: 2, end: 5 };
        checker.internal(BuildError::Duplicate("x".to_string()), span);
        assert!(checker.has_errors());
        let found = &checker.diagnostics[0];
        assert_eq!((found.code, found.primary.span), (Code::E0901, span));
        assert!(found.message.starts_with("this cannot be built: "), "{}", found.message);
    }
}

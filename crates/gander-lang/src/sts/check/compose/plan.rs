//! The instances and synchronisations that a system declares, with families and indices resolved.

use super::super::references::{self, Reference};
use super::super::{Checker, Spec, declarations, text};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;
use crate::sts::syntax::{SyntaxKind as K, SyntaxNode, SyntaxToken};
use crate::sts::tree;
use gander_system::passes::{Link, Read, Sync};
use gander_system::{System, VarId};
use gander_term::{Sort, Value, evaluate};
use rustc_hash::{FxHashMap, FxHashSet};

/// The largest number of instances of a system.
const MAX_INSTANCES: usize = 10_000;
/// The largest number of synchronisations after all choices of indices.
const MAX_SYNCS: usize = 100_000;
/// The largest number of participants of all synchronisations that one declaration stands for.
const MAX_PARTICIPANTS: usize = 200_000;

/// What a system declares before its claims.
pub(super) struct Plan {
    pub instances: Vec<PlannedInstance>,
    /// The sizes of the families.
    pub families: FxHashMap<String, usize>,
    pub syncs: Vec<PlannedSync>,
}

/// An instance of a specification.
pub(super) struct PlannedInstance {
    /// `a`, or `accounts[0]` for an instance of a family.
    pub name: String,
    /// The position of its specification.
    pub spec: usize,
    /// Where it is declared.
    pub token: SyntaxToken,
    /// The index, and its name in the arguments, of an instance of a family.
    index: Option<(Option<String>, usize)>,
    arguments: Vec<SyntaxNode>,
}

/// A synchronisation for one choice of its indices.
pub(super) struct PlannedSync {
    pub sync: Sync,
    pub name: Span,
    pub indices: Vec<(String, i64)>,
    pub condition: Option<SyntaxNode>,
}

/// Evaluates constants of a system: sizes, arguments and indices.
pub(super) struct Constants {
    checker: Checker,
}

impl Constants {
    pub(super) fn of(system: &Spec) -> Option<Constants> {
        let items = system.items.iter().filter(|item| item.kind() == K::ConstDecl).cloned();
        let only = Spec {
            name: system.name.clone(),
            span: system.span,
            references: Vec::new(),
            items: items.collect(),
            given: system.given.clone(),
        };
        let mut checker = declarations::open(&only)?;
        checker.declarations(&only);
        // The constants are checked again, and errors reported, with the claims of the system.
        checker.diagnostics.clear();
        checker.reported.clear();
        checker.errors = 0;
        Some(Constants { checker })
    }

    pub(super) fn value(
        &mut self,
        node: &SyntaxNode,
        sort: Sort,
        indices: &[(String, i64)],
    ) -> Option<Value> {
        self.checker.indices = indices.to_vec();
        self.checker.place = super::super::Place::Constant;
        let term = self.checker.expression(node, Some(sort))?;
        let term = self.checker.expect_sort(term, sort, node)?;
        match evaluate(&self.checker.builder.pool, term, &|_| None) {
            Ok(value) => Some(value),
            Err(error) => {
                let why = error.describe(&self.checker.builder.pool);
                let message = "this must be known before the first step";
                let diagnostic = Diagnostic::new(Code::E0307, tree::span(node), message).here(why);
                self.checker.report(diagnostic);
                None
            }
        }
    }

    fn number(&mut self, node: &SyntaxNode, indices: &[(String, i64)]) -> Option<i64> {
        match self.value(node, Sort::Int, indices)? {
            Value::Int(n) => Some(i64::try_from(&n).unwrap_or(i64::MAX)),
            _ => None,
        }
    }

    fn truth(&mut self, node: &SyntaxNode, indices: &[(String, i64)]) -> Option<bool> {
        self.value(node, Sort::Bool, indices).map(|v| v == Value::Bool(true))
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.checker.report(diagnostic);
    }

    /// The errors found.
    pub(super) fn diagnostics(self) -> Vec<Diagnostic> {
        self.checker.diagnostics
    }
}

/// The name of an instance of a family.
pub(in crate::sts::check) fn member_name(family: &str, index: i64) -> String {
    format!("{family}[{index}]")
}

/// Reads the declaration of a system.
pub(super) fn plan(system: &Spec, specs: &[Spec]) -> (Option<Plan>, Vec<Diagnostic>) {
    let (Some(declaration), Some(mut constants)) = (system.items.first(), Constants::of(system))
    else {
        return (None, Vec::new());
    };
    let mut planned =
        Plan { instances: Vec::new(), families: FxHashMap::default(), syncs: Vec::new() };
    for node in tree::children(declaration, K::Instance) {
        planned.instances(&node, specs, &mut constants);
    }
    for sync in tree::children(declaration, K::Sync) {
        planned.sync(&sync, specs, &mut constants);
    }
    let failed = constants.checker.has_errors();
    ((!failed).then_some(planned), constants.checker.diagnostics)
}

/// The values of what instances read of others, and of their constants.
pub(super) fn links(
    plan: &Plan,
    system: &Spec,
    specs: &[Spec],
    parts: &[&System],
) -> (Vec<Link>, Vec<Diagnostic>) {
    let Some(mut constants) = Constants::of(system) else { return (Vec::new(), Vec::new()) };
    let positions: FxHashMap<&str, usize> =
        plan.instances.iter().enumerate().map(|(at, i)| (i.name.as_str(), at)).collect();
    let mut links = Vec::new();
    for (at, instance) in plan.instances.iter().enumerate() {
        let spec = &specs[instance.spec];
        let indices: Vec<(String, i64)> = match &instance.index {
            Some((Some(name), index)) => vec![(name.clone(), *index as i64)],
            _ => Vec::new(),
        };
        for (reference, argument) in spec.references.iter().zip(&instance.arguments) {
            let found = match references::is_constant(reference, specs) {
                true => constant(reference, argument, &indices, parts[at], &mut constants),
                false => {
                    let owner = owner(argument, &indices, plan, &mut constants);
                    owner.and_then(|name| {
                        of_instance(
                            reference,
                            argument,
                            &name,
                            (at, plan, specs),
                            &positions,
                            parts,
                            &mut constants,
                        )
                    })
                }
            };
            links.extend(
                found.into_iter().flatten().map(|(input, read)| Link { reader: (at, input), read }),
            );
        }
    }
    (links, constants.checker.diagnostics)
}

/// An instance with too few or too many arguments.
fn wrong_number(spec: &Spec, name: &SyntaxToken, at: Span, given: usize) -> Diagnostic {
    let wanted = spec.references.len();
    let noun = if wanted == 1 { "argument" } else { "arguments" };
    let are = if given == 1 { "is" } else { "are" };
    let message = format!("`{}` takes {wanted} {noun}, and {given} {are} given", spec.name);
    let diagnostic = Diagnostic::new(Code::E0706, at, message);
    if wanted == 0 {
        return diagnostic;
    }
    let like = spec.references.iter().map(|r| r.name.text()).collect::<Vec<_>>().join(", ");
    let of: Vec<&str> = spec.references.iter().map(|r| r.spec.text()).collect();
    diagnostic.help(format!(
        "write `{}: {}({like})` with {} in this order",
        name.text(),
        spec.name,
        of.join(", ")
    ))
}

pub(super) fn find(system: &System, name: &str) -> Option<VarId> {
    system.vars().iter().position(|var| var.name == name).map(VarId::from)
}

fn constant(
    reference: &Reference,
    argument: &SyntaxNode,
    indices: &[(String, i64)],
    reader: &System,
    constants: &mut Constants,
) -> Option<Vec<(VarId, Read)>> {
    let var = find(reader, reference.name.text())?;
    let sort = reader.var(var).sort;
    if let Sort::Enum(id) = sort {
        let token = tree::ident(argument).filter(|_| argument.kind() == K::NameExpr);
        let name = token.as_ref().map_or("", |t| t.text());
        let Some(at) = reader.pool().enumeration(id).position(name) else {
            let message = format!("this is not a value of `{}`", reference.spec.text());
            constants.report(Diagnostic::new(Code::E0706, tree::span(argument), message));
            return None;
        };
        return Some(vec![(var, Read::Constant(Value::Enum(id, at)))]);
    }
    let value = constants.value(argument, sort, indices)?;
    Some(vec![(var, Read::Constant(value))])
}

/// The name of the instance that an argument denotes.
fn owner(
    argument: &SyntaxNode,
    indices: &[(String, i64)],
    plan: &Plan,
    constants: &mut Constants,
) -> Option<String> {
    match argument.kind() {
        K::NameExpr => {
            let token = tree::ident(argument)?;
            if let Some(size) = plan.families.get(token.text()) {
                constants.report(which_one(&token, *size));
                return None;
            }
            Some(text(&token))
        }
        K::IndexExpr => {
            let parts: Vec<SyntaxNode> = tree::expressions(argument).collect();
            let token = parts.first().and_then(tree::ident)?;
            let index = constants.number(parts.get(1)?, indices)?;
            member_of(&token, index, tree::span(argument), plan, constants)
        }
        _ => {
            let message = "expected the name of an instance";
            constants.report(Diagnostic::new(Code::E0706, tree::span(argument), message));
            None
        }
    }
}

fn which_one(token: &SyntaxToken, size: usize) -> Diagnostic {
    let name = token.text();
    let message = format!("`{name}` is a family of {size} instances: say which one");
    Diagnostic::new(Code::E0702, tree::token_span(token), message)
        .help(format!("write for example `{name}[0]`"))
}

/// The instance of a family at an index.
fn member_of(
    token: &SyntaxToken,
    index: i64,
    span: Span,
    plan: &Plan,
    constants: &mut Constants,
) -> Option<String> {
    let name = token.text();
    let Some(&size) = plan.families.get(name) else {
        let near = nearest(name, plan.families.keys().map(String::as_str));
        let message = format!("there is no family `{name}` in this system");
        constants.report(
            Diagnostic::new(Code::E0702, tree::token_span(token), message).did_you_mean(near),
        );
        return None;
    };
    if index < 0 || index >= size as i64 {
        constants.report(outside(name, index, size, span));
        return None;
    }
    Some(member_name(name, index))
}

/// An index outside of a family.
pub(in crate::sts::check) fn outside(
    family: &str,
    index: i64,
    size: usize,
    span: Span,
) -> Diagnostic {
    let message = format!("`{family}` has no instance {index}: its indices are 0 to {}", size - 1);
    Diagnostic::new(Code::E0705, span, message)
        .help(format!("use `mod {size}` if the indices go round"))
}

#[allow(clippy::too_many_arguments)]
fn of_instance(
    reference: &Reference,
    argument: &SyntaxNode,
    name: &str,
    (at, plan, specs): (usize, &Plan, &[Spec]),
    positions: &FxHashMap<&str, usize>,
    parts: &[&System],
    constants: &mut Constants,
) -> Option<Vec<(VarId, Read)>> {
    let span = tree::span(argument);
    let Some(&owner) = positions.get(name) else {
        let near = nearest(name, plan.instances.iter().map(|i| i.name.as_str()));
        let message = format!("there is no instance `{name}` in this system");
        constants.report(Diagnostic::new(Code::E0702, span, message).did_you_mean(near));
        return None;
    };
    let of = &specs[plan.instances[owner].spec].name;
    if of != reference.spec.text() {
        let reader = &specs[plan.instances[at].spec].name;
        let message = format!(
            "`{name}` is an instance of `{of}`, and `{reader}` refers to one of `{}`",
            reference.spec.text()
        );
        constants.report(Diagnostic::new(Code::E0706, span, message));
        return None;
    }
    let (reader, read) = (parts[at], parts[owner]);
    let prefix = reference.name.text();
    let mut links = Vec::new();
    for own in read.shown_vars().filter(|var| references::is_own(var.name)) {
        for part in own.parts() {
            if let Some(input) = find(reader, &format!("{prefix}.{}", read.var(part).name)) {
                links.push((input, Read::Variable(owner, part)));
            }
        }
    }
    let node = find(reader, &references::location_name(prefix));
    links.extend(node.map(|input| (input, Read::Node(owner))));
    Some(links)
}

impl Plan {
    fn instances(&mut self, node: &SyntaxNode, specs: &[Spec], constants: &mut Constants) {
        let (Some(token), Some(of)) = (tree::name(node), tree::reference(node)) else { return };
        let Some(spec) = specs.iter().position(|spec| spec.name == of.text()) else {
            let near = nearest(of.text(), specs.iter().map(|spec| spec.name.as_str()));
            let message = format!("there is no specification `{}` in this file", of.text());
            constants.report(
                Diagnostic::new(Code::E0701, tree::token_span(&of), message).did_you_mean(near),
            );
            return;
        };
        let earlier = self.instances.iter().find(|i| i.token.text() == token.text());
        if let Some(earlier) = earlier {
            let message = format!("two instances are called `{}`", token.text());
            let diagnostic = Diagnostic::new(Code::E0201, tree::token_span(&token), message)
                .label(tree::token_span(&earlier.token), "the first one")
                .help("rename one of them");
            constants.report(diagnostic);
            return;
        }
        let arguments: Vec<SyntaxNode> =
            tree::children(node, K::Argument).filter_map(|a| tree::expression(&a)).collect();
        let given = arguments.len();
        if given != specs[spec].references.len() {
            constants.report(wrong_number(&specs[spec], &token, tree::token_span(&of), given));
        }
        let Some(size) = tree::child(node, K::FamilySize) else {
            let name = text(&token);
            self.instances.push(PlannedInstance { name, spec, token, index: None, arguments });
            return;
        };
        let index = tree::name(&size).map(|name| text(&name));
        let Some(expression) = tree::expression(&size) else { return };
        let Some(count) = constants.number(&expression, &[]) else { return };
        let span = tree::span(&expression);
        if count < 1 {
            let message = format!("a family has at least one instance, and this one has {count}");
            constants.report(Diagnostic::new(Code::E0308, span, message));
            return;
        }
        if count as usize > MAX_INSTANCES - self.instances.len().min(MAX_INSTANCES) {
            let message = format!("a system has at most {MAX_INSTANCES} instances");
            constants.report(
                Diagnostic::new(Code::E0704, span, message)
                    .help("choose a smaller size; claims about few instances often show the same"),
            );
            return;
        }
        self.families.insert(text(&token), count as usize);
        for at in 0..count {
            self.instances.push(PlannedInstance {
                name: member_name(token.text(), at),
                spec,
                token: token.clone(),
                index: Some((index.clone(), at as usize)),
                arguments: arguments.clone(),
            });
        }
    }

    fn sync(&mut self, node: &SyntaxNode, specs: &[Spec], constants: &mut Constants) {
        let Some(name) = tree::name(node) else { return };
        let shared: Vec<String> = tree::child(node, K::SharedParams)
            .map(|list| tree::names(&list).map(|n| text(&n)).collect())
            .unwrap_or_default();
        let members: Vec<SyntaxNode> = tree::children(node, K::SyncMember).collect();
        let receivers: Vec<SyntaxNode> = tree::child(node, K::Receivers)
            .map(|list| tree::children(&list, K::SyncMember).collect())
            .unwrap_or_default();
        let condition = tree::child(node, K::SyncCondition).and_then(|c| tree::expression(&c));
        let span = tree::token_span(&name);
        let indices = tree::child(node, K::SyncIndices);
        let Some(choices) = self.choices(indices.as_ref(), &members, &receivers, constants) else {
            return;
        };
        let mut participants = 0;
        for indices in choices {
            if self.syncs.len() >= MAX_SYNCS {
                let message = format!("a system has at most {MAX_SYNCS} synchronisations");
                constants.report(Diagnostic::new(Code::E0704, span, message));
                return;
            }
            let listed: Option<Vec<(usize, String)>> =
                members.iter().map(|m| self.member(m, &indices, specs, constants)).collect();
            let Some(listed) = listed else { return };
            let mut seen: FxHashSet<usize> = FxHashSet::default();
            if !listed.iter().all(|(i, _)| seen.insert(*i)) {
                if indices.is_empty() {
                    let message = "an instance takes one transition at a time: it cannot be in a synchronisation twice";
                    constants.report(Diagnostic::new(Code::E0703, span, message));
                }
                continue;
            }
            let mut receiving = Vec::new();
            for receiver in &receivers {
                let Some(all) = self.receivers(receiver, &indices, specs, constants) else {
                    return;
                };
                // A member of the step does not receive it, too.
                receiving.extend(all.into_iter().filter(|(i, _)| seen.insert(*i)));
            }
            participants += listed.len() + receiving.len();
            if participants > MAX_PARTICIPANTS {
                let message = format!(
                    "a synchronisation stands for at most {MAX_PARTICIPANTS} transitions of instances"
                );
                constants.report(Diagnostic::new(Code::E0704, span, message));
                return;
            }
            self.syncs.push(PlannedSync {
                sync: Sync {
                    name: text(&name),
                    shared: shared.clone(),
                    members: listed,
                    receivers: receiving,
                    span: Some(span),
                },
                name: span,
                indices,
                condition: condition.clone(),
            });
        }
    }

    /// The choices of the indices of a synchronisation that satisfy its `where`.
    fn choices(
        &self,
        indices: Option<&SyntaxNode>,
        members: &[SyntaxNode],
        receivers: &[SyntaxNode],
        constants: &mut Constants,
    ) -> Option<Vec<Vec<(String, i64)>>> {
        let Some(node) = indices else { return Some(vec![Vec::new()]) };
        let selected = |index: &str| {
            members.iter().chain(receivers).find_map(|member| {
                let expression = tree::expression(member)?;
                mentions(&expression, index).then(|| tree::reference(member))?
            })
        };
        let ranges = Ranges::of(node, &self.families, &selected);
        let ranges = ranges.map_err(|d| constants.report(*d)).ok()?;
        let mut found = Vec::new();
        let span = tree::span(node);
        if ranges.count().is_none_or(|n| n > MAX_SYNCS) {
            let message = format!("these indices have more than {MAX_SYNCS} values together");
            constants.report(Diagnostic::new(Code::E0704, span, message));
            return None;
        }
        for choice in ranges.all() {
            let holds = match &ranges.condition {
                Some(condition) => constants.truth(condition, &choice)?,
                None => true,
            };
            if holds && ranges.differ(&choice) {
                found.push(choice);
            }
        }
        Some(found)
    }

    /// The instance and the gate of a member of a synchronisation.
    fn member(
        &self,
        member: &SyntaxNode,
        indices: &[(String, i64)],
        specs: &[Spec],
        constants: &mut Constants,
    ) -> Option<(usize, String)> {
        let (token, gate) = instance_and_gate(member)?;
        let name = match tree::expression(member) {
            Some(expression) => {
                let index = constants.number(&expression, indices)?;
                member_of(&token, index, tree::span(&expression), self, constants)?
            }
            None => {
                if let Some(size) = self.families.get(token.text()) {
                    constants.report(which_one(&token, *size));
                    return None;
                }
                text(&token)
            }
        };
        let at = self.instances.iter().position(|i| i.name == name);
        let Some(at) = at else {
            self.unknown_instance(&token, constants);
            return None;
        };
        self.check_gate(at, &gate, specs, constants)?;
        Some((at, text(&gate)))
    }

    /// The instances that a receiver stands for: one, or all of a family.
    fn receivers(
        &self,
        receiver: &SyntaxNode,
        indices: &[(String, i64)],
        specs: &[Spec],
        constants: &mut Constants,
    ) -> Option<Vec<(usize, String)>> {
        let (token, gate) = instance_and_gate(receiver)?;
        if tree::expression(receiver).is_some() || !self.families.contains_key(token.text()) {
            return self.member(receiver, indices, specs, constants).map(|one| vec![one]);
        }
        let all: Vec<usize> = (0..self.instances.len())
            .filter(|&at| self.instances[at].token.text() == token.text())
            .collect();
        self.check_gate(all[0], &gate, specs, constants)?;
        Some(all.into_iter().map(|at| (at, text(&gate))).collect())
    }

    fn unknown_instance(&self, token: &SyntaxToken, constants: &mut Constants) {
        let mut known: Vec<&str> = self.instances.iter().map(|i| i.token.text()).collect();
        known.sort_unstable();
        let message = format!("there is no instance `{}` in this system", token.text());
        let near = nearest(token.text(), known.iter().copied());
        constants.report(
            Diagnostic::new(Code::E0703, tree::token_span(token), message).did_you_mean(near),
        );
    }

    fn check_gate(
        &self,
        instance: usize,
        gate: &SyntaxToken,
        specs: &[Spec],
        constants: &mut Constants,
    ) -> Option<()> {
        let spec = &specs[self.instances[instance].spec];
        let gates: Vec<SyntaxToken> = spec
            .items
            .iter()
            .flat_map(|item| item.descendants().filter(|node| node.kind() == K::Transition))
            .filter_map(|transition| tree::name(&transition))
            .collect();
        if gates.iter().any(|known| known.text() == gate.text()) {
            return Some(());
        }
        let message = format!("`{}` has no gate `{}`", spec.name, gate.text());
        let near = nearest(gate.text(), gates.iter().map(|gate| gate.text())).map(str::to_owned);
        constants.report(
            Diagnostic::new(Code::E0703, tree::token_span(gate), message)
                .did_you_mean(near.as_deref()),
        );
        None
    }
}

/// The indices with the families that are written for them: the next one after each index.
fn with_families(node: &SyntaxNode) -> Vec<(SyntaxNode, Option<SyntaxToken>)> {
    let mut found: Vec<(SyntaxNode, Option<SyntaxToken>)> = Vec::new();
    let mut begun = 0;
    for child in node.children() {
        match child.kind() {
            K::Index => found.push((child, None)),
            K::NameRef => {
                let family = tree::ident(&child);
                found[begun..].iter_mut().for_each(|(_, of)| of.clone_from(&family));
                begun = found.len();
            }
            _ => {}
        }
    }
    found
}

pub(super) fn instance_and_gate(member: &SyntaxNode) -> Option<(SyntaxToken, SyntaxToken)> {
    let mut parts = tree::references(member).filter_map(|part| tree::ident(&part));
    Some((parts.next()?, parts.next()?))
}

/// True if an expression mentions a name.
pub(in crate::sts::check) fn mentions(expression: &SyntaxNode, name: &str) -> bool {
    expression
        .descendants()
        .filter(|node| node.kind() == K::NameExpr)
        .any(|node| tree::ident(&node).is_some_and(|token| token.text() == name))
}

/// Indices that range over families: `i, j in f where i != j`, `i in f, j in g`.
pub(in crate::sts::check) struct Ranges {
    /// The names, each with the size of its family.
    pub names: Vec<(String, usize)>,
    /// The condition after `where`.
    pub condition: Option<SyntaxNode>,
    /// Positions of neighbours that must differ, as in `i != j`.
    different: Vec<(usize, usize)>,
}

impl Ranges {
    /// Reads the indices. `selected` gives the family that an index selects from, if it is not
    /// written.
    pub(in crate::sts::check) fn of(
        node: &SyntaxNode,
        families: &FxHashMap<String, usize>,
        selected: &dyn Fn(&str) -> Option<SyntaxToken>,
    ) -> Result<Ranges, Box<Diagnostic>> {
        let mut names: Vec<(String, usize)> = Vec::new();
        for (index, family) in with_families(node) {
            let Some(token) = tree::ident(&index) else { continue };
            let of = family.or_else(|| selected(token.text()));
            let Some(of) = of else {
                let message =
                    format!("it is not clear which family `{}` ranges over", token.text());
                return Err(Box::new(
                    Diagnostic::new(Code::E0705, tree::token_span(&token), message)
                        .help(format!("write `{} in f`, where `f` is the family", token.text())),
                ));
            };
            let Some(&size) = families.get(of.text()) else {
                let near = nearest(of.text(), families.keys().map(String::as_str));
                let message = format!("`{}` is not a family of instances", of.text());
                return Err(Box::new(
                    Diagnostic::new(Code::E0702, tree::token_span(&of), message).did_you_mean(near),
                ));
            };
            if names.iter().any(|(known, _)| known == token.text()) {
                let message = format!("`{}` is declared twice", token.text());
                return Err(Box::new(Diagnostic::new(
                    Code::E0201,
                    tree::token_span(&token),
                    message,
                )));
            }
            names.push((text(&token), size));
        }
        let mut different = Vec::new();
        let mut count = 0;
        for child in node.children_with_tokens() {
            match child.kind() {
                K::Index => count += 1,
                K::NotEq if count > 0 => different.push((count - 1, count)),
                _ => {}
            }
        }
        let written = tree::tokens(node).any(|t| t.text() == "where");
        let condition = if written { tree::expression(node) } else { None };
        Ok(Ranges { names, condition, different })
    }

    /// The pairs of positions of indices with `!=` between them.
    pub(super) fn different(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        self.different.clone().into_iter()
    }

    /// The number of choices.
    pub(in crate::sts::check) fn count(&self) -> Option<usize> {
        self.names.iter().try_fold(1usize, |n, (_, size)| n.checked_mul(*size))
    }

    /// All choices, the last index varying fastest.
    pub(in crate::sts::check) fn all(&self) -> impl Iterator<Item = Vec<(String, i64)>> + use<'_> {
        let total = self.count().unwrap_or(0);
        (0..total).map(|number| {
            let mut rest = number;
            let mut choice: Vec<(String, i64)> = self
                .names
                .iter()
                .rev()
                .map(|(name, size)| {
                    let here = rest % size;
                    rest /= size;
                    (name.clone(), here as i64)
                })
                .collect();
            choice.reverse();
            choice
        })
    }

    /// True if indices with `!=` between them differ.
    pub(in crate::sts::check) fn differ(&self, choice: &[(String, i64)]) -> bool {
        self.different.iter().all(|&(a, b)| choice[a].1 != choice[b].1)
    }
}

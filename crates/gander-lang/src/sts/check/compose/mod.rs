//! A file with one specification, or several composed to a system.

mod families;
mod instances;
mod plan;
mod sized;
mod sized_formulas;

use super::names::{NameKind, Names};
use super::{Checker, Graph, Place, Spec, declarations, references, specs};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::{Diagnostic, Severity};
use crate::diagnostics::span::Span;
use crate::sts::syntax::{SyntaxKind as K, SyntaxNode};
use crate::sts::tree;
use gander_system::passes::{ComposeError, ComposeLimits, Composed, LeftOut, Sync, compose};
use gander_system::{System, SystemBuilder, Transition};
use gander_term::{EnumId, IBig, Sort};
use plan::Plan;
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) use instances::Instance;
pub(super) use sized_formulas::SizedFamilies;

pub(super) fn check_file(
    root: &SyntaxNode,
    file_name: &str,
    given: &[(String, IBig)],
) -> (Option<System>, Vec<Diagnostic>) {
    let (specs, mut systems) = specs(root, file_name);
    let mut diagnostics = Vec::new();
    if specs.is_empty() && systems.is_empty() {
        let diagnostic = Diagnostic::new(Code::E0505, Span::at(0), "this file declares nothing")
            .help("begin with `spec Name`, variables and a `start`");
        return (None, vec![diagnostic]);
    }
    let mut built: Vec<Option<System>> = vec![None; specs.len()];
    diagnostics.extend(references::unknown(&specs));
    let read: Vec<bool> = specs
        .iter()
        .map(|spec| specs.iter().any(|s| s.references.iter().any(|r| r.spec.text() == spec.name)))
        .collect();
    // What specifications declare is known before any is checked, so they can read each other.
    let declared: Vec<Option<System>> =
        specs.iter().zip(read).map(|(spec, read)| read.then(|| declared(spec)).flatten()).collect();
    let known: Vec<(&str, Option<&System>)> = specs
        .iter()
        .zip(&declared)
        .map(|(spec, declared)| (spec.name.as_str(), declared.as_ref()))
        .collect();
    for (at, spec) in specs.iter().enumerate() {
        let missing = |r: &references::Reference| {
            !references::is_constant(r, &specs)
                && !known.iter().any(|(n, s)| *n == r.spec.text() && s.is_some())
        };
        if spec.references.iter().any(missing) {
            continue;
        }
        let (system, found) = check_spec(spec, systems.is_empty(), &known, &specs);
        diagnostics.extend(found);
        built[at] = system;
    }
    diagnostics.extend(sized::give(&mut systems, given));
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
            let (whole, found) = match sized::open_constants(system) {
                Err(found) => (None, found),
                Ok(open) if open.is_empty() => of_known_size(system, &specs, &built),
                Ok(open) => sized::of_any_size(system, &open, &specs, &built),
            };
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

/// The system of a file in which every constant has a value.
fn of_known_size(
    system: &Spec,
    specs: &[Spec],
    built: &[Option<System>],
) -> (Option<System>, Vec<Diagnostic>) {
    let mut found = misplaced(system);
    let (plan, wrong) = plan::plan(system, specs);
    found.extend(wrong);
    match plan.filter(|_| found.is_empty()) {
        Some(plan) => composed(system, &plan, specs, built),
        None => (None, found),
    }
}

/// Declarations that a system must not have: it declares nothing of its own.
fn misplaced(system: &Spec) -> Vec<Diagnostic> {
    let allowed = |item: &&SyntaxNode| {
        !matches!(
            item.kind(),
            K::SystemDecl
                | K::Claim
                | K::FairDecl
                | K::DefineDecl
                | K::ConstDecl
                | K::AssumeDecl
                | K::Allow
        )
    };
    let report = |item: &SyntaxNode| {
        let word = tree::ident(item).map_or(tree::span(item), |word| tree::token_span(&word));
        Diagnostic::new(
            Code::E0506,
            word,
            "a system consists of its instances: it declares nothing of its own",
        )
        .label(system.span, "in this system")
        .help("move this into one of the specifications, above the system")
    };
    system.items.iter().filter(allowed).map(report).collect()
}

/// A system with what a specification declares and nothing else, for those that read it.
fn declared(spec: &Spec) -> Option<System> {
    let mut checker = declarations::open(spec)?;
    checker.declarations(spec);
    Some(checker.builder.finish())
}

/// Checks one specification and builds its system. With `alone` false the specification belongs to
/// a system, which may use what the specification itself does not.
fn check_spec(
    spec: &Spec,
    alone: bool,
    known: &[(&str, Option<&System>)],
    specs: &[Spec],
) -> (Option<System>, Vec<Diagnostic>) {
    let Some(mut checker) = declarations::open(spec) else {
        let diagnostic =
            Diagnostic::new(Code::E0901, spec.span, "this specification cannot be built");
        return (None, vec![diagnostic]);
    };
    checker.is_part = !alone;
    checker.declare_references(spec, known, specs);
    checker.declarations(spec);
    checker.final_conditions(spec);
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
    plan: &Plan,
    specs: &[Spec],
    built: &[Option<System>],
) -> (Option<System>, Vec<Diagnostic>) {
    let mut parts: Vec<(&str, &System)> = Vec::new();
    for instance in &plan.instances {
        // If a part could not be built, its errors are already reported.
        let Some(part) = built[instance.spec].as_ref() else { return (None, Vec::new()) };
        parts.push((&instance.name, part));
    }
    let systems: Vec<&System> = parts.iter().map(|(_, part)| *part).collect();
    let (links, found) = plan::links(plan, system, specs, &systems);
    if !found.is_empty() {
        return (None, found);
    }
    let syncs: Vec<Sync> =
        plan.syncs.iter().map(|s| with_shared_parts(s.sync.clone(), &systems)).collect();
    let limits = ComposeLimits::default();
    let (builder, mut whole) = match compose(&system.name, &parts, &syncs, &links, limits) {
        Ok(composed) => composed,
        Err(error) => return (None, vec![refused(&error, system.span, plan)]),
    };
    let Some(mut checker) = composition_checker(builder, &mut whole, &parts, plan, specs) else {
        return (None, Vec::new());
    };
    // The sorts of the specifications; one that has the name of a different sort is left out.
    let mut seen: FxHashSet<usize> = FxHashSet::default();
    for instance in plan.instances.iter().filter(|i| seen.insert(i.spec)) {
        checker.known_types(&specs[instance.spec].items);
    }
    checker.declarations(system);
    checker.conditions(plan, &whole);
    if let Err(error) = whole.add_claims(&mut checker.builder) {
        checker.report(refused(&error, system.span, plan));
    }
    for left in &whole.left_out {
        checker.report(not_carried(left, &parts, system.span));
    }
    checker.assumptions(&system.items);
    let fairness = checker.fairness(&system.items);
    checker.claims(&system.items, &fairness);
    checker.never_read_by_instances();
    let failed = checker.has_errors();
    (if failed { None } else { Some(checker.builder.finish()) }, checker.diagnostics)
}

/// A synchronisation whose shared parameters of several parts are replaced by these.
fn with_shared_parts(sync: Sync, systems: &[&System]) -> Sync {
    let parts_of = |name: &String| {
        for (instance, gate) in sync.members.iter().chain(&sync.receivers) {
            let system = systems[*instance];
            let takes =
                |t: &&Transition| t.gate.is_some_and(|g| system.gates()[g.index()] == *gate);
            for transition in system.transitions().iter().filter(takes) {
                if let Some(found) = transition.aggregates.iter().find(|a| a.name == *name) {
                    return found.shape.part_names(name);
                }
            }
        }
        vec![name.clone()]
    };
    let shared = sync.shared.iter().flat_map(parts_of).collect();
    Sync { shared, ..sync }
}

fn not_carried(left: &LeftOut, parts: &[(&str, &System)], system: Span) -> Diagnostic {
    let (instance, part) = &parts[left.instance];
    let span = part.find_claim(&left.claim).and_then(|claim| claim.span).unwrap_or(system);
    let message =
        format!("`{}` is not checked of the instance `{instance}`: {}", left.claim, left.reason);
    Diagnostic::new(Code::W0807, span, message).label(system, "in this system")
}

fn refused(error: &ComposeError, system: Span, plan: &Plan) -> Diagnostic {
    let names: Vec<Span> = plan.syncs.iter().map(|s| s.name).collect();
    refused_for(error, system, &names)
}

/// A composition that was refused; `syncs` are the names of the synchronisations.
fn refused_for(error: &ComposeError, system: Span, syncs: &[Span]) -> Diagnostic {
    let at_sync = |sync: &usize| syncs.get(*sync).copied().unwrap_or(system);
    let (code, span) = match error {
        ComposeError::UnknownInstance { sync, .. }
        | ComposeError::UnknownGate { sync, .. }
        | ComposeError::TwiceInSync { sync, .. }
        | ComposeError::EmptySync { sync }
        | ComposeError::SameSync { sync }
        | ComposeError::NotShared { sync, .. }
        | ComposeError::SharedSorts { sync, .. } => (Code::E0703, at_sync(sync)),
        ComposeError::TooManyTransitions(_) | ComposeError::TooLarge { .. } => {
            (Code::E0704, system)
        }
        ComposeError::ConditionalFairness { .. } => (Code::E0703, system),
        ComposeError::NoInstance
        | ComposeError::SameInstance(_)
        | ComposeError::NoStart(_)
        | ComposeError::WrongLink { .. }
        | ComposeError::Build(_) => (Code::E0901, system),
    };
    Diagnostic::new(code, span, error.to_string())
}

/// A checker for claims about the composed system: it knows instances instead of variables and
/// nodes.
fn composition_checker(
    mut builder: SystemBuilder,
    whole: &mut Composed<'_>,
    parts: &[(&str, &System)],
    plan: &Plan,
    specs: &[Spec],
) -> Option<Checker> {
    let mut names = Names::default();
    let mut seen: FxHashSet<usize> = FxHashSet::default();
    for (at, (_, part)) in parts.iter().enumerate() {
        if !seen.insert(plan.instances[at].spec) {
            continue;
        }
        // Use the span of the specification.
        let span = specs[plan.instances[at].spec].span;
        for id in part.pool().enumerations() {
            let enumeration = part.pool().enumeration(id);
            if enumeration.name.starts_with('@') || enumeration.name.contains('.') {
                continue;
            }
            let Ok(Sort::Enum(new)) = whole.sort(&mut builder, at, Sort::Enum(id)) else {
                continue;
            };
            if names.get(&enumeration.name).is_none() {
                names.insert(enumeration.name.clone(), NameKind::Sort(new), span);
            }
            add_values(&mut names, new, &enumeration.variants, span);
        }
        // `a == Open` is `a in Open`.
        if let Some(location) = whole.location(at)
            && let Sort::Enum(nodes) = builder.so_far().var(location).sort
        {
            let variants = builder.pool.enumeration(nodes).variants.clone();
            add_values(&mut names, nodes, &variants, span);
        }
    }
    let mut graph = Graph::default();
    for (at, (instance, part)) in parts.iter().enumerate() {
        for id in part.transition_ids() {
            let transition = part.transition(id);
            let gate = transition.gate.map(|gate| &part.gates()[gate.index()]);
            let mut full = vec![format!("{instance}.{}", transition.name)];
            full.extend(gate.map(|gate| format!("{instance}.{gate}")));
            full.dedup();
            for name in full {
                for (step, condition) in whole.moves(at, id) {
                    graph.gates.entry(name.clone()).or_default().push(step);
                    if let Some(condition) = condition {
                        let known = graph.conditions.entry((name.clone(), step)).or_default();
                        known.push(condition);
                    }
                }
                graph.gates.entry(name).or_default();
            }
        }
    }
    for (at, planned) in plan.syncs.iter().enumerate() {
        let gate = graph.gates.entry(planned.sync.name.clone()).or_default();
        gate.extend(whole.synchronised(at));
    }
    for list in graph.gates.values_mut() {
        list.sort_unstable();
        list.dedup();
    }
    for (at, start) in builder.so_far().starts().iter().enumerate() {
        graph.starts.insert(start.name.clone(), at.into());
    }
    let mut instances = FxHashMap::default();
    for (at, (name, part)) in parts.iter().enumerate() {
        instances.insert(name.to_string(), Instance::of(&mut builder, whole, at, part));
    }
    let leaders =
        builder.so_far().transition_ids().map(|id| parts[whole.leader(id)].0.to_string()).collect();
    let families = plan.families.clone();
    let checker = Checker::new(builder, names)?;
    Some(Checker { graph, instances, families, leaders, ..checker })
}

/// Makes values of an enumeration known, unless the names mean something else.
fn add_values(names: &mut Names, id: EnumId, variants: &[String], span: Span) {
    for (position, value) in variants.iter().enumerate() {
        let mut values = match names.get(value).map(|found| found.kind.clone()) {
            Some(NameKind::Values(values)) => values,
            Some(_) => continue,
            None => Vec::new(),
        };
        if !values.contains(&(id, position as u32)) {
            values.push((id, position as u32));
        }
        names.insert(value.clone(), NameKind::Values(values), span);
    }
}

impl Checker {
    /// Adds the conditions of synchronisations to their steps.
    fn conditions(&mut self, plan: &Plan, whole: &Composed<'_>) {
        for (at, planned) in plan.syncs.iter().enumerate() {
            let Some(condition) = &planned.condition else { continue };
            self.indices.clone_from(&planned.indices);
            for step in whole.synchronised(at) {
                self.with_parameters_of(step);
                let term = self.formula(condition, Place::With);
                self.locals.clear();
                let Some(term) = term else { continue };
                let span = tree::span(condition);
                if let Err(error) = self.builder.guard_on(step, term, Some(span)) {
                    self.internal(error, span);
                }
            }
            self.indices.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_system::BuildError;

    /// The syntax does not allow these cases, but the pass rejects them: they must be reported.
    #[test]
    fn compose_errors_are_reported() {
        let system = Span { start: 3, end: 9 };
        let nothing =
            Plan { instances: Vec::new(), families: FxHashMap::default(), syncs: Vec::new() };
        for error in [
            ComposeError::NoInstance,
            ComposeError::NoStart("a".to_string()),
            ComposeError::Build(BuildError::Duplicate("x".to_string())),
        ] {
            let found = refused(&error, system, &nothing);
            assert_eq!((found.code, found.primary.span), (Code::E0901, system));
            assert_eq!(found.message, error.to_string());
        }
    }

    #[test]
    fn build_errors_are_reported() {
        let spec = Spec {
            name: "A".to_string(),
            span: Span { start: 0, end: 6 },
            references: Vec::new(),
            items: Vec::new(),
            given: Vec::new(),
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

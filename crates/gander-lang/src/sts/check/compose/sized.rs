//! A system whose constants have no values: the system for all sizes.
//!
//! The text is first checked with some values, so that every error is found that a size can have;
//! what is left to report is what cannot be said for all sizes.

use super::super::data::Val;
use super::super::names::{NameKind, Names};
use super::super::references;
use super::super::{Checker, Place, Spec, text};
use super::instances::Instance;
use super::plan::{Constants, Ranges, find, instance_and_gate, mentions};
use super::sized_formulas::{Family, SizedFamilies};
use super::{add_values, misplaced, of_known_size, refused_for};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::{Diagnostic, Severity};
use crate::diagnostics::span::Span;
use crate::sts::syntax::{SyntaxKind as K, SyntaxNode, SyntaxToken};
use crate::sts::tree;
use gander_system::passes::{
    IndexedLink, IndexedRead, IndexedSync, Member, Parametric, ParametricError, Participant,
    SyncIndex,
};
use gander_system::{System, SystemBuilder, VarId};
use gander_term::{IBig, Pool, Sort, TermId, Value};
use rustc_hash::FxHashMap;

/// The greatest least value of a constant without a value: systems of this size are built.
const MAX_LEAST: i32 = 64;
/// A value for which the text is checked, if the range has it.
const TRIAL: i32 = 3;

/// A constant of a system without a value.
pub(super) struct OpenConstant {
    name: String,
    span: Span,
    low: IBig,
    high: Option<IBig>,
}

/// The declarations of constants without a value.
fn valueless(system: &Spec) -> impl Iterator<Item = (&SyntaxNode, SyntaxToken)> {
    let items = system.items.iter().filter(|item| item.kind() == K::ConstDecl);
    items
        .filter(|item| tree::expression(item).is_none())
        .filter_map(|item| Some((item, tree::name(item)?)))
}

/// Gives constants the values that the user chose.
pub(super) fn give(systems: &mut [Spec], given: &[(String, IBig)]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (name, value) in given {
        let mut known = false;
        for system in systems.iter_mut() {
            if valueless(system).any(|(_, token)| token.text() == name) {
                known = true;
                system.given.push((name.clone(), value.clone()));
            }
        }
        if !known {
            let message = format!("the file has no constant `{name}` without a value");
            let diagnostic = Diagnostic::new(Code::E0307, Span::at(0), message)
                .help("`--const` is for constants of a system such as `const N: int`");
            found.push(diagnostic);
        }
    }
    found
}

/// The constants that have no value, with their ranges.
pub(super) fn open_constants(system: &Spec) -> Result<Vec<OpenConstant>, Vec<Diagnostic>> {
    let mut open = Vec::new();
    let mut found = Vec::new();
    for (item, token) in valueless(system) {
        let (name, span) = (text(&token), tree::token_span(&token));
        let sort = tree::child(item, K::SortRef).and_then(|s| tree::reference(&s));
        if sort.as_ref().is_some_and(|s| s.text() != "int") {
            let message = format!("`{name}` has no value, so it must be an int");
            let diagnostic = Diagnostic::new(Code::E0307, span, message)
                .note("a constant without a value is the size of families");
            found.push(diagnostic);
            continue;
        }
        let (mut low, mut high) = (IBig::from(1), None);
        if let Some(range) = tree::child(item, K::RangeBounds) {
            let Some(mut constants) = Constants::of(system) else { continue };
            let mut bounds = Vec::new();
            for bound in tree::expressions(&range) {
                bounds.push(constants.value(&bound, Sort::Int, &[]));
            }
            found.extend(constants.diagnostics());
            let int = |value: &Option<Value>| match value {
                Some(Value::Int(value)) => Some(value.clone()),
                _ => None,
            };
            if let Some(value) = bounds.first().and_then(int) {
                low = value;
            }
            high = bounds.get(1).and_then(int);
            if high.as_ref().is_some_and(|high| *high < low) {
                let message = "this range is empty: its lower bound is above its upper bound";
                let diagnostic = Diagnostic::new(Code::E0308, tree::span(&range), message)
                    .help("write the smaller number first");
                found.push(diagnostic);
            }
        }
        let given = system.given.iter().find(|(known, _)| *known == name);
        match given {
            Some((_, value)) if *value < low || high.as_ref().is_some_and(|h| value > h) => {
                let above = high.map_or("or more".to_string(), |high| format!("to {high}"));
                let message = format!("`{name}` is {low} {above}, and {value} is given");
                found.push(Diagnostic::new(Code::E0308, span, message));
            }
            Some(_) => {}
            None => {
                if low > IBig::from(MAX_LEAST) {
                    let message = format!(
                        "the least value of a constant without a value is at most {MAX_LEAST}"
                    );
                    found.push(Diagnostic::new(Code::E0704, span, message));
                }
                open.push(OpenConstant { name, span, low, high });
            }
        }
    }
    if found.is_empty() { Ok(open) } else { Err(found) }
}

/// The system for all values of the open constants.
pub(super) fn of_any_size(
    system: &Spec,
    open: &[OpenConstant],
    specs: &[Spec],
    built: &[Option<System>],
) -> (Option<System>, Vec<Diagnostic>) {
    let found = misplaced(system);
    if !found.is_empty() {
        return (None, found);
    }
    let least: Vec<IBig> = open.iter().map(|c| c.low.clone()).collect();
    let some = |c: &OpenConstant| {
        let wanted = c.low.clone().max(IBig::from(TRIAL));
        c.high.as_ref().map_or(wanted.clone(), |high| wanted.min(high.clone()))
    };
    let mut trials = vec![least, open.iter().map(some).collect()];
    trials.dedup();
    for values in trials {
        let mut with_values = Spec {
            name: system.name.clone(),
            span: system.span,
            references: Vec::new(),
            items: system.items.clone(),
            given: system.given.clone(),
        };
        let given = open.iter().map(|c| c.name.clone()).zip(values);
        with_values.given.extend(given);
        let (_, mut found) = of_known_size(&with_values, specs, built);
        found.retain(|d| d.severity() == Severity::Error);
        if !found.is_empty() {
            let added = with_values.given.len() - open.len();
            let values: Vec<String> =
                with_values.given[added..].iter().map(|(n, v)| format!("{n} = {v}")).collect();
            let note = format!("this is with {}", values.join(", "));
            return (None, found.into_iter().map(|d| d.note(note.clone())).collect());
        }
    }
    if specs.iter().zip(built).any(|(_, system)| system.is_none()) {
        return (None, Vec::new());
    }
    match build(system, open, specs, built) {
        Ok(result) => result,
        Err((checker, error)) => {
            let mut diagnostics = checker.map(|c| c.diagnostics).unwrap_or_default();
            if let Some(error) = error {
                diagnostics.push(refusal(&error, system));
            }
            (None, diagnostics)
        }
    }
}

fn refusal(error: &ParametricError, system: &Spec) -> Diagnostic {
    match error {
        ParametricError::Compose(error) => refused_for(error, system.span, &[]),
        ParametricError::Unsupported { sync, .. } => {
            let sync = sync.and_then(|at| {
                tree::children(system.items.first()?, K::Sync).nth(at).and_then(|s| tree::name(&s))
            });
            let span = sync.map_or(system.span, |token| tree::token_span(&token));
            Diagnostic::new(Code::E0510, span, error.to_string())
                .help("check it for some sizes: `--const N=3`")
        }
    }
}

/// An instance or a family as it is declared.
struct Declared {
    name: SyntaxToken,
    spec: usize,
    size: Option<TermId>,
    /// The name of the index in the arguments.
    index: Option<String>,
    arguments: Vec<SyntaxNode>,
}

type Failed = (Option<Box<Checker>>, Option<ParametricError>);

/// Ends a function with the diagnostics so far and an error of the pass.
macro_rules! pass {
    ($checker:expr, $result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return Err((Some(Box::new($checker)), Some(error.into()))),
        }
    };
}

fn build(
    system: &Spec,
    open: &[OpenConstant],
    specs: &[Spec],
    built: &[Option<System>],
) -> Result<(Option<System>, Vec<Diagnostic>), Failed> {
    let Some(mut checker) = open_checker(system, open) else { return Err((None, None)) };
    let constants = Spec {
        name: system.name.clone(),
        span: system.span,
        references: Vec::new(),
        items: system.items.iter().filter(|i| i.kind() == K::ConstDecl).cloned().collect(),
        given: system.given.clone(),
    };
    checker.declarations(&constants);
    let Some(declaration) = system.items.first() else { return Err((None, None)) };
    let mut declared = Vec::new();
    for node in tree::children(declaration, K::Instance) {
        declared.extend(checker.declared_instance(&node, specs));
    }
    if checker.has_errors() {
        return Err((Some(Box::new(checker)), None));
    }
    let names: Vec<String> = declared.iter().map(|d| text(&d.name)).collect();
    let members: Vec<Member<'_>> = declared
        .iter()
        .zip(&names)
        .filter_map(|(d, name)| {
            Some(Member { name, system: built[d.spec].as_ref()?, size: d.size })
        })
        .collect();
    let mut whole = pass!(checker, Parametric::declare(&mut checker.builder, &members));
    let linked = linked_vars(&declared, &members, specs);
    pass!(checker, whole.add_vars(&mut checker.builder, &linked));
    checker.name_sorts(&whole, &declared, &members, specs);
    checker.add_families(&whole, &declared, &names);
    for link in checker.links(&declared, &members, specs, &whole) {
        pass!(checker, whole.link(&mut checker.builder, &link));
    }
    if checker.has_errors() {
        return Err((Some(Box::new(checker)), None));
    }
    pass!(checker, whole.add_states(&mut checker.builder));
    let placeholders: Vec<TermId> =
        (0..members.len()).map(|at| checker.builder.pool.var(whole.index(at))).collect();
    let mut syncs = Vec::new();
    let mut written = Vec::new();
    for node in tree::children(declaration, K::Sync) {
        let sync = checker.sync(&node, &declared, &placeholders);
        if let Some(sync) = sync {
            syncs.push(sync);
            written.push(node);
        }
    }
    if checker.has_errors() {
        return Err((Some(Box::new(checker)), None));
    }
    pass!(checker, whole.add_steps(&mut checker.builder, &syncs));
    pass!(checker, whole.describe(&mut checker.builder));
    pass!(checker, checker.know_members(&mut whole, &declared, &members, &syncs));
    let rest = Spec {
        items: system.items.iter().filter(|i| i.kind() != K::ConstDecl).cloned().collect(),
        ..constants
    };
    checker.declarations(&rest);
    checker.sized_conditions(&whole, &written, &syncs);
    pass!(checker, whole.add_claims(&mut checker.builder));
    checker.report_left_out(&whole, &members, system.span);
    checker.assumptions(&system.items);
    let fairness = checker.fairness(&system.items);
    checker.claims(&system.items, &fairness);
    let sums = checker.sized.as_ref().map(|s| s.sums.clone()).unwrap_or_default();
    for (part, term, var) in sums {
        pass!(checker, whole.define_sum(&mut checker.builder, part, var, term));
    }
    let failed = checker.has_errors();
    Ok((if failed { None } else { Some(checker.builder.finish()) }, checker.diagnostics))
}

/// The variables of the instances that stand for what an instance reads of another one.
fn linked_vars(
    declared: &[Declared],
    members: &[Member<'_>],
    specs: &[Spec],
) -> Vec<(usize, VarId)> {
    let mut linked = Vec::new();
    for (at, (d, m)) in declared.iter().zip(members).enumerate() {
        let references = &specs[d.spec].references;
        let is_linked = |v: &VarId| {
            let name = &m.system.var(*v).name;
            references.iter().any(|r| {
                let own = r.name.text();
                name == own || name.strip_prefix(own).is_some_and(|rest| rest.starts_with('.'))
            })
        };
        linked.extend(m.system.var_ids().filter(is_linked).map(|v| (at, v)));
    }
    linked
}

/// A checker that knows the constants without a value.
fn open_checker(system: &Spec, open: &[OpenConstant]) -> Option<Checker> {
    let mut builder = SystemBuilder::new(&system.name, Pool::new(), &[("main", None)]).ok()?;
    let mut given = FxHashMap::default();
    let mut sized = SizedFamilies::default();
    for c in open {
        let var = builder.size(&c.name, &c.low, c.high.as_ref(), Some(c.span)).ok()?;
        let symbol = builder.so_far().var(var).current;
        let term = builder.pool.var(symbol);
        given.insert(c.name.clone(), term);
        sized.sizes.push((term, c.low.clone(), c.high.clone()));
    }
    let checker = Checker::new(builder, Names::default())?;
    Some(Checker { given, sized: Some(sized), ..checker })
}

impl Checker {
    /// Makes the families known to formulas.
    fn add_families(&mut self, whole: &Parametric<'_>, declared: &[Declared], names: &[String]) {
        let Some(sized) = self.sized.as_mut() else { return };
        for (at, (d, name)) in declared.iter().zip(names).enumerate() {
            let Some(size) = d.size else { continue };
            let family = Family {
                part: at,
                size,
                placeholder: whole.index(at),
                vars: Vec::new(),
                location: None,
                nodes: Vec::new(),
                gates: Vec::new(),
            };
            sized.families.push((name.clone(), family));
        }
    }

    /// Warns of claims of the instances that the composition does not have.
    fn report_left_out(&mut self, whole: &Parametric<'_>, members: &[Member<'_>], system: Span) {
        for left in &whole.left_out {
            let part = &members[left.instance];
            let span = part.system.find_claim(&left.claim).and_then(|c| c.span);
            let message =
                format!("`{}` is not checked of `{}`: {}", left.claim, part.name, left.reason);
            let diagnostic = Diagnostic::new(Code::W0807, span.unwrap_or(system), message);
            self.report(diagnostic.label(system, "in this system"));
        }
    }

    fn declared_instance(&mut self, node: &SyntaxNode, specs: &[Spec]) -> Option<Declared> {
        let (name, of) = (tree::name(node)?, tree::reference(node)?);
        let spec = specs.iter().position(|spec| spec.name == of.text())?;
        let arguments =
            tree::children(node, K::Argument).filter_map(|a| tree::expression(&a)).collect();
        let Some(written) = tree::child(node, K::FamilySize) else {
            return Some(Declared { name, spec, size: None, index: None, arguments });
        };
        let index = tree::name(&written).map(|name| text(&name));
        let expression = tree::expression(&written)?;
        self.place = Place::Constant;
        let size = self.expression(&expression, Some(Sort::Int))?;
        let size = self.expect_sort(size, Sort::Int, &expression)?;
        // Sizes for which a family has no instance do not exist.
        let one = self.pool().int(1);
        let least = self.pool().le(one, size);
        if self.builder.pool.as_symbol(size).is_none()
            && self.builder.pool.as_bool(least) != Some(true)
        {
            let name = format!("`{}` is not empty", name.text());
            match self.builder.state_formula(least, &name) {
                Ok(formula) => {
                    self.builder.assumption(&name, formula, Some(tree::span(&expression)));
                }
                Err(error) => self.internal(error, tree::span(&expression)),
            }
        }
        Some(Declared { name, spec, size: Some(size), index, arguments })
    }

    /// Makes enumerations, their values and nodes known.
    fn name_sorts(
        &mut self,
        whole: &Parametric<'_>,
        declared: &[Declared],
        members: &[Member<'_>],
        specs: &[Spec],
    ) {
        for (at, (d, m)) in declared.iter().zip(members).enumerate() {
            let span = specs[d.spec].span;
            for id in m.system.pool().enumerations() {
                let enumeration = m.system.pool().enumeration(id);
                if enumeration.name.starts_with('@') || enumeration.name.contains('.') {
                    continue;
                }
                let sort = whole.sort(&mut self.builder, at, Sort::Enum(id));
                let Ok(Sort::Enum(new)) = sort else { continue };
                if self.names.get(&enumeration.name).is_none() {
                    self.names.insert(enumeration.name.clone(), NameKind::Sort(new), span);
                }
                add_values(&mut self.names, new, &enumeration.variants, span);
            }
            // `f[i] == Open` is `f[i] in Open`.
            let nodes = m.system.pool().symbol(m.system.location()).sort;
            let sort = whole.sort(&mut self.builder, at, nodes).ok();
            if let Some(Sort::Enum(nodes)) = sort.filter(|_| m.system.nodes().len() > 1) {
                let variants = self.builder.pool.enumeration(nodes).variants.clone();
                add_values(&mut self.names, nodes, &variants, span);
            }
        }
    }

    /// What the instances read of each other, and their constants.
    fn links(
        &mut self,
        declared: &[Declared],
        members: &[Member<'_>],
        specs: &[Spec],
        whole: &Parametric<'_>,
    ) -> Vec<IndexedLink> {
        let mut links = Vec::new();
        for (at, (d, m)) in declared.iter().zip(members).enumerate() {
            let placeholder = self.pool().var(whole.index(at));
            if let (Some(name), Some(size), Some(sized)) = (&d.index, d.size, self.sized.as_mut()) {
                sized.indices.push((name.clone(), placeholder, size));
            }
            for (reference, argument) in specs[d.spec].references.iter().zip(&d.arguments) {
                let own = reference.name.text();
                if references::is_constant(reference, specs) {
                    let Some(input) = find(m.system, own) else { continue };
                    let value =
                        self.constant_argument(argument, m.system.var(input).sort, at, whole);
                    if let Some(value) = value {
                        let read = IndexedRead::Constant(value);
                        links.push(IndexedLink { reader: (at, input), read });
                    }
                    continue;
                }
                let Some((owner, index)) = self.owner_argument(argument, declared) else {
                    continue;
                };
                let read = members[owner].system;
                // A value of several parts is read part by part.
                let shown = read.shown_vars().filter(|var| references::is_own(var.name));
                let vars: Vec<VarId> = shown.flat_map(|var| var.parts()).collect();
                for var in vars {
                    let input = find(m.system, &format!("{own}.{}", read.var(var).name));
                    links.extend(input.map(|input| IndexedLink {
                        reader: (at, input),
                        read: IndexedRead::Variable(owner, index, var),
                    }));
                }
                let node = find(m.system, &references::location_name(own));
                links.extend(node.map(|input| IndexedLink {
                    reader: (at, input),
                    read: IndexedRead::Node(owner, index),
                }));
            }
            if let Some(sized) = self.sized.as_mut() {
                sized.indices.clear();
            }
        }
        links
    }

    fn constant_argument(
        &mut self,
        argument: &SyntaxNode,
        sort: Sort,
        at: usize,
        whole: &Parametric<'_>,
    ) -> Option<TermId> {
        let sort = whole.sort(&mut self.builder, at, sort).ok()?;
        if let Sort::Enum(id) = sort {
            let token = tree::ident(argument).filter(|_| argument.kind() == K::NameExpr)?;
            let position = self.builder.pool.enumeration(id).position(token.text())?;
            return Some(self.pool().constant(Value::Enum(id, position)));
        }
        self.place = Place::Constant;
        let term = self.expression(argument, Some(sort))?;
        self.expect_sort(term, sort, argument)
    }

    /// The member that an argument denotes, and its index.
    fn owner_argument(
        &mut self,
        argument: &SyntaxNode,
        declared: &[Declared],
    ) -> Option<(usize, Option<TermId>)> {
        if argument.kind() == K::NameExpr {
            let token = tree::ident(argument)?;
            return declared
                .iter()
                .position(|d| d.name.text() == token.text())
                .map(|at| (at, None));
        }
        let (family, index) = self.sized_index(argument)?;
        let part = self.sized.as_ref()?.families[family].1.part;
        Some((part, Some(index)))
    }

    /// `placeholders` are the terms of [`Parametric::index`].
    fn sync(
        &mut self,
        node: &SyntaxNode,
        declared: &[Declared],
        placeholders: &[TermId],
    ) -> Option<IndexedSync> {
        let name = tree::name(node)?;
        let shared: Vec<String> = tree::child(node, K::SharedParams)
            .map(|list| tree::names(&list).map(|n| text(&n)).collect())
            .unwrap_or_default();
        let members: Vec<SyntaxNode> = tree::children(node, K::SyncMember).collect();
        let receivers: Vec<SyntaxNode> = tree::child(node, K::Receivers)
            .map(|list| tree::children(&list, K::SyncMember).collect())
            .unwrap_or_default();
        let mut indices = Vec::new();
        let mut conditions = Vec::new();
        if let Some(written) = tree::child(node, K::SyncIndices) {
            let selected = |index: &str| {
                members.iter().chain(&receivers).find_map(|member| {
                    let expression = tree::expression(member)?;
                    mentions(&expression, index).then(|| tree::reference(member))?
                })
            };
            let positions = self.sized.as_ref()?.positions();
            let ranges =
                Ranges::of(&written, &positions, &selected).map_err(|d| self.report(*d)).ok()?;
            for (name, at) in &ranges.names {
                let size = self.sized.as_ref()?.families[*at].1.size;
                let symbol = self.pool().declare_fresh(name, Sort::Int);
                let term = self.pool().var(symbol);
                self.sized.as_mut()?.indices.push((name.clone(), term, size));
                indices.push(SyncIndex { name: name.clone(), symbol, size });
            }
            if let Some(condition) = &ranges.condition {
                conditions.extend(self.formula(condition, Place::Constant));
            }
            for (a, b) in ranges.different() {
                let (a, b) = (indices[a].symbol, indices[b].symbol);
                let (a, b) = (self.pool().var(a), self.pool().var(b));
                conditions.push(self.pool().ne(a, b));
            }
            self.sized.as_mut()?.conditions.extend(conditions.iter().copied());
        }
        let participants = |list: &[SyntaxNode], checker: &mut Checker| {
            let all: Vec<Option<Participant>> =
                list.iter().map(|m| checker.participant(m, declared, placeholders)).collect();
            all.into_iter().collect::<Option<Vec<_>>>()
        };
        let members = participants(&members, self);
        let receivers = participants(&receivers, self);
        let sized = self.sized.as_mut()?;
        sized.indices.clear();
        sized.conditions.clear();
        let condition = match conditions.is_empty() {
            true => None,
            false => Some(self.pool().and(conditions)),
        };
        Some(IndexedSync {
            name: text(&name),
            shared,
            indices,
            condition,
            members: members?,
            receivers: receivers?,
            span: Some(tree::token_span(&name)),
        })
    }

    fn participant(
        &mut self,
        member: &SyntaxNode,
        declared: &[Declared],
        placeholders: &[TermId],
    ) -> Option<Participant> {
        let (token, gate) = instance_and_gate(member)?;
        let part = declared.iter().position(|d| d.name.text() == token.text())?;
        let gate = text(&gate);
        let Some(expression) = tree::expression(member) else {
            return Some(Participant {
                part,
                index: None,
                inverse: None,
                gate,
                text: text(&token),
            });
        };
        let family = *self.sized.as_ref()?.positions().get(token.text())?;
        let index = self.sized_index_term(family, &expression)?;
        let inverse = self.inverse_of(family, &expression, placeholders[part]);
        let shown = crate::sts::format::one_line(&expression, 40);
        let text = format!("{}[{shown}]", token.text());
        Some(Participant { part, index: Some(index), inverse, gate, text })
    }

    /// Makes the instances, families and gates known to formulas.
    fn know_members(
        &mut self,
        whole: &mut Parametric<'_>,
        declared: &[Declared],
        members: &[Member<'_>],
        syncs: &[IndexedSync],
    ) -> Result<(), ParametricError> {
        for (at, (d, m)) in declared.iter().zip(members).enumerate() {
            let index = match d.size {
                Some(_) => Some(self.builder.pool.var(whole.index(at))),
                None => None,
            };
            let mut vars = Vec::new();
            for var in m.system.shown_vars().filter(|var| references::is_own(var.name)) {
                let parts = var.parts().map(|v| whole.var(&mut self.builder, at, v, index));
                let Some(parts) = parts.collect::<Option<Vec<_>>>() else { continue };
                vars.push((var.name.to_owned(), Val::of(var.shape, &parts)));
            }
            let mut nodes = Vec::new();
            for n in m.system.node_ids() {
                let here = whole.at_node(&mut self.builder, at, n, index)?;
                nodes.push((m.system.node(n).name.clone(), here));
            }
            let location = whole.location(&mut self.builder, at, index);
            let mut gates: Vec<(String, Vec<_>)> = Vec::new();
            for id in m.system.transition_ids() {
                let t = m.system.transition(id);
                let gate = t.gate.map(|gate| m.system.gates()[gate.index()].clone());
                let mut full = vec![t.name.clone()];
                full.extend(gate);
                full.dedup();
                for name in full {
                    let moves: Vec<_> = whole.moves(at, id).collect();
                    match gates.iter_mut().find(|(known, _)| *known == name) {
                        Some((_, list)) => list.extend(moves),
                        None => gates.push((name, moves)),
                    }
                }
            }
            let name = text(&d.name);
            if d.size.is_some() {
                let families = &mut self.sized.get_or_insert_default().families;
                if let Some((_, family)) = families.iter_mut().find(|(known, _)| *known == name) {
                    (family.vars, family.nodes) = (vars, nodes);
                    (family.location, family.gates) = (location, gates);
                }
                continue;
            }
            for (gate, list) in gates {
                let full = format!("{name}.{gate}");
                let steps: Vec<_> = list.iter().map(|(step, ..)| *step).collect();
                for (step, condition, _) in list {
                    if let Some(condition) = condition {
                        let known = self.graph.conditions.entry((full.clone(), step)).or_default();
                        known.push(condition);
                    }
                }
                self.graph.gates.insert(full, steps);
            }
            let (vars, nodes) = (vars.into_iter().collect(), nodes.into_iter().collect());
            self.instances.insert(name, Instance { vars, nodes, location });
        }
        for (number, sync) in syncs.iter().enumerate() {
            let gate = self.graph.gates.entry(sync.name.clone()).or_default();
            gate.extend(whole.synchronised(number).into_iter().map(|(step, _)| step));
        }
        for list in self.graph.gates.values_mut() {
            list.sort_unstable();
            list.dedup();
        }
        for (at, start) in self.builder.so_far().starts().iter().enumerate() {
            self.graph.starts.insert(start.name.clone(), at.into());
        }
        let ids: Vec<_> = self.builder.so_far().transition_ids().collect();
        self.leaders = ids.iter().map(|id| whole.leader(*id).to_string()).collect();
        let params = ids.iter().map(|id| whole.index_params(*id).to_vec()).collect();
        self.sized.get_or_insert_default().index_params = params;
        Ok(())
    }

    /// Adds the conditions of synchronisations to their steps.
    fn sized_conditions(
        &mut self,
        whole: &Parametric<'_>,
        written: &[SyntaxNode],
        syncs: &[IndexedSync],
    ) {
        for (number, (node, sync)) in written.iter().zip(syncs).enumerate() {
            let condition = tree::child(node, K::SyncCondition).and_then(|c| tree::expression(&c));
            let Some(condition) = condition else { continue };
            for (step, indices) in whole.synchronised(number) {
                let named = sync.indices.iter().zip(&indices);
                let scope = named.map(|(i, term)| (i.name.clone(), *term, i.size)).collect();
                // The conditions on the indices hold in the step.
                let map = sync.indices.iter().map(|i| i.symbol).zip(indices.clone()).collect();
                let where_ = sync.condition.map(|c| self.pool().substitute(c, &map));
                let sized = self.sized.get_or_insert_default();
                sized.indices = scope;
                sized.conditions = where_.into_iter().collect();
                self.with_parameters_of(step);
                let term = self.formula(&condition, Place::With);
                self.locals.clear();
                let sized = self.sized.get_or_insert_default();
                sized.indices.clear();
                sized.conditions.clear();
                let Some(term) = term else { continue };
                let span = tree::span(&condition);
                if let Err(error) = self.builder.guard_on(step, term, Some(span)) {
                    self.internal(error, span);
                }
            }
        }
    }
}

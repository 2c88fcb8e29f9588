//! Starts, nodes, transitions and their effects.

use super::data::{Ty, Val};
use super::declarations::ONLY_NODE;
use super::names::NameKind;
use super::{Checker, Local, Place, Spec, text};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::sts::format::one_line;
use crate::sts::syntax::{SyntaxKind as K, SyntaxNode, SyntaxToken};
use crate::sts::tree;
use gander_system::{NodeId, Shape, TransitionDraft, VarId};
use gander_term::TermId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Gates that are not visible from outside.
const INTERNAL: &[&str] = &["tau", "internal"];

/// The number of pairs of a state variable and a transition in a specification. A transition
/// defines every variable, so this bounds the memory. The value allows 100 000 transitions over 120
/// variables.
const MAX_PAIRS: usize = 12_000_000;

/// A transition in the source, with its node.
pub(super) struct SourceTransition {
    node: SyntaxNode,
    source: NodeId,
    gate: SyntaxToken,
    label: Option<SyntaxToken>,
}

/// The variables that one effect assigns or frees.
#[derive(Default)]
struct EffectVariables {
    assigned: FxHashMap<VarId, Span>,
    freed: FxHashMap<VarId, Span>,
    /// The next values of freed variables of several parts.
    open: Vec<Val>,
}

/// What a part of an effect changes: a variable, or a field of one.
struct Changed {
    first: VarId,
    ty: Ty,
    /// The condition under which the variable has the field.
    when: Option<TermId>,
}

impl Changed {
    fn parts(&self) -> impl Iterator<Item = VarId> + use<> {
        let first = self.first.index();
        (first..first + self.ty.sorts().len()).map(VarId::from)
    }
}

impl Checker {
    /// Checks that the specification has either nodes or steps.
    pub(super) fn check_nodes_or_steps(&mut self, spec: &Spec) {
        let node = spec.items.iter().find(|item| item.kind() == K::NodeDecl);
        let steps = spec.items.iter().filter(|item| item.kind() == K::StepDecl);
        if let Some(node) = node {
            let first = tree::name(node).map_or(tree::span(node), |token| tree::token_span(&token));
            for step in steps {
                let word =
                    tree::ident(step).map_or(tree::span(step), |word| tree::token_span(&word));
                let diagnostic = Diagnostic::new(
                    Code::E0502,
                    word,
                    "a specification with nodes has no `step` at the top level",
                )
                .label(first, "here is a node")
                .help("move the transition into its node, without the word `step`");
                self.report(diagnostic);
            }
        }
    }

    /// Every transition, with the names of gates and labels.
    pub(super) fn collect_transitions(&mut self, spec: &Spec) -> Vec<SourceTransition> {
        let mut written = Vec::new();
        for item in &spec.items {
            match item.kind() {
                K::NodeDecl => {
                    let Some(token) = tree::name(item) else { continue };
                    let Some(&source) = self.graph.nodes.get(token.text()) else { continue };
                    let Some(body) = tree::child(item, K::NodeBody) else { continue };
                    written.extend(
                        tree::children(&body, K::Transition)
                            .filter_map(|node| source_transition(node, source)),
                    );
                }
                K::StepDecl => {
                    let step = tree::child(item, K::Transition);
                    written.extend(step.and_then(|node| source_transition(node, NodeId::from(0))));
                }
                _ => {}
            }
        }
        for transition in &written {
            let gate = transition.gate.text();
            let params = tree::child(&transition.node, K::ParamList);
            for param in
                params.iter().flat_map(|list| tree::children(list, K::Param).collect::<Vec<_>>())
            {
                for token in tree::names(&param) {
                    self.graph.params.entry(text(&token)).or_insert_with(|| gate.to_owned());
                }
            }
        }
        written
    }

    pub(super) fn transitions(&mut self, written: &[SourceTransition]) {
        let mut count: FxHashMap<&str, usize> = FxHashMap::default();
        for transition in written {
            *count.entry(transition.gate.text()).or_default() += 1;
        }
        let labels: FxHashSet<&str> = written
            .iter()
            .filter_map(|transition| transition.label.as_ref())
            .map(|label| label.text())
            .collect();
        // Labels cannot collide with the other names: those are gates that are not labels, or
        // contain a dot.
        let mut labelled: FxHashMap<&str, Span> = FxHashMap::default();
        let mut repeats: FxHashMap<String, usize> = FxHashMap::default();
        self.graph.transitions.reserve(written.len());
        self.builder.expect_transitions(written.len());
        for transition in written {
            let gate = transition.gate.text();
            let name = match &transition.label {
                Some(label) => {
                    let span = tree::token_span(label);
                    if let Some(first) = labelled.insert(label.text(), span) {
                        labelled.insert(label.text(), first);
                        self.duplicate(label.text(), span, first);
                        continue;
                    }
                    label.text().to_owned()
                }
                None if count[gate] == 1 && !labels.contains(gate) => gate.to_owned(),
                None => {
                    let name =
                        format!("{}.{gate}", self.builder.so_far().node(transition.source).name);
                    if self.graph.transitions.contains_key(&name) {
                        let times = repeats.entry(name.clone()).or_insert(1);
                        *times += 1;
                        format!("{name}#{times}")
                    } else {
                        name
                    }
                }
            };
            self.transition(transition, &name);
        }
    }

    /// Reports a specification that would need too much memory.
    pub(super) fn too_many_pairs(&mut self, written: &[SourceTransition]) -> bool {
        let (variables, transitions) = (self.builder.so_far().vars().len(), written.len());
        let Some(last) =
            written.last().filter(|_| variables.saturating_mul(transitions) > MAX_PAIRS)
        else {
            return false;
        };
        let message = format!(
            "the specification is too large: {variables} variables in {transitions} transitions"
        );
        let diagnostic = Diagnostic::new(Code::E0704, tree::token_span(&last.gate), message)
            .note(format!("the product of the two numbers can be at most {MAX_PAIRS}"))
            .help("use fewer variables, or split the specification");
        self.report(diagnostic);
        true
    }

    fn transition(&mut self, written: &SourceTransition, name: &str) {
        let span = tree::token_span(&written.gate);
        let target =
            match tree::child(&written.node, K::Target).map(|target| tree::reference(&target)) {
                Some(Some(token)) => self.node_named(&token).unwrap_or(written.source),
                _ => written.source,
            };
        let gate = written.gate.text();
        let gate_id = (!INTERNAL.contains(&gate)).then(|| self.builder.gate(gate));
        let draft = self.builder.transition(
            name,
            gate_id,
            written.source,
            target,
            Some(tree::span(&written.node)),
        );
        let mut draft = match draft {
            Ok(draft) => draft,
            Err(error) => return self.internal(error, span),
        };
        let id = draft.id();
        match self.graph.gates.get_mut(gate) {
            Some(transitions) => transitions.push(id),
            None => drop(self.graph.gates.insert(gate.to_owned(), vec![id])),
        }
        self.graph.transitions.insert(name.to_owned(), id);
        self.parameters(&mut draft, &written.node);
        if let Some(guard) =
            tree::child(&written.node, K::Guard).and_then(|guard| tree::expression(&guard))
        {
            for conjunct in tree::conjuncts(&guard) {
                let Some(term) = self.formula(&conjunct, Place::Guard) else { continue };
                if let Err(error) =
                    self.builder.guard(&mut draft, term, Some(tree::span(&conjunct)))
                {
                    self.internal(error, tree::span(&conjunct));
                }
            }
        }
        if let Some(block) = tree::child(&written.node, K::EffectBlock) {
            self.effect(&mut draft, &block);
        }
        self.locals.clear();
        // With errors the system is not used, and the builder would only repeat them.
        let errors = self.has_errors();
        if let Err(error) = self.builder.add(draft)
            && !errors
        {
            self.internal(error, span);
        }
    }

    fn parameters(&mut self, draft: &mut TransitionDraft, node: &SyntaxNode) {
        let Some(list) = tree::child(node, K::ParamList) else { return };
        let mut seen: FxHashMap<String, Span> = FxHashMap::default();
        for param in tree::children(&list, K::Param) {
            self.place = Place::Constant;
            let ty = self.type_of(&param);
            if let Some(ty @ Ty::Parts(..)) = &ty {
                self.parameters_of_parts(draft, &param, ty, &mut seen);
                continue;
            }
            let sort = ty.and_then(|ty| ty.sort());
            let bounds = sort.and_then(|sort| self.bounds(&param, sort));
            for token in tree::names(&param) {
                let span = tree::token_span(&token);
                if let Some(first) = seen.insert(text(&token), span) {
                    self.duplicate(token.text(), span, first);
                    continue;
                }
                let Some(sort) = sort else { continue };
                let whole = bounds.as_ref().and_then(|bounds| bounds.whole.clone());
                match self.builder.param(draft, token.text(), sort, whole) {
                    Ok(symbol) => {
                        self.builder.set_range_span(draft, Some(tree::span(&param)));
                        if let Some(bounds) =
                            bounds.as_ref().filter(|bounds| bounds.whole.is_none())
                        {
                            let within = self.within(symbol, bounds);
                            if let Err(error) = self.builder.guard(draft, within, Some(span)) {
                                self.internal(error, span);
                            }
                        }
                        let term = self.pool().var(symbol);
                        self.push_local(&token, Val::Term(term));
                    }
                    Err(error) => self.internal(error, span),
                }
            }
        }
    }

    /// Parameters of several parts. Their ranges are part of the guard.
    fn parameters_of_parts(
        &mut self,
        draft: &mut TransitionDraft,
        param: &SyntaxNode,
        ty: &Ty,
        seen: &mut FxHashMap<String, Span>,
    ) {
        for token in tree::names(param) {
            let (name, span) = (text(&token), tree::token_span(&token));
            if let Some(first) = seen.insert(name.clone(), span) {
                self.duplicate(&name, span, first);
                continue;
            }
            let first = draft.params().len();
            let mut symbols = Vec::new();
            let ranges = self.part_ranges(ty);
            let names = ty.shape().part_names(&name);
            for ((part, &sort), range) in names.iter().zip(ty.sorts()).zip(ranges) {
                match self.builder.param(draft, part, sort, range) {
                    Ok(symbol) => {
                        self.builder.set_range_span(draft, Some(tree::span(param)));
                        symbols.push(symbol);
                    }
                    Err(error) => return self.internal(error, span),
                }
            }
            self.builder.param_aggregate(draft, &name, ty.shape(), first);
            let value = self.value_of_symbols(ty, &symbols);
            for limit in self.limits(param, &value).unwrap_or_default() {
                match self.builder.guard(draft, limit, Some(span)) {
                    Ok(()) => self.builder.mark_form(),
                    Err(error) => self.internal(error, span),
                }
            }
            self.push_local(&token, value);
        }
    }

    fn effect(&mut self, draft: &mut TransitionDraft, block: &SyntaxNode) {
        self.primed.clear();
        self.primed_values.clear();
        let mut treated = EffectVariables::default();
        for element in block.children() {
            match element.kind() {
                K::Assignment => self.assignment(draft, &element, &mut treated),
                K::Release => self.release(draft, &element, &mut treated),
                K::Constraint => {
                    let Some(formula) = tree::expression(&element) else { continue };
                    for conjunct in tree::conjuncts(&formula) {
                        let Some(term) = self.formula(&conjunct, Place::Effect) else { continue };
                        if let Err(error) =
                            self.builder.constrain(draft, term, Some(tree::span(&conjunct)))
                        {
                            self.internal(error, tree::span(&conjunct));
                        }
                    }
                }
                _ => {}
            }
        }
        let mut open = std::mem::take(&mut self.primed_values);
        open.append(&mut treated.open);
        self.lengths_after(draft, &open, tree::span(block));
        for (var, span) in std::mem::take(&mut self.primed) {
            self.changed.insert(var);
            // A primed variable of several parts is open as a whole.
            if !treated.assigned.contains_key(&var) {
                self.builder.free(draft, var);
            }
            if let Some(first) = treated.assigned.get(&var) {
                let first = *first;
                self.treated_twice(var, span, first, "assigned here", "constrained here");
            }
        }
        let both: Vec<(VarId, Span, Span)> = treated
            .freed
            .iter()
            .filter_map(|(var, at)| Some((*var, *at, *treated.assigned.get(var)?)))
            .collect();
        for (var, freed, assigned) in both {
            self.treated_twice(var, freed, assigned, "assigned here", "freed here");
        }
    }

    /// The next lengths of lists that an effect leaves open are possible ones.
    fn lengths_after(&mut self, draft: &mut TransitionDraft, open: &[Val], span: Span) {
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        for value in open {
            for term in self.valid(value) {
                if seen.insert(term)
                    && let Err(error) = self.builder.constrain(draft, term, Some(span))
                {
                    self.internal(error, span);
                }
            }
        }
    }

    fn treated_twice(&mut self, var: VarId, span: Span, first: Span, first_text: &str, text: &str) {
        let name = self.builder.so_far().var(var).name.clone();
        let diagnostic = Diagnostic::new(
            Code::E0402,
            span,
            format!("`{name}` is assigned, so its next value is fixed already"),
        )
        .here(text)
        .label(first, first_text)
        .help(format!("keep `{name} := …`, or replace it by constraints over `{name}'`"));
        self.report(diagnostic);
    }

    fn assignment(
        &mut self,
        draft: &mut TransitionDraft,
        element: &SyntaxNode,
        treated: &mut EffectVariables,
    ) {
        let value = tree::expression(element);
        let target = tree::child(element, K::NameRef);
        let changed = target.as_ref().and_then(|target| self.changed(target, "assigned"));
        let (Some(value), Some(target)) = (value, target) else { return };
        self.place = Place::Effect;
        let primes = self.primed.len();
        let values = self.primed_values.len();
        let ty = changed.as_ref().map(|changed| changed.ty.clone());
        let result = self.value(&value, ty.as_ref());
        self.primed_values.truncate(values);
        for (_, span) in self.primed.split_off(primes) {
            let diagnostic = Diagnostic::new(
                Code::E0404,
                span,
                "an assigned value is computed from the state before the step",
            )
            .help("leave the prime out, or write a constraint with `==` instead of `:=`");
            self.report(diagnostic);
        }
        let Some(changed) = changed else { return };
        let span = tree::span(&target);
        let mut first = None;
        for part in changed.parts() {
            first = first.or(treated.assigned.insert(part, span));
        }
        if let Some(first) = first {
            let name = one_line(&target, 60);
            let diagnostic = Diagnostic::new(
                Code::E0401,
                span,
                format!("`{name}` is assigned twice in one effect"),
            )
            .here("assigned again here")
            .label(first, "first assigned here")
            .note("all assignments of an effect happen at once and read the values before the step")
            .help("join them into one, or use two transitions");
            self.report(diagnostic);
            return;
        }
        let result = result.and_then(|result| self.expect_type(result, &changed.ty, &value));
        let Some(mut result) = result else { return };
        if let Some(when) = changed.when {
            let old = self.values_of(changed.parts(), &changed.ty);
            result = self.either(when, &result, &old);
        }
        for (var, &term) in changed.parts().zip(result.parts()) {
            if let Err(error) = self.builder.assign(draft, var, term, Some(tree::span(element))) {
                self.internal(error, span);
            }
        }
    }

    /// The value of variables that hold a value of a type.
    fn values_of(&mut self, vars: impl Iterator<Item = VarId>, ty: &Ty) -> Val {
        let symbols: Vec<_> = vars.map(|var| self.builder.so_far().var(var).current).collect();
        self.value_of_symbols(ty, &symbols)
    }

    fn release(
        &mut self,
        draft: &mut TransitionDraft,
        element: &SyntaxNode,
        treated: &mut EffectVariables,
    ) {
        let Some(target) = tree::child(element, K::NameRef) else { return };
        let Some(changed) = self.changed(&target, "freed") else { return };
        for part in changed.parts() {
            treated.freed.insert(part, tree::span(&target));
            self.builder.free(draft, part);
        }
        let symbols: Vec<_> =
            changed.parts().map(|part| self.builder.so_far().var(part).next).collect();
        let next = self.value_of_symbols(&changed.ty, &symbols);
        treated.open.push(next);
    }

    /// The variable, or field of one, that a part of an effect changes.
    fn changed(&mut self, target: &SyntaxNode, verb: &str) -> Option<Changed> {
        let names: Vec<SyntaxToken> =
            tree::tokens(target).filter(|token| token.kind() == K::Ident).collect();
        let (variable, fields) = names.split_first()?;
        let (mut first, shape) = self.changeable(variable, verb)?;
        let sorts = (0..shape.width())
            .map(|at| self.builder.so_far().var(VarId::from(first.index() + at)).sort)
            .collect();
        let mut ty = match shape {
            Shape::Scalar => Ty::Sort(self.builder.so_far().var(first).sort),
            shape => Ty::Parts(shape, sorts),
        };
        let mut conditions = Vec::new();
        for name in fields {
            let vars = (first.index()..).take(ty.sorts().len()).map(VarId::from);
            let value = self.values_of(vars, &ty);
            let field = self.field(&value, name)?;
            let width = field.shape.width();
            ty = self.ty(&Val::of(&field.shape, &value.parts()[field.from..field.from + width]));
            first = VarId::from(first.index() + field.from);
            conditions.extend(field.when);
        }
        let changed = Changed { first, ty, when: None };
        self.changed.extend(changed.parts());
        let when = if conditions.is_empty() { None } else { Some(self.pool().and(conditions)) };
        if verb == "freed" && when.is_some() {
            let message = "a field that only some constructors have cannot be freed by itself";
            let help = "free the whole variable, or write a constraint over its next value";
            self.report(Diagnostic::new(Code::E0403, tree::span(target), message).help(help));
            return None;
        }
        Some(Changed { when, ..changed })
    }

    /// The state variable that an effect changes: its shape and the first of its parts.
    fn changeable(&mut self, token: &SyntaxToken, verb: &str) -> Option<(VarId, Shape)> {
        let (name, span) = (token.text(), tree::token_span(token));
        let what = if self.locals.iter().any(|local| local.name == name) {
            "a parameter, which is chosen anew in each step"
        } else {
            match self.names.get(name).map(|found| found.kind.clone()) {
                Some(NameKind::Var(id) | NameKind::Aggregate(_, id)) if self.is_input(id) => {
                    "an input, which is chosen anew in each step"
                }
                Some(NameKind::Var(id)) => return Some((id, Shape::Scalar)),
                Some(NameKind::Aggregate(shape, first)) => return Some((first, shape)),
                Some(NameKind::Const(_)) => "a constant",
                Some(NameKind::Define(_)) => "a definition",
                Some(NameKind::Values(_)) => "a value of an enumeration",
                Some(NameKind::Constructor(..)) => "a constructor",
                Some(NameKind::Sort(_) | NameKind::Type(_)) => "a sort",
                Some(NameKind::Broken | NameKind::Pending) => return None,
                None => {
                    self.place = Place::Effect;
                    self.unknown_name(name, span);
                    return None;
                }
            }
        };
        let diagnostic =
            Diagnostic::new(Code::E0403, span, format!("`{name}` cannot be {verb}: it is {what}"))
                .help(format!("declare `var {name}` if it is to change"));
        self.report(diagnostic);
        None
    }

    pub(super) fn starts(&mut self, spec: &Spec) {
        let has_nodes = spec.items.iter().any(|item| item.kind() == K::NodeDecl);
        let mut spans: FxHashMap<String, Span> = FxHashMap::default();
        let mut unnamed = 0;
        for item in spec.items.iter().filter(|item| item.kind() == K::StartDecl) {
            let word = tree::ident(item).map_or(tree::span(item), |word| tree::token_span(&word));
            let target = tree::child(item, K::Target).and_then(|target| tree::reference(&target));
            let node = match (&target, has_nodes) {
                (Some(token), _) => self.node_named(token),
                (None, false) => self.graph.nodes.get(ONLY_NODE).copied(),
                (None, true) => {
                    let some = self.builder.so_far().nodes()[0].name.clone();
                    let diagnostic = Diagnostic::new(
                        Code::E0502,
                        word,
                        "this start does not say which node it leads to",
                    )
                    .help(format!("write for example `start -> {some} {{ … }}`"));
                    self.report(diagnostic);
                    None
                }
            };
            let name = match tree::name(item) {
                Some(token) => text(&token),
                None => {
                    unnamed += 1;
                    if unnamed == 1 { "start".to_owned() } else { format!("start {unnamed}") }
                }
            };
            let span = tree::name(item).map_or(word, |token| tree::token_span(&token));
            if let Some(first) = spans.insert(name.clone(), span) {
                self.duplicate(&name, span, first);
                continue;
            }
            let mut conjuncts = self.start_conjuncts(item);
            let written = conjuncts.len();
            conjuncts.extend(self.lengths_at_start(span));
            let Some(node) = node else { continue };
            let listed: Vec<(TermId, Option<Span>)> =
                conjuncts.into_iter().map(|(term, span)| (term, Some(span))).collect();
            match self.builder.start(&name, node, &listed, Some(tree::span(item))) {
                Ok(id) => {
                    self.builder.mark_form_of_start(id, written);
                    self.graph.starts.insert(name, id);
                }
                Err(error) => self.internal(error, span),
            }
        }
        if spans.is_empty() {
            let some = if has_nodes {
                format!("start -> {} {{ … }}", self.builder.so_far().nodes()[0].name)
            } else {
                "start { x == 0 }".to_owned()
            };
            let message = format!("`{}` has no start, so it has no runs", spec.name);
            let mut diagnostic = Diagnostic::new(Code::E0501, spec.span, message)
                .help(format!("say where it begins: `{some}`"));
            if spec.is_before_header() {
                diagnostic = Diagnostic::new(
                    Code::E0501,
                    spec.items.first().map_or(spec.span, tree::span),
                    "what is declared before the first `spec` belongs to no specification",
                )
                .help(
                    "declare it in each specification that uses it: enumerations, records and data \
                     with the same declaration are the same sort in a system",
                );
            }
            self.report(diagnostic);
        }
    }

    /// The first lengths of lists are possible ones.
    fn lengths_at_start(&mut self, span: Span) -> Vec<(TermId, Span)> {
        let aggregates = self.builder.so_far().aggregates().to_vec();
        let mut found = Vec::new();
        for aggregate in aggregates {
            let first = VarId::from(aggregate.first);
            if !self.is_input(first) {
                let value = self.current_value(&aggregate.shape, first);
                found.extend(self.valid(&value).into_iter().map(|term| (term, span)));
            }
        }
        found
    }

    fn start_conjuncts(&mut self, item: &SyntaxNode) -> Vec<(TermId, Span)> {
        let mut conjuncts = Vec::new();
        let Some(block) = tree::child(item, K::EffectBlock) else { return conjuncts };
        for element in block.children() {
            match element.kind() {
                K::Assignment | K::Release => {
                    let name =
                        tree::reference(&element).map(|token| text(&token)).unwrap_or_default();
                    let mut diagnostic = Diagnostic::new(
                        Code::E0407,
                        tree::span(&element),
                        "a start says what holds; nothing is assigned or freed in it",
                    );
                    diagnostic = if element.kind() == K::Assignment {
                        let operator =
                            tree::tokens(&element).find(|token| token.kind() == K::Assign);
                        let diagnostic = diagnostic.help(format!("write `{name} == …`"));
                        match operator {
                            Some(operator) => diagnostic.fix(tree::token_span(&operator), "=="),
                            None => diagnostic,
                        }
                    } else {
                        diagnostic.help(format!(
                            "leave it out: `{name}` has any value if the start does not mention it"
                        ))
                    };
                    self.report(diagnostic);
                }
                K::Constraint => {
                    let Some(formula) = tree::expression(&element) else { continue };
                    for conjunct in tree::conjuncts(&formula) {
                        if let Some(term) = self.formula(&conjunct, Place::Start) {
                            conjuncts.push((term, tree::span(&conjunct)));
                        }
                    }
                }
                _ => {}
            }
        }
        conjuncts
    }

    /// Invariants inside nodes: hints.
    pub(super) fn invariants(&mut self, spec: &Spec) {
        for item in spec.items.iter().filter(|item| item.kind() == K::NodeDecl) {
            let Some(token) = tree::name(item) else { continue };
            let Some(&node) = self.graph.nodes.get(token.text()) else { continue };
            let Some(body) = tree::child(item, K::NodeBody) else { continue };
            for (at, invariant) in tree::children(&body, K::Invariant).enumerate() {
                let Some(formula) = tree::expression(&invariant) else { continue };
                let Some(term) = self.formula(&formula, Place::Invariant) else { continue };
                let name = match tree::name(&invariant) {
                    Some(name) => text(&name),
                    None => format!("{} invariant {}", token.text(), at + 1),
                };
                let span = tree::span(&invariant);
                match self.builder.state_formula(term, &name) {
                    Ok(formula) => self.builder.hint(node, &name, formula, Some(span)),
                    Err(error) => self.internal(error, span),
                }
            }
        }
    }

    /// Adds the parameters of a transition that is already built to the scope.
    pub(super) fn with_parameters_of(&mut self, id: gander_system::TransitionId) {
        let indices = match &self.sized {
            Some(sized) => sized.index_params(id).to_vec(),
            None => Vec::new(),
        };
        let transition = self.builder.so_far().transition(id).clone();
        let mut aggregates = transition.aggregates.iter().peekable();
        let mut params: Vec<(String, Val)> = Vec::new();
        let mut at = 0;
        while let Some(param) = transition.params.get(at) {
            let (name, shape) = match aggregates.next_if(|a| a.first == at) {
                Some(a) => (a.name.clone(), a.shape.clone()),
                None => (param.name.clone(), Shape::Scalar),
            };
            let width = shape.width();
            let own = &transition.params[at..at + width];
            if !own.iter().any(|p| indices.contains(&p.symbol)) {
                let terms: Vec<TermId> = own.iter().map(|p| self.pool().var(p.symbol)).collect();
                params.push((name, Val::of(&shape, &terms)));
            }
            at += width;
        }
        self.locals = params
            .iter()
            .map(|(name, value)| Local { name: name.clone(), value: value.clone() })
            .collect();
        // In a composed system, the parameter `amount` of a step of `a` is also `a.amount`, and
        // vice versa.
        let Some(leader) = self.leaders.get(id.index()) else { return };
        for (name, value) in &params {
            let other = match name.split_once('.') {
                None => format!("{leader}.{name}"),
                Some((_, own))
                    if params
                        .iter()
                        .filter(|(other, _)| other.ends_with(&format!(".{own}")))
                        .count()
                        == 1 =>
                {
                    own.to_owned()
                }
                Some(_) => continue,
            };
            self.locals.push(Local { name: other, value: value.clone() });
        }
    }
}

fn source_transition(node: SyntaxNode, source: NodeId) -> Option<SourceTransition> {
    let gate = tree::name(&node)?;
    let label = tree::child(&node, K::TransitionLabel).and_then(|label| tree::name(&label));
    Some(SourceTransition { node, source, gate, label })
}

//! Warnings: constructs that are allowed but probably not intended.

use super::names::NameKind;
use super::{Checker, Spec};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::sts::syntax::{SyntaxKind as K, SyntaxNode};
use crate::sts::tree;
use gander_system::{Effect, FairnessKind, Role, StateVar, System, VarId};
use gander_term::{SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

impl Checker {
    pub(super) fn warnings(&mut self, spec: &Spec) {
        if self.has_errors() {
            return;
        }
        self.unused();
        if spec.items.iter().any(|item| item.kind() == K::NodeDecl) {
            self.unreachable_nodes();
        }
        let constants = self.never_changed(spec);
        self.never_read(&constants);
        self.open_ranges();
    }

    /// Warns about variables with a range that a start does not mention: their first value may be
    /// outside of the range.
    fn open_ranges(&mut self) {
        let system = self.builder.so_far();
        let pool = &self.builder.pool;
        let assumed: Vec<TermId> = system.assumptions().iter().map(|a| a.term.term()).collect();
        let assumed = pool.free_symbols(&assumed);
        let mut found = Vec::new();
        for var in system.vars() {
            let Some(range) = var.range.as_ref().filter(|_| var.role == Role::State) else {
                continue;
            };
            if assumed.contains(&var.current) {
                continue;
            }
            let open = system.starts().iter().find(|start| {
                let terms: Vec<TermId> = start.constraint.iter().map(|e| e.term.term()).collect();
                !pool.free_symbols(&terms).contains(&var.current)
            });
            if let Some(start) = open {
                let place = start.span.unwrap_or(Span::at(0));
                let range = format!("{}..{}", range.low, range.high);
                found.push((var.span.unwrap_or(place), place, var.name.clone(), range));
            }
        }
        for (span, place, name, range) in found {
            let message =
                format!("`start` leaves `{name}` open, so it may begin outside of {range}");
            let diagnostic = Diagnostic::new(Code::W0808, span, message)
                .label(place, format!("does not mention `{name}`"))
                .note("a range is a claim, not an assumption: `range of …` fails at the start")
                .help(format!("write its first value in the start, such as `{name} == …`"));
            self.report(diagnostic);
        }
    }

    /// Warns about variables that are mentioned, but whose value never matters; except those that
    /// are constants, of which there is a warning already.
    fn never_read(&mut self, constants: &[VarId]) {
        let system = self.builder.so_far();
        let pool = &self.builder.pool;
        let (readers, assigned) = readers(system);
        let read: FxHashSet<_> = pool.free_symbols(&readers).into_iter().collect();
        let mut found = Vec::new();
        for (at, var) in system.vars().iter().enumerate() {
            let known = self.names.get(&var.name).is_some_and(|name| name.used);
            // Without claims, no value matters.
            if system.claims().is_empty()
                || var.role == Role::Input
                || !known
                || is_read(var, &read)
            {
                continue;
            }
            let others: Vec<TermId> = assigned
                .iter()
                .filter(|(other, _)| other.index() != at)
                .map(|(_, value)| *value)
                .collect();
            // The first value of another variable may depend on one that never changes.
            let changed = self.changed.contains(&VarId::from(at));
            let relates = || {
                let constraints = system.starts().iter().flat_map(|start| &start.constraint);
                let mut mentioned = constraints.map(|e| pool.free_symbols(&[e.term.term()]));
                mentioned.any(|free| free.len() > 1 && free.contains(&var.current))
            };
            if !constants.contains(&VarId::from(at))
                && (changed || !relates())
                && !var.name.starts_with('_')
                && !pool.free_symbols(&others).contains(&var.current)
            {
                found.push((var.span.unwrap_or(Span::at(0)), var.name.clone()));
            }
        }
        for (span, name) in found {
            self.report(never_read_warning(span, &name));
        }
    }

    /// The same for the variables of the specifications of a composed system: a variable that no
    /// instance reads, and no claim of the system.
    pub(super) fn never_read_by_instances(&mut self) {
        let system = self.builder.so_far();
        let pool = &self.builder.pool;
        if system.claims().is_empty() {
            return;
        }
        let (readers, assigned) = readers(system);
        let read: FxHashSet<_> = pool.free_symbols(&readers).into_iter().collect();
        // By place: whether a step changes the variable of some instance, and whether all are
        // unread.
        let mut written: Vec<(Span, String, bool, bool)> = Vec::new();
        for (at, var) in system.vars().iter().enumerate() {
            let Some(span) = var.span else { continue };
            let own = var.name.rsplit('.').next().unwrap_or(&var.name);
            if var.role == Role::Input || own.starts_with('_') {
                continue;
            }
            let of_others = assigned.iter().filter(|(other, _)| other.index() != at);
            let others: Vec<TermId> = of_others.map(|(_, value)| *value).collect();
            let unread = !is_read(var, &read) && !pool.free_symbols(&others).contains(&var.current);
            let changed = assigned.iter().any(|(other, _)| other.index() == at);
            match written.iter_mut().find(|(place, ..)| *place == span) {
                Some((_, _, any_changed, all_unread)) => {
                    *any_changed |= changed;
                    *all_unread &= unread;
                }
                None => written.push((span, own.to_string(), changed, unread)),
            }
        }
        for (span, name, changed, unread) in written {
            // A variable that nothing changes has a warning of its own.
            if changed && unread {
                self.report(never_read_warning(span, &name));
            }
        }
    }

    fn unused(&mut self) {
        let mut unused: Vec<(Span, &str, &str)> = Vec::new();
        for (name, entry) in self.names.iter() {
            if entry.used || name.starts_with('_') {
                continue;
            }
            let what = match entry.kind {
                NameKind::Var(id) if self.is_input(id) => "input",
                NameKind::Var(_) => "variable",
                NameKind::Const(_) => "constant",
                NameKind::Define(_) => "definition",
                NameKind::Sort(_) => "enumeration",
                NameKind::Aggregate(_, first) if self.is_input(first) => "input",
                NameKind::Aggregate(..) => "variable",
                NameKind::Type(ref made) if made.tag.is_none() => "record",
                NameKind::Type(_) => "sort",
                NameKind::Values(_)
                | NameKind::Constructor(..)
                | NameKind::Pending
                | NameKind::Broken => continue,
            };
            unused.push((entry.span, name, what));
        }
        let messages: Vec<(Span, String, bool)> = unused
            .into_iter()
            .map(|(span, name, what)| {
                (span, format!("the {what} `{name}` is never used"), what == "variable")
            })
            .collect();
        for (span, message, variable) in messages {
            let mut diagnostic = Diagnostic::new(Code::W0801, span, message);
            if variable {
                diagnostic = diagnostic.note("no guard, value, constraint or claim reads it");
            }
            self.report(
                diagnostic.help("remove it, or begin its name with `_` if it is kept on purpose"),
            );
        }
    }

    fn unreachable_nodes(&mut self) {
        let system = self.builder.so_far();
        let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); system.nodes().len()];
        for transition in system.transitions() {
            leaving[transition.source.index()].push(transition.target.index());
        }
        let mut reached = vec![false; system.nodes().len()];
        let mut stack: Vec<usize> =
            system.starts().iter().map(|start| start.target.index()).collect();
        while let Some(node) = stack.pop() {
            if !std::mem::replace(&mut reached[node], true) {
                stack.extend(&leaving[node]);
            }
        }
        let mut found = Vec::new();
        for (at, node) in system.nodes().iter().enumerate() {
            let span = node.span.unwrap_or(Span::at(0));
            if !reached[at] {
                let message = format!("no path of transitions leads to the node `{}`", node.name);
                found.push(
                    Diagnostic::new(Code::W0802, span, message)
                        .help(format!("give a transition the target `-> {}`", node.name)),
                );
            } else if leaving[at].is_empty() && !node.is_final {
                let message = format!("every run that enters the node `{}` stops there", node.name);
                found.push(
                    Diagnostic::new(Code::W0806, span, message)
                        .here("it has no transitions and is not final")
                        .help(format!("if this is the end, write `final node {}`", node.name)),
                );
            }
        }
        found.into_iter().for_each(|diagnostic| self.report(diagnostic));
    }

    /// Warns about variables that every start fixes to a value and no transition changes. Returns
    /// them.
    fn never_changed(&mut self, spec: &Spec) -> Vec<VarId> {
        if self.builder.so_far().transitions().is_empty() {
            return Vec::new();
        }
        // By variable: its value as written, if all starts give it the same.
        let mut pinned: Option<FxHashMap<VarId, Option<String>>> = None;
        for item in spec.items.iter().filter(|item| item.kind() == K::StartDecl) {
            let here = self.pinned_by(item);
            pinned = Some(match pinned {
                Some(mut earlier) => {
                    earlier.retain(|var, _| here.contains_key(var));
                    for (var, value) in &mut earlier {
                        if *value != here[var] {
                            *value = None;
                        }
                    }
                    earlier
                }
                None => here,
            });
        }
        let mut vars: Vec<(VarId, Option<String>)> = pinned
            .unwrap_or_default()
            .into_iter()
            .filter(|(var, _)| !self.changed.contains(var))
            .collect();
        vars.sort_unstable();
        let mut found = Vec::new();
        for (id, value) in vars {
            let var = self.builder.so_far().var(id).clone();
            let span = var.span.unwrap_or(Span::at(0));
            if var.role == Role::Input || var.name.starts_with('_') {
                continue;
            }
            found.push(id);
            let mut diagnostic = Diagnostic::new(
                Code::W0805,
                span,
                format!("`{}` never changes: no transition assigns it", var.name),
            );
            if let Some(value) = value {
                let sort = var.sort.name(&self.builder.pool);
                let constant = format!("const {}: {sort} = {value}", var.name);
                diagnostic = diagnostic.help(format!("make it a constant: `{constant}`"));
            }
            self.report(diagnostic);
        }
        found
    }

    /// The variables that a start fixes, with the text of their values.
    fn pinned_by(&self, start: &SyntaxNode) -> FxHashMap<VarId, Option<String>> {
        let mut pinned = FxHashMap::default();
        let text = |node: &SyntaxNode| Some(node.text().to_string().trim().to_string());
        let Some(block) = tree::child(start, K::EffectBlock) else { return pinned };
        for formula in tree::children(&block, K::Constraint)
            .filter_map(|constraint| tree::expression(&constraint))
        {
            for conjunct in tree::conjuncts(&formula) {
                let sides: Vec<SyntaxNode> = tree::expressions(&conjunct)
                    .map(|side| tree::without_parentheses(&side))
                    .collect();
                let equal = conjunct.kind() == K::EqExpr
                    && tree::tokens(&conjunct).all(|token| token.kind() == K::EqEq);
                if let [a, b] = &sides[..]
                    && equal
                {
                    let of = |var: &SyntaxNode, value: &SyntaxNode| {
                        let id = self.pinned_var(var).filter(|_| self.is_fixed(value))?;
                        Some((id, text(value)))
                    };
                    pinned.extend(of(a, b));
                    pinned.extend(of(b, a));
                }
                // `busy`, `not busy`
                let plain = tree::without_parentheses(&conjunct);
                pinned.extend(self.pinned_var(&plain).map(|id| (id, Some("true".to_string()))));
                if plain.kind() == K::NotExpr
                    && let Some(operand) = tree::expression(&plain)
                {
                    let id = self.pinned_var(&tree::without_parentheses(&operand));
                    pinned.extend(id.map(|id| (id, Some("false".to_string()))));
                }
            }
        }
        pinned
    }

    fn pinned_var(&self, node: &SyntaxNode) -> Option<VarId> {
        let token = (node.kind() == K::NameExpr).then(|| tree::ident(node)).flatten()?;
        match self.names.get(token.text())?.kind {
            NameKind::Var(id) => Some(id),
            _ => None,
        }
    }

    fn is_fixed(&self, node: &SyntaxNode) -> bool {
        match node.kind() {
            K::Literal => true,
            K::NegExpr => tree::expression(node).is_some_and(|inner| inner.kind() == K::Literal),
            K::NameExpr => {
                let kind = tree::ident(node)
                    .and_then(|token| self.names.get(token.text()).map(|found| found.kind.clone()));
                matches!(kind, Some(NameKind::Const(_) | NameKind::Values(_)))
            }
            _ => false,
        }
    }
}

/// The terms that read variables, and the values that variables are given.
fn readers(system: &System) -> (Vec<TermId>, Vec<(VarId, TermId)>) {
    let mut readers: Vec<TermId> = Vec::new();
    let mut assigned: Vec<(VarId, TermId)> = Vec::new();
    for transition in system.transitions() {
        readers.extend(transition.guard.iter().map(|element| element.term.term()));
        for effect in &transition.effect {
            match *effect {
                Effect::Assign { var, value, .. } => assigned.push((var, value.term())),
                Effect::Constrain { relation, .. } => readers.push(relation.term()),
                Effect::Keep { .. } => {}
            }
        }
    }
    readers.extend(system.assumptions().iter().map(|element| element.term.term()));
    let hints = system.nodes().iter().flat_map(|node| &node.hints);
    readers.extend(hints.map(|element| element.term.term()));
    readers.extend(system.claims().iter().flat_map(|claim| claim.terms()));
    readers.extend(system.fairness().iter().filter_map(|fairness| match fairness.kind {
        FairnessKind::Justice(formula) => Some(formula.term()),
        _ => None,
    }));
    (readers, assigned)
}

/// True if the value matters to a reader. A constraint on the next value alone may exclude a step.
fn is_read(var: &StateVar, read: &FxHashSet<SymbolId>) -> bool {
    read.contains(&var.current) || read.contains(&var.next)
}

fn never_read_warning(span: Span, name: &str) -> Diagnostic {
    Diagnostic::new(Code::W0814, span, format!("the variable `{name}` is never read"))
        .note("no guard, constraint or claim reads it, nor does the value of another variable")
        .help("remove it, or begin its name with `_` if it is kept on purpose")
}

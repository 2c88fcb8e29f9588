//! Warnings: constructs that are allowed but probably not intended.

use super::names::NameKind;
use super::{Checker, Spec};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::sts::syntax::{SyntaxKind as K, SyntaxNode};
use crate::sts::tree;
use gander_system::{Effect, FairnessKind, Role, VarId};
use gander_term::TermId;
use rustc_hash::FxHashSet;

impl Checker {
    pub(super) fn warnings(&mut self, spec: &Spec) {
        if self.has_errors() {
            return;
        }
        self.unused();
        if spec.items.iter().any(|item| item.kind() == K::NodeDecl) {
            self.unreachable_nodes();
        }
        self.never_changed(spec);
        self.never_read();
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

    /// Warns about variables that are mentioned, but whose value never matters.
    fn never_read(&mut self) {
        let system = self.builder.so_far();
        let pool = &self.builder.pool;
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
        readers.extend(
            system.nodes().iter().flat_map(|node| &node.hints).map(|element| element.term.term()),
        );
        readers.extend(system.claims().iter().flat_map(|claim| claim.terms()));
        readers.extend(system.fairness().iter().filter_map(|fairness| match fairness.kind {
            FairnessKind::Justice(formula) => Some(formula.term()),
            _ => None,
        }));
        let read: FxHashSet<_> = pool.free_symbols(&readers).into_iter().collect();
        let mut found = Vec::new();
        for (at, var) in system.vars().iter().enumerate() {
            let known = self.names.get(&var.name).is_some_and(|name| name.used);
            // Without claims, no value matters.
            if system.claims().is_empty()
                || var.role == Role::Input
                || !known
                || read.contains(&var.current)
            {
                continue;
            }
            let others: Vec<TermId> = assigned
                .iter()
                .filter(|(other, _)| other.index() != at)
                .map(|(_, value)| *value)
                .collect();
            let pinned = self.changed.contains(&VarId::from(at));
            if pinned
                && !var.name.starts_with('_')
                && !pool.free_symbols(&others).contains(&var.current)
            {
                found.push((var.span.unwrap_or(Span::at(0)), var.name.clone()));
            }
        }
        for (span, name) in found {
            let diagnostic = Diagnostic::new(
                Code::W0814,
                span,
                format!("the variable `{name}` is never read"),
            )
            .note("no guard, constraint or claim reads it, nor does the value of another variable")
            .help("remove it, or begin its name with `_` if it is kept on purpose");
            self.report(diagnostic);
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
                NameKind::Values(_) | NameKind::Pending | NameKind::Broken => continue,
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

    /// Warns about variables that every start fixes to a value and no transition changes.
    fn never_changed(&mut self, spec: &Spec) {
        if self.builder.so_far().transitions().is_empty() {
            return;
        }
        let mut pinned: Option<FxHashSet<VarId>> = None;
        for item in spec.items.iter().filter(|item| item.kind() == K::StartDecl) {
            let here = self.pinned_by(item);
            pinned = Some(match pinned {
                Some(earlier) => earlier.intersection(&here).copied().collect(),
                None => here,
            });
        }
        let mut vars: Vec<VarId> = pinned
            .unwrap_or_default()
            .into_iter()
            .filter(|var| !self.changed.contains(var))
            .collect();
        vars.sort_unstable();
        for var in vars {
            let var = self.builder.so_far().var(var).clone();
            let span = var.span.unwrap_or(Span::at(0));
            if var.role == Role::Input || var.name.starts_with('_') {
                continue;
            }
            let diagnostic = Diagnostic::new(
                Code::W0805,
                span,
                format!("`{}` never changes: no transition assigns it", var.name),
            )
            .help(format!("make it a constant: `const {}`", var.name));
            self.report(diagnostic);
        }
    }

    fn pinned_by(&self, start: &SyntaxNode) -> FxHashSet<VarId> {
        let mut pinned = FxHashSet::default();
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
                    pinned.extend(self.pinned_var(a).filter(|_| self.is_fixed(b)));
                    pinned.extend(self.pinned_var(b).filter(|_| self.is_fixed(a)));
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

//! Instances in formulas of a composed system: their variables and nodes.

use super::super::data::Val;
use super::super::{Checker, references, text};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;
use crate::sts::syntax::{SyntaxNode, SyntaxToken};
use crate::sts::tree;
use gander_system::passes::Composed;
use gander_system::{System, SystemBuilder};
use gander_term::TermId;
use rustc_hash::FxHashMap;

/// Messages list at most this many instances.
const MAX_LISTED: usize = 12;

/// An instance of a specification in a system.
pub(in crate::sts::check) struct Instance {
    pub(super) vars: FxHashMap<String, Val>,
    /// For each node of the specification, the formula that the instance is at it.
    pub(super) nodes: FxHashMap<String, TermId>,
    /// The variable that holds its node, or the element of an array.
    pub(in crate::sts::check) location: Option<TermId>,
}

impl Instance {
    pub(super) fn of(
        builder: &mut SystemBuilder,
        whole: &mut Composed<'_>,
        at: usize,
        part: &System,
    ) -> Instance {
        let mut vars = FxHashMap::default();
        for var in part.shown_vars().filter(|var| references::is_own(var.name)) {
            let symbols = var.parts().map(|id| {
                let id = whole.var(at, id)?;
                Some(builder.so_far().var(id).current)
            });
            let Some(symbols) = symbols.collect::<Option<Vec<_>>>() else { continue };
            let terms: Vec<TermId> =
                symbols.into_iter().map(|symbol| builder.pool.var(symbol)).collect();
            vars.insert(var.name.to_owned(), Val::of(var.shape, &terms));
        }
        let mut nodes = FxHashMap::default();
        for id in part.node_ids() {
            if let Ok(here) = whole.in_node(builder, at, id) {
                nodes.insert(part.node(id).name.clone(), here);
            }
        }
        let location = whole.location(at).map(|var| builder.so_far().var(var).current);
        Instance { vars, nodes, location: location.map(|symbol| builder.pool.var(symbol)) }
    }
}

impl Checker {
    /// `instance.variable`, or a parameter of a step of an instance
    pub(in crate::sts::check) fn instance_member(
        &mut self,
        first: &SyntaxToken,
        second: &SyntaxToken,
        span: Span,
    ) -> Option<Val> {
        self.member_of_instance(first.text(), tree::token_span(first), second, span)
    }

    /// The same for an instance with this name, written at `at`.
    pub(super) fn member_of_instance(
        &mut self,
        name: &str,
        at: Span,
        second: &SyntaxToken,
        span: Span,
    ) -> Option<Val> {
        let full = format!("{name}.{}", second.text());
        if let Some(local) = self.locals.iter().find(|local| local.name == full) {
            return Some(local.value.clone());
        }
        let is_gate = self.graph.gates.contains_key(&full);
        let instance = self.instance_named(name, at)?;
        if let Some(value) = instance.vars.get(second.text()) {
            return Some(value.clone());
        }
        let mut known: Vec<&str> = instance.vars.keys().map(String::as_str).collect();
        known.sort_unstable();
        let near = nearest(second.text(), known.iter().copied());
        let diagnostic = Diagnostic::new(
            Code::E0702,
            tree::token_span(second),
            format!("the instance `{name}` has no variable `{}`", second.text()),
        );
        let diagnostic = if instance.nodes.contains_key(second.text()) {
            diagnostic.help(format!(
                "write `{name} in {}` to ask whether it is at that node",
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

    fn instance_named(&mut self, name: &str, at: Span) -> Option<&Instance> {
        if !self.instances.contains_key(name) {
            let mut known: Vec<&str> = self.instances.keys().map(String::as_str).collect();
            known.sort_unstable();
            let diagnostic = match self.families.get(name).map(usize::to_string).or_else(|| {
                self.sized
                    .as_ref()
                    .filter(|s| s.is_family(name))
                    .map(|_| "any number of".to_owned())
            }) {
                Some(size) => Diagnostic::new(
                    Code::E0702,
                    at,
                    format!("`{name}` is a family of {size} instances: say which one"),
                )
                .help(format!("write for example `{name}[0]`, or `forall i in {name}. …`")),
                None => {
                    let near = nearest(name, known.iter().copied());
                    let shown: Vec<&str> = known.iter().take(MAX_LISTED).copied().collect();
                    let more = if known.len() > MAX_LISTED { ", …" } else { "" };
                    let message = format!("there is no instance `{name}` in this system");
                    Diagnostic::new(Code::E0702, at, message)
                        .note(format!("its instances are {}{more}", shown.join(", ")))
                        .did_you_mean(near)
                }
            };
            self.report(diagnostic);
            return None;
        }
        self.instances.get(name)
    }

    /// The node of an instance as a value: `a[0] == Open`.
    pub(in crate::sts::check) fn location_of(&mut self, name: &str, at: Span) -> Option<TermId> {
        let Some(location) = self.instance_named(name, at)?.location else {
            let message = format!("`{name}` has one node, so it is always there");
            self.report(Diagnostic::new(Code::E0702, at, message));
            return None;
        };
        Some(location)
    }

    /// The formula that an instance is at a node: `a in Open` or `in a.Open`.
    pub(in crate::sts::check) fn instance_at(
        &mut self,
        instance: Option<(&str, Span)>,
        reference: &SyntaxNode,
    ) -> Option<TermId> {
        let (first, second) = tree::dotted(reference);
        let (owner, at, node) = match (instance, first, second) {
            (Some((owner, at)), Some(node), None) => (owner.to_owned(), at, node),
            (None, Some(owner), Some(node)) => (text(&owner), tree::token_span(&owner), node),
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
        let known = self.instance_named(&owner, at)?;
        if let Some(here) = known.nodes.get(node.text()) {
            return Some(*here);
        }
        let mut names: Vec<&str> = known.nodes.keys().map(String::as_str).collect();
        names.sort_unstable();
        let near = nearest(node.text(), names.iter().copied());
        let message = format!("the instance `{owner}` has no node `{}`", node.text());
        let diagnostic =
            Diagnostic::new(Code::E0203, tree::token_span(&node), message).did_you_mean(near);
        self.report(diagnostic);
        None
    }
}

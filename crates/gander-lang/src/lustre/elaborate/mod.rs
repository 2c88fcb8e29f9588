//! From syntax to systems: names, types, constants, clocks, inlining, lowering.
//!
//! Each root (a node that nobody calls, or one marked as main) becomes a system of its own. An instance of a node is looked
//! at where it is called, with the types and constants it has there, so that polymorphic nodes and arrays of a given size
//! need nothing of their own; a node that no root calls, or none calls rightly, is looked at alone, for its errors. Stages:
//!
//! 1. `globals`: the declarations of the file, who calls whom, recursion;
//! 2. `instances`, `calls`, `contracts`, `equations`: instances and their streams, from the root downwards, in a queue;
//! 3. `expressions`, `operators`, `aggregates`, `sampling`, `clocks`: the value of an expression, a pair of terms for the first
//!    instant and for later ones (`values`);
//! 4. `causality`: cycles at one instant;
//! 5. `finish`: the system.
//!
//! Nothing recurses over the input, but types, whose depth is limited. The work is linear in the size of the program once
//! calls are inlined and arrays are scalars; both are limited (`system::model::LIMITS`), with a diagnostic.

mod arrays;
mod checks;
mod expressions;
mod globals;
mod nodes;
mod report;
mod system;
mod types;
mod walk;

pub(super) use globals::Globals;
pub(super) use nodes::module::{Names, module};
pub(super) use report::Report;

use gander_system::System;
use rustc_hash::FxHashSet;

use super::ast::{File, Node, Word};
use crate::diagnostic::Diagnostic;
use crate::{Code, Loaded};
use system::model::Model;

/// The systems of a file: the first root, then the others.
pub(super) fn elaborate(file: &File, text: &str, parsed: Vec<Diagnostic>) -> Loaded {
    let mut report = Report::default();
    for diagnostic in parsed {
        report.add(diagnostic);
    }
    let systems = if report.has_errors() { Vec::new() } else { systems(file, text, &mut report) };
    let failed = report.has_errors();
    let mut systems = systems.into_iter().filter(|_| !failed);
    Loaded {
        system: systems.next(),
        others: systems.collect(),
        diagnostics: report.finish(),
        allowances: Vec::new(),
        modules: None,
    }
}

fn systems(file: &File, text: &str, report: &mut Report) -> Vec<System> {
    let globals = Globals::new(file, text, report);
    globals.check_recursion(report);
    checks::memory::check(&globals, report);
    nodes::assumptions::check(&globals, report);
    let roots = globals.roots();
    if roots.is_empty() {
        let span = crate::Span::at(0);
        report.add(Diagnostic::new(Code::E1307, span, "the file has no node to analyse"));
    }
    if report.has_errors() {
        return Vec::new();
    }
    let mut built: Vec<(System, bool)> = Vec::new();
    let mut with_body = vec![false; globals.nodes.len()];
    for &root in &roots {
        built.extend(system(&globals, root, roots.len() > 1, &mut with_body, report));
    }
    let reached = globals.reached(&roots);
    let mut order: Vec<usize> = (0..globals.nodes.len()).filter(|&n| !reached[n]).collect();
    // Callers first: what they reach is looked at with them.
    let mut looked_at = reached;
    order.sort_by_key(|&n| std::cmp::Reverse(globals.calls[n].len()));
    for n in order {
        if !looked_at[n] && !globals.nodes[n].imported {
            system(&globals, n, false, &mut with_body, report);
            for (m, seen) in globals.reached(&[n]).into_iter().enumerate() {
                looked_at[m] |= seen;
            }
        }
    }
    look_at_hidden(&globals, &with_body, report);
    let some_claims = built.iter().any(|(_, claims)| *claims);
    if !some_claims && !report.has_errors() {
        let span = globals.nodes[roots[0]].name.span;
        report.add(Diagnostic::new(
            Code::W1703,
            span,
            "nothing is claimed: there is no property, guarantee or range to check",
        ));
    }
    built.into_iter().filter(|(_, claims)| *claims || !some_claims).map(|(system, _)| system).collect()
}

/// Looks at nodes whose body nobody has seen, because every call of them is wrong. Nodes that have a meaning only with
/// what a call gives are left out.
fn look_at_hidden(globals: &Globals<'_>, with_body: &[bool], report: &mut Report) {
    if !report.has_errors() {
        return;
    }
    for (n, node) in globals.nodes.iter().enumerate() {
        let needs_call = !node.type_params.is_empty() || node.inputs.iter().any(|i| i.constant);
        if with_body[n] || node.imported || needs_call {
            continue;
        }
        let name = globals.file.text(node.name.word);
        let Some(mut model) = Model::new(globals, name, node.name.span, report) else { continue };
        model.global_constants();
        let root = model.root(node);
        // What it calls is looked at where the others are.
        model.elaborate_instance(root);
    }
}

/// The system of a root, and whether it has claims. Notes the nodes whose body was looked at.
fn system(
    globals: &Globals<'_>,
    root: usize,
    qualified: bool,
    with_body: &mut [bool],
    report: &mut Report,
) -> Option<(System, bool)> {
    let model = model(globals, root, qualified, FxHashSet::default(), report)?;
    for instance in &model.instances {
        if let nodes::instances::Body::Node(node) = instance.body
            && let Some(&n) = globals.node_of.get(&node.name.word)
        {
            with_body[n] = true;
        }
    }
    let claims = model.has_claims();
    model.finish().map(|system| (system, claims))
}

/// The model of a root, in which calls of some nodes are known by their contracts only.
fn model<'a>(
    globals: &'a Globals<'a>,
    root: usize,
    qualified: bool,
    abstracted: FxHashSet<Word>,
    report: &'a mut Report,
) -> Option<Model<'a>> {
    let node: &Node = globals.nodes[root];
    let name = globals.file.text(node.name.word);
    let mut model = Model::new(globals, name, node.name.span, report)?;
    model.abstracted = abstracted;
    model.global_constants();
    model.root(node);
    let mut next = 0;
    while next < model.instances.len() && !model.stopped {
        model.elaborate_instance(next);
        next += 1;
    }
    model.function_laws();
    if qualified {
        model.qualify(name);
    }
    model.qualified = qualified;
    Some(model)
}

impl Model<'_> {
    fn global_constants(&mut self) {
        let consts = self.globals.consts.clone();
        for c in self.constant_order(&consts) {
            let value = self.constant_value(None, c);
            self.constants.insert(c.name.word, value);
        }
    }

    /// Puts the root's name in front of the names of its own claims.
    fn qualify(&mut self, root: &str) {
        let below = format!("{root}.");
        for o in &mut self.obligations {
            if !o.formula.name.starts_with(&below) {
                o.formula.name = format!("{below}{}", o.formula.name);
            }
        }
        for p in &mut self.conditions {
            if !p.name.starts_with(&below) {
                p.name = format!("{below}{}", p.name);
            }
        }
    }
}

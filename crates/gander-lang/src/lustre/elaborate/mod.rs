//! Elaboration: turns the syntax of a Lustre file into systems.
//!
//! Each root node (marked as main, or not called by any node) becomes one system. Calls are
//! inlined: each call gets an instance of the callee, elaborated with the types and constants of
//! that call, so polymorphic nodes and array sizes need no separate treatment. Nodes that no root
//! reaches, or that are only called with wrong arguments, are elaborated alone, to report their
//! errors.
//!
//! Stages:
//! 1. `globals`: the declarations of the file, its call graph, recursion;
//! 2. `checks::memory`, `nodes::assumptions`: checks on the syntax;
//! 3. `nodes`: instances and their streams, in a queue from the root downwards;
//! 4. `expressions`: the value of an expression is a pair of terms, one for the first instant and
//!    one for later instants (`expressions::values::Cell`);
//! 5. `checks::causality`: cycles within one instant;
//! 6. `system::finish`: equations become the start and the step of the system.
//!
//! Where each construct gets its meaning:
//! - `pre e`, `last x`: `expressions::operators` (`Model::pre`), which calls
//!   `expressions::clocks` (`Model::previous`) for each scalar;
//! - the first value of an unguarded `pre`: `system::streams` (`Model::before`); how JKind and Kind
//!   2 read it: `system::finish` (`declare_befores`); which `pre` is unguarded: `globals`
//!   (`unguarded`); its diagnostics: `checks::memory`;
//! - `a -> b`, `fby`: `expressions::clocks` (`Model::arrow`);
//! - `current`: `expressions::clocks` (`Model::current`);
//! - `when`, `merge`: `expressions::sampling`;
//! - other operators, casts: `expressions::operators`; machine integers: `types::machine`;
//! - arrays, records, tuples: `expressions::aggregates`; arrays of unknown size: `arrays`;
//! - quantifiers: `expressions::evaluate`;
//! - `any`, `choose`: `expressions::choice`;
//! - calls, `condact`, `activate`, `restart`: `nodes::calls`;
//! - functions without a body: `expressions::functions`;
//! - equations, assertions, properties: `nodes::equations`; imperative blocks: `nodes::blocks`;
//! - contracts, modes: `nodes::contracts`;
//! - types, subranges, subtypes, datatypes: `types`.
//!
//! No function recurses over the input, except over types, whose depth is limited. The work is
//! linear in the size of the inlined program with arrays expanded to scalars; that size is limited
//! (`system::model::LIMITS`), with a diagnostic.

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

use super::Conditionals;
use super::ast::{File, Node, Word};
use crate::diagnostics::diagnostic::Diagnostic;
use crate::{Code, Loaded};
use system::model::Model;

/// The systems of a file: that of the first root, then the others.
pub(super) fn elaborate(
    file: &File,
    text: &str,
    parsed: Vec<Diagnostic>,
    conditionals: Conditionals,
) -> Loaded {
    let mut report = Report::default();
    for diagnostic in parsed {
        report.add(diagnostic);
    }
    let systems = if report.has_errors() {
        Vec::new()
    } else {
        systems(file, text, conditionals, &mut report)
    };
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

fn systems(
    file: &File,
    text: &str,
    conditionals: Conditionals,
    report: &mut Report,
) -> Vec<System> {
    let mut globals = Globals::new(file, text, report);
    globals.conditionals = conditionals;
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
    // Callers first: elaborating a caller also elaborates the nodes that it reaches.
    let mut elaborated = reached;
    order.sort_by_key(|&n| std::cmp::Reverse(globals.calls[n].len()));
    for n in order {
        if !elaborated[n] && !globals.nodes[n].imported {
            system(&globals, n, false, &mut with_body, report);
            for (m, seen) in globals.reached(&[n]).into_iter().enumerate() {
                elaborated[m] |= seen;
            }
        }
    }
    elaborate_skipped_bodies(&globals, &with_body, report);
    let some_claims = built.iter().any(|(_, claims)| *claims);
    if !some_claims && !report.has_errors() {
        let span = globals.nodes[roots[0]].name.span;
        report.add(Diagnostic::new(
            Code::W1703,
            span,
            "nothing is claimed: there is no property, guarantee or range to check",
        ));
    }
    built
        .into_iter()
        .filter(|(_, claims)| *claims || !some_claims)
        .map(|(system, _)| system)
        .collect()
}

/// Elaborates nodes whose body was not elaborated because every call of them is wrong. Skips nodes
/// with type parameters or constant inputs, which need the values of a call.
fn elaborate_skipped_bodies(globals: &Globals<'_>, with_body: &[bool], report: &mut Report) {
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
        // Only this body: the nodes that it calls have their own turn in this loop.
        model.elaborate_instance(root);
    }
}

/// The system of a root, and whether it has claims. Records in `with_body` the nodes whose body was
/// elaborated.
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

/// The model of a root. Calls of the nodes in `abstracted` are represented by their contracts.
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
    model.constrain_functions();
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

    /// Prefixes the names of claims with the root's name.
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

//! What an assumption may speak of: inputs, and outputs of the past. Who calls a node answers for its inputs only, and a node that
//! assumes something of its own outputs would be right whatever it does. Kind 2 refuses such contracts too.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::ast::{Binary, Contract, ContractItem, ExprId, ExprKind, Name, Unary, VarDecl, Word};
use super::globals::Globals;
use super::report::Report;
use super::walk;
use crate::Code;
use crate::diagnostic::Diagnostic;

/// Reports assumptions, and arguments of imported contracts, that depend on an output at the same instant. What is given to a call is
/// left out of account: the node may look at its past only.
pub(super) fn check(globals: &Globals<'_>, report: &mut Report) {
    for &node in &globals.nodes {
        if let Some(contract) = &node.contract {
            check_contract(globals, contract, &node.outputs, report);
        }
    }
    for &contract in &globals.contracts {
        check_contract(globals, &contract.contract, &contract.outputs, report);
    }
}

fn check_contract(globals: &Globals<'_>, contract: &Contract, outputs: &[VarDecl], report: &mut Report) {
    let file = globals.file;
    let mut ghosts: FxHashMap<Word, ExprId> = FxHashMap::default();
    for item in &contract.items {
        if let ContractItem::Ghost { vars, value, .. } = item {
            ghosts.extend(vars.iter().map(|v| (v.name.word, *value)));
        }
    }
    let found = |roots: &[ExprId]| output_now(globals, roots, &ghosts, outputs);
    for item in &contract.items {
        let (roots, what): (&[ExprId], _) = match item {
            ContractItem::Assume(clause) => (std::slice::from_ref(&clause.expr), "an assumption"),
            ContractItem::Import { inputs, .. } => (inputs, "an input of an imported contract"),
            _ => continue,
        };
        if let (Some(output), Some(&root)) = (found(roots), roots.first()) {
            let name = file.text(output.word);
            report.add(
                Diagnostic::new(Code::E1507, output.span, format!("{what} depends on the output `{name}`"))
                    .label(file.expr(root).span, "here")
                    .note("a caller can answer for inputs only, and the node would assume what it should show")
                    .help(format!("speak of its past, `true -> … pre {name} …`, or make it a guarantee")),
            );
        }
    }
}

/// An output that expressions mention at this instant.
fn output_now(
    globals: &Globals<'_>,
    roots: &[ExprId],
    ghosts: &FxHashMap<Word, ExprId>,
    outputs: &[VarDecl],
) -> Option<Name> {
    let file = globals.file;
    let mut bound: FxHashSet<Word> = FxHashSet::default();
    let mut seen: FxHashSet<Word> = FxHashSet::default();
    let mut stack = roots.to_vec();
    while let Some(id) = stack.pop() {
        match &file.expr(id).kind {
            ExprKind::Name(name) if bound.contains(&name.word) => {}
            ExprKind::Name(name) => {
                if let Some(&value) = ghosts.get(&name.word) {
                    if seen.insert(name.word) {
                        stack.push(value);
                    }
                } else if outputs.iter().any(|o| o.name.word == name.word) {
                    return Some(*name);
                }
            }
            ExprKind::Unary(Unary::Pre, _) | ExprKind::Last(_) | ExprKind::Call(_) => {}
            ExprKind::Binary(Binary::Fby, first, _) => stack.push(*first),
            kind => {
                if let ExprKind::Quantifier(_, vars, _) = kind {
                    bound.extend(vars.iter().map(|(name, _)| name.word));
                }
                walk::children(file, id, &mut stack);
            }
        }
    }
    None
}

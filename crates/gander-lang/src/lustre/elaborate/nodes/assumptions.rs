//! Checks that assumptions depend only on inputs and on outputs of earlier instants. The caller of
//! a node is responsible for its inputs only, and a node that assumes something about its current
//! outputs would satisfy any guarantee. Kind 2 rejects such contracts too.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::lustre::ast::{
    Binary, Contract, ContractItem, ExprId, ExprKind, Name, NodeKind, Unary, VarDecl, Word,
};
use crate::lustre::elaborate::globals::Globals;
use crate::lustre::elaborate::report::Report;
use crate::lustre::elaborate::walk;

/// Reports assumptions, and arguments of imported contracts, that depend on an output at the same
/// instant. A call depends on an argument at the same instant only if the callee mentions that
/// input outside `pre`.
pub(in crate::lustre::elaborate) fn check(globals: &Globals<'_>, report: &mut Report) {
    for &node in &globals.nodes {
        if let Some(contract) = &node.contract {
            check_contract(globals, contract, &node.outputs, report);
        }
    }
    for &contract in &globals.contracts {
        check_contract(globals, &contract.contract, &contract.outputs, report);
    }
}

fn check_contract(
    globals: &Globals<'_>,
    contract: &Contract,
    outputs: &[VarDecl],
    report: &mut Report,
) {
    let file = globals.file;
    let found = |roots: &[ExprId]| output_now(globals, roots, contract, outputs);
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

/// An output that the expressions mention at the current instant, directly or through ghost
/// variables and modes.
fn output_now(
    globals: &Globals<'_>,
    roots: &[ExprId],
    contract: &Contract,
    outputs: &[VarDecl],
) -> Option<Name> {
    let file = globals.file;
    let (mut ghosts, mut modes) = (FxHashMap::default(), FxHashMap::default());
    for item in &contract.items {
        match item {
            ContractItem::Ghost { vars, value, .. } => {
                ghosts.extend(vars.iter().map(|v| (v.name.word, *value)))
            }
            ContractItem::Mode { name, requires, .. } => {
                modes.insert(name.word, requires);
            }
            _ => {}
        }
    }
    // Scopes of quantified variables, each with its enclosing scope; an expression is stacked with
    // its innermost scope.
    let mut scopes: Vec<(Option<usize>, Vec<Word>)> = Vec::new();
    let mut seen: FxHashSet<Word> = FxHashSet::default();
    let mut late: FxHashMap<(Word, usize), bool> = FxHashMap::default();
    let mut stack: Vec<(ExprId, Option<usize>)> = roots.iter().map(|&e| (e, None)).collect();
    let mut below = Vec::new();
    while let Some((id, mut scope)) = stack.pop() {
        match &file.expr(id).kind {
            ExprKind::Name(name) => {
                let around = std::iter::successors(scope, |&s| scopes[s].0);
                let is_bound = around.into_iter().any(|s| scopes[s].1.contains(&name.word));
                match ghosts.get(&name.word) {
                    _ if is_bound => {}
                    Some(&value) if seen.insert(name.word) => stack.push((value, None)),
                    Some(_) => {}
                    None if outputs.iter().any(|o| o.name.word == name.word) => return Some(*name),
                    None => {}
                }
                continue;
            }
            ExprKind::Mode(path) => {
                match path[..] {
                    [mode] if seen.insert(mode.word) => {
                        let requires =
                            modes.get(&mode.word).into_iter().flat_map(|requires| requires.iter());
                        stack.extend(requires.map(|clause| (clause.expr, None)));
                    }
                    // A mode of an imported contract; the inputs of that contract are checked at
                    // the import.
                    [import, mode] => {
                        let of =
                            globals.contract_of.get(&import.word).map(|&i| globals.contracts[i]);
                        if of.is_some_and(|c| {
                            mode_reads_outputs(globals, mode, &c.contract, &c.outputs)
                        }) {
                            return Some(mode);
                        }
                    }
                    _ => {}
                }
                continue;
            }
            ExprKind::Unary(Unary::Pre, _) | ExprKind::Last(_) => continue,
            ExprKind::Binary(Binary::Fby, first, _) => below.push(*first),
            ExprKind::Call(call) => {
                walk::children(file, id, &mut below);
                let callee = call.callee.word;
                for (i, arg) in call.args.iter().enumerate() {
                    if *late.entry((callee, i)).or_insert_with(|| only_before(globals, callee, i)) {
                        below.retain(|e| e != arg);
                    }
                }
            }
            kind => {
                if let ExprKind::Quantifier(_, vars, _) = kind {
                    scopes.push((scope, vars.iter().map(|(name, _)| name.word).collect()));
                    scope = Some(scopes.len() - 1);
                }
                walk::children(file, id, &mut below);
            }
        }
        stack.extend(below.drain(..).map(|e| (e, scope)));
    }
    None
}

/// True if the requirement of a mode of another contract mentions an output of that contract at the
/// current instant. References to modes of further contracts are not followed.
fn mode_reads_outputs(
    globals: &Globals<'_>,
    mode: Name,
    contract: &Contract,
    outputs: &[VarDecl],
) -> bool {
    contract.items.iter().any(|item| match item {
        ContractItem::Mode { name, requires, .. } if name.word == mode.word => {
            let mut below = Vec::new();
            let roots: Vec<ExprId> = requires.iter().map(|clause| clause.expr).collect();
            walk::below(globals.file, &roots, |e| below.push(e));
            let names = below.into_iter().filter_map(|e| match globals.file.expr(e).kind {
                ExprKind::Name(name) => Some(name.word),
                _ => None,
            });
            names.into_iter().any(|word| outputs.iter().any(|o| o.name.word == word))
        }
        _ => false,
    })
}

/// True if a node mentions its `i`-th input only below `pre`, so that the argument matters only at
/// later instants.
fn only_before(globals: &Globals<'_>, callee: Word, i: usize) -> bool {
    let file = globals.file;
    let Some(&node) = globals.node_of.get(&callee).and_then(|&n| globals.nodes.get(n)) else {
        return false;
    };
    let Some(input) = node.inputs.get(i) else { return false };
    if node.kind == NodeKind::Function || node.imported {
        return false;
    }
    let mut stack = Vec::new();
    walk::in_node(file, node, &mut stack);
    while let Some(id) = stack.pop() {
        match &file.expr(id).kind {
            ExprKind::Name(name) if name.word == input.name.word => return false,
            ExprKind::Unary(Unary::Pre, _) | ExprKind::Last(_) => {}
            ExprKind::Binary(Binary::Fby, first, _) => stack.push(*first),
            _ => walk::children(file, id, &mut stack),
        }
    }
    true
}

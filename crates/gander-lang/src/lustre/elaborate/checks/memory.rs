//! Checks of `pre` and `->` on the syntax, before elaboration. `expressions::clocks` defines their
//! meaning.
//!
//! Functions must not use them. An unguarded `pre` gets a warning; its first value is arbitrary. In
//! a contract it is allowed directly before an output only, as in `assume x = pre y`, because an
//! assumption cannot mention outputs otherwise. Elsewhere in a contract it is an error, as in Kind
//! 2's strict mode: a guarantee must not depend on an arbitrary value.

use crate::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::lustre::ast::{Binary, ExprId, ExprKind, NodeKind, Unary, VarDecl};
use crate::lustre::elaborate::globals::Globals;
use crate::lustre::elaborate::report::Report;
use crate::lustre::elaborate::walk;

/// Reports `pre` and `->` in functions, and unguarded `pre`.
pub(in crate::lustre::elaborate) fn check(globals: &Globals<'_>, report: &mut Report) {
    let file = globals.file;
    for &node in &globals.nodes {
        let mut roots = Vec::new();
        walk::in_node(file, node, &mut roots);
        walk::below(file, &roots, |id| {
            let expr = file.expr(id);
            if globals.unguarded[id.0 as usize] {
                warn(globals, id, report);
            }
            if node.kind == NodeKind::Function && has_memory(globals, &expr.kind) {
                let name = file.text(node.name.word);
                report.add(
                    Diagnostic::new(
                        Code::E1505,
                        expr.span,
                        format!("memory in the function `{name}`"),
                    )
                    .label(
                        node.name.span,
                        "a function depends on its inputs at the same instant only",
                    )
                    .help("make it a `node`"),
                );
            }
        });
    }
    for &node in &globals.nodes {
        if let Some(contract) = &node.contract {
            let mut clauses = Vec::new();
            walk::in_contract(file, contract, &mut clauses);
            check_contract(globals, &clauses, &node.outputs, report);
        }
    }
    for &contract in &globals.contracts {
        let mut clauses = Vec::new();
        walk::in_contract_declaration(file, contract, &mut clauses);
        check_contract(globals, &clauses, &contract.outputs, report);
    }
}

fn warn(globals: &Globals<'_>, pre: ExprId, report: &mut Report) {
    let span = globals.file.expr(pre).span;
    report.add(
        Diagnostic::new(Code::W1701, span, "unguarded `pre`: its first value is arbitrary")
            .help("`init -> pre x` gives it a first value"),
    );
}

fn check_contract(
    globals: &Globals<'_>,
    clauses: &[ExprId],
    outputs: &[VarDecl],
    report: &mut Report,
) {
    let file = globals.file;
    let is_output =
        |name: &crate::lustre::ast::Name| outputs.iter().any(|o| o.name.word == name.word);
    walk::below(file, clauses, |id| {
        let expr = file.expr(id);
        if globals.unguarded[id.0 as usize] {
            let of_output = match &expr.kind {
                ExprKind::Last(name) => is_output(name),
                ExprKind::Unary(Unary::Pre, e) => {
                    matches!(&file.expr(*e).kind, ExprKind::Name(name) if is_output(name))
                }
                _ => false,
            };
            if of_output {
                warn(globals, id, report);
            } else {
                report.add(
                    Diagnostic::new(Code::E1506, expr.span, "unguarded `pre` in a contract")
                        .note("a contract must not depend on an arbitrary value; only `pre` of an output may")
                        .help("`init -> pre x` gives it a first value"),
                );
            }
        }
        if let ExprKind::Call(call) = &expr.kind
            && let Some(&callee) = globals.node_of.get(&call.callee.word)
            && let Some(open) = globals.open_pre[callee]
        {
            let name = file.text(call.callee.word);
            let message = format!("a contract calls `{name}`, which has an unguarded `pre`");
            report.add(
                Diagnostic::new(Code::E1506, expr.span, message)
                    .label(open, "its first value is arbitrary"),
            );
        }
    });
}

fn has_memory(globals: &Globals<'_>, kind: &ExprKind) -> bool {
    match kind {
        ExprKind::Unary(Unary::Pre | Unary::Current, _) | ExprKind::Last(_) => true,
        ExprKind::Binary(op, _, _) => matches!(op, Binary::Arrow | Binary::Fby),
        ExprKind::Call(call) => {
            let callee = globals.node_of.get(&call.callee.word).map(|&n| globals.nodes[n].kind);
            callee == Some(NodeKind::Node) || call.restart.is_some() || call.activation.is_some()
        }
        _ => false,
    }
}

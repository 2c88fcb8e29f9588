//! The dialect of a program: JKind's Lustre (Ghassabani 2018, chapter 4.3), or a program that only
//! Kind 2 accepts.
//!
//! The dialect matters only where one tool rejects what the other accepts, or where they differ in
//! meaning. Properties are ignored: they do not influence the runs of a program.

use crate::Span;
use crate::lustre::ast::*;

/// A construct of the program that JKind does not have, and its place.
pub(in crate::lustre::elaborate) fn only_in_kind2(file: &File) -> Option<(&'static str, Span)> {
    let items = file.items.iter().find_map(in_item);
    items
        .or_else(|| file.types.iter().find_map(in_type))
        .or_else(|| file.exprs.iter().find_map(in_expr))
}

fn in_item(item: &Item) -> Option<(&'static str, Span)> {
    match item {
        Item::Type { name, type_params, definition } => (!type_params.is_empty()
            || definition.is_none())
        .then_some(("a type without a definition", name.span)),
        Item::Const(c) => c.value.is_none().then_some(("a free constant", c.span)),
        Item::Contract(contract) => Some(("a contract", contract.name.span)),
        Item::Node(node) => in_node(node),
    }
}

fn in_node(node: &Node) -> Option<(&'static str, Span)> {
    let name = node.name.span;
    if let Some(contract) = &node.contract {
        return Some(("a contract", contract.span));
    }
    match (node.kind, node.imported) {
        (NodeKind::Node, true) => return Some(("an imported node", name)),
        (NodeKind::Function, false) => return Some(("a function with a body", name)),
        _ => {}
    }
    if !node.type_params.is_empty() {
        return Some(("a type parameter", name));
    }
    if let Some(c) = node.consts.first() {
        return Some(("a local constant", c.span));
    }
    let declared = |d: &VarDecl| match (d.constant, d.clock, d.refinement) {
        (true, _, _) => Some(("a constant input", d.name.span)),
        (_, Some(_), _) => Some(("a sampled variable", d.name.span)),
        (_, _, Some(_)) => Some(("a subtype", d.name.span)),
        _ => None,
    };
    let variables = || node.inputs.iter().chain(&node.outputs).chain(&node.locals);
    variables().find_map(declared).or_else(|| node.body.iter().find_map(in_statement))
}

fn in_statement(statement: &Statement) -> Option<(&'static str, Span)> {
    match statement {
        Statement::If { span, .. } => Some(("a block of `if`", *span)),
        Statement::Frame { span, .. } => Some(("a `frame`", *span)),
        Statement::Equation(e) => {
            let part = e.left.iter().find(|t| !t.path.is_empty());
            part.map(|t| ("an equation for a part of a variable", t.span))
        }
        Statement::Assert { .. }
        | Statement::Property(_)
        | Statement::Main(_)
        | Statement::Ivc(_)
        | Statement::Realizable(..) => None,
    }
}

fn in_type(ty: &Type) -> Option<(&'static str, Span)> {
    let construct = match &ty.kind {
        TypeKind::Machine { .. } => "a machine integer",
        TypeKind::Subtype { .. } => "a subtype",
        TypeKind::Data(_) => "a datatype",
        TypeKind::Subrange { low, high, .. } if low.is_none() || high.is_none() => {
            "a range without a bound"
        }
        TypeKind::Named(_, args) if !args.is_empty() => "a type argument",
        _ => return None,
    };
    Some((construct, ty.span))
}

fn in_expr(expr: &Expr) -> Option<(&'static str, Span)> {
    let construct = match &expr.kind {
        ExprKind::Mode(_) => "a reference to a mode",
        ExprKind::Unary(Unary::BitNot, _) => "`!`",
        ExprKind::Unary(Unary::Current, _) => "`current`",
        ExprKind::Binary(Binary::BitAnd | Binary::BitOr, _, _) => "an operator on bits",
        ExprKind::Binary(Binary::ShiftLeft | Binary::ShiftRight, _, _) => "a shift",
        ExprKind::Binary(Binary::Concat, _, _) => "`|`",
        ExprKind::Binary(Binary::Fby, _, _) => "`fby`",
        ExprKind::AtMostOne(_) => "`#`",
        ExprKind::Cast(CastTo::Machine { .. }, _) => "a cast to a machine integer",
        ExprKind::Call(call) if call.restart.is_some() => "`restart`",
        ExprKind::Call(call) if call.activation.as_ref().is_some_and(|a| a.defaults.is_none()) => {
            "`activate`"
        }
        ExprKind::Call(call) if !call.type_args.is_empty() => "a type argument",
        ExprKind::When(..) => "`when`",
        ExprKind::Merge { .. } => "`merge`",
        ExprKind::Repeat(..) => "`^`",
        ExprKind::RecordOf(..) => "a type argument",
        ExprKind::Quantifier(..) => "a quantifier",
        ExprKind::Lazy(..) => "a lazy operator",
        ExprKind::Any { .. } => "`any`",
        ExprKind::Last(_) => "`last`",
        ExprKind::Match(..) => "`match`",
        ExprKind::Tester(..) | ExprKind::Constructor(..) => "a datatype",
        _ => return None,
    };
    Some((construct, expr.span))
}

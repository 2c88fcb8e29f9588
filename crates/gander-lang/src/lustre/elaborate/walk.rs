//! Traversals of the syntax: the expressions below an expression, and those of a node or contract.

use super::super::ast::*;

/// Appends the expressions directly below an expression, in the order of the text.
pub(super) fn children(file: &File, id: ExprId, out: &mut Vec<ExprId>) {
    match &file.expr(id).kind {
        ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Real(_)
        | ExprKind::Name(_)
        | ExprKind::Mode(_)
        | ExprKind::Last(_)
        | ExprKind::Constructor(..)
        | ExprKind::Unsupported(_)
        | ExprKind::Error => {}
        ExprKind::Unary(_, e)
        | ExprKind::Cast(_, e)
        | ExprKind::When(e, _)
        | ExprKind::Component(e, _)
        | ExprKind::Field(e, _)
        | ExprKind::Tester(_, e)
        | ExprKind::Quantifier(_, _, e) => out.push(*e),
        ExprKind::Binary(_, a, b) | ExprKind::Repeat(a, b) | ExprKind::Index(a, b) => {
            out.extend([*a, *b])
        }
        ExprKind::If(c, a, b) | ExprKind::Lazy(c, a, b) => out.extend([*c, *a, *b]),
        ExprKind::AtMostOne(list)
        | ExprKind::List(list)
        | ExprKind::Tuple(list)
        | ExprKind::Array(list) => {
            out.extend(list);
        }
        ExprKind::Call(call) => {
            out.extend(call.restart);
            out.extend(call.activation.as_ref().map(|a| a.condition));
            out.extend(&call.args);
            if let Some(defaults) = call.activation.as_ref().and_then(|a| a.defaults.as_ref()) {
                out.extend(defaults);
            }
        }
        ExprKind::Match(value, arms) => {
            out.push(*value);
            out.extend(arms.iter().map(|(_, e)| *e));
        }
        ExprKind::Merge { arms, .. } => out.extend(arms.iter().map(|(_, e)| *e)),
        ExprKind::Record(_, fields) | ExprKind::RecordOf(_, fields) => {
            out.extend(fields.iter().map(|(_, e)| *e))
        }
        ExprKind::Update { base, path, value } => {
            out.push(*base);
            out.extend(indices(path));
            out.push(*value);
        }
        ExprKind::Any { such_that, .. } => out.extend(such_that.map(|(_, e)| e)),
    }
}

/// The indices in a path.
pub(super) fn indices(path: &[Selector]) -> impl Iterator<Item = ExprId> + '_ {
    path.iter().filter_map(|s| match s {
        Selector::Index(e) => Some(*e),
        _ => None,
    })
}

/// Calls `visit` with every expression at or below `roots`.
pub(super) fn below(file: &File, roots: &[ExprId], mut visit: impl FnMut(ExprId)) {
    let mut stack = roots.to_vec();
    while let Some(id) = stack.pop() {
        visit(id);
        children(file, id, &mut stack);
    }
}

/// The expressions in a type expression and in its parts, without those of named types.
fn in_type(file: &File, ty: TypeId, out: &mut Vec<ExprId>) {
    let mut stack = vec![ty];
    while let Some(ty) = stack.pop() {
        match &file.ty(ty).kind {
            TypeKind::Subrange { low, high, base } => {
                out.extend(low);
                out.extend(high);
                stack.push(*base);
            }
            TypeKind::Record(fields) => stack.extend(fields.iter().map(|(_, t)| *t)),
            TypeKind::Tuple(parts) => stack.extend(parts),
            TypeKind::Array { element, size } => {
                out.push(*size);
                stack.push(*element);
            }
            TypeKind::Named(_, args) => stack.extend(args),
            TypeKind::Subtype { base, predicate, .. } => {
                out.push(*predicate);
                stack.push(*base);
            }
            _ => {}
        }
    }
}

fn in_variables(file: &File, vars: &[VarDecl], out: &mut Vec<ExprId>) {
    for v in vars {
        in_type(file, v.ty, out);
        out.extend(v.refinement);
    }
}

fn in_constants<'a>(
    file: &File,
    consts: impl IntoIterator<Item = &'a Const>,
    out: &mut Vec<ExprId>,
) {
    for c in consts {
        if let Some(ty) = c.ty {
            in_type(file, ty, out);
        }
        out.extend(c.value);
    }
}

fn in_equation(equation: &Equation, out: &mut Vec<ExprId>) {
    for target in &equation.left {
        out.extend(indices(&target.path));
    }
    out.push(equation.right);
}

/// The outermost expressions of statements.
fn in_statements(body: &[Statement], out: &mut Vec<ExprId>) {
    let mut stack: Vec<&Statement> = body.iter().collect();
    while let Some(statement) = stack.pop() {
        match statement {
            Statement::Equation(equation) => in_equation(equation, out),
            Statement::Assert { expr, .. } => out.push(*expr),
            Statement::Property(property) => {
                out.push(property.expr);
                out.extend(property.provided);
            }
            Statement::Main(_) | Statement::Ivc(_) | Statement::Realizable(..) => {}
            Statement::If { arms, otherwise, .. } => {
                for (condition, body) in arms {
                    out.push(*condition);
                    stack.extend(body);
                }
                stack.extend(otherwise);
            }
            Statement::Frame { initial, body, .. } => {
                for equation in initial {
                    in_equation(equation, out);
                }
                stack.extend(body);
            }
        }
    }
}

/// The outermost expressions of a contract, without those of the contracts it imports.
pub(super) fn in_contract(file: &File, contract: &Contract, out: &mut Vec<ExprId>) {
    for item in &contract.items {
        match item {
            ContractItem::Const(c) => in_constants(file, [c], out),
            ContractItem::Ghost { vars, value, .. } => {
                in_variables(file, vars, out);
                out.push(*value);
            }
            ContractItem::Assume(clause) | ContractItem::Guarantee(clause) => out.push(clause.expr),
            ContractItem::Mode { requires, ensures, .. } => {
                out.extend(requires.iter().chain(ensures).map(|clause| clause.expr));
            }
            ContractItem::Import { inputs, outputs, .. } => {
                out.extend(inputs.iter().chain(outputs))
            }
            ContractItem::Decreases(measures, _) => out.extend(measures),
        }
    }
}

/// The outermost expressions of a contract declaration.
pub(super) fn in_contract_declaration(file: &File, decl: &ContractDecl, out: &mut Vec<ExprId>) {
    in_variables(file, &decl.inputs, out);
    in_variables(file, &decl.outputs, out);
    in_contract(file, &decl.contract, out);
}

/// The outermost expressions of a node's declarations and body, without its contract.
pub(super) fn in_node(file: &File, node: &Node, out: &mut Vec<ExprId>) {
    in_variables(file, &node.inputs, out);
    in_variables(file, &node.outputs, out);
    in_variables(file, &node.locals, out);
    in_constants(file, &node.consts, out);
    in_statements(&node.body, out);
}

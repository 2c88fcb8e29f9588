//! Expressions allowed in the body of a quantifier over infinitely many values.
//!
//! The quantified variables are bound symbols of the logic, so such a body has no streams and no
//! instances of its own; arbitrary values and `pre` become arrays (`open_arrays`). A call of a
//! function is replaced by terms, if the function consists of equations only.

use crate::lustre::ast::*;
use crate::lustre::elaborate::expressions::values::Val;
use crate::lustre::elaborate::nodes::instances::{Body, Instance, Place};
use crate::lustre::elaborate::system::model::Model;
use crate::lustre::elaborate::walk;
use crate::{Code, Span};

/// The depth of calls that are replaced.
const MAX_DEPTH: usize = 64;

/// The number of equations of a function that is replaced.
const MAX_EQUATIONS: usize = 500;

impl<'a> Model<'a> {
    /// True if an expression and all functions that it calls can be written as terms over their
    /// inputs.
    pub(in crate::lustre::elaborate) fn is_pure(&self, root: ExprId) -> bool {
        let (file, globals) = (self.file, self.globals);
        let mut seen = vec![false; globals.nodes.len()];
        let mut open = vec![root];
        let mut pure = true;
        while let (true, Some(root)) = (pure, open.pop()) {
            walk::below(file, &[root], |e| match &file.expr(e).kind {
                ExprKind::Unary(Unary::Current, _)
                | ExprKind::Any { .. }
                | ExprKind::When(..)
                | ExprKind::Merge { .. } => pure = false,
                // A callee that is not a node is a constructor, or an error.
                ExprKind::Call(call) => {
                    if let Some(&n) = globals.node_of.get(&call.callee.word) {
                        match equations(globals.nodes[n]) {
                            Some(equations)
                                if call.activation.is_none() && call.restart.is_none() =>
                            {
                                if !std::mem::replace(&mut seen[n], true) {
                                    open.extend(equations.iter().map(|(_, right)| *right));
                                }
                            }
                            _ => pure = false,
                        }
                    }
                }
                _ => {}
            });
        }
        pure
    }

    /// The outputs of a function as terms over the arguments.
    pub(in crate::lustre::elaborate) fn pure_call(
        &mut self,
        node: &'a Node,
        args: &[Val],
        span: Span,
    ) -> Val {
        let text = self.word(node.name.word);
        let Some(open) = equations(node).filter(|_| self.pure_depth < MAX_DEPTH) else {
            let message = if self.pure_depth > 0 {
                "such a call in a quantifier over infinitely many values"
            } else {
                "a call with an index of an array of unknown size among its arguments, but of a function that is equations only"
            };
            self.unsupported(span, message);
            return Val::error();
        };
        let i = self.instances.len();
        let path = self.path_at(None);
        self.instances.push(Instance::new(
            Body::Nothing,
            Place::Called,
            path,
            crate::lustre::elaborate::expressions::values::BASE,
        ));
        for (decl, arg) in node.inputs.iter().zip(args) {
            let declared = self.resolve(Some(i), decl.ty);
            if declared.ty != arg.ty {
                self.mismatch(
                    span,
                    &format!("an input of `{text}` and its argument"),
                    declared.ty,
                    arg.ty,
                );
                return Val::error();
            }
            self.instances[i].scope.insert(decl.name.word, arg.clone());
        }
        for decl in node.inputs.iter().chain(&node.outputs).chain(&node.locals) {
            if !self.resolve(Some(i), decl.ty).refinements.is_empty() {
                self.unsupported(
                    span,
                    "a call with subranges or subtypes in a quantifier over infinitely many values",
                );
                return Val::error();
            }
        }
        // Names at the call site are not visible in the function.
        let around = std::mem::take(&mut self.bindings);
        self.pure_depth += 1;
        let fine = self.evaluate_equations(node, i, open, span);
        self.pure_depth -= 1;
        self.bindings = around;
        let outputs: Option<Vec<Val>> = node
            .outputs
            .iter()
            .map(|d| self.instances[i].scope.get(&d.name.word).cloned())
            .collect();
        match outputs.filter(|_| fine) {
            Some(outputs) => self.list(&outputs, span),
            None if self.report.has_errors() => Val::error(),
            None => {
                self.unsupported(
                    span,
                    "a call of a function with undefined outputs in such a quantifier",
                );
                Val::error()
            }
        }
    }

    /// Evaluates the equations of a function in the instance `i`, each after those it depends on;
    /// false after an error.
    fn evaluate_equations(
        &mut self,
        node: &'a Node,
        i: usize,
        mut open: Vec<(Vec<Word>, ExprId)>,
        span: Span,
    ) -> bool {
        let file = self.file;
        let variables: Vec<Word> =
            node.outputs.iter().chain(&node.locals).map(|d| d.name.word).collect();
        let mut fine = true;
        while fine && !open.is_empty() {
            let ready = open.iter().position(|(_, right)| {
                let mut known = true;
                walk::below(file, &[*right], |e| {
                    if let ExprKind::Name(name) = &file.expr(e).kind {
                        known &= !variables.contains(&name.word)
                            || self.instances[i].scope.contains_key(&name.word);
                    }
                });
                known
            });
            let Some(ready) = ready else {
                let text = self.word(node.name.word);
                let message = format!("the equations of `{text}` depend on each other in a circle");
                self.error(Code::E1504, span, message);
                return false;
            };
            let (names, right) = open.swap_remove(ready);
            let value = self.eval(Some(i), right);
            let values = self.flattened(&[value]);
            fine = values.len() == names.len() && !values.iter().any(Val::is_error);
            for (name, value) in names.into_iter().zip(values) {
                let decl = node.outputs.iter().chain(&node.locals).find(|d| d.name.word == name);
                let declared = decl.map(|d| self.resolve(Some(i), d.ty).ty);
                if declared.is_some_and(|ty| ty != value.ty) {
                    self.mismatch(
                        span,
                        "an equation between different types",
                        value.ty,
                        declared.unwrap_or(value.ty),
                    );
                    fine = false;
                }
                self.instances[i].scope.insert(name, value);
            }
        }
        fine
    }
}

/// For a function that consists of equations only: the variables that each equation defines, and
/// its right-hand side.
fn equations(node: &Node) -> Option<Vec<(Vec<Word>, ExprId)>> {
    let plain = node.kind == NodeKind::Function
        && !node.imported
        && node.contract.is_none()
        && node.type_params.is_empty()
        && node.consts.is_empty()
        && node.body.len() <= MAX_EQUATIONS
        && node
            .inputs
            .iter()
            .chain(&node.outputs)
            .chain(&node.locals)
            .all(|d| d.refinement.is_none());
    if !plain {
        return None;
    }
    let each = node.body.iter().map(|statement| match statement {
        Statement::Equation(e) if e.left.iter().all(|t| t.path.is_empty()) => {
            Some((e.left.iter().map(|t| t.name.word).collect(), e.right))
        }
        _ => None,
    });
    each.collect()
}

//! Functions that are known by name only: the same arguments give the same results, at one instant and at different ones.
//!
//! That is meant exactly in two cases: where all arguments never change (the result is then a value that never changes,
//! and equal arguments give equal results), and where the arguments have few values (the function is then a table of
//! values that never change). Other calls are refused: an arbitrary result at every instant would show runs that no
//! function has.

use gander_system::StreamKind;
use gander_term::{Op, Value};
use rustc_hash::FxHashMap;

use super::super::ast::*;
use super::instances::{Body, Instance, Place};
use super::model::Model;
use super::types::{Shape, Ty};
use super::values::{BASE, Cell, ClockId, Val};
use crate::diagnostic::Diagnostic;
use crate::{Code, Span};

/// The most entries of a table.
const MAX_ENTRIES: usize = 256;

/// The clock of the call, and that of its outputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct FunctionClocks {
    pub(super) inside: ClockId,
    pub(super) outputs: ClockId,
}

/// The arguments and results of a call.
type Seen = (Vec<Cell>, Vec<Cell>);

/// What has been said of each function so far.
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// By function: arguments and results of calls with arguments that never change.
    calls: FxHashMap<Word, Vec<Seen>>,
    /// By function: results, by arguments in the order of their values.
    tables: FxHashMap<Word, Vec<Vec<Cell>>>,
}

impl<'a> Model<'a> {
    /// The outputs of a call of a function without a body.
    pub(super) fn function_call(
        &mut self,
        path: &str,
        node: &'a Node,
        call: &Call,
        args: &[Val],
        clocks: FunctionClocks,
        span: Span,
    ) -> Val {
        let text = self.word(node.name.word);
        if !node.type_params.is_empty() || !call.type_args.is_empty() {
            self.unsupported(span, "a function without a body that has type parameters");
            return Val::error();
        }
        let i = self.instances.len();
        self.instances.push(Instance::new(Body::Node(node), Place::Called, path.to_string(), clocks.inside));
        for (decl, arg) in node.inputs.iter().zip(args) {
            let declared = self.resolve(Some(i), decl.ty).ty;
            if declared != arg.ty {
                let input = self.word(decl.name.word);
                self.mismatch(span, &format!("the input `{input}` of `{text}` and its argument"), declared, arg.ty);
                return Val::error();
            }
            self.instances[i].scope.insert(decl.name.word, arg.clone());
        }
        let types: Vec<Ty> = node.outputs.iter().map(|o| self.resolve(Some(i), o.ty).ty).collect();
        if types.contains(&super::types::ERROR) {
            return Val::error();
        }
        let arguments: Vec<Cell> = args.iter().flat_map(|a| a.cells().to_vec()).collect();
        let leaves: Vec<Ty> = args.iter().flat_map(|a| self.types.leaves(a.ty)).collect();
        let rigid = arguments.iter().all(|c| c.first == c.later);
        let results = if rigid {
            self.rigid_call(node, &types, &arguments, span)
        } else if let Some(domains) = self.domains(&leaves) {
            self.table_call(node, &types, &arguments, &domains, span)
        } else {
            self.report.add(
                Diagnostic::new(Code::E0510, span, format!("a call of `{text}`, a function without a body: not supported"))
                    .label(node.name.span, "declared here")
                    .note("the arguments change and have too many values for a table; an arbitrary result at every instant would allow runs in which the same arguments give different results")
                    .help("give the function a body, or make it an imported node if its results may differ"),
            );
            return Val::error();
        };
        let Some(results) = results else { return Val::error() };
        let mut offset = 0;
        for (decl, &ty) in node.outputs.iter().zip(&types) {
            let width = self.types.width(ty);
            let value = Val::many(ty, Some(clocks.outputs), results[offset..offset + width].to_vec());
            self.instances[i].scope.insert(decl.name.word, value);
            offset += width;
        }
        let ty = self.types.list(types);
        Val::many(ty, if rigid { None } else { Some(clocks.outputs) }, results)
    }

    /// New values that never change, one for each scalar of the outputs.
    fn entry(&mut self, node: &Node, name: &str, types: &[Ty], span: Span) -> Option<Vec<Cell>> {
        let mut cells = Vec::new();
        for (decl, &ty) in node.outputs.iter().zip(types) {
            let full =
                if types.len() == 1 { name.to_string() } else { format!("{name}.{}", self.word(decl.name.word)) };
            let value = self.rigid_value(&full, ty, StreamKind::Internal, span);
            if value.is_error() {
                return None;
            }
            cells.extend_from_slice(value.cells());
        }
        Some(cells)
    }

    fn rigid_call(&mut self, node: &Node, types: &[Ty], arguments: &[Cell], span: Span) -> Option<Vec<Cell>> {
        let word = node.name.word;
        let known = self.tables.calls.get(&word).cloned().unwrap_or_default();
        if let Some((_, results)) = known.iter().find(|(a, _)| a == arguments) {
            return Some(results.clone());
        }
        let name = self.numbered("", self.word(word));
        let results = self.entry(node, &name, types, span)?;
        for (others, values) in &known {
            let same: Vec<Cell> = arguments.iter().zip(others).map(|(&a, &b)| self.lift(Op::Eq, &[a, b])).collect();
            let equal: Vec<Cell> = results.iter().zip(values).map(|(&a, &b)| self.lift(Op::Eq, &[a, b])).collect();
            let (same, equal) = (self.lift(Op::And, &same), self.lift(Op::And, &equal));
            let congruent = self.lift(Op::Implies, &[same, equal]);
            let value = Val::one(super::types::BOOL, None, congruent);
            self.assume(format!("{} is a function", self.word(word)), &value, BASE, span);
        }
        // What a table says of the same function must agree; keep to one form.
        if self.tables.tables.contains_key(&word) {
            self.unsupported(span, "a function without a body that is called both with constants and with streams");
            return None;
        }
        self.tables.calls.entry(word).or_default().push((arguments.to_vec(), results.clone()));
        Some(results)
    }

    /// The values of each argument, if there are few.
    fn domains(&self, leaves: &[Ty]) -> Option<Vec<Vec<Value>>> {
        let mut total = 1usize;
        let mut domains = Vec::new();
        for &leaf in leaves {
            let values: Vec<Value> = match self.types.shape(leaf) {
                Shape::Bool => vec![Value::Bool(false), Value::Bool(true)],
                Shape::Enum(e) => {
                    let e = &self.types.enums[*e as usize];
                    (0..e.variants.len() as u32).map(|v| Value::Enum(e.sort, v)).collect()
                }
                _ => return None,
            };
            total = total.saturating_mul(values.len());
            domains.push(values);
        }
        (total <= MAX_ENTRIES).then_some(domains)
    }

    fn table_call(
        &mut self,
        node: &Node,
        types: &[Ty],
        arguments: &[Cell],
        domains: &[Vec<Value>],
        span: Span,
    ) -> Option<Vec<Cell>> {
        let word = node.name.word;
        if self.tables.calls.contains_key(&word) {
            self.unsupported(span, "a function without a body that is called both with constants and with streams");
            return None;
        }
        let total: usize = domains.iter().map(Vec::len).product();
        if !self.tables.tables.contains_key(&word) {
            let mut table = Vec::new();
            for k in 0..total {
                let name = format!("{}[{k}]", self.word(word));
                table.push(self.entry(node, &name, types, node.name.span)?);
            }
            self.tables.tables.insert(word, table);
        }
        let mut table = self.tables.tables.get(&word)?.clone();
        // Choose by the last argument first: neighbours differ in it.
        for (&argument, values) in arguments.iter().zip(domains).rev() {
            let mut next = Vec::new();
            for group in table.chunks(values.len()) {
                let mut chosen = group.last()?.clone();
                for (value, entry) in values.iter().zip(group).rev().skip(1) {
                    let value = self.constant(value.clone());
                    let here = self.lift(Op::Eq, &[argument, value]);
                    chosen = entry.iter().zip(&chosen).map(|(&a, &b)| self.lift(Op::Ite, &[here, a, b])).collect();
                }
                next.push(chosen);
            }
            table = next;
        }
        table.into_iter().next()
    }
}

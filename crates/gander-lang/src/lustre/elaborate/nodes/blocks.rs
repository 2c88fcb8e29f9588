//! Imperative blocks of Kind 2: `if … fi` and `frame`.
//!
//! A block is a set of equations: a variable that is defined in some branch of an `if` is a choice
//! between its definitions. In a branch that does not define it, it keeps its previous value inside
//! a `frame` (at first the initial value given there), and is arbitrary otherwise.

use gander_term::Op;
use rustc_hash::FxHashMap;

use crate::diagnostics::diagnostic::Diagnostic;
use crate::lustre::ast::*;
use crate::lustre::elaborate::expressions::values::Cell;
use crate::lustre::elaborate::system::model::Model;
use crate::lustre::elaborate::system::streams::{Definition, StreamId};
use crate::{Code, Span};

/// The definitions of a block.
pub(in crate::lustre::elaborate) type Block = FxHashMap<StreamId, Definition>;

impl<'a> Model<'a> {
    /// Elaborates the statements of a block; the parser limits the nesting of blocks.
    fn block(&mut self, i: usize, body: &'a [Statement]) -> Block {
        self.blocks.push(Block::default());
        for statement in body {
            match statement {
                Statement::Equation(equation) => self.equation(i, equation),
                Statement::If { branches, arms, otherwise, span } => {
                    self.if_block(i, *branches, arms, otherwise, *span)
                }
                Statement::Frame { span, .. } => {
                    self.unsupported(*span, "a `frame` inside of another block")
                }
                Statement::Assert { span, .. }
                | Statement::Main(span)
                | Statement::Realizable(_, span) => {
                    self.unsupported(*span, "something other than equations inside of a block");
                }
                Statement::Property(property) => {
                    self.unsupported(
                        property.span,
                        "something other than equations inside of a block",
                    );
                }
                Statement::Ivc(_) => {}
            }
        }
        self.blocks.pop().unwrap_or_default()
    }

    /// `if c then … elsif … else … fi`
    pub(in crate::lustre::elaborate) fn if_block(
        &mut self,
        i: usize,
        branches: Branches,
        arms: &'a [(ExprId, Vec<Statement>)],
        otherwise: &'a [Statement],
        span: Span,
    ) {
        let outside = self.lazy.len();
        let mut conditions: Vec<Option<Cell>> = Vec::new();
        let mut blocks = Vec::new();
        for (condition, body) in arms {
            let value = self.eval_bool(Some(i), *condition, "the condition of an `if`");
            conditions.push(value.cell());
            // In a lazy block a branch is evaluated only if its condition holds and no earlier one
            // does.
            let here = value.cell().filter(|_| branches == Branches::Lazy);
            let opened = usize::from(here.is_some());
            if let Some(here) = here {
                self.evaluate_if(here);
            }
            blocks.push(self.block(i, body));
            self.lazy.truncate(self.lazy.len() - opened);
            if let Some(here) = here {
                let not_here = self.lift(Op::Not, &[here]);
                self.evaluate_if(not_here);
            }
        }
        let rest = self.block(i, otherwise);
        self.lazy.truncate(outside);
        let mut defined: Vec<StreamId> =
            blocks.iter().chain([&rest]).flat_map(|b| b.keys().copied()).collect();
        defined.sort();
        defined.dedup();
        for stream in defined {
            let mut missing = None;
            let mut value = match rest.get(&stream) {
                Some(definition) => definition.cell,
                None => self.undefined(stream, &mut missing, span),
            };
            for (condition, block) in conditions.iter().zip(&blocks).rev() {
                let here = match block.get(&stream) {
                    Some(definition) => definition.cell,
                    None => self.undefined(stream, &mut missing, span),
                };
                if let Some(condition) = condition {
                    value = self.lift(Op::Ite, &[*condition, here, value]);
                }
            }
            self.define(stream, value, span);
        }
    }

    /// The value of a variable where its block does not define it.
    fn undefined(&mut self, stream: StreamId, missing: &mut Option<Cell>, span: Span) -> Cell {
        if let Some(cell) = *missing {
            return cell;
        }
        let cell = match self.frame.as_ref().and_then(|frame| frame.get(&stream)) {
            Some(&cell) => cell,
            None => {
                let (name, sort) =
                    (self.streams.get(stream).name.clone(), self.streams.get(stream).sort);
                self.report.add(
                    Diagnostic::new(
                        Code::W1702,
                        span,
                        format!("`{name}` is not defined in every branch"),
                    )
                    .note("its value is arbitrary where it is not")
                    .help("inside of a `frame` it keeps its last value"),
                );
                let any = self.arbitrary("", "undefined", sort, span);
                self.read(any)
            }
        };
        *missing = Some(cell);
        cell
    }

    /// `frame (x, y) x = 0; let … tel`
    pub(in crate::lustre::elaborate) fn frame_block(
        &mut self,
        i: usize,
        vars: &[Name],
        initial: &'a [Equation],
        body: &'a [Statement],
        span: Span,
    ) {
        self.blocks.push(Block::default());
        for equation in initial {
            self.equation(i, equation);
        }
        let first = self.blocks.pop().unwrap_or_default();
        let mut framed = Vec::new();
        let mut defaults = FxHashMap::default();
        let path = self.path_at(Some(i));
        for name in vars {
            let Some(&variable) = self.instances[i].vars.get(&name.word) else {
                let text = self.word(name.word);
                self.error(Code::E1303, name.span, format!("unknown variable `{text}`"));
                continue;
            };
            for k in 0..self.types.width(variable.ty) as u32 {
                let stream = StreamId(variable.first.0 + k);
                let clock = self.streams.get(stream).clock;
                let own = self.read(stream);
                let given = first.get(&stream).map(|d| d.cell);
                let before = self.previous(own, clock, given.is_none(), &path, span);
                let default = match given {
                    Some(given) => self.arrow(given, before, clock),
                    None => before,
                };
                framed.push(stream);
                defaults.insert(stream, default);
            }
        }
        let outer = self.frame.replace(defaults);
        let block = self.block(i, body);
        let defaults = std::mem::replace(&mut self.frame, outer).unwrap_or_default();
        for stream in first.keys().chain(block.keys()) {
            if !defaults.contains_key(stream) {
                let name = self.streams.get(*stream).name.clone();
                self.error(
                    Code::E1503,
                    span,
                    format!("`{name}` is defined in a `frame` that does not list it"),
                );
            }
        }
        for stream in framed {
            let cell = match (block.get(&stream), defaults.get(&stream)) {
                (Some(definition), _) => definition.cell,
                (None, Some(&default)) => {
                    if !first.contains_key(&stream) {
                        let name = self.streams.get(stream).name.clone();
                        let message =
                            format!("`{name}` has no first value in its `frame`: it is arbitrary");
                        self.report.add(Diagnostic::new(Code::W1701, span, message));
                    }
                    default
                }
                (None, None) => continue,
            };
            let at = block.get(&stream).map_or(span, |d| d.span);
            self.define(stream, cell, at);
        }
    }
}

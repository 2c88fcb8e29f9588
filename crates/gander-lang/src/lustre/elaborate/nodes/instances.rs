//! Instances of nodes: the root, and one for every call.
//!
//! A call declares the streams of its instance and appends the instance to a queue; its body is
//! elaborated later. So calls never recurse, and the body can be omitted where the contract
//! represents the node, as for imported nodes.

use gander_system::{Numerals, Role, StreamKind};
use rustc_hash::FxHashMap;

use crate::diagnostics::diagnostic::Diagnostic;
use crate::lustre::ast::*;
use crate::lustre::elaborate::expressions::clocks::NewClock;
use crate::lustre::elaborate::expressions::values::{BASE, Cell, ClockId, Val};
use crate::lustre::elaborate::system::model::Model;
use crate::lustre::elaborate::system::streams::{Definition, NewStream, StreamId};
use crate::lustre::elaborate::types::layout::{ERROR, Shape, Ty};
use crate::lustre::elaborate::types::resolve::{At, Refinement, Resolved, TypeCondition};
use crate::{Code, Span};

/// A variable of an instance.
#[derive(Clone, Copy, Debug)]
pub(in crate::lustre::elaborate) struct Variable {
    /// The stream of its first scalar; the others follow.
    pub(in crate::lustre::elaborate) first: StreamId,
    pub(in crate::lustre::elaborate) ty: Ty,
    pub(in crate::lustre::elaborate) kind: StreamKind,
    pub(in crate::lustre::elaborate) span: Span,
}

/// Whether a condition of a declaration is assumed or claimed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::lustre::elaborate) enum ConditionStatus {
    /// The environment guarantees it: it is assumed.
    Assumed,
    /// The program guarantees it: it must be proved.
    Claimed,
}

/// A condition of a declaration that is not yet a claim or an assumption.
#[derive(Clone, Debug)]
pub(in crate::lustre::elaborate) struct Pending {
    pub(in crate::lustre::elaborate) name: String,
    pub(in crate::lustre::elaborate) value: Val,
    pub(in crate::lustre::elaborate) refinements: Vec<Refinement>,
    pub(in crate::lustre::elaborate) status: ConditionStatus,
    pub(in crate::lustre::elaborate) clock: ClockId,
    pub(in crate::lustre::elaborate) streams: Option<StreamId>,
    pub(in crate::lustre::elaborate) span: Span,
}

/// The declaration that an instance belongs to.
#[derive(Clone, Copy, Debug)]
pub(in crate::lustre::elaborate) enum Body<'a> {
    Node(&'a Node),
    /// The scope of a contract.
    Contract,
    /// A call with wrong arguments. Its body is not elaborated, to avoid follow-up errors.
    Nothing,
}

/// Whether the instance is the root or belongs to a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::lustre::elaborate) enum Place {
    Root,
    Called,
}

/// An instance of a node, or the scope of a contract.
#[derive(Debug)]
pub(in crate::lustre::elaborate) struct Instance<'a> {
    pub(in crate::lustre::elaborate) body: Body<'a>,
    pub(in crate::lustre::elaborate) place: Place,
    /// The prefix of the names of its streams; empty for the root.
    pub(in crate::lustre::elaborate) path: String,
    pub(in crate::lustre::elaborate) clock: ClockId,
    pub(in crate::lustre::elaborate) scope: FxHashMap<Word, Val>,
    pub(in crate::lustre::elaborate) vars: FxHashMap<Word, Variable>,
    pub(in crate::lustre::elaborate) type_args: Vec<(Word, Resolved)>,
    pub(in crate::lustre::elaborate) pending: Vec<Pending>,
    /// For each mode of its contract, with the names of the imported contracts as prefix: whether
    /// it is active.
    pub(in crate::lustre::elaborate) modes: Vec<(Vec<Word>, Cell)>,
}

impl<'a> Instance<'a> {
    pub(in crate::lustre::elaborate) fn new(
        body: Body<'a>,
        place: Place,
        path: String,
        clock: ClockId,
    ) -> Instance<'a> {
        Instance {
            body,
            place,
            path,
            clock,
            scope: FxHashMap::default(),
            vars: FxHashMap::default(),
            type_args: Vec::new(),
            pending: Vec::new(),
            modes: Vec::new(),
        }
    }

    /// A name below the path.
    pub(in crate::lustre::elaborate) fn named(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_string() } else { format!("{}.{name}", self.path) }
    }
}

/// The properties of a declared variable.
#[derive(Clone, Copy, Debug)]
pub(in crate::lustre::elaborate) struct Declare {
    pub(in crate::lustre::elaborate) kind: StreamKind,
    pub(in crate::lustre::elaborate) role: Role,
    /// No equation will define it.
    pub(in crate::lustre::elaborate) free: bool,
    pub(in crate::lustre::elaborate) status: ConditionStatus,
}

impl<'a> Model<'a> {
    /// The instance of the root: its inputs are those of the system.
    pub(in crate::lustre::elaborate) fn root(&mut self, node: &'a Node) -> usize {
        let i = self.instances.len();
        self.instances.push(Instance::new(Body::Node(node), Place::Root, String::new(), BASE));
        for param in &node.type_params {
            // The type is unknown, like an abstract type.
            let ty = self
                .types
                .intern(crate::lustre::elaborate::types::layout::Shape::Abstract(param.word));
            self.instances[i].type_args.push((param.word, Resolved::plain(ty)));
        }
        for decl in &node.inputs {
            if decl.constant {
                self.declare(
                    i,
                    decl,
                    Declare {
                        kind: StreamKind::Input,
                        role: Role::State,
                        free: true,
                        status: ConditionStatus::Assumed,
                    },
                );
            } else {
                self.declare(
                    i,
                    decl,
                    Declare {
                        kind: StreamKind::Input,
                        role: Role::Input,
                        free: true,
                        status: ConditionStatus::Assumed,
                    },
                );
            }
        }
        self.declare_outputs(i, node);
        i
    }

    /// True if an instance is represented by its contract although its node has a body.
    pub(in crate::lustre::elaborate) fn is_abstract(&self, i: usize) -> bool {
        let instance = &self.instances[i];
        match instance.body {
            Body::Node(node) => {
                instance.place == Place::Called
                    && !node.imported
                    && self.abstracted.contains(&node.name.word)
            }
            Body::Contract | Body::Nothing => false,
        }
    }

    /// Declares the outputs of a node; they are arbitrary if the node is represented by its
    /// contract.
    pub(in crate::lustre::elaborate) fn declare_outputs(
        &mut self,
        i: usize,
        node: &'a Node,
    ) -> Vec<Val> {
        let how = if node.imported || self.is_abstract(i) {
            Declare {
                kind: StreamKind::Output,
                role: Role::Input,
                free: true,
                status: ConditionStatus::Assumed,
            }
        } else {
            Declare {
                kind: StreamKind::Output,
                role: Role::State,
                free: false,
                status: ConditionStatus::Claimed,
            }
        };
        node.outputs.iter().map(|decl| self.declare(i, decl, how)).collect()
    }

    /// Declares a variable in an instance: its streams, name and conditions.
    pub(in crate::lustre::elaborate) fn declare(
        &mut self,
        i: usize,
        decl: &VarDecl,
        how: Declare,
    ) -> Val {
        let name = self.word(decl.name.word);
        let span = decl.name.span;
        self.check_new_name(i, decl.name);
        let resolved = self.resolve(Some(i), decl.ty);
        let clock = match decl.clock {
            Some(clock) => self.declared_clock(i, clock, span),
            None => self.instances[i].clock,
        };
        let mut refinements = resolved.refinements;
        if let Some(expr) = decl.refinement {
            let condition = TypeCondition::Predicate { variable: decl.name.word, expr };
            refinements.push(Refinement {
                offset: 0,
                ty: resolved.ty,
                condition,
                at: Some(i),
                span,
                within: Vec::new(),
            });
        }
        let full = self.instances[i].named(name);
        let first = StreamId(self.streams.list.len() as u32);
        let mut cells = Vec::new();
        let mut ty = resolved.ty;
        for (suffix, leaf) in self.types.scalars(self.file, resolved.ty) {
            let Some(sort) = self.sort(leaf, span) else {
                ty = ERROR;
                break;
            };
            let stream = self.stream(NewStream {
                name: format!("{full}{suffix}"),
                sort,
                kind: how.kind,
                role: how.role,
                clock,
                range: None,
                span,
                free: how.free,
            });
            if self.stopped {
                return Val::error();
            }
            if let Shape::Machine { signed: true, .. } = self.types.shape(leaf) {
                self.builder.set_numerals(self.streams.get(stream).var, Numerals::Signed);
            }
            // A free state stream never changes: its current symbol has the right value at every
            // instant.
            let rigid = how.free && how.role == Role::State;
            let read = self.read(stream);
            cells.push(if rigid { self.rigid(read.first) } else { read });
        }
        let value = if ty == ERROR { Val::error() } else { Val::many(ty, Some(clock), cells) };
        let rigid = how.free && how.role == Role::State;
        let value = if rigid { value.on(None) } else { value };
        self.instances[i].scope.insert(decl.name.word, value.clone());
        if ty != ERROR {
            self.instances[i]
                .vars
                .insert(decl.name.word, Variable { first, ty, kind: how.kind, span });
            if !refinements.is_empty() {
                let pending = Pending {
                    name: full,
                    value: value.clone(),
                    refinements,
                    status: how.status,
                    clock,
                    streams: Some(first),
                    span,
                };
                self.instances[i].pending.push(pending);
            }
        }
        value
    }

    pub(in crate::lustre::elaborate) fn check_new_name(&mut self, i: usize, name: Name) {
        if self.instances[i].scope.contains_key(&name.word) {
            let text = self.word(name.word);
            let other = self.instances[i].vars.get(&name.word).map(|v| v.span);
            let diagnostic =
                Diagnostic::new(Code::E1301, name.span, format!("`{text}` is declared twice"));
            self.report.add(match other {
                Some(other) => diagnostic.label(other, "first declared here"),
                None => diagnostic,
            });
        }
    }

    /// The clock of a declaration with `when`.
    fn declared_clock(&mut self, i: usize, clock: Clock, span: Span) -> ClockId {
        let Some(condition) = self.clock_condition(Some(i), clock) else {
            return self.instances[i].clock;
        };
        let Some(cell) = condition.cell() else { return self.instances[i].clock };
        let parent = condition.clock.unwrap_or(self.instances[i].clock);
        let path = self.instances[i].path.clone();
        let name = self.clock_name(clock);
        self.clock(NewClock { parent, condition: Some(cell), restart: None, name, path, span })
    }

    /// Defines one scalar of a variable.
    pub(in crate::lustre::elaborate) fn define(
        &mut self,
        stream: StreamId,
        cell: Cell,
        span: Span,
    ) {
        let s = self.streams.get(stream);
        let before = match self.blocks.last() {
            Some(block) => block.get(&stream).copied().or(s.definition),
            None => s.definition,
        };
        if let Some(other) = before {
            let name = s.name.clone();
            self.report.add(
                Diagnostic::new(Code::E1502, span, format!("`{name}` is defined twice"))
                    .label(other.span, "first defined here"),
            );
            return;
        }
        let definition = Definition { cell, span, over: None };
        match self.blocks.last_mut() {
            Some(block) => {
                block.insert(stream, definition);
            }
            None => self.streams.list[stream.index()].definition = Some(definition),
        }
    }

    /// Defines an internal stream, ignoring the open imperative blocks.
    pub(in crate::lustre::elaborate) fn define_now(
        &mut self,
        stream: StreamId,
        cell: Cell,
        span: Span,
    ) {
        self.streams.list[stream.index()].definition = Some(Definition { cell, span, over: None });
    }

    /// Elaborates an instance: constants, locals, contract, body.
    pub(in crate::lustre::elaborate) fn elaborate_instance(&mut self, i: usize) {
        let Body::Node(node) = self.instances[i].body else { return };
        self.instance = i;
        let consts: Vec<&'a Const> = node.consts.iter().collect();
        self.local_constants(i, &consts);
        if self.is_abstract(i) {
            if let Some(contract) = &node.contract {
                self.contract(i, node, contract);
            }
            return;
        }
        for decl in &node.locals {
            self.declare(
                i,
                decl,
                Declare {
                    kind: StreamKind::Local,
                    role: Role::State,
                    free: false,
                    status: ConditionStatus::Claimed,
                },
            );
        }
        if let Some(contract) = &node.contract {
            self.contract(i, node, contract);
        }
        self.body(i, node);
        self.settle_pending(i);
        if !node.imported && !self.report.has_errors() {
            self.warn_undefined(i, node);
        }
    }

    /// Warns about variables without an equation, which are arbitrary.
    fn warn_undefined(&mut self, i: usize, node: &Node) {
        for decl in node.outputs.iter().chain(&node.locals) {
            let Some(&variable) = self.instances[i].vars.get(&decl.name.word) else { continue };
            let width = self.types.width(variable.ty) as u32;
            let missing = (variable.first.0..variable.first.0 + width).find(|&s| {
                self.streams.list[s as usize].definition.is_none()
                    && !self.streams.list[s as usize].free
            });
            if let Some(missing) = missing {
                let whole = (variable.first.0..variable.first.0 + width)
                    .all(|s| self.streams.list[s as usize].definition.is_none());
                let name = if whole {
                    self.word(decl.name.word).to_string()
                } else {
                    self.streams.list[missing as usize].name.clone()
                };
                self.report.add(
                    Diagnostic::new(
                        Code::W1702,
                        decl.name.span,
                        format!("`{name}` is never defined"),
                    )
                    .note("its value is arbitrary at every instant"),
                );
            }
        }
    }

    /// Evaluates the local constants of an instance in dependency order.
    pub(in crate::lustre::elaborate) fn local_constants(&mut self, i: usize, consts: &[&'a Const]) {
        for c in self.constant_order(consts) {
            self.check_new_name(i, c.name);
            let value = self.constant_value(Some(i), c);
            self.instances[i].scope.insert(c.name.word, value);
        }
    }

    /// Constants in dependency order; reports cycles.
    pub(in crate::lustre::elaborate) fn constant_order(
        &mut self,
        consts: &[&'a Const],
    ) -> Vec<&'a Const> {
        let file = self.file;
        let index: FxHashMap<Word, usize> =
            consts.iter().enumerate().map(|(k, c)| (c.name.word, k)).collect();
        let uses: Vec<Vec<usize>> = consts
            .iter()
            .map(|c| {
                let mut found = Vec::new();
                crate::lustre::elaborate::walk::below(file, c.value.as_slice(), |e| {
                    if let ExprKind::Name(name) = &file.expr(e).kind
                        && let Some(&k) = index.get(&name.word)
                    {
                        found.push(k);
                    }
                });
                found
            })
            .collect();
        let mut order = Vec::new();
        // 0: new, 1: open, 2: done
        let mut state = vec![0u8; consts.len()];
        for start in 0..consts.len() {
            let mut stack = vec![(start, 0)];
            while let Some((k, next)) = stack.last_mut() {
                let k = *k;
                if state[k] == 2 {
                    stack.pop();
                    continue;
                }
                state[k] = 1;
                match uses[k].get(*next).copied() {
                    Some(used) => {
                        *next += 1;
                        if state[used] == 1 {
                            let text = self.word(consts[used].name.word);
                            let message = format!("the constant `{text}` is defined by itself");
                            self.error(Code::E1306, consts[used].name.span, message);
                            state[used] = 2;
                        } else if state[used] == 0 {
                            stack.push((used, 0));
                        }
                    }
                    None => {
                        state[k] = 2;
                        order.push(consts[k]);
                        stack.pop();
                    }
                }
            }
        }
        order
    }

    /// The value of a constant; a free constant is a variable that never changes.
    pub(in crate::lustre::elaborate) fn constant_value(&mut self, at: At, c: &'a Const) -> Val {
        let declared = c.ty.map(|ty| self.resolve(at, ty));
        let Some(expr) = c.value else { return self.free_constant(at, c, declared) };
        let span = self.file.expr(expr).span;
        let value = self.eval(at, expr);
        if value.is_error() {
            return value;
        }
        if let Some(declared) = &declared
            && declared.ty != value.ty
        {
            self.mismatch(
                span,
                "the declared type of the constant and that of its value",
                declared.ty,
                value.ty,
            );
            return Val::error();
        }
        if value.cells().iter().any(|c| c.first != c.later || !c.instant) {
            let text = self.word(c.name.word);
            self.error(
                Code::E1404,
                span,
                format!("the value of the constant `{text}` is not constant"),
            );
            return Val::error();
        }
        if let Some(declared) = declared {
            self.check_constant(&value, &declared.refinements, c);
        }
        value
    }

    /// Reports a constant that violates the conditions of its type.
    fn check_constant(&mut self, value: &Val, refinements: &[Refinement], c: &Const) {
        if refinements.is_empty() {
            return;
        }
        let formula = self.condition_on(value, refinements);
        if let Some(gander_term::Value::Bool(false)) = formula.cell().and_then(|c| self.known(c)) {
            let text = self.word(c.name.word);
            self.error(
                Code::E1405,
                c.span,
                format!("the value of `{text}` is outside of its type"),
            );
        }
    }

    fn free_constant(&mut self, at: At, c: &Const, declared: Option<Resolved>) -> Val {
        let Some(declared) = declared else { return Val::error() };
        let name = match at {
            Some(i) => self.instances[i].named(self.word(c.name.word)),
            None => self.word(c.name.word).to_string(),
        };
        let value = self.rigid_value(&name, declared.ty, StreamKind::Local, c.name.span);
        if !declared.refinements.is_empty() && !value.is_error() {
            let formula = self.condition_on(&value, &declared.refinements);
            self.assume(format!("range of {name}"), &formula, BASE, c.name.span);
        }
        value
    }

    /// An arbitrary value that never changes.
    pub(in crate::lustre::elaborate) fn rigid_value(
        &mut self,
        name: &str,
        ty: Ty,
        kind: StreamKind,
        span: Span,
    ) -> Val {
        let mut cells = Vec::new();
        for (suffix, leaf) in self.types.scalars(self.file, ty) {
            let Some(sort) = self.sort(leaf, span) else { return Val::error() };
            let stream = self.stream(NewStream {
                name: format!("{name}{suffix}"),
                sort,
                kind,
                role: Role::State,
                clock: BASE,
                range: None,
                span,
                free: true,
            });
            if let Shape::Machine { signed: true, .. } = self.types.shape(leaf) {
                self.builder.set_numerals(self.streams.get(stream).var, Numerals::Signed);
            }
            let current = self.streams.get(stream).current;
            cells.push(self.rigid(current));
        }
        if ty == ERROR { Val::error() } else { Val::many(ty, None, cells) }
    }
}

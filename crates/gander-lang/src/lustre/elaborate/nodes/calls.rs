//! Calls: each call creates an instance whose inputs are the arguments.

use gander_system::{Role, StreamKind};
use gander_term::Op;

use crate::diagnostics::diagnostic::Diagnostic;
use crate::lustre::ast::*;
use crate::lustre::elaborate::expressions::clocks::NewClock;
use crate::lustre::elaborate::expressions::functions::FunctionCall;
use crate::lustre::elaborate::expressions::values::{Cell, ClockId, Val};
use crate::lustre::elaborate::nodes::instances::{Body, ConditionStatus, Declare, Instance, Place};
use crate::lustre::elaborate::system::model::Model;
use crate::lustre::elaborate::types::layout::{BOOL, ERROR, Shape, Ty};
use crate::lustre::elaborate::types::resolve::{At, Resolved};
use crate::{Code, Span, nearest};

/// The clocks of a call.
struct Timing {
    /// The clock of the arguments and of the conditions.
    outside: ClockId,
    /// The clock of the instance.
    inside: ClockId,
    /// The clock of outputs without default values.
    sampled: ClockId,
    condition: Option<Cell>,
}

/// The length in bytes above which the path of an instance is replaced by a short one with the
/// instance's number.
const LONGEST_PATH: usize = 400;

impl<'a> Model<'a> {
    /// The outputs of a call. `parts` are the values of its subexpressions, in the order of
    /// [`crate::lustre::elaborate::walk::children`].
    pub(in crate::lustre::elaborate) fn call(
        &mut self,
        at: At,
        id: ExprId,
        call: &'a Call,
        parts: Vec<Val>,
    ) -> Val {
        let span = self.file.expr(id).span;
        let globals = self.globals;
        let Some(&number) = globals.node_of.get(&call.callee.word) else {
            if self.types.constructors.contains_key(&call.callee.word)
                && call.activation.is_none()
                && call.restart.is_none()
            {
                return self.construct(at, call.callee, &call.type_args, &parts, span);
            }
            let text = self.word(call.callee.word);
            let known = globals.nodes.iter().map(|n| self.file.text(n.name.word));
            let near = nearest(text, known);
            self.report.add(
                Diagnostic::new(Code::E1304, call.callee.span, format!("unknown node `{text}`"))
                    .did_you_mean(near),
            );
            return Val::error();
        };
        let node = globals.nodes[number];
        let mut parts = parts.into_iter();
        let restart = call.restart.and_then(|_| parts.next());
        let condition = call.activation.as_ref().and_then(|_| parts.next());
        let args: Vec<Val> = parts.by_ref().take(call.args.len()).collect();
        let defaults: Vec<Val> = parts.collect();
        let failed =
            args.iter().chain(&defaults).chain(&restart).chain(&condition).any(Val::is_error);
        if failed {
            return Val::error();
        }
        let args = self.flattened(&args);
        if args.len() != node.inputs.len() {
            let (text, n) = (self.word(node.name.word), node.inputs.len());
            let message = format!("`{text}` takes {n} arguments, not {}", args.len());
            self.report.add(
                Diagnostic::new(Code::E1402, span, message).label(node.header, "declared here"),
            );
            return Val::error();
        }
        if self.pure_depth > 0 {
            return self.pure_call(node, &args, span);
        }
        if !self.binders.is_empty() {
            let given = args.iter().chain(&defaults).chain(&restart).chain(&condition);
            let mut cells: Vec<Cell> = given.flat_map(|v| v.cells().to_vec()).collect();
            cells.extend(self.lazy.last());
            if self.depends_on_index(&cells) {
                if call.activation.is_some() || call.restart.is_some() {
                    self.unsupported(
                        span,
                        "a call with a condition that depends on an index of an array of unknown size",
                    );
                    return Val::error();
                }
                return self.pure_call(node, &args, span);
            }
        }
        // The call does not depend on the index.
        let binders = std::mem::take(&mut self.binders);
        let value = self.instantiate_call(at, id, call, node, (args, defaults, condition, restart));
        self.binders = binders;
        value
    }

    /// A call that creates an instance.
    fn instantiate_call(
        &mut self,
        at: At,
        id: ExprId,
        call: &'a Call,
        node: &'a Node,
        (args, defaults, condition, restart): (Vec<Val>, Vec<Val>, Option<Val>, Option<Val>),
    ) -> Val {
        let span = self.file.expr(id).span;
        let Some(mut timing) = self.timing(at, node, &args, condition, restart, span) else {
            return Val::error();
        };
        if let Some(&needed) = self.lazy.last() {
            if node.kind == NodeKind::Node {
                let text = self.word(node.name.word);
                let message =
                    format!("the node `{text}` is called in a branch that is not always evaluated");
                self.report.add(
                    Diagnostic::new(Code::E1505, span, message)
                        .label(
                            node.name.span,
                            "a node may have memory; only functions can be called there",
                        )
                        .help("call it in an equation of its own, or choose with `if`"),
                );
                return Val::error();
            }
            // A function has no memory, so laziness affects only the assumptions of the function.
            timing.inside = self.lazy_clock(timing.inside, needed, at, span);
        }
        let path = self.instance_path(at, id, node);
        let value = if node.imported && node.kind == NodeKind::Function {
            let (inside, outputs) = (timing.inside, timing.sampled);
            self.function_call(
                node,
                &args,
                FunctionCall { at, path: &path, call, inside, outputs, span },
            )
        } else {
            let i = self.instances.len();
            self.instances.push(Instance::new(
                Body::Node(node),
                Place::Called,
                path.clone(),
                timing.inside,
            ));
            if !self.bind_types(at, i, node, call, &args) || !self.bind_inputs(i, node, &args, span)
            {
                self.instances[i].body = Body::Nothing;
                return Val::error();
            }
            let outputs = self.declare_outputs(i, node);
            let outputs = self.list(&outputs, span);
            if node.outputs.is_empty() { self.nothing() } else { outputs.on(Some(timing.sampled)) }
        };
        if value.is_error() {
            return value;
        }
        match (timing.condition, call.activation.as_ref().and_then(|a| a.defaults.as_ref())) {
            (Some(condition), Some(_)) => {
                self.with_defaults(&value, &defaults, condition, timing.outside, &path, span)
            }
            _ => value,
        }
    }

    /// Values with lists flattened.
    pub(in crate::lustre::elaborate) fn flattened(&self, values: &[Val]) -> Vec<Val> {
        let mut result = Vec::new();
        for value in values {
            let mut offset = 0;
            for ty in self.types.parts(value.ty) {
                let width = self.types.width(ty);
                result.push(value.part(ty, offset, width));
                offset += width;
            }
        }
        result
    }

    /// The clocks of a call.
    fn timing(
        &mut self,
        at: At,
        node: &Node,
        args: &[Val],
        condition: Option<Val>,
        restart: Option<Val>,
        span: Span,
    ) -> Option<Timing> {
        for (value, what) in [
            (&condition, "the condition of an activation"),
            (&restart, "the condition of a restart"),
        ] {
            if let Some(value) = value
                && value.ty != BOOL
            {
                let name = self.type_name(value.ty);
                self.error(Code::E1401, span, format!("{what} is a bool, not a `{name}`"));
                return None;
            }
        }
        let mut of_args = None;
        for arg in args {
            of_args = self.join(of_args, arg.clock, span);
        }
        let mut outside = None;
        for value in condition.iter().chain(&restart) {
            outside = self.join(outside, value.clock, span);
        }
        let text = self.word(node.name.word);
        let path = self.path_at(at);
        let clock = |condition: Option<Cell>, restart: Option<Cell>, parent| NewClock {
            parent,
            condition,
            restart,
            name: format!("the clock of `{text}`"),
            path: path.clone(),
            span,
        };
        let condition = condition.and_then(|c| c.cell());
        let restart = restart.and_then(|c| c.cell());
        let here = self.clock_at(at);
        let Some(condition) = condition else {
            let outside = self.join(of_args, outside, span).unwrap_or(here);
            let inside =
                if restart.is_some() { self.clock(clock(None, restart, outside)) } else { outside };
            return Some(Timing { outside, inside, sampled: outside, condition: None });
        };
        // The arguments may already be sampled on the condition.
        let parent = outside.or(of_args).unwrap_or(here);
        let sampled = self.clock(clock(Some(condition), None, parent));
        if of_args.is_some_and(|c| c != sampled) {
            self.join(of_args, Some(parent), span);
        }
        let inside =
            if restart.is_some() { self.clock(clock(None, restart, sampled)) } else { sampled };
        Some(Timing { outside: parent, inside, sampled, condition: Some(condition) })
    }

    /// The clock of expressions that are evaluated only under a condition.
    pub(in crate::lustre::elaborate) fn lazy_clock(
        &mut self,
        parent: ClockId,
        needed: Cell,
        at: At,
        span: Span,
    ) -> ClockId {
        let path = self.path_at(at);
        let name = "a branch that is not always evaluated".to_string();
        self.clock(NewClock { parent, condition: Some(needed), restart: None, name, path, span })
    }

    fn instance_path(&mut self, at: At, id: ExprId, node: &Node) -> String {
        let above = match at {
            Some(i) if !self.instances[i].path.is_empty() => self.instances[i].path.clone(),
            _ => self.builder.so_far().name().to_owned(),
        };
        // The name of every stream contains its path. Without the limit, the total length would be
        // quadratic in the depth of nested calls.
        let above = match above.len() {
            0..=LONGEST_PATH => above,
            _ => format!("{}..{}", self.builder.so_far().name(), self.instances.len()),
        };
        let number = self.globals.ordinals.get(&id).copied().unwrap_or(1);
        let mut path = format!("{above}.{}#{number}", self.word(node.name.word));
        for (_, value) in &self.bindings {
            if let Some(i) = self.known_int(value) {
                path.push_str(&format!("[{i}]"));
            }
        }
        let mut unique = path.clone();
        let mut n = 1;
        while !self.paths.insert(unique.clone()) {
            n += 1;
            unique = format!("{path}~{n}");
        }
        unique
    }

    /// The types for the type parameters of a node: as written, or inferred from the arguments.
    pub(in crate::lustre::elaborate) fn bind_types(
        &mut self,
        at: At,
        i: usize,
        node: &Node,
        call: &Call,
        args: &[Val],
    ) -> bool {
        if node.type_params.is_empty() && call.type_args.is_empty() {
            return true;
        }
        let text = self.word(node.name.word);
        if !call.type_args.is_empty() {
            if call.type_args.len() != node.type_params.len() {
                let n = node.type_params.len();
                let message =
                    format!("`{text}` takes {n} type arguments, not {}", call.type_args.len());
                self.error(Code::E1402, call.callee.span, message);
                return false;
            }
            for (param, ty) in node.type_params.iter().zip(&call.type_args) {
                let resolved = self.resolve(at, *ty);
                self.instances[i].type_args.push((param.word, resolved));
            }
            return true;
        }
        for param in &node.type_params {
            let found = node
                .inputs
                .iter()
                .zip(args)
                .find_map(|(decl, arg)| self.infer(decl.ty, arg.ty, param.word));
            let Some(ty) = found else {
                let name = self.word(param.word);
                self.report.add(
                    Diagnostic::new(
                        Code::E1403,
                        call.callee.span,
                        format!("the type parameter `{name}` of `{text}` does not follow from the arguments"),
                    )
                    .help(format!("give it: `{text}@<…>(…)`")),
                );
                return false;
            };
            self.instances[i].type_args.push((param.word, Resolved::plain(ty)));
        }
        true
    }

    /// The type for a type parameter, inferred from a value of type `ty` where `declared` is
    /// expected.
    pub(in crate::lustre::elaborate) fn infer(
        &self,
        declared: TypeId,
        ty: Ty,
        param: Word,
    ) -> Option<Ty> {
        let mut stack = vec![(declared, ty)];
        while let Some((declared, ty)) = stack.pop() {
            match (&self.file.ty(declared).kind, self.types.shape(ty)) {
                (TypeKind::Named(name, args), _) if name.word == param && args.is_empty() => {
                    return Some(ty);
                }
                (TypeKind::Named(name, args), Shape::Data { name: datatype, args: types, .. })
                    if name.word == *datatype =>
                {
                    stack.extend(args.iter().copied().zip(types.iter().copied()));
                }
                (
                    TypeKind::Array { element, .. },
                    Shape::Array(inner, _) | Shape::Open(inner, _),
                ) => stack.push((*element, *inner)),
                (TypeKind::Tuple(parts), Shape::Tuple(types)) => {
                    stack.extend(parts.iter().copied().zip(types.iter().copied()));
                }
                (TypeKind::Record(fields), Shape::Record(types)) => {
                    stack.extend(fields.iter().map(|(_, t)| *t).zip(types.iter().map(|&(_, t)| t)));
                }
                (TypeKind::Named(name, _), _) => {
                    if let Some(definition) =
                        self.globals.types.get(&name.word).and_then(|d| d.definition)
                        && stack.len() < 1000
                        && self
                            .globals
                            .types
                            .get(&name.word)
                            .is_some_and(|d| d.params.iter().any(|p| p.word == param))
                    {
                        stack.push((definition, ty));
                    }
                }
                (TypeKind::Subtype { base, .. } | TypeKind::Subrange { base, .. }, _) => {
                    stack.push((*base, ty))
                }
                _ => {}
            }
        }
        None
    }

    /// Binds the inputs of an instance to the arguments.
    pub(in crate::lustre::elaborate) fn bind_inputs(
        &mut self,
        i: usize,
        node: &Node,
        args: &[Val],
        span: Span,
    ) -> bool {
        let how = Declare {
            kind: StreamKind::Input,
            role: Role::State,
            free: false,
            status: ConditionStatus::Claimed,
        };
        let mut fine = true;
        for (decl, arg) in node.inputs.iter().zip(args) {
            if decl.constant {
                let declared = self.resolve(Some(i), decl.ty);
                fine &= self.check_argument(node, decl, declared.ty, arg, span);
                if arg.cells().iter().any(|c| !c.is_rigid()) {
                    let text = self.word(decl.name.word);
                    self.error(
                        Code::E1404,
                        span,
                        format!("the argument for the constant `{text}` is not constant"),
                    );
                    fine = false;
                }
                self.check_new_name(i, decl.name);
                self.instances[i].scope.insert(decl.name.word, arg.clone());
                continue;
            }
            let value = self.declare(i, decl, how);
            if value.is_error() {
                fine = false;
                continue;
            }
            if !self.check_argument(node, decl, value.ty, arg, span) {
                fine = false;
                continue;
            }
            let Some(&variable) = self.instances[i].vars.get(&decl.name.word) else { continue };
            for (k, &cell) in arg.cells().iter().enumerate() {
                let stream = crate::lustre::elaborate::system::streams::StreamId(
                    variable.first.0 + k as u32,
                );
                self.define_now(stream, cell, span);
            }
        }
        fine
    }

    fn check_argument(
        &mut self,
        node: &Node,
        decl: &VarDecl,
        declared: Ty,
        arg: &Val,
        span: Span,
    ) -> bool {
        if declared == arg.ty || declared == ERROR {
            return declared != ERROR;
        }
        let (callee, input) = (self.word(node.name.word), self.word(decl.name.word));
        let (a, b) = (self.type_name(declared), self.type_name(arg.ty));
        self.report.add(
            Diagnostic::new(
                Code::E1401,
                span,
                format!("the input `{input}` of `{callee}` is a `{a}`, not a `{b}`"),
            )
            .label(decl.name.span, "declared here"),
        );
        false
    }

    /// The outputs of a call with default values: while it does not run, the outputs of its last
    /// run, or the defaults if it has not run.
    fn with_defaults(
        &mut self,
        value: &Val,
        defaults: &[Val],
        condition: Cell,
        clock: ClockId,
        path: &str,
        span: Span,
    ) -> Val {
        let defaults = self.list(defaults, span);
        if defaults.ty != value.ty {
            self.mismatch(
                span,
                "the outputs and their defaults have different types",
                value.ty,
                defaults.ty,
            );
            return Val::error();
        }
        self.join(Some(clock), defaults.clock, span);
        let mut cells = Vec::new();
        for (&cell, &default) in value.cells().iter().zip(defaults.cells()) {
            let sort = self.builder.pool.sort(cell.first);
            let name = match self.streams.of_next(cell.later) {
                Some(output) => format!("{}@held", self.streams.get(output).name),
                None => self.numbered(path, "held"),
            };
            let stream = self.stream(crate::lustre::elaborate::system::streams::NewStream {
                name,
                sort,
                kind: StreamKind::Internal,
                role: Role::State,
                clock,
                range: None,
                span,
                free: false,
            });
            let held = self.read(stream);
            let before = self.previous(held, clock, false, path, span);
            let otherwise = self.arrow(default, before, clock);
            let definition = self.lift(Op::Ite, &[condition, cell, otherwise]);
            self.define_now(stream, definition, span);
            cells.push(held);
        }
        Val::many(value.ty, Some(clock), cells)
    }
}

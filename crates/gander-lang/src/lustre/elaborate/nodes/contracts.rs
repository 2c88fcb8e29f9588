//! Contracts: the assumptions and guarantees of a node.
//!
//! For the root, the assumptions are assumed and the guarantees are claimed. At a call, the caller
//! claims the assumptions, and a guarantee is claimed under the condition that the assumptions have
//! held so far. An imported node is represented by its contract only: its guarantees are assumed as
//! long as its assumptions have held.

use gander_system::{Role, StreamKind};
use gander_term::Op;

use crate::diagnostics::diagnostic::Diagnostic;
use crate::lustre::ast::*;
use crate::lustre::elaborate::expressions::values::{Cell, Val};
use crate::lustre::elaborate::nodes::instances::{Body, ConditionStatus, Declare, Instance, Place};
use crate::lustre::elaborate::system::model::Model;
use crate::lustre::elaborate::system::streams::{NewStream, StreamId};
use crate::lustre::elaborate::types::layout::{BOOL, ERROR};
use crate::lustre::elaborate::types::refine::Boundary;
use crate::lustre::elaborate::types::resolve::{At, Resolved};
use crate::lustre::modules::ClaimRole;
use crate::{Code, Span, nearest};

/// A contract with the instance whose names it uses.
struct Spec<'a> {
    instance: usize,
    contract: &'a Contract,
    /// The prefix of the names of its parts.
    prefix: String,
    /// The imports that lead to it.
    words: Vec<Word>,
    ghosts: Vec<(&'a [VarDecl], ExprId, Span)>,
    modes: Vec<StreamId>,
}

/// A formula of a contract with its name.
struct Clause {
    name: String,
    value: Val,
    span: Span,
}

/// The number of contracts of one node: its own and the imported ones.
const MAX_IMPORTS: usize = 200;

impl<'a> Model<'a> {
    /// The contract of an instance of a node.
    pub(in crate::lustre::elaborate) fn contract(
        &mut self,
        i: usize,
        node: &'a Node,
        contract: &'a Contract,
    ) {
        let names = self.contract_scope(i);
        let mut specs = vec![Spec {
            instance: names,
            contract,
            prefix: String::new(),
            words: Vec::new(),
            ghosts: Vec::new(),
            modes: Vec::new(),
        }];
        // Declare everything first: the parts of a contract may refer to each other in any order.
        let mut next = 0;
        while next < specs.len() {
            let imported = self.declare_contract(&mut specs[next], i);
            specs.extend(imported);
            next += 1;
            if specs.len() > MAX_IMPORTS {
                self.error(
                    Code::E1602,
                    contract.span,
                    format!("more than {MAX_IMPORTS} imports of contracts, or one imports itself"),
                );
                return;
            }
        }
        let (mut assumed, mut guaranteed, mut requirements) = (Vec::new(), Vec::new(), Vec::new());
        for spec in &specs {
            let modes = specs.iter().flat_map(|s| {
                let own = s.words.strip_prefix(&spec.words[..]);
                let names = mode_names(s.contract);
                own.map(|own| own.to_vec()).into_iter().flat_map(move |own| {
                    names.clone().into_iter().zip(&s.modes).map(move |(name, &stream)| {
                        let mut path = own.clone();
                        path.push(name);
                        (path, stream)
                    })
                })
            });
            let modes: Vec<(Vec<Word>, StreamId)> = modes.collect();
            let modes = modes.into_iter().map(|(path, stream)| (path, self.read(stream))).collect();
            self.instances[spec.instance].modes = modes;
        }
        let modes = self.instances[names].modes.clone();
        self.instances[i].modes = modes;
        for spec in &specs {
            self.elaborate_contract(spec, &mut assumed, &mut guaranteed, &mut requirements);
            self.settle_pending(spec.instance);
        }
        self.use_contract(i, node, contract.span, assumed, guaranteed, &requirements);
    }

    /// A new instance with the inputs and outputs of another in scope.
    fn contract_scope(&mut self, i: usize) -> usize {
        let of = &self.instances[i];
        let mut instance = Instance::new(Body::Contract, of.place, of.path.clone(), of.clock);
        instance.type_args = of.type_args.clone();
        let Body::Node(node) = of.body else { return i };
        for word in node
            .inputs
            .iter()
            .chain(&node.outputs)
            .map(|d| d.name.word)
            .chain(node.consts.iter().map(|c| c.name.word))
        {
            if let Some(value) = of.scope.get(&word) {
                instance.scope.insert(word, value.clone());
            }
        }
        self.instances.push(instance);
        self.instances.len() - 1
    }

    /// Declares the constants, ghost variables and modes of a contract; returns the contracts that
    /// it imports.
    fn declare_contract(&mut self, spec: &mut Spec<'a>, node: usize) -> Vec<Spec<'a>> {
        let c = spec.instance;
        let consts: Vec<&'a Const> = spec
            .contract
            .items
            .iter()
            .filter_map(|item| if let ContractItem::Const(c) = item { Some(c) } else { None })
            .collect();
        self.local_constants(c, &consts);
        let ghost = Declare {
            kind: StreamKind::Local,
            role: Role::State,
            free: false,
            status: ConditionStatus::Claimed,
        };
        for item in &spec.contract.items {
            match item {
                ContractItem::Ghost { vars, value, span } => {
                    for decl in vars {
                        // A ghost variable may hide a local variable of the same name inside the
                        // contract.
                        self.declare(c, decl, ghost);
                    }
                    spec.ghosts.push((vars, *value, *span));
                }
                ContractItem::Mode { name, span, .. } => {
                    let full = self.instances[c].named(&format!(
                        "{}mode {}",
                        spec.prefix,
                        self.word(name.word)
                    ));
                    let clock = self.instances[c].clock;
                    let stream = self.stream(NewStream {
                        name: full,
                        sort: gander_term::Sort::Bool,
                        kind: StreamKind::Local,
                        role: Role::State,
                        clock,
                        range: None,
                        span: *span,
                        free: false,
                    });
                    spec.modes.push(stream);
                }
                _ => {}
            }
        }
        // Arguments of imported contracts may refer to modes.
        let own = mode_names(spec.contract).into_iter().zip(&spec.modes);
        self.instances[c].modes =
            own.map(|(name, &stream)| (vec![name], self.read(stream))).collect();
        let mut imported = Vec::new();
        for item in &spec.contract.items {
            if let ContractItem::Import { contract, type_args, inputs, outputs, span } = item {
                imported.extend(self.import(
                    spec,
                    node,
                    *contract,
                    type_args,
                    (inputs, outputs),
                    *span,
                ));
            }
        }
        imported
    }

    fn import(
        &mut self,
        spec: &Spec<'a>,
        node: usize,
        name: Name,
        type_args: &[TypeId],
        (inputs, outputs): (&[ExprId], &[ExprId]),
        span: Span,
    ) -> Option<Spec<'a>> {
        let globals = self.globals;
        let text = self.word(name.word);
        let Some(&number) = globals.contract_of.get(&name.word) else {
            let near = nearest(text, globals.contracts.iter().map(|c| self.file.text(c.name.word)));
            self.report.add(
                Diagnostic::new(Code::E1304, name.span, format!("unknown contract `{text}`"))
                    .did_you_mean(near),
            );
            return None;
        };
        let decl = globals.contracts[number];
        let at = Some(spec.instance);
        let given: Vec<Val> = inputs.iter().chain(outputs).map(|&e| self.eval(at, e)).collect();
        if given.iter().any(Val::is_error) {
            return None;
        }
        let given = self.flattened(&given);
        let declared: Vec<&VarDecl> = decl.inputs.iter().chain(&decl.outputs).collect();
        if given.len() != declared.len() {
            let message = format!(
                "`{text}` takes {} inputs and outputs, not {}",
                declared.len(),
                given.len()
            );
            self.report.add(
                Diagnostic::new(Code::E1402, span, message).label(decl.name.span, "declared here"),
            );
            return None;
        }
        let (path, clock) = (self.instances[node].path.clone(), self.instances[node].clock);
        let i = self.instances.len();
        self.instances.push(Instance::new(Body::Contract, self.instances[node].place, path, clock));
        for (param, ty) in decl.type_params.iter().zip(type_args) {
            let resolved = self.resolve(at, *ty);
            self.instances[i].type_args.push((param.word, resolved));
        }
        if decl.type_params.len() != type_args.len() {
            let n = decl.type_params.len();
            self.error(
                Code::E1402,
                span,
                format!("`{text}` takes {n} type arguments, not {}", type_args.len()),
            );
            return None;
        }
        for (decl, value) in declared.into_iter().zip(given) {
            let Resolved { ty, .. } = self.resolve(Some(i), decl.ty);
            if ty != value.ty {
                let input = self.word(decl.name.word);
                self.mismatch(
                    span,
                    &format!("`{input}` of the contract and what is given for it"),
                    ty,
                    value.ty,
                );
                if ty != ERROR {
                    return None;
                }
            }
            self.instances[i].scope.insert(decl.name.word, value);
        }
        let mut words = spec.words.clone();
        words.push(name.word);
        Some(Spec {
            instance: i,
            contract: &decl.contract,
            prefix: format!("{}{text}.", spec.prefix),
            words,
            ghosts: Vec::new(),
            modes: Vec::new(),
        })
    }

    fn elaborate_contract(
        &mut self,
        spec: &Spec<'a>,
        assumed: &mut Vec<Clause>,
        guaranteed: &mut Vec<Clause>,
        requirements: &mut Vec<Cell>,
    ) {
        let at = Some(spec.instance);
        for &(vars, value, span) in &spec.ghosts {
            self.define_ghosts(spec.instance, vars, value, span);
        }
        let (mut assumptions, mut guarantees, mut mode) = (0, 0, 0);
        for item in &spec.contract.items {
            match item {
                ContractItem::Assume(clause) => {
                    assumptions += 1;
                    let given = clause
                        .name
                        .as_ref()
                        .map_or(format!("assume[{assumptions}]"), |(n, _)| n.clone());
                    assumed.extend(self.clause(at, clause, format!("{}{given}", spec.prefix)));
                }
                ContractItem::Guarantee(clause) => {
                    guarantees += 1;
                    let given = clause
                        .name
                        .as_ref()
                        .map_or(format!("guarantee[{guarantees}]"), |(n, _)| n.clone());
                    guaranteed.extend(self.clause(at, clause, format!("{}{given}", spec.prefix)));
                }
                ContractItem::Mode { name, requires, ensures, span } => {
                    let text = self.word(name.word);
                    let cells: Vec<Cell> = requires
                        .iter()
                        .filter_map(|r| {
                            self.clause(at, r, String::new()).and_then(|c| c.value.cell())
                        })
                        .collect();
                    let required = self.lift(Op::And, &cells);
                    if let Some(&stream) = spec.modes.get(mode) {
                        self.define(stream, required, *span);
                        let active = self.read(stream);
                        requirements.push(active);
                        for (n, ensure) in ensures.iter().enumerate() {
                            let given = ensure
                                .name
                                .as_ref()
                                .map_or(format!("ensure[{}]", n + 1), |(n, _)| n.clone());
                            let name = format!("{}{text}.{given}", spec.prefix);
                            let Some(clause) = self.clause(at, ensure, name) else { continue };
                            let Some(cell) = clause.value.cell() else { continue };
                            let implied = self.lift(Op::Implies, &[active, cell]);
                            guaranteed.push(Clause {
                                value: Val::one(BOOL, clause.value.clock, implied),
                                ..clause
                            });
                        }
                    }
                    mode += 1;
                }
                ContractItem::Decreases(_, span) => {
                    self.unsupported(*span, "`decreases`, the measure of a recursive function")
                }
                ContractItem::Const(_)
                | ContractItem::Ghost { .. }
                | ContractItem::Import { .. } => {}
            }
        }
    }

    fn clause(&mut self, at: At, clause: &ContractClause, name: String) -> Option<Clause> {
        let value = self.eval_bool(at, clause.expr, "a formula of a contract");
        (!value.is_error()).then_some(Clause { name, value, span: clause.span })
    }

    fn define_ghosts(&mut self, c: usize, vars: &[VarDecl], value: ExprId, span: Span) {
        let value = self.eval(Some(c), value);
        if value.is_error() {
            return;
        }
        let parts = self.flattened(std::slice::from_ref(&value));
        if parts.len() != vars.len() {
            self.error(
                Code::E1402,
                span,
                format!(
                    "{} variables on the left, {} values on the right",
                    vars.len(),
                    parts.len()
                ),
            );
            return;
        }
        for (decl, part) in vars.iter().zip(parts) {
            let Some(&variable) = self.instances[c].vars.get(&decl.name.word) else { continue };
            if variable.ty != part.ty {
                let text = self.word(decl.name.word);
                self.mismatch(
                    span,
                    &format!("the type of `{text}` and that of its value"),
                    variable.ty,
                    part.ty,
                );
                continue;
            }
            for (k, &cell) in part.cells().iter().enumerate() {
                self.define(StreamId(variable.first.0 + k as u32), cell, span);
            }
        }
    }

    /// Adds the claims and assumptions of a contract, depending on whether the instance is the
    /// root.
    fn use_contract(
        &mut self,
        i: usize,
        node: &Node,
        span: Span,
        assumed: Vec<Clause>,
        guaranteed: Vec<Clause>,
        requirements: &[Cell],
    ) {
        let (place, clock) = (self.instances[i].place, self.instances[i].clock);
        let text = self.word(node.name.word);
        if place == Place::Root {
            for clause in &assumed {
                self.assume(clause.name.clone(), &clause.value, clock, clause.span);
            }
            for clause in &guaranteed {
                let text = self.source(clause.span);
                self.claim_always(
                    clause.name.clone(),
                    text,
                    &clause.value,
                    clock,
                    clause.span,
                    ClaimRole::Guarantee,
                );
            }
            if !requirements.is_empty() {
                let some = self.lift(Op::Or, requirements);
                let value = Val::one(BOOL, None, some);
                let name = format!("modes of {text} cover all cases");
                self.claim_always(
                    name,
                    "some mode is active".to_string(),
                    &value,
                    clock,
                    span,
                    ClaimRole::Modes,
                );
            }
            return;
        }
        let mut cells: Vec<Cell> = assumed.iter().filter_map(|a| a.value.cell()).collect();
        let known_by_contract = node.imported || self.is_abstract(i);
        for clause in &assumed {
            let name = self.instances[i].named(&clause.name);
            let text = self.source(clause.span);
            self.claim_always(name, text, &clause.value, clock, clause.span, ClaimRole::Assumption);
        }
        // An imported node has no proof: its declared ranges are assumed without a condition. The
        // guarantees and output ranges of an abstracted node are proved under the ranges of its
        // inputs, so they are assumed only as long as those have held.
        let boundary =
            if self.is_abstract(i) { self.settle_boundary(i) } else { Boundary::default() };
        cells.extend(boundary.inputs);
        let all = self.lift(Op::And, &cells);
        let so_far = if self.is_true(all) { None } else { Some(self.so_far(i, all, span)) };
        for clause in &guaranteed {
            let Some(cell) = clause.value.cell() else { continue };
            let cell = match so_far {
                Some(so_far) => self.lift(Op::Implies, &[so_far, cell]),
                None => cell,
            };
            let value = Val::one(BOOL, None, cell);
            let name = self.instances[i].named(&clause.name);
            if known_by_contract {
                self.assume(name, &value, clock, clause.span);
            } else {
                let text = self.source(clause.span);
                self.claim_always(name, text, &value, clock, clause.span, ClaimRole::Guarantee);
            }
        }
        for (name, cell, span) in boundary.outputs {
            let cell = match so_far {
                Some(so_far) => self.lift(Op::Implies, &[so_far, cell]),
                None => cell,
            };
            self.assume(name, &Val::one(BOOL, None, cell), clock, span);
        }
    }

    /// True as long as another formula has held at every instant so far.
    fn so_far(&mut self, i: usize, all: Cell, span: Span) -> Cell {
        let (path, clock) = (self.instances[i].path.clone(), self.instances[i].clock);
        let name = self.numbered(&path, "assumed");
        let stream = self.named(name, all, clock, span);
        let own = self.read(stream);
        let before = self.previous(own, clock, false, &path, span);
        let yes = self.constant(gander_term::Value::Bool(true));
        let until = self.arrow(yes, before, clock);
        let cell = self.lift(Op::And, &[all, until]);
        if let Some(definition) = &mut self.streams.list[stream.index()].definition {
            definition.cell = cell;
        }
        if self.clocks.on(clock).is_none() {
            let name = self.streams.get(stream).name.clone();
            self.hints.push((name, own.first, span));
        }
        own
    }

    /// `::mode`, `::contract::mode`: true while the mode is active.
    pub(in crate::lustre::elaborate) fn mode_reference(
        &mut self,
        at: At,
        path: &[Name],
        span: Span,
    ) -> Val {
        let words: Vec<Word> = path.iter().map(|n| n.word).collect();
        let Some(i) = at else { return Val::error() };
        let found = self.instances[i]
            .modes
            .iter()
            .find(|(known, _)| *known == words)
            .map(|(_, cell)| *cell);
        match found {
            Some(cell) => Val::one(BOOL, Some(self.instances[i].clock), cell),
            None => {
                let text: Vec<&str> = words.iter().map(|&w| self.word(w)).collect();
                self.error(Code::E1303, span, format!("unknown mode `::{}`", text.join("::")));
                Val::error()
            }
        }
    }
}

/// The names of the modes of a contract, in order.
fn mode_names(contract: &Contract) -> Vec<Word> {
    contract
        .items
        .iter()
        .filter_map(
            |item| if let ContractItem::Mode { name, .. } = item { Some(name.word) } else { None },
        )
        .collect()
}

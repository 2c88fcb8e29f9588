//! The body of a node: equations, assertions, properties.

use gander_system::StreamKind;
use gander_term::{Op, TermId, Value};

use crate::diagnostics::diagnostic::Diagnostic;
use crate::lustre::ast::*;
use crate::lustre::elaborate::expressions::aggregates::Selection;
use crate::lustre::elaborate::expressions::values::{Cell, ClockId, Val};
use crate::lustre::elaborate::nodes::instances::{Place, Variable};
use crate::lustre::elaborate::system::model::{Formula, Goal, Model};
use crate::lustre::elaborate::system::streams::StreamId;
use crate::lustre::elaborate::types::layout::{BOOL, INT, Shape, Ty};
use crate::lustre::elaborate::walk;
use crate::lustre::modules::ClaimRole;
use crate::{Code, Span, nearest};

/// The target of an equation: a part of a variable, or one part for every index.
struct Part {
    variable: Variable,
    ty: Ty,
    offset: usize,
}

/// What the index variables of a definition of all elements range over, in the order of the path.
#[derive(Default)]
struct IndexRanges {
    /// Variables over known sizes.
    sizes: Vec<(Word, u32)>,
    /// Variables over unknown sizes.
    open: Vec<(Word, TermId)>,
}

impl IndexRanges {
    fn has(&self, word: Word) -> bool {
        self.sizes.iter().any(|(w, _)| *w == word) || self.open.iter().any(|(w, _)| *w == word)
    }
}

impl<'a> Model<'a> {
    /// Elaborates all statements of a node.
    pub(in crate::lustre::elaborate) fn body(&mut self, i: usize, node: &'a Node) {
        for statement in &node.body {
            if self.stopped {
                return;
            }
            match statement {
                Statement::If { branches, arms, otherwise, span } => {
                    self.if_block(i, *branches, arms, otherwise, *span)
                }
                Statement::Frame { vars, initial, body, span } => {
                    self.frame_block(i, vars, initial, body, *span)
                }
                Statement::Equation(equation) => self.equation(i, equation),
                Statement::Assert { expr, span } => {
                    let value = self.eval_bool(Some(i), *expr, "an assertion");
                    let clock = value.clock.unwrap_or(self.instances[i].clock);
                    let name = self.instances[i].named("assertion");
                    let line = self.line(*span);
                    let name = format!("{name} of line {line}");
                    if self.read_by_jkind && self.instances[i].place == Place::Called {
                        self.assertion_of_called_node(name, &value, clock, *span);
                    } else {
                        self.assume(name, &value, clock, *span);
                    }
                }
                Statement::Property(property) => self.property(i, property),
                Statement::Main(_) | Statement::Ivc(_) | Statement::Realizable(..) => {}
            }
        }
    }

    /// An assertion in a called node, which JKind ignores and Kind 2 assumes.
    fn assertion_of_called_node(&mut self, name: String, value: &Val, clock: ClockId, span: Span) {
        let Some(cell) = value.cell().filter(|_| value.ty == BOOL) else { return };
        let text = self.source(span);
        self.called_assertions.push(Formula { name, text, cell, clock, span });
        self.report.add(
            Diagnostic::new(
                Code::W0821,
                span,
                "JKind ignores an `assert` in a called node, Kind 2 assumes it",
            )
            .help(
                "write it in the main node, where both assume it; a claim that depends on it here is `unknown`",
            ),
        );
    }

    /// The line of a span, counted from 1.
    pub(in crate::lustre::elaborate) fn line(&self, span: Span) -> usize {
        let text = self.globals.text.as_bytes();
        let end = (span.start as usize).min(text.len());
        match self.globals.lines.binary_search(&(end as u32)) {
            Ok(line) => line + 1,
            Err(line) => line,
        }
    }

    fn property(&mut self, i: usize, property: &Property) {
        let at = Some(i);
        let mut value = self.eval_bool(at, property.expr, "a property");
        if value.is_error() {
            return;
        }
        let mut condition = None;
        if let Some(provided) = property.provided {
            let given = self.eval_bool(at, provided, "a condition");
            if given.is_error() {
                return;
            }
            condition = Some((given.clone(), self.file.expr(provided).span));
            value = self.scalar(Op::Implies, BOOL, &[&given, &value], property.span);
        }
        let clock = value.clock.unwrap_or(self.instances[i].clock);
        let name = match &property.name {
            Some((name, _)) => name.clone(),
            None => {
                let mut text = self.source(self.file.expr(property.expr).span);
                if let Some((cut, _)) = text.char_indices().nth(60) {
                    text.truncate(cut);
                    text.push('…');
                }
                text
            }
        };
        let name = self.instances[i].named(&name);
        let text = self.source(property.span);
        let goal = match &property.kind {
            PropertyKind::Always => Goal::Always,
            PropertyKind::Reachable(reach) => {
                value = self.timed(i, value, reach, property.span);
                Goal::Reachable
            }
        };
        self.claim(name, text, &value, clock, property.span, (goal, ClaimRole::Inner));
        if let (Some((given, span)), Some(claimed)) = (condition, self.obligations.last())
            && let Some(cell) = given.cell()
        {
            let (name, text) = (claimed.formula.name.clone(), self.source(span));
            self.conditions.push(Formula { name, text, cell, clock, span });
        }
    }

    /// A goal that must be reached at certain steps. Counts steps up to the last one that matters.
    fn timed(&mut self, i: usize, value: Val, reach: &Reach, span: Span) -> Val {
        let from = reach.at.or(reach.from);
        let within = reach.at.or(reach.within);
        let Some(top) = from.max(within) else { return value };
        let Some(goal) = value.cell() else { return value };
        let path = self.path_at(Some(i));
        let name = self.numbered(&path, "step");
        let zero = self.constant(Value::Int(0.into()));
        let counter =
            self.named(name, zero, crate::lustre::elaborate::expressions::values::BASE, span);
        let current = self.streams.get(counter).current;
        let (one, stop) = (self.builder.pool.int(1), self.builder.pool.int(top.saturating_add(1)));
        let more = self.mk(Op::Add, &[current, one]);
        let full = self.mk(Op::Ge, &[current, stop]);
        let later = self.mk(Op::Ite, &[full, current, more]);
        if let Some(definition) = &mut self.streams.list[counter.index()].definition {
            definition.cell = Cell { first: zero.first, later, instant: false };
        }
        let now = self.read(counter);
        let mut parts = vec![goal];
        for (bound, op) in [(from, Op::Ge), (within, Op::Le)] {
            if let Some(bound) = bound {
                let bound = self.constant(Value::Int(bound.into()));
                parts.push(self.lift(op, &[now, bound]));
            }
        }
        Val::one(BOOL, value.clock, self.lift(Op::And, &parts))
    }

    pub(in crate::lustre::elaborate) fn equation(&mut self, i: usize, equation: &Equation) {
        if let Some((target, binders)) = self.array_definition(i, equation) {
            self.define_elements(i, equation, target, &binders);
            return;
        }
        let value = self.eval(Some(i), equation.right);
        let mut parts = Vec::new();
        for target in &equation.left {
            match self.target(i, target) {
                Some(part) => parts.push(part),
                None => return,
            }
        }
        if value.is_error() {
            // Avoid follow-up errors: the variables count as defined.
            for part in &parts {
                self.mark_defined(part, equation.span);
            }
            return;
        }
        let declared = parts.iter().map(|p| p.ty).collect();
        let declared = self.types.list(declared);
        if declared != value.ty {
            let (a, b) = (self.type_name(declared), self.type_name(value.ty));
            let span = self.file.expr(equation.right).span;
            let names: Vec<String> =
                equation.left.iter().map(|t| format!("`{}`", self.source(t.span))).collect();
            let (n, m) = (self.types.parts(declared).len(), self.types.parts(value.ty).len());
            let code = if n == m { Code::E1401 } else { Code::E1402 };
            let message = if n == m {
                format!("{} is a `{a}`, but its definition is a `{b}`", names.join(", "))
            } else {
                format!("{n} variables on the left, {m} values on the right")
            };
            self.report.add(
                Diagnostic::new(code, span, message)
                    .label(equation.left.first().map_or(span, |t| t.span), format!("`{a}`")),
            );
            for part in &parts {
                self.mark_defined(part, equation.span);
            }
            return;
        }
        let mut cells = value.cells().iter();
        for part in parts {
            let clock = self.streams.get(part.variable.first).clock;
            self.join(value.clock, Some(clock), equation.span);
            for k in 0..self.types.width(part.ty) {
                if let Some(&cell) = cells.next() {
                    self.define(stream(&part, k), cell, equation.span);
                }
            }
        }
    }

    fn mark_defined(&mut self, part: &Part, span: Span) {
        for k in 0..self.types.width(part.ty) {
            let id = stream(part, k);
            if self.streams.get(id).definition.is_none() {
                let cell = self.read(id);
                self.define(id, cell, span);
            }
        }
    }

    /// The part of a variable that a target names.
    fn target(&mut self, i: usize, target: &Target) -> Option<Part> {
        let variable = self.defined_variable(i, target)?;
        let mut part = Part { variable, ty: variable.ty, offset: 0 };
        for selector in &target.path {
            let index = match selector {
                Selector::Index(e) => Some(self.eval(Some(i), *e)),
                _ => None,
            };
            match self.selection(part.ty, selector, index.as_ref(), target.span)? {
                crate::lustre::elaborate::expressions::aggregates::Selection::Fixed(offset, ty) => {
                    part.offset += offset;
                    part.ty = ty;
                }
                // This index occurs only in a definition of all elements.
                crate::lustre::elaborate::expressions::aggregates::Selection::Open {
                    index,
                    element,
                    ..
                } if self.binders.iter().any(|b| b.term == index.first) => {
                    part.ty = element;
                }
                crate::lustre::elaborate::expressions::aggregates::Selection::Open { .. } => {
                    let message = "the elements of an array of unknown size are defined together";
                    self.report.add(
                        Diagnostic::new(Code::E1404, target.span, message)
                            .help("`A[i] = e;` with a new name `i` defines all of them"),
                    );
                    return None;
                }
                crate::lustre::elaborate::expressions::aggregates::Selection::Element {
                    ..
                } => {
                    self.error(
                        Code::E1404,
                        target.span,
                        "the index on the left of an equation must be a known constant",
                    );
                    return None;
                }
            }
        }
        Some(part)
    }

    /// The variable that a target defines; inputs and constants cannot be defined.
    fn defined_variable(&mut self, i: usize, target: &Target) -> Option<Variable> {
        let text = self.word(target.name.word);
        match self.instances[i].vars.get(&target.name.word).copied() {
            Some(variable) if variable.kind == StreamKind::Input => {
                self.report.add(
                    Diagnostic::new(
                        Code::E1503,
                        target.name.span,
                        format!("the input `{text}` cannot be defined"),
                    )
                    .label(variable.span, "declared as an input"),
                );
                None
            }
            Some(variable) => Some(variable),
            None => {
                // A variable whose type has an error is declared, but has no streams.
                let known = self.lookup(Some(i), target.name.word);
                if known.as_ref().is_some_and(|v| !v.is_error()) {
                    self.error(
                        Code::E1503,
                        target.name.span,
                        format!("the constant `{text}` cannot be defined here"),
                    );
                } else if known.is_none() {
                    let mut words: Vec<Word> = self.instances[i].vars.keys().copied().collect();
                    words.sort();
                    let near = nearest(text, words.iter().map(|&w| self.file.text(w)));
                    self.report.add(
                        Diagnostic::new(
                            Code::E1303,
                            target.name.span,
                            format!("unknown name `{text}`"),
                        )
                        .did_you_mean(near),
                    );
                }
                None
            }
        }
    }

    /// The target and index variables, if an equation defines all elements of an array.
    fn array_definition<'e>(
        &mut self,
        i: usize,
        equation: &'e Equation,
    ) -> Option<(&'e Target, Vec<Word>)> {
        let [target] = &equation.left[..] else { return None };
        let mut binders = Vec::new();
        for index in walk::indices(&target.path) {
            if let ExprKind::Name(name) = &self.file.expr(index).kind
                && self.lookup(Some(i), name.word).is_none()
            {
                binders.push(name.word);
            }
        }
        (!binders.is_empty()).then_some((target, binders))
    }

    /// What the index variables of a target of type `ty` range over; `None` after an error.
    fn index_ranges(&mut self, ty: Ty, target: &Target, binders: &[Word]) -> Option<IndexRanges> {
        let mut ranges = IndexRanges::default();
        let mut ty = ty;
        for selector in &target.path {
            match (selector, self.types.shape(ty).clone()) {
                (Selector::Index(e), shape @ (Shape::Open(..) | Shape::Array(..))) => {
                    if let ExprKind::Name(name) = &self.file.expr(*e).kind
                        && binders.contains(&name.word)
                    {
                        if ranges.has(name.word) {
                            let text = self.word(name.word);
                            let message = format!("the index `{text}` is used twice");
                            self.error(Code::E1301, target.span, message);
                            return None;
                        }
                        match shape {
                            Shape::Open(_, size) => ranges.open.push((name.word, size)),
                            Shape::Array(_, size) => ranges.sizes.push((name.word, size)),
                            _ => {}
                        }
                    }
                    if let Shape::Open(element, _) | Shape::Array(element, _) = shape {
                        ty = element;
                    }
                }
                (selector, _) => {
                    let index = self.int(0);
                    match self.selection(ty, selector, Some(&index), target.span) {
                        Some(Selection::Fixed(_, part)) => ty = part,
                        _ => return None,
                    }
                }
            }
        }
        Some(ranges)
    }

    /// `A[i] = e`: one equation for every element.
    fn define_elements(
        &mut self,
        i: usize,
        equation: &Equation,
        target: &Target,
        binders: &[Word],
    ) {
        let Some(variable) = self.defined_variable(i, target) else { return };
        let Some(IndexRanges { sizes, open }) = self.index_ranges(variable.ty, target, binders)
        else {
            return;
        };
        let total = sizes.iter().map(|&(_, n)| n as usize).fold(1, usize::saturating_mul);
        if !self.spend(total, equation.span) {
            return;
        }
        for k in 0..total {
            let depth = self.bindings.len();
            let mut rest = k;
            for &(word, size) in sizes.iter().rev() {
                let value = self.int((rest % size as usize) as u64);
                rest /= size as usize;
                self.bindings.push((word, value));
            }
            let around = self.binders.len();
            for &(word, size) in &open {
                let binder = self.binder(self.file.text(word), size);
                let value = self.bound_index(binder);
                self.bindings.push((word, value));
                self.binders.push(binder);
            }
            let value = self.eval(Some(i), equation.right);
            let part = self.target(i, target);
            self.bindings.truncate(depth);
            let over = self.binders.split_off(around);
            let Some(part) = part else { return };
            if value.is_error() || value.ty != part.ty {
                if !value.is_error() {
                    let span = self.file.expr(equation.right).span;
                    self.mismatch(
                        span,
                        "an element of the array and its definition",
                        part.ty,
                        value.ty,
                    );
                }
                let all = Part { variable, ty: variable.ty, offset: 0 };
                self.mark_defined(&all, equation.span);
                return;
            }
            let clock = self.streams.get(variable.first).clock;
            self.join(value.clock, Some(clock), equation.span);
            for (n, &cell) in value.cells().iter().enumerate() {
                if over.is_empty() {
                    self.define(stream(&part, n), cell, equation.span);
                } else {
                    self.define_for_all(stream(&part, n), cell, &over, equation.span);
                }
            }
        }
    }

    /// Bounds on a quantified int in the body: `0 <= i and i < n => …` for `forall`, `0 <= i and i
    /// < n and …` for `exists`.
    ///
    /// Ignores a bound that mentions another variable of the same quantifier: its value is not
    /// known here, and a constant may have the same name.
    pub(in crate::lustre::elaborate) fn guard_bounds(
        &mut self,
        at: crate::lustre::elaborate::types::resolve::At,
        word: Word,
        kind: QuantifierKind,
        (vars, body): (&[(Name, TypeId)], ExprId),
    ) -> (Option<gander_term::IBig>, Option<gander_term::IBig>) {
        let file = self.file;
        let mut stack = match (&file.expr(body).kind, kind) {
            (ExprKind::Binary(Binary::Implies, guard, _), QuantifierKind::Forall) => vec![*guard],
            (_, QuantifierKind::Exists) => vec![body],
            _ => Vec::new(),
        };
        let (mut low, mut high) = (None, None);
        while let Some(id) = stack.pop() {
            let ExprKind::Binary(op, a, b) = file.expr(id).kind else { continue };
            let is_variable =
                |e: ExprId| matches!(&file.expr(e).kind, ExprKind::Name(n) if n.word == word);
            let (op, other) = match op {
                Binary::And => {
                    stack.extend([a, b]);
                    continue;
                }
                _ if is_variable(a) => (op, b),
                Binary::Lt if is_variable(b) => (Binary::Gt, a),
                Binary::Le if is_variable(b) => (Binary::Ge, a),
                Binary::Gt if is_variable(b) => (Binary::Lt, a),
                Binary::Ge if is_variable(b) => (Binary::Le, a),
                _ => continue,
            };
            let mut simple = true;
            walk::below(file, &[other], |e| {
                simple &= match &file.expr(e).kind {
                    ExprKind::Int(_)
                    | ExprKind::Binary(Binary::Add | Binary::Sub | Binary::Mul, _, _) => true,
                    ExprKind::Name(n) => {
                        !vars.iter().any(|(v, _)| v.word == n.word)
                            && self.lookup(at, n.word).is_some_and(|v| v.ty == INT)
                    }
                    ExprKind::Unary(Unary::Neg, _) => true,
                    _ => false,
                };
            });
            if !simple {
                continue;
            }
            let value = self.eval(at, other);
            let Some(limit) = self.known_int(&value) else { continue };
            let one = gander_term::IBig::ONE;
            match op {
                Binary::Ge => low = low.max(Some(limit)),
                Binary::Gt => low = low.max(Some(limit + one)),
                Binary::Le => {
                    high = Some(
                        high.map_or(limit.clone(), |h: gander_term::IBig| h.min(limit.clone())),
                    )
                }
                Binary::Lt => {
                    let limit = limit - one;
                    high = Some(
                        high.map_or(limit.clone(), |h: gander_term::IBig| h.min(limit.clone())),
                    );
                }
                _ => {}
            }
        }
        (low, high)
    }
}

fn stream(part: &Part, k: usize) -> StreamId {
    StreamId(part.variable.first.0 + (part.offset + k) as u32)
}

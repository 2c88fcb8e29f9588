//! Evaluates an expression in an instance.
//!
//! An expression may be a million operators deep, so evaluation uses two explicit stacks, of work
//! and of values: `Visit` pushes the parts of an expression, and `Build` combines their values.

use gander_term::{IBig, Op, Value};

use crate::diagnostics::diagnostic::Diagnostic;
use crate::lustre::ast::*;
use crate::lustre::elaborate::expressions::values::{BASE, Cell, ClockId, Val};
use crate::lustre::elaborate::system::model::Model;
use crate::lustre::elaborate::types::layout::{BOOL, ERROR, INT, REAL, Shape};
use crate::lustre::elaborate::types::resolve::{At, TypeCondition};
use crate::lustre::elaborate::walk;
use crate::{Code, Span, nearest};

/// An item of work.
enum Work {
    Visit(ExprId),
    /// Build an expression from its parts, the topmost values: this many.
    Build(ExprId, usize),
    /// Build a chain of one connective from this many operands.
    Chain(ExprId, Op, usize),
    /// Build a long chain of sums and differences: its expressions, the innermost first.
    Sum(Vec<ExprId>),
    /// Bind an index variable to a value.
    Bind(Word, Val),
    Unbind,
    /// Visit the branches of a lazy choice; its condition is the topmost value.
    Branch(ExprId),
    /// Enter a branch that is evaluated only if this holds.
    Under(Cell),
    /// Leave the branch.
    Always,
    /// Visit the arms of a `match`; the matched value is the topmost value.
    Match(ExprId),
    /// Build a `match` from the values of its arms: the condition of each arm, and the clock of the
    /// matched value.
    Choose(ExprId, Vec<Cell>, Option<ClockId>),
    /// Build a quantifier that is not expanded.
    Quantify(ExprId, Vec<gander_term::SymbolId>, Val),
}

impl Model<'_> {
    /// The value of an expression; an error value if a diagnostic was given.
    pub(in crate::lustre::elaborate) fn eval(&mut self, at: At, root: ExprId) -> Val {
        let mut work = vec![Work::Visit(root)];
        let mut values: Vec<Val> = Vec::new();
        let (depth, pure, lazy) = (self.bindings.len(), self.pure_depth, self.lazy.len());
        let binders = self.binders.len();
        while let Some(item) = work.pop() {
            if self.stopped {
                self.bindings.truncate(depth);
                self.binders.truncate(binders);
                self.pure_depth = pure;
                self.lazy.truncate(lazy);
                return Val::error();
            }
            match item {
                Work::Visit(id) => self.visit(at, id, &mut work, &mut values),
                Work::Build(id, count) => {
                    let parts = values.split_off(values.len() - count);
                    let value = self.build(at, id, parts);
                    let cells = value.cells().len();
                    self.spend(cells.max(1), self.file.expr(id).span);
                    values.push(value);
                }
                Work::Chain(id, op, count) => {
                    let parts = values.split_off(values.len() - count);
                    values.push(self.chain(id, op, &parts));
                }
                Work::Sum(chain) => {
                    let parts = values.split_off(values.len() - chain.len() - 1);
                    values.push(self.sum(at, &chain, &parts));
                }
                Work::Bind(word, value) => self.bindings.push((word, value)),
                Work::Unbind => {
                    self.bindings.pop();
                }
                Work::Branch(id) => self.branch(id, &values, &mut work),
                Work::Under(condition) => self.evaluate_if(condition),
                Work::Always => {
                    self.lazy.pop();
                }
                Work::Match(id) => {
                    let value = values.pop().unwrap_or_else(Val::error);
                    match self.open_match(id, &value) {
                        Some(arms) => {
                            let when = arms.iter().map(|arm| arm.when).collect();
                            work.push(Work::Choose(id, when, value.clock));
                            for arm in arms.into_iter().rev() {
                                work.extend(arm.bound.iter().map(|_| Work::Unbind));
                                work.push(Work::Visit(arm.body));
                                work.extend(
                                    arm.bound
                                        .into_iter()
                                        .map(|(word, value)| Work::Bind(word, value)),
                                );
                            }
                        }
                        None => values.push(Val::error()),
                    }
                }
                Work::Choose(id, when, clock) => {
                    let arms = values.split_off(values.len() - when.len());
                    let value = self.close_match(id, &when, clock, &arms);
                    self.spend(value.cells().len() * when.len() + 1, self.file.expr(id).span);
                    values.push(value);
                }
                Work::Quantify(id, symbols, domain) => {
                    self.pure_depth -= 1;
                    self.binders.truncate(self.binders.len() - symbols.len());
                    let body = values.pop().unwrap_or_else(Val::error);
                    values.push(self.quantify(id, &symbols, &domain, &body));
                }
            }
        }
        values.pop().unwrap_or_else(Val::error)
    }

    /// The value of a condition; reports one that is not a bool.
    pub(in crate::lustre::elaborate) fn eval_bool(
        &mut self,
        at: At,
        expr: ExprId,
        what: &str,
    ) -> Val {
        let value = self.eval(at, expr);
        if value.ty != BOOL && !value.is_error() {
            let name = self.type_name(value.ty);
            self.error(
                Code::E1401,
                self.file.expr(expr).span,
                format!("{what} is a bool, not a `{name}`"),
            );
            return Val::error();
        }
        value
    }

    fn visit(&mut self, at: At, id: ExprId, work: &mut Vec<Work>, values: &mut Vec<Val>) {
        let file = self.file;
        let expr = file.expr(id);
        match &expr.kind {
            ExprKind::Binary(op @ (Binary::And | Binary::Or), _, _) => {
                let operands = same_operator(file, id, *op);
                let op = if *op == Binary::And { Op::And } else { Op::Or };
                work.push(Work::Chain(id, op, operands.len()));
                work.extend(operands.into_iter().rev().map(Work::Visit));
            }
            ExprKind::Binary(Binary::Add | Binary::Sub, _, _) => {
                let (first, chain) = sums(file, id);
                if chain.len() < LONG_SUM {
                    let mut parts = Vec::new();
                    walk::children(file, id, &mut parts);
                    work.push(Work::Build(id, parts.len()));
                    work.extend(parts.into_iter().rev().map(Work::Visit));
                    return;
                }
                let right = |&e: &ExprId| match file.expr(e).kind {
                    ExprKind::Binary(_, _, right) => Work::Visit(right),
                    _ => Work::Visit(e),
                };
                let operands: Vec<Work> = chain.iter().rev().map(right).collect();
                work.push(Work::Sum(chain));
                work.extend(operands);
                work.push(Work::Visit(first));
            }
            ExprKind::Quantifier(kind, vars, body) => {
                self.visit_quantifier(at, id, *kind, vars, *body, work)
            }
            ExprKind::Lazy(condition, _, _) => {
                work.push(Work::Build(id, 3));
                work.push(Work::Branch(id));
                work.push(Work::Visit(*condition));
            }
            ExprKind::Match(value, _) => {
                work.push(Work::Match(id));
                work.push(Work::Visit(*value));
            }
            ExprKind::Any { such_that, ty, deterministic } => {
                let value = self.any(at, *ty, *such_that, *deterministic, expr.span);
                values.push(value);
            }
            // Indices in paths are evaluated with the other parts.
            _ => {
                let mut parts = Vec::new();
                walk::children(file, id, &mut parts);
                work.push(Work::Build(id, parts.len()));
                work.extend(parts.into_iter().rev().map(Work::Visit));
            }
        }
    }

    /// Visits the branches of a lazy choice; its condition is the last value.
    fn branch(&mut self, id: ExprId, values: &[Val], work: &mut Vec<Work>) {
        let ExprKind::Lazy(_, then, otherwise) = self.file.expr(id).kind else { return };
        match values.last().filter(|c| c.ty == BOOL).and_then(Val::cell) {
            Some(condition) => {
                let not = self.lift(Op::Not, &[condition]);
                for (branch, condition) in [(otherwise, not), (then, condition)] {
                    work.push(Work::Always);
                    work.push(Work::Visit(branch));
                    work.push(Work::Under(condition));
                }
            }
            None => work.extend([Work::Visit(otherwise), Work::Visit(then)]),
        }
    }

    /// Evaluates what follows only if a condition holds, together with the enclosing conditions.
    pub(in crate::lustre::elaborate) fn evaluate_if(&mut self, condition: Cell) {
        let all = match self.lazy.last() {
            // Not one conjunction: flattening would be quadratic in a chain of choices.
            Some(&around) => {
                let not = self.lift(Op::Not, &[condition]);
                let none = self.lift(Op::Implies, &[around, not]);
                self.lift(Op::Not, &[none])
            }
            None => condition,
        };
        self.lazy.push(all);
    }

    /// A conjunction or disjunction of many operands.
    fn chain(&mut self, id: ExprId, op: Op, parts: &[Val]) -> Val {
        let span = self.file.expr(id).span;
        let word = if op == Op::And { "and" } else { "or" };
        let mut clock = None;
        let mut cells = Vec::with_capacity(parts.len());
        for part in parts {
            match part.cell() {
                Some(cell) if part.ty == BOOL => cells.push(cell),
                _ if part.is_error() => return Val::error(),
                _ => {
                    let name = self.type_name(part.ty);
                    self.error(Code::E1401, span, format!("`{word}` takes bools, not `{name}`"));
                    return Val::error();
                }
            }
            clock = self.join(clock, part.clock, span);
        }
        self.spend(cells.len(), span);
        Val::one(BOOL, clock, self.lift(op, &cells))
    }

    /// A long chain of sums and differences of ints or reals becomes one sum; a chain of other
    /// values is built step by step.
    fn sum(&mut self, at: At, chain: &[ExprId], parts: &[Val]) -> Val {
        if parts.iter().any(Val::is_error) {
            return Val::error();
        }
        let mut cells: Vec<Cell> = Vec::with_capacity(parts.len());
        let ty = parts[0].ty;
        let plain =
            (ty == INT || ty == REAL) && parts.iter().all(|p| p.ty == ty && p.cell().is_some());
        if !plain {
            let mut sum = parts[0].clone();
            for (&id, part) in chain.iter().zip(&parts[1..]) {
                let ExprKind::Binary(op, _, _) = self.file.expr(id).kind else {
                    return Val::error();
                };
                sum = self.binary(at, id, op, &sum, part);
                if sum.is_error() || !self.spend(1, self.file.expr(id).span) {
                    return Val::error();
                }
            }
            return sum;
        }
        let mut clock = None;
        for (k, part) in parts.iter().enumerate() {
            let id = chain[k.saturating_sub(1)];
            clock = self.join(clock, part.clock, self.file.expr(id).span);
            let Some(cell) = part.cell() else { return Val::error() };
            let minus =
                k > 0 && matches!(self.file.expr(id).kind, ExprKind::Binary(Binary::Sub, _, _));
            cells.push(if minus { self.lift(Op::Neg, &[cell]) } else { cell });
        }
        self.spend(cells.len(), self.file.expr(chain[0]).span);
        Val::one(ty, clock, self.lift(Op::Add, &cells))
    }

    fn build(&mut self, at: At, id: ExprId, parts: Vec<Val>) -> Val {
        let file = self.file;
        let expr = file.expr(id);
        let span = expr.span;
        let tolerant = matches!(expr.kind, ExprKind::Call(_) | ExprKind::List(_));
        if !tolerant && parts.iter().any(Val::is_error) {
            return Val::error();
        }
        match &expr.kind {
            ExprKind::Bool(b) => self.truth(*b),
            ExprKind::Int(i) => self.int(i.clone()),
            ExprKind::Real(r) => {
                let cell = self.constant(Value::Real(r.clone()));
                Val::one(REAL, None, cell)
            }
            ExprKind::Name(name) => self.name(at, *name),
            ExprKind::Mode(path) => self.mode_reference(at, path, span),
            ExprKind::Unary(op, _) => self.unary(at, id, *op, &parts[0]),
            ExprKind::Binary(op, _, _) => self.binary(at, id, *op, &parts[0], &parts[1]),
            ExprKind::AtMostOne(_) => self.at_most_one(&parts, span),
            ExprKind::If(..) | ExprKind::Lazy(..) => {
                self.if_then_else(&parts[0], &parts[1], &parts[2], span)
            }
            ExprKind::Cast(to, _) => self.cast(*to, &parts[0], span),
            ExprKind::Call(call) => self.call(at, id, call, parts),
            ExprKind::When(_, clock) => self.sample(at, &parts[0], *clock, span),
            ExprKind::Merge { clock, arms } => self.merge(at, *clock, arms, &parts, span),
            ExprKind::List(_) => self.list(&parts, span),
            ExprKind::Tuple(_) => {
                let types = parts.iter().map(|p| p.ty).collect();
                let ty = self.types.intern(Shape::Tuple(types));
                self.concatenated(ty, &parts, span)
            }
            ExprKind::Component(_, i) => self.component(&parts[0], *i, span),
            ExprKind::Array(_) => self.array(&parts, span),
            ExprKind::Repeat(..) => self.repeat(&parts[0], &parts[1], span),
            ExprKind::Record(name, fields) => self.record(at, *name, fields, &parts, span),
            ExprKind::RecordOf(ty, fields) => {
                let ty = self.resolve(at, *ty).ty;
                self.record_of(ty, fields, &parts, span)
            }
            ExprKind::Field(_, field) => self.field(&parts[0], *field),
            ExprKind::Index(..) => self.index(at, id, &parts[0], &parts[1]),
            ExprKind::Update { path, .. } => self.update(at, path, &parts, span),
            ExprKind::Last(name) => {
                let value = self.name(at, *name);
                self.pre(at, id, &value)
            }
            ExprKind::Unsupported(what) => {
                self.unsupported(span, what);
                Val::error()
            }
            ExprKind::Tester(constructor, _) => self.tester(*constructor, &parts[0]),
            ExprKind::Constructor(name, types) => self.construct(at, *name, types, &[], span),
            ExprKind::Quantifier(..)
            | ExprKind::Any { .. }
            | ExprKind::Match(..)
            | ExprKind::Error => Val::error(),
        }
    }

    /// The value of a name; reports an unknown name.
    pub(in crate::lustre::elaborate) fn name(&mut self, at: At, name: Name) -> Val {
        match self.lookup(at, name.word) {
            Some(value) => value,
            None if self.types.constructors.contains_key(&name.word) => {
                self.construct(at, name, &[], &[], name.span)
            }
            None => {
                self.unknown_name(at, name);
                Val::error()
            }
        }
    }

    /// The value of a word, if it is declared.
    pub(in crate::lustre::elaborate) fn lookup(&mut self, at: At, word: Word) -> Option<Val> {
        if let Some((_, value)) = self.bindings.iter().rev().find(|(bound, _)| *bound == word) {
            return Some(value.clone());
        }
        if let Some(value) = at.and_then(|i| self.instances[i].scope.get(&word)) {
            return Some(value.clone());
        }
        if let Some(value) = self.constants.get(&word) {
            return Some(value.clone());
        }
        self.variant(word)
    }

    /// The variant of an enumeration with this name, even if the name is hidden here.
    fn variant(&mut self, word: Word) -> Option<Val> {
        let &(e, variant) = self.types.variants.get(&word)?;
        let ty = self.types.intern(Shape::Enum(e));
        let cell = self.constant(Value::Enum(self.types.enums[e as usize].sort, variant));
        Some(Val::one(ty, None, cell))
    }

    fn unknown_name(&mut self, at: At, name: Name) {
        let file = self.file;
        let text = file.text(name.word);
        if let Some(&node) = self.globals.node_of.get(&name.word) {
            let decl = self.globals.nodes[node];
            self.report.add(
                Diagnostic::new(Code::E1303, name.span, format!("`{text}` is a node, not a value"))
                    .label(decl.name.span, "declared here")
                    .help(format!("to call it, write `{text}(…)`")),
            );
            return;
        }
        let mut known: Vec<Word> = self.bindings.iter().map(|(word, _)| *word).collect();
        known.extend(at.iter().flat_map(|&i| self.instances[i].scope.keys()));
        known.extend(self.constants.keys());
        known.extend(self.types.variants.keys());
        known.extend(self.types.constructors.keys());
        known.sort();
        let near = nearest(text, known.iter().map(|&w| file.text(w)));
        self.report.add(
            Diagnostic::new(Code::E1303, name.span, format!("unknown name `{text}`"))
                .did_you_mean(near),
        );
    }

    /// A quantifier over finitely many values is expanded; any other becomes a quantifier of the
    /// logic.
    fn visit_quantifier(
        &mut self,
        at: At,
        id: ExprId,
        kind: QuantifierKind,
        vars: &[(Name, TypeId)],
        body: ExprId,
        work: &mut Vec<Work>,
    ) {
        let span = self.file.expr(id).span;
        let op = if kind == QuantifierKind::Forall { Op::And } else { Op::Or };
        let mut choices: Vec<Vec<(Word, Val)>> = vec![Vec::new()];
        for (name, ty) in vars {
            let Some(domain) = self.domain(at, (*name, *ty), kind, (vars, body)) else {
                self.symbolic_quantifier(at, id, vars, body, work);
                return;
            };
            if !self.spend(choices.len().saturating_mul(domain.len()), span) {
                return;
            }
            choices = choices
                .iter()
                .flat_map(|chosen| {
                    domain.iter().map(move |value| {
                        let mut more = chosen.clone();
                        more.push((name.word, value.clone()));
                        more
                    })
                })
                .collect();
        }
        work.push(Work::Chain(id, op, choices.len()));
        for chosen in choices.into_iter().rev() {
            work.extend(chosen.iter().map(|_| Work::Unbind));
            work.push(Work::Visit(body));
            work.extend(chosen.into_iter().map(|(word, value)| Work::Bind(word, value)));
        }
    }

    /// All values of a quantified variable, if its type or a bound in the body makes them finitely
    /// many.
    fn domain(
        &mut self,
        at: At,
        (name, ty): (Name, TypeId),
        kind: QuantifierKind,
        quantified: (&[(Name, TypeId)], ExprId),
    ) -> Option<Vec<Val>> {
        let resolved = self.resolve(at, ty);
        match self.types.shape(resolved.ty).clone() {
            Shape::Bool => Some(vec![self.truth(false), self.truth(true)]),
            Shape::Enum(e) => {
                let variants = self.types.enums[e as usize].variants.clone();
                Some(variants.into_iter().filter_map(|v| self.variant(v)).collect())
            }
            Shape::Int => {
                // A subrange of a subrange: all bounds hold.
                let mut bounds: (Option<IBig>, Option<IBig>) = (None, None);
                for r in &resolved.refinements {
                    let TypeCondition::Bounds { low, high } = r.condition else { return None };
                    bounds.0 = bounds.0.max(self.bound(r.at, low)?);
                    bounds.1 = match (bounds.1, self.bound(r.at, high)?) {
                        (Some(a), Some(b)) => Some(a.min(b)),
                        (a, b) => a.or(b),
                    };
                }
                if resolved.refinements.is_empty() {
                    bounds = self.guard_bounds(at, name.word, kind, quantified);
                }
                let (Some(low), Some(high)) = bounds else { return None };
                let count = if high < low {
                    0
                } else {
                    usize::try_from(&high - &low).ok()?.checked_add(1)?
                };
                if count > crate::lustre::elaborate::system::model::LIMITS.width {
                    return None;
                }
                let mut values = Vec::with_capacity(count);
                let mut i = low;
                for _ in 0..count {
                    values.push(self.int(i.clone()));
                    i += IBig::ONE;
                }
                Some(values)
            }
            _ => None,
        }
    }

    /// A bound: `Some(None)` if it is absent, `None` if it is not a known constant.
    fn bound(&mut self, at: At, expr: Option<ExprId>) -> Option<Option<IBig>> {
        let Some(expr) = expr else { return Some(None) };
        match self.eval(at, expr).cell().and_then(|c| self.known(c)) {
            Some(Value::Int(i)) => Some(Some(i)),
            _ => None,
        }
    }

    fn symbolic_quantifier(
        &mut self,
        at: At,
        id: ExprId,
        vars: &[(Name, TypeId)],
        body: ExprId,
        work: &mut Vec<Work>,
    ) {
        let file = self.file;
        let span = file.expr(id).span;
        let memory = !self.is_pure(body);
        let mut symbols = Vec::new();
        let mut bind = Vec::new();
        let mut domain = self.truth(true);
        for (name, ty) in vars {
            let resolved = self.resolve(at, *ty);
            let sort = self
                .types
                .sort(resolved.ty)
                .filter(|s| !memory && !matches!(s, gander_term::Sort::Array(_)));
            let Some(sort) = sort else {
                self.unsupported(
                    span,
                    "a quantifier over infinitely many values whose body has clocks, `any` or calls of more than functions that are equations, or over a compound type",
                );
                work.push(Work::Chain(id, Op::And, 0));
                return;
            };
            let symbol = self.builder.pool.declare_bound(self.file.text(name.word), sort);
            let term = self.builder.pool.var(symbol);
            let cell = self.rigid(term);
            let value = Val::one(resolved.ty, None, cell);
            if !resolved.refinements.is_empty() {
                let formula = self.condition_on(&value, &resolved.refinements);
                if let (Some(a), Some(b)) = (domain.cell(), formula.cell()) {
                    let both = self.lift(Op::And, &[a, b]);
                    domain = Val::one(BOOL, None, both);
                }
            }
            symbols.push(symbol);
            bind.push((name.word, value));
        }
        self.pure_depth += 1;
        for &symbol in &symbols {
            let term = self.builder.pool.var(symbol);
            self.binders.push(crate::lustre::elaborate::arrays::open_arrays::Binder {
                symbol,
                term,
                size: None,
            });
        }
        work.push(Work::Quantify(id, symbols, domain));
        work.extend(bind.iter().map(|_| Work::Unbind));
        work.push(Work::Visit(body));
        work.extend(bind.into_iter().map(|(word, value)| Work::Bind(word, value)));
    }

    fn quantify(
        &mut self,
        id: ExprId,
        symbols: &[gander_term::SymbolId],
        domain: &Val,
        body: &Val,
    ) -> Val {
        let span = self.file.expr(id).span;
        let ExprKind::Quantifier(kind, _, _) = &self.file.expr(id).kind else {
            return Val::error();
        };
        let (Some(within), Some(cell)) = (domain.cell(), body.cell()) else { return Val::error() };
        if body.ty != BOOL {
            let name = self.type_name(body.ty);
            self.error(
                Code::E1401,
                span,
                format!("the body of a quantifier is a bool, not a `{name}`"),
            );
            return Val::error();
        }
        let forall = *kind == QuantifierKind::Forall;
        let body_cell = self.lift(if forall { Op::Implies } else { Op::And }, &[within, cell]);
        let mut close = |term| {
            let pool = &mut self.builder.pool;
            if forall { pool.forall(symbols, term) } else { pool.exists(symbols, term) }
        };
        let first = close(body_cell.first);
        let later = close(body_cell.later);
        Val::one(BOOL, body.clock, Cell { first, later, instant: body_cell.instant })
    }

    /// The clock of an expression without clocked parts.
    pub(in crate::lustre::elaborate) fn clock_at(&self, at: At) -> ClockId {
        at.map_or(BASE, |i| self.instances[i].clock)
    }

    /// The prefix of names of internal streams.
    pub(in crate::lustre::elaborate) fn path_at(&self, at: At) -> String {
        at.map(|i| self.instances[i].path.clone()).unwrap_or_default()
    }

    /// Reports that two types do not match.
    pub(in crate::lustre::elaborate) fn mismatch(
        &mut self,
        span: Span,
        what: &str,
        a: crate::lustre::elaborate::types::layout::Ty,
        b: crate::lustre::elaborate::types::layout::Ty,
    ) {
        if a != ERROR && b != ERROR {
            let numbers = matches!((a, b), (INT, REAL) | (REAL, INT));
            let (a, b) = (self.type_name(a), self.type_name(b));
            let diagnostic = Diagnostic::new(Code::E1401, span, format!("{what}: `{a}` and `{b}`"));
            self.report.add(match numbers {
                true => diagnostic.help(
                    "write a real number with a point, `1.0`; `real(…)` turns an int into a real",
                ),
                false => diagnostic,
            });
        }
    }

    /// The value of an int that is a known constant.
    pub(in crate::lustre::elaborate) fn known_int(&self, value: &Val) -> Option<IBig> {
        match value.cell().and_then(|c| self.known(c)) {
            Some(Value::Int(i)) if value.ty == INT => Some(i),
            _ => None,
        }
    }
}

/// Chains of fewer sums are built step by step.
const LONG_SUM: usize = 200;

/// The chain of sums and differences in an expression, the innermost first, and its first operand.
/// A chain that is too short is walked again for each of its sums; the length limit bounds that
/// work.
fn sums(file: &File, id: ExprId) -> (ExprId, Vec<ExprId>) {
    let mut chain = Vec::new();
    let mut first = id;
    while let ExprKind::Binary(Binary::Add | Binary::Sub, left, _) = file.expr(first).kind {
        chain.push(first);
        first = left;
    }
    chain.reverse();
    (first, chain)
}

/// The operands of a tree of one operator, in text order.
fn same_operator(file: &File, root: ExprId, op: Binary) -> Vec<ExprId> {
    let mut operands = Vec::new();
    let mut stack = vec![root];
    while let Some(id) = stack.pop() {
        match file.expr(id).kind {
            ExprKind::Binary(o, a, b) if o == op => stack.extend([b, a]),
            _ => operands.push(id),
        }
    }
    operands
}

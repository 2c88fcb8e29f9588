//! Operators: logic, arithmetic, `pre` and `->`, if-then-else, casts. `clocks` defines `pre` and
//! `->` per scalar.

use gander_term::{Op, Sort, Value};

use crate::diagnostics::diagnostic::Diagnostic;
use crate::lustre::ast::*;
use crate::lustre::elaborate::arrays::open_arrays::UndefinedRead;
use crate::lustre::elaborate::expressions::values::{Cell, Val};
use crate::lustre::elaborate::system::model::Model;
use crate::lustre::elaborate::types::layout::{BOOL, INT, REAL, Shape, Ty};
use crate::lustre::elaborate::types::resolve::At;
use crate::{Code, Span};

pub(in crate::lustre::elaborate) fn spelling(op: Binary) -> &'static str {
    match op {
        Binary::And => "and",
        Binary::Or => "or",
        Binary::Xor => "xor",
        Binary::Implies => "=>",
        Binary::Eq => "=",
        Binary::Ne => "<>",
        Binary::Lt => "<",
        Binary::Le => "<=",
        Binary::Gt => ">",
        Binary::Ge => ">=",
        Binary::Add => "+",
        Binary::Sub => "-",
        Binary::Mul => "*",
        Binary::Divide => "/",
        Binary::IntDiv => "div",
        Binary::Mod => "mod",
        Binary::Arrow => "->",
        Binary::Fby => "fby",
        Binary::BitAnd => "&&",
        Binary::BitOr => "||",
        Binary::ShiftLeft => "lsh",
        Binary::ShiftRight => "rsh",
        Binary::Concat => "|",
    }
}

/// The operator to suggest if a bitwise operator is applied to bools.
fn bits_help(op: Binary, of_bools: bool) -> Option<&'static str> {
    match op {
        Binary::BitAnd if of_bools => Some(
            "write `and`: `&&` works on the bits of machine integers, and binds tighter than comparisons",
        ),
        Binary::BitOr if of_bools => Some(
            "write `or`: `||` works on the bits of machine integers, and binds tighter than comparisons",
        ),
        _ => None,
    }
}

impl Model<'_> {
    pub(in crate::lustre::elaborate) fn unary(
        &mut self,
        at: At,
        id: ExprId,
        op: Unary,
        value: &Val,
    ) -> Val {
        let span = self.file.expr(id).span;
        match op {
            Unary::Pre => self.pre(at, id, value),
            Unary::Current => {
                let path = self.path_at(at);
                self.current(value, &path, span)
            }
            Unary::Not if value.ty == BOOL => self.scalar(Op::Not, BOOL, &[value], span),
            Unary::Neg if value.ty == INT || value.ty == REAL => {
                self.scalar(Op::Neg, value.ty, &[value], span)
            }
            Unary::Neg | Unary::BitNot if self.types.is_machine(value.ty) => {
                self.machine_unary(op, value, span)
            }
            Unary::Not | Unary::Neg | Unary::BitNot => {
                let (word, takes) = match op {
                    Unary::Not => ("not", "a bool"),
                    Unary::Neg => ("-", "a number"),
                    _ => ("!", "a machine integer"),
                };
                let name = self.type_name(value.ty);
                self.error(Code::E1401, span, format!("`{word}` takes {takes}, not a `{name}`"));
                Val::error()
            }
        }
    }

    /// One operator of the logic on scalars.
    pub(in crate::lustre::elaborate) fn scalar(
        &mut self,
        op: Op,
        ty: Ty,
        args: &[&Val],
        span: Span,
    ) -> Val {
        let mut clock = None;
        let mut cells = Vec::with_capacity(args.len());
        for arg in args {
            clock = self.join(clock, arg.clock, span);
            match arg.cell() {
                Some(cell) => cells.push(cell),
                None => return Val::error(),
            }
        }
        Val::one(ty, clock, self.lift(op, &cells))
    }

    /// `pre` of a value, scalar by scalar: see [`Model::previous`].
    pub(in crate::lustre::elaborate) fn pre(&mut self, at: At, id: ExprId, value: &Val) -> Val {
        let span = self.file.expr(id).span;
        if value.is_error() {
            return Val::error();
        }
        let open = self.globals.unguarded[id.0 as usize];
        let clock = value.clock.unwrap_or_else(|| self.clock_at(at));
        let path = self.path_at(at);
        let cells = value
            .cells()
            .iter()
            .map(|&cell| self.previous(cell, clock, open, &path, span))
            .collect();
        Val::many(value.ty, Some(clock), cells)
    }

    pub(in crate::lustre::elaborate) fn binary(
        &mut self,
        at: At,
        id: ExprId,
        op: Binary,
        a: &Val,
        b: &Val,
    ) -> Val {
        let span = self.file.expr(id).span;
        let word = spelling(op);
        if op == Binary::Concat {
            return self.concat(a, b, span);
        }
        if matches!(op, Binary::ShiftLeft | Binary::ShiftRight) {
            return self.shift(op, a, b, span);
        }
        if a.ty != b.ty {
            let (x, y) = (self.type_name(a.ty), self.type_name(b.ty));
            let message = format!("`{word}` between a `{x}` and a `{y}`");
            let mut diagnostic = Diagnostic::new(Code::E1401, span, message);
            if let Some(help) = bits_help(op, a.ty == BOOL || b.ty == BOOL) {
                diagnostic = diagnostic.help(help);
            }
            if let ExprKind::Binary(_, left, right) = self.file.expr(id).kind {
                let (left, right) = (self.file.expr(left).span, self.file.expr(right).span);
                diagnostic =
                    diagnostic.label(left, format!("`{x}`")).label(right, format!("`{y}`"));
                let (of_a, of_b) = (self.types.is_machine(a.ty), self.types.is_machine(b.ty));
                if of_a && b.ty == INT || of_b && a.ty == INT {
                    let machine = if of_a { x } else { y };
                    diagnostic = diagnostic.help(format!(
                        "write `({machine} 1)` for a number, in parentheses: a cast takes everything to its right"
                    ));
                } else if (a.ty, b.ty) == (INT, REAL) {
                    diagnostic = diagnostic.help("`real(…)` turns an int into a real");
                } else if (a.ty, b.ty) == (REAL, INT) {
                    diagnostic =
                        diagnostic.help("write a real number with a point, `1.0`; `real(…)` turns an int into a real");
                }
            }
            self.report.add(diagnostic);
            return Val::error();
        }
        let ty = a.ty;
        let number = ty == INT || ty == REAL;
        match op {
            Binary::Eq | Binary::Ne => self.equality(op == Binary::Eq, a, b, span),
            Binary::Arrow => {
                let clock = self.join(a.clock, b.clock, span).unwrap_or_else(|| self.clock_at(at));
                self.zip(a, b, Some(clock), |m, x, y| m.arrow(x, y, clock))
            }
            Binary::Fby => {
                let clock = self.join(a.clock, b.clock, span).unwrap_or_else(|| self.clock_at(at));
                let path = self.path_at(at);
                self.zip(a, b, Some(clock), |m, x, y| {
                    let before = m.previous(y, clock, false, &path, span);
                    m.arrow(x, before, clock)
                })
            }
            Binary::Implies if ty == BOOL => self.scalar(Op::Implies, BOOL, &[a, b], span),
            Binary::Xor if ty == BOOL => self.equality(false, a, b, span),
            Binary::And if ty == BOOL => self.scalar(Op::And, BOOL, &[a, b], span),
            Binary::Or if ty == BOOL => self.scalar(Op::Or, BOOL, &[a, b], span),
            Binary::Lt if number => self.scalar(Op::Lt, BOOL, &[a, b], span),
            Binary::Le if number => self.scalar(Op::Le, BOOL, &[a, b], span),
            Binary::Gt if number => self.scalar(Op::Gt, BOOL, &[a, b], span),
            Binary::Ge if number => self.scalar(Op::Ge, BOOL, &[a, b], span),
            Binary::Add if number => self.scalar(Op::Add, ty, &[a, b], span),
            Binary::Sub if number => self.scalar(Op::Sub, ty, &[a, b], span),
            Binary::Mul if number => self.scalar(Op::Mul, ty, &[a, b], span),
            Binary::Divide if ty == REAL => self.division(at, id, Op::Div, a, b),
            Binary::Divide | Binary::IntDiv if ty == INT => self.division(at, id, Op::IntDiv, a, b),
            Binary::Mod if ty == INT => self.division(at, id, Op::Mod, a, b),
            _ if self.types.is_machine(ty) => self.machine_binary(op, a, b, span),
            _ => {
                let takes = match op {
                    Binary::And | Binary::Or | Binary::Xor | Binary::Implies => "bools",
                    Binary::IntDiv | Binary::Mod => "ints",
                    Binary::BitAnd | Binary::BitOr => "machine integers",
                    _ => "numbers",
                };
                let name = self.type_name(ty);
                let message = format!("`{word}` takes {takes}, not `{name}`");
                let diagnostic = Diagnostic::new(Code::E1401, span, message);
                self.report.add(match bits_help(op, true) {
                    Some(help) => diagnostic.help(help),
                    None => diagnostic,
                });
                Val::error()
            }
        }
    }

    /// Combines two values scalar by scalar.
    pub(in crate::lustre::elaborate) fn zip(
        &mut self,
        a: &Val,
        b: &Val,
        clock: Option<crate::lustre::elaborate::expressions::values::ClockId>,
        mut each: impl FnMut(&mut Self, Cell, Cell) -> Cell,
    ) -> Val {
        let cells = a.cells().iter().zip(b.cells()).map(|(&x, &y)| each(self, x, y)).collect();
        Val::many(a.ty, clock, cells)
    }

    pub(in crate::lustre::elaborate) fn equality(
        &mut self,
        equal: bool,
        a: &Val,
        b: &Val,
        span: Span,
    ) -> Val {
        let clock = self.join(a.clock, b.clock, span);
        self.spend(a.cells().len(), span);
        let all = self.equal_cells(a.ty, a.cells(), b.cells());
        let cell = if equal { all } else { self.lift(Op::Not, &[all]) };
        Val::one(BOOL, clock, cell)
    }

    /// A quotient or remainder. Division by zero gives an arbitrary value, chosen separately each
    /// time.
    pub(in crate::lustre::elaborate) fn division(
        &mut self,
        at: At,
        id: ExprId,
        op: Op,
        a: &Val,
        b: &Val,
    ) -> Val {
        let span = self.file.expr(id).span;
        let plain = self.scalar(op, a.ty, &[a, b], span);
        let (Some(quotient), Some(divisor)) = (plain.cell(), b.cell()) else { return plain };
        let sort = self.builder.pool.sort(divisor.first);
        let zero = match sort {
            Sort::Real => Value::whole(gander_term::IBig::ZERO),
            _ => Value::Int(gander_term::IBig::ZERO),
        };
        if self.known(divisor).is_some_and(|d| d != zero) {
            return plain;
        }
        let zero = self.constant(zero);
        let by_zero = self.lift(Op::Eq, &[divisor, zero]);
        let path = self.path_at(at);
        let text = match self.file.expr(id).kind {
            ExprKind::Binary(_, _, divisor) => self.source(self.file.expr(divisor).span),
            _ => String::new(),
        };
        let any = self.undefined_value(&path, "by_zero", sort, UndefinedRead::division(text), span);
        let cell = self.lift(Op::Ite, &[by_zero, any, quotient]);
        Val::one(plain.ty, plain.clock, cell)
    }

    pub(in crate::lustre::elaborate) fn if_then_else(
        &mut self,
        c: &Val,
        a: &Val,
        b: &Val,
        span: Span,
    ) -> Val {
        if c.ty != BOOL {
            let name = self.type_name(c.ty);
            self.error(
                Code::E1401,
                span,
                format!("the condition of an `if` is a bool, not a `{name}`"),
            );
            return Val::error();
        }
        if a.ty != b.ty {
            self.mismatch(span, "the branches of an `if` have different types", a.ty, b.ty);
            return Val::error();
        }
        let clock = self.join(c.clock, a.clock, span);
        let clock = self.join(clock, b.clock, span);
        let Some(condition) = c.cell() else { return Val::error() };
        self.zip(a, b, clock, |m, x, y| m.lift(Op::Ite, &[condition, x, y]))
    }

    /// `#(a, b, …)`: at most one is true. Linear size: each may be true only if none before it is.
    pub(in crate::lustre::elaborate) fn at_most_one(&mut self, parts: &[Val], span: Span) -> Val {
        let mut clock = None;
        let mut some_before = self.constant(Value::Bool(false));
        let mut clashes = Vec::new();
        for part in parts {
            let Some(cell) = part.cell().filter(|_| part.ty == BOOL) else {
                let name = self.type_name(part.ty);
                self.error(Code::E1401, span, format!("`#` takes bools, not `{name}`"));
                return Val::error();
            };
            clock = self.join(clock, part.clock, span);
            let both = self.lift(Op::And, &[some_before, cell]);
            clashes.push(both);
            some_before = self.either(some_before, cell);
        }
        let any = self.lift(Op::Or, &clashes);
        let cell = self.lift(Op::Not, &[any]);
        Val::one(BOOL, clock, cell)
    }

    /// `a or b` without merging the operands of `a`, which would be quadratic in a chain.
    fn either(&mut self, a: Cell, b: Cell) -> Cell {
        let (na, nb) = (self.lift(Op::Not, &[a]), b);
        self.lift(Op::Implies, &[na, nb])
    }

    pub(in crate::lustre::elaborate) fn cast(
        &mut self,
        to: CastTo,
        value: &Val,
        span: Span,
    ) -> Val {
        if matches!(to, CastTo::Machine { .. }) && value.ty == BOOL {
            let message = "a `bool` cannot be turned into a machine integer";
            self.report.add(
                Diagnostic::new(Code::E1401, span, message)
                    .help("a cast takes everything to its right: `int8 a + b` is `int8 (a + b)`; write `(int8 a)`"),
            );
            return Val::error();
        }
        match (to, self.types.shape(value.ty).clone()) {
            (CastTo::Int, Shape::Int) | (CastTo::Real, Shape::Real) => value.clone(),
            (CastTo::Int, Shape::Real) => self.scalar(Op::ToInt, INT, &[value], span),
            (CastTo::Real, Shape::Int) => self.scalar(Op::ToReal, REAL, &[value], span),
            (CastTo::Machine { .. }, Shape::Int | Shape::Machine { .. })
            | (CastTo::Int, Shape::Machine { .. }) => self.machine_cast(to, value, span),
            _ => {
                let name = self.type_name(value.ty);
                let target = match to {
                    CastTo::Int => "int".to_string(),
                    CastTo::Real => "real".to_string(),
                    CastTo::Machine { signed, width } => {
                        format!("{}int{width}", if signed { "" } else { "u" })
                    }
                };
                self.error(
                    Code::E1401,
                    span,
                    format!("a `{name}` cannot be turned into `{target}`"),
                );
                Val::error()
            }
        }
    }
}

//! `when` and `merge`: sampling on a clock.

use gander_term::Op;

use crate::lustre::ast::*;
use crate::lustre::elaborate::expressions::clocks::NewClock;
use crate::lustre::elaborate::expressions::values::Val;
use crate::lustre::elaborate::system::model::Model;
use crate::lustre::elaborate::types::layout::{BOOL, Shape};
use crate::lustre::elaborate::types::resolve::At;
use crate::{Code, Span};

impl Model<'_> {
    /// The name of a clock in messages.
    pub(in crate::lustre::elaborate) fn clock_name(&self, clock: Clock) -> String {
        let variable = self.word(clock.variable.word);
        match clock.value {
            ClockValue::True => format!("`{variable}`"),
            ClockValue::False => format!("`not {variable}`"),
            ClockValue::Variant(name) => format!("`{}({variable})`", self.word(name.word)),
        }
    }

    /// The condition of a clock: a bool on the clock of its variable.
    pub(in crate::lustre::elaborate) fn clock_condition(
        &mut self,
        at: At,
        clock: Clock,
    ) -> Option<Val> {
        let value = self.name(at, clock.variable);
        let span = clock.variable.span;
        let cell = value.cell()?;
        let result = match (clock.value, self.types.shape(value.ty).clone()) {
            (ClockValue::True, Shape::Bool) => cell,
            (ClockValue::False, Shape::Bool) => self.lift(Op::Not, &[cell]),
            (ClockValue::Variant(name), _) => {
                let variant = self.name(at, name);
                if variant.is_error() {
                    return None;
                }
                if variant.ty != value.ty {
                    self.mismatch(
                        name.span,
                        "the clock and its value have different types",
                        value.ty,
                        variant.ty,
                    );
                    return None;
                }
                self.lift(Op::Eq, &[cell, variant.cell()?])
            }
            (_, Shape::Error) => return None,
            _ => {
                let name = self.type_name(value.ty);
                self.error(
                    Code::E1401,
                    span,
                    format!("a clock is a bool or of an enumeration, not a `{name}`"),
                );
                return None;
            }
        };
        Some(Val::one(BOOL, value.clock, result))
    }

    /// `e when c`
    pub(in crate::lustre::elaborate) fn sample(
        &mut self,
        at: At,
        value: &Val,
        clock: Clock,
        span: Span,
    ) -> Val {
        let Some(condition) = self.clock_condition(at, clock) else { return Val::error() };
        let Some(cell) = condition.cell() else { return Val::error() };
        let here = self.clock_at(at);
        let parent = self.join(value.clock, condition.clock, span).unwrap_or(here);
        let name = self.clock_name(clock);
        let path = self.path_at(at);
        let clock =
            self.clock(NewClock { parent, condition: Some(cell), restart: None, name, path, span });
        value.on(Some(clock))
    }

    /// `merge`: the arm for the current value of the clock.
    pub(in crate::lustre::elaborate) fn merge(
        &mut self,
        at: At,
        clock: Name,
        arms: &[(ClockValue, ExprId)],
        parts: &[Val],
        span: Span,
    ) -> Val {
        let here = self.clock_at(at);
        let path = self.path_at(at);
        let variable = self.name(at, clock);
        if variable.is_error() {
            return Val::error();
        }
        let parent = variable.clock.unwrap_or(here);
        let mut result: Option<Val> = None;
        let mut seen = Vec::new();
        for ((value, expr), part) in arms.iter().zip(parts).rev() {
            let arm = Clock { variable: clock, value: *value };
            let arm_span = self.file.expr(*expr).span;
            let Some(condition) = self.clock_condition(at, arm).and_then(|c| c.cell()) else {
                return Val::error();
            };
            if seen.contains(&condition) {
                self.error(
                    Code::E1407,
                    arm_span,
                    "two arms of a `merge` for one value of the clock",
                );
                return Val::error();
            }
            seen.push(condition);
            let name = self.clock_name(arm);
            let expected = self.clock(NewClock {
                parent,
                condition: Some(condition),
                restart: None,
                name,
                path: path.clone(),
                span: arm_span,
            });
            self.join(part.clock, Some(expected), arm_span);
            let part = part.on(Some(parent));
            result = Some(match result {
                None => part,
                Some(rest) if rest.ty == part.ty => {
                    self.zip(&part, &rest, Some(parent), |m, x, y| {
                        m.lift(Op::Ite, &[condition, x, y])
                    })
                }
                Some(rest) => {
                    self.mismatch(
                        span,
                        "the arms of a `merge` have different types",
                        part.ty,
                        rest.ty,
                    );
                    return Val::error();
                }
            });
        }
        let needed = match self.types.shape(variable.ty) {
            Shape::Enum(e) => self.types.enums[*e as usize].variants.len(),
            _ => 2,
        };
        if seen.len() != needed {
            self.error(
                Code::E1407,
                span,
                format!("a `merge` has one arm for each of the {needed} values of its clock"),
            );
            return Val::error();
        }
        result.unwrap_or_else(Val::error)
    }
}

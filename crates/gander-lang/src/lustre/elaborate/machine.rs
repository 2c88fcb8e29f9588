//! Machine integers.

use super::super::ast::*;
use super::model::Model;
use super::resolve::At;
use super::values::Val;
use crate::Span;

impl Model<'_> {
    pub(super) fn machine_unary(&mut self, _op: Unary, _value: &Val, span: Span) -> Val {
        self.unsupported(span, "machine integers");
        Val::error()
    }

    pub(super) fn machine_binary(&mut self, _at: At, _op: Binary, _a: &Val, _b: &Val, span: Span) -> Val {
        self.unsupported(span, "machine integers");
        Val::error()
    }

    pub(super) fn machine_cast(&mut self, _to: CastTo, _value: &Val, span: Span) -> Val {
        self.unsupported(span, "machine integers");
        Val::error()
    }
}

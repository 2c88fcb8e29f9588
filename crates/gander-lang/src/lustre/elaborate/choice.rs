//! `any`: some value, chosen anew at every instant.

use gander_system::{Role, StreamKind};

use super::super::ast::*;
use super::model::Model;
use super::resolve::{At, Promise, Refinement};
use super::streams::NewStream;
use super::values::Val;
use crate::Span;

impl Model<'_> {
    /// `any@<T>`, `any { x: T | p }`: what the type and the predicate say of the value is assumed.
    pub(super) fn any(
        &mut self,
        at: At,
        ty: TypeId,
        such_that: Option<(Name, ExprId)>,
        deterministic: bool,
        span: Span,
    ) -> Val {
        let resolved = self.resolve(at, ty);
        if resolved.ty == super::types::ERROR {
            return Val::error();
        }
        let clock = self.clock_at(at);
        let path = self.path_at(at);
        let name = self.numbered(&path, if deterministic { "choose" } else { "any" });
        let mut refinements = resolved.refinements;
        if let Some((variable, expr)) = such_that {
            let promise = Promise::Predicate { variable: variable.word, expr };
            refinements.push(Refinement { offset: 0, ty: resolved.ty, promise, at, span });
        }
        let value = if deterministic {
            if such_that.is_some() {
                self.unsupported(span, "`choose` with a condition");
                return Val::error();
            }
            self.rigid_value(&name, resolved.ty, StreamKind::Internal, span)
        } else {
            let mut cells = Vec::new();
            for (suffix, leaf) in self.types.scalars(self.file, resolved.ty) {
                let Some(sort) = self.sort(leaf, span) else { return Val::error() };
                let stream = self.stream(NewStream {
                    name: format!("{name}{suffix}"),
                    sort,
                    kind: StreamKind::Internal,
                    role: Role::Input,
                    clock,
                    range: None,
                    span,
                    free: true,
                });
                cells.push(self.read(stream));
            }
            Val::many(resolved.ty, Some(clock), cells)
        };
        if !refinements.is_empty() && !value.is_error() {
            let promised = self.promised(&value, &refinements);
            self.assume(format!("type of {name}"), &promised, clock, span);
        }
        value
    }
}

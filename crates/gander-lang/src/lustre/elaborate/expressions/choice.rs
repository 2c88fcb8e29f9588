//! `any`: an arbitrary value, chosen separately at every instant. `choose`: an arbitrary value that
//! never changes.

use gander_system::{Role, StreamKind};

use crate::Span;
use crate::lustre::ast::*;
use crate::lustre::elaborate::expressions::values::Val;
use crate::lustre::elaborate::system::model::Model;
use crate::lustre::elaborate::system::streams::NewStream;
use crate::lustre::elaborate::types::layout::Ty;
use crate::lustre::elaborate::types::resolve::{At, Refinement, TypeCondition};

impl Model<'_> {
    /// `any@<T>`, `any { x: T | p }`, `choose …`. Assumes that the value satisfies the type and the
    /// predicate.
    pub(in crate::lustre::elaborate) fn any(
        &mut self,
        at: At,
        ty: TypeId,
        such_that: Option<(Name, ExprId)>,
        deterministic: bool,
        span: Span,
    ) -> Val {
        if !self.binders.is_empty() {
            self.unsupported(
                span,
                "`any` or `choose` in the definition of the elements of an array of unknown size",
            );
            return Val::error();
        }
        let resolved = self.resolve(at, ty);
        if resolved.ty == crate::lustre::elaborate::types::layout::ERROR {
            return Val::error();
        }
        let clock = self.clock_at(at);
        let path = self.path_at(at);
        let name = self.numbered(&path, if deterministic { "choose" } else { "any" });
        let mut refinements = resolved.refinements;
        if let Some((variable, expr)) = such_that {
            let condition = TypeCondition::Predicate { variable: variable.word, expr };
            refinements.push(Refinement {
                offset: 0,
                ty: resolved.ty,
                condition,
                at,
                span,
                within: Vec::new(),
            });
        }
        let value = if deterministic {
            match self.chosen_before(resolved.ty, &refinements, span) {
                Some(known) => known,
                None => self.rigid_value(&name, resolved.ty, StreamKind::Choice, span),
            }
        } else {
            let mut cells = Vec::new();
            for (suffix, leaf) in self.types.scalars(self.file, resolved.ty) {
                let Some(sort) = self.sort(leaf, span) else { return Val::error() };
                let stream = self.stream(NewStream {
                    name: format!("{name}{suffix}"),
                    sort,
                    kind: StreamKind::Choice,
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
        let mut condition = None;
        if !refinements.is_empty() && !value.is_error() {
            let formula = self.condition_on(&value, &refinements);
            condition = formula.cell();
            if deterministic && formula.cell().is_some_and(|c| !c.is_rigid()) {
                self.unsupported(
                    span,
                    "`choose` with a condition on streams, which makes it a function of them,",
                );
                return Val::error();
            }
            let clock = match self.lazy.last() {
                Some(&needed) => self.lazy_clock(clock, needed, at, span),
                None => clock,
            };
            self.assume(format!("type of {name}"), &formula, clock, span);
        }
        if deterministic {
            self.chosen.entry(span).or_default().push((value.clone(), condition));
        }
        value
    }

    /// The value that the same `choose` expression got before under the same condition. Calls of
    /// one node share the value, unless the condition depends on constants that differ between
    /// them.
    fn chosen_before(&mut self, ty: Ty, refinements: &[Refinement], span: Span) -> Option<Val> {
        let known = self.chosen.get(&span)?.clone();
        known.into_iter().find_map(|(value, condition)| {
            let same = value.ty == ty && !value.is_error();
            (same
                && (refinements.is_empty()
                    || self.condition_on(&value, refinements).cell() == condition))
                .then_some(value)
        })
    }
}

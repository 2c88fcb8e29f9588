//! Conditions of declarations (subranges, subtypes) as assumptions or claims.

use gander_system::{Range, StreamKind};
use gander_term::{Op, Value};

use crate::lustre::ast::*;
use crate::lustre::elaborate::expressions::values::{Cell, ClockId, Val};
use crate::lustre::elaborate::nodes::instances::{ConditionStatus, Pending};
use crate::lustre::elaborate::system::model::{Formula, Goal, Model, Obligation};
use crate::lustre::elaborate::types::layout::BOOL;
use crate::lustre::elaborate::types::resolve::{Refinement, TypeCondition};
use crate::lustre::modules::ClaimRole;
use crate::{Code, Span};

/// The conditions of the declarations of an instance's inputs and outputs.
#[derive(Debug, Default)]
pub(in crate::lustre::elaborate) struct Boundary {
    pub(in crate::lustre::elaborate) inputs: Vec<Cell>,
    /// With names and places.
    pub(in crate::lustre::elaborate) outputs: Vec<(String, Cell, Span)>,
}

impl Model<'_> {
    /// The conjunction of the conditions on a value.
    pub(in crate::lustre::elaborate) fn condition_on(
        &mut self,
        value: &Val,
        refinements: &[Refinement],
    ) -> Val {
        let mut cells = Vec::new();
        let mut clock = value.clock;
        for r in refinements {
            let part = value.part(r.ty, r.offset, self.types.width(r.ty));
            let (part, binders) = self.element_within(part, &r.within);
            let before = cells.len();
            match r.condition {
                TypeCondition::Bounds { low, high } => {
                    for (bound, op) in [(low, Op::Ge), (high, Op::Le)] {
                        let Some(bound) = bound else { continue };
                        let limit = self.eval(r.at, bound);
                        if limit.is_error() {
                            continue;
                        }
                        if limit.ty != part.ty {
                            let span = self.file.expr(bound).span;
                            self.mismatch(
                                span,
                                "a bound and the type that it bounds",
                                limit.ty,
                                part.ty,
                            );
                            continue;
                        }
                        if clock.is_none() {
                            clock = limit.clock;
                        }
                        let binary = if op == Op::Ge { Binary::Ge } else { Binary::Le };
                        if self.types.is_machine(part.ty) {
                            let compared = self.machine_binary(binary, &part, &limit, r.span);
                            cells.extend(compared.cell());
                        } else if let (Some(x), Some(y)) = (part.cell(), limit.cell()) {
                            cells.push(self.lift(op, &[x, y]));
                        }
                    }
                }
                TypeCondition::Predicate { variable, expr } => {
                    self.bindings.push((variable, part));
                    let predicate = self.eval(r.at, expr);
                    self.bindings.pop();
                    if predicate.ty != BOOL && !predicate.is_error() {
                        let name = self.type_name(predicate.ty);
                        let span = self.file.expr(expr).span;
                        self.error(
                            Code::E1401,
                            span,
                            format!("the predicate of a subtype is a bool, not a `{name}`"),
                        );
                    }
                    cells.extend(predicate.cell().filter(|_| predicate.ty == BOOL));
                }
            }
            if !binders.is_empty() {
                self.binders.truncate(self.binders.len() - binders.len());
                for cell in &mut cells[before..] {
                    *cell = self.for_all(&binders, *cell);
                }
            }
        }
        let all = self.lift(Op::And, &cells);
        Val::one(BOOL, clock, all)
    }

    /// Turns the conditions of an instance's declarations into claims and assumptions.
    pub(in crate::lustre::elaborate) fn settle_pending(&mut self, i: usize) {
        for pending in std::mem::take(&mut self.instances[i].pending) {
            let role = self.role_of(i, &pending);
            self.settle(pending, role);
        }
    }

    /// The role of the claim for a condition; depends on the kind of the variable.
    fn role_of(&self, i: usize, pending: &Pending) -> ClaimRole {
        let variable = pending
            .streams
            .and_then(|first| self.instances[i].vars.values().find(|v| v.first == first));
        match variable.map(|v| v.kind) {
            Some(StreamKind::Input) => ClaimRole::InputRange,
            Some(StreamKind::Output) => ClaimRole::OutputRange,
            _ => ClaimRole::Inner,
        }
    }

    /// Takes the conditions of an instance that is represented by its contract. Those of the inputs
    /// are claimed for the caller; those of the outputs hold in return.
    pub(in crate::lustre::elaborate) fn settle_boundary(&mut self, i: usize) -> Boundary {
        let mut boundary = Boundary::default();
        for pending in std::mem::take(&mut self.instances[i].pending) {
            let formula = self.condition_on(&pending.value, &pending.refinements);
            let Some(cell) = formula.cell() else { continue };
            match self.role_of(i, &pending) {
                ClaimRole::InputRange => {
                    boundary.inputs.push(cell);
                    self.settle(pending, ClaimRole::InputRange);
                }
                _ => boundary.outputs.push((
                    format!("range of {}", pending.name),
                    cell,
                    pending.span,
                )),
            }
        }
        boundary
    }

    fn settle(&mut self, pending: Pending, role: ClaimRole) {
        let formula = self.condition_on(&pending.value, &pending.refinements);
        let only_bounds =
            pending.refinements.iter().all(|r| matches!(r.condition, TypeCondition::Bounds { .. }));
        let name = if only_bounds {
            format!("range of {}", pending.name)
        } else {
            format!("type of {}", pending.name)
        };
        if pending.clock == crate::lustre::elaborate::expressions::values::BASE {
            self.note_ranges(&pending);
        }
        match pending.status {
            ConditionStatus::Assumed => self.assume(name, &formula, pending.clock, pending.span),
            ConditionStatus::Claimed => {
                let text = self.source(pending.span);
                let text = format!(
                    "{text} is in its declared {}",
                    if only_bounds { "range" } else { "type" }
                );
                self.claim_always(name, text, &formula, pending.clock, pending.span, role);
            }
        }
    }

    /// Records the ranges of streams with known bounds.
    fn note_ranges(&mut self, pending: &Pending) {
        let Some(first) = pending.streams else { return };
        for r in pending.refinements.iter().filter(|r| r.within.is_empty()) {
            let TypeCondition::Bounds { low: Some(low), high: Some(high) } = r.condition else {
                continue;
            };
            let mut known = |e| match self.eval(r.at, e).cell().and_then(|c| self.known(c)) {
                Some(Value::Int(i)) => Some(i),
                _ => None,
            };
            let (Some(low), Some(high)) = (known(low), known(high)) else { continue };
            let stream = first.index() + r.offset;
            let range = Range { low, high };
            self.builder.set_range(self.streams.list[stream].var, Some(range.clone()));
            self.streams.list[stream].range = Some(range);
        }
    }

    /// Assumes a formula at every instant of its clock.
    pub(in crate::lustre::elaborate) fn assume(
        &mut self,
        name: String,
        value: &Val,
        clock: ClockId,
        span: Span,
    ) {
        let Some(cell) = value.cell().filter(|_| value.ty == BOOL) else { return };
        if self.is_true(cell) {
            return;
        }
        let text = self.source(span);
        self.assumptions.push(Formula { name, text, cell, clock, span });
    }

    /// Claims a formula at every instant of its clock.
    pub(in crate::lustre::elaborate) fn claim_always(
        &mut self,
        name: String,
        text: String,
        value: &Val,
        clock: ClockId,
        span: Span,
        role: ClaimRole,
    ) {
        self.claim(name, text, value, clock, span, (Goal::Always, role));
    }

    pub(in crate::lustre::elaborate) fn claim(
        &mut self,
        name: String,
        text: String,
        value: &Val,
        clock: ClockId,
        span: Span,
        (goal, role): (Goal, ClaimRole),
    ) {
        let Some(cell) = value.cell().filter(|_| value.ty == BOOL) else { return };
        let mut unique = name.clone();
        let mut n = 1;
        while !self.claim_names.insert(unique.clone()) {
            n += 1;
            unique = format!("{name} ({n})");
        }
        let formula = Formula { name: unique, text, cell, clock, span };
        self.obligations.push(Obligation { formula, goal, role, instance: self.instance });
    }

    pub(in crate::lustre::elaborate) fn is_true(&self, cell: Cell) -> bool {
        self.known(cell) == Some(Value::Bool(true))
    }
}

//! What only compositions need: conditions on the nodes of instances, what is added to a transition
//! later, and constants without a value.

use gander_term::{IBig, Sort, SymbolId, TermId};

use super::scope::Place;
use super::{BuildError, SystemBuilder, TransitionDraft};
use crate::formula::StepTerm;
use crate::origin::{Element, ElementKind, ElementName, Span};
use crate::system::{Effect, Range, Role, Size, StartId, TransitionId, VarId};

impl SystemBuilder {
    /// Sets where the range of the last parameter is written, if it has one.
    pub fn set_range_span(&mut self, draft: &TransitionDraft, span: Option<Span>) {
        if let Some(info) = self.system.elements.last_mut()
            && info.kind == ElementKind::ParameterRange
            && matches!(info.name, ElementName::OfParam(t, _) if t == draft.id)
        {
            info.span = span;
        }
    }

    /// Adds another range of a parameter to the guard: a participant of a joint step declares it,
    /// too.
    pub(crate) fn range_guard(
        &mut self,
        draft: &mut TransitionDraft,
        param: SymbolId,
        range: &Range,
        span: Option<Span>,
    ) -> Result<(), BuildError> {
        let within = self.within(param, range);
        self.guard(draft, within, span)
    }

    /// Sets the kinds of the conjuncts of a start, in their order.
    pub(crate) fn set_kinds_of_start(
        &mut self,
        start: StartId,
        kinds: impl Iterator<Item = ElementKind>,
    ) {
        for (e, kind) in self.system.starts[start.index()].constraint.iter().zip(kinds) {
            self.system.elements[e.id.index()].kind = kind;
        }
    }

    /// Marks the conjuncts of a start after the first `written` ones as conditions that parts form
    /// a value.
    pub fn mark_form_of_start(&mut self, start: StartId, written: usize) {
        for e in self.system.starts[start.index()].constraint.iter().skip(written) {
            self.system.elements[e.id.index()].kind = ElementKind::Form;
        }
    }

    /// Marks the element that was added last as a condition that parts form a value.
    pub fn mark_form(&mut self) {
        self.set_last_kind(ElementKind::Form);
    }

    pub(crate) fn set_last_kind(&mut self, kind: ElementKind) {
        if let Some(info) = self.system.elements.last_mut() {
            info.kind = kind;
        }
    }

    /// Adds the condition on the node of an instance to the guard. Like the source of a transition,
    /// it is never removed from the model.
    pub fn control_guard(
        &mut self,
        draft: &mut TransitionDraft,
        term: TermId,
    ) -> Result<(), BuildError> {
        self.guard(draft, term, None)?;
        self.set_last_kind(ElementKind::Control);
        Ok(())
    }

    /// Assigns the node of an instance. Like the target of a transition, the assignment is never
    /// removed from the model.
    pub fn control_assign(
        &mut self,
        draft: &mut TransitionDraft,
        var: VarId,
        value: TermId,
    ) -> Result<(), BuildError> {
        self.assign(draft, var, value, None)?;
        self.set_last_kind(ElementKind::Control);
        Ok(())
    }

    /// Adds a conjunct to the guard of a transition that is already in the system.
    pub fn guard_on(
        &mut self,
        transition: TransitionId,
        term: TermId,
        span: Option<Span>,
    ) -> Result<(), BuildError> {
        let existing = &self.system.transitions[transition.index()];
        let number = existing.guard.len() as u32 + 1;
        let name = existing.name.clone();
        self.expect(term, Sort::Bool, format_args!("{name} guard {number}"))?;
        let term = self.choice_scope(transition, term, format_args!("{name} guard {number}"))?;
        let id =
            self.element(ElementName::OfTransition(transition, number), ElementKind::Guard, span);
        self.system.transitions[transition.index()].guard.push(Element { id, term });
        Ok(())
    }

    /// Adds conjuncts about a count to every start.
    pub(crate) fn start_on(&mut self, terms: &[TermId]) -> Result<(), BuildError> {
        for at in 0..self.system.starts.len() {
            for &term in terms {
                let term = self.state_term(term, format_args!("start"))?;
                let number = self.system.starts[at].constraint.len() as u32 + 1;
                let name = ElementName::OfStart(StartId::from(at), number);
                let id = self.element(name, ElementKind::Count, None);
                self.system.starts[at].constraint.push(Element { id, term });
            }
        }
        Ok(())
    }

    /// Lets a transition that is already in the system keep a variable that was declared later.
    pub(crate) fn keep_on(&mut self, transition: TransitionId, var: VarId) {
        let id = self.element(ElementName::OfVar(transition, var), ElementKind::Frame, None);
        self.system.transitions[transition.index()].effect.push(Effect::Keep { id, var });
    }

    /// Lets a transition that is already in the system change a count that was declared later.
    pub(crate) fn assign_on(
        &mut self,
        transition: TransitionId,
        var: VarId,
        value: TermId,
    ) -> Result<(), BuildError> {
        let name = self.system.var(var).name.clone();
        self.expect(value, self.system.var(var).sort, format_args!("{name} :="))?;
        let value = self.choice_scope(transition, value, format_args!("{name} :="))?;
        let id = self.element(ElementName::OfVar(transition, var), ElementKind::Count, None);
        self.system.transitions[transition.index()].effect.push(Effect::Assign { id, var, value });
        Ok(())
    }

    /// Adds a constraint on the next values of variables that were declared later to a transition
    /// that is already in the system.
    pub(crate) fn constrain_on(
        &mut self,
        transition: TransitionId,
        relation: TermId,
    ) -> Result<(), BuildError> {
        let number = self.system.transitions[transition.index()].effect.len() as u32 + 1;
        self.expect(relation, Sort::Bool, format_args!("effect {number}"))?;
        self.in_scope(relation, Place::Step(transition), format_args!("effect {number}"))?;
        let name = ElementName::OfTransition(transition, number);
        let id = self.element(name, ElementKind::Constraint, None);
        let relation = StepTerm(relation);
        self.system.transitions[transition.index()].effect.push(Effect::Constrain { id, relation });
        Ok(())
    }

    /// Declares a constant whose value is not known: a variable that no step changes. Its range is
    /// an assumption.
    pub fn size(
        &mut self,
        name: &str,
        low: &IBig,
        high: Option<&IBig>,
        span: Option<Span>,
    ) -> Result<VarId, BuildError> {
        let var = self.var(name, Sort::Int, Role::State, None, span)?;
        let term = self.pool.var(self.system.var(var).current);
        let bound = self.pool.int(low.clone());
        let mut range = vec![self.pool.le(bound, term)];
        if let Some(high) = high {
            let bound = self.pool.int(high.clone());
            range.push(self.pool.le(term, bound));
        }
        let range = self.pool.and(range);
        let formula = self.state_term(range, format_args!("range of {name}"))?;
        self.assumption(&format!("range of {name}"), formula, span);
        self.system.sizes.push(Size { var, low: low.clone(), high: high.cloned() });
        Ok(var)
    }
}

//! Copies parts of a system into a builder over a fork of the system's pool.

use gander_term::{Pool, Substitution, TermId};
use rustc_hash::FxHashMap;

use crate::builder::{BuildError, SystemBuilder, TransitionDraft};
use crate::claim::{Claim, ClaimKind, ClaimOrigin, FairnessId, FairnessKind, Goal};
use crate::formula::StateTerm;
use crate::origin::{ElementId, ElementKind, Span};
use crate::system::{Effect, NodeId, StartId, System, TransitionId, VarId};

/// A builder that is filled from a system, with the origin of each of its elements.
pub(crate) struct Copying<'a> {
    pub(crate) from: &'a System,
    pub(crate) to: SystemBuilder,
    /// By old variable: the new one, if it was kept.
    pub(crate) vars: Vec<Option<VarId>>,
    /// By new element: the old one.
    pub(crate) origins: Vec<Option<ElementId>>,
}

/// The name, source and target of a copied transition, and the symbols of its parameters (only one
/// copy of a transition may keep them).
pub(crate) struct Placement<'a> {
    pub(crate) name: &'a str,
    pub(crate) source: NodeId,
    pub(crate) target: NodeId,
    pub(crate) symbols: ParamSymbols,
}

/// Which symbols the parameters of a copied transition get.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParamSymbols {
    Same,
    Fresh,
}

impl<'a> Copying<'a> {
    /// A builder with these nodes only.
    pub(crate) fn new(
        from: &'a System,
        nodes: &[(&str, Option<Span>)],
    ) -> Result<Copying<'a>, BuildError> {
        Copying::in_pool(from, Pool::fork(&from.pool), nodes)
    }

    /// [`Copying::new`] in a given fork of the system's pool.
    pub(crate) fn in_pool(
        from: &'a System,
        pool: Pool,
        nodes: &[(&str, Option<Span>)],
    ) -> Result<Copying<'a>, BuildError> {
        let to = SystemBuilder::new(&from.name, pool, nodes)?;
        Ok(Copying { from, to, vars: Vec::new(), origins: Vec::new() })
    }

    /// Records `old` as the origin of the elements made since the last call.
    pub(crate) fn came_from(&mut self, old: Option<ElementId>) {
        self.origins.resize(self.to.so_far().elements.len(), old);
    }

    /// Declares the variables for which `wanted` is true. Their ranges add no claims or
    /// assumptions: those of the old system are copied like all others.
    pub(crate) fn copy_vars(&mut self, wanted: impl Fn(VarId) -> bool) -> Result<(), BuildError> {
        for v in self.from.var_ids() {
            let old = self.from.var(v);
            if !wanted(v) {
                self.vars.push(None);
                continue;
            }
            let new = self.to.var(&old.name, old.sort, old.role, None, old.span)?;
            self.to.set_range(new, old.range.clone());
            self.to.set_stream(new, old.stream);
            self.to.set_numerals(new, old.numerals);
            self.vars.push(Some(new));
        }
        Ok(())
    }

    /// Copies the assumptions, rewritten; those that become true are left out.
    pub(crate) fn copy_assumptions(
        &mut self,
        mut rewrite: impl FnMut(&mut Pool, TermId) -> TermId,
    ) -> Result<(), BuildError> {
        for a in &self.from.assumptions {
            let term = rewrite(&mut self.to.pool, a.term.term());
            if self.to.pool.as_bool(term) == Some(true) {
                continue;
            }
            let name = self.from.element_name(a.id);
            let formula = self.to.state_formula(term, &name)?;
            self.to.assumption(&name, formula, self.from.elements[a.id.index()].span);
            self.came_from(Some(a.id));
        }
        Ok(())
    }

    /// Copies the hints of an old node to a new one, rewritten; those that become true are left
    /// out.
    pub(crate) fn copy_hints(
        &mut self,
        old: NodeId,
        new: NodeId,
        mut rewrite: impl FnMut(&mut Pool, TermId) -> TermId,
    ) -> Result<(), BuildError> {
        for h in &self.from.node(old).hints {
            let term = rewrite(&mut self.to.pool, h.term.term());
            if self.to.pool.as_bool(term) == Some(true) {
                continue;
            }
            let name = self.from.element_name(h.id);
            let formula = self.to.state_formula(term, &name)?;
            self.to.hint(new, &name, formula, self.from.elements[h.id.index()].span);
            self.came_from(Some(h.id));
        }
        Ok(())
    }

    /// Copies a start transition with rewritten conjuncts; those that become true are left out.
    pub(crate) fn copy_start(
        &mut self,
        s: StartId,
        target: NodeId,
        rewrite: impl FnMut(&mut Pool, TermId) -> TermId,
    ) -> Result<StartId, BuildError> {
        self.copy_start_with(s, target, rewrite, &[])
    }

    /// Copies a start transition with further conjuncts.
    pub(crate) fn copy_start_with(
        &mut self,
        s: StartId,
        target: NodeId,
        mut rewrite: impl FnMut(&mut Pool, TermId) -> TermId,
        more: &[TermId],
    ) -> Result<StartId, BuildError> {
        let old = &self.from.starts[s.index()];
        let mut conjuncts = Vec::new();
        let mut ids = Vec::new();
        for e in &old.constraint {
            let term = rewrite(&mut self.to.pool, e.term.term());
            if self.to.pool.as_bool(term) != Some(true) {
                conjuncts.push((term, self.from.elements[e.id.index()].span));
                ids.push(Some(e.id));
            }
        }
        conjuncts.extend(more.iter().map(|&t| (t, None)));
        ids.extend(more.iter().map(|_| None));
        let new = self.to.start(&old.name, target, &conjuncts, old.span)?;
        self.origins.extend(ids);
        Ok(new)
    }

    /// Begins a copy of a transition, with its parameters and guard but without its effect. Returns
    /// the substitution for terms of the old transition, `None` if its parameters keep their
    /// symbols.
    pub(crate) fn begin(
        &mut self,
        t: TransitionId,
        at: &Placement<'_>,
        mut rewrite: impl FnMut(&mut Pool, TermId) -> TermId,
    ) -> Result<(TransitionDraft, Option<Substitution>), BuildError> {
        let old = self.from.transition(t);
        let gate = old.gate.map(|g| self.to.gate(&self.from.gates[g.index()]));
        let mut draft = self.to.transition(at.name, gate, at.source, at.target, old.span)?;
        let mut map = FxHashMap::default();
        let elements = &self.from.elements;
        let is_range = |e: ElementId| elements[e.index()].kind == ElementKind::ParameterRange;
        let mut ranges = old.guard.iter().filter(|e| is_range(e.id));
        for p in &old.params {
            let origin = if p.range.is_some() { ranges.next().map(|e| e.id) } else { None };
            match at.symbols {
                ParamSymbols::Same => {
                    self.to.param_as(&mut draft, &p.name, p.symbol, p.range.clone())?;
                }
                ParamSymbols::Fresh => {
                    let symbol = self.to.param(&mut draft, &p.name, p.sort, p.range.clone())?;
                    map.insert(p.symbol, self.to.pool.var(symbol));
                }
            }
            self.came_from(origin);
        }
        let mut renaming = (!map.is_empty()).then(|| Substitution::new(&mut self.to.pool, &map));
        for e in &old.guard {
            if is_range(e.id) {
                continue;
            }
            let term = rewrite(&mut self.to.pool, e.term.term());
            let term = rename(&mut renaming, &mut self.to.pool, term);
            if self.to.pool.as_bool(term) != Some(true) {
                self.to.guard(&mut draft, term, self.from.elements[e.id.index()].span)?;
                self.came_from(Some(e.id));
            }
        }
        Ok((draft, renaming))
    }

    /// Copies the effect to a transition from [`Copying::begin`]. Effects on variables that were
    /// not copied are left out; variables that the old effect leaves free stay free.
    pub(crate) fn copy_effect(
        &mut self,
        t: TransitionId,
        draft: &mut TransitionDraft,
        renaming: &mut Option<Substitution>,
        mut rewrite: impl FnMut(&mut Pool, TermId) -> TermId,
    ) -> Result<(), BuildError> {
        let mut treated = vec![false; self.from.vars.len()];
        for e in &self.from.transition(t).effect {
            match *e {
                Effect::Assign { id, var, value } => {
                    treated[var.index()] = true;
                    if let Some(new) = self.vars[var.index()] {
                        let value = rewrite(&mut self.to.pool, value.term());
                        let value = rename(renaming, &mut self.to.pool, value);
                        self.to.assign(draft, new, value, self.from.elements[id.index()].span)?;
                        self.came_from(Some(id));
                    }
                }
                Effect::Keep { id, var } => {
                    treated[var.index()] = true;
                    if let Some(new) = self.vars[var.index()] {
                        self.to.keep(draft, new);
                        self.came_from(Some(id));
                    }
                }
                Effect::Constrain { id, relation } => {
                    let relation = rewrite(&mut self.to.pool, relation.term());
                    let relation = rename(renaming, &mut self.to.pool, relation);
                    if self.to.pool.as_bool(relation) == Some(true) {
                        continue;
                    }
                    self.to.constrain(draft, relation, self.from.elements[id.index()].span)?;
                    self.came_from(Some(id));
                }
            }
        }
        for (old, done) in treated.into_iter().enumerate() {
            if let (false, Some(new)) = (done, self.vars[old]) {
                self.to.free(draft, new);
            }
        }
        Ok(())
    }

    /// Ends a transition.
    pub(crate) fn end(&mut self, draft: TransitionDraft) -> Result<TransitionId, BuildError> {
        let id = self.to.add(draft)?;
        self.came_from(None);
        Ok(id)
    }
}

/// `term` with the parameters of the copy instead of those of the original.
pub(crate) fn rename(renaming: &mut Option<Substitution>, pool: &mut Pool, term: TermId) -> TermId {
    match renaming {
        Some(s) => s.apply(pool, term),
        None => term,
    }
}

/// How the parts of a claim are rewritten.
pub(crate) struct ClaimCopy<'c> {
    /// A formula about a state.
    pub(crate) state: &'c mut dyn FnMut(&mut Pool, TermId) -> TermId,
    /// A formula about a step of a transition.
    pub(crate) step: &'c mut dyn FnMut(&mut Pool, TermId) -> TermId,
    /// By old transition: the new one; `None` if it can never be taken.
    pub(crate) transitions: &'c [Option<TransitionId>],
    /// By old fairness constraint: the new one.
    pub(crate) fairness: &'c [Option<FairnessId>],
}

impl Copying<'_> {
    fn state(&mut self, with: &mut ClaimCopy<'_>, p: StateTerm) -> Result<StateTerm, BuildError> {
        let term = (with.state)(&mut self.to.pool, p.term());
        self.to.state_formula(term, "claim")
    }

    /// The claim for a new system with the same nodes and starts. Transitions that can never be
    /// taken are resolved.
    pub(crate) fn copy_kind(
        &mut self,
        kind: &ClaimKind,
        with: &mut ClaimCopy<'_>,
    ) -> Result<ClaimKind, BuildError> {
        let under = |list: &[FairnessId]| {
            list.iter().filter_map(|f| with.fairness[f.index()]).collect::<Vec<FairnessId>>()
        };
        Ok(match kind {
            ClaimKind::Always(p) => ClaimKind::Always(self.state(with, *p)?),
            ClaimKind::Reachable(goals) => {
                let goals: Result<Vec<Goal>, BuildError> =
                    goals.iter().map(|g| self.copy_goal(g, with)).collect();
                ClaimKind::Reachable(goals?)
            }
            ClaimKind::CanEnable(t) => match with.transitions[t.index()] {
                Some(new) => ClaimKind::CanEnable(new),
                None => {
                    let never = self.to.pool.ff();
                    ClaimKind::Reachable(vec![Goal::State(self.to.state_formula(never, "claim")?)])
                }
            },
            ClaimKind::Completable(t) => match with.transitions[t.index()] {
                Some(new) => ClaimKind::Completable(new),
                None => {
                    let always = self.to.pool.tt();
                    ClaimKind::Always(self.to.state_formula(always, "claim")?)
                }
            },
            ClaimKind::NoSinkhole(n) => ClaimKind::NoSinkhole(*n),
            ClaimKind::StartSatisfiable(s) => ClaimKind::StartSatisfiable(*s),
            ClaimKind::NoDeadlock => ClaimKind::NoDeadlock,
            ClaimKind::InfiniteRun => ClaimKind::InfiniteRun,
            ClaimKind::Eventually { goal, under: f } => {
                ClaimKind::Eventually { under: under(f), goal: self.state(with, *goal)? }
            }
            ClaimKind::AlwaysEventually { goal, under: f } => {
                ClaimKind::AlwaysEventually { under: under(f), goal: self.state(with, *goal)? }
            }
            ClaimKind::LeadsTo { from, to, under: f } => {
                let under = under(f);
                ClaimKind::LeadsTo {
                    from: self.state(with, *from)?,
                    to: self.state(with, *to)?,
                    under,
                }
            }
            ClaimKind::AlwaysPossible(p) => ClaimKind::AlwaysPossible(self.state(with, *p)?),
            ClaimKind::ExistsAlways(p) => ClaimKind::ExistsAlways(self.state(with, *p)?),
        })
    }

    fn copy_goal(&mut self, goal: &Goal, with: &mut ClaimCopy<'_>) -> Result<Goal, BuildError> {
        match goal {
            Goal::State(p) => Ok(Goal::State(self.state(with, *p)?)),
            Goal::Step { gate, choices } => {
                let gate = gate.map(|g| self.to.gate(&self.from.gates[g.index()]));
                let mut kept = Vec::new();
                for &(t, formula) in choices {
                    if let Some(new) = with.transitions[t.index()] {
                        kept.push((new, (with.step)(&mut self.to.pool, formula.term())));
                    }
                }
                self.to.step_goal(gate, &kept, "goal")
            }
        }
    }

    /// Adds a claim of the old system with its rewritten kind.
    pub(crate) fn add_claim(&mut self, old: &Claim, kind: ClaimKind) -> Result<(), BuildError> {
        let origin = match old.origin {
            ClaimOrigin::Range(v) => match self.vars[v.index()] {
                Some(new) => ClaimOrigin::Range(new),
                None => ClaimOrigin::Written,
            },
            other => other,
        };
        self.to.claim(&old.name, kind, origin, &old.text, old.span)
    }

    /// Copies a fairness constraint.
    pub(crate) fn copy_fairness(
        &mut self,
        f: FairnessId,
        state: &mut dyn FnMut(&mut Pool, TermId) -> TermId,
        transitions: &[Option<TransitionId>],
    ) -> Result<FairnessId, BuildError> {
        let old = &self.from.fairness[f.index()];
        let kept =
            |list: &[TransitionId]| list.iter().filter_map(|t| transitions[t.index()]).collect();
        let kind = match &old.kind {
            FairnessKind::Justice(p) => {
                let term = state(&mut self.to.pool, p.term());
                FairnessKind::Justice(self.to.state_formula(term, &old.name)?)
            }
            FairnessKind::Weak(list) => FairnessKind::Weak(kept(list)),
            FairnessKind::Strong(list) => FairnessKind::Strong(kept(list)),
        };
        self.to.fairness(&old.name, kind, old.span)
    }
}

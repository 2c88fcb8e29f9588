//! Rebuilds a system with one cut.

use gander_system::{
    ClaimKind, ClaimOrigin, Effect, ElementKind, FairnessId, FairnessKind, Goal, Role, StartId,
    System, SystemBuilder, TransitionId, VarId,
};
use gander_term::{Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use super::cut::{Cut, Place, Simpler};

/// The system with the cut applied; `None` if the result is not well-formed.
pub(super) fn rebuild(system: &System, cut: &Cut) -> Option<System> {
    let nodes: Vec<(&str, _)> = system.nodes().iter().map(|n| (n.name.as_str(), n.span)).collect();
    let builder = SystemBuilder::new(system.name(), Pool::fork(system.pool()), &nodes).ok()?;
    let mut copy = Copy {
        old: system,
        cut,
        builder,
        terms: FxHashMap::default(),
        vars: Vec::new(),
        starts: Vec::new(),
        transitions: Vec::new(),
        fairness: Vec::new(),
    };
    copy.variables()?;
    copy.nodes_and_assumptions()?;
    copy.starts()?;
    for t in 0..system.transitions().len() {
        let copied = copy.transition(t)?;
        copy.transitions.push(copied);
    }
    copy.fairness()?;
    copy.claims()?;
    Some(copy.builder.finish())
}

struct Copy<'a> {
    old: &'a System,
    cut: &'a Cut,
    builder: SystemBuilder,
    /// Replacements of removed symbols.
    terms: FxHashMap<SymbolId, TermId>,
    vars: Vec<Option<VarId>>,
    starts: Vec<Option<StartId>>,
    transitions: Vec<Option<TransitionId>>,
    fairness: Vec<Option<FairnessId>>,
}

impl Copy<'_> {
    /// Copies a term, with symbols replaced and the cut applied if it is at this place.
    fn term(&mut self, place: Option<Place>, t: TermId) -> Option<TermId> {
        let t = match self.cut {
            Cut::Replace(at, Simpler::Truth(b)) if Some(*at) == place => {
                self.builder.pool.constant(Value::Bool(*b))
            }
            Cut::Replace(at, Simpler::Part(part)) if Some(*at) == place => *part,
            _ => t,
        };
        let mut done: FxHashMap<TermId, TermId> = FxHashMap::default();
        for u in self.builder.pool.postorder(&[t]) {
            let op = self.builder.pool.op(u);
            let args: Vec<TermId> = self.builder.pool.args(u).iter().map(|a| done[a]).collect();
            let copied = match op {
                Op::Symbol(s) if self.terms.contains_key(&s) => self.terms[&s],
                _ => self.builder.pool.mk(op, &args).ok()?,
            };
            done.insert(u, copied);
        }
        Some(done[&t])
    }

    fn keeps_claim(&self, c: usize) -> bool {
        match *self.cut {
            Cut::OnlyClaim(only) => only == c,
            Cut::Claim(gone) => gone != c,
            _ => true,
        }
    }

    /// True if the builder adds the range of the variable when it declares it.
    fn has_range(&self, v: usize) -> bool {
        let var = &self.old.vars()[v];
        var.range.is_some()
            && match var.role {
                Role::State => self.old.claims().iter().enumerate().any(|(c, claim)| {
                    claim.origin == ClaimOrigin::Range(VarId::from(v))
                        && claim.name == format!("range of {}", var.name)
                        && self.keeps_claim(c)
                }),
                Role::Input => (0..self.old.assumptions().len()).any(|a| {
                    self.is_range_of(a, v)
                        && !matches!(self.cut, Cut::Assumption(gone) if *gone == a)
                }),
            }
    }

    fn is_range_of(&self, assumption: usize, v: usize) -> bool {
        let element = self.old.assumptions()[assumption].id;
        self.old.element_name(element) == format!("range of {}", self.old.vars()[v].name)
    }

    fn variables(&mut self) -> Option<()> {
        for (i, v) in self.old.vars().iter().enumerate() {
            if let Cut::Variable(gone, value) = *self.cut
                && gone == i
            {
                let value =
                    value.unwrap_or_else(|| self.builder.pool.constant(Sort::first_value(v.sort)));
                self.terms.insert(v.current, value);
                self.terms.insert(v.next, value);
                self.vars.push(None);
                continue;
            }
            let range = if self.has_range(i) { v.range.clone() } else { None };
            let id = self.builder.var(&v.name, v.sort, v.role, range, v.span).ok()?;
            self.builder.set_stream(id, v.stream);
            self.vars.push(Some(id));
        }
        Some(())
    }

    fn nodes_and_assumptions(&mut self) -> Option<()> {
        for (n, node) in self.old.nodes().iter().enumerate() {
            if node.is_final && *self.cut != Cut::Final(n) {
                self.builder.set_final(n.into());
            }
        }
        for (a, assumption) in self.old.assumptions().iter().enumerate() {
            let by_builder = (0..self.old.vars().len())
                .any(|v| self.is_range_of(a, v) && self.vars[v].is_some() && self.has_range(v));
            if by_builder || *self.cut == Cut::Assumption(a) {
                continue;
            }
            let name = &self.old.element_name(assumption.id);
            let t = self.term(Some(Place::Assumption(a)), assumption.term.term())?;
            let formula = self.builder.state_formula(t, name).ok()?;
            self.builder.assumption(name, formula, None);
        }
        Some(())
    }

    fn starts(&mut self) -> Option<()> {
        for (s, start) in self.old.starts().iter().enumerate() {
            if *self.cut == Cut::Start(s) {
                self.starts.push(None);
                continue;
            }
            let mut conjuncts = Vec::new();
            for (c, element) in start.constraint.iter().enumerate() {
                conjuncts.push((self.term(Some(Place::Start(s, c)), element.term.term())?, None));
            }
            let id = self.builder.start(&start.name, start.target, &conjuncts, start.span).ok()?;
            self.starts.push(Some(id));
        }
        Some(())
    }

    /// Copies a transition; `None` if that fails, `Some(None)` if it was removed.
    fn transition(&mut self, t: usize) -> Option<Option<TransitionId>> {
        if *self.cut == Cut::Transition(t) {
            return Some(None);
        }
        let old = &self.old.transitions()[t];
        let gate = old.gate.map(|g| self.builder.gate(&self.old.gates()[g.index()]));
        let mut draft =
            self.builder.transition(&old.name, gate, old.source, old.target, old.span).ok()?;
        let mut ranged = Vec::new();
        for (p, param) in old.params.iter().enumerate() {
            let copied = if *self.cut == Cut::Parameter(t, p) {
                self.builder.pool.constant(Sort::first_value(param.sort))
            } else {
                let symbol = self
                    .builder
                    .param(&mut draft, &param.name, param.sort, param.range.clone())
                    .ok()?;
                if param.range.is_some() {
                    ranged.push(format!("{} range of {}", old.name, param.name));
                }
                self.builder.pool.var(symbol)
            };
            self.terms.insert(param.symbol, copied);
        }
        for (g, element) in old.guard.iter().enumerate() {
            let info = &self.old.elements()[element.id.index()];
            let by_builder = info.kind == ElementKind::ParameterRange
                && ranged.contains(&self.old.element_name(element.id));
            if by_builder || *self.cut == Cut::Guard(t, g) {
                continue;
            }
            let term = self.term(Some(Place::Guard(t, g)), element.term.term())?;
            self.builder.guard(&mut draft, term, None).ok()?;
        }
        let mut settled: Vec<VarId> = Vec::new();
        let mut primed: Vec<SymbolId> = Vec::new();
        for (e, effect) in old.effect.iter().enumerate() {
            match *effect {
                Effect::Assign { var, .. } | Effect::Keep { var, .. } => settled.push(var),
                Effect::Constrain { relation, .. } => {
                    primed.extend(self.old.pool().free_symbols(&[relation.term()]));
                }
            }
            if *self.cut == Cut::Effect(t, e) {
                continue;
            }
            match *effect {
                Effect::Assign { var, value, .. } => {
                    let Some(var) = self.vars[var.index()] else { continue };
                    let value = self.term(Some(Place::Effect(t, e)), value.term())?;
                    self.builder.assign(&mut draft, var, value, None).ok()?;
                }
                Effect::Constrain { relation, .. } => {
                    let relation = self.term(Some(Place::Effect(t, e)), relation.term())?;
                    self.builder.constrain(&mut draft, relation, None).ok()?;
                }
                // The builder adds frames for state variables itself.
                Effect::Keep { var, .. } => {
                    if let Some(var) = self.vars[var.index()]
                        && self.builder.so_far().var(var).role == Role::Input
                    {
                        self.builder.keep(&mut draft, var);
                    }
                }
            }
        }
        // Variables that were free stay free.
        for (v, var) in self.old.vars().iter().enumerate() {
            if let Some(id) = self.vars[v]
                && !settled.contains(&VarId::from(v))
                && !primed.contains(&var.next)
            {
                self.builder.free(&mut draft, id);
            }
        }
        Some(Some(self.builder.add(draft).ok()?))
    }

    fn kept(&self, transitions: &[TransitionId]) -> Vec<TransitionId> {
        transitions.iter().filter_map(|t| self.transitions[t.index()]).collect()
    }

    fn fairness(&mut self) -> Option<()> {
        for (f, fairness) in self.old.fairness().iter().enumerate() {
            if *self.cut == Cut::Fairness(f) {
                self.fairness.push(None);
                continue;
            }
            let kind = match &fairness.kind {
                FairnessKind::Justice(p) => {
                    let p = self.term(Some(Place::Fairness(f)), p.term())?;
                    FairnessKind::Justice(self.builder.state_formula(p, "fairness").ok()?)
                }
                FairnessKind::Weak(t) => FairnessKind::Weak(self.kept(t)),
                FairnessKind::Strong(t) => FairnessKind::Strong(self.kept(t)),
            };
            self.fairness
                .push(Some(self.builder.fairness(&fairness.name, kind, fairness.span).ok()?));
        }
        Some(())
    }

    fn claims(&mut self) -> Option<()> {
        for (c, claim) in self.old.claims().iter().enumerate() {
            let by_builder = matches!(claim.origin, ClaimOrigin::Range(v)
                if self.vars[v.index()].is_some() && self.has_range(v.index()));
            if by_builder || !self.keeps_claim(c) {
                continue;
            }
            let Some(kind) = self.claim(c, &claim.kind) else { continue };
            let origin = match claim.origin {
                ClaimOrigin::Range(_) => ClaimOrigin::Written,
                other => other,
            };
            self.builder.claim(&claim.name, kind, origin, &claim.text, claim.span).ok()?;
        }
        Some(())
    }

    fn formula(&mut self, c: usize, i: usize, t: TermId) -> Option<gander_system::StateTerm> {
        let t = self.term(Some(Place::Claim(c, i)), t)?;
        self.builder.state_formula(t, "claim").ok()
    }

    fn under(&self, under: &[FairnessId]) -> Vec<FairnessId> {
        under.iter().filter_map(|f| self.fairness[f.index()]).collect()
    }

    /// Copies a claim; `None` if what it is about was removed.
    fn claim(&mut self, c: usize, kind: &ClaimKind) -> Option<ClaimKind> {
        Some(match kind {
            ClaimKind::Always(p) => ClaimKind::Always(self.formula(c, 0, p.term())?),
            ClaimKind::AlwaysPossible(p) => {
                ClaimKind::AlwaysPossible(self.formula(c, 0, p.term())?)
            }
            ClaimKind::ExistsAlways(p) => ClaimKind::ExistsAlways(self.formula(c, 0, p.term())?),
            ClaimKind::CanEnable(t) => ClaimKind::CanEnable(self.transitions[t.index()]?),
            ClaimKind::Completable(t) => ClaimKind::Completable(self.transitions[t.index()]?),
            ClaimKind::StartSatisfiable(s) => ClaimKind::StartSatisfiable(self.starts[s.index()]?),
            ClaimKind::NoSinkhole(_) | ClaimKind::NoDeadlock | ClaimKind::InfiniteRun => {
                kind.clone()
            }
            ClaimKind::Eventually { goal, under } => ClaimKind::Eventually {
                goal: self.formula(c, 0, goal.term())?,
                under: self.under(under),
            },
            ClaimKind::AlwaysEventually { goal, under } => ClaimKind::AlwaysEventually {
                goal: self.formula(c, 0, goal.term())?,
                under: self.under(under),
            },
            ClaimKind::LeadsTo { from, to, under } => ClaimKind::LeadsTo {
                from: self.formula(c, 0, from.term())?,
                to: self.formula(c, 1, to.term())?,
                under: self.under(under),
            },
            ClaimKind::Reachable(goals) => {
                let mut copied = Vec::new();
                for (i, goal) in goals.iter().enumerate() {
                    if *self.cut != Cut::Goal(c, i) {
                        copied.push(self.goal(c, i, goal)?);
                    }
                }
                ClaimKind::Reachable(copied)
            }
        })
    }

    fn goal(&mut self, c: usize, i: usize, goal: &Goal) -> Option<Goal> {
        match goal {
            Goal::State(p) => Some(Goal::State(self.formula(c, i, p.term())?)),
            Goal::Step { gate, choices } => {
                let gate = gate.map(|g| self.builder.gate(&self.old.gates()[g.index()]));
                let mut kept = Vec::new();
                for (t, formula) in choices {
                    if let Some(id) = self.transitions[t.index()] {
                        kept.push((id, self.term(None, formula.term())?));
                    }
                }
                self.builder.step_goal(gate, &kept, "goal").ok()
            }
        }
    }
}

//! Systems that differ from a given one in a few parts.
//!
//! A [`System`] is immutable; each function here returns a changed copy or consumes the original.
//! None adds a variable, node or transition, so every id keeps its meaning.

use crate::claim::Claim;
use crate::formula::{ChoiceTerm, StateTerm, StepTerm};
use crate::origin::{Element, ElementId, ElementInfo, ElementKind, ElementName};
use crate::system::{Ambiguity, Effect, NodeId, Range, Role, StateVar, Structure, System, VarId};
use gander_term::{Pool, Sort, TermId, Value};

impl System {
    /// The relaxation that keeps only the elements that satisfy `keeps`.
    ///
    /// Removing an element only weakens (docs/semantics.md, validity cores): a guard, a start or an
    /// assumption loses a conjunct; a variable without its equation or assignment may take any
    /// value. Every run of the system is therefore a run of the relaxation, and what holds in the
    /// relaxation holds in the system.
    pub fn relaxed(&self, keeps: impl Fn(ElementId) -> bool) -> System {
        let mut relaxed = self.clone();
        relaxed.certain_ranges.clear();
        for start in &mut relaxed.starts {
            start.constraint.retain(|e| keeps(e.id));
        }
        for t in &mut relaxed.transitions {
            t.guard.retain(|e| keeps(e.id));
            t.effect.retain(|e| keeps(e.id()));
        }
        relaxed.assumptions.retain(|e| keeps(e.id));
        // A range that is an assumption is removed with it.
        for (i, info) in self.elements.iter().enumerate() {
            match (info.kind, &info.name) {
                (ElementKind::ParameterRange, ElementName::OfParam(t, p))
                    if !keeps(ElementId(i as u32)) =>
                {
                    relaxed.transitions[t.index()].params[*p as usize].range = None;
                }
                (ElementKind::Assumption, ElementName::Given(name))
                    if !keeps(ElementId(i as u32)) =>
                {
                    if let Some(var) = name.strip_prefix("range of ")
                        && let Some(v) = relaxed.vars.iter_mut().find(|v| v.name == var)
                    {
                        v.range = None;
                    }
                }
                _ => {}
            }
        }
        relaxed
    }

    /// The system with another [`Structure`], which decides its structural claims.
    pub fn with_structure(self, structure: Structure) -> System {
        System { structure, ..self }
    }

    /// The system with these ranges; a variable keeps its range where `range` gives none. The
    /// caller guarantees that no run leaves the new ranges.
    pub fn with_ranges(mut self, range: impl Fn(usize, &StateVar) -> Option<Range>) -> System {
        self.certain_ranges.clear();
        for (i, v) in self.vars.iter_mut().enumerate() {
            if let Some(range) = range(i, v) {
                v.range = Some(range);
            }
        }
        self
    }

    /// The system with new names of variables, nodes, claims and transitions, asked in this order.
    /// Elements keep their names.
    pub fn renamed(mut self, mut name: impl FnMut(&str) -> String) -> System {
        self.vars.iter_mut().for_each(|v| v.name = name(&v.name));
        self.nodes.iter_mut().for_each(|n| n.name = name(&n.name));
        self.claims.iter_mut().for_each(|c| c.name = name(&c.name));
        self.transitions.iter_mut().for_each(|t| t.name = name(&t.name));
        self
    }

    /// The system with one more final node.
    pub fn with_final(mut self, node: NodeId) -> System {
        self.nodes[node.index()].is_final = true;
        self
    }

    /// The system with these claims, which may refer to its fairness constraints.
    pub fn with_claims(self, claims: Vec<Claim>) -> System {
        System { claims, ..self }
    }

    /// The system with the knowledge that the declared ranges of these variables hold in every
    /// reachable state.
    pub fn with_certain_ranges(mut self, vars: impl IntoIterator<Item = VarId>) -> System {
        self.certain_ranges.extend(vars);
        self
    }

    /// True if a variable has a range that holds in every reachable state: the steps of a system
    /// without a drawn graph cannot leave it, it is an assumption about an input, or it was proved
    /// ([`System::with_certain_ranges`]).
    pub fn has_certain_range(&self, v: VarId) -> bool {
        let var = self.var(v);
        var.range.is_some()
            && (self.structure == Structure::Undrawn
                || var.role == Role::Input
                || self.certain_ranges.contains(&v))
    }

    /// True if it has a declared range that is a claim which may fail.
    pub fn has_open_ranges(&self) -> bool {
        self.var_ids().any(|v| self.var(v).range.is_some() && !self.has_certain_range(v))
    }

    /// The system in which ints without a range have this one, with these ints. As in scripts, a
    /// step that would leave the range is disabled, so the system may have fewer runs.
    pub fn with_default_range(&self, range: &Range) -> (System, Vec<VarId>) {
        let (mut system, mut pool) = (self.clone(), Pool::fork(&self.pool));
        let unranged = |v: &VarId| self.var(*v).sort == Sort::Int && self.var(*v).range.is_none();
        let ranged: Vec<VarId> = self.var_ids().filter(unranged).collect();
        if ranged.is_empty() {
            return (system, ranged);
        }
        let elements = &mut system.elements;
        let mut element = |kind: ElementKind| {
            let name = ElementName::Given("default range".into());
            elements.push(ElementInfo { name, kind, span: None });
            ElementId(elements.len() as u32 - 1)
        };
        for &v in &ranged {
            system.vars[v.index()].range = Some(range.clone());
            let var = self.var(v);
            let now = pool.var(var.current);
            let term = within(&mut pool, now, range);
            if var.role == Role::Input {
                let id = element(ElementKind::Assumption);
                system.assumptions.push(Element { id, term: StateTerm(term) });
                continue;
            }
            for start in &mut system.starts {
                let id = element(ElementKind::Start);
                start.constraint.push(Element { id, term: StateTerm(term) });
            }
            for t in &mut system.transitions {
                match t.effect_on(v) {
                    Some(Effect::Keep { .. }) => {}
                    Some(Effect::Assign { value, .. }) => {
                        let term = within(&mut pool, value.term(), range);
                        if pool.as_bool(term) != Some(true) {
                            let id = element(ElementKind::Guard);
                            t.guard.push(Element { id, term: ChoiceTerm(term) });
                        }
                    }
                    _ => {
                        let next = pool.var(var.next);
                        let relation = StepTerm(within(&mut pool, next, range));
                        let id = element(ElementKind::Constraint);
                        t.effect.push(Effect::Constrain { id, relation });
                        t.causal = false;
                    }
                }
            }
        }
        system.pool = pool.freeze();
        let states = ranged.iter().copied().filter(|v| self.var(*v).role == Role::State);
        (system.with_certain_ranges(states), ranged)
    }

    /// The system without fairness constraints; no claim may refer to one.
    pub fn without_fairness(self) -> System {
        System { fairness: Vec::new(), ..self }
    }

    /// The system with a formula that only some readers of the language assume.
    pub fn with_ambiguity(self, ambiguity: Ambiguity) -> System {
        System { ambiguity: Some(ambiguity), ..self }
    }

    /// The system under the assumption of its ambiguity, if it has one. Variables, steps and claims
    /// are the same.
    pub fn narrow_reading(&self) -> Option<System> {
        Some(self.with_assumption(self.ambiguity.as_ref()?.formula))
    }

    /// The system to simulate, if it is another one: the narrow reading, but with any functions
    /// without a body. That these are functions over a whole run is left to the simulation
    /// ([`System::functions`]).
    pub fn simulated(&self) -> Option<System> {
        match (self.functions.is_empty(), self.language) {
            (true, _) => self.narrow_reading(),
            (false, Some(language)) => Some(self.with_assumption(language)),
            (false, None) => None,
        }
    }

    fn with_assumption(&self, assumption: StateTerm) -> System {
        let mut system = self.clone();
        let id = ElementId(system.elements.len() as u32);
        let (name, kind) = (ElementName::Given("ambiguity".into()), ElementKind::Assumption);
        system.elements.push(ElementInfo { name, kind, span: None });
        system.assumptions.push(Element { id, term: assumption });
        system.ambiguity = None;
        system
    }
}

/// The formula that an int is within a range.
fn within(pool: &mut Pool, t: TermId, range: &Range) -> TermId {
    if let Some(Value::Int(i)) = pool.as_constant(t) {
        return if range.low <= i && i <= range.high { pool.tt() } else { pool.ff() };
    }
    let (low, high) = (pool.int(range.low.clone()), pool.int(range.high.clone()));
    let (low, high) = (pool.le(low, t), pool.le(t, high));
    pool.and([low, high])
}

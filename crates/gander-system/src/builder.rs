//! Building a system, with every invariant checked.
//!
//! A front-end declares variables, nodes, starts, transitions and claims, then calls [`SystemBuilder::finish`].
//! What the builder guarantees of the result:
//! - names are unique within their kind; there is at least one node;
//! - every term is in scope for its place (see [`StateTerm`]) and of sort bool where a formula is expected;
//! - an effect treats every variable in at most one of these ways: assigns it, keeps it, primes it in constraints;
//! - an assigned value has the sort of its variable;
//! - ranges of state variables have become claims, ranges of parameters guards, ranges of inputs assumptions.

use std::fmt;

use gander_term::{NameClash, Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::claim::{Claim, ClaimKind, ClaimOrigin, Fairness, FairnessId, FairnessKind, Goal};
use crate::formula::{ChoiceTerm, StateTerm, StepTerm};
use crate::origin::{Element, ElementId, ElementInfo, ElementKind, Span};
use crate::system::{
    Effect, GateId, Graph, Node, NodeId, Param, Range, Role, Start, StartId, StateVar, System, Transition,
    TransitionId, VarId,
};

/// Why something could not be built. Front-ends check first and show their own diagnostics; this is the safety net.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BuildError {
    /// Two things of one kind have one name.
    Duplicate(String),
    /// A name stands for two sorts.
    Clash(NameClash),
    /// A term mentions a symbol that its place does not allow.
    Scope {
        /// Where.
        place: String,
        /// The symbol.
        symbol: String,
    },
    /// A term has the wrong sort for its place.
    Sort {
        /// Where.
        place: String,
        /// What belongs there.
        expected: Sort,
        /// What was there.
        found: Sort,
    },
    /// A variable is assigned, kept or primed in more than one way.
    Conflict {
        /// The transition.
        transition: String,
        /// The variable.
        variable: String,
    },
    /// The control graph has no node.
    NoNode,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Duplicate(name) => write!(f, "`{name}` is declared twice"),
            BuildError::Clash(clash) => clash.fmt(f),
            BuildError::Scope { place, symbol } => write!(f, "{place} may not mention `{symbol}`"),
            BuildError::Sort { place, expected, found } => write!(f, "{place} has sort {found:?}, not {expected:?}"),
            BuildError::Conflict { transition, variable } => {
                write!(f, "the effect of `{transition}` determines `{variable}` in two ways")
            }
            BuildError::NoNode => write!(f, "the control graph has no node"),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<NameClash> for BuildError {
    fn from(clash: NameClash) -> BuildError {
        BuildError::Clash(clash)
    }
}

/// `@node` of the enumeration `@Node`; with a number behind if `pool` is a fork of another system's pool, whose nodes
/// have these names.
fn declare_location(pool: &mut Pool, variants: &[&str]) -> SymbolId {
    let mut tag = String::new();
    let mut n = 1;
    loop {
        if let Ok(sort) = pool.declare_enum(&format!("@Node{tag}"), variants)
            && let Ok(symbol) = pool.declare(&format!("@node{tag}"), Sort::Enum(sort))
        {
            return symbol;
        }
        n += 1;
        tag = format!("~{n}");
    }
}

/// What a symbol is to the system being built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meaning {
    Current,
    Next(VarId),
    Location,
    Param(TransitionId),
}

/// A transition under construction: made by [`SystemBuilder::transition`], its parameters may be used in terms at once.
#[derive(Clone, Debug)]
pub struct TransitionDraft {
    id: TransitionId,
    transition: Transition,
    freed: FxHashSet<VarId>,
}

impl TransitionDraft {
    /// The id that the transition will have.
    pub fn id(&self) -> TransitionId {
        self.id
    }
}

/// Builds a [`System`]; see the module's documentation.
#[derive(Debug)]
pub struct SystemBuilder {
    /// The terms of the system; front-ends build their terms here.
    pub pool: Pool,
    system: System,
    meaning: FxHashMap<SymbolId, Meaning>,
    names: FxHashSet<(&'static str, String)>,
    gates: FxHashMap<String, GateId>,
    in_scope: FxHashMap<TermId, Scope>,
}

/// The widest scope that the symbols of a term need.
#[derive(Clone, Copy, Default, Debug)]
struct Scope {
    location: Option<SymbolId>,
    next: Option<SymbolId>,
    param: Option<(SymbolId, TransitionId)>,
    mixed: Option<SymbolId>,
    unknown: Option<SymbolId>,
}

impl SystemBuilder {
    /// A builder for a system with these nodes, in this order. `pool` may hold enumerations already.
    pub fn new(name: &str, mut pool: Pool, nodes: &[(&str, Option<Span>)]) -> Result<SystemBuilder, BuildError> {
        if nodes.is_empty() {
            return Err(BuildError::NoNode);
        }
        let mut names = FxHashSet::default();
        for (n, _) in nodes {
            if !names.insert(("node", n.to_string())) {
                return Err(BuildError::Duplicate(n.to_string()));
            }
        }
        let variants: Vec<&str> = nodes.iter().map(|(n, _)| *n).collect();
        let location = declare_location(&mut pool, &variants);
        let system = System {
            name: name.to_string(),
            pool: Pool::new().freeze(),
            location,
            vars: Vec::new(),
            gates: Vec::new(),
            nodes: nodes
                .iter()
                .map(|(n, span)| Node { name: n.to_string(), is_final: false, hints: Vec::new(), span: *span })
                .collect(),
            starts: Vec::new(),
            transitions: Vec::new(),
            assumptions: Vec::new(),
            fairness: Vec::new(),
            claims: Vec::new(),
            elements: Vec::new(),
            graph: Graph::default(),
        };
        let meaning = [(location, Meaning::Location)].into_iter().collect();
        Ok(SystemBuilder { pool, system, meaning, names, gates: FxHashMap::default(), in_scope: FxHashMap::default() })
    }

    /// What has been built so far; its pool is empty until [`SystemBuilder::finish`].
    pub fn so_far(&self) -> &System {
        &self.system
    }

    fn claim_name(&mut self, kind: &'static str, name: &str) -> Result<(), BuildError> {
        if self.names.insert((kind, name.to_string())) { Ok(()) } else { Err(BuildError::Duplicate(name.to_string())) }
    }

    fn element(&mut self, name: String, kind: ElementKind, span: Option<Span>) -> ElementId {
        let id = ElementId(self.system.elements.len() as u32);
        self.system.elements.push(ElementInfo { name, kind, span });
        id
    }

    /// Declares a state variable or an input.
    pub fn var(
        &mut self,
        name: &str,
        sort: Sort,
        role: Role,
        range: Option<Range>,
        span: Option<Span>,
    ) -> Result<VarId, BuildError> {
        self.claim_name("var", name)?;
        let current = self.pool.declare(name, sort)?;
        let next = self.pool.declare(&format!("{name}'"), sort)?;
        let id = VarId::from(self.system.vars.len());
        self.meaning.insert(current, Meaning::Current);
        self.meaning.insert(next, Meaning::Next(id));
        if let Some(range) = &range {
            let within = self.within(current, range);
            match role {
                Role::Input => {
                    let formula = self.state_formula(within, name)?;
                    self.assumption(&format!("range of {name}"), formula, span);
                }
                Role::State => {
                    let text = format!("always {} <= {name} <= {}", range.low, range.high);
                    let formula = self.state_formula(within, name)?;
                    let claim_name = format!("range of {name}");
                    self.claim(&claim_name, ClaimKind::Always(formula), ClaimOrigin::Range(id), &text, span)?;
                }
            }
        }
        self.system.vars.push(StateVar { name: name.to_string(), sort, current, next, role, range, span });
        Ok(id)
    }

    /// Notes the range of a variable whose range claim or assumption is there already.
    pub(crate) fn set_range(&mut self, var: VarId, range: Option<Range>) {
        self.system.vars[var.index()].range = range;
    }

    fn within(&mut self, symbol: SymbolId, range: &Range) -> TermId {
        let x = self.pool.var(symbol);
        let constant = |i: &gander_term::IBig| match self.pool.symbol(symbol).sort {
            Sort::Real => Value::whole(i.clone()),
            _ => Value::Int(i.clone()),
        };
        let (low, high) = (constant(&range.low), constant(&range.high));
        let (low, high) = (self.pool.constant(low), self.pool.constant(high));
        let (a, b) = (self.pool.le(low, x), self.pool.le(x, high));
        self.pool.and([a, b])
    }

    /// Makes a node final.
    pub fn set_final(&mut self, n: NodeId) {
        self.system.nodes[n.index()].is_final = true;
    }

    /// Adds a node invariant of the user.
    pub fn hint(&mut self, n: NodeId, name: &str, formula: StateTerm, span: Option<Span>) {
        let id = self.element(name.to_string(), ElementKind::Hint, span);
        self.system.nodes[n.index()].hints.push(Element { id, term: formula });
    }

    /// Adds an assumption.
    pub fn assumption(&mut self, name: &str, formula: StateTerm, span: Option<Span>) {
        let id = self.element(name.to_string(), ElementKind::Assumption, span);
        self.system.assumptions.push(Element { id, term: formula });
    }

    /// Adds a start transition with its conjuncts. They may not mention `@node`.
    pub fn start(
        &mut self,
        name: &str,
        target: NodeId,
        conjuncts: &[(TermId, Option<Span>)],
        span: Option<Span>,
    ) -> Result<StartId, BuildError> {
        self.claim_name("start", name)?;
        let mut constraint = Vec::new();
        for (i, &(term, at)) in conjuncts.iter().enumerate() {
            let place = format!("{name} constraint {}", i + 1);
            let term = self.state_formula(term, &place)?;
            self.no_location(term.term(), &place)?;
            let id = self.element(place, ElementKind::Start, at);
            constraint.push(Element { id, term });
        }
        self.system.starts.push(Start { name: name.to_string(), target, constraint, span });
        Ok(StartId::from(self.system.starts.len() - 1))
    }

    /// The gate with this name, declared on first use.
    pub fn gate(&mut self, name: &str) -> GateId {
        if let Some(&g) = self.gates.get(name) {
            return g;
        }
        let id = GateId::from(self.system.gates.len());
        self.system.gates.push(name.to_string());
        self.gates.insert(name.to_string(), id);
        id
    }

    /// Begins a transition; [`SystemBuilder::add`] ends it. One draft at a time.
    pub fn transition(
        &mut self,
        name: &str,
        gate: Option<GateId>,
        source: NodeId,
        target: NodeId,
        span: Option<Span>,
    ) -> Result<TransitionDraft, BuildError> {
        self.claim_name("transition", name)?;
        Ok(TransitionDraft {
            id: TransitionId::from(self.system.transitions.len()),
            transition: Transition {
                name: name.to_string(),
                gate,
                source,
                target,
                params: Vec::new(),
                guard: Vec::new(),
                effect: Vec::new(),
                span,
            },
            freed: FxHashSet::default(),
        })
    }

    /// Adds a parameter; its symbol can be used in terms of this transition from now on.
    pub fn param(
        &mut self,
        draft: &mut TransitionDraft,
        name: &str,
        sort: Sort,
        range: Option<Range>,
    ) -> Result<SymbolId, BuildError> {
        let symbol = self.pool.declare_fresh(&format!("{}.{name}", draft.transition.name), sort);
        self.param_as(draft, name, symbol, range)
    }

    /// Adds a parameter under a symbol that the pool has already and that no other transition of this system uses.
    pub(crate) fn param_as(
        &mut self,
        draft: &mut TransitionDraft,
        name: &str,
        symbol: SymbolId,
        range: Option<Range>,
    ) -> Result<SymbolId, BuildError> {
        let taken = self.meaning.insert(symbol, Meaning::Param(draft.id)).is_some();
        if taken || draft.transition.params.iter().any(|p| p.name == name) {
            return Err(BuildError::Duplicate(name.to_string()));
        }
        let sort = self.pool.symbol(symbol).sort;
        if let Some(range) = &range {
            let within = self.within(symbol, range);
            let id =
                self.element(format!("{} range of {name}", draft.transition.name), ElementKind::ParameterRange, None);
            draft.transition.guard.push(Element { id, term: ChoiceTerm(within) });
        }
        draft.transition.params.push(Param { name: name.to_string(), sort, symbol, range });
        Ok(symbol)
    }

    /// Adds a conjunct to the guard.
    pub fn guard(&mut self, draft: &mut TransitionDraft, term: TermId, span: Option<Span>) -> Result<(), BuildError> {
        let place = format!("{} guard {}", draft.transition.name, draft.transition.guard.len() + 1);
        let term = self.choice_term(draft, term, &place)?;
        self.expect(term.term(), Sort::Bool, &place)?;
        let id = self.element(place, ElementKind::Guard, span);
        draft.transition.guard.push(Element { id, term });
        Ok(())
    }

    /// Adds `var := value`.
    pub fn assign(
        &mut self,
        draft: &mut TransitionDraft,
        var: VarId,
        value: TermId,
        span: Option<Span>,
    ) -> Result<(), BuildError> {
        let place = format!("{} {} :=", draft.transition.name, self.system.var(var).name);
        let value = self.choice_term(draft, value, &place)?;
        self.expect(value.term(), self.system.var(var).sort, &place)?;
        let id = self.element(place, ElementKind::Assignment, span);
        draft.transition.effect.push(Effect::Assign { id, var, value });
        Ok(())
    }

    /// Adds a constraint over primed variables.
    pub fn constrain(
        &mut self,
        draft: &mut TransitionDraft,
        term: TermId,
        span: Option<Span>,
    ) -> Result<(), BuildError> {
        let place = format!("{} effect {}", draft.transition.name, draft.transition.effect.len() + 1);
        let relation = self.step_term(draft, term, &place)?;
        self.expect(relation.term(), Sort::Bool, &place)?;
        let id = self.element(place, ElementKind::Constraint, span);
        draft.transition.effect.push(Effect::Constrain { id, relation });
        Ok(())
    }

    /// `any var`: the effect leaves the variable free.
    pub fn free(&mut self, draft: &mut TransitionDraft, var: VarId) {
        draft.freed.insert(var);
    }

    /// Ends a transition: every state variable that is not assigned, primed or freed is kept.
    pub fn add(&mut self, mut draft: TransitionDraft) -> Result<TransitionId, BuildError> {
        let mut assigned: FxHashSet<VarId> = FxHashSet::default();
        let mut primed: FxHashSet<VarId> = FxHashSet::default();
        let relations: Vec<TermId> = draft
            .transition
            .effect
            .iter()
            .filter_map(|e| match e {
                Effect::Constrain { relation, .. } => Some(relation.term()),
                _ => None,
            })
            .collect();
        for s in self.pool.free_symbols(&relations) {
            if let Some(&Meaning::Next(v)) = self.meaning.get(&s) {
                primed.insert(v);
            }
        }
        for e in &draft.transition.effect {
            if let Effect::Assign { var, .. } | Effect::Keep { var, .. } = *e
                && (!assigned.insert(var) || primed.contains(&var) || draft.freed.contains(&var))
            {
                return Err(BuildError::Conflict {
                    transition: draft.transition.name,
                    variable: self.system.var(var).name.clone(),
                });
            }
        }
        for v in self.system.var_ids() {
            let treated = assigned.contains(&v) || primed.contains(&v) || draft.freed.contains(&v);
            if self.system.var(v).role == Role::State && !treated {
                self.keep(&mut draft, v);
            }
        }
        self.system.transitions.push(draft.transition);
        Ok(draft.id)
    }

    /// Keeps a variable explicitly. Needed only where an input is to be kept, as a pass may want.
    pub fn keep(&mut self, draft: &mut TransitionDraft, var: VarId) {
        let name = format!("{} keeps {}", draft.transition.name, self.system.var(var).name);
        let id = self.element(name, ElementKind::Frame, None);
        draft.transition.effect.push(Effect::Keep { id, var });
    }

    /// Adds a claim.
    pub fn claim(
        &mut self,
        name: &str,
        kind: ClaimKind,
        origin: ClaimOrigin,
        text: &str,
        span: Option<Span>,
    ) -> Result<(), BuildError> {
        self.claim_name("claim", name)?;
        self.system.claims.push(Claim { name: name.to_string(), kind, origin, text: text.to_string(), span });
        Ok(())
    }

    /// Adds a fairness constraint.
    pub fn fairness(&mut self, name: &str, kind: FairnessKind, span: Option<Span>) -> Result<FairnessId, BuildError> {
        self.claim_name("fairness", name)?;
        self.system.fairness.push(Fairness { name: name.to_string(), kind, span });
        Ok(FairnessId::from(self.system.fairness.len() - 1))
    }

    /// A formula over one state, `@node` allowed.
    pub fn state_formula(&mut self, t: TermId, place: &str) -> Result<StateTerm, BuildError> {
        self.expect(t, Sort::Bool, place)?;
        let scope = self.scope(t);
        match scope.unknown.or(scope.next).or(scope.param.map(|p| p.0)) {
            Some(s) => Err(self.out_of_scope(place, s)),
            None => Ok(StateTerm(t)),
        }
    }

    /// A step goal: each transition with what must hold of state and parameters when it is taken.
    pub fn step_goal(
        &mut self,
        gate: Option<GateId>,
        choices: &[(TransitionId, TermId)],
        place: &str,
    ) -> Result<Goal, BuildError> {
        let mut checked = Vec::new();
        for &(id, term) in choices {
            self.expect(term, Sort::Bool, place)?;
            let term = self.choice_scope(id, term, place)?;
            checked.push((id, term));
        }
        Ok(Goal::Step { gate, choices: checked })
    }

    fn choice_term(&mut self, draft: &TransitionDraft, t: TermId, place: &str) -> Result<ChoiceTerm, BuildError> {
        self.choice_scope(draft.id, t, place)
    }

    fn choice_scope(&mut self, id: TransitionId, t: TermId, place: &str) -> Result<ChoiceTerm, BuildError> {
        let scope = self.scope(t);
        let foreign = scope.param.filter(|p| p.1 != id).map(|p| p.0).or(scope.mixed);
        match scope.unknown.or(scope.next).or(scope.location).or(foreign) {
            Some(s) => Err(self.out_of_scope(place, s)),
            None => Ok(ChoiceTerm(t)),
        }
    }

    fn step_term(&mut self, draft: &TransitionDraft, t: TermId, place: &str) -> Result<StepTerm, BuildError> {
        let scope = self.scope(t);
        let foreign = scope.param.filter(|p| p.1 != draft.id).map(|p| p.0).or(scope.mixed);
        match scope.unknown.or(scope.location).or(foreign) {
            Some(s) => Err(self.out_of_scope(place, s)),
            None => Ok(StepTerm(t)),
        }
    }

    fn no_location(&mut self, t: TermId, place: &str) -> Result<(), BuildError> {
        match self.scope(t).location {
            Some(s) => Err(self.out_of_scope(place, s)),
            None => Ok(()),
        }
    }

    fn out_of_scope(&self, place: &str, s: SymbolId) -> BuildError {
        BuildError::Scope { place: place.to_string(), symbol: self.pool.symbol(s).name.clone() }
    }

    fn expect(&self, t: TermId, expected: Sort, place: &str) -> Result<(), BuildError> {
        let found = self.pool.sort(t);
        if found == expected { Ok(()) } else { Err(BuildError::Sort { place: place.to_string(), expected, found }) }
    }

    /// Which symbols a term mentions, by meaning; remembered per subterm, so that shared terms cost once.
    fn scope(&mut self, t: TermId) -> Scope {
        let mut stack = vec![t];
        while let Some(&top) = stack.last() {
            if self.in_scope.contains_key(&top) {
                stack.pop();
                continue;
            }
            let open = stack.len();
            for &a in self.pool.args(top) {
                if !self.in_scope.contains_key(&a) {
                    stack.push(a);
                }
            }
            if stack.len() > open {
                continue;
            }
            let scope = match self.pool.op(top) {
                Op::Symbol(s) => self.symbol_scope(s),
                _ => self.pool.args(top).iter().fold(Scope::default(), |acc, a| acc.with(self.in_scope[a])),
            };
            self.in_scope.insert(top, scope);
            stack.pop();
        }
        self.in_scope[&t]
    }

    fn symbol_scope(&self, s: SymbolId) -> Scope {
        let none = Scope::default();
        if self.pool.symbol(s).bound {
            return none;
        }
        match self.meaning.get(&s) {
            Some(Meaning::Current) => none,
            Some(Meaning::Next(_)) => Scope { next: Some(s), ..none },
            Some(Meaning::Location) => Scope { location: Some(s), ..none },
            Some(Meaning::Param(t)) => Scope { param: Some((s, *t)), ..none },
            None => Scope { unknown: Some(s), ..none },
        }
    }

    /// The finished system.
    pub fn finish(self) -> System {
        let graph = Graph::of(self.system.nodes.len(), &self.system.transitions);
        System { pool: self.pool.freeze(), graph, ..self.system }
    }
}

impl Scope {
    fn with(self, other: Scope) -> Scope {
        let mixed = match (self.param, other.param) {
            (Some((_, a)), Some((s, b))) if a != b => Some(s),
            _ => None,
        };
        Scope {
            location: self.location.or(other.location),
            next: self.next.or(other.next),
            param: self.param.or(other.param),
            mixed: self.mixed.or(other.mixed).or(mixed),
            unknown: self.unknown.or(other.unknown),
        }
    }
}

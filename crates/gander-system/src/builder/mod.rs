//! Builds systems and checks their invariants.
//!
//! A front-end declares variables, nodes, starts, transitions and claims, then calls
//! [`SystemBuilder::finish`]. The builder guarantees of the result:
//! - names are unique within their kind; there is at least one node;
//! - every term is in scope for its place (see [`StateTerm`]) and of sort bool where a formula is
//!   expected;
//! - an effect treats every variable in at most one of these ways: assigns it, keeps it, primes it
//!   in constraints;
//! - an assigned value has the sort of its variable;
//! - the range of a state variable is a claim, that of a parameter a guard, that of an input an
//!   assumption.

mod composed;
mod scope;

use std::fmt;

use gander_term::{IBig, NameClash, Pool, Sort, SymbolId, TermId, Value};
use gander_text::{on_one_line, visible};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::aggregate::{Aggregate, Shape};
use crate::claim::{Claim, ClaimKind, ClaimOrigin, Fairness, FairnessId, FairnessKind, Goal};
use crate::formula::{ChoiceTerm, StateTerm, StepTerm};
use crate::origin::{Element, ElementId, ElementInfo, ElementKind, ElementName, Span};
use crate::system::{
    Ambiguity, ClaimCondition, Effect, Family, Function, GateId, Graph, Instance, Node, NodeId,
    Numerals, Param, Range, Role, Start, StartId, StateVar, StreamKind, Structure, System,
    Transition, TransitionId, UndefinedValue, VarId,
};

use scope::{Meaning, Place, Scopes};

/// Why a system could not be built. Front-ends check these conditions first and show their own
/// diagnostics.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BuildError {
    /// Two parts of one kind have the same name.
    Duplicate(String),
    /// A name has two sorts.
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
        /// The expected sort.
        expected: Sort,
        /// The sort of the term.
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
            BuildError::Sort { place, expected, found } => {
                write!(f, "{place} has sort {found:?}, not {expected:?}")
            }
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

/// `@node` of the enumeration `@Node`; with a number appended if these names are taken, as in a
/// fork of another system's pool.
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

/// How an effect treats a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Treatment {
    /// Not yet.
    None,
    /// Primed in a constraint, or freed.
    Open,
    /// Assigned or kept.
    Fixed,
}

/// A transition under construction, from [`SystemBuilder::transition`]. Its parameters may be used
/// in terms at once.
#[derive(Clone, Debug)]
pub struct TransitionDraft {
    id: TransitionId,
    transition: Transition,
    freed: Vec<VarId>,
}

impl TransitionDraft {
    /// The id that the transition will have.
    pub fn id(&self) -> TransitionId {
        self.id
    }

    /// The parameters so far.
    pub fn params(&self) -> &[Param] {
        &self.transition.params
    }
}

/// Builds a [`System`]; see the module's documentation.
#[derive(Debug)]
pub struct SystemBuilder {
    /// The terms of the system; front-ends build their terms here.
    pub pool: Pool,
    system: System,
    scopes: Scopes,
    names: FxHashSet<(&'static str, String)>,
    gates: FxHashMap<String, GateId>,
    /// By variable: how the effect of the current transition treats it; used by
    /// [`SystemBuilder::add`].
    treatment: Vec<Treatment>,
}

impl SystemBuilder {
    /// A builder for a system with these nodes, in this order. `pool` may have enumerations
    /// already.
    pub fn new(
        name: &str,
        mut pool: Pool,
        nodes: &[(&str, Option<Span>)],
    ) -> Result<SystemBuilder, BuildError> {
        if nodes.is_empty() {
            return Err(BuildError::NoNode);
        }
        let nodes: Vec<(String, Option<Span>)> =
            nodes.iter().map(|(n, span)| (visible(n).into_owned(), *span)).collect();
        let mut names = FxHashSet::default();
        for (n, _) in &nodes {
            if !names.insert(("node", n.to_string())) {
                return Err(BuildError::Duplicate(n.to_string()));
            }
        }
        let variants: Vec<&str> = nodes.iter().map(|(n, _)| n.as_str()).collect();
        let location = declare_location(&mut pool, &variants);
        let system = System {
            name: visible(name).into_owned(),
            pool: Pool::new().freeze(),
            location,
            vars: Vec::new(),
            gates: Vec::new(),
            nodes: nodes
                .iter()
                .map(|(n, span)| Node {
                    name: n.to_string(),
                    is_final: false,
                    hints: Vec::new(),
                    span: *span,
                })
                .collect(),
            starts: Vec::new(),
            transitions: Vec::new(),
            assumptions: Vec::new(),
            fairness: Vec::new(),
            claims: Vec::new(),
            elements: Vec::new(),
            ambiguity: None,
            conditions: Vec::new(),
            undefined: Vec::new(),
            functions: Vec::new(),
            language: None,
            structure: Structure::default(),
            step_limit: None,
            entry: None,
            instances: Vec::new(),
            final_condition: None,
            graph: Graph::default(),
            certain_ranges: Vec::new(),
            sizes: Vec::new(),
            families: Vec::new(),
            aggregates: Vec::new(),
        };
        let mut scopes = Scopes::default();
        scopes.declare(location, Meaning::Location);
        Ok(SystemBuilder {
            pool,
            system,
            scopes,
            names,
            gates: FxHashMap::default(),
            treatment: Vec::new(),
        })
    }

    /// What has been built so far; its pool is empty until [`SystemBuilder::finish`].
    pub fn so_far(&self) -> &System {
        &self.system
    }

    fn claim_name(&mut self, kind: &'static str, name: &str) -> Result<(), BuildError> {
        let name = visible(name).into_owned();
        if self.names.insert((kind, name.clone())) {
            Ok(())
        } else {
            Err(BuildError::Duplicate(name))
        }
    }

    fn element(&mut self, name: ElementName, kind: ElementKind, span: Option<Span>) -> ElementId {
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
        self.scopes.declare(current, Meaning::Current);
        self.scopes.declare(next, Meaning::Next(id));
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
                    self.claim(
                        &claim_name,
                        ClaimKind::Always(formula),
                        ClaimOrigin::Range(id),
                        &text,
                        span,
                    )?;
                }
            }
        }
        self.system.vars.push(StateVar {
            name: visible(name).into_owned(),
            sort,
            current,
            next,
            role,
            range,
            stream: None,
            numerals: Numerals::default(),
            span,
        });
        Ok(id)
    }

    /// Declares that variables are the parts of a variable of several parts. They are consecutive,
    /// and behind those of earlier aggregates.
    pub fn aggregate(&mut self, name: &str, shape: Shape, first: VarId) {
        let name = visible(name).into_owned();
        self.system.aggregates.push(Aggregate { name, shape, first: first.index() });
    }

    /// The same for the parameters of a transition, given the position of the first part.
    pub fn param_aggregate(
        &mut self,
        draft: &mut TransitionDraft,
        name: &str,
        shape: Shape,
        first: usize,
    ) {
        let name = visible(name).into_owned();
        draft.transition.aggregates.push(Aggregate { name, shape, first });
    }

    /// Sets the kind of stream of a variable.
    pub fn set_stream(&mut self, var: VarId, stream: Option<StreamKind>) {
        self.system.vars[var.index()].stream = stream;
    }

    /// Sets how the values of a bit-vector variable are shown.
    pub fn set_numerals(&mut self, var: VarId, numerals: Numerals) {
        self.system.vars[var.index()].numerals = numerals;
    }

    /// Sets the range of a variable whose range claim or assumption exists already.
    pub fn set_range(&mut self, var: VarId, range: Option<Range>) {
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

    /// Sets the formula that only some readers of the language assume.
    pub fn set_ambiguity(&mut self, formula: StateTerm, text: &str) {
        self.system.ambiguity = Some(Ambiguity { formula, text: on_one_line(text) });
    }

    /// Adds the condition of a claim.
    pub fn condition(&mut self, condition: ClaimCondition) {
        self.system.conditions.push(condition);
    }

    /// Adds the calls of a function without a body. `language` is the part of the ambiguity that is
    /// not about functions.
    pub fn functions(&mut self, functions: Vec<Function>, language: Option<StateTerm>) {
        self.system.functions = functions;
        self.system.language = language;
    }

    /// Adds the arbitrary value of an operation that is not defined everywhere.
    pub fn undefined_value(&mut self, value: UndefinedValue) {
        self.system.undefined.push(value);
    }

    /// Sets whether the author drew the control graph.
    pub fn set_structure(&mut self, structure: Structure) {
        self.system.structure = structure;
    }

    /// Sets the entry: runs of the model begin when they leave this node.
    pub fn set_entry(&mut self, node: NodeId) {
        self.system.entry = Some(node);
    }

    /// Sets the number of steps after which runs end, as bounded by the author.
    pub fn set_step_limit(&mut self, steps: IBig) {
        self.system.step_limit = Some(steps);
    }

    /// Sets the instances of a composed system.
    pub fn set_instances(&mut self, instances: Vec<Instance>) {
        self.system.instances = instances;
    }

    /// Sets the families whose variables are arrays.
    pub fn set_families(&mut self, families: Vec<Family>) {
        self.system.families = families;
    }

    /// Lets runs end in the states that satisfy a formula, at every node.
    pub fn set_final_condition(&mut self, formula: StateTerm) {
        self.system.final_condition = Some(formula);
    }

    /// Makes a node final.
    pub fn set_final(&mut self, n: NodeId) {
        self.system.nodes[n.index()].is_final = true;
    }

    /// Adds a node invariant of the user.
    pub fn hint(&mut self, n: NodeId, name: &str, formula: StateTerm, span: Option<Span>) {
        let id = self.element(ElementName::Given(visible(name).into()), ElementKind::Hint, span);
        self.system.nodes[n.index()].hints.push(Element { id, term: formula });
    }

    /// Adds an assumption.
    pub fn assumption(&mut self, name: &str, formula: StateTerm, span: Option<Span>) {
        let id =
            self.element(ElementName::Given(visible(name).into()), ElementKind::Assumption, span);
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
            let term = self.state_term(term, format_args!("{name} constraint {}", i + 1))?;
            self.in_scope(term.term(), Place::Values, format_args!("{name} constraint {}", i + 1))?;
            let start = StartId::from(self.system.starts.len());
            let id =
                self.element(ElementName::OfStart(start, i as u32 + 1), ElementKind::Start, at);
            constraint.push(Element { id, term });
        }
        self.system.starts.push(Start {
            name: visible(name).into_owned(),
            target,
            constraint,
            span,
        });
        Ok(StartId::from(self.system.starts.len() - 1))
    }

    /// [`SystemBuilder::start`] with names for the conjuncts.
    pub fn named_start(
        &mut self,
        name: &str,
        target: NodeId,
        conjuncts: &[(String, TermId, Option<Span>)],
        span: Option<Span>,
    ) -> Result<StartId, BuildError> {
        let first = self.system.elements.len();
        let plain: Vec<(TermId, Option<Span>)> =
            conjuncts.iter().map(|&(_, term, at)| (term, at)).collect();
        let start = self.start(name, target, &plain, span)?;
        for (info, (name, _, _)) in self.system.elements[first..].iter_mut().zip(conjuncts) {
            info.name = ElementName::Given(visible(name).into());
        }
        Ok(start)
    }

    /// The gate with this name, declared on first use.
    pub fn gate(&mut self, name: &str) -> GateId {
        let name: &str = &visible(name);
        if let Some(&g) = self.gates.get(name) {
            return g;
        }
        let id = GateId::from(self.system.gates.len());
        self.system.gates.push(name.to_string());
        self.gates.insert(name.to_string(), id);
        id
    }

    /// Begins a transition; [`SystemBuilder::add`] ends it. Only one draft may exist at a time.
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
                name: visible(name).into_owned(),
                gate,
                source,
                target,
                params: Vec::new(),
                guard: Vec::new(),
                effect: Vec::new(),
                causal: false,
                aggregates: Vec::new(),
                span,
            },
            freed: Vec::new(),
        })
    }

    /// Adds a parameter; terms of this transition may use its symbol from now on.
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

    /// Adds a parameter with a symbol of the pool that no other transition of this system uses.
    pub(crate) fn param_as(
        &mut self,
        draft: &mut TransitionDraft,
        name: &str,
        symbol: SymbolId,
        range: Option<Range>,
    ) -> Result<SymbolId, BuildError> {
        let taken = self.scopes.declare(symbol, Meaning::Param(draft.id)) != Meaning::Unknown;
        let name: &str = &visible(name);
        if taken || draft.transition.params.iter().any(|p| p.name == name) {
            return Err(BuildError::Duplicate(name.to_string()));
        }
        let sort = self.pool.symbol(symbol).sort;
        if let Some(range) = &range {
            let within = self.within(symbol, range);
            let name = ElementName::OfParam(draft.id, draft.transition.params.len() as u32);
            let id = self.element(name, ElementKind::ParameterRange, None);
            draft.transition.guard.push(Element { id, term: ChoiceTerm(within) });
        }
        draft.transition.params.push(Param { name: name.to_string(), sort, symbol, range });
        Ok(symbol)
    }

    /// Adds a conjunct to the guard.
    pub fn guard(
        &mut self,
        draft: &mut TransitionDraft,
        term: TermId,
        span: Option<Span>,
    ) -> Result<(), BuildError> {
        let number = draft.transition.guard.len() as u32 + 1;
        let name = &draft.transition.name;
        self.expect(term, Sort::Bool, format_args!("{name} guard {number}"))?;
        let term = self.choice_scope(draft.id, term, format_args!("{name} guard {number}"))?;
        let id =
            self.element(ElementName::OfTransition(draft.id, number), ElementKind::Guard, span);
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
        let transition = &draft.transition.name;
        let assigned = &self.system.vars[var.index()];
        self.expect(value, assigned.sort, format_args!("{transition} {} :=", assigned.name))?;
        let value = match self.choice_scope(draft.id, value, format_args!("{transition}")) {
            Ok(value) => value,
            Err(BuildError::Scope { place, symbol }) => {
                let place = format!("{place} {} :=", self.system.var(var).name);
                return Err(BuildError::Scope { place, symbol });
            }
            Err(other) => return Err(other),
        };
        let id = self.element(ElementName::OfVar(draft.id, var), ElementKind::Assignment, span);
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
        let number = draft.transition.effect.len() as u32 + 1;
        let name = &draft.transition.name;
        self.expect(term, Sort::Bool, format_args!("{name} effect {number}"))?;
        self.in_scope(term, Place::Step(draft.id), format_args!("{name} effect {number}"))?;
        let relation = StepTerm(term);
        let id = self.element(
            ElementName::OfTransition(draft.id, number),
            ElementKind::Constraint,
            span,
        );
        draft.transition.effect.push(Effect::Constrain { id, relation });
        Ok(())
    }

    /// [`SystemBuilder::constrain`] with a name for the element.
    pub fn named_constraint(
        &mut self,
        draft: &mut TransitionDraft,
        name: &str,
        term: TermId,
        span: Option<Span>,
    ) -> Result<(), BuildError> {
        self.constrain(draft, term, span)?;
        if let Some(info) = self.system.elements.last_mut() {
            info.name = ElementName::Given(visible(name).into());
        }
        Ok(())
    }

    /// Marks the effect as always completable; see [`Transition::causal`].
    pub fn set_causal(&mut self, draft: &mut TransitionDraft) {
        draft.transition.causal = true;
    }

    /// `any var`: the effect leaves the variable free.
    pub fn free(&mut self, draft: &mut TransitionDraft, var: VarId) {
        draft.freed.push(var);
    }

    /// Reserves memory for this many transitions. Call it after the variables are declared.
    pub fn expect_transitions(&mut self, count: usize) {
        let elements = count.saturating_mul(self.system.vars.len() + 2);
        self.system.transitions.reserve(count);
        // The estimate can be far too large.
        self.system.elements.reserve(elements.min(1 << 24));
    }

    /// Ends a transition: every state variable that is not assigned, primed or freed is kept.
    pub fn add(&mut self, mut draft: TransitionDraft) -> Result<TransitionId, BuildError> {
        self.treatment.clear();
        self.treatment.resize(self.system.vars.len(), Treatment::None);
        for e in &draft.transition.effect {
            if let Effect::Constrain { relation, .. } = e {
                for s in self.pool.free_symbols(&[relation.term()]) {
                    if let Meaning::Next(v) = self.scopes.meaning(s) {
                        self.treatment[v.index()] = Treatment::Open;
                    }
                }
            }
        }
        for v in &draft.freed {
            self.treatment[v.index()] = Treatment::Open;
        }
        for e in &draft.transition.effect {
            if let Some(var) = e.var()
                && std::mem::replace(&mut self.treatment[var.index()], Treatment::Fixed)
                    != Treatment::None
            {
                return Err(BuildError::Conflict {
                    transition: draft.transition.name,
                    variable: self.system.var(var).name.clone(),
                });
            }
        }
        let missing = self.treatment.iter().filter(|t| **t == Treatment::None).count();
        draft.transition.effect.reserve_exact(missing);
        for v in self.system.var_ids() {
            if self.system.var(v).role == Role::State
                && self.treatment[v.index()] == Treatment::None
            {
                self.keep(&mut draft, v);
            }
        }
        self.system.transitions.push(draft.transition);
        Ok(draft.id)
    }

    /// Keeps a variable explicitly; needed only for inputs, which passes may keep.
    pub fn keep(&mut self, draft: &mut TransitionDraft, var: VarId) {
        let id = self.element(ElementName::OfVar(draft.id, var), ElementKind::Frame, None);
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
        self.system.claims.push(Claim {
            name: visible(name).into_owned(),
            kind,
            origin,
            text: on_one_line(text),
            span,
        });
        Ok(())
    }

    /// Adds a fairness constraint.
    pub fn fairness(
        &mut self,
        name: &str,
        kind: FairnessKind,
        span: Option<Span>,
    ) -> Result<FairnessId, BuildError> {
        self.claim_name("fairness", name)?;
        self.system.fairness.push(Fairness { name: visible(name).into_owned(), kind, span });
        Ok(FairnessId::from(self.system.fairness.len() - 1))
    }

    /// A formula over one state, `@node` allowed.
    pub fn state_formula(&mut self, t: TermId, place: &str) -> Result<StateTerm, BuildError> {
        self.state_term(t, format_args!("{place}"))
    }

    /// A value of any sort over one state.
    pub fn state_value(&mut self, t: TermId, place: &str) -> Result<StateTerm, BuildError> {
        self.in_scope(t, Place::State, format_args!("{place}"))?;
        Ok(StateTerm(t))
    }

    fn state_term(
        &mut self,
        t: TermId,
        place: fmt::Arguments<'_>,
    ) -> Result<StateTerm, BuildError> {
        self.expect(t, Sort::Bool, place)?;
        self.in_scope(t, Place::State, place)?;
        Ok(StateTerm(t))
    }

    /// A step goal: each transition with the formula over state and parameters that its step meets.
    pub fn step_goal(
        &mut self,
        gate: Option<GateId>,
        choices: &[(TransitionId, TermId)],
        place: &str,
    ) -> Result<Goal, BuildError> {
        let mut checked = Vec::new();
        for &(id, term) in choices {
            self.expect(term, Sort::Bool, format_args!("{place}"))?;
            let term = self.choice_scope(id, term, format_args!("{place}"))?;
            checked.push((id, term));
        }
        Ok(Goal::Step { gate, choices: checked })
    }

    fn choice_scope(
        &mut self,
        id: TransitionId,
        t: TermId,
        place: fmt::Arguments<'_>,
    ) -> Result<ChoiceTerm, BuildError> {
        self.in_scope(t, Place::Choice(id), place)?;
        Ok(ChoiceTerm(t))
    }

    fn in_scope(
        &mut self,
        t: TermId,
        allowed: Place,
        place: fmt::Arguments<'_>,
    ) -> Result<(), BuildError> {
        match self.scopes.offender(&self.pool, t, allowed) {
            Some(s) => Err(BuildError::Scope {
                place: place.to_string(),
                symbol: self.pool.symbol(s).name.clone(),
            }),
            None => Ok(()),
        }
    }

    fn expect(
        &self,
        t: TermId,
        expected: Sort,
        place: fmt::Arguments<'_>,
    ) -> Result<(), BuildError> {
        let found = self.pool.sort(t);
        if found == expected {
            Ok(())
        } else {
            Err(BuildError::Sort { place: place.to_string(), expected, found })
        }
    }

    /// The finished system.
    pub fn finish(self) -> System {
        let graph = Graph::of(self.system.nodes.len(), &self.system.transitions);
        System { pool: self.pool.freeze(), graph, ..self.system }
    }
}

#[cfg(test)]
mod tests;

//! Symbolic transition systems with a control graph.
//!
//! A *state* is a node and a value for every state variable; docs/semantics.md is normative. A
//! [`System`] is immutable and made by a [`crate::SystemBuilder`], which checks its invariants.

use std::sync::Arc;

use gander_term::{IBig, Pool, Sort, SymbolId, TermId, Value};

use crate::aggregate::Aggregate;
use crate::claim::{Claim, Fairness};
use crate::formula::{ChoiceTerm, StateTerm, StepTerm};
use crate::location::fold_symbol;
use crate::origin::{Element, ElementId, ElementInfo, ElementKind, ElementName, Span};

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// Position in the system's list.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<usize> for $name {
            fn from(i: usize) -> $name {
                $name(i as u32)
            }
        }
    };
}
pub(crate) use index_type;

index_type! {
    /// A state variable, an index into [`System::vars`].
    VarId
}
index_type! {
    /// A node, an index into [`System::nodes`].
    NodeId
}
index_type! {
    /// A start transition, an index into [`System::starts`].
    StartId
}
index_type! {
    /// A transition, an index into [`System::transitions`].
    TransitionId
}
index_type! {
    /// A gate, an index into [`System::gates`].
    GateId
}

/// The inclusive range of an int, or of a real in languages that allow it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Range {
    /// Least value.
    pub low: IBig,
    /// Greatest value.
    pub high: IBig,
}

/// The role of a state variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Kept or changed by transitions.
    State,
    /// Gets a new value in every start and every step: no effect keeps it, effects may constrain
    /// it.
    Input,
}

/// The kind of stream of a state variable of a dataflow program; for traces. Its node instance is
/// the part of its name before the last dot (none for the root).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamKind {
    /// An input of a node instance.
    Input,
    /// An output.
    Output,
    /// A local variable.
    Local,
    /// A value that is arbitrary at every instant and has no name in the program: of `any`, or of a
    /// quotient by zero. Shown only in complete traces.
    Choice,
    /// Made by the front-end: the memory of an expression, a flag of an instance, a row of a
    /// function's table. Never shown.
    Internal,
}

/// How the bits of a bit-vector are read as a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Numerals {
    /// As a natural number.
    #[default]
    Unsigned,
    /// In two's complement.
    Signed,
}

/// A state variable.
#[derive(Clone, Debug)]
pub struct StateVar {
    /// The name, unique among variables.
    pub name: String,
    /// The sort.
    pub sort: Sort,
    /// The symbol of its value in a state.
    pub current: SymbolId,
    /// The symbol of its value in the next state, named with a prime.
    pub next: SymbolId,
    /// State or input.
    pub role: Role,
    /// The declared range. On a state variable it is a claim (`always`, added by the builder), on
    /// an input an assumption.
    pub range: Option<Range>,
    /// The kind of stream, in a dataflow language.
    pub stream: Option<StreamKind>,
    /// How the values of a bit-vector are shown.
    pub numerals: Numerals,
    /// Where it was declared.
    pub span: Option<Span>,
}

/// A node of the control graph.
#[derive(Clone, Debug)]
pub struct Node {
    /// The name, unique among nodes.
    pub name: String,
    /// True if a run may end here: it is no sinkhole and no deadlock.
    pub is_final: bool,
    /// Node invariants of the user. They are checked, not trusted.
    pub hints: Vec<Element<StateTerm>>,
    /// Where it was declared.
    pub span: Option<Span>,
}

/// A start transition: any state at `target` that satisfies all constraints (and the assumptions).
#[derive(Clone, Debug)]
pub struct Start {
    /// The name, unique among starts.
    pub name: String,
    /// The node it enters.
    pub target: NodeId,
    /// Its constraint, a conjunction.
    pub constraint: Vec<Element<StateTerm>>,
    /// Where it was written.
    pub span: Option<Span>,
}

/// A parameter of a transition.
#[derive(Clone, Debug)]
pub struct Param {
    /// The name, unique in its transition.
    pub name: String,
    /// The sort.
    pub sort: Sort,
    /// Its symbol, named `transition.parameter`.
    pub symbol: SymbolId,
    /// The declared range; the builder adds it to the guard as elements of kind `ParameterRange`.
    pub range: Option<Range>,
}

/// One part of an effect.
#[derive(Clone, Copy, Debug)]
pub enum Effect {
    /// `var := value`
    Assign {
        /// The element.
        id: ElementId,
        /// The variable.
        var: VarId,
        /// Its next value.
        value: ChoiceTerm,
    },
    /// A constraint over both states.
    Constrain {
        /// The element.
        id: ElementId,
        /// The constraint.
        relation: StepTerm,
    },
    /// The variable keeps its value.
    Keep {
        /// The element, of kind `Frame`.
        id: ElementId,
        /// The variable.
        var: VarId,
    },
}

impl Effect {
    /// The element.
    pub fn id(&self) -> ElementId {
        match self {
            Effect::Assign { id, .. } | Effect::Constrain { id, .. } | Effect::Keep { id, .. } => {
                *id
            }
        }
    }

    /// The variable that it assigns or keeps.
    pub fn var(&self) -> Option<VarId> {
        match self {
            Effect::Assign { var, .. } | Effect::Keep { var, .. } => Some(*var),
            Effect::Constrain { .. } => None,
        }
    }
}

/// A transition. A variable that its effect neither assigns nor keeps is restricted by the
/// constraints only.
#[derive(Clone, Debug)]
pub struct Transition {
    /// The name, unique among transitions.
    pub name: String,
    /// The observable label; `None` for an internal transition.
    pub gate: Option<GateId>,
    /// The node that it leaves.
    pub source: NodeId,
    /// The node that it enters.
    pub target: NodeId,
    /// The parameters, chosen in each step.
    pub params: Vec<Param>,
    /// The guard, a conjunction (ranges of parameters included).
    pub guard: Vec<Element<ChoiceTerm>>,
    /// The effect, a conjunction.
    pub effect: Vec<Effect>,
    /// True if the constraints are acyclic equations, one per variable. Like assignments, they can
    /// be completed in every state.
    pub causal: bool,
    /// The parameters of several parts, in the order of their parts.
    pub aggregates: Vec<Aggregate>,
    /// Where it was written.
    pub span: Option<Span>,
}

impl Transition {
    /// True if the effect consists of assignments and frames for all variables, so that the next
    /// state is a function of state and parameters.
    pub fn is_functional(&self, system: &System) -> bool {
        let fixed = self.effect.iter().filter(|e| !matches!(e, Effect::Constrain { .. })).count();
        fixed == self.effect.len() && fixed == system.vars.len()
    }

    /// The part of the effect that assigns or keeps the variable.
    pub fn effect_on(&self, var: VarId) -> Option<&Effect> {
        self.effect.iter().find(|e| e.var() == Some(var))
    }

    /// True if the effect assigns or keeps the variable, so that its next value is no choice.
    pub fn determines(&self, var: VarId) -> bool {
        self.effect_on(var).is_some()
    }
}

/// Whether the author drew the control graph. It decides which structural claims a system gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Structure {
    /// The author wrote nodes and transitions: all structural claims.
    #[default]
    Drawn,
    /// Rules without a graph: only the claim that a run exists.
    Undrawn,
    /// A file of another tool: no structural claims.
    Foreign,
}

/// A symbolic transition system.
#[derive(Clone, Debug)]
pub struct System {
    pub(crate) name: String,
    pub(crate) pool: Arc<Pool>,
    pub(crate) location: SymbolId,
    pub(crate) vars: Vec<StateVar>,
    pub(crate) gates: Vec<String>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) starts: Vec<Start>,
    pub(crate) transitions: Vec<Transition>,
    pub(crate) assumptions: Vec<Element<StateTerm>>,
    pub(crate) fairness: Vec<Fairness>,
    pub(crate) claims: Vec<Claim>,
    pub(crate) elements: Vec<ElementInfo>,
    pub(crate) ambiguity: Option<Ambiguity>,
    pub(crate) conditions: Vec<ClaimCondition>,
    pub(crate) undefined: Vec<UndefinedValue>,
    pub(crate) functions: Vec<Function>,
    pub(crate) language: Option<StateTerm>,
    pub(crate) structure: Structure,
    pub(crate) step_limit: Option<IBig>,
    pub(crate) entry: Option<NodeId>,
    pub(crate) instances: Vec<Instance>,
    pub(crate) final_condition: Option<StateTerm>,
    pub(crate) graph: Graph,
    /// Variables whose declared range holds in every reachable state, which the system itself does
    /// not say.
    pub(crate) certain_ranges: Vec<VarId>,
    pub(crate) sizes: Vec<Size>,
    pub(crate) families: Vec<Family>,
    pub(crate) aggregates: Vec<Aggregate>,
}

/// A family of instances whose variables are arrays over their indices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Family {
    /// Its name.
    pub name: String,
    /// The arrays.
    pub arrays: Vec<VarId>,
    /// The number of instances; their indices begin with 0.
    pub size: StateTerm,
}

/// A constant without a value, the size of a family: a variable that no step changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Size {
    /// The variable.
    pub var: VarId,
    /// The least value.
    pub low: IBig,
    /// The greatest value, if there is one.
    pub high: Option<IBig>,
}

/// An instance of a specification in a composed system. Its control graph is kept here; in the
/// composed system, the node of the instance is the value of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// Its name.
    pub name: String,
    /// The variable that holds its node; `None` if its specification has one node.
    pub location: Option<VarId>,
    /// Its variables, in the order of its specification, without the one that holds its node and
    /// without those that it reads of other instances.
    pub vars: Vec<VarId>,
    /// The nodes of its specification.
    pub nodes: Vec<InstanceNode>,
    /// The starts of its specification.
    pub starts: Vec<InstanceStart>,
    /// The transitions of its specification.
    pub transitions: Vec<InstanceTransition>,
}

/// A node of an instance's specification.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstanceNode {
    /// Its name in the specification.
    pub name: String,
    /// True if it is final in the specification.
    pub is_final: bool,
    /// Where it is written.
    pub span: Option<Span>,
    /// The formula that the instance is at this node.
    pub at: StateTerm,
}

/// A start of an instance's specification.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstanceStart {
    /// Its name in the specification.
    pub name: String,
    /// The position of the node that it enters, in [`Instance::nodes`].
    pub target: usize,
    /// Its elements in the composed system.
    pub elements: Vec<ElementId>,
    /// Its constraint in the specification.
    pub constraint: Vec<InstancePart>,
}

/// A conjunct of a start or of a guard, or a part of an effect, of an instance's specification. In
/// the composed system it may be a part of something larger: of a broadcast, for example.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstancePart {
    /// Its kind.
    pub kind: ElementKind,
    /// Where it is written.
    pub span: Option<Span>,
    /// The variable that it assigns.
    pub target: Option<String>,
    /// The formula, or the value that is assigned.
    pub formula: String,
}

/// A transition of an instance's specification.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstanceTransition {
    /// Its name in the specification.
    pub name: String,
    /// The position of the node that it leaves, in [`Instance::nodes`].
    pub source: usize,
    /// The position of the node that it enters.
    pub target: usize,
    /// Where it is written.
    pub span: Option<Span>,
    /// The names and sorts of its parameters.
    pub params: Vec<(String, String)>,
    /// Its guard in the specification, with ranges of parameters.
    pub guard: Vec<InstancePart>,
    /// Its effect in the specification, without frames.
    pub effect: Vec<InstancePart>,
    /// The transitions of the composed system in which the instance takes it.
    pub moves: Vec<Move>,
}

/// A transition of a composed system in which an instance takes a transition of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// The transition of the composed system.
    pub transition: TransitionId,
    /// The condition under which the instance takes its transition in it; `None` for always.
    pub condition: Option<ChoiceTerm>,
    /// True if the composed transition is a synchronisation.
    pub is_joint: bool,
}

/// The condition that a claim is made under, as in Lustre's `check e provided c`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimCondition {
    /// The name of the claim.
    pub claim: String,
    /// The condition.
    pub condition: StateTerm,
    /// Its text.
    pub text: String,
    /// Where it is written.
    pub span: Option<Span>,
}

/// A variable with the arbitrary value that an expression has where its operation is not defined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UndefinedValue {
    /// The name of the variable.
    pub var: String,
    /// The operation.
    pub operation: Undefined,
    /// The text of the index or divisor.
    pub text: String,
    /// The array that is read.
    pub array: Option<IndexedArray>,
    /// Where the operation is written.
    pub span: Option<Span>,
}

/// An array that is read with an index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IndexedArray {
    /// Its text.
    pub text: String,
    /// The number of its elements.
    pub size: u32,
}

/// An operation that is not defined for all values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Undefined {
    /// Reading an element of an array; the index may be outside of the array.
    Index,
    /// A quotient or remainder; the divisor may be zero.
    Division,
}

/// A function without a body: its calls with equal arguments have equal results, at all instants
/// of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// The name.
    pub name: String,
    /// The arguments and results of each call.
    pub calls: Vec<(Vec<StateTerm>, Vec<StateTerm>)>,
}

/// A point on which tools for a language differ: for some, every state satisfies a formula; for
/// others, it need not. The system is that of the others, which has more runs.
#[derive(Clone, Debug)]
pub struct Ambiguity {
    /// The formula that some tools assume.
    pub formula: StateTerm,
    /// In a sentence: which tools assume it, and how to write a model without the ambiguity.
    pub text: String,
}

impl System {
    /// The name of the specification.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The pool of the terms; engines fork it.
    pub fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// The symbol `@node` of the enumeration `@Node`, whose variants are the nodes in order. It is
    /// the node of a state in formulas of claims, assumptions and fairness. Guards and effects
    /// never mention it.
    pub fn location(&self) -> SymbolId {
        self.location
    }

    /// State variables and inputs.
    pub fn vars(&self) -> &[StateVar] {
        &self.vars
    }

    /// Names of gates.
    pub fn gates(&self) -> &[String] {
        &self.gates
    }

    /// Nodes; never empty.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Start transitions.
    pub fn starts(&self) -> &[Start] {
        &self.starts
    }

    /// Transitions.
    pub fn transitions(&self) -> &[Transition] {
        &self.transitions
    }

    /// The assumptions: every state of a run satisfies them.
    pub fn assumptions(&self) -> &[Element<StateTerm>] {
        &self.assumptions
    }

    /// Fairness constraints that claims refer to.
    pub fn fairness(&self) -> &[Fairness] {
        &self.fairness
    }

    /// The claims.
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// Every element, by [`ElementId`].
    pub fn elements(&self) -> &[ElementInfo] {
        &self.elements
    }

    /// The formula that only some tools for the language assume, if there is one.
    pub fn ambiguity(&self) -> Option<&Ambiguity> {
        self.ambiguity.as_ref()
    }

    /// The functions without a body. The system says less about them: that is its wide reading.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The arbitrary values of operations that are not defined everywhere.
    pub fn undefined_values(&self) -> &[UndefinedValue] {
        &self.undefined
    }

    /// The conditions of claims. If a condition never holds, its claim is vacuous.
    pub fn conditions(&self) -> &[ClaimCondition] {
        &self.conditions
    }

    /// Whether the author drew the control graph.
    pub fn structure(&self) -> Structure {
        self.structure
    }

    /// The number of steps after which runs end, if the author bounds them; verdicts about all runs
    /// mention it.
    pub fn step_limit(&self) -> Option<&IBig> {
        self.step_limit.as_ref()
    }

    /// The node that a front-end has added before the first states of the model: a run of the model
    /// begins when it leaves this node.
    pub fn entry(&self) -> Option<NodeId> {
        self.entry
    }

    /// The constants without a value that are sizes of families; only front-ends set them. Passes
    /// may drop them.
    pub fn sizes(&self) -> &[Size] {
        &self.sizes
    }

    /// The families of instances whose variables are arrays; only front-ends set them. Passes may
    /// drop them.
    pub fn families(&self) -> &[Family] {
        &self.families
    }

    /// The instances of a composed system; only front-ends set them.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// The formula of the states in which a run may end, beside those at final nodes.
    pub fn final_condition(&self) -> Option<StateTerm> {
        self.final_condition
    }
}

/// Transitions by node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    leaving: Vec<Vec<TransitionId>>,
    entering: Vec<Vec<TransitionId>>,
}

impl Graph {
    pub(crate) fn of(nodes: usize, transitions: &[Transition]) -> Graph {
        let mut graph =
            Graph { leaving: vec![Vec::new(); nodes], entering: vec![Vec::new(); nodes] };
        for (i, t) in transitions.iter().enumerate() {
            graph.leaving[t.source.index()].push(TransitionId::from(i));
            graph.entering[t.target.index()].push(TransitionId::from(i));
        }
        graph
    }
}

impl System {
    /// The transitions that leave a node.
    pub fn leaving(&self, node: NodeId) -> &[TransitionId] {
        &self.graph.leaving[node.index()]
    }

    /// The transitions that enter a node.
    pub fn entering(&self, node: NodeId) -> &[TransitionId] {
        &self.graph.entering[node.index()]
    }

    /// All transitions.
    pub fn transition_ids(&self) -> impl Iterator<Item = TransitionId> + use<> {
        (0..self.transitions.len()).map(TransitionId::from)
    }

    /// All nodes.
    pub fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId::from)
    }

    /// All variables.
    pub fn var_ids(&self) -> impl Iterator<Item = VarId> + use<> {
        (0..self.vars.len()).map(VarId::from)
    }

    /// A variable.
    pub fn var(&self, v: VarId) -> &StateVar {
        &self.vars[v.index()]
    }

    /// A value of a variable as text for people: `0.1` for a tenth, `1/3` for a third.
    pub fn show_value(&self, v: VarId, value: &Value) -> String {
        match (value, self.var(v).numerals) {
            (Value::BitVec(bits), Numerals::Signed) => bits.signed().to_string(),
            _ => self.pool.show_decimal(value),
        }
    }

    /// A node.
    pub fn node(&self, n: NodeId) -> &Node {
        &self.nodes[n.index()]
    }

    /// A transition.
    pub fn transition(&self, t: TransitionId) -> &Transition {
        &self.transitions[t.index()]
    }

    /// The constant of `@Node` for a node.
    pub fn node_constant(&self, pool: &mut Pool, n: NodeId) -> TermId {
        let Sort::Enum(id) = pool.symbol(self.location).sort else {
            unreachable!("@node is of an enumeration")
        };
        pool.constant(Value::Enum(id, n.0))
    }

    /// `t` at the node `n`: without `@node`, and folded.
    pub fn at_node(&self, pool: &mut Pool, t: StateTerm, n: NodeId) -> TermId {
        let here = self.node_constant(pool, n);
        fold_symbol(pool, t.term(), self.location, here)
    }

    /// The conjunction of the assumptions at a node.
    pub fn assumption_term(&self, pool: &mut Pool, n: NodeId) -> TermId {
        let parts: Vec<TermId> =
            self.assumptions.iter().map(|a| self.at_node(pool, a.term, n)).collect();
        pool.and(parts)
    }

    /// The conjunction of a start's constraints, assumptions not included.
    pub fn start_term(&self, pool: &mut Pool, s: StartId) -> TermId {
        pool.and(self.starts[s.index()].constraint.iter().map(|e| e.term.term()))
    }

    /// The conjunction of a transition's guard.
    pub fn guard_term(&self, pool: &mut Pool, t: TransitionId) -> TermId {
        pool.and(self.transition(t).guard.iter().map(|e| e.term.term()))
    }

    /// The conjunction of a transition's effect: a relation of state, parameters and next state.
    pub fn effect_term(&self, pool: &mut Pool, t: TransitionId) -> TermId {
        let parts: Vec<TermId> =
            self.transition(t).effect.iter().map(|e| self.effect_part(pool, e)).collect();
        pool.and(parts)
    }

    /// One part of an effect as a term.
    pub fn effect_part(&self, pool: &mut Pool, e: &Effect) -> TermId {
        match *e {
            Effect::Assign { var, value, .. } => {
                let next = pool.var(self.var(var).next);
                pool.eq(next, value.term())
            }
            Effect::Keep { var, .. } => {
                let (next, current) =
                    (pool.var(self.var(var).next), pool.var(self.var(var).current));
                pool.eq(next, current)
            }
            Effect::Constrain { relation, .. } => relation.term(),
        }
    }

    /// The name of an element in messages, for example `Open.deposit guard 1`.
    pub fn element_name(&self, e: ElementId) -> String {
        let info = &self.elements[e.index()];
        match info.name {
            ElementName::Given(ref name) => name.to_string(),
            ElementName::OfStart(s, n) => format!("{} constraint {n}", self.starts[s.index()].name),
            ElementName::OfTransition(t, n) => {
                let word = if info.kind == ElementKind::Guard { "guard" } else { "effect" };
                format!("{} {word} {n}", self.transition(t).name)
            }
            ElementName::OfVar(t, v) => {
                let (t, v) = (&self.transition(t).name, &self.var(v).name);
                if info.kind == ElementKind::Frame {
                    format!("{t} keeps {v}")
                } else {
                    format!("{t} {v} :=")
                }
            }
            ElementName::OfParam(t, p) => {
                let t = self.transition(t);
                format!("{} range of {}", t.name, t.params[p as usize].name)
            }
        }
    }

    /// The claim with this name.
    pub fn find_claim(&self, name: &str) -> Option<&Claim> {
        self.claims.iter().find(|c| c.name == name)
    }
}

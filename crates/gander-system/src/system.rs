//! Symbolic transition systems with a control graph.
//!
//! A *state* is a node and a value for every state variable. docs/semantics.md is normative; this module only gives
//! it a shape. A [`System`] is immutable and made by a [`crate::SystemBuilder`], which checks the invariants listed
//! there.

use std::sync::Arc;

use gander_term::{IBig, Pool, Sort, SymbolId, TermId, Value};

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

/// The inclusive range of an int (or, as numbers, of a real that the language lets have one).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Range {
    /// Least value.
    pub low: IBig,
    /// Greatest value.
    pub high: IBig,
}

/// What a state variable is to the author.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Kept or changed by transitions.
    State,
    /// Chosen anew by every start and every step: no effect ever keeps it, effects may constrain it.
    Input,
}

/// What kind of stream of a dataflow program a state variable is; for traces. The node instance it belongs to is the part
/// of its name before the last dot (none for the root).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamKind {
    /// An input of a node instance.
    Input,
    /// An output.
    Output,
    /// A local variable.
    Local,
    /// A value that is arbitrary at every instant and has no name in the program: of `any`, of a quotient by zero. People see it if
    /// they ask for everything.
    Choice,
    /// Made by the front-end: the memory of an expression, a flag of an instance, a row of a function's table. People never need
    /// to see it.
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
    /// The declared range. On a state variable it is a claim (`always`, added by the builder), on an input an
    /// assumption.
    pub range: Option<Range>,
    /// What stream it is, in a dataflow language.
    pub stream: Option<StreamKind>,
    /// How people read its values if it is a bit-vector.
    pub numerals: Numerals,
    /// Where it was declared.
    pub span: Option<Span>,
}

/// A node of the control graph.
#[derive(Clone, Debug)]
pub struct Node {
    /// The name, unique among nodes.
    pub name: String,
    /// A run may end here on purpose: no sinkhole, no deadlock.
    pub is_final: bool,
    /// Node invariants of the user: checked, never trusted.
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

/// A transition. A variable that its effect neither assigns nor keeps is free but for the constraints.
#[derive(Clone, Debug)]
pub struct Transition {
    /// The name, unique among transitions.
    pub name: String,
    /// The observable label; none for an internal transition.
    pub gate: Option<GateId>,
    /// Where it leaves from.
    pub source: NodeId,
    /// Where it goes.
    pub target: NodeId,
    /// What is chosen anew each time.
    pub params: Vec<Param>,
    /// The guard, a conjunction (ranges of parameters included).
    pub guard: Vec<Element<ChoiceTerm>>,
    /// The effect, a conjunction.
    pub effect: Vec<Effect>,
    /// The constraints are equations, one for a variable, without a cycle at one instant: like assignments they can be
    /// completed in every state, and nobody needs to ask.
    pub causal: bool,
    /// Where it was written.
    pub span: Option<Span>,
}

impl Transition {
    /// True if the effect has assignments and frames for every variable and nothing else, so that the next state is a
    /// function of state and parameters.
    pub fn is_functional(&self, system: &System) -> bool {
        let fixed = self.effect.iter().filter(|e| !matches!(e, Effect::Constrain { .. })).count();
        fixed == self.effect.len() && fixed == system.vars.len()
    }
}

/// Whether the control graph is what an author drew. It decides which structural claims a system gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Structure {
    /// Nodes and transitions were drawn: all structural claims.
    #[default]
    Drawn,
    /// Rules without a graph: that a run exists, and nothing else.
    Undrawn,
    /// A file of another tool: what it asks, and nothing else.
    Foreign,
}

/// A symbolic transition system.
#[derive(Clone, Debug)]
pub struct System {
    /// The name of the specification.
    pub name: String,
    /// The terms; engines fork it.
    pub pool: Arc<Pool>,
    /// The symbol `@node` of the enumeration `@Node`, whose variants are the nodes in order: how formulas of claims,
    /// assumptions and fairness speak of the node of a state. Guards and effects never mention it.
    pub location: SymbolId,
    /// State variables and inputs.
    pub vars: Vec<StateVar>,
    /// Names of gates.
    pub gates: Vec<String>,
    /// Nodes; never empty.
    pub nodes: Vec<Node>,
    /// Start transitions.
    pub starts: Vec<Start>,
    /// Transitions.
    pub transitions: Vec<Transition>,
    /// What every state of every considered run satisfies.
    pub assumptions: Vec<Element<StateTerm>>,
    /// Fairness constraints that claims refer to.
    pub fairness: Vec<Fairness>,
    /// What is to be decided.
    pub claims: Vec<Claim>,
    /// Every element, by [`ElementId`].
    pub elements: Vec<ElementInfo>,
    /// What some readers of the language assume and others do not.
    pub ambiguity: Option<Ambiguity>,
    /// Conditions that claims are made under: where one never holds its claim says nothing.
    pub conditions: Vec<ClaimCondition>,
    /// Whether the author drew the control graph.
    pub structure: Structure,
    /// Runs end after so many steps, as the author bounds what is claimed: verdicts about all runs say so.
    pub step_limit: Option<IBig>,
    /// A node that a front-end has put before the first states of the model: a run that has not left it is not yet one.
    pub entry: Option<NodeId>,
    /// The instances that it is composed of, if it is; only of systems as front-ends make them.
    pub instances: Vec<Instance>,
    pub(crate) graph: Graph,
}

/// A specification that takes part in a composed system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// What it is called.
    pub name: String,
    /// The nodes of its specification.
    pub nodes: Vec<InstanceNode>,
}

/// A node of an instance's specification.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstanceNode {
    /// What it is called there.
    pub name: String,
    /// Where it is written.
    pub span: Option<Span>,
    /// The nodes of the composed system at which the instance is there, in order.
    pub places: Vec<NodeId>,
}

/// The condition that a claim is made under, as in Lustre's `check e provided c`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimCondition {
    /// The name of the claim.
    pub claim: String,
    /// The condition.
    pub condition: StateTerm,
    /// How it is written.
    pub text: String,
    /// Where it is written.
    pub span: Option<Span>,
}

/// A point on which readers of a language differ: for some of them every state satisfies a formula, for others it need
/// not. The system is that of the others, which has more runs.
#[derive(Clone, Debug)]
pub struct Ambiguity {
    /// What some assume.
    pub formula: StateTerm,
    /// Who assumes what, and what to write to be understood by all, in a sentence.
    pub text: String,
}

impl System {
    /// Where every instance of a composed system is when it is at a node: `a at Open, b at Frozen`. The name of the node
    /// if it is not composed.
    pub fn place_text(&self, node: NodeId) -> String {
        let at = |i: &Instance| {
            let there = i.nodes.iter().find(|n| n.places.binary_search(&node).is_ok())?;
            Some(format!("{} at {}", i.name, there.name))
        };
        let all: Option<Vec<String>> = self.instances.iter().map(at).collect();
        match all {
            Some(all) if !all.is_empty() => all.join(", "),
            _ => self.node(node).name.clone(),
        }
    }

    /// The system as those read it who assume the formula of the ambiguity; it has the same variables, steps and claims.
    pub fn narrow_reading(&self) -> Option<System> {
        let ambiguity = self.ambiguity.as_ref()?;
        let mut system = self.clone();
        let id = ElementId(system.elements.len() as u32);
        let (name, kind) = (ElementName::Given("ambiguity".into()), ElementKind::Assumption);
        system.elements.push(ElementInfo { name, kind, span: None });
        system.assumptions.push(Element { id, term: ambiguity.formula });
        system.ambiguity = None;
        Some(system)
    }
}

/// Transitions by node, so that large control graphs cost no scans.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    leaving: Vec<Vec<TransitionId>>,
    entering: Vec<Vec<TransitionId>>,
}

impl Graph {
    pub(crate) fn of(nodes: usize, transitions: &[Transition]) -> Graph {
        let mut graph = Graph { leaving: vec![Vec::new(); nodes], entering: vec![Vec::new(); nodes] };
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

    /// A value of a variable as people read it.
    pub fn show_value(&self, v: VarId, value: &Value) -> String {
        match (value, self.var(v).numerals) {
            (Value::BitVec(bits), Numerals::Signed) => bits.signed().to_string(),
            _ => self.pool.show_value(value),
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

    /// The constant of `@Node` that stands for a node.
    pub fn node_constant(&self, pool: &mut Pool, n: NodeId) -> TermId {
        let Sort::Enum(id) = pool.symbol(self.location).sort else { unreachable!("@node is of an enumeration") };
        pool.constant(Value::Enum(id, n.0))
    }

    /// `t` at the node `n`: without `@node`, and with everything decided that the node decides.
    pub fn at_node(&self, pool: &mut Pool, t: StateTerm, n: NodeId) -> TermId {
        let here = self.node_constant(pool, n);
        fold_symbol(pool, t.term(), self.location, here)
    }

    /// The conjunction of the assumptions at a node.
    pub fn assumption_term(&self, pool: &mut Pool, n: NodeId) -> TermId {
        let parts: Vec<TermId> = self.assumptions.iter().map(|a| self.at_node(pool, a.term, n)).collect();
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

    /// The conjunction of a transition's effect: what relates state, parameters and next state.
    pub fn effect_term(&self, pool: &mut Pool, t: TransitionId) -> TermId {
        let parts: Vec<TermId> = self.transition(t).effect.iter().map(|e| self.effect_part(pool, e)).collect();
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
                let (next, current) = (pool.var(self.var(var).next), pool.var(self.var(var).current));
                pool.eq(next, current)
            }
            Effect::Constrain { relation, .. } => relation.term(),
        }
    }

    /// What messages call an element, for example `Open.deposit guard 1`.
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
                if info.kind == ElementKind::Frame { format!("{t} keeps {v}") } else { format!("{t} {v} :=") }
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

//! Random compositions of small specifications, with an interpreter written from docs/semantics.md,
//! section 6, alone.
//!
//! A [`Composition`] is plain data: specifications over ints with few values, their instances, and
//! the synchronisations. [`States::of`] enumerates its reachable states and its joint choices by
//! the text of the section; no term, pass or front-end of gander takes part. A *joint choice* is
//! what the instances that move do together: a transition and values of its parameters for each of
//! them, such that all guards (and the condition of the synchronisation) hold. [`States::decide`]
//! gives the answers to all claims, by the names that gander gives them.
//!
//! Synchronisations, instances and formulas that are written once for a family are [`Pattern`]s,
//! [`Family`]s and quantifiers; `families` says what they stand for.
//!
//! Tests compare them with the system that the pass, or the language, makes of the composition:
//! [`Composition::text`] is all of it as a `.sts` text, [`Composition::specification_text`] is the
//! specification of one instance, where what it reads of others is an input.
//!
//! [`Rules`] other than those of the section show that the comparison can fail.

mod any_size;
mod families;
mod generate;
mod interpret;
mod text;

pub use any_size::any_size_text;
pub use families::{Chosen, Family, Given, Pattern, PeerOf, Where, Who};
pub use generate::{Features, composition};
pub use interpret::{Joint, Rules, State, States};
pub use text::{constant_input, peer_input};

/// Instances of specifications with their synchronisations.
#[derive(Clone, Debug, Default)]
pub struct Composition {
    /// The specifications.
    pub specs: Vec<Spec>,
    /// The instances.
    pub instances: Vec<Instance>,
    /// The families, whose instances are among [`Composition::instances`].
    pub families: Vec<Family>,
    /// The synchronisations as they are written.
    pub patterns: Vec<Pattern>,
    /// The synchronisations: what the patterns stand for.
    pub syncs: Vec<Synchronisation>,
    /// Claims about the whole.
    pub claims: Vec<Claim>,
}

/// A specification. The first node is its only one if it is written without nodes.
#[derive(Clone, Debug, Default)]
pub struct Spec {
    /// Its name.
    pub name: String,
    /// The number of its constants, `c0` and so on.
    pub constants: usize,
    /// The specifications of the instances that it reads, `o0` and so on.
    pub peers: Vec<usize>,
    /// Its variables.
    pub vars: Vec<Variable>,
    /// Its nodes.
    pub nodes: Vec<Node>,
    /// Further states in which a run may end.
    pub final_when: Option<Formula>,
    /// An assumption.
    pub assume: Option<Formula>,
    /// Its starts.
    pub starts: Vec<Start>,
    /// Its transitions.
    pub transitions: Vec<Transition>,
    /// Its claims.
    pub claims: Vec<Claim>,
}

/// An int variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The range of an input; `None` for a state variable.
    pub input: Option<(i64, i64)>,
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// True if a run may end here.
    pub is_final: bool,
}

/// A start.
#[derive(Clone, Debug)]
pub struct Start {
    /// Its name.
    pub name: String,
    /// The node that it enters.
    pub target: usize,
    /// By variable: its least and greatest value. Ignored for inputs.
    pub init: Vec<(i64, i64)>,
}

/// A transition.
#[derive(Clone, Debug)]
pub struct Transition {
    /// Its label.
    pub name: String,
    /// Its gate; `None` for an internal transition.
    pub gate: Option<String>,
    /// The node that it leaves.
    pub source: usize,
    /// The node that it enters.
    pub target: usize,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Its guard, without the ranges.
    pub guard: Formula,
    /// What it changes; other variables keep their values.
    pub effect: Vec<(usize, Update)>,
}

/// An int parameter with a range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// The least value.
    pub low: i64,
    /// The greatest value.
    pub high: i64,
}

/// What happens to a variable.
#[derive(Clone, Debug)]
pub enum Update {
    /// `x := e`
    Assign(Term),
    /// `low <= x'` and `x' <= high`
    Between(Term, Term),
}

/// An instance of a specification.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Its specification.
    pub spec: usize,
    /// The instances that it is given.
    pub peers: Vec<usize>,
    /// The constants that it is given.
    pub constants: Vec<i64>,
}

/// A synchronisation.
#[derive(Clone, Debug)]
pub struct Synchronisation {
    /// Its name.
    pub name: String,
    /// Parameters with one value for all.
    pub shared: Vec<String>,
    /// Instances that all take part, and their gates.
    pub members: Vec<(usize, String)>,
    /// Instances that take part if they can, and their gates.
    pub receivers: Vec<(usize, String)>,
    /// The condition.
    pub when: Option<Formula>,
}

/// A claim of a specification or of the whole.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name.
    pub name: String,
    /// What it says.
    pub kind: Kind,
}

/// What a claim says.
#[derive(Clone, Debug)]
pub enum Kind {
    /// *always P*
    Always(Formula),
    /// *reachable P*
    Reachable(Formula),
    /// *reachable G with P*: a step by a gate of the specification, or by a synchronisation of the
    /// whole.
    Taken(String, Formula),
}

/// An int term.
#[derive(Clone, Debug)]
pub enum Term {
    /// A number.
    Int(i64),
    /// A variable of the specification.
    Var(usize),
    /// A parameter of the transition, or a shared one of the synchronisation.
    Param(String),
    /// A constant of the specification.
    Constant(usize),
    /// A variable of an instance that the specification reads.
    Peer(usize, usize),
    /// A variable of an instance of the whole.
    Of(usize, usize),
    /// The parameter of a member of the synchronisation that is not shared.
    ParamOf(usize, String),
    /// A variable of an instance that an index selects.
    OfChosen(Chosen, usize),
    /// The parameter of a member that an index selects.
    ParamOfChosen(Chosen, String),
    /// The number of instances of a family that satisfy a formula; binds an index.
    Count(usize, Box<Formula>),
    /// The sum over the instances of a family; binds an index.
    Sum(usize, Box<Term>),
    /// 1 if the formula is true, 0 otherwise.
    Truth(Box<Formula>),
    /// The sum.
    Add(Box<Term>, Box<Term>),
    /// The difference.
    Sub(Box<Term>, Box<Term>),
    /// The Euclidean remainder by a positive number.
    Mod(Box<Term>, i64),
}

/// Whose node is asked for.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// The instance itself.
    Here,
    /// An instance that the specification reads.
    Peer(usize),
    /// An instance of the whole.
    Of(usize),
    /// An instance that an index selects.
    Chosen(Chosen),
}

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparator {
    /// Equal.
    Eq,
    /// Different.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
}

/// A formula.
#[derive(Clone, Debug)]
pub enum Formula {
    /// Always true.
    True,
    /// A comparison of two terms.
    Compare(Comparator, Term, Term),
    /// An instance is at a node.
    At(Place, usize),
    /// Negation.
    Not(Box<Formula>),
    /// Conjunction.
    And(Box<Formula>, Box<Formula>),
    /// Disjunction.
    Or(Box<Formula>, Box<Formula>),
    /// The conjunction or disjunction over the instances of families; binds an index for each.
    Over {
        /// Conjunction.
        all: bool,
        /// The families.
        families: Vec<usize>,
        /// Whether the first two indices differ.
        different: bool,
        /// The formula.
        body: Box<Formula>,
    },
}

impl Composition {
    /// The name of an instance.
    pub fn name(&self, instance: usize) -> String {
        match self.family_of(instance) {
            Some((family, index)) => format!("{}[{index}]", self.families[family].name),
            None => format!("i{instance}"),
        }
    }

    /// The specification of an instance.
    pub fn spec_of(&self, instance: usize) -> &Spec {
        &self.specs[self.instances[instance].spec]
    }
}

impl Synchronisation {
    /// Members and receivers.
    pub fn participants(&self) -> impl Iterator<Item = &(usize, String)> {
        self.members.iter().chain(&self.receivers)
    }
}

impl Transition {
    /// True if the transition has a parameter with this name.
    pub fn has(&self, param: &str) -> bool {
        self.params.iter().any(|p| p.name == param)
    }
}

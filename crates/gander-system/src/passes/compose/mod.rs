//! Composition of instances of specifications (docs/semantics.md, section 6): interleaving,
//! synchronisation on gates, broadcast.
//!
//! The composition is symbolic: it has one node, and the node of each instance is the value of a
//! variable with the name of the instance. So its size is the sum of the sizes of the instances
//! and synchronisations, not their product. [`crate::System::instances`] keeps the control graph of
//! each instance. Parts of an instance `a` are named `a.name`; a transition is named `a.Open.pay`
//! or `transfer(a.Open.withdraw, b.Open.deposit)`, its gate `a.pay` or `transfer`.
//!
//! Claims of the instances are carried over where they have a meaning in the composition (see
//! [`Composed::left_out`]).

mod choices;
mod claims;
mod describe;
pub(super) mod parametric;
mod steps;
mod transcribe;

use std::fmt;

use gander_term::{NameClash, Pool, Sort, SymbolId, TermId, Value};

use self::transcribe::Transcriber;
use crate::builder::{BuildError, SystemBuilder};
use crate::formula::StateTerm;
use crate::origin::{ElementKind, Span};
use crate::system::{Move, NodeId, Role, StartId, System, TransitionId, VarId};

/// The only node of a composition.
const NODE: NodeId = NodeId(0);

/// A synchronisation: in one step every member takes a transition with its listed gate, and so
/// does every receiver that can.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sync {
    /// The gate of the joint step.
    pub name: String,
    /// Parameters that have one value for all participants that have them.
    pub shared: Vec<String>,
    /// Position of the instance, and its gate.
    pub members: Vec<(usize, String)>,
    /// Instances that take part if they can, and their gates.
    pub receivers: Vec<(usize, String)>,
    /// Where it is written.
    pub span: Option<Span>,
}

impl Sync {
    /// Members and receivers.
    fn participants(&self) -> impl Iterator<Item = &(usize, String)> {
        self.members.iter().chain(&self.receivers)
    }
}

/// What an instance reads of another one. In the specification of the reader, this is an input, or
/// for a constant a variable that never changes. The composition has no variable for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// Position of the instance that reads, and its input.
    pub reader: (usize, VarId),
    /// What it reads.
    pub read: Read,
}

/// What an input of a specification stands for in a composition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Read {
    /// A variable of the instance at this position; not itself linked.
    Variable(usize, VarId),
    /// The node of the instance at this position. The sort of the input is an enumeration of the
    /// names of its nodes.
    Node(usize),
    /// A constant.
    Constant(Value),
}

/// Limits on the size of a composition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ComposeLimits {
    /// The number of transitions.
    pub transitions: usize,
    /// The number of transitions times the number of variables: most of them are frame conditions,
    /// of about 70 bytes each.
    pub frames: usize,
    /// If the members of a synchronisation have at most this many combinations of transitions, each
    /// combination is a transition; otherwise one transition with conditional effects stands for
    /// all. The same applies to starts.
    pub combinations: usize,
}

impl Default for ComposeLimits {
    fn default() -> ComposeLimits {
        ComposeLimits { transitions: 1_000_000, frames: 10_000_000, combinations: 64 }
    }
}

/// Why there is no composition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ComposeError {
    /// There is no instance.
    NoInstance,
    /// Two instances have one name.
    SameInstance(String),
    /// A synchronisation refers to an instance that does not exist.
    UnknownInstance {
        /// Which synchronisation.
        sync: usize,
        /// The position that it gives.
        instance: usize,
    },
    /// A synchronisation refers to a gate that its instance does not have.
    UnknownGate {
        /// Which synchronisation.
        sync: usize,
        /// The instance.
        instance: String,
        /// The gate.
        gate: String,
    },
    /// A synchronisation lists an instance twice.
    TwiceInSync {
        /// Which synchronisation.
        sync: usize,
        /// The instance.
        instance: String,
    },
    /// A synchronisation has no parts.
    EmptySync {
        /// Which synchronisation.
        sync: usize,
    },
    /// A synchronisation is given twice.
    SameSync {
        /// The second one.
        sync: usize,
    },
    /// No participant has a transition with the shared parameter.
    NotShared {
        /// Which synchronisation.
        sync: usize,
        /// The parameter.
        parameter: String,
    },
    /// A shared parameter has two sorts.
    SharedSorts {
        /// Which synchronisation.
        sync: usize,
        /// The parameter.
        parameter: String,
        /// The instances.
        instances: [String; 2],
    },
    /// The composition has more transitions than the limit.
    TooManyTransitions(usize),
    /// The composition has more transitions times variables than the limit.
    TooLarge {
        /// The number of transitions.
        transitions: usize,
        /// The number of variables.
        vars: usize,
    },
    /// An instance has no start, so there is no run.
    NoStart(String),
    /// A link joins variables of different sorts, or variables that do not exist.
    WrongLink {
        /// The instance that reads.
        instance: String,
    },
    /// Fairness of an instance is about transitions that are part of a conditional step.
    ConditionalFairness {
        /// The name of the fairness.
        fairness: String,
    },
    /// Names clash.
    Build(BuildError),
}

impl fmt::Display for ComposeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ComposeError::NoInstance => write!(f, "a composition needs at least one instance"),
            ComposeError::SameInstance(name) => write!(f, "two instances are called `{name}`"),
            ComposeError::UnknownInstance { instance, .. } => {
                write!(f, "there is no instance number {instance}")
            }
            ComposeError::UnknownGate { instance, gate, .. } => {
                write!(f, "`{instance}` has no gate `{gate}`")
            }
            ComposeError::TwiceInSync { instance, .. } => {
                write!(
                    f,
                    "`{instance}` takes one transition at a time: it cannot be in a synchronisation twice"
                )
            }
            ComposeError::EmptySync { .. } => {
                write!(f, "a synchronisation needs at least one gate")
            }
            ComposeError::SameSync { .. } => write!(f, "this synchronisation is given twice"),
            ComposeError::NotShared { parameter, .. } => {
                write!(f, "none of the gates has a parameter `{parameter}`")
            }
            ComposeError::SharedSorts { parameter, instances: [one, other], .. } => {
                write!(
                    f,
                    "the parameter `{parameter}` of `{one}` and that of `{other}` have different sorts, so they cannot be shared"
                )
            }
            ComposeError::TooManyTransitions(n) => {
                write!(f, "the composition has more than {n} transitions")
            }
            ComposeError::TooLarge { transitions, vars } => {
                write!(
                    f,
                    "the composition has {transitions} transitions and {vars} variables, which is too large"
                )
            }
            ComposeError::NoStart(name) => write!(f, "`{name}` has no start"),
            ComposeError::WrongLink { instance } => {
                write!(
                    f,
                    "what `{instance}` reads of another instance is not there, or of another sort"
                )
            }
            ComposeError::ConditionalFairness { fairness } => {
                write!(
                    f,
                    "the fairness `{fairness}` is about a gate that is taken only under a condition in a joint step"
                )
            }
            ComposeError::Build(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for ComposeError {}

impl From<BuildError> for ComposeError {
    fn from(e: BuildError) -> ComposeError {
        ComposeError::Build(e)
    }
}

impl From<NameClash> for ComposeError {
    fn from(e: NameClash) -> ComposeError {
        ComposeError::Build(e.into())
    }
}

/// A claim of an instance that the composition does not have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeftOut {
    /// The instance.
    pub instance: usize,
    /// The name of its claim.
    pub claim: String,
    /// Why.
    pub reason: &'static str,
}

/// A composition in a [`SystemBuilder`], with the map from parts of the instances to parts of the
/// system. [`Composed::add_claims`] adds the claims of the instances; the front-end calls it after
/// it has added the conditions of synchronisations to the transitions.
pub struct Composed<'a> {
    /// Claims of instances that were not carried over.
    pub left_out: Vec<LeftOut>,
    instances: Vec<Part<'a>>,
    /// By transition of the composition.
    steps: Vec<steps::Joined>,
    /// By start of the composition: the starts of the instances; empty if one start stands for all
    /// combinations.
    starts: Vec<Vec<StartId>>,
    limits: ComposeLimits,
}

struct Part<'a> {
    name: &'a str,
    system: &'a System,
    transcriber: Transcriber<'a>,
    /// The variable that holds the node.
    location: Option<VarId>,
    vars: Vec<VarId>,
    /// By variable: true if it is linked to something else.
    linked: Vec<bool>,
    /// By start of the instance: its elements in the composition.
    start_elements: Vec<Vec<crate::origin::ElementId>>,
    /// By transition of the instance: the composed transitions in which it takes part.
    moves: Vec<Vec<PartMove>>,
}

/// A transition of the composition in which an instance takes a transition of its own.
#[derive(Clone)]
struct PartMove {
    transition: TransitionId,
    condition: Option<TermId>,
    /// The parameters of the instance's transition, as parameters of the composed one.
    params: Vec<SymbolId>,
    is_joint: bool,
}

/// The composition of named instances of specifications, without their claims.
pub fn compose<'a>(
    name: &str,
    instances: &[(&'a str, &'a System)],
    syncs: &[Sync],
    links: &[Link],
    limits: ComposeLimits,
) -> Result<(SystemBuilder, Composed<'a>), ComposeError> {
    let mut names = rustc_hash::FxHashSet::default();
    for (name, system) in instances {
        if !names.insert(*name) {
            return Err(ComposeError::SameInstance(name.to_string()));
        }
        if system.starts.is_empty() {
            return Err(ComposeError::NoStart(name.to_string()));
        }
    }
    if instances.is_empty() {
        return Err(ComposeError::NoInstance);
    }
    let mut builder = SystemBuilder::new(name, Pool::new(), &[("main", None)])?;
    let parts = instances
        .iter()
        .enumerate()
        .map(|(i, &(name, system))| {
            let mut linked = vec![false; system.vars.len()];
            for link in links.iter().filter(|link| link.reader.0 == i) {
                if let Some(here) = linked.get_mut(link.reader.1.index()) {
                    *here = true;
                }
            }
            Part {
                name,
                system,
                transcriber: Transcriber::new(system, name),
                location: None,
                vars: Vec::new(),
                linked,
                start_elements: vec![Vec::new(); system.starts.len()],
                moves: vec![Vec::new(); system.transitions.len()],
            }
        })
        .collect();
    let mut composed = Composed {
        left_out: Vec::new(),
        instances: parts,
        steps: Vec::new(),
        starts: Vec::new(),
        limits,
    };
    composed.add_vars(&mut builder, links)?;
    composed.add_nodes(&mut builder)?;
    composed.add_starts(&mut builder)?;
    composed.add_steps(&mut builder, syncs)?;
    composed.describe_instances(&mut builder);
    Ok((builder, composed))
}

impl Part<'_> {
    /// The variables that the composition has for those of the instance.
    fn own_vars(&self) -> impl Iterator<Item = VarId> {
        self.vars.iter().zip(&self.linked).filter(|(_, linked)| !**linked).map(|(v, _)| *v)
    }

    /// True if the instance is at a node of its specification.
    fn at(&mut self, pool: &mut Pool, node: NodeId) -> Result<TermId, ComposeError> {
        Ok(self.transcriber.at(pool, node)?)
    }
}

impl Composed<'_> {
    fn add_vars(
        &mut self,
        builder: &mut SystemBuilder,
        links: &[Link],
    ) -> Result<(), ComposeError> {
        for part in &mut self.instances {
            let nodes = part.transcriber.node_sort(&mut builder.pool)?;
            let location = if part.system.nodes.len() > 1 {
                let var = builder.var(part.name, Sort::Enum(nodes), Role::State, None, None)?;
                let current = builder.so_far().var(var).current;
                part.location = Some(var);
                builder.pool.var(current)
            } else {
                builder.pool.constant(Value::Enum(nodes, 0))
            };
            part.transcriber.symbol(part.system.location, location);
            for (v, &linked) in part.system.vars.iter().zip(&part.linked) {
                if linked {
                    // A placeholder until the links are resolved.
                    part.vars.push(VarId(u32::MAX));
                    continue;
                }
                let sort = part.transcriber.sort(&mut builder.pool, v.sort)?;
                let full = format!("{}.{}", part.name, v.name);
                let new = builder.var(&full, sort, v.role, None, v.span)?;
                builder.set_range(new, v.range.clone());
                builder.set_stream(new, v.stream);
                builder.set_numerals(new, v.numerals);
                let (current, next) =
                    (builder.so_far().var(new).current, builder.so_far().var(new).next);
                part.transcriber.symbol(v.current, builder.pool.var(current));
                part.transcriber.symbol(v.next, builder.pool.var(next));
                part.vars.push(new);
            }
            for aggregate in &part.system.aggregates {
                let parts = aggregate.first..aggregate.first + aggregate.shape.width();
                if part.linked.get(parts.clone()).is_some_and(|linked| linked.contains(&false)) {
                    let full = format!("{}.{}", part.name, aggregate.name);
                    builder.aggregate(&full, aggregate.shape.clone(), part.vars[parts.start]);
                }
            }
        }
        for link in links {
            self.link(builder, link)?;
        }
        for part in &mut self.instances {
            for a in &part.system.assumptions {
                let term = part.transcriber.apply(&mut builder.pool, a.term.term())?;
                let info = &part.system.elements[a.id.index()];
                let name = format!("{}: {}", part.name, part.system.element_name(a.id));
                let formula = builder.state_formula(term, &name)?;
                let kind = info.kind;
                builder.assumption(&name, formula, info.span);
                builder.set_last_kind(kind);
            }
        }
        Ok(())
    }

    fn link(&mut self, builder: &mut SystemBuilder, link: &Link) -> Result<(), ComposeError> {
        let (reader, input) = link.reader;
        let name = self.instances.get(reader).map_or("", |part| part.name);
        let wrong = || ComposeError::WrongLink { instance: name.to_string() };
        let part = self.instances.get_mut(reader).ok_or_else(wrong)?;
        let is_constant = matches!(link.read, Read::Constant(_));
        let old = part.system.vars.get(input.index());
        let old = old.filter(|v| v.role == Role::Input || is_constant).ok_or_else(wrong)?;
        let sort = part.transcriber.sort(&mut builder.pool, old.sort)?;
        let (current, next) = match &link.read {
            Read::Constant(value) => {
                let value = part.transcriber.value(&mut builder.pool, value.clone())?;
                let constant = builder.pool.constant(value);
                (constant, constant)
            }
            Read::Variable(owner, var) => {
                let owner = self.instances.get(*owner).ok_or_else(wrong)?;
                let read = owner.vars.get(var.index()).ok_or_else(wrong)?;
                if read.index() >= builder.so_far().vars.len() {
                    return Err(wrong());
                }
                let (current, next) =
                    (builder.so_far().var(*read).current, builder.so_far().var(*read).next);
                self.instances[reader].vars[input.index()] = *read;
                (builder.pool.var(current), builder.pool.var(next))
            }
            Read::Node(owner) => {
                let owner = self.instances.get_mut(*owner).ok_or_else(wrong)?;
                let nodes = owner.transcriber.node_sort(&mut builder.pool)?;
                match owner.location {
                    Some(var) => {
                        let (current, next) =
                            (builder.so_far().var(var).current, builder.so_far().var(var).next);
                        (builder.pool.var(current), builder.pool.var(next))
                    }
                    None => {
                        let constant = builder.pool.constant(Value::Enum(nodes, 0));
                        (constant, constant)
                    }
                }
            }
        };
        if builder.pool.sort(current) != sort {
            return Err(wrong());
        }
        let part = &mut self.instances[reader];
        part.transcriber.symbol(old.current, current);
        part.transcriber.symbol(old.next, next);
        Ok(())
    }

    /// Node invariants of the instances, and the states in which a run may end: those where every
    /// instance may end.
    fn add_nodes(&mut self, builder: &mut SystemBuilder) -> Result<(), ComposeError> {
        let mut may_end = Vec::new();
        for part in &mut self.instances {
            let mut ends = Vec::new();
            for n in part.system.node_ids() {
                let here = part.at(&mut builder.pool, n)?;
                if part.system.node(n).is_final {
                    ends.push(here);
                }
                for h in &part.system.node(n).hints {
                    let term = part.transcriber.apply(&mut builder.pool, h.term.term())?;
                    let term = builder.pool.implies(here, term);
                    let info = &part.system.elements[h.id.index()];
                    let name = format!("{}: {}", part.name, part.system.element_name(h.id));
                    let formula = builder.state_formula(term, &name)?;
                    builder.hint(NODE, &name, formula, info.span);
                }
            }
            if let Some(condition) = part.system.final_condition {
                ends.push(part.transcriber.apply(&mut builder.pool, condition.term())?);
            }
            may_end.push(builder.pool.or(ends));
        }
        let may_end = builder.pool.and(may_end);
        match builder.pool.as_bool(may_end) {
            Some(true) => builder.set_final(NODE),
            Some(false) => {}
            None => {
                let formula = builder.state_formula(may_end, "final")?;
                builder.set_final_condition(formula);
            }
        }
        Ok(())
    }

    fn add_starts(&mut self, builder: &mut SystemBuilder) -> Result<(), ComposeError> {
        let counts: Vec<usize> = self.instances.iter().map(|p| p.system.starts.len()).collect();
        let Some(all) = combinations(&counts, self.limits.combinations) else {
            return self.add_one_start(builder);
        };
        for picked in all {
            let starts: Vec<StartId> = picked.iter().map(|&i| StartId::from(i)).collect();
            let single = self.instances.iter().all(|p| p.system.starts.len() == 1);
            let named: Vec<String> = starts
                .iter()
                .zip(&self.instances)
                .filter(|(_, p)| p.system.starts.len() > 1)
                .map(|(s, p)| format!("{}.{}", p.name, p.system.starts[s.index()].name))
                .collect();
            let name = if single { "start".to_string() } else { named.join(", ") };
            let (mut conjuncts, mut owners, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
            for (i, (s, part)) in starts.iter().zip(&mut self.instances).enumerate() {
                let start = &part.system.starts[s.index()];
                if part.location.is_some() {
                    conjuncts.push((part.at(&mut builder.pool, start.target)?, None));
                    owners.push(None);
                    kinds.push(ElementKind::Control);
                }
                for e in &start.constraint {
                    let term = part.transcriber.apply(&mut builder.pool, e.term.term())?;
                    let info = &part.system.elements[e.id.index()];
                    conjuncts.push((term, info.span));
                    owners.push(Some((i, *s)));
                    kinds.push(info.kind);
                }
            }
            let new = builder.start(&name, NODE, &conjuncts, None)?;
            builder.set_kinds_of_start(new, kinds.into_iter());
            let ids: Vec<_> =
                builder.so_far().starts[new.index()].constraint.iter().map(|e| e.id).collect();
            for (id, owner) in ids.into_iter().zip(owners) {
                if let Some((i, s)) = owner {
                    self.instances[i].start_elements[s.index()].push(id);
                }
            }
            self.starts.push(starts);
        }
        Ok(())
    }

    /// One start for all combinations: each instance begins by one of its starts.
    fn add_one_start(&mut self, builder: &mut SystemBuilder) -> Result<(), ComposeError> {
        let mut conjuncts = Vec::new();
        for part in &mut self.instances {
            let mut cases = Vec::new();
            for start in &part.system.starts {
                let mut case = vec![part.transcriber.at(&mut builder.pool, start.target)?];
                for e in &start.constraint {
                    case.push(part.transcriber.apply(&mut builder.pool, e.term.term())?);
                }
                cases.push(builder.pool.and(case));
            }
            let span = part.system.starts.first().and_then(|s| s.span);
            conjuncts.push((builder.pool.or(cases), span));
        }
        builder.start("start", NODE, &conjuncts, None)?;
        self.starts.push(Vec::new());
        Ok(())
    }

    /// The variable of the composition for a variable of the instance; none if it is linked to a
    /// constant or a node.
    pub fn var(&self, instance: usize, var: VarId) -> Option<VarId> {
        let found = self.instances[instance].vars[var.index()];
        (found != VarId(u32::MAX)).then_some(found)
    }

    /// The variable that holds the node of the instance; none if it has one node.
    pub fn location(&self, instance: usize) -> Option<VarId> {
        self.instances[instance].location
    }

    /// The sort of the composition for a sort of the instance.
    pub fn sort(
        &mut self,
        builder: &mut SystemBuilder,
        instance: usize,
        sort: Sort,
    ) -> Result<Sort, ComposeError> {
        Ok(self.instances[instance].transcriber.sort(&mut builder.pool, sort)?)
    }

    /// True if the instance is at this node.
    pub fn in_node(
        &mut self,
        builder: &mut SystemBuilder,
        instance: usize,
        node: NodeId,
    ) -> Result<TermId, ComposeError> {
        self.instances[instance].at(&mut builder.pool, node)
    }

    /// The transitions of the composition in which the instance takes this transition, each with
    /// the condition under which it does.
    pub fn moves(
        &self,
        instance: usize,
        transition: TransitionId,
    ) -> impl Iterator<Item = (TransitionId, Option<TermId>)> {
        let moves = self.instances[instance].moves[transition.index()].iter();
        moves.map(|m| (m.transition, m.condition))
    }

    /// The instance that takes the transition of the composition, or the first of several.
    pub fn leader(&self, transition: TransitionId) -> usize {
        self.steps[transition.index()].leader
    }

    /// The transitions of the composition for a synchronisation.
    pub fn synchronised(&self, sync: usize) -> impl Iterator<Item = TransitionId> + '_ {
        let steps = self.steps.iter().enumerate();
        steps.filter(move |(_, s)| s.sync == Some(sync)).map(|(i, _)| TransitionId::from(i))
    }

    /// A formula about a state of the instance, as a formula about a state of the composition.
    fn state_term(
        &mut self,
        builder: &mut SystemBuilder,
        instance: usize,
        term: StateTerm,
    ) -> Result<StateTerm, ComposeError> {
        let part = &mut self.instances[instance];
        Ok(StateTerm(part.transcriber.apply(&mut builder.pool, term.term())?))
    }
}

impl PartMove {
    fn described(&self) -> Move {
        Move {
            transition: self.transition,
            condition: self.condition.map(crate::formula::ChoiceTerm),
            is_joint: self.is_joint,
        }
    }
}

/// All ways to pick one position of each range, the last one varying fastest; none if there are
/// more than `limit`.
fn combinations(counts: &[usize], limit: usize) -> Option<Vec<Vec<usize>>> {
    let total = counts.iter().try_fold(1usize, |n, &c| n.checked_mul(c).filter(|&n| n <= limit))?;
    let mut all = Vec::with_capacity(total);
    for number in 0..total {
        let mut rest = number;
        let mut picked: Vec<usize> = counts
            .iter()
            .rev()
            .map(|&count| {
                let here = rest % count;
                rest /= count;
                here
            })
            .collect();
        picked.reverse();
        all.push(picked);
    }
    Some(all)
}

#[cfg(test)]
mod tests;

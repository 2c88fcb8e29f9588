//! Composition of instances of specifications (docs/semantics.md, section 6): interleaving, and
//! synchronisation on gates.
//!
//! The control graph of the composition is the product of the instances' graphs, restricted to the
//! tuples of nodes that are reachable in the graphs, ignoring data. The parts of an instance `a`
//! are named `a.name`; a tuple of nodes is named `Open|Frozen`; a transition is named after the
//! tuple and the transitions of the instances, `Open|Frozen: a.Open.deposit` or `Open|Open:
//! transfer(a.Open.withdraw, b.Open.deposit)`. Its gate is `a.deposit`, or the name of the
//! synchronisation.
//!
//! Claims of the instances are carried over where they have a meaning in the composition (see
//! [`Composed::left_out`]); the front-end adds claims and assumptions about the composition to
//! [`Composed::builder`].

mod claims;
mod product;
mod transcribe;

use std::fmt;

use gander_term::{NameClash, Pool, Sort, SymbolId, TermId, Value};

use self::product::{Product, explore};
use self::transcribe::{Transcriber, make_unique, tuple_name};
use crate::builder::{BuildError, SystemBuilder};
use crate::formula::StateTerm;
use crate::origin::ElementKind;
use crate::system::{
    Effect, Instance, InstanceNode, NodeId, Role, StartId, System, TransitionId, VarId,
};

/// A synchronisation: each listed instance takes a transition with its listed gate, in one step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sync {
    /// The gate of the joint step.
    pub name: String,
    /// Position of the instance, and its gate.
    pub parts: Vec<(usize, String)>,
}

/// A variable of another instance that an instance reads. In the specification of the reader it is
/// an input, which has no own variable in the composition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// Position of the instance that reads, and its input.
    pub reader: (usize, VarId),
    /// Position of the instance that is read, and its variable; not itself linked.
    pub read: (usize, VarId),
}

/// Limits on the size of a composition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ComposeLimits {
    /// The number of nodes.
    pub nodes: usize,
    /// The number of transitions, and of starts.
    pub transitions: usize,
}

impl Default for ComposeLimits {
    fn default() -> ComposeLimits {
        ComposeLimits { nodes: 100_000, transitions: 1_000_000 }
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
    /// The product has more nodes than the limit.
    TooManyNodes(usize),
    /// The product has more transitions or starts than the limit.
    TooManyTransitions(usize),
    /// An instance has no start, so there is no run.
    NoStart(String),
    /// A link joins variables of different sorts, or variables that do not exist.
    WrongLink {
        /// The instance that reads.
        instance: String,
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
            ComposeError::TooManyNodes(n) => write!(f, "the composition has more than {n} nodes"),
            ComposeError::TooManyTransitions(n) => {
                write!(f, "the composition has more than {n} transitions")
            }
            ComposeError::NoStart(name) => write!(f, "`{name}` has no start"),
            ComposeError::WrongLink { instance } => {
                write!(
                    f,
                    "what `{instance}` reads of another instance is not there, or of another sort"
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

/// A composition under construction: the product is built, claims about the composition can be
/// added.
pub struct Composed<'a> {
    /// The system so far.
    pub builder: SystemBuilder,
    /// Claims of instances that were not carried over.
    pub left_out: Vec<LeftOut>,
    instances: Vec<Part<'a>>,
    product: Product,
    /// By product transition, in the order of its parts: the symbols of the parameters.
    params: Vec<Vec<Vec<SymbolId>>>,
    names: Vec<String>,
}

struct Part<'a> {
    name: &'a str,
    system: &'a System,
    transcriber: Transcriber<'a>,
    vars: Vec<VarId>,
    /// By variable: true if it is linked to a variable of another instance.
    linked: Vec<bool>,
    /// By transition of the instance: the product transitions in which it takes part.
    moves: Vec<Vec<TransitionId>>,
}

/// The composition of named instances of specifications, within [`ComposeLimits::default`].
pub fn compose<'a>(
    name: &str,
    instances: &[(&'a str, &'a System)],
    syncs: &[Sync],
) -> Result<Composed<'a>, ComposeError> {
    compose_within(name, instances, syncs, &[], ComposeLimits::default())
}

/// [`compose`] with instances that read variables of others.
pub fn compose_linked<'a>(
    name: &str,
    instances: &[(&'a str, &'a System)],
    syncs: &[Sync],
    links: &[Link],
) -> Result<Composed<'a>, ComposeError> {
    compose_within(name, instances, syncs, links, ComposeLimits::default())
}

/// The composition of named instances of specifications.
pub fn compose_within<'a>(
    name: &str,
    instances: &[(&'a str, &'a System)],
    syncs: &[Sync],
    links: &[Link],
    limits: ComposeLimits,
) -> Result<Composed<'a>, ComposeError> {
    for (i, (name, system)) in instances.iter().enumerate() {
        if instances[..i].iter().any(|(other, _)| other == name) {
            return Err(ComposeError::SameInstance(name.to_string()));
        }
        if system.starts.is_empty() {
            return Err(ComposeError::NoStart(name.to_string()));
        }
    }
    if instances.is_empty() {
        return Err(ComposeError::NoInstance);
    }
    let product = explore(instances, syncs, limits)?;
    let mut names: Vec<String> = product
        .tuples
        .iter()
        .map(|t| tuple_name(t.iter().zip(instances).map(|(&n, (_, s))| s.node(n).name.as_str())))
        .collect();
    make_unique(&mut names);
    let nodes: Vec<(&str, _)> = names.iter().map(|n| (n.as_str(), None)).collect();
    let mut builder = SystemBuilder::new(name, Pool::new(), &nodes)?;
    let parts = instances
        .iter()
        .enumerate()
        .map(|(i, &(name, system))| {
            let inside = nodes_inside(&mut builder, &product, i, system);
            let transcriber = Transcriber::new(system, name, inside);
            let moves = vec![Vec::new(); system.transitions.len()];
            let mut linked = vec![false; system.vars.len()];
            for link in links.iter().filter(|link| link.reader.0 == i) {
                if let Some(here) = linked.get_mut(link.reader.1.index()) {
                    *here = true;
                }
            }
            Part { name, system, transcriber, vars: Vec::new(), linked, moves }
        })
        .collect();
    let mut composed = Composed {
        builder,
        left_out: Vec::new(),
        instances: parts,
        product,
        params: Vec::new(),
        names,
    };
    composed.add_vars(links)?;
    composed.add_nodes()?;
    composed.add_starts()?;
    composed.add_transitions(syncs)?;
    composed.add_claims()?;
    Ok(composed)
}

/// By node of the instance: the formula that the instance is at it.
fn nodes_inside(
    builder: &mut SystemBuilder,
    product: &Product,
    instance: usize,
    system: &System,
) -> Vec<TermId> {
    let location = builder.so_far().location;
    let Sort::Enum(sort) = builder.pool.symbol(location).sort else {
        unreachable!("@node is of an enumeration")
    };
    let place = builder.pool.var(location);
    let mut at: Vec<Vec<TermId>> = vec![Vec::new(); system.nodes.len()];
    for (i, tuple) in product.tuples.iter().enumerate() {
        let here = builder.pool.constant(Value::Enum(sort, i as u32));
        at[tuple[instance].index()].push(builder.pool.eq(place, here));
    }
    at.into_iter().map(|parts| builder.pool.or(parts)).collect()
}

impl Composed<'_> {
    fn add_vars(&mut self, links: &[Link]) -> Result<(), ComposeError> {
        for part in &mut self.instances {
            for (v, &linked) in part.system.vars.iter().zip(&part.linked) {
                if linked {
                    // A placeholder until the links are resolved.
                    part.vars.push(VarId(u32::MAX));
                    continue;
                }
                let sort = part.transcriber.sort(&mut self.builder.pool, v.sort)?;
                let new = self.builder.var(
                    &format!("{}.{}", part.name, v.name),
                    sort,
                    v.role,
                    None,
                    v.span,
                )?;
                self.builder.set_range(new, v.range.clone());
                self.builder.set_stream(new, v.stream);
                self.builder.set_numerals(new, v.numerals);
                let (current, next) =
                    (self.builder.so_far().var(new).current, self.builder.so_far().var(new).next);
                part.transcriber.symbol(v.current, self.builder.pool.var(current));
                part.transcriber.symbol(v.next, self.builder.pool.var(next));
                part.vars.push(new);
            }
        }
        for link in links {
            self.link(link)?;
        }
        for part in &mut self.instances {
            for a in &part.system.assumptions {
                let term = part.transcriber.apply(&mut self.builder.pool, a.term.term())?;
                let info = &part.system.elements[a.id.index()];
                let name = format!("{}: {}", part.name, part.system.element_name(a.id));
                let formula = self.builder.state_formula(term, &name)?;
                self.builder.assumption(&name, formula, info.span);
            }
        }
        Ok(())
    }

    fn link(&mut self, link: &Link) -> Result<(), ComposeError> {
        let (owner, read) = link.read;
        let target =
            self.instances.get(owner).and_then(|part| part.vars.get(read.index())).copied();
        let (reader, input) = link.reader;
        let Some(part) = self.instances.get_mut(reader) else {
            return Err(ComposeError::WrongLink { instance: reader.to_string() });
        };
        let wrong = || ComposeError::WrongLink { instance: part.name.to_string() };
        let target =
            target.filter(|t| t.index() < self.builder.so_far().vars.len()).ok_or_else(wrong)?;
        let old = part
            .system
            .vars
            .get(input.index())
            .filter(|v| v.role == Role::Input)
            .ok_or_else(wrong)?;
        let sort = part.transcriber.sort(&mut self.builder.pool, old.sort)?;
        let new = self.builder.so_far().var(target);
        if new.sort != sort {
            return Err(ComposeError::WrongLink { instance: part.name.to_string() });
        }
        let (current, next) = (new.current, new.next);
        part.transcriber.symbol(old.current, self.builder.pool.var(current));
        part.transcriber.symbol(old.next, self.builder.pool.var(next));
        part.vars[input.index()] = target;
        Ok(())
    }

    fn add_nodes(&mut self) -> Result<(), ComposeError> {
        let instances = self.instances.iter().enumerate().map(|(i, part)| {
            let mut nodes: Vec<InstanceNode> = part
                .system
                .nodes
                .iter()
                .map(|n| InstanceNode { name: n.name.clone(), span: n.span, places: Vec::new() })
                .collect();
            for (place, tuple) in self.product.tuples.iter().enumerate() {
                nodes[tuple[i].index()].places.push(NodeId::from(place));
            }
            Instance { name: part.name.to_string(), nodes }
        });
        self.builder.set_instances(instances.collect());
        for (i, tuple) in self.product.tuples.iter().enumerate() {
            let here = NodeId::from(i);
            if tuple.iter().zip(&self.instances).all(|(&n, p)| p.system.node(n).is_final) {
                self.builder.set_final(here);
            }
            for (&n, part) in tuple.iter().zip(&mut self.instances) {
                for h in &part.system.node(n).hints {
                    let term = part.transcriber.apply(&mut self.builder.pool, h.term.term())?;
                    let info = &part.system.elements[h.id.index()];
                    let name = format!("{}: {}", part.name, part.system.element_name(h.id));
                    let formula = self.builder.state_formula(term, &name)?;
                    self.builder.hint(here, &name, formula, info.span);
                }
            }
        }
        Ok(())
    }

    fn add_starts(&mut self) -> Result<(), ComposeError> {
        let mut names: Vec<String> = self
            .product
            .starts
            .iter()
            .map(|(starts, _)| {
                let named: Vec<String> = starts
                    .iter()
                    .zip(&self.instances)
                    .map(|(s, p)| format!("{}.{}", p.name, p.system.starts[s.index()].name))
                    .collect();
                named.join(", ")
            })
            .collect();
        make_unique(&mut names);
        for ((starts, target), name) in self.product.starts.iter().zip(&names) {
            let mut conjuncts = Vec::new();
            for (s, part) in starts.iter().zip(&mut self.instances) {
                for e in &part.system.starts[s.index()].constraint {
                    let term = part.transcriber.apply(&mut self.builder.pool, e.term.term())?;
                    conjuncts.push((term, part.system.elements[e.id.index()].span));
                }
            }
            self.builder.start(name, NodeId::from(*target), &conjuncts, None)?;
        }
        Ok(())
    }

    fn add_transitions(&mut self, syncs: &[Sync]) -> Result<(), ComposeError> {
        let mut names: Vec<String> =
            self.product.moves.iter().map(|m| self.move_name(m, syncs)).collect();
        make_unique(&mut names);
        for (m, name) in names.iter().enumerate() {
            self.add_transition(m, name, syncs)?;
        }
        Ok(())
    }

    fn move_name(&self, m: &product::Move, syncs: &[Sync]) -> String {
        let parts: Vec<String> = m
            .parts
            .iter()
            .map(|&(i, t)| {
                format!(
                    "{}.{}",
                    self.instances[i].name,
                    self.instances[i].system.transition(t).name
                )
            })
            .collect();
        let what = match m.sync {
            Some(s) => format!("{}({})", syncs[s].name, parts.join(", ")),
            None => parts.join(", "),
        };
        format!("{}: {what}", self.names[m.source])
    }

    fn add_transition(
        &mut self,
        number: usize,
        name: &str,
        syncs: &[Sync],
    ) -> Result<(), ComposeError> {
        let m = &self.product.moves[number];
        let (first, t) = m.parts[0];
        let leader = &self.instances[first];
        let gate = match m.sync {
            Some(s) => Some(syncs[s].name.clone()),
            None => {
                let gate = leader.system.transition(t).gate;
                gate.map(|g| format!("{}.{}", leader.name, leader.system.gates[g.index()]))
            }
        };
        let span = leader.system.transition(t).span;
        let gate = gate.map(|g| self.builder.gate(&g));
        let (source, target) = (NodeId::from(m.source), NodeId::from(m.target));
        let mut draft = self.builder.transition(name, gate, source, target, span)?;
        let mut all_params = Vec::new();
        for &(i, t) in &m.parts {
            let part = &mut self.instances[i];
            let old = part.system.transition(t);
            let mut symbols = Vec::new();
            for p in &old.params {
                let sort = part.transcriber.sort(&mut self.builder.pool, p.sort)?;
                // In a joint step the parameter gets the name of its instance as a prefix.
                let name = if m.sync.is_none() {
                    p.name.clone()
                } else {
                    format!("{}.{}", part.name, p.name)
                };
                symbols.push(self.builder.param(&mut draft, &name, sort, p.range.clone())?);
            }
            let terms: Vec<TermId> = symbols.iter().map(|&s| self.builder.pool.var(s)).collect();
            part.transcriber.for_parameters(old.params.iter().map(|p| p.symbol).zip(terms));
            for g in &old.guard {
                let info = &part.system.elements[g.id.index()];
                if info.kind == ElementKind::ParameterRange {
                    continue;
                }
                let term = part.transcriber.apply(&mut self.builder.pool, g.term.term())?;
                self.builder.guard(&mut draft, term, info.span)?;
            }
            let mut free = vec![true; part.system.vars.len()];
            for e in &old.effect {
                let span = |id: crate::origin::ElementId| part.system.elements[id.index()].span;
                match *e {
                    Effect::Assign { id, var, value } => {
                        free[var.index()] = false;
                        let value = part.transcriber.apply(&mut self.builder.pool, value.term())?;
                        self.builder.assign(&mut draft, part.vars[var.index()], value, span(id))?;
                    }
                    Effect::Keep { var, .. } => {
                        free[var.index()] = false;
                        self.builder.keep(&mut draft, part.vars[var.index()]);
                    }
                    Effect::Constrain { id, relation } => {
                        let relation =
                            part.transcriber.apply(&mut self.builder.pool, relation.term())?;
                        self.builder.constrain(&mut draft, relation, span(id))?;
                    }
                }
            }
            for (v, _) in free.iter().enumerate().filter(|(v, free)| **free && !part.linked[*v]) {
                self.builder.free(&mut draft, part.vars[v]);
            }
            part.moves[t.index()].push(draft.id());
            all_params.push(symbols);
        }
        self.builder.add(draft)?;
        self.params.push(all_params);
        Ok(())
    }

    /// The variable of the composition for a variable of the instance.
    pub fn var(&self, instance: usize, var: VarId) -> VarId {
        self.instances[instance].vars[var.index()]
    }

    /// The sort of the composition for a sort of the instance.
    pub fn sort(&mut self, instance: usize, sort: Sort) -> Result<Sort, ComposeError> {
        Ok(self.instances[instance].transcriber.sort(&mut self.builder.pool, sort)?)
    }

    /// The formula that the instance is at this node; false if the node is unreachable in the
    /// graphs.
    pub fn in_node(&self, instance: usize, node: NodeId) -> StateTerm {
        StateTerm(self.instances[instance].transcriber.inside(node))
    }

    /// A formula about a state of the instance, as a formula about a state of the composition.
    pub fn state_term(
        &mut self,
        instance: usize,
        term: StateTerm,
    ) -> Result<StateTerm, ComposeError> {
        Ok(StateTerm(
            self.instances[instance].transcriber.apply(&mut self.builder.pool, term.term())?,
        ))
    }

    /// The nodes of the instances at a node of the composition.
    pub fn tuple(&self, node: NodeId) -> &[NodeId] {
        &self.product.tuples[node.index()]
    }

    /// The starts of the instances in a start of the composition.
    pub fn starts(&self, start: StartId) -> &[StartId] {
        &self.product.starts[start.index()].0
    }

    /// The instances that take part in a transition of the composition, with their transitions.
    pub fn parts(&self, transition: TransitionId) -> &[(usize, TransitionId)] {
        &self.product.moves[transition.index()].parts
    }

    /// The transitions of the composition in which the instance takes this transition.
    pub fn moves(&self, instance: usize, transition: TransitionId) -> &[TransitionId] {
        &self.instances[instance].moves[transition.index()]
    }

    /// The transitions of the composition for a synchronisation.
    pub fn synchronised(&self, sync: usize) -> impl Iterator<Item = TransitionId> + '_ {
        let moves = self.product.moves.iter().enumerate();
        moves.filter(move |(_, m)| m.sync == Some(sync)).map(|(i, _)| TransitionId::from(i))
    }

    /// The symbols of the parameters of an instance in a transition of the composition; `None` if
    /// it does not take part.
    pub fn params(&self, transition: TransitionId, instance: usize) -> Option<&[SymbolId]> {
        let parts = &self.product.moves[transition.index()].parts;
        let at = parts.iter().position(|&(i, _)| i == instance)?;
        Some(&self.params[transition.index()][at])
    }
}

#[cfg(test)]
mod tests;

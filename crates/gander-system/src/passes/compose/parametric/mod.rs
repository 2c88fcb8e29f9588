//! Composition of families whose size is a constant without a value (docs/semantics.md, section 6,
//! "Any size").
//!
//! The result is one system for all sizes. Each constant is a variable that no step changes. Each
//! variable of a family `f: S[N]`, and the node of its instances, is an array over ints: `f[i].x`
//! is the element at `i` of the variable `f.x`. A step of an instance is a transition with the int
//! parameter `i` and the guard `0 <= i < N`; a synchronisation has a parameter for each of its
//! indices. A condition on all instances is a formula with a quantifier over `0..N`.
//!
//! Invariant: for every size `n`, the runs of this system with `N = n` are the runs of the
//! composition of the instances `f[0]` to `f[n-1]` ([`super::compose`]). Elements of arrays at
//! other indices are never read.

mod claims;
mod steps;

use std::fmt;

use gander_term::{NameClash, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use super::describe::{described_start, described_transition};
use super::transcribe::Transcriber;
use super::{ComposeError, LeftOut, NODE};
use crate::builder::{BuildError, SystemBuilder};
use crate::formula::ChoiceTerm;
use crate::origin::Span;
use crate::system::{
    Family, Instance, InstanceNode, Move, NodeId, Role, System, TransitionId, VarId,
};

/// A family of instances, or one instance.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its specification.
    pub system: &'a System,
    /// The number of instances, a term over the constants; `None` for one instance.
    pub size: Option<TermId>,
}

/// A synchronisation with indices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IndexedSync {
    /// The gate of the joint step.
    pub name: String,
    /// Parameters that have one value for all participants that have them.
    pub shared: Vec<String>,
    /// Its indices.
    pub indices: Vec<SyncIndex>,
    /// The condition on the indices.
    pub condition: Option<TermId>,
    /// Those that take part.
    pub members: Vec<Participant>,
    /// Those that take part if they can. A family without an index stands for all its instances.
    pub receivers: Vec<Participant>,
    /// Where it is written.
    pub span: Option<Span>,
}

/// An index of a synchronisation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyncIndex {
    /// Its name.
    pub name: String,
    /// The symbol that stands for it in the condition and in the indices of participants.
    pub symbol: SymbolId,
    /// The number of its values.
    pub size: TermId,
}

/// A participant of a synchronisation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Participant {
    /// Its position among the members of the composition.
    pub part: usize,
    /// The index in its family.
    pub index: Option<TermId>,
    /// If `index` is a bijection of one index of the synchronisation: that index, as a term over
    /// [`Parametric::index`] of the family.
    pub inverse: Option<(SymbolId, TermId)>,
    /// Its gate.
    pub gate: String,
    /// Its text, as in `f[i]`.
    pub text: String,
}

/// What an input of a specification stands for. Terms may mention [`Parametric::index`] of the
/// reader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum IndexedRead {
    /// A variable of a member, with the index in its family.
    Variable(usize, Option<TermId>, VarId),
    /// The node of a member, with the index in its family.
    Node(usize, Option<TermId>),
    /// A value that no step changes.
    Constant(TermId),
}

/// A link of an input, or a constant of a specification, to what it stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IndexedLink {
    /// Position of the member that reads, and its input.
    pub reader: (usize, VarId),
    /// What it reads.
    pub read: IndexedRead,
}

/// Why there is no system for all sizes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ParametricError {
    /// As for a composition of known size.
    Compose(ComposeError),
    /// The system for all sizes cannot express it.
    Unsupported {
        /// The synchronisation that it is about.
        sync: Option<usize>,
        /// What it cannot express.
        what: String,
    },
}

impl fmt::Display for ParametricError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParametricError::Compose(error) => error.fmt(f),
            ParametricError::Unsupported { what, .. } => {
                write!(f, "{what} cannot be said of a family whose size has no value")
            }
        }
    }
}

impl std::error::Error for ParametricError {}

impl From<ComposeError> for ParametricError {
    fn from(error: ComposeError) -> ParametricError {
        ParametricError::Compose(error)
    }
}

impl From<BuildError> for ParametricError {
    fn from(error: BuildError) -> ParametricError {
        ParametricError::Compose(error.into())
    }
}

impl From<NameClash> for ParametricError {
    fn from(error: NameClash) -> ParametricError {
        ParametricError::Compose(error.into())
    }
}

/// A composition in a builder, with the map from parts of the members to parts of the system.
pub struct Parametric<'a> {
    /// Claims of members that were not carried over.
    pub left_out: Vec<LeftOut>,
    parts: Vec<Part<'a>>,
    /// By transition of the system.
    steps: Vec<steps::Done>,
}

struct Part<'a> {
    name: &'a str,
    system: &'a System,
    size: Option<TermId>,
    /// Stands for the index of an instance in links.
    index: SymbolId,
    /// The variable that holds the node of the instance, or of all instances.
    location: Option<VarId>,
    /// By variable of the specification; `None` if it is linked.
    vars: Vec<Option<VarId>>,
    /// By variable of the specification: current and next value of a linked one, over `index`.
    links: FxHashMap<VarId, (TermId, TermId)>,
    /// By transition of the specification.
    moves: Vec<Vec<PartMove>>,
}

/// A transition of the system in which an instance takes a transition of its own.
#[derive(Clone)]
struct PartMove {
    transition: TransitionId,
    condition: Option<TermId>,
    /// The index of the instance, a term over the parameters; `None` for one instance, and for
    /// receivers.
    index: Option<TermId>,
    /// The parameters of the instance's transition, as parameters of the system's; none for
    /// receivers.
    params: Vec<SymbolId>,
    is_joint: bool,
}

impl<'a> Parametric<'a> {
    /// Declares the variables of the members. The builder has the constants already.
    pub fn declare(
        builder: &mut SystemBuilder,
        members: &[Member<'a>],
    ) -> Result<Parametric<'a>, ParametricError> {
        if members.is_empty() {
            return Err(ComposeError::NoInstance.into());
        }
        let mut parts = Vec::new();
        for &Member { name, system, size } in members {
            if system.starts.is_empty() {
                return Err(ComposeError::NoStart(name.to_string()).into());
            }
            if size.is_some() && !system.fairness.is_empty() {
                let what = format!("fairness of the instances of `{name}`");
                return Err(ParametricError::Unsupported { sync: None, what });
            }
            parts.push(Part {
                name,
                system,
                size,
                index: builder.pool.declare_fresh(&format!("{name}.@index"), Sort::Int),
                location: None,
                vars: Vec::new(),
                links: FxHashMap::default(),
                moves: vec![Vec::new(); system.transitions.len()],
            });
        }
        Ok(Parametric { left_out: Vec::new(), parts, steps: Vec::new() })
    }

    /// The symbol that stands for the index of an instance of this family in links.
    pub fn index(&self, part: usize) -> SymbolId {
        self.parts[part].index
    }

    /// Declares the variables, nodes and starts of the members. Those of inputs in `linked` are not
    /// declared.
    pub fn add_vars(
        &mut self,
        builder: &mut SystemBuilder,
        linked: &[(usize, VarId)],
    ) -> Result<(), ParametricError> {
        for (at, part) in self.parts.iter_mut().enumerate() {
            let mut transcriber = Transcriber::new(part.system, part.name);
            let nodes = Sort::Enum(transcriber.node_sort(&mut builder.pool)?);
            if part.system.nodes.len() > 1 {
                let sort = part.sort(&mut builder.pool, nodes)?;
                part.location = Some(builder.var(part.name, sort, Role::State, None, None)?);
            }
            for (v, id) in part.system.vars.iter().zip(part.system.var_ids()) {
                if linked.contains(&(at, id)) {
                    part.vars.push(None);
                    continue;
                }
                let sort = transcriber.sort(&mut builder.pool, v.sort)?;
                let sort = part.sort(&mut builder.pool, sort)?;
                let full = format!("{}.{}", part.name, v.name);
                let new = builder.var(&full, sort, v.role, None, v.span)?;
                if part.size.is_none() {
                    builder.set_range(new, v.range.clone());
                    builder.set_numerals(new, v.numerals);
                }
                part.vars.push(Some(new));
            }
        }
        Ok(())
    }

    /// Links inputs, and constants of specifications.
    pub fn link(
        &mut self,
        builder: &mut SystemBuilder,
        link: &IndexedLink,
    ) -> Result<(), ParametricError> {
        let (reader, input) = link.reader;
        let instance = self.parts[reader].name;
        let wrong = || ComposeError::WrongLink { instance: instance.to_string() };
        let of = |part: usize| self.parts.get(part).ok_or_else(wrong);
        let terms = match &link.read {
            IndexedRead::Constant(value) => (*value, *value),
            IndexedRead::Variable(owner, index, var) => {
                let owner = of(*owner)?;
                match owner.vars.get(var.index()) {
                    Some(Some(read)) => owner.elements(builder, *read, *index),
                    // A constant of another instance: a value for each of its indices.
                    _ => {
                        let &(current, _) = owner.links.get(var).ok_or_else(wrong)?;
                        let term = at_index(&mut builder.pool, owner.index, *index, current);
                        (term, term)
                    }
                }
            }
            IndexedRead::Node(owner, index) => {
                let owner = of(*owner)?;
                match owner.location {
                    Some(var) => owner.elements(builder, var, *index),
                    None => {
                        let mut transcriber = Transcriber::new(owner.system, owner.name);
                        let nodes = transcriber.node_sort(&mut builder.pool)?;
                        let only = builder.pool.constant(Value::Enum(nodes, 0));
                        (only, only)
                    }
                }
            }
        };
        let part = &mut self.parts[reader];
        let mut transcriber = Transcriber::new(part.system, part.name);
        let sort = transcriber.sort(&mut builder.pool, part.system.var(input).sort)?;
        if builder.pool.sort(terms.0) != sort {
            return Err(wrong().into());
        }
        part.links.insert(input, terms);
        Ok(())
    }

    /// Adds assumptions, node invariants, the condition in which runs may end, and the start.
    pub fn add_states(&mut self, builder: &mut SystemBuilder) -> Result<(), ParametricError> {
        let mut may_end = Vec::new();
        let mut start = Vec::new();
        for at in 0..self.parts.len() {
            let (system, name) = (self.parts[at].system, self.parts[at].name);
            let copy = self.generic(builder, at);
            let mut transcriber = self.transcriber(builder, at, copy.map(|c| c.1))?;
            for a in &system.assumptions {
                let term = transcriber.apply(&mut builder.pool, a.term.term())?;
                let term = self.for_all(builder, at, copy, term);
                let full = format!("{name}: {}", system.element_name(a.id));
                let formula = builder.state_formula(term, &full)?;
                builder.assumption(&full, formula, system.elements[a.id.index()].span);
            }
            let mut ends = Vec::new();
            for n in system.node_ids() {
                let here = transcriber.at(&mut builder.pool, n)?;
                if system.node(n).is_final {
                    ends.push(here);
                }
                for h in &system.node(n).hints {
                    let term = transcriber.apply(&mut builder.pool, h.term.term())?;
                    let term = builder.pool.implies(here, term);
                    let term = self.for_all(builder, at, copy, term);
                    let full = format!("{name}: {}", system.element_name(h.id));
                    let formula = builder.state_formula(term, &full)?;
                    builder.hint(NODE, &full, formula, system.elements[h.id.index()].span);
                }
            }
            if let Some(condition) = system.final_condition {
                ends.push(transcriber.apply(&mut builder.pool, condition.term())?);
            }
            let ends = builder.pool.or(ends);
            may_end.push(self.for_all(builder, at, copy, ends));
            let mut ways: Vec<Vec<(TermId, Option<Span>)>> = Vec::new();
            for s in &system.starts {
                let mut parts = Vec::new();
                if self.parts[at].location.is_some() {
                    parts.push((transcriber.at(&mut builder.pool, s.target)?, s.span));
                }
                for c in &s.constraint {
                    let term = transcriber.apply(&mut builder.pool, c.term.term())?;
                    parts.push((term, system.elements[c.id.index()].span));
                }
                ways.push(parts);
            }
            if ways.len() > 1 {
                let all: Vec<TermId> = ways
                    .iter()
                    .map(|way| builder.pool.and(way.iter().map(|(term, _)| *term)))
                    .collect();
                ways = vec![vec![(builder.pool.or(all), system.starts[0].span)]];
            }
            for (term, span) in ways.remove(0) {
                start.push((self.for_all(builder, at, copy, term), span));
            }
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
        builder.start("start", NODE, &start, None)?;
        Ok(())
    }

    /// A bound symbol for an instance of a family, and its term.
    fn generic(&self, builder: &mut SystemBuilder, part: usize) -> Option<(SymbolId, TermId)> {
        self.parts[part].size?;
        let bound = builder.pool.declare_bound("i", Sort::Int);
        Some((bound, builder.pool.var(bound)))
    }

    /// `for all instances of the family: term`.
    fn for_all(
        &self,
        builder: &mut SystemBuilder,
        part: usize,
        copy: Option<(SymbolId, TermId)>,
        term: TermId,
    ) -> TermId {
        let (Some((bound, index)), Some(size)) = (copy, self.parts[part].size) else { return term };
        let inside = within(&mut builder.pool, index, size);
        let body = builder.pool.implies(inside, term);
        builder.pool.forall(&[bound], body)
    }

    /// `for some instance of the family: term`.
    fn for_some(
        &self,
        builder: &mut SystemBuilder,
        part: usize,
        copy: Option<(SymbolId, TermId)>,
        term: TermId,
    ) -> TermId {
        let (Some((bound, index)), Some(size)) = (copy, self.parts[part].size) else { return term };
        let inside = within(&mut builder.pool, index, size);
        let body = builder.pool.and([inside, term]);
        builder.pool.exists(&[bound], body)
    }

    /// Translates terms of an instance of this member.
    fn transcriber(
        &self,
        builder: &mut SystemBuilder,
        part: usize,
        index: Option<TermId>,
    ) -> Result<Transcriber<'a>, ParametricError> {
        let part = &self.parts[part];
        let mut transcriber = Transcriber::new(part.system, part.name);
        let nodes = transcriber.node_sort(&mut builder.pool)?;
        let location = match part.location {
            Some(var) => part.elements(builder, var, index).0,
            None => builder.pool.constant(Value::Enum(nodes, 0)),
        };
        transcriber.symbol(part.system.location, location);
        for (id, new) in part.system.var_ids().zip(&part.vars) {
            let old = part.system.var(id);
            let (current, next) = match new {
                Some(var) => part.elements(builder, *var, index),
                None => {
                    let Some(&(current, next)) = part.links.get(&id) else { continue };
                    let both =
                        [current, next].map(|t| at_index(&mut builder.pool, part.index, index, t));
                    (both[0], both[1])
                }
            };
            transcriber.symbol(old.current, current);
            transcriber.symbol(old.next, next);
        }
        Ok(transcriber)
    }

    /// Describes the control graph of each member, in the words of its specification.
    pub fn describe(&mut self, builder: &mut SystemBuilder) -> Result<(), ParametricError> {
        let mut described = Vec::new();
        for at in 0..self.parts.len() {
            let copy = self.generic(builder, at);
            let system = self.parts[at].system;
            let mut nodes = Vec::new();
            for n in system.node_ids() {
                let here = self.at_node(builder, at, n, copy.map(|c| c.1))?;
                let here = self.for_some(builder, at, copy, here);
                let node = system.node(n);
                nodes.push(InstanceNode {
                    name: node.name.clone(),
                    is_final: node.is_final,
                    span: node.span,
                    at: builder.state_formula(here, "node")?,
                });
            }
            let part = &self.parts[at];
            let starts = system.starts.iter().map(|s| described_start(system, s, &[]));
            let transitions = system.transitions.iter().zip(&part.moves).map(|(t, moves)| {
                let described = |m: &PartMove| Move {
                    transition: m.transition,
                    condition: m.condition.map(ChoiceTerm),
                    is_joint: m.is_joint,
                };
                described_transition(system, t, moves.iter().map(described).collect())
            });
            described.push(Instance {
                name: part.name.to_string(),
                location: part.location.filter(|_| part.size.is_none()),
                // The variables of a family are arrays, of no single instance.
                vars: match part.size {
                    Some(_) => Vec::new(),
                    None => part.vars.iter().copied().flatten().collect(),
                },
                nodes,
                starts: starts.collect(),
                transitions: transitions.collect(),
            });
        }
        builder.set_instances(described);
        let mut families = Vec::new();
        for part in &self.parts {
            let Some(size) = part.size else { continue };
            families.push(Family {
                name: part.name.to_string(),
                arrays: part.vars.iter().copied().flatten().chain(part.location).collect(),
                size: builder.state_value(size, "size")?,
            });
        }
        builder.set_families(families);
        Ok(())
    }

    /// True if the instance is at this node.
    pub fn at_node(
        &self,
        builder: &mut SystemBuilder,
        part: usize,
        node: NodeId,
        index: Option<TermId>,
    ) -> Result<TermId, ParametricError> {
        let mut transcriber = self.transcriber(builder, part, index)?;
        Ok(transcriber.at(&mut builder.pool, node)?)
    }

    /// The term for a variable of an instance.
    pub fn var(
        &self,
        builder: &mut SystemBuilder,
        part: usize,
        var: VarId,
        index: Option<TermId>,
    ) -> Option<TermId> {
        let part = &self.parts[part];
        match part.vars.get(var.index())? {
            Some(own) => Some(part.elements(builder, *own, index).0),
            None => {
                let &(current, _) = part.links.get(&var)?;
                Some(at_index(&mut builder.pool, part.index, index, current))
            }
        }
    }

    /// The term for the node of an instance; none if its specification has one node.
    pub fn location(
        &self,
        builder: &mut SystemBuilder,
        part: usize,
        index: Option<TermId>,
    ) -> Option<TermId> {
        let part = &self.parts[part];
        part.location.map(|var| part.elements(builder, var, index).0)
    }

    /// The sort of the system for a sort of a member.
    pub fn sort(
        &self,
        builder: &mut SystemBuilder,
        part: usize,
        sort: Sort,
    ) -> Result<Sort, ParametricError> {
        let part = &self.parts[part];
        let mut transcriber = Transcriber::new(part.system, part.name);
        transcriber.node_sort(&mut builder.pool)?;
        Ok(transcriber.sort(&mut builder.pool, sort)?)
    }

    /// The transitions in which an instance of the member takes this transition, each with the
    /// condition under which it does and the index of the instance.
    pub fn moves(
        &self,
        part: usize,
        transition: TransitionId,
    ) -> impl Iterator<Item = (TransitionId, Option<TermId>, Option<TermId>)> {
        let moves = self.parts[part].moves[transition.index()].iter();
        moves.map(|m| (m.transition, m.condition, m.index))
    }

    /// The transitions of the system for a synchronisation, each with the terms of its indices.
    pub fn synchronised(&self, sync: usize) -> Vec<(TransitionId, Vec<TermId>)> {
        let steps = self.steps.iter().enumerate().filter(|(_, s)| s.sync == Some(sync));
        steps.map(|(i, s)| (TransitionId::from(i), s.indices.clone())).collect()
    }

    /// The parameters of a transition of the system that are indices of instances.
    pub fn index_params(&self, transition: TransitionId) -> &[SymbolId] {
        &self.steps[transition.index()].index_params
    }

    /// The name of the member that takes a transition of the system, or the first of several.
    pub fn leader(&self, transition: TransitionId) -> &'a str {
        self.parts[self.steps[transition.index()].leader].name
    }
}

impl Part<'_> {
    /// The sort of a variable with elements of this sort.
    fn sort(&self, pool: &mut Pool, element: Sort) -> Result<Sort, ParametricError> {
        if self.size.is_none() {
            return Ok(element);
        }
        pool.array_sort(Sort::Int, element).ok_or_else(|| ParametricError::Unsupported {
            sync: None,
            what: format!("arrays as deep as those of `{}`", self.name),
        })
    }

    /// The current and the next value of a variable of an instance.
    fn elements(
        &self,
        builder: &mut SystemBuilder,
        var: VarId,
        index: Option<TermId>,
    ) -> (TermId, TermId) {
        let v = builder.so_far().var(var);
        let (current, next) = (v.current, v.next);
        let both = [current, next].map(|s| {
            let whole = builder.pool.var(s);
            match (self.size, index) {
                (Some(_), Some(index)) => builder.pool.select(whole, index),
                _ => whole,
            }
        });
        (both[0], both[1])
    }
}

/// `0 <= index < size`
pub(super) fn within(pool: &mut Pool, index: TermId, size: TermId) -> TermId {
    let zero = pool.int(0);
    let (low, high) = (pool.le(zero, index), pool.lt(index, size));
    pool.and([low, high])
}

/// A term over the placeholder, for the instance with this index.
fn at_index(pool: &mut Pool, placeholder: SymbolId, index: Option<TermId>, t: TermId) -> TermId {
    match index {
        Some(index) => pool.substitute(t, &FxHashMap::from_iter([(placeholder, index)])),
        None => t,
    }
}

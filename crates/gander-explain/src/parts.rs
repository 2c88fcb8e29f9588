//! The parts of a model that a proof can rest on: what the author wrote.
//!
//! A [`Part`] is one or more elements of the system that come and go together. In a dataflow program that is an equation,
//! at the first instant and at later ones and in every instance of its node; a call, with all the inputs it passes; an
//! assertion or a contract's assumption. In other systems every conjunct of a guard, a start, an effect and an assumption is a
//! part of its own, and so is the range of a parameter or an input.
//!
//! Conjuncts and branches of all these can be parts of their own ([`Parts::divided`]).
//!
//! What the author did not write is no part and is always there: resolved frames, memories and flags that a front-end
//! added (each is a total definition of a variable that nothing else constrains, so that it changes no verdict).

use gander_system::passes::{Divided, Fork, Grain, Granule, granules};
use gander_system::{Effect, ElementId, ElementKind, ElementName, Span, StreamKind, System};
use rustc_hash::FxHashMap;

use crate::pieces::{Side, has_arrow, piece};
use crate::set::PartSet;

/// How finely a model is divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Granularity {
    /// What is written once is one part, whatever number of instances it has.
    #[default]
    Written,
    /// Every instance of a node has its own parts.
    Instances,
}

/// What a part is to the author.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum PartKind {
    /// An equation of a dataflow program.
    Equation,
    /// A call of a node.
    Call,
    /// A conjunct of a start transition.
    Start,
    /// A conjunct of a guard, or the range of a parameter.
    Guard,
    /// A part of an effect.
    Effect,
    /// An assumption, an assertion, or the range of an input.
    Assumption,
}

impl PartKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            PartKind::Equation => "equation",
            PartKind::Call => "call",
            PartKind::Start => "start",
            PartKind::Guard => "guard",
            PartKind::Effect => "effect",
            PartKind::Assumption => "assumption",
        }
    }
}

/// A part of a model.
#[derive(Clone, Debug)]
pub struct Part {
    /// What it is called; unique.
    pub name: String,
    /// What it is.
    pub kind: PartKind,
    /// Where it was written.
    pub span: Option<Span>,
    /// The elements of the system that it stands for.
    pub elements: Vec<ElementId>,
    /// The node or transition that it belongs to, for figures per node; empty for what belongs to all.
    pub owner: String,
}

/// The parts of a system.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The parts, in the order of the text.
    pub list: Vec<Part>,
    /// By element: its part.
    of_element: Vec<Option<u32>>,
}

/// Which elements belong together.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Alone(ElementId),
    Written(PartKind, Span, Option<Side>, Vec<Fork>),
    Instance(PartKind, Span, Option<Side>, Vec<Fork>, String),
}

/// A part before it has its name.
struct Draft {
    kind: PartKind,
    span: Option<Span>,
    names: Vec<String>,
    owner: String,
    elements: Vec<ElementId>,
    side: Option<Side>,
    path: Vec<Fork>,
}

impl Parts {
    /// The parts of a system.
    pub fn of(system: &System, source: &str, granularity: Granularity) -> Parts {
        Parts::with(system, &[], source, granularity, None)
    }

    /// The system with conjuncts or branches as elements of their own, and its parts. Some elements may be too large to be divided
    /// ([`Divided::cut_short`]).
    pub fn divided(system: &System, source: &str, granularity: Granularity, grain: Grain) -> (Divided, Parts) {
        let divided = granules(system, grain);
        let parts = Parts::with(&divided.system, &divided.granules, source, granularity, Some(grain));
        (divided, parts)
    }

    fn with(
        system: &System,
        granules: &[Granule],
        source: &str,
        granularity: Granularity,
        grain: Option<Grain>,
    ) -> Parts {
        let granules: FxHashMap<ElementId, &Granule> = granules.iter().map(|g| (g.element, g)).collect();
        let mut arrows: FxHashMap<Span, bool> = FxHashMap::default();
        let streams: FxHashMap<&str, StreamKind> =
            system.vars.iter().filter_map(|v| Some((v.name.as_str(), v.stream?))).collect();
        let trivial = trivial_elements(system);
        let mut drafts: Vec<Draft> = Vec::new();
        let mut known: FxHashMap<Key, usize> = FxHashMap::default();
        for (i, &says_nothing) in trivial.iter().enumerate() {
            let id = ElementId(i as u32);
            let granule = granules.get(&id);
            let base = granule.map_or(id, |g| g.of);
            let path = granule.map_or_else(Vec::new, |g| g.path.clone());
            let info = &system.elements[base.index()];
            if says_nothing {
                continue;
            }
            let kind = match info.kind {
                ElementKind::Start => PartKind::Start,
                ElementKind::Guard | ElementKind::ParameterRange => PartKind::Guard,
                ElementKind::Assignment | ElementKind::Constraint => PartKind::Effect,
                ElementKind::Assumption => PartKind::Assumption,
                ElementKind::Frame | ElementKind::Hint => continue,
            };
            let draft = match stream_of(&info.name, &streams) {
                Some((_, StreamKind::Internal | StreamKind::Choice)) => continue,
                Some((stream, what)) => {
                    let kind = if what == StreamKind::Input { PartKind::Call } else { PartKind::Equation };
                    let (owner, name) = written_name(&stream, &system.name);
                    let has_sides = grain == Some(Grain::Branches) && kind == PartKind::Equation;
                    let has_sides = has_sides
                        && info.span.is_some_and(|s| *arrows.entry(s).or_insert_with(|| has_arrow(source, s)));
                    let side = has_sides.then_some(match info.kind {
                        ElementKind::Start => Side::First,
                        _ => Side::Later,
                    });
                    let key = match (info.span, granularity) {
                        (None, _) => Key::Alone(id),
                        (Some(span), Granularity::Written) => Key::Written(kind, span, side, path.clone()),
                        (Some(span), Granularity::Instances) => {
                            Key::Instance(kind, span, side, path.clone(), instance(&stream).into())
                        }
                    };
                    let name = match granularity {
                        Granularity::Written => name,
                        Granularity::Instances => stream.clone(),
                    };
                    (key, Draft { kind, span: info.span, names: vec![name], owner, elements: vec![id], side, path })
                }
                // A bound on steps is one thing to the author, whatever counts them.
                None if counts_steps(system, source, info.span) => {
                    let (kind, names, elements) = (PartKind::Assumption, vec!["MAXSTEPS".to_string()], vec![id]);
                    let key = info.span.map_or(Key::Alone(id), |s| Key::Written(kind, s, None, Vec::new()));
                    let owner = String::new();
                    (key, Draft { kind, span: info.span, names, owner, elements, side: None, path: Vec::new() })
                }
                None => {
                    let owner = match info.name {
                        ElementName::OfTransition(t, _) | ElementName::OfVar(t, _) | ElementName::OfParam(t, _) => {
                            system.transition(t).name.clone()
                        }
                        ElementName::OfStart(s, _) => system.starts[s.index()].name.clone(),
                        ElementName::Given(_) => String::new(),
                    };
                    let names = vec![system.element_name(base)];
                    let (span, elements) = (info.span, vec![id]);
                    (Key::Alone(id), Draft { kind, span, names, owner, elements, side: None, path })
                }
            };
            let (key, draft) = draft;
            match known.get(&key) {
                Some(&at) => {
                    drafts[at].elements.push(id);
                    for name in draft.names {
                        if !drafts[at].names.contains(&name) {
                            drafts[at].names.push(name);
                        }
                    }
                }
                None => {
                    known.insert(key, drafts.len());
                    drafts.push(draft);
                }
            }
        }
        for d in drafts.iter_mut().filter(|d| d.side.is_some() || !d.path.is_empty()) {
            d.span = d.span.map(|s| piece(source, s, d.side, &d.path).unwrap_or(s));
        }
        drafts.sort_by_key(|d| d.span.map_or((1, 0), |s| (0, s.start)));
        Parts::named(system, source, drafts)
    }

    /// No part: nothing can be removed.
    pub fn none(system: &System) -> Parts {
        Parts { list: Vec::new(), of_element: vec![None; system.elements.len()] }
    }

    fn named(system: &System, source: &str, drafts: Vec<Draft>) -> Parts {
        let line_ends: Vec<usize> = source.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at).collect();
        let line_of = |offset: u32| 1 + line_ends.partition_point(|end| *end < offset as usize);
        let mut taken: FxHashMap<String, u32> = FxHashMap::default();
        let mut of_element = vec![None; system.elements.len()];
        let mut list = Vec::new();
        for draft in drafts {
            let mut name = match draft.kind {
                PartKind::Call => {
                    let node = &draft.owner;
                    match draft.span {
                        Some(span) => format!("call of {node} on line {}", line_of(span.start)),
                        None => format!("call of {node}"),
                    }
                }
                _ => together(&draft.names),
            };
            name.push_str(&place(draft.side, &draft.path));
            let count = taken.entry(name.clone()).or_default();
            *count += 1;
            if *count > 1 {
                name = match draft.span {
                    Some(span) => format!("{name} on line {}", line_of(span.start)),
                    None => format!("{name} ({count})"),
                };
                let again = taken.entry(name.clone()).or_default();
                *again += 1;
                if *again > 1 {
                    name = format!("{name} ({again})");
                }
            }
            for e in &draft.elements {
                of_element[e.index()] = Some(list.len() as u32);
            }
            list.push(Part { name, kind: draft.kind, span: draft.span, elements: draft.elements, owner: draft.owner });
        }
        Parts { list, of_element }
    }

    /// The same parts of a system that was made of this one; `origin` gives the old element of a new one, none for what is always
    /// there.
    pub fn carried(&self, to: &System, origin: impl Fn(ElementId) -> Option<ElementId>) -> Parts {
        let mut list = self.list.clone();
        list.iter_mut().for_each(|p| p.elements.clear());
        let mut of_element = vec![None; to.elements.len()];
        for (i, part) in of_element.iter_mut().enumerate() {
            let id = ElementId(i as u32);
            *part = origin(id).and_then(|old| self.of_element.get(old.index()).copied().flatten());
            if let Some(p) = *part {
                list[p as usize].elements.push(id);
            }
        }
        Parts { list, of_element }
    }

    /// Only the parts with these names can be removed; the others are always there.
    pub fn restrict(&mut self, keep: impl Fn(&Part) -> bool) {
        let list = std::mem::take(&mut self.list);
        self.of_element.fill(None);
        for part in list.into_iter().filter(|p| keep(p)) {
            for e in &part.elements {
                self.of_element[e.index()] = Some(self.list.len() as u32);
            }
            self.list.push(part);
        }
    }

    /// True if the same elements of one system are parts.
    pub(crate) fn same(&self, other: &Parts) -> bool {
        self.of_element == other.of_element
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// True if nothing can be removed.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The part that an element belongs to; none if it is always there.
    pub fn part_of(&self, e: ElementId) -> Option<usize> {
        self.of_element.get(e.index()).copied().flatten().map(|p| p as usize)
    }

    /// True if the element is there when only these parts are.
    pub fn keeps(&self, kept: &PartSet, e: ElementId) -> bool {
        self.part_of(e).is_none_or(|p| kept.has(p))
    }

    /// The names of a set.
    pub fn names(&self, set: &PartSet) -> Vec<String> {
        set.iter().map(|p| self.list[p].name.clone()).collect()
    }
}

/// True for what a script's bound on its steps became.
fn counts_steps(system: &System, source: &str, span: Option<Span>) -> bool {
    let before = span.filter(|_| system.step_limit.is_some()).and_then(|s| source.get(..s.start as usize));
    before.is_some_and(|b| b.trim_end().trim_end_matches(':').trim_end().ends_with("MAXSTEPS"))
}

/// Elements that demand nothing: `x = x`.
fn trivial_elements(system: &System) -> Vec<bool> {
    let mut trivial = vec![false; system.elements.len()];
    let mut look = |e: ElementId, t| {
        if system.pool.as_bool(t) == Some(true) {
            trivial[e.index()] = true;
        }
    };
    for s in &system.starts {
        s.constraint.iter().for_each(|e| look(e.id, e.term.term()));
    }
    for t in &system.transitions {
        t.guard.iter().for_each(|e| look(e.id, e.term.term()));
        for e in &t.effect {
            if let Effect::Constrain { id, relation } = e {
                look(*id, relation.term());
            }
        }
    }
    system.assumptions.iter().for_each(|e| look(e.id, e.term.term()));
    trivial
}

/// The stream whose equation an element is.
fn stream_of(name: &ElementName, streams: &FxHashMap<&str, StreamKind>) -> Option<(String, StreamKind)> {
    let ElementName::Given(name) = name else { return None };
    let stream = name.strip_suffix(" at first").unwrap_or(name);
    streams.get(stream).map(|kind| (stream.to_string(), *kind))
}

/// The instance that a stream belongs to: `top.counter#1` of `top.counter#1.n`.
fn instance(stream: &str) -> &str {
    match stream.rfind('#') {
        Some(mark) => {
            let end = stream[mark..].find('.').map_or(stream.len(), |dot| mark + dot);
            &stream[..end]
        }
        None => "",
    }
}

/// The node that a stream belongs to, and its name there: `counter` and `counter.n` of `top.counter#1.n`.
fn written_name(stream: &str, root: &str) -> (String, String) {
    let path = instance(stream);
    if path.is_empty() {
        return (root.to_string(), stream.to_string());
    }
    let last = path.rsplit_once('.').map_or(path, |(_, last)| last);
    let node = last.rsplit_once('#').map_or(last, |(node, _)| node);
    let own = stream[path.len()..].trim_start_matches('.');
    (node.to_string(), if own.is_empty() { node.to_string() } else { format!("{node}.{own}") })
}

/// What a conjunct or branch is called behind the name of the whole.
fn place(side: Option<Side>, path: &[Fork]) -> String {
    let side = side.map(|s| match s {
        Side::First => "first".to_string(),
        Side::Later => "later".to_string(),
    });
    let forks = path.iter().map(|f| match f {
        Fork::Conjunct(i, _) => format!("conjunct {i}"),
        Fork::Branch(1, 2) => "then".to_string(),
        Fork::Branch(i, n) if i == n => "else".to_string(),
        Fork::Branch(i, _) => format!("branch {i}"),
    });
    let words: Vec<String> = side.into_iter().chain(forks).collect();
    if words.is_empty() { String::new() } else { format!(": {}", words.join(", ")) }
}

/// One name for what is defined together: fields and elements go under the name of the whole.
fn together(names: &[String]) -> String {
    if let [one] = names {
        return one.clone();
    }
    let mut stems: Vec<&str> = Vec::new();
    for name in names {
        let stem = name.split_once('[').map_or(name.as_str(), |(stem, _)| stem);
        if !stems.contains(&stem) {
            stems.push(stem);
        }
    }
    stems.join(", ")
}

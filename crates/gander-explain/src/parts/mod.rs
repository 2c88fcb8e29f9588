//! The parts of a model that a proof can use: what the author wrote.
//!
//! A [`Part`] is one or more elements of the system that are kept or removed together. In a
//! dataflow program a part is an equation (at the first and at later instants, in every instance of
//! its node), a call with all the inputs it passes, an assertion, or an assumption of a contract.
//! In other systems every conjunct of a guard, start, effect or assumption is a part, and so is the
//! range of a parameter or an input.
//!
//! With [`Parts::divided`], conjuncts and branches of these are parts.
//!
//! What the author did not write is no part and is always kept: resolved frames, and memories and
//! flags that a front-end added. Each of these is a total definition of a variable that nothing
//! else constrains, so it changes no verdict.

pub(crate) mod relax;
pub(crate) mod set;
mod spans;

use std::collections::BTreeSet;

use gander_system::passes::{Divided, Fork, Grain, Granule, granules};
use gander_system::{Effect, ElementId, ElementKind, ElementName, Span, StreamKind, System};
use rustc_hash::FxHashMap;

use crate::parts::set::PartSet;
use crate::parts::spans::{Side, has_arrow, piece};

/// How finely a model is divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Granularity {
    /// What is written once is one part for all its instances.
    #[default]
    Written,
    /// Every instance of a node has its own parts.
    Instances,
}

/// The kind of a part.
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
    /// Its name, unique in the model.
    pub name: String,
    /// Its kind.
    pub kind: PartKind,
    /// Where it was written.
    pub span: Option<Span>,
    /// Its elements.
    pub elements: Vec<ElementId>,
    /// The node or transition that it belongs to; empty if it belongs to the whole model.
    pub owner: String,
    /// The names of what it belongs to or defines, without what tells it apart from other parts.
    pub defines: Vec<String>,
}

/// The parts of a system.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The parts, in the order of the text.
    pub list: Vec<Part>,
    /// By element: its part.
    of_element: Vec<Option<u32>>,
}

/// Elements with equal keys form one part.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Alone(ElementId),
    Written(PartKind, Span, Option<Side>, Vec<Fork>),
    Instance(PartKind, Span, Option<Side>, Vec<Fork>, String),
    /// What a transition requires or does, in all transitions that it was written for once.
    Rule(PartKind, Span, Vec<Fork>, String),
    /// A constraint of a start that was written once for several instances.
    Start(Span, Vec<Fork>, String),
}

/// A part without its final name.
struct Draft {
    kind: PartKind,
    span: Option<Span>,
    names: Vec<String>,
    owner: String,
    elements: Vec<ElementId>,
    side: Option<Side>,
    path: Vec<Fork>,
    /// By transition of its elements: its gate, and the element in it.
    rules: Vec<(String, String)>,
}

impl Parts {
    /// The parts of a system.
    pub fn of(system: &System, source: &str, granularity: Granularity) -> Parts {
        Parts::with(system, &[], source, granularity, None)
    }

    /// The system with conjuncts or branches as elements, and its parts. Elements that are too
    /// large are not divided ([`Divided::cut_short`]).
    pub fn divided(
        system: &System,
        source: &str,
        granularity: Granularity,
        grain: Grain,
    ) -> (Divided, Parts) {
        let divided = granules(system, grain);
        let parts =
            Parts::with(&divided.system, &divided.granules, source, granularity, Some(grain));
        (divided, parts)
    }

    fn with(
        system: &System,
        granules: &[Granule],
        source: &str,
        granularity: Granularity,
        grain: Option<Grain>,
    ) -> Parts {
        let granules: FxHashMap<ElementId, &Granule> =
            granules.iter().map(|g| (g.element, g)).collect();
        let mut arrows: FxHashMap<Span, bool> = FxHashMap::default();
        let streams: FxHashMap<&str, StreamKind> =
            system.vars().iter().filter_map(|v| Some((v.name.as_str(), v.stream?))).collect();
        let trivial = trivial_elements(system);
        let starts = start_texts(system);
        let mut drafts: Vec<Draft> = Vec::new();
        let mut known: FxHashMap<Key, usize> = FxHashMap::default();
        for (i, &is_trivial) in trivial.iter().enumerate() {
            let id = ElementId(i as u32);
            let granule = granules.get(&id);
            let base = granule.map_or(id, |g| g.of);
            let path = granule.map_or_else(Vec::new, |g| g.path.clone());
            let info = &system.elements()[base.index()];
            if is_trivial {
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
                    let kind =
                        if what == StreamKind::Input { PartKind::Call } else { PartKind::Equation };
                    let (owner, name) = written_name(&stream, system.name());
                    let has_sides =
                        grain.is_some_and(|g| g >= Grain::Branches) && kind == PartKind::Equation;
                    let has_sides = has_sides
                        && info.span.is_some_and(|s| {
                            *arrows.entry(s).or_insert_with(|| has_arrow(source, s))
                        });
                    let side = has_sides.then_some(match info.kind {
                        ElementKind::Start => Side::First,
                        _ => Side::Later,
                    });
                    let key = match (info.span, granularity) {
                        (None, _) => Key::Alone(id),
                        (Some(span), Granularity::Written) => {
                            Key::Written(kind, span, side, path.clone())
                        }
                        (Some(span), Granularity::Instances) => {
                            Key::Instance(kind, span, side, path.clone(), instance(&stream).into())
                        }
                    };
                    let name = match granularity {
                        Granularity::Written => name,
                        Granularity::Instances => stream.clone(),
                    };
                    (
                        key,
                        Draft {
                            kind,
                            span: info.span,
                            names: vec![name],
                            owner,
                            elements: vec![id],
                            side,
                            path,
                            rules: Vec::new(),
                        },
                    )
                }
                // The elements of a step limit form one part.
                None if counts_steps(system, source, info.span) => {
                    let (kind, names, elements) =
                        (PartKind::Assumption, vec!["MAXSTEPS".to_string()], vec![id]);
                    let key = info
                        .span
                        .map_or(Key::Alone(id), |s| Key::Written(kind, s, None, Vec::new()));
                    let owner = String::new();
                    (
                        key,
                        Draft {
                            kind,
                            span: info.span,
                            names,
                            owner,
                            elements,
                            side: None,
                            path: Vec::new(),
                            rules: Vec::new(),
                        },
                    )
                }
                None => {
                    let rule = rule_of(system, base);
                    let owner = match (&rule, &info.name) {
                        (Some(rule), _) => rule.transition.clone(),
                        (None, ElementName::OfStart(s, _)) => {
                            system.starts()[s.index()].name.clone()
                        }
                        (None, _) => String::new(),
                    };
                    let names = vec![system.element_name(base)];
                    let key = match (info.span, &rule, granularity) {
                        (Some(span), Some(rule), Granularity::Written) => {
                            Key::Rule(kind, span, path.clone(), plain(&rule.what).to_string())
                        }
                        (Some(span), Some(rule), Granularity::Instances) => {
                            let what = format!("{} {}", rule.gate, rule.what);
                            Key::Rule(kind, span, path.clone(), what)
                        }
                        (Some(span), None, Granularity::Written) if kind == PartKind::Start => {
                            match starts.get(&base) {
                                Some(text) => Key::Start(span, path.clone(), text.clone()),
                                None => Key::Alone(id),
                            }
                        }
                        _ => Key::Alone(id),
                    };
                    let (span, elements) = (info.span, vec![id]);
                    let rules = rule.into_iter().map(|r| (r.gate, r.what)).collect();
                    (key, Draft { kind, span, names, owner, elements, side: None, path, rules })
                }
            };
            let (key, draft) = draft;
            match known.get(&key) {
                Some(&at) => {
                    drafts[at].elements.push(id);
                    for rule in draft.rules {
                        if !drafts[at].rules.contains(&rule) {
                            drafts[at].rules.push(rule);
                        }
                    }
                    for name in draft.names {
                        let counted = matches!(key, Key::Start(..));
                        if !counted && !drafts[at].names.contains(&name) {
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
        drafts.iter_mut().for_each(Draft::name_rule);
        drafts.sort_by_key(|d| d.span.map_or((1, 0), |s| (0, s.start)));
        Parts::named(system, source, drafts)
    }

    /// No parts: nothing can be removed.
    pub fn none(system: &System) -> Parts {
        Parts { list: Vec::new(), of_element: vec![None; system.elements().len()] }
    }

    fn named(system: &System, source: &str, drafts: Vec<Draft>) -> Parts {
        let line_ends: Vec<usize> =
            source.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at).collect();
        let line_of = |offset: u32| 1 + line_ends.partition_point(|end| *end < offset as usize);
        let mut taken: FxHashMap<String, u32> = FxHashMap::default();
        let mut of_element = vec![None; system.elements().len()];
        let mut list = Vec::new();
        for draft in drafts {
            let defines = draft.names.clone();
            let mut name = match draft.kind {
                PartKind::Call => {
                    let node = &draft.owner;
                    let text = draft.span.and_then(|s| source.get(s.range())).map(call_text);
                    match (text, draft.span) {
                        (Some(text), _) => format!("call {text}"),
                        (None, Some(span)) => {
                            format!("call of {node} on line {}", line_of(span.start))
                        }
                        (None, None) => format!("call of {node}"),
                    }
                }
                _ => joint_name(&draft.names),
            };
            name.push_str(&fork_suffix(draft.side, &draft.path));
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
            list.push(Part {
                name,
                kind: draft.kind,
                span: draft.span,
                elements: draft.elements,
                owner: draft.owner,
                defines,
            });
        }
        Parts { list, of_element }
    }

    /// The same parts in a system derived from this one. `origin` maps a new element to its old
    /// one; `None` means that the element is always kept.
    pub fn carried(&self, to: &System, origin: impl Fn(ElementId) -> Option<ElementId>) -> Parts {
        let mut list = self.list.clone();
        list.iter_mut().for_each(|p| p.elements.clear());
        let mut of_element = vec![None; to.elements().len()];
        for (i, part) in of_element.iter_mut().enumerate() {
            let id = ElementId(i as u32);
            *part = origin(id).and_then(|old| self.of_element.get(old.index()).copied().flatten());
            if let Some(p) = *part {
                list[p as usize].elements.push(id);
            }
        }
        Parts { list, of_element }
    }

    /// Keeps only some of the parts; the elements of the others are always kept.
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

    /// True if both assign the same elements to the same parts.
    pub(crate) fn same(&self, other: &Parts) -> bool {
        self.of_element == other.of_element
    }

    /// The number of parts.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// True if nothing can be removed.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The part of an element; `None` if the element is always kept.
    pub fn part_of(&self, e: ElementId) -> Option<usize> {
        self.of_element.get(e.index()).copied().flatten().map(|p| p as usize)
    }

    /// True if the element is kept when only these parts are.
    pub fn keeps(&self, kept: &PartSet, e: ElementId) -> bool {
        self.part_of(e).is_none_or(|p| kept.has(p))
    }

    /// The names of the parts in a set.
    pub fn names(&self, set: &PartSet) -> Vec<String> {
        set.iter().map(|p| self.list[p].name.clone()).collect()
    }
}

/// True if the span is the step limit (`MAXSTEPS`) of a script.
fn counts_steps(system: &System, source: &str, span: Option<Span>) -> bool {
    let before =
        span.filter(|_| system.step_limit().is_some()).and_then(|s| source.get(..s.start as usize));
    before.is_some_and(|b| b.trim_end().trim_end_matches(':').trim_end().ends_with("MAXSTEPS"))
}

/// Elements that are trivially true: `x = x`.
fn trivial_elements(system: &System) -> Vec<bool> {
    let mut trivial = vec![false; system.elements().len()];
    let mut look = |e: ElementId, t| {
        if system.pool().as_bool(t) == Some(true) {
            trivial[e.index()] = true;
        }
    };
    for s in system.starts() {
        s.constraint.iter().for_each(|e| look(e.id, e.term.term()));
    }
    for t in system.transitions() {
        t.guard.iter().for_each(|e| look(e.id, e.term.term()));
        for e in &t.effect {
            if let Effect::Constrain { id, relation } = e {
                look(*id, relation.term());
            }
        }
    }
    system.assumptions().iter().for_each(|e| look(e.id, e.term.term()));
    trivial
}

/// The stream that an element defines.
fn stream_of(
    name: &ElementName,
    streams: &FxHashMap<&str, StreamKind>,
) -> Option<(String, StreamKind)> {
    let ElementName::Given(name) = name else { return None };
    let stream = name.strip_suffix(" at first").unwrap_or(name);
    streams.get(stream).map(|kind| (stream.to_string(), *kind))
}

/// An element of a transition.
struct RuleElement {
    transition: String,
    /// The gate of the transition; its name if it has none.
    gate: String,
    /// The element: `x :=`, `guard 2`.
    what: String,
}

fn rule_of(system: &System, e: ElementId) -> Option<RuleElement> {
    let (ElementName::OfTransition(t, _) | ElementName::OfVar(t, _) | ElementName::OfParam(t, _)) =
        system.elements()[e.index()].name
    else {
        return None;
    };
    let t = system.transition(t);
    let whole = system.element_name(e);
    let what = whole.strip_prefix(t.name.as_str()).unwrap_or(&whole).trim_start().to_string();
    let gate = t.gate.map_or_else(|| t.name.clone(), |g| system.gates()[g.index()].clone());
    Some(RuleElement { transition: t.name.clone(), gate, what })
}

/// A name without the instance in front.
fn plain(name: &str) -> &str {
    match name.split_once(' ') {
        // The variable of an assignment.
        Some((variable, _)) if name.ends_with(" :=") => {
            &name[variable.rfind('.').map_or(0, |dot| dot + 1)..]
        }
        _ => name,
    }
}

/// By constraint of a start: its text without the names of instances. Empty if no instance has
/// variables.
fn start_texts(system: &System) -> FxHashMap<ElementId, String> {
    if !system.vars().iter().any(|v| v.name.contains('.')) {
        return FxHashMap::default();
    }
    let constraints = system.starts().iter().flat_map(|s| &s.constraint);
    constraints
        .map(|e| {
            let text = system.pool().display_bounded(e.term.term(), MAX_START_TEXT).to_string();
            (e.id, without_instances(&text))
        })
        .filter(|(_, text)| text.chars().count() < MAX_START_TEXT)
        .collect()
}

/// Longer constraints of starts are not compared.
const MAX_START_TEXT: usize = 1_000;

/// A text in which every name has no instance in front.
fn without_instances(text: &str) -> String {
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '#');
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c: char| in_name(c) != in_name(first)).unwrap_or(rest.len());
        let word = &rest[..end];
        let is_name = first.is_alphabetic() || first == '_';
        out.push_str(if is_name { word.rsplit('.').next().unwrap_or(word) } else { word });
        rest = &rest[end..];
    }
    out
}

impl Draft {
    /// Names a part of several transitions after their gate, without the instance if it belongs to
    /// several.
    fn name_rule(&mut self) {
        if self.elements.len() < 2 || self.rules.is_empty() {
            return;
        }
        let gates: BTreeSet<&str> = self.rules.iter().map(|(gate, _)| gate.as_str()).collect();
        let short = |gate: &str| gate.rsplit('.').next().unwrap_or(gate).to_string();
        let (owner, names) = if gates.len() == 1 {
            let (gate, what) = &self.rules[0];
            (gate.clone(), vec![format!("{gate} {what}")])
        } else {
            let names = self.rules.iter().map(|(g, what)| format!("{} {}", short(g), plain(what)));
            let names: BTreeSet<String> = names.collect();
            let owners: BTreeSet<String> = gates.iter().map(|gate| short(gate)).collect();
            (owners.into_iter().collect::<Vec<_>>().join(", "), names.into_iter().collect())
        };
        (self.owner, self.names) = (owner, names);
    }
}

/// The instance of a stream: `top.counter#1` of `top.counter#1.n`.
fn instance(stream: &str) -> &str {
    match stream.rfind('#') {
        Some(mark) => {
            let end = stream[mark..].find('.').map_or(stream.len(), |dot| mark + dot);
            &stream[..end]
        }
        None => "",
    }
}

/// The node of a stream, and its name there: `counter` and `counter.n` of `top.counter#1.n`.
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

/// The suffix that names a conjunct or branch of a part.
fn fork_suffix(side: Option<Side>, path: &[Fork]) -> String {
    let side = side.map(|s| match s {
        Side::First => "first".to_string(),
        Side::Later => "later".to_string(),
    });
    let forks = path.iter().map(|f| match f {
        Fork::Conjunct(i, _) => format!("conjunct {i}"),
        Fork::Branch(1, 2) => "then".to_string(),
        Fork::Branch(i, n) if i == n => "else".to_string(),
        Fork::Branch(i, _) => format!("branch {i}"),
        Fork::Condition(_, 2) => "condition".to_string(),
        Fork::Condition(i, _) => format!("condition {i}"),
        Fork::Operand(_, 1) => "operand".to_string(),
        Fork::Operand(i, _) => format!("operand {i}"),
    });
    let words: Vec<String> = side.into_iter().chain(forks).collect();
    if words.is_empty() { String::new() } else { format!(": {}", words.join(", ")) }
}

/// The longest text of a call in its name, in characters.
const MAX_CALL_TEXT: usize = 60;

/// The text of a call on one line, cut short.
fn call_text(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_CALL_TEXT) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

/// One name for variables defined together: fields and array elements share the name of the whole.
fn joint_name(names: &[String]) -> String {
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

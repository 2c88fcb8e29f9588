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

mod draft;
pub(crate) mod relax;
pub(crate) mod set;
mod spans;

use gander_system::passes::{Divided, Fork, Grain, granules};
use gander_system::{ElementId, Span, System};
use rustc_hash::FxHashMap;

use crate::parts::draft::{Draft, drafts};
use crate::parts::set::PartSet;
use crate::parts::spans::Side;

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

impl Parts {
    /// The parts of a system.
    pub fn of(system: &System, source: &str, granularity: Granularity) -> Parts {
        Parts::named(system, source, drafts(system, &[], source, granularity, None))
    }

    /// The system with conjuncts or branches as elements, and its parts. Elements that are too
    /// large are not divided ([`Divided::cut_short`]).
    pub fn divided(
        system: &System,
        source: &str,
        granularity: Granularity,
        grain: Grain,
    ) -> (Divided, Parts) {
        let divided = granules(system, grain, |span| spans::has_conditional(source, span));
        let drafts = drafts(&divided.system, &divided.granules, source, granularity, Some(grain));
        let parts = Parts::named(&divided.system, source, drafts);
        (divided, parts)
    }

    /// No parts: nothing can be removed.
    pub fn none(system: &System) -> Parts {
        Parts { list: Vec::new(), of_element: vec![None; system.elements().len()] }
    }

    /// Parts with unique names.
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

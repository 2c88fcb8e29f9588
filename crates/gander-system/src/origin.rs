//! Where things come from: source spans and named model elements.

use crate::system::{StartId, TransitionId, VarId};

/// A range of bytes in the source text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The position after the last byte.
    pub end: u32,
}

impl From<std::ops::Range<u32>> for Span {
    fn from(range: std::ops::Range<u32>) -> Span {
        Span::new(range.start, range.end)
    }
}

impl Span {
    /// The span `start..end`; an end before the start is moved to the start.
    pub fn new(start: u32, end: u32) -> Span {
        Span { start, end: end.max(start) }
    }

    /// The empty span at an offset.
    pub fn at(offset: u32) -> Span {
        Span::new(offset, offset)
    }

    /// The smallest span that contains both.
    pub fn cover(self, other: Span) -> Span {
        Span::new(self.start.min(other.start), self.end.max(other.end))
    }

    /// The span as a range for slicing.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A part of a model that a proof can rest on: see [`ElementInfo`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ElementId(pub u32);

impl ElementId {
    /// Position in [`crate::System::elements`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What kind of model part an element is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ElementKind {
    /// A conjunct of a start transition.
    Start,
    /// A conjunct of a guard.
    Guard,
    /// The range of a parameter: an assumption on the choice.
    ParameterRange,
    /// An assignment.
    Assignment,
    /// A constraint over primed variables.
    Constraint,
    /// A resolved frame: "keeps its value". Never removed (docs/semantics.md, validity cores).
    Frame,
    /// The node of an instance in a composed system: a condition of a guard, or an assignment.
    /// Never removed, like the source and the target of a transition.
    Control,
    /// What parts have to satisfy to form a value of a record, data or list sort. Never removed:
    /// other values do not exist.
    Form,
    /// The first value or a change of a count over a family of any size, which follows from the
    /// elements of the instances.
    Count,
    /// An assumption, or the range of an input.
    Assumption,
    /// A node invariant given by the user: a hint.
    Hint,
}

impl ElementKind {
    /// True if authors write such elements. Others are added with a sort, a frame or an instance.
    pub fn is_written(self) -> bool {
        !matches!(
            self,
            ElementKind::Frame | ElementKind::Control | ElementKind::Form | ElementKind::Count
        )
    }
}

/// The name of an element; [`crate::System::element_name`] gives its text. A large model has
/// millions of elements, so texts are made on demand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ElementName {
    /// A given name.
    Given(Box<str>),
    /// The n-th constraint of a start, counted from 1.
    OfStart(StartId, u32),
    /// The n-th part of a guard or effect, counted from 1.
    OfTransition(TransitionId, u32),
    /// The part of an effect that determines a variable.
    OfVar(TransitionId, VarId),
    /// The range of a transition's n-th parameter, counted from 0.
    OfParam(TransitionId, u32),
}

/// The name, kind and place of an element.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ElementInfo {
    /// The name.
    pub name: ElementName,
    /// The kind.
    pub kind: ElementKind,
    /// Where it was written; `None` if a front-end added it.
    pub span: Option<Span>,
}

/// A term that is an element of the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Element<T> {
    /// Which element.
    pub id: ElementId,
    /// Its content.
    pub term: T,
}

//! A run of a dataflow program, as plain data: streams with a value at every instant.

use gander_system::StreamKind;

use super::repetition::{Folded, Series, fold};

/// The sort of the values of a stream, as far as files for other tools distinguish it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamSort {
    /// `true` and `false`.
    Bool,
    /// Whole numbers.
    Int,
    /// Fractions.
    Real,
    /// Bit-vectors of this width, shown as numbers.
    Bits(u32),
    /// Names of an enumeration, or text.
    Text,
}

/// A stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamRow {
    /// The name in its node instance.
    pub name: String,
    /// The name of the variable, with the path of the instance.
    pub full_name: String,
    /// Input, output, local or internal.
    pub kind: StreamKind,
    /// What its values are.
    pub sort: StreamSort,
    /// False if it is shown only with all streams.
    pub shown: bool,
    /// The value at each instant, or the values that would do as well.
    pub values: Vec<String>,
    /// The value at each instant, if `values` has others; else empty.
    pub actual: Vec<String>,
}

/// Which streams a group has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GroupKind {
    /// The inputs of the root.
    Inputs,
    /// The outputs of the root.
    Outputs,
    /// The local variables of the root.
    Locals,
    /// What the front-end made for the root.
    Internals,
    /// All streams of a node that is called.
    Instance,
}

/// Streams that belong together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamGroup {
    /// Which they are.
    pub kind: GroupKind,
    /// The heading.
    pub title: String,
    /// The calls that lead to the instance from the root.
    pub scopes: Vec<String>,
    /// The streams: inputs, outputs, locals, internal ones.
    pub rows: Vec<StreamRow>,
}

/// A run as streams.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StreamsView {
    /// The name of the root.
    pub name: String,
    /// The number of instants with values: one more than steps, unless some are left out.
    pub instants: usize,
    /// The number of the step of each instant, if some are left out; else empty.
    pub steps: Vec<u64>,
    /// Repetitions of which only the last round is shown.
    pub repeats: Vec<StreamRepeat>,
    /// The streams.
    pub groups: Vec<StreamGroup>,
    /// Values of streams before the first instant that an unguarded `pre` reads, if the claim
    /// depends on them.
    pub before: Vec<(String, String)>,
}

/// Steps that are repeated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamRepeat {
    /// The first step.
    pub first: u64,
    /// The last step of the last round.
    pub last: u64,
    /// The number of rounds.
    pub times: u64,
    /// Streams that change by the same amount in each round, where that is why rounds were left
    /// out.
    pub growth: Vec<Growth>,
}

/// A stream that changes by the same amount in each round of a repetition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Growth {
    /// The name of the stream.
    pub name: String,
    /// It gets smaller.
    pub falls: bool,
    /// By how much.
    pub by: String,
}

impl StreamRow {
    fn values(&self) -> Vec<&str> {
        self.values.iter().map(String::as_str).collect()
    }
}

impl StreamGroup {
    /// The name of a stream beside those of other groups.
    fn name_of(&self, row: &StreamRow) -> String {
        match self.kind {
            GroupKind::Instance => format!("{}.{}", self.title, row.name),
            _ => row.name.clone(),
        }
    }
}

impl StreamsView {
    /// The step of an instant.
    pub fn step(&self, instant: usize) -> u64 {
        self.steps.get(instant).copied().unwrap_or(instant as u64)
    }

    /// The number of the step as a column shows it: `..17` if steps before it are left out.
    pub(crate) fn column(&self, instant: usize) -> String {
        let step = self.step(instant);
        let follows = instant == 0 || self.step(instant - 1) + 1 == step;
        if follows { step.to_string() } else { format!("..{step}") }
    }

    /// The streams with the last round of repetitions alone, as far as they repeat in the rows that
    /// are shown; `None` if nothing is repeated, or steps are left out already.
    pub(crate) fn folded(&self, is_shown: impl Fn(&StreamRow) -> bool) -> Option<StreamsView> {
        if !self.steps.is_empty() || !self.repeats.is_empty() {
            return None;
        }
        let mut series = Vec::new();
        for g in &self.groups {
            for r in g.rows.iter().filter(|r| is_shown(r)) {
                series.push(Series { name: g.name_of(r), values: r.values() });
            }
        }
        let Folded { instants, repeats } = fold(self.instants, &series, &|_| false)?;
        let mut folded = self.clone();
        for r in folded.groups.iter_mut().flat_map(|g| &mut g.rows) {
            r.values = instants.iter().filter_map(|&i| r.values.get(i).cloned()).collect();
        }
        folded.instants = instants.len();
        folded.steps = instants.iter().map(|&i| i as u64).collect();
        folded.repeats = repeats;
        Some(folded)
    }

    /// Every stream.
    pub fn rows(&self) -> impl Iterator<Item = &StreamRow> {
        self.groups.iter().flat_map(|g| &g.rows)
    }
}

//! A run of a dataflow program, as plain data: streams with a value at every instant.

use gander_system::StreamKind;

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
    /// The value at each instant.
    pub values: Vec<String>,
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
}

impl StreamsView {
    /// The step of an instant.
    pub fn step(&self, instant: usize) -> u64 {
        self.steps.get(instant).copied().unwrap_or(instant as u64)
    }

    /// Every stream.
    pub fn rows(&self) -> impl Iterator<Item = &StreamRow> {
        self.groups.iter().flat_map(|g| &g.rows)
    }
}

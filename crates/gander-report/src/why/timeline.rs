//! A run as rows of values, for every kind of model: variables and parameters by state.

use gander_system::StreamKind;

use crate::streams::{GroupKind, StreamGroup, StreamRow, StreamSort, StreamsView};

/// What is to be said of a value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum CellMark {
    /// Nothing.
    #[default]
    Plain,
    /// Every value does as well.
    Any,
    /// These values do as well: in a few characters, and behind "name =".
    Within(String, String),
    /// It follows from values that do not matter.
    Varies,
    /// There is no value: a parameter of a transition that was not taken.
    Absent,
}

/// A value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TimelineCell {
    /// As people read it.
    pub value: String,
    /// What is to be said of it.
    pub mark: CellMark,
}

/// The values of a variable or a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TimelineRow {
    /// The name.
    pub name: String,
    /// The name in files, unique.
    pub full_name: String,
    /// What its values are.
    pub sort: StreamSort,
    /// False if people need to see it only when they ask for everything.
    pub shown: bool,
    /// A value for each state.
    pub cells: Vec<TimelineCell>,
}

/// Rows that belong together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TimelineGroup {
    /// The heading.
    pub title: String,
    /// The calls that lead to a node instance from the root.
    pub scopes: Vec<String>,
    /// The rows.
    pub rows: Vec<TimelineRow>,
}

/// A state and what led to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TimelineStep {
    /// The number of steps taken so far.
    pub number: u64,
    /// The start or transition; empty in a dataflow program.
    pub action: String,
    /// The node; empty if there is only one.
    pub node: String,
}

/// A run as rows of values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TimelineView {
    /// The name of the model.
    pub name: String,
    /// The states.
    pub steps: Vec<TimelineStep>,
    /// The values.
    pub groups: Vec<TimelineGroup>,
}

impl TimelineView {
    /// The plain values, in the form that files for other tools are made of. Transitions and nodes are rows like others.
    pub fn streams(&self) -> StreamsView {
        let mut groups = Vec::new();
        let text = |name: &str, value: fn(&TimelineStep) -> &str| {
            let values: Vec<String> = self.steps.iter().map(|s| value(s).to_string()).collect();
            let told = values.iter().any(|v| !v.is_empty());
            told.then(|| StreamRow {
                name: name.to_string(),
                full_name: name.to_string(),
                kind: StreamKind::Local,
                sort: StreamSort::Text,
                shown: true,
                values,
            })
        };
        let heads: Vec<StreamRow> =
            [text("@transition", |s| &s.action), text("@node", |s| &s.node)].into_iter().flatten().collect();
        if !heads.is_empty() {
            groups.push(StreamGroup { kind: GroupKind::Locals, title: String::new(), scopes: Vec::new(), rows: heads });
        }
        for g in &self.groups {
            let row = |r: &TimelineRow| StreamRow {
                name: r.name.clone(),
                full_name: r.full_name.clone(),
                kind: StreamKind::Local,
                sort: r.sort,
                shown: r.shown,
                values: r.cells.iter().map(|c| c.value.clone()).collect(),
            };
            groups.push(StreamGroup {
                kind: GroupKind::Locals,
                title: g.title.clone(),
                scopes: g.scopes.clone(),
                rows: g.rows.iter().map(row).collect(),
            });
        }
        let steps: Vec<u64> = self.steps.iter().map(|s| s.number).collect();
        StreamsView { name: self.name.clone(), instants: steps.len(), steps, groups, ..StreamsView::default() }
    }
}

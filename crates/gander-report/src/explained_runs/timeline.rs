//! A run as rows of values, for every kind of model: variables and parameters by state.

use gander_system::StreamKind;

use crate::view::repetition::{Folded, Series, fold};
use crate::view::streams::{
    GroupKind, StreamGroup, StreamRepeat, StreamRow, StreamSort, StreamsView,
};
use crate::view::{TraceRow, TraceView};

/// The mark of a value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum CellMark {
    /// No mark.
    #[default]
    Plain,
    /// Every value gives the same outcome.
    Any,
    /// These values give the same outcome: the text for a table, and the text after "name =".
    Within(String, String),
    /// It depends on values that can be changed.
    Varies,
    /// There is no value: a parameter of a transition that was not taken.
    Absent,
}

/// A value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TimelineCell {
    /// As shown to people.
    pub value: String,
    /// Its mark.
    pub mark: CellMark,
}

impl TimelineCell {
    /// A text that is equal for equal values with equal marks; the value itself without a mark.
    fn key(&self) -> String {
        match &self.mark {
            CellMark::Plain => self.value.clone(),
            CellMark::Any => "any".to_string(),
            CellMark::Within(text, _) => format!("within {text}"),
            CellMark::Varies => format!("{}~", self.value),
            CellMark::Absent => String::new(),
        }
    }
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
    /// False if it is shown only with all rows.
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
    /// Repetitions of which only the last round is among the states.
    pub repeats: Vec<StreamRepeat>,
}

impl TimelineView {
    /// The number of a step as the head of a column: `..17` if steps before it are left out.
    pub(crate) fn column(&self, at: usize) -> String {
        let step = self.steps[at].number;
        let follows = at == 0 || self.steps[at - 1].number + 1 == step;
        if follows { step.to_string() } else { format!("..{step}") }
    }

    /// A dataflow program's run with the last round of repetitions alone; `None` if nothing is
    /// repeated. Steps of which `is_kept` is true are shown.
    pub(crate) fn folded(&self, is_kept: impl Fn(u64) -> bool) -> Option<TimelineView> {
        let has_actions = self.steps.iter().any(|s| !s.action.is_empty() || !s.node.is_empty());
        let in_order = self.steps.iter().zip(0..).all(|(s, i)| s.number == i);
        if has_actions || !in_order || !self.repeats.is_empty() {
            return None;
        }
        let rows = self.groups.iter().flat_map(|g| g.rows.iter().map(move |r| (g, r)));
        let texts: Vec<(String, Vec<String>)> = rows
            .map(|(g, r)| {
                let name = match g.scopes.is_empty() {
                    true => r.name.clone(),
                    false => format!("{}.{}", g.title, r.name),
                };
                (name, r.cells.iter().map(TimelineCell::key).collect())
            })
            .collect();
        let series: Vec<Series<'_>> = texts
            .iter()
            .map(|(name, values)| Series {
                name: name.clone(),
                values: values.iter().map(String::as_str).collect(),
            })
            .collect();
        let kept = |i: usize| is_kept(self.steps[i].number);
        let Folded { instants, repeats } = fold(self.steps.len(), &series, &kept)?;
        let mut folded = self.clone();
        folded.steps = instants.iter().map(|&i| self.steps[i].clone()).collect();
        for r in folded.groups.iter_mut().flat_map(|g| &mut g.rows) {
            r.cells = instants.iter().filter_map(|&i| r.cells.get(i).cloned()).collect();
        }
        folded.repeats = repeats;
        Some(folded)
    }

    /// The run of a check, without marks; none if some of its states are not given.
    pub fn of_trace(trace: &TraceView, name: &str) -> Option<TimelineView> {
        if let Some(streams) = &trace.streams {
            return Some(TimelineView::of_streams(streams));
        }
        let first = trace.rows.first()?;
        let given = |row: &TraceRow| row.values.len() == first.values.len();
        if !trace.rows.iter().all(given) {
            return None;
        }
        let steps = trace.rows.iter().map(|r| TimelineStep {
            number: r.step,
            action: r.action.clone(),
            node: if trace.show_nodes { r.node.clone() } else { String::new() },
        });
        let rows = first.values.iter().enumerate().map(|(i, (name, _))| {
            let values = trace.rows.iter().map(|r| r.values[i].1.clone());
            let cell = |value| TimelineCell { value, mark: CellMark::Plain };
            let cells: Vec<TimelineCell> = values.map(cell).collect();
            let (name, full_name) = (name.clone(), name.clone());
            TimelineRow { name, full_name, sort: sort_of(&cells), shown: true, cells }
        });
        let group =
            TimelineGroup { title: "Variables".into(), scopes: Vec::new(), rows: rows.collect() };
        Some(TimelineView {
            name: name.to_string(),
            steps: steps.collect(),
            groups: vec![group],
            repeats: trace.step_repeats(),
        })
    }

    fn of_streams(streams: &StreamsView) -> TimelineView {
        let row = |r: &StreamRow| TimelineRow {
            name: r.name.clone(),
            full_name: r.full_name.clone(),
            sort: r.sort,
            shown: r.shown && r.kind != StreamKind::Internal,
            cells: r
                .values
                .iter()
                .map(|value| TimelineCell { value: value.clone(), mark: CellMark::Plain })
                .collect(),
        };
        let groups = streams.groups.iter().map(|g| TimelineGroup {
            title: g.title.clone(),
            scopes: g.scopes.clone(),
            rows: g.rows.iter().map(row).collect(),
        });
        let step = |i: usize| TimelineStep {
            number: streams.step(i),
            action: String::new(),
            node: String::new(),
        };
        TimelineView {
            name: streams.name.clone(),
            steps: (0..streams.instants).map(step).collect(),
            groups: groups.collect(),
            repeats: streams.repeats.clone(),
        }
    }

    /// The values without marks, in the form for files of other tools. Transitions and nodes become
    /// rows.
    pub fn streams(&self) -> StreamsView {
        let mut groups = Vec::new();
        let text = |name: &str, value: fn(&TimelineStep) -> &str| {
            let values: Vec<String> = self.steps.iter().map(|s| value(s).to_string()).collect();
            let has_values = values.iter().any(|v| !v.is_empty());
            has_values.then(|| StreamRow {
                name: name.to_string(),
                full_name: name.to_string(),
                kind: StreamKind::Local,
                sort: StreamSort::Text,
                shown: true,
                values,
                actual: Vec::new(),
            })
        };
        let heads: Vec<StreamRow> =
            [text("@transition", |s| &s.action), text("@node", |s| &s.node)]
                .into_iter()
                .flatten()
                .collect();
        if !heads.is_empty() {
            groups.push(StreamGroup {
                kind: GroupKind::Locals,
                title: String::new(),
                scopes: Vec::new(),
                rows: heads,
            });
        }
        for g in &self.groups {
            let row = |r: &TimelineRow| StreamRow {
                name: r.name.clone(),
                full_name: r.full_name.clone(),
                kind: StreamKind::Local,
                sort: r.sort,
                shown: r.shown,
                values: r.cells.iter().map(|c| c.value.clone()).collect(),
                actual: Vec::new(),
            };
            groups.push(StreamGroup {
                kind: GroupKind::Locals,
                title: g.title.clone(),
                scopes: g.scopes.clone(),
                rows: g.rows.iter().map(row).collect(),
            });
        }
        let steps: Vec<u64> = self.steps.iter().map(|s| s.number).collect();
        StreamsView {
            name: self.name.clone(),
            instants: steps.len(),
            steps,
            groups,
            ..StreamsView::default()
        }
    }
}

/// What values are, by their text.
fn sort_of(cells: &[TimelineCell]) -> StreamSort {
    let all = |is: fn(&str) -> bool| cells.iter().all(|c| is(&c.value));
    if all(|v| v == "true" || v == "false") {
        StreamSort::Bool
    } else if all(|v| v.parse::<gander_term::RBig>().is_ok() || v.parse::<f64>().is_ok()) {
        StreamSort::Real
    } else {
        StreamSort::Text
    }
}

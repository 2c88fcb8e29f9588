//! Runs that decide claims, made readable and explained, as plain data, and as text, JSON, HTML,
//! CSV and VCD.

mod json;
mod page;
mod text;
mod timeline;

pub use json::run_json;
pub use page::runs_html;
pub(crate) use page::{element_id, forced_list, legend, more_rows, timeline_grid};
pub(crate) use text::headline;
pub use text::{RunText, run_text};
pub use timeline::{
    CellMark, TimelineCell, TimelineGroup, TimelineRow, TimelineStep, TimelineView,
};

use std::borrow::Cow;

use crate::view::TraceView;

/// A count before and after simplification, and whether it is minimal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeastView {
    /// In the run that is shown.
    pub count: u64,
    /// In the run that was found.
    pub before: u64,
    /// No run has a smaller count.
    pub least: bool,
}

/// The freedom of a chosen value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FreeView {
    /// The number of the state, or of the step that it is a parameter of (1 is the first step).
    pub step: u64,
    /// The variable or parameter.
    pub name: String,
    /// The value in the run.
    pub value: String,
    /// Every value gives the same outcome; else `low` and `high` bound those that do.
    pub any: bool,
    /// The lower bound, and whether it is exclusive.
    pub low: Option<(String, bool)>,
    /// The upper bound, and whether it is exclusive.
    pub high: Option<(String, bool)>,
}

impl FreeView {
    /// The values that give the same outcome, for a table.
    pub fn text(&self) -> String {
        match (&self.low, &self.high) {
            _ if self.any => "any".to_string(),
            (None, None) => self.value.clone(),
            (Some((low, false)), None) => format!(">= {low}"),
            (Some((low, true)), None) => format!("> {low}"),
            (None, Some((high, false))) => format!("<= {high}"),
            (None, Some((high, true))) => format!("< {high}"),
            (Some((low, false)), Some((high, false))) if low == high => low.clone(),
            (Some((low, false)), Some((high, false))) => format!("{low}..{high}"),
            (Some((low, a)), Some((high, b))) => {
                let (left, right) = (if *a { '(' } else { '[' }, if *b { ')' } else { ']' });
                format!("{left}{low}, {high}{right}")
            }
        }
    }
}

impl FreeView {
    /// The values that give the same outcome, after "name =".
    pub fn phrase(&self) -> String {
        match (&self.low, &self.high) {
            (Some((low, false)), None) => format!("at least {low}"),
            (Some((low, true)), None) => format!("above {low}"),
            (None, Some((high, false))) => format!("at most {high}"),
            (None, Some((high, true))) => format!("below {high}"),
            _ => self.text(),
        }
    }
}

/// A value that differs in the contrasting run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DifferenceView {
    /// The number of the state, or of the step that it is a parameter of.
    pub step: u64,
    /// The variable or parameter; `transition` for the transition that is taken.
    pub name: String,
    /// It is chosen, not computed.
    pub chosen: bool,
    /// In the explained run.
    pub here: String,
    /// In the contrasting run.
    pub there: String,
}

/// The contrasting run: the nearest run with the other outcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContrastView {
    /// It takes the same transitions.
    pub same_transitions: bool,
    /// How many choices differ.
    pub differing: usize,
    /// The number of all choices.
    pub of: usize,
    /// No run is nearer.
    pub least: bool,
    /// Values that differ, in the order of the run.
    pub differences: Vec<DifferenceView>,
}

/// A run that decides a claim, with its explanation. Elements are positions in
/// [`crate::ExplainView::elements`].
#[derive(Clone, PartialEq, Debug)]
pub struct RunView {
    /// The claim.
    pub property: String,
    /// As written, or in words.
    pub claim: String,
    /// `fails` or `holds`.
    pub verdict: &'static str,
    /// The bytes of the source that the claim was written in.
    pub span: Option<(usize, usize)>,
    /// Its number of steps.
    pub length: LeastView,
    /// How often its choices change; none if that was not computed.
    pub changes: Option<LeastView>,
    /// The run, with marks in place of values that can be changed.
    pub trace: TraceView,
    /// The run as rows of values; none if it is too long.
    pub timeline: Option<TimelineView>,
    /// Chosen values that can be changed.
    pub free: Vec<FreeView>,
    /// No single value has more freedom.
    pub maximal: bool,
    /// The elements that force the end of the run; none if they were not computed.
    pub forced: Option<Vec<usize>>,
    /// None of these elements can be left out.
    pub forced_minimal: bool,
    /// The contrasting run: the nearest run with the other outcome.
    pub contrast: Option<ContrastView>,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// The evidence in its file form.
    pub evidence: serde_json::Value,
}

impl RunView {
    /// The timeline as a page shows it: repeated steps of a dataflow program once, unless the
    /// contrasting run differs there.
    pub(crate) fn shown_timeline(&self) -> Option<Cow<'_, TimelineView>> {
        let timeline = self.timeline.as_ref()?;
        let differs = |step: u64| {
            let differences = self.contrast.iter().flat_map(|c| &c.differences);
            differences.into_iter().any(|d| d.step == step)
        };
        Some(timeline.folded(differs).map_or(Cow::Borrowed(timeline), Cow::Owned))
    }
}

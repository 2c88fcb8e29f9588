//! Runs that decide claims, made readable and explained, as plain data, and as text, JSON, HTML, CSV and VCD.

mod json;
mod page;
mod text;
mod timeline;

pub use json::run_json;
pub use page::runs_html;
pub use text::{RunText, run_text};
pub use timeline::{CellMark, TimelineCell, TimelineGroup, TimelineRow, TimelineStep, TimelineView};

use crate::view::TraceView;

/// How much of something there is, how much there was before, and whether there cannot be less.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeastView {
    /// In the run that is shown.
    pub count: u64,
    /// In the run that was found.
    pub before: u64,
    /// There is no run with less.
    pub least: bool,
}

/// How free a chosen value is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FreeView {
    /// The number of the state, or of the step that it is a parameter of (1 is the first step).
    pub step: u64,
    /// The variable or parameter.
    pub name: String,
    /// The value in the run.
    pub value: String,
    /// Every value does as well; else the bounds.
    pub any: bool,
    /// The least value, and whether it does not belong to them.
    pub low: Option<(String, bool)>,
    /// The greatest value, and whether it does not belong to them.
    pub high: Option<(String, bool)>,
}

impl FreeView {
    /// The values that do as well, in a few characters.
    pub fn text(&self) -> String {
        match (&self.low, &self.high) {
            _ if self.any => "any".to_string(),
            (None, None) => self.value.clone(),
            (Some((low, false)), None) => format!(">= {low}"),
            (Some((low, true)), None) => format!("> {low}"),
            (None, Some((high, false))) => format!("<= {high}"),
            (None, Some((high, true))) => format!("< {high}"),
            (Some((low, false)), Some((high, false))) => format!("{low}..{high}"),
            (Some((low, a)), Some((high, b))) => {
                let (left, right) = (if *a { '(' } else { '[' }, if *b { ')' } else { ']' });
                format!("{left}{low}, {high}{right}")
            }
        }
    }
}

impl FreeView {
    /// The values that do as well, behind "name =".
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

/// A value that is another one in the run beside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DifferenceView {
    /// The number of the state, or of the step that it is a parameter of.
    pub step: u64,
    /// The variable or parameter; `transition` for what is taken.
    pub name: String,
    /// It is chosen, not computed.
    pub chosen: bool,
    /// In the explained run.
    pub here: String,
    /// In the other one.
    pub there: String,
}

/// The nearest run that ends otherwise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContrastView {
    /// It takes the same transitions.
    pub same_transitions: bool,
    /// How many choices differ.
    pub differing: usize,
    /// Of how many.
    pub of: usize,
    /// There is no nearer one.
    pub least: bool,
    /// Values that differ, in the order of the run.
    pub differences: Vec<DifferenceView>,
}

/// A run that decides a claim, and why it is one; elements by their position in the list of the file.
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
    /// How often it changes what it chooses; none if that was not looked at.
    pub changes: Option<LeastView>,
    /// The run, with what does not matter in place of values.
    pub trace: TraceView,
    /// The run as rows of values; none if it is too long.
    pub timeline: Option<TimelineView>,
    /// Chosen values that do not matter.
    pub free: Vec<FreeView>,
    /// None of them could be freer alone.
    pub maximal: bool,
    /// What forces the end of the run; none if that was not found out.
    pub forced: Option<Vec<usize>>,
    /// Nothing of that can be left out.
    pub forced_minimal: bool,
    /// The nearest run that ends otherwise.
    pub contrast: Option<ContrastView>,
    /// What was not done, or is worth knowing.
    pub notes: Vec<String>,
    /// The evidence in its file form.
    pub evidence: serde_json::Value,
}

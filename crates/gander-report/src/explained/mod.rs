//! Why claims hold: validity cores, traceability and coverage, as plain data, and as text, JSON, CSV and HTML.

mod coverage;
mod html;
mod json;
mod table;
mod text;

pub use coverage::{Coverage, Mark, coverage, marks};
pub use html::matrix_html;
pub use json::{EXPLAIN_SCHEMA, explain_json};
pub use table::{matrix_csv, matrix_text};
pub use text::{core_text, coverage_text, explain_text};

/// A part of the model that a proof can rest on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ElementView {
    /// What it is called.
    pub name: String,
    /// What it is, in a word.
    pub kind: &'static str,
    /// The node or transition that it belongs to; empty for what belongs to all.
    pub owner: String,
    /// The bytes of the source that it was written in.
    pub span: Option<(usize, usize)>,
    /// The line that they begin on, from one.
    pub line: Option<usize>,
}

/// What is known of one property; elements by their position in [`ExplainView::elements`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExplainedView {
    /// Its name.
    pub property: String,
    /// The bytes of the source that it was written in.
    pub span: Option<(usize, usize)>,
    /// The cores that were found.
    pub cores: Vec<Vec<usize>>,
    /// Elements in every core.
    pub must: Vec<usize>,
    /// Elements in some core that are not known to be in every one.
    pub may: Vec<usize>,
    /// The cores are all minimal cores.
    pub complete: bool,
    /// Cores may be larger than necessary, or some may be missing, because not everything could be decided.
    pub approximate: bool,
    /// Minimal sets of elements that cannot all be missing, if asked for.
    pub cut_sets: Option<Vec<Vec<usize>>>,
    /// The core is about runs of at most so many steps only.
    pub bound: Option<u32>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// A suspicion that a property says less than it seems to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VacuityView {
    /// The property; none if it is about the model.
    pub property: Option<String>,
    /// What is the matter.
    pub message: String,
}

/// Why the properties of a model hold.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ExplainView {
    /// The name of the file.
    pub file: String,
    /// Its text.
    pub source: String,
    /// The parts of the model, in the order of the text.
    pub elements: Vec<ElementView>,
    /// The properties that hold.
    pub results: Vec<ExplainedView>,
    /// Properties without a core, and why.
    pub unexplained: Vec<(String, String)>,
    /// Properties that may say less than they seem to.
    pub vacuity: Vec<VacuityView>,
}

impl ExplainView {
    /// The text of an element on one line, cut short.
    pub(crate) fn excerpt(&self, element: usize) -> String {
        let Some((start, end)) = self.elements[element].span else { return String::new() };
        let text = self.source.get(start..end).unwrap_or_default();
        let words: Vec<&str> = text.split_whitespace().collect();
        let line = words.join(" ");
        if line.chars().count() <= 72 {
            return line;
        }
        let cut: String = line.chars().take(69).collect();
        format!("{cut}...")
    }
}

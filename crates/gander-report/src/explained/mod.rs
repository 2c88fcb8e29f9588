//! Why claims hold: validity cores, traceability and coverage, as plain data, and as text, JSON, CSV and HTML.

mod coverage;
mod html;
mod json;
mod mutation;
mod table;
mod text;

pub use coverage::{Coverage, Mark, coverage, marks};
pub(crate) use html::escape;
pub use html::matrix_html;
pub use json::{EXPLAIN_SCHEMA, explain_json};
pub use mutation::{
    MutantFate, MutantView, MutationScore, MutationView, mutation_csv, mutation_html, mutation_json, mutation_text,
};
pub use table::{matrix_csv, matrix_text};
pub use text::{core_text, coverage_text, explain_text};

use crate::why::RunView;

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
    /// The file that it was written in if that is another one, which the model includes. Then it has no span, and the line is one
    /// of that file.
    pub included: Option<IncludedText>,
}

/// What was written in an included file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IncludedText {
    /// What people call the file.
    pub file: String,
    /// What was written.
    pub text: String,
}

impl ElementView {
    /// Where it was written: the line, with the file in front if it is an included one. Empty if that is not known.
    pub fn place(&self) -> String {
        match (&self.included, self.line) {
            (Some(included), Some(line)) => format!("{}:{line}", included.file),
            (None, Some(line)) => line.to_string(),
            (_, None) => String::new(),
        }
    }
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
    /// How many of the cores are known to be minimal, where all minimal ones were asked for.
    pub found: Option<usize>,
    /// Cores may be larger than necessary, or some may be missing, because not everything could be decided.
    pub approximate: bool,
    /// Minimal sets of elements that cannot all be missing, if asked for.
    pub cut_sets: Option<Vec<Vec<usize>>>,
    /// The core is about runs of at most so many steps only.
    pub bound: Option<u32>,
    /// With a bound: elements that are enough for runs of exactly so many steps.
    pub at_bound: Option<Vec<usize>>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// A candidate that a property says less than it seems to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VacuityView {
    /// The property; none if it is about the model.
    pub property: Option<String>,
    /// What is the matter.
    pub message: String,
}

/// Why the properties of a model hold.
#[derive(Clone, PartialEq, Debug, Default)]
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
    /// The mutants of the model, if asked for.
    pub mutation: MutationView,
    /// Properties that a run decides.
    pub runs: Vec<RunView>,
}

impl ExplainView {
    /// One view of all systems of a file, for example of each root of a Lustre file: what was written once is one element.
    pub fn merged(views: &[ExplainView]) -> ExplainView {
        let Some((first, others)) = views.split_first() else { return ExplainView::default() };
        let mut all = first.clone();
        for view in others {
            let place: Vec<usize> = view
                .elements
                .iter()
                .map(|e| {
                    let known = all.elements.iter().position(|a| a.span.is_some() && a == e);
                    known.unwrap_or_else(|| {
                        all.elements.push(e.clone());
                        all.elements.len() - 1
                    })
                })
                .collect();
            let moved = |list: &[usize]| -> Vec<usize> { list.iter().map(|&e| place[e]).collect() };
            all.results.extend(view.results.iter().map(|r| ExplainedView {
                cores: r.cores.iter().map(|c| moved(c)).collect(),
                must: moved(&r.must),
                may: moved(&r.may),
                cut_sets: r.cut_sets.as_ref().map(|cuts| cuts.iter().map(|c| moved(c)).collect()),
                at_bound: r.at_bound.as_deref().map(moved),
                ..r.clone()
            }));
            all.unexplained.extend(view.unexplained.iter().cloned());
            all.vacuity.extend(view.vacuity.iter().cloned());
        }
        all
    }

    /// The text of an element on one line, cut short.
    pub(crate) fn excerpt(&self, element: usize) -> String {
        let element = &self.elements[element];
        let text = match (element.span, &element.included) {
            (Some((start, end)), _) => self.source.get(start..end).unwrap_or_default(),
            (None, Some(included)) => included.text.as_str(),
            (None, None) => return String::new(),
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let line = words.join(" ");
        cut_short(&line)
    }
}

/// The longest excerpt, in characters.
const EXCERPT: usize = 72;

/// A line that is too long ends behind a word, unless its first word is too long.
fn cut_short(line: &str) -> String {
    if line.chars().count() <= EXCERPT {
        return line.to_string();
    }
    let most = EXCERPT - " ...".len();
    let end = line.char_indices().nth(most).map_or(line.len(), |(at, _)| at);
    let head = &line[..end];
    let cut = if line[end..].starts_with(' ') { head } else { head.rsplit_once(' ').map_or(head, |(words, _)| words) };
    format!("{cut} ...")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_end_behind_words() {
        let short = "x = 1;";
        assert_eq!(cut_short(short), short);
        let words = "twelve words ".repeat(8);
        let cut = cut_short(words.trim());
        assert!(cut.ends_with("twelve words ...") || cut.ends_with("twelve ..."), "{cut}");
        assert!(cut.chars().count() <= EXCERPT, "{cut}");
        let one = "\u{e4}".repeat(100);
        assert_eq!(cut_short(&one).chars().count(), EXCERPT);
    }
}

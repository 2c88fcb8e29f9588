//! Why claims hold: validity cores, traceability and coverage, as plain data, and as text, JSON,
//! CSV and HTML.

mod completeness;
mod coverage;
mod html;
mod json;
mod mutation;
mod table;
mod text;

pub use completeness::{Completeness, Share};
pub use coverage::{Coverage, Mark, PropertyCoverage, coverage, marks};
pub(crate) use html::escape;
pub use html::matrix_html;
pub use json::{EXPLAIN_SCHEMA, coverage_json, explain_json};
pub use mutation::{
    MutantFate, MutantView, MutationScore, MutationView, mutation_csv, mutation_html,
    mutation_json, mutation_text,
};
pub use table::{matrix_csv, matrix_text};
pub use text::{core_text, coverage_text, explain_text};

use crate::explained_runs::RunView;

/// A part of the model that a proof can rest on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ElementView {
    /// Its name.
    pub name: String,
    /// The word for its kind.
    pub kind: &'static str,
    /// The node or transition that it belongs to; empty if it belongs to the whole model.
    pub owner: String,
    /// The bytes of the source that it was written in.
    pub span: Option<(usize, usize)>,
    /// The line that they begin on, from one.
    pub line: Option<usize>,
    /// The included file that it was written in. It then has no span, and `line` is a line of that
    /// file.
    pub included: Option<IncludedText>,
    /// If it is not known where it was written: its formulas.
    pub formula: Option<String>,
}

/// A text in an included file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IncludedText {
    /// The name of the file.
    pub file: String,
    /// The text.
    pub text: String,
}

impl ElementView {
    /// Where it was written: the line, with the file in front if it is an included one. Empty if
    /// that is not known.
    pub fn place(&self) -> String {
        match (&self.included, self.line) {
            (Some(included), Some(line)) => format!("{}:{line}", included.file),
            (None, Some(line)) => line.to_string(),
            (_, None) => String::new(),
        }
    }
}

/// What is known of a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CoreStatus {
    /// It is enough, and none of its elements can be left out.
    Minimal,
    /// It is enough; perhaps some of its elements can be left out.
    Enough,
    /// It was found, but the check that it is enough did not succeed.
    Unchecked,
}

/// A core. Elements are positions in [`ExplainView::elements`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CoreView {
    /// Its elements.
    pub elements: Vec<usize>,
    /// What is known of it.
    pub status: CoreStatus,
}

/// What the proof of a property shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proves {
    /// It holds: no run breaks it.
    Holds,
    /// It fails: it says that some run exists, and there is none.
    Fails,
}

impl Proves {
    /// The word for it, as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Proves::Holds => "holds",
            Proves::Fails => "fails",
        }
    }
}

/// The explanation of one property. Elements are positions in [`ExplainView::elements`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExplainedView {
    /// Its name.
    pub property: String,
    /// What its proof shows; with a bound, of runs within the bound.
    pub proves: Proves,
    /// Elements that the property itself refers to, such as the guards that it calls enabled. They
    /// are covered by it, whether they are in a core or not.
    pub about: Vec<usize>,
    /// The bytes of the source that it was written in.
    pub span: Option<(usize, usize)>,
    /// The cores that were found.
    pub cores: Vec<CoreView>,
    /// Elements known to be in every core.
    pub must: Vec<usize>,
    /// Elements in some core that are not known to be in every one.
    pub may: Vec<usize>,
    /// The cores are all minimal cores.
    pub complete: bool,
    /// All minimal cores were requested.
    pub all_requested: bool,
    /// Whether what was requested is known exactly.
    pub completeness: Completeness,
    /// Minimal cut sets, if requested and known.
    pub cut_sets: Option<Vec<Vec<usize>>>,
    /// The cores are about runs of at most this many steps.
    pub bound: Option<u32>,
    /// With a bound: a core for runs of exactly that many steps.
    pub at_bound: Option<CoreView>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

impl ExplainedView {
    /// The property, with the length of runs that the cores are about.
    pub fn title(&self) -> String {
        title(&self.property, self.bound)
    }

    /// True if it is proved that the property fails. With a bound that is not known: a longer run
    /// may show it.
    pub fn is_refuted(&self) -> bool {
        self.proves == Proves::Fails && self.bound.is_none()
    }

    /// The number of cores known to be minimal.
    pub fn minimal(&self) -> usize {
        self.cores.iter().filter(|c| c.status == CoreStatus::Minimal).count()
    }

    /// How many minimal cores are known, and whether that is all: `2 cores`, `at least 2 cores,
    /// incomplete`. Of a property that fails: `fails; 2 cores`.
    pub fn cores_found(&self) -> String {
        let number = self.minimal();
        let noun = if number == 1 { "core" } else { "cores" };
        let fails = if self.is_refuted() { "fails; " } else { "" };
        match self.complete {
            true => format!("{fails}{number} {noun}"),
            false => format!("{fails}at least {number} {noun}, incomplete"),
        }
    }
}

fn title(property: &str, bound: Option<u32>) -> String {
    match bound {
        Some(1) => format!("{property} (1 step)"),
        Some(k) => format!("{property} ({k} steps)"),
        None => property.to_string(),
    }
}

/// Why a property has no core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoCore {
    /// It fails, so it covers nothing.
    Fails,
    /// A run shows it, so there is no proof to explain.
    Shown,
    /// It is not shown by a run, and its cores are not defined: it is of another kind, or it is
    /// vacuous.
    NotDefined,
    /// It was not decided, or its cores could not be computed.
    Undecided,
}

impl NoCore {
    /// The word for it in tables.
    pub fn word(self) -> &'static str {
        match self {
            NoCore::Fails => "fails",
            NoCore::Shown | NoCore::NotDefined => "no core",
            NoCore::Undecided => "unknown",
        }
    }
}

/// A property without a core.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnexplainedView {
    /// Its name.
    pub property: String,
    /// With `--bounded`: the length of runs.
    pub bound: Option<u32>,
    /// Why it has none.
    pub status: NoCore,
    /// The same in words.
    pub why: String,
}

impl UnexplainedView {
    /// The property, with the length of runs.
    pub fn title(&self) -> String {
        title(&self.property, self.bound)
    }
}

/// A property that holds vacuously.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VacuityView {
    /// The property; none if it is about the model.
    pub property: Option<String>,
    /// Why.
    pub message: String,
}

/// Why the properties of a model hold or fail.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ExplainView {
    /// The name of the file.
    pub file: String,
    /// Its text.
    pub source: String,
    /// The name of the system.
    pub system: String,
    /// The parts of the model, in the order of the text.
    pub elements: Vec<ElementView>,
    /// The properties with a proof: that they hold, or that they fail.
    pub results: Vec<ExplainedView>,
    /// Properties without a core, and why.
    pub unexplained: Vec<UnexplainedView>,
    /// Only properties that were named are explained; the model may have others.
    pub selected: bool,
    /// Only what `--%IVC` names is an element; the rest of the model always stays.
    pub annotated: bool,
    /// Properties that hold vacuously.
    pub vacuity: Vec<VacuityView>,
    /// The mutants of the model, if requested.
    pub mutation: MutationView,
    /// Properties that a run decides.
    pub runs: Vec<RunView>,
}

/// How much of a model with `--%IVC` is explained.
pub const ONLY_ANNOTATED: &str =
    "only what `--%IVC` names is an element here; everything else always stays in the model";

/// What an empty core does not rest on; with `--%IVC`, only some parts of the model are elements.
pub fn whatever(annotated: bool) -> &'static str {
    if annotated {
        "whatever the elements that `--%IVC` names do"
    } else {
        "whatever the model does"
    }
}

impl ExplainView {
    /// True if some property holds, but cores are not defined for it, so that it covers nothing.
    pub fn has_undefined_core(&self) -> bool {
        self.unexplained.iter().any(|u| u.status == NoCore::NotDefined)
    }

    /// What an empty core does not rest on.
    pub fn whatever(&self) -> &'static str {
        whatever(self.annotated)
    }

    /// One view of all systems of a file, for example of the roots of a Lustre file. What was
    /// written once is one element. A file that is read as two systems of the same name, one for
    /// claims about infinite runs, has the same elements in both, also where their place is not
    /// known.
    pub fn merged(views: &[ExplainView]) -> ExplainView {
        let Some((first, others)) = views.split_first() else { return ExplainView::default() };
        let mut all = first.clone();
        // By element of `all`: the system that it is from.
        let mut from: Vec<&str> = vec![&first.system; all.elements.len()];
        for view in others {
            let place: Vec<usize> = view
                .elements
                .iter()
                .map(|e| {
                    let same = |(k, a): (usize, &ElementView)| {
                        (a.span.is_some() || from[k] == view.system) && a == e
                    };
                    let known = all.elements.iter().enumerate().position(same);
                    known.unwrap_or_else(|| {
                        all.elements.push(e.clone());
                        from.push(&view.system);
                        all.elements.len() - 1
                    })
                })
                .collect();
            let moved = |list: &[usize]| -> Vec<usize> { list.iter().map(|&e| place[e]).collect() };
            all.results.extend(view.results.iter().map(|r| {
                ExplainedView {
                    cores: r
                        .cores
                        .iter()
                        .map(|c| CoreView { elements: moved(&c.elements), ..c.clone() })
                        .collect(),
                    must: moved(&r.must),
                    may: moved(&r.may),
                    cut_sets: r
                        .cut_sets
                        .as_ref()
                        .map(|cuts| cuts.iter().map(|c| moved(c)).collect()),
                    at_bound: r
                        .at_bound
                        .as_ref()
                        .map(|c| CoreView { elements: moved(&c.elements), ..c.clone() }),
                    about: moved(&r.about),
                    ..r.clone()
                }
            }));
            all.unexplained.extend(view.unexplained.iter().cloned());
            all.vacuity.extend(view.vacuity.iter().cloned());
        }
        all
    }

    /// Whether all results are exact.
    pub fn completeness(&self) -> Completeness {
        let undecided = self.unexplained.iter().any(|u| u.status == NoCore::Undecided);
        let least = if undecided { Completeness::Bound } else { Completeness::Exact };
        self.results.iter().map(|r| r.completeness).max().unwrap_or_default().max(least)
    }

    /// One view for each length of runs, in ascending order; this view if there is no bound.
    pub(crate) fn by_bound(&self) -> Vec<ExplainView> {
        let results = self.results.iter().map(|r| r.bound);
        let mut bounds: Vec<Option<u32>> =
            results.chain(self.unexplained.iter().map(|u| u.bound)).collect();
        bounds.sort();
        bounds.dedup();
        if bounds.len() < 2 {
            return vec![self.clone()];
        }
        let about = |bound: Option<u32>| {
            let mut view = self.clone();
            view.results.retain(|r| r.bound == bound);
            view.unexplained.retain(|u| u.bound == bound);
            view
        };
        bounds.into_iter().map(about).collect()
    }

    /// The text of an element on one line, cut short.
    pub(crate) fn excerpt(&self, element: usize) -> String {
        let element = &self.elements[element];
        let text = match (element.span, &element.included) {
            (Some((start, end)), _) => self.source.get(start..end).unwrap_or_default(),
            (None, Some(included)) => included.text.as_str(),
            (None, None) => element.formula.as_deref().unwrap_or_default(),
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let line = words.join(" ");
        cut_short(&line)
    }
}

/// The longest excerpt, in characters.
const EXCERPT: usize = 72;

/// Shortens a long line after a word, or within its first word if that is too long.
fn cut_short(line: &str) -> String {
    if line.chars().count() <= EXCERPT {
        return line.to_string();
    }
    let most = EXCERPT - " ...".len();
    let end = line.char_indices().nth(most).map_or(line.len(), |(at, _)| at);
    let head = &line[..end];
    let cut = if line[end..].starts_with(' ') {
        head
    } else {
        head.rsplit_once(' ').map_or(head, |(words, _)| words)
    };
    format!("{cut} ...")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_at_the_bound_that_may_be_too_large_is_marked() {
        let element = |name: &str| ElementView {
            name: name.to_string(),
            kind: "guard",
            owner: String::new(),
            span: None,
            line: None,
            included: None,
            formula: None,
        };
        let mut result = ExplainedView {
            property: "p".to_string(),
            proves: Proves::Holds,
            about: Vec::new(),
            span: None,
            cores: vec![CoreView { elements: vec![0], status: CoreStatus::Minimal }],
            must: Vec::new(),
            may: vec![0],
            complete: false,
            all_requested: false,
            completeness: Completeness::Exact,
            cut_sets: None,
            bound: Some(2),
            at_bound: Some(CoreView { elements: vec![0, 1], status: CoreStatus::Enough }),
            notes: Vec::new(),
        };
        let shown = |result: &ExplainedView| {
            let view = ExplainView {
                elements: vec![element("a"), element("b")],
                results: vec![result.clone()],
                ..ExplainView::default()
            };
            let json = explain_json(std::slice::from_ref(&view));
            let status = json["results"][0]["at_bound_status"].clone();
            (explain_text(&view, crate::Paint::Plain), status)
        };
        let (text, status) = shown(&result);
        let line = "for runs of exactly 2 steps (may be larger than necessary): a, b\n";
        assert!(text.contains(line), "{text}");
        assert_eq!(status, "enough");
        if let Some(core) = &mut result.at_bound {
            core.status = CoreStatus::Minimal;
        }
        let (text, status) = shown(&result);
        assert!(text.contains("for runs of exactly 2 steps: a, b\n"), "{text}");
        assert_eq!(status, "minimal");
    }

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

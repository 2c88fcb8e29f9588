//! The report of a check as one self-contained HTML page: claims with their verdicts, the proofs
//! and runs behind them, coverage, findings, control graphs, and the source with marks.
//!
//! The page needs no network and no other file. All text of the model is escaped. What is not
//! finished is shown as a bound, or said to be missing ([`coverage`]).

mod claims;
mod coverage;
mod source;

use std::fmt::Write;

use crate::drawing::inline_svg;
use crate::explained::{ExplainView, escape};
use crate::html::begin_document;
use crate::text::counts_line;
use crate::text::diagnostic::diagnostic_texts;
use crate::text::paint::Paint;
use crate::view::diagnostic::Severity;
use crate::view::graph::{GraphPathView, GraphView};
use crate::view::{CheckView, ClaimView, Origin, VerdictView};

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// Which cores of proved claims a report has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CoresShown {
    /// None.
    None,
    /// One minimal core of each claim.
    #[default]
    One,
    /// All minimal cores.
    All,
}

/// What a report says of a claim beside its [`ClaimView`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PageClaim {
    /// The position of its system in [`PageView::graphs`]; none if that is not known.
    pub system: Option<usize>,
    /// The bytes of the source that it was written in.
    pub span: Option<(usize, usize)>,
    /// The run that is shown for it, on the control graph.
    pub path: Option<GraphPathView>,
}

/// Everything that a report shows.
#[derive(Clone, PartialEq, Debug)]
pub struct PageView {
    /// The verdicts and the findings.
    pub check: CheckView,
    /// By claim of `check`: where it was written, and its run on the graph.
    pub claims: Vec<PageClaim>,
    /// By system: why its claims hold or fail; empty if that was not computed.
    pub explained: Vec<ExplainView>,
    /// Which cores were requested.
    pub cores: CoresShown,
    /// Notices about explanations.
    pub notices: Vec<String>,
    /// By system: its control graphs, one for each instance of a composition.
    pub graphs: Vec<Vec<GraphView>>,
    /// The text of the model.
    pub source: String,
    /// The program that made the report, with its version.
    pub producer: String,
}

impl PageView {
    /// The explanation of the system of a claim.
    fn explained_of(&self, claim: usize) -> Option<&ExplainView> {
        self.explained.get(self.claims.get(claim)?.system?)
    }

    /// True if cores were requested and some claim that is proved has not all that were.
    pub fn cores_missing(&self) -> bool {
        if self.cores == CoresShown::None {
            return false;
        }
        let wanting = |r: &crate::ExplainedView| match self.cores {
            CoresShown::All => !r.complete,
            _ => r.minimal() == 0,
        };
        self.explained.iter().any(|v| v.results.iter().any(wanting))
    }

    /// Claims with their positions that are listed one by one: those of the author, and structural
    /// ones that do not hold.
    fn listed(&self) -> impl Iterator<Item = (usize, &ClaimView)> {
        self.check.claims.iter().enumerate().filter(|(_, c)| is_listed(c))
    }
}

fn is_listed(claim: &ClaimView) -> bool {
    let quiet = matches!(claim.verdict, VerdictView::Holds(_) | VerdictView::Vacuous);
    claim.origin != Origin::Structural || !quiet
}

/// The page.
pub fn report_html(view: &PageView) -> String {
    let mut out = String::new();
    begin_document(&format!("{}: report", view.check.file), STYLE, &mut out);
    let _ = write!(
        out,
        "<body><header><h1>{}</h1><p class=\"tally\">{}</p>",
        escape(&view.check.file),
        tally(view)
    );
    let graphs: String = graph_figures(view);
    let mut sections = vec![("claims", "Claims"), ("details", "Proofs and runs")];
    if !view.explained.is_empty() {
        sections.push(("coverage", "Coverage"));
    }
    sections.push(("findings", "Findings"));
    if !graphs.is_empty() {
        sections.push(("graphs", "Control graph"));
    }
    sections.push(("source", "Source"));
    out.push_str("<nav>");
    for (id, title) in sections {
        let _ = write!(out, "<a href=\"#{id}\">{title}</a>");
    }
    out.push_str("</nav></header>\n<main>\n");
    endings(view, &mut out);
    claims::table(view, &mut out);
    claims::details(view, &mut out);
    coverage::section(view, &mut out);
    findings(view, &mut out);
    if !graphs.is_empty() {
        let _ = write!(out, "<section id=\"graphs\"><h2>Control graph</h2>\n{graphs}</section>\n");
    }
    source::section(view, &mut out);
    let _ = write!(
        out,
        "</main>\n<footer class=\"soft\">{}</footer>\n<script>{SCRIPT}</script></body></html>\n",
        escape(&view.producer)
    );
    out
}

/// The counts of verdicts, each in its colour.
fn tally(view: &PageView) -> String {
    if view.check.has_errors() {
        return "<span class=\"fails\">the model has errors</span>".to_string();
    }
    let word = |part: &str| match part.rsplit(' ').next().unwrap_or_default() {
        "hold" | "holds" => "holds",
        "fail" | "fails" => "fails",
        "unknown" => "unknown",
        "vacuous" => "vacuous",
        _ => "soft",
    };
    let text = counts_line([&view.check]);
    let parts =
        text.split(", ").map(|part| format!("<span class=\"{}\">{part}</span>", word(part)));
    parts.collect::<Vec<_>>().join(" ")
}

/// Why the check or the explanations ended early, and errors of the program.
fn endings(view: &PageView, out: &mut String) {
    let check = &view.check;
    for error in &check.internal_errors {
        let _ = writeln!(out, "<p class=\"banner fails\">internal error: {}</p>", escape(error));
    }
    let notices = check.stopped.iter().chain(&view.notices).map(String::as_str);
    for text in notices.chain(check.nothing_claimed_text()) {
        let _ = writeln!(out, "<p class=\"banner unknown\">{}</p>", escape(text));
    }
}

fn findings(view: &PageView, out: &mut String) {
    let found = &view.check.diagnostics;
    out.push_str("<section id=\"findings\"><h2>Findings</h2>\n");
    if found.is_empty() && view.check.stopped.is_some() {
        out.push_str("<p class=\"soft\">None was found before the check was stopped.</p>\n");
    } else if found.is_empty() {
        out.push_str("<p class=\"soft\">None.</p>\n");
    }
    for (i, text) in diagnostic_texts(found, Paint::Plain).iter().enumerate() {
        let class = match found[i].severity {
            Severity::Error => "fails",
            Severity::Warning => "unknown",
            Severity::Note => "soft",
        };
        let (head, rest) = text.split_once('\n').unwrap_or((text, ""));
        let line = found[i].place.as_ref().filter(|p| p.file.is_none());
        let line = line.map_or(String::new(), |p| {
            format!(" <a class=\"soft\" href=\"#L{0}\">line {0}</a>", p.line)
        });
        let _ = write!(
            out,
            "<article class=\"finding\" id=\"finding-{i}\"><p><span class=\"{class}\">{}</span>{line}</p>",
            escape(head)
        );
        if !rest.trim().is_empty() {
            let _ = write!(out, "<pre>{}</pre>", escape(rest.trim_end()));
        }
        out.push_str("</article>\n");
    }
    out.push_str("</section>\n");
}

/// The control graphs of systems with more than one node.
fn graph_figures(view: &PageView) -> String {
    let mut out = String::new();
    for (s, graphs) in view.graphs.iter().enumerate() {
        for (g, graph) in graphs.iter().enumerate().filter(|(_, g)| g.nodes.len() > 1) {
            let name = escape(&graph.name);
            let picture = match inline_svg(graph, &format!("graph-{s}-{g}")) {
                Ok(svg) => format!("<div class=\"scroll picture\">{svg}</div>"),
                Err(error) => format!("<p class=\"soft\">{}</p>", escape(&error.to_string())),
            };
            let _ = writeln!(out, "<figure><figcaption>{name}</figcaption>{picture}</figure>");
        }
    }
    out
}

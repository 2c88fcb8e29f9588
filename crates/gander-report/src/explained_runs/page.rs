//! Explained runs as one self-contained HTML page: a timeline for each run, with the source beside
//! it.
//!
//! Columns are states, rows are variables and parameters. Bools and numbers have a waveform; values
//! that can be changed are hatched. A click or the arrow keys select a state; the elements that
//! force the end of the run are marked in the source. All text of the model is escaped; the script
//! reads only the page.

use std::collections::BTreeMap;
use std::fmt::Write;

use gander_term::RBig;

use super::timeline::{CellMark, TimelineCell, TimelineRow, TimelineView};
use super::{ContrastView, RunView};
use crate::explained::{ExplainView, escape};
use crate::html::{SourceMark, begin_document, source_html};
use crate::view::streams::StreamSort;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page for the runs of all systems of a file.
pub fn runs_html(views: &[ExplainView]) -> String {
    let runs: Vec<(&ExplainView, &RunView)> =
        views.iter().flat_map(|view| view.runs.iter().map(move |run| (view, run))).collect();
    let file = views.first().map_or("", |v| v.file.as_str());
    let mut out = String::new();
    begin_document(&format!("{file}: runs"), STYLE, &mut out);
    let _ = write!(out, "<body><header><h1>{}</h1><nav role=\"tablist\">", escape(file));
    for (i, (_, run)) in runs.iter().enumerate() {
        let _ = write!(
            out,
            "<button role=\"tab\" data-run=\"{i}\" aria-selected=\"{}\">{} <span class=\"{}\">{}</span></button>",
            i == 0,
            escape(&run.property),
            run.verdict,
            run.verdict
        );
    }
    out.push_str("</nav></header>\n<main><section id=\"runs\">\n");
    if runs.is_empty() {
        out.push_str("<p>No property is decided by a run.</p>\n");
    }
    for (i, (view, run)) in runs.iter().enumerate() {
        run_section(view, run, i, &mut out);
    }
    out.push_str(
        "<div id=\"details\" aria-live=\"polite\"></div>\n</section>\n<section id=\"source\">",
    );
    source(views, &runs, &mut out);
    let _ = write!(out, "</section></main>\n<script>{SCRIPT}</script></body></html>\n");
    out
}

fn run_section(view: &ExplainView, run: &RunView, index: usize, out: &mut String) {
    let timeline = run.shown_timeline();
    let steps = timeline.as_ref().map_or(0, |t| t.steps.len());
    let forced: Vec<String> = run.forced.iter().flatten().map(|e| element_id(view, *e)).collect();
    let hidden = if index == 0 { "" } else { " hidden" };
    let _ = write!(
        out,
        "<article class=\"run\" data-steps=\"{steps}\" data-forced=\"{}\"{hidden}>\n<h2>{} <span class=\"{}\">{}</span></h2>\
         <div class=\"soft\">{}</div><div>{}</div>\n",
        escape(&forced.join(" ")),
        escape(&run.property),
        run.verdict,
        run.verdict,
        escape(&run.claim),
        escape(&super::text::headline(run)),
    );
    match &timeline {
        Some(timeline) => timeline_table(run, timeline, out),
        None => out.push_str("<p>The run is too long for a timeline.</p>\n"),
    }
    for line in run.trace.ending.iter().chain(&run.trace.remarks).chain(&run.notes) {
        let _ = writeln!(out, "<p class=\"soft\">{}</p>", escape(line));
    }
    if let Some(back) = run.trace.back_to {
        let _ = writeln!(
            out,
            "<p>The last state is that of step {back}: the steps from there on are repeated for ever.</p>"
        );
    }
    forced_list(view, run, out);
    if let Some(contrast) = &run.contrast {
        beside(run, contrast, out);
    }
    out.push_str("</article>\n");
}

fn timeline_table(run: &RunView, timeline: &TimelineView, out: &mut String) {
    out.push_str("<div class=\"legend\">");
    legend(run, out);
    if run.forced.as_ref().is_some_and(|forced| !forced.is_empty()) {
        out.push_str("<span><i class=\"mark\"></i>forces it</span>");
    }
    out.push_str("<span><i class=\"claim\"></i>the property</span>");
    out.push_str("<span>&larr; &rarr; choose a step</span>");
    more_rows(timeline, out);
    out.push_str("</div>\n");
    timeline_grid(run, timeline, out);
}

/// What the marks of values mean.
pub(crate) fn legend(run: &RunView, out: &mut String) {
    if run.free.iter().any(|f| f.any) {
        out.push_str("<span><i class=\"any\"></i>any: whatever it is, it ends alike</span>");
    }
    if run.free.iter().any(|f| !f.any) {
        out.push_str(
            "<span><i class=\"any\"></i>a..b, &gt;= a: with all of these it ends alike</span>",
        );
    }
    if run.contrast.is_some() {
        out.push_str("<span>&ne;: otherwise in the nearest run</span>");
    }
    out.push_str("<span><b>bold</b>: changed</span>");
}

/// A button that shows the rows that are hidden at first, if there are any.
pub(crate) fn more_rows(timeline: &TimelineView, out: &mut String) {
    match timeline.groups.iter().flat_map(|g| &g.rows).filter(|r| !r.shown).count() {
        0 => {}
        1 => out.push_str("<button data-every>1 more stream</button>"),
        n => drop(write!(out, "<button data-every>{n} more streams</button>")),
    }
}

/// The states as columns, the variables and parameters as rows.
pub(crate) fn timeline_grid(run: &RunView, timeline: &TimelineView, out: &mut String) {
    out.push_str("<div class=\"scroll\"><table class=\"time\"><thead><tr><th>step</th>");
    for (i, step) in timeline.steps.iter().enumerate() {
        let _ = write!(
            out,
            "<th data-at=\"{i}\"><b>{}</b> <span>{}</span>",
            timeline.column(i),
            escape(&step.action)
        );
        if !step.node.is_empty() {
            let _ = write!(out, " <span>{}</span>", escape(&step.node));
        }
        out.push_str("</th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for group in timeline.groups.iter().filter(|g| !g.rows.is_empty()) {
        let class = if group.rows.iter().any(|r| r.shown) { "group" } else { "group minor" };
        let _ = writeln!(
            out,
            "<tr class=\"{class}\"><th>{}</th><td colspan=\"{}\"></td></tr>",
            escape(&group.title),
            timeline.steps.len()
        );
        for row in &group.rows {
            timeline_row(run, timeline, row, out);
        }
    }
    out.push_str("</tbody></table></div>\n");
    for repeat in &timeline.repeats {
        let _ = writeln!(out, "<p class=\"soft\">{}</p>", escape(&repeat.text()));
    }
}

fn timeline_row(run: &RunView, timeline: &TimelineView, row: &TimelineRow, out: &mut String) {
    let class = match (row.shown, row.sort) {
        (true, StreamSort::Text) => "text",
        (false, StreamSort::Text) => "text minor",
        (true, _) => "",
        (false, _) => "minor",
    };
    let _ = write!(out, "<tr data-row class=\"{class}\"><th>{}</th>", escape(&row.name));
    let heights = heights(row);
    for (i, cell) in row.cells.iter().enumerate() {
        let before = i.checked_sub(1).and_then(|b| row.cells.get(b));
        let step = timeline.steps.get(i).map_or(0, |s| s.number);
        let other = run.contrast.as_ref().and_then(|c| {
            let named = |n: &str| {
                n == row.full_name
                    || row.full_name.strip_suffix(n).is_some_and(|p| p.ends_with('.'))
            };
            c.differences.iter().find(|d| d.step == step && named(&d.name) && d.here == cell.value)
        });
        let mut classes: Vec<&str> = Vec::new();
        let mut says: Vec<String> = Vec::new();
        let shown = match &cell.mark {
            CellMark::Any => {
                classes.push("any");
                says.push(format!("any value does; {} in this run", cell.value));
                "any".to_string()
            }
            CellMark::Within(text, _) => {
                classes.push("within");
                says.push(format!("{text} do as well; {} in this run", cell.value));
                escape(text)
            }
            CellMark::Varies => {
                classes.push("varies");
                says.push("follows from values that do not matter".to_string());
                format!("<u>{}</u>", escape(&cell.value))
            }
            CellMark::Absent => {
                classes.push("absent");
                String::new()
            }
            CellMark::Plain => escape(&cell.value),
        };
        if before.is_some_and(|b| b.mark != CellMark::Absent && b.value != cell.value)
            && cell.mark != CellMark::Absent
        {
            classes.push("changed");
        }
        if let Some(d) = other {
            classes.push("other");
            says.push(format!("{} in the run beside", d.there));
        }
        let _ = write!(
            out,
            "<td data-at=\"{i}\" class=\"{}\" data-value=\"{}\" title=\"{}\"><div class=\"cell\">{shown}",
            classes.join(" "),
            escape(&cell.value),
            escape(&says.join("; "))
        );
        if let Some(y) = &heights[i] {
            let from = i.checked_sub(1).and_then(|b| heights[b].as_ref()).unwrap_or(y);
            let _ = write!(
                out,
                "<svg viewBox=\"0 0 100 12\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
                 <path class=\"f\" d=\"M0 12V{y}H100V12Z\"/><path d=\"M0 {from}V{y}H100\"/></svg>"
            );
        }
        out.push_str("</div></td>");
    }
    out.push_str("</tr>\n");
}

/// The height of the waveform of a row at each state, from 1 (high) to 11 (low); none without a
/// value.
fn heights(row: &TimelineRow) -> Vec<Option<String>> {
    let number = |c: &TimelineCell| -> Option<f64> {
        if c.mark == CellMark::Absent {
            return None;
        }
        match row.sort {
            StreamSort::Bool => Some(if c.value == "true" { 1.0 } else { 0.0 }),
            StreamSort::Int | StreamSort::Real | StreamSort::Bits(_) => {
                let value = match c.value.parse::<RBig>() {
                    Ok(value) => value.to_f64().value(),
                    Err(_) => c.value.parse::<f64>().ok()?,
                };
                value.is_finite().then_some(value)
            }
            StreamSort::Text => None,
        }
    };
    let numbers: Vec<Option<f64>> = row.cells.iter().map(number).collect();
    let (mut low, mut high) = match row.sort {
        StreamSort::Bool => (0.0, 1.0),
        _ => (f64::INFINITY, f64::NEG_INFINITY),
    };
    for n in numbers.iter().flatten() {
        low = n.min(low);
        high = n.max(high);
    }
    let place = |n: f64| {
        let part = if high > low { (n / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0) } else { 0.5 };
        format!("{:.1}", 11.0 - 10.0 * part.clamp(0.0, 1.0))
    };
    numbers.into_iter().map(|n| n.map(place)).collect()
}

/// The key of an element: its byte range, which identifies it across the systems of a file.
pub(crate) fn element_id(view: &ExplainView, element: usize) -> String {
    match view.elements[element].span {
        Some((start, end)) => format!("e{start}-{end}"),
        None => "none".to_string(),
    }
}

pub(crate) fn forced_list(view: &ExplainView, run: &RunView, out: &mut String) {
    let Some(forced) = &run.forced else { return };
    if forced.is_empty() {
        let whatever = escape(view.whatever());
        let _ = writeln!(out, "<p>With these choices it ends so {whatever}.</p>");
        return;
    }
    let more = if run.forced_minimal { "" } else { " (perhaps not all are needed)" };
    let _ = write!(out, "<h3>With these choices it is forced by{more}</h3><ul class=\"forced\">");
    for &e in forced {
        let element = &view.elements[e];
        let line = element
            .line
            .map_or(String::new(), |l| format!(" <span class=\"soft\">line {l}</span>"));
        let _ = write!(
            out,
            "<li><button data-point=\"{}\">{}</button>{line}</li>",
            escape(&element_id(view, e)),
            escape(&element.name)
        );
    }
    out.push_str("</ul>\n");
}

fn beside(run: &RunView, contrast: &ContrastView, out: &mut String) {
    let _ = write!(
        out,
        "<h3>{}</h3><table class=\"plain\"><tr><th>step</th><th></th><th>here</th><th>there</th><th></th></tr>",
        escape(&super::text::contrast_line(run, contrast))
    );
    for d in &contrast.differences {
        let _ = write!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"soft\">{}</td></tr>",
            d.step,
            escape(&d.name),
            escape(&d.here),
            escape(&d.there),
            if d.chosen { "chosen" } else { "" }
        );
    }
    out.push_str("</table>\n");
}

/// The source; keys say which forcing elements and properties a part belongs to.
fn source(views: &[ExplainView], runs: &[(&ExplainView, &RunView)], out: &mut String) {
    let Some(text) = views.first().map(|v| v.source.as_str()) else { return };
    let mut marks: Vec<SourceMark> = Vec::new();
    for (i, (view, run)) in runs.iter().enumerate() {
        let forced = run.forced.iter().flatten();
        let forced = forced.filter_map(|&e| Some((view.elements[e].span?, element_id(view, e))));
        let claim = run.span.map(|span| (span, format!("c{i}")));
        marks.extend(forced.chain(claim).map(|(span, key)| SourceMark {
            span,
            key,
            ..SourceMark::default()
        }));
    }
    source_html(text, &marks, &BTreeMap::new(), out);
}

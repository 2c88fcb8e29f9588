//! Explained runs as one HTML page that needs nothing else: a timeline for each run, with the source beside it.
//!
//! Columns are states, rows are variables and parameters. Truth values and numbers have a waveform, values that do not matter
//! are hatched. A click or the arrow keys choose a state; what forces the end of the run is marked in the source. Everything
//! that comes from the model is escaped; the script reads only what is in the page.

use std::fmt::Write;

use gander_term::RBig;

use super::timeline::{CellMark, TimelineCell, TimelineRow, TimelineView};
use super::{ContrastView, RunView};
use crate::explained::{ExplainView, escape};
use crate::streams::StreamSort;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page for the runs of all systems of a file.
pub fn runs_html(views: &[ExplainView]) -> String {
    let runs: Vec<(&ExplainView, &RunView)> =
        views.iter().flat_map(|view| view.runs.iter().map(move |run| (view, run))).collect();
    let title = escape(views.first().map_or("", |v| v.file.as_str()));
    let mut out = String::new();
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'\">\n\
         <title>{title}: runs</title>\n<style>{STYLE}</style></head>\n<body><header><h1>{title}</h1><nav role=\"tablist\">"
    );
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
    out.push_str("<div id=\"details\" aria-live=\"polite\"></div>\n</section>\n<section id=\"source\">");
    source(views, &runs, &mut out);
    let _ = write!(out, "</section></main>\n<script>{SCRIPT}</script></body></html>\n");
    out
}

fn run_section(view: &ExplainView, run: &RunView, index: usize, out: &mut String) {
    let steps = run.timeline.as_ref().map_or(0, |t| t.steps.len());
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
    match &run.timeline {
        Some(timeline) => timeline_table(run, timeline, out),
        None => out.push_str("<p>The run is too long for a timeline.</p>\n"),
    }
    for line in run.trace.ending.iter().chain(&run.trace.remarks).chain(&run.notes) {
        let _ = writeln!(out, "<p class=\"soft\">{}</p>", escape(line));
    }
    if let Some(back) = run.trace.back_to {
        let _ =
            writeln!(out, "<p>The last state is that of step {back}: what came behind it comes again, for ever.</p>");
    }
    forced_list(view, run, out);
    if let Some(contrast) = &run.contrast {
        beside(run, contrast, out);
    }
    out.push_str("</article>\n");
}

fn timeline_table(run: &RunView, timeline: &TimelineView, out: &mut String) {
    let minor = timeline.groups.iter().flat_map(|g| &g.rows).filter(|r| !r.shown).count();
    out.push_str("<div class=\"legend\">");
    if run.free.iter().any(|f| f.any) {
        out.push_str("<span><i class=\"any\"></i>any: whatever it is, it ends alike</span>");
    }
    if run.free.iter().any(|f| !f.any) {
        out.push_str("<span><i class=\"any\"></i>a..b, &gt;= a: with all of these it ends alike</span>");
    }
    if run.contrast.is_some() {
        out.push_str("<span>&ne;: otherwise in the nearest run</span>");
    }
    out.push_str("<span><b>bold</b>: changed</span><span><i class=\"mark\"></i>forces it</span><span><i class=\"claim\"></i>the property</span>");
    out.push_str("<span>&larr; &rarr; choose a step</span>");
    if minor > 0 {
        let _ = write!(out, "<button data-every>{minor} more streams</button>");
    }
    out.push_str("</div>\n<div class=\"scroll\"><table class=\"time\"><thead><tr><th>step</th>");
    for (i, step) in timeline.steps.iter().enumerate() {
        let _ = write!(out, "<th data-at=\"{i}\"><b>{}</b> <span>{}</span>", step.number, escape(&step.action));
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
            let named = |n: &str| n == row.full_name || row.full_name.strip_suffix(n).is_some_and(|p| p.ends_with('.'));
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
        if before.is_some_and(|b| b.mark != CellMark::Absent && b.value != cell.value) && cell.mark != CellMark::Absent
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

/// Where the waveform of a row is at each state, from 1 (high) to 11 (low); none where there is nothing to draw.
fn heights(row: &TimelineRow) -> Vec<Option<String>> {
    let number = |c: &TimelineCell| -> Option<f64> {
        if c.mark == CellMark::Absent {
            return None;
        }
        match row.sort {
            StreamSort::Bool => Some(if c.value == "true" { 1.0 } else { 0.0 }),
            StreamSort::Int | StreamSort::Real | StreamSort::Bits(_) => {
                let value = c.value.parse::<RBig>().ok()?.to_f64().value();
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

/// Elements of several systems of a file are told apart by the bytes that they were written in.
fn element_id(view: &ExplainView, element: usize) -> String {
    match view.elements[element].span {
        Some((start, end)) => format!("e{start}-{end}"),
        None => "none".to_string(),
    }
}

fn forced_list(view: &ExplainView, run: &RunView, out: &mut String) {
    let Some(forced) = &run.forced else { return };
    if forced.is_empty() {
        out.push_str("<p>With these choices it ends so whatever the model does.</p>\n");
        return;
    }
    let more = if run.forced_minimal { "" } else { " (perhaps not all are needed)" };
    let _ = write!(out, "<h3>With these choices it is forced by{more}</h3><ul class=\"forced\">");
    for &e in forced {
        let element = &view.elements[e];
        let line = element.line.map_or(String::new(), |l| format!(" <span class=\"soft\">line {l}</span>"));
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

/// The source with numbered lines, cut where an element that forces something, or a property, begins or ends.
fn source(views: &[ExplainView], runs: &[(&ExplainView, &RunView)], out: &mut String) {
    let Some(text) = views.first().map(|v| v.source.trim_end()) else { return };
    let mut spans: Vec<(usize, usize, String)> = Vec::new();
    for (i, (view, run)) in runs.iter().enumerate() {
        for &e in run.forced.iter().flatten() {
            if let Some((start, end)) = view.elements[e].span {
                spans.push((start, end, element_id(view, e)));
            }
        }
        if let Some((start, end)) = run.span {
            spans.push((start, end, format!("c{i}")));
        }
    }
    spans.retain(|(a, b, _)| a < b && text.get(*a..*b).is_some());
    spans.sort();
    spans.dedup();
    let mut cuts: Vec<usize> = spans.iter().flat_map(|(a, b, _)| [*a, *b]).chain([0, text.len()]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let digits = text.lines().count().max(1).to_string().len();
    let mut line = 1;
    let _ = write!(out, "<pre style=\"--n:{digits}ch\"><span class=\"l\"><span class=\"n\">{line:>digits$}  </span>");
    for pair in cuts.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let own: Vec<&str> =
            spans.iter().filter(|(a, b, _)| *a <= from && to <= *b).map(|(_, _, id)| id.as_str()).collect();
        for (i, piece) in text[from..to].split('\n').enumerate() {
            if i > 0 {
                line += 1;
                let _ = write!(out, "</span><span class=\"l\"><span class=\"n\">{line:>digits$}  </span>");
            }
            if own.is_empty() || piece.trim().is_empty() {
                out.push_str(&escape(piece));
            } else {
                let _ = write!(out, "<span data-e=\"{}\">{}</span>", escape(&own.join(" ")), escape(piece));
            }
        }
    }
    out.push_str("</span></pre>");
}

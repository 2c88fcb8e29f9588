//! The claims: a table of verdicts, then the proof or the run behind each.

use std::fmt::Write;

use super::{CoresShown, PageView, is_listed};
use crate::drawing::path_svg;
use crate::explained::{CoreStatus, ExplainView, ExplainedView, escape};
use crate::explained_runs::{
    LeastView, RunView, TimelineView, forced_list, headline, legend, more_rows, timeline_grid,
};
use crate::text::paint::Paint;
use crate::text::stream_table::{StreamScope, StreamTable, stream_table};
use crate::text::trace::{TraceDetail, trace_table};
use crate::text::{NO_RUN, contradiction_lines, reason, structural_counts, summary};
use crate::view::{BasisView, ClaimView, ShownEvidence, TraceView, VerdictView};

/// Cells of a timeline at most; longer runs are shown as text.
const MAX_CELLS: usize = 12_000;
/// Cores that are listed at most.
const MAX_CORES: usize = 20;
/// Columns of runs as text.
const TEXT_WIDTH: usize = 96;
/// States of a run that is shown by its changes.
const SHORT_RUN: usize = 40;
/// Steps of a timeline that fit on a printed page.
const PRINTED_STEPS: usize = 7;

/// The verdicts at a glance.
pub(super) fn table(view: &PageView, out: &mut String) {
    out.push_str("<section id=\"claims\"><h2>Claims</h2>\n");
    if view.listed().next().is_some() {
        out.push_str(
            "<table class=\"claims\"><thead><tr><th>verdict</th><th>claim</th><th></th><th>how</th><th>line</th></tr></thead><tbody>\n",
        );
        for (i, claim) in view.listed() {
            let word = claim.verdict.word();
            let text = if claim.text == claim.name { "" } else { claim.text.as_str() };
            let line = line_of(view, i).map_or(String::new(), |l| {
                format!("<a href=\"#L{l}\"><span class=\"narrow\">line </span>{l}</a>")
            });
            let _ = writeln!(
                out,
                "<tr><td class=\"{word}\">{word}</td><th scope=\"row\"><a href=\"#claim-{i}\">{}</a></th>\
                 <td><code>{}</code></td><td class=\"soft\">{}</td><td>{line}</td></tr>",
                escape(&claim.name),
                escape(text),
                escape(&how(view, i, claim))
            );
        }
        out.push_str("</tbody></table>\n");
    }
    let sound: Vec<&ClaimView> = (view.check.claims.iter())
        .filter(|c| !is_listed(c) && !matches!(c.verdict, VerdictView::Vacuous))
        .collect();
    if !sound.is_empty() {
        let (n, kinds) = (sound.len(), structural_counts(&sound));
        let noun = if n == 1 { "structural check" } else { "structural checks" };
        let _ = writeln!(
            out,
            "<details class=\"quiet\"><summary><span class=\"holds\">{}</span> {n} {noun}: {}</summary><p>{}</p></details>",
            if n == 1 { "holds" } else { "hold" },
            escape(&kinds),
            sound.iter().map(|c| escape(&c.name)).collect::<Vec<_>>().join(", ")
        );
    }
    if view.check.claims.is_empty() {
        out.push_str("<p class=\"soft\">No claim was decided.</p>\n");
    }
    out.push_str("</section>\n");
}

/// How a claim was decided. The run that is shown below may be shorter than the one that an engine
/// found, and its shortest length may be known.
fn how(view: &PageView, i: usize, claim: &ClaimView) -> String {
    let Some(run) = explained_run(view, i, claim) else { return summary(claim) };
    let mut shown = ClaimView { shortest: Some(run.length.least), ..claim.clone() };
    if let VerdictView::Holds(evidence) | VerdictView::Fails(evidence) = &mut shown.verdict {
        evidence.shown = ShownEvidence::Trace(run.trace.clone());
    }
    summary(&shown)
}

/// The explained run of a claim.
fn explained_run<'v>(view: &'v PageView, i: usize, claim: &ClaimView) -> Option<&'v RunView> {
    view.explained_of(i)?.runs.iter().find(|r| r.property == claim.name)
}

/// The line that a claim begins on.
pub(super) fn line_of(view: &PageView, claim: usize) -> Option<usize> {
    let (start, _) = view.claims.get(claim)?.span?;
    Some(1 + view.source.get(..start)?.matches('\n').count())
}

/// The proof or the run behind each verdict.
pub(super) fn details(view: &PageView, out: &mut String) {
    out.push_str("<section id=\"details\"><h2>Proofs and runs</h2>\n");
    for (i, claim) in view.listed() {
        let word = claim.verdict.word();
        let _ = writeln!(
            out,
            "<article class=\"claim\" id=\"claim-{i}\"><h3><span class=\"{word}\">{word}</span> {}</h3>",
            escape(&claim.name)
        );
        if claim.text != claim.name && !claim.text.is_empty() {
            let _ = writeln!(out, "<p><code>{}</code></p>", escape(&claim.text));
        }
        for warning in &claim.warnings {
            let _ = writeln!(out, "<p class=\"unknown\">warning: {}</p>", escape(warning));
        }
        verdict(view, i, claim, out);
        if let Some(basis) = &claim.basis {
            let _ = writeln!(out, "<p class=\"soft\">{}</p>", escape(&basis_text(basis)));
        }
        for c in claim.claimed.iter().filter(|c| word == "unknown" || c.disagrees) {
            let text = format!("claimed by {}: {} ({})", c.tool, c.says, c.why);
            let class = if c.disagrees { "fails" } else { "unknown" };
            let _ = writeln!(out, "<p class=\"{class}\">{}</p>", escape(&text));
        }
        out.push_str("</article>\n");
    }
    if view.listed().next().is_none() {
        out.push_str("<p class=\"soft\">None.</p>\n");
    }
    out.push_str("</section>\n");
}

fn verdict(view: &PageView, i: usize, claim: &ClaimView, out: &mut String) {
    match &claim.verdict {
        VerdictView::Unknown { explored_through, why } => {
            out.push_str("<p>It was not decided.</p><ul>");
            if let Some(depth) = explored_through {
                let steps = if *depth == 1 { "step" } else { "steps" };
                let _ = write!(out, "<li>No run of up to {depth} {steps} decides it.</li>");
            }
            for o in why {
                let text = format!("{}: {}", o.engine, o.reason);
                let _ = write!(out, "<li>{}</li>", escape(&text));
            }
            out.push_str("</ul>\n");
        }
        VerdictView::Vacuous => {
            let _ = writeln!(out, "<p>{NO_RUN}, so this is not proved of anything.</p>");
        }
        VerdictView::Holds(evidence) | VerdictView::Fails(evidence) => {
            match evidence.shown.trace() {
                Some(trace) => run(view, i, claim, trace, out),
                None => proof(claim, &evidence.shown, out),
            }
            cores(view, i, claim, out);
        }
    }
}

/// What a verdict rests on, in words.
fn basis_text(basis: &BasisView) -> String {
    let solvers = basis.solvers.join(", ");
    let text = match basis.ground {
        "checked" => "Rests on what gander verified itself, on no solver".to_string(),
        "two-solvers" => format!("Rests on answers on which solvers agree: {solvers}"),
        "one-solver" => format!("Rests on the answers of one solver: {solvers}"),
        other => format!("Rests on: {other}"),
    };
    match &basis.why_one {
        Some(why) => format!("{text} ({why})."),
        None => format!("{text}."),
    }
}

/// A proof: why no run decides otherwise.
fn proof(claim: &ClaimView, shown: &ShownEvidence, out: &mut String) {
    let summary = summary(claim);
    let what =
        if claim.verdict.word() == "fails" { "It is proved that it fails" } else { "Proved" };
    let _ = writeln!(out, "<p>{what}: {}.</p>", escape(&summary));
    for dead in &claim.because {
        let _ = writeln!(out, "<p><code>{}</code></p>", escape(&dead.text()));
    }
    match shown {
        ShownEvidence::Invariant { by_node, .. } if !by_node.is_empty() => {
            out.push_str("<details open><summary>The invariant</summary><table class=\"plain\">");
            for (node, formula) in by_node {
                let node = if node.is_empty() { String::new() } else { format!("at {node}") };
                let _ = write!(
                    out,
                    "<tr><th>{}</th><td><code>{}</code></td></tr>",
                    escape(&node),
                    escape(formula)
                );
            }
            out.push_str("</table></details>\n");
        }
        ShownEvidence::Invariant { .. } => {}
        other => {
            let lines: Vec<String> = reason(other, claim.within.as_deref())
                .into_iter()
                .chain(contradiction_lines(&claim.contradiction))
                .collect();
            if !lines.is_empty() {
                let _ = writeln!(out, "<pre>{}</pre>", escape(&lines.join("\n")));
            }
        }
    }
}

/// The elements that the proof of a claim rests on.
fn cores(view: &PageView, i: usize, claim: &ClaimView, out: &mut String) {
    let Some(explained) = view.explained_of(i).filter(|_| view.cores != CoresShown::None) else {
        return;
    };
    if let Some(none) = explained.unexplained.iter().find(|u| u.property == claim.name) {
        let _ = writeln!(out, "<p class=\"soft\">No core: {}.</p>", escape(&none.why));
    }
    let Some(result) = explained.results.iter().find(|r| r.property == claim.name) else { return };
    let count = result.cores.len();
    let _ = writeln!(out, "<h4>{}</h4>", escape(&cores_heading(result)));
    for (n, core) in result.cores.iter().take(MAX_CORES).enumerate() {
        if count > 1 {
            let status = match core.status {
                CoreStatus::Minimal => "",
                CoreStatus::Enough => " (perhaps not all elements are needed)",
                CoreStatus::Unchecked => " (not checked to be enough)",
            };
            let _ = write!(out, "<p class=\"soft\">Core {}{status}</p>", n + 1);
        }
        elements(explained, &core.elements, &result.must, out);
    }
    if count > MAX_CORES {
        let _ = writeln!(out, "<p class=\"soft\">... and {} more cores</p>", count - MAX_CORES);
    }
    if !result.about.is_empty() {
        let names: Vec<&str> =
            result.about.iter().map(|&e| explained.elements[e].name.as_str()).collect();
        let _ = writeln!(out, "<p>The claim itself is about: {}.</p>", escape(&names.join(", ")));
    }
    for note in &result.notes {
        let _ = writeln!(out, "<p class=\"soft\">{}</p>", escape(note));
    }
}

/// What is known of the cores that are listed.
fn cores_heading(result: &ExplainedView) -> String {
    match (&result.cores[..], result.complete) {
        ([], _) => "What it rests on was not found".to_string(),
        ([_], true) => "It rests on these elements (the only minimal core)".to_string(),
        (cores, true) => {
            format!("It rests on one of these {} sets of elements (all minimal cores)", cores.len())
        }
        ([core], false) => match core.status {
            CoreStatus::Minimal => {
                "It rests on these elements (a minimal core; there may be others)".to_string()
            }
            CoreStatus::Enough => {
                "It rests on these elements (perhaps not all are needed; there may be other cores)"
                    .to_string()
            }
            CoreStatus::Unchecked => {
                "Perhaps it rests on these elements (not checked to be enough)".to_string()
            }
        },
        (_, false) => {
            format!("It rests on one of these sets of elements ({})", result.cores_found())
        }
    }
}

/// A list of elements; those in every core are marked.
pub(super) fn elements(view: &ExplainView, list: &[usize], must: &[usize], out: &mut String) {
    if list.is_empty() {
        let which =
            if view.annotated { "No element that --%IVC names" } else { "No element of the model" };
        let _ = writeln!(out, "<p>{which}: the core is empty.</p>");
        return;
    }
    out.push_str("<ul class=\"elements\">");
    for &e in list {
        let element = &view.elements[e];
        let place = match (&element.included, element.line) {
            (None, Some(l)) => format!("<a href=\"#L{l}\">line {l}</a>"),
            _ => escape(&element.place()),
        };
        let star = if must.contains(&e) { " <b title=\"in every core\">*</b>" } else { "" };
        let _ = write!(
            out,
            "<li><span>{}{star}</span> <span class=\"soft\">{place}</span> <code>{}</code></li>",
            escape(&element.name),
            escape(&view.excerpt(e))
        );
    }
    out.push_str("</ul>\n");
}

/// The run that decides a claim: the explained one if there is one, else the one that was found.
fn run(view: &PageView, i: usize, claim: &ClaimView, trace: &TraceView, out: &mut String) {
    let explained = view.explained_of(i);
    let found = explained_run(view, i, claim);
    let plain;
    let run = match found {
        Some(run) => {
            let _ = writeln!(out, "<p>{}</p>", escape(&sentence(&headline(run))));
            run
        }
        None => {
            let _ = writeln!(out, "<p>{}</p>", escape(&sentence(&summary(claim))));
            plain = plain_run(claim, trace);
            &plain
        }
    };
    path(view, i, out);
    let fits = |t: &&TimelineView| {
        let rows: usize = t.groups.iter().map(|g| g.rows.len()).sum();
        t.steps.len().saturating_mul(rows) <= MAX_CELLS
    };
    let timeline = run.shown_timeline();
    let timeline = timeline.as_deref().filter(fits);
    if let Some(timeline) = timeline {
        let long = if timeline.steps.len() > PRINTED_STEPS { " long" } else { "" };
        let _ = write!(
            out,
            "<div class=\"run{long}\" tabindex=\"0\" data-steps=\"{}\"><div class=\"legend\">",
            timeline.steps.len()
        );
        legend(run, out);
        out.push_str("<span class=\"screen\">&larr; &rarr; choose a step</span>");
        more_rows(timeline, out);
        out.push_str("</div>\n");
        timeline_grid(run, timeline, out);
        out.push_str("<div class=\"chosen\" aria-live=\"polite\"></div></div>\n");
    }
    let printed = timeline.is_some_and(|t| t.steps.len() <= PRINTED_STEPS);
    if !printed {
        let class = if timeline.is_some() { "text-run print" } else { "text-run" };
        let _ = writeln!(out, "<pre class=\"{class}\">{}</pre>", escape(&run_text(&run.trace)));
    }
    if timeline.is_some() {
        for line in run.trace.ending.iter().chain(&run.trace.remarks) {
            let _ = writeln!(out, "<p class=\"soft\">{}</p>", escape(line));
        }
    }
    if let Some(back) = run.trace.back_to {
        let _ = writeln!(
            out,
            "<p>The last state is that of step {back}: the steps after it repeat for ever.</p>"
        );
    }
    for line in &run.notes {
        let _ = writeln!(out, "<p class=\"soft\">{}</p>", escape(line));
    }
    if let (Some(explained), Some(run)) = (explained, found) {
        forced_list(explained, run, out);
    }
}

/// A text with a capital letter in front and a full stop behind it.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

fn run_text(trace: &TraceView) -> String {
    let mut text = match &trace.streams {
        Some(streams) => {
            let table = StreamTable {
                detail: TraceDetail::Full,
                scope: StreamScope::Relevant,
                width: TEXT_WIDTH,
                indent: 0,
                paint: Paint::Plain,
                ..StreamTable::default()
            };
            stream_table(streams, table)
        }
        None => {
            // Changes leave out the middle of long runs.
            let short = trace.rows.len() <= SHORT_RUN;
            let detail = if short { TraceDetail::Changes } else { TraceDetail::Full };
            return trace_table(trace, detail, 0, Paint::Plain);
        }
    };
    text.extend(trace.ending.iter().map(|ending| format!("{ending}\n")));
    text
}

/// A run of which nothing is explained.
fn plain_run(claim: &ClaimView, trace: &TraceView) -> RunView {
    RunView {
        property: claim.name.clone(),
        claim: claim.text.clone(),
        verdict: claim.verdict.word(),
        span: None,
        length: LeastView { count: trace.length, before: trace.length, least: false },
        changes: None,
        trace: trace.clone(),
        timeline: TimelineView::of_trace(trace, &claim.name),
        free: Vec::new(),
        maximal: false,
        forced: None,
        forced_minimal: false,
        contrast: None,
        notes: Vec::new(),
        evidence: serde_json::Value::Null,
    }
}

/// The run on the control graphs of its system.
fn path(view: &PageView, i: usize, out: &mut String) {
    let Some(about) = view.claims.get(i) else { return };
    let (Some(path), Some(graphs)) = (&about.path, about.system.and_then(|s| view.graphs.get(s)))
    else {
        return;
    };
    for (g, graph) in graphs.iter().enumerate().filter(|(_, g)| g.nodes.len() > 1) {
        if let Ok(svg) = path_svg(graph, path, &format!("path-{i}-{g}")) {
            let _ = writeln!(
                out,
                "<details class=\"path\" open><summary>The run on the control graph of {}</summary>\
                 <div class=\"scroll picture\">{svg}</div></details>",
                escape(&graph.name)
            );
        }
    }
}

//! Explained runs as text.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::{ContrastView, RunView};
use crate::explained::ExplainView;
use crate::text::paint::Paint;
use crate::text::stream_table::{StreamTable, stream_table};
use crate::text::trace::{TraceDetail, trace_table};

/// How to show a run.
#[derive(Clone, Copy, Debug)]
pub struct RunText {
    /// How much of it.
    pub detail: TraceDetail,
    /// Columns of the terminal.
    pub width: usize,
    /// With colour or not.
    pub paint: Paint,
}

/// Differences to the contrasting run that are listed at most.
const MAX_DIFFERENCES: usize = 60;

/// The run and its explanation.
pub fn run_text(view: &ExplainView, run: &RunView, how: RunText) -> String {
    let paint = how.paint;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{}: {} {}",
        paint.bold(&run.property),
        paint.verdict(run.verdict),
        headline(run)
    );
    match &run.trace.streams {
        Some(streams) => {
            let scope = match how.detail {
                TraceDetail::Full => crate::text::stream_table::StreamScope::All,
                TraceDetail::Changes => crate::text::stream_table::StreamScope::Relevant,
            };
            let table = StreamTable {
                detail: how.detail,
                scope,
                width: how.width,
                indent: 2,
                paint,
                shows_all: "--trace full",
            };
            out.push_str(&stream_table(streams, table));
            if let Some(ending) = &run.trace.ending {
                let _ = writeln!(out, "  {}", paint.faint(ending));
            }
        }
        None => out.push_str(&trace_table(&run.trace, how.detail, 2, paint)),
    }
    legend(run, paint, &mut out);
    forced(view, run, paint, &mut out);
    if let Some(contrast) = &run.contrast {
        beside(run, contrast, paint, &mut out);
    }
    for note in &run.notes {
        let _ = writeln!(out, "  {}", paint.open(note));
    }
    out.push('\n');
    out
}

/// The length and the changes of the run, and whether they are minimal.
pub(crate) fn headline(run: &RunView) -> String {
    let steps = run.length.count;
    let number = |n: u64| if n == 1 { "1 step".to_string() } else { format!("{n} steps") };
    let mut text = match (steps, run.trace.back_to) {
        (_, Some(0)) => {
            format!("on an infinite run: {}, repeated for ever", number(steps))
        }
        (_, Some(back)) => {
            let around = number(steps.saturating_sub(back));
            format!("on an infinite run: {}, then {around} repeated for ever", number(back))
        }
        (0, None) if run.trace.goes_on => "on an infinite run from the start".to_string(),
        (n, None) if run.trace.goes_on => {
            format!("on an infinite run that begins with {}", number(n))
        }
        (0, None) => "at the start".to_string(),
        (n, None) => format!("after {}", number(n)),
    };
    if run.length.before > steps {
        let _ = write!(text, " ({} in the run that was found)", run.length.before);
    }
    // An infinite run is as long as what is shown of it: the way to its loop, and one round.
    let is_infinite = run.trace.back_to.is_some() || run.trace.goes_on;
    match (steps, is_infinite, run.length.least) {
        (0, ..) => {}
        (_, false, true) => text.push_str("; no run is shorter"),
        (_, false, false) => text.push_str("; a shorter run may exist"),
        (_, true, true) => text.push_str("; none is described by fewer steps"),
        (_, true, false) => text.push_str("; one with fewer steps may exist"),
    }
    if let Some(changes) = run.changes.filter(|_| steps > 1) {
        let count = match changes.count {
            0 => "no change".to_string(),
            1 => "1 change".to_string(),
            n => format!("{n} changes"),
        };
        let within = if is_infinite { " in these steps" } else { "" };
        let _ = write!(text, "; {count} of what is chosen{within}");
        match (changes.least, changes.count) {
            (_, 0) => {}
            (true, _) => text.push_str(", the fewest possible"),
            (false, _) => text.push_str(", perhaps not the fewest possible"),
        }
    }
    text
}

fn legend(run: &RunView, paint: Paint, out: &mut String) {
    if run.free.is_empty() {
        return;
    }
    let streams =
        run.trace.streams.iter().flat_map(|s| s.rows()).filter(|r| r.shown).flat_map(|r| &r.values);
    let shown: Vec<&String> =
        run.trace.rows.iter().flat_map(|r| r.changes.iter().map(|c| &c.1)).chain(streams).collect();
    let actions: Vec<&String> = run.trace.rows.iter().map(|r| &r.action).collect();
    let mut parts = Vec::new();
    if shown.iter().any(|v| *v == "any") || actions.iter().any(|a| a.contains("= any")) {
        parts.push("any: whatever it is, it ends alike".to_string());
    }
    let within = run.free.iter().filter(|f| !f.any).find_map(|f| {
        let (text, phrase) = (f.text(), f.phrase());
        let example = shown.iter().find(|v| ***v == text || ***v == phrase);
        let in_action = actions.iter().any(|a| a.contains(&phrase)).then_some(phrase.clone());
        example.map(|v| v.to_string()).or(in_action)
    });
    if let Some(example) = within {
        parts.push(format!("ranges such as {example}: with all of these it ends alike"));
    }
    if shown.iter().any(|v| v.ends_with('~')) {
        parts.push("~: follows from these".to_string());
    }
    if parts.is_empty() {
        return;
    }
    let _ = writeln!(out, "  {}", paint.faint(&parts.join("; ")));
}

fn forced(view: &ExplainView, run: &RunView, paint: Paint, out: &mut String) {
    let Some(forced) = &run.forced else { return };
    if forced.is_empty() {
        let _ = writeln!(out, "  with these choices it ends so {}", view.whatever());
        return;
    }
    let more = if run.forced_minimal { "" } else { " (perhaps not all are needed)" };
    let _ = writeln!(out, "  with these choices it is forced by{more}:");
    let width = forced.iter().map(|&e| view.elements[e].name.width()).max().unwrap_or(0).min(40);
    for &e in forced {
        let element = &view.elements[e];
        let pad = " ".repeat(width.saturating_sub(element.name.width()));
        let line = element.line.map_or(String::new(), |l| format!("line {l:<5}"));
        let text = format!("    {}{pad}  {line} {}", element.name, paint.faint(&view.excerpt(e)));
        let _ = writeln!(out, "{}", text.trim_end());
    }
}

/// How many choices differ in the contrasting run, in words.
pub(super) fn contrast_line(run: &RunView, contrast: &ContrastView) -> String {
    let what = if run.verdict == "fails" { "in which it holds" } else { "that does not get there" };
    let near = if contrast.least { "the nearest run" } else { "a near run" };
    let way = if contrast.same_transitions { "" } else { ", by other transitions" };
    let (n, of) = (contrast.differing, contrast.of);
    let (choices, verb) =
        (if of == 1 { "choice" } else { "choices" }, if n == 1 { "differs" } else { "differ" });
    format!("{near} {what}: {n} of {of} {choices} {verb}{way}")
}

fn beside(run: &RunView, contrast: &ContrastView, paint: Paint, out: &mut String) {
    let _ = writeln!(out, "  {}", contrast_line(run, contrast));
    let rows = &contrast.differences;
    let widest = |f: fn(&super::DifferenceView) -> &str, least: usize| {
        rows.iter().map(|d| f(d).width()).max().unwrap_or(0).min(30).max(least)
    };
    let (name, here, there) =
        (widest(|d| &d.name, 0), widest(|d| &d.here, 4), widest(|d| &d.there, 5));
    let number = rows.iter().map(|d| d.step.to_string().len()).max().unwrap_or(1).max(4);
    if !rows.is_empty() {
        let head = format!(
            "    {:>number$}  {:name$}  {:>here$}  {:>there$}",
            "step", "", "here", "there"
        );
        let _ = writeln!(out, "{}", paint.faint(head.trim_end()));
    }
    for d in rows.iter().take(MAX_DIFFERENCES) {
        let pad = |text: &str, width: usize| " ".repeat(width.saturating_sub(text.width()));
        let line = format!(
            "    {:>number$}  {}{}  {}{}  {}{}",
            d.step,
            d.name,
            pad(&d.name, name),
            pad(&d.here, here),
            d.here,
            pad(&d.there, there),
            if d.chosen { paint.bold(&d.there) } else { d.there.clone() },
        );
        let chosen = if d.chosen { "  chosen" } else { "" };
        let _ = writeln!(out, "{line}{}", paint.faint(chosen));
    }
    if rows.len() > MAX_DIFFERENCES {
        let more = rows.len() - MAX_DIFFERENCES;
        let _ =
            writeln!(out, "    {}", paint.faint(&format!("... and {more} more (--json has them)")));
    }
}

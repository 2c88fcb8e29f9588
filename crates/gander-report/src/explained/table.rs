//! The traceability matrix, elements by properties, as text and as CSV.

use std::fmt::Write;

use gander_text::csv::defused;
use unicode_width::UnicodeWidthStr;

use super::coverage::{Mark, marks};
use super::{Completeness, ElementView, ExplainView};
use crate::files::csv::table;

/// As text: `M` in every core, `m` in some, `.` in none; `C` in none, but the property is about it;
/// `m?` in some and perhaps in every one, `?` not known.
pub fn matrix_text(view: &ExplainView) -> String {
    let mut out = String::new();
    for (i, r) in view.results.iter().enumerate() {
        let status = match r.completeness {
            Completeness::Exact if r.complete && r.is_refuted() => ": fails".to_string(),
            Completeness::Exact if r.complete => String::new(),
            Completeness::Exact | Completeness::Bound | Completeness::Unfinished => {
                format!(": {}", r.cores_found())
            }
        };
        let _ = writeln!(out, "{:>4}  {}{status}", i + 1, r.title());
    }
    for u in &view.unexplained {
        let _ = writeln!(out, "   -  {}: no core: {}", u.title(), u.why);
    }
    let columns: Vec<Vec<Mark>> = (0..view.results.len()).map(|i| marks(view, i)).collect();
    let width = view.elements.iter().map(|e| e.name.width()).max().unwrap_or(0).max(7);
    let head: Vec<String> = (1..=columns.len()).map(|i| format!("{i:>4}")).collect();
    let _ = writeln!(out, "\n{:6} {:width$} {}", "line", "element", head.concat());
    for (e, element) in view.elements.iter().enumerate() {
        let line = element.place();
        let pad = " ".repeat(width - element.name.width());
        let cells: String = columns
            .iter()
            .map(|c| match c[e] {
                Mark::Must => "   M",
                Mark::May => "   m",
                Mark::Some => "  m?",
                Mark::Claimed => "   C",
                Mark::Untouched => "   .",
                Mark::Open => "   ?",
            })
            .collect();
        let _ = writeln!(out, "{line:>6} {}{pad} {cells}", element.name);
    }
    out.push_str("\nM: in every core   m: in some core   .: in none\n");
    let shown = |wanted: Mark| columns.iter().flatten().any(|m| *m == wanted);
    if shown(Mark::Claimed) {
        out.push_str("C: in no core, but the property itself is about it\n");
    }
    if shown(Mark::Some) || shown(Mark::Open) {
        out.push_str("m?: in some core, perhaps in every one   ?: not known\n");
    }
    if let Some(text) = view.completeness().warning() {
        let _ = writeln!(out, "{text}");
    }
    out
}

/// As CSV: a row for each element, a column for each property, also for those without a core. The
/// last row has the number of cores and whether these are all.
pub fn matrix_csv(view: &ExplainView) -> String {
    let header = ["element", "kind", "line"].map(str::to_string).into_iter();
    let header = header.chain(view.results.iter().map(|r| defused(&r.title())));
    let header = header.chain(view.unexplained.iter().map(|u| defused(&u.title())));
    let columns: Vec<Vec<Mark>> = (0..view.results.len()).map(|i| marks(view, i)).collect();
    let without = || view.unexplained.iter().map(|u| u.status.word().to_string());
    let row = |(e, element): (usize, &ElementView)| {
        let cells = [defused(&element.name), element.kind.to_string(), defused(&element.place())];
        let marks = columns.iter().map(|c| match c[e] {
            Mark::Must => "must",
            Mark::May => "may",
            Mark::Some => "may or must",
            Mark::Claimed => "claim",
            Mark::Untouched => "",
            Mark::Open => "unknown",
        });
        cells.into_iter().chain(marks.map(str::to_string)).chain(without()).collect()
    };
    let last = ["(all elements)", "cores found", ""].map(str::to_string).into_iter();
    let last = last.chain(view.results.iter().map(|r| r.cores_found())).chain(without());
    let rows = std::iter::once(header.collect());
    table(rows.chain(view.elements.iter().enumerate().map(row)).chain([last.collect()]))
}

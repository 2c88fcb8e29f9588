//! The traceability matrix, elements by properties, as text and as CSV.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::ExplainView;
use super::coverage::{Mark, marks};

/// As text: `M` in every core, `m` in some, `.` in none.
pub fn matrix_text(view: &ExplainView) -> String {
    let mut out = String::new();
    for (i, r) in view.results.iter().enumerate() {
        let _ = writeln!(out, "{:>4}  {}", i + 1, r.property);
    }
    let columns: Vec<Vec<Mark>> = (0..view.results.len()).map(|i| marks(view, i)).collect();
    let width = view.elements.iter().map(|e| e.name.width()).max().unwrap_or(0);
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
                Mark::Untouched => "   .",
            })
            .collect();
        let _ = writeln!(out, "{line:>6} {}{pad} {cells}", element.name);
    }
    out.push_str("\nM: in every core   m: in some core   .: in none\n");
    out
}

/// As CSV: a row for each element, a column for each property.
pub fn matrix_csv(view: &ExplainView) -> String {
    let mut out = String::from("element,kind,line");
    for r in &view.results {
        out.push(',');
        out.push_str(&field(&r.property));
    }
    out.push('\n');
    let columns: Vec<Vec<Mark>> = (0..view.results.len()).map(|i| marks(view, i)).collect();
    for (e, element) in view.elements.iter().enumerate() {
        let line = field(&element.place());
        let _ = write!(out, "{},{},{line}", field(&element.name), element.kind);
        for c in &columns {
            out.push_str(match c[e] {
                Mark::Must => ",must",
                Mark::May => ",may",
                Mark::Untouched => ",",
            });
        }
        out.push('\n');
    }
    out
}

pub(super) fn field(text: &str) -> String {
    gander_text::csv::cell(text)
}

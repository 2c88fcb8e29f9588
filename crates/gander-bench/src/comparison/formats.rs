//! A comparison as a table, as CSV and as a plot.

use std::fmt::Write as _;

use crate::comparison::{Cell, ComparisonResult, word};
use crate::plot::comparison as plot;
use crate::results::record::Ending;

/// The widest name of a file in tables.
const WIDEST: usize = 44;

/// Seconds, with fewer decimals for larger values.
fn seconds(s: f64) -> String {
    match s {
        s if s < 0.095 => format!("{s:.3}"),
        s if s < 9.95 => format!("{s:.2}"),
        s => format!("{s:.1}"),
    }
}

/// The text of a cell: the time if every claim was answered, otherwise the number of answers or the
/// reason.
fn cell_text(cell: Option<&Cell>) -> String {
    let Some(cell) = cell else { return "-".to_string() };
    let mut text = match cell.ending {
        Ending::Crashed => "crash".to_string(),
        Ending::Memout => "memory".to_string(),
        Ending::Rejected => "rejected".to_string(),
        _ if cell.is_complete() => seconds(cell.seconds.0),
        Ending::Timeout if cell.answered() == 0 => "time".to_string(),
        _ if cell.answered() == 0 => "none".to_string(),
        _ => format!("{}/{}", cell.answered(), cell.answers.len()),
    };
    if cell.answered() > cell.decided() {
        text.push('?');
    }
    if cell.unsteady {
        text.push('!');
    }
    text
}

/// The result as a table: a row for each file, a column for each contender, and totals.
pub fn table(result: &ComparisonResult) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let head = std::iter::once("seconds".to_string()).chain(result.contenders.iter().cloned());
    rows.push(head.collect());
    for (file, row) in result.files.iter().zip(&result.cells) {
        let best = row
            .iter()
            .flatten()
            .filter(|c| c.is_complete())
            .map(|c| c.seconds.0)
            .fold(f64::MAX, f64::min);
        let marked = |cell: &Option<Cell>| {
            let fastest = cell.as_ref().is_some_and(|c| c.is_complete() && c.seconds.0 <= best);
            format!(
                "{}{}",
                cell_text(cell.as_ref()),
                if fastest && row.len() > 1 { "*" } else { "" }
            )
        };
        rows.push(std::iter::once(shortened(file)).chain(row.iter().map(marked)).collect());
    }
    let column = |i: usize| result.cells.iter().filter_map(move |row| row[i].as_ref());
    let count = |i: usize, of: fn(&Cell) -> usize| column(i).map(of).sum::<usize>();
    let all = result
        .cells
        .iter()
        .map(|row| row.iter().flatten().map(|c| c.answers.len()).max().unwrap_or(0));
    let claims: usize = all.sum();
    let each = |what: &str, text: &dyn Fn(usize) -> String| -> Vec<String> {
        std::iter::once(what.to_string()).chain((0..result.contenders.len()).map(text)).collect()
    };
    rows.push(each(&format!("checked, of {claims} claims"), &|i| {
        count(i, Cell::decided).to_string()
    }));
    if (0..result.contenders.len()).any(|i| count(i, Cell::answered) > count(i, Cell::decided)) {
        rows.push(each("answered", &|i| count(i, Cell::answered).to_string()));
    }
    rows.push(each("seconds in all", &|i| seconds(column(i).map(|c| c.seconds.0).sum())));
    let widths: Vec<usize> = (0..=result.contenders.len())
        .map(|i| rows.iter().map(|r| r[i].chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for (n, row) in rows.iter().enumerate() {
        if n == 1 || n == result.files.len() + 1 {
            let line: Vec<String> = widths.iter().map(|w| "-".repeat(*w)).collect();
            let _ = writeln!(text, "{}", line.join("  "));
        }
        let mut line = format!("{:<1$}", row[0], widths[0]);
        for (cell, width) in row[1..].iter().zip(&widths[1..]) {
            let _ = write!(line, "  {cell:>width$}");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let _ = writeln!(
        text,
        "\n* fastest; n/m: n of m claims answered; none: no claim answered; time, memory: limit reached;"
    );
    let _ = writeln!(
        text,
        "? some answers are only claimed; ! rounds gave different answers; limit {} s",
        result.limit
    );
    if result.rounds > 1 {
        let _ = writeln!(text, "medians of {} rounds", result.rounds);
    }
    for line in result.disagreements() {
        let _ = writeln!(text, "DISAGREEMENT: {}", gander_text::message(&line));
    }
    text
}

fn shortened(file: &str) -> String {
    let file = gander_text::visible(file);
    let count = file.chars().count();
    if count <= WIDEST {
        return file.to_string();
    }
    format!("...{}", file.chars().skip(count + 3 - WIDEST).collect::<String>())
}

/// The result as CSV: a line for each claim and contender, or for the file if it has no claims.
pub fn csv(result: &ComparisonResult) -> Result<String, String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let head = [
        "file",
        "contender",
        "claim",
        "verdict",
        "claimed",
        "by",
        "answer_seconds",
        "seconds",
        "least",
        "greatest",
        "peak_mb",
        "ending",
    ];
    let problem = |e: csv::Error| e.to_string();
    writer.write_record(head).map_err(problem)?;
    for (file, row) in result.files.iter().zip(&result.cells) {
        for (label, cell) in result.contenders.iter().zip(row) {
            let Some(cell) = cell else { continue };
            let ending = match cell.ending {
                Ending::Finished => "finished",
                Ending::Rejected => "rejected",
                Ending::Timeout => "timeout",
                Ending::Memout => "memout",
                Ending::Crashed => "crashed",
            };
            let (median, least, greatest) = cell.seconds;
            let figures = [median, least, greatest].map(|s| format!("{s:.4}"));
            let mut line = |claim: [&str; 5]| {
                let all = [file.as_str(), label]
                    .into_iter()
                    .chain(claim)
                    .chain(figures.iter().map(String::as_str));
                let all: Vec<&str> = all.collect();
                let peak = format!("{:.1}", cell.peak_mb);
                let cells =
                    all.into_iter().chain([peak.as_str(), ending]).map(gander_text::csv::defused);
                writer.write_record(cells).map_err(problem)
            };
            if cell.answers.is_empty() {
                line(["", "", "", "", ""])?;
            }
            for a in &cell.answers {
                let by = a.engine.as_deref().unwrap_or_default();
                let after = a.seconds.map(|s| format!("{s:.4}")).unwrap_or_default();
                line([&a.name, word(a.verdict), a.claimed.map_or("", word), by, &after])?;
            }
        }
    }
    let bytes = writer.into_inner().map_err(|e| e.to_string())?;
    String::from_utf8(bytes).map_err(|e| e.to_string())
}

/// The result as a plot.
pub fn svg(result: &ComparisonResult) -> String {
    plot(result)
}

#[cfg(test)]
#[path = "formats_tests.rs"]
mod tests;

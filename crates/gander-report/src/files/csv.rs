//! Comma-separated values (RFC 4180).
//!
//! Cells that a spreadsheet would take for a formula are defused (`gander_text::csv`).

use gander_text::csv::defused;

use crate::view::streams::StreamsView;

/// A run of a dataflow program: a header, then a row for each step. The first column is the number
/// of the step; then one for each stream, by its full name. Values are exact. `gander simulate
/// --inputs` reads it back, unless the run has long repetitions, of which only the last round is
/// written.
pub fn streams_csv(view: &StreamsView) -> String {
    let header = std::iter::once("step".to_string()).chain(view.rows().map(|r| name(&r.full_name)));
    let row = |instant: usize| {
        let values = view.rows().map(|r| r.values.get(instant).map_or("", String::as_str));
        std::iter::once(view.step(instant).to_string()).chain(values.map(defused)).collect()
    };
    table(std::iter::once(header.collect()).chain((0..view.instants).map(row)))
}

/// The name of a column. The names that start with `@` are ours; `gander simulate --inputs` knows
/// them.
fn name(text: &str) -> String {
    if matches!(text, "@transition" | "@node") { text.to_string() } else { defused(text) }
}

/// Rows of cells as text.
pub(crate) fn table(rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    for row in rows {
        // Writing to memory cannot fail, and rows may differ in length.
        let _ = writer.write_record(row);
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

//! A run of a dataflow program as a table: streams are rows, steps are columns. A name wider than
//! half of the table has a separate line above its values.

use gander_system::StreamKind;
use unicode_width::UnicodeWidthStr;

use crate::text::paint::Paint;
use crate::text::trace::{TraceDetail, steps_left_out};
use crate::view::streams::{StreamRow, StreamsView};

/// Which streams are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StreamScope {
    /// Inputs, outputs and streams that the claim depends on.
    #[default]
    Relevant,
    /// All, including those that the front-end made.
    All,
}

/// How to show a table of streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamTable {
    /// How much of a long run, and of long values.
    pub detail: TraceDetail,
    /// Which streams.
    pub scope: StreamScope,
    /// Columns of the terminal.
    pub width: usize,
    /// Spaces that every line begins with.
    pub indent: usize,
    /// With colour or not.
    pub paint: Paint,
    /// The option that shows every stream.
    pub shows_all: &'static str,
}

impl Default for StreamTable {
    fn default() -> StreamTable {
        StreamTable {
            detail: TraceDetail::default(),
            scope: StreamScope::default(),
            width: PLAIN_WIDTH,
            indent: 0,
            paint: Paint::default(),
            shows_all: "--all",
        }
    }
}

/// The width of a table that is not shown on a terminal.
pub const PLAIN_WIDTH: usize = 80;

/// Instants at either end of a long run that are always shown.
const ENDS: usize = 20;
/// Values longer than this are shortened.
const LONGEST_VALUE: usize = 24;
/// Values before the first instant that are listed at most.
const MAX_BEFORE: usize = 8;
const GAP: &str = " ";

/// The table as lines of text, each ended by a line end.
pub fn stream_table(view: &StreamsView, how: StreamTable) -> String {
    let is_shown = |r: &StreamRow| r.shown || how.scope == StreamScope::All && has_name(r);
    let folded = match how.detail {
        TraceDetail::Changes => view.folded(is_shown),
        TraceDetail::Full => None,
    };
    let view = folded.as_ref().unwrap_or(view);
    let all = view.instants;
    let shown: Vec<usize> = match how.detail {
        TraceDetail::Changes if all > 2 * ENDS + 1 => (0..ENDS).chain(all - ENDS..all).collect(),
        _ => (0..all).collect(),
    };
    let groups: Vec<Group<'_>> = view
        .groups
        .iter()
        .map(|g| Group { title: &g.title, rows: g.rows.iter().filter(|r| is_shown(r)).collect() })
        .filter(|g| !g.rows.is_empty())
        .collect();
    let left_out = view.rows().filter(|r| r.shown || has_name(r)).count()
        - groups.iter().map(|g| g.rows.len()).sum::<usize>();
    let widest = how.width.saturating_sub(how.indent) / 2;
    let widths =
        groups.iter().flat_map(|g| &g.rows).map(|r| r.name.width() + 2).filter(|&w| w <= widest);
    let names = widths.max().unwrap_or(0).max("step".len());
    let mut table = Table { view, how, groups, names, out: String::new(), marked: false };
    let mut rest = &shown[..];
    let mut last: Option<usize> = None;
    while let Some(&first) = rest.first() {
        if let Some(last) = last {
            table.line("");
            if last + 1 < first {
                let text = steps_left_out(first - last - 1);
                table.remark(&text);
                table.line("");
            }
        }
        let block = table.block(rest);
        table.draw(&rest[..block.len()], &block);
        last = rest.get(block.len() - 1).copied();
        rest = &rest[block.len()..];
    }
    table.legend(view, left_out);
    table.out
}

/// True of streams of the program. Names of streams that the translation adds are unknown to the
/// author.
fn has_name(row: &StreamRow) -> bool {
    row.kind != StreamKind::Internal
}

struct Group<'v> {
    title: &'v str,
    rows: Vec<&'v StreamRow>,
}

struct Table<'v> {
    view: &'v StreamsView,
    how: StreamTable,
    groups: Vec<Group<'v>>,
    /// The width of the names.
    names: usize,
    out: String,
    /// Some value is marked.
    marked: bool,
}

impl Table<'_> {
    /// The widths of as many of the next columns as fit on a line; at least one. Columns on either
    /// side of a gap are never in one block.
    fn block(&self, rest: &[usize]) -> Vec<usize> {
        let room = self.how.width.saturating_sub(self.how.indent + self.names);
        let mut widths = Vec::new();
        let mut used = 0;
        for (i, &instant) in rest.iter().enumerate() {
            let values =
                self.groups.iter().flat_map(|g| &g.rows).map(|r| self.value(r, instant).width());
            let width = values.max().unwrap_or(0).max(self.view.column(instant).len()) + 1;
            used += GAP.len() + width;
            // The mark of the last column needs a column, too.
            let follows = i == 0 || rest[i - 1] + 1 == instant;
            if i > 0 && (used > room || !follows) {
                break;
            }
            widths.push(width);
        }
        widths
    }

    fn draw(&mut self, instants: &[usize], widths: &[usize]) {
        let mut head = pad("step", self.names);
        for (instant, width) in instants.iter().zip(widths) {
            head.push_str(GAP);
            head.push_str(&right(&self.view.column(*instant), width - 1));
            head.push(' ');
        }
        let head = self.how.paint.faint(head.trim_end());
        self.line(&head);
        for g in 0..self.groups.len() {
            let title = self.how.paint.bold(self.groups[g].title);
            self.line(&title);
            for r in 0..self.groups[g].rows.len() {
                let row = self.groups[g].rows[r];
                let mut line = pad(&format!("  {}", row.name), self.names);
                if line.width() > self.names {
                    // A long name gets a separate line, so that there is room for values.
                    self.line(line.trim_end());
                    line = " ".repeat(self.names);
                }
                for (&instant, width) in instants.iter().zip(widths) {
                    let value = self.value(row, instant);
                    let changed = instant > 0 && is_change(row, instant);
                    self.marked |= changed;
                    let blank = " ".repeat((width - 1).saturating_sub(value.width()));
                    line.push_str(GAP);
                    line.push_str(&blank);
                    match (changed, self.how.paint) {
                        (true, Paint::Plain) => line.push_str(&format!("{value}*")),
                        (true, Paint::Colour) => {
                            line.push_str(&format!("{} ", self.how.paint.bold(&value)))
                        }
                        (false, _) => line.push_str(&format!("{value} ")),
                    }
                }
                self.line(line.trim_end());
            }
        }
    }

    fn legend(&mut self, view: &StreamsView, left_out: usize) {
        for r in &view.repeats {
            for line in self.wrapped(&r.text()) {
                self.remark(&line);
            }
        }
        if !view.before.is_empty() {
            let mut values: Vec<String> = view
                .before
                .iter()
                .take(MAX_BEFORE)
                .map(|(name, v)| format!("{name} = {v}"))
                .collect();
            if view.before.len() > MAX_BEFORE {
                values.push(format!("... {} more", view.before.len() - MAX_BEFORE));
            }
            let text =
                format!("before step 0, as an unguarded `pre` found it: {}", values.join(", "));
            self.remark(&text);
        }
        if self.marked {
            let mark = match self.how.paint {
                Paint::Plain => "*",
                Paint::Colour => "bold",
            };
            let step = if view.repeats.is_empty() { "step" } else { "column" };
            self.remark(&format!("{mark}: changed since the {step} before"));
        }
        if left_out > 0 {
            let (noun, it) = if left_out == 1 { ("stream", "it") } else { ("streams", "them") };
            self.remark(&format!("{left_out} more {noun} ({} shows {it})", self.how.shows_all));
        }
    }

    fn value(&self, row: &StreamRow, instant: usize) -> String {
        let value = row.values.get(instant).map_or("", String::as_str);
        let length = value.chars().count();
        if self.how.detail == TraceDetail::Full || length <= LONGEST_VALUE {
            return value.to_string();
        }
        let head: String = value.chars().take(12).collect();
        let tail: String = value.chars().skip(length - 8).collect();
        format!("{head}...{tail}")
    }

    /// A remark in lines that fit; continued lines are indented.
    fn wrapped(&self, text: &str) -> Vec<String> {
        let room = self.how.width.saturating_sub(self.how.indent);
        let mut lines: Vec<String> = Vec::new();
        for word in text.split(' ') {
            match lines.last_mut() {
                Some(line) if line.width() + 1 + word.width() <= room => {
                    line.push(' ');
                    line.push_str(word);
                }
                Some(_) => lines.push(format!("  {word}")),
                None => lines.push(word.to_string()),
            }
        }
        lines
    }

    fn remark(&mut self, text: &str) {
        let text = self.how.paint.faint(text);
        self.line(&text);
    }

    fn line(&mut self, text: &str) {
        if !text.is_empty() {
            self.out.push_str(&" ".repeat(self.how.indent));
            self.out.push_str(text);
        }
        self.out.push('\n');
    }
}

/// True if the value changed. Marks of values that can be changed ("any", ranges, "~") are not
/// changes.
fn is_change(row: &StreamRow, instant: usize) -> bool {
    let value_here = row.values.get(instant).map(String::as_str);
    if let (Some(now), Some(before)) = (row.actual.get(instant), row.actual.get(instant - 1)) {
        return now != before && value_here != Some("any");
    }
    let value = |i: usize| row.values.get(i).map(|v| v.trim_end_matches('~'));
    let (now, before) = (value(instant), value(instant - 1));
    now != before && now != Some("any")
}

fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.width())))
}

#[cfg(test)]
#[path = "stream_table_tests.rs"]
mod tests;

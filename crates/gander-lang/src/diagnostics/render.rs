//! Renders diagnostics as text: code, place, source line, carets, notes, help.
//!
//! A pure function from diagnostic and source to a string. Columns are counted as a terminal shows
//! them (tabs advance to the next multiple of four, wide characters take two), and a long line is
//! cut to a window around the marked place.

use crate::diagnostics::diagnostic::{Diagnostic, Label, Severity};
use crate::diagnostics::span::{LineIndex, Position, Span};
use gander_text::is_hidden;
use std::fmt::Write;
use unicode_width::UnicodeWidthChar;

/// Options for rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderStyle {
    /// Whether to use colour escapes.
    pub colour: Colour,
    /// The largest number of source columns shown.
    pub width: usize,
}

impl Default for RenderStyle {
    fn default() -> Self {
        RenderStyle { colour: Colour::Never, width: 120 }
    }
}

/// Whether to use colour escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Plain text.
    Never,
    /// ANSI escapes.
    Always,
}

/// A source text with its name and line index, for rendering several diagnostics.
pub struct SourceFile<'a> {
    /// The name shown to the reader.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
    lines: LineIndex,
    /// The other files in the text: offset, line and name.
    parts: Vec<(u32, u32, &'a str)>,
}

impl<'a> SourceFile<'a> {
    /// Prepares a text.
    pub fn new(name: &'a str, text: &'a str) -> SourceFile<'a> {
        SourceFile { name, text, lines: LineIndex::new(text), parts: Vec::new() }
    }

    /// Adds a file that starts at `start` in the text. Call in text order.
    pub fn with_part(mut self, start: u32, name: &'a str) -> SourceFile<'a> {
        self.parts.push((start, self.lines.line_of(start), name));
        self
    }

    /// The file that contains a line (from zero): its number, first line and name.
    fn part_of(&self, line: u32) -> (usize, u32, &'a str) {
        let n = self.parts.partition_point(|(_, first, _)| *first <= line);
        match n.checked_sub(1).map(|n| self.parts[n]) {
            Some((_, first, name)) => (n, first, name),
            None => (0, 0, self.name),
        }
    }

    /// The file, line and column of an offset.
    pub fn place(&self, offset: u32) -> (&'a str, Position) {
        let place = self.lines.position(self.text, offset);
        let (_, first, name) = self.part_of(place.line - 1);
        (name, Position { line: place.line - first, column: place.column })
    }

    /// Its lines.
    pub fn lines(&self) -> &LineIndex {
        &self.lines
    }
}

/// One diagnostic as text, ending with a newline.
pub fn render(diagnostic: &Diagnostic, source: &SourceFile<'_>, style: RenderStyle) -> String {
    let mut page = Page { out: String::new(), source, style, gutter: 0 };
    page.diagnostic(diagnostic);
    page.out
}

/// All diagnostics as text, separated by empty lines.
pub fn render_all(
    diagnostics: &[Diagnostic],
    source: &SourceFile<'_>,
    style: RenderStyle,
) -> String {
    let rendered: Vec<String> =
        diagnostics.iter().map(|diagnostic| render(diagnostic, source, style)).collect();
    rendered.join("\n")
}

const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";
const BLUE: &str = "\x1b[1;34m";
const CYAN: &str = "\x1b[1;36m";
const BOLD: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";
const TAB: usize = 4;

struct Page<'a> {
    out: String,
    source: &'a SourceFile<'a>,
    style: RenderStyle,
    gutter: usize,
}

/// A label reduced to one line.
struct Mark<'a> {
    line: u32,
    span: Span,
    text: &'a str,
    primary: bool,
}

impl Page<'_> {
    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        let severity = diagnostic.severity();
        let colour = match severity {
            Severity::Error => RED,
            Severity::Warning => YELLOW,
        };
        let head = format!("{}[{}]", severity.word(), diagnostic.code.as_str());
        self.paint(colour, &head);
        self.paint(BOLD, &format!(": {}", printable(&diagnostic.message)));
        self.out.push('\n');

        let mut marks = vec![self.mark(&diagnostic.primary, true)];
        marks.extend(diagnostic.secondary.iter().map(|l| self.mark(l, false)));
        let last_line = marks.iter().map(|mark| mark.line).max().unwrap_or(0) + 1;
        self.gutter = last_line.to_string().len();

        let (name, place) = self.source.place(diagnostic.primary.span.start);
        let _ = write!(self.out, "{:1$}", "", self.gutter);
        self.paint(BLUE, "--> ");
        let name = printable(name);
        let _ = writeln!(self.out, "{name}:{}:{}", place.line, place.column);

        let (file, _, _) = self.source.part_of(marks[0].line);
        self.snippet(&mut marks, colour, file);
        for note in &diagnostic.notes {
            self.remark("note", note);
        }
        for help in &diagnostic.helps {
            self.remark("help", help);
        }
    }

    fn mark<'l>(&self, label: &'l Label, primary: bool) -> Mark<'l> {
        let lines = &self.source.lines;
        let start = label.span.start.min(self.source.text.len() as u32);
        let line = lines.line_of(start);
        let whole = lines.line_span(self.source.text, line);
        Mark {
            line,
            span: Span::new(start.min(whole.end), label.span.end.min(whole.end)),
            text: &label.text,
            primary,
        }
    }

    /// The lines of the marks; `file` is the number of the file named last.
    fn snippet(&mut self, marks: &mut [Mark<'_>], colour: &str, mut file: usize) {
        marks.sort_by_key(|mark| (mark.line, mark.span.start, !mark.primary));
        self.edge("");
        self.out.push('\n');
        let mut last: Option<u32> = None;
        for line in marks.chunk_by(|a, b| a.line == b.line) {
            let number = line[0].line;
            let (here, _, name) = self.source.part_of(number);
            if here != file {
                file = here;
                last = None;
                let _ = write!(self.out, "{:1$}", "", self.gutter);
                self.paint(BLUE, "::: ");
                let _ = writeln!(self.out, "{}", printable(name));
            }
            if last.is_some_and(|last| last + 1 < number) {
                self.paint(BLUE, "...");
                self.out.push('\n');
            }
            last = Some(number);
            self.marked_line(number, line, colour);
        }
    }

    /// A source line, the carets below it, and the texts of the labels: the rightmost beside its
    /// carets, the others on separate lines below.
    fn marked_line(&mut self, number: u32, marks: &[Mark<'_>], colour: &str) {
        let whole = self.source.lines.line_span(self.source.text, number);
        let text = self.source.text.get(whole.range()).unwrap_or("");
        let focus = marks
            .iter()
            .find(|mark| mark.primary)
            .or(marks.first())
            .map_or(whole, |mark| mark.span);
        let window = Window::around(text, whole.start, focus, self.style.width);
        let shown_number = format!(
            "{:>width$} | ",
            number + 1 - self.source.part_of(number).1,
            width = self.gutter
        );
        self.paint(BLUE, &shown_number);
        self.out.push_str(window.shown.trim_end());
        self.out.push('\n');

        let placed: Vec<(usize, usize, &Mark<'_>)> = marks
            .iter()
            .map(|mark| {
                let (from, to) = window.columns(text, whole.start, mark.span);
                (from, to.max(from + 1), mark)
            })
            .collect();
        let end = placed.iter().map(|(_, to, _)| *to).max().unwrap_or(0);
        let beside = placed.last().filter(|(_, to, _)| *to == end).map(|(from, _, _)| *from);
        self.edge(" ");
        self.carets(&placed, end, colour);
        if let Some((_, _, mark)) =
            placed.last().filter(|(from, _, mark)| Some(*from) == beside && !mark.text.is_empty())
        {
            let paint = if mark.primary { colour } else { BLUE };
            self.paint(paint, &format!(" {}", printable(mark.text)));
        }
        self.out.push('\n');
        let mut below: Vec<(usize, &Mark<'_>)> = placed
            .iter()
            .enumerate()
            .filter(|(at, (_, _, mark))| {
                !mark.text.is_empty() && (*at + 1 < placed.len() || beside.is_none())
            })
            .map(|(_, (from, _, mark))| (*from, *mark))
            .collect();
        if !below.is_empty() {
            self.stems(&below);
            self.out.push('\n');
        }
        while let Some((from, mark)) = below.pop() {
            let used = self.stems(&below);
            let gap = from.saturating_sub(used);
            let _ = write!(self.out, "{:gap$}", "");
            let paint = if mark.primary { colour } else { BLUE };
            self.paint(paint, &printable(mark.text));
            self.out.push('\n');
        }
    }

    /// The carets of all marks of a line; where they overlap, the primary one is shown.
    fn carets(&mut self, placed: &[(usize, usize, &Mark<'_>)], end: usize, colour: &str) {
        let sign = |column: usize| {
            let covering = placed.iter().filter(|(from, to, _)| (*from..*to).contains(&column));
            covering
                .map(|(_, _, mark)| if mark.primary { '^' } else { '-' })
                .min_by_key(|sign| *sign != '^')
        };
        let signs: Vec<char> = (0..end).map(|column| sign(column).unwrap_or(' ')).collect();
        for run in signs.chunk_by(|a, b| a == b) {
            let text: String = run.iter().collect();
            match run[0] {
                '^' => self.paint(colour, &text),
                '-' => self.paint(BLUE, &text),
                _ => self.out.push_str(&text),
            }
        }
    }

    /// A line of `|` that connects carets with the texts below; returns the number of columns used.
    fn stems(&mut self, below: &[(usize, &Mark<'_>)]) -> usize {
        self.edge(" ");
        let mut used = 0;
        for (from, _) in below {
            let gap = from.saturating_sub(used);
            let _ = write!(self.out, "{:gap$}", "");
            self.paint(BLUE, "|");
            used = (used + gap) + 1;
        }
        used
    }

    fn remark(&mut self, word: &str, text: &str) {
        let _ = write!(self.out, "{:1$} ", "", self.gutter);
        self.paint(BLUE, "= ");
        self.paint(CYAN, &format!("{word}: "));
        let indent = self.gutter + 5 + word.len();
        for (at, line) in text.lines().enumerate() {
            if at > 0 {
                let _ = write!(self.out, "{:indent$}", "");
            }
            let _ = writeln!(self.out, "{}", printable(line));
        }
    }

    fn edge(&mut self, rest: &str) {
        let edge = format!("{:1$} |{rest}", "", self.gutter);
        self.paint(BLUE, &edge);
    }

    fn paint(&mut self, colour: &str, text: &str) {
        match self.style.colour {
            Colour::Never => self.out.push_str(text),
            Colour::Always => {
                let _ = write!(self.out, "{colour}{text}{RESET}");
            }
        }
    }
}

/// The part of a line that is shown, as printable text.
struct Window {
    shown: String,
    /// Columns of the whole line cut off on the left, minus the ellipsis in their place.
    cut: usize,
    end: usize,
}

impl Window {
    fn around(text: &str, start: u32, focus: Span, width: usize) -> Window {
        let width = width.max(20);
        // The text more than a window's width after the focus is never shown. A line may have many
        // megabytes, so do not scan the rest repeatedly.
        let full = column(text, text.len());
        if full <= width {
            return Window { shown: expand(text, 0, usize::MAX), cut: 0, end: full };
        }
        let from = column(text, (focus.start - start) as usize);
        let left = from.saturating_sub(width / 3);
        let right = left + width;
        let mut shown = String::new();
        if left > 0 {
            shown.push('…');
        }
        shown.push_str(&expand(text, left, right));
        if right < full {
            shown.push('…');
        }
        Window { shown, cut: if left > 0 { left - 1 } else { 0 }, end: right }
    }

    fn columns(&self, text: &str, start: u32, span: Span) -> (usize, usize) {
        let from = column(text, (span.start - start) as usize).min(self.end);
        let to = column(text, (span.end - start) as usize).min(self.end);
        let from = from.saturating_sub(self.cut);
        (from, to.saturating_sub(self.cut).max(from))
    }
}

fn advance(at: usize, c: char) -> usize {
    match c {
        '\t' => at + TAB - at % TAB,
        c if is_hidden(c) => at + 1,
        c => at + c.width().unwrap_or(0),
    }
}

/// The screen column of a byte offset.
fn column(text: &str, offset: usize) -> usize {
    text.char_indices()
        .take_while(|(at, _)| *at < offset)
        .fold(0, |column, (_, c)| advance(column, c))
}

/// The characters whose columns are in `left..right`, with tabs as spaces and hidden characters as
/// a replacement character, which takes one column.
fn expand(text: &str, left: usize, right: usize) -> String {
    let mut out = String::new();
    let mut at = 0;
    for c in text.chars() {
        let next = advance(at, c);
        if at >= right {
            break;
        }
        if at >= left {
            match c {
                '\t' => out.extend(std::iter::repeat_n(' ', next - at)),
                c if is_hidden(c) => out.push('\u{fffd}'),
                c => out.push(c),
            }
        }
        at = next;
    }
    out
}

/// A message with hidden characters made visible and limited length, so that a source text cannot
/// control the terminal, forge output or flood it.
fn printable(text: &str) -> String {
    gander_text::message(text)
}

//! The standard streams. A closed pipe (`gander check … | head -1`) is no error.
//!
//! Names are escaped before they get here (`gander_text`). Remaining control characters and other
//! hidden ones, except line ends and our own colours, are escaped here: no text from a model, a
//! file name or another program can drive the terminal.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::process::ExitCode;

use gander::report::{DiagnosticView, PLAIN_WIDTH, Paint, Severity, diagnostic_texts};
use gander_text::is_hidden;
use gander_text::visible::LONGEST_NAME;

use super::WRONG;
use super::state::while_writing;
use crate::command::Colour;

/// Smaller widths that a terminal reports are ignored.
const NARROWEST: usize = 20;

/// Standard output, buffered, and standard error.
pub struct Output {
    out: BufWriter<Stdout>,
    failed: Option<io::Error>,
    colour: Colour,
}

impl Output {
    /// The streams of this process.
    pub fn new() -> Output {
        Output { out: BufWriter::new(io::stdout()), failed: None, colour: Colour::Auto }
    }

    /// Another writer to the same streams.
    pub fn sibling(&self) -> Output {
        Output { out: BufWriter::new(io::stdout()), failed: None, colour: self.colour }
    }

    /// True if standard output is a terminal.
    pub fn is_terminal(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// Keeps the error of another writer to the same streams.
    pub fn adopt(&mut self, sibling: &mut Output) {
        self.failed = self.failed.take().or_else(|| sibling.failed.take());
    }

    /// Sets when to use colour.
    pub fn set_colour(&mut self, colour: Colour) {
        self.colour = colour;
    }

    fn paint(&self, is_terminal: bool) -> Paint {
        let wanted = match self.colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => {
                is_terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
            }
        };
        if wanted { Paint::Colour } else { Paint::Plain }
    }

    /// Colour for standard output.
    pub fn paint_out(&self) -> Paint {
        self.paint(io::stdout().is_terminal())
    }

    /// Columns of the terminal; 80 if standard output is no terminal.
    pub fn width(&self) -> usize {
        let size = if io::stdout().is_terminal() {
            rustix::termios::tcgetwinsize(io::stdout()).ok()
        } else {
            None
        };
        size.map(|s| usize::from(s.ws_col))
            .filter(|&columns| columns >= NARROWEST)
            .unwrap_or(PLAIN_WIDTH)
    }

    /// Colour for standard error.
    pub fn paint_err(&self) -> Paint {
        self.paint(io::stderr().is_terminal())
    }

    /// Writes text for people to standard output.
    pub fn put(&mut self, text: &str) {
        self.put_exactly(&harmless(text));
    }

    /// Writes JSON to standard output, with hidden characters in strings escaped.
    pub fn put_json(&mut self, text: &str) {
        self.put_exactly(&ascii_controls(text));
    }

    /// Writes a document for other programs to standard output: byte for byte, unless it is a
    /// terminal.
    pub fn put_document(&mut self, text: &str) {
        if io::stdout().is_terminal() { self.put(text) } else { self.put_exactly(text) }
    }

    fn put_exactly(&mut self, text: &str) {
        if self.failed.is_none()
            && let Err(e) = while_writing(|| self.out.write_all(text.as_bytes()))
        {
            self.failed = Some(e);
        }
    }

    /// Flushes standard output.
    pub fn flush(&mut self) {
        if self.failed.is_none()
            && let Err(e) = while_writing(|| self.out.flush())
        {
            self.failed = Some(e);
        }
    }

    /// True if standard output cannot be written any more.
    pub fn is_closed(&self) -> bool {
        self.failed.is_some()
    }

    /// Writes to standard error, after everything written to standard output so far.
    pub fn write_err(&mut self, text: &str) {
        self.flush();
        let text = harmless(text);
        let mut err = io::stderr().lock();
        // A failure here cannot be reported.
        let _ = err.write_all(text.as_bytes());
        if !text.ends_with('\n') {
            let _ = err.write_all(b"\n");
        }
    }

    /// Writes diagnostics to standard error.
    pub fn write_diagnostics<'d>(
        &mut self,
        diagnostics: impl IntoIterator<Item = &'d DiagnosticView>,
    ) {
        let paint = self.paint_err();
        diagnostic_texts(diagnostics, paint).iter().for_each(|text| self.write_err(text));
    }

    /// Writes the errors among diagnostics to standard error. True if there are any.
    pub fn write_errors(&mut self, diagnostics: &[DiagnosticView]) -> bool {
        let errors = || diagnostics.iter().filter(|d| d.severity == Severity::Error);
        self.write_diagnostics(errors());
        errors().next().is_some()
    }

    /// An error message.
    pub fn error(&mut self, message: &str) {
        let head = self.paint_err().bad("error:");
        self.write_err(&format!("{head} {message}"));
    }

    /// Flushes the output and returns the exit code.
    pub fn finish(mut self, code: u8) -> ExitCode {
        self.flush();
        match self.failed.take() {
            Some(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                let text = format!("error: the output cannot be written: {e}");
                self.write_err(&text);
                // Dropping the writer would flush again.
                let (_, _) = self.out.into_parts();
                ExitCode::from(WRONG)
            }
            Some(_) => {
                let (_, _) = self.out.into_parts();
                ExitCode::from(code)
            }
            None => ExitCode::from(code),
        }
    }
}

/// The colours of reports and messages. Every other escape sequence is escaped.
const COLOURS: [&str; 10] = [
    "\x1b[0m",
    "\x1b[1m",
    "\x1b[2m",
    "\x1b[32m",
    "\x1b[33m",
    "\x1b[1;31m",
    "\x1b[1;33m",
    "\x1b[1;34m",
    "\x1b[1;36m",
    "\x1b[1;32m",
];

/// Text with hidden characters escaped, except line ends and our colours, and long words shortened.
fn harmless(text: &str) -> Cow<'_, str> {
    let (harmful, long) =
        (|c: char| c != '\n' && is_hidden(c), |text: &str| text.split(ends_word).any(is_long));
    if !text.contains(harmful) {
        return if long(text) { Cow::Owned(without_long_words(text)) } else { Cow::Borrowed(text) };
    }
    let text = without_hidden(text);
    if long(&text) { Cow::Owned(without_long_words(&text)) } else { Cow::Owned(text) }
}

fn ends_word(c: char) -> bool {
    matches!(c, ' ' | '\n' | '\x1b')
}

/// True of a word that is too long to be shown whole. Paths are never shortened, so that they can
/// be copied.
fn is_long(word: &str) -> bool {
    word.len() > LONGEST_NAME && !word.contains('/') && word.chars().count() > LONGEST_NAME
}

fn without_long_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in text.split_inclusive(ends_word) {
        let word = piece.trim_end_matches(ends_word);
        out.push_str(&if is_long(word) {
            gander_text::shortened(word, LONGEST_NAME)
        } else {
            Cow::Borrowed(word)
        });
        out.push_str(&piece[word.len()..]);
    }
    out
}

fn without_hidden(text: &str) -> String {
    let harmful = |c: char| c != '\n' && is_hidden(c);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let colour = COLOURS.iter().find(|colour| c == '\x1b' && rest.starts_with(**colour));
        let taken = colour.map_or(c.len_utf8(), |colour| colour.len());
        match c {
            _ if colour.is_some() => out.push_str(&rest[..taken]),
            '\t' => out.push_str("    "),
            '\r' if rest.starts_with("\r\n") => {}
            c if harmful(c) => out.push_str(&gander_text::visible(&rest[..taken])),
            c => out.push(c),
        }
        rest = &rest[taken..];
    }
    out
}

/// JSON with hidden characters escaped. Apart from white space they occur in strings only.
fn ascii_controls(json: &str) -> Cow<'_, str> {
    let hidden = |c: char| !c.is_ascii() && is_hidden(c) || c == '\x7f';
    if !json.contains(hidden) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_colours_reach_the_terminal() {
        let ours = format!("{} {}\n", Paint::Colour.bad("fails"), Paint::Colour.bold("x"));
        assert_eq!(harmless(&ours), ours);
        for paint in [Paint::Colour.good("a"), Paint::Colour.open("a"), Paint::Colour.faint("a")] {
            assert_eq!(harmless(&paint), paint);
        }
        assert_eq!(
            harmless("\x1b[8mhidden\x1b[2J\u{9b}2J\x07\u{202e}"),
            "<U+001B>[8mhidden<U+001B>[2J<U+009B>2J<U+0007><U+202E>"
        );
        assert_eq!(harmless("a\r\nb\rc\td"), "a\nb<U+000D>c    d");
    }

    #[test]
    fn long_names_are_shortened_and_paths_are_not() {
        let (name, path) = ("n".repeat(5000), "/folder".repeat(100));
        let text =
            harmless(&format!("holds    {} in {path}\n", Paint::Colour.bold(&name))).into_owned();
        assert!(text.len() < 900 && text.contains(&path) && text.ends_with('\n'), "{text}");
        assert!(text.contains("\x1b[1mnnn") && text.contains("nnn\x1b[0m"), "{text}");
    }

    #[test]
    fn escaping_control_characters_keeps_the_json_value() {
        let text = "{\n  \"a\": \"\u{202e}x\u{e0041}\u{7f}\"\n}";
        let shown = ascii_controls(text);
        assert!(shown.is_ascii(), "{shown}");
        let value = |t: &str| serde_json::from_str::<serde_json::Value>(t).unwrap();
        assert_eq!(value(&shown), value(text));
    }
}

//! S-expressions as solvers print them.
//!
//! [`Scanner`] finds where an expression ends in output that arrives in pieces, looking at each byte once;
//! [`Sexpr::parse`] reads it. Both are total: any bytes give an answer, and depth is bounded.

use std::fmt;

use gander_text::visible;

/// Nothing that a solver tells us nests deeper than this; an array is a nest of as many writings as it has elements.
const MAX_DEPTH: usize = 1000;

/// An S-expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sexpr {
    /// A symbol (without its bars), numeral, decimal or keyword.
    Atom(String),
    /// A string literal: its contents, with `""` read as `"` and other escapes as they stand.
    Text(String),
    /// A list.
    List(Vec<Sexpr>),
}

/// What was printed is no S-expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed(pub &'static str);

impl Sexpr {
    /// Reads one expression with nothing but space around it.
    pub fn parse(bytes: &[u8]) -> Result<Sexpr, Malformed> {
        let text = std::str::from_utf8(bytes).map_err(|_| Malformed("text that is not UTF-8"))?;
        let mut open: Vec<Vec<Sexpr>> = Vec::new();
        let mut result: Option<Sexpr> = None;
        let mut rest = text;
        loop {
            rest = rest.trim_start();
            let Some(c) = rest.chars().next() else { break };
            if result.is_some() && c != ';' {
                return Err(Malformed("more than one expression"));
            }
            let (item, length) = match c {
                '(' => {
                    if open.len() >= MAX_DEPTH {
                        return Err(Malformed("an expression that nests too deep"));
                    }
                    open.push(Vec::new());
                    rest = &rest[1..];
                    continue;
                }
                ')' => (Sexpr::List(open.pop().ok_or(Malformed("a closing parenthesis too many"))?), 1),
                '"' => read_text(rest)?,
                '|' => {
                    let end = rest[1..].find('|').ok_or(Malformed("an unfinished quoted symbol"))?;
                    (Sexpr::Atom(rest[1..1 + end].to_string()), end + 2)
                }
                ';' => {
                    rest = rest.split_once('\n').map_or("", |(_, after)| after);
                    continue;
                }
                _ => {
                    let end = rest.find(|c: char| c.is_whitespace() || "()\"|;".contains(c)).unwrap_or(rest.len());
                    (Sexpr::Atom(rest[..end].to_string()), end)
                }
            };
            rest = &rest[length..];
            match open.last_mut() {
                Some(list) => list.push(item),
                None => result = Some(item),
            }
        }
        if open.is_empty() { result.ok_or(Malformed("nothing")) } else { Err(Malformed("an unfinished expression")) }
    }

    /// The atom, if it is one.
    pub fn atom(&self) -> Option<&str> {
        match self {
            Sexpr::Atom(a) => Some(a),
            _ => None,
        }
    }

    /// The elements, if it is a list.
    pub fn list(&self) -> Option<&[Sexpr]> {
        match self {
            Sexpr::List(items) => Some(items),
            _ => None,
        }
    }
}

impl fmt::Display for Sexpr {
    /// Shortened for messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sexpr::Atom(a) => write!(f, "{}", shortened(a)),
            Sexpr::Text(t) => write!(f, "\"{}\"", shortened(t)),
            Sexpr::List(items) => {
                write!(f, "(")?;
                for (i, item) in items.iter().take(8).enumerate() {
                    write!(f, "{}{item}", if i == 0 { "" } else { " " })?;
                }
                write!(f, "{})", if items.len() > 8 { " ..." } else { "" })
            }
        }
    }
}

/// A text cut to what a message can hold.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 160;
    let cut = text.char_indices().nth(LONGEST);
    let head = visible(cut.map_or(text, |(end, _)| &text[..end]));
    if cut.is_some() { format!("{head}...") } else { head.into_owned() }
}

fn read_text(from: &str) -> Result<(Sexpr, usize), Malformed> {
    let mut text = String::new();
    let mut at = 1;
    loop {
        let end = from[at..].find('"').ok_or(Malformed("an unfinished string"))? + at;
        text.push_str(&from[at..end]);
        at = end + 1;
        if !from[at..].starts_with('"') {
            return Ok((Sexpr::Text(text), at));
        }
        text.push('"');
        at += 1;
    }
}

/// Where the scanner is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Inside {
    Nothing,
    Atom,
    Text,
    /// After a quote inside a text: a second one continues it.
    TextQuote,
    Bars,
    Comment,
}

/// Finds the end of expressions in growing output; each byte is looked at once.
#[derive(Clone, Debug)]
pub(crate) struct Scanner {
    at: usize,
    start: usize,
    depth: usize,
    inside: Inside,
}

impl Scanner {
    /// A scanner at the beginning of the output.
    pub(crate) fn new() -> Scanner {
        Scanner { at: 0, start: 0, depth: 0, inside: Inside::Nothing }
    }

    /// The next whole expression of `output`, as a range; `None` if it has not all arrived.
    ///
    /// `output` must start with what earlier calls saw.
    pub(crate) fn next(&mut self, output: &[u8]) -> Option<std::ops::Range<usize>> {
        while let Some(&b) = output.get(self.at) {
            let mut finished = false;
            let mut consumed = true;
            match (self.inside, b) {
                (Inside::Comment, b'\n') => self.inside = Inside::Nothing,
                (Inside::Comment, _) => {}
                (Inside::Bars, b'|') => {
                    self.inside = Inside::Nothing;
                    finished = self.depth == 0;
                }
                (Inside::Bars, _) => {}
                (Inside::Text, b'"') => self.inside = Inside::TextQuote,
                (Inside::Text, _) => {}
                (Inside::TextQuote, b'"') => self.inside = Inside::Text,
                (Inside::TextQuote, _) => {
                    self.inside = Inside::Nothing;
                    consumed = false;
                    finished = self.depth == 0;
                }
                (Inside::Atom, b) if b.is_ascii_whitespace() || b"()\"|;".contains(&b) => {
                    self.inside = Inside::Nothing;
                    consumed = false;
                    finished = self.depth == 0;
                }
                (Inside::Atom, _) => {}
                (Inside::Nothing, b';') => self.inside = Inside::Comment,
                (Inside::Nothing, b) if b.is_ascii_whitespace() => {
                    if self.depth == 0 {
                        self.start = self.at + 1;
                    }
                }
                (Inside::Nothing, b'(') => self.depth += 1,
                (Inside::Nothing, b')') => {
                    self.depth = self.depth.saturating_sub(1);
                    finished = self.depth == 0;
                }
                (Inside::Nothing, b'"') => self.inside = Inside::Text,
                (Inside::Nothing, b'|') => self.inside = Inside::Bars,
                (Inside::Nothing, _) => self.inside = Inside::Atom,
            }
            if consumed {
                self.at += 1;
            }
            if finished {
                let range = self.start..self.at;
                self.start = self.at;
                return Some(range);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> Vec<String> {
        let mut scanner = Scanner::new();
        let mut found = Vec::new();
        // Byte by byte: the scanner must not depend on how output arrives.
        for end in 0..=text.len() {
            while let Some(range) = scanner.next(&text.as_bytes()[..end]) {
                found.push(text[range].trim().to_string());
            }
        }
        found
    }

    #[test]
    fn expressions_end_where_they_balance() {
        let text = "sat\n((x (- 3))\n (y \"a)\"\"b\") (|a ( b| 1))\nmarker-1 \"s\"\n";
        assert_eq!(scan(text), ["sat", "((x (- 3))\n (y \"a)\"\"b\") (|a ( b| 1))", "marker-1", "\"s\""]);
        assert_eq!(scan("(unfinished (list"), Vec::<String>::new());
    }

    #[test]
    fn reads_nested_lists_texts_and_bars() {
        let e = Sexpr::parse(b" (a |b c| \"x\"\"y\" (1.5)) ; comment\n").unwrap();
        let expected = Sexpr::List(vec![
            Sexpr::Atom("a".into()),
            Sexpr::Atom("b c".into()),
            Sexpr::Text("x\"y".into()),
            Sexpr::List(vec![Sexpr::Atom("1.5".into())]),
        ]);
        assert_eq!(e, expected);
    }

    #[test]
    fn nonsense_is_an_error() {
        let deep = "(".repeat(100_000) + &")".repeat(100_000);
        for bad in ["", ")", "(", "\"abc", "|abc", "a b", &deep] {
            assert!(Sexpr::parse(bad.as_bytes()).is_err(), "{bad:.20}");
        }
        assert!(Sexpr::parse(&[0xff, 0xfe]).is_err());
    }
}

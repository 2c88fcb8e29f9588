//! Finds the end of an S-expression in output that arrives in pieces, reading each byte once.
//! Accepts any bytes. [`super::Tree`] parses the expression.

use super::tree::{is_delimiter, is_space};

/// The state of the scanner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Inside {
    Nothing,
    Atom,
    Text,
    /// After a quote inside a string: a second one continues the string.
    TextQuote,
    Bars,
    Comment,
}

/// Finds the end of expressions in growing output; each byte is read once.
#[derive(Clone, Debug)]
pub struct Scanner {
    at: usize,
    start: usize,
    depth: usize,
    inside: Inside,
}

impl Default for Scanner {
    fn default() -> Scanner {
        Scanner::new()
    }
}

impl Scanner {
    /// A scanner at the beginning of the output.
    pub fn new() -> Scanner {
        Scanner { at: 0, start: 0, depth: 0, inside: Inside::Nothing }
    }

    /// The next complete expression of `output`, as a range; `None` if it is incomplete. `output`
    /// must begin with the output of earlier calls.
    pub fn next(&mut self, output: &[u8]) -> Option<std::ops::Range<usize>> {
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
                (Inside::Atom, b) if is_delimiter(b) => {
                    self.inside = Inside::Nothing;
                    consumed = false;
                    finished = self.depth == 0;
                }
                (Inside::Atom, _) => {}
                (Inside::Nothing, b';') => self.inside = Inside::Comment,
                (Inside::Nothing, b) if is_space(b) => {
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
        // Byte by byte: the result must not depend on how output arrives.
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
        assert_eq!(
            scan(text),
            ["sat", "((x (- 3))\n (y \"a)\"\"b\") (|a ( b| 1))", "marker-1", "\"s\""]
        );
        assert_eq!(scan("(unfinished (list"), Vec::<String>::new());
    }
}

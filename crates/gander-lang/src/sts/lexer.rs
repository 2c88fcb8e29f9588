//! Text to tokens. Every byte of the text is in exactly one token.
//!
//! Keywords are not tokens: they are names that the parser reads by their place.

use gander_runtime::check_cancelled;
use gander_text::Cursor;

use super::syntax::SyntaxKind as K;
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::report::MAX_ERRORS;
use crate::diagnostics::span::Span;

/// A token: its kind and its length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its kind.
    pub kind: K,
    /// Its length in bytes.
    pub length: u32,
}

/// A text has at most so many tokens that are not layout: about 300 000 transitions. It bounds the
/// memory for any text.
pub const MAX_TOKENS: usize = 6_000_000;

/// Cuts a text into tokens. A text with more than [`MAX_TOKENS`] is one stray token and an error.
pub fn lex(text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let room = (text.len() / 3).min(2 * MAX_TOKENS);
    let mut lexer = Lexer {
        cursor: Cursor::new(text),
        tokens: Vec::with_capacity(room),
        significant: 0,
        diagnostics: Vec::new(),
    };
    // A byte order mark is layout.
    let mark = lexer.cursor.skip_byte_order_mark();
    if mark > 0 {
        lexer.tokens.push(Token { kind: K::Whitespace, length: mark as u32 });
    }
    while !lexer.cursor.is_at_end() {
        check_cancelled();
        lexer.token();
        if lexer.significant > MAX_TOKENS {
            return too_many_tokens(text);
        }
    }
    (lexer.tokens, lexer.diagnostics)
}

fn too_many_tokens(text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let message = format!("the file is too large: it has more than {MAX_TOKENS} words and symbols");
    let diagnostic = Diagnostic::new(Code::E0102, Span::at(0), message);
    (vec![Token { kind: K::Stray, length: text.len() as u32 }], vec![diagnostic])
}

struct Lexer<'a> {
    cursor: Cursor<'a>,
    tokens: Vec<Token>,
    /// How many of the tokens are not layout.
    significant: usize,
    diagnostics: Vec<Diagnostic>,
}

fn is_start(c: char) -> bool {
    c == '_' || unicode_ident::is_xid_start(c)
}

fn is_continue(c: char) -> bool {
    unicode_ident::is_xid_continue(c)
}

impl Lexer<'_> {
    fn push(&mut self, kind: K, length: usize) {
        self.tokens.push(Token { kind, length: length as u32 });
        self.significant += usize::from(!kind.is_trivia());
        self.cursor.bump(length);
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        // More are never shown, and a large file of garbage must not fill the memory.
        if self.diagnostics.len() <= MAX_ERRORS {
            self.diagnostics.push(diagnostic);
        }
    }

    fn span(&self, length: usize) -> Span {
        self.cursor.range(length).into()
    }

    fn token(&mut self) {
        let next = self.cursor.byte(1);
        let (kind, length) = match self.cursor.byte(0) {
            b' ' | b'\t' | b'\r' | b'\n' => (
                K::Whitespace,
                self.cursor.run_bytes(1, |b| matches!(b, b' ' | b'\t' | b'\r' | b'\n')),
            ),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => (K::Ident, self.cursor.run(1, is_continue)),
            b'0'..=b'9' => return self.number(),
            b'"' => return self.string(),
            b'/' if next == b'/' => (K::LineComment, self.line_comment()),
            b'/' if next == b'*' => return self.block_comment(),
            b'(' => (K::LParen, 1),
            b')' => (K::RParen, 1),
            b'{' => (K::LBrace, 1),
            b'}' => (K::RBrace, 1),
            b'[' => (K::LBracket, 1),
            b']' => (K::RBracket, 1),
            b',' => (K::Comma, 1),
            b';' => (K::Semicolon, 1),
            b':' if next == b'=' => (K::Assign, 2),
            b':' => (K::Colon, 1),
            b'.' if next == b'.' => (K::DotDot, 2),
            b'.' => (K::Dot, 1),
            b'=' if next == b'=' => (K::EqEq, 2),
            b'=' if next == b'>' => {
                return self.foreign("write `->` for an implication, `>=` for at least");
            }
            b'=' => (K::Equals, 1),
            b'~' if next == b'>' => {
                return self.foreign("write `leads to`, as in `name: p leads to q`");
            }
            b'<' if next == b'>' => return self.foreign_operator("!="),
            b'/' if next == b'=' => return self.foreign_operator("!="),
            b'+' | b'-' | b'*' if next == b'=' => return self.compound_assignment(),
            b'!' if next == b'=' => (K::NotEq, 2),
            b'!' => (K::Bang, 1),
            b'<' if self.cursor.starts_with("<->") => (K::DoubleArrow, 3),
            b'<' if next == b'=' => (K::LessEq, 2),
            b'<' => (K::Less, 1),
            b'>' if next == b'=' => (K::GreaterEq, 2),
            b'>' => (K::Greater, 1),
            b'+' if next == b'+' => (K::PlusPlus, 2),
            b'+' => (K::Plus, 1),
            b'-' if next == b'>' => (K::Arrow, 2),
            b'-' => (K::Minus, 1),
            b'*' => (K::Star, 1),
            b'/' => (K::Slash, 1),
            b'%' => (K::Percent, 1),
            b'^' => (K::Caret, 1),
            b'&' if next == b'&' => (K::AndAnd, 2),
            b'|' if next == b'|' => (K::BarBar, 2),
            b'\'' => (K::Prime, 1),
            _ => {
                let first = self.cursor.peek().unwrap_or('\0');
                if is_start(first) {
                    (K::Ident, self.cursor.run(first.len_utf8(), is_continue))
                } else if first.is_whitespace() {
                    (K::Whitespace, first.len_utf8())
                } else {
                    return self.stray(first);
                }
            }
        };
        self.push(kind, length);
    }

    fn line_comment(&self) -> usize {
        let end = self.cursor.line();
        // `\r\n` belongs to the layout behind the comment.
        if self.cursor.rest()[..end].ends_with('\r') { end - 1 } else { end }
    }

    fn block_comment(&mut self) {
        let length = match self.cursor.through(2, "*/") {
            Some(length) => length,
            None => {
                self.report(
                    Diagnostic::new(Code::E0105, self.span(2), "this comment is never closed")
                        .here("opened here")
                        .help("end it with `*/`"),
                );
                self.cursor.rest().len()
            }
        };
        self.push(K::BlockComment, length);
    }

    fn number(&mut self) {
        let digit = |b: u8| b.is_ascii_digit() || b == b'_';
        let mut kind = K::Int;
        let mut length = self.cursor.run_bytes(1, digit);
        if self.cursor.byte(length) == b'.' && self.cursor.byte(length + 1).is_ascii_digit() {
            kind = K::Decimal;
            length = self.cursor.run_bytes(length + 1, digit);
        }
        let whole = self.cursor.run(length, is_continue);
        if whole > length {
            let text = &self.cursor.rest()[..whole];
            let shown: String = text.chars().take(40).collect();
            self.diagnostics
                .push(Diagnostic::new(Code::E0107, self.span(whole), format!("`{shown}` is not a number")).help(
                "a number is digits, perhaps with a decimal point: `42`, `0.05`, `1_000`; a name begins with a letter",
            ));
        }
        self.push(kind, whole);
    }

    fn string(&mut self) {
        let start = self.cursor.position();
        let mut chars = self.cursor.rest().char_indices().skip(1);
        let mut bad = Vec::new();
        let end = loop {
            match chars.next() {
                Some((at, '"')) => break Ok(at + 1),
                Some((at, '\n')) => break Err(at),
                Some((at, '\\')) => match chars.next() {
                    Some((_, 'n' | 't' | 'r' | '\\' | '"')) => {}
                    Some((_, 'u')) => {
                        let rest = &self.cursor.rest()[at + 2..];
                        if unicode_escape(rest).is_none() {
                            bad.push(Span::new((start + at) as u32, (start + at + 2) as u32));
                        }
                    }
                    Some((next, '\n')) => break Err(next),
                    Some((next, c)) => bad
                        .push(Span::new((start + at) as u32, (start + next + c.len_utf8()) as u32)),
                    None => break Err(self.cursor.rest().len()),
                },
                Some(_) => {}
                None => break Err(self.cursor.rest().len()),
            }
        };
        for span in bad {
            let text = &self.cursor.text()[span.range()];
            self.report(
                Diagnostic::new(Code::E0106, span, format!("`{text}` is not an escape")).help(
                    "the escapes are \\n, \\t, \\r, \\\\, \\\" and \\u{20AC} for a code point",
                ),
            );
        }
        let length = match end {
            Ok(length) => length,
            Err(length) => {
                let line = self.cursor.rest()[..length].trim_end_matches('\r').len();
                self.report(
                    Diagnostic::new(Code::E0104, self.span(1), "this string is never closed")
                        .here("opened here")
                        .help(
                            "end it with `\"` on the same line; a line break inside is written \\n",
                        ),
                );
                line
            }
        };
        self.push(K::Text, length);
    }

    /// A sign of two characters that other languages have.
    fn foreign(&mut self, help: &str) {
        let diagnostic = Diagnostic::new(
            Code::E0103,
            self.span(2),
            format!("`{}` means nothing here", &self.cursor.rest()[..2]),
        );
        self.report(diagnostic.help(help));
        self.push(K::Stray, 2);
    }

    /// A sign of two characters with an equivalent here.
    fn foreign_operator(&mut self, ours: &str) {
        let diagnostic = Diagnostic::new(
            Code::E0103,
            self.span(2),
            format!("`{}` means nothing here", &self.cursor.rest()[..2]),
        );
        self.report(diagnostic.help(format!("write `{ours}`")).fix(self.span(2), ours));
        self.push(K::Stray, 2);
    }

    /// `x += e`
    fn compound_assignment(&mut self) {
        let before = self.cursor.text()[..self.cursor.position()].trim_end();
        let start = before
            .rfind(|c| !is_continue(c))
            .map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8));
        let name = if before[start..].is_empty() { "x" } else { &before[start..] };
        let sign = &self.cursor.rest()[..1];
        let help = format!("write `{name} := {name} {sign} …`");
        self.foreign(&help);
    }

    fn stray(&mut self, first: char) {
        let known = |c: char| {
            c.is_ascii_whitespace()
                || c == '"'
                || c.is_ascii_alphanumeric()
                || is_start(c)
                || "(){},;:.=!<>+-*/%^'".contains(c)
        };
        let mut length = self.cursor.run(first.len_utf8(), |c| !known(c));
        // Stop before the two-letter operators that begin with a stray letter.
        for operator in ["&&", "||"] {
            if let Some(at) = self.cursor.rest()[first.len_utf8()..length].find(operator) {
                length = length.min(first.len_utf8() + at);
            }
        }
        let shown: String = self.cursor.rest()[..length].chars().take(10).collect();
        let mut diagnostic = Diagnostic::new(
            Code::E0103,
            self.span(length),
            format!("`{shown}` means nothing here"),
        );
        let instead = match shown.as_str() {
            "&" => Some("&&"),
            "|" => Some("||"),
            "∧" => Some("and"),
            "∨" => Some("or"),
            "¬" | "~" => Some("not"),
            "≤" => Some("<="),
            "≥" => Some(">="),
            "≠" => Some("!="),
            "→" | "⇒" => Some("->"),
            "↔" | "⇔" => Some("<->"),
            "∀" => Some("forall"),
            "∃" => Some("exists"),
            "#" => Some("//"),
            _ => None,
        };
        if shown == "?" {
            diagnostic = diagnostic.help("a choice is written `if c then a else b`");
        }
        if let Some(instead) = instead {
            let span = diagnostic.primary.span;
            diagnostic = diagnostic.help(format!("write `{instead}`")).fix(span, instead);
        }
        self.report(diagnostic);
        self.push(K::Stray, length);
    }
}

/// Reads `{hex}` at the beginning of a text: the character and the bytes read.
fn unicode_escape(text: &str) -> Option<(char, usize)> {
    let inner = text.strip_prefix('{')?;
    let end = inner.find('}').filter(|end| (1..=6).contains(end))?;
    let code = u32::from_str_radix(&inner[..end], 16).ok()?;
    Some((char::from_u32(code)?, end + 2))
}

/// The value of a string literal, escapes resolved. Bad escapes stand for themselves:
/// the lexer has reported them.
pub fn unescape(literal: &str) -> String {
    let inner = literal.strip_prefix('"').unwrap_or(literal);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(c) = rest.chars().next() else { break };
        let mut used = c.len_utf8();
        match c {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'u' => match unicode_escape(&rest[1..]) {
                Some((value, length)) => {
                    out.push(value);
                    used += length;
                }
                None => out.push('u'),
            },
            other => out.push(other),
        }
        rest = &rest[used..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<K> {
        lex(text).0.iter().map(|token| token.kind).filter(|kind| !kind.is_trivia()).collect()
    }

    #[test]
    fn ranges_and_decimals_are_told_apart() {
        assert_eq!(kinds("1..10"), [K::Int, K::DotDot, K::Int]);
        assert_eq!(kinds("0.05"), [K::Decimal]);
        assert_eq!(kinds("3. P"), [K::Int, K::Dot, K::Ident]);
    }

    #[test]
    fn every_byte_is_in_a_token() {
        for text in ["", "\u{feff}x", "a\r\n// c\r\nb", "\"abc", "/* x", "💥 & x §§ é'", "\"\\q\""]
        {
            let total: u32 = lex(text).0.iter().map(|token| token.length).sum();
            assert_eq!(total as usize, text.len(), "{text:?}");
        }
    }

    #[test]
    fn escapes_are_resolved() {
        assert_eq!(unescape(r#""a\n\"\\\u{20AC}""#), "a\n\"\\€");
    }
}

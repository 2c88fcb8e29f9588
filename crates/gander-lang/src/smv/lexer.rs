//! Text to tokens; `--` begins a comment.

use crate::diagnostics::codes::Code;
use crate::diagnostics::report::Report;
use crate::diagnostics::span::Span;
use gander_runtime::check_cancelled;
use gander_text::Cursor;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Ident,
    Number,
    /// `0ud8_4`
    Word,
    /// `f'1/3`
    Fraction,
    Sign(&'static str),
    End,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub span: Span,
}

const SIGNS: &[&str] = &[
    "<->", "->", ":=", "!=", "<=", ">=", "<<", ">>", "::", "..", "(", ")", "[", "]", "{", "}", ",",
    ";", ":", "=", "!", "&", "|", "<", ">", "+", "-", "*", "/", "?", ".",
];

fn is_word(text: &str) -> bool {
    // 0ud8_4, 0sb4_1, 0b3_101, 0h16_f
    let rest = &text[1..];
    rest.trim_start_matches(['u', 's']).starts_with(['b', 'B', 'd', 'D', 'o', 'O', 'h', 'H'])
        && text.contains('_')
}

/// Cuts a text into tokens; the last one is [`Kind::End`].
pub(super) fn lex(text: &str, report: &mut Report) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(text.len() / 4 + 1);
    let mut cursor = Cursor::new(text);
    while let Some(first) = cursor.peek() {
        check_cancelled();
        let rest = cursor.rest();
        let here = |length: usize| Span::from(cursor.range(length));
        let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '#' | '\\' | '-');
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if cursor.starts_with("--") {
            cursor.line()
        } else if cursor.starts_with("/--") {
            cursor.through(3, "--/").unwrap_or(rest.len())
        } else if (cursor.starts_with("f'") || cursor.starts_with("F'"))
            && cursor.byte(2).is_ascii_digit()
        {
            let length = cursor.run_bytes(2, |b| b.is_ascii_digit() || b == b'/');
            tokens.push(Token { kind: Kind::Fraction, span: here(length) });
            length
        } else if first.is_alphabetic() || first == '_' {
            // A hyphen belongs to a name, unless it begins an arrow or a comment.
            let mut length = cursor.run(first.len_utf8(), in_name);
            // Half of an arrow may be the last character of the name; what is not ASCII is no half
            // of one.
            let end = rest.len().min(length + usize::from(cursor.byte(length).is_ascii()));
            for stop in ["->", "--"] {
                if let Some(found) = rest[..end].find(stop) {
                    length = length.min(found);
                }
            }
            tokens.push(Token { kind: Kind::Ident, span: here(length) });
            length
        } else if first.is_ascii_digit() {
            let mut length = cursor.run_bytes(1, |b| b.is_ascii_alphanumeric() || b == b'_');
            let kind = if length > 1 && first == '0' && is_word(&rest[..length]) {
                Kind::Word
            } else {
                Kind::Number
            };
            if kind == Kind::Number {
                length = cursor.run_bytes(1, |b| b.is_ascii_digit());
            }
            tokens.push(Token { kind, span: here(length) });
            length
        } else if let Some(sign) = cursor.sign(SIGNS) {
            tokens.push(Token { kind: Kind::Sign(sign), span: here(sign.len()) });
            sign.len()
        } else {
            report.error(
                Code::E0103,
                here(first.len_utf8()),
                format!("`{first}` means nothing here"),
            );
            first.len_utf8()
        };
        cursor.bump(length);
    }
    tokens.push(Token { kind: Kind::End, span: Span::at(text.len() as u32) });
    tokens
}

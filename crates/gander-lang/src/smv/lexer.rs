//! Text to tokens; `--` begins a comment.

use crate::codes::Code;
use crate::report::Report;
use crate::span::Span;
use gander_runtime::check_cancelled;

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
    "<->", "->", ":=", "!=", "<=", ">=", "<<", ">>", "::", "..", "(", ")", "[", "]", "{", "}", ",", ";", ":", "=", "!",
    "&", "|", "<", ">", "+", "-", "*", "/", "?", ".",
];

fn is_word(text: &str) -> bool {
    // 0ud8_4, 0sb4_1, 0b3_101, 0h16_f
    let rest = &text[1..];
    rest.trim_start_matches(['u', 's']).starts_with(['b', 'B', 'd', 'D', 'o', 'O', 'h', 'H']) && text.contains('_')
}

/// Cuts a text into tokens; the last one is [`Kind::End`].
pub(super) fn lex(text: &str, report: &mut Report) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(text.len() / 4 + 1);
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        check_cancelled();
        let rest = &text[at..];
        let run = |skip: usize, belongs: fn(char) -> bool| {
            skip + rest[skip..].find(|c| !belongs(c)).unwrap_or(rest.len() - skip)
        };
        let here = |length: usize| Span::new(at as u32, (at + length) as u32);
        let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '#' | '\\' | '-');
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("--") {
            run(0, |c| c != '\n')
        } else if let Some(comment) = rest.strip_prefix("/--") {
            comment.find("--/").map_or(rest.len(), |end| end + 6)
        } else if (rest.starts_with("f'") || rest.starts_with("F'"))
            && rest[2..].starts_with(|c: char| c.is_ascii_digit())
        {
            let length = run(2, |c| c.is_ascii_digit() || c == '/');
            tokens.push(Token { kind: Kind::Fraction, span: here(length) });
            length
        } else if first.is_alphabetic() || first == '_' {
            // A hyphen belongs to a name, unless it begins an arrow or a comment.
            let mut length = run(first.len_utf8(), in_name);
            // Half of an arrow may be the last character of the name; what is not ASCII is no half of one.
            let end = length + usize::from(rest.as_bytes().get(length).is_some_and(u8::is_ascii));
            for stop in ["->", "--"] {
                if let Some(found) = rest[..end].find(stop) {
                    length = length.min(found);
                }
            }
            tokens.push(Token { kind: Kind::Ident, span: here(length) });
            length
        } else if first.is_ascii_digit() {
            let mut length = run(1, |c| c.is_ascii_alphanumeric() || c == '_');
            let kind = if length > 1 && first == '0' && is_word(&rest[..length]) { Kind::Word } else { Kind::Number };
            if kind == Kind::Number {
                length = run(1, |c| c.is_ascii_digit());
            }
            tokens.push(Token { kind, span: here(length) });
            length
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            tokens.push(Token { kind: Kind::Sign(sign), span: here(sign.len()) });
            sign.len()
        } else {
            report.error(Code::E0103, here(first.len_utf8()), format!("`{first}` means nothing here"));
            first.len_utf8()
        };
        at += length;
    }
    tokens.push(Token { kind: Kind::End, span: Span::at(text.len() as u32) });
    tokens
}

//! Text to tokens; comments are kept for the formatter only, layout is dropped. Keywords are names that the parser reads by their place.

use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::report::Report;
use crate::span::Span;
use gander_runtime::check_cancelled;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Ident,
    Number,
    /// An operator or bracket, by its text.
    Sign(&'static str),
    /// `// …`, without its line end.
    LineComment,
    /// `/* … */`
    BlockComment,
    End,
}

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub span: Span,
}

/// Longer signs come first.
const SIGNS: &[&str] = &[
    "->", "==", "!=", "<=", ">=", "&&", "||", "~>", ">:", "..", "?", ",", ";", ":", "=", "!", "&", "|", "<", ">", "+",
    "-", "*", "/", "%", "(", ")", "{", "}", "[", "]", ".",
];

/// What people write in other languages, and what to write here.
const FOREIGN: &[(&str, &str)] =
    &[("≤", "<="), ("≥", ">="), ("≠", "!="), ("∧", "&"), ("∨", "|"), ("¬", "!"), ("→", "->"), ("#", "//")];

/// Cuts a text into tokens without comments; the last one is [`Kind::End`].
pub(super) fn lex(text: &str, report: &mut Report) -> Vec<Token> {
    let mut tokens = scan(text, report);
    tokens.retain(|token| !matches!(token.kind, Kind::LineComment | Kind::BlockComment));
    tokens
}

/// Cuts a text into tokens and comments; the last one is [`Kind::End`].
pub(super) fn scan(text: &str, report: &mut Report) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(text.len() / 4 + 1);
    let mut at = if text.starts_with('\u{feff}') { 3 } else { 0 };
    while let Some(first) = text[at..].chars().next() {
        check_cancelled();
        let rest = &text[at..];
        let run = |skip: usize, belongs: fn(char) -> bool| {
            skip + rest[skip..].find(|c| !belongs(c)).unwrap_or(rest.len() - skip)
        };
        let here = |length: usize| Span::new(at as u32, (at + length) as u32);
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("//") {
            let length = run(0, |c| c != '\n');
            tokens.push(Token { kind: Kind::LineComment, span: here(length) });
            length
        } else if let Some(comment) = rest.strip_prefix("/*") {
            let length = match comment.find("*/") {
                Some(end) => end + 4,
                None => {
                    let diagnostic = Diagnostic::new(Code::E0105, here(2), "this comment is never closed");
                    report.add(diagnostic.help("end it with `*/`"));
                    rest.len()
                }
            };
            tokens.push(Token { kind: Kind::BlockComment, span: here(length) });
            length
        } else if first == '_' || unicode_ident::is_xid_start(first) {
            let length = run(first.len_utf8(), unicode_ident::is_xid_continue);
            tokens.push(Token { kind: Kind::Ident, span: here(length) });
            length
        } else if first.is_ascii_digit() {
            let length = run(1, unicode_ident::is_xid_continue);
            if !rest[..length].bytes().all(|b| b.is_ascii_digit()) {
                let shown: String = rest[..length].chars().take(40).collect();
                let message = format!("`{shown}` is not a number");
                let diagnostic = Diagnostic::new(Code::E0107, here(length), message);
                report.add(diagnostic.help("a number is made of digits, a name begins with a letter"));
            }
            tokens.push(Token { kind: Kind::Number, span: here(length) });
            length
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            tokens.push(Token { kind: Kind::Sign(sign), span: here(sign.len()) });
            sign.len()
        } else {
            let length = first.len_utf8();
            let mut diagnostic = Diagnostic::new(Code::E0103, here(length), format!("`{first}` means nothing here"));
            if let Some((_, instead)) = FOREIGN.iter().find(|(foreign, _)| rest.starts_with(*foreign)) {
                diagnostic = diagnostic.help(format!("write `{instead}`")).fix(here(length), *instead);
            }
            report.add(diagnostic);
            length
        };
        at += length;
    }
    tokens.push(Token { kind: Kind::End, span: Span::at(text.len() as u32) });
    tokens
}

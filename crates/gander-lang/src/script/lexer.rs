//! Text to tokens; comments are kept for the formatter only, layout is dropped. Keywords are names
//! that the parser reads by their place.

use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::report::Report;
use crate::diagnostics::span::Span;
use gander_runtime::check_cancelled;
use gander_text::Cursor;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
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
pub(crate) struct Token {
    pub kind: Kind,
    pub span: Span,
}

/// Longer signs come first.
const SIGNS: &[&str] = &[
    "->", "==", "!=", "<=", ">=", "&&", "||", "~>", ">:", "..", "?", ",", ";", ":", "=", "!", "&",
    "|", "<", ">", "+", "-", "*", "/", "%", "(", ")", "{", "}", "[", "]", ".",
];

/// What people write in other languages, and what to write here.
const FOREIGN: &[(&str, &str)] = &[
    ("≤", "<="),
    ("≥", ">="),
    ("≠", "!="),
    ("∧", "&"),
    ("∨", "|"),
    ("¬", "!"),
    ("→", "->"),
    ("#", "//"),
];

/// Cuts a text into tokens without comments; the last one is [`Kind::End`].
pub(crate) fn lex(text: &str, report: &mut Report) -> Vec<Token> {
    let mut tokens = scan(text, report);
    tokens.retain(|token| !matches!(token.kind, Kind::LineComment | Kind::BlockComment));
    tokens
}

/// Cuts a text into tokens and comments; the last one is [`Kind::End`].
pub(crate) fn scan(text: &str, report: &mut Report) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(text.len() / 4 + 1);
    let mut cursor = Cursor::new(text);
    cursor.skip_byte_order_mark();
    while let Some(first) = cursor.peek() {
        check_cancelled();
        let rest = cursor.rest();
        let here = |length: usize| Span::from(cursor.range(length));
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if cursor.starts_with("//") {
            let length = cursor.line();
            tokens.push(Token { kind: Kind::LineComment, span: here(length) });
            length
        } else if cursor.starts_with("/*") {
            let length = match cursor.through(2, "*/") {
                Some(length) => length,
                None => {
                    let diagnostic =
                        Diagnostic::new(Code::E0105, here(2), "this comment is never closed");
                    report.add(diagnostic.help("end it with `*/`"));
                    rest.len()
                }
            };
            tokens.push(Token { kind: Kind::BlockComment, span: here(length) });
            length
        } else if first == '_' || unicode_ident::is_xid_start(first) {
            let length = cursor.run(first.len_utf8(), unicode_ident::is_xid_continue);
            tokens.push(Token { kind: Kind::Ident, span: here(length) });
            length
        } else if first.is_ascii_digit() {
            let length = cursor.run(1, unicode_ident::is_xid_continue);
            if !rest[..length].bytes().all(|b| b.is_ascii_digit()) {
                let shown: String = rest[..length].chars().take(40).collect();
                let message = format!("`{shown}` is not a number");
                let diagnostic = Diagnostic::new(Code::E0107, here(length), message);
                report.add(
                    diagnostic.help("a number is made of digits, a name begins with a letter"),
                );
            }
            tokens.push(Token { kind: Kind::Number, span: here(length) });
            length
        } else if let Some(sign) = cursor.sign(SIGNS) {
            tokens.push(Token { kind: Kind::Sign(sign), span: here(sign.len()) });
            sign.len()
        } else {
            let length = first.len_utf8();
            let mut diagnostic =
                Diagnostic::new(Code::E0103, here(length), format!("`{first}` means nothing here"));
            if let Some((_, instead)) =
                FOREIGN.iter().find(|(foreign, _)| rest.starts_with(*foreign))
            {
                diagnostic =
                    diagnostic.help(format!("write `{instead}`")).fix(here(length), *instead);
            }
            report.add(diagnostic);
            length
        };
        cursor.bump(length);
    }
    tokens.push(Token { kind: Kind::End, span: Span::at(text.len() as u32) });
    tokens
}

//! Semantic tokens: colours by the role of each token.

use gander_lang::Span;
use gander_lang::ide::{DefinitionKind as D, TokenRole};
use gander_service::{Document, Encoding};

/// The types of tokens, by their number.
pub(crate) const TYPES: &[&str] = &[
    "keyword",
    "namespace",
    "type",
    "enumMember",
    "property",
    "parameter",
    "variable",
    "function",
    "macro",
    "class",
    "event",
    "string",
    "number",
    "comment",
    "operator",
    "decorator",
];
/// The modifiers, by their bit.
pub(crate) const MODIFIERS: &[&str] = &["declaration", "readonly", "defaultLibrary"];

fn encode(role: TokenRole) -> (&'static str, u32) {
    match role {
        TokenRole::Keyword => ("keyword", 0),
        TokenRole::Builtin => ("type", 4),
        TokenRole::Number => ("number", 0),
        TokenRole::Text => ("string", 0),
        TokenRole::Comment => ("comment", 0),
        TokenRole::Annotation => ("decorator", 0),
        TokenRole::Operator => ("operator", 0),
        TokenRole::Name(kind, is_definition) => {
            let (name, modifiers) = match kind {
                D::Module | D::System => ("namespace", 0),
                D::Instance => ("namespace", 0),
                D::Function => ("function", 0),
                D::Macro => ("macro", 0),
                D::Type => ("type", 0),
                D::EnumValue => ("enumMember", 2),
                D::Field => ("property", 0),
                D::Constant => ("variable", 2),
                D::Input => ("parameter", 2),
                D::Variable | D::Output => ("variable", 0),
                D::Parameter => ("parameter", 0),
                D::Node => ("class", 0),
                D::Transition | D::Start => ("event", 0),
                D::Assumption | D::Claim | D::Fairness | D::Mode => ("decorator", 0),
            };
            (name, modifiers | u32::from(is_definition))
        }
    }
}

/// The tokens that touch a span, in the relative numbers of the protocol. A token of several lines
/// is given line by line.
pub(crate) fn tokens(document: &Document, within: Span, encoding: Encoding) -> Vec<u32> {
    let mut data = Vec::new();
    let (mut last_line, mut last_column) = (0, 0);
    let touching =
        |t: &&gander_lang::ide::Token| t.span.start < within.end && within.start < t.span.end;
    for token in document.outline().tokens.iter().filter(touching) {
        let (name, modifiers) = encode(token.role);
        let kind = TYPES.iter().position(|t| *t == name).unwrap_or(0) as u32;
        let mut start = token.span.start as usize;
        let text = document.text.get(token.span.range()).unwrap_or("");
        for part in text.split_inclusive('\n') {
            let shown = part.trim_end_matches(['\r', '\n']);
            let from = document.positions().position(&document.text, start, encoding);
            let to = document.positions().position(&document.text, start + shown.len(), encoding);
            start += part.len();
            if from.line != to.line || from.column == to.column {
                continue;
            }
            let line = from.line - last_line;
            let column = if line == 0 { from.column - last_column } else { from.column };
            data.extend([line, column, to.column - from.column, kind, modifiers]);
            (last_line, last_column) = (from.line, from.column);
        }
    }
    data
}

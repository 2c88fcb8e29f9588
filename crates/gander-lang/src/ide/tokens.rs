//! Comments, which lexers drop: they are what is between tokens and is not layout.

use super::TokenRole;
use crate::Span;

/// The comments between tokens, which are in the order of the text.
pub(super) fn comments(
    text: &str,
    tokens: impl Iterator<Item = Span>,
) -> Vec<(Span, Option<TokenRole>)> {
    let mut found = Vec::new();
    let mut at = 0;
    let end = Span::at(text.len() as u32);
    for token in tokens.chain([end]) {
        let gap = text.get(at..token.start as usize).unwrap_or("");
        split(gap, at as u32, &mut found);
        at = (token.end as usize).max(at);
    }
    found
}

/// Splits what is between two tokens into comments: at line ends for line comments, at the end of
/// block comments.
fn split(gap: &str, start: u32, found: &mut Vec<(Span, Option<TokenRole>)>) {
    let mut rest = gap;
    loop {
        let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        let from = gap.len() - trimmed.len();
        if trimmed.is_empty() {
            return;
        }
        let length = if trimmed.starts_with("(*") {
            trimmed.find("*)").map_or(trimmed.len(), |at| at + 2)
        } else if trimmed.starts_with("/*") {
            trimmed.find("*/").map_or(trimmed.len(), |at| at + 2)
        } else {
            trimmed.find('\n').unwrap_or(trimmed.len())
        };
        let shown = trimmed[..length].trim_end().len();
        let from = start + from as u32;
        found.push((Span::new(from, from + shown as u32), Some(TokenRole::Comment)));
        rest = &trimmed[length..];
    }
}

//! Finds the source spans of the conjuncts and branches of a formula.
//!
//! Terms have no spans, so the source text is divided as the term is: at `and`, at `if`, `then` and
//! `else`, and at an arrow, outside brackets. If text and term have different numbers of pieces (a
//! front-end may have simplified the term), no span is found, and the part gets the span of the
//! whole formula.

use gander_system::Span;
use gander_system::passes::Fork;

/// The sides of an arrow of a dataflow language.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Side {
    First,
    Later,
}

/// A word or operator of the text, outside brackets.
struct Token {
    start: usize,
    end: usize,
}

/// True if the right side of the equation at the span is `a -> b`.
pub(crate) fn has_arrow(source: &str, span: Span) -> bool {
    let Some(text) = source.get(span.range()) else { return false };
    let (start, end) = right_side(text);
    let first =
        tokens(text, start, end).into_iter().find(|t| matches!(&text[t.start..t.end], "->" | "if"));
    first.is_some_and(|t| !is_if(text, &t))
}

/// True if the text at the span has a word or sign of a conditional expression of some language.
/// Text outside the source, such as an included file, is not known.
pub(super) fn has_conditional(source: &str, span: Span) -> bool {
    let Some(text) = source.get(span.range()) else { return true };
    let mut words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let signs = ["if", "case", "match", "merge", "when", "current", "ite", "restart", "condact"];
    words.any(|word| signs.contains(&word)) || text.contains(['?', '#'])
}

/// The span of the subformula that the path selects.
pub(crate) fn piece(source: &str, span: Span, side: Option<Side>, path: &[Fork]) -> Option<Span> {
    let text = source.get(span.range())?;
    let (mut start, mut end) = right_side(text);
    if let Some(side) = side {
        let arrow = tokens(text, start, end).into_iter().find(|t| &text[t.start..t.end] == "->")?;
        (start, end) = match side {
            Side::First => (start, arrow.start),
            Side::Later => (arrow.end, end),
        };
    }
    for &fork in path {
        let (pieces, i, n) = match fork {
            Fork::Conjunct(i, n) => (conjuncts(text, start, end), i, n),
            Fork::Branch(i, n) => (branches(text, start, end)?, i, n),
            // Which text is an operand depends on the precedence of operators.
            Fork::Condition(..) | Fork::Operand(..) => return None,
        };
        if pieces.len() != n as usize {
            return None;
        }
        (start, end) = *pieces.get(i as usize - 1)?;
    }
    let (start, end) = trimmed(text, start, end);
    let at = |offset: usize| span.start + offset as u32;
    (start < end).then(|| Span::new(at(start), at(end)))
}

fn is_if(text: &str, t: &Token) -> bool {
    &text[t.start..t.end] == "if"
}

/// The text after the sign of an equation or assignment; the whole text if there is none.
fn right_side(text: &str) -> (usize, usize) {
    let sign = tokens(text, 0, text.len())
        .into_iter()
        .find(|t| matches!(&text[t.start..t.end], "=" | ":=" | "=="));
    bare(text, sign.map_or(0, |t| t.end), text.len())
}

/// Removes white space on both sides, and semicolons at the end.
fn trimmed(text: &str, start: usize, end: usize) -> (usize, usize) {
    let piece = text[start..end].trim_end_matches(|c: char| c.is_whitespace() || c == ';');
    let end = start + piece.len();
    (end - piece.trim_start().len(), end)
}

/// Removes white space and brackets around the whole text.
fn bare(text: &str, start: usize, end: usize) -> (usize, usize) {
    let (mut start, mut end) = trimmed(text, start, end);
    while end - start > 1
        && text[start..end].starts_with('(')
        && closes_at(text, start, end) == Some(end - 1)
    {
        (start, end) = trimmed(text, start + 1, end - 1);
    }
    (start, end)
}

/// The offset of the bracket that closes the first one.
fn closes_at(text: &str, start: usize, end: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (i, c) in text[start..end].char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(start + i);
                }
            }
            _ => {}
        }
    }
    None
}

/// Words and operators outside brackets.
fn tokens(text: &str, start: usize, end: usize) -> Vec<Token> {
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' || c == '\'' || c == '.' => 1,
        '=' | '<' | '>' | '-' | '&' | '|' | ':' | '!' | '+' | '*' | '/' => 2,
        _ => 0,
    };
    let mut found: Vec<Token> = Vec::new();
    let (mut depth, mut last) = (0usize, 0);
    for (i, c) in text[start..end].char_indices() {
        let (at, kind) = (start + i, class(c));
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 && kind != 0 => match found.last_mut() {
                Some(t) if last == kind && t.end == at => t.end = at + c.len_utf8(),
                _ => found.push(Token { start: at, end: at + c.len_utf8() }),
            },
            _ => {}
        }
        last = if depth == 0 { kind } else { 0 };
    }
    found
}

/// The conjuncts of a text, including those of bracketed conjuncts; the text itself if it is no
/// conjunction.
fn conjuncts(text: &str, start: usize, end: usize) -> Vec<(usize, usize)> {
    let mut stack = vec![(start, end)];
    let mut found = Vec::new();
    while let Some((start, end)) = stack.pop() {
        let (start, end) = bare(text, start, end);
        let tokens = tokens(text, start, end);
        let word = |t: &Token| &text[t.start..t.end];
        let weaker = |w: &str| {
            matches!(w, "or" | "xor" | "=>" | "||" | "|" | "implies" | "<=>" | "iff" | "->" | "if")
        };
        let cuts: Vec<&Token> =
            tokens.iter().filter(|t| matches!(word(t), "and" | "&&" | "&" | "AND")).collect();
        if cuts.is_empty() || tokens.iter().any(|t| weaker(word(t))) {
            found.push((start, end));
            continue;
        }
        let starts = std::iter::once(start).chain(cuts.iter().map(|t| t.end));
        let ends = cuts.iter().map(|t| t.start).chain([end]);
        let pieces: Vec<(usize, usize)> = starts.zip(ends).collect();
        stack.extend(pieces.into_iter().rev());
    }
    found
}

/// The branches of a conditional expression, including those of conditionals after `else`; `None`
/// if it is no conditional.
fn branches(text: &str, start: usize, end: usize) -> Option<Vec<(usize, usize)>> {
    let mut found = Vec::new();
    let (mut start, mut end) = bare(text, start, end);
    loop {
        let tokens = tokens(text, start, end);
        if !tokens.first().is_some_and(|t| is_if(text, t)) {
            found.push((start, end));
            return (found.len() > 1).then_some(found);
        }
        // Skip the keywords of conditionals within the condition and the first branch.
        let (mut open, mut then, mut otherwise) = (0, None, None);
        for t in &tokens {
            match &text[t.start..t.end] {
                "if" => open += 1,
                "then" if open == 1 && then.is_none() => then = Some(t.end),
                "else" if open == 1 => {
                    otherwise = Some(t);
                    break;
                }
                "else" => open -= 1,
                _ => {}
            }
        }
        let (then, otherwise) = (then?, otherwise?);
        found.push((then, otherwise.start));
        (start, end) = bare(text, otherwise.end, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, side: Option<Side>, path: &[Fork]) -> Option<String> {
        let source = format!("-- before\n{text}");
        let span = Span::new(10, source.len() as u32);
        piece(&source, span, side, path).map(|s| source[s.range()].to_string())
    }

    #[test]
    fn conjuncts_are_found_through_brackets() {
        let path = |i| [Fork::Conjunct(i, 3)];
        let text = "x = (a and (b or c)) and f(y, z and w);";
        assert_eq!(found(text, None, &path(1)).as_deref(), Some("a"));
        assert_eq!(found(text, None, &path(2)).as_deref(), Some("b or c"));
        assert_eq!(found(text, None, &path(3)).as_deref(), Some("f(y, z and w)"));
        assert_eq!(found("x = a and b or c;", None, &path(1)), None);
        assert_eq!(found(text, None, &[Fork::Conjunct(1, 2)]), None);
    }

    #[test]
    fn branches_are_found_through_else_chains() {
        let path = |i| [Fork::Branch(i, 3)];
        let text = "x = if c then 1 else (if d then (if e then 2 else 3) else 4);";
        assert_eq!(found(text, None, &path(1)).as_deref(), Some("1"));
        assert_eq!(found(text, None, &path(2)).as_deref(), Some("(if e then 2 else 3)"));
        assert_eq!(found(text, None, &path(3)).as_deref(), Some("4"));
        assert_eq!(
            found(text, None, &[Fork::Branch(2, 3), Fork::Branch(2, 2)]).as_deref(),
            Some("3")
        );
        assert_eq!(found("x = 1 + 2;", None, &path(1)), None);
    }

    #[test]
    fn an_arrow_has_a_first_and_a_later_side() {
        let text = "x = (0 -> if c then pre x else y);";
        let source = text.to_string();
        let whole = Span::new(0, source.len() as u32);
        assert!(
            has_arrow(&source, whole)
                && !has_arrow("x = if a then (1 -> 2) else 3;", Span::new(0, 30))
        );
        assert_eq!(found(text, Some(Side::First), &[]).as_deref(), Some("0"));
        assert_eq!(found(text, Some(Side::Later), &[Fork::Branch(2, 2)]).as_deref(), Some("y"));
    }
}

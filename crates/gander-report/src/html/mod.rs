//! What the HTML pages have in common: the head of a document, the base style, the source with
//! marks.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::explained::escape;

/// Colours, tables, timelines and source text.
const BASE: &str = include_str!("base.css");

/// Writes the beginning of a page up to the body. The page may use its own style and script and
/// nothing else: no network, no other files.
pub(crate) fn begin_document(title: &str, style: &str, out: &mut String) {
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'\">\n\
         <title>{}</title>\n<style>{BASE}{style}</style></head>\n",
        escape(title)
    );
}

/// A mark on a part of the source.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct SourceMark {
    /// The first byte, and the one behind the last.
    pub span: (usize, usize),
    /// The key that scripts find it by; empty if there is none.
    pub key: String,
    /// Its style; empty if there is none.
    pub class: &'static str,
    /// The text that a pointer over it shows; empty if there is none.
    pub title: String,
}

/// The source with numbered lines, divided where a mark begins or ends. `badges` are HTML behind
/// the line of that number, counted from one.
pub(crate) fn source_html(
    text: &str,
    marks: &[SourceMark],
    badges: &BTreeMap<usize, String>,
    out: &mut String,
) {
    let text = text.trim_end();
    let mut marks: Vec<&SourceMark> = marks
        .iter()
        .filter(|m| m.span.0 < m.span.1 && text.get(m.span.0..m.span.1).is_some())
        .collect();
    marks.sort();
    marks.dedup();
    let mut cuts: Vec<usize> =
        marks.iter().flat_map(|m| [m.span.0, m.span.1]).chain([0, text.len()]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let digits = text.lines().count().max(1).to_string().len();
    let mut line = 1;
    let head = |line: usize| {
        format!("<span class=\"l\" id=\"L{line}\"><span class=\"n\">{line:>digits$}  </span>")
    };
    let _ = write!(out, "<pre class=\"source\" style=\"--n:{digits}ch\">{}", head(line));
    let mut next = 0;
    let mut open: Vec<&SourceMark> = Vec::new();
    for pair in cuts.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        while marks.get(next).is_some_and(|m| m.span.0 <= from) {
            open.push(marks[next]);
            next += 1;
        }
        open.retain(|m| m.span.1 > from);
        for (i, piece) in text[from..to].split('\n').enumerate() {
            if i > 0 {
                out.push_str(badges.get(&line).map_or("", String::as_str));
                line += 1;
                let _ = write!(out, "</span>{}", head(line));
            }
            if open.is_empty() || piece.trim().is_empty() {
                out.push_str(&escape(piece));
            } else {
                piece_html(piece, &open, out);
            }
        }
    }
    out.push_str(badges.get(&line).map_or("", String::as_str));
    out.push_str("</span></pre>");
}

fn piece_html(piece: &str, marks: &[&SourceMark], out: &mut String) {
    let list = |of: &dyn Fn(&SourceMark) -> String, between: &str| {
        let mut parts: Vec<String> =
            marks.iter().map(|m| of(m)).filter(|t| !t.is_empty()).collect();
        parts.dedup();
        escape(&parts.join(between))
    };
    let (keys, classes, titles) = (
        list(&|m| m.key.clone(), " "),
        list(&|m| m.class.to_string(), " "),
        list(&|m| m.title.clone(), "\n"),
    );
    out.push_str("<span");
    for (name, value) in [("data-e", keys), ("class", classes), ("title", titles)] {
        if !value.is_empty() {
            let _ = write!(out, " {name}=\"{value}\"");
        }
    }
    let _ = write!(out, ">{}</span>", escape(piece));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_have_the_marks_around_them() {
        let mark =
            |start, end, class| SourceMark { span: (start, end), class, ..SourceMark::default() };
        let marks = [mark(0, 5, "a"), mark(2, 3, "b"), mark(4, 99, "c")];
        let mut out = String::new();
        let badges = BTreeMap::from([(1, "<b>!</b>".to_string())]);
        source_html("ab<d\nf", &marks, &badges, &mut out);
        assert_eq!(
            out,
            "<pre class=\"source\" style=\"--n:1ch\"><span class=\"l\" id=\"L1\"><span class=\"n\">1  </span>\
             <span class=\"a\">ab</span><span class=\"a b\">&lt;</span><span class=\"a\">d</span><b>!</b></span>\
             <span class=\"l\" id=\"L2\"><span class=\"n\">2  </span>f</span></pre>"
        );
    }
}

//! Text from outside, made safe to show.
//!
//! Names in models may contain any character: an escape sequence controls the terminal, a line end
//! forges a line of the report, a bidirectional override reverses the text after it. [`visible`]
//! writes every such character as `<U+001B>`. It is idempotent and leaves other text unchanged.
//!
//! The term pool and the system builder apply it to all names, so no name inside gander contains
//! such a character. Two names that become equal (one contains the escape as plain text) are a
//! duplicate, which the builder refuses; they never become one variable. Other text (source lines,
//! paths, output of other programs) passes through [`visible`] where it is shown.

use std::borrow::Cow;
use std::collections::hash_map::DefaultHasher;
use std::fmt::Write;
use std::hash::{Hash, Hasher};
use std::path::Path;

/// Characters of a name that are shown. A longer name is shown as its beginning, a hash and its
/// end.
pub const LONGEST_NAME: usize = 120;

/// Characters of a message or a path that are shown.
pub const LONGEST_MESSAGE: usize = 2000;

/// Hexadecimal digits that tell shortened names apart.
const HASH_DIGITS: usize = 8;

/// True for characters that have no visible form: controls (C0, DEL, C1), white space other
/// than the plain space, line separators, bidirectional controls, and characters of no width.
pub fn is_hidden(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    c.is_control()
        || c.is_whitespace()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}'
            | '\u{feff}' | '\u{ffa0}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Begins an escape.
const MARK: &str = "<U+";

fn is_plain(text: &str) -> bool {
    text.bytes().all(|b| (0x20..0x7f).contains(&b))
}

/// The text on one line, with every hidden character as `<U+XXXX>`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if is_plain(text) || !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            // Writing to a string cannot fail.
            let _ = write!(out, "{MARK}{:04X}>", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// [`visible`] for a text of several lines: line ends stay, tabs become spaces.
pub fn visible_lines(text: &str) -> String {
    let lines: Vec<String> =
        text.lines().map(|line| visible(&line.replace('\t', "    ")).into_owned()).collect();
    lines.join("\n")
}

/// A piece of source text on one line: white space between words becomes a single space, other
/// hidden characters are made visible.
pub fn on_one_line(text: &str) -> String {
    if is_plain(text) {
        return text.to_string();
    }
    let is_layout = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
    if !text.contains(['\t', '\r', '\n']) {
        return visible(text).into_owned();
    }
    let words: Vec<&str> = text.split(is_layout).filter(|w| !w.is_empty()).collect();
    visible(&words.join(" ")).into_owned()
}

/// At most `limit` characters: the beginning and the end, and between them a hash of the whole, so
/// that long names with the same ends can be told apart.
pub fn shortened(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit || text.chars().count() <= limit {
        return Cow::Borrowed(text);
    }
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let hash = format!("{:08x}", hasher.finish() as u32);
    let kept = limit.saturating_sub(HASH_DIGITS + 3);
    let (head, tail) = (kept - kept / 3, kept / 3);
    let start = text.char_indices().nth(head).map_or(text.len(), |(at, _)| at);
    let end = if tail == 0 {
        text.len()
    } else {
        text.char_indices().rev().nth(tail - 1).map_or(0, |(at, _)| at)
    };
    Cow::Owned(format!("{}…#{hash}…{}", &text[..start], &text[end..]))
}

/// A name as it is shown: visible, and not longer than [`LONGEST_NAME`].
pub fn shown(name: &str) -> Cow<'_, str> {
    match visible(name) {
        Cow::Borrowed(text) => shortened(text, LONGEST_NAME),
        Cow::Owned(text) => Cow::Owned(shortened(&text, LONGEST_NAME).into_owned()),
    }
}

/// A path as it is shown.
pub fn shown_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    shortened(&visible(&text), LONGEST_MESSAGE).into_owned()
}

/// A message of another program, or one that quotes text from outside: on one line, with at most
/// [`LONGEST_MESSAGE`] characters.
pub fn message(text: &str) -> String {
    shortened(&visible(text.trim_end()), LONGEST_MESSAGE).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_is_unchanged() {
        for text in ["", "range of x", "Büro 水 é", "a<b", "x' ⇒ y"] {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn hidden_characters_become_visible() {
        assert_eq!(visible("a\x1b[2Jb"), "a<U+001B>[2Jb");
        assert_eq!(visible("p\nholds: q"), "p<U+000A>holds: q");
        for c in "\0\t\r\n\x1b\x7f\u{80}\u{85}\u{9b}\u{9f}\u{a0}\u{ad}\u{61c}\u{200b}\u{200d}\u{200e}\u{200f}\u{2028}\
                  \u{2029}\u{202a}\u{202e}\u{2060}\u{2066}\u{2069}\u{feff}\u{fff9}\u{e0041}"
            .chars()
        {
            let text = visible(&c.to_string()).into_owned();
            assert!(text.starts_with("<U+") && text.is_ascii(), "{c:?}: {text}");
        }
    }

    #[test]
    fn different_names_stay_different() {
        let names = [
            "\n",
            "\u{b}",
            "\n\n",
            "<\n",
            "<\u{200b}U+",
            "<\u{200b}U+000A>",
            "<\u{200c}U+000A>",
            "000A",
        ];
        let shown: std::collections::BTreeSet<String> =
            names.iter().map(|n| visible(n).into_owned()).collect();
        assert_eq!(shown.len(), names.len(), "{shown:?}");
        assert!(shown.iter().all(|s| visible(s) == *s));
    }

    #[test]
    fn long_names_are_shortened_and_stay_apart() {
        let long = |middle: &str| format!("{}{middle}{}", "a".repeat(5000), "z".repeat(5000));
        let (one, two) = (shown(&long("1")).into_owned(), shown(&long("2")).into_owned());
        assert_ne!(one, two);
        assert_eq!(one.chars().count(), LONGEST_NAME);
        assert!(one.starts_with("aaa") && one.ends_with("zzz") && one.contains('…'), "{one}");
        let wide = "水".repeat(LONGEST_NAME);
        assert_eq!(shown(&wide), wide);
        assert_eq!(shown(&format!("{wide}x")).chars().count(), LONGEST_NAME);
        assert_eq!(shortened("abcdef", 3).chars().count(), HASH_DIGITS + 3);
    }

    #[test]
    fn source_text_is_put_on_one_line() {
        assert_eq!(on_one_line("(and a\r\n\t  b)"), "(and a b)");
        assert_eq!(on_one_line("a  b"), "a  b");
        assert_eq!(on_one_line("|p\n\x1b[1m|"), "|p <U+001B>[1m|");
    }

    #[test]
    fn visible_lines_keeps_line_ends() {
        assert_eq!(visible_lines("a\r\n\tb\x1b[0m\n"), "a\n    b<U+001B>[0m");
    }
}

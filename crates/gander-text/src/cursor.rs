//! A position in a text, for lexers.

use std::ops::Range;

/// A position in a text. It moves by whole characters, so [`Cursor::rest`] is always text.
///
/// Methods that look take lengths in bytes from the position. What they return may be given to
/// [`Cursor::bump`].
///
/// ```
/// use gander_text::Cursor;
///
/// let mut cursor = Cursor::new("x1 := é");
/// let name = cursor.run(0, char::is_alphanumeric);
/// assert_eq!(cursor.bytes(name), b"x1");
/// cursor.bump(name);
/// cursor.bump(cursor.run_bytes(0, |b| b == b' '));
/// assert_eq!(cursor.sign(&[":=", ":"]), Some(":="));
/// assert_eq!(cursor.range(2), 3..5);
/// ```
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor at the beginning of a text.
    pub fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }

    /// The whole text.
    #[inline]
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The offset of the position in bytes.
    #[inline]
    pub fn position(&self) -> usize {
        self.at
    }

    /// True if nothing is left.
    #[inline]
    pub fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// The text from the position on.
    #[inline]
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The next character.
    #[inline]
    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The byte `ahead` bytes behind the position; 0 behind the end.
    #[inline]
    pub fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    /// The place of the next `length` bytes.
    #[inline]
    pub fn range(&self, length: usize) -> Range<u32> {
        self.at as u32..(self.at + length) as u32
    }

    /// True if this text comes next.
    #[inline]
    pub fn starts_with(&self, text: &str) -> bool {
        self.text.as_bytes()[self.at..].starts_with(text.as_bytes())
    }

    /// The first of these texts that comes next. Longer ones must stand before their prefixes.
    pub fn sign(&self, signs: &[&'static str]) -> Option<&'static str> {
        signs.iter().copied().find(|sign| self.starts_with(sign))
    }

    /// The length of the next text up to the first character, `skip` bytes away or more, that does
    /// not belong to it.
    #[inline]
    pub fn run(&self, skip: usize, belongs: impl Fn(char) -> bool) -> usize {
        let rest = &self.rest()[skip..];
        skip + rest.find(|c| !belongs(c)).unwrap_or(rest.len())
    }

    /// Like [`Cursor::run`] by bytes, which is faster. All bytes that are not ASCII must belong or
    /// none of them, so that no character is cut.
    #[inline]
    pub fn run_bytes(&self, skip: usize, belongs: impl Fn(u8) -> bool) -> usize {
        let rest = &self.text.as_bytes()[(self.at + skip).min(self.text.len())..];
        skip + rest.iter().position(|b| !belongs(*b)).unwrap_or(rest.len())
    }

    /// The length of the rest of the line, without its line end.
    #[inline]
    pub fn line(&self) -> usize {
        self.run_bytes(0, |b| b != b'\n')
    }

    /// The length of the next text that ends with `close`, which begins `skip` bytes away or more.
    pub fn through(&self, skip: usize, close: &str) -> Option<usize> {
        self.rest()[skip..].find(close).map(|end| skip + end + close.len())
    }

    /// The next `length` bytes; fewer at the end.
    #[inline]
    pub fn bytes(&self, length: usize) -> &'a [u8] {
        let bytes = self.text.as_bytes();
        &bytes[self.at..(self.at + length).min(bytes.len())]
    }

    /// Moves `length` bytes forwards, over whole characters.
    #[inline]
    pub fn bump(&mut self, length: usize) {
        self.at += length;
        debug_assert!(self.text.is_char_boundary(self.at), "inside a character");
    }

    /// Moves over a byte order mark, if one comes next; returns its length.
    pub fn skip_byte_order_mark(&mut self) -> usize {
        let length = if self.starts_with("\u{feff}") { '\u{feff}'.len_utf8() } else { 0 };
        self.bump(length);
        length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_beyond_the_end_finds_nothing() {
        let mut cursor = Cursor::new("é");
        assert_eq!((cursor.peek(), cursor.byte(0), cursor.byte(2)), (Some('é'), 0xc3, 0));
        assert_eq!(
            (cursor.run(0, |_| true), cursor.line(), cursor.run_bytes(3, |_| true)),
            (2, 2, 3)
        );
        assert_eq!(cursor.through(0, "é"), Some(2));
        assert_eq!(cursor.through(2, "é"), None);
        cursor.bump(2);
        assert!(cursor.is_at_end() && !cursor.starts_with("x"));
        assert_eq!((cursor.peek(), cursor.rest(), cursor.sign(&["x", ""])), (None, "", Some("")));
    }

    #[test]
    fn a_byte_order_mark_is_passed_once() {
        let mut cursor = Cursor::new("\u{feff}x");
        assert_eq!((cursor.skip_byte_order_mark(), cursor.skip_byte_order_mark()), (3, 0));
        assert_eq!((cursor.position(), cursor.rest()), (3, "x"));
    }
}

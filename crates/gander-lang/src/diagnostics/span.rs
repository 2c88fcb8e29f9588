//! Positions in source text.
//!
//! A [`Span`] is a half-open range of byte offsets into one source text. Line and column are never
//! stored: [`LineIndex`] computes them for display.

pub use gander_system::Span;

/// A line and column as editors count them: from one, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from one.
    pub line: u32,
    /// Column in characters, from one.
    pub column: u32,
}

/// The starts of the lines of a text. Lines end with `\n`, `\r\n` or the end of the text.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
    length: u32,
}

impl LineIndex {
    /// Indexes the lines of a text.
    pub fn new(text: &str) -> LineIndex {
        let mut starts = vec![0];
        starts.extend(
            text.bytes()
                .enumerate()
                .filter(|(_, byte)| *byte == b'\n')
                .map(|(at, _)| at as u32 + 1),
        );
        LineIndex { starts, length: text.len() as u32 }
    }

    /// Number of lines; a text without a line end has one.
    pub fn line_count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// The line (from zero) that contains an offset.
    pub fn line_of(&self, offset: u32) -> u32 {
        self.starts.partition_point(|start| *start <= offset) as u32 - 1
    }

    /// The span of a line (from zero), without its line end.
    pub fn line_span(&self, text: &str, line: u32) -> Span {
        let start = self.starts[line as usize];
        let mut end = match self.starts.get(line as usize + 1) {
            Some(next) => next - 1,
            None => self.length,
        };
        if end > start && text.as_bytes().get(end as usize - 1) == Some(&b'\r') {
            end -= 1;
        }
        Span::new(start, end)
    }

    /// Line and column of an offset. An offset inside a character counts as that character.
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let offset = offset.min(self.length);
        let line = self.line_of(offset);
        let start = self.starts[line as usize] as usize;
        let before = text
            .get(start..)
            .unwrap_or("")
            .char_indices()
            .take_while(|(at, _)| start + at < offset as usize)
            .count();
        Position { line: line + 1, column: before as u32 + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_and_all_line_ends() {
        let text = "ab\r\nçx\n";
        let index = LineIndex::new(text);
        assert_eq!(index.line_count(), 3);
        assert_eq!(index.position(text, 1), Position { line: 1, column: 2 });
        assert_eq!(index.position(text, 6), Position { line: 2, column: 2 });
        assert_eq!(index.position(text, 99), Position { line: 3, column: 1 });
        assert_eq!(index.line_span(text, 0), Span::new(0, 2));
        assert_eq!(index.line_span(text, 1), Span::new(4, 7));
    }
}

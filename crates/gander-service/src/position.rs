//! Lines and columns of a text, in the units of a client.

/// The unit that columns are counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

/// A place: line and column count from zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column, in the units of an [`Encoding`].
    pub column: u32,
}

/// Where the lines of a text begin. Lines end with `\n`, `\r\n` or `\r`.
#[derive(Clone, Debug)]
pub struct Positions {
    starts: Vec<usize>,
}

impl Positions {
    /// Indexes the lines of a text.
    pub fn new(text: &str) -> Positions {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            let is_end = match byte {
                b'\n' => true,
                b'\r' => bytes.get(at + 1) != Some(&b'\n'),
                _ => false,
            };
            if is_end {
                starts.push(at + 1);
            }
        }
        Positions { starts }
    }

    /// The number of lines; a text without a line end has one.
    pub fn line_count(&self) -> usize {
        self.starts.len()
    }

    /// The place of a byte. An offset inside of a character counts as its beginning, one behind the
    /// text as its end.
    pub fn position(&self, text: &str, offset: usize, encoding: Encoding) -> Position {
        let offset = floor_boundary(text, offset);
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let before = text.get(self.starts[line]..offset).unwrap_or("");
        let column = match encoding {
            Encoding::Utf8 => before.len(),
            Encoding::Utf16 => before.chars().map(char::len_utf16).sum(),
            Encoding::Utf32 => before.chars().count(),
        };
        Position { line: line as u32, column: column as u32 }
    }

    /// The byte at a place. A column behind the end of a line means its end, before its line break;
    /// a line behind the last one means the end of the text.
    pub fn offset(&self, text: &str, position: Position, encoding: Encoding) -> usize {
        let Some(&start) = self.starts.get(position.line as usize) else { return text.len() };
        let end = self.starts.get(position.line as usize + 1).copied().unwrap_or(text.len());
        let line = text.get(start..end).unwrap_or("").trim_end_matches(['\r', '\n']);
        let mut left = position.column as usize;
        for (at, c) in line.char_indices() {
            let width = match encoding {
                Encoding::Utf8 => c.len_utf8(),
                Encoding::Utf16 => c.len_utf16(),
                Encoding::Utf32 => 1,
            };
            if left < width {
                return start + at;
            }
            left -= width;
        }
        start + line.len()
    }
}

/// The beginning of the character that a byte is part of.
fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

    #[test]
    fn places_and_bytes_are_inverse_at_every_character() {
        for text in ["", "ab\ncd", "a\r\nü🦆x\r\n\n", "🦆", "a\rb\r\nc", "\n\n"] {
            let positions = Positions::new(text);
            for encoding in ALL {
                for (at, _) in text.char_indices().chain([(text.len(), ' ')]) {
                    let place = positions.position(text, at, encoding);
                    let back = positions.offset(text, place, encoding);
                    // The two bytes of a line break are one place.
                    let is_inside = text[..at].ends_with('\r') && text[at..].starts_with('\n');
                    assert_eq!(back, if is_inside { at - 1 } else { at }, "{text:?} {encoding:?}");
                }
            }
        }
    }

    #[test]
    fn columns_count_the_units_of_the_encoding() {
        let text = "ü🦆x";
        let positions = Positions::new(text);
        let column = |encoding| positions.position(text, 6, encoding).column;
        assert_eq!(ALL.map(column), [6, 3, 2]);
        // The middle of a surrogate pair is the beginning of its character.
        let middle = Position { line: 0, column: 2 };
        assert_eq!(positions.offset(text, middle, Encoding::Utf16), 2);
    }

    #[test]
    fn places_outside_of_the_text_are_its_borders() {
        let text = "ab\ncd";
        let positions = Positions::new(text);
        let offset =
            |line, column| positions.offset(text, Position { line, column }, Encoding::Utf16);
        assert_eq!((offset(0, 99), offset(1, 99), offset(7, 0)), (2, 5, 5));
        assert_eq!(positions.position(text, 99, Encoding::Utf8), Position { line: 1, column: 2 });
    }
}

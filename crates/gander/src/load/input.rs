//! The text of a file that the user names, or of the standard input for `-`.
//!
//! Only regular files of at most [`MAX_BYTES`] are read (`gander_io::read`), and only UTF-8.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use gander_io::read::{self, Links, ReadError};
use gander_lang::sts::MAX_BYTES;

/// Why there is no text to read.
#[derive(Debug)]
pub enum InputError {
    /// There is no such file.
    Missing,
    /// It is a directory.
    Directory,
    /// It is neither a regular file nor a directory: what it is.
    Special(&'static str),
    /// It cannot be read.
    Io(io::Error),
    /// It has more than [`MAX_BYTES`].
    TooLarge,
    /// It is a UTF-16 text.
    Utf16,
    /// It is a binary file: the first zero byte.
    Binary(usize),
    /// It is a text in some other encoding: the first byte that is not UTF-8, and its line.
    NotUtf8 {
        /// Offset of the byte.
        offset: usize,
        /// Its line, from one.
        line: usize,
    },
}

impl InputError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            InputError::Missing => "no-file",
            InputError::Directory => "directory",
            InputError::Special(_) => "not-a-file",
            InputError::Io(_) => "unreadable",
            InputError::TooLarge => "too-large",
            InputError::Utf16 | InputError::NotUtf8 { .. } => "encoding",
            InputError::Binary(_) => "binary",
        }
    }

    /// What to do about it.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            InputError::Directory => Some("name the files, for example with FOLDER/*.sts"),
            InputError::Utf16 | InputError::NotUtf8 { .. } => Some("save the file as UTF-8"),
            InputError::TooLarge => Some("split the specification, or compose it of instances"),
            InputError::Special(_) => Some("name a regular file, or `-` to read standard input"),
            InputError::Missing | InputError::Io(_) | InputError::Binary(_) => None,
        }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputError::Missing => write!(f, "there is no such file"),
            InputError::Directory => write!(f, "this is a directory, not a file"),
            InputError::Special(what) => write!(f, "this is {what}, not a regular file"),
            InputError::Io(e) => write!(f, "it cannot be read: {e}"),
            InputError::TooLarge => {
                write!(f, "the file is larger than the limit of {} MiB", MAX_BYTES >> 20)
            }
            InputError::Utf16 => write!(f, "the file is in UTF-16, and models are in UTF-8"),
            InputError::Binary(offset) => write!(f, "this is no text file: byte {offset} is zero"),
            InputError::NotUtf8 { offset, line } => {
                write!(f, "the file is not in UTF-8: see byte {offset}, on line {line}")
            }
        }
    }
}

impl std::error::Error for InputError {}

impl From<ReadError> for InputError {
    fn from(error: ReadError) -> InputError {
        match error {
            ReadError::Missing => InputError::Missing,
            ReadError::Directory => InputError::Directory,
            ReadError::Special(what) => InputError::Special(what),
            ReadError::TooLarge => InputError::TooLarge,
            ReadError::Io(e) => InputError::Io(e),
        }
    }
}

/// The text of a file, or of the standard input for `-`. Reads at most [`MAX_BYTES`].
pub fn read_input(name: &str) -> Result<String, InputError> {
    let limit = MAX_BYTES as u64 + 1;
    let mut bytes = Vec::new();
    if name == "-" {
        io::stdin().lock().take(limit).read_to_end(&mut bytes).map_err(InputError::Io)?;
    } else {
        bytes = read::bytes(Path::new(name), Links::Follow, MAX_BYTES as u64)
            .map_err(InputError::from)?;
    }
    if bytes.len() > MAX_BYTES {
        return Err(InputError::TooLarge);
    }
    text_of(bytes)
}

fn text_of(bytes: Vec<u8>) -> Result<String, InputError> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(InputError::Utf16);
    }
    if let Some(offset) = bytes.iter().position(|&b| b == 0) {
        return Err(InputError::Binary(offset));
    }
    let bytes = match bytes.strip_prefix(&[0xef, 0xbb, 0xbf]) {
        Some(rest) => rest.to_vec(),
        None => bytes,
    };
    String::from_utf8(bytes).map_err(|e| {
        let offset = e.utf8_error().valid_up_to();
        let line = 1 + e.as_bytes()[..offset].iter().filter(|&&b| b == b'\n').count();
        InputError::NotUtf8 { offset, line }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_utf8_is_read() {
        assert!(matches!(text_of(vec![0xff, 0xfe, 65, 0]), Err(InputError::Utf16)));
        assert!(matches!(text_of(b"ab\0".to_vec()), Err(InputError::Binary(2))));
        assert!(matches!(
            text_of(b"a\nb\xe9".to_vec()),
            Err(InputError::NotUtf8 { offset: 3, line: 2 })
        ));
        assert_eq!(text_of(b"\xef\xbb\xbfspec".to_vec()).unwrap(), "spec");
        assert_eq!(text_of(Vec::new()).unwrap(), "");
    }

    #[test]
    fn missing_files_and_folders_are_told_apart() {
        assert!(matches!(read_input("/nowhere/at/all"), Err(InputError::Missing)));
        assert!(matches!(read_input("/"), Err(InputError::Directory)));
    }
}

//! Reading what a user names: a file, or `-` for the standard input.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use gander_lang::sts::MAX_BYTES;

/// Why there is no text to read.
#[derive(Debug)]
pub enum InputError {
    /// There is no such file.
    Missing,
    /// It is a directory.
    Directory,
    /// It is neither a file nor a pipe that can be read.
    Io(io::Error),
    /// It has more bytes than we read.
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
            InputError::Missing | InputError::Io(_) | InputError::Binary(_) => None,
        }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputError::Missing => write!(f, "there is no such file"),
            InputError::Directory => write!(f, "this is a directory, not a file"),
            InputError::Io(e) => write!(f, "it cannot be read: {e}"),
            InputError::TooLarge => write!(f, "the file is larger than the limit of {} MiB", MAX_BYTES >> 20),
            InputError::Utf16 => write!(f, "the file is in UTF-16, and models are in UTF-8"),
            InputError::Binary(offset) => write!(f, "this is no text file: byte {offset} is zero"),
            InputError::NotUtf8 { offset, line } => {
                write!(f, "the file is not in UTF-8: see byte {offset}, on line {line}")
            }
        }
    }
}

impl std::error::Error for InputError {}

/// The text of a file, or of the standard input for `-`. Never reads more than the limit of the front-ends.
pub fn read_input(name: &str) -> Result<String, InputError> {
    let limit = MAX_BYTES as u64 + 1;
    let mut bytes = Vec::new();
    if name == "-" {
        io::stdin().lock().take(limit).read_to_end(&mut bytes).map_err(InputError::Io)?;
    } else {
        let path = Path::new(name);
        let about = path.metadata().map_err(|e| match e.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => InputError::Missing,
            _ => InputError::Io(e),
        })?;
        if about.is_dir() {
            return Err(InputError::Directory);
        }
        if about.is_file() && about.len() > MAX_BYTES as u64 {
            return Err(InputError::TooLarge);
        }
        bytes.reserve(about.len().min(limit) as usize);
        File::open(path).and_then(|f| f.take(limit).read_to_end(&mut bytes)).map_err(InputError::Io)?;
    }
    if bytes.len() > MAX_BYTES {
        return Err(InputError::TooLarge);
    }
    text_of(bytes)
}

/// What tells a file from others, whatever path leads to it.
pub(crate) fn identity_of(name: &str) -> String {
    Path::new(name).canonicalize().map_or(name.to_string(), |f| f.to_string_lossy().into_owned())
}

/// The file that a Lustre file includes: its path is relative to that of the other one.
pub(crate) fn read_included(by: &str, path: &str) -> Result<gander_lang::lustre::Included, String> {
    let file = Path::new(by).parent().unwrap_or(Path::new("")).join(path);
    let name = file.to_string_lossy().into_owned();
    let text = read_input(&name).map_err(|e| e.to_string())?;
    let identity = identity_of(&name);
    Ok(gander_lang::lustre::Included { name, identity, text })
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
    fn encodings() {
        assert!(matches!(text_of(vec![0xff, 0xfe, 65, 0]), Err(InputError::Utf16)));
        assert!(matches!(text_of(b"ab\0".to_vec()), Err(InputError::Binary(2))));
        assert!(matches!(text_of(b"a\nb\xe9".to_vec()), Err(InputError::NotUtf8 { offset: 3, line: 2 })));
        assert_eq!(text_of(b"\xef\xbb\xbfspec".to_vec()).unwrap(), "spec");
        assert_eq!(text_of(Vec::new()).unwrap(), "");
    }

    #[test]
    fn a_file_is_no_folder() {
        assert!(matches!(read_input("/nowhere/at/all"), Err(InputError::Missing)));
        assert!(matches!(read_input("/"), Err(InputError::Directory)));
    }
}

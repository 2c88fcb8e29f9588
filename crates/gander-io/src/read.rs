//! Reading files whose names or folders may be hostile.
//!
//! Only regular files are read: a pipe may block for ever, a device may never end or may act when
//! it is opened. The type of the file is checked before it is opened and again through its
//! descriptor, and it is opened without blocking, so replacing the file in between has no effect.
//! Descriptors that this process was started with (`/dev/stdin`, `/dev/fd/N`, as shells write for
//! `<(command)`) may be pipes.

use std::fmt;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use gander_runtime::fault::{self, kind};

/// Whether the last part of a path may be a symbolic link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Links {
    /// It may: the user named the file.
    Follow,
    /// It may not: the file is in a folder that gander manages.
    Refuse,
}

/// Why a file was not read.
#[derive(Debug)]
pub enum ReadError {
    /// There is no such file.
    Missing,
    /// It is a directory.
    Directory,
    /// It is something else that is not a regular file: this.
    Special(&'static str),
    /// It has more bytes than the limit.
    TooLarge,
    /// Reading failed.
    Io(io::Error),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Missing => write!(f, "there is no such file"),
            ReadError::Directory => write!(f, "this is a directory, not a file"),
            ReadError::Special(what) => write!(f, "this is {what}, not a regular file"),
            ReadError::TooLarge => write!(f, "the file is too large"),
            ReadError::Io(e) => write!(f, "it cannot be read: {e}"),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<io::Error> for ReadError {
    fn from(e: io::Error) -> ReadError {
        match e.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ReadError::Missing,
            _ => ReadError::Io(e),
        }
    }
}

/// The error for a file that is not regular; `None` if it is regular.
fn irregular(kind: FileType) -> Option<ReadError> {
    Some(match kind {
        k if k.is_file() => return None,
        k if k.is_dir() => ReadError::Directory,
        k if k.is_fifo() => ReadError::Special("a pipe"),
        k if k.is_socket() => ReadError::Special("a socket"),
        k if k.is_symlink() => ReadError::Special("a symbolic link"),
        _ => ReadError::Special("a device"),
    })
}

/// True for a name of a descriptor that this process was started with.
fn is_inherited_descriptor(path: &Path) -> bool {
    path == Path::new("/dev/stdin") || path.parent().is_some_and(|p| p == Path::new("/dev/fd"))
}

/// Opens a regular file.
pub fn open(path: &Path, links: Links) -> Result<(File, Metadata), ReadError> {
    let refuse = links == Links::Refuse;
    let before = if refuse { path.symlink_metadata()? } else { path.metadata()? };
    let pipe_is_fine = !refuse && is_inherited_descriptor(path) && before.file_type().is_fifo();
    if let Some(problem) = irregular(before.file_type())
        && !pipe_is_fine
    {
        return Err(problem);
    }
    fault::point(kind::OPEN)?;
    if pipe_is_fine {
        return Ok((File::open(path)?, before));
    }
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    if refuse {
        flags |= OFlags::NOFOLLOW;
    }
    let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
    let about = file.metadata()?;
    match irregular(about.file_type()) {
        Some(problem) => Err(problem),
        None => Ok((file, about)),
    }
}

/// The bytes of a regular file of at most `limit` bytes.
pub fn bytes(path: &Path, links: Links, limit: u64) -> Result<Vec<u8>, ReadError> {
    let (file, about) = open(path, links)?;
    if about.len() > limit {
        return Err(ReadError::TooLarge);
    }
    fault::point(kind::READ)?;
    let mut content = Vec::with_capacity(about.len() as usize + 1);
    file.take(limit + 1).read_to_end(&mut content).map_err(ReadError::Io)?;
    if content.len() as u64 > limit {
        return Err(ReadError::TooLarge);
    }
    Ok(content)
}

/// The text of a regular file of at most `limit` bytes; an error if it is not UTF-8.
pub fn text(path: &Path, links: Links, limit: u64) -> Result<String, ReadError> {
    let not_utf8 =
        |_| ReadError::Io(io::Error::new(io::ErrorKind::InvalidData, "it is not in UTF-8"));
    String::from_utf8(bytes(path, links, limit)?).map_err(not_utf8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, Mode, mkfifoat};

    #[test]
    fn only_regular_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, "text").unwrap();
        let link = folder.path().join("l");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let pipe = folder.path().join("p");
        mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        let read = |path: &Path, links| text(path, links, 10);
        assert_eq!(read(&file, Links::Refuse).unwrap(), "text");
        assert_eq!(read(&link, Links::Follow).unwrap(), "text");
        assert!(matches!(read(&link, Links::Refuse), Err(ReadError::Special("a symbolic link"))));
        assert!(matches!(read(&pipe, Links::Follow), Err(ReadError::Special("a pipe"))));
        assert!(matches!(read(folder.path(), Links::Follow), Err(ReadError::Directory)));
        assert!(matches!(
            read(Path::new("/dev/zero"), Links::Follow),
            Err(ReadError::Special("a device"))
        ));
        assert!(matches!(
            read(&folder.path().join("none"), Links::Follow),
            Err(ReadError::Missing)
        ));
        assert!(matches!(read(&file.join("b"), Links::Follow), Err(ReadError::Missing)));
        assert!(matches!(text(&file, Links::Follow, 3), Err(ReadError::TooLarge)));
    }

    #[test]
    fn files_with_a_wrong_size_are_read_up_to_the_limit() {
        // Files of /proc have size 0.
        assert!(!bytes(Path::new("/proc/self/status"), Links::Follow, 1 << 20).unwrap().is_empty());
        assert!(matches!(
            bytes(Path::new("/proc/self/status"), Links::Follow, 5),
            Err(ReadError::TooLarge)
        ));
    }
}

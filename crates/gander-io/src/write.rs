//! Writing files: whole or not at all, and never through a planted link.
//!
//! Content goes into a new file with a random name in the same folder, which is then renamed. So at
//! any time there is the old file or the new one, a full disk leaves the old one, and processes
//! that share a folder (also from containers, where process ids repeat) do not touch each other's
//! files. Renaming replaces a symbolic link instead of following it.
//!
//! [`Target`] says what happens if the name of the file is a symbolic link. Symbolic links in the
//! folder part of a path are always followed: the user named the folder.

use std::fmt;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use gander_text::shown_path;
use rustix::fs::OFlags;
use tempfile::{Builder, NamedTempFile, TempDir};

use gander_runtime::fault::{self, kind};

/// A file could not be written.
#[derive(Debug)]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot be written: {}", shown_path(&self.path), self.error)
    }
}

impl std::error::Error for WriteError {}

/// How the file got its name, which decides what happens if it is a symbolic link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// An output that the user named: a link to a file is refused with a message; a link to a pipe
    /// or device (`/dev/stdout`) is followed.
    Named,
    /// A file that the user asked to change in place: a link is followed, and the file it leads to
    /// changes.
    InPlace,
    /// A file whose name gander chose, in a folder that gander fills: a link is replaced, and its
    /// target does not change.
    Managed,
    /// As `Managed`, but the content may be lost in a power failure.
    Cached,
}

/// Writes a whole file. Keeps the permissions of an existing file; fails if that is write-protected
/// or a directory.
pub fn replace(path: &Path, content: &[u8], target: Target) -> Result<(), WriteError> {
    let fail = |error: io::Error| WriteError { path: path.to_path_buf(), error };
    match destination(path, target).map_err(fail)? {
        Destination::Stream => write_stream(path, content).map_err(fail),
        Destination::File { path, permissions } => {
            write_file(&path, content, permissions, target).map_err(fail)
        }
    }
}

enum Destination {
    /// A pipe or device: it can be written to, but not replaced.
    Stream,
    File {
        path: PathBuf,
        /// Those of the old file.
        permissions: Option<Permissions>,
    },
}

fn destination(path: &Path, target: Target) -> io::Result<Destination> {
    let managed = matches!(target, Target::Managed | Target::Cached);
    let about = match path.symlink_metadata() {
        Ok(about) => about,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Ok(Destination::File { path: path.to_path_buf(), permissions: None });
        }
        Err(e) => return Err(e),
    };
    let (path, about) = match (about.is_symlink(), target) {
        (true, Target::Managed | Target::Cached) => {
            return Ok(Destination::File { path: path.to_path_buf(), permissions: None });
        }
        (true, Target::Named) => match fs::metadata(path) {
            Ok(end) if !end.is_file() => (path.to_path_buf(), end),
            // The shell opened it, for example `/dev/stdout`.
            Ok(_) if is_own_descriptor(path) => return Ok(Destination::Stream),
            _ => {
                return Err(io::Error::other(
                    "it is a symbolic link: name the file that it leads to, or remove it",
                ));
            }
        },
        (true, Target::InPlace) => {
            let end = fs::canonicalize(path)?;
            let about = fs::metadata(&end)?;
            (end, about)
        }
        (false, _) => (path.to_path_buf(), about),
    };
    let kind = about.file_type();
    if kind.is_dir() {
        return Err(io::Error::other("it is a directory"));
    }
    if kind.is_file() && about.permissions().readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is write-protected"));
    }
    match kind.is_file() {
        true => Ok(Destination::File { path, permissions: Some(about.permissions()) }),
        false if managed => Err(io::Error::other("it is no regular file")),
        false if kind.is_socket() || kind.is_block_device() => {
            Err(io::Error::other("it is no regular file"))
        }
        false => Ok(Destination::Stream),
    }
}

/// True for the names of open descriptors of this process.
fn is_own_descriptor(path: &Path) -> bool {
    ["/dev/stdout", "/dev/stderr"].iter().any(|p| path == Path::new(p))
        || path.parent().is_some_and(|p| p == Path::new("/dev/fd"))
}

fn write_stream(path: &Path, content: &[u8]) -> io::Result<()> {
    fault::point(kind::CREATE)?;
    let mut file = OpenOptions::new().write(true).open(path)?;
    write_all(&mut file, content)
}

fn write_file(
    path: &Path,
    content: &[u8],
    old: Option<Permissions>,
    target: Target,
) -> io::Result<()> {
    if path.file_name().is_none() {
        return Err(io::Error::other("it has no file name"));
    }
    let folder = folder_of(path);
    fault::point(kind::CREATE)?;
    // The process's umask applies, as to any new file.
    let new = Permissions::from_mode(0o666);
    let mut file: NamedTempFile =
        Builder::new().prefix(".gander-").suffix(".tmp").permissions(new).tempfile_in(folder)?;
    if let Some(permissions) = old {
        file.as_file().set_permissions(permissions)?;
    }
    write_all(file.as_file_mut(), content)?;
    let durable = target != Target::Cached;
    if durable {
        fault::point(kind::SYNC)?;
        file.as_file().sync_all()?;
    }
    fault::point(kind::RENAME)?;
    file.persist(path).map_err(|e| e.error)?;
    if durable && let Ok(folder) = File::open(folder) {
        // The content is on the disk. Not every file system can sync the folder.
        let _ = folder.sync_all();
    }
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn write_all(file: &mut File, content: &[u8]) -> io::Result<()> {
    if let Err(fault) = fault::point(kind::WRITE) {
        file.write_all(&content[..content.len() / 2])?;
        return Err(fault);
    }
    file.write_all(content)
}

/// Makes a new file; an error if the name exists, even as a dangling link.
pub fn create_new(path: &Path) -> io::Result<File> {
    fault::point(kind::CREATE)?;
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Opens a file for appending, in a folder that gander fills, and makes it if it does not exist. A
/// link is refused.
pub fn append(path: &Path) -> io::Result<File> {
    fault::point(kind::CREATE)?;
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let file = OpenOptions::new().create(true).append(true).custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no regular file")),
    }
}

/// Makes a folder and those above it.
pub fn create_folder(path: &Path) -> io::Result<()> {
    fault::point(kind::FOLDER)?;
    fs::create_dir_all(path)
}

/// A new folder with a random name that only this user can enter; it is removed when dropped.
pub fn scratch_folder(within: &Path, prefix: &str) -> io::Result<TempDir> {
    fault::point(kind::FOLDER)?;
    Builder::new().prefix(prefix).permissions(Permissions::from_mode(0o700)).tempdir_in(within)
}

/// [`scratch_folder`] in the system's folder for temporary files.
pub fn temporary_folder(prefix: &str) -> io::Result<TempDir> {
    scratch_folder(&std::env::temp_dir(), prefix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A folder with a file `victim` and a link `l` to it.
    fn stage() -> (TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (victim, link) = (folder.path().join("victim"), folder.path().join("l"));
        fs::write(&victim, "old").unwrap();
        symlink(&victim, &link).unwrap();
        (folder, victim, link)
    }

    fn entries(folder: &TempDir) -> usize {
        fs::read_dir(folder.path()).unwrap().count()
    }

    #[test]
    fn planted_links_are_not_written_through() {
        let (folder, victim, link) = stage();
        let refused = replace(&link, b"new", Target::Named).unwrap_err().to_string();
        assert!(refused.contains("symbolic link"), "{refused}");
        for target in [Target::Managed, Target::Cached] {
            let _ = fs::remove_file(&link);
            symlink(&victim, &link).unwrap();
            replace(&link, b"new", target).unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_file());
            assert_eq!(
                (fs::read(&victim).unwrap(), fs::read(&link).unwrap()),
                (b"old".to_vec(), b"new".to_vec())
            );
        }
        let dangling = folder.path().join("d");
        symlink(folder.path().join("nowhere"), &dangling).unwrap();
        assert!(replace(&dangling, b"new", Target::Named).is_err());
        assert!(create_new(&dangling).is_err() && append(&dangling).is_err());
        assert!(!folder.path().join("nowhere").exists());
        assert_eq!(entries(&folder), 3);
    }

    #[test]
    fn in_place_follows_a_link_and_keeps_permissions() {
        let (folder, victim, link) = stage();
        fs::set_permissions(&victim, Permissions::from_mode(0o640)).unwrap();
        replace(&link, b"new", Target::InPlace).unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&victim).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(entries(&folder), 2);
    }

    #[test]
    fn protected_files_and_folders_are_not_replaced() {
        let (folder, victim, _) = stage();
        fs::set_permissions(&victim, Permissions::from_mode(0o444)).unwrap();
        assert!(replace(&victim, b"new", Target::Named).is_err());
        assert!(replace(folder.path(), b"new", Target::Managed).is_err());
        assert!(replace(&folder.path().join("none/b"), b"new", Target::Named).is_err());
        assert_eq!(fs::read(&victim).unwrap(), b"old");
        assert_eq!(entries(&folder), 2);
    }

    #[test]
    fn devices_are_written_to_only_if_the_user_names_them() {
        replace(Path::new("/dev/null"), b"x", Target::Named).unwrap();
        assert!(replace(Path::new("/dev/full"), b"x", Target::Named).is_err());
        assert!(replace(Path::new("/dev/null"), b"x", Target::Managed).is_err());
    }

    #[test]
    fn writers_at_the_same_time_leave_one_whole_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::thread::scope(|scope| {
            for n in 0..8u8 {
                let path = &path;
                scope.spawn(move || replace(path, &vec![n; 100_000], Target::Cached).unwrap());
            }
        });
        let content = fs::read(&path).unwrap();
        assert!(content.len() == 100_000 && content.iter().all(|&b| b == content[0]));
        assert_eq!(entries(&folder), 1);
    }
}

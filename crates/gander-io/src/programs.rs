//! Other programs: where they are searched, and their digests.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sha2::Digest;

/// Bytes of a file that are hashed at once.
const BLOCK: usize = 256 << 10;

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sha256([u8; 32]);

impl Sha256 {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Sha256 {
        Sha256(sha2::Sha256::digest(bytes).into())
    }

    /// The digest of a file.
    pub fn of_file(mut file: &File) -> io::Result<Sha256> {
        let mut hasher = sha2::Sha256::new();
        let mut block = vec![0; BLOCK];
        loop {
            match file.read(&mut block)? {
                0 => return Ok(Sha256(hasher.finalize().into())),
                n => hasher.update(&block[..n]),
            }
        }
    }

    /// Its first hexadecimal digits.
    pub fn short(&self, digits: usize) -> String {
        let mut text = self.to_string();
        text.truncate(digits);
        text
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

/// True for a regular file that may be run.
pub fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// The absolute folders of a `PATH`. Relative entries (an empty entry means the current folder to a
/// shell) depend on where gander runs, and are left out.
pub fn folders(path: &OsStr) -> Vec<PathBuf> {
    std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect()
}

/// The program of this name in the folders of a `PATH`; see [`folders`].
pub fn find(name: &str, path: &OsStr) -> Option<PathBuf> {
    if name.is_empty() || name.contains('/') {
        return None;
    }
    folders(path).into_iter().map(|folder| folder.join(name)).find(|p| is_program(p))
}

/// A program that the user named: with a `/` it is a file (made absolute, so that starting it never
/// searches), without one it is searched in `path`. `None` if a bare name is not found.
pub fn named(program: &Path, path: Option<&OsStr>) -> Option<PathBuf> {
    let has_folder = program.as_os_str().as_encoded_bytes().contains(&b'/');
    if has_folder {
        return std::path::absolute(program).ok();
    }
    find(program.to_str()?, path?)
}

/// A `PATH` for child processes: only the [`folders`] of `path`.
pub fn clean_path(path: &OsStr) -> std::ffi::OsString {
    // Entries of a list have no separator in them, so they can be joined.
    std::env::join_paths(folders(path)).unwrap_or_default()
}

/// The absolute folder that an environment variable names. A relative one does not count: its
/// meaning depends on the current folder.
pub fn folder_from(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|folder| folder.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_folders_are_searched() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("tool");
        std::fs::write(&program, "").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let name = folder.path().display();
        assert_eq!(find("tool", format!("::.:rel/bin:{name}").as_ref()), Some(program.clone()));
        assert_eq!(folders("::.:rel:../x:./y".as_ref()), Vec::<PathBuf>::new());
        assert_eq!(find("", format!("{name}").as_ref()), None);
        assert_eq!(clean_path(format!(":.:{name}:").as_ref()), *folder.path().as_os_str());
        assert_eq!(
            named(Path::new("tool"), Some(format!("{name}").as_ref())),
            Some(program.clone())
        );
        assert_eq!(named(&program, None), Some(program));
        assert!(named(Path::new("./tool"), None).unwrap().is_absolute());
    }

    #[test]
    fn digests_of_bytes_and_files_agree_with_sha256() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Sha256::of(b"").to_string(), empty);
        assert_eq!(Sha256::of_file(&File::open("/dev/null").unwrap()).unwrap().to_string(), empty);
    }
}

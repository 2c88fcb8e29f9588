//! The folder that a set-up works in.
//!
//! It is beside the target, so that renaming is one operation, has a random name, can be entered by this user only, and
//! is removed when it is dropped. A process that is killed leaves its folder; the next set-up removes it. The folder's
//! lock, which ends with its process, tells whether it is in use.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gander_io::write::{create_new, scratch_folder};
use rustix::fs::{FlockOperation, flock};

use super::SetupError;

const PREFIX: &str = ".new-";
const LOCK: &str = "lock";
/// A folder without a lock is in the making, unless it is this old.
const OLD: Duration = Duration::from_secs(3600);

pub(super) struct Scratch {
    folder: tempfile::TempDir,
    _lock: File,
}

impl Scratch {
    /// Makes one in a folder, and removes those there that nobody uses.
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

    /// Where packages are put.
    pub(super) fn wheel(&self) -> PathBuf {
        self.folder.path().join("wheel")
    }

    /// For temporary files of programs.
    pub(super) fn temporary(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    /// Where the program is unpacked.
    pub(super) fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }
}

/// Removes folders of processes that were killed. What cannot be removed stays.
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
            let age = folder.metadata().and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
            age.is_some_and(|age| age > OLD)
        }
    }
}

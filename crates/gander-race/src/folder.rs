//! A scratch folder for one run of a program. It is removed when it is dropped; if this process is
//! killed, the guard removes it.

use std::io;
use std::path::Path;

use gander_io::write::temporary_folder;
use gander_process::guard::Guarded;
use tempfile::TempDir;

/// A folder that only this user can enter.
#[derive(Debug)]
pub(crate) struct Folder {
    folder: TempDir,
    _guarded: Guarded,
}

impl Folder {
    /// Makes a folder with a random name in the system's folder for temporary files.
    pub(crate) fn new(tool: &str) -> io::Result<Folder> {
        let folder = temporary_folder(&format!("gander-race-{tool}-"))?;
        let guarded = Guarded::folder(folder.path());
        Ok(Folder { folder, _guarded: guarded })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

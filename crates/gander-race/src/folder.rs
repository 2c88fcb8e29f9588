//! A folder of its own for every program; it is gone when it is dropped, or when this process has died.

use std::io;
use std::path::Path;

use gander_io::write::temporary_folder;
use gander_smt::guard::Guarded;
use tempfile::TempDir;

/// A folder that only we can read.
#[derive(Debug)]
pub(crate) struct Folder {
    folder: TempDir,
    _guarded: Guarded,
}

impl Folder {
    /// Makes a folder of a random name among the temporary files.
    pub(crate) fn new(tool: &str) -> io::Result<Folder> {
        let folder = temporary_folder(&format!("gander-race-{tool}-"))?;
        let guarded = Guarded::folder(folder.path());
        Ok(Folder { folder, _guarded: guarded })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

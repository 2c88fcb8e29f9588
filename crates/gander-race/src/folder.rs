//! A folder of its own for every program; it is gone when it is dropped, or when this process has died.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use gander_smt::guard::Guarded;

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A folder that only we can read.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    _guarded: Guarded,
}

impl Folder {
    /// Makes a folder among the temporary files.
    pub(crate) fn new(tool: &str) -> io::Result<Folder> {
        let base = std::env::temp_dir();
        for _ in 0..100 {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = base.join(format!("gander-race-{}-{number}-{tool}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Folder { _guarded: Guarded::folder(&path), path }),
                // A process with our number died and left it.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Err(io::Error::other("no name is left for a temporary folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

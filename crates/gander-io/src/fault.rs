//! Fault injection: makes one operation of a run fail.
//!
//! Every operation on a file that this crate does passes [`point`] first, with what it is about to do.
//! With `GANDER_FAULT=N` in the environment the N-th of them (from 1) fails as on a full disk; with
//! `GANDER_FAULT=KIND:N` only operations of that kind are counted. A write that fails has written half of
//! its content first. `GANDER_FAULT_LOG=FILE` gets a line with the kind when the fault happens, so a test
//! raises N until a run ends without one.
//!
//! Debug builds have this, and builds with the feature `fault-injection`; in others [`point`] is empty and
//! the environment is not looked at. Other crates may call [`point`] for faults of their own kinds, as for
//! the start of a process.

use std::io;

/// Kinds of operations on files.
pub mod kind {
    /// A folder is made.
    pub const FOLDER: &str = "folder";
    /// A file is created.
    pub const CREATE: &str = "create";
    /// Content is written.
    pub const WRITE: &str = "write";
    /// Content is forced to the disk.
    pub const SYNC: &str = "sync";
    /// A finished file gets its name.
    pub const RENAME: &str = "rename";
    /// A file is opened for reading.
    pub const OPEN: &str = "open";
    /// Content is read.
    pub const READ: &str = "read";
    /// A program is started.
    pub const SPAWN: &str = "spawn";
}

/// Fails if this operation is the one that was chosen.
#[cfg(any(debug_assertions, feature = "fault-injection"))]
pub fn point(kind: &str) -> io::Result<()> {
    if active::chosen(kind) { Err(full(kind)) } else { Ok(()) }
}

/// Fails if this operation is the one that was chosen; never, in this build.
#[cfg(not(any(debug_assertions, feature = "fault-injection")))]
#[inline(always)]
pub fn point(_: &str) -> io::Result<()> {
    Ok(())
}

#[cfg(any(debug_assertions, feature = "fault-injection"))]
fn full(kind: &str) -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, format!("injected fault ({kind})"))
}

#[cfg(any(debug_assertions, feature = "fault-injection"))]
mod active {
    use std::io::Write;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// The kind, if one was named, and the number.
    type Plan = Option<(Option<String>, u64)>;

    fn plan() -> &'static Plan {
        static PLAN: OnceLock<Plan> = OnceLock::new();
        PLAN.get_or_init(|| parse(&std::env::var("GANDER_FAULT").ok()?))
    }

    pub(super) fn parse(text: &str) -> Plan {
        match text.split_once(':') {
            Some((kind, number)) => Some((Some(kind.to_string()), number.parse().ok()?)),
            None => Some((None, text.parse().ok()?)),
        }
    }

    pub(super) fn chosen(kind: &str) -> bool {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let Some((wanted, number)) = plan() else { return false };
        if wanted.as_deref().is_some_and(|w| w != kind) {
            return false;
        }
        let happens = COUNT.fetch_add(1, Ordering::SeqCst) + 1 == *number;
        if happens {
            note(kind);
        }
        happens
    }

    fn note(kind: &str) {
        let Some(path) = std::env::var_os("GANDER_FAULT_LOG") else { return };
        if let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path) {
            // A log that cannot be written makes the test that reads it fail.
            let _ = writeln!(file, "{kind}");
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn plans_are_read() {
        assert_eq!(super::active::parse("3"), Some((None, 3)));
        assert_eq!(super::active::parse("write:2"), Some((Some("write".into()), 2)));
        assert_eq!(super::active::parse("x"), None);
    }
}

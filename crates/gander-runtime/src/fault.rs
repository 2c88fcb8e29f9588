//! Fault injection: makes one operation of a run fail.
//!
//! Operations that can fail call [`point`] or [`happens`] first, with their kind. With
//! `GANDER_FAULT=N` in the environment the N-th operation on files (from 1) fails; with
//! `GANDER_FAULT=KIND:N` the N-th of that kind. When the fault happens, its kind is appended to the
//! file `GANDER_FAULT_LOG`, so a test increases N until a run ends without a fault. Only debug
//! builds have this.

use std::io;

/// Kinds of operations.
pub mod kind {
    /// A folder is made.
    pub const FOLDER: &str = "folder";
    /// A file is created.
    pub const CREATE: &str = "create";
    /// Content is written; a write that fails has written half of it.
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
    /// Writing to a program fails, as if it had closed its input.
    pub const PIPE_WRITE: &str = "pipe-write";
    /// The output of a program ends.
    pub const PIPE_READ: &str = "pipe-read";
    /// The output of a program ends within an answer.
    pub const PIPE_SHORT: &str = "pipe-short";
    /// The output of a program is garbled.
    pub const PIPE_GARBLE: &str = "pipe-garble";
    /// The memory limit is reached.
    pub const MEMORY: &str = "memory";

    /// Kinds of operations on files, which a plan without a kind counts.
    #[cfg(debug_assertions)]
    pub(super) const OF_FILES: [&str; 7] = [FOLDER, CREATE, WRITE, SYNC, RENAME, OPEN, READ];
}

/// Fails, as on a full disk, if this operation is the chosen one.
#[inline]
pub fn point(kind: &str) -> io::Result<()> {
    if happens(kind) {
        return Err(io::Error::new(io::ErrorKind::StorageFull, format!("injected fault ({kind})")));
    }
    Ok(())
}

/// True if this operation is the chosen one.
#[cfg(debug_assertions)]
pub fn happens(kind: &str) -> bool {
    active::is_chosen(kind)
}

/// True if this operation is the chosen one: never, in this build.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn happens(_: &str) -> bool {
    false
}

#[cfg(debug_assertions)]
mod active {
    use std::io::Write;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::kind;

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

    pub(super) fn is_chosen(operation: &str) -> bool {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let Some((wanted, number)) = plan() else { return false };
        let is_counted = match wanted {
            Some(wanted) => wanted == operation,
            None => kind::OF_FILES.contains(&operation),
        };
        let is_chosen = is_counted && COUNT.fetch_add(1, Ordering::SeqCst) + 1 == *number;
        if is_chosen {
            log(operation);
        }
        is_chosen
    }

    fn log(operation: &str) {
        let Some(path) = std::env::var_os("GANDER_FAULT_LOG") else { return };
        if let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path) {
            // A log that cannot be written makes the test that reads it fail.
            let _ = writeln!(file, "{operation}");
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn plans_have_a_number_and_perhaps_a_kind() {
        assert_eq!(super::active::parse("3"), Some((None, 3)));
        assert_eq!(super::active::parse("write:2"), Some((Some("write".into()), 2)));
        assert_eq!(super::active::parse("x"), None);
    }
}

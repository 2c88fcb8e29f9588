//! Faults on purpose: makes one operation of a run go wrong, for tests.
//!
//! Operations pass [`happens`] with their kind. With `GANDER_FAULT=KIND:N` in the environment the N-th operation of that
//! kind (from 1) goes wrong, and `GANDER_FAULT_LOG=FILE` gets a line with the kind then; so a test raises N until a
//! run ends without a fault. Only debug builds have this: in others nothing ever happens, and the environment is not
//! looked at.

/// The start of a program fails.
pub const SPAWN: &str = "spawn";
/// Writing to a program fails, as if it had closed its input.
pub const PIPE_WRITE: &str = "pipe-write";
/// The output of a program ends.
pub const PIPE_READ: &str = "pipe-read";
/// The output of a program ends within an answer.
pub const PIPE_SHORT: &str = "pipe-short";
/// The output of a program is garbled.
pub const PIPE_GARBLE: &str = "pipe-garble";
/// The limit on memory is reached.
pub const MEMORY: &str = "memory";

/// True if this operation is the one that goes wrong.
#[cfg(debug_assertions)]
pub fn happens(kind: &str) -> bool {
    use std::io::Write;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    static PLAN: OnceLock<Option<(String, u64)>> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let plan = PLAN.get_or_init(|| {
        let text = std::env::var("GANDER_FAULT").ok()?;
        let (kind, number) = text.split_once(':')?;
        Some((kind.to_string(), number.parse().ok()?))
    });
    let Some((wanted, number)) = plan else { return false };
    if wanted != kind || COUNT.fetch_add(1, Ordering::SeqCst) + 1 != *number {
        return false;
    }
    if let Some(path) = std::env::var_os("GANDER_FAULT_LOG")
        && let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path)
    {
        // A log that cannot be written makes the test that reads it fail.
        let _ = writeln!(file, "{kind}");
    }
    true
}

/// True if this operation is the one that goes wrong: never, in this build.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn happens(_: &str) -> bool {
    false
}

//! A limit on the memory of this process and its children, and how much of it is in use.
//!
//! Cancellable work ([`crate::Cancellation::run_cancellable`]) is stopped at its next check when
//! more memory than the limit is in use, and its memory is freed. Freeing takes time, so other work
//! is spared for `GRACE` after that, unless much more than the limit is in use.
//!
//! The program sets a [`Probe`] that measures the memory in use. Without a probe or a limit (a
//! program that uses these crates as a library), no work is stopped for memory.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::fault;

/// Tells how many bytes this process and its children have in use; `None` if it cannot be measured.
pub type Probe = fn() -> Option<u64>;

/// Age of a measurement after which the probe is called again. A thread can touch about 8 MB of
/// fresh memory in it.
const FRESH: Duration = Duration::from_millis(4);

/// Time for which other work is spared after some was stopped.
const GRACE: Duration = Duration::from_millis(300);

/// Work is not spared if the limit is exceeded by more than this part of it (one in 16).
const SPARED_PART: u64 = 16;

/// No limit.
const NONE: u64 = u64::MAX;

// Memory belongs to the process, so the limit and the measurements are process-wide.
static PROBE: OnceLock<Probe> = OnceLock::new();
static LIMIT: AtomicU64 = AtomicU64::new(NONE);
/// The last measurement, and its time in nanoseconds since [`START`].
static SAMPLE: AtomicU64 = AtomicU64::new(0);
static SAMPLED: AtomicU64 = AtomicU64::new(NONE);
/// Work is spared until this time.
static SPARED: AtomicU64 = AtomicU64::new(0);
static START: OnceLock<Instant> = OnceLock::new();

fn now() -> u64 {
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Sets the probe; the first one stays.
pub fn set_probe(probe: Probe) {
    let _ = PROBE.set(probe);
}

/// Sets or removes the limit, in bytes.
pub fn set_limit(bytes: Option<u64>) {
    LIMIT.store(bytes.unwrap_or(NONE), Ordering::SeqCst);
}

/// The limit in bytes.
pub fn limit() -> Option<u64> {
    Some(LIMIT.load(Ordering::SeqCst)).filter(|l| *l != NONE)
}

/// Bytes in use, measured at most `FRESH` ago.
pub fn in_use() -> Option<u64> {
    let probe = PROBE.get()?;
    let (now, sampled) = (now(), SAMPLED.load(Ordering::Relaxed));
    if sampled != NONE && now.saturating_sub(sampled) < FRESH.as_nanos() as u64 {
        return Some(SAMPLE.load(Ordering::Relaxed));
    }
    SAMPLED.store(now, Ordering::Relaxed);
    let bytes = probe()?;
    SAMPLE.store(bytes, Ordering::Relaxed);
    Some(bytes)
}

/// True if this work has to stop because the limit is exceeded, counting `more` bytes that it is
/// about to allocate. Other work is spared then.
pub(crate) fn must_stop(more: u64) -> bool {
    let limit = LIMIT.load(Ordering::Relaxed);
    if limit != NONE && fault::happens(fault::kind::MEMORY) {
        return true;
    }
    if limit == NONE {
        return false;
    }
    let Some(used) = in_use() else { return false };
    let used = used.saturating_add(more);
    if used <= limit {
        return false;
    }
    let now = now();
    let spared = SPARED.load(Ordering::SeqCst);
    if now < spared && used <= limit + limit / SPARED_PART {
        return false;
    }
    // If two threads come here at the same time, only one stops.
    let until = now + GRACE.as_nanos() as u64;
    SPARED.compare_exchange(spared, until, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        || used > limit + limit / SPARED_PART
}

//! A limit on the memory of this process and its children, and how much of it is in use.
//!
//! The limit belongs to the process, as memory does. Cancellable work ([`crate::Cancellation::run_cancellable`]) that finds
//! more memory in use than the limit allows is stopped at its next check, and what it had allocated is freed. After that,
//! other work has [`GRACE`] before it is stopped, too, because freeing takes time; unless much more than the limit is in use.
//!
//! The program sets a [`Probe`] that measures the memory in use. Without one, or without a limit (a program that uses these
//! crates as a library), no work is stopped for memory.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::fault;

/// Tells how many bytes this process and its children have in use; `None` if it cannot be measured.
pub type Probe = fn() -> Option<u64>;

/// The probe is asked again after this time. At two gigabytes a second, which a thread needs for using fresh memory,
/// it is 8 MB.
const FRESH: Duration = Duration::from_millis(4);

/// How long other work is spared after some was stopped.
const GRACE: Duration = Duration::from_millis(300);

/// More than the limit and one part in so many of it is much more.
const MUCH: u64 = 16;

/// No limit.
const NONE: u64 = u64::MAX;

static PROBE: OnceLock<Probe> = OnceLock::new();
static LIMIT: AtomicU64 = AtomicU64::new(NONE);
/// The last answer of the probe, and when it was asked, in nanoseconds since [`START`].
static SAMPLE: AtomicU64 = AtomicU64::new(0);
static SAMPLED: AtomicU64 = AtomicU64::new(NONE);
/// Until when work is spared.
static SPARED: AtomicU64 = AtomicU64::new(0);
static START: OnceLock<Instant> = OnceLock::new();

fn now() -> u64 {
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Sets the probe; the first one stays.
pub fn set_probe(probe: Probe) {
    let _ = PROBE.set(probe);
}

/// Sets the limit in bytes, or takes it away.
pub fn set_limit(bytes: Option<u64>) {
    LIMIT.store(bytes.unwrap_or(NONE), Ordering::SeqCst);
}

/// The limit in bytes.
pub fn limit() -> Option<u64> {
    Some(LIMIT.load(Ordering::SeqCst)).filter(|l| *l != NONE)
}

/// Bytes in use, as the probe said a few milliseconds ago at most.
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

/// True if this work has to stop for memory, with this much more in use soon. Other work is spared then.
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
    if now < spared && used <= limit + limit / MUCH {
        return false;
    }
    // Of two at the same time one goes on.
    let until = now + GRACE.as_nanos() as u64;
    SPARED.compare_exchange(spared, until, Ordering::SeqCst, Ordering::SeqCst).is_ok() || used > limit + limit / MUCH
}

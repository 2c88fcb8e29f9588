//! A bound on the processor time of a solver that is renewed as long as somebody waits for it.
//!
//! When this program ends in whatever way, its pipes are closed, and a solver that reads or writes ends too. One that is in
//! the middle of a query notices nothing: if this program was killed (`SIGKILL`), nobody is left to end it, and a hard
//! query may take days. So on Linux every solver at work has a limit on processor time (`RLIMIT_CPU`), set from outside with
//! `prlimit`, that is [`TERM`] ahead of what it has used, and sooner if the query has a deadline. Whoever waits for an answer
//! sets it anew every [`RENEWAL`], from what the solver has used by then: a query that is waited for is never ended by it.
//! Only if this program is stopped (Ctrl-Z) for so long that the solver uses up the term is its query lost, as if the
//! solver had died.
//!
//! With a deadline the limit is what one thread can use until then: a solver with several threads may end before its
//! deadline, which is told as a time-out. Elsewhere there is no such limit. Nor does it reach a solver that a wrapper script has started without `exec` before the
//! first query.

use std::process::Child;
use std::sync::Mutex;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use gander_runtime::lock;

/// What an abandoned solver may still use at most.
const TERM: Duration = Duration::from_secs(300);

/// How often the limit is renewed. A solver with several threads uses its term faster: this is enough for fifty.
const RENEWAL: Duration = Duration::from_secs(5);

/// Processor time beyond a deadline, so that the deadline is what ends a query.
#[cfg(target_os = "linux")]
const BEYOND_DEADLINE: u64 = 2;

/// The limit on one solver process.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub struct Lease {
    id: u32,
    started: Instant,
    renewed: Option<Instant>,
    term: Duration,
    renewal: Duration,
    /// What the solver may use without a deadline, in seconds since its start.
    end: u64,
    /// What it was told.
    told: Option<u64>,
}

impl Lease {
    /// For the process with this number, which was started just now. It has no limit yet, nor anything to do.
    pub fn new(id: u32) -> Lease {
        let started = Instant::now();
        Lease { id, started, renewed: None, term: TERM, renewal: RENEWAL, end: 0, told: None }
    }

    /// Sees to it that the process has a limit that it cannot reach before it is time to call this again, but soon after the
    /// deadline. Costs next to nothing most of the time.
    #[cfg(target_os = "linux")]
    pub fn renew(&mut self, child: &Mutex<Child>, deadline: Option<Instant>) {
        let now = Instant::now();
        if self.renewed.is_none_or(|last| now.duration_since(last) >= self.renewal) {
            // One thread that was just started cannot have used more than the time that has passed.
            let passed = now.duration_since(self.started);
            let used = if passed < self.renewal { passed } else { used_time(self.id).unwrap_or(passed) };
            self.renewed = Some(now);
            self.end = (used + self.term).as_secs() + 1;
        }
        let by_deadline = |d: Instant| d.saturating_duration_since(self.started).as_secs() + BEYOND_DEADLINE;
        let seconds = deadline.map_or(self.end, |d| by_deadline(d).min(self.end));
        if self.told != Some(seconds) {
            use rustix::process::{Pid, Resource, Rlimit, prlimit};
            self.told = Some(seconds);
            let mut child = lock(child);
            // The number of one that was reaped may belong to another process.
            if let Ok(None) = child.try_wait() {
                let limit = Rlimit { current: Some(seconds), maximum: None };
                let _ = prlimit(Pid::from_raw(child.id() as i32), Resource::Cpu, limit);
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub fn renew(&mut self, _child: &Mutex<Child>, _deadline: Option<Instant>) {}

    /// True if it is the deadline that limits the process.
    pub(crate) fn is_by_deadline(&self) -> bool {
        self.told.is_some_and(|told| told < self.end)
    }
}

/// Processor time that a process has used, all its threads together.
#[cfg(target_os = "linux")]
fn used_time(id: u32) -> Option<Duration> {
    // Ticks per second in /proc, the same on every architecture that we can be compiled for.
    const TICKS: u64 = 100;
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name is in parentheses and may contain anything. User and system time are fields 14 and 15 of proc(5), so
    // 11 and 12 after it, counted from zero.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis((ticks()? + ticks()?) * 1000 / TICKS))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    use super::*;

    const SIGXCPU: i32 = 24;

    /// A shell that works until it has used so many hundredths of a second.
    fn worker(hundredths: u32) -> Mutex<Child> {
        let script = format!(
            "while read -r s < /proc/$$/stat && set -- $s && [ $((${{14}} + ${{15}})) -lt {hundredths} ]; do :; done"
        );
        Mutex::new(Command::new("/bin/sh").args(["-c", &script]).stdin(Stdio::null()).spawn().unwrap())
    }

    fn lease(child: &Mutex<Child>) -> Lease {
        Lease::new(lock(child).id())
    }

    fn short_lease(child: &Mutex<Child>) -> Lease {
        Lease { term: Duration::from_secs(1), renewal: Duration::from_millis(50), ..lease(child) }
    }

    #[test]
    fn who_is_abandoned_ends() {
        let child = worker(1_000_000);
        let mut lease = short_lease(&child);
        lease.renew(&child, None);
        assert_eq!(lock(&child).wait().unwrap().signal(), Some(SIGXCPU));
        assert!(!lease.is_by_deadline());
    }

    #[test]
    fn who_is_abandoned_with_a_deadline_ends_soon_after_it() {
        let child = worker(1_000_000);
        let mut lease = lease(&child);
        lease.renew(&child, Some(Instant::now() + Duration::from_millis(100)));
        assert_eq!(lock(&child).wait().unwrap().signal(), Some(SIGXCPU));
        assert!(lease.is_by_deadline());
    }

    #[test]
    fn who_is_waited_for_does_not_end() {
        // Twice what one lease lasts, rounding included.
        let child = worker(400);
        let mut lease = short_lease(&child);
        let status = loop {
            if let Some(status) = lock(&child).try_wait().unwrap() {
                break status;
            }
            lease.renew(&child, None);
            std::thread::sleep(Duration::from_millis(20));
        };
        assert!(status.success(), "{status}");
    }

    #[test]
    fn used_time_is_read() {
        let child = worker(30);
        let id = lock(&child).id();
        // It is a zombie in the end, whose account can still be read.
        while used_time(id).unwrap() < Duration::from_millis(300) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(used_time(id).unwrap() < Duration::from_secs(30));
        lock(&child).wait().unwrap();
        assert_eq!(used_time(id), None);
    }
}

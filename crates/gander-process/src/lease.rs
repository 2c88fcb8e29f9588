//! A limit on the processor time of a child that is renewed as long as this process waits for it.
//!
//! When this process ends, its pipes are closed, and a child that reads or writes ends too. A child
//! in the middle of a computation notices nothing. If this process was killed (`SIGKILL`) and there
//! is no guard process ([`crate::guard`]), such a child could run for days. So on Linux a working
//! child has a limit on processor time (`RLIMIT_CPU`, set with `prlimit`): [`TERM`] more than it
//! has used, or less if it has a deadline. While this process waits for the child, it renews the
//! limit every [`RENEWAL`]. So the limit ends a child only if this process is dead, or stopped
//! (Ctrl-Z) for as long as the child needs to use up the term.
//!
//! With a deadline, the limit is what one thread can use until then. A child with several threads
//! may reach it before the deadline, which counts as a time-out. The limit does not reach a solver
//! that a wrapper script started without `exec` before the limit was first set.

use std::time::{Duration, Instant};

use crate::supervised::Handle;

/// Processor time that an abandoned child may still use.
const TERM: Duration = Duration::from_secs(300);

/// How often the limit is renewed. A child with several threads uses its term faster: this is
/// enough for 50 threads.
const RENEWAL: Duration = Duration::from_secs(5);

/// Seconds of processor time beyond a deadline, so that the deadline itself ends a query.
#[cfg(target_os = "linux")]
const BEYOND_DEADLINE: u64 = 2;

/// The limit on the processor time of one child.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub(crate) struct Lease {
    started: Instant,
    renewed: Option<Instant>,
    term: Duration,
    renewal: Duration,
    /// The limit without a deadline, in seconds since the start of the child.
    end: u64,
    /// The limit that was set last.
    limit: Option<u64>,
}

impl Lease {
    /// For a child that was started just now. It has no limit before the first renewal.
    pub(crate) fn new() -> Lease {
        let started = Instant::now();
        Lease { started, renewed: None, term: TERM, renewal: RENEWAL, end: 0, limit: None }
    }

    /// Sets a limit that the child cannot reach before this is called again, but reaches soon after
    /// the deadline. Most calls change nothing and cost nothing.
    #[cfg(target_os = "linux")]
    pub(crate) fn renew(&mut self, child: &Handle, deadline: Option<Instant>) {
        use crate::proc_fs::Stat;
        use rustix::process::{Pid, Resource, Rlimit, prlimit};
        let now = Instant::now();
        if self.renewed.is_none_or(|last| now.duration_since(last) >= self.renewal) {
            // One thread that was just started cannot have used more than the time that has passed.
            let passed = now.duration_since(self.started);
            let used = match passed < self.renewal {
                true => passed,
                false => Stat::of(child.id()).map_or(passed, |stat| stat.own_time()),
            };
            self.renewed = Some(now);
            self.end = (used + self.term).as_secs() + 1;
        }
        let by_deadline =
            |d: Instant| d.saturating_duration_since(self.started).as_secs() + BEYOND_DEADLINE;
        let seconds = deadline.map_or(self.end, |d| by_deadline(d).min(self.end));
        if self.limit != Some(seconds) {
            self.limit = Some(seconds);
            child.if_not_reaped(|id| {
                let limit = Rlimit { current: Some(seconds), maximum: None };
                let _ = prlimit(Pid::from_raw(id as i32), Resource::Cpu, limit);
            });
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn renew(&mut self, _child: &Handle, _deadline: Option<Instant>) {}

    /// True if the limit comes from a deadline.
    pub(crate) fn is_by_deadline(&self) -> bool {
        self.limit.is_some_and(|limit| limit < self.end)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};
    use std::sync::Arc;

    use super::*;
    use crate::proc_fs::Stat;
    use crate::supervised::{DescendantPolicy, Supervised};

    const SIGXCPU: i32 = 24;

    /// A shell that works until it has used this many hundredths of a second.
    fn worker(hundredths: u32) -> Supervised {
        let script = format!(
            "while read -r s < /proc/$$/stat && set -- $s && [ $((${{14}} + ${{15}})) -lt {hundredths} ]; do :; done"
        );
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &script]);
        Supervised::spawn(&mut command, Stdio::null(), DescendantPolicy::Ignored).unwrap().0
    }

    fn short_lease() -> Lease {
        Lease { term: Duration::from_secs(1), renewal: Duration::from_millis(50), ..Lease::new() }
    }

    fn signal(child: &Handle) -> Option<i32> {
        child.reap().unwrap().signal()
    }

    #[test]
    fn an_abandoned_child_ends() {
        let child = worker(1_000_000);
        let mut lease = short_lease();
        lease.renew(&child.handle, None);
        assert_eq!(signal(&child.handle), Some(SIGXCPU));
        assert!(!lease.is_by_deadline());
    }

    #[test]
    fn an_abandoned_child_with_a_deadline_ends_soon_after_it() {
        let child = worker(1_000_000);
        let mut lease = Lease::new();
        lease.renew(&child.handle, Some(Instant::now() + Duration::from_millis(100)));
        assert_eq!(signal(&child.handle), Some(SIGXCPU));
        assert!(lease.is_by_deadline());
    }

    #[test]
    fn a_child_whose_lease_is_renewed_does_not_end() {
        // Twice what one lease lasts, rounding included.
        let child = worker(400);
        let handle = Arc::clone(&child.handle);
        let mut lease = short_lease();
        while !handle.has_ended() {
            lease.renew(&handle, None);
            std::thread::sleep(Duration::from_millis(20));
        }
        let status = handle.reap().unwrap();
        assert!(status.success(), "{status}");
    }

    #[test]
    fn processor_time_is_measured() {
        let child = worker(30);
        let used = || Stat::of(child.id()).map(|stat| stat.own_time());
        // It is a zombie in the end, whose account can still be read.
        while used().unwrap() < Duration::from_millis(300) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(used().unwrap() < Duration::from_secs(30));
        child.handle.reap();
        assert_eq!(used(), None);
    }
}

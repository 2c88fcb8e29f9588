//! The core of both entry points: one child, how it is started, limited, killed and reaped.
//!
//! A child that has ended is reaped only at the end of [`Supervised`]. Until then its number stays
//! its own, so its process group can be killed safely, and `/proc` has its final account.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use gander_runtime::{fault, lock};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::descendants::{Mark, VARIABLE};
use crate::guard::Guarded;
use crate::lease::Lease;

/// A resource of a child that the kernel limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Resource {
    /// Bytes of address space.
    AddressSpace,
    /// Bytes of a core dump.
    CoreDump,
    /// Bytes of one file.
    File,
}

/// Sets a limit of a running process. Only Linux can do this from outside.
#[cfg(target_os = "linux")]
pub(crate) fn set_limit(id: u32, resource: Resource, bytes: u64) {
    use rustix::process::{Resource as Kind, Rlimit, prlimit};
    let kind = match resource {
        Resource::AddressSpace => Kind::As,
        Resource::CoreDump => Kind::Core,
        Resource::File => Kind::Fsize,
    };
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    if let Some(pid) = Pid::from_raw(id as i32) {
        let _ = prlimit(Some(pid), kind, limit);
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn set_limit(_: u32, _: Resource, _: u64) {}

/// A child that several threads may look at and kill.
#[derive(Debug)]
pub(crate) struct Handle {
    id: u32,
    state: Mutex<State>,
    killed: AtomicBool,
}

#[derive(Debug)]
struct State {
    child: Child,
    /// Its status; it is known once the child was reaped.
    status: Option<ExitStatus>,
}

impl Handle {
    fn new(child: Child) -> Handle {
        let state = State { child, status: None };
        Handle { id: state.child.id(), state: Mutex::new(state), killed: AtomicBool::new(false) }
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Kills the child and its process group, and notes that it was killed on purpose.
    pub(crate) fn kill(&self) {
        self.killed.store(true, Ordering::SeqCst);
        self.kill_group();
    }

    /// True after [`Handle::kill`].
    pub(crate) fn is_killed(&self) -> bool {
        self.killed.load(Ordering::SeqCst)
    }

    fn kill_group(&self) {
        let mut state = lock(&self.state);
        // After it was reaped its number may belong to another process.
        if state.status.is_none() {
            if let Some(pid) = Pid::from_raw(self.id as i32) {
                // It fails only if the group is gone.
                let _ = kill_process_group(pid, Signal::KILL);
            }
            let _ = state.child.kill();
        }
    }

    /// Whether the child has ended. It is not reaped.
    pub(crate) fn has_ended(&self) -> bool {
        let state = lock(&self.state);
        state.status.is_some() || self.is_zombie(WaitIdOptions::NOHANG)
    }

    /// Waits until the child has ended; for one that was killed.
    pub(crate) fn wait_for_end(&self) {
        while !self.has_ended() && !self.is_zombie(WaitIdOptions::empty()) {}
    }

    fn is_zombie(&self, options: WaitIdOptions) -> bool {
        let Some(pid) = Pid::from_raw(self.id as i32) else { return true };
        let options = options | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        matches!(waitid(WaitId::Pid(pid), options), Ok(Some(_)) | Err(rustix::io::Errno::CHILD))
    }

    /// Waits for the end of the child and reaps it.
    pub(crate) fn reap(&self) -> Option<ExitStatus> {
        let mut state = lock(&self.state);
        if state.status.is_none() {
            state.status = state.child.wait().ok();
        }
        state.status
    }

    /// Calls `act` with the number of the child, if it was not reaped.
    pub(crate) fn if_not_reaped(&self, act: impl FnOnce(u32)) {
        let state = lock(&self.state);
        if state.status.is_none() {
            act(self.id);
        }
    }
}

/// What happens to descendants that leave the process group of the child.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DescendantPolicy {
    /// Nothing.
    Ignored,
    /// They are killed with the child; costs a scan of all processes.
    Killed,
}

/// The pipes to a child.
pub(crate) struct Pipes {
    pub stdin: Option<ChildStdin>,
    pub stdout: Option<ChildStdout>,
    pub stderr: Option<ChildStderr>,
}

/// A child that is killed and reaped when this is dropped.
#[derive(Debug)]
pub(crate) struct Supervised {
    pub(crate) handle: Arc<Handle>,
    lease: Lease,
    mark: Option<Mark>,
    guarded_group: Option<Guarded>,
    guarded_mark: Option<Guarded>,
    is_over: bool,
}

impl Supervised {
    /// Starts a child in its own process group: a wrapper script and its solver die together, and
    /// Ctrl-C reaches only this process.
    pub(crate) fn spawn(
        command: &mut Command,
        stdin: Stdio,
        escapees: DescendantPolicy,
    ) -> io::Result<(Supervised, Pipes)> {
        if fault::happens(fault::kind::SPAWN) {
            return Err(io::Error::other("injected fault"));
        }
        let mark = (escapees == DescendantPolicy::Killed).then(Mark::new);
        command.envs(mark.as_ref().map(|mark| (VARIABLE, mark.value())));
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn()?;
        let pipes = Pipes {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
        };
        let handle = Arc::new(Handle::new(child));
        let lease = Lease::new();
        let supervised = Supervised {
            handle,
            lease,
            mark,
            guarded_group: None,
            guarded_mark: None,
            is_over: false,
        };
        Ok((supervised, pipes))
    }

    pub(crate) fn id(&self) -> u32 {
        self.handle.id()
    }

    pub(crate) fn mark(&self) -> Option<&Mark> {
        self.mark.as_ref()
    }

    /// Renews the limit on processor time; see [`Lease`].
    pub(crate) fn renew_lease(&mut self, deadline: Option<Instant>) {
        self.lease.renew(&self.handle, deadline);
    }

    /// True if the limit on processor time comes from a deadline.
    pub(crate) fn is_limited_by_deadline(&self) -> bool {
        self.lease.is_by_deadline()
    }

    /// Tells the guard process to kill the child if this process dies.
    pub(crate) fn guard(&mut self) {
        if self.guarded_group.is_none() {
            self.guarded_group = Some(Guarded::group(self.id()));
            self.guarded_mark = self.mark.as_ref().map(Guarded::mark);
        }
    }

    pub(crate) fn is_guarded(&self) -> bool {
        self.guarded_group.is_some()
    }

    /// Kills the child and its descendants, and waits until it has ended. `/proc` still has its
    /// account.
    pub(crate) fn terminate(&mut self) {
        self.handle.kill_group();
        self.handle.wait_for_end();
    }

    /// Ends the child with all its descendants and reaps it.
    pub(crate) fn finish(&mut self) -> Option<ExitStatus> {
        if !self.is_over {
            self.is_over = true;
            self.handle.kill_group();
            // Once the child is reaped, the guard must not kill a group with its number.
            self.guarded_group = None;
            self.handle.reap();
            if let Some(mark) = &self.mark {
                mark.kill_all();
            }
            self.guarded_mark = None;
        }
        self.handle.reap()
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.finish();
    }
}

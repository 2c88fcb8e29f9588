//! One solver child: pipes, limits, killing.
//!
//! Invariants: no call blocks past its deadline or past a kill; writing never deadlocks with a child that writes at
//! the same time (both directions are served in one poll loop); what the child can make us keep is bounded; a child
//! never outlives its [`Process`], nor is a zombie left. If this program is killed, the guard kills its children
//! ([`crate::guard`]), and where there is none, see [`Lease`].

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use gander_runtime::{CancelGuard, Cancellation, fault, lock};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::guard::Guarded;
use crate::lease::Lease;
use crate::memory::{Counted, tree};

/// How much of a child's error output is kept for messages.
const KEPT_ERRORS: usize = 16 << 10;

/// A kill also has to be seen if some descendant of the child holds its pipes open.
const LONGEST_POLL: Duration = Duration::from_millis(100);

/// A child that is waited for longer than this is on the guard's list. One that is idle ends with its pipes.
const GUARDED_AFTER: Duration = Duration::from_millis(20);

/// When too much memory is in use, a child ends that has at least one part in so many of it.
const MUCH_MEMORY: u64 = 8;

/// A child serves so many conversations at most, one after the other: what it may forget to give back is bounded.
const MOST_SERVED: u32 = 200;

/// Why a conversation ended early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// The deadline passed.
    Timeout,
    /// It was cancelled.
    Interrupted,
    /// The child closed a pipe, which it does by dying at the latest.
    Closed,
    /// The child wrote more than it may.
    Flood,
    /// Too much memory is in use, and much of it is the child's.
    Memory,
}

/// What a child may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessLimits {
    /// Bytes of address space.
    pub memory: Option<u64>,
    /// Bytes of output between two calls of [`Process::forget_output`].
    pub output: usize,
}

/// The solver processes of one user, for measuring their memory.
#[derive(Clone, Debug, Default)]
pub struct SolverProcesses {
    list: Arc<Mutex<Vec<Weak<Shared>>>>,
}

impl SolverProcesses {
    /// Bytes of memory that they have in use.
    pub fn memory(&self) -> u64 {
        let children: Vec<Arc<Shared>> = lock(&self.list).iter().filter_map(Weak::upgrade).collect();
        children.iter().map(|c| tree(lock(&c.child).id())).sum()
    }

    fn add(&self, child: &Arc<Shared>) {
        let mut list = lock(&self.list);
        list.retain(|c| c.strong_count() > 0);
        list.push(Arc::downgrade(child));
    }

    fn remove(&self, child: &Arc<Shared>) {
        lock(&self.list).retain(|c| !std::ptr::eq(c.as_ptr(), Arc::as_ptr(child)));
    }
}

/// Whom a solver process serves: what ends it, and where it is counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owner {
    pub cancellation: Cancellation,
    pub processes: SolverProcesses,
}

#[derive(Debug)]
struct Shared {
    child: Mutex<Child>,
    killed: AtomicBool,
    /// No question is under way, and there is another use for it.
    spare: AtomicBool,
}

impl Shared {
    fn kill(&self) {
        self.killed.store(true, Ordering::SeqCst);
        self.end();
    }

    /// Kills the child and whatever it started, unless it was reaped: then its number may belong to another process.
    fn end(&self) {
        let mut child = lock(&self.child);
        if let Ok(None) = child.try_wait() {
            if let Some(pid) = Pid::from_raw(child.id() as i32) {
                // It fails only if the group is gone.
                let _ = kill_process_group(pid, Signal::KILL);
            }
            let _ = child.kill();
        }
    }
}

/// A running solver.
#[derive(Debug)]
pub(crate) struct Process {
    shared: Arc<Shared>,
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: Option<ChildStderr>,
    output: Vec<u8>,
    errors: Vec<u8>,
    limits: ProcessLimits,
    lease: Lease,
    guarded: Option<Guarded>,
    _counted: Counted,
    introduced: bool,
    /// Its output is over, by a fault on purpose.
    ended: bool,
    /// Conversations that are over.
    served: u32,
    /// Kills the child when its owner is cancelled.
    cancel_guard: Option<CancelGuard>,
}

impl Process {
    /// Starts `program` for an owner, whose cancellation ends it.
    pub(crate) fn spawn(program: &Path, args: &[String], limits: ProcessLimits, owner: &Owner) -> io::Result<Self> {
        let mut process = Process::launch(program, args)?;
        process.serve(limits, owner);
        Ok(process)
    }

    /// Starts `program` for somebody who will come later: until [`Process::serve`] it has no limits, but nothing to do
    /// either.
    pub(crate) fn launch(program: &Path, args: &[String]) -> io::Result<Self> {
        if fault::happens(fault::kind::SPAWN) {
            return Err(io::Error::other("injected fault"));
        }
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own: a wrapper script and its solver die together, and Ctrl-C reaches us alone.
            .process_group(0)
            .spawn()?;
        let counted = Counted::new(child.id());
        let lease = Lease::new(child.id());
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let shared = Arc::new(Shared {
            child: Mutex::new(child),
            killed: AtomicBool::new(false),
            spare: AtomicBool::new(false),
        });
        let (Some(stdin), Some(stdout), stderr) = pipes else {
            shared.kill();
            return Err(io::Error::other("no pipes to the solver"));
        };
        let process = Process {
            shared,
            stdin,
            stdout,
            stderr,
            output: Vec::new(),
            errors: Vec::new(),
            limits: ProcessLimits { memory: None, output: 0 },
            lease,
            guarded: None,
            _counted: counted,
            introduced: false,
            ended: false,
            served: 0,
            cancel_guard: None,
        };
        nonblocking(&process.stdin)?;
        nonblocking(&process.stdout)?;
        if let Some(stderr) = &process.stderr {
            nonblocking(stderr)?;
        }
        Ok(process)
    }

    /// Sets the limits of the child; the cancellation of the owner ends it from then on.
    pub(crate) fn serve(&mut self, limits: ProcessLimits, owner: &Owner) {
        self.limits = limits;
        self.set_spare(false);
        set_memory_limit(&lock(&self.shared.child), limits.memory);
        owner.processes.add(&self.shared);
        let child = Arc::downgrade(&self.shared);
        self.cancel_guard = Some(owner.cancellation.on_cancel_while(move || {
            if let Some(child) = child.upgrade()
                && !child.spare.load(Ordering::SeqCst)
            {
                child.kill();
            }
        }));
    }

    /// Takes the child from its owner; true if it can serve another one: it was not killed, has no unread output, and has no
    /// limits.
    pub(crate) fn leave(&mut self, owner: &Owner) -> bool {
        self.cancel_guard = None;
        owner.processes.remove(&self.shared);
        let free = !self.shared.killed.load(Ordering::SeqCst) && self.limits.memory.is_none();
        self.served += 1;
        self.drain_errors();
        free && self.served < MOST_SERVED && self.output.iter().all(u8::is_ascii_whitespace) && self.errors.is_empty()
    }

    /// Says whether the child has nothing to do but could serve another owner: then cancellation does not end it. A caller
    /// that puts it to work says so before it checks for cancellation.
    pub(crate) fn set_spare(&self, spare: bool) {
        self.shared.spare.store(spare, Ordering::SeqCst);
    }

    /// Kills the child without waiting for its end; dropping waits.
    pub(crate) fn kill(&self) {
        self.shared.kill();
    }

    /// True as long as the child has not ended.
    pub(crate) fn is_alive(&self) -> bool {
        matches!(lock(&self.shared.child).try_wait(), Ok(None))
    }

    /// What the child wrote and was not forgotten.
    pub(crate) fn output(&self) -> &[u8] {
        &self.output
    }

    /// Drops output up to `end`, which has been dealt with.
    pub(crate) fn forget_output(&mut self, end: usize) {
        self.output.drain(..end.min(self.output.len()));
    }

    /// The beginning of what the child wrote to its error output.
    pub(crate) fn error_text(&mut self) -> String {
        self.drain_errors();
        String::from_utf8_lossy(&self.errors).into_owned()
    }

    /// The number of the process, for messages and tests.
    pub(crate) fn id(&self) -> u32 {
        lock(&self.shared.child).id()
    }

    /// How the child ended, if it has; waits a moment for one that is just dying.
    pub(crate) fn exit_status(&mut self) -> Option<std::process::ExitStatus> {
        for _ in 0..20 {
            if let Ok(Some(status)) = lock(&self.shared.child).try_wait() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_micros(500));
        }
        None
    }

    /// Somebody will wait for this child until the deadline: see [`Lease`].
    pub(crate) fn renew_lease(&mut self, deadline: Option<Instant>) {
        self.lease.renew(&self.shared.child, deadline);
    }

    /// True if the child's processor time is limited by the deadline of a query.
    pub(crate) fn is_limited_by_deadline(&self) -> bool {
        self.lease.is_by_deadline()
    }

    /// Sends as much of `bytes` as can be sent without waiting; tells how much that is.
    pub(crate) fn offer(&mut self, bytes: &[u8]) -> usize {
        // Reading is work too, and the deadline of the last query is none for it.
        self.renew_lease(None);
        self.write_some(bytes)
    }

    /// Says what the first conversation would begin with. False if the child does not take it: then it is of no use.
    pub(crate) fn introduce(&mut self, bytes: &[u8]) -> bool {
        self.introduced = true;
        self.write_some(bytes) == bytes.len()
    }

    /// True if the child knows options and logic.
    pub(crate) fn is_introduced(&self) -> bool {
        self.introduced
    }

    fn write_once(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if fault::happens(fault::kind::PIPE_WRITE) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.stdin.write(bytes)
    }

    /// Reads what there is.
    fn read_once(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        if self.ended || fault::happens(fault::kind::PIPE_READ) {
            return Ok(0);
        }
        let n = self.stdout.read(chunk)?;
        if n > 0 && fault::happens(fault::kind::PIPE_SHORT) {
            self.ended = true;
            return Ok(n / 2);
        }
        if n > 0 && fault::happens(fault::kind::PIPE_GARBLE) {
            chunk[..n].iter_mut().for_each(|b| *b ^= 0x15);
        }
        Ok(n)
    }

    fn write_some(&mut self, bytes: &[u8]) -> usize {
        let mut sent = 0;
        while sent < bytes.len() {
            match self.write_once(&bytes[sent..]) {
                Ok(n) => sent += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        sent
    }

    /// Sends all of `bytes`, taking in output meanwhile.
    pub(crate) fn send(&mut self, mut bytes: &[u8], deadline: Option<Instant>) -> Result<(), Stop> {
        while !bytes.is_empty() {
            match self.write_once(bytes) {
                Ok(n) => bytes = &bytes[n..],
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => self.wait(Want::Write, deadline)?,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(self.closed()),
            }
        }
        Ok(())
    }

    /// Waits for more output.
    pub(crate) fn receive(&mut self, deadline: Option<Instant>) -> Result<(), Stop> {
        let before = self.output.len();
        while self.output.len() == before {
            self.wait(Want::Read, deadline)?;
        }
        Ok(())
    }

    fn closed(&self) -> Stop {
        if self.shared.killed.load(Ordering::SeqCst) { Stop::Interrupted } else { Stop::Closed }
    }

    /// Waits until something can be done, and takes in what there is to read.
    fn wait(&mut self, want: Want, deadline: Option<Instant>) -> Result<(), Stop> {
        if self.shared.killed.load(Ordering::SeqCst) {
            return Err(Stop::Interrupted);
        }
        self.renew_lease(deadline);
        if let (Some(limit), Some(used)) = (gander_runtime::memory::limit(), gander_runtime::memory::in_use())
            && used > limit
            && tree(self.id()) > limit / MUCH_MEMORY
        {
            return Err(Stop::Memory);
        }
        let longest = if self.guarded.is_none() { GUARDED_AFTER } else { LONGEST_POLL };
        let left = match deadline {
            Some(d) => match d.checked_duration_since(Instant::now()) {
                Some(left) => left.min(longest),
                None => return Err(Stop::Timeout),
            },
            None => longest,
        };
        let (mut readable, mut errors_readable) = (false, false);
        {
            let mut fds = Vec::with_capacity(3);
            fds.push(PollFd::new(&self.stdout, PollFlags::IN));
            if let Some(stderr) = &self.stderr {
                fds.push(PollFd::new(stderr, PollFlags::IN));
            }
            if want == Want::Write {
                fds.push(PollFd::new(&self.stdin, PollFlags::OUT));
            }
            let timeout = Timespec { tv_sec: left.as_secs() as _, tv_nsec: left.subsec_nanos() as _ };
            match poll(&mut fds, Some(&timeout)) {
                Ok(0) => {
                    self.guarded.get_or_insert_with(|| Guarded::group(lock(&self.shared.child).id()));
                }
                Ok(_) => {
                    readable = !fds[0].revents().is_empty();
                    errors_readable = self.stderr.is_some() && !fds[1].revents().is_empty();
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return Err(self.closed()),
            }
        }
        if errors_readable {
            self.drain_errors();
        }
        if readable { self.take_in() } else { Ok(()) }
    }

    fn take_in(&mut self) -> Result<(), Stop> {
        // Most answers are one word; what is longer than a chunk takes another round.
        let mut chunk = [0u8; 2 << 10];
        loop {
            match self.read_once(&mut chunk) {
                Ok(0) => return Err(self.closed()),
                Ok(n) => {
                    if self.output.len() + n > self.limits.output {
                        return Err(Stop::Flood);
                    }
                    self.output.extend_from_slice(&chunk[..n]);
                    if n < chunk.len() {
                        return Ok(());
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(self.closed()),
            }
        }
    }

    /// Takes in a bounded part of the error output and drops the rest, so that a child is never stuck on it.
    fn drain_errors(&mut self) {
        let Some(stderr) = &mut self.stderr else { return };
        let mut chunk = [0u8; 4 << 10];
        // A bounded number of rounds: a child that floods its error output must not keep us here.
        for _ in 0..32 {
            match stderr.read(&mut chunk) {
                Ok(0) => {
                    self.stderr = None;
                    return;
                }
                Ok(n) => {
                    let room = KEPT_ERRORS.saturating_sub(self.errors.len());
                    self.errors.extend_from_slice(&chunk[..n.min(room)]);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => {
                    self.stderr = None;
                    return;
                }
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Want {
    Read,
    Write,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.shared.end();
        self.guarded = None;
        let _ = lock(&self.shared.child).wait();
    }
}

fn nonblocking(fd: &impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(fd)?;
    fcntl_setfl(fd, flags | OFlags::NONBLOCK)?;
    Ok(())
}

#[cfg(target_os = "linux")]
fn set_memory_limit(child: &Child, memory: Option<u64>) {
    use rustix::process::{Resource, Rlimit, prlimit};
    if let Some(bytes) = memory {
        let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
        let _ = prlimit(Pid::from_raw(child.id() as i32), Resource::As, limit);
    }
}

/// Elsewhere solvers are told their limit by option, where they have one.
#[cfg(not(target_os = "linux"))]
fn set_memory_limit(_child: &Child, _memory: Option<u64>) {}

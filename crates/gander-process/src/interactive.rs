//! A conversation with a child over pipes: the process of a solver session.
//!
//! Invariants: no call blocks past its deadline or past a kill; writing never deadlocks with a
//! child that writes at the same time, because both directions are served in one poll loop; the
//! output that is kept is bounded.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use gander_runtime::{CancelGuard, Cancellation, fault, lock};
use rustix::event::{PollFd, PollFlags};

use crate::memory::Counted;
use crate::pipe;
use crate::proc_fs::tree_bytes;
use crate::supervised::{DescendantPolicy, Handle, Resource, Supervised, set_limit};

/// Bytes of a child's error output that are kept for messages.
const KEPT_ERRORS: usize = 16 << 10;

/// Reads of the error output in a row, so that a child that floods it does not block the caller.
const ERROR_READS: usize = 32;

/// The longest poll: a kill must be noticed even if a descendant of the child holds the pipes open.
const LONGEST_POLL: Duration = Duration::from_millis(100);

/// A child that works longer than this is put on the guard's list. An idle child ends when its
/// pipes are closed.
const GUARDED_AFTER: Duration = Duration::from_millis(20);

/// When the memory limit is exceeded, a child is ended if it uses at least this part of the limit
/// (one in eight).
const LARGE_PART: u64 = 8;

/// Conversations that a child serves at most, one after the other. It bounds the memory that a
/// child does not release between them.
const MAX_SERVED: u32 = 200;

/// Why a conversation ended early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The deadline passed.
    Timeout,
    /// It was cancelled.
    Interrupted,
    /// The child closed a pipe, or died.
    Closed,
    /// The child wrote more than its limit.
    Flood,
    /// The memory limit is exceeded, and a large part of the memory is the child's.
    Memory,
}

/// The limits of a conversation.
#[derive(Clone, Copy, Debug)]
pub struct InteractiveLimits {
    /// Bytes of address space.
    pub memory: Option<u64>,
    /// Bytes of output between two calls of [`Interactive::discard_output`].
    pub output: usize,
}

/// The children of one user, for measuring their memory.
#[derive(Clone, Debug, Default)]
pub struct ChildSet {
    list: Arc<Mutex<Vec<Weak<Handle>>>>,
}

impl ChildSet {
    /// Bytes of memory that they have in use.
    pub fn memory(&self) -> u64 {
        let children: Vec<Arc<Handle>> =
            lock(&self.list).iter().filter_map(Weak::upgrade).collect();
        children.iter().map(|c| tree_bytes(c.id())).sum()
    }

    fn add(&self, child: &Arc<Handle>) {
        let mut list = lock(&self.list);
        list.retain(|c| c.strong_count() > 0);
        list.push(Arc::downgrade(child));
    }

    fn remove(&self, child: &Arc<Handle>) {
        lock(&self.list).retain(|c| !std::ptr::eq(c.as_ptr(), Arc::as_ptr(child)));
    }
}

/// The owner of a conversation: its cancellation kills the child, its set counts the child.
#[derive(Clone, Debug, Default)]
pub struct Owner {
    /// Kills the child when it is cancelled.
    pub cancellation: Cancellation,
    /// The set that the child belongs to.
    pub children: ChildSet,
}

/// A running child.
#[derive(Debug)]
pub struct Interactive {
    child: Supervised,
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: Option<ChildStderr>,
    output: Vec<u8>,
    errors: Vec<u8>,
    limits: InteractiveLimits,
    _counted: Counted,
    /// An injected fault has ended its output.
    is_output_over: bool,
    /// Conversations that are over.
    served: u32,
    /// True while the child is idle and could serve another owner; cancellation spares it then.
    spare: Arc<AtomicBool>,
    /// Kills the child when its owner is cancelled.
    cancel_guard: Option<CancelGuard>,
}

impl Interactive {
    /// Starts `program` for an owner.
    pub fn spawn(
        program: &Path,
        arguments: &[String],
        limits: InteractiveLimits,
        owner: &Owner,
    ) -> io::Result<Self> {
        let mut process = Interactive::launch(program, arguments)?;
        process.serve(limits, owner);
        Ok(process)
    }

    /// Starts `program` ahead of need: it has no owner and no limits until [`Interactive::serve`].
    pub fn launch(program: &Path, arguments: &[String]) -> io::Result<Self> {
        let mut command = Command::new(program);
        let (child, pipes) =
            Supervised::spawn(command.args(arguments), Stdio::piped(), DescendantPolicy::Ignored)?;
        let (Some(stdin), Some(stdout)) = (pipes.stdin, pipes.stdout) else {
            return Err(io::Error::other("no pipes to the solver"));
        };
        let stderr = pipes.stderr;
        pipe::set_nonblocking(&stdin)?;
        pipe::set_nonblocking(&stdout)?;
        stderr.as_ref().map_or(Ok(()), pipe::set_nonblocking)?;
        Ok(Interactive {
            _counted: Counted::new(child.id()),
            child,
            stdin,
            stdout,
            stderr,
            output: Vec::new(),
            errors: Vec::new(),
            limits: InteractiveLimits { memory: None, output: 0 },
            is_output_over: false,
            served: 0,
            spare: Arc::default(),
            cancel_guard: None,
        })
    }

    /// Gives the child an owner and sets its limits.
    pub fn serve(&mut self, limits: InteractiveLimits, owner: &Owner) {
        self.limits = limits;
        self.set_spare(false);
        if let Some(bytes) = limits.memory {
            set_limit(self.id(), Resource::AddressSpace, bytes);
        }
        owner.children.add(&self.child.handle);
        let child = Arc::downgrade(&self.child.handle);
        let spare = Arc::clone(&self.spare);
        self.cancel_guard = Some(owner.cancellation.on_cancel_while(move || {
            if let Some(child) = child.upgrade()
                && !spare.load(Ordering::SeqCst)
            {
                child.kill();
            }
        }));
    }

    /// Takes the child from its owner. True if it can serve another one: it was not killed, has no
    /// unread output, and has no memory limit.
    pub fn leave(&mut self, owner: &Owner) -> bool {
        self.cancel_guard = None;
        owner.children.remove(&self.child.handle);
        let is_free = !self.child.handle.is_killed() && self.limits.memory.is_none();
        self.served += 1;
        self.drain_errors();
        is_free
            && self.served < MAX_SERVED
            && self.output.iter().all(u8::is_ascii_whitespace)
            && self.errors.is_empty()
    }

    /// Says whether the child is idle and could serve another owner: then cancellation does not
    /// kill it. A caller that gives it work calls this before it checks for cancellation.
    pub fn set_spare(&self, spare: bool) {
        self.spare.store(spare, Ordering::SeqCst);
    }

    /// Kills the child without waiting for its end; dropping waits.
    pub fn kill(&self) {
        self.child.handle.kill();
    }

    /// True as long as the child has not ended.
    pub fn is_alive(&self) -> bool {
        !self.child.handle.has_ended()
    }

    /// Output that was received and not discarded.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// Discards output up to `end`, which the caller has processed.
    pub fn discard_output(&mut self, end: usize) {
        self.output.drain(..end.min(self.output.len()));
    }

    /// The beginning of the child's error output.
    pub fn error_text(&mut self) -> String {
        self.drain_errors();
        String::from_utf8_lossy(&self.errors).into_owned()
    }

    /// The number of the process, for messages and tests.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The status of a child that has ended; waits a moment for one that is just dying.
    pub fn exit_status(&mut self) -> Option<ExitStatus> {
        for _ in 0..20 {
            if self.child.handle.has_ended() {
                return self.child.finish();
            }
            std::thread::sleep(Duration::from_micros(500));
        }
        None
    }

    /// Announces that the caller will wait for this child until the deadline: its limit on
    /// processor time is renewed.
    pub fn renew_lease(&mut self, deadline: Option<Instant>) {
        self.child.renew_lease(deadline);
    }

    /// True if the child's processor time is limited by the deadline of a query.
    pub fn is_limited_by_deadline(&self) -> bool {
        self.child.is_limited_by_deadline()
    }

    /// Sends as much of `bytes` as the child takes without waiting; returns how much that is.
    pub fn offer(&mut self, bytes: &[u8]) -> usize {
        // Reading is work, too, and the deadline of the last query does not apply to it.
        self.renew_lease(None);
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

    fn write_once(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if fault::happens(fault::kind::PIPE_WRITE) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.stdin.write(bytes)
    }

    fn read_once(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        if self.is_output_over || fault::happens(fault::kind::PIPE_READ) {
            return Ok(0);
        }
        let n = self.stdout.read(chunk)?;
        if n > 0 && fault::happens(fault::kind::PIPE_SHORT) {
            self.is_output_over = true;
            return Ok(n / 2);
        }
        if n > 0 && fault::happens(fault::kind::PIPE_GARBLE) {
            chunk[..n].iter_mut().for_each(|b| *b ^= 0x15);
        }
        Ok(n)
    }

    /// Sends all of `bytes`, receiving output meanwhile.
    pub fn send(&mut self, mut bytes: &[u8], deadline: Option<Instant>) -> Result<(), Stop> {
        while !bytes.is_empty() {
            match self.write_once(bytes) {
                Ok(n) => bytes = &bytes[n..],
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    self.wait(Direction::Write, deadline)?
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(self.closed()),
            }
        }
        Ok(())
    }

    /// Waits for more output.
    pub fn receive(&mut self, deadline: Option<Instant>) -> Result<(), Stop> {
        let before = self.output.len();
        while self.output.len() == before {
            self.wait(Direction::Read, deadline)?;
        }
        Ok(())
    }

    fn closed(&self) -> Stop {
        if self.child.handle.is_killed() { Stop::Interrupted } else { Stop::Closed }
    }

    /// Waits until the child can be read from or written to, and receives its output.
    fn wait(&mut self, want: Direction, deadline: Option<Instant>) -> Result<(), Stop> {
        if self.child.handle.is_killed() {
            return Err(Stop::Interrupted);
        }
        self.renew_lease(deadline);
        if let (Some(limit), Some(used)) =
            (gander_runtime::memory::limit(), gander_runtime::memory::in_use())
            && used > limit
            && tree_bytes(self.id()) > limit / LARGE_PART
        {
            return Err(Stop::Memory);
        }
        let longest = if self.child.is_guarded() { LONGEST_POLL } else { GUARDED_AFTER };
        let left = match deadline {
            Some(d) => match d.checked_duration_since(Instant::now()) {
                Some(left) => left.min(longest),
                None => return Err(Stop::Timeout),
            },
            None => longest,
        };
        let (mut readable, mut errors_readable) = (false, false);
        let mut fds = Vec::with_capacity(3);
        fds.push(PollFd::new(&self.stdout, PollFlags::IN));
        if let Some(stderr) = &self.stderr {
            fds.push(PollFd::new(stderr, PollFlags::IN));
        }
        if want == Direction::Write {
            fds.push(PollFd::new(&self.stdin, PollFlags::OUT));
        }
        let ready = pipe::wait(&mut fds, left);
        if let Ok(1..) = ready {
            readable = !fds[0].revents().is_empty();
            errors_readable = self.stderr.is_some() && !fds[1].revents().is_empty();
        }
        drop(fds);
        match ready {
            Ok(0) => self.child.guard(),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Err(self.closed()),
        }
        if errors_readable {
            self.drain_errors();
        }
        if readable { self.receive_available() } else { Ok(()) }
    }

    fn receive_available(&mut self) -> Result<(), Stop> {
        // Most answers are one word; a longer one takes another round.
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

    /// Reads the error output, keeps its beginning and drops the rest: a child must not block on
    /// it.
    fn drain_errors(&mut self) {
        let errors = &mut self.errors;
        pipe::drain(&mut self.stderr, ERROR_READS, |chunk| {
            let room = KEPT_ERRORS.saturating_sub(errors.len());
            errors.extend_from_slice(&chunk[..chunk.len().min(room)]);
        });
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Read,
    Write,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: InteractiveLimits = InteractiveLimits { memory: None, output: 1 << 20 };

    fn shell(script: &str, owner: &Owner) -> Interactive {
        let arguments = ["-c".to_string(), script.to_string()];
        Interactive::spawn(Path::new("/bin/sh"), &arguments, LIMITS, owner).unwrap()
    }

    #[test]
    fn a_child_answers_and_its_memory_is_counted() {
        let owner = Owner::default();
        let mut child = shell("exec cat", &owner);
        child.send(b"one\n", None).unwrap();
        while !child.output().ends_with(b"\n") {
            child.receive(None).unwrap();
        }
        assert_eq!(child.output(), b"one\n");
        assert!(!cfg!(target_os = "linux") || owner.children.memory() > 0);
        child.discard_output(4);
        assert!(child.leave(&owner) && child.is_alive());
        assert_eq!(owner.children.memory(), 0);
    }

    #[test]
    fn cancellation_kills_a_working_child_and_spares_an_idle_one() {
        let owner = Owner::default();
        let (mut working, idle) = (shell("sleep 1000", &owner), shell("sleep 1000", &owner));
        idle.set_spare(true);
        owner.cancellation.cancel();
        assert_eq!(working.receive(None), Err(Stop::Interrupted));
        assert!(idle.is_alive());
    }

    #[test]
    fn a_child_that_dies_or_is_slow_or_floods_stops_the_conversation() {
        let owner = Owner::default();
        let mut dead = shell("echo why >&2; exit 3", &owner);
        assert_eq!(dead.receive(None), Err(Stop::Closed));
        assert_eq!(dead.exit_status().and_then(|s| s.code()), Some(3));
        assert_eq!(dead.error_text(), "why\n");
        let mut slow = shell("sleep 1000", &owner);
        let soon = Instant::now() + Duration::from_millis(30);
        assert_eq!(slow.receive(Some(soon)), Err(Stop::Timeout));
        let mut flood = shell("exec yes", &owner);
        let stop = loop {
            if let Err(stop) = flood.receive(None) {
                break stop;
            }
        };
        assert_eq!(stop, Stop::Flood);
    }
}

//! A program that runs to its end, with its output captured: other model checkers, jobs of the
//! benchmark, pip.
//!
//! When the program has ended, or is stopped, all its descendants are killed, also those that left
//! its process group (on Linux).

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gander_runtime::Cancellation;
use rustix::event::{PollFd, PollFlags};

use crate::descendants::Finder;
use crate::memory::Counted;
use crate::pipe;
use crate::proc_fs::{self, Stat};
use crate::supervised::{DescendantPolicy, Pipes, Resource, Supervised, set_limit};

/// The longest poll: cancellation must be noticed, and so must the end of a program whose
/// descendants hold its pipes open.
const LONGEST_POLL: Duration = Duration::from_millis(20);

/// A program that runs longer than this is put on the guard's list.
const GUARDED_AFTER: Duration = Duration::from_millis(20);

/// The poll when all pipes are closed and the end of the program cannot be polled for.
const SHORT_POLL: Duration = Duration::from_millis(5);

/// Reads of a pipe in a row.
const READS: usize = 1024;

/// Memory is sampled after this time at first, and less often later: short runs are measured, too.
const FIRST_SAMPLE: Duration = Duration::from_millis(2);

/// The longest time between two samples of memory.
const LAST_SAMPLE: Duration = Duration::from_millis(50);

/// A program to run.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its environment.
    pub environment: Environment,
    /// The current folder, if not that of this process.
    pub folder: Option<PathBuf>,
    /// It is stopped at this time.
    pub deadline: Option<Instant>,
    /// It is stopped when this is cancelled.
    pub cancellation: Cancellation,
    /// The memory that it may use.
    pub memory: MemoryLimit,
    /// Bytes of the largest file that it may write.
    pub largest_file: Option<u64>,
    /// What is kept of its standard output.
    pub stdout: Capture,
    /// What is kept of its error output.
    pub stderr: Capture,
}

/// The environment of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Environment {
    /// Whether it inherits the variables of this process.
    pub is_inherited: bool,
    /// Variables to set.
    pub variables: Vec<(OsString, OsString)>,
}

/// How the memory of a program is limited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryLimit {
    /// Only by the limit of this process ([`crate::memory::enforce`]), if there is one.
    Shared,
    /// By the kernel: bytes of address space of each process.
    AddressSpace(u64),
    /// By sampling: resident bytes of all its processes together. A limit on address space would
    /// not suit a Java machine, which reserves gigabytes. The memory does not count towards the
    /// limit of this process.
    Resident(u64),
}

/// How much output is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capture {
    /// Bytes that are kept.
    pub bytes: usize,
    /// What happens to more.
    pub excess: Excess,
}

/// What happens to output beyond the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Excess {
    /// The program is stopped.
    Stop,
    /// The beginning of the output is kept.
    KeepFirst,
    /// The end of the output is kept.
    KeepLast,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// By itself: with an exit code or by a signal.
    Exited,
    /// Stopped at the deadline.
    Deadline,
    /// Stopped by cancellation.
    Cancelled,
    /// Stopped because it used too much memory.
    Memory,
    /// Stopped because it wrote too much.
    Flood,
}

/// A run that is over.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub ending: Ending,
    /// The exit code, unless a signal ended it.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Standard output, as much of it as was to be kept.
    pub stdout: String,
    /// Error output, as much of it as was to be kept.
    pub stderr: String,
    /// Wall-clock time.
    pub elapsed: Duration,
    /// Processor time of the program and the children it waited for.
    pub cpu_time: Duration,
    /// The most resident bytes seen in all its processes; 0 unless memory is limited by sampling.
    pub peak_memory: u64,
}

impl Finished {
    /// True if the program ended by itself with exit code 0.
    pub fn is_success(&self) -> bool {
        self.ending == Ending::Exited && self.exit == Some(0)
    }
}

impl Batch {
    /// The program without arguments, with the environment of this process and without limits; the
    /// first 64 MB of output are kept.
    pub fn new(program: impl Into<PathBuf>) -> Batch {
        let capture = Capture { bytes: 64 << 20, excess: Excess::KeepFirst };
        Batch {
            program: program.into(),
            arguments: Vec::new(),
            environment: Environment { is_inherited: true, variables: Vec::new() },
            folder: None,
            deadline: None,
            cancellation: Cancellation::new(),
            memory: MemoryLimit::Shared,
            largest_file: None,
            stdout: capture,
            stderr: capture,
        }
    }

    /// Runs the program until it ends or has to be stopped.
    pub fn run(&self) -> io::Result<Finished> {
        let begin = Instant::now();
        let (mut child, pipes) =
            Supervised::spawn(&mut self.command(), Stdio::null(), DescendantPolicy::Killed)?;
        let id = child.id();
        let counted = match self.memory {
            MemoryLimit::Resident(_) => None,
            MemoryLimit::Shared | MemoryLimit::AddressSpace(_) => Some(Counted::new(id)),
        };
        set_limit(id, Resource::CoreDump, 0);
        if let MemoryLimit::AddressSpace(bytes) = self.memory {
            set_limit(id, Resource::AddressSpace, bytes);
        }
        if let Some(bytes) = self.largest_file {
            set_limit(id, Resource::File, bytes);
        }
        let mut watch = match (self.memory, child.mark()) {
            (MemoryLimit::Resident(limit), Some(mark)) => {
                Some(MemoryWatch::new(Finder::new(mark.clone()), limit))
            }
            _ => None,
        };
        let mut output = Output::new(pipes, self)?;
        let ending = self.supervise(&mut child, &mut output, watch.as_mut(), begin);
        let elapsed = begin.elapsed();
        child.terminate();
        let cpu_time = Stat::of(id).map_or(Duration::ZERO, |stat| stat.total_time());
        let status = child.finish();
        drop(counted);
        Ok(Finished {
            ending,
            exit: status.and_then(|s| s.code()),
            signal: status.and_then(|s| s.signal()),
            stdout: output.stdout.text(),
            stderr: output.stderr.text(),
            elapsed,
            cpu_time,
            peak_memory: watch.map_or(0, |w| w.peak),
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        if !self.environment.is_inherited {
            command.env_clear();
        }
        command.envs(self.environment.variables.iter().map(|(k, v)| (k, v)));
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command
    }

    fn supervise(
        &self,
        child: &mut Supervised,
        output: &mut Output,
        mut watch: Option<&mut MemoryWatch>,
        begin: Instant,
    ) -> Ending {
        let end = EndOfProcess::new(child.id());
        loop {
            child.renew_lease(None);
            // Checked first: the output of a program that has ended is complete.
            let has_ended = child.handle.has_ended();
            if !output.receive() {
                return Ending::Flood;
            }
            if has_ended {
                return Ending::Exited;
            }
            if self.cancellation.is_cancelled() {
                return Ending::Cancelled;
            }
            if begin.elapsed() >= GUARDED_AFTER {
                child.guard();
            }
            let mut longest = LONGEST_POLL;
            if let Some(watch) = &mut watch {
                if watch.is_exceeded() {
                    return Ending::Memory;
                }
                longest = longest.min(watch.until_sample());
            }
            if let Some(deadline) = self.deadline {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Ending::Deadline;
                }
                longest = longest.min(left);
            }
            output.wait(&end, longest);
        }
    }
}

/// The output of a run.
struct Output {
    pipes: Pipes,
    stdout: Captured,
    stderr: Captured,
}

impl Output {
    fn new(pipes: Pipes, batch: &Batch) -> io::Result<Output> {
        pipes.stdout.as_ref().map_or(Ok(()), pipe::set_nonblocking)?;
        pipes.stderr.as_ref().map_or(Ok(()), pipe::set_nonblocking)?;
        Ok(Output {
            pipes,
            stdout: Captured::new(batch.stdout),
            stderr: Captured::new(batch.stderr),
        })
    }

    /// Receives what there is; false if it is more than the program may write.
    fn receive(&mut self) -> bool {
        pipe::drain(&mut self.pipes.stdout, READS, |chunk| self.stdout.take(chunk));
        pipe::drain(&mut self.pipes.stderr, READS, |chunk| self.stderr.take(chunk));
        !self.stdout.is_flood && !self.stderr.is_flood
    }

    /// Waits for output or for the end of the program.
    fn wait(&self, end: &EndOfProcess, longest: Duration) {
        let mut fds = Vec::with_capacity(3);
        fds.extend(self.pipes.stdout.as_ref().map(|p| PollFd::new(p, PollFlags::IN)));
        fds.extend(self.pipes.stderr.as_ref().map(|p| PollFd::new(p, PollFlags::IN)));
        fds.extend(end.poll_fd());
        if fds.is_empty() || pipe::wait(&mut fds, longest).is_err() {
            std::thread::sleep(longest.min(SHORT_POLL));
        }
    }
}

/// Output that is kept.
struct Captured {
    capture: Capture,
    bytes: Vec<u8>,
    is_flood: bool,
}

impl Captured {
    fn new(capture: Capture) -> Captured {
        Captured { capture, bytes: Vec::new(), is_flood: false }
    }

    fn take(&mut self, chunk: &[u8]) {
        let most = self.capture.bytes;
        if self.capture.excess == Excess::KeepLast {
            self.bytes.extend_from_slice(chunk);
            // Twice the limit is kept in between, so that bytes are moved rarely.
            if self.bytes.len() > 2 * most {
                self.keep_last();
            }
            return;
        }
        let room = most.saturating_sub(self.bytes.len());
        self.is_flood |= self.capture.excess == Excess::Stop && chunk.len() > room;
        self.bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
    }

    fn keep_last(&mut self) {
        let excess = self.bytes.len().saturating_sub(self.capture.bytes);
        self.bytes.drain(..excess);
    }

    fn text(mut self) -> String {
        self.keep_last();
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// A descriptor that is readable when a process has ended.
#[cfg(target_os = "linux")]
struct EndOfProcess(Option<std::os::fd::OwnedFd>);

#[cfg(target_os = "linux")]
impl EndOfProcess {
    fn new(id: u32) -> EndOfProcess {
        use rustix::process::{Pid, PidfdFlags, pidfd_open};
        let pid = Pid::from_raw(id as i32);
        EndOfProcess(pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()))
    }

    fn poll_fd(&self) -> Option<PollFd<'_>> {
        self.0.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN))
    }
}

#[cfg(not(target_os = "linux"))]
struct EndOfProcess;

#[cfg(not(target_os = "linux"))]
impl EndOfProcess {
    fn new(_: u32) -> EndOfProcess {
        EndOfProcess
    }

    fn poll_fd(&self) -> Option<PollFd<'_>> {
        None
    }
}

/// Samples the resident memory of a program and its descendants.
struct MemoryWatch {
    finder: Finder,
    limit: u64,
    peak: u64,
    sampled: Instant,
    pause: Duration,
}

impl MemoryWatch {
    fn new(finder: Finder, limit: u64) -> MemoryWatch {
        MemoryWatch { finder, limit, peak: 0, sampled: Instant::now(), pause: FIRST_SAMPLE }
    }

    fn until_sample(&self) -> Duration {
        self.pause.saturating_sub(self.sampled.elapsed())
    }

    /// Takes a sample if it is time; true if it exceeds the limit.
    fn is_exceeded(&mut self) -> bool {
        if !self.until_sample().is_zero() {
            return false;
        }
        self.sampled = Instant::now();
        self.pause = (self.pause * 3 / 2).min(LAST_SAMPLE);
        let processes = self.finder.processes();
        let now: u64 = processes.iter().filter_map(|id| proc_fs::resident_bytes(*id)).sum();
        let highest = processes.iter().filter_map(|id| proc_fs::peak_bytes(*id)).max();
        self.peak = self.peak.max(now).max(highest.unwrap_or(0));
        now > self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Batch {
        Batch { arguments: vec!["-c".into(), script.into()], ..Batch::new("/bin/sh") }
    }

    fn is_alive(id: &str) -> bool {
        Stat::of(id.trim().parse().unwrap()).is_some_and(|s| !s.is_dead)
    }

    #[test]
    fn output_and_status_are_captured() {
        let done = shell("echo out; echo err >&2; exit 7").run().unwrap();
        assert_eq!((done.ending, done.exit, done.signal), (Ending::Exited, Some(7), None));
        assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("out\n", "err\n"));
        assert!(!done.is_success());
        let done = shell("kill -SEGV $$").run().unwrap();
        assert_eq!((done.exit, done.signal), (None, Some(11)));
        assert!(Batch::new("/no/such/program").run().is_err());
    }

    #[test]
    fn the_environment_is_inherited_or_empty() {
        let mut batch = shell("echo \"$HOME-$MINE\"");
        batch.environment =
            Environment { is_inherited: false, variables: vec![("MINE".into(), "x".into())] };
        assert_eq!(batch.run().unwrap().stdout, "-x\n");
        batch.environment.is_inherited = true;
        assert!(batch.run().unwrap().stdout.ends_with("-x\n"));
    }

    #[test]
    fn output_beyond_the_limit_is_dropped_or_stops_the_program() {
        let with = |excess| {
            let mut batch = shell("echo 123; echo 456; echo 789");
            batch.stdout = Capture { bytes: 5, excess };
            batch.run().unwrap()
        };
        assert_eq!(with(Excess::KeepFirst).stdout, "123\n4");
        assert_eq!(with(Excess::KeepLast).stdout, "\n789\n");
        let mut flood = shell("exec yes");
        flood.stdout = Capture { bytes: 1000, excess: Excess::Stop };
        assert_eq!(flood.run().unwrap().ending, Ending::Flood);
    }

    #[test]
    fn a_deadline_and_a_cancellation_stop_the_program() {
        let mut batch = shell("sleep 1000");
        batch.deadline = Some(Instant::now() + Duration::from_millis(50));
        let done = batch.run().unwrap();
        assert_eq!((done.ending, done.signal), (Ending::Deadline, Some(9)));
        let batch = shell("sleep 1000");
        batch.cancellation.cancel();
        assert_eq!(batch.run().unwrap().ending, Ending::Cancelled);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn descendants_that_left_the_group_are_killed() {
        let folder = tempfile::tempdir().unwrap();
        let script = "(setsid sleep 1000 & echo $! > left); sleep 1000 & echo $! > stayed";
        let batch = Batch { folder: Some(folder.path().into()), ..shell(script) };
        assert!(batch.run().unwrap().is_success());
        for name in ["left", "stayed"] {
            let id = std::fs::read_to_string(folder.path().join(name)).unwrap();
            assert!(!is_alive(&id), "{name}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn resident_memory_of_all_processes_is_limited() {
        let hungry = "head -c 400000000 /dev/zero | tail -c 300000000 | wc -c";
        let batch = Batch { memory: MemoryLimit::Resident(60 << 20), ..shell(hungry) };
        let done = batch.run().unwrap();
        assert_eq!(done.ending, Ending::Memory);
        assert!(done.peak_memory > 60 << 20, "{}", done.peak_memory);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn processor_time_is_measured() {
        let busy = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        assert!(shell(busy).run().unwrap().cpu_time > Duration::ZERO);
    }
}

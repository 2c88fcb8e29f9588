//! One run of a program: pipes, limits, and the end of everything that it started.
//!
//! A program gets a process group of its own and a mark in its environment, which its descendants inherit. When it has ended,
//! or has to, the group is killed and then, where `/proc` tells, every process with the mark: a helper that left the
//! group does not get away. If we are killed ourselves, the guard kills the group (`gander_smt::guard`); where there is none,
//! its lease on processor time runs out (`gander_smt::Lease`).

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use gander_runtime::Cancellation;
use gander_runtime::fault;
use gander_smt::Lease;
use gander_smt::guard::Guarded;
use gander_smt::memory::Counted;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

use crate::tool::{Ending, Said};

/// More output than this is a flood.
const MOST_OUTPUT: usize = 64 << 20;
/// How much of the error output is kept.
const KEPT_ERRORS: usize = 16 << 10;
/// A kill and the end of a program have to be seen although its descendants hold the pipes open.
const LONGEST_POLL: Duration = Duration::from_millis(20);
/// The name of the mark.
const MARK: &str = "GANDER_RACE_MARK";

static COUNT: AtomicU64 = AtomicU64::new(0);

/// What to run, where, and for how long.
pub(crate) struct Job<'a> {
    pub program: &'a Path,
    pub arguments: &'a [String],
    pub environment: &'a [(String, String)],
    pub folder: &'a Path,
    pub deadline: Option<Instant>,
    /// Bytes of address space.
    pub memory: Option<u64>,
    pub cancellation: &'a Cancellation,
}

/// Runs a program to its end, or to ours.
pub(crate) fn run(job: &Job<'_>) -> io::Result<Said> {
    let begin = Instant::now();
    if fault::happens(fault::kind::SPAWN) {
        return Err(io::Error::other("injected fault"));
    }
    let mark = format!("{}-{}", job.folder.display(), COUNT.fetch_add(1, Ordering::Relaxed));
    let mut child = Command::new(job.program)
        .args(job.arguments)
        .envs(job.environment.iter().map(|(k, v)| (k, v)))
        .env(MARK, &mark)
        .current_dir(job.folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let _counted = Counted::new(child.id());
    let guarded = Guarded::group(child.id());
    let mut lease = Lease::new(child.id());
    set_memory_limit(&child, job.memory);
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    for result in [out.as_ref().map(nonblocking), err.as_ref().map(nonblocking)].into_iter().flatten() {
        if let Err(e) = result {
            end(child, guarded, &mark);
            return Err(e);
        }
    }
    let child = Mutex::new(child);
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let ending = loop {
        lease.renew(&child, None);
        let over = has_ended(&child);
        // What it wrote before it ended is there by now.
        let mut flood = false;
        drain(&mut out, &mut stdout, MOST_OUTPUT, &mut flood);
        drain(&mut err, &mut stderr, KEPT_ERRORS, &mut false);
        if flood {
            break Ending::Flood;
        }
        if over {
            break Ending::Exited;
        }
        if job.cancellation.is_cancelled() {
            break Ending::Stopped;
        }
        let left = job.deadline.map(|d| d.saturating_duration_since(Instant::now()));
        if left.is_some_and(|l| l.is_zero()) {
            break Ending::OutOfTime;
        }
        wait(&out, &err, left.unwrap_or(LONGEST_POLL).min(LONGEST_POLL));
    };
    let status = end(child.into_inner().unwrap_or_else(PoisonError::into_inner), guarded, &mark);
    Ok(Said {
        stdout: String::from_utf8_lossy(&stdout).into_owned(),
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
        exit: status.and_then(|s| s.code()),
        signal: status.and_then(|s| s.signal()),
        ending,
        elapsed: begin.elapsed(),
    })
}

fn nonblocking(pipe: &impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(pipe)?;
    fcntl_setfl(pipe, flags | OFlags::NONBLOCK)?;
    Ok(())
}

/// Whether the program has ended; it is not reaped, so its number stays its own.
fn has_ended(child: &Mutex<Child>) -> bool {
    let id = child.lock().unwrap_or_else(PoisonError::into_inner).id();
    let Some(pid) = Pid::from_raw(id as i32) else { return true };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    matches!(waitid(WaitId::Pid(pid), options), Ok(Some(_)) | Err(rustix::io::Errno::CHILD))
}

/// Takes in what there is, up to a limit; what is beyond is dropped and is a flood. A bounded number of rounds, so that
/// nobody who writes without end keeps us here.
fn drain(pipe: &mut Option<impl Read>, into: &mut Vec<u8>, most: usize, flood: &mut bool) {
    let Some(source) = pipe else { return };
    let mut chunk = [0u8; 16 << 10];
    for _ in 0..1024 {
        match source.read(&mut chunk) {
            Ok(0) => {
                *pipe = None;
                return;
            }
            Ok(n) => {
                let room = most.saturating_sub(into.len());
                *flood |= n > room;
                into.extend_from_slice(&chunk[..n.min(room)]);
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
            Err(_) => {
                *pipe = None;
                return;
            }
        }
    }
}

fn wait(out: &Option<impl AsFd>, err: &Option<impl AsFd>, most: Duration) {
    let mut fds = Vec::with_capacity(2);
    fds.extend(out.as_ref().map(|p| PollFd::new(p, PollFlags::IN)));
    fds.extend(err.as_ref().map(|p| PollFd::new(p, PollFlags::IN)));
    let timeout = Timespec { tv_sec: most.as_secs() as _, tv_nsec: most.subsec_nanos() as _ };
    if fds.is_empty() || poll(&mut fds, Some(&timeout)).is_err() {
        std::thread::sleep(most.min(Duration::from_millis(5)));
    }
}

/// Kills whatever is left of a program, and reaps it.
fn end(mut child: Child, guarded: Guarded, mark: &str) -> Option<std::process::ExitStatus> {
    if let Some(pid) = Pid::from_raw(child.id() as i32) {
        // It fails only if the group is gone.
        let _ = kill_process_group(pid, Signal::KILL);
    }
    let _ = child.kill();
    drop(guarded);
    let status = child.wait().ok();
    kill_marked(mark);
    status
}

/// Kills every process with the mark in its environment, until there is none.
fn kill_marked(mark: &str) {
    let wanted = format!("{MARK}={mark}");
    for _ in 0..100 {
        let Ok(entries) = std::fs::read_dir("/proc") else { return };
        let mut found = false;
        for id in entries.flatten().filter_map(|e| e.file_name().to_str()?.parse::<i32>().ok()) {
            // The environment of others' processes, and of dead ones, cannot be read.
            let Ok(environment) = std::fs::read(format!("/proc/{id}/environ")) else { continue };
            if environment.split(|b| *b == 0).any(|entry| entry == wanted.as_bytes())
                && let Some(pid) = Pid::from_raw(id)
            {
                found = true;
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        if !found {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[cfg(target_os = "linux")]
fn set_memory_limit(child: &Child, memory: Option<u64>) {
    use rustix::process::{Resource, Rlimit, prlimit};
    if let (Some(bytes), Some(pid)) = (memory, Pid::from_raw(child.id() as i32)) {
        let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
        let _ = prlimit(Some(pid), Resource::As, limit);
    }
}

#[cfg(not(target_os = "linux"))]
fn set_memory_limit(_: &Child, _: Option<u64>) {}

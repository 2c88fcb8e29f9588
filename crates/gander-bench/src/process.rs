//! One job as limited processes.
//!
//! A job runs in a session of its own: the child is this program again, which calls `setsid` and then becomes the tool
//! (see [`launch`]). Tools put their solvers into process groups of their own, but they stay in the session, so the
//! session is what is measured and what is killed: nothing of a job outlives it. If we are killed, the kernel kills the tool
//! (on Linux: parent-death signal). Memory is the resident memory of the
//! whole session; it is watched, not limited by the kernel, because a limit on address space would say nothing about a
//! Java machine that reserves gigabytes.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, kill_process, setrlimit, setsid, waitid};

/// The first argument that makes this program become another one in a new session.
pub const LAUNCH: &str = "launch-in-session";

/// A file may not grow larger than this; it stops a tool that floods its output.
const LARGEST_FILE: u64 = 1 << 30;
/// More output than this is not read.
const LARGEST_OUTPUT: u64 = 64 << 20;

/// How much a job may use.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Limits {
    /// Wall-clock time.
    pub time: Duration,
    /// How much longer a tool that knows its limit may take to say what it has.
    pub grace: Duration,
    /// Resident memory of all processes together.
    pub memory_mb: u64,
}

/// What to start.
#[derive(Debug)]
pub struct Launch<'a> {
    /// This program.
    pub launcher: &'a Path,
    /// The tool.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: &'a [String],
    /// Variables to set.
    pub environment: &'a [(String, String)],
    /// Where to run, and where its output is kept while it runs.
    pub folder: &'a Path,
}

/// Why we stopped a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// Out of time.
    Time,
    /// Out of memory.
    Memory,
    /// The run was interrupted; the job did not happen.
    Interrupt,
}

/// What a job did.
#[derive(Debug)]
pub struct Finish {
    /// The exit code, unless it ended by a signal.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether we ended it.
    pub stopped: Option<Stopped>,
    /// Wall-clock time.
    pub seconds: f64,
    /// Processor time of the process and the children it waited for.
    pub cpu_seconds: f64,
    /// The most resident memory that was seen.
    pub peak_mb: f64,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Becomes another program, in a new session and without core dumps. Returns only if that fails.
///
/// The first argument is the number of the process that asks for it.
pub fn launch(arguments: &[String]) -> io::Error {
    let [parent, program, arguments @ ..] = arguments else {
        return io::Error::other("a process number and a program are needed");
    };
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getppid, set_parent_process_death_signal};
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
        // If it died before that, there is no signal.
        if getppid().is_none_or(|p| p.as_raw_nonzero().get().to_string() != *parent) {
            return io::Error::other("the process that asked for it is gone");
        }
    }
    if let Err(e) = setsid() {
        return e.into();
    }
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    let _ = setrlimit(Resource::Core, none);
    let size = Rlimit { current: Some(LARGEST_FILE), maximum: Some(LARGEST_FILE) };
    let _ = setrlimit(Resource::Fsize, size);
    Command::new(program).args(arguments).exec()
}

/// Runs a job to its end. The folder must not be used by another job meanwhile.
pub fn run(launch: &Launch<'_>, limits: &Limits, interrupted: &AtomicBool) -> io::Result<Finish> {
    let (out, err) = (launch.folder.join("stdout"), launch.folder.join("stderr"));
    let begin = Instant::now();
    let mut child = Command::new(launch.launcher)
        .arg(LAUNCH)
        .arg(std::process::id().to_string())
        .arg(launch.program)
        .args(launch.arguments)
        .envs(launch.environment.iter().map(|(k, v)| (k, v)))
        .current_dir(launch.folder)
        .stdin(Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?)
        .spawn()?;
    let session = child.id();
    let exited = notify_exit(session);
    let mut watch = Watch { session, peak_kb: 0 };
    let stopped = watch.until_exit(&exited, begin, limits, interrupted);
    if stopped.is_some() {
        // The waiter must not see the process reaped by somebody else, so it comes first.
        kill_session(session);
        let _ = exited.recv();
    }
    let seconds = begin.elapsed().as_secs_f64();
    let cpu_seconds = Process::of(session).map_or(0.0, |p| p.cpu_ticks as f64 / ticks_per_second());
    kill_session(session);
    let status = child_status(&mut child)?;
    Ok(Finish {
        exit: status.code(),
        signal: status.signal(),
        stopped,
        seconds,
        cpu_seconds,
        peak_mb: watch.peak_kb as f64 / 1024.0,
        stdout: read_output(&out)?,
        stderr: read_output(&err)?,
    })
}

fn child_status(child: &mut Child) -> io::Result<std::process::ExitStatus> {
    child.wait()
}

/// Tells when the process has exited, without reaping it, so that its numbers can still be read.
fn notify_exit(process: u32) -> Receiver<()> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        if let Some(pid) = Pid::from_raw(process as i32) {
            while let Err(rustix::io::Errno::INTR) =
                waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
            {}
        }
        let _ = sender.send(());
    });
    receiver
}

/// Samples the memory of a session.
struct Watch {
    session: u32,
    peak_kb: u64,
}

impl Watch {
    /// Waits for the exit or for a reason to stop. Samples are dense at first, so that short jobs are seen too.
    fn until_exit(
        &mut self,
        exited: &Receiver<()>,
        begin: Instant,
        limits: &Limits,
        interrupted: &AtomicBool,
    ) -> Option<Stopped> {
        let end = begin + limits.time + limits.grace;
        let mut pause = Duration::from_millis(2);
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match exited.recv_timeout(pause.min(left)) {
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if interrupted.load(Ordering::Relaxed) {
                return Some(Stopped::Interrupt);
            }
            if self.sample() > limits.memory_mb * 1024 {
                return Some(Stopped::Memory);
            }
            if Instant::now() >= end {
                return Some(Stopped::Time);
            }
            pause = (pause * 3 / 2).min(Duration::from_millis(50));
        }
    }

    /// The resident memory now, in kilobytes.
    fn sample(&mut self) -> u64 {
        let (mut now, mut highest) = (0, 0);
        for p in Process::in_session(self.session) {
            now += p.resident_pages * page_kb();
            highest = highest.max(high_water_kb(p.id).unwrap_or(0));
        }
        self.peak_kb = self.peak_kb.max(now).max(highest);
        now
    }
}

/// Kills every process of a session but the dead ones, until none is left.
fn kill_session(session: u32) {
    for _ in 0..200 {
        let mut alive = false;
        for p in Process::in_session(session) {
            if !p.is_dead
                && let Some(pid) = Pid::from_raw(p.id as i32)
            {
                alive = true;
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        if !alive {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// What the kernel says about a process.
#[derive(PartialEq, Eq, Debug)]
struct Process {
    id: u32,
    session: u32,
    is_dead: bool,
    cpu_ticks: u64,
    resident_pages: u64,
}

impl Process {
    fn of(id: u32) -> Option<Process> {
        Process::parse(id, &std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
    }

    /// Reads a line of `/proc/ID/stat`; the name in parentheses may hold anything, parentheses too.
    fn parse(id: u32, line: &str) -> Option<Process> {
        let fields: Vec<&str> = line[line.rfind(')')? + 1..].split_ascii_whitespace().collect();
        let number = |i: usize| fields.get(i)?.parse::<i64>().ok();
        Some(Process {
            id,
            session: u32::try_from(number(3)?).ok()?,
            is_dead: matches!(*fields.first()?, "Z" | "X"),
            cpu_ticks: (11..=14).filter_map(number).sum::<i64>().max(0) as u64,
            resident_pages: number(21)?.max(0) as u64,
        })
    }

    fn in_session(session: u32) -> Vec<Process> {
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        entries
            .filter_map(|e| e.ok()?.file_name().to_str()?.parse::<u32>().ok())
            .filter_map(Process::of)
            .filter(|p| p.session == session)
            .collect()
    }
}

fn high_water_kb(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

fn page_kb() -> u64 {
    rustix::param::page_size() as u64 / 1024
}

fn ticks_per_second() -> f64 {
    rustix::param::clock_ticks_per_second() as f64
}

fn read_output(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST_OUTPUT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_confuse() {
        let line = "42 (a) R (b)) S 1 42 40 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 99 1000 250 1";
        assert_eq!(
            Process::parse(42, line),
            Some(Process { id: 42, session: 40, is_dead: false, cpu_ticks: 100, resident_pages: 250 })
        );
        assert_eq!(Process::parse(1, "1 (x) Z"), None);
    }

    #[test]
    fn we_see_ourselves() {
        let me = Process::of(std::process::id()).unwrap();
        assert!(me.resident_pages > 0 && !me.is_dead);
        assert!(high_water_kb(me.id).unwrap() > 0);
        assert!(Process::in_session(me.session).iter().any(|p| p.id == me.id));
    }
}

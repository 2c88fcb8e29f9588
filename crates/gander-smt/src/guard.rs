//! Ends children and removes scratch folders when this process has died, in whatever way.
//!
//! `SIGKILL` leaves no time for cleaning up, and a solver in the middle of a query does not notice that its pipes are
//! closed. So a second process, the guard, is told of every process group and scratch folder that must not outlive this
//! process. It reads from a pipe whose other end only this process holds. The kernel closes that end when this process
//! dies; the guard then kills the groups (so grandchildren die, too), removes the folders, and ends.
//!
//! Entries end with a zero byte: `+g123` and `-g123` for a process group, `+d/path` and `-d/path` for a folder.
//!
//! The guard is started with the first entry: a check without a long query never starts it. It is this program again,
//! if that has said so with [`enable`], and calls [`serve`]. Without it (a program that uses this crate as a library),
//! solvers have their [`Lease`](crate::Lease) on processor time.
//!
//! The alternatives cost more: a parent-death signal has to be set between `fork` and `exec`, which makes every start
//! of a solver a real `fork` (200 ms for a process of 1 GB, where `posix_spawn` takes 2), or by a launcher that every
//! start executes first (5 ms); and it reaches no grandchildren.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process_group};

use gander_runtime::lock;

/// The first argument that makes this program the guard.
pub const GUARD: &str = "guard-children";

/// What the guard is called in lists of processes, so that nobody who kills programs by name kills it as well.
const NAME: &str = "child-guard";

/// A guard that died is replaced so many times.
const MOST_GUARDS: u32 = 3;

/// Entries are written at once or not at all, so none may be longer than a pipe takes at once.
const LONGEST_ENTRY: usize = 4096;

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
static GUARD_PROCESS: Mutex<Guard> = Mutex::new(Guard { child: None, entries: BTreeSet::new(), started: 0 });

/// Lets this program be started again as the guard: its `main` must call [`serve`] if the first argument is [`GUARD`].
pub fn enable() {
    // The link also leads to a program whose file was replaced meanwhile.
    let link = Path::new("/proc/self/exe");
    let program = if link.exists() { Some(link.to_path_buf()) } else { std::env::current_exe().ok() };
    if let Some(program) = program {
        let _ = PROGRAM.set(program);
    }
}

/// An entry of the guard's list; dropping it takes it off the list.
#[derive(Debug)]
pub struct Guarded {
    entry: Vec<u8>,
}

impl Guarded {
    /// The process group with this number. Drop it when its leader is reaped: the number may be given to others then.
    pub fn group(id: u32) -> Guarded {
        Guarded::new(format!("g{id}").into_bytes())
    }

    /// A folder, to be removed with everything in it.
    pub fn folder(path: &Path) -> Guarded {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        Guarded::new([b"d", path.as_os_str().as_bytes()].concat())
    }

    fn new(entry: Vec<u8>) -> Guarded {
        lock(&GUARD_PROCESS).add(&entry);
        Guarded { entry }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        lock(&GUARD_PROCESS).remove(&self.entry);
    }
}

/// The guard as its parent sees it.
struct Guard {
    child: Option<Child>,
    entries: BTreeSet<Vec<u8>>,
    /// How many guards were started.
    started: u32,
}

impl Guard {
    fn add(&mut self, entry: &[u8]) {
        if PROGRAM.get().is_none() || entry.len() + 2 > LONGEST_ENTRY {
            return;
        }
        self.entries.insert(entry.to_vec());
        if !self.tell(b'+', entry) {
            self.replace();
        }
    }

    fn remove(&mut self, entry: &[u8]) {
        if self.entries.remove(entry) && !self.tell(b'-', entry) && !self.entries.is_empty() {
            self.replace();
        }
    }

    /// Writes an entry; false if there is no guard.
    fn tell(&mut self, sign: u8, entry: &[u8]) -> bool {
        let Some(pipe) = self.child.as_mut().and_then(|c| c.stdin.as_mut()) else { return false };
        let line = [&[sign], entry, &[0]].concat();
        loop {
            match pipe.write(&line) {
                Ok(n) => return n == line.len(),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
    }

    /// Starts a guard, in place of one that died, and tells it everything.
    fn replace(&mut self) {
        if let Some(mut old) = self.child.take() {
            let _ = old.kill();
            let _ = old.wait();
        }
        if self.started >= MOST_GUARDS {
            return;
        }
        self.started += 1;
        self.child = start();
        for entry in self.entries.clone() {
            if !self.tell(b'+', &entry) {
                return;
            }
        }
    }
}

fn start() -> Option<Child> {
    let child = Command::new(PROGRAM.get()?)
        .arg0(NAME)
        .arg(GUARD)
        // No folder is kept busy by it.
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .ok()?;
    // A guard that does not read must not keep us waiting.
    let pipe = child.stdin.as_ref()?;
    let flags = fcntl_getfl(pipe).ok()?;
    fcntl_setfl(pipe, flags | OFlags::NONBLOCK).ok()?;
    Some(child)
}

/// Ends the guard, which does what is left to do first. For a program that ends, so that it leaves no zombie behind.
pub fn dismiss() {
    let mut guard = lock(&GUARD_PROCESS);
    if let Some(mut child) = guard.child.take() {
        drop(child.stdin.take());
        let _ = child.wait();
    }
}

/// The guard's work: reads entries to the end of the input, and then ends and removes what is on the list.
pub fn serve(input: impl Read) {
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_name(c"child-guard");
    for entry in entries_at_end(input) {
        match entry.split_first() {
            Some((b'g', id)) => {
                let id = std::str::from_utf8(id).ok().and_then(|id| id.parse::<i32>().ok());
                // Groups 0 and 1 are ours and that of the first process.
                if let Some(pid) = id.filter(|id| *id > 1).and_then(Pid::from_raw) {
                    let _ = kill_process_group(pid, Signal::KILL);
                }
            }
            Some((b'd', path)) => {
                let _ = std::fs::remove_dir_all(Path::new(OsStr::from_bytes(path)));
            }
            _ => {}
        }
    }
}

/// The entries that were added and not removed: groups before folders, as processes write into folders.
fn entries_at_end(mut input: impl Read) -> Vec<Vec<u8>> {
    let (mut list, mut rest) = (BTreeSet::new(), Vec::new());
    let mut chunk = [0u8; LONGEST_ENTRY];
    loop {
        match input.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => rest.extend_from_slice(&chunk[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
        let Some(end) = rest.iter().rposition(|b| *b == 0) else { continue };
        for line in rest[..end].split(|b| *b == 0) {
            match line.split_first() {
                Some((b'+', entry)) => drop(list.insert(entry.to_vec())),
                Some((b'-', entry)) => drop(list.remove(entry)),
                _ => {}
            }
        }
        rest.drain(..=end);
    }
    let mut list: Vec<Vec<u8>> = list.into_iter().collect();
    list.sort_by_key(|entry| entry.first() != Some(&b'g'));
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_what_was_added_and_not_removed() {
        let text = b"+g12\0+d/tmp/a\0+g13\0-g12\0nonsense\0\0+d/tmp/b\0-d/tmp/a\0+g7";
        assert_eq!(entries_at_end(&text[..]), [b"g13".to_vec(), b"d/tmp/b".to_vec()]);
        assert!(entries_at_end(&b""[..]).is_empty());
    }

    #[test]
    fn groups_die_and_folders_go() {
        let folder = std::env::temp_dir().join(format!("gander-guard-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("inner")).unwrap();
        std::fs::write(folder.join("inner/file"), "x").unwrap();
        // A shell and its child, which is what a wrapper script and its solver are.
        let mut child = Command::new("/bin/sh").args(["-c", "sleep 1000 & wait"]).process_group(0).spawn().unwrap();
        let text = format!("+g{}\0+d{}\0+g0\0+g1\0+g-5\0", child.id(), folder.display());
        serve(text.as_bytes());
        assert!(!child.wait().unwrap().success());
        assert!(!folder.exists());
    }

    #[test]
    fn without_a_program_nothing_is_started() {
        let guarded = Guarded::group(std::process::id());
        assert!(lock(&GUARD_PROCESS).child.is_none());
        drop(guarded);
    }
}

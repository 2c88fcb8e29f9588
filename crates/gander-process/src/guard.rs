//! The guard process: kills children and removes scratch folders after this process has died.
//!
//! `SIGKILL` leaves no time for cleaning up, and a solver in the middle of a query does not notice
//! that its pipes are closed. So a second process, the guard, has a list of every process group,
//! mark (of descendants) and scratch folder that must not outlive this process. It reads the list
//! from a pipe whose other end only this process holds. The kernel closes that end when this
//! process dies; the guard then kills the listed processes, removes the folders, and ends.
//!
//! Entries end with a zero byte: `+g123` adds and `-g123` removes a process group; `m` instead of
//! `g` is a mark and `d` a folder.
//!
//! The guard is started with the first entry. It is this program again, if the program has called
//! [`enable`] and its `main` calls [`serve`]. Without a guard (a program that uses this crate as a
//! library), children have their lease on processor time.
//!
//! The alternatives cost more: a parent-death signal has to be set between `fork` and `exec`, which
//! makes every start of a solver a real `fork` (200 ms for a process of 1 GB, where `posix_spawn`
//! takes 2), or by a launcher that every start executes first (5 ms); and it does not reach
//! grandchildren.

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

use crate::descendants::Mark;

/// The first argument that makes this program the guard.
pub const GUARD: &str = "guard-children";

/// The name of the guard in lists of processes: killing programs by name must not kill the guard.
const NAME: &str = "child-guard";

/// Guards that are started at most, each in place of one that died.
const MAX_GUARDS: u32 = 3;

/// Bytes of an entry at most: a pipe takes this much in one piece or not at all.
const LONGEST_ENTRY: usize = 4096;

// There is one guard for this process, because its death is what the guard waits for. So these are
// the only mutable statics of this crate beside the list of children in `memory`.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
static GUARD_PROCESS: Mutex<Guard> =
    Mutex::new(Guard { child: None, entries: BTreeSet::new(), started: 0 });

/// Lets this program be started again as the guard: its `main` must call [`serve`] if the first
/// argument is [`GUARD`].
pub fn enable() {
    // The link still leads to the program if its file was replaced.
    let link = Path::new("/proc/self/exe");
    let program =
        if link.exists() { Some(link.to_path_buf()) } else { std::env::current_exe().ok() };
    if let Some(program) = program {
        let _ = PROGRAM.set(program);
    }
}

/// An entry of the guard's list; dropping this removes the entry.
#[derive(Debug)]
pub struct Guarded {
    entry: Vec<u8>,
}

impl Guarded {
    /// The process group with this number. Drop it before its leader is reaped: the number may
    /// belong to another process afterwards.
    pub(crate) fn group(id: u32) -> Guarded {
        Guarded::new(format!("g{id}").into_bytes())
    }

    /// The descendants of a child with this mark.
    pub(crate) fn mark(mark: &Mark) -> Guarded {
        Guarded::new(format!("m{}", mark.text()).into_bytes())
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
        if !self.send(b'+', entry) {
            self.replace();
        }
    }

    fn remove(&mut self, entry: &[u8]) {
        if self.entries.remove(entry) && !self.send(b'-', entry) && !self.entries.is_empty() {
            self.replace();
        }
    }

    /// Sends an entry; false if there is no guard.
    fn send(&mut self, sign: u8, entry: &[u8]) -> bool {
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

    /// Starts a guard, in place of one that died, and sends it all entries.
    fn replace(&mut self) {
        if let Some(mut old) = self.child.take() {
            let _ = old.kill();
            let _ = old.wait();
        }
        if self.started >= MAX_GUARDS {
            return;
        }
        self.started += 1;
        self.child = start();
        for entry in self.entries.clone() {
            if !self.send(b'+', &entry) {
                return;
            }
        }
    }
}

fn start() -> Option<Child> {
    let child = Command::new(PROGRAM.get()?)
        .arg0(NAME)
        .arg(GUARD)
        // Its current folder must not keep a file system busy.
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .ok()?;
    // A guard that does not read must not block this process.
    let pipe = child.stdin.as_ref()?;
    let flags = fcntl_getfl(pipe).ok()?;
    fcntl_setfl(pipe, flags | OFlags::NONBLOCK).ok()?;
    Some(child)
}

/// Ends the guard, which first kills and removes what is still on its list. A program calls this at
/// its end, so that it leaves no zombie.
pub fn dismiss() {
    let mut guard = lock(&GUARD_PROCESS);
    if let Some(mut child) = guard.child.take() {
        drop(child.stdin.take());
        let _ = child.wait();
    }
}

/// The guard's work: reads entries to the end of the input, then kills the processes and removes
/// the folders on the list.
pub fn serve(input: impl Read) {
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_name(c"child-guard");
    for entry in entries_at_end(input) {
        match entry.split_first() {
            Some((b'g', id)) => {
                let id = std::str::from_utf8(id).ok().and_then(|id| id.parse::<i32>().ok());
                // Group 0 is that of the guard, group 1 that of the first process.
                if let Some(pid) = id.filter(|id| *id > 1).and_then(Pid::from_raw) {
                    let _ = kill_process_group(pid, Signal::KILL);
                }
            }
            Some((b'm', text)) => {
                if let Some(mark) = std::str::from_utf8(text).ok().and_then(Mark::parse) {
                    mark.kill_all();
                }
            }
            Some((b'd', path)) => {
                let _ = std::fs::remove_dir_all(Path::new(OsStr::from_bytes(path)));
            }
            _ => {}
        }
    }
}

/// The entries that were added and not removed. Folders come last, because processes write into
/// them.
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
    list.sort_by_key(|entry| entry.first() == Some(&b'd'));
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_the_entries_that_were_added_and_not_removed() {
        let text = b"+g12\0+d/tmp/a\0+g13\0-g12\0nonsense\0\0+d/tmp/b\0-d/tmp/a\0+g7";
        assert_eq!(entries_at_end(&text[..]), [b"g13".to_vec(), b"d/tmp/b".to_vec()]);
        assert!(entries_at_end(&b""[..]).is_empty());
    }

    #[test]
    fn groups_and_marked_processes_die_and_folders_are_removed() {
        let folder = std::env::temp_dir().join(format!("gander-guard-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("inner")).unwrap();
        std::fs::write(folder.join("inner/file"), "x").unwrap();
        // A shell and its child, as a wrapper script and its solver are.
        let mut child = Command::new("/bin/sh")
            .args(["-c", "sleep 1000 & wait"])
            .process_group(0)
            .spawn()
            .unwrap();
        let mark = Mark::new();
        let mut marked = Command::new("/bin/sleep")
            .arg("1000")
            .env(crate::descendants::VARIABLE, mark.value())
            .spawn()
            .unwrap();
        let (id, mark, folder_name) = (child.id(), mark.text(), folder.display());
        let text = format!("+g{id}\0+m{mark}\0+d{folder_name}\0+g0\0+g1\0+g-5\0+mx\0");
        serve(text.as_bytes());
        assert!(!child.wait().unwrap().success());
        assert!(!cfg!(target_os = "linux") || !marked.wait().unwrap().success());
        let _ = marked.kill();
        assert!(!folder.exists());
    }

    #[test]
    fn without_a_program_no_guard_is_started() {
        let guarded = Guarded::group(std::process::id());
        assert!(lock(&GUARD_PROCESS).child.is_none());
        drop(guarded);
    }
}

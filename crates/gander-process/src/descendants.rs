//! Descendants of a child, also those that left its process group or lost their parent.
//!
//! A child gets a [`Mark`] in an environment variable, which its descendants inherit. On Linux the
//! environment of a process can be read, so marked processes can be found, measured and killed.
//! Children may supervise children themselves: each level appends its mark to the variable.

use std::collections::HashMap;
use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::proc_fs::{self, Stat};

/// The environment variable with the marks, outermost first.
pub(crate) const VARIABLE: &str = "GANDER_CHILD_MARKS";

/// Scans of the process list before [`Mark::kill_all`] gives up: a process may fork while it is
/// scanned.
const MAX_SCANS: u32 = 100;

/// Scans, of 2 ms and more each, that wait for processes without an environment. A process has none
/// for a moment while it executes a program; others, started without one, never have.
const MAX_SCANS_FOR_EXEC: u32 = 25;

/// Identifies the descendants of one child.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Mark(String);

impl Mark {
    /// A new mark, different from all others.
    pub(crate) fn new() -> Mark {
        // The standard library's source of random numbers.
        let random = || RandomState::new().build_hasher().finish();
        Mark(format!("{}-{:016x}{:016x}", std::process::id(), random(), random()))
    }

    /// The mark with this text; `None` if it cannot be one.
    pub(crate) fn parse(text: &str) -> Option<Mark> {
        let is_mark = text.len() > 32 && text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        is_mark.then(|| Mark(text.to_string()))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// The value of [`VARIABLE`] for the child.
    pub(crate) fn value(&self) -> OsString {
        match std::env::var_os(VARIABLE).filter(|outer| !outer.is_empty()) {
            Some(mut outer) => {
                outer.push(":");
                outer.push(&self.0);
                outer
            }
            None => OsString::from(&self.0),
        }
    }

    /// Whether an environment, as in `/proc/ID/environ`, has this mark.
    fn is_in(&self, environment: &[u8]) -> bool {
        environment.split(|b| *b == 0).any(|entry| {
            entry
                .strip_prefix(VARIABLE.as_bytes())
                .and_then(|rest| rest.strip_prefix(b"="))
                .is_some_and(|marks| marks.split(|b| *b == b':').any(|m| m == self.0.as_bytes()))
        })
    }

    /// Kills every marked process, until there is none.
    pub(crate) fn kill_all(&self) {
        let mut waits = MAX_SCANS_FOR_EXEC;
        for _ in 0..MAX_SCANS {
            let (mut found, mut unclear) = (false, false);
            for id in proc_fs::all_ids() {
                // A dead process has no environment.
                let Ok(environment) = proc_fs::environment(id) else { continue };
                if self.is_in(&environment)
                    && let Some(pid) = Pid::from_raw(id as i32)
                {
                    found = true;
                    let _ = kill_process(pid, Signal::KILL);
                }
                unclear |= environment.is_empty()
                    && Stat::of(id).is_some_and(|s| !s.is_dead && s.has_memory);
            }
            if !found {
                if !unclear || waits == 0 {
                    return;
                }
                waits -= 1;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Finds marked processes again and again. The environment of each process is read once.
#[derive(Debug)]
pub(crate) struct Finder {
    mark: Mark,
    /// By number and start time, whether the process is marked.
    known: HashMap<(u32, u64), bool>,
}

impl Finder {
    pub(crate) fn new(mark: Mark) -> Finder {
        Finder { mark, known: HashMap::new() }
    }

    /// The marked processes that are alive.
    pub(crate) fn processes(&mut self) -> Vec<u32> {
        let mut found = Vec::new();
        let mut seen = HashMap::new();
        for stat in proc_fs::all_ids().into_iter().filter_map(Stat::of).filter(|s| !s.is_dead) {
            let key = (stat.id, stat.started);
            let is_marked = match self.known.get(&key) {
                Some(known) => *known,
                None => match proc_fs::environment(stat.id) {
                    // A process has no environment for a moment while it executes a program.
                    Ok(environment) if environment.is_empty() => continue,
                    Ok(environment) => self.mark.is_in(&environment),
                    Err(_) => false,
                },
            };
            seen.insert(key, is_marked);
            if is_marked {
                found.push(stat.id);
            }
        }
        self.known = seen;
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Right after the start of a process its environment may still be empty.
    #[cfg(target_os = "linux")]
    #[test]
    fn processes_are_killed_while_they_execute_a_program() {
        for _ in 0..40 {
            let mark = Mark::new();
            let mut command = std::process::Command::new("/bin/sleep");
            let mut child = command.arg("100").env(VARIABLE, mark.value()).spawn().unwrap();
            mark.kill_all();
            let ended = (0..1000).any(|_| {
                std::thread::sleep(Duration::from_millis(1));
                child.try_wait().unwrap().is_some()
            });
            let _ = child.kill();
            let _ = child.wait();
            assert!(ended);
        }
    }

    #[test]
    fn a_mark_is_found_among_those_of_outer_levels() {
        let (mark, other) = (Mark::new(), Mark::new());
        assert_ne!(mark, other);
        assert_eq!(Mark::parse(mark.text()), Some(mark.clone()));
        assert_eq!(Mark::parse(""), None);
        let environment = format!("A=b\0{VARIABLE}={}:{}\0C=d\0", other.text(), mark.text());
        assert!(mark.is_in(environment.as_bytes()) && other.is_in(environment.as_bytes()));
        assert!(!Mark::new().is_in(environment.as_bytes()));
        assert!(!mark.is_in(format!("X{VARIABLE}={}\0", mark.text()).as_bytes()));
    }
}

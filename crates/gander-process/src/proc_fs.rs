//! What `/proc` tells about processes: state, processor time, resident memory, environment.

use std::fs;
use std::time::Duration;

/// Descendants of a process that are counted at most.
const MAX_DESCENDANTS: usize = 64;

/// The fields of `/proc/ID/stat` that are used here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stat {
    pub id: u32,
    pub is_dead: bool,
    /// Whether it has an address space; threads of the kernel have none.
    pub has_memory: bool,
    /// Processor time of the process itself.
    pub own_ticks: u64,
    /// Processor time of the children it waited for.
    pub children_ticks: u64,
    /// Start time in ticks since boot; with `id` it identifies a process.
    pub started: u64,
}

impl Stat {
    /// The process with this number.
    pub(crate) fn of(id: u32) -> Option<Stat> {
        Stat::parse(id, &fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
    }

    /// Parses a line of `/proc/ID/stat`. The name in parentheses may contain anything, parentheses
    /// included, so the fields are counted from the last one.
    fn parse(id: u32, line: &str) -> Option<Stat> {
        let fields: Vec<&str> = line[line.rfind(')')? + 1..].split_ascii_whitespace().collect();
        let number = |i: usize| Some(fields.get(i)?.parse::<i64>().ok()?.max(0) as u64);
        Some(Stat {
            id,
            is_dead: matches!(*fields.first()?, "Z" | "X"),
            has_memory: number(20)? > 0,
            own_ticks: number(11)? + number(12)?,
            children_ticks: number(13)? + number(14)?,
            started: number(19)?,
        })
    }

    /// Processor time of the process, all its threads together.
    pub(crate) fn own_time(&self) -> Duration {
        ticks(self.own_ticks)
    }

    /// Processor time of the process and the children it waited for.
    pub(crate) fn total_time(&self) -> Duration {
        ticks(self.own_ticks + self.children_ticks)
    }
}

fn ticks(n: u64) -> Duration {
    Duration::from_secs_f64(n as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// The numbers of all processes.
pub(crate) fn all_ids() -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|e| e.file_name().to_str()?.parse().ok()).collect()
}

/// The environment with which a process was started; an error for processes of other users.
pub(crate) fn environment(id: u32) -> std::io::Result<Vec<u8>> {
    fs::read(format!("/proc/{id}/environ"))
}

/// Resident bytes of a process (a number or `self`) that are not shared with files.
pub(crate) fn private_bytes(process: &str) -> Option<u64> {
    let (resident, shared) = statm(process)?;
    Some(resident.saturating_sub(shared))
}

/// Resident bytes of a process.
pub(crate) fn resident_bytes(id: u32) -> Option<u64> {
    Some(statm(&id.to_string())?.0)
}

/// Resident and shared bytes.
fn statm(process: &str) -> Option<(u64, u64)> {
    let text = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let mut pages = text.split_ascii_whitespace().skip(1).map(|n| n.parse::<u64>().ok());
    let page = rustix::param::page_size() as u64;
    Some((pages.next()?? * page, pages.next()?? * page))
}

/// The most resident bytes that a process had.
pub(crate) fn peak_bytes(id: u32) -> Option<u64> {
    kilobytes(&fs::read_to_string(format!("/proc/{id}/status")).ok()?, "VmHWM:")
}

/// [`private_bytes`] of a process and its descendants.
pub(crate) fn tree_bytes(id: u32) -> u64 {
    let (mut sum, mut found, mut at) = (0, vec![id.to_string()], 0);
    while at < found.len() && at < MAX_DESCENDANTS {
        let id = found[at].clone();
        sum += private_bytes(&id).unwrap_or(0);
        let children =
            fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        found.extend(children.split_whitespace().map(str::to_string));
        at += 1;
    }
    sum
}

/// The number of a line `KEY  NUMBER kB`, in bytes.
pub(crate) fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|l| l.strip_prefix(key))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_name_may_contain_parentheses() {
        let line =
            "42 (a) R (b)) S 1 42 40 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 99 1000 250 1";
        let expected = Stat {
            id: 42,
            is_dead: false,
            has_memory: true,
            own_ticks: 30,
            children_ticks: 70,
            started: 99,
        };
        assert_eq!(Stat::parse(42, line), Some(expected.clone()));
        let without = Stat { has_memory: false, ..expected };
        assert_eq!(Stat::parse(42, &line.replace(" 1000 250 ", " 0 0 ")), Some(without));
        assert_eq!(Stat::parse(1, "1 (x) Z"), None);
    }

    #[test]
    fn kilobyte_lines_are_parsed() {
        assert_eq!(kilobytes("Name: x\nMemTotal:\t   12 kB\n", "MemTotal:"), Some(12 * 1024));
        assert_eq!(kilobytes("MemTotal:\t12\n", "MemTotal:"), None);
        assert_eq!(kilobytes("", "MemTotal:"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_listed_with_its_memory() {
        let id = std::process::id();
        assert!(Stat::of(id).is_some_and(|s| !s.is_dead));
        assert!(all_ids().contains(&id));
        assert!(resident_bytes(id).unwrap() > 0 && peak_bytes(id).unwrap() > 0);
    }
}

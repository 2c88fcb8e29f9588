//! How much memory the machine has, and how much this process and its children use, as far as the system tells.

use std::fs;

use crate::config::CheckConfig;

/// The share of the machine's memory that an engine uses if nobody says how much.
const SHARE_OF_MEMORY: u64 = 4;

/// What is used if the machine does not say how much memory it has.
const USUAL_MEMORY: u64 = 1 << 30;

/// Bytes for one engine that keeps states: the limit of the configuration, or a share of the machine's memory.
pub(crate) fn own_memory(config: &CheckConfig) -> u64 {
    config.memory.or_else(|| Some(machine_memory()? / SHARE_OF_MEMORY)).unwrap_or(USUAL_MEMORY)
}

/// Bytes for the terms of all claims of an engine together.
pub(crate) struct Room(pub u64);

impl Room {
    /// One part in so many of the engine's memory.
    pub(crate) fn part(config: &CheckConfig, parts: u64) -> Room {
        Room(own_memory(config) / parts)
    }

    /// Whether there is room for another claim beside those with these weights: it will be about as large as they are.
    pub(crate) fn has_for_another(&self, weights: impl ExactSizeIterator<Item = u64>) -> bool {
        let count = weights.len() as u64;
        let weight: u64 = weights.sum();
        count == 0 || weight + weight / count <= self.0
    }
}

/// Why a claim that gave way to another one has no answer.
pub(crate) fn set_aside(why: &str) -> String {
    format!("{why}; set aside, as there is no memory for all claims together")
}

/// Bytes of memory of the machine, or of the control group that limits this process.
pub(crate) fn machine_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok();
    let machine = text.and_then(|t| kilobytes(&t, "MemTotal:"));
    let group = fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|t| t.trim().parse().ok());
    match (machine, group) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, None) | (None, one) => one,
    }
}

/// Bytes of memory that this process and its children have in use.
pub(crate) fn used_memory() -> Option<u64> {
    let mut sum = resident("self")?;
    for task in fs::read_dir("/proc/self/task").ok()?.flatten() {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        sum += children.split_whitespace().filter_map(resident).sum::<u64>();
    }
    Some(sum)
}

fn resident(process: &str) -> Option<u64> {
    kilobytes(&fs::read_to_string(format!("/proc/{process}/status")).ok()?, "VmRSS:")
}

/// The number of a line `KEY  NUMBER kB`, in bytes.
fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|l| l.strip_prefix(key))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        assert_eq!(kilobytes("Name: x\nVmRSS:\t   12 kB\n", "VmRSS:"), Some(12 * 1024));
        assert_eq!(kilobytes("VmRSS:\t12\n", "VmRSS:"), None);
        assert_eq!(kilobytes("", "VmRSS:"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_used_is_less_than_there_is() {
        let block = vec![1u8; 64 << 20];
        let used = used_memory().unwrap();
        assert!(used > 64 << 20 && used < machine_memory().unwrap(), "{used}");
        drop(block);
    }
}

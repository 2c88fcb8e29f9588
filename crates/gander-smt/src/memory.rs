//! How much memory the machine has, and how much this process and its children use, as far as the system tells.
//!
//! [`enforce`] sets one limit for all of them together ([`gander_runtime::memory`]). What is measured is resident memory
//! that is not shared with files, from `/proc`: it is what the kernel counts when it looks for a process to end, and
//! counting costs nothing where memory is allocated. A counting allocator would
//! see neither fragmentation nor children; it could not refuse an allocation either, as that ends the
//! process. Where there is no `/proc`, only the estimates of engines and the limits of solvers apply.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gander_runtime::lock;

/// Children are asked what they use after this time; one that allocates as fast as it can uses 100 MB meanwhile.
const CHILDREN_FRESH: Duration = Duration::from_millis(50);

/// Processes below a child that are looked at.
const MOST_DESCENDANTS: usize = 64;

static CHILDREN: Mutex<Children> = Mutex::new(Children { ids: Vec::new(), sampled: None, used: 0 });

/// The most that was seen in use.
static PEAK: AtomicU64 = AtomicU64::new(0);

struct Children {
    ids: Vec<u32>,
    sampled: Option<Instant>,
    used: u64,
}

/// A child whose memory counts as ours, as long as this is not dropped.
#[derive(Debug)]
pub struct Counted(u32);

impl Counted {
    /// The process with this number, with its descendants.
    pub fn new(id: u32) -> Counted {
        lock(&CHILDREN).ids.push(id);
        Counted(id)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut children = lock(&CHILDREN);
        if let Some(at) = children.ids.iter().position(|id| *id == self.0) {
            children.ids.swap_remove(at);
        }
        // What it used is free.
        children.sampled = None;
    }
}

/// Limits this process and its children to so many bytes together; to three fifths of what there is if no number is
/// given. Gives the limit, if there is one.
pub fn enforce(bytes: Option<u64>) -> Option<u64> {
    let limit = bytes.or_else(usual_limit);
    gander_runtime::memory::set_probe(in_use);
    gander_runtime::memory::set_limit(limit);
    limit
}

/// Three fifths of what the machine has: the rest is for others, and for what is allocated before anybody looks.
pub fn usual_limit() -> Option<u64> {
    Some(machine_memory()? / 5 * 3)
}

/// Bytes of memory of the machine, or of the control group or the address space that this process is limited to.
pub fn machine_memory() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|t| kilobytes(&t, "MemTotal:"));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = group_limit(Path::new("/sys/fs/cgroup"), &groups);
    let space = rustix::process::getrlimit(rustix::process::Resource::As).current;
    [machine, group, space].into_iter().flatten().min()
}

/// The lowest limit on memory of the control groups that `/proc/self/cgroup` names, and of those above them.
fn group_limit(root: &Path, groups: &str) -> Option<u64> {
    let mut lowest: Option<u64> = None;
    for line in groups.lines().chain(["0::/", "0:memory:/"]) {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let (root, file) = match controllers {
            // Version 2 has one hierarchy for everything.
            "" => (root.to_path_buf(), "memory.max"),
            _ if controllers.split(',').any(|c| c == "memory") => (root.join("memory"), "memory.limit_in_bytes"),
            _ => continue,
        };
        let group = root.join(path.trim_start_matches('/'));
        for folder in group.ancestors().take_while(|f| f.starts_with(&root)) {
            let limit = fs::read_to_string(folder.join(file)).ok().and_then(|t| t.trim().parse::<u64>().ok());
            lowest = [lowest, limit].into_iter().flatten().min();
        }
    }
    lowest
}

/// Bytes that this process and its children have in use.
pub fn in_use() -> Option<u64> {
    let own = resident("self")?;
    let mut children = lock(&CHILDREN);
    if children.sampled.is_none_or(|at| at.elapsed() >= CHILDREN_FRESH) {
        children.used = children.ids.iter().map(|id| tree(*id)).sum();
        children.sampled = Some(Instant::now());
    }
    let used = own + children.used;
    PEAK.fetch_max(used, Ordering::Relaxed);
    Some(used)
}

/// The most bytes in use that anybody has seen.
pub fn peak() -> u64 {
    PEAK.load(Ordering::Relaxed)
}

/// Bytes that a process and its descendants have in use.
pub(crate) fn tree(id: u32) -> u64 {
    let (mut sum, mut found, mut at) = (0, vec![id.to_string()], 0);
    while at < found.len() && at < MOST_DESCENDANTS {
        let id = found[at].clone();
        sum += resident(&id).unwrap_or(0);
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        found.extend(children.split_whitespace().map(str::to_string));
        at += 1;
    }
    sum
}

/// Resident memory of a process, without what it shares with files.
fn resident(process: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let mut pages = text.split_ascii_whitespace().skip(1).map(|n| n.parse::<u64>().ok());
    let (resident, shared) = (pages.next()??, pages.next()??);
    Some(resident.saturating_sub(shared) * rustix::param::page_size() as u64)
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
        assert_eq!(kilobytes("Name: x\nMemTotal:\t   12 kB\n", "MemTotal:"), Some(12 * 1024));
        assert_eq!(kilobytes("MemTotal:\t12\n", "MemTotal:"), None);
        assert_eq!(kilobytes("", "MemTotal:"), None);
    }

    #[test]
    fn the_lowest_limit_of_the_groups_counts() {
        let root = std::env::temp_dir().join(format!("gander-groups-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let file = root.join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        assert_eq!(group_limit(&root, "0::/"), None);
        // Version 2: a group without a limit in one that has one.
        write("a/memory.max", "5000\n");
        write("a/b/memory.max", "max\n");
        assert_eq!(group_limit(&root, "0::/a/b\n"), Some(5000));
        assert_eq!(group_limit(&root, "0::/\n"), None);
        // Version 1.
        write("memory/c/memory.limit_in_bytes", "4000\n");
        assert_eq!(group_limit(&root, "5:cpu,cpuacct:/x\n4:memory:/c/d\n"), Some(4000));
        // What a container shows of itself, whatever its group is called outside.
        write("memory.max", "3000\n");
        assert_eq!(group_limit(&root, "0::/somewhere/else\n"), Some(3000));
        assert_eq!(group_limit(&root, ""), Some(3000));
        write("memory/memory.limit_in_bytes", "2000\n");
        assert_eq!(group_limit(&root, ""), Some(2000));
        fs::remove_dir_all(root).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_used_is_less_than_there_is() {
        let block = vec![1u8; 64 << 20];
        let used = in_use().unwrap();
        assert!(used > 64 << 20 && used < machine_memory().unwrap(), "{used}");
        assert!(peak() >= used);
        drop(block);
    }
}

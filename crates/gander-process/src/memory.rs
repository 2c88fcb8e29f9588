//! The memory of the machine, and the memory that this process and its children use.
//!
//! [`enforce`] sets one limit for all of them together ([`gander_runtime::memory`]). The measure is
//! resident memory that is not shared with files, from `/proc`: the kernel counts the same when it
//! looks for a process to kill. A counting allocator would see neither fragmentation nor children,
//! and could not refuse an allocation, because that ends the process. Where there is no `/proc`,
//! only the estimates of engines and the limits of solvers apply.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use gander_runtime::lock;

use crate::proc_fs::{kilobytes, private_bytes, tree_bytes};

/// The memory of children is measured again after this time. A child that allocates as fast as it
/// can uses 100 MB in it.
const CHILDREN_FRESH: Duration = Duration::from_millis(50);

// The limit on memory is one of this process, so the list of what counts towards it is, too.
static CHILDREN: Mutex<Children> = Mutex::new(Children { ids: Vec::new(), sampled: None, used: 0 });

struct Children {
    ids: Vec<u32>,
    sampled: Option<Instant>,
    used: u64,
}

/// A child whose memory counts as that of this process, until this is dropped.
#[derive(Debug)]
pub(crate) struct Counted(u32);

impl Counted {
    /// The process with this number, with its descendants.
    pub(crate) fn new(id: u32) -> Counted {
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
        // Its memory is free now.
        children.sampled = None;
    }
}

/// Limits this process and its children together to this many bytes, or to [`usual_limit`]. Returns
/// the limit, if there is one.
pub fn enforce(bytes: Option<u64>) -> Option<u64> {
    let limit = bytes.or_else(usual_limit);
    gander_runtime::memory::set_probe(in_use);
    gander_runtime::memory::set_limit(limit);
    limit
}

/// Three fifths of the machine's memory. The rest is for other programs, and for allocations
/// between two measurements.
pub fn usual_limit() -> Option<u64> {
    Some(machine_memory()? / 5 * 3)
}

/// Bytes of memory of the machine, or of the control group or the address space that this process
/// is limited to.
pub fn machine_memory() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|t| kilobytes(&t, "MemTotal:"));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = group_limit(Path::new("/sys/fs/cgroup"), &groups);
    let space = rustix::process::getrlimit(rustix::process::Resource::As).current;
    [machine, group, space].into_iter().flatten().min()
}

/// Bytes that this process and its children have in use.
pub fn in_use() -> Option<u64> {
    let own = private_bytes("self")?;
    let mut children = lock(&CHILDREN);
    if children.sampled.is_none_or(|at| at.elapsed() >= CHILDREN_FRESH) {
        children.used = children.ids.iter().map(|id| tree_bytes(*id)).sum();
        children.sampled = Some(Instant::now());
    }
    Some(own + children.used)
}

/// The lowest memory limit of the control groups in the text of `/proc/self/cgroup` and of the
/// groups above them.
fn group_limit(root: &Path, groups: &str) -> Option<u64> {
    let mut lowest: Option<u64> = None;
    for line in groups.lines().chain(["0::/", "0:memory:/"]) {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let (root, file) = match controllers {
            // Version 2 has one hierarchy for all controllers.
            "" => (root.to_path_buf(), "memory.max"),
            _ if controllers.split(',').any(|c| c == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let group = root.join(path.trim_start_matches('/'));
        for folder in group.ancestors().take_while(|f| f.starts_with(&root)) {
            let limit = fs::read_to_string(folder.join(file))
                .ok()
                .and_then(|t| t.trim().parse::<u64>().ok());
            lowest = [lowest, limit].into_iter().flatten().min();
        }
    }
    lowest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_limit_of_the_control_groups_counts() {
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
        // In a container: its own limit, whatever the group is called outside.
        write("memory.max", "3000\n");
        assert_eq!(group_limit(&root, "0::/somewhere/else\n"), Some(3000));
        assert_eq!(group_limit(&root, ""), Some(3000));
        write("memory/memory.limit_in_bytes", "2000\n");
        assert_eq!(group_limit(&root, ""), Some(2000));
        fs::remove_dir_all(root).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_in_use_is_less_than_that_of_the_machine() {
        let block = vec![1u8; 64 << 20];
        let used = in_use().unwrap();
        assert!(used > 64 << 20 && used < machine_memory().unwrap(), "{used}");
        drop(block);
    }
}

//! Which tools are there.
//!
//! Order: what the user names (an option of the command, or `GANDER_TOOL_NUSMV` and so on), then the set-up's cache for
//! programs that are solvers too, then the PATH. The program `none` hides a tool. Finding starts no process.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use gander_smt::Solvers;

use crate::adapters::tools;
use crate::tool::Tool;

/// The program of a tool that is not to be found.
pub const HIDDEN: &str = "none";

/// Where to look.
#[derive(Clone, Debug, Default)]
pub struct ToolSearch {
    /// Programs that the user named, by tool; later ones win.
    pub named: Vec<(String, PathBuf)>,
    /// Directories of programs.
    pub path: Option<OsString>,
}

impl ToolSearch {
    /// What the environment says: `GANDER_TOOL_<NAME>`, `PATH`.
    pub fn from_environment() -> ToolSearch {
        let mut named = Vec::new();
        for tool in tools() {
            if let Some(path) = std::env::var_os(format!("GANDER_TOOL_{}", tool.name().to_ascii_uppercase())) {
                named.push((tool.name().to_string(), PathBuf::from(path)));
            }
        }
        ToolSearch { named, path: std::env::var_os("PATH") }
    }
}

/// A tool whose program was found.
#[derive(Clone)]
pub struct Entrant {
    /// The adapter.
    pub tool: &'static dyn Tool,
    /// The program.
    pub program: PathBuf,
}

impl std::fmt::Debug for Entrant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entrant").field("tool", &self.tool.name()).field("program", &self.program).finish()
    }
}

/// A tool whose program was not found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missing {
    /// The tool.
    pub tool: String,
    /// What was looked for, in words.
    pub looked_for: String,
}

/// Looks for the program of a tool.
pub fn find(tool: &'static dyn Tool, search: &ToolSearch, solvers: &Solvers) -> Result<Entrant, Missing> {
    let missing = |looked_for: String| Missing { tool: tool.name().to_string(), looked_for };
    if let Some((_, program)) = search.named.iter().rev().find(|(name, _)| name == tool.name()) {
        return match program.canonicalize() {
            _ if program == Path::new(HIDDEN) => Err(missing("it is hidden".to_string())),
            Ok(program) if is_program(&program) => Ok(Entrant { tool, program }),
            _ => Err(missing(format!("{} is no program", program.display()))),
        };
    }
    let solver = solvers.all().into_iter().find(|s| *s.name == *tool.name()).map(|s| s.program.clone());
    let folders: Vec<PathBuf> = search.path.iter().flat_map(std::env::split_paths).collect();
    let on_path = || {
        let all = tool.programs().iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        all.filter(|p| p.is_absolute()).find(|p| is_program(p))
    };
    match solver.filter(|p| is_program(p)).or_else(on_path) {
        Some(program) => Ok(Entrant { tool, program }),
        None => Err(missing(format!("no program {} on the PATH", tool.programs().join(" or ")))),
    }
}

/// Looks for the programs of all tools.
pub fn find_all(search: &ToolSearch, solvers: &Solvers) -> Vec<Result<Entrant, Missing>> {
    tools().iter().map(|tool| find(*tool, search, solvers)).collect()
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

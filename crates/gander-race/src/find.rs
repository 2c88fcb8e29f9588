//! Finding the programs of tools.
//!
//! Order: a program that the user named (an option of the command, or `GANDER_TOOL_NUSMV` and so
//! on), then the set-up's cache for programs that are also solvers, then the absolute folders of
//! the PATH. The program `none` hides a tool. No process is started.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gander_io::programs::{self, is_program};
use gander_smt::Solvers;
use gander_text::shown_path;

use crate::adapters::tools;
use crate::tool::Tool;

/// The program name that hides a tool.
pub const HIDDEN: &str = "none";

/// Where to search.
#[derive(Clone, Debug, Default)]
pub struct ToolSearch {
    /// Programs that the user named, by tool; the last one for a tool counts.
    pub named: Vec<(String, PathBuf)>,
    /// The value of `PATH`.
    pub path: Option<OsString>,
}

impl ToolSearch {
    /// From the environment: `GANDER_TOOL_<NAME>`, `PATH`.
    pub fn from_environment() -> ToolSearch {
        let mut named = Vec::new();
        for tool in tools() {
            if let Some(path) =
                std::env::var_os(format!("GANDER_TOOL_{}", tool.name().to_ascii_uppercase()))
            {
                named.push((tool.name().to_string(), PathBuf::from(path)));
            }
        }
        ToolSearch { named, path: std::env::var_os("PATH") }
    }
}

/// A tool whose program was found.
#[derive(Clone)]
pub struct FoundTool {
    /// The adapter.
    pub tool: &'static dyn Tool,
    /// The program.
    pub program: PathBuf,
}

impl std::fmt::Debug for FoundTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FoundTool")
            .field("tool", &self.tool.name())
            .field("program", &self.program)
            .finish()
    }
}

/// A tool whose program was not found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missing {
    /// The tool.
    pub tool: String,
    /// What was searched, for messages.
    pub looked_for: String,
}

/// Finds the program of a tool.
pub fn find(
    tool: &'static dyn Tool,
    search: &ToolSearch,
    solvers: &Solvers,
) -> Result<FoundTool, Missing> {
    let missing = |looked_for: String| Missing { tool: tool.name().to_string(), looked_for };
    if let Some((_, program)) = search.named.iter().rev().find(|(name, _)| name == tool.name()) {
        return match programs::named(program, search.path.as_deref())
            .and_then(|p| p.canonicalize().ok())
        {
            _ if program == Path::new(HIDDEN) => Err(missing("it is hidden".to_string())),
            Some(program) if is_program(&program) => Ok(FoundTool { tool, program }),
            _ => Err(missing(format!("{} is no program", shown_path(program)))),
        };
    }
    // A program in the cache that is not the pinned one is not used.
    let solver = solvers.all().into_iter().find(|s| *s.name == *tool.name() && s.verify().is_ok());
    let solver = solver.map(|s| s.program.clone());
    let on_path = || {
        let path = search.path.as_deref()?;
        tool.programs().iter().find_map(|name| programs::find(name, path))
    };
    match solver.filter(|p| is_program(p)).or_else(on_path) {
        Some(program) => Ok(FoundTool { tool, program }),
        None => Err(missing(format!("no program {} on the PATH", tool.programs().join(" or ")))),
    }
}

/// Finds the programs of all tools.
pub fn find_all(search: &ToolSearch, solvers: &Solvers) -> Vec<Result<FoundTool, Missing>> {
    tools().iter().map(|tool| find(*tool, search, solvers)).collect()
}

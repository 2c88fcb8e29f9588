//! Systems, scripts in place of tools, and runs of one tool.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use gander_race::{FoundTool, RaceConfig, Standing, ToolReport, ToolSearch, find, run_tool, tools};
use gander_runtime::Cancellation;
use gander_smt::Solvers;
use gander_system::{ClaimId, System};

/// A counter with two claims that hold and two that fail.
pub const COUNTER: &str = "
    spec Counter
    input push: bool
    var x: int 0..7
    start { x == 0 }
    step up    when push and x < 5  { x := x + 1 }
    step again when x == 5          { x := 0 }
    always small:  x <= 5
    always tiny:   x <= 2
    reachable five: x == 5
    reachable nine: x == 9
";

/// Two processes of the script language, with liveness.
pub const PROCESSES: &str = "VARS: int x : 0..3; proc P = p; INIT: x = 0; PROGRAM: P SAFE: x < 9 REACH: P.y == 2 \
    PROCESS p: VARS: int y : 0..2; state A, B; INIT: y = 0; state = A; TRANS: A -> B { y = y + 1 }; B -> A { x = x + 1 };";

pub fn load(text: &str, file: &str) -> Arc<System> {
    let language = gander_lang::language_of(file).expect("a known language");
    let loaded = (language.load)(text, file);
    let errors: Vec<String> = loaded.errors().map(|e| e.message.clone()).collect();
    Arc::new(loaded.system.unwrap_or_else(|| panic!("{errors:?}")))
}

/// A folder that is removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "gander-race-test-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    /// A shell script. Another process writes it: a file that this process has open for writing
    /// cannot be executed, and a child may inherit the descriptor.
    pub fn program(&self, body: &str) -> PathBuf {
        let (text, program) = (self.0.join("text"), self.0.join("program"));
        std::fs::write(&text, format!("#!/bin/sh\n{body}\n")).expect("a file");
        let made = Command::new("install").args(["-m", "755"]).arg(&text).arg(&program).status();
        assert!(made.expect("install is there").success());
        program
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name)
}

pub fn found_tool(tool: &str, program: &Path) -> FoundTool {
    let tool = *tools().iter().find(|t| t.name() == tool).expect("a tool");
    FoundTool { tool, program: program.to_path_buf() }
}

/// The real tool, if it is on this machine.
pub fn real(tool: &str) -> Option<FoundTool> {
    let adapter = *tools().iter().find(|t| t.name() == tool).expect("a tool");
    match find(adapter, &ToolSearch::from_environment(), &Solvers::from_environment()) {
        // A program that lacks a library cannot print its version.
        Ok(found_tool) if !runs(&found_tool) => {
            skip(&format!("{tool} cannot be run: {}", found_tool.program.display()));
            None
        }
        Ok(found_tool) => Some(found_tool),
        Err(missing) => {
            skip(&format!("{tool} is not there: {}", missing.looked_for));
            None
        }
    }
}

fn runs(found_tool: &FoundTool) -> bool {
    let folder = found_tool.program.parent().unwrap_or(Path::new("/"));
    let mut command = Command::new(&found_tool.program);
    command
        .args(found_tool.tool.version())
        .env("LD_LIBRARY_PATH", folder)
        .stdin(std::process::Stdio::null());
    command.output().is_ok_and(|output| output.status.code() != Some(127))
}

/// Skips loudly: prints, and adds a line to the file that `GANDER_SKIP_LOG` names.
pub fn skip(why: &str) {
    use std::io::Write;
    let name = std::thread::current().name().unwrap_or("a test").to_string();
    let line = format!("gander-race: {name}: {why}\n");
    let _ = std::io::stderr().write_all(format!("SKIPPED {line}").as_bytes());
    if let Some(path) = std::env::var_os("GANDER_SKIP_LOG")
        && let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path)
    {
        let _ = file.write_all(line.as_bytes());
    }
}

pub fn config(system: &System, time: Duration) -> RaceConfig {
    RaceConfig {
        claims: (0..system.claims().len()).map(ClaimId::from).collect(),
        solvers: Arc::new(Solvers::from_environment()),
        deadline: Some(Instant::now() + time),
        memory: None,
        second_opinion: None,
        trust: gander_certify::Trust::One,
        log_smt: None,
        cancellation: Cancellation::new(),
    }
}

/// Runs one tool alone.
pub fn alone(found_tool: &FoundTool, system: &Arc<System>, time: Duration) -> ToolReport {
    run_tool(found_tool, system, &config(system, time), &|_| true, &|_| {})
}

/// The answers as text: claim, answer, and whether it was checked (`small holds checked`).
pub fn answers(system: &System, report: &ToolReport) -> Vec<String> {
    let mut lines: Vec<String> = report
        .answers
        .iter()
        .map(|a| {
            let standing = match &a.standing {
                Standing::Checked(..) => "checked".to_string(),
                Standing::Claimed(why) => format!("claimed: {why}"),
            };
            format!("{} {} {standing}", system.claims()[a.claim.index()].name, a.says.word())
        })
        .collect();
    lines.sort();
    lines
}

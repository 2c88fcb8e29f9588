//! Asking a solver program for its version.

use std::time::{Duration, Instant};

use gander_text::shown_path;

use crate::answer::Reason;
use crate::dialect::Solver;
use crate::process::{Owner, Process, ProcessLimits, Stop};
use crate::sexpr::shortened;

/// Programs say their version at once or not at all.
const PATIENCE: Duration = Duration::from_secs(5);

impl Solver {
    /// The first line that the program says when asked for its version. Starts a process.
    pub fn version(&self) -> Result<String, Reason> {
        let limits = ProcessLimits { memory: None, output: 64 << 10 };
        let arguments = ["--version".to_string()];
        let started = self.verify().and_then(|()| Process::spawn(&self.program, &arguments, limits, &Owner::default()));
        let mut process = started.map_err(|e| Reason::NotStarted(format!("{}: {e}", shown_path(&self.program))))?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match process.receive(Some(deadline)) {
                Ok(()) => {}
                Err(Stop::Timeout) => return Err(Reason::Timeout),
                Err(_) => break,
            }
        }
        let text = String::from_utf8_lossy(process.output()).into_owned();
        let line = text.lines().map(str::trim).find(|l| !l.is_empty());
        line.map(shortened).ok_or_else(|| Reason::Died("it said nothing about its version".into()))
    }
}

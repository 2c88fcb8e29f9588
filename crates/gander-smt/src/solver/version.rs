//! Asking a solver program for its version.

use std::time::{Duration, Instant};

use gander_process::{Batch, Capture, Ending, Excess};
use gander_term::smtlib::shortened;
use gander_text::shown_path;

use crate::session::answer::Reason;
use crate::solver::dialect::Solver;

/// Time for printing the version.
const TIME_LIMIT: Duration = Duration::from_secs(5);

impl Solver {
    /// The first line that the program prints with `--version`. Starts a process.
    pub fn version(&self) -> Result<String, Reason> {
        let capture = Capture { bytes: 64 << 10, excess: Excess::KeepFirst };
        let batch = Batch {
            arguments: vec!["--version".into()],
            deadline: Some(Instant::now() + TIME_LIMIT),
            stdout: capture,
            stderr: capture,
            ..Batch::new(&self.program)
        };
        let finished = self
            .verify()
            .and_then(|()| batch.run())
            .map_err(|e| Reason::NotStarted(format!("{}: {e}", shown_path(&self.program))))?;
        if finished.ending == Ending::Deadline {
            return Err(Reason::Timeout);
        }
        let line = finished.stdout.lines().map(str::trim).find(|l| !l.is_empty());
        line.map(shortened).ok_or_else(|| Reason::Died("it said nothing about its version".into()))
    }
}

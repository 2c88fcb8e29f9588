//! gander as a server of the Model Context Protocol, for agents that edit models: `gander mcp`.
//!
//! [`serve`] answers requests over two streams until the input ends. [`tools`](mod@tools) lists the
//! tools; docs/mcp.md describes them.
//!
//! Invariants:
//! - a verdict in an answer comes from [`gander_service::Service`], whose results were checked; the
//!   answer has the SHA-256 of the text that it is about, what is assumed, and what changed against
//!   earlier texts of the document;
//! - what was not decided is `unknown`, and what holds without a run is `vacuous`;
//! - one call works at a time, others wait; a cancellation or a panic ends only its own call;
//! - files are read and written below one folder only;
//! - texts, documents, evidence, simulations and waiting calls are limited ([`McpLimits`]).
//!
//! The standard streams of a server carry the protocol, so nothing here prints.
//!
//! ```
//! use std::io::{BufRead, BufReader, Write, pipe};
//! use std::time::Duration;
//!
//! use gander::CheckOptions;
//! use gander_mcp::{McpConfig, McpLimits, serve};
//! use serde_json::json;
//!
//! let config = McpConfig {
//!     folder: std::env::temp_dir(),
//!     check: CheckOptions::default(),
//!     timeout: Duration::from_secs(10),
//!     longest_timeout: Duration::from_secs(60),
//!     limits: McpLimits::default(),
//! };
//! let ((input, mut client), (answers, output)) = (pipe()?, pipe()?);
//! std::thread::spawn(move || serve(config, input, output));
//! let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
//!     "protocolVersion": "2025-06-18", "capabilities": {},
//!     "clientInfo": { "name": "agent", "version": "1" },
//! } });
//! writeln!(client, "{initialize}")?;
//! let mut answer = String::new();
//! BufReader::new(answers).read_line(&mut answer)?;
//! assert!(answer.contains("\"serverInfo\""));
//! # Ok::<(), std::io::Error>(())
//! ```

mod answer;
mod arguments;
mod changes;
mod evidence;
mod files;
mod limits;
mod server;
mod session;
mod tools;
mod transport;

use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gander::{Cancellation, CheckOptions};

pub use limits::McpLimits;

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct McpConfig {
    /// Models are read, and evidence is saved, below this folder only.
    pub folder: PathBuf,
    /// How models are checked. The time limit of a call is [`McpConfig::timeout`].
    pub check: CheckOptions,
    /// The time limit of a check if the call gives none.
    pub timeout: Duration,
    /// The longest time limit that a call may give.
    pub longest_timeout: Duration,
    /// Limits of what the server keeps.
    pub limits: McpLimits,
}

/// Answers requests until the input ends. The input is read on a thread that may outlive the call.
pub fn serve(
    config: McpConfig,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<(), String> {
    let folder = config.folder.canonicalize();
    let folder = folder.map_err(|e| format!("{}: {e}", config.folder.display()))?;
    if !folder.is_dir() {
        return Err(format!("{} is no folder", folder.display()));
    }
    let config = McpConfig { folder, ..config };
    let longest_line = config.limits.message_bytes;
    let session = Arc::new(session::Session::new(config));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|e| format!("the server cannot be started: {e}"))?;
    let stop = Cancellation::new();
    runtime.block_on(async {
        let connected = transport::connect(input, output, longest_line, stop.clone());
        let (transport, writer) =
            connected.map_err(|e| format!("the server cannot be started: {e}"))?;
        let served = server::run(session, transport, stop).await;
        // The answers that were made are written before the process ends.
        writer.join();
        served
    })
}

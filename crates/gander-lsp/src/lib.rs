//! The language server of gander: requests of an editor to [`gander_service::Service`], and events
//! of the service to notifications. It has no logic of its own: positions are translated, and
//! answers are put into the form of the protocol (docs/editor.md).
//!
//! [`run`] serves one connection until it ends. `gander lsp` gives it standard input and output,
//! tests a connection in memory.
//!
//! Invariants:
//! - every request is answered once, also if it is wrong, cancelled or makes a handler panic;
//! - the thread that receives never waits for a solver or a parse.

mod commands;
mod convert;
mod features;
mod notify;
mod server;
mod settings;
mod tokens;

pub use server::{ServerError, ServerOptions, run, run_stdio};
pub use settings::{CheckWhen, Settings};

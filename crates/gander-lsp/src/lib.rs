//! The language server of gander. It forwards requests of an editor to
//! [`gander_service::Service`], and events of the service to the editor. It only translates:
//! positions, and answers into the form of the protocol (docs/editor.md).
//!
//! [`run`] serves one connection until it ends: `gander lsp` uses standard input and output, tests
//! use a connection in memory.
//!
//! Invariants:
//! - every request is answered once, even if it is wrong, is cancelled or makes a handler panic;
//! - the thread that receives never waits for a solver or a parse.
//!
//! ```
//! use gander_lsp::{ServerOptions, run};
//! use lsp_server::{Connection, Message, Request};
//! use serde_json::json;
//!
//! let (server, editor) = Connection::memory();
//! let serving = std::thread::spawn(|| run(server, ServerOptions::default()));
//! let params = json!({ "capabilities": {} });
//! let initialize = Request { id: 1.into(), method: "initialize".to_string(), params };
//! editor.sender.send(initialize.into()).unwrap();
//! let Message::Response(answer) = editor.receiver.recv().unwrap() else { panic!("no response") };
//! assert_eq!(answer.response_result.unwrap()["serverInfo"]["name"], "gander");
//! // An editor that leaves without `shutdown` is an error.
//! drop(editor);
//! assert!(serving.join().unwrap().is_err());
//! ```

mod commands;
mod convert;
mod features;
mod notify;
mod server;
mod settings;
mod tokens;
mod transport;

pub use server::{ServerError, ServerOptions, run, run_stdio};
pub use settings::{CheckWhen, Settings};

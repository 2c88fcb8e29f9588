//! The page of gander: an editor for models in a browser on the same machine.
//!
//! The server sends the files of the page, which are part of the program, and connects each open
//! page to a session of the language server over a WebSocket. The page uses the same protocol as
//! editors, so it shows what they show.
//!
//! # Guarantees
//!
//! - The server listens on the loopback interface only.
//! - A request is served only if it names this server (`Host`), comes from its page or the address
//!   bar (`Origin`, `Sec-Fetch-Site`) and has the random token of the address. Without the token
//!   there are only the page that asks for it, and the proof that the server knows it.
//! - No name in a request is a path of this machine. The only file that is read or written is the
//!   one that was named when the server was started.
//! - Requests, messages, threads, sockets and waiting times are limited (`limits`).
//! - The page loads nothing from anywhere else and runs no script but its own.
//!
//! ```no_run
//! use gander_runtime::Cancellation;
//! use gander_serve::{ServeOptions, Server};
//!
//! let language_server = |connection: lsp_server::Connection| drop(connection);
//! let server = Server::bind(
//!     ServeOptions::default(),
//!     Box::new(language_server),
//!     std::sync::Arc::new(|_, _| None),
//! )?;
//! let address = server.address();
//! server.run(&Cancellation::new());
//! # Ok::<(), std::io::Error>(())
//! ```

mod access;
mod assets;
mod examples;
mod http;
mod limits;
mod server;
mod session;
mod socket;
mod token;

pub use server::{PORT, Serve, ServeOptions, Server};
pub use session::Panels;

//! `gander serve`: the page.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;

use gander::process::memory;
use gander::smt::setup::cache_folder;
use gander::{Cancellation, CheckOptions, LoadOptions};
use gander_io::programs::find;
use gander_io::write::temporary_folder;
use gander_lsp::ServerOptions;
use gander_panels::Panels;
use gander_serve::{ServeOptions, Server};
use gander_service::ServiceConfig;

use super::args::ServeArgs;
use super::inputs::solvers_for;
use crate::process::{Output, WRONG, cancel_on_signal};

pub fn run(args: &ServeArgs, load: LoadOptions, output: &mut Output) -> u8 {
    memory::enforce(args.memory);
    let solvers = match solvers_for(&args.solvers, output) {
        Ok(solvers) => solvers,
        Err(code) => return code,
    };
    let check = CheckOptions {
        load,
        memory: args.memory,
        jobs: args.jobs,
        solvers: Some(solvers),
        ..CheckOptions::default()
    };
    let service = ServiceConfig { check, ..ServiceConfig::default() };
    // All pages share their results; the folder is removed at the end.
    let session = match args.cache {
        Some(_) => None,
        None => temporary_folder("gander-serve-").ok(),
    };
    let cache = args.cache.clone().or_else(|| session.as_ref().map(|s| s.path().to_path_buf()));
    let language_server = move |connection| {
        let options = ServerOptions { service: service.clone(), cache: cache.clone() };
        // How a page ends its session does not matter: it may just be closed.
        let _ = gander_lsp::run(connection, options);
    };
    let panels = Panels::default();
    let options = ServeOptions {
        port: args.port,
        file: args.file.clone(),
        tokens: cache_folder().map(|folder| folder.join("serve")),
        version: env!("CARGO_PKG_VERSION").to_string(),
    };
    let answer = move |request: &str, params: &_| panels.answer(request, params);
    let server = match Server::bind(options, Box::new(language_server), Arc::new(answer)) {
        Ok(server) => server,
        Err(error) => {
            let port = args.port.map_or(String::new(), |port| format!(" on port {port}"));
            output.error(&format!("the page cannot be served{port}: {error}"));
            return WRONG;
        }
    };
    let cancellation = Cancellation::new();
    cancel_on_signal(&cancellation);
    let address = server.address();
    output.put(&format!("{address}\n"));
    output.flush();
    output.write_err("Open this address in a browser. Ctrl-C ends gander.\n");
    if !args.no_open {
        open_browser(&address);
    }
    server.run(&cancellation);
    0
}

/// Opens the address in the user's browser, if there is a display. The browser is not supervised:
/// it outlives gander.
fn open_browser(address: &str) {
    let is_set = |name| std::env::var_os(name).is_some_and(|value: OsString| !value.is_empty());
    if !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY") {
        return;
    }
    let Some(program) = find("xdg-open", &std::env::var_os("PATH").unwrap_or_default()) else {
        return;
    };
    let mut command = Command::new(program);
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // The address was printed: it can be opened by hand.
    if let Ok(mut child) = command.process_group(0).spawn() {
        let _ = std::thread::Builder::new().spawn(move || child.wait());
    }
}

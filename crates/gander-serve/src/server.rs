//! The server: accepts connections of this machine, checks every request, and runs a session of the
//! language server for each open page.

use std::io::{self, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use gander_runtime::{Cancellation, lock};
use lsp_server::Connection;
use tungstenite::handshake::derive_accept_key;

use crate::access::Access;
use crate::assets;
use crate::http::{Request, Response, Unread, read_request};
use crate::limits::{CONNECTIONS, RESPONSE_TIME, SOCKETS, STOP_TIME};
use crate::session::{Panels, Shared};
use crate::socket::Socket;
use crate::token::Token;

/// The port that is used if none is named and it is free, so that links and open pages find the
/// server again.
pub const PORT: u16 = 7411;

/// What to serve.
#[derive(Clone, Debug, Default)]
pub struct ServeOptions {
    /// The port; [`PORT`] or any free one if none is given.
    pub port: Option<u16>,
    /// The file that the page opens and may save.
    pub file: Option<PathBuf>,
    /// A folder of the user in which tokens are kept for a restart; none: they are not kept.
    pub tokens: Option<PathBuf>,
    /// The version that the page shows.
    pub version: String,
}

/// Runs the language server for one page until the connection ends.
pub type Serve = dyn Fn(Connection) + Send + Sync;

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    port: u16,
    state: Arc<State>,
}

struct State {
    access: Access,
    shared: Shared,
    serve: Box<Serve>,
    /// Open connections by number.
    connections: Mutex<Vec<(u64, Option<TcpStream>)>>,
    sockets: AtomicUsize,
}

impl Server {
    /// Listens on the loopback interface only.
    pub fn bind(
        options: ServeOptions,
        serve: Box<Serve>,
        panels: Arc<Panels>,
    ) -> io::Result<Server> {
        let on = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let listener = match options.port {
            Some(port) => on(port)?,
            None => on(PORT).or_else(|_| on(0))?,
        };
        let port = listener.local_addr()?.port();
        let token = Token::for_port(port, options.tokens.as_deref()).map_err(io::Error::other)?;
        let state = State {
            access: Access::new(port, token),
            shared: Shared::new(options.file, options.version, panels),
            serve,
            connections: Mutex::default(),
            sockets: AtomicUsize::new(0),
        };
        Ok(Server { listener, port, state: Arc::new(state) })
    }

    /// The address of the page, with the token.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.state.access.token().text())
    }

    /// Serves until it is cancelled.
    pub fn run(&self, cancellation: &Cancellation) {
        let port = self.port;
        // Accepting has no time limit: a connection of our own ends it.
        let _wake = cancellation.on_cancel_while(move || {
            let address = (Ipv4Addr::LOCALHOST, port).into();
            let _ = TcpStream::connect_timeout(&address, Duration::from_secs(1));
        });
        let mut number = 0;
        while !cancellation.is_cancelled() {
            let Ok((stream, _)) = self.listener.accept() else {
                // For example no free file descriptor: some connection has to end first.
                thread::sleep(Duration::from_millis(50));
                continue;
            };
            if cancellation.is_cancelled() {
                break;
            }
            number += 1;
            self.start(number, stream);
        }
        self.stop();
    }

    /// Handles a connection on a thread of its own, or closes it if there are too many.
    fn start(&self, number: u64, stream: TcpStream) {
        let mut connections = lock(&self.state.connections);
        if connections.len() >= CONNECTIONS {
            return drop(stream);
        }
        connections.push((number, stream.try_clone().ok()));
        drop(connections);
        let state = Arc::clone(&self.state);
        let thread = thread::Builder::new().name("page".to_string());
        let spawned = thread.spawn(move || {
            let _guard = ConnectionGuard { state: &state, number };
            state.handle(number, stream);
        });
        if spawned.is_err() {
            self.state.remove_connection(number);
        }
    }

    /// Closes all connections and gives their sessions a moment to end.
    fn stop(&self) {
        for (_, stream) in lock(&self.state.connections).iter() {
            if let Some(stream) = stream {
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
        let deadline = Instant::now() + STOP_TIME;
        while !lock(&self.state.connections).is_empty() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Removes a connection when its thread ends, also by a panic.
struct ConnectionGuard<'a> {
    state: &'a State,
    number: u64,
}

impl Drop for ConnectionGuard<'_> {
    fn drop(&mut self) {
        self.state.remove_connection(self.number);
    }
}

/// Counts an open socket.
struct SocketSlot<'a>(&'a AtomicUsize);

impl Drop for SocketSlot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl State {
    fn remove_connection(&self, number: u64) {
        lock(&self.connections).retain(|(n, _)| *n != number);
    }

    fn handle(&self, number: u64, mut stream: TcpStream) {
        let request = match read_request(&mut stream) {
            Ok(request) => request,
            Err(Unread::Gone) => return,
            Err(Unread::Refused(response)) => return response.send(&mut stream, true),
        };
        let with_body = request.method != "HEAD";
        if let Some(refusal) = self.access.refusal(&request) {
            return refusal.send(&mut stream, with_body);
        }
        if request.path == "/socket" {
            return match self.upgrade(&request) {
                Err(refusal) => refusal.send(&mut stream, with_body),
                Ok(key) => self.socket(number, stream, request.rest, &key),
            };
        }
        self.respond(&request).send(&mut stream, with_body);
    }

    fn respond(&self, request: &Request) -> Response {
        if request.path == "/proof" {
            let proof = request.parameter("nonce").and_then(|n| self.access.token().proof(n));
            return match proof {
                Some(proof) => Response::text(200, &proof),
                None => Response::text(400, "There is no nonce.\n"),
            };
        }
        let found = match self.access.has_token(request) {
            true => assets::with_token(&request.path, self.access.token())
                .or_else(|| assets::without_token(&request.path)),
            false => assets::without_token(&request.path),
        };
        match found {
            Some(response) => response,
            None if self.access.has_token(request) => {
                Response::text(404, "There is no such file.\n")
            }
            None => Response::text(403, "The address needs its token.\n"),
        }
    }

    /// The key to accept a socket with, or why it is refused.
    fn upgrade(&self, request: &Request) -> Result<String, Response> {
        // Browsers always say where a socket comes from.
        if !self.access.is_own_origin(request) {
            return Err(Response::text(403, "Sockets of other pages are refused.\n"));
        }
        if !self.access.has_token(request) {
            return Err(Response::text(403, "The address needs its token.\n"));
        }
        let is_upgrade = request.method == "GET"
            && request.lists("connection", "upgrade")
            && request.lists("upgrade", "websocket");
        if !is_upgrade || request.header("sec-websocket-version") != Some("13") {
            let refusal = Response::text(426, "This is the address of a socket.\n");
            return Err(refusal
                .with("Upgrade", "websocket".to_string())
                .with("Sec-WebSocket-Version", "13".to_string()));
        }
        match request.header("sec-websocket-key") {
            Some(key) if key.len() == 24 => Ok(derive_accept_key(key.as_bytes())),
            _ => Err(Response::text(400, "The key of the socket is missing.\n")),
        }
    }

    fn socket(&self, number: u64, mut stream: TcpStream, early: Vec<u8>, key: &str) {
        let answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Accept: {key}\r\n\r\n"
        );
        let sent = stream
            .set_write_timeout(Some(RESPONSE_TIME))
            .and_then(|()| stream.write_all(answer.as_bytes()));
        if sent.is_err() {
            return;
        }
        let socket = Socket::new(stream, early);
        let slot = SocketSlot(&self.sockets);
        if self.sockets.fetch_add(1, Ordering::SeqCst) >= SOCKETS {
            return socket.refuse("too many pages are open");
        }
        self.shared.add_page(number, socket.pushes());
        socket.run(
            |connection| (self.serve)(connection),
            |message| self.shared.route(number, message),
        );
        self.shared.remove_page(number);
        drop(slot);
    }
}

//! A server with a small stand-in for the language server, and clients of it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gander_runtime::Cancellation;
use gander_serve::{ServeOptions, Server};
use lsp_server::{Connection, Message, Response};
use serde_json::{Value, json};
use tungstenite::WebSocket;
use tungstenite::client::IntoClientRequest;
use tungstenite::handshake::client::Request;

/// A running server.
pub struct Running {
    pub port: u16,
    pub token: String,
    pub cancellation: Cancellation,
    thread: Option<JoinHandle<()>>,
}

pub type Client = WebSocket<TcpStream>;

impl Running {
    pub fn new() -> Running {
        Running::with(ServeOptions { port: Some(0), ..ServeOptions::default() })
    }

    pub fn of_file(file: PathBuf) -> Running {
        let file = Some(file);
        Running::with(ServeOptions { port: Some(0), file, ..ServeOptions::default() })
    }

    pub fn with(options: ServeOptions) -> Running {
        let server = Server::bind(options, Box::new(echo), Arc::new(panels)).unwrap();
        let address = server.address();
        let rest = address.strip_prefix("http://127.0.0.1:").unwrap();
        let (port, token) = rest.split_once("/?token=").unwrap();
        let (port, token) = (port.parse().unwrap(), token.to_string());
        let cancellation = Cancellation::new();
        let inner = cancellation.clone();
        let thread = Some(std::thread::spawn(move || server.run(&inner)));
        Running { port, token, cancellation, thread }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends bytes, and gives what comes back until the server closes.
    pub fn raw(&self, request: &[u8]) -> String {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// The response to a request for this target with these headers beside `Host`.
    pub fn get(&self, target: &str, headers: &[&str]) -> String {
        let more: String = headers.iter().map(|h| format!("{h}\r\n")).collect();
        let port = self.port;
        self.raw(
            format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{more}\r\n").as_bytes(),
        )
    }

    pub fn with_token(&self, path: &str) -> String {
        format!("{path}?token={}", self.token)
    }

    pub fn upgrade(&self) -> Request {
        let address = format!("ws://127.0.0.1:{}{}", self.port, self.with_token("/socket"));
        let mut request = address.into_client_request().unwrap();
        let origin = format!("http://127.0.0.1:{}", self.port).parse().unwrap();
        request.headers_mut().insert("Origin", origin);
        request
    }

    pub fn socket(&self) -> Client {
        self.try_socket(self.upgrade()).unwrap()
    }

    /// Opens a socket; the status of the response if it is refused.
    pub fn try_socket(&self, request: Request) -> Result<Client, u16> {
        match tungstenite::client(request, self.connect()) {
            Ok((socket, _)) => Ok(socket),
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(response))) => {
                Err(response.status().as_u16())
            }
            Err(other) => panic!("{other}"),
        }
    }

    pub fn stop(&mut self) {
        self.cancellation.cancel();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Answers each request with its parameters; `flood` also sends many messages, `panic` panics, and
/// `exit` ends the session.
fn echo(connection: Connection) {
    for message in &connection.receiver {
        let Message::Request(request) = message else { continue };
        match request.method.as_str() {
            "panic" => panic!("as the test asked"),
            "exit" => return,
            "flood" => {
                let text = "x".repeat(1 << 20);
                for i in 0..2000 {
                    let answer = Response::new_ok(i.into(), json!(text));
                    if connection.sender.send(answer.into()).is_err() {
                        return;
                    }
                }
            }
            _ => {}
        }
        if connection.sender.send(Response::new_ok(request.id, request.params).into()).is_err() {
            return;
        }
    }
}

/// Opens when the panel `slow` may answer.
static GATE: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

/// Lets the panel `slow` answer.
pub fn open_gate() {
    *GATE.0.lock().unwrap() = true;
    GATE.1.notify_all();
}

/// Panels for tests: they echo the request, wait for the gate, or panic.
fn panels(request: &str, params: &Value) -> Option<Result<Value, String>> {
    match request {
        "repeat" => Some(Ok(params.clone())),
        "slow" => {
            let closed = GATE.0.lock().unwrap();
            drop(GATE.1.wait_timeout_while(closed, Duration::from_secs(60), |open| !*open));
            Some(Ok(json!("slow")))
        }
        "refuse" => Some(Err("this is refused".to_string())),
        "panic" => panic!("as the test asked"),
        _ => None,
    }
}

/// Asks, and waits for the answer with this number.
pub fn ask(socket: &mut Client, id: i32, method: &str, params: Value) -> Value {
    let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    socket.send(tungstenite::Message::text(request.to_string())).unwrap();
    loop {
        let answer = next(socket);
        if answer["id"] == id {
            return answer;
        }
    }
}

/// The next message.
pub fn next(socket: &mut Client) -> Value {
    loop {
        if let tungstenite::Message::Text(text) = socket.read().unwrap() {
            return serde_json::from_str(&text).unwrap();
        }
    }
}

/// Waits until this is so.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub fn status(response: &str) -> u16 {
    response.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0)
}

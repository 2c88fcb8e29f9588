//! A WebSocket as the connection of a language server: each text message is one JSON-RPC message.
//!
//! One thread reads and one writes. All bytes go through the writer, also the reader's answers to
//! pings and closing frames, so that frames never mix. A silent page is pinged; if it does not
//! answer, its socket is closed.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded, select};
use gander_text::json::without_lone_surrogates;
use lsp_server::{Connection, Message};
use serde_json::Value;
use tungstenite::WebSocket;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};

use crate::limits::{INCOMING, MESSAGE_BYTES, OUTGOING, PING_TIME, SEND_TIME, SILENCE, WAITING};

/// Something to send beside the messages of the language server.
enum Outgoing {
    Message(Message),
    /// Whole frames.
    Frames(Vec<u8>),
}

/// Sends messages to the page of a socket, from any thread.
#[derive(Clone)]
pub struct Pushes(Sender<Outgoing>);

impl Pushes {
    /// Sends a message, unless too many wait.
    pub fn push(&self, message: Message) {
        let _ = self.0.try_send(Outgoing::Message(message));
    }
}

/// How a message of the page is handled.
pub enum Routed {
    /// The language server gets it.
    Server(Message),
    /// It was answered like this.
    Answered(Message),
    /// It is answered by work that may take a while; one after the other.
    Later(Box<dyn FnOnce() -> Message + Send>),
}

/// A socket before its session.
pub struct Socket {
    stream: TcpStream,
    /// Bytes that the client sent right behind its request.
    early: Vec<u8>,
    pushes: Pushes,
    pushed: Receiver<Outgoing>,
}

impl Socket {
    /// A socket whose upgrade was answered.
    pub fn new(stream: TcpStream, early: Vec<u8>) -> Socket {
        let (sender, pushed) = bounded(OUTGOING);
        Socket { stream, early, pushes: Pushes(sender), pushed }
    }

    /// Sends messages to the page.
    pub fn pushes(&self) -> Pushes {
        self.pushes.clone()
    }

    /// Tells the page why it is refused, and closes.
    pub fn refuse(self, why: &'static str) {
        if let Ok(stream) = self.stream.try_clone() {
            let _ = stream.set_write_timeout(Some(SEND_TIME));
            close(&mut web_socket(stream, Vec::new()), CloseCode::Again, why);
        }
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Runs a session: `serve` gets the connection and returns when it ends; `route` decides about
    /// each message of the page.
    pub fn run(self, serve: impl FnOnce(Connection), route: impl Fn(Message) -> Routed + Sync) {
        let (to_server, from_page) = bounded(INCOMING);
        let (from_server, to_page) = bounded(OUTGOING);
        let Socket { stream, early, pushes, pushed } = self;
        let set_up = || {
            stream.set_write_timeout(Some(SEND_TIME))?;
            stream.set_read_timeout(Some(SILENCE))?;
            stream.set_nodelay(true)?;
            io::Result::Ok((stream.try_clone()?, stream.try_clone()?))
        };
        let Ok((reading, writing)) = set_up() else { return };
        thread::scope(|scope| {
            let writer = scope.spawn(|| {
                write_messages(writing, &to_page, &pushed);
                // A language server that cannot send ends, even if the page still talks to it.
                drop(to_page);
            });
            let (to_worker, work) = bounded::<Box<dyn FnOnce() -> Message + Send>>(WAITING);
            let worker_pushes = pushes.clone();
            scope.spawn(move || {
                for work in work {
                    // A panic loses only this answer.
                    if let Ok(answer) = catch_unwind(AssertUnwindSafe(work)) {
                        worker_pushes.push(answer);
                    }
                }
            });
            let reader_pushes = pushes.clone();
            scope.spawn(|| {
                let page = Page { stream: reading, frames: Vec::new(), pushes: reader_pushes };
                read_messages(page, early, to_server, to_worker, &route);
                let _ = stream.shutdown(Shutdown::Both);
            });
            let connection = Connection { sender: from_server, receiver: from_page };
            let _ = catch_unwind(AssertUnwindSafe(|| serve(connection)));
            let _ = writer.join();
            let _ = stream.shutdown(Shutdown::Both);
        });
    }
}

fn web_socket<S>(stream: S, early: Vec<u8>) -> WebSocket<S>
where
    S: Read + Write,
{
    let config = WebSocketConfig::default()
        .read_buffer_size(16 << 10)
        .write_buffer_size(16 << 10)
        .max_message_size(Some(MESSAGE_BYTES))
        .max_frame_size(Some(MESSAGE_BYTES));
    WebSocket::from_partially_read(stream, early, Role::Server, Some(config))
}

fn close<S>(socket: &mut WebSocket<S>, code: CloseCode, why: &'static str)
where
    S: Read + Write,
{
    let _ = socket.close(Some(CloseFrame { code, reason: why.into() }));
    let _ = socket.flush();
}

/// The side of the page for the reader: what it writes goes to the writer.
struct Page {
    stream: TcpStream,
    frames: Vec<u8>,
    pushes: Pushes,
}

impl Read for Page {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.frames.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.frames.is_empty() {
            let frames = std::mem::take(&mut self.frames);
            let full = |_| io::Error::from(io::ErrorKind::TimedOut);
            self.pushes.0.try_send(Outgoing::Frames(frames)).map_err(full)?;
        }
        Ok(())
    }
}

/// Reads until the page is gone or sends what is no message.
fn read_messages(
    page: Page,
    early: Vec<u8>,
    to_server: Sender<Message>,
    to_worker: Sender<Box<dyn FnOnce() -> Message + Send>>,
    route: &dyn Fn(Message) -> Routed,
) {
    let pushes = page.pushes.clone();
    let mut socket = web_socket(page, early);
    loop {
        let text = match socket.read() {
            Ok(tungstenite::Message::Text(text)) => text,
            Ok(tungstenite::Message::Binary(_)) => {
                return close(&mut socket, CloseCode::Unsupported, "messages are text");
            }
            Ok(_) => continue,
            Err(tungstenite::Error::Capacity(_)) => {
                return close(&mut socket, CloseCode::Size, "the message is too large");
            }
            Err(_) => return,
        };
        // Halves of characters become U+FFFD.
        let message = serde_json::from_str::<Message>(&text)
            .or_else(|_| serde_json::from_str(&without_lone_surrogates(&text)));
        let Ok(message) = message else {
            return close(&mut socket, CloseCode::Invalid, "this is no message");
        };
        match route(message) {
            Routed::Server(message) => {
                if to_server.send(message).is_err() {
                    return;
                }
            }
            Routed::Answered(message) => pushes.push(message),
            Routed::Later(work) => {
                if to_worker.try_send(work).is_err() {
                    return close(&mut socket, CloseCode::Policy, "too many requests wait");
                }
            }
        }
    }
}

/// Writes until the language server ends or the page takes nothing any more.
fn write_messages(stream: TcpStream, to_page: &Receiver<Message>, pushed: &Receiver<Outgoing>) {
    let mut socket = web_socket(stream, Vec::new());
    loop {
        let sent = select! {
            recv(to_page) -> message => match message {
                Ok(message) => send(&mut socket, message),
                Err(_) => return close(&mut socket, CloseCode::Away, "the session ended"),
            },
            recv(pushed) -> outgoing => match outgoing {
                Ok(Outgoing::Message(message)) => send(&mut socket, message),
                Ok(Outgoing::Frames(frames)) => socket.get_mut().write_all(&frames).is_ok(),
                Err(_) => false,
            },
            default(PING_TIME) => {
                socket.send(tungstenite::Message::Ping(Vec::new().into())).is_ok()
            }
        };
        if !sent {
            let _ = socket.get_ref().shutdown(Shutdown::Both);
            return;
        }
    }
}

fn send(socket: &mut WebSocket<TcpStream>, message: Message) -> bool {
    let Ok(mut value) = serde_json::to_value(message) else { return true };
    if let Some(object) = value.as_object_mut() {
        object.insert("jsonrpc".to_string(), Value::from("2.0"));
    }
    socket.send(tungstenite::Message::text(value.to_string())).is_ok()
}
